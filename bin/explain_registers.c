/* SPDX-License-Identifier: BSD-3-Clause */
/* The registers of a kernel of the user's own, by nvcc where there is one. */
#include "explain_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: nvcc with its messages to the pipe. */
_Noreturn static void compile(const source_request *r, int from, int to)
{
    enum { FIXED = 12 };
    const char *const nvcc = getenv("NVCC"), *words[FIXED + 2 * SOURCE_WORDS_MOST + 2];
    char arch[32];
    int count = 0;
    snprintf(arch, sizeof arch, "-arch=sm_%d", r->gpu.compute_capability);
    words[count++] = nvcc && *nvcc ? nvcc : "nvcc";
    words[count++] = arch;
    words[count++] = "-cubin";
    words[count++] = "-o";
    words[count++] = "/dev/null";
    words[count++] = "-Xptxas";
    words[count++] = "-v";
    for (int i = 0; i < r->launch.define_count; i++) {
        words[count++] = "-D";
        words[count++] = r->defines[i];
    }
    if (r->launch.text) {
        words[count++] = "-x";
        words[count++] = "cu";
    }
    words[count++] = r->launch.text ? "-" : r->launch.file;
    words[count] = NULL;
    dup2(from, 0);
    dup2(to, 1);
    dup2(to, 2);
    execvp(words[0], (char *const *)(void *)words);
    _exit(127);
}

/* Whether a function's name in object code is the kernel's, which may have template arguments. */
static bool is_kernel(const char *line, const char *kernel)
{
    char name[256], token[300];
    if (!kernel)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(kernel, "<"), kernel);
    const char *const last = strrchr(name, ':');
    const char *const base = last ? last + 1 : name;
    snprintf(token, sizeof token, "%zu%s", strlen(base), base); /* as C++ mangles it */
    if (strstr(line, token))
        return true;
    snprintf(token, sizeof token, "'%s'", base); /* extern "C" */
    return strstr(line, token) != NULL;
}

/* What ptxas says of the kernel; 0 where it says nothing, or something of several. */
static int read_messages(FILE *from, const char *kernel)
{
    char line[4096];
    bool wanted = false;
    int found = 0, registers = 0;
    while (fgets(line, sizeof line, from)) {
        const char *const used = strstr(line, "Used ");
        if (strstr(line, "Compiling entry function")) {
            wanted = is_kernel(line, kernel);
            found += wanted;
        } else if (wanted && used && strstr(used, " registers"))
            registers = atoi(used + strlen("Used "));
    }
    return found == 1 ? registers : 0;
}

/* What nvcc reads: the source that is no file, or nothing; NULL: neither can be had. */
static FILE *input_of(const source_request *r)
{
    FILE *const input = r->launch.text ? tmpfile() : fopen("/dev/null", "r");
    if (!input || !r->launch.text)
        return input;
    if (fputs(r->launch.text, input) >= 0 && fseek(input, 0, SEEK_SET) == 0)
        return input;
    fclose(input);
    return NULL;
}

int source_registers(const source_request *r)
{
    int ends[2], status = 0, registers = 0;
    FILE *const input = input_of(r);
    if (!input)
        return 0;
    if (pipe(ends) != 0) {
        fclose(input);
        return 0;
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        compile(r, fileno(input), ends[1]);
    close(ends[1]);
    fclose(input);
    FILE *const from = child > 0 ? fdopen(ends[0], "r") : NULL;
    if (from) {
        registers = read_messages(from, r->launch.kernel);
        fclose(from);
    } else {
        close(ends[0]);
    }
    if (child > 0 && (waitpid(child, &status, 0) < 0 || status != 0))
        return 0;
    return registers;
}

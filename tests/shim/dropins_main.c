/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dropins_main LIBRARY served|passed_on [abort|exec|fork|kill]: loads the part of the program that
 * calls cuBLAS, or a BLAS, with RTLD_LOCAL, as PyTorch and NumPy's wheels are loaded, so that the
 * library below is not in the global scope; and how it ends.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int (*calls)(bool served);
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *address = library ? dlsym(library, "calls") : NULL;
    const char *ending = argc > 3 ? argv[3] : "";
    if (!address) {
        fprintf(stderr, "dropins_main: %s\n", dlerror());
        return 2;
    }
    memcpy(&calls, &address, sizeof calls);
    if (strcmp(ending, "fork") == 0) {
        const pid_t child = fork();
        int status;
        if (child == 0) {
            status = calls(strcmp(argv[2], "served") == 0);
            fflush(stdout);
            _exit(status);
        }
        return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 3;
    }
    const int status = calls(strcmp(argv[2], "served") == 0);
    fflush(stdout);
    if (strcmp(ending, "abort") == 0)
        abort();
    if (strcmp(ending, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(ending, "exec") == 0)
        execlp("true", "true", (char *)NULL);
    return status;
}

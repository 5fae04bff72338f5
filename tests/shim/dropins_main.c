/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dropins_main LIBRARY served|passed_on [abort|child|exec|fork|kill]: loads the part of the program
 * that calls cuBLAS, or a BLAS, with RTLD_LOCAL, as PyTorch and NumPy's wheels are loaded, so that
 * the library below is not in the global scope; and how it ends. fork: a child calls, child: one
 * does so after its parent, and all is passed on.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int call_in_child(int (*calls)(bool served), bool served)
{
    const pid_t child = fork();
    int status;
    if (child == 0) {
        status = calls(served);
        fflush(stdout);
        _exit(status);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

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
    const bool served = strcmp(argv[2], "served") == 0;
    if (strcmp(ending, "fork") == 0)
        return call_in_child(calls, served);
    const int status = calls(served);
    fflush(stdout);
    if (strcmp(ending, "child") == 0 && status == 0)
        return call_in_child(calls, false);
    if (strcmp(ending, "abort") == 0)
        abort();
    if (strcmp(ending, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(ending, "exec") == 0)
        execlp("true", "true", (char *)NULL);
    return status;
}

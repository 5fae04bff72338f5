/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm: finds the command and runs it. */
#include "commands.h"
#include "lib/base/nearest.h"
#include "report.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const command *const commands[] = {
    &command_multiply, &command_bench,   &command_plan,      &command_verify, &command_kernels,
    &command_devices,  &command_explain, &command_occupancy, &command_probe,  &command_run,
};
enum { COMMANDS = sizeof commands / sizeof *commands };

void (*sigxfsz_before)(int), (*sigchld_before)(int);

static void print_help(FILE *out)
{
    fputs("Usage: xgemm COMMAND [OPTION]...\n"
          "Matrix multiplication on NVIDIA GPUs: run it, time it, check it.\n\nCommands:\n",
          out);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nOptions:\n"
          "  -h, --help                        print this help\n"
          "  -V, --version                     print the version\n\n"
          "'xgemm help COMMAND' has the options of a command; xgemm(1) has the whole.\n",
          out);
}

static const command *find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    xg_nearest near = {{NULL}, {0}};
    for (int i = 0; i < COMMANDS; i++)
        xg_nearest_consider(&near, name, commands[i]->name);
    const char *const meant = xg_nearest_meant(&near, name);
    fprintf(stderr, "xgemm: there is no command \"%s\"; ", name);
    if (meant)
        fprintf(stderr, "the nearest name is %s; ", meant);
    fputs("there are", stderr);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(stderr, "%s %s", i ? "," : "", commands[i]->name);
    fputs("\nTry 'xgemm --help'.\n", stderr);
    return STATUS_USAGE;
}

/* For jansson, whose results would lack what it had no memory for. */
static void *allocate_json(size_t size)
{
    void *memory = malloc(size);
    if (!memory) {
        fputs("xgemm: the host is out of memory\n", stderr);
        exit(STATUS_FAILED);
    }
    return memory;
}

int main(int argc, char **argv)
{
    static char name[64];
    json_set_alloc_funcs(allocate_json, free);
    report_keep_arguments(argc, argv);
    /* A write past the file-size limit fails instead, and is said. */
    sigxfsz_before = signal(SIGXFSZ, SIG_IGN);
    /* Where it is ignored, as some parents leave it, no child's end is known. */
    sigchld_before = signal(SIGCHLD, SIG_DFL);
    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return close_output(STATUS_DONE);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("xgemm %s\n", xgemm_version());
        return close_output(STATUS_DONE);
    }
    const bool help = strcmp(argv[1], "help") == 0;
    const bool itself = help && argc == 3 &&
                        (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0 ||
                         strcmp(argv[2], "help") == 0);
    if ((help && argc == 2) || itself) {
        print_help(stdout);
        return close_output(STATUS_DONE);
    }
    if (help && argc > 3) {
        fputs("xgemm help: it takes the name of one command\n", stderr);
        return STATUS_USAGE;
    }
    const command *which = find(argv[help ? 2 : 1]);
    if (!which)
        return unknown(argv[help ? 2 : 1]);
    if (help) {
        static char option[] = "--help"; /* in place of the command's name */
        argv[2] = option;
    }
    /* A command names its own kernels, but for multiply, and for the program that run starts. */
    if (which != &command_multiply && which != &command_run)
        unsetenv("XGEMM_KERNEL");
    snprintf(name, sizeof name, "xgemm %s", which->name);
    argv[1] = name; /* getopt's own messages begin with it */
    return close_output(which->run(argc - 1, argv + 1));
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "data_list.h"

#include "report.h"

#include <stdio.h>
#include <string.h>

static const column columns[] = {{"kind", -18}, {"finite", -6}, {"text", -1}};
enum { COLUMNS = sizeof columns / sizeof *columns, NAMES = 1024 };

bool data_list_wanted(const char *text)
{
    return text && (strcmp(text, "list") == 0 || strcmp(text, "help") == 0);
}

int data_list_print(const command *which, const settings *common)
{
    option_only(which, "--data list lists the kinds alone", (const int[]){KEY_DATA, 0});
    report out = report_open(common, columns, COLUMNS, "kinds", report_facts(which));
    for (int i = 0; i < data_count(); i++) {
        const data_kind *kind = data_at(i);
        const cell cells[COLUMNS] = {
            cell_text(kind->name),
            cell_text(kind->traits & DATA_NOT_FINITE ? "no" : "yes"),
            cell_text(kind->text),
        };
        report_row(&out, cells);
    }
    report_close(&out);
    return STATUS_DONE;
}

bool data_pair_has(const data_pair *pair, unsigned trait)
{
    if (trait == DATA_CANCELS)
        return (pair->a->traits & pair->b->traits & trait) != 0;
    return ((pair->a->traits | pair->b->traits) & trait) != 0;
}

static void add(const command *which, data_list *list, const data_kind *a, const data_kind *b,
                bool both)
{
    if (list->count == DATA_LIST_MAX)
        usage_error(which, "--data takes at most %d kinds", (int)DATA_LIST_MAX);
    data_pair *pair = &list->pairs[list->count];
    *pair = (data_pair){.a = a, .b = b};
    snprintf(pair->name, sizeof pair->name, both ? "%s:%s" : "%s", a->name, b->name);
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->pairs[i].name, pair->name) == 0)
            usage_error(which, "--data has \"%s\" twice", pair->name);
    list->count++;
}

static const data_kind *kind_from(const command *which, const char *name, size_t length)
{
    const data_kind *kind = data_find(name, length);
    char names[NAMES] = "";
    if (kind)
        return kind;
    for (int i = 0; i < data_count(); i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", data_at(i)->name);
    }
    usage_error(which, "there is no kind of data \"%.*s\"; there are %s", (int)length, name, names);
}

static void add_named(const command *which, data_list *list, const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length);
    const size_t first = colon ? (size_t)(colon - text) : length;
    const data_kind *a = kind_from(which, text, first);
    const data_kind *b = colon ? kind_from(which, colon + 1, length - first - 1)
                               : data_find("normal", strlen("normal"));
    add(which, list, a, b, colon != NULL);
}

data_list data_list_from(const command *which, const char *text)
{
    data_list list = {.count = 0};
    while (text) {
        const size_t length = strcspn(text, ",");
        if (length == 3 && memcmp(text, "all", 3) == 0)
            for (int i = 0; i < data_count(); i++) {
                add(which, &list, data_at(i), data_find("normal", strlen("normal")), false);
                add(which, &list, data_at(i), data_at(i), true);
            }
        else
            add_named(which, &list, text, length);
        text = text[length] ? text + length + 1 : NULL;
    }
    return list;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a GPU of the catalogue by what a person calls it. */
#include "base/nearest.h"
#include "catalog.h"
#include "fields.h"

#include <stdio.h>
#include <string.h>

enum { NEAREST = 3, SHOWN = 60 /* of a name that may be of any length */ };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Past a prefix that a compute capability may have. */
static const char *skip_prefix(const char *text)
{
    static const char *const prefixes[] = {"sm_", "compute_", "sm", "cc"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t length = strlen(prefixes[i]);
        size_t same = 0;
        while (same < length && (text[same] | ('a' ^ 'A')) == (prefixes[i][same] | ('a' ^ 'A')))
            same++;
        if (same == length)
            return text + length;
    }
    return text;
}

/*
 * "90", "9.0", "sm_90", "sm_90a", "compute_100f" as 10 * major + minor; 0 for what
 * is none. One digit or more than three are a part of a name.
 */
static int capability_of(const char *text)
{
    const char *at = skip_prefix(text);
    const bool prefixed = at != text;
    int digits = 0, value = 0, point = 0;
    for (; is_digit(*at) && digits < 4; digits++)
        value = 10 * value + *at++ - '0';
    if (*at == '.' && digits && is_digit(at[1])) {
        value = 10 * value + at[1] - '0';
        at += 2;
        digits++;
        point = 1;
    }
    if (prefixed && !point && (*at == 'a' || *at == 'f'))
        at++;
    return *at == '\0' && digits >= 2 && digits <= 3 ? value : 0;
}

static const xg_catalog_row *of_capability(int capability)
{
    for (int i = 0; i < xg_catalog_count; i++)
        if (xg_catalog[i].compute_capability == capability)
            return &xg_catalog[i];
    return NULL;
}

static xgemm_status unknown_capability(const char *name, int capability, xg_error *error)
{
    char known[256] = "";
    size_t used = 0;
    for (int last = 0, next = 0;; last = next) {
        next = 0;
        for (int i = 0; i < xg_catalog_count; i++) {
            const int one = xg_catalog[i].compute_capability;
            if (one > last && (!next || one < next))
                next = one;
        }
        if (!next || used + 8 > sizeof known)
            break;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%d.%d", last ? ", " : "",
                                 next / 10, next % 10);
    }
    return xg_fail(error, XGEMM_ERROR_NO_DEVICE,
                   "\"%.*s\": no GPU of the catalogue has compute capability %d.%d; they have %s",
                   SHOWN, name, capability / 10, capability % 10, known);
}

/* Whether each word stands in one of the row's names. */
static bool has_all(const xg_catalog_row *row, const xg_name *name)
{
    bool found[XG_NAME_WORDS] = {false};
    for (const char *next = row->names; next;) {
        xg_name own;
        if (!xg_name_read(&own, next, &next))
            continue;
        for (int i = 0; i < name->count; i++)
            found[i] = found[i] || xg_name_has(&own, name->words[i]);
    }
    for (int i = 0; i < name->count; i++)
        if (!found[i])
            return false;
    return true;
}

static const xg_catalog_row *with_words(const xg_name *name)
{
    for (int i = 0; i < xg_catalog_count; i++)
        if (has_all(&xg_catalog[i], name))
            return &xg_catalog[i];
    return NULL;
}

/* The sum over the words of the distance to the row's most similar word. */
static int distance(const xg_catalog_row *row, const xg_name *name)
{
    int sum = 0;
    for (int i = 0; i < name->count; i++) {
        int best = XG_NAME_LENGTH;
        for (const char *next = row->names; next;) {
            xg_name own;
            (void)xg_name_read(&own, next, &next);
            for (int j = 0; j < own.count; j++) {
                const int one = xg_word_distance(name->words[i], own.words[j]);
                best = one < best ? one : best;
            }
        }
        sum += best;
    }
    return sum;
}

static xgemm_status unknown_name(const char *text, const xg_name *name, xg_error *error)
{
    int nearest[NEAREST], distances[NEAREST], count = 0;
    for (int i = 0; i < xg_catalog_count; i++) {
        const int one = distance(&xg_catalog[i], name);
        int at = count < NEAREST ? count++ : NEAREST;
        for (; at > 0 && distances[at - 1] > one; at--)
            if (at < NEAREST) {
                nearest[at] = nearest[at - 1];
                distances[at] = distances[at - 1];
            }
        if (at < NEAREST) {
            nearest[at] = i;
            distances[at] = one;
        }
    }
    char list[NEAREST * (XG_NAME_LENGTH + 4) + 1] = "";
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        const char *names = xg_catalog[nearest[i]].names;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s\"%.*s\"", i ? ", " : "",
                                 (int)strcspn(names, ","), names);
    }
    return xg_fail(error, XGEMM_ERROR_NO_DEVICE,
                   "there is no GPU \"%.*s\" among the %d of the catalogue; the nearest names "
                   "are %s",
                   SHOWN, text, xg_catalog_count, list);
}

static xgemm_status find(const char *text, const xg_catalog_row **row, xg_error *error)
{
    xg_name name;
    if (!xg_name_read(&name, text, NULL))
        return xg_fail(error, XGEMM_ERROR_NO_DEVICE,
                       name.count ? "there is no GPU \"%.*s...\" in the catalogue; no name there "
                                    "is that long"
                                  : "\"%.*s\" names no GPU; a name has letters or digits",
                       SHOWN, text);
    *row = xg_catalog_named(&name, 0);
    /* Of the text itself: "sm_90" is two words. */
    const int capability = *row ? 0 : capability_of(text + strspn(text, " \t"));
    if (capability) {
        *row = of_capability(capability);
        return *row ? XGEMM_OK : unknown_capability(text, capability, error);
    }
    if (!*row)
        *row = with_words(&name);
    return *row ? XGEMM_OK : unknown_name(text, &name, error);
}

static xgemm_status find_device(const char *name, xgemm_device *device, xg_error *error)
{
    const xg_catalog_row *row = NULL;
    xgemm_device full;
    xgemm_status status = xg_device_check(device, error);
    if (status)
        return status;
    if (!name)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "name is NULL");
    status = find(name, &row, error);
    if (status)
        return status;
    xg_catalog_describe(row, &full);
    xg_device_store(device, &full);
    return XGEMM_OK;
}

xgemm_status xgemm_device_find(const char *name, xgemm_device *device)
{
    const xgemm_status status = find_device(name, device, xg_thread_error());
    if (status)
        xg_error_prefix(xg_thread_error(), __func__);
    return status;
}

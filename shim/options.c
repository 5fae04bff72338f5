/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <stdlib.h>
#include <string.h>

dropin_options options = {.math = XGEMM_MATH_DEFAULT};

static bool is_set_to(const char *variable, const char *value)
{
    const char *text = secure_getenv(variable);
    return text && strcmp(text, value) == 0;
}

__attribute__((constructor)) static void read_environment(void)
{
    if (is_set_to("XGEMM_RUN_MATH", "strict"))
        options.math = XGEMM_MATH_STRICT;
    else if (is_set_to("XGEMM_RUN_MATH", "tf32"))
        options.math = XGEMM_MATH_TF32;
    options.serves_all = is_set_to("XGEMM_SERVE", "all");
    options.without_tf32 = is_set_to("NVIDIA_TF32_OVERRIDE", "0");
    options.serves_none = is_set_to("XGEMM_SERVE", "none");
    /* Who wrote "off" or "no" wants less, not more. */
    const char *const serve = secure_getenv("XGEMM_SERVE");
    if (serve && *serve && !options.serves_all && !options.serves_none)
        options.mistake = "XGEMM_SERVE is neither all nor none";
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What xgemm verify says of a wrong product. */
#ifndef XGEMM_BIN_VERIFY_COMPLAINT_H
#define XGEMM_BIN_VERIFY_COMPLAINT_H

#include "checking.h"

/* On standard error: the product, and which of its elements is wrong. */
void verify_complain(const char *kernel, const workload *w, const values_choice *values,
                     const check_result *result);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#error "the simulator of libxgemm has no cuRAND"

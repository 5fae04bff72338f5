/* SPDX-License-Identifier: BSD-3-Clause */
/* A GPU's clock, power and temperature, by NVIDIA's management library where it is installed. */
#ifndef XGEMM_BIN_SENSORS_H
#define XGEMM_BIN_SENSORS_H

#include <stdbool.h>

/* Negative: not known. */
typedef struct {
    double clock_mhz; /* of the multiprocessors */
    double power_w;   /* of the board */
    double temperature_c;
} readings;

typedef struct sensors sensors;

/* Of the GPU with that CUDA ordinal; NULL where it is none, or the library is not there. */
sensors *sensors_open(int ordinal);

/* At this moment; of NULL nothing is known. */
readings sensors_read(const sensors *from);
void sensors_close(sensors *of);

#endif

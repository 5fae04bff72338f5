/* SPDX-License-Identifier: BSD-3-Clause */
/* What the drop-in calls of the driver, and libxgemm does not, for dropins.sh. */
#include <stdlib.h>

/* What the driver does while it is asked; NULL: nothing. */
extern void (*fake_asked_for_capture)(void);
void (*fake_asked_for_capture)(void);

/* With FAKE_CUDA_CAPTURE every stream is captured. */
int cuStreamIsCapturing(void *stream, int *status);
int cuStreamIsCapturing(void *stream, int *status)
{
    (void)stream;
    if (fake_asked_for_capture)
        fake_asked_for_capture();
    *status = getenv("FAKE_CUDA_CAPTURE") != NULL;
    return 0;
}

int cuCtxGetDevice(int *ordinal);
int cuCtxGetDevice(int *ordinal)
{
    *ordinal = 0;
    return 0;
}

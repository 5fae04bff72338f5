/* SPDX-License-Identifier: BSD-3-Clause */
/* What the drop-in calls of the driver, and libxgemm does not, for dropins.sh. */
#include <stdlib.h>

/* With FAKE_CUDA_CAPTURE every stream is captured. */
int cuStreamIsCapturing(void *stream, int *status);
int cuStreamIsCapturing(void *stream, int *status)
{
    (void)stream;
    *status = getenv("FAKE_CUDA_CAPTURE") != NULL;
    return 0;
}

int cuCtxGetDevice(int *ordinal);
int cuCtxGetDevice(int *ordinal)
{
    *ordinal = 0;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The one function of the fake libnvrtc with an effect. */
#include "driver/nvrtc.h"

nvrtc_result nvrtcVersion(int *major, int *minor);

nvrtc_result nvrtcVersion(int *major, int *minor)
{
    if (FAKE_MAJOR == 0)
        return DRIVER_NVRTC_ERROR_INTERNAL_ERROR;
    *major = FAKE_MAJOR;
    *minor = FAKE_MINOR;
    return DRIVER_NVRTC_SUCCESS;
}

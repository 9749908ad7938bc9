/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as PTX: parsing succeeds or fails cleanly, and what is parsed executes within its
 * bounds.
 */
#include "fuzz/run_ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run_ptx((const char *)data, size, NULL);
    return 0;
}

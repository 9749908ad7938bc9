/* SPDX-License-Identifier: Apache-2.0 */
/* The worker program, but of another build: the linker passes the calls of worker_build to the
 * function here. */
#include <stdint.h>

#include "driver/worker/protocol.h"

uint64_t __real_worker_build(void);
uint64_t __wrap_worker_build(void);

uint64_t __wrap_worker_build(void)
{
    return __real_worker_build() + 1;
}

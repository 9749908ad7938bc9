/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two functions of the fake libcuda with an effect: cuInit returns FAKE_INIT of the
 * environment, with FAKE_FORK OPERATING_SYSTEM in a child of the process that called it first, and
 * is counted, and with FAKE_HANG does not return; cuDriverGetVersion returns FAKE_VERSION.
 */
#include <stdlib.h>
#include <unistd.h>

#include <devicepool/driver.h>

pool_cu_result cuInit(unsigned int flags);
pool_cu_result cuDriverGetVersion(int *version);

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text ? atoi(text) : otherwise;
}

extern unsigned fake_init_calls;
unsigned fake_init_calls;

pool_cu_result cuInit(unsigned int flags)
{
    static pid_t first;

    fake_init_calls++;
    while (getenv("FAKE_HANG"))
        pause();
    if (!first)
        first = getpid();
    if (first != getpid() && getenv("FAKE_FORK"))
        return POOL_CU_OPERATING_SYSTEM;
    return flags ? POOL_CU_INVALID_VALUE : (pool_cu_result)number("FAKE_INIT", 0);
}

pool_cu_result cuDriverGetVersion(int *version)
{
    *version = number("FAKE_VERSION", 13000);
    return POOL_CU_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two functions of the fake libcuda with an effect: cuInit returns FAKE_INIT of the
 * environment, cuDriverGetVersion returns FAKE_VERSION.
 */
#include <stdlib.h>

#include <devicepool/driver.h>

pool_cu_result cuInit(unsigned int flags);
pool_cu_result cuDriverGetVersion(int *version);

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text ? atoi(text) : otherwise;
}

pool_cu_result cuInit(unsigned int flags)
{
    return flags ? POOL_CU_INVALID_VALUE : (pool_cu_result)number("FAKE_INIT", 0);
}

pool_cu_result cuDriverGetVersion(int *version)
{
    *version = number("FAKE_VERSION", 13000);
    return POOL_CU_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version of the running library.
 */
#include <devicepool/version.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

int pool_version_number(void)
{
    return POOL_VERSION_NUMBER;
}

const char *pool_version_text(void)
{
    return TEXT(POOL_VERSION_MAJOR) "." TEXT(POOL_VERSION_MINOR) "." TEXT(POOL_VERSION_PATCH);
}

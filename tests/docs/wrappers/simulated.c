/* The code chooses the devices and creates `pool`. */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    device_pool *pool = NULL;

BLOCK
    if (!pool || pool_destroy(&pool) || pool_last_error()->status)
        return fprintf(stderr, "%s\n", pool_last_error()->message), 1;
    return 0;
}

/* Statements alone. None of their calls may fail. */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
BLOCK
    if (pool_last_error()->status)
        fprintf(stderr, "%s\n", pool_last_error()->message);
    if (pool_status_class(pool_last_error()->status) == POOL_CLASS_HOST)
        return 77;
    return pool_last_error()->status ? 1 : 0;
}

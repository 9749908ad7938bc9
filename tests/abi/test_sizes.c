/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public structs that begin with struct_size may only grow at the end. sizes.def records where each
 * ended, release by release; rows are appended, never changed, once a release has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include <devicepool.h>
#include <devicepool/mock.h>

/* The structs of mpi.h, which needs MPI, are a program of their own. */
#ifdef WITH_MPI
#include <devicepool/mpi.h>
#define SIZES "abi/sizes_mpi.def"
#else
#define SIZES "abi/sizes.def"
#endif

static const struct row {
    const char *name;
    const char *member;
    size_t recorded; /* end of the member */
    size_t end;
    size_t size; /* of the struct, today */
    size_t first;
} rows[] = {
#define X(name, member, recorded)                                                                  \
    {#name, #member, recorded, offsetof(name, member) + sizeof(((name *)0)->member), sizeof(name), \
        offsetof(name, struct_size)},
#include SIZES
#undef X
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static void test_members_stay(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].end != rows[i].recorded || rows[i].first != 0)
            print_error("%s.%s ends at %zu, recorded is %zu: members may only be appended\n",
                rows[i].name, rows[i].member, rows[i].end, rows[i].recorded);
        assert_int_equal(rows[i].end, rows[i].recorded);
        assert_int_equal(rows[i].first, 0);
    }
}

/* The last row of a struct names its last member; otherwise a member was added without a row. */
static void test_growth_is_recorded(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        size_t end = 0;

        for (size_t k = 0; k < ROW_COUNT; k++)
            if (strcmp(rows[k].name, rows[i].name) == 0)
                end = rows[k].recorded;
        end = (end + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
        if (rows[i].size != end)
            print_error("%s has %zu bytes but sizes.def ends at %zu: append a row\n", rows[i].name,
                rows[i].size, end);
        assert_int_equal(rows[i].size, end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_stay),
        cmocka_unit_test(test_growth_is_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

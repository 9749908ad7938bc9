/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May a device be used: every condition of a device and every use against a table written by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pool/device/usable.h"

enum { USES = DEVICE_USE_CALLS + 1 };

/* What a condition allows in a process that is neither forked nor poisoned, in the order of enum
 * device_use. */
struct expected {
    pool_device_state state;
    bool has_context, is_lost;
    pool_status status[USES];
};

#define OK POOL_OK
#define LOST POOL_ERR_DEVICE_LOST
#define UNUSABLE POOL_ERR_DEVICE_UNUSABLE

static const struct expected table[] = {
    /* state, context, lost: host, driver, release, calls */
    {POOL_DEVICE_READY, true, false, {OK, OK, OK, OK}},
    {POOL_DEVICE_READY, false, false, {OK, OK, UNUSABLE, OK}}, /* its first call creates it */
    /* The state changes a moment after the loss: calls fail by themselves. */
    {POOL_DEVICE_READY, true, true, {OK, OK, LOST, OK}},
    {POOL_DEVICE_READY, false, true, {OK, OK, LOST, OK}},
    {POOL_DEVICE_DRAINING, true, false, {OK, OK, OK, OK}},
    {POOL_DEVICE_DRAINING, false, false, {OK, OK, UNUSABLE, OK}},
    {POOL_DEVICE_DRAINING, true, true, {OK, OK, LOST, OK}},
    {POOL_DEVICE_DRAINING, false, true, {OK, OK, LOST, OK}},
    {POOL_DEVICE_QUARANTINED, true, false, {OK, OK, OK, OK}},
    {POOL_DEVICE_QUARANTINED, false, false, {OK, OK, UNUSABLE, OK}},
    {POOL_DEVICE_QUARANTINED, true, true, {OK, OK, LOST, OK}},
    {POOL_DEVICE_QUARANTINED, false, true, {OK, OK, LOST, OK}},
    {POOL_DEVICE_UNUSABLE, true, false, {OK, OK, OK, UNUSABLE}},
    {POOL_DEVICE_UNUSABLE, false, false, {OK, OK, UNUSABLE, UNUSABLE}},
    {POOL_DEVICE_UNUSABLE, true, true, {OK, OK, LOST, LOST}},
    {POOL_DEVICE_UNUSABLE, false, true, {OK, OK, LOST, LOST}},
    {POOL_DEVICE_ABANDONED, true, false, {OK, OK, UNUSABLE, UNUSABLE}},
    {POOL_DEVICE_ABANDONED, false, false, {OK, OK, UNUSABLE, UNUSABLE}},
    /* For good, so it does not come back. */
    {POOL_DEVICE_ABANDONED, true, true, {OK, OK, UNUSABLE, UNUSABLE}},
    {POOL_DEVICE_ABANDONED, false, true, {OK, OK, UNUSABLE, UNUSABLE}},
};

static void test_every_condition_and_use(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        for (int use = 0; use < USES; use++) {
            struct device_condition at = {.state = table[i].state,
                .has_context = table[i].has_context,
                .is_lost = table[i].is_lost};

            assert_int_equal(device_usability((enum device_use)use, at), table[i].status[use]);
            at.is_poisoned = true;
            assert_int_equal(device_usability((enum device_use)use, at),
                use == DEVICE_USE_HOST ? POOL_OK : POOL_ERR_PROCESS_POISONED);
            at.is_forked = true;
            assert_int_equal(device_usability((enum device_use)use, at), POOL_ERR_FORKED);
            at.is_poisoned = false;
            assert_int_equal(device_usability((enum device_use)use, at), POOL_ERR_FORKED);
        }
}

static void test_table_has_every_combination(void **state)
{
    static const pool_device_state states[] = {POOL_DEVICE_READY, POOL_DEVICE_UNUSABLE,
        POOL_DEVICE_DRAINING, POOL_DEVICE_QUARANTINED, POOL_DEVICE_ABANDONED};
    unsigned found[sizeof(states) / sizeof(states[0])] = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        for (size_t s = 0; s < sizeof(states) / sizeof(states[0]); s++)
            if (table[i].state == states[s])
                found[s] |= 1u << (2 * table[i].has_context + table[i].is_lost);
    for (size_t s = 0; s < sizeof(states) / sizeof(states[0]); s++)
        assert_int_equal(found[s], 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_condition_and_use),
        cmocka_unit_test(test_table_has_every_combination),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

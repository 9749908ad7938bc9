/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchanges of transforms over several devices as pure functions: every element is loaded once and
 * stored once at its place, with the row and column that it has; tiles coalesce; splits of all
 * sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ntt/split.h"
#include "support/random.h"

static uint64_t move_bits(uint64_t index, const uint8_t *list, uint32_t count)
{
    uint64_t result = 0;

    for (uint32_t i = 0; i < count; i++)
        result |= (index >> i & 1) << list[i];
    return result;
}

static struct ntt_layout random_layout(uint32_t bits)
{
    struct ntt_layout layout = {{0}};

    for (uint32_t i = 0; i < bits; i++)
        layout.logical[i] = (uint8_t)i;
    for (uint32_t i = bits; i > 1; i--) {
        uint32_t other = (uint32_t)(next_random() % i);
        uint8_t moved = layout.logical[i - 1];

        layout.logical[i - 1] = layout.logical[other];
        layout.logical[other] = moved;
    }
    return layout;
}

/* What the kernel does, on the host. */
static void check_exchange(const struct ntt_layout *from, const struct ntt_layout *to,
    const struct ntt_exchange *exchange, uint32_t log_size)
{
    const uint32_t a = exchange->log_devices, blocks = exchange->log_local - exchange->log_tile;
    uint8_t *loaded = calloc(1, (size_t)1 << log_size), *stored = calloc(1, (size_t)1 << log_size);

    for (uint64_t device = 0; device < UINT64_C(1) << a; device++)
        for (uint64_t block = 0; block < UINT64_C(1) << blocks; block++) {
            uint64_t logical[1 << NTT_EXCHANGE_LOG_TILE];

            for (uint64_t thread = 0; thread < UINT64_C(1) << exchange->log_tile; thread++) {
                uint64_t source = move_bits(block, exchange->block_read, blocks) |
                                  move_bits(thread, exchange->read, exchange->log_tile);

                source |= device << exchange->log_local;
                assert_int_equal(loaded[source]++, 0);
                logical[thread] = move_bits(device, exchange->device_logical, a) |
                                  move_bits(block, exchange->block_logical, blocks) |
                                  move_bits(thread, exchange->read_logical, exchange->log_tile);
                assert_int_equal(logical[thread], move_bits(source, from->logical, log_size));
            }
            for (uint64_t thread = 0; thread < UINT64_C(1) << exchange->log_tile; thread++) {
                uint64_t slot = move_bits(thread, exchange->slot, exchange->log_tile);
                uint64_t target = move_bits(device, exchange->device_to, a) |
                                  move_bits(block, exchange->block_to, blocks) |
                                  move_bits(thread, exchange->write_to, exchange->log_tile);

                assert_int_equal(stored[target]++, 0);
                assert_int_equal(logical[slot], move_bits(target, to->logical, log_size));
            }
        }
    free(loaded);
    free(stored);
}

static void test_exchanges(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < 300; turn++) {
        const uint32_t bits = 2 + (uint32_t)(next_random() % 11);
        const uint32_t a = (uint32_t)(next_random() % (bits / 2 < 4 ? bits / 2 + 1 : 5));
        const struct ntt_layout from = random_layout(bits), to = random_layout(bits);
        struct ntt_exchange exchange;

        ntt_exchange_make(&from, &to, bits, a, &exchange);
        check_exchange(&from, &to, &exchange, bits);
        for (uint32_t i = 0; i < 4 && i < exchange.log_tile && exchange.log_tile == 8; i++)
            assert_int_equal(exchange.read[i], i); /* 16 neighbours are loaded together */
    }
}

/* Neighbouring threads of every exchange of a large transform store at least 16 neighbours. */
static void test_splits(void **state)
{
    static const uint32_t words[] = {1, 2, 8, 12};
    const struct chip chip = {.multiprocessors = 132, .shared_bytes = 227 << 10};
    struct ntt_split split;

    (void)state;
    assert_int_equal(ntt_split_log_devices(24, 1), 0);
    assert_int_equal(ntt_split_log_devices(24, 3), 1);
    assert_int_equal(ntt_split_log_devices(24, 8), 3);
    assert_int_equal(ntt_split_log_devices(24, 64), 4);
    assert_int_equal(ntt_split_log_devices(5, 8), 2);
    for (uint32_t log_size = 2; log_size <= 32; log_size++)
        for (uint32_t way = 0; way < 64; way++) {
            const uint32_t a = ntt_split_log_devices(log_size, 2u << (way >> 4));
            const struct ntt_job job = {.words = words[log_size % 4],
                .log_size = log_size,
                .batch = 1,
                .order = (pool_ntt_order)(way & 3)};

            ntt_split_make(&chip, &job, a, way & 4, way & 8, &split);
            assert_int_equal(split.log_rows + split.log_columns, log_size);
            assert_true(split.log_rows >= a && split.log_columns >= a);
            assert_int_equal(
                split.columns_job.batch << split.log_rows, UINT64_C(1) << (log_size - a));
            assert_int_equal(
                split.rows_job.batch << split.log_columns, UINT64_C(1) << (log_size - a));
            assert_int_equal(split.collects, (way & 8) && !split.gives_reversed);
            for (uint32_t i = 0; i < 4 && log_size >= 24; i++) {
                assert_int_equal(split.exchange.direct.read[i], i);
                assert_int_equal(split.exchange.direct.write_to[i], i);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchanges), cmocka_unit_test(test_splits)};

    return cmocka_run_group_tests_name("ntt_split_plan", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms that are split over several devices, 2, 4 and 8 simulated ones or those of `--device`,
 * with and without peer access: every order, direction and coset, from and to host memory and
 * shards, in place, in passes of every kind, against the plain reference; what is refused;
 * failures.
 */
#include <pthread.h>

#include "support/ntt.h"
#include "support/sample.h"
#include "support/several.h"
#include "zk/ntt/split.h"

static bool gives_natural(pool_ntt_order order)
{
    return order == POOL_NTT_NN || order == POOL_NTT_RN;
}

static bool takes_natural(pool_ntt_order order)
{
    return order == POOL_NTT_NN || order == POOL_NTT_NR;
}

/* The shards of one transform per call: natural order is distributed in turn. */
static struct several_shards *shard(const pool_ntt_params *params, uint32_t count, pool_form form)
{
    const uint64_t n = UINT64_C(1) << params->domain->log_size;
    uint64_t first[SEVERAL_MAX + 1];

    several_divide(count, count, n / count, false, first);
    return several_allocate(count, params->domain->field->bytes, form, first);
}

/* Otherwise in host memory, pageable or pinned. */
enum { IN_SHARDED = 1, OUT_SHARDED = 2, IN_PLACE = 4, PINNED = 8 };

static pool_pinned *pin(pool_span *span, uint32_t bytes)
{
    pool_pinned *pinned = NULL;

    assert_ok(pool_pinned_create(several[0], span->count * bytes, 0, &pinned));
    memcpy(pool_pinned_data(pinned), span->data, span->count * bytes);
    span->data = pool_pinned_data(pinned);
    return pinned;
}

/* One transform, its data where `places` says, against the reference. */
static void compare(const pool_ntt_params *params, uint32_t count, int places, uint64_t seed)
{
    const uint64_t n = UINT64_C(1) << params->domain->log_size;
    const uint32_t bytes = params->domain->field->bytes;
    pool_exec exec = several_exec(count);
    uint64_t needed[SEVERAL_MAX];
    uint8_t *in = ntt_random(params->domain->field, seed, n), *out = calloc(n, bytes);
    uint8_t *wanted = ntt_expected(params, in);
    struct several_shards *from = NULL, *to = NULL;
    pool_span input = ntt_host(in, n), output = ntt_host(out, n);
    pool_pinned *pinned[2] = {NULL, NULL};

    if (places & PINNED) {
        pinned[0] = pin(&input, bytes);
        pinned[1] = pin(&output, bytes);
    }
    if (places & (IN_SHARDED | IN_PLACE)) {
        from = shard(params, count, POOL_FORM_STANDARD);
        several_upload(from, in, takes_natural(params->order));
        input = from->span;
    }
    if (places & OUT_SHARDED)
        to = shard(params, count, POOL_FORM_STANDARD);
    if (places & IN_PLACE)
        to = from;
    if (to)
        output = to->span;
    assert_ok(pool_ntt_workspace(params, &exec, &input, &output, needed));
    assert_ok(pool_ntt(params, &exec, &input, &output));
    if (!(places & IN_PLACE) && seed % 4 == 0)
        SEVERAL_CHECK_WORKSPACES(count, needed, &exec, pool_ntt(params, &exec, &input, &output));
    if (to)
        several_download(to, out, gives_natural(params->order));
    ntt_assert_same(params, to ? out : output.data, wanted);
    for (int i = 0; i < 2; i++)
        assert_ok(pool_pinned_destroy(&pinned[i]));
    if (to && to != from)
        several_free(to);
    if (from)
        several_free(from);
    free(in);
    free(out);
    free(wanted);
}

/* Every `step`th combination of order, direction, coset and places. */
static void all_ways(
    const pool_field *field, uint32_t log_size, uint32_t count, uint32_t first, uint32_t step)
{
    static const int places[] = {0, IN_SHARDED, OUT_SHARDED, IN_SHARDED | OUT_SHARDED, IN_PLACE,
        PINNED, PINNED | IN_SHARDED, PINNED | OUT_SHARDED};
    pool_ntt_domain *domain = ntt_domain(field, log_size);

    for (uint32_t way = first; way < 128; way += step) {
        const pool_ntt_params params = {.struct_size = sizeof(params),
            .domain = domain,
            .order = (pool_ntt_order)(way & 3),
            .direction = (pool_ntt_direction)(way >> 2 & 1),
            .coset = way >> 3 & 1};

        compare(&params, count, places[way / 16], 100 * log_size + way);
    }
    assert_ok(pool_ntt_domain_destroy(&domain));
}

static void test_all_ways(void **state)
{
    (void)state;
    all_ways(ntt_field("babybear"), 7, 2, 0, 1);
    if (several_count >= 4)
        all_ways(ntt_field("babybear"), 6, 4, 0, 1);
}

static void test_sizes(void **state)
{
    static const char *const names[] = {"bn254_fr", "goldilocks", "babybear"};

    (void)state;
    for (uint32_t count = 2; count <= several_count; count++)
        for (uint32_t log_size = 1; log_size <= 13; log_size++)
            if (is_sampled(log_size, 2) && (count & (count - 1)) == 0 &&
                ntt_split_log_devices(log_size, count) &&
                1u << ntt_split_log_devices(log_size, count) == count)
                all_ways(ntt_field(names[log_size % 3]), log_size, count, log_size % 13, 13);
}

/* Tiny tiles, tables and uploads: parts of many passes, twiddles of two levels, many chunks. */
static void test_many_passes(void **state)
{
    static const struct ntt_tuning tunings[] = {
        {.log_radix = 2,
            .log_threads = 5,
            .min_tile_width = 2,
            .high_bits = 5,
            .blocks = 1,
            .log_chunk = 10},
        {.log_radix = 1,
            .log_threads = 5,
            .min_tile_width = 3,
            .high_bits = 6,
            .blocks = 1,
            .log_chunk = 9},
    };

    (void)state;
    if (ntt_needs_compiler("other tunings"))
        return;
    for (size_t t = 0; t < 2; t++) {
        ntt_tuning = &tunings[t];
        all_ways(ntt_field("babybear"), 12, 2, (uint32_t)t, 7);
        if (several_count >= 4)
            all_ways(ntt_field("goldilocks"), 13, 4, (uint32_t)t, 17);
    }
    ntt_tuning = NULL;
}

/* From standard to Montgomery form, which is only a factor of all elements. */
static void test_forms(void **state)
{
    const pool_field *field = ntt_field("bn254_fr");
    pool_ntt_params params = {.struct_size = sizeof(params), .domain = ntt_domain(field, 8)};
    pool_exec exec = several_exec(2);
    uint8_t *in = ntt_random(field, 5, 256), out[256 * 32], *wanted;
    pool_span from = ntt_host(in, 256), to = ntt_host(out, 256);

    (void)state;
    for (int order = 0; order < 4; order++) {
        params.order = (pool_ntt_order)order;
        params.direction = (pool_ntt_direction)(order & 1);
        wanted = ntt_expected(&params, in);
        to.form = POOL_FORM_MONTGOMERY;
        assert_ok(pool_ntt(&params, &exec, &from, &to));
        assert_ok(pool_field_from_montgomery(field, out, 256, out));
        ntt_assert_same(&params, out, wanted);
        free(wanted);
    }
    free(in);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* Fewer transforms than devices, one after the other; numbers of devices that are no power of two.
 */
static void test_few_transforms(void **state)
{
    const pool_field *field = ntt_field("babybear");

    (void)state;
    for (uint32_t count = 2; count <= several_count; count++)
        for (uint64_t batch = 1; batch < count && batch <= 3; batch++) {
            pool_ntt_params params = {.struct_size = sizeof(params),
                .domain = ntt_domain(field, 7),
                .order = (pool_ntt_order)(count & 3),
                .batch = batch};
            pool_exec exec = several_exec(count);

            ntt_compare(&params, &exec, count);
            assert_ok(pool_ntt_domain_destroy(&params.domain));
        }
    /* Too small to be split over as many. */
    for (uint32_t log_size = 0; log_size < 4; log_size++) {
        pool_ntt_params params = {
            .struct_size = sizeof(params), .domain = ntt_domain(field, log_size)};
        pool_exec exec = several_exec(several_count);

        ntt_compare(&params, &exec, log_size);
        assert_ok(pool_ntt_domain_destroy(&params.domain));
    }
}

/* Batches of sharded transforms: each shard has the parts of all of them, one after the other. */
static void test_sharded_few(void **state)
{
    const pool_field *field = ntt_field("babybear");
    const uint32_t count = 4, n = 128;
    const uint64_t first[] = {0, 96, 192, 288, 384};
    pool_ntt_params params = {.struct_size = sizeof(params), .order = POOL_NTT_NR, .batch = 3};
    uint8_t *in, *mixed, *out, *wanted;
    struct several_shards *shards;
    pool_exec exec;

    (void)state;
    if (several_count < count)
        return;
    params.domain = ntt_domain(field, 7);
    exec = several_exec(count);
    in = ntt_random(field, 9, 384);
    mixed = calloc(384, 4);
    out = calloc(384, 4);
    wanted = ntt_expected(&params, in);
    for (uint32_t t = 0; t < 3; t++)
        for (uint32_t i = 0; i < n; i++)
            memcpy(mixed + 4 * (i % count * 96 + t * 32 + i / count), in + 4 * (t * n + i), 4);
    shards = several_allocate(count, 4, POOL_FORM_STANDARD, first);
    several_upload(shards, mixed, false);
    assert_ok(pool_ntt(&params, &exec, &shards->span, &shards->span));
    several_download(shards, mixed, false);
    for (uint32_t t = 0; t < 3; t++)
        for (uint32_t i = 0; i < n; i++)
            memcpy(out + 4 * (t * n + i), mixed + 4 * (i / 32 * 96 + t * 32 + i % 32), 4);
    ntt_assert_same(&params, out, wanted);
    several_free(shards);
    free(in);
    free(mixed);
    free(out);
    free(wanted);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* ---- what is refused, and the memory --------------------------------------------------------- */

static void test_refused(void **state)
{
    const pool_field *field = ntt_field("babybear");
    const uint64_t first[] = {0, 60, 128}, half[] = {0, 64, 128};
    pool_ntt_params params = {.struct_size = sizeof(params), .domain = ntt_domain(field, 7)};
    pool_exec exec = several_exec(2);
    uint32_t data[128] = {0}, apart[256] = {0};
    pool_span host = ntt_host(data, 128), strided = {.data = apart, .count = 128, .stride = 8};
    struct several_shards *shards = several_allocate(2, 4, POOL_FORM_STANDARD, first);
    struct several_shards *equal = several_allocate(2, 4, POOL_FORM_STANDARD, half);
    uint64_t bytes[2];

    (void)state;
    assert_status(pool_ntt(&params, &exec, &shards->span, &host), POOL_ERR_INVALID_ARGUMENT);
    assert_says("shard 0 of the input has 60 elements");
    assert_status(pool_ntt(&params, &exec, &host, &shards->span), POOL_ERR_INVALID_ARGUMENT);
    assert_says("shard 0 of the output has 60 elements");
    assert_status(pool_ntt(&params, &exec, &strided, &host), POOL_ERR_UNSUPPORTED);
    assert_says("`stride` of 8 bytes");
    if (several_count >= 3) {
        exec = several_exec(3);
        equal->span.count = 128;
        equal->shard[2] = (pool_span){.space = POOL_MEMORY_DEVICE};
        assert_status(pool_ntt(&params, &exec, &equal->span, &host), POOL_ERR_INVALID_ARGUMENT);
        assert_says("`device_count`");
        exec = several_exec(2);
    }
    assert_ok(pool_ntt_workspace(&params, &exec, &host, &host, bytes));
    assert_int_equal(bytes[0], 2 * 64 * 4);
    assert_int_equal(bytes[1], 2 * 64 * 4);
    assert_ok(pool_ntt_workspace(&params, &exec, &equal->span, &equal->span, bytes));
    assert_int_equal(bytes[0], 64 * 4);
    exec.memory_limit = 2 * 64 * 4 - 1;
    assert_status(pool_ntt(&params, &exec, &host, &host), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    exec.memory_limit = 2 * 64 * 4;
    assert_ok(pool_ntt(&params, &exec, &host, &host));
    exec.checks = POOL_CHECK_CANONICAL;
    exec.memory_limit = 0;
    data[100] = 0xffffffff;
    assert_status(pool_ntt(&params, &exec, &host, &host), POOL_ERR_BAD_DATA);
    assert_says("100");
    several_free(shards);
    several_free(equal);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* Split transforms load no program on devices that are warm. */
static void test_warm_up(void **state)
{
    const pool_field *field = ntt_field("koalabear"); /* which no other test uses */
    pool_ntt_params params = {.struct_size = sizeof(params), .domain = ntt_domain(field, 8)};
    const pool_exec exec = several_exec(2);
    uint32_t data[256] = {0};
    pool_span host = ntt_host(data, 256);

    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        assert_ok(pool_ntt_warm_up(
            params.domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = several[i]}));
    if (strncmp(several_text, "sim", 3) == 0)
        assert_ok(pool_sim_set_faults("cuModuleLoad*=2"));
    assert_ok(pool_ntt(&params, &exec, &host, &host));
    if (strncmp(several_text, "sim", 3) == 0)
        assert_ok(pool_sim_set_faults(NULL));
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* Under a lease of exactly what the forecast says each device allocates exactly that. */
static void test_memory(void **state)
{
    pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = ntt_domain(ntt_field("babybear"), 12),
        .order = POOL_NTT_NR};
    pool_exec exec = several_exec(2);
    pool_request request = {.struct_size = sizeof(request), .devices = 2};
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    uint32_t *data = calloc(1 << 12, 4);
    pool_span span = ntt_host(data, 1 << 12);
    uint64_t bytes[2];

    (void)state;
    assert_ok(pool_ntt_workspace(&params, &exec, &span, &span, bytes));
    assert_int_equal(bytes[0], 2 * (1 << 11) * 4);
    request.bytes = bytes[0];
    assert_ok(pool_acquire(several_pool, &request, &exec.lease));
    exec.devices = NULL;
    assert_ok(pool_ntt(&params, &exec, &span, &span));
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(pool_lease_get_usage(exec.lease, i, &usage));
        assert_int_equal(usage.peak_bytes, bytes[i]);
        assert_int_equal(usage.used_bytes, 0);
    }
    assert_ok(pool_release(&exec.lease));
    free(data);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* ---- failures -------------------------------------------------------------------------------- */

/* The n-th call of a function fails on one of the devices: the call fails with that, nothing is
 * left running or allocated, and the next call is right. */
static uint32_t fail_calls(const pool_ntt_params *params, const char *function, pool_span *span)
{
    pool_memory_info before = {.struct_size = sizeof(before)}, after = before;
    pool_exec exec = several_exec(2);
    uint32_t failures = 0;

    assert_ok(pool_memory_get_info(several[1], &before));
    for (uint32_t device = 0; device < 2; device++)
        for (uint32_t nth = 1; nth < 8; nth++) {
            char rules[64];
            pool_status status;

            memset(span->data, 0, span->count * 4);
            snprintf(rules, sizeof(rules), "dev%u.%s@%u=701", device, function, nth);
            assert_ok(pool_sim_set_faults(rules));
            status = pool_ntt(params, &exec, span, span);
            failures += status != POOL_OK;
            if (status)
                assert_says("LAUNCH_OUT_OF_RESOURCES");
            assert_ok(pool_sim_set_faults(NULL));
            ntt_compare(params, &exec, nth);
            assert_ok(pool_memory_get_info(several[1], &after));
            assert_int_equal(after.used_bytes, before.used_bytes);
            assert_int_equal(after.buffers, before.buffers);
        }
    return failures;
}

static void test_failures(void **state)
{
    static const char *const functions[] = {
        "cuLaunchKernel*", "cuMemAlloc*", "cuEventRecord*", "cuMemcpy*", "cuStreamWaitEvent*"};
    pool_ntt_params params = {.struct_size = sizeof(params)};
    uint32_t data[64] = {0}, failures[2] = {0};
    const pool_exec exec = several_exec(2);
    pool_span pageable = ntt_host(data, 64), span = pageable;
    pool_pinned *pinned;

    (void)state;
    if (strncmp(several_text, "sim", 3) != 0)
        return;
    params.domain = ntt_domain(ntt_field("babybear"), 6);
    ntt_compare(&params, &exec, 1);
    pinned = pin(&span, 4);
    for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
        failures[0] += fail_calls(&params, functions[f], &pageable);
        failures[1] += fail_calls(&params, functions[f], &span);
    }
    assert_true(failures[0] > 20 && failures[1] > 20);
    assert_ok(pool_pinned_destroy(&pinned));
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

static void cancel_now(void *user, uint64_t done, uint64_t total)
{
    assert_true(done < total);
    pool_cancel_request(user);
}

static void test_cancel(void **state)
{
    pool_ntt_params params = {.struct_size = sizeof(params), .batch = 2};
    uint32_t data[128] = {0};
    pool_span span = ntt_host(data, 128);
    pool_exec exec;

    (void)state;
    if (several_count < 4)
        return;
    params.domain = ntt_domain(ntt_field("babybear"), 6);
    exec = several_exec(4);
    assert_ok(pool_cancel_create(&exec.cancel));
    exec.progress = cancel_now;
    exec.user = exec.cancel;
    assert_status(pool_ntt(&params, &exec, &span, &span), POOL_ERR_CANCELLED);
    pool_cancel_destroy(&exec.cancel);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_ways),
        cmocka_unit_test(test_sizes), cmocka_unit_test(test_many_passes),
        cmocka_unit_test(test_forms), cmocka_unit_test(test_few_transforms),
        cmocka_unit_test(test_sharded_few), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_warm_up), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_cancel)};

    if (argc > 1)
        several_text = argv[1];
    if (!several_exist())
        return 77;
    return cmocka_run_group_tests_name("ntt_split", tests, several_open, several_close);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Low-degree extensions on devices, simulated ones unless `--device` names others, against the
 * reference: all orders, layouts and blow-ups, passes of every kind, memory spaces and forms,
 * chunks, and what is refused.
 */
#include "support/ntt_extend.h"
#include "support/pool.h"

static pool_ntt_extend_params extend_params(const pool_field *field, uint32_t log_size, uint32_t b)
{
    return (pool_ntt_extend_params){.struct_size = sizeof(pool_ntt_extend_params),
        .domain = ntt_domain(field, log_size),
        .log_blowup = b,
        .batch = 1};
}

static void assert_same(const pool_ntt_extend_params *params, const char *what, const uint8_t *got,
    const uint8_t *wanted, uint64_t bytes)
{
    if (memcmp(got, wanted, bytes) == 0)
        return;
    print_error(
        "%s 2^%u blow-up 2^%u order %d layout %d batch %llu from coefficients %d: wrong %s\n",
        params->domain->field->name, params->domain->log_size, params->log_blowup, params->order,
        params->layout, (unsigned long long)params->batch, params->from_coefficients, what);
    fail();
}

/* ---- operands -------------------------------------------------------------------------------- */

/* What stands in one span's memory before and after the call. */
struct operand {
    pool_span span;
    pool_buffer *buffer; /* NULL: host memory */
    uint8_t *data;
    uint64_t bytes;
};

static void convert(const pool_field *field, pool_form form, bool to, uint8_t *data, uint64_t count)
{
    if (form == POOL_FORM_MONTGOMERY && to)
        assert_ok(pool_field_to_montgomery(field, data, count, data));
    else if (form == POOL_FORM_MONTGOMERY)
        assert_ok(pool_field_from_montgomery(field, data, count, data));
}

/* A copy of `data`, NULL: bytes that are no result, in memory of that space. */
static struct operand operand_of(const pool_field *field, const uint8_t *data, uint64_t count,
    pool_form form, pool_memory_space space)
{
    struct operand operand = {.bytes = count * field->bytes};
    CUdeviceptr address = 0;

    operand.data = malloc(operand.bytes);
    memset(operand.data, 0x5a, operand.bytes);
    if (data) {
        memcpy(operand.data, data, operand.bytes);
        convert(field, form, true, operand.data, count);
    }
    operand.span = (pool_span){.data = operand.data, .count = count, .form = form, .space = space};
    if (space == POOL_MEMORY_DEVICE) {
        assert_ok(pool_buffer_from_host(device, operand.data, operand.bytes, &operand.buffer));
        assert_ok(pool_buffer_address(operand.buffer, &address));
        operand.span.data = (void *)(uintptr_t)address;
    }
    return operand;
}

static void check_operand(const pool_ntt_extend_params *params, const char *what,
    struct operand *operand, const uint8_t *wanted)
{
    const pool_field *field = params->domain->field;

    if (operand->buffer)
        assert_ok(pool_copy_to_host(operand->data, operand->buffer, 0, operand->bytes, NULL));
    convert(field, operand->span.form, false, operand->data, operand->span.count);
    assert_same(params, what, operand->data, wanted, operand->bytes);
}

static void free_operand(struct operand *operand)
{
    assert_ok(pool_buffer_destroy(&operand->buffer));
    free(operand->data);
}

/* ---- every way ------------------------------------------------------------------------------- */

/* From and to memory of the given spaces, in the given forms, with and without coefficients. */
static void compare(const pool_ntt_extend_params *params, const pool_exec *exec, uint64_t seed,
    uint32_t spaces, uint32_t forms)
{
    const pool_field *field = params->domain->field;
    const uint64_t count = params->batch << params->domain->log_size;
    const uint64_t points = count >> params->log_blowup;
    const bool keeps = !params->from_coefficients && seed % 2;
    uint8_t *data = ntt_random(field, seed, points);
    struct ntt_extend_answer wanted = ntt_extend_expected(params, data);
    struct operand in = operand_of(field, data, points, forms & 1, spaces & 1);
    struct operand kept = operand_of(field, NULL, points, forms >> 1 & 1, spaces >> 1 & 1);
    struct operand out = operand_of(field, NULL, count, forms >> 2 & 1, spaces >> 2 & 1);

    assert_ok(pool_ntt_extend(params, exec, &in.span, keeps ? &kept.span : NULL, &out.span));
    check_operand(params, "results", &out, wanted.out);
    if (keeps)
        check_operand(params, "coefficients", &kept, wanted.coefficients);
    check_operand(params, "input", &in, data);
    free_operand(&in);
    free_operand(&kept);
    free_operand(&out);
    ntt_extend_free(&wanted);
    free(data);
}

/* Every combination of order, layout and input, or every `step`th one. */
static void all_ways(
    const pool_field *field, uint32_t log_size, uint32_t b, uint64_t batch, uint32_t step)
{
    pool_ntt_extend_params params = extend_params(field, log_size, b);
    const pool_exec exec = exec_here();

    params.batch = batch;
    for (uint32_t way = (log_size + b) % step; way < 16; way += step) {
        params.order = (pool_ntt_order)(way & 3);
        params.layout = (pool_ntt_layout)(way >> 2 & 1);
        params.from_coefficients = way >> 3 & 1;
        compare(&params, &exec, 100 * log_size + way / step + b, way + log_size, way / 3);
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

static void test_small_sizes(void **state)
{
    static const char *const names[] = {"bn254_fr", "goldilocks", "babybear", "koalabear"};

    (void)state;
    for (size_t f = 0; f < 4; f++)
        for (uint32_t log_size = 0; log_size <= 11; log_size++)
            for (uint32_t b = 0; b <= POOL_NTT_MAX_LOG_BLOWUP && b <= log_size; b++)
                all_ways(ntt_field(names[f]), log_size, b, log_size < 8 ? 3 : 1,
                    f == 2 && log_size < 8 ? 1 : 5);
}

/* Tiny tiles and tables, so that small sizes take many passes and two-level tables. */
static void test_many_passes(void **state)
{
    static const struct ntt_tuning tunings[] = {
        {.log_radix = 2, .log_threads = 5, .min_tile_width = 2, .high_bits = 5, .blocks = 1},
        {.log_radix = 3, .log_threads = 5, .min_tile_width = 1, .high_bits = 4, .blocks = 1},
        {.log_radix = 1, .log_threads = 5, .min_tile_width = 3, .high_bits = 6, .blocks = 1},
    };

    (void)state;
    if (ntt_needs_compiler("other tunings"))
        return;
    for (size_t t = 0; t < 3; t++) {
        ntt_tuning = &tunings[t];
        for (uint32_t b = 0; b <= POOL_NTT_MAX_LOG_BLOWUP; b++)
            all_ways(ntt_field("babybear"), 12, b, 1 + b % 3, 3);
        all_ways(ntt_field(t ? "goldilocks" : "bn254_fr"), 11, 2, 2, 5);
    }
    ntt_tuning = NULL;
}

/* Whether the first pass of a call with rows on the device spreads the coefficients. */
static bool is_spread_by_pass(const pool_ntt_extend_params *params)
{
    const struct chip chip = chip_of(device);
    const struct ntt_extend_job job = {.words = params->domain->field->words,
        .log_size = params->domain->log_size,
        .log_blowup = params->log_blowup,
        .batch = params->batch,
        .order = params->order,
        .from_coefficients = params->from_coefficients,
        .tuning = params->domain->tuning};
    const struct ntt_extend_operands operands = {.element_bytes = params->domain->field->bytes};
    struct ntt_extend_plan plan;

    assert_true(ntt_extend_plan_make(&chip, &job, &operands, &plan));
    return plan.spreads && !plan.spreads_apart;
}

/* Kernels of one length: of one pass and of two, with one table of twiddles and with two levels;
 * columns in rows, in every order. */
static void test_lengths(void **state)
{
    static const struct {
        const char *field;
        uint32_t log_points, batch;
        struct ntt_tuning tuning;
    } cases[] = {
        {"babybear", 8, 3, {4, 5, 3, 18, 18, 2, 0, NTT_NO_QUOTIENTS, 1}},
        {"koalabear", 10, 5, {4, 8, 3, 18, 18, 5, 0, NTT_NO_QUOTIENTS, 1}},
        {"koalabear", 12, 1, {4, 8, 3, 8, 8, 5, 0, NTT_NO_QUOTIENTS, 1}},
        {"babybear", 16, 2, {4, 5, 3, 8, 8, 2, 0, NTT_NO_QUOTIENTS, 1}},
        {"koalabear", 17, 1, {4, 6, 3, 18, 18, 2, 0, NTT_NO_QUOTIENTS, 1}},
    };
    const pool_exec exec = exec_here();
    uint32_t fused = 0;

    (void)state;
    if (ntt_needs_compiler("other tunings"))
        return;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (uint32_t b = 0; b <= (cases[i].log_points < 16 ? POOL_NTT_MAX_LOG_BLOWUP : 1); b++) {
            ntt_tuning = &cases[i].tuning;
            pool_ntt_extend_params params =
                extend_params(ntt_field(cases[i].field), cases[i].log_points + b, b);

            params.batch = cases[i].batch;
            for (uint32_t way = (uint32_t)i % 2; way < 8; way += cases[i].log_points < 16 ? 1 : 3) {
                params.order = (pool_ntt_order)(way & 3);
                params.from_coefficients = way >> 2;
                fused += is_spread_by_pass(&params);
                compare(&params, &exec, 8 * b + way, b & 1 ? 7 : way, way / 3);
            }
            assert_ok(pool_ntt_domain_destroy(&params.domain));
        }
    ntt_tuning = NULL;
    assert_true(fused >= 40);
}

/* Every field of 256 bits or less that has transforms. */
static void test_fields(void **state)
{
    (void)state;
    if (ntt_needs_compiler("every field"))
        return;
    for (size_t i = 0; i < pool_field_count(); i++)
        if (pool_field_at(i)->two_adicity >= 5)
            all_ways(pool_field_at(i), 5, 2, 2, 7);
}

static void test_memory(void **state)
{
    pool_ntt_extend_params params = extend_params(ntt_field("goldilocks"), 6, 2);
    const pool_exec exec = exec_here();

    (void)state;
    params.batch = 3;
    for (uint32_t spaces = 0; spaces < 8; spaces++)
        for (uint32_t forms = 0; forms < 8; forms++) {
            params.order = (pool_ntt_order)((spaces + forms) & 3);
            compare(&params, &exec, 2 * forms + 1, spaces, forms);
        }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* The output begins with the input, and coefficients replace the input. */
static void in_place(const pool_field *field, uint32_t log_size, uint32_t b, uint32_t step)
{
    pool_ntt_extend_params params = extend_params(field, log_size, b);
    const pool_exec exec = exec_here();

    params.batch = 2;
    const uint64_t count = params.batch << log_size, points = count >> b;
    uint8_t *data = ntt_random(field, 7, points);
    for (uint32_t way = 0; way < 24; way += step) {
        struct operand out = operand_of(field, NULL, count, 0, POOL_MEMORY_DEVICE);
        struct operand other = operand_of(field, NULL, points, 0, POOL_MEMORY_DEVICE);
        pool_span in = out.span;
        bool keeps = way >> 2 == 2, replaces = way >> 2 == 3;

        params.order = (pool_ntt_order)(way & 3);
        params.layout = (pool_ntt_layout)(way >> 2 & 1);
        params.from_coefficients = way >> 2 == 4;
        in.count = points;
        if (replaces)
            in = other.span;
        assert_ok(pool_copy_to_device(
            replaces ? other.buffer : out.buffer, 0, data, points * field->bytes, NULL));
        struct ntt_extend_answer wanted = ntt_extend_expected(&params, data);
        assert_ok(pool_ntt_extend(
            &params, &exec, &in, keeps || replaces ? &other.span : NULL, &out.span));
        check_operand(&params, "results in place", &out, wanted.out);
        if (keeps || replaces)
            check_operand(&params, "coefficients in place", &other, wanted.coefficients);
        ntt_extend_free(&wanted);
        free_operand(&out);
        free_operand(&other);
    }
    free(data);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

static void test_in_place(void **state)
{
    static const struct ntt_tuning tuning = {
        .log_radix = 2, .log_threads = 5, .min_tile_width = 2, .high_bits = 5, .blocks = 1};
    static const struct ntt_tuning lengths = {4, 5, 3, 18, 18, 2, 0, NTT_NO_QUOTIENTS, 1};

    (void)state;
    for (uint32_t b = 0; b < 3; b++)
        in_place(ntt_field("babybear"), 5, b, 1);
    if (ntt_needs_compiler("other tunings"))
        return;
    ntt_tuning = &tuning;
    for (uint32_t b = 0; b < 3; b++)
        in_place(ntt_field("babybear"), 10, b, 1);
    ntt_tuning = &lengths;
    for (uint32_t b = 0; b < 3; b++)
        in_place(ntt_field("babybear"), 8 + b, b, 1);
    in_place(ntt_field("koalabear"), 17, 1, 5);
    ntt_tuning = NULL;
}

/* ---- properties ------------------------------------------------------------------------------ */

/* The sum of two columns has the sum of their extensions; with generator 1 every 2^b-th result is
 * an input. */
static void test_properties(void **state)
{
    enum { LOG_SIZE = 9, B = 3, SIZE = 1 << LOG_SIZE, POINTS = SIZE >> B };
    const pool_field *field = ntt_field("koalabear");
    const pool_ntt_domain_params on_subgroup = {
        .struct_size = sizeof(on_subgroup), .field = field, .log_size = LOG_SIZE, .coset = "1"};
    pool_ntt_extend_params params = extend_params(field, LOG_SIZE, B);
    const pool_exec exec = exec_here();
    uint32_t *in = (uint32_t *)ntt_random(field, 5, 3 * POINTS), *out = calloc(3, 4 * SIZE);
    const pool_span from = ntt_host(in, 3 * POINTS), to = ntt_host(out, 3 * SIZE);

    (void)state;
    params.batch = 3;
    for (uint32_t i = 0; i < POINTS; i++)
        in[2 * POINTS + i] = (uint32_t)(((uint64_t)in[i] + in[POINTS + i]) % 0x7f000001);
    assert_ok(pool_ntt_extend(&params, &exec, &from, NULL, &to));
    for (uint32_t i = 0; i < SIZE; i++)
        assert_int_equal(out[2 * SIZE + i], ((uint64_t)out[i] + out[SIZE + i]) % 0x7f000001);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    assert_ok(pool_ntt_domain_create(&on_subgroup, &params.domain));
    assert_ok(pool_ntt_extend(&params, &exec, &from, NULL, &to));
    for (uint32_t i = 0; i < 3 * POINTS; i++)
        assert_int_equal(out[i << B], in[i]);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    free(in);
    free(out);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Columns in host memory within a limit; the smallest that suffices is reported. */
static void test_chunks(void **state)
{
    pool_ntt_extend_params params = extend_params(ntt_field("babybear"), 8, 1);
    const uint64_t column = 4 << 8;
    pool_exec exec = exec_within(4 * column);

    (void)state;
    params.batch = 11;
    params.order = POOL_NTT_NR;
    for (uint64_t seed = 0; seed < 2; seed++)
        compare(&params, &exec, seed, 0, 6);
    exec.memory_limit = column;
    static uint32_t data[11 << 8], result[11 << 8];
    const pool_span in = ntt_host(data, 11 << 7), out = ntt_host(result, 11 << 8);
    assert_int_equal(
        pool_ntt_extend(&params, &exec, &in, NULL, &out), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

struct reports {
    uint64_t calls, done, total;
    pool_cancel *cancel; /* requested at the first report */
};

static void report(void *user, uint64_t done, uint64_t total)
{
    struct reports *reports = user;

    assert_true(done > reports->done && done <= total);
    *reports = (struct reports){reports->calls + 1, done, total, reports->cancel};
    if (reports->cancel)
        pool_cancel_request(reports->cancel);
}

static void test_progress(void **state)
{
    pool_ntt_extend_params params = extend_params(ntt_field("babybear"), 6, 2);
    struct reports reports = {0};
    pool_exec exec = exec_within(3 * (5 << 6));
    uint8_t *in = calloc(8 << 4, 4), *out = calloc(8 << 6, 4);
    const pool_span from = ntt_host(in, 8 << 4), to = ntt_host(out, 8 << 6);

    (void)state;
    params.batch = 8;
    params.order = POOL_NTT_NR;
    exec.progress = report;
    exec.user = &reports;
    assert_ok(pool_ntt_extend(&params, &exec, &from, NULL, &to));
    assert_true(reports.calls > 1);
    assert_int_equal(reports.done, 8 << 6);
    assert_int_equal(reports.total, 8 << 6);
    reports = (struct reports){0};
    assert_ok(pool_cancel_create(&reports.cancel));
    exec.cancel = reports.cancel;
    assert_int_equal(pool_ntt_extend(&params, &exec, &from, NULL, &to), POOL_ERR_CANCELLED);
    assert_true(reports.done < 8 << 6);
    pool_cancel_destroy(&reports.cancel);
    free(in);
    free(out);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* On a stream, without waiting, from device memory to device memory. */
static void test_async(void **state)
{
    const pool_field *field = ntt_field("bn254_fr");
    pool_ntt_extend_params params = extend_params(field, 6, 2);
    pool_exec exec = exec_here();
    uint8_t *data = ntt_random(field, 3, 1 << 4);
    struct ntt_extend_answer wanted = ntt_extend_expected(&params, data);
    struct operand in = operand_of(field, data, 1 << 4, 0, POOL_MEMORY_DEVICE);
    struct operand out = operand_of(field, NULL, 1 << 6, 0, POOL_MEMORY_DEVICE);

    (void)state;
    exec.is_async = 1;
    assert_ok(pool_stream_create(device, NULL, &exec.stream));
    assert_ok(pool_ntt_extend(&params, &exec, &in.span, NULL, &out.span));
    assert_ok(pool_stream_synchronize(exec.stream));
    check_operand(&params, "results", &out, wanted.out);
    assert_ok(pool_stream_destroy(&exec.stream));
    free_operand(&in);
    free_operand(&out);
    ntt_extend_free(&wanted);
    free(data);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* After a warm-up no call of any kind makes tables. */
static void test_warm_up(void **state)
{
    pool_ntt_extend_params params = extend_params(ntt_field("goldilocks"), 8, 2);
    const pool_exec exec = exec_here();
    const struct ntt_tables *forward, *inverse;
    pool_ntt_domain *columns = NULL;

    (void)state;
    assert_ok(pool_ntt_extend_warm_up(
        &params, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
    assert_ok(ntt_domain_power(params.domain, 6, &columns));
    forward = params.domain->tables;
    inverse = columns->tables;
    assert_non_null(forward);
    assert_non_null(inverse);
    for (uint32_t way = 0; way < 4; way++) {
        params.order = (pool_ntt_order)way;
        params.batch = way & 1 ? 1 : 50;
        compare(&params, &exec, way, 7, 0);
    }
    assert_ptr_equal(params.domain->tables, forward);
    assert_ptr_equal(columns->tables, inverse);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* ---- what is refused ------------------------------------------------------------------------- */

static struct {
    pool_ntt_extend_params params;
    pool_exec exec;
    pool_span in, coefficients, out;
    bool keeps;
    uint32_t data[64], kept[64], result[256], untouched[256];
} call;

static void refuse(pool_status status, const char *text)
{
    uint64_t bytes = 77;

    assert_int_equal(pool_ntt_extend(&call.params, &call.exec, &call.in,
                         call.keeps ? &call.coefficients : NULL, &call.out),
        status);
    assert_says(text);
    assert_memory_equal(call.result, call.untouched, sizeof(call.result));
    if (status == POOL_ERR_BAD_DATA)
        return;
    assert_int_equal(pool_ntt_extend_workspace(&call.params, &call.exec, &call.in,
                         call.keeps ? &call.coefficients : NULL, &call.out, &bytes),
        status);
    assert_int_equal(bytes, 77);
}

static void fresh(pool_ntt_domain *domain)
{
    call.params = (pool_ntt_extend_params){
        .struct_size = sizeof(call.params), .domain = domain, .log_blowup = 2, .batch = 2};
    call.exec = exec_here();
    call.in = ntt_host(call.data, 32);
    call.coefficients = ntt_host(call.kept, 32);
    call.out = ntt_host(call.result, 128);
    call.keeps = true;
}

static void test_refused(void **state)
{
    pool_ntt_domain *domain = ntt_domain(ntt_field("babybear"), 6);
    pool_ntt_domain *tiny = ntt_domain(ntt_field("babybear"), 1);
    uint64_t bytes;

    (void)state;
#define REFUSE(change, status, text)                                                               \
    do {                                                                                           \
        fresh(domain);                                                                             \
        change;                                                                                    \
        refuse(status, text);                                                                      \
    } while (0)
    REFUSE(call.params.domain = NULL, POOL_ERR_INVALID_ARGUMENT, "domain");
    REFUSE(call.params.struct_size = 3, POOL_ERR_INVALID_ARGUMENT, "struct_size");
    REFUSE(call.params.log_blowup = 5, POOL_ERR_INVALID_ARGUMENT, "log_blowup");
    REFUSE(call.params.log_blowup = UINT32_MAX, POOL_ERR_INVALID_ARGUMENT, "log_blowup");
    REFUSE(call.params.domain = tiny, POOL_ERR_INVALID_ARGUMENT, "value 2 for `log_blowup`");
    REFUSE(call.params.from_coefficients = 2, POOL_ERR_INVALID_ARGUMENT, "from_coefficients");
    REFUSE(call.params.from_coefficients = 1, POOL_ERR_INVALID_ARGUMENT, "must be NULL");
    REFUSE(call.params.order = (pool_ntt_order)4, POOL_ERR_INVALID_ARGUMENT, "order");
    REFUSE(call.params.layout = (pool_ntt_layout)2, POOL_ERR_INVALID_ARGUMENT, "layout");
    REFUSE(call.params.batch = 3, POOL_ERR_INVALID_ARGUMENT, "3 columns of 2^4 have 48");
    REFUSE(call.params.batch = UINT64_MAX, POOL_ERR_INVALID_ARGUMENT, "too many");
    REFUSE(call.in.count = 31, POOL_ERR_INVALID_ARGUMENT, "input has 31");
    REFUSE(call.coefficients.count = 128, POOL_ERR_INVALID_ARGUMENT, "`coefficients` has 128");
    REFUSE(call.coefficients.count = 0, POOL_ERR_INVALID_ARGUMENT, "`coefficients` has no");
    REFUSE(call.out.count = 32, POOL_ERR_INVALID_ARGUMENT, "output has 32");
    REFUSE(call.in.stride = 8, POOL_ERR_UNSUPPORTED, "packed");
    REFUSE(call.out.stride = 2, POOL_ERR_INVALID_ARGUMENT, "stride");
    REFUSE(call.in.form = (pool_form)7, POOL_ERR_INVALID_ARGUMENT, "form");
    REFUSE(call.in.space = (pool_memory_space)2, POOL_ERR_INVALID_ARGUMENT, "space");
    REFUSE(call.in = ntt_host(call.result, 32), POOL_ERR_INVALID_ARGUMENT, "overlap");
    REFUSE(call.in = ntt_host(call.kept + 1, 32), POOL_ERR_INVALID_ARGUMENT, "overlap");
    REFUSE(
        call.coefficients = ntt_host(call.result + 120, 32), POOL_ERR_INVALID_ARGUMENT, "overlap");
    REFUSE(call.exec.on_host = 1, POOL_ERR_UNSUPPORTED, "on_host");
    REFUSE(call.exec.checks = POOL_CHECK_SUBGROUP, POOL_ERR_INVALID_ARGUMENT, "checks");
    REFUSE(call.exec.device_count = 1, POOL_ERR_INVALID_ARGUMENT, "one of them is required");
    call.data[5] = 0x78000001;
    REFUSE(call.exec.checks = POOL_CHECK_CANONICAL, POOL_ERR_BAD_DATA, "input");
#undef REFUSE
    fresh(domain);
    assert_int_equal(
        pool_ntt_extend_workspace(&call.params, &call.exec, &call.in, NULL, &call.out, NULL),
        POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(
        pool_ntt_extend_workspace(&call.params, &call.exec, NULL, NULL, &call.out, &bytes),
        POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_ntt_domain_destroy(&domain));
    assert_ok(pool_ntt_domain_destroy(&tiny));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_sizes),
        cmocka_unit_test(test_many_passes), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_fields), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_in_place), cmocka_unit_test(test_properties),
        cmocka_unit_test(test_chunks), cmocka_unit_test(test_progress),
        cmocka_unit_test(test_async), cmocka_unit_test(test_warm_up),
        cmocka_unit_test(test_refused)};

    if (argc > 2 && strcmp(argv[1], "--device") == 0)
        device_text = argv[2];
    if (strcmp(device_text, "sim") != 0) { /* a real one: is there any? */
        pool_params params = {.struct_size = sizeof(params), .devices = device_text};

        if (pool_create(&pool, &params)) {
            printf("skipped: %s\n", pool_last_error()->message);
            return 77;
        }
        pool_destroy(&pool);
    }
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}

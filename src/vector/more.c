/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors beyond element by element: inverses, permutations, powers, evaluation.
 */
#include "ntt/ntt.h"

#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "vector/vector.h"

/*
 * Elements that share one inversion of some 1.5 bits of squarings each: with 64 of them that is 6
 * products an element beside the 3 that sharing costs, and 2^20 elements still fill the chip.
 */
enum { INVERSE_SHARE = 64, INVERSE_THREADS = 64 };

/* Threads of an evaluation or of powers: enough for every chip, few enough for short sums. */
enum { LOG_THREADS = 17, TRANSPOSE_TILE = 16, SUM_BLOCK = 256 };

static pool_status open_one(const pool_field *field, const pool_exec *exec,
    struct ntt_vector_call *call, const pool_span *a, const pool_span *out, int same_is_allowed,
    const char *name)
{
    pool_status status = base_check_pointers(name, {"a", a}, {"out", out});

    if (status)
        return status;
    status = ntt_vector_begin(field, exec, call, name);
    return status ? status : ntt_vector_check(call, a, out, same_is_allowed);
}

static pool_status bring_both(
    struct ntt_vector_call *call, const pool_span *a, const pool_span *out)
{
    pool_status status = ntt_vector_bring(call, 0, a);

    return status ? status : ntt_operand_out(&call->place, out, &call->out);
}

/* The products of the elements that share an inversion, and a factor. */
static uint64_t invert_bytes(const pool_field *field, uint64_t count)
{
    return (count + 1) * field->bytes;
}

static pool_status invert(struct ntt_vector_call *call, int exponent)
{
    const pool_field *field = call->place.field;
    struct vector_arg a = vector_arg_of(&call->in[0]), out = vector_arg_of(&call->out);
    uint64_t count = call->in[0].count;
    uint64_t value[FIELD_MAX_LIMBS];
    uint8_t packed[POOL_FIELD_MAX_BYTES];
    CUdeviceptr scratch = 0, factor = 0;
    void *arguments[] = {&a, &out, &scratch, &factor, &count};
    static const size_t sizes[] = {16, 16, 8, 8, 8};
    struct module_launch launch = {
        .count = 5, .arguments = arguments, .sizes = sizes, .threads = INVERSE_THREADS};
    pool_status status =
        ntt_temporary(&call->place, count * field->bytes, &call->scratch, &scratch);

    if (!status && exponent) {
        field_power_of_r(field, value, exponent);
        field_store_for_device(field, packed, value);
        status = ntt_vector_constants(call, packed, 1, &factor);
    }
    return status ? status
                  : ntt_vector_launch(call, "vector_invert",
                        (count + INVERSE_SHARE - 1) / INVERSE_SHARE, &launch);
}

static pool_status invert_part(
    struct ntt_vector_call *call, const struct ntt_vector_spans *spans, uint64_t first, void *user)
{
    int degree = field_device_degree(call->place.field);
    pool_status status = bring_both(call, spans->a, spans->out);

    (void)first;
    (void)user;
    if (!status && spans->a->count)
        status = invert(call, (int)spans->a->form + (int)spans->out->form - 2 * degree);
    return ntt_vector_end(call, spans->out, status);
}

pool_status pool_vector_inverse(
    const pool_field *field, const pool_exec *exec, const pool_span *a, const pool_span *out)
{
    const struct ntt_vector_spans spans = {.a = a, .out = out};
    struct ntt_vector_call call;
    pool_status status = open_one(field, exec, &call, a, out, 1, "pool_vector_inverse");

    return status ? status : ntt_vector_in_parts(&call, &spans, invert_bytes, invert_part, NULL);
}

/* Forms that differ: a first copy has the factor, and the permutation follows it. */
static pool_status same_form(const pool_span *a, const pool_span *out, const char *name)
{
    return a->form == out->form ? POOL_OK
                                : base_fail(POOL_ERR_INVALID_ARGUMENT,
                                      "%s moves elements and does not change their form", name);
}

pool_status pool_vector_bit_reverse(
    const pool_field *field, const pool_exec *exec, const pool_span *a, const pool_span *out)
{
    struct ntt_vector_call call;
    struct vector_arg from, to;
    uint32_t log_count;
    void *arguments[] = {&from, &to, &log_count};
    static const size_t sizes[] = {16, 16, 4};
    struct module_launch launch = {.count = 3, .arguments = arguments, .sizes = sizes};
    pool_status status = open_one(field, exec, &call, a, out, 1, "pool_vector_bit_reverse");

    if (!status)
        status = same_form(a, out, "pool_vector_bit_reverse");
    if (!status && (a->count == 0 || (a->count & (a->count - 1))))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_vector_bit_reverse: %llu elements are no power of two",
            (unsigned long long)a->count);
    if (status)
        return status;
    log_count = (uint32_t)__builtin_ctzll(a->count);
    status = ntt_vector_check_limit(&call, &(struct ntt_vector_spans){.a = a, .out = out});
    if (!status)
        status = bring_both(&call, a, out);
    from = vector_arg_of(&call.in[0]);
    to = vector_arg_of(&call.out);
    if (!status)
        status = ntt_vector_launch(&call, "vector_bit_reverse", a->count, &launch);
    status = ntt_vector_end(&call, out, status);
    if (!status)
        memory_exec_report(&call.exec, a->count, a->count);
    return status;
}

pool_status pool_vector_transpose(const pool_field *field, const pool_exec *exec, uint64_t rows,
    uint64_t columns, const pool_span *a, const pool_span *out)
{
    struct ntt_vector_call call;
    struct vector_arg from, to;
    uint64_t count;
    void *arguments[] = {&from, &to, &rows, &columns};
    static const size_t sizes[] = {16, 16, 8, 8};
    struct module_launch launch = {.count = 4,
        .arguments = arguments,
        .sizes = sizes,
        .threads = TRANSPOSE_TILE * TRANSPOSE_TILE};
    pool_status status = open_one(field, exec, &call, a, out, 0, "pool_vector_transpose");

    if (!status)
        status = same_form(a, out, "pool_vector_transpose");
    if (!status && (__builtin_mul_overflow(rows, columns, &count) || count != a->count))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_vector_transpose: %llu elements are not %llu rows of %llu",
            (unsigned long long)a->count, (unsigned long long)rows, (unsigned long long)columns);
    if (status)
        return status;
    status = ntt_vector_check_limit(&call, &(struct ntt_vector_spans){.a = a, .out = out});
    if (!status)
        status = bring_both(&call, a, out);
    from = vector_arg_of(&call.in[0]);
    to = vector_arg_of(&call.out);
    if (!status && count) {
        uint64_t down = (rows - 1) / TRANSPOSE_TILE + 1,
                 across = (columns - 1) / TRANSPOSE_TILE + 1;

        status = down > INT32_MAX / across
                     ? base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_vector_transpose: too many tiles")
                     : ntt_vector_launch(
                           &call, "vector_transpose", down * across * launch.threads, &launch);
    }
    status = ntt_vector_end(&call, out, status);
    if (!status)
        memory_exec_report(&call.exec, a->count, a->count);
    return status;
}

/* Room for the squares of a number, and then for one more element. */
static pool_status put_squares(struct ntt_vector_call *call, const uint64_t *number,
    const uint64_t *more, CUdeviceptr *squares)
{
    const pool_field *field = call->place.field;
    uint8_t packed[(NTT_POWERS_OF_TWO + 1) * POOL_FIELD_MAX_BYTES];

    ntt_store_powers_of_two(field, packed, number);
    field_store_for_device(field, packed + (size_t)NTT_POWERS_OF_TWO * field->bytes, more);
    return ntt_vector_constants(call, packed, NTT_POWERS_OF_TWO + 1, squares);
}

static uint32_t log_threads_for(uint64_t count)
{
    uint32_t log_threads = 0;

    while (log_threads < LOG_THREADS && count >> log_threads > 1)
        log_threads++;
    return log_threads;
}

static uint64_t powers_bytes(const pool_field *field, uint64_t count)
{
    (void)count;
    return (uint64_t)(NTT_POWERS_OF_TWO + 1) * field->bytes;
}

/* The powers from number^start on. */
static pool_status powers(
    struct ntt_vector_call *call, const uint64_t *number, uint64_t start, pool_form form)
{
    const pool_field *field = call->place.field;
    uint64_t first[FIELD_MAX_LIMBS], power[FIELD_MAX_LIMBS], count = call->out.count,
                                                             stride = call->out.stride / 4;
    int exponent = (int)form - field_device_degree(field);
    uint32_t log_threads = log_threads_for(count);
    CUdeviceptr out = call->out.address, squares = 0, scale = 0;
    void *arguments[] = {&out, &count, &stride, &squares, &scale, &log_threads};
    static const size_t sizes[] = {8, 8, 8, 8, 8, 4};
    struct module_launch launch = {.count = 6,
        .arguments = arguments,
        .sizes = sizes,
        .threads = SUM_BLOCK,
        .stream = call->place.stream};
    pool_status status;

    field_power_of_r(field, first, exponent);
    field_pow(field, power, number, &start, 1);
    field_mul(field, first, first, power);
    status = put_squares(call, number, first, &squares);
    if (exponent || start)
        scale = squares + (uint64_t)NTT_POWERS_OF_TWO * field->bytes;
    if (1u << log_threads < SUM_BLOCK)
        launch.threads = 1u << log_threads;
    launch.blocks = (1u << log_threads) / launch.threads;
    if (!status)
        status = ntt_tables_kernel(call->place.device, field, "ntt_powers", &launch.kernel);
    return status ? status : module_launch_enqueue(&launch);
}

static pool_status powers_part(
    struct ntt_vector_call *call, const struct ntt_vector_spans *spans, uint64_t first, void *user)
{
    pool_status status = ntt_operand_out(&call->place, spans->out, &call->out);

    if (!status && spans->out->count)
        status = powers(call, user, first, spans->out->form);
    return ntt_vector_end(call, spans->out, status);
}

pool_status pool_vector_powers(
    const pool_field *field, const pool_exec *exec, const void *base, const pool_span *out)
{
    const struct ntt_vector_spans spans = {.out = out};
    uint64_t number[FIELD_MAX_LIMBS];
    struct ntt_vector_call call;
    pool_status status;

    if (!out)
        return base_fail_null("pool_vector_powers", "out");
    status = ntt_vector_begin(field, exec, &call, "pool_vector_powers");
    if (!status)
        status = ntt_vector_scalar(call.place.field, base, "pool_vector_powers", number);
    if (!status)
        status = ntt_span_check(&call.place, out, "result");
    return status ? status : ntt_vector_in_parts(&call, &spans, powers_bytes, powers_part, number);
}

/* Halves the number of partial sums by 256 until one is left, at the front of either half. */
static pool_status sum_up(
    struct ntt_vector_call *call, CUdeviceptr partial, uint64_t count, uint64_t *offset)
{
    uint64_t room = count;
    int is_second = 0;
    pool_status status = POOL_OK;

    while (!status && count > 1) {
        CUdeviceptr from = partial + (is_second ? room : 0) * call->place.field->bytes;
        CUdeviceptr to = partial + (is_second ? 0 : room) * call->place.field->bytes;
        void *arguments[] = {&from, &count, &to};
        static const size_t sizes[] = {8, 8, 8};
        struct module_launch launch = {
            .count = 3, .arguments = arguments, .sizes = sizes, .threads = SUM_BLOCK};

        status = ntt_vector_launch(call, "vector_sum_blocks", count, &launch);
        count = (count + SUM_BLOCK - 1) / SUM_BLOCK;
        is_second = !is_second;
    }
    *offset = is_second ? room : 0;
    return status;
}

/* The powers, and two halves of partial sums. */
static uint64_t evaluate_bytes(const pool_field *field, uint64_t count)
{
    return powers_bytes(field, count) + ((uint64_t)2 << log_threads_for(count)) * field->bytes;
}

static pool_status evaluate(struct ntt_vector_call *call, const uint64_t *number, uint8_t *packed)
{
    const pool_field *field = call->place.field;
    struct vector_arg a = vector_arg_of(&call->in[0]);
    uint64_t count = call->in[0].count, offset = 0, zero[FIELD_MAX_LIMBS] = {0};
    uint32_t log_threads = log_threads_for(count);
    CUdeviceptr squares = 0, partial = 0;
    void *arguments[] = {&a, &count, &squares, &partial, &log_threads};
    static const size_t sizes[] = {16, 8, 8, 8, 4};
    struct module_launch launch = {.count = 5, .arguments = arguments, .sizes = sizes};
    pool_status status = put_squares(call, number, zero, &squares);

    if (!status)
        status = ntt_temporary(
            &call->place, ((uint64_t)2 << log_threads) * field->bytes, &call->scratch, &partial);
    if (!status)
        status = ntt_vector_launch(call, "vector_evaluate", 1u << log_threads, &launch);
    if (!status)
        status = sum_up(call, partial, 1u << log_threads, &offset);
    if (!status)
        status = pool_copy_to_host(
            packed, call->scratch, offset * field->bytes, field->bytes, call->place.stream);
    return status;
}

/* Montgomery limbs. */
struct evaluation {
    uint64_t point[FIELD_MAX_LIMBS];
    uint64_t sum[FIELD_MAX_LIMBS];
};

/* Adds the part's value times point^first. */
static pool_status evaluate_part(
    struct ntt_vector_call *call, const struct ntt_vector_spans *spans, uint64_t first, void *user)
{
    const pool_field *field = call->place.field;
    struct evaluation *evaluation = user;
    uint64_t value[FIELD_MAX_LIMBS] = {0}, power[FIELD_MAX_LIMBS];
    uint8_t packed[POOL_FIELD_MAX_BYTES] = {0};
    pool_status status = ntt_vector_bring(call, 0, spans->a);

    if (!status && spans->a->count)
        status = evaluate(call, evaluation->point, packed);
    status = ntt_vector_end(call, NULL, status);
    if (status)
        return status;
    field_load(field, value, packed);
    if (spans->a->form == POOL_FORM_STANDARD)
        field_to_montgomery(field, value, value);
    field_pow(field, power, evaluation->point, &first, 1);
    field_mul(field, value, value, power);
    field_add(field, evaluation->sum, evaluation->sum, value);
    return POOL_OK;
}

pool_status pool_vector_evaluate(const pool_field *field, const pool_exec *exec, const pool_span *a,
    const void *point, void *value)
{
    const struct ntt_vector_spans spans = {.a = a};
    struct evaluation evaluation = {.sum = {0}};
    struct ntt_vector_call call;
    pool_status status;

    status = base_check_pointers("pool_vector_evaluate", {"a", a}, {"value", value});
    if (status)
        return status;
    status = ntt_vector_begin(field, exec, &call, "pool_vector_evaluate");
    if (!status)
        status =
            ntt_vector_scalar(call.place.field, point, "pool_vector_evaluate", evaluation.point);
    if (!status)
        status = ntt_span_check(&call.place, a, "polynomial");
    if (status)
        return status;
    call.exec.is_async = 0;
    status = ntt_vector_in_parts(&call, &spans, evaluate_bytes, evaluate_part, &evaluation);
    if (status)
        return status;
    field_from_montgomery(call.place.field, evaluation.sum, evaluation.sum);
    field_store(call.place.field, value, evaluation.sum);
    return POOL_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a polynomial at a point. */
#include "zk/vector/vector.h"

#include "base/log.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/operation/timeout.h"

enum { SUM_BLOCK = 256 };

/* Halves the number of partial sums by 256 until one is left, at the front of either half. */
static pool_status sum_up(
    struct vector_call *call, CUdeviceptr partial, uint64_t count, uint64_t *offset)
{
    uint64_t room = count;
    int is_second = 0;
    pool_status status = POOL_OK;

    while (!status && count > 1) {
        CUdeviceptr from = partial + (is_second ? room : 0) * call->target.field->bytes;
        CUdeviceptr to = partial + (is_second ? 0 : room) * call->target.field->bytes;
        void *arguments[] = {&from, &count, &to};
        static const size_t sizes[] = {8, 8, 8};
        struct module_launch launch = {
            .count = 3, .arguments = arguments, .sizes = sizes, .threads = SUM_BLOCK};

        status = vector_launch(&call->target, "vector_sum_blocks", count, &launch);
        count = (count + SUM_BLOCK - 1) / SUM_BLOCK;
        is_second = !is_second;
    }
    *offset = is_second ? room : 0;
    return status;
}

static pool_status evaluate(struct vector_call *call, const uint64_t *number, uint8_t *packed)
{
    const pool_field *field = call->target.field;
    struct vector_arg a = vector_arg_of(field, &call->chunk->in[0]);
    uint64_t count = call->chunk->count, offset = 0, zero[FIELD_MAX_LIMBS] = {0};
    uint32_t log_threads = vector_log_threads(count);
    CUdeviceptr squares = 0, partial = 0;
    void *arguments[] = {&a, &count, &squares, &partial, &log_threads};
    static const size_t sizes[] = {16, 8, 8, 8, 4};
    struct module_launch launch = {.count = 5, .arguments = arguments, .sizes = sizes};
    pool_status status = vector_store_powers_of_two(call, number, zero, &squares);

    if (!status)
        status = scratch_allocate(
            &call->target, ((uint64_t)2 << log_threads) * field->bytes, &call->scratch, &partial);
    if (!status)
        status = vector_launch(&call->target, "vector_evaluate", 1u << log_threads, &launch);
    if (!status)
        status = sum_up(call, partial, 1u << log_threads, &offset);
    if (!status)
        status = pool_copy_to_host(
            packed, call->scratch, offset * field->bytes, field->bytes, call->target.stream);
    return status ? status : pool_stream_synchronize(call->target.stream);
}

/* Montgomery limbs. */
struct evaluation {
    uint64_t point[FIELD_MAX_LIMBS];
    uint64_t sum[FIELD_MAX_LIMBS];
};

/* Adds the chunk's value times point^first. */
static pool_status add_chunk(struct vector_call *call)
{
    const pool_field *field = call->target.field;
    struct evaluation *evaluation = (struct evaluation *)(uintptr_t)call->user;
    uint64_t value[FIELD_MAX_LIMBS] = {0}, power[FIELD_MAX_LIMBS];
    uint8_t packed[POOL_FIELD_MAX_BYTES] = {0};
    pool_status status = evaluate(call, evaluation->point, packed);

    if (status)
        return status;
    field_load(field, value, packed);
    if (call->a->form == POOL_FORM_STANDARD)
        field_to_montgomery(field, value, value);
    field_pow(field, power, evaluation->point, &call->chunk->first, 1);
    field_mul(field, value, value, power);
    field_add(field, evaluation->sum, evaluation->sum, value);
    return POOL_OK;
}

static pool_status vector_evaluate_timed(void *const *a)
{
    return pool_vector_evaluate(a[0], a[1], a[2], a[3], a[4]);
}

pool_status pool_vector_evaluate(const pool_field *field, const pool_exec *exec, const pool_span *a,
    const void *point, void *value)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(vector_evaluate_timed, NULL, TIMED_POINTER(field), TIMED_EXEC(exec),
            TIMED_SPAN(a), TIMED_POINTER(point), TIMED_POINTER(value));
    EXEC_SCOPE(exec);
    struct evaluation evaluation = {.sum = {0}};
    struct vector_call call;
    pool_status status;

    status = base_check_pointers("pool_vector_evaluate", {"a", a}, {"value", value});
    if (status)
        return status;
    status = vector_begin(field, exec, &call, POOL_VECTOR_EVALUATE, "pool_vector_evaluate");
    if (!status)
        status =
            vector_load_scalar(call.target.field, point, "pool_vector_evaluate", evaluation.point);
    if (!status)
        status = elements_check(&call.target, a, "polynomial");
    if (status)
        return status;
    call.exec.is_async = 0;
    call.a = a;
    call.compute = add_chunk;
    call.user = &evaluation;
    status = vector_run(&call);
    if (status)
        return status;
    field_from_montgomery(call.target.field, evaluation.sum, evaluation.sum);
    field_store(call.target.field, value, evaluation.sum);
    return POOL_OK;
}

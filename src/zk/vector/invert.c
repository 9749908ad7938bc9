/* SPDX-License-Identifier: Apache-2.0 */
/* Inverses of the elements of a vector. */
#include "zk/vector/vector.h"

#include "base/log.h"
#include "base/status.h"
#include "zk/operation/timeout.h"

/*
 * Elements that share one inversion of about 1.5 squarings per bit: with 64 of them that is 6
 * multiplications per element besides the 3 that sharing costs, and 2^20 elements still occupy the
 * whole chip.
 */
enum { INVERSE_SHARE = 64, INVERSE_THREADS = 64 };

int vector_inverse_exponent(const struct vector_call *call)
{
    return (int)call->a->form + (int)call->out->form - 2 * field_device_degree(call->target.field);
}

static pool_status invert(struct vector_call *call)
{
    const pool_field *field = call->target.field;
    struct vector_arg a = vector_arg_of(field, &call->chunk->in[0]);
    struct vector_arg out = vector_arg_of(field, &call->chunk->out);
    int exponent = vector_inverse_exponent(call);
    uint64_t count = call->chunk->count;
    uint64_t value[FIELD_MAX_LIMBS];
    uint8_t packed[POOL_FIELD_MAX_BYTES];
    CUdeviceptr scratch = 0, factor = 0;
    void *arguments[] = {&a, &out, &scratch, &factor, &count};
    static const size_t sizes[] = {16, 16, 8, 8, 8};
    struct module_launch launch = {
        .count = 5, .arguments = arguments, .sizes = sizes, .threads = INVERSE_THREADS};
    pool_status status =
        scratch_allocate(&call->target, count * field->bytes, &call->scratch, &scratch);

    if (!status && exponent) {
        field_power_of_r(field, value, exponent);
        field_store_for_device(field, packed, value);
        status = vector_upload_constants(call, packed, 1, &factor);
    }
    return status ? status
                  : vector_launch(&call->target, "vector_invert",
                        (count + INVERSE_SHARE - 1) / INVERSE_SHARE, &launch);
}

static pool_status vector_inverse_timed(void *const *a)
{
    return pool_vector_inverse(a[0], a[1], a[2], a[3]);
}

pool_status pool_vector_inverse(
    const pool_field *field, const pool_exec *exec, const pool_span *a, const pool_span *out)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(vector_inverse_timed, NULL, TIMED_POINTER(field), TIMED_EXEC(exec),
            TIMED_SPAN(a), TIMED_SPAN(out));
    EXEC_SCOPE(exec);
    struct vector_call call;
    pool_status status = vector_begin_unary(
        field, exec, &call, a, out, 1, POOL_VECTOR_INVERSE, "pool_vector_inverse");

    if (status)
        return status;
    call.compute = invert;
    return vector_run(&call);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The powers of an element. */
#include "vector/vector.h"

#include "base/params.h"
#include "base/status.h"

enum { LOG_THREADS = 17, BLOCK = 256 };

pool_status vector_store_powers_of_two(
    struct vector_call *call, const uint64_t *number, const uint64_t *more, CUdeviceptr *squares)
{
    const pool_field *field = call->target.field;
    uint8_t packed[(NTT_POWERS_OF_TWO + 1) * POOL_FIELD_MAX_BYTES];

    ntt_store_powers_of_two(field, packed, number);
    field_store_for_device(field, packed + (size_t)NTT_POWERS_OF_TWO * field->bytes, more);
    return vector_upload_constants(call, packed, NTT_POWERS_OF_TWO + 1, squares);
}

uint32_t vector_log_threads(uint64_t count)
{
    uint32_t log_threads = 0;

    while (log_threads < LOG_THREADS && count >> log_threads > 1)
        log_threads++;
    return log_threads;
}

uint64_t vector_powers_bytes(const pool_field *field, uint64_t count)
{
    (void)count;
    return (uint64_t)(NTT_POWERS_OF_TWO + 1) * field->bytes;
}

/* The powers from number^start on. */
static pool_status powers(
    struct vector_call *call, const uint64_t *number, uint64_t start, pool_form form)
{
    const pool_field *field = call->target.field;
    uint64_t first[FIELD_MAX_LIMBS], power[FIELD_MAX_LIMBS], count = call->out.count,
                                                             stride = call->out.stride / 4;
    int exponent = (int)form - field_device_degree(field);
    uint32_t log_threads = vector_log_threads(count);
    CUdeviceptr out = call->out.address, squares = 0, scale = 0;
    void *arguments[] = {&out, &count, &stride, &squares, &scale, &log_threads};
    static const size_t sizes[] = {8, 8, 8, 8, 8, 4};
    struct module_launch launch = {.count = 6,
        .arguments = arguments,
        .sizes = sizes,
        .threads = BLOCK,
        .stream = call->target.stream};
    pool_status status;

    field_power_of_r(field, first, exponent);
    field_pow(field, power, number, &start, 1);
    field_mul(field, first, first, power);
    status = vector_store_powers_of_two(call, number, first, &squares);
    if (exponent || start)
        scale = squares + (uint64_t)NTT_POWERS_OF_TWO * field->bytes;
    if (1u << log_threads < BLOCK)
        launch.threads = 1u << log_threads;
    launch.blocks = (1u << log_threads) / launch.threads;
    if (!status)
        status = ntt_tables_kernel(call->target.device, field, "ntt_powers", &launch.kernel);
    return status ? status : module_launch_enqueue(&launch);
}

static pool_status powers_part(
    struct vector_call *call, const struct vector_spans *spans, uint64_t first, void *user)
{
    pool_status status = memory_operand_allocate(&call->target, spans->out, &call->out);

    if (!status && spans->out->count)
        status = powers(call, user, first, spans->out->form);
    return vector_end(call, spans->out, status);
}

pool_status pool_vector_powers(
    const pool_field *field, const pool_exec *exec, const void *base, const pool_span *out)
{
    const struct vector_spans spans = {.out = out};
    uint64_t number[FIELD_MAX_LIMBS];
    struct vector_call call;
    pool_status status;

    if (!out)
        return base_fail_null("pool_vector_powers", "out");
    status = vector_begin(field, exec, &call, "pool_vector_powers");
    if (!status)
        status = vector_load_scalar(call.target.field, base, "pool_vector_powers", number);
    if (!status)
        status = memory_elements_check(&call.target, out, "result");
    return status ? status
                  : vector_run_chunks(&call, &spans, vector_powers_bytes, powers_part, number);
}

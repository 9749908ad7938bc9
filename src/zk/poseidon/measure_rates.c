/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_measure_rates: permutations of circom-bn254-t3, which like the kernels of MSMs and
 * transforms over fields of 256 bits take as long as their multiplications.
 */
#include <devicepool/exec.h>
#include <devicepool/poseidon.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device/device.h"
#include "pool/memory/memory.h"
#include "zk/operation/operand.h"

enum {
    /* Per multiprocessor: four warps per scheduler, which take many times as long as a launch. */
    STATES = 512,
    ROUNDS = 3
};

/* What is measured on a device. */
struct measurement {
    pool_device *device;
    const pool_poseidon *set;
    pool_buffer *states;
    double rate; /* states per nanosecond */
};

/* The shortest of several runs. The states are permuted in place, and zeros at first. */
static pool_status time_permutations(
    const struct measurement *measurement, uint64_t count, uint64_t *shortest_ns)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = measurement->device};
    pool_span states;
    pool_status status =
        pool_buffer_span(measurement->states, 0, count, POOL_FORM_STANDARD, &states);

    for (int i = 0; i <= ROUNDS && !status; i++) { /* the first one is a warm-up */
        const uint64_t begin = base_clock_ns();
        uint64_t elapsed;

        status = pool_poseidon_permute(measurement->set, &exec, &states, &states);
        elapsed = base_clock_ns() - begin;
        if (i <= 1 || elapsed < *shortest_ns)
            *shortest_ns = elapsed;
    }
    return status;
}

static pool_status measure_device(struct measurement *measurement)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = measurement->device};
    const int32_t multiprocessors = device_properties(measurement->device)->multiprocessors;
    const uint64_t count = STATES * (uint64_t)(multiprocessors > 0 ? multiprocessors : 1);
    const uint64_t bytes = count * pool_poseidon_width(measurement->set) *
                           pool_field_element_bytes(pool_poseidon_field(measurement->set));
    struct exec_target target;
    CUdeviceptr address;
    uint64_t ns = 0;
    pool_status status = exec_target_init(&target, &exec);

    if (status)
        return status;
    status = scratch_allocate(&target, bytes, &measurement->states, &address);
    if (!status)
        status = pool_buffer_fill32(measurement->states, 0, bytes / 4, 0, target.stream);
    if (!status)
        status = time_permutations(measurement, count, &ns);
    measurement->rate = (double)count / (double)base_max(ns, 1);
    return scratch_free(&target, &measurement->states, status);
}

/* The rates of all measured devices have the sum of their models', so that those of devices that
 * could not be measured compare with them. */
static void set_rates(const struct measurement *measured, size_t count)
{
    double model = 0, sum = 0;

    for (size_t i = 0; i < count; i++) {
        model += measured[i].rate > 0 ? (double)device_model_rate(measured[i].device) : 0;
        sum += measured[i].rate;
    }
    for (size_t i = 0; i < count; i++)
        if (measured[i].rate > 0)
            (void)pool_device_set_rate(
                measured[i].device, base_max((uint64_t)(measured[i].rate / sum * model + 0.5), 1));
}

pool_status pool_measure_rates(device_pool *pool)
{
    const size_t count = pool ? pool_device_count(pool) : 0;
    struct measurement *measured = base_calloc(count + 1, sizeof(*measured));
    pool_poseidon *set = NULL;
    pool_status status = base_check_pointers(__func__, {"pool", pool});

    if (!status && !measured)
        status = base_fail_memory("measurements of devices");
    if (!status)
        status = pool_poseidon_by_name("circom-bn254-t3", &set);
    for (size_t i = 0; i < count && !status; i++) {
        status = pool_device_at(pool, i, &measured[i].device);
        measured[i].set = set;
        if (!status)
            status = device_check(measured[i].device, DEVICE_USE_HOST);
        if (!status && device_state(measured[i].device) == POOL_DEVICE_READY)
            status = measure_device(&measured[i]);
    }
    if (!status)
        set_rates(measured, count);
    pool_poseidon_destroy(&set);
    base_free(measured);
    return status;
}

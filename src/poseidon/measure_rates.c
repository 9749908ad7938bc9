/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_measure_rates: permutations of circom-bn254-t3, which like the kernels of MSMs and
 * transforms over fields of 256 bits take as long as their multiplications.
 */
#include <devicepool/exec.h>
#include <devicepool/poseidon.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device.h"

enum {
    /* States per multiprocessor, doubled from one warp per scheduler to several waves on any chip,
     * or until a run takes so long that the launch does not matter. */
    FIRST_STATES = 128,
    MOST_STATES = 4096,
    ROUNDS = 3
};
#define ENOUGH_MS 2.0

/* What is measured on a device. */
struct measurement {
    pool_device *device;
    const pool_poseidon *set;
    pool_stream *stream;
    pool_event *start, *end;
    pool_buffer *states;
    double rate; /* states per millisecond */
};

static pool_status open_measurement(struct measurement *measurement)
{
    pool_device *device = measurement->device;
    pool_status status = pool_stream_create(device, NULL, &measurement->stream);

    if (!status)
        status = pool_event_create(device, POOL_EVENT_TIMING, &measurement->start);
    if (!status)
        status = pool_event_create(device, POOL_EVENT_TIMING, &measurement->end);
    return status;
}

/* Returns `status` or the first failure of a destructor. */
static pool_status close_measurement(struct measurement *measurement, pool_status status)
{
    struct base_error_copy first;
    pool_status closed[4];

    base_error_save(&first);
    closed[0] = pool_buffer_destroy(&measurement->states);
    closed[1] = pool_event_destroy(&measurement->start);
    closed[2] = pool_event_destroy(&measurement->end);
    closed[3] = pool_stream_destroy(&measurement->stream);
    for (int i = 0; i < 4 && !status; i++)
        status = closed[i];
    base_error_restore(&first);
    return status;
}

/* The states are permuted in place, and zeros at first. */
static pool_status time_permutations(
    const struct measurement *measurement, uint64_t count, double *milliseconds)
{
    const pool_exec exec = {.struct_size = sizeof(exec),
        .device = measurement->device,
        .stream = measurement->stream,
        .is_async = 1};
    pool_span states;
    pool_status status =
        pool_buffer_span(measurement->states, 0, count, POOL_FORM_STANDARD, &states);

    if (!status)
        status = pool_event_record(measurement->start, measurement->stream);
    if (!status)
        status = pool_poseidon_permute(measurement->set, &exec, &states, &states);
    if (!status)
        status = pool_event_record(measurement->end, measurement->stream);
    if (!status)
        status = pool_event_synchronize(measurement->end);
    return status ? status : pool_event_elapsed(measurement->start, measurement->end, milliseconds);
}

static pool_status allocate_states(struct measurement *measurement, uint64_t count)
{
    const uint64_t bytes = count * pool_poseidon_width(measurement->set) *
                           pool_field_element_bytes(pool_poseidon_field(measurement->set));
    pool_status status = pool_buffer_destroy(&measurement->states);

    if (!status)
        status = pool_buffer_alloc(measurement->device, bytes, &measurement->states);
    return status ? status : pool_buffer_fill32(measurement->states, 0, bytes / 4, 0, NULL);
}

static pool_status measure_device(struct measurement *measurement)
{
    const int32_t reported = device_properties(measurement->device)->multiprocessors;
    const uint64_t multiprocessors = reported > 0 ? (uint64_t)reported : 1;
    double shortest = 0;
    uint64_t count = FIRST_STATES / 2 * multiprocessors;
    pool_status status = open_measurement(measurement);

    do {
        count *= 2;
        if (!status)
            status = allocate_states(measurement, count);
        for (int i = 0; i <= ROUNDS && !status; i++) { /* the first one is a warm-up */
            double milliseconds = 0;

            status = time_permutations(measurement, count, &milliseconds);
            if (i == 1 || milliseconds < shortest)
                shortest = milliseconds;
        }
    } while (!status && shortest < ENOUGH_MS && count < MOST_STATES * multiprocessors);
    if (!status && shortest > 0)
        measurement->rate = (double)count / shortest;
    return close_measurement(measurement, status);
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
        if (!status && device_state(measured[i].device) == POOL_DEVICE_READY)
            status = measure_device(&measured[i]);
    }
    if (!status)
        set_rates(measured, count);
    pool_poseidon_destroy(&set);
    base_free(measured);
    return status;
}

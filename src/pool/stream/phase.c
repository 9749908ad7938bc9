/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing of phases and launches on the device: a pair of events around the work of each. The pairs
 * lie in two rings per device, one for phases and one for launches; a pair is reused once the
 * device has passed its second event. When all are in use the phase is not timed, so that an
 * operation never waits for its own measurement.
 */
#include "pool/stream/phase.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/device/counters.h"
#include "pool/stream/capture.h"

enum { PHASE_SAMPLES = 256, LAUNCH_SAMPLES = 4096 };

enum sample_state { SAMPLE_FREE, SAMPLE_OPEN, SAMPLE_ENQUEUED };

struct phase_sample {
    CUevent begin, end; /* created at the first use */
    struct counter_series *series;
    enum sample_state state; /* guarded by the ring's lock */
};

struct phase_ring {
    pthread_mutex_t lock;
    unsigned next; /* guarded by lock */
    unsigned count;
    struct phase_sample samples[];
};

static pool_status create_ring(void **object, unsigned count)
{
    struct phase_ring *ring = base_calloc(1, sizeof(*ring) + count * sizeof(ring->samples[0]));

    if (!ring)
        return base_fail_memory("the phase timers of a device");
    pthread_mutex_init(&ring->lock, NULL);
    ring->count = count;
    *object = ring;
    return POOL_OK;
}

static pool_status create_phases(pool_device *device, void **object)
{
    (void)device;
    return create_ring(object, PHASE_SAMPLES);
}

static pool_status create_launches(pool_device *device, void **object)
{
    (void)device;
    return create_ring(object, LAUNCH_SAMPLES);
}

static void destroy_ring(pool_device *device, void *object, int driver_alive)
{
    struct phase_ring *ring = object;

    for (unsigned i = 0; i < ring->count && driver_alive; i++) {
        if (ring->samples[i].begin)
            (void)DRIVER_CLEANUP(device_driver(device), EventDestroy(ring->samples[i].begin));
        if (ring->samples[i].end)
            (void)DRIVER_CLEANUP(device_driver(device), EventDestroy(ring->samples[i].end));
    }
    device_lock_destroy(device, &ring->lock);
    base_free(ring);
}

/* The events have ended with the process that had the device. */
static pool_status renew_ring(pool_device *device, void **object)
{
    struct phase_ring *ring = *object;

    (void)device;
    pthread_mutex_lock(&ring->lock);
    for (unsigned i = 0; i < ring->count; i++)
        ring->samples[i] = (struct phase_sample){.state = SAMPLE_FREE};
    pthread_mutex_unlock(&ring->lock);
    return POOL_OK;
}

static struct phase_ring *ring_of(pool_device *device, enum counter_kind kind)
{
    static const struct device_resource_type phases = {.name = "phase timers",
        .create = create_phases,
        .destroy = destroy_ring,
        .renew = renew_ring};
    static const struct device_resource_type launches = {.name = "launch timers",
        .create = create_launches,
        .destroy = destroy_ring,
        .renew = renew_ring};
    struct base_error_copy before;
    void *object = NULL;

    base_error_save(&before);
    if (device_resource_get(device, kind == COUNTER_PHASE ? &phases : &launches, &object)) {
        base_error_restore(&before);
        return NULL;
    }
    return object;
}

/* With the lock held: adds a finished sample to its series. Codes of the driver are not classified
 * here: a fault shows at the operation's own calls. */
static void collect_sample(const struct driver *driver, struct phase_sample *sample)
{
    float milliseconds = 0;

    if (sample->state != SAMPLE_ENQUEUED ||
        driver->api.EventQuery(sample->end) == POOL_CU_NOT_READY)
        return;
    if (driver->api.EventElapsedTime(&milliseconds, sample->begin, sample->end) ==
        POOL_CU_SUCCESS) {
        const uint64_t nanoseconds = (uint64_t)((double)milliseconds * 1e6);

        atomic_fetch_add_explicit(&sample->series->nanoseconds, nanoseconds, memory_order_relaxed);
        atomic_fetch_add_explicit(&sample->series->calls, 1, memory_order_relaxed);
        if (nanoseconds > atomic_load_explicit(&sample->series->longest, memory_order_relaxed))
            atomic_store_explicit(&sample->series->longest, nanoseconds, memory_order_relaxed);
    }
    sample->state = SAMPLE_FREE;
}

static struct phase_sample *take_sample(struct driver *driver, struct phase_ring *ring)
{
    struct phase_sample *sample;

    pthread_mutex_lock(&ring->lock);
    sample = &ring->samples[ring->next];
    collect_sample(driver, sample);
    if (sample->state == SAMPLE_FREE) {
        sample->state = SAMPLE_OPEN;
        ring->next = (ring->next + 1) % ring->count;
    } else {
        sample = NULL;
    }
    pthread_mutex_unlock(&ring->lock);
    return sample;
}

static void set_state(struct phase_ring *ring, struct phase_sample *sample, enum sample_state state)
{
    pthread_mutex_lock(&ring->lock);
    sample->state = state;
    pthread_mutex_unlock(&ring->lock);
}

static void begin_timing(
    struct phase *phase, enum counter_kind kind, const char *operation, const char *name)
{
    struct driver *driver = device_driver(phase->device);
    struct phase_ring *ring = ring_of(phase->device, kind);
    struct phase_sample *sample = ring ? take_sample(driver, ring) : NULL;

    if (!sample)
        return;
    sample->series = counter_series_of(phase->device, kind, operation, name);
    if (!sample->series ||
        (!sample->begin && driver->api.EventCreate(&sample->begin, 0) != POOL_CU_SUCCESS) ||
        (!sample->end && driver->api.EventCreate(&sample->end, 0) != POOL_CU_SUCCESS) ||
        driver->api.EventRecord(sample->begin, phase->stream) != POOL_CU_SUCCESS) {
        set_state(ring, sample, SAMPLE_FREE);
        return;
    }
    phase->ring = ring;
    phase->sample = sample;
}

void phase_begin(struct phase *phase, pool_device *device, const pool_stream *stream,
    const char *operation, const char *name)
{
    phase->device = device;
    phase->stream = stream_handle_or_default(stream, device);
    phase->sample = NULL;
    trace_begin(&phase->range, POOL_TRACE_PHASE, name, operation, pool_device_ordinal(device), 0);
    if (device_times_phases(device) && !stream_capture_of(stream))
        begin_timing(phase, COUNTER_PHASE, operation, name);
}

void phase_begin_launch(
    struct phase *phase, pool_device *device, const pool_stream *stream, const char *kernel)
{
    phase->sample = NULL;
    phase->range.event.id = 0;
    if (!device_times_launches(device) || stream_capture_of(stream))
        return;
    phase->device = device;
    phase->stream = stream_handle_or_default(stream, device);
    begin_timing(phase, COUNTER_LAUNCH, "", kernel);
}

pool_status phase_end(struct phase *phase, pool_status status)
{
    if (phase->sample) {
        struct driver *driver = device_driver(phase->device);
        bool is_enqueued =
            driver->api.EventRecord(phase->sample->end, phase->stream) == POOL_CU_SUCCESS;

        set_state(
            phase->ring, phase->sample, is_enqueued && !status ? SAMPLE_ENQUEUED : SAMPLE_FREE);
    }
    return trace_end(&phase->range, status);
}

static void collect_ring(const struct driver *driver, struct phase_ring *ring)
{
    if (!ring)
        return;
    pthread_mutex_lock(&ring->lock);
    for (unsigned i = 0; i < ring->count; i++)
        collect_sample(driver, &ring->samples[i]);
    pthread_mutex_unlock(&ring->lock);
}

void phase_collect(pool_device *device)
{
    struct base_error_copy before;
    struct device_scope scope;

    base_error_save(&before);
    if (!device_times_phases(device) || !device_usable(device, DEVICE_USE_RELEASE) ||
        device_enter(device, &scope)) {
        base_error_restore(&before);
        return;
    }
    collect_ring(scope.driver, ring_of(device, COUNTER_PHASE));
    if (device_times_launches(device))
        collect_ring(scope.driver, ring_of(device, COUNTER_LAUNCH));
    (void)device_leave(&scope, POOL_OK);
    base_error_restore(&before);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that disturb devices and jobs during the soak. Faults and hangs are injected on simulated
 * devices only; the others happen on GPUs too.
 */
#include "soak/soak.h"

#include <string.h>
#include <time.h>

uint64_t soak_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void soak_sleep(uint64_t nanoseconds)
{
    const struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000u),
        .tv_nsec = (long)(nanoseconds % 1000000000u)};

    nanosleep(&time, NULL);
}

/* Calls of this thread that need not succeed, with the statuses that are expected. */
static void expect(struct soak *soak, const char *call, pool_status status, pool_status other)
{
    if (!status || status == other ||
        (status == POOL_ERR_DEVICE_UNUSABLE && atomic_load(&soak->may_lose_devices)))
        return;
    fprintf(
        stderr, "soak: %s: %s: %s\n", call, pool_status_name(status), pool_last_error()->message);
    atomic_fetch_add(&soak->counts.unexpected, 1);
}

static size_t random_device(const struct soak *soak, uint64_t random)
{
    size_t index = random % soak->device_count;

    while (soak->is_lost[index])
        index = (index + 1) % soak->device_count;
    return index;
}

static void drain(struct soak *soak, pool_device *device)
{
    expect(soak, "pool_device_drain", pool_device_drain(device), POOL_OK);
    expect(soak, "pool_device_wait_drained", pool_device_wait_drained(device, 2000000000u),
        POOL_ERR_TIMEOUT);
    expect(soak, "pool_device_resume", pool_device_resume(device), POOL_OK);
    soak->drains++;
}

static void quarantine(struct soak *soak, pool_device *device)
{
    expect(soak, "pool_device_quarantine", pool_device_quarantine(device, "the soak"), POOL_OK);
    expect(soak, "pool_device_probe", pool_device_probe(device, UINT64_C(60000000000)), POOL_OK);
    expect(soak, "pool_device_resume", pool_device_resume(device), POOL_OK);
    soak->quarantines++;
}

static void cancel(struct soak *soak, uint64_t random)
{
    struct soak_thread *thread = &soak->threads[random % soak->options.threads];

    pthread_mutex_lock(&thread->lock);
    pool_cancel_request(thread->cancel);
    pthread_mutex_unlock(&thread->lock);
    soak->cancels++;
}

static void describe(struct soak *soak)
{
    char *text = NULL;

    expect(soak, "pool_describe", pool_describe(soak->pool, POOL_TEXT_JSON, &text), POOL_OK);
    pool_text_free(&text);
    expect(soak, "pool_metrics", pool_metrics(soak->pool, POOL_METRICS_PROMETHEUS, &text), POOL_OK);
    pool_text_free(&text);
}

static void disturb_once(struct soak *soak, uint64_t random)
{
    pool_device *device = soak->devices[random_device(soak, random >> 16)];

    switch (random % 8) {
    case 0:
        drain(soak, device);
        break;
    case 1:
        quarantine(soak, device);
        break;
    case 2:
    case 3:
        expect(soak, "pool_resident_evict",
            pool_resident_evict(
                soak->work.sources[(random >> 32) % SOAK_RESIDENTS].resident, device),
            POOL_ERR_BUSY);
        soak->evicts++;
        break;
    case 4:
        expect(soak, "pool_resident_evict", pool_resident_evict(soak->work.bases, device),
            POOL_ERR_BUSY);
        soak->evicts++;
        break;
    case 5:
        expect(soak, "pool_memory_trim", pool_memory_trim(device, 0), POOL_OK);
        break;
    case 6:
        describe(soak);
        break;
    default:
        cancel(soak, random >> 24);
        break;
    }
}

/* ---- faults of simulated devices ---------------------------------------------------------------
 */

static void set_faults(struct soak *soak, const char *rules)
{
    expect(soak, "pool_sim_set_faults", pool_sim_set_faults(rules), POOL_OK);
}

/* Some allocations are refused by the driver. */
static void inject_refusals(struct soak *soak)
{
    atomic_store(&soak->may_lack_memory, true);
    set_faults(soak, "cuMemAlloc*@3-6=OUT_OF_MEMORY");
    soak_sleep(20000000);
    set_faults(soak, NULL);
    soak->faults++;
}

/* Work that a device does not finish for a while. */
static void inject_delay(struct soak *soak, size_t index)
{
    char rule[64];

    snprintf(rule, sizeof(rule), "dev%d.cuLaunchKernel*@1=hang",
        pool_device_ordinal(soak->devices[index]));
    set_faults(soak, rule);
    soak_sleep(100000000);
    set_faults(soak, NULL);
    expect(soak, "pool_sim_resume", pool_sim_resume(), POOL_OK);
    soak->hangs++;
}

/* A device that the driver reports as unavailable, for good. */
static void lose_device(struct soak *soak, size_t index)
{
    char rule[64];

    atomic_store(&soak->may_lose_devices, true);
    soak->is_lost[index] = true;
    snprintf(rule, sizeof(rule), "dev%d.cuMem*@1-20=DEVICE_UNAVAILABLE",
        pool_device_ordinal(soak->devices[index]));
    set_faults(soak, rule);
    for (unsigned i = 0; i < 100; i++) {
        pool_device_info info = {.struct_size = sizeof(info)};

        soak_sleep(50000000);
        if (!pool_device_get_info(soak->devices[index], &info) &&
            info.state == POOL_DEVICE_UNUSABLE)
            break;
    }
    set_faults(soak, NULL);
    soak->faults++;
}

/* A device that hangs and is abandoned; then its threads return. */
static void abandon_device(struct soak *soak, size_t index)
{
    char rule[64];

    atomic_store(&soak->may_lose_devices, true);
    soak->is_lost[index] = true;
    snprintf(rule, sizeof(rule), "dev%d.cuLaunchKernel*@1+=hang",
        pool_device_ordinal(soak->devices[index]));
    set_faults(soak, rule);
    soak_sleep(500000000);
    expect(soak, "pool_device_abandon",
        pool_device_abandon(soak->devices[index], "a kernel does not end"), POOL_OK);
    set_faults(soak, NULL);
    expect(soak, "pool_sim_resume", pool_sim_resume(), POOL_OK);
    soak->hangs++;
}

void soak_disturb(struct soak *soak, uint64_t end_ns, bool has_losses)
{
    uint64_t random = soak->options.seed ^ 0x9e3779b97f4a7c15u, begin = soak_now();
    uint64_t duration = end_ns > begin ? end_ns - begin : 0;
    unsigned losses = has_losses ? 2 : 0;

    atomic_store(&soak->is_disturbed, true);
    for (unsigned i = 0; soak_now() < end_ns; i++) {
        uint64_t elapsed = soak_now() - begin;

        if (losses == 2 && elapsed > duration / 3) {
            lose_device(soak, soak->device_count - 1);
            losses--;
        } else if (losses == 1 && elapsed > duration * 2 / 3) {
            abandon_device(soak, soak->device_count - 2);
            losses--;
        } else if (soak->options.is_simulated && i % 32 == 8) {
            inject_refusals(soak);
        } else if (soak->options.is_simulated && i % 32 == 24) {
            inject_delay(soak, random_device(soak, soak_random(&random)));
        } else {
            disturb_once(soak, soak_random(&random));
        }
        soak_sleep(10000000);
    }
    atomic_store(&soak->is_disturbed, false);
}

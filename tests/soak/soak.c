/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A soak: threads run random jobs (MSMs, NTTs, hashes, copies, uses of resident objects) under
 * leases, while devices are drained, quarantined, lost and abandoned, residents are evicted, jobs
 * are cancelled and requests time out. Every answer is compared with the host's. In the end nothing
 * may be in use or reserved, and the process may not have grown.
 *
 *   soak [--devices sim:8,mem=256M] [--seconds 20] [--threads 16] [--slots 4]
 *        [--memory-limit BYTES[KMG]] [--seed N] [--log-msm N] [--log-ntt N] [--hashes N]
 *        [--copy BYTES[KMG]] [--no-losses]
 *
 * Prints one line for each result and "soak: passed" or "soak: FAILED"; exits with 77 when there is
 * no such device.
 */
#include "soak/soak.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "pool/device/device.h"
#include "pool/memory/resident.h"
#include "support/sanitized.h"

#define MIB ((uint64_t)1 << 20)
#define SECOND ((uint64_t)1000000000)

enum { SLICES = 6, GROWTH_MIB = 24 };

/* Growth counts only in long runs: in a short one caches are still filling. */
#define GROWTH_SECONDS 15

/* ---- options -----------------------------------------------------------------------------------
 */

static void usage(const char *what)
{
    fprintf(stderr, "soak: %s; the options are explained in tests/soak/soak.c\n", what);
    exit(2);
}

static uint64_t read_number(const char *name, const char *text)
{
    char *end = NULL;
    uint64_t value = text ? strtoull(text, &end, 10) : 0;

    if (!text || end == text)
        usage(name);
    if (*end == 'K')
        value <<= 10;
    else if (*end == 'M')
        value <<= 20;
    else if (*end == 'G')
        value <<= 30;
    else if (*end)
        usage(name);
    return value;
}

static void set_defaults(struct soak_options *options)
{
    bool is_simulated = options->is_simulated;

    if (!options->log_msm)
        options->log_msm = is_simulated ? 5 : 16;
    if (!options->log_ntt)
        options->log_ntt = is_simulated ? 6 : 18;
    if (!options->hashes)
        options->hashes = is_simulated ? 8 : 1 << 16;
    if (!options->copy_bytes)
        options->copy_bytes = is_simulated ? MIB / 4 : 16 * MIB;
    if (!options->slots)
        options->slots = is_simulated ? 1 : 8;
    if (!options->memory_limit && is_simulated)
        options->memory_limit = 16 * MIB;
}

static struct soak_options read_options(int count, char **arguments)
{
    struct soak_options options = {.devices = "sim:8,mem=256M",
        .seconds = 20,
        .threads = 16,
        .seed = 20261122,
        .has_losses = true};

    for (int i = 1; i < count; i++) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;

        if (!strcmp(name, "--no-losses")) {
            options.has_losses = false;
            continue;
        }
        i++;
        if (!strcmp(name, "--devices") && value)
            options.devices = value;
        else if (!strcmp(name, "--seconds"))
            options.seconds = (unsigned)read_number(name, value);
        else if (!strcmp(name, "--threads"))
            options.threads = (unsigned)read_number(name, value);
        else if (!strcmp(name, "--slots"))
            options.slots = (unsigned)read_number(name, value);
        else if (!strcmp(name, "--memory-limit"))
            options.memory_limit = read_number(name, value);
        else if (!strcmp(name, "--seed"))
            options.seed = read_number(name, value);
        else if (!strcmp(name, "--log-msm"))
            options.log_msm = (unsigned)read_number(name, value);
        else if (!strcmp(name, "--log-ntt"))
            options.log_ntt = (unsigned)read_number(name, value);
        else if (!strcmp(name, "--hashes"))
            options.hashes = (unsigned)read_number(name, value);
        else if (!strcmp(name, "--copy"))
            options.copy_bytes = read_number(name, value);
        else
            usage(name);
    }
    options.is_simulated = !strncmp(options.devices, "sim", 3);
    options.seed += !options.seed;
    if (!options.threads || options.copy_bytes % 8)
        usage("--threads must not be 0, --copy must be a multiple of 8");
    set_defaults(&options);
    return options;
}

/* ---- measurements ------------------------------------------------------------------------------
 */

static bool is_usable(pool_device *device)
{
    pool_device_info info = {.struct_size = sizeof(info)};

    return !pool_device_get_info(device, &info) && info.state == POOL_DEVICE_READY;
}

/*
 * The host memory that the library has: blocks of the C library and pinned memory. The resident set
 * would also count what depends on the number of processors: arenas and stacks of threads, and
 * pages of simulated devices that are written for the first time. 0: not known.
 */
static uint64_t host_bytes(const struct soak *soak)
{
    uint64_t bytes = 0;

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    struct mallinfo2 blocks = mallinfo2();

    bytes = blocks.uordblks + blocks.hblkhd;
    for (size_t i = 0; i < soak->device_count; i++) {
        pool_memory_info info = {.struct_size = sizeof(info)};

        if (is_usable(soak->devices[i])) {
            SOAK_MUST(pool_memory_get_info(soak->devices[i], &info));
            bytes += info.pinned_bytes + info.pinned_deferred_bytes + info.pinned_unused_bytes;
        }
    }
#else
    (void)soak;
#endif
    return bytes;
}

static uint64_t jobs_done(const struct soak *soak)
{
    uint64_t jobs = 0;

    for (int kind = 0; kind < SOAK_KINDS; kind++)
        jobs += atomic_load(&soak->counts.jobs[kind]);
    return jobs;
}

/* A device without cached objects. */
struct soak_level {
    uint64_t used;
    uint64_t used_outside; /* of leases; evictable tables count as free */
    uint64_t free;         /* by the driver */
};

static struct soak_level read_level(struct soak *soak, size_t index)
{
    pool_device *device = soak->devices[index];
    struct device_account_info account;
    struct device_scope scope;
    struct soak_level level;
    uint64_t total;

    SOAK_MUST(pool_device_synchronize(device));
    /* Of all residents, the tables of domains too, any may have been evicted before. */
    SOAK_MUST(device_enter(device, &scope));
    (void)memory_resident_evict(device, UINT64_MAX, true);
    SOAK_MUST(device_leave(&scope, POOL_OK));
    SOAK_MUST(pool_memory_trim(device, 0));
    SOAK_MUST(device_sample(device, &level.free, &total));
    device_account_read(device, &account);
    level.used = account.used;
    level.used_outside = account.used_outside;
    return level;
}

/* ---- phases ------------------------------------------------------------------------------------
 */

static void open_pool(struct soak *soak)
{
    const pool_params params = {.struct_size = sizeof(params),
        .devices = soak->options.devices,
        .memory_limit = soak->options.memory_limit,
        .slots = soak->options.slots};

    SOAK_MUST(pool_create(&soak->pool, &params));
    soak->device_count = pool_device_count(soak->pool);
    if (soak->device_count > SOAK_MAX_DEVICES)
        usage("more than 64 devices");
    for (size_t i = 0; i < soak->device_count; i++)
        SOAK_MUST(pool_device_at(soak->pool, i, &soak->devices[i]));
    soak->options.has_losses =
        soak->options.has_losses && soak->options.is_simulated && soak->device_count >= 4;
}

static void create_threads(struct soak *soak)
{
    uint64_t most = 0;

    for (int kind = 0; kind < SOAK_KINDS; kind++)
        most = soak->work.answer_bytes[kind] > most ? soak->work.answer_bytes[kind] : most;
    soak->threads = calloc(soak->options.threads, sizeof(*soak->threads));
    if (!soak->threads)
        usage("no memory for the threads");
    for (unsigned i = 0; i < soak->options.threads; i++) {
        struct soak_thread *thread = &soak->threads[i];

        thread->soak = soak;
        thread->index = i;
        thread->random = soak->options.seed * (i + 1) | 1;
        thread->scratch = malloc(most);
        if (!thread->scratch)
            usage("no memory for the answers");
        pthread_mutex_init(&thread->lock, NULL);
        SOAK_MUST(pool_cancel_create(&thread->cancel));
        for (size_t j = 0; j < soak->device_count; j++)
            SOAK_MUST(pool_stream_create(soak->devices[j], NULL, &thread->streams[j]));
    }
}

static void destroy_threads(struct soak *soak)
{
    for (unsigned i = 0; i < soak->options.threads; i++) {
        struct soak_thread *thread = &soak->threads[i];

        for (size_t j = 0; j < soak->device_count; j++)
            (void)pool_stream_destroy(&thread->streams[j]);
        pool_cancel_destroy(&thread->cancel);
        pthread_mutex_destroy(&thread->lock);
        free(thread->scratch);
    }
    free(soak->threads);
}

/* Each kind of job on each device, so that kernels are loaded and tables computed. */
static void warm_up(struct soak *soak)
{
    uint64_t begin = soak_now();

    for (size_t i = 0; i < soak->device_count; i++)
        for (int kind = 0; kind < SOAK_KINDS; kind++) {
            const struct soak_site site = {
                .device = soak->devices[i], .stream = soak->threads[0].streams[i]};
            bool is_wrong;

            SOAK_MUST(soak_job(&soak->threads[0], (enum soak_kind)kind, &site, &is_wrong));
            if (is_wrong)
                atomic_fetch_add(&soak->counts.wrong, 1);
        }
    printf("soak: warm-up of %zu devices: %.1f s, %llu wrong answers\n", soak->device_count,
        (double)(soak_now() - begin) / 1e9, (unsigned long long)atomic_load(&soak->counts.wrong));
    for (int kind = 0; kind < SOAK_KINDS; kind++)
        printf("soak: a lease of %s has %.2f MiB\n", soak_kind_name((enum soak_kind)kind),
            (double)soak->work.lease_bytes[kind] / (double)MIB);
}

/* The same mix of jobs with and without leases, in turn. */
static void compare(struct soak *soak, uint64_t duration)
{
    double jobs[2] = {0, 0}, seconds[2] = {0, 0};

    for (unsigned i = 0; i < SLICES; i++) {
        bool has_leases = i % 2 != 0;
        uint64_t begin, before;

        atomic_store(&soak->has_leases, has_leases);
        soak_sleep(duration / SLICES / 10); /* jobs of the other mode end */
        begin = soak_now();
        before = jobs_done(soak);
        soak_sleep(duration / SLICES);
        jobs[has_leases] += (double)(jobs_done(soak) - before);
        seconds[has_leases] += (double)(soak_now() - begin) / 1e9;
    }
    atomic_store(&soak->has_leases, true);
    printf("soak: %.1f jobs/s without leases, %.1f jobs/s with leases: %.1f %%\n",
        jobs[0] / seconds[0], jobs[1] / seconds[1],
        jobs[0] > 0 ? 100 * jobs[1] / seconds[1] / (jobs[0] / seconds[0]) : 0);
}

static void start_threads(struct soak *soak)
{
    atomic_store(&soak->is_stopping, false);
    for (unsigned i = 0; i < soak->options.threads; i++) {
        struct soak_thread *thread = &soak->threads[i];

        if (pthread_create(&thread->thread, NULL, soak_thread_run, thread))
            usage("a thread cannot be started");
    }
}

static void join_threads(struct soak *soak)
{
    atomic_store(&soak->is_stopping, true);
    for (unsigned i = 0; i < soak->options.threads; i++)
        pthread_join(soak->threads[i].thread, NULL);
}

/* ---- results -----------------------------------------------------------------------------------
 */

static void print_counts(const struct soak *soak)
{
    const struct soak_counts *counts = &soak->counts;
    uint64_t loads = 0, evictions = 0;

    printf("soak: %llu jobs:", (unsigned long long)jobs_done(soak));
    for (int kind = 0; kind < SOAK_KINDS; kind++)
        printf(" %s %llu%s", soak_kind_name((enum soak_kind)kind),
            (unsigned long long)atomic_load(&counts->jobs[kind]),
            kind + 1 < SOAK_KINDS ? "," : "\n");
    for (size_t i = 0; i < soak->device_count; i++) {
        struct memory_resident_counts residents;

        memory_resident_read(soak->devices[i], &residents);
        evictions += residents.evictions;
        loads += residents.loads;
    }
    printf("soak: %llu jobs repeated, %llu requests timed out, %llu jobs cancelled\n",
        (unsigned long long)atomic_load(&counts->retries),
        (unsigned long long)atomic_load(&counts->timeouts),
        (unsigned long long)atomic_load(&counts->cancelled));
    printf("soak: residents loaded %llu times, evicted %llu times for others\n",
        (unsigned long long)loads, (unsigned long long)evictions);
    printf("soak: %llu drains, %llu quarantines, %llu evictions on demand, %llu cancels, %llu "
           "faults, %llu hangs\n",
        (unsigned long long)soak->drains, (unsigned long long)soak->quarantines,
        (unsigned long long)soak->evicts, (unsigned long long)soak->cancels,
        (unsigned long long)soak->faults, (unsigned long long)soak->hangs);
    printf("soak: %llu wrong answers, %llu unexpected failures\n",
        (unsigned long long)atomic_load(&counts->wrong),
        (unsigned long long)atomic_load(&counts->unexpected));
}

/* Nothing is in use or reserved; `levels` are those after the warm-up. */
static bool check_balances(struct soak *soak, const struct soak_level *levels)
{
    pool_lease_counts leases = {.struct_size = sizeof(leases)};
    bool is_balanced;

    SOAK_MUST(pool_get_lease_counts(soak->pool, &leases));
    is_balanced = !leases.leases && !leases.waiting;
    printf("soak: %u leases held, %u requests waiting, %llu granted, %llu failed\n", leases.leases,
        leases.waiting, (unsigned long long)leases.granted, (unsigned long long)leases.failed);
    for (size_t i = 0; i < soak->device_count; i++) {
        struct device_account_info account;
        struct soak_level now = {0};
        int64_t grown, lost;
        bool is_back;

        device_account_read(soak->devices[i], &account);
        is_back = !account.reserved && !account.leases;
        if (is_usable(soak->devices[i])) {
            now = read_level(soak, i);
            grown = (int64_t)now.used - (int64_t)levels[i].used;
            lost = (int64_t)levels[i].free - (int64_t)now.free;
            device_account_read(soak->devices[i], &account);
            is_back = is_back && !grown && now.used_outside == levels[i].used_outside &&
                      lost <= (int64_t)(32 * MIB);
            printf("soak: device %zu: %lld bytes more in use than at the start, %lld bytes less "
                   "free, %llu reserved%s\n",
                i, (long long)grown, (long long)lost, (unsigned long long)account.reserved,
                is_back ? "" : ": NOT BALANCED");
        } else {
            printf("soak: device %zu: out of use, %llu bytes reserved by %u leases%s\n", i,
                (unsigned long long)account.reserved, account.leases,
                is_back ? "" : ": NOT BALANCED");
        }
        is_balanced = is_balanced && is_back;
    }
    return is_balanced;
}

/* Not checked with an abandoned device, whose pinned memory is not freed. */
static bool check_growth(const struct soak *soak, uint64_t before, uint64_t after)
{
    int64_t growth = (int64_t)after - (int64_t)before;
    bool is_bounded = IS_SANITIZED || soak->options.has_losses ||
                      soak->options.seconds < GROWTH_SECONDS ||
                      growth <= (int64_t)(GROWTH_MIB * MIB);

    printf("soak: %.1f MiB of host memory in the middle, %.1f MiB in the end%s\n",
        (double)before / (double)MIB, (double)after / (double)MIB,
        is_bounded ? "" : ": IT HAS GROWN");
    return is_bounded;
}

int main(int count, char **arguments)
{
    static struct soak soak;
    static struct soak_level levels[SOAK_MAX_DEVICES];
    uint64_t duration, begin, warm;
    bool is_balanced, is_bounded, is_right;

    setvbuf(stdout, NULL, _IOLBF, 0);
    soak.options = read_options(count, arguments);
    open_pool(&soak);
    printf("soak: %zu devices (%s), %u threads, %u s, seed %llu\n", soak.device_count,
        soak.options.devices, soak.options.threads, soak.options.seconds,
        (unsigned long long)soak.options.seed);
    soak_work_create(&soak);
    create_threads(&soak);
    warm_up(&soak);

    duration = soak.options.seconds * SECOND;
    begin = soak_now();
    start_threads(&soak);
    compare(&soak, duration / 4);
    join_threads(&soak);
    start_threads(&soak);
    soak_disturb(&soak, begin + duration / 2, false);
    join_threads(&soak);
    for (size_t i = 0; i < soak.device_count; i++)
        levels[i] = read_level(&soak, i);
    warm = host_bytes(&soak);
    start_threads(&soak);
    soak_disturb(&soak, begin + duration, soak.options.has_losses);
    join_threads(&soak);

    print_counts(&soak);
    is_right = !atomic_load(&soak.counts.wrong) && !atomic_load(&soak.counts.unexpected);
    is_balanced = check_balances(&soak, levels);
    is_bounded = check_growth(&soak, warm, host_bytes(&soak));
    destroy_threads(&soak);
    soak_work_destroy(&soak);
    SOAK_MUST(pool_destroy(&soak.pool));
    printf("soak: %s\n", is_right && is_balanced && is_bounded ? "passed" : "FAILED");
    return is_right && is_balanced && is_bounded ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of one transform over several devices goes: the median duration of a call on one
 * device and on the first 2, 4, ... of them, and then, in calls of their own, the time of the first
 * device in each phase. Phases that run at the same time on two streams are counted twice. Results
 * are not checked: see `devicepool bench ntt --together`.
 *
 * bench_ntt_split [--device STRING] [--field FIELD] [--host] [--natural] [--chunk LOG_BYTES]
 *     [LOG_SIZE ...]
 */
#include <getopt.h>
#include <string.h>

#include "bench_support.h"
#include "pool/device/counters.h"
#include "pool/device/device.h"
#include "pool/stream/phase.h"
#include "zk/ntt/ntt.h"

enum { MOST_DEVICES = 16, PHASE_CALLS = 10, MOST_PHASES = 16 };

static struct {
    device_pool *pool;
    pool_device *device[MOST_DEVICES];
    uint32_t devices;
    bool is_on_host;
    uint32_t log_chunk; /* of uploads; 0: the plan's */
    const pool_field *field;
    pool_ntt_order order;
} bench = {.order = POOL_NTT_NR};

struct split_call {
    pool_ntt_params params;
    pool_exec exec;
    pool_span in, out;
};

static pool_status transform(void *argument)
{
    struct split_call *call = argument;

    return pool_ntt(&call->params, &call->exec, &call->in, &call->out);
}

/* The time of the first device in each phase since the last call. */
static void read_phases(uint64_t *before, bool prints)
{
    const struct counter_series *at;
    uint32_t i = 0;

    phase_collect(bench.device[0]);
    at = atomic_load(&device_counters(bench.device[0])->series);
    for (; at && i < MOST_PHASES; at = at->next) {
        uint64_t now = atomic_load(&at->nanoseconds);

        if (at->kind != COUNTER_PHASE || strcmp(at->operation, "ntt") != 0)
            continue;
        if (prints && now > before[i])
            printf(
                "    %-12s %8.3f ms\n", at->name, 1e-6 * (double)(now - before[i]) / PHASE_CALLS);
        before[i++] = now;
    }
}

static void time_phases(struct split_call *call)
{
    uint64_t before[MOST_PHASES] = {0};

    MUST(pool_set_phase_timing(bench.pool, 1));
    MUST(transform(call)); /* creates the series and the events */
    read_phases(before, false);
    for (int i = 0; i < PHASE_CALLS; i++)
        MUST(transform(call));
    read_phases(before, true);
    MUST(pool_set_phase_timing(bench.pool, 0));
}

struct split_data {
    pool_span shards[2][MOST_DEVICES];
    pool_buffer *buffers[2][MOST_DEVICES];
    pool_pinned *pinned[2];
};

static void allocate(struct split_call *call, struct split_data *data, uint64_t n)
{
    const uint64_t bytes = pool_field_element_bytes(bench.field);
    pool_span *spans[2] = {&call->in, &call->out};
    void *random = bench_alloc(n, bytes);

    MUST(pool_random_scalars(bench.field, 1, n, POOL_FORM_STANDARD, random));
    for (int side = 0; side < 2; side++) {
        const uint32_t count = call->exec.device_count;
        const uint64_t local = n / count;

        *spans[side] =
            (pool_span){.data = data->shards[side], .count = n, .space = POOL_MEMORY_SHARDED};
        if (bench.is_on_host) {
            MUST(pool_pinned_create(bench.device[0], n * bytes, 0, &data->pinned[side]));
            *spans[side] = (pool_span){.count = n};
            spans[side]->data = pool_pinned_data(data->pinned[side]);
            memcpy(spans[side]->data, random, n * bytes);
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            pool_buffer **buffer = &data->buffers[side][i];

            MUST(pool_buffer_from_host(bench.device[i], (const uint8_t *)random + i * local * bytes,
                local * bytes, buffer));
            MUST(pool_buffer_span(*buffer, 0, local, POOL_FORM_STANDARD, &data->shards[side][i]));
        }
    }
    free(random);
}

static void release(struct split_data *data)
{
    for (int side = 0; side < 2; side++) {
        pool_pinned_destroy(&data->pinned[side]);
        for (uint32_t i = 0; i < MOST_DEVICES; i++)
            pool_buffer_destroy(&data->buffers[side][i]);
    }
}

/* Milliseconds on the first `count` devices. */
static double measure(pool_ntt_domain *domain, uint32_t log_size, uint32_t count)
{
    struct split_call call = {
        .params = {.struct_size = sizeof(call.params), .domain = domain, .order = bench.order},
        .exec = {.struct_size = sizeof(call.exec), .devices = bench.device, .device_count = count}};
    struct split_data data = {0};
    double ms;

    allocate(&call, &data, UINT64_C(1) << log_size);
    ms = 1e3 * time_on_host(transform, &call);
    printf("2^%u on %u: %8.3f ms\n", log_size, count, ms);
    time_phases(&call);
    release(&data);
    return ms;
}

static void measure_all(uint32_t log_size)
{
    const pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = bench.field, .log_size = log_size};
    const struct chip chip = chip_of(bench.device[0]);
    struct ntt_tuning tunings[NTT_TUNINGS];
    pool_ntt_domain *domain;
    double one = 0;

    MUST(pool_ntt_domain_create(&params, &domain));
    ntt_tunings(bench.field->words, &chip, tunings);
    tunings[0].log_chunk = bench.log_chunk;
    domain->tuning = bench.log_chunk ? &tunings[0] : NULL;
    for (uint32_t count = 1; count <= bench.devices; count *= 2) {
        double ms = measure(domain, log_size, count);

        one = count == 1 ? ms : one;
        printf("    %.2f times one device\n", one / ms);
    }
    MUST(pool_ntt_domain_destroy(&domain));
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"device", required_argument, NULL, 'd'},
        {"field", required_argument, NULL, 'f'}, {"host", no_argument, NULL, 'h'},
        {"natural", no_argument, NULL, 'n'}, {"chunk", required_argument, NULL, 'c'}, {0}};
    const char *text = "all", *field = "bn254_fr";
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == '?')
            return 1;
        text = option == 'd' ? optarg : text;
        field = option == 'f' ? optarg : field;
        bench.log_chunk = option == 'c' ? (uint32_t)atoi(optarg) : bench.log_chunk;
        bench.is_on_host |= option == 'h';
        bench.order = option == 'n' ? POOL_NTT_NN : bench.order;
    }
    bench.field = pool_field_by_name(field);
    if (!bench.field)
        return 1;
    (void)open_device(text, &bench.pool);
    while (
        bench.devices < MOST_DEVICES && bench.devices < (uint32_t)pool_device_count(bench.pool)) {
        MUST(pool_device_at(bench.pool, bench.devices, &bench.device[bench.devices]));
        bench.devices++;
    }
    for (int i = optind; i < argc; i++)
        measure_all((uint32_t)atoi(argv[i]));
    for (uint32_t log_size = 22; optind == argc && log_size <= 26; log_size += 2)
        measure_all(log_size);
    MUST(pool_destroy(&bench.pool));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groth16 proofs with a resident key: the first one, which compiles, loads the key and checks its
 * points; the following ones; what their largest parts take alone; one proof over all devices; and
 * many at once.
 *
 *   bench_groth16 [--device STRING] [--factor N] [--repeat N] [--threads N] [--trace FILE]
 *       KEY WITNESS PROOF PUBLIC
 *
 * --factor is the precompute factor of the points; 0 and without it the prover chooses. The
 * blinding factors are constant, so every proof has to be the same; the first one is written to
 * PROOF and its signals to PUBLIC, for a verifier (tests/bench/prove.sh). --trace writes the
 * operations and copies of one proof on one device and of one over all, from which
 * docs/performance/plot.py draws a picture.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "bench_support.h"
#include "groth16.h"

enum { MAX_REPEAT = 1000, MAX_THREADS = 64 };

static unsigned repeat = 20;
static unsigned thread_count = 4;
static pool_device *all[MAX_THREADS];
static device_pool *pool;
static struct groth16_residents residents;
static struct groth16_result first;
static pool_file *key;
static pool_file *witness;

static int fill_known_bytes(void *bytes, size_t count)
{
    memset(bytes, 0x5a, count);
    return 1;
}

/* The calls of bench_time measure these. */
struct part {
    pool_device *device;
    int which;     /* an MSM, or GROTH16_MSMS: the transforms */
    uint64_t size; /* of the scalars, or of the domain */
    uint64_t variables;
    const pool_field *field;
    pool_buffer *scalars;
};

/* On a device, or over all if it is NULL. */
static pool_status prove(void *device)
{
    const struct groth16_job job = {.key = key,
        .witness = witness,
        .residents = &residents,
        .device = device,
        .devices = all,
        .device_count = device ? 0 : (uint32_t)pool_usable_count(pool),
        .random = fill_known_bytes};
    struct groth16_result result;
    pool_status status = groth16_prove(&job, &result);

    if (status) {
        fprintf(stderr, "%s\n", *result.failure ? result.failure : pool_last_error()->message);
    } else if (!first.proof) {
        first = result;
        return POOL_OK;
    } else if (strcmp(result.proof, first.proof) != 0) {
        fprintf(stderr, "a proof differs from the first one\n");
        exit(1);
    }
    groth16_result_free(&result);
    return status;
}

static pool_status run_part(void *argument)
{
    struct part *part = argument;
    const pool_exec exec = {.struct_size = sizeof(exec), .device = part->device};
    uint8_t sum[4 * POOL_FIELD_MAX_BYTES];
    CUdeviceptr address = 0;
    pool_resident_use *use = NULL;
    pool_status status = pool_buffer_address(part->scalars, &address);
    const pool_span scalars = {
        .data = (void *)(uintptr_t)address, .count = part->size, .space = POOL_MEMORY_DEVICE};
    const pool_span result = {.data = sum, .count = 1};

    if (!status)
        status = pool_resident_open(residents.points[part->which], &exec, &use);
    if (status)
        return status;
    const pool_msm_params params = {
        .struct_size = sizeof(params), .bases = pool_resident_bases(use)};
    status = pool_msm(&params, &exec, NULL, &scalars, &result);
    pool_resident_close(&use);
    return status;
}

/* The MSMs in G1 together, as a proof has them; H with a copy of the witness behind it. */
static pool_status run_joint(void *argument)
{
    static const int which[] = {0, 1, 3, 4};
    enum { TERMS = sizeof(which) / sizeof(which[0]) };
    struct part *part = argument;
    const pool_exec exec = {.struct_size = sizeof(exec), .device = part->device};
    const pool_msm_joint_params params = {.struct_size = sizeof(params)};
    uint8_t sums[3 * 2 * POOL_FIELD_MAX_BYTES];
    const pool_span results = {.data = sums, .count = 3};
    pool_resident_use *uses[TERMS] = {NULL};
    pool_msm_term terms[TERMS];
    CUdeviceptr address = 0;
    pool_status status = pool_buffer_address(part->scalars, &address);

    for (uint32_t i = 0; i < TERMS && !status; i++) {
        status = pool_resident_open(residents.points[which[i]], &exec, &uses[i]);
        if (status)
            break;
        const pool_bases *bases = pool_resident_bases(uses[i]);
        const uint64_t count = pool_bases_count(bases);
        const uint64_t first = i == 3 ? part->size : i == 2 ? part->variables - count : 0;

        terms[i] = (pool_msm_term){.bases = pool_resident_bases(uses[i]), .result = i < 2 ? i : 2};
        terms[i].scalars = (pool_span){
            .data = (void *)(uintptr_t)(address + first * pool_field_element_bytes(part->field)),
            .count = count,
            .space = POOL_MEMORY_DEVICE};
    }
    if (!status)
        status = pool_msm_joint(&params, &exec, terms, TERMS, &results);
    for (uint32_t i = 0; i < TERMS; i++)
        pool_resident_close(&uses[i]);
    return status;
}

static pool_status run_transforms(void *argument)
{
    struct part *part = argument;
    const pool_exec exec = {.struct_size = sizeof(exec), .device = part->device};
    pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = residents.domain,
        .batch = 3,
        .direction = POOL_NTT_INVERSE,
        .order = POOL_NTT_NR};
    CUdeviceptr address = 0;
    pool_status status = pool_buffer_address(part->scalars, &address);
    const pool_span values = {.data = (void *)(uintptr_t)address,
        .count = 3 * part->size,
        .form = POOL_FORM_MONTGOMERY,
        .space = POOL_MEMORY_DEVICE};

    if (!status)
        status = pool_ntt(&params, &exec, &values, &values);
    params.direction = POOL_NTT_FORWARD;
    params.order = POOL_NTT_RN;
    params.coset = 1;
    return status ? status : pool_ntt(&params, &exec, &values, &values);
}

static double report(const char *what, double seconds)
{
    printf("%-28s %10.3f ms\n", what, seconds * 1e3);
    fflush(stdout);
    return seconds;
}

static double time_repeated(pool_status (*call)(void *argument), void *argument)
{
    const struct bench_timer timer = {.warm_ups = 1, .repeat = repeat};
    struct bench_timing timing;

    MUST(bench_time(&timer, call, argument, &timing));
    return timing.median;
}

/* What the MSMs and the transforms take one after another, with the witness on the device; the
 * joint MSM is not in the sum. */
static double measure_parts(pool_device *device, const pool_file_info *info)
{
    static const char *const names[GROTH16_MSMS] = {
        "MSM A", "MSM B1", "MSM B2 (G2)", "MSM C", "MSM H"};
    const uint64_t width = pool_field_element_bytes(info->field);
    const uint64_t private_signals = info->variables - info->public_signals - 1;
    const uint64_t sizes[GROTH16_MSMS] = {
        info->variables, info->variables, info->variables, private_signals, info->domain_size};
    struct part part = {.device = device, .variables = info->variables, .field = info->field};
    pool_file_section values = {.struct_size = sizeof(values)};
    double sum = 0;

    MUST(pool_file_get_section(witness, "values", &values));
    MUST(pool_buffer_alloc(device, 3 * info->domain_size * width, &part.scalars));
    MUST(pool_buffer_fill8(part.scalars, 0, 3 * info->domain_size * width, 0, NULL));
    MUST(pool_copy_to_device(part.scalars, 0, values.span.data, info->variables * width, NULL));
    for (part.which = 0; part.which < GROTH16_MSMS; part.which++) {
        part.size = sizes[part.which];
        sum += report(names[part.which], time_repeated(run_part, &part));
    }
    part.size = info->domain_size;
    MUST(pool_copy_to_device(part.scalars, part.size * width, values.span.data,
        (info->variables < part.size ? info->variables : part.size) * width, NULL));
    report("A, B1, C and H as one", time_repeated(run_joint, &part));
    sum += report("transforms", time_repeated(run_transforms, &part));
    MUST(pool_buffer_destroy(&part.scalars));
    return sum;
}

static atomic_uint proofs_left;

static void *prove_many(void *argument)
{
    (void)argument;
    for (unsigned left; (left = atomic_load(&proofs_left)) > 0;) {
        pool_device *device = NULL;

        if (!atomic_compare_exchange_strong(&proofs_left, &left, left - 1))
            continue;
        MUST(pool_next_device(pool, &device));
        MUST(prove(device));
    }
    return NULL;
}

static void measure_throughput(void)
{
    pthread_t threads[MAX_THREADS];
    unsigned count = repeat * thread_count;
    double begin = bench_now();

    atomic_store(&proofs_left, count);
    for (unsigned i = 0; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, prove_many, NULL))
            exit(1);
    for (unsigned i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    printf("%u threads on %zu devices     %10.1f proofs/s\n", thread_count, pool_usable_count(pool),
        count / (bench_now() - begin));
}

/* ---- the ranges of one proof ----------------------------------------------------------------- */

enum { MAX_RANGES = 4096 };

static struct range {
    pool_trace_event begin;
    uint64_t end_ns; /* 0: it has not ended */
    unsigned long thread;
    char name[24], subject[24];
} ranges[MAX_RANGES];
static unsigned range_count; /* guarded by range_lock, as are the ranges */
static pthread_mutex_t range_lock = PTHREAD_MUTEX_INITIALIZER;

static void begin_range(const pool_trace_event *event)
{
    struct range *range = &ranges[range_count];

    if (range_count == MAX_RANGES)
        return;
    *range = (struct range){.begin = *event, .thread = (unsigned long)pthread_self()};
    snprintf(range->name, sizeof(range->name), "%s", event->name);
    snprintf(range->subject, sizeof(range->subject), "%s", event->subject);
    range_count++;
}

static void on_trace(void *user, const pool_trace_event *event)
{
    (void)user;
    if (event->kind != POOL_TRACE_OPERATION && event->kind != POOL_TRACE_COPY)
        return;
    pthread_mutex_lock(&range_lock);
    if (!event->is_end)
        begin_range(event);
    for (unsigned i = 0; event->is_end && i < range_count; i++)
        if (ranges[i].begin.id == event->id)
            ranges[i].end_ns = event->time_ns;
    pthread_mutex_unlock(&range_lock);
}

/* Threads are numbered by their first ranges, times count from the first one. */
static void write_ranges(FILE *file, const char *what, const char *end)
{
    unsigned long threads[MAX_THREADS];
    unsigned thread_total = 0;
    const char *separator = "";

    fprintf(file, "{\"proof\": \"%s\", \"ranges\": [", what);
    for (unsigned i = 0; i < range_count; i++) {
        const struct range *range = &ranges[i];
        unsigned thread = 0;

        if (!range->end_ns || range->begin.parent)
            continue;
        while (thread < thread_total && threads[thread] != range->thread)
            thread++;
        if (thread == MAX_THREADS)
            continue;
        if (thread == thread_total)
            threads[thread_total++] = range->thread;
        fprintf(file,
            "%s\n  {\"thread\": %u, \"device\": %d, \"begin_us\": %.1f, \"end_us\": %.1f, "
            "\"name\": \"%s\", \"subject\": \"%s\", \"items\": %llu}",
            separator, thread, (int)range->begin.device,
            (double)(range->begin.time_ns - ranges[0].begin.time_ns) / 1e3,
            (double)(range->end_ns - ranges[0].begin.time_ns) / 1e3, range->name, range->subject,
            (unsigned long long)range->begin.items);
        separator = ",";
    }
    fprintf(file, "\n]}%s\n", end);
}

static void trace_proof(FILE *file, pool_device *device, const char *what, const char *end)
{
    range_count = 0;
    pool_trace_set(on_trace, NULL);
    MUST(prove(device));
    pool_trace_set(NULL, NULL);
    write_ranges(file, what, end);
}

static void trace_proofs(const char *path, pool_device *device)
{
    const int has_several = pool_usable_count(pool) > 1;
    FILE *file = fopen(path, "w");

    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "[\n");
    trace_proof(file, device, "one device", has_several ? "," : "");
    if (has_several)
        trace_proof(file, NULL, "all devices", "");
    fprintf(file, "]\n");
    if (fclose(file)) {
        perror(path);
        exit(1);
    }
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    if (!file || fputs(text, file) == EOF || fclose(file)) {
        perror(path);
        exit(1);
    }
}

static unsigned read_number(const char *text, unsigned least, unsigned most)
{
    unsigned long number = strtoul(text, NULL, 10);

    if (number < least || number > most) {
        fprintf(stderr, "'%s' is not a number from %u to %u\n", text, least, most);
        exit(2);
    }
    return (unsigned)number;
}

int main(int count, char **arguments)
{
    static const struct option options[] = {{"device", required_argument, NULL, 'd'},
        {"factor", required_argument, NULL, 'f'}, {"repeat", required_argument, NULL, 'r'},
        {"threads", required_argument, NULL, 't'}, {"trace", required_argument, NULL, 'T'}, {0}};
    struct groth16_residents_params params = {.name = "bench"};
    pool_file_info info = {.struct_size = sizeof(info)};
    const char *devices = NULL, *trace = NULL;
    pool_device *device;
    double begin = bench_now(), proof, parts;

    for (int option; (option = getopt_long(count, arguments, "", options, NULL)) >= 0;) {
        switch (option) {
        case 'd':
            devices = optarg;
            break;
        case 'f':
            params.precompute_factor = read_number(optarg, 0, 64);
            break;
        case 'r':
            repeat = read_number(optarg, 1, MAX_REPEAT);
            break;
        case 't':
            thread_count = read_number(optarg, 1, MAX_THREADS);
            break;
        case 'T':
            trace = optarg;
            break;
        default:
            return 2;
        }
    }
    if (count - optind != 4)
        return fprintf(stderr, "usage: bench_groth16 [OPTIONS] KEY WITNESS PROOF PUBLIC\n"), 2;
    device = open_device(devices, &pool);
    MUST(pool_file_open(arguments[optind], NULL, &key));
    MUST(pool_file_open(arguments[optind + 1], NULL, &witness));
    MUST(pool_file_get_info(key, &info));
    MUST(groth16_residents_create(&residents, pool, key, &params));
    MUST(prove(device));
    printf("%s, domain of %llu, factor %u\n", pool_curve_name(info.curves[0]),
        (unsigned long long)info.domain_size, params.precompute_factor);
    report("first proof, from start", bench_now() - begin);
    proof = report("proof", time_repeated(prove, device));
    parts = report("parts, one by one", measure_parts(device, &info));
    printf("parts / proof                %10.1f %%\n", 100 * parts / proof);
    for (size_t i = 0; i < pool_usable_count(pool) && i < MAX_THREADS; i++)
        MUST(pool_device_at(pool, i, &all[i]));
    if (pool_usable_count(pool) > 1)
        printf("gain of all devices          %10.2f\n",
            proof / report("proof over all devices", time_repeated(prove, NULL)));
    if (trace)
        trace_proofs(trace, device);
    measure_throughput();
    write_text(arguments[optind + 2], first.proof);
    write_text(arguments[optind + 3], first.public_signals);
    groth16_result_free(&first);
    MUST(groth16_residents_destroy(&residents));
    pool_file_destroy(&witness);
    pool_file_destroy(&key);
    MUST(pool_destroy(&pool));
    return 0;
}

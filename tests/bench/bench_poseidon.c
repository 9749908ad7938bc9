/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The speed of Poseidon on a device: permutations of the parameter sets that others publish, in
 * device memory and in the form that the device computes in, in large and small batches; Merkle
 * trees over leaves in device memory, in pinned host memory with a progress function, and with all
 * levels in host memory.
 *
 *   bench_poseidon [--device STRING] [--json FILE] [--sets PREFIX] [--repeat N] [--most LOG2]
 *
 * Permutations are checked by src/bench/poseidon.c; of a tree, the host verifies 16 openings. First
 * use (compiling, or the cache, and loading) is reported separately.
 */
#include <getopt.h>
#include <string.h>

#include "bench_support.h"

enum { MAX_REPEAT = 99, OPENED = 16 };

static device_pool *pool;
static pool_device *device;
static cJSON *json_rows;
static unsigned repeat = ROUNDS;
static unsigned most = 24;

/* The best figures of other libraries and the targets, in 10^6 hashes per second at 2^20 states,
 * see docs/performance.md. */
struct row {
    const char *set;
    double peer;
    double target;
};
static const struct row rows[] = {
    {"circom-bn254-t3", 102, 125},
    {"neptune-bls12_381-arity2", 112, 125},
    {"circom-bn254-t5", 62.6, 75},
    {"neptune-bls12_381-arity4", 62.6, 75},
    {"circom-bn254-t9", 37.4, 43},
    {"neptune-bls12_381-arity8", 37.4, 43},
    {"circom-bn254-t12", 25.8, 30},
    {"neptune-bls12_381-arity11", 25.8, 30},
    {"poseidon2-horizen-bn254-t3", 226, 280},
    {"plonky2-goldilocks-t12", 667, 800},
    {"poseidon2-horizen-goldilocks-t12", 1148, 1400},
    {"poseidon2-plonky3-goldilocks-t12", 1148, 1400},
    {"poseidon2-horizen-babybear-t24", 1470, 1700},
    {"poseidon2-plonky3-babybear-t24", 1470, 1700},
    {"poseidon2-plonky3-koalabear-t16", 3102, 3500},
    {"orchard-pallas-t3", 0, 0},
    {"starknet-stark252-t3", 0, 0},
    {"circom-bn254-t17", 0, 0},
};
struct tree_row {
    const char *set;
    uint32_t arity;
    double peer; /* 10^6 leaves per second at 2^24 leaves */
    double target;
};
static const struct tree_row trees[] = {
    {"circom-bn254-t3", 2, 101, 125},
    {"circom-bn254-t9", 8, 209, 260},
};

static void report(const char *what, const char *set, uint64_t count,
    const struct bench_timing *timing, double first_use, double peer, double target)
{
    double rate = (double)count / timing->median / 1e6;
    cJSON *row = cJSON_CreateObject();

    printf("%-12s %-34s %10llu %10.4f %10.1f %8.1f %8.1f %7s %8.2f\n", what, set,
        (unsigned long long)count, timing->median * 1e3, rate, peer, target,
        target == 0      ? "-"
        : rate >= target ? "yes"
        : rate >= peer   ? "peer"
                         : "no",
        first_use);
    fflush(stdout);
    cJSON_AddItemToArray(json_rows, row);
    cJSON_AddStringToObject(row, "what", what);
    cJSON_AddStringToObject(row, "set", set);
    cJSON_AddNumberToObject(row, "count", (double)count);
    cJSON_AddNumberToObject(row, "median_s", timing->median);
    cJSON_AddNumberToObject(row, "least_s", timing->min);
    cJSON_AddNumberToObject(row, "first_s", first_use);
    cJSON_AddNumberToObject(row, "million_per_s", rate);
    cJSON_AddNumberToObject(row, "peer", peer);
    cJSON_AddNumberToObject(row, "target", target);
}

/* The form that the device computes in, so that no conversion is timed. */
static pool_form device_form(const pool_field *field)
{
    const char *name = pool_field_name(field);
    return !strcmp(name, "goldilocks") || !strcmp(name, "mersenne31") ? POOL_FORM_STANDARD
                                                                      : POOL_FORM_MONTGOMERY;
}

static void bench_set(const struct row *row)
{
    static const unsigned logs[] = {20, 14, 10};
    pool_poseidon *set;
    pool_form form;

    MUST(pool_poseidon_by_name(row->set, &set));
    form = device_form(pool_poseidon_field(set));
    pool_poseidon_destroy(&set);
    for (size_t i = 0; i < BENCH_COUNT_OF(logs); i++) {
        unsigned log2_count = i == 0 && logs[i] > most ? most : logs[i];
        struct bench_run run = {.operation = &bench_poseidon,
            .spec = {.subject = row->set,
                .size = UINT64_C(1) << log2_count,
                .is_permutation = true,
                .form = form},
            .pool = pool,
            .device = device,
            .repeat = repeat};

        if (log2_count > most)
            continue;
        measure_operation(&run);
        report("permutation", row->set, run.spec.size, &run.timing, run.first_use,
            i ? 0 : row->peer, i ? 0 : row->target);
    }
}

struct tree {
    pool_poseidon *set;
    pool_exec exec;
    pool_merkle_params params;
    pool_merkle_shape shape;
    size_t bytes; /* per digest */
    uint8_t *leaves;
    pool_buffer *digest_buffer;
    pool_span leaf_span;
    pool_span digest_span;
};

/* Calls of the progress function since the last tree was complete, and until then. */
static uint64_t progress_calls;
static uint64_t calls_per_tree;

static void count_progress(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    progress_calls++;
    if (done < total)
        return;
    calls_per_tree = progress_calls;
    progress_calls = 0;
}

static pool_status build_tree(void *argument)
{
    const struct tree *tree = argument;

    return pool_poseidon_merkle_build(
        tree->set, &tree->exec, &tree->params, &tree->leaf_span, &tree->digest_span);
}

/* The leaves' openings from the digests in device memory lead to the root. */
static void check_tree(const struct tree *tree, const pool_span *digests)
{
    pool_merkle_params params = tree->params;
    uint64_t siblings = (uint64_t)tree->shape.height * (params.arity - 1);
    uint8_t *path = bench_alloc(siblings, tree->bytes);
    uint8_t root[POOL_FIELD_MAX_BYTES];
    pool_span path_span = {.data = path, .count = siblings, .form = digests->form};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};

    params.height = tree->shape.height;
    MUST(pool_copy_to_host(root, tree->digest_buffer, (tree->shape.digest_count - 1) * tree->bytes,
        tree->bytes, NULL));
    for (uint64_t i = 0; i < OPENED; i++) {
        uint64_t count = tree->leaf_span.count;
        uint64_t index = i == 0 ? 0 : i == 1 ? count - 1 : i * 2654435761U % count;
        int32_t is_member = 0;

        MUST(pool_poseidon_merkle_open(
            tree->set, &exec, &tree->params, count, NULL, digests, index, &path_span));
        MUST(pool_poseidon_merkle_verify(tree->set, &params, digests->form, root,
            tree->leaves + index * tree->bytes, index, path, &is_member));
        if (!is_member) {
            fprintf(stderr, "%s: leaf %llu does not lead to the root\n",
                pool_poseidon_name(tree->set), (unsigned long long)index);
            exit(1);
        }
    }
    free(path);
}

/* Times a tree; the first build, which compiles, is reported separately. */
static void measure_tree(
    struct tree *tree, const char *what, const struct tree_row *row, bool has_target)
{
    const struct bench_timer timer = {
        .device = device, .stream = tree->exec.stream, .warm_ups = WARM_UPS, .repeat = repeat};
    struct bench_timing timing;
    double first_use = bench_now();
    char title[16];

    MUST(build_tree(tree));
    MUST(pool_stream_synchronize(tree->exec.stream));
    first_use = bench_now() - first_use;
    MUST(bench_time(&timer, build_tree, tree, &timing));
    snprintf(title, sizeof(title), "tree %u%s", row->arity, what);
    report(title, row->set, tree->leaf_span.count, &timing, first_use, has_target ? row->peer : 0,
        has_target ? row->target : 0);
}

static void measure_tree_row(const struct tree_row *row, pool_stream *stream)
{
    uint64_t count = UINT64_C(1) << most;
    struct tree tree = {.exec = {.struct_size = sizeof(tree.exec),
                            .device = device,
                            .stream = stream,
                            .is_async = 1},
        .params = {.struct_size = sizeof(tree.params), .arity = row->arity},
        .shape = {.struct_size = sizeof(tree.shape)}};
    pool_pinned *pinned_leaves;
    pool_pinned *pinned_digests;
    pool_buffer *leaf_buffer;
    pool_span on_device;
    uint8_t *digests;

    MUST(pool_poseidon_by_name(row->set, &tree.set));
    tree.bytes = pool_field_element_bytes(pool_poseidon_field(tree.set));
    MUST(pool_merkle_get_shape(tree.set, &tree.params, count, &tree.shape));
    const uint64_t digest_bytes = tree.shape.digest_count * tree.bytes;
    MUST(pool_pinned_create(device, count * tree.bytes, 0, &pinned_leaves));
    tree.leaves = pool_pinned_data(pinned_leaves);
    MUST(pool_random_scalars(
        pool_poseidon_field(tree.set), 2, count, POOL_FORM_MONTGOMERY, tree.leaves));
    MUST(pool_buffer_from_host(device, tree.leaves, count * tree.bytes, &leaf_buffer));
    MUST(pool_buffer_zeroed(device, digest_bytes, &tree.digest_buffer));
    MUST(pool_buffer_span(leaf_buffer, 0, count, POOL_FORM_MONTGOMERY, &tree.leaf_span));
    MUST(pool_buffer_span(
        tree.digest_buffer, 0, tree.shape.digest_count, POOL_FORM_MONTGOMERY, &on_device));
    tree.digest_span = on_device;
    measure_tree(&tree, "", row, most == 24);
    check_tree(&tree, &on_device);

    /* Leaves in pinned host memory, all levels in device memory. */
    tree.leaf_span.data = tree.leaves;
    tree.leaf_span.space = POOL_MEMORY_HOST;
    tree.exec.is_async = 0;
    tree.exec.progress = count_progress;
    MUST(pool_buffer_fill8(tree.digest_buffer, 0, digest_bytes, 0, NULL));
    measure_tree(&tree, " host", row, false);
    check_tree(&tree, &on_device);
    if (calls_per_tree < 2) {
        fprintf(stderr, "%s: the progress function was not called\n", row->set);
        exit(1);
    }

    /* All levels in pinned host memory, too; compared with those in device memory. */
    MUST(pool_pinned_create(device, digest_bytes, 0, &pinned_digests));
    tree.digest_span.data = pool_pinned_data(pinned_digests);
    tree.digest_span.space = POOL_MEMORY_HOST;
    measure_tree(&tree, " home", row, false);
    digests = bench_alloc(1, digest_bytes);
    MUST(pool_copy_to_host(digests, tree.digest_buffer, 0, digest_bytes, NULL));
    if (memcmp(digests, tree.digest_span.data, digest_bytes) != 0) {
        fprintf(stderr, "%s: digests in host memory differ from those on the device\n", row->set);
        exit(1);
    }
    free(digests);
    MUST(pool_pinned_destroy(&pinned_digests));
    MUST(pool_buffer_destroy(&leaf_buffer));
    MUST(pool_buffer_destroy(&tree.digest_buffer));
    MUST(pool_pinned_destroy(&pinned_leaves));
    pool_poseidon_destroy(&tree.set);
}

static void bench_all(const char *prefix)
{
    size_t length = prefix ? strlen(prefix) : 0;
    pool_stream *stream;

    MUST(pool_stream_create(device, NULL, &stream));
    printf("%-12s %-34s %10s %10s %10s %8s %8s %7s %8s\n", "what", "set", "count", "ms", "10^6/s",
        "peer", "target", "reached", "first s");
    for (size_t i = 0; i < BENCH_COUNT_OF(rows); i++)
        if (!length || strncmp(rows[i].set, prefix, length) == 0)
            bench_set(&rows[i]);
    for (size_t i = 0; i < BENCH_COUNT_OF(trees); i++)
        if (!length || strncmp(trees[i].set, prefix, length) == 0)
            measure_tree_row(&trees[i], stream);
    MUST(pool_stream_destroy(&stream));
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"device", required_argument, NULL, 'd'},
        {"json", required_argument, NULL, 'j'}, {"sets", required_argument, NULL, 's'},
        {"repeat", required_argument, NULL, 'r'}, {"most", required_argument, NULL, 'm'},
        {NULL, 0, NULL, 0}};
    const char *devices = NULL, *prefix = NULL, *json = NULL;

    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'd')
            devices = optarg;
        else if (c == 'j')
            json = optarg;
        else if (c == 's')
            prefix = optarg;
        else if (c == 'r')
            repeat = (unsigned)atoi(optarg);
        else if (c == 'm')
            most = (unsigned)atoi(optarg);
        else
            return 2;
    }
    if (repeat < 1 || repeat > MAX_REPEAT || most < 1 || most > 30)
        return 2;
    device = open_device(devices, &pool);
    json_rows = cJSON_CreateArray();
    bench_all(prefix);
    write_report(json, device, json_rows);
    MUST(pool_destroy(&pool));
    return 0;
}

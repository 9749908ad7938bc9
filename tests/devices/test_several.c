/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that are distributed over several devices, 1, 2, 3, 4 and 8 simulated ones or those of
 * `--device`: batches of transforms, Poseidon hashing and Merkle trees, in host memory and sharded
 * at random; what is refused; progress, cancellation and a failure on one device.
 */
#include <pthread.h>

#include "support/ntt.h"
#include "support/several.h"
#include "zk/operation/devices.h"

static void check_hashes(const pool_poseidon *set, uint32_t count);

/* ---- the division ---------------------------------------------------------------------------- */

static void test_split_by_rates(void **state)
{
    struct devices devices = {.count = 3, .rate = {100, 300, 100}};
    uint64_t first[EXEC_MAX_DEVICES + 1];

    (void)state;
    devices_split(&devices, 1000, 1, first);
    assert_int_equal(first[0], 0);
    assert_int_equal(first[1], 200);
    assert_int_equal(first[2], 800);
    assert_int_equal(first[3], 1000);
    for (uint32_t turn = 0; turn < 10000; turn++) {
        uint64_t total = next_random() >> (next_random() % 64), multiple = 1 + next_random() % 100;
        uint64_t all = 0;

        devices.count = 1 + (uint32_t)(next_random() % EXEC_MAX_DEVICES);
        for (uint32_t i = 0; i < devices.count; i++)
            all += devices.rate[i] = 1 + next_random() % (UINT64_C(1) << 34);
        total >>= 8;
        devices_split(&devices, total, multiple, first);
        assert_int_equal(first[0], 0);
        assert_int_equal(first[devices.count], total);
        for (uint32_t i = 0; i < devices.count; i++) {
            double items = (double)(first[i + 1] - first[i]);
            double wanted = (double)total * (double)devices.rate[i] / (double)all;
            double slack = 2.0 * (double)multiple + (double)total / (1 << 18);

            assert_true(first[i] <= first[i + 1]);
            assert_true(first[i] % multiple == 0 || first[i] == total);
            assert_true(items < wanted + slack && items > wanted - slack);
        }
    }
}

static uint64_t rate_of(uint32_t index)
{
    uint64_t rate = 0;

    assert_ok(pool_device_get_rate(several[index], &rate));
    return rate;
}

static void reset_rates(void)
{
    for (uint32_t i = 0; i < several_count; i++)
        assert_ok(pool_device_set_rate(several[i], 0));
}

/* The digests of each device's part of a tree follow the rates; its root does not. */
static void test_set_rates(void **state)
{
    enum { LEAVES = 4096 };
    const pool_merkle_params params = {
        .struct_size = sizeof(params), .arity = 2, .leaf_elements = 3};
    const pool_span leaves = {.data = NULL, .count = LEAVES};
    const uint64_t model = rate_of(0);
    uint64_t digests[SEVERAL_MAX], rate;
    pool_exec exec = several_exec(2);
    pool_poseidon *set;

    (void)state;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    for (uint64_t share = 1; share < 8; share += 2) { /* of eighths */
        assert_ok(pool_device_set_rate(several[0], share));
        assert_ok(pool_device_set_rate(several[1], 8 - share));
        assert_int_equal(rate_of(0), share);
        assert_ok(pool_poseidon_merkle_shards(set, &exec, &params, &leaves, digests));
        assert_int_equal(digests[1], 2 * LEAVES / 8 * (8 - share) - 128 * (8 - share) / 8);
    }
    for
        several_each(count) for (int turn = 0; turn < 3; turn++)
        {
            for (uint32_t i = 0; i < count; i++)
                assert_ok(pool_device_set_rate(several[i],
                    turn ? 1 + next_random() % (UINT64_C(1) << (4 + 16 * turn)) : POOL_MAX_RATE));
            check_hashes(set, count);
        }
    assert_ok(pool_device_set_rate(several[1], 7));
    assert_status(pool_device_set_rate(several[1], POOL_MAX_RATE + 1), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`rate`");
    assert_int_equal(rate_of(1), 7);
    assert_status(pool_device_set_rate(NULL, 1), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_device_get_rate(NULL, &rate), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_device_get_rate(several[0], NULL), POOL_ERR_INVALID_ARGUMENT);
    reset_rates();
    assert_int_equal(rate_of(0), model);
    pool_poseidon_destroy(&set);
}

/* Whatever they are, measured rates have the sum of the models', and jobs are right. */
static void test_measured_rates(void **state)
{
    double before = 0, after = 0;
    pool_poseidon *set;

    (void)state;
    if (several_count > 2 && strncmp(several_text, "sim", 3) == 0)
        return; /* takes long, and is the same on two */
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    for (uint32_t i = 0; i < several_count; i++)
        before += (double)rate_of(i);
    assert_ok(pool_measure_rates(several_pool));
    for (uint32_t i = 0; i < several_count; i++) {
        assert_true(rate_of(i) > 0);
        after += (double)rate_of(i);
    }
    assert_true(after > before - 2 * several_count && after < before + 2 * several_count);
    check_hashes(set, several_count);
    assert_status(pool_measure_rates(NULL), POOL_ERR_INVALID_ARGUMENT);
    reset_rates();
    pool_poseidon_destroy(&set);
}

/* ---- transforms ------------------------------------------------------------------------------ */

static void test_batches(void **state)
{
    static const char *const names[] = {"babybear", "goldilocks", "bn254_fr"};

    (void)state;
    for
        several_each(count)
        {
            for (uint32_t turn = 0; turn < 6; turn++) {
                pool_ntt_domain *domain = ntt_domain(ntt_field(names[turn % 3]), 3 + turn);
                pool_ntt_params params = {.struct_size = sizeof(params),
                    .domain = domain,
                    .direction = (pool_ntt_direction)(next_random() & 1),
                    .coset = (int32_t)(next_random() & 1),
                    .order = (pool_ntt_order)(next_random() & 3),
                    .batch = count + next_random() % 12};
                pool_exec exec = several_exec(count);

                ntt_compare(&params, &exec, turn);
                assert_ok(pool_ntt_domain_destroy(&domain));
            }
        }
}

/* Whole transforms on each device, in place and not, in either layout. */
static void test_sharded_batches(void **state)
{
    const pool_field *field = ntt_field("babybear");

    (void)state;
    for
        several_each(count)
        {
            pool_ntt_domain *domain = ntt_domain(field, 5);
            pool_ntt_params params = {.struct_size = sizeof(params), .domain = domain};
            pool_exec exec = several_exec(count);

            for (uint32_t turn = 0; turn < 4; turn++) {
                uint64_t batch = count + next_random() % 20, first[SEVERAL_MAX + 1];
                uint64_t bytes[SEVERAL_MAX];
                uint8_t *in = ntt_random(field, turn, batch << 5), *out = calloc(batch << 5, 4);
                struct several_shards *from, *to;
                uint8_t *wanted;

                params.batch = batch;
                params.order = (pool_ntt_order)turn;
                wanted = ntt_expected(&params, in);
                several_divide(count, batch, 32, true, first);
                from = several_allocate(count, 4, POOL_FORM_STANDARD, first);
                to = turn & 1 ? from : several_allocate(count, 4, POOL_FORM_STANDARD, first);
                several_upload(from, in, false);
                assert_ok(pool_ntt_workspace(&params, &exec, &from->span, &to->span, bytes));
                assert_ok(pool_ntt(&params, &exec, &from->span, &to->span));
                if (to != from)
                    SEVERAL_CHECK_WORKSPACES(
                        count, bytes, &exec, pool_ntt(&params, &exec, &from->span, &to->span));
                several_download(to, out, false);
                ntt_assert_same(&params, out, wanted);
                if (to != from)
                    several_free(to);
                several_free(from);
                free(in);
                free(out);
                free(wanted);
            }
            assert_ok(pool_ntt_domain_destroy(&domain));
        }
}

/* ---- hashing --------------------------------------------------------------------------------- */

enum { PERMUTE, HASH, SPONGE, KINDS };

static pool_status hash_items(const pool_poseidon *set, int kind, const pool_exec *exec,
    const pool_span *in, const pool_span *out)
{
    const pool_poseidon_sponge_params sponge = {
        .struct_size = sizeof(sponge), .elements = 5, .output_elements = 2};

    return kind == PERMUTE ? pool_poseidon_permute(set, exec, in, out)
           : kind == HASH  ? pool_poseidon_hash(set, exec, in, 2, out)
                           : pool_poseidon_sponge(set, exec, &sponge, in, out);
}

static pool_status forecast_items(const pool_poseidon *set, int kind, const pool_exec *exec,
    const pool_span *in, const pool_span *out, uint64_t *bytes)
{
    const pool_poseidon_sponge_params sponge = {
        .struct_size = sizeof(sponge), .elements = 5, .output_elements = 2};

    return kind == PERMUTE ? pool_poseidon_permute_workspace(set, exec, in, out, bytes)
           : kind == HASH  ? pool_poseidon_hash_workspace(set, exec, in, 2, out, bytes)
                           : pool_poseidon_sponge_workspace(set, exec, &sponge, in, out, bytes);
}

static void compare_hashes(const pool_poseidon *set, int kind, uint32_t count, uint64_t items)
{
    const pool_field *field = pool_poseidon_field(set);
    const uint64_t bytes = pool_field_element_bytes(field);
    const uint64_t in_bytes[] = {pool_poseidon_width(set) * bytes, 2 * bytes, 5 * bytes};
    const uint64_t out_bytes[] = {
        pool_poseidon_width(set) * bytes, pool_poseidon_digest_elements(set) * bytes, 2 * bytes};
    const pool_exec host = {.struct_size = sizeof(host), .on_host = 1};
    pool_exec exec = several_exec(count);
    uint64_t bytes_of[SEVERAL_MAX];
    uint8_t *in = malloc(items * in_bytes[kind] + 1), *out = calloc(items + 1, out_bytes[kind]);
    uint8_t *wanted = calloc(items + 1, out_bytes[kind]);
    pool_span from = {.data = in, .count = items}, to = {.data = out, .count = items};
    pool_span expected = {.data = wanted, .count = items};
    uint64_t first[SEVERAL_MAX + 1];
    struct several_shards *shards, *results;

    assert_ok(
        pool_random_scalars(field, 7, items * in_bytes[kind] / bytes, POOL_FORM_STANDARD, in));
    assert_ok(hash_items(set, kind, &host, &from, &expected));
    assert_ok(hash_items(set, kind, &exec, &from, &to));
    assert_memory_equal(out, wanted, items * out_bytes[kind]);
    memset(out, 0, items * out_bytes[kind]);
    assert_ok(forecast_items(set, kind, &exec, &from, &to, bytes_of));
    SEVERAL_CHECK_WORKSPACES(count, bytes_of, &exec, hash_items(set, kind, &exec, &from, &to));
    assert_memory_equal(out, wanted, items * out_bytes[kind]);

    several_divide(count, items, 1, true, first);
    shards = several_allocate(count, in_bytes[kind], POOL_FORM_STANDARD, first);
    results = several_allocate(count, out_bytes[kind], POOL_FORM_STANDARD, first);
    several_upload(shards, in, false);
    memset(out, 0, items * out_bytes[kind]);
    assert_ok(hash_items(set, kind, &exec, &shards->span, &to));
    assert_memory_equal(out, wanted, items * out_bytes[kind]);
    assert_ok(hash_items(set, kind, &exec, &from, &results->span));
    memset(out, 0, items * out_bytes[kind]);
    several_download(results, out, false);
    assert_memory_equal(out, wanted, items * out_bytes[kind]);
    several_free(shards);
    several_free(results);
    free(in);
    free(out);
    free(wanted);
}

static void check_hashes(const pool_poseidon *set, uint32_t count)
{
    compare_hashes(set, HASH, count, next_random() % 40);
}

static void test_hashes(void **state)
{
    pool_poseidon *set;

    (void)state;
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    for
        several_each(count) for (int kind = 0; kind < KINDS; kind++)
            compare_hashes(set, kind, count, kind == 1 ? 0 : next_random() % 40);
    compare_hashes(set, HASH, several_count < 4 ? several_count : 4, 33);
    pool_poseidon_destroy(&set);
}

/* ---- trees ----------------------------------------------------------------------------------- */

static void check_tree(const pool_poseidon *set, const pool_merkle_params *params, uint64_t leaves,
    uint32_t count, bool is_sharded)
{
    const uint64_t bytes = pool_field_element_bytes(pool_poseidon_field(set));
    const uint64_t leaf_bytes =
        bytes *
        (params->leaf_elements ? params->leaf_elements : pool_poseidon_digest_elements(set));
    const uint64_t node_bytes = bytes * pool_poseidon_digest_elements(set), stride = node_bytes + 8;
    const pool_exec host = {.struct_size = sizeof(host), .on_host = 1};
    pool_exec exec = several_exec(count);
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};
    uint8_t *data = malloc(leaves * leaf_bytes), *got, *wanted;
    uint64_t needed[SEVERAL_MAX], first[SEVERAL_MAX + 1] = {0};
    pool_span from = {.data = data, .count = leaves}, to, expected;
    struct several_shards *shards = NULL;

    assert_ok(pool_merkle_get_shape(set, params, leaves, &shape));
    got = calloc(shape.digest_count, stride);
    wanted = calloc(shape.digest_count, stride);
    to = (pool_span){.data = got, .count = shape.digest_count, .stride = stride};
    expected = (pool_span){.data = wanted, .count = shape.digest_count, .stride = stride};
    assert_ok(pool_random_scalars(
        pool_poseidon_field(set), leaves, leaves * leaf_bytes / bytes, POOL_FORM_STANDARD, data));
    assert_ok(pool_poseidon_merkle_build(set, &host, params, &from, &expected));
    if (is_sharded) {
        several_divide(count, leaves / 4, 4, true, first);
        first[count] = leaves;
        shards = several_allocate(count, leaf_bytes, POOL_FORM_STANDARD, first);
        several_upload(shards, data, false);
        from = shards->span;
    }
    assert_ok(pool_poseidon_merkle_build_workspace(set, &exec, params, &from, &to, needed));
    assert_ok(pool_poseidon_merkle_build(set, &exec, params, &from, &to));
    assert_memory_equal(got, wanted, shape.digest_count * stride);
    memset(got, 0, shape.digest_count * stride);
    SEVERAL_CHECK_WORKSPACES(
        count, needed, &exec, pool_poseidon_merkle_build(set, &exec, params, &from, &to));
    assert_memory_equal(got, wanted, shape.digest_count * stride);
    if (shards)
        several_free(shards);
    free(data);
    free(got);
    free(wanted);
}

/* ---- trees that stay on the devices ---------------------------------------------------------- */

struct tree {
    const pool_poseidon *set;
    const pool_merkle_params *params;
    uint64_t leaf_bytes, node_bytes;
    pool_merkle_shape shape;
    pool_span leaves;     /* in host memory */
    uint8_t *levels;      /* by the host */
    uint32_t count;       /* of devices */
    pool_span on_devices; /* the leaves of the calls: in host memory or sharded */
    struct several_shards *nodes;
};

/* The path is the host's, and so is the workspace of the subtree that is built for it. */
static void check_opening(const struct tree *tree, uint64_t leaf, bool gives_leaves)
{
    const pool_exec host = {.struct_size = sizeof(host), .on_host = 1};
    const uint64_t bytes = tree->shape.path_count * tree->node_bytes;
    const pool_span levels = {.data = tree->levels, .count = tree->shape.digest_count};
    uint8_t *got = calloc(bytes + 1, 1), *wanted = calloc(bytes + 1, 1);
    pool_span path = {.data = got, .count = tree->shape.path_count};
    pool_span expected = {.data = wanted, .count = tree->shape.path_count};
    const pool_span *of_leaves = gives_leaves ? &tree->on_devices : NULL;
    pool_exec exec = several_exec(tree->count);
    uint64_t needed[SEVERAL_MAX];

    assert_ok(pool_poseidon_merkle_open(tree->set, &host, tree->params, tree->leaves.count,
        &tree->leaves, &levels, leaf, &expected));
    assert_ok(pool_poseidon_merkle_open(tree->set, &exec, tree->params, tree->leaves.count,
        of_leaves, &tree->nodes->span, leaf, &path));
    assert_memory_equal(got, wanted, bytes);
    memset(got, 0, bytes);
    assert_ok(pool_poseidon_merkle_open(
        tree->set, &exec, tree->params, tree->leaves.count, of_leaves, &levels, leaf, &path));
    assert_memory_equal(got, wanted, bytes);
    assert_memory_equal(got, wanted, bytes);
    assert_ok(pool_poseidon_merkle_open_workspace(tree->set, &exec, tree->params,
        tree->leaves.count, of_leaves, &tree->nodes->span, leaf, &path, needed));
    if (leaf % 8 == 0)
        SEVERAL_CHECK_WORKSPACES(tree->count, needed, &exec,
            pool_poseidon_merkle_open(tree->set, &exec, tree->params, tree->leaves.count, of_leaves,
                &tree->nodes->span, leaf, &path));
    assert_memory_equal(got, wanted, bytes);
    free(got);
    free(wanted);
}

static struct several_shards *allocate_levels(const struct tree *tree)
{
    const pool_exec exec = several_exec(tree->count);
    uint64_t digests[SEVERAL_MAX], first[SEVERAL_MAX + 1] = {0};

    assert_ok(
        pool_poseidon_merkle_shards(tree->set, &exec, tree->params, &tree->on_devices, digests));
    for (uint32_t i = 0; i < tree->count; i++)
        first[i + 1] = first[i] + digests[i];
    assert_int_equal(first[tree->count], tree->shape.digest_count);
    return several_allocate(tree->count, tree->node_bytes, POOL_FORM_STANDARD, first);
}

static void check_tree_on_devices(const pool_poseidon *set, const pool_merkle_params *params,
    uint64_t leaves, uint32_t count, bool is_sharded)
{
    const uint64_t bytes = pool_field_element_bytes(pool_poseidon_field(set));
    const pool_exec host = {.struct_size = sizeof(host), .on_host = 1};
    struct tree tree = {.set = set,
        .params = params,
        .node_bytes = bytes * pool_poseidon_digest_elements(set),
        .shape = {.struct_size = sizeof(tree.shape)},
        .count = count};
    uint64_t needed[SEVERAL_MAX], first[SEVERAL_MAX + 1] = {0};
    struct several_shards *shards = NULL;
    pool_exec exec = several_exec(count);
    pool_span levels;
    uint8_t *data, root[64];

    tree.leaf_bytes = params->leaf_elements ? params->leaf_elements * bytes : tree.node_bytes;
    data = malloc(leaves * tree.leaf_bytes);
    assert_ok(pool_merkle_get_shape(set, params, leaves, &tree.shape));
    assert_ok(pool_random_scalars(pool_poseidon_field(set), leaves,
        leaves * tree.leaf_bytes / bytes, POOL_FORM_STANDARD, data));
    tree.levels = calloc(tree.shape.digest_count, tree.node_bytes);
    tree.leaves = tree.on_devices = (pool_span){.data = data, .count = leaves};
    levels = (pool_span){.data = tree.levels, .count = tree.shape.digest_count};
    assert_ok(pool_poseidon_merkle_build(set, &host, params, &tree.leaves, &levels));
    if (is_sharded) {
        several_divide(count, leaves / 4, 4, true, first);
        first[count] = leaves;
        shards = several_allocate(count, tree.leaf_bytes, POOL_FORM_STANDARD, first);
        several_upload(shards, data, false);
        tree.on_devices = shards->span;
    }
    tree.nodes = allocate_levels(&tree);
    assert_ok(pool_poseidon_merkle_build_workspace(
        set, &exec, params, &tree.on_devices, &tree.nodes->span, needed));
    exec.lease = several_lease(count, needed);
    assert_ok(pool_poseidon_merkle_build(set, &exec, params, &tree.on_devices, &tree.nodes->span));
    several_release(&exec.lease, count, needed);
    SEVERAL_CHECK_WORKSPACES(count, needed, &exec,
        pool_poseidon_merkle_build(set, &exec, params, &tree.on_devices, &tree.nodes->span));
    for (uint32_t i = 0; i < count; i++) /* leaves in device memory have no smaller chunks */
        exec.memory_limit = needed[i] > exec.memory_limit ? needed[i] : exec.memory_limit;
    assert_ok(pool_poseidon_merkle_build(set, &exec, params, &tree.on_devices, &tree.nodes->span));
    exec.memory_limit--;
    if (is_sharded)
        assert_status(
            pool_poseidon_merkle_build(set, &exec, params, &tree.on_devices, &tree.nodes->span),
            POOL_ERR_OUT_OF_DEVICE_MEMORY);
    exec.memory_limit = 0;
    assert_ok(pool_poseidon_merkle_build(set, &exec, params, &tree.on_devices, &tree.nodes->span));
    assert_ok(pool_copy_to_host(root, tree.nodes->buffer[0],
        (tree.nodes->shard[0].count - 1) * tree.node_bytes, tree.node_bytes, NULL));
    assert_memory_equal(
        root, tree.levels + (tree.shape.digest_count - 1) * tree.node_bytes, tree.node_bytes);
    for (uint64_t index = 0; index < leaves; index += 1 + next_random() % (leaves / 2 + 1))
        check_opening(&tree, index, is_sharded || params->kept_levels);
    check_opening(&tree, leaves - 1, true);
    several_free(tree.nodes);
    if (shards)
        several_free(shards);
    free(tree.levels);
    free(data);
}

static void test_trees_on_devices(void **state)
{
    pool_poseidon *set;

    (void)state;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    for
        several_each(count) for (uint32_t turn = 0; turn < 7; turn++)
        {
            const bool is_sharded = turn >= 4 && count > 1;
            const uint64_t leaves = turn == 0    ? 1 + next_random() % 8
                                    : is_sharded ? 128 + count
                                                 : 64 + next_random() % 100;
            const pool_merkle_params params = {.struct_size = sizeof(params),
                .arity = 2,
                .leaf_elements = turn & 1 ? 3 : 0,
                .height = turn == 3 ? 12 : 0,
                .kept_levels = turn == 2 || turn == 5   ? 1
                               : turn == 3 || turn == 6 ? 8
                                                        : 0};

            check_tree_on_devices(set, &params, leaves, count, is_sharded);
        }
    pool_poseidon_destroy(&set);
}

/* Levels in shards of other sizes, in memory of one device, apart. */
/* Levels of sharded leaves are opened with these leaves: the error says so. */
static void test_opening_without_shards(void **state)
{
    const pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    const uint64_t first_leaf[] = {0, 48, 64};
    uint64_t digests[2], first[3] = {0};
    struct several_shards *leaves, *levels;
    pool_exec exec = several_exec(2);
    static const uint8_t leaf_data[64 * 32];
    uint8_t path[6 * 32];
    pool_span to = {.data = path, .count = 6};
    pool_poseidon *set;

    (void)state;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    leaves = several_allocate(2, 32, POOL_FORM_STANDARD, first_leaf);
    several_upload(leaves, leaf_data, false);
    assert_ok(pool_poseidon_merkle_shards(set, &exec, &params, &leaves->span, digests));
    first[1] = digests[0];
    first[2] = digests[0] + digests[1];
    levels = several_allocate(2, 32, POOL_FORM_STANDARD, first);
    assert_ok(pool_poseidon_merkle_build(set, &exec, &params, &leaves->span, &levels->span));
    assert_ok(
        pool_poseidon_merkle_open(set, &exec, &params, 64, &leaves->span, &levels->span, 50, &to));
    assert_status(pool_poseidon_merkle_open(set, &exec, &params, 64, NULL, &levels->span, 50, &to),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("sharded leaves, these must be passed as `leaves`");
    levels->shard[0].count--;
    levels->shard[1].count++;
    assert_status(
        pool_poseidon_merkle_open(set, &exec, &params, 64, &leaves->span, &levels->span, 50, &to),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("`leaves`, which must be those of the build");
    several_free(levels);
    several_free(leaves);
    pool_poseidon_destroy(&set);
}

static void test_wrong_level_shards(void **state)
{
    const pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    static uint32_t leaves[64 * 8];
    const pool_span from = {.data = leaves, .count = 64};
    pool_exec exec = several_exec(2), one = {.struct_size = sizeof(one), .device = several[0]};
    uint64_t digests[2] = {77, 77}, first[3] = {0};
    struct several_shards *shards;
    uint8_t path[6 * 32];
    pool_span to = {.data = path, .count = 6}, wrong, shard;
    pool_poseidon *set;

    (void)state;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    assert_status(
        pool_poseidon_merkle_shards(set, &exec, &params, NULL, digests), POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_poseidon_merkle_shards(set, &exec, &params, &from, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_poseidon_merkle_shards(NULL, &exec, &params, &from, digests),
        POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_poseidon_merkle_shards(set, &one, &params, &from, digests), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`device_count`");
    assert_int_equal(digests[0], 77);
    assert_ok(pool_poseidon_merkle_shards(set, &exec, &params, &from, digests));
    first[1] = digests[0];
    first[2] = digests[0] + digests[1];
    assert_int_equal(first[2], 127);
    shards = several_allocate(2, 32, POOL_FORM_STANDARD, first);
    assert_ok(pool_poseidon_merkle_build(set, &exec, &params, &from, &shards->span));
    shard = shards->shard[1];
    shards->shard[0].count++;
    shards->shard[1].count--;
    assert_status(pool_poseidon_merkle_build(set, &exec, &params, &from, &shards->span),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("pool_poseidon_merkle_shards reports");
    assert_status(pool_poseidon_merkle_open(set, &exec, &params, 64, NULL, &shards->span, 0, &to),
        POOL_ERR_INVALID_ARGUMENT);
    shards->shard[0].count--;
    shards->shard[1] = shard;
    shards->shard[1].stride = 64;
    assert_status(pool_poseidon_merkle_build(set, &exec, &params, &from, &shards->span),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("`stride` of shard 1 of `levels`");
    shards->shard[1] = shard;
    shards->shard[1].data = NULL;
    assert_status(pool_poseidon_merkle_build(set, &exec, &params, &from, &shards->span),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("NULL");
    assert_status(pool_poseidon_merkle_open(set, &exec, &params, 64, NULL, &shards->span, 62, &to),
        POOL_ERR_INVALID_ARGUMENT);
    shards->shard[1].data = shards->shard[0].data; /* memory of another device */
    assert_status(pool_poseidon_merkle_build(set, &exec, &params, &from, &shards->span),
        POOL_ERR_WRONG_DEVICE);
    assert_status(pool_poseidon_merkle_open(set, &exec, &params, 64, NULL, &shards->span, 62, &to),
        POOL_ERR_WRONG_DEVICE);
    shards->shard[1] = shard;
    assert_status(pool_poseidon_merkle_open(set, &one, &params, 64, NULL, &shards->span, 0, &to),
        POOL_ERR_INVALID_ARGUMENT);
    wrong = shards->shard[0];
    wrong.count = 127;
    assert_status(pool_poseidon_merkle_open(set, &exec, &params, 64, NULL, &wrong, 0, &to),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("`space` of `levels`");
    assert_ok(pool_stream_create(several[1], NULL, &exec.stream));
    assert_status(pool_poseidon_merkle_open(set, &exec, &params, 64, NULL, &shards->span, 0, &to),
        POOL_ERR_WRONG_DEVICE);
    assert_ok(pool_stream_destroy(&exec.stream));
    assert_ok(pool_poseidon_merkle_open(set, &exec, &params, 64, NULL, &shards->span, 0, &to));
    several_free(shards);
    pool_poseidon_destroy(&set);
}

static void test_trees(void **state)
{
    pool_poseidon *set;

    (void)state;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    for
        several_each(count) for (uint32_t turn = 0; turn < 6; turn++)
        {
            const uint64_t leaves = turn == 0   ? 1
                                    : turn == 1 ? 1 + next_random() % 8
                                                : 64 + next_random() % 400;
            const pool_merkle_params params = {.struct_size = sizeof(params),
                .arity = 2,
                .leaf_elements = turn & 1 ? 3 : 0,
                .height = turn == 3 ? 12 : 0,
                .kept_levels = turn == 2   ? 1
                               : turn == 4 ? 4
                                           : 0};

            check_tree(set, &params, leaves, count, false);
        }
    for
        several_each(count)
        { /* taller than any number of leaves */
            const pool_merkle_params params = {
                .struct_size = sizeof(params), .arity = 2, .height = 64};

            check_tree(set, &params, 3, count, false);
        }
    for (uint32_t count = 2; count <= several_count; count *= 2) {
        const pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};

        check_tree(set, &params, 512 + count, count, true);
    }
    pool_poseidon_destroy(&set);
}

/* The message counts items of the whole input, not of the part. */
static void test_index_of_bad_element(void **state)
{
    pool_exec exec = several_exec(2);
    uint8_t in[20 * 64] = {0}, out[20 * 32];
    pool_span from = {.data = in, .count = 20}, to = {.data = out, .count = 20};
    pool_poseidon *set;

    (void)state;
    exec.checks = POOL_CHECK_CANONICAL;
    memset(in + 17 * 64, 0xff, 32);
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    assert_status(pool_poseidon_hash(set, &exec, &from, 2, &to), POOL_ERR_BAD_DATA);
    assert_says("17");
    pool_poseidon_destroy(&set);
}

static void test_index_of_bad_ntt_element(void **state)
{
    const uint64_t first[] = {0, 24, 64};
    pool_ntt_params params = {
        .struct_size = sizeof(params), .domain = ntt_domain(ntt_field("babybear"), 3), .batch = 8};
    pool_exec exec = several_exec(2);
    uint32_t data[64] = {0};
    pool_span host = ntt_host(data, 64);
    struct several_shards *shards = several_allocate(2, 4, POOL_FORM_STANDARD, first);

    (void)state;
    exec.checks = POOL_CHECK_CANONICAL;
    data[61] = 0xffffffff;
    several_upload(shards, (const uint8_t *)data, false);
    assert_status(pool_ntt(&params, &exec, &host, &host), POOL_ERR_BAD_DATA);
    assert_says("61");
    assert_status(pool_ntt(&params, &exec, &shards->span, &shards->span), POOL_ERR_BAD_DATA);
    assert_says("61");
    several_free(shards);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* ---- what is refused ------------------------------------------------------------------------- */

static pool_ntt_params small_batch(void)
{
    return (pool_ntt_params){.struct_size = sizeof(pool_ntt_params),
        .domain = ntt_domain(ntt_field("babybear"), 3),
        .batch = 8};
}

static void assert_refused(
    const pool_ntt_params *params, const pool_exec *exec, pool_status status, const char *says)
{
    uint32_t data[64] = {0};
    pool_span span = ntt_host(data, 64);

    assert_status(pool_ntt(params, exec, &span, &span), status);
    assert_says(says);
}

static void test_refused(void **state)
{
    pool_device *twice[] = {several[0], several[1], several[0]}, *with_null[] = {several[0], NULL};
    pool_ntt_params params = small_batch();
    pool_exec exec = several_exec(2);
    uint32_t a[64] = {0}, b[4] = {0};
    pool_span span = ntt_host(a, 64), single = ntt_host(a, 64), short_span = ntt_host(b, 4);
    uint64_t bytes[2];

    (void)state;
    exec.devices = NULL;
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "one of them is required");
    exec = several_exec(0);
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "`device_count` is 0");
    exec = several_exec(65);
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "`device_count`");
    exec = several_exec(3);
    exec.devices = twice;
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "`devices[0]` and `devices[2]`");
    exec = several_exec(2);
    exec.devices = with_null;
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "`devices[1]` must not be NULL");
    exec = several_exec(2);
    exec.device = several[0];
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "`device` cannot be combined");
    exec = several_exec(2);
    exec.workspace_count = 1;
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "`workspace_count`");

    exec = several_exec(2);
    params.layout = POOL_NTT_COLUMNS;
    assert_refused(&params, &exec, POOL_ERR_UNSUPPORTED, "POOL_NTT_ROWS");
    params.layout = POOL_NTT_ROWS;
    span.space = POOL_MEMORY_DEVICE;
    assert_status(pool_ntt(&params, &exec, &span, &single), POOL_ERR_INVALID_ARGUMENT);
    assert_says("POOL_MEMORY_SHARDED");
    assert_status(pool_ntt(&params, &exec, &single, &short_span), POOL_ERR_INVALID_ARGUMENT);
    assert_says("the output has 4 elements");
    short_span = ntt_host(a + 1, 64);
    assert_status(pool_ntt(&params, &exec, &single, &short_span), POOL_ERR_INVALID_ARGUMENT);
    assert_says("overlap");
    assert_ok(pool_ntt_workspace(&params, &exec, &single, &single, bytes));
    assert_true(bytes[0] > 0 && bytes[1] > 0);

    /* One device's call does not take sharded memory; vectors take one device. */
    single.space = POOL_MEMORY_SHARDED;
    exec = (pool_exec){.struct_size = sizeof(exec), .device = several[0]};
    assert_status(pool_ntt(&params, &exec, &single, &single), POOL_ERR_INVALID_ARGUMENT);
    assert_says("unsupported value 2 for `space`");
    exec = several_exec(2);
    single.space = POOL_MEMORY_HOST;
    assert_status(pool_vector_add(ntt_field("babybear"), &exec, &single, &single, &single),
        POOL_ERR_UNSUPPORTED);
    assert_says("`device_count` is not supported");
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* What is wrong with workspaces. */
static void test_wrong_workspaces(void **state)
{
    const uint64_t first[] = {0, 32, 64};
    pool_ntt_params params = small_batch();
    pool_exec exec = several_exec(2), one = {.struct_size = sizeof(one), .device = several[0]};
    struct several_shards *shards = several_allocate(2, 4, POOL_FORM_STANDARD, first);
    pool_buffer *buffer[2], *slice, *given[2];
    uint32_t data[64] = {0};
    uint64_t bytes[2], half;
    pool_span host = ntt_host(data, 64), overlapping = shards->span, overlapped[2];

    (void)state;
    assert_ok(pool_ntt_workspace(&params, &exec, &host, &host, bytes));
    half = bytes[1] / 2;
    for (uint32_t i = 0; i < 2; i++)
        assert_ok(pool_buffer_alloc(several[i], 4096, &buffer[i]));
    memcpy(given, buffer, sizeof(given));
    exec.workspaces = given;
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "`workspace_count`");
    exec.workspace_count = 3;
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "it must be 2");
    exec.workspace_count = 2;
    exec.workspaces = NULL;
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "it must be 0");
    exec.workspaces = given;
    exec.workspace = buffer[0];
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "`workspace` cannot be combined");
    exec.workspace = NULL;
    assert_ok(pool_ntt(&params, &exec, &host, &host));
    given[1] = NULL;
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "`workspaces[1]` must not be NULL");
    given[1] = buffer[0];
    assert_refused(&params, &exec, POOL_ERR_WRONG_DEVICE, "`workspaces[1]` is memory of device 0");
    assert_ok(pool_buffer_slice(buffer[1], 16, 2048, &slice));
    given[1] = slice;
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "not aligned to 256 bytes");
    assert_ok(pool_buffer_destroy(&slice));
    assert_ok(pool_buffer_slice(buffer[1], 0, half, &slice));
    given[1] = slice;
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "`workspaces[1]` has");
    assert_ok(pool_buffer_destroy(&slice));
    given[1] = buffer[1];
    memcpy(overlapped, shards->shard, sizeof(overlapped));
    assert_ok(pool_buffer_span(buffer[1], 64, 32, POOL_FORM_STANDARD, &overlapped[1]));
    overlapping.data = overlapped;
    assert_ok(pool_ntt_workspace(&params, &exec, &overlapping, &host, bytes));
    assert_status(pool_ntt(&params, &exec, &overlapping, &host), POOL_ERR_INVALID_ARGUMENT);
    assert_says("overlaps the input");
    one.workspaces = given;
    assert_refused(&params, &one, POOL_ERR_INVALID_ARGUMENT, "`workspaces` is given");
    one.workspaces = NULL;
    one.workspace_count = 1;
    assert_refused(&params, &one, POOL_ERR_INVALID_ARGUMENT, "`workspace_count` is given");
    for (uint32_t i = 0; i < 2; i++)
        assert_ok(pool_buffer_destroy(&buffer[i]));
    several_free(shards);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

static void test_wrong_shards(void **state)
{
    const uint64_t first[] = {0, 32, 64}, odd[] = {0, 30, 64};
    pool_ntt_params params = small_batch();
    pool_exec exec = several_exec(2);
    uint32_t data[64] = {0};
    pool_span host = ntt_host(data, 64);
    struct several_shards *shards = several_allocate(2, 4, POOL_FORM_STANDARD, first);
    struct several_shards *other = several_allocate(2, 4, POOL_FORM_STANDARD, odd);
    pool_span span = shards->span, shard = shards->shard[1];

    (void)state;
    assert_ok(pool_ntt(&params, &exec, &span, &host));
    assert_status(pool_ntt(&params, &exec, &other->span, &host), POOL_ERR_INVALID_ARGUMENT);
    assert_says("shard 0 of `in` has 30 elements");
    assert_status(pool_ntt(&params, &exec, &span, &other->span), POOL_ERR_INVALID_ARGUMENT);
    span.stride = 4;
    assert_status(pool_ntt(&params, &exec, &span, &host), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`stride` of `in`");
    span = shards->span;
    span.data = NULL;
    assert_status(pool_ntt(&params, &exec, &span, &host), POOL_ERR_INVALID_ARGUMENT);
    assert_says("must not be NULL");
    span = shards->span;
    span.count = 72;
    assert_status(pool_ntt(&params, &exec, &span, &host), POOL_ERR_INVALID_ARGUMENT);
    assert_says("its 2 shards have 64");
    shards->shard[1].space = POOL_MEMORY_HOST;
    assert_status(pool_ntt(&params, &exec, &shards->span, &host), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`space` of shard 1 of `in`");
    shards->shard[1] = shard;
    shards->shard[1].form = POOL_FORM_MONTGOMERY;
    assert_status(pool_ntt(&params, &exec, &shards->span, &host), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`form` of shard 1");
    shards->shard[1] = shards->shard[0]; /* memory of another device */
    assert_status(pool_ntt(&params, &exec, &shards->span, &host), POOL_ERR_WRONG_DEVICE);
    shards->shard[1] = shard;
    assert_ok(pool_ntt(&params, &exec, &shards->span, &host));
    several_free(shards);
    several_free(other);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* ---- progress, cancellation, failures -------------------------------------------------------- */

static void test_progress_and_cancel(void **state)
{
    const pool_field *field = ntt_field("babybear");
    pool_ntt_params params = {
        .struct_size = sizeof(params), .domain = ntt_domain(field, 8), .batch = 4000};
    struct several_observer observer = {.thread = pthread_self()};
    pool_exec exec = several_exec(2);
    uint64_t count = params.batch << 8;
    uint8_t *data = calloc(count, 4);
    pool_span span = ntt_host(data, count);

    (void)state;
    exec.memory_limit = 100000; /* many chunks */
    exec.progress = several_observe;
    exec.user = &observer;
    assert_ok(pool_ntt(&params, &exec, &span, &span));
    assert_int_equal(observer.done, count);
    assert_int_equal(observer.total, count);

    observer.done = 0;
    assert_ok(pool_cancel_create(&exec.cancel));
    observer.cancel = exec.cancel;
    assert_status(pool_ntt(&params, &exec, &span, &span), POOL_ERR_CANCELLED);
    assert_true(observer.done < count);
    pool_cancel_destroy(&exec.cancel);
    free(data);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* Progress covers subtrees and top; the memory is what the forecast says. */
static void test_tree_memory(void **state)
{
    const pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    pool_exec exec = several_exec(2);
    pool_request request = {.struct_size = sizeof(request), .devices = 2};
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    static uint32_t leaves[1024 * 8], levels[2047 * 8];
    pool_span from = {.data = leaves, .count = 1024}, to = {.data = levels, .count = 2047};
    uint64_t bytes[2];
    struct several_observer observer = {.thread = pthread_self()};
    pool_poseidon *set;

    (void)state;
    exec.progress = several_observe;
    exec.user = &observer;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    assert_ok(pool_poseidon_merkle_build_workspace(set, &exec, &params, &from, &to, bytes));
    assert_true(bytes[0] < 2047 * 32 && bytes[1] < 2047 * 32); /* of the whole tree's levels */
    request.bytes = bytes[0] > bytes[1] ? bytes[0] : bytes[1];
    assert_ok(pool_acquire(several_pool, &request, &exec.lease));
    exec.devices = NULL;
    assert_ok(pool_poseidon_merkle_build(set, &exec, &params, &from, &to));
    assert_true(observer.total > 0);
    assert_int_equal(observer.done, observer.total);
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(pool_lease_get_usage(exec.lease, i, &usage));
        assert_int_equal(usage.peak_bytes, bytes[i]);
    }
    assert_ok(pool_release(&exec.lease));
    pool_poseidon_destroy(&set);
}

/* The failure of one device is the call's, whichever part it hits; the next call succeeds. */
static void test_failure_on_one_device(void **state)
{
    pool_ntt_params params = small_batch();
    pool_exec exec = several_exec(2);
    uint32_t data[64] = {0};
    pool_span span = ntt_host(data, 64);

    (void)state;
    if (strncmp(several_text, "sim", 3) != 0)
        return;
    assert_ok(pool_ntt(&params, &exec, &span, &span));
    for (uint32_t i = 0; i < 2; i++) {
        char rules[64];

        snprintf(rules, sizeof(rules), "dev%u.cuLaunchKernel*@1=701", i);
        assert_ok(pool_sim_set_faults(rules));
        assert_status(pool_ntt(&params, &exec, &span, &span), POOL_ERR_INVALID_ARGUMENT);
        snprintf(rules, sizeof(rules), "on device %u failed", i);
        assert_says(rules);
        assert_ok(pool_sim_set_faults(NULL));
        assert_ok(pool_ntt(&params, &exec, &span, &span));
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* All devices of a lease, charged to its budget. */
static void test_lease(void **state)
{
    pool_ntt_params params = small_batch();
    const pool_request request = {.struct_size = sizeof(request), .bytes = 1 << 20, .devices = 2};
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    pool_exec exec = {.struct_size = sizeof(exec), .device_count = 2};
    uint32_t data[64] = {0};
    pool_span span = ntt_host(data, 64);

    (void)state;
    assert_ok(pool_acquire(several_pool, &request, &exec.lease));
    assert_ok(pool_ntt(&params, &exec, &span, &span));
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(pool_lease_get_usage(exec.lease, i, &usage));
        assert_true(usage.peak_bytes > 0);
    }
    exec.device_count = 3;
    assert_refused(&params, &exec, POOL_ERR_INVALID_ARGUMENT, "`device_count`");
    exec.device_count = 2;
    exec.devices = several;
    assert_ok(pool_release(&exec.lease));
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_split_by_rates),
        cmocka_unit_test(test_set_rates), cmocka_unit_test(test_measured_rates),
        cmocka_unit_test(test_batches), cmocka_unit_test(test_sharded_batches),
        cmocka_unit_test(test_hashes), cmocka_unit_test(test_trees),
        cmocka_unit_test(test_trees_on_devices), cmocka_unit_test(test_opening_without_shards),
        cmocka_unit_test(test_wrong_level_shards), cmocka_unit_test(test_tree_memory),
        cmocka_unit_test(test_index_of_bad_element),
        cmocka_unit_test(test_index_of_bad_ntt_element), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_wrong_workspaces), cmocka_unit_test(test_wrong_shards),
        cmocka_unit_test(test_progress_and_cancel), cmocka_unit_test(test_failure_on_one_device),
        cmocka_unit_test(test_lease)};

    if (argc > 1)
        several_text = argv[1];
    if (!several_exist())
        return 77;
    return cmocka_run_group_tests_name("several", tests, several_open, several_close);
}

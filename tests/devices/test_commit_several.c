/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commitments over 1, 2, 3, 4 and 8 simulated devices or those of the argument, against the host's
 * tree: matrices in pageable and pinned host memory, sharded by columns and by rows at random, of
 * several heights and forms, with gaps, checked and within limits; openings; the memory of each
 * device; what is refused, progress, cancellation and a failure on one device.
 */
#include <pthread.h>

#include "support/commit.h"
#include "support/needs_compiler.h"
#include "support/several.h"

enum place { PAGEABLE, PINNED, COLUMNS, ROWS, PLACES };

/* Where the matrices of a problem are. */
struct placed {
    struct several_shards *shards[MATRICES_MAX];
    pool_pinned *pinned[MATRICES_MAX];
};

static pool_poseidon *by_name(const char *name)
{
    pool_poseidon *set = NULL;

    assert_ok(pool_poseidon_by_name(name, &set));
    return set;
}

static void place_matrix(struct commit_problem *problem, uint32_t index, enum place place,
    uint32_t count, const uint64_t *first, struct placed *placed)
{
    struct commit_input *input = &problem->input[index];
    pool_matrix *matrix = &problem->matrices[index];
    const uint64_t length = matrix->layout == POOL_MATRIX_ROWS ? input->width : input->height;
    const uint64_t stride =
        matrix->span.stride ? matrix->span.stride : length * commit_element(problem);
    const pool_span span = matrix->span;

    if (place == PINNED) {
        const uint64_t bytes = matrix->span.count * stride;

        assert_ok(pool_pinned_create(several[0], bytes, 0, &placed->pinned[index]));
        matrix->span.data = pool_pinned_data(placed->pinned[index]);
        memcpy(matrix->span.data, input->memory, bytes);
    }
    if (place != COLUMNS && place != ROWS)
        return;
    placed->shards[index] = several_allocate(count, stride, span.form, first);
    several_upload(placed->shards[index], input->memory, false);
    for (uint32_t i = 0; i < count; i++)
        placed->shards[index]->shard[i].stride = span.stride;
    matrix->span = placed->shards[index]->span;
}

/* Shards of rows have the same parts of the tree: multiples of the least height. */
static void place_matrices(struct commit_problem *problem, const enum place *places, uint32_t count,
    pool_form form, struct placed *placed)
{
    struct commit_storage storage = {.gaps = (uint32_t)next_random() & 7, .form = form};
    uint64_t least = UINT64_MAX, parts[SEVERAL_MAX + 1];

    memset(placed, 0, sizeof(*placed));
    for (uint32_t i = 0; i < problem->count; i++) {
        storage.layouts |= (uint32_t)(places[i] == ROWS || (places[i] < COLUMNS && i == 1)) << i;
        if (places[i] == ROWS && problem->input[i].height < least)
            least = problem->input[i].height;
    }
    commit_store(problem, &storage);
    several_divide(count, least == UINT64_MAX ? 1 : least, 1, true, parts);
    for (uint32_t i = 0; i < problem->count; i++) {
        uint64_t first[SEVERAL_MAX + 1];

        several_divide(count, problem->input[i].width, 1, true, first);
        for (uint32_t k = 0; k <= count && places[i] == ROWS; k++)
            first[k] = parts[k] * (problem->input[i].height / least);
        place_matrix(problem, i, places[i], count, first, placed);
    }
}

static void drop_matrices(struct commit_problem *problem, struct placed *placed)
{
    for (uint32_t i = 0; i < problem->count; i++) {
        if (placed->shards[i])
            several_free(placed->shards[i]);
        assert_ok(pool_pinned_destroy(&placed->pinned[i]));
    }
    commit_drop(problem);
}

/* Under a lease of the forecast; a device builds no subtree again if no index is below its rows. */
static void check_openings(struct commit_problem *problem, uint32_t count, const pool_span *levels)
{
    const size_t element = commit_element(problem), digest = commit_digest(problem);
    const uint64_t leaves = problem->shape.cap_count << problem->shape.height;
    const uint64_t indices[] = {0, leaves - 1, leaves / 3, leaves / 3};
    const uint64_t row_bytes = problem->shape.row_elements * element;
    const uint64_t path_bytes = problem->shape.height * digest;
    const unsigned char *cap =
        problem->wanted + problem->shape.bytes - problem->shape.cap_count * digest;
    unsigned char *rows = calloc(4, row_bytes), *paths = calloc(4, path_bytes + 1);
    const pool_span row_span = {.data = rows, .count = 4};
    const pool_span path_span = {.data = paths, .count = 4 * problem->shape.height};

    pool_exec exec = several_exec(count);
    uint64_t bytes[SEVERAL_MAX];

    assert_ok(pool_matrix_open_workspace(&problem->params, &exec, problem->matrices, problem->count,
        levels, 4, &row_span, &path_span, bytes));
    exec.lease = several_lease(count, bytes);
    assert_ok(pool_matrix_open(&problem->params, &exec, problem->matrices, problem->count, levels,
        indices, 4, &row_span, &path_span));
    several_release(&exec.lease, problem->params.kept_levels ? 0 : count, bytes);
    memset(rows, 0, 4 * row_bytes);
    SEVERAL_CHECK_WORKSPACES(count, bytes, &exec,
        pool_matrix_open(&problem->params, &exec, problem->matrices, problem->count, levels,
            indices, 4, &row_span, &path_span));
    for (int i = 0; i < 4; i++) {
        const unsigned char *row = rows + i * row_bytes;
        int32_t is_member = 0;

        for (uint32_t k = 0; k < problem->count; k++) {
            const struct commit_input *input = &problem->input[k];

            assert_memory_equal(row,
                input->rows + indices[i] * input->height / leaves * input->width * element,
                input->width * element);
            row += input->width * element;
        }
        assert_ok(pool_matrix_verify(&problem->params, POOL_FORM_STANDARD, problem->matrices,
            problem->count, cap, indices[i], rows + i * row_bytes, paths + i * path_bytes,
            &is_member));
        assert_int_equal(is_member, 1);
    }
    free(rows);
    free(paths);
}

/* ---- levels on the devices --------------------------------------------------------------------
 */

/* Levels in host memory, or in shards. */
struct several_levels {
    unsigned char *data;
    struct several_shards *shards;
    pool_span span;
    uint64_t stride;
};

static void open_levels(const struct commit_problem *problem, const pool_exec *exec,
    const pool_matrix *matrices, bool is_sharded, struct several_levels *levels)
{
    const size_t digest = commit_digest(problem);
    const uint64_t count = problem->shape.digest_count;
    uint64_t digests[SEVERAL_MAX], first[SEVERAL_MAX + 1] = {0};

    *levels =
        (struct several_levels){.stride = digest + (is_sharded ? 0 : 4 * (next_random() & 1))};
    levels->data = calloc(count, levels->stride);
    levels->span = (pool_span){.data = levels->data, .count = count, .stride = levels->stride};
    if (!is_sharded)
        return;
    assert_ok(pool_matrix_commit_shards(&problem->params, exec, matrices, problem->count, digests));
    for (uint32_t i = 0; i < exec->device_count; i++)
        first[i + 1] = first[i] + digests[i];
    assert_int_equal(first[exec->device_count], count);
    levels->shards = several_allocate(exec->device_count, digest, POOL_FORM_STANDARD, first);
    levels->span = levels->shards->span;
}

static void clear_levels(const struct several_levels *levels)
{
    memset(levels->data, 0, levels->stride * levels->span.count);
    if (levels->shards)
        several_upload(levels->shards, levels->data, false);
}

static void close_levels(struct several_levels *levels)
{
    if (levels->shards)
        several_free(levels->shards);
    free(levels->data);
}

/* Stores the shards of a tree that is cut at a level, if their sizes agree; shard after shard. */
static bool cut_levels(const struct commit_problem *problem, const struct several_shards *shards,
    uint32_t cut, unsigned char *to)
{
    const size_t digest = commit_digest(problem);
    const uint32_t low = problem->shape.first_level;
    const uint64_t rows = problem->shape.cap_count << problem->shape.height;
    const uint64_t per_node = (UINT64_C(2) << (cut - low)) - 1;
    uint64_t nodes[SEVERAL_MAX], before = 0;

    nodes[0] = rows >> cut;
    for (uint32_t i = 1; i < shards->count; i++) {
        nodes[i] = shards->shard[i].count / per_node;
        if (shards->shard[i].count % per_node || nodes[i] > nodes[0])
            return false;
        nodes[0] -= nodes[i];
    }
    for (uint32_t i = 0; i < shards->count; before += nodes[i], i++) {
        const unsigned char *level = problem->wanted;

        for (uint32_t l = low; l <= problem->shape.height; l++) {
            const bool is_top = l > cut;
            const uint64_t first = is_top ? 0 : before << (cut - l);
            const uint64_t count = !is_top ? nodes[i] << (cut - l) : i ? 0 : rows >> l;

            memcpy(to, level + first * digest, count * digest);
            to += count * digest;
            level += (rows >> l) * digest;
        }
    }
    return true;
}

/* All levels are right; those in shards for one of the cuts that have shards of these sizes. */
static void check_levels(const struct commit_problem *problem, struct several_levels *levels)
{
    const size_t digest = commit_digest(problem);
    const uint64_t count = problem->shape.digest_count;
    unsigned char *wanted = calloc(count, digest);
    bool is_right = false;

    if (levels->shards)
        several_download(levels->shards, levels->data, false);
    for (uint32_t cut = problem->shape.first_level;
         levels->shards && cut <= problem->shape.height && !is_right; cut++)
        is_right = cut_levels(problem, levels->shards, cut, wanted) &&
                   memcmp(wanted, levels->data, count * digest) == 0;
    if (!is_right) /* of one device, or in host memory */
        for (uint64_t i = 0; i < count; i++)
            assert_memory_equal(
                levels->data + i * levels->stride, problem->wanted + i * digest, digest);
    free(wanted);
}

/* Within ever less memory, of which each device uses exactly what was forecast. */
static void check_problem(struct commit_problem *problem, const enum place *places, uint32_t count,
    bool has_limits, bool is_sharded)
{
    pool_exec exec = several_exec(count);
    uint64_t bytes[SEVERAL_MAX], most = 0;
    struct several_levels levels;
    struct placed placed;
    pool_status status = POOL_OK;

    place_matrices(problem, places, count, (pool_form)(next_random() & 1), &placed);
    open_levels(problem, &exec, problem->matrices, is_sharded, &levels);
    for (uint32_t round = 0; !status && round < (has_limits ? 20 : 1); round++) {
        exec.checks = round & 1 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
        exec.memory_limit = round ? most - most / 8 : 0;
        status = pool_matrix_commit_workspace(
            &problem->params, &exec, problem->matrices, problem->count, &levels.span, bytes);
        if (status) {
            assert_true(round);
            assert_status(status, POOL_ERR_OUT_OF_DEVICE_MEMORY);
            break;
        }
        most = 0;
        for (uint32_t i = 0; i < count; i++)
            most = bytes[i] > most ? bytes[i] : most;
        assert_true(!exec.memory_limit || most <= exec.memory_limit);
        exec.lease = several_lease(count, bytes);
        clear_levels(&levels);
        assert_ok(pool_matrix_commit(
            &problem->params, &exec, problem->matrices, problem->count, &levels.span));
        several_release(&exec.lease, count, bytes);
        clear_levels(&levels);
        SEVERAL_CHECK_WORKSPACES(count, bytes, &exec,
            pool_matrix_commit(
                &problem->params, &exec, problem->matrices, problem->count, &levels.span));
        check_levels(problem, &levels);
    }
    check_openings(problem, count, &levels.span);
    drop_matrices(problem, &placed);
    close_levels(&levels);
}

/* ---- splits ---------------------------------------------------------------------------------- */

static void test_places(void **state)
{
    pool_poseidon *set = by_name("poseidon2-plonky3-babybear-t16");
    struct commit_problem problem = {.params = {.set = set},
        .count = 3,
        .input = {
            {.height = 512, .width = 11}, {.height = 64, .width = 3}, {.height = 512, .width = 9}}};
    uint32_t turn = 0;

    (void)state;
    commit_open(&problem);
    for
        several_each(count)
        {
            for (uint32_t place = 0; place < PLACES; place++, turn++) {
                const enum place places[] = {place, (place + turn) % PLACES, (place + 1) % PLACES};

                check_problem(&problem, places, count, place == COLUMNS, turn & 1);
            }
        }
    commit_close(&problem);
    pool_poseidon_destroy(&set);
}

/* Few rows, caps and levels that are not kept, short rows, one matrix that only the top has. */
static void test_shapes(void **state)
{
    pool_poseidon *set = by_name("plonky2-goldilocks-t12");

    (void)state;
    for (uint32_t turn = 0; turn < 24; turn++) {
        const uint32_t count = 1 + turn % (several_count < 4 ? several_count : 4);
        const uint32_t log_height = turn % 9,
                       log_short = (uint32_t)next_random() % (log_height + 1);
        const uint32_t cap = (uint32_t)next_random() % (log_short + 1);
        struct commit_problem problem = {
            .params = {.set = set, .keeps_short_rows = turn & 1, .cap_height = cap},
            .count = 1 + (turn / 2) % 2,
            .input = {{.height = UINT64_C(1) << log_height, .width = 1 + turn % 10},
                {.height = UINT64_C(1) << log_short, .width = 3}}};
        const enum place places[] = {turn % PLACES, (turn / 3) % PLACES};

        if (problem.count == 1)
            problem.params.cap_height = (uint32_t)next_random() % (log_height + 1);
        problem.params.kept_levels =
            (uint32_t)next_random() % (log_height - problem.params.cap_height + 2);
        /* Subtrees that are built again must not cross shards of rows. */
        if (places[0] == ROWS || places[1] == ROWS)
            problem.params.kept_levels = 0;
        commit_open(&problem);
        check_problem(&problem, places, count, turn % 4 == 0, false);
        check_problem(&problem, places, count, turn % 4 == 1, true);
        commit_close(&problem);
    }
    pool_poseidon_destroy(&set);
}

/* ---- extensions ------------------------------------------------------------------------------ */

enum { EXTENSIONS = 3 };

/* Traces, and what one device computes from them in host memory. */
struct extend_problem {
    const pool_poseidon *set;
    pool_matrix_commit_params params;
    pool_ntt_extend_params extend[EXTENSIONS];
    uint64_t points[EXTENSIONS], results[EXTENSIONS]; /* elements */
    unsigned char *traces[EXTENSIONS], *extended[EXTENSIONS];
    pool_matrix matrices[EXTENSIONS]; /* the extensions', in host memory */
    pool_matrix_commit_shape shape;
    unsigned char *wanted;
};

static void open_extensions(struct extend_problem *problem, pool_poseidon *set)
{
    static const uint32_t sizes[EXTENSIONS][3] = {{6, 1, 13}, {3, 0, 3}, {6, 2, 6}};
    const size_t element = element_bytes(set);
    const pool_exec exec = {.struct_size = sizeof(exec), .device = several[0]};
    pool_extension extensions[EXTENSIONS] = {0};

    *problem = (struct extend_problem){.set = set,
        .params = {.struct_size = sizeof(problem->params), .set = set},
        .shape = {.struct_size = sizeof(problem->shape)}};
    for (int i = 0; i < EXTENSIONS; i++) {
        const pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
            .field = pool_poseidon_field(set),
            .log_size = sizes[i][0]};

        problem->extend[i] = (pool_ntt_extend_params){.struct_size = sizeof(problem->extend[i]),
            .log_blowup = sizes[i][1],
            .order = POOL_NTT_NR,
            .batch = sizes[i][2]};
        assert_ok(pool_ntt_domain_create(&domain, &problem->extend[i].domain));
        problem->results[i] = (uint64_t)sizes[i][2] << sizes[i][0];
        problem->points[i] = problem->results[i] >> sizes[i][1];
        problem->traces[i] = random_elements(set, problem->points[i], POOL_FORM_STANDARD);
        problem->extended[i] = calloc(problem->results[i], element);
        extensions[i] = (pool_extension){.params = &problem->extend[i],
            .trace = {.data = problem->traces[i], .count = problem->points[i]},
            .extended = {.data = problem->extended[i], .count = problem->results[i]}};
    }
    for (int i = 0; i < EXTENSIONS; i++)
        problem->matrices[i] = (pool_matrix){.span = {.count = sizes[i][2]},
            .height = UINT64_C(1) << sizes[i][0],
            .width = sizes[i][2]};
    assert_ok(pool_matrix_commit_get_shape(
        &problem->params, problem->matrices, EXTENSIONS, &problem->shape));
    problem->wanted =
        calloc(problem->shape.digest_count, pool_poseidon_digest_elements(set) * element);
    const pool_span levels = {.data = problem->wanted, .count = problem->shape.digest_count};
    assert_ok(pool_extend_commit(&problem->params, &exec, extensions, EXTENSIONS, &levels));
}

static void close_extensions(struct extend_problem *problem)
{
    for (int i = 0; i < EXTENSIONS; i++) {
        assert_ok(pool_ntt_domain_destroy(&problem->extend[i].domain));
        free(problem->traces[i]);
        free(problem->extended[i]);
    }
    free(problem->wanted);
}

struct extend_storage {
    pool_extension extensions[EXTENSIONS];
    struct several_shards *traces[EXTENSIONS], *extended[EXTENSIONS];
    unsigned char *results[EXTENSIONS];
};

enum { TRACE_SHARDED = 1, KEPT = 2, KEPT_SHARDED = 4 };

static void store_extensions(const struct extend_problem *problem, uint32_t way, uint32_t count,
    struct extend_storage *storage)
{
    const size_t element = element_bytes(problem->set);

    memset(storage, 0, sizeof(*storage));
    for (int i = 0; i < EXTENSIONS; i++) {
        pool_extension *extension = &storage->extensions[i];
        const uint64_t batch = problem->extend[i].batch;
        uint64_t first[SEVERAL_MAX + 1];

        several_divide(count, batch, problem->points[i] / batch, true, first);
        extension->params = &problem->extend[i];
        extension->trace = (pool_span){.data = problem->traces[i], .count = problem->points[i]};
        storage->results[i] = calloc(problem->results[i], element);
        if (way & KEPT)
            extension->extended =
                (pool_span){.data = storage->results[i], .count = problem->results[i]};
        if (way & TRACE_SHARDED) {
            storage->traces[i] = several_allocate(count, element, POOL_FORM_STANDARD, first);
            several_upload(storage->traces[i], problem->traces[i], false);
            extension->trace = storage->traces[i]->span;
        }
        for (uint32_t k = 0; k <= count; k++)
            first[k] <<= problem->extend[i].log_blowup;
        if (way & KEPT && way & KEPT_SHARDED) {
            storage->extended[i] = several_allocate(count, element, POOL_FORM_STANDARD, first);
            extension->extended = storage->extended[i]->span;
        }
    }
}

static void drop_extensions(
    const struct extend_problem *problem, uint32_t way, struct extend_storage *storage)
{
    for (int i = 0; i < EXTENSIONS; i++) {
        if (storage->extended[i])
            several_download(storage->extended[i], storage->results[i], false);
        if (way & KEPT)
            assert_memory_equal(storage->results[i], problem->extended[i],
                problem->results[i] * element_bytes(problem->set));
        if (storage->traces[i])
            several_free(storage->traces[i]);
        if (storage->extended[i])
            several_free(storage->extended[i]);
        free(storage->results[i]);
    }
}

/* Within ever less memory, of which each device uses exactly what was forecast. */
static void check_extensions(
    const struct extend_problem *problem, uint32_t way, uint32_t count, bool is_sharded)
{
    const struct commit_problem tree = {.params = problem->params,
        .count = EXTENSIONS,
        .shape = problem->shape,
        .wanted = problem->wanted};
    pool_exec exec = several_exec(count);
    struct several_levels levels;
    uint64_t bytes[SEVERAL_MAX], most = 0;
    pool_status status = POOL_OK;

    open_levels(&tree, &exec, problem->matrices, is_sharded, &levels);
    for (uint32_t round = 0; !status && round < 6; round++) {
        struct extend_storage storage;

        exec.checks = round & 1 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
        exec.memory_limit = round ? most - most / 8 : 0;
        store_extensions(problem, way, count, &storage);
        status = pool_extend_commit_workspace(
            &problem->params, &exec, storage.extensions, EXTENSIONS, &levels.span, bytes);
        if (status) {
            assert_true(round);
            assert_status(status, POOL_ERR_OUT_OF_DEVICE_MEMORY);
            assert_status(pool_extend_commit(&problem->params, &exec, storage.extensions,
                              EXTENSIONS, &levels.span),
                status);
            drop_extensions(problem, 0, &storage);
            break;
        }
        most = 0;
        for (uint32_t i = 0; i < count; i++)
            most = bytes[i] > most ? bytes[i] : most;
        assert_true(!exec.memory_limit || most <= exec.memory_limit);
        exec.lease = several_lease(count, bytes);
        clear_levels(&levels);
        assert_ok(pool_extend_commit(
            &problem->params, &exec, storage.extensions, EXTENSIONS, &levels.span));
        several_release(&exec.lease, count, bytes);
        clear_levels(&levels);
        SEVERAL_CHECK_WORKSPACES(count, bytes, &exec,
            pool_extend_commit(
                &problem->params, &exec, storage.extensions, EXTENSIONS, &levels.span));
        check_levels(&tree, &levels);
        drop_extensions(problem, way, &storage);
    }
    close_levels(&levels);
}

static void test_extensions(void **state)
{
    static const char *const sets[] = {"poseidon2-plonky3-koalabear-t16", "plonky2-goldilocks-t12"};

    (void)state;
    if (compiler_is_missing(several[0]))
        skip();
    for (int i = 0; i < 2; i++) {
        pool_poseidon *set = by_name(sets[i]);
        struct extend_problem problem;

        open_extensions(&problem, set);
        for
            several_each(count)
            {
                for (uint32_t way = 0; way < 8 && (i == 0 || count == 3); way++)
                    if (way & KEPT || !(way & KEPT_SHARDED))
                        check_extensions(&problem, way, count, (way + count) & 1);
            }
        close_extensions(&problem);
        pool_poseidon_destroy(&set);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct {
    struct commit_problem problem;
    struct placed placed;
    pool_exec exec;
    pool_span levels;
    unsigned char got[127 * 32];
} call;

static void open_call(enum place place, enum place other)
{
    const enum place places[] = {place, other};

    memset(&call, 0, sizeof(call));
    call.problem =
        (struct commit_problem){.params = {.set = by_name("poseidon2-plonky3-babybear-t16")},
            .count = 2,
            .input = {{.height = 64, .width = 6}, {.height = 32, .width = 4}}};
    commit_open(&call.problem);
    place_matrices(&call.problem, places, 2, POOL_FORM_STANDARD, &call.placed);
    call.exec = several_exec(2);
    call.levels = (pool_span){.data = call.got, .count = 127};
}

static void close_call(void)
{
    pool_poseidon *set = (pool_poseidon *)(uintptr_t)call.problem.params.set;

    drop_matrices(&call.problem, &call.placed);
    commit_close(&call.problem);
    pool_poseidon_destroy(&set);
}

static pool_status commit(void)
{
    return pool_matrix_commit(
        &call.problem.params, &call.exec, call.problem.matrices, 2, &call.levels);
}

/* Levels in shards of the right size. */
static struct several_shards *shard_call(void)
{
    uint64_t digests[2], first[3] = {0};
    struct several_shards *shards;

    assert_ok(pool_matrix_commit_shards(
        &call.problem.params, &call.exec, call.problem.matrices, 2, digests));
    first[1] = digests[0];
    first[2] = digests[0] + digests[1];
    assert_int_equal(first[2], 127);
    shards = several_allocate(2, commit_digest(&call.problem), POOL_FORM_STANDARD, first);
    call.levels = shards->span;
    return shards;
}

/* A call whose levels have digests on both devices: a random division of the rows may leave one
 * without. */
static struct several_shards *open_shard_call(void)
{
    for (;;) {
        struct several_shards *shards;

        open_call(COLUMNS, ROWS);
        shards = shard_call();
        if (shards->shard[0].count && shards->shard[1].count)
            return shards;
        close_call();
        several_free(shards);
    }
}

static void refuse(pool_status wanted, const char *text)
{
    uint64_t bytes[2] = {77, 77};

    assert_status(commit(), wanted);
    assert_says(text);
    assert_status(pool_matrix_commit_workspace(&call.problem.params, &call.exec,
                      call.problem.matrices, 2, &call.levels, bytes),
        wanted);
    assert_int_equal(bytes[0], 77);
    close_call();
}

static void test_refused(void **state)
{
    pool_span *shard;

    (void)state;
    open_call(COLUMNS, ROWS);
    call.exec.is_async = 1;
    refuse(POOL_ERR_UNSUPPORTED, "`is_async` is not supported with `device_count`");
    open_call(COLUMNS, ROWS);
    call.exec.devices = NULL;
    refuse(POOL_ERR_INVALID_ARGUMENT, "one of them is required");
    open_call(COLUMNS, ROWS);
    call.levels.space = POOL_MEMORY_DEVICE;
    refuse(POOL_ERR_INVALID_ARGUMENT, "`space` of `levels`");
    open_call(COLUMNS, ROWS);
    call.levels.count = 126;
    refuse(POOL_ERR_INVALID_ARGUMENT, "`levels` has space for 126 digests");
    open_call(COLUMNS, PAGEABLE);
    call.problem.matrices[1].span.space = POOL_MEMORY_DEVICE;
    refuse(POOL_ERR_INVALID_ARGUMENT, "POOL_MEMORY_SHARDED");
    open_call(COLUMNS, ROWS);
    call.problem.matrices[0].span.count = 5;
    refuse(POOL_ERR_INVALID_ARGUMENT, "its 2 shards have 6 items");
    open_call(COLUMNS, PAGEABLE);
    call.problem.matrices[1].span.count--;
    refuse(POOL_ERR_INVALID_ARGUMENT, "matrix 1 must have its");
    open_call(COLUMNS, ROWS);
    call.problem.matrices[0].span.data = NULL;
    refuse(POOL_ERR_INVALID_ARGUMENT, "must not be NULL");
    open_call(COLUMNS, ROWS);
    call.placed.shards[0]->shard[1].stride = 30;
    refuse(POOL_ERR_INVALID_ARGUMENT, "shard 1 of matrix 0 has a stride of 30");
    open_call(COLUMNS, ROWS);
    call.exec.memory_limit = 100;
    refuse(POOL_ERR_OUT_OF_DEVICE_MEMORY, "`memory_limit`");
    open_call(ROWS, ROWS);
    shard = call.placed.shards[1]->shard;
    shard[0].count = shard[0].count ? shard[0].count - 1 : 1;
    shard[1].count = 32 - shard[0].count;
    refuse(POOL_ERR_INVALID_ARGUMENT, "shards of rows must have the same parts of the tree");
    open_call(COLUMNS, PAGEABLE);
    shard = call.placed.shards[0]->shard;
    shard[0].count = 6;
    shard[0].data = shard[1].data; /* memory of another device */
    shard[1].count = 0;
    call.placed.shards[0]->shard[0].stride = 0;
    assert_int_not_equal(commit(), POOL_OK);
    close_call();
}

/* A subtree that is built again has rows of one device. */
static void test_wrong_level_shards(void **state)
{
    struct several_shards *shards;
    uint64_t digests[2] = {77, 77};

    (void)state;
    for (int i = 0; i < 5; i++) {
        shards = open_shard_call();
        assert_ok(commit());
        if (i == 0) {
            shards->shard[0].count--;
            shards->shard[1].count++;
            refuse(POOL_ERR_INVALID_ARGUMENT, "pool_matrix_commit_shards reports");
        } else if (i == 1) {
            shards->shard[1].stride = 36;
            refuse(POOL_ERR_INVALID_ARGUMENT, "`stride` of shard 1 of `levels`");
        } else if (i == 2) {
            call.levels.data = NULL;
            refuse(POOL_ERR_INVALID_ARGUMENT, "array of shards");
        } else if (i == 3) {
            shards->shard[1].data = NULL;
            assert_status(commit(), POOL_ERR_INVALID_ARGUMENT);
            assert_says("the data of shard 1 of `levels`");
            close_call();
        } else { /* memory of the other device */
            shards->shard[0].data = shards->shard[1].data;
            assert_int_not_equal(commit(), POOL_OK);
            close_call();
        }
        several_free(shards);
    }
    open_call(PAGEABLE, PAGEABLE);
    assert_status(
        pool_matrix_commit_shards(&call.problem.params, &call.exec, call.problem.matrices, 2, NULL),
        POOL_ERR_INVALID_ARGUMENT);
    call.exec.device_count = 0;
    call.exec.devices = NULL;
    assert_status(pool_matrix_commit_shards(
                      &call.problem.params, &call.exec, call.problem.matrices, 2, digests),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("`device_count`");
    assert_int_equal(digests[0], 77);
    close_call();
}

static void test_refused_openings(void **state)
{
    const uint64_t indices[] = {5};
    uint32_t opened[10], siblings[6 * 8];
    const pool_span rows = {.data = opened, .count = 1}, paths = {.data = siblings, .count = 6};
    uint64_t bytes[2] = {77, 77};

    (void)state;
    open_call(ROWS, PAGEABLE);
    call.placed.shards[0]->shard[0].count = 63;
    call.placed.shards[0]->shard[1].count = 1;
    call.problem.params.kept_levels = 4;
    assert_status(pool_matrix_open_workspace(&call.problem.params, &call.exec,
                      call.problem.matrices, 2, &call.levels, 1, &rows, &paths, bytes),
        POOL_ERR_UNSUPPORTED);
    assert_says("the shards of rows of device 1 begin within the 8 rows");
    assert_int_equal(bytes[0], 77);
    call.levels.space = POOL_MEMORY_DEVICE;
    assert_status(pool_matrix_open(&call.problem.params, &call.exec, call.problem.matrices, 2,
                      &call.levels, indices, 1, &rows, &paths),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("`space` of `levels`");
    close_call();
}

/* Messages count rows and columns of the whole matrices. */
static void test_bad_elements(void **state)
{
    static const enum place places[] = {PAGEABLE, PINNED, COLUMNS, ROWS};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        unsigned char *element;

        open_call(PAGEABLE, PAGEABLE);
        element = call.problem.input[0].rows + (50 * 6 + 4) * 4; /* row 50, column 4 */
        memset(element, 0xff, 4);
        drop_matrices(&call.problem, &call.placed);
        place_matrices(&call.problem, (enum place[]){places[i], PAGEABLE}, 2, POOL_FORM_STANDARD,
            &call.placed);
        assert_int_not_equal(commit(), POOL_ERR_BAD_DATA);
        call.exec.checks = POOL_CHECK_CANONICAL;
        assert_status(commit(), POOL_ERR_BAD_DATA);
        assert_says(places[i] == ROWS ? "element 4 of item 50 of the matrix 0"
                                      : "element 50 of item 4 of the matrix 0");
        close_call();
    }
}

static void test_progress_and_cancel(void **state)
{
    struct several_observer observer = {.thread = pthread_self()};
    const uint64_t total = 64 * 6 + 32 * 4 + 63;

    (void)state;
    open_call(COLUMNS, PAGEABLE);
    call.exec.progress = several_observe;
    call.exec.user = &observer;
    assert_ok(commit());
    assert_int_equal(observer.done, total);
    assert_int_equal(observer.total, total);
    observer.done = 0;
    assert_ok(pool_cancel_create(&call.exec.cancel));
    observer.cancel = call.exec.cancel;
    /* Before the top at the latest. */
    assert_status(commit(), POOL_ERR_CANCELLED);
    assert_true(observer.done < total);
    pool_cancel_destroy(&call.exec.cancel);
    close_call();
}

/* The failure of one device is the call's; the next call succeeds. */
static void test_failure_on_one_device(void **state)
{
    (void)state;
    if (strncmp(several_text, "sim", 3) != 0)
        return;
    open_call(COLUMNS, COLUMNS);
    for (uint32_t i = 0; i < 2; i++) {
        char rules[64];

        assert_ok(commit());
        snprintf(rules, sizeof(rules), "dev%u.cuLaunchKernel*@1=701", i);
        assert_ok(pool_sim_set_faults(rules));
        assert_status(commit(), POOL_ERR_INVALID_ARGUMENT);
        snprintf(rules, sizeof(rules), "on device %u failed", i);
        assert_says(rules);
        assert_ok(pool_sim_set_faults(NULL));
    }
    assert_ok(commit());
    assert_memory_equal(call.got, call.problem.wanted, sizeof(call.got));
    close_call();
}

/* ---- every failing driver call --------------------------------------------------------------- */

/* Columns that are extended, and not kept, on each device. */
static struct {
    pool_ntt_extend_params extend;
    pool_extension extension;
    uint32_t trace[6 * 32];
} extended;

static pool_status extend(void)
{
    return pool_extend_commit(
        &call.problem.params, &call.exec, &extended.extension, 1, &call.levels);
}

/* The lowest levels are built again. */
static pool_status open_rows(void)
{
    static const uint64_t indices[] = {5, 63};
    static uint32_t opened[2 * 10], siblings[2 * 6 * 8];
    const pool_span rows = {.data = opened, .count = 2}, paths = {.data = siblings, .count = 12};
    pool_matrix_commit_params params = call.problem.params;

    params.kept_levels = call.levels.space == POOL_MEMORY_SHARDED ? 0 : 4;
    return pool_matrix_open(
        &params, &call.exec, call.problem.matrices, 2, &call.levels, indices, 2, &rows, &paths);
}

/* The n-th call of a function fails on one of the devices: the call fails with that, nothing is
 * left running or allocated, and the next call succeeds. */
static uint32_t fail_calls(pool_status (*attempt)(void), const char *function)
{
    pool_memory_info before[2], after = {.struct_size = sizeof(after)};
    uint32_t failures = 0;

    for (uint32_t i = 0; i < 2; i++) {
        before[i].struct_size = sizeof(before[i]);
        assert_ok(pool_memory_get_info(several[i], &before[i]));
    }
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t nth = 1;; nth++) {
            char rules[64];
            pool_status status;

            snprintf(rules, sizeof(rules), "dev%u.%s@%u=701", i, function, nth);
            assert_ok(pool_sim_set_faults(rules));
            status = attempt();
            if (status)
                assert_says("LAUNCH_OUT_OF_RESOURCES");
            assert_ok(pool_sim_set_faults(NULL));
            assert_ok(attempt());
            for (uint32_t k = 0; k < 2; k++) {
                assert_ok(pool_memory_get_info(several[k], &after));
                assert_int_equal(after.used_bytes, before[k].used_bytes);
                assert_int_equal(after.buffers, before[k].buffers);
            }
            if (!status)
                break;
            failures++;
        }
    return failures;
}

static void test_failures(void **state)
{
    static const char *const functions[] = {
        "cuLaunchKernel*", "cuMemAlloc*", "cuEventRecord*", "cuMemcpy*", "cuStreamWaitEvent*"};
    pool_status (*const attempts[])(void) = {commit, extend, open_rows};
    struct several_shards *shards = NULL;

    (void)state;
    if (strncmp(several_text, "sim", 3) != 0)
        return;
    open_call(COLUMNS, PINNED);
    extended.extend = (pool_ntt_extend_params){.struct_size = sizeof(extended.extend),
        .domain = NULL,
        .log_blowup = 1,
        .order = POOL_NTT_NR,
        .batch = 6};
    const pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = pool_poseidon_field(call.problem.params.set),
        .log_size = 6};
    assert_ok(pool_ntt_domain_create(&domain, &extended.extend.domain));
    extended.extension = (pool_extension){
        .params = &extended.extend, .trace = {.data = extended.trace, .count = 6 * 32}};
    for (int is_sharded = 0; is_sharded < 2; is_sharded++) {
        uint32_t failures[3] = {0};

        if (is_sharded)
            shards = shard_call();
        for (int i = 0; i < 3; i++) {
            assert_ok(commit());
            assert_ok(attempts[i]()); /* kernels and tables */
            for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++)
                failures[i] += fail_calls(attempts[i], functions[f]);
        }
        assert_true(failures[0] > 20 && failures[1] > 20 && failures[2] > 8);
        assert_ok(commit());
        if (!is_sharded)
            assert_memory_equal(call.got, call.problem.wanted, sizeof(call.got));
    }
    several_free(shards);
    assert_ok(pool_ntt_domain_destroy(&extended.extend.domain));
    close_call();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_extensions), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_openings), cmocka_unit_test(test_wrong_level_shards),
        cmocka_unit_test(test_bad_elements), cmocka_unit_test(test_progress_and_cancel),
        cmocka_unit_test(test_failure_on_one_device), cmocka_unit_test(test_failures)};

    if (argc > 1)
        several_text = argv[1];
    if (!several_exist())
        return 77;
    return cmocka_run_group_tests_name("commit_several", tests, several_open, several_close);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commitments to matrices on simulated devices or the machine's own: known answers, every layout,
 * memory space and form, chunks, openings and their verification, and the refusals.
 *
 *   test_commit [DEVICES]
 */
#include "support/assert.h"
#include "support/commit.h"

#include "base/sha256.h"
#include "support/vectors.h"

static pool_poseidon *by_name(const char *name)
{
    pool_poseidon *set = NULL;

    assert_ok(pool_poseidon_by_name(name, &set));
    return set;
}

/* ---- one problem in one storage -------------------------------------------------------------- */

static void check_opening(const struct commit_problem *problem, const unsigned char *rows,
    const unsigned char *path, uint64_t index)
{
    const size_t element = commit_element(problem), digest = commit_digest(problem);
    const unsigned char *cap =
        problem->wanted + problem->shape.bytes - problem->shape.cap_count * digest;
    const uint64_t leaves = problem->shape.cap_count << problem->shape.height;
    unsigned char *copy = calloc(1, problem->shape.row_elements * element + 1);
    const unsigned char *row = rows;
    int32_t is_member = -1;

    for (uint32_t i = 0; i < problem->count; i++) {
        const struct commit_input *input = &problem->input[i];
        const uint64_t bytes = input->width * element;

        assert_memory_equal(row, input->rows + (index * input->height / leaves) * bytes, bytes);
        row += bytes;
    }
    assert_ok(pool_matrix_verify(&problem->params, POOL_FORM_STANDARD, problem->matrices,
        problem->count, cap, index, rows, path, &is_member));
    assert_int_equal(is_member, 1);
    memcpy(copy, rows, problem->shape.row_elements * element);
    copy[(index % problem->shape.row_elements) * element] ^= 1;
    assert_ok(pool_matrix_verify(&problem->params, POOL_FORM_STANDARD, problem->matrices,
        problem->count, cap, index, copy, path, &is_member));
    assert_int_equal(is_member, 0);
    if (problem->shape.height) {
        assert_ok(pool_matrix_verify(&problem->params, POOL_FORM_STANDARD, problem->matrices,
            problem->count, cap, index ^ 1, rows, path, &is_member));
        assert_int_equal(is_member, 0);
    }
    free(copy);
}

static void check_openings(const struct commit_problem *problem, const pool_exec *exec,
    const pool_span *levels, pool_form form)
{
    const size_t element = commit_element(problem), digest = commit_digest(problem);
    const uint64_t leaves = problem->shape.cap_count << problem->shape.height;
    const uint64_t indices[] = {0, leaves - 1, leaves / 3, leaves / 3};
    const uint64_t row_bytes = problem->shape.row_elements * element;
    const uint64_t path_bytes = problem->shape.height * digest;
    unsigned char *rows = calloc(4, row_bytes + 8), *paths = calloc(4, path_bytes + 1);
    const pool_span row_span = {
        .data = rows, .count = 4, .stride = row_bytes + 8, .form = POOL_FORM_STANDARD};
    const pool_span path_span = {.data = paths, .count = 4 * problem->shape.height, .form = form};

    assert_ok(pool_matrix_open(&problem->params, exec, problem->matrices, problem->count, levels,
        indices, 4, &row_span, &path_span));
    if (form == POOL_FORM_MONTGOMERY && path_bytes)
        assert_ok(pool_field_from_montgomery(
            pool_poseidon_field(problem->params.set), paths, 4 * path_bytes / element, paths));
    for (int i = 0; i < 4; i++)
        check_opening(problem, rows + i * (row_bytes + 8), paths + i * path_bytes, indices[i]);
    free(rows);
    free(paths);
}

/* With the limit, if there is one, elements are checked. */
static void check_stored(
    struct commit_problem *problem, const struct commit_storage *storage, uint64_t memory_limit)
{
    const bool is_on_device = storage->levels_space == POOL_MEMORY_DEVICE;
    unsigned char *levels = calloc(1, problem->shape.bytes);
    pool_span span = {.data = levels,
        .count = problem->shape.digest_count,
        .form = storage->levels_form,
        .space = storage->levels_space};
    pool_exec exec = exec_within(memory_limit);
    pool_buffer *buffer = NULL;
    CUdeviceptr address;

    exec.checks = memory_limit ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
    commit_store(problem, storage);
    if (is_on_device) {
        assert_ok(pool_buffer_zeroed(device, problem->shape.bytes, &buffer));
        assert_ok(pool_buffer_address(buffer, &address));
        span.data = (void *)(uintptr_t)address;
    }
    assert_ok(
        pool_matrix_commit(&problem->params, &exec, problem->matrices, problem->count, &span));
    if (is_on_device)
        assert_ok(pool_copy_to_host(levels, buffer, 0, problem->shape.bytes, NULL));
    if (storage->levels_form == POOL_FORM_MONTGOMERY)
        assert_ok(pool_field_from_montgomery(pool_poseidon_field(problem->params.set), levels,
            problem->shape.bytes / commit_element(problem), levels));
    if (memcmp(levels, problem->wanted, problem->shape.bytes))
        fail_msg("%s: the levels differ: layouts %x, spaces %x, gaps %x, form %d, limit %llu",
            pool_poseidon_name(problem->params.set), storage->layouts, storage->spaces,
            storage->gaps, (int)storage->form, (unsigned long long)memory_limit);
    if (!is_on_device)
        commit_convert(
            problem, levels, problem->shape.bytes / commit_element(problem), storage->levels_form);
    exec.checks = 0;
    exec.memory_limit = 0;
    check_openings(problem, &exec, &span, storage->levels_form);
    assert_ok(pool_buffer_destroy(&buffer));
    commit_drop(problem);
    free(levels);
}

static bool fits(
    const struct commit_problem *problem, const struct commit_storage *storage, uint64_t limit)
{
    const pool_span levels = {.count = problem->shape.digest_count, .space = storage->levels_space};
    pool_exec exec = exec_within(limit);
    uint64_t bytes = 0;
    pool_status status;

    exec.checks = POOL_CHECK_CANONICAL;
    status = pool_matrix_commit_workspace(
        &problem->params, &exec, problem->matrices, problem->count, &levels, &bytes);
    if (status)
        assert_status(status, POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_between(bytes, 0, limit);
    return !status;
}

/* The least limit that the call accepts, with a check. */
static uint64_t least_memory(struct commit_problem *problem, const struct commit_storage *storage)
{
    uint64_t low = 1, high = 64 << 20;

    commit_store(problem, storage);
    while (low < high) {
        uint64_t middle = (low + high) / 2;

        if (fits(problem, storage, middle))
            high = middle;
        else
            low = middle + 1;
    }
    commit_drop(problem);
    return low;
}

static void check_storages(struct commit_problem *problem)
{
    static const struct commit_storage storages[] = {
        {.layouts = 0, .spaces = ~0u, .levels_space = POOL_MEMORY_DEVICE},
        {.layouts = ~0u, .spaces = ~0u, .gaps = ~0u, .form = POOL_FORM_MONTGOMERY},
        {.layouts = 0, .spaces = 0, .levels_form = POOL_FORM_MONTGOMERY},
        {.layouts = ~0u, .spaces = 0, .levels_space = POOL_MEMORY_DEVICE},
        {.layouts = 0x5, .spaces = 0x3, .gaps = 0x6, .levels_form = POOL_FORM_MONTGOMERY},
    };

    for (size_t i = 0; i < sizeof(storages) / sizeof(storages[0]); i++) {
        check_stored(problem, &storages[i], 0);
        if (i >= 2)
            check_stored(problem, &storages[i], least_memory(problem, &storages[i]));
    }
}

/* ---- known answers --------------------------------------------------------------------------- */

static int number_of(const cJSON *entry, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(entry, key)->valueint;
}

/* Element k is x_(k+1) modulo p, see the file's note. */
static void generate(struct commit_problem *problem, uint64_t x)
{
    const pool_field *field = pool_poseidon_field(problem->params.set);
    const size_t element = commit_element(problem);
    const uint64_t p = strcmp(pool_field_name(field), "goldilocks") == 0 ? 0xffffffff00000001
                       : strcmp(pool_field_name(field), "babybear") == 0 ? 0x78000001
                                                                         : 0x7f000001;

    for (uint32_t i = 0; i < problem->count; i++) {
        struct commit_input *input = &problem->input[i];

        input->rows = calloc(input->height * input->width, element);
        for (uint64_t k = 0; k < input->height * input->width; k++) {
            uint64_t value;

            x = x * 6364136223846793005u + 1442695040888963407u;
            value = x % p;
            memcpy(input->rows + k * element, &value, element);
        }
    }
}

static void check_levels_digest(struct commit_problem *problem, const cJSON *entry)
{
    uint8_t digest[BASE_SHA256_BYTES];
    uint8_t *wanted;
    size_t size;

    wanted = hex_bytes(json_text(entry, "sha256"), &size);
    assert_ok(base_sha256_of(problem->wanted, problem->shape.bytes, digest));
    assert_memory_equal(digest, wanted, sizeof(digest));
    free(wanted);
}

/* The path of the file's index, verified against the file's cap. */
static void check_known_path(struct commit_problem *problem, const cJSON *entry)
{
    const pool_field *field = pool_poseidon_field(problem->params.set);
    const size_t element = commit_element(problem);
    const uint64_t leaves = problem->shape.cap_count << problem->shape.height;
    const uint64_t index = (uint64_t)number_of(entry, "index");
    unsigned char cap[16 * 32], path[16 * 32], row[256 * 8], *to = row;
    const char *const keys[] = {"cap", "path"};
    int32_t is_member = 0;

    for (int i = 0; i < 2; i++) {
        unsigned char *packed = i ? path : cap;
        const cJSON *digest, *text;

        cJSON_ArrayForEach(digest, cJSON_GetObjectItemCaseSensitive(entry, keys[i]))
            cJSON_ArrayForEach(text, digest)
        {
            assert_ok(
                pool_field_parse(field, cJSON_GetStringValue(text), POOL_FORM_STANDARD, packed));
            packed += element;
        }
    }
    for (uint32_t i = 0; i < problem->count; i++) {
        const struct commit_input *input = &problem->input[i];
        const uint64_t bytes = input->width * element;

        memcpy(to, input->rows + (index * input->height / leaves) * bytes, bytes);
        to += bytes;
    }
    assert_ok(pool_matrix_verify(&problem->params, POOL_FORM_STANDARD, problem->matrices,
        problem->count, cap, index, row, path, &is_member));
    assert_int_equal(is_member, 1);
}

static void check_known_answer(const cJSON *entry)
{
    const cJSON *row_set = cJSON_GetObjectItemCaseSensitive(entry, "row_set"), *size;
    pool_poseidon *set = by_name(json_text(entry, "set"));
    pool_poseidon *rows = cJSON_IsNull(row_set) ? NULL : by_name(cJSON_GetStringValue(row_set));
    struct commit_problem problem = {.params = {.set = set,
                                         .row_set = rows,
                                         .keeps_short_rows = number_of(entry, "keeps_short_rows"),
                                         .cap_height = (uint32_t)number_of(entry, "cap_height")}};

    cJSON_ArrayForEach(size, cJSON_GetObjectItemCaseSensitive(entry, "matrices"))
    {
        struct commit_input *input = &problem.input[problem.count++];

        input->height = (uint64_t)cJSON_GetArrayItem(size, 0)->valueint;
        input->width = (uint32_t)cJSON_GetArrayItem(size, 1)->valueint;
    }
    generate(&problem, (uint64_t)number_of(entry, "seed"));
    commit_open(&problem);
    check_levels_digest(&problem, entry);
    check_known_path(&problem, entry);
    check_storages(&problem);
    commit_close(&problem);
    pool_poseidon_destroy(&rows);
    pool_poseidon_destroy(&set);
}

static void test_known_answers(void **state)
{
    cJSON *json = read_vectors("generated/matrix_commit.json");
    const cJSON *entry;
    int count = 0;

    (void)state;
    cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(json, "cases"))
    {
        check_known_answer(entry);
        count++;
    }
    assert_true(count >= 14);
    cJSON_Delete(json);
}

/* ---- other sets and shapes ------------------------------------------------------------------- */

static void check_shape(const char *set_name, uint32_t kept_levels, uint32_t cap_height,
    const uint32_t (*sizes)[2], uint32_t count)
{
    pool_poseidon *set = by_name(set_name);
    struct commit_problem problem = {
        .params = {.set = set, .kept_levels = kept_levels, .cap_height = cap_height},
        .count = count};

    for (uint32_t i = 0; i < count; i++) {
        problem.input[i].height = sizes[i][0];
        problem.input[i].width = sizes[i][1];
    }
    commit_open(&problem);
    check_storages(&problem);
    commit_close(&problem);
    pool_poseidon_destroy(&set);
}

static void test_shapes(void **state)
{
    static const uint32_t mixed[][2] = {{4, 3}, {32, 5}, {16, 1}, {32, 2}, {8, 9}};
    static const uint32_t one[][2] = {{128, 3}};

    (void)state;
    check_shape("circom-bn254-t3", 0, 0, mixed, 5);
    check_shape("poseidon2-horizen-bn254-t3", 2, 1, mixed, 5);
    for (uint32_t kept_levels = 1; kept_levels <= 6; kept_levels++)
        check_shape("poseidon2-plonky3-koalabear-t16", kept_levels, 0, mixed, 5);
    check_shape("plonky3-babybear-t16", 3, 2, one, 1);
    check_shape("plonky2-goldilocks-t12", 1, 7, one, 1);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct commit_problem small_problem(pool_poseidon *set)
{
    struct commit_problem problem = {.params = {.set = set},
        .count = 2,
        .input = {{.height = 16, .width = 9}, {.height = 4, .width = 2}}};

    commit_open(&problem);
    return problem;
}

static void test_asynchronous(void **state)
{
    static const struct commit_storage storage = {.spaces = ~0u};
    pool_poseidon *set = by_name("poseidon2-plonky3-babybear-t16");
    struct commit_problem problem = small_problem(set);
    pool_span levels = {.count = problem.shape.digest_count, .space = POOL_MEMORY_DEVICE};
    unsigned char *got = calloc(1, problem.shape.bytes);
    pool_exec exec = exec_here();
    pool_buffer *buffer;
    CUdeviceptr address;

    (void)state;
    commit_store(&problem, &storage);
    assert_ok(pool_matrix_commit_warm_up(
        &problem.params, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
    assert_ok(pool_stream_create(device, NULL, &exec.stream));
    assert_ok(pool_buffer_zeroed(device, problem.shape.bytes, &buffer));
    assert_ok(pool_buffer_address(buffer, &address));
    levels.data = (void *)(uintptr_t)address;
    exec.is_async = 1;
    assert_ok(pool_matrix_commit(&problem.params, &exec, problem.matrices, 2, &levels));
    assert_ok(pool_copy_to_host(got, buffer, 0, problem.shape.bytes, exec.stream));
    assert_ok(pool_stream_synchronize(exec.stream));
    assert_memory_equal(got, problem.wanted, problem.shape.bytes);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&exec.stream));
    free(got);
    commit_drop(&problem);
    commit_close(&problem);
    pool_poseidon_destroy(&set);
}

struct progress {
    pool_cancel *cancel;
    uint64_t done, total;
    int calls;
};

static void count_progress(void *user, uint64_t done, uint64_t total)
{
    struct progress *progress = user;

    assert_true(done > progress->done && done <= total);
    progress->done = done;
    progress->total = total;
    progress->calls++;
    if (progress->cancel)
        pool_cancel_request(progress->cancel);
}

static void test_progress_and_cancel(void **state)
{
    static const struct commit_storage storage = {0};
    pool_poseidon *set = by_name("poseidon2-plonky3-babybear-t16");
    struct commit_problem problem = small_problem(set);
    struct progress progress = {0};
    unsigned char *got = calloc(1, problem.shape.bytes);
    const pool_span levels = {.data = got, .count = problem.shape.digest_count};
    pool_exec exec = exec_within(least_memory(&problem, &storage));

    (void)state;
    commit_store(&problem, &storage);
    exec.progress = count_progress;
    exec.user = &progress;
    assert_ok(pool_matrix_commit(&problem.params, &exec, problem.matrices, 2, &levels));
    assert_int_equal(progress.total, 16 * 9 + 4 * 2 + 8 + 4 + 2 + 1);
    assert_int_equal(progress.done, progress.total);
    assert_true(progress.calls > 3);
    assert_memory_equal(got, problem.wanted, problem.shape.bytes);
    progress = (struct progress){0};
    assert_ok(pool_cancel_create(&progress.cancel));
    exec.cancel = progress.cancel;
    assert_status(pool_matrix_commit(&problem.params, &exec, problem.matrices, 2, &levels),
        POOL_ERR_CANCELLED);
    pool_cancel_destroy(&progress.cancel);
    free(got);
    commit_drop(&problem);
    commit_close(&problem);
    pool_poseidon_destroy(&set);
}

static void test_bad_elements(void **state)
{
    static const struct commit_storage storages[] = {
        {0}, {.layouts = ~0u}, {.spaces = ~0u}, {.layouts = ~0u, .spaces = ~0u, .gaps = ~0u}};
    pool_poseidon *set = by_name("poseidon2-plonky3-babybear-t16");

    (void)state;
    for (size_t i = 0; i < sizeof(storages) / sizeof(storages[0]); i++) {
        struct commit_problem problem = small_problem(set);
        unsigned char *got = calloc(1, problem.shape.bytes);
        const pool_span levels = {.data = got, .count = problem.shape.digest_count};
        pool_exec exec = exec_here();

        memset(problem.input[1].rows + 3 * 2 * 4, 0xff, 4); /* row 3, column 0 */
        commit_store(&problem, &storages[i]);
        exec.checks = POOL_CHECK_CANONICAL;
        assert_status(pool_matrix_commit(&problem.params, &exec, problem.matrices, 2, &levels),
            POOL_ERR_BAD_DATA);
        assert_says("matrix 1");
        free(got);
        commit_drop(&problem);
        commit_close(&problem);
    }
    pool_poseidon_destroy(&set);
}

/* ---- extensions ------------------------------------------------------------------------------ */

enum { EXTENSIONS = 3 };

/* Traces and, by pool_ntt_extend, their extensions, which are the matrices of `problem`. */
struct extend_problem {
    struct commit_problem problem;
    pool_ntt_extend_params params[EXTENSIONS];
    unsigned char *traces[EXTENSIONS];
    uint64_t trace_bytes[EXTENSIONS];
    uint64_t extended_bytes[EXTENSIONS];
    unsigned char *extended[EXTENSIONS]; /* column by column */
};

static void open_extensions(struct extend_problem *extend, pool_poseidon *set)
{
    static const uint32_t sizes[EXTENSIONS][3] = {{5, 1, 13}, {3, 0, 3}, {5, 2, 6}};
    struct commit_problem *problem = &extend->problem;
    const pool_field *field = pool_poseidon_field(set);
    const pool_exec exec = exec_here();

    *problem = (struct commit_problem){.params = {.set = set}, .count = EXTENSIONS};
    for (int i = 0; i < EXTENSIONS; i++) {
        const pool_ntt_domain_params domain = {
            .struct_size = sizeof(domain), .field = field, .log_size = sizes[i][0]};
        const uint64_t height = UINT64_C(1) << sizes[i][0], width = sizes[i][2];
        const uint64_t points = height >> sizes[i][1], element = element_bytes(set);
        struct commit_input *input = &problem->input[i];

        extend->params[i] = (pool_ntt_extend_params){.struct_size = sizeof(extend->params[i]),
            .log_blowup = sizes[i][1],
            .order = POOL_NTT_NR,
            .batch = width};
        assert_ok(pool_ntt_domain_create(&domain, &extend->params[i].domain));
        extend->trace_bytes[i] = width * points * element;
        extend->extended_bytes[i] = width * height * element;
        extend->traces[i] = random_elements(set, width * points, POOL_FORM_STANDARD);
        extend->extended[i] = calloc(width * height, element);
        const pool_span in = {.data = extend->traces[i], .count = width * points};
        const pool_span out = {.data = extend->extended[i], .count = width * height};
        assert_ok(pool_ntt_extend(&extend->params[i], &exec, &in, NULL, &out));
        input->height = height;
        input->width = (uint32_t)width;
        input->rows = calloc(width * height, element);
        for (uint64_t row = 0; row < height; row++)
            for (uint64_t column = 0; column < width; column++)
                memcpy(input->rows + (row * width + column) * element,
                    extend->extended[i] + (column * height + row) * element, element);
    }
    commit_open(problem);
}

static void close_extensions(struct extend_problem *extend)
{
    commit_close(&extend->problem);
    for (int i = 0; i < EXTENSIONS; i++) {
        assert_ok(pool_ntt_domain_destroy(&extend->params[i].domain));
        free(extend->traces[i]);
        free(extend->extended[i]);
    }
}

/* The spans of a call. */
struct extend_storage {
    pool_extension extensions[EXTENSIONS];
    pool_buffer *traces[EXTENSIONS], *extended[EXTENSIONS];
    unsigned char *results[EXTENSIONS];
};

enum { TRACE_ON_DEVICE = 1, KEPT = 2, KEPT_ON_DEVICE = 4 };

static void store_extensions(
    const struct extend_problem *extend, int way, struct extend_storage *storage)
{
    const uint64_t element = commit_element(&extend->problem);

    memset(storage, 0, sizeof(*storage));
    for (int i = 0; i < EXTENSIONS; i++) {
        pool_extension *extension = &storage->extensions[i];
        const uint64_t points = extend->trace_bytes[i] / element;
        const uint64_t results = extend->extended_bytes[i] / element;

        extension->params = &extend->params[i];
        extension->trace = (pool_span){.data = extend->traces[i], .count = points};
        storage->results[i] = calloc(1, extend->extended_bytes[i]);
        if (way & KEPT)
            extension->extended = (pool_span){.data = storage->results[i], .count = results};
        if (way & TRACE_ON_DEVICE) {
            assert_ok(pool_buffer_from_host(
                device, extend->traces[i], extend->trace_bytes[i], &storage->traces[i]));
            assert_ok(pool_buffer_span(
                storage->traces[i], 0, points, POOL_FORM_STANDARD, &extension->trace));
        }
        if (way & KEPT_ON_DEVICE && way & KEPT) {
            assert_ok(pool_buffer_zeroed(device, extend->extended_bytes[i], &storage->extended[i]));
            assert_ok(pool_buffer_span(
                storage->extended[i], 0, results, POOL_FORM_STANDARD, &extension->extended));
        }
    }
}

static void check_extended(
    const struct extend_problem *extend, int way, const struct extend_storage *storage)
{
    for (int i = 0; i < EXTENSIONS && way & KEPT; i++) {
        const uint64_t bytes = extend->extended_bytes[i];

        if (storage->extended[i])
            assert_ok(pool_copy_to_host(storage->results[i], storage->extended[i], 0, bytes, NULL));
        assert_memory_equal(storage->results[i], extend->extended[i], bytes);
    }
}

static void drop_extensions(struct extend_storage *storage)
{
    for (int i = 0; i < EXTENSIONS; i++) {
        assert_ok(pool_buffer_destroy(&storage->traces[i]));
        assert_ok(pool_buffer_destroy(&storage->extended[i]));
        free(storage->results[i]);
    }
}

/* Within ever less memory, of which the call uses exactly what was forecast. */
static void check_extend_way(const struct extend_problem *extend, int way)
{
    const struct commit_problem *problem = &extend->problem;
    unsigned char *got = calloc(1, problem->shape.bytes);
    const pool_span levels = {.data = got, .count = problem->shape.digest_count};
    pool_request request = {
        .struct_size = sizeof(request), .device = device, .label = "extensions"};
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    pool_exec exec = exec_here();
    pool_status status = POOL_OK;
    uint64_t bytes = 0;

    exec.checks = way & KEPT ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
    for (int round = 0; !status; round++) {
        struct extend_storage storage;

        store_extensions(extend, way, &storage);
        exec.memory_limit = bytes ? bytes - 1 : 0;
        status = pool_extend_commit_workspace(
            &problem->params, &exec, storage.extensions, EXTENSIONS, &levels, &bytes);
        if (status) {
            assert_status(status, POOL_ERR_OUT_OF_DEVICE_MEMORY);
            drop_extensions(&storage);
            break;
        }
        assert_true(!round || bytes <= exec.memory_limit);
        exec.memory_limit = 0;
        request.bytes = bytes;
        assert_ok(pool_acquire(pool, &request, &exec.lease));
        memset(got, 0, problem->shape.bytes);
        assert_ok(
            pool_extend_commit(&problem->params, &exec, storage.extensions, EXTENSIONS, &levels));
        assert_memory_equal(got, problem->wanted, problem->shape.bytes);
        check_extended(extend, way, &storage);
        assert_ok(pool_lease_get_usage(exec.lease, 0, &usage));
        assert_int_equal(usage.peak_bytes, bytes);
        assert_ok(pool_release(&exec.lease));
        drop_extensions(&storage);
        bytes -= bytes / 16;
    }
    free(got);
}

static void test_extensions(void **state)
{
    static const char *const sets[] = {"poseidon2-plonky3-koalabear-t16", "plonky2-goldilocks-t12"};
    struct extend_problem extend;

    (void)state;
    for (int i = 0; i < 2; i++) {
        pool_poseidon *set = by_name(sets[i]);

        open_extensions(&extend, set);
        for (int way = 0; way < 8; way++)
            if (way & KEPT || !(way & KEPT_ON_DEVICE))
                check_extend_way(&extend, way);
        close_extensions(&extend);
        pool_poseidon_destroy(&set);
    }
}

static void test_refused_extensions(void **state)
{
    pool_poseidon *set = by_name("poseidon2-plonky3-koalabear-t16");
    pool_poseidon *other = by_name("poseidon2-plonky3-babybear-t16");
    struct extend_problem extend;
    struct extend_storage storage;
    pool_exec exec = exec_here();
    struct progress progress = {0};

    (void)state;
    open_extensions(&extend, set);
    unsigned char *got = calloc(1, extend.problem.shape.bytes);
    const pool_span levels = {.data = got, .count = extend.problem.shape.digest_count};
    pool_matrix_commit_params params = extend.problem.params;

    store_extensions(&extend, KEPT, &storage);
#define EXTEND(expected)                                                                           \
    assert_status(                                                                                 \
        pool_extend_commit(&params, &exec, storage.extensions, EXTENSIONS, &levels), expected)
    storage.extensions[1].trace.count--;
    EXTEND(POOL_ERR_INVALID_ARGUMENT);
    storage.extensions[1].trace.count++;
    storage.extensions[2].extended.stride = 8;
    EXTEND(POOL_ERR_UNSUPPORTED);
    storage.extensions[2].extended.stride = 0;
    extend.params[0].layout = POOL_NTT_COLUMNS;
    EXTEND(POOL_ERR_UNSUPPORTED);
    extend.params[0].layout = POOL_NTT_ROWS;
    storage.extensions[0].params = NULL;
    EXTEND(POOL_ERR_INVALID_ARGUMENT);
    storage.extensions[0].params = &extend.params[0];
    params.set = params.row_set = other;
    EXTEND(POOL_ERR_INVALID_ARGUMENT);
    assert_says("babybear");
    params = extend.problem.params;
    exec.checks = POOL_CHECK_CANONICAL;
    memset(extend.traces[2] + 4, 0xff, 4);
    EXTEND(POOL_ERR_BAD_DATA);
    assert_says("matrix 2");
    exec.checks = 0;
    exec.progress = count_progress;
    exec.user = &progress;
    assert_ok(pool_cancel_create(&progress.cancel));
    exec.cancel = progress.cancel;
    EXTEND(POOL_ERR_CANCELLED);
#undef EXTEND
    pool_cancel_destroy(&progress.cancel);
    drop_extensions(&storage);
    close_extensions(&extend);
    free(got);
    pool_poseidon_destroy(&other);
    pool_poseidon_destroy(&set);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refuse(const struct commit_problem *problem, const pool_exec *exec,
    const pool_span *levels, const char *says)
{
    uint64_t bytes = 77;

    assert_status(
        pool_matrix_commit(&problem->params, exec, problem->matrices, problem->count, levels),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says(says);
    assert_status(pool_matrix_commit_workspace(
                      &problem->params, exec, problem->matrices, problem->count, levels, &bytes),
        POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(bytes, 77);
}

static void test_refusals(void **state)
{
    static const struct commit_storage storage = {0};
    pool_poseidon *set = by_name("poseidon2-plonky3-babybear-t16");
    pool_poseidon *other = by_name("poseidon2-plonky3-koalabear-t24");
    pool_poseidon *narrow = by_name("circom-bn254-t2");
    struct commit_problem problem = small_problem(set), changed;
    unsigned char *got = calloc(1, problem.shape.bytes);
    const pool_span levels = {.data = got, .count = problem.shape.digest_count};
    const pool_span few = {.data = got, .count = problem.shape.digest_count - 1};
    pool_exec exec = exec_here();

    (void)state;
    commit_store(&problem, &storage);
#define REFUSE(change, says)                                                                       \
    do {                                                                                           \
        changed = problem;                                                                         \
        change;                                                                                    \
        refuse(&changed, &exec, &levels, says);                                                    \
    } while (0)
    REFUSE(changed.matrices[1].height = 3, "`height` of matrix 1");
    REFUSE(changed.matrices[0].height = UINT64_C(1) << 41, "`height` of matrix 0");
    REFUSE(changed.matrices[1].width = 0, "`width` of matrix 1");
    REFUSE(changed.matrices[1].width = UINT32_MAX, "columns");
    REFUSE(changed.matrices[1].layout = 2, "`layout` of matrix 1");
    REFUSE(changed.matrices[1].span.count = 3, "matrix 1");
    REFUSE(changed.matrices[1].span.stride = 8, "stride");
    REFUSE(changed.matrices[1].span.form = 5, "`form`");
    REFUSE(changed.matrices[1].span.space = POOL_MEMORY_SHARDED, "`space`");
    REFUSE(changed.params.cap_height = 3, "`cap_height`");
    REFUSE(changed.params.cap_height = 64, "`cap_height`");
    REFUSE(changed.params.kept_levels = 6, "`kept_levels`");
    REFUSE(changed.params.keeps_short_rows = 2, "`keeps_short_rows`");
    REFUSE(changed.params.reserved = 1, "`reserved`");
    REFUSE(changed.params.row_set = other, "`row_set`");
    REFUSE(changed.params.set = changed.params.row_set = narrow, "two digests");
    REFUSE(changed.params.set = NULL, "set");
    REFUSE(changed.count = 0, "`count`");
    REFUSE(changed.count = 5000, "`count`");
#undef REFUSE
    refuse(&problem, &exec, &few, "`levels`");
    changed = problem;
    changed.matrices[1].span.data = NULL;
    assert_status(pool_matrix_commit(&changed.params, &exec, changed.matrices, 2, &levels),
        POOL_ERR_INVALID_ARGUMENT);
    changed.matrices[1].span = problem.matrices[1].span;
    changed.matrices[1].span.space = POOL_MEMORY_DEVICE;
    assert_true(pool_matrix_commit(&changed.params, &exec, changed.matrices, 2, &levels) < 0);
    exec.on_host = 1;
    assert_status(pool_matrix_commit(&problem.params, &exec, problem.matrices, 2, &levels),
        POOL_ERR_UNSUPPORTED);
    free(got);
    commit_drop(&problem);
    commit_close(&problem);
    pool_poseidon_destroy(&narrow);
    pool_poseidon_destroy(&other);
    pool_poseidon_destroy(&set);
}

static void test_refused_openings(void **state)
{
    static const struct commit_storage storage = {0};
    pool_poseidon *set = by_name("poseidon2-plonky3-babybear-t16");
    struct commit_problem problem = small_problem(set);
    unsigned char rows[11 * 4], paths[4 * 32];
    const uint64_t too_large = 16, first = 0;
    pool_span levels = {.data = problem.wanted, .count = problem.shape.digest_count};
    pool_span row = {.data = rows, .count = 1}, path = {.data = paths, .count = 4};
    const pool_exec exec = exec_here();
    int32_t is_member = -1;

    (void)state;
    commit_store(&problem, &storage);
#define OPEN(index, expected)                                                                      \
    assert_status(pool_matrix_open(&problem.params, &exec, problem.matrices, 2, &levels, (index),  \
                      1, &row, &path),                                                             \
        expected)
    OPEN(&first, POOL_OK);
    OPEN(&too_large, POOL_ERR_INVALID_ARGUMENT);
    assert_says("indices[0]");
    OPEN(NULL, POOL_ERR_INVALID_ARGUMENT);
    path.count = 3;
    OPEN(&first, POOL_ERR_INVALID_ARGUMENT);
    path.count = 4;
    row.count = 0;
    OPEN(&first, POOL_ERR_INVALID_ARGUMENT);
    row.count = 1;
    row.space = POOL_MEMORY_DEVICE;
    OPEN(&first, POOL_ERR_INVALID_ARGUMENT);
    assert_says("host memory");
#undef OPEN
    assert_ok(pool_matrix_verify(&problem.params, POOL_FORM_STANDARD, problem.matrices, 2,
        problem.wanted, 16, rows, paths, &is_member));
    assert_int_equal(is_member, 0);
    memset(paths, 0xff, 4);
    assert_status(pool_matrix_verify(&problem.params, POOL_FORM_STANDARD, problem.matrices, 2,
                      problem.wanted, 0, rows, paths, &is_member),
        POOL_ERR_BAD_DATA);
    commit_drop(&problem);
    commit_close(&problem);
    pool_poseidon_destroy(&set);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_asynchronous),
        cmocka_unit_test(test_progress_and_cancel),
        cmocka_unit_test(test_bad_elements),
        cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_refused_extensions),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_refused_openings),
    };
    int skipped = open_here(argc, argv);

    if (skipped)
        return skipped;
    return cmocka_run_group_tests(tests, NULL, close_pool);
}

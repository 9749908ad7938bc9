/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of rows.txt by the functions of C.
 * usage: conformance rows.txt
 */
#include <devicepool.h>

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 12
#define MAX_BYTES 8192

struct bytes {
    uint8_t *data;
    size_t size;
};

struct named {
    char *name;
    struct bytes content;
};

static struct named *named;
static size_t named_count;
static device_pool *shared;
static pool_device *device;

static void must(pool_status status)
{
    if (status == POOL_OK)
        return;
    fprintf(stderr, "%s: %s\n", pool_status_name(status), pool_last_error()->message);
    exit(1);
}

static void *allocate(size_t size)
{
    void *memory = calloc(size ? size : 1, 1);

    if (!memory)
        exit(1);
    return memory;
}

static struct bytes new_bytes(size_t size)
{
    return (struct bytes){allocate(size), size};
}

static struct bytes from_hex(const char *text)
{
    struct bytes made = new_bytes(strlen(text) / 2);

    for (size_t i = 0; i < made.size; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], 0};
        made.data[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return made;
}

/* @NAME, or hexadecimal. The names' bytes stay, the others are the caller's to leak: the program is
 * short. */
static struct bytes content(const char *word)
{
    if (*word != '@')
        return from_hex(word);
    for (size_t i = 0; i < named_count; i++)
        if (!strcmp(named[i].name, word + 1))
            return named[i].content;
    fprintf(stderr, "no data %s\n", word);
    exit(1);
}

static uint64_t number(const char *word)
{
    return strtoull(word, NULL, 10);
}

static void show(struct bytes answer)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    if (answer.size <= 64) {
        for (size_t i = 0; i < answer.size; i++)
            printf("%02x", answer.data[i]);
        printf("\n");
        return;
    }
    for (size_t i = 0; i < answer.size; i++)
        hash = (hash ^ answer.data[i]) * UINT64_C(0x100000001b3);
    printf("fnv:%016" PRIx64 "\n", hash);
}

static void show_status(pool_status status)
{
    printf("%s\n", pool_status_name(status));
}

static void show_failure(pool_status status, int with_code)
{
    printf("%s %s", pool_status_name(status), pool_error_class_name(pool_status_class(status)));
    if (with_code)
        printf(" %d", pool_last_error()->driver_code);
    printf("\n");
}

static const pool_field *field_named(const char *name)
{
    const pool_field *field = pool_field_by_name(name);

    if (!field)
        must(pool_last_error()->status);
    return field;
}

/* START:COUNT */
static struct bytes elements(const pool_field *field, const char *word)
{
    size_t size = pool_field_element_bytes(field), count = number(strchr(word, ':') + 1);
    uint64_t start = number(word);
    struct bytes made = new_bytes(count * size);

    for (size_t i = 0; i < count; i++) {
        uint64_t value = start + i;
        memcpy(made.data + i * size, &value, size < 8 ? size : 8);
    }
    return made;
}

static pool_span span_of(struct bytes items, size_t item_bytes)
{
    return (pool_span){.data = items.data, .count = items.size / item_bytes};
}

static device_pool *open_pool(const char *devices, uint32_t slots)
{
    pool_params params = {.struct_size = sizeof(params), .devices = devices, .slots = slots};
    device_pool *pool;

    must(pool_create(&pool, &params));
    return pool;
}

static pool_device *device_at(device_pool *pool, size_t index)
{
    pool_device *found;

    must(pool_device_at(pool, index, &found));
    return found;
}

/* --- pools ---------------------------------------------------------------------------------------
 */

static void row_version(char **a)
{
    (void)a;
    printf("%s\n", pool_version_text());
}

static void row_devices(char **a)
{
    device_pool *pool = open_pool(a[0], 0);

    printf("%zu\n", pool_device_count(pool));
    must(pool_destroy(&pool));
}

static void row_next(char **a)
{
    device_pool *pool = open_pool(a[0], 0);
    pool_device *next;

    for (uint64_t i = 0; i < number(a[1]); i++) {
        must(pool_next_device(pool, &next));
        printf("%s%d", i ? " " : "", pool_device_index(next));
    }
    printf("\n");
    must(pool_destroy(&pool));
}

static void row_best(char **a)
{
    device_pool *pool = open_pool(a[0], 0);
    pool_device *best;

    must(pool_best_device(pool, &best));
    printf("%d\n", pool_device_index(best));
    must(pool_destroy(&pool));
}

static int is_index(void *user, const pool_candidate *candidate)
{
    return pool_device_index(candidate->device) == *(int *)user;
}

static double index_of(void *user, const pool_candidate *candidate)
{
    (void)user;
    return pool_device_index(candidate->device);
}

static void show_pick(const char *devices, const pool_pick *pick)
{
    device_pool *pool = open_pool(devices, 0);
    pool_device *picked;

    must(pool_pick_device(pool, pick, &picked));
    printf("%d\n", pool_device_index(picked));
    must(pool_destroy(&pool));
}

static void row_pick_filter(char **a)
{
    int index = atoi(a[1]);

    show_pick(a[0], &(pool_pick){.struct_size = sizeof(pool_pick),
                        .policy = POOL_POLICY_MOST_FREE,
                        .filter = is_index,
                        .user = &index});
}

static void row_pick_score(char **a)
{
    show_pick(a[0],
        &(pool_pick){
            .struct_size = sizeof(pool_pick), .policy = POOL_POLICY_SCORE, .score = index_of});
}

static void row_by_uuid(char **a)
{
    device_pool *pool = open_pool(a[0], 0);
    pool_device *found;

    must(pool_device_by_uuid(pool, pool_device_uuid(device_at(pool, number(a[1]))), &found));
    printf("%d\n", pool_device_index(found));
    must(pool_destroy(&pool));
}

static void row_total(char **a)
{
    device_pool *pool = open_pool(a[0], 0);
    pool_device_info info = {.struct_size = sizeof(info)};

    must(pool_device_get_info(device_at(pool, 0), &info));
    printf("%" PRIu64 "\n", info.total_bytes);
    must(pool_destroy(&pool));
}

static void row_health(char **a)
{
    device_pool *pool = open_pool(a[0], 0);
    pool_health_info info = {.struct_size = sizeof(info)};

    must(pool_get_health(pool, &info));
    printf("%s %u %u\n", pool_error_class_name(info.harmed), info.devices, info.usable_devices);
    must(pool_destroy(&pool));
}

static void row_create_error(char **a)
{
    device_pool *pool;

    show_failure(
        pool_create(&pool, &(pool_params){.struct_size = sizeof(pool_params), .devices = a[0]}), 0);
}

static void row_bound(char **a)
{
    device_pool *pool = open_pool(a[0], 0);
    pool_device *bound;
    int count = 1;

    for (; a[count]; count++)
        must(pool_bind(device_at(pool, number(a[count]))));
    must(pool_bound_device(pool, &bound));
    printf("%d\n", pool_device_index(bound));
    while (--count)
        must(pool_unbind(device_at(pool, number(a[count]))));
    must(pool_destroy(&pool));
}

static void row_not_bound(char **a)
{
    device_pool *pool = open_pool(a[0], 0);
    pool_device *bound;

    show_status(pool_bound_device(pool, &bound));
    must(pool_destroy(&pool));
}

/* --- memory and kernels --------------------------------------------------------------------------
 */

static void show_buffer(pool_buffer **buffer)
{
    struct bytes answer = new_bytes(pool_buffer_bytes(*buffer));

    must(pool_copy_to_host(answer.data, *buffer, 0, answer.size, NULL));
    show(answer);
    must(pool_buffer_destroy(buffer));
}

static pool_buffer *upload(struct bytes from)
{
    pool_buffer *buffer;

    must(pool_buffer_from_host(device, from.data, from.size, &buffer));
    return buffer;
}

static void row_copy(char **a)
{
    pool_buffer *buffer = upload(content(a[0]));

    show_buffer(&buffer);
}

static void row_slice(char **a)
{
    pool_buffer *buffer = upload(content(a[0])), *part;

    must(pool_buffer_slice(buffer, number(a[1]), number(a[2]), &part));
    show_buffer(&part);
    must(pool_buffer_destroy(&buffer));
}

static void row_fill(char **a)
{
    pool_buffer *buffer;

    must(pool_buffer_zeroed(device, number(a[0]), &buffer));
    must(pool_buffer_fill8(buffer, number(a[2]), number(a[3]), (uint8_t)number(a[1]), NULL));
    show_buffer(&buffer);
}

static void row_copy_error(char **a)
{
    struct bytes from = content(a[0]);
    pool_buffer *buffer;

    must(pool_buffer_alloc(device, number(a[1]), &buffer));
    show_status(pool_copy_to_device(buffer, number(a[2]), from.data, from.size, NULL));
    must(pool_buffer_destroy(&buffer));
}

static void row_pinned(char **a)
{
    struct bytes from = content(a[0]);
    pool_buffer *buffer;
    pool_pinned *pinned;

    must(pool_pinned_create(device, from.size, 0, &pinned));
    memcpy(pool_pinned_data(pinned), from.data, from.size);
    must(pool_buffer_alloc(device, from.size, &buffer));
    must(pool_copy_to_device(buffer, 0, pool_pinned_data(pinned), from.size, NULL));
    show_buffer(&buffer);
    must(pool_pinned_destroy(&pinned));
}

static void row_stream(char **a)
{
    pool_stream *stream;

    (void)a;
    must(pool_stream_create(device, NULL, &stream));
    must(pool_stream_synchronize(stream));
    printf("%s\n", pool_stream_query(stream) == POOL_OK ? "idle" : "busy");
    must(pool_stream_destroy(&stream));
}

static pool_module *load(const char *image)
{
    struct bytes text = content(image);
    pool_module *module;

    must(pool_module_load(device, text.data, text.size, &module));
    return module;
}

static pool_status launch(
    pool_kernel *kernel, pool_buffer *buffer, uint32_t factor, uint32_t count, uint32_t arguments)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    CUdeviceptr address;
    void *pointers[] = {&address, &factor, &count};

    must(pool_buffer_address(buffer, &address));
    must(pool_launch_shape_for(count, &shape));
    shape.argument_count = arguments;
    return pool_launch(kernel, &shape, pointers, NULL);
}

static void row_launch(char **a)
{
    pool_module *module = load(a[0]);
    uint32_t count = (uint32_t)number(a[2]);
    struct bytes numbers = new_bytes(4 * count);
    pool_kernel *kernel;
    pool_buffer *buffer;

    for (uint32_t i = 0; i < count; i++)
        memcpy(numbers.data + 4 * i, &i, 4);
    buffer = upload(numbers);
    must(pool_kernel_get(module, a[1], &kernel));
    must(launch(kernel, buffer, (uint32_t)number(a[3]), count, 3));
    show_buffer(&buffer);
    must(pool_module_destroy(&module));
}

static void row_launch_error(char **a)
{
    pool_module *module = load(a[0]);
    pool_kernel *kernel;
    pool_buffer *buffer;

    must(pool_kernel_get(module, a[1], &kernel));
    must(pool_buffer_alloc(device, 4, &buffer));
    show_status(launch(kernel, buffer, 1, 1, 1));
    must(pool_buffer_destroy(&buffer));
    must(pool_module_destroy(&module));
}

static void row_kernel_error(char **a)
{
    pool_module *module = load(a[0]);
    pool_kernel *kernel;

    show_status(pool_kernel_get(module, a[1], &kernel));
    must(pool_module_destroy(&module));
}

static void row_image_error(char **a)
{
    struct bytes text = content(a[0]);
    pool_module *module;

    show_status(pool_module_load(device, text.data, text.size, &module));
}

/* --- fields --------------------------------------------------------------------------------------
 */

static void show_field(const pool_field *field)
{
    struct bytes modulus = new_bytes(pool_field_element_bytes(field));

    must(pool_field_modulus(field, modulus.data));
    printf("%zu ", modulus.size);
    show(modulus);
}

static void row_field(char **a)
{
    show_field(field_named(a[0]));
}

static void row_field_custom(char **a)
{
    pool_field_params params = {.struct_size = sizeof(params), .modulus = a[0]};
    pool_field *field;

    must(pool_field_create(&params, &field));
    show_field(field);
    pool_field_destroy(&field);
}

static void row_field_error(char **a)
{
    pool_field_params params = {.struct_size = sizeof(params), .modulus = a[0]};
    pool_field *field;

    show_status(pool_field_create(&params, &field));
}

static void row_field_unknown(char **a)
{
    show_status(pool_field_by_name(a[0]) ? POOL_OK : pool_last_error()->status);
}

static void row_root(char **a)
{
    const pool_field *field = field_named(a[0]);
    struct bytes root = new_bytes(pool_field_element_bytes(field));

    must(pool_field_root_of_unity(
        field, NULL, (uint32_t)number(a[1]), POOL_FORM_STANDARD, root.data));
    show(root);
}

static void row_montgomery(char **a)
{
    const pool_field *field = field_named(a[0]);
    struct bytes items = elements(field, a[1]);

    must(pool_field_to_montgomery(
        field, items.data, items.size / pool_field_element_bytes(field), items.data));
    show(items);
}

static void row_vector(char **a)
{
    const pool_field *field = field_named(a[1]);
    size_t size = pool_field_element_bytes(field);
    struct bytes last = elements(field, a[3] ? a[3] : a[2]), result = new_bytes(last.size),
                 scalar = new_bytes(size);
    pool_span b = span_of(last, size), out = span_of(result, size);
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_status (*two)(const pool_field *, const pool_exec *, const pool_span *, const pool_span *,
        const pool_span *) = !strcmp(a[0], "add")   ? pool_vector_add
                             : !strcmp(a[0], "sub") ? pool_vector_sub
                                                    : pool_vector_mul;

    if (!strcmp(a[0], "inverse")) {
        must(pool_vector_inverse(field, &exec, &b, &out));
    } else if (!strcmp(a[0], "bit_reverse")) {
        must(pool_vector_bit_reverse(field, &exec, &b, &out));
    } else if (!strcmp(a[0], "scale")) {
        scalar.data[0] = (uint8_t)number(a[2]);
        must(pool_vector_scale(field, &exec, scalar.data, &b, &out));
    } else {
        pool_span first = span_of(elements(field, a[2]), size);
        must(two(field, &exec, &first, &b, &out));
    }
    show(result);
}

/* --- transforms and hashes -----------------------------------------------------------------------
 */

static pool_ntt_domain *domain_of(const pool_field *field, const char *log_size)
{
    pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = field, .log_size = (uint32_t)number(log_size)};
    pool_ntt_domain *domain;

    must(pool_ntt_domain_create(&params, &domain));
    return domain;
}

static void row_ntt(char **a)
{
    static const char *const orders[] = {"nn", "nr", "rn", "rr"};
    const pool_field *field = field_named(a[0]);
    size_t size = pool_field_element_bytes(field);
    struct bytes items = elements(field, a[7]);
    pool_span span = span_of(items, size);
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = domain_of(field, a[1]),
        .direction = strcmp(a[2], "inverse") ? POOL_NTT_FORWARD : POOL_NTT_INVERSE,
        .coset = atoi(a[3]),
        .layout = strcmp(a[5], "columns") ? POOL_NTT_ROWS : POOL_NTT_COLUMNS,
        .batch = number(a[6])};

    while (strcmp(orders[params.order], a[4]))
        params.order++;
    must(pool_ntt(&params, &exec, &span, &span));
    show(items);
    must(pool_ntt_domain_destroy(&params.domain));
}

static void row_ntt_error(char **a)
{
    const pool_field *field = field_named(a[0]);
    struct bytes items = elements(field, a[2]);
    pool_span span = span_of(items, pool_field_element_bytes(field));
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_ntt_params params = {.struct_size = sizeof(params), .domain = domain_of(field, a[1])};

    show_status(pool_ntt(&params, &exec, &span, &span));
    must(pool_ntt_domain_destroy(&params.domain));
}

static void note_progress(void *user, uint64_t done, uint64_t total)
{
    ((uint64_t *)user)[0] = done;
    ((uint64_t *)user)[1] = total;
}

static void row_progress(char **a)
{
    const pool_field *field = field_named(a[0]);
    uint64_t last[2] = {0}, count = number(a[2]) << number(a[1]);
    struct bytes items = new_bytes(count * pool_field_element_bytes(field));
    pool_span span = span_of(items, pool_field_element_bytes(field));
    pool_exec exec = {
        .struct_size = sizeof(exec), .device = device, .progress = note_progress, .user = last};
    pool_ntt_params params = {
        .struct_size = sizeof(params), .domain = domain_of(field, a[1]), .batch = number(a[2])};

    must(pool_random_scalars(field, 1, count, POOL_FORM_STANDARD, items.data));
    must(pool_ntt(&params, &exec, &span, &span));
    printf("%" PRIu64 " %" PRIu64 "\n", last[0], last[1]);
    must(pool_ntt_domain_destroy(&params.domain));
}

static pool_poseidon *poseidon_named(const char *name)
{
    pool_poseidon *set;

    must(pool_poseidon_by_name(name, &set));
    return set;
}

static void row_hash(char **a)
{
    pool_poseidon *set = poseidon_named(a[0]);
    const pool_field *field = pool_poseidon_field(set);
    size_t size = pool_field_element_bytes(field), per_hash = number(a[1]);
    struct bytes items = elements(field, a[2]), answer = new_bytes(items.size / per_hash);
    pool_span inputs = span_of(items, size * per_hash), digests = span_of(answer, size);
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};

    must(pool_poseidon_hash(set, &exec, &inputs, (uint32_t)per_hash, &digests));
    show(answer);
    pool_poseidon_destroy(&set);
}

static void row_permute(char **a)
{
    pool_poseidon *set = poseidon_named(a[0]);
    struct bytes items = content(a[1]), answer = new_bytes(items.size);
    pool_span states = span_of(items, items.size), results = span_of(answer, answer.size);
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};

    must(pool_poseidon_permute(set, &exec, &states, &results));
    show(answer);
    pool_poseidon_destroy(&set);
}

static void row_merkle(char **a)
{
    pool_poseidon *set = poseidon_named(a[0]);
    const pool_field *field = pool_poseidon_field(set);
    size_t size = pool_field_element_bytes(field);
    struct bytes items = elements(field, a[2]), levels;
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = (uint32_t)number(a[1])};
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};
    pool_span leaves = span_of(items, size), out;
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};

    must(pool_merkle_get_shape(set, &params, leaves.count, &shape));
    levels = new_bytes(shape.bytes);
    out = span_of(levels, size);
    must(pool_poseidon_merkle_build(set, &exec, &params, &leaves, &out));
    show((struct bytes){levels.data + levels.size - size, size});
    pool_poseidon_destroy(&set);
}

static void row_hash_unknown(char **a)
{
    pool_poseidon *set;

    show_status(pool_poseidon_by_name(a[0], &set));
}

/* --- curves --------------------------------------------------------------------------------------
 */

struct msm {
    const pool_curve *curve;
    pool_msm_params params;
    pool_exec exec;
    pool_span points;
    pool_span scalars;
    pool_span results;
    struct bytes answer;
};

static const pool_curve *curve_named(const char *name)
{
    const pool_curve *curve = pool_curve_by_name(name);

    if (!curve)
        must(pool_last_error()->status);
    return curve;
}

/* CURVE @points @scalars */
static struct msm msm_of(char **a, uint64_t batch)
{
    const pool_curve *curve = curve_named(a[0]);
    size_t size = pool_point_bytes(curve, POOL_POINT_AFFINE);
    struct msm msm = {.curve = curve,
        .params = {.struct_size = sizeof(msm.params), .curve = curve, .batch = batch},
        .exec = {.struct_size = sizeof(msm.exec), .device = device},
        .points = span_of(content(a[1]), size),
        .scalars = span_of(content(a[2]), pool_field_element_bytes(pool_curve_scalar_field(curve))),
        .answer = new_bytes(batch * size)};

    msm.results = span_of(msm.answer, size);
    return msm;
}

static pool_status compute(struct msm *msm)
{
    return pool_msm(&msm->params, &msm->exec, &msm->points, &msm->scalars, &msm->results);
}

static void row_msm(char **a)
{
    struct msm msm = msm_of(a, number(a[3]));

    msm.params.shared_bases = atoi(a[4]);
    must(compute(&msm));
    show(msm.answer);
}

static void row_msm_bases(char **a)
{
    struct msm msm = msm_of(a, 1);
    pool_bases_params params = {.struct_size = sizeof(params),
        .curve = msm.curve,
        .precompute_factor = strcmp(a[3], "all") ? (uint32_t)number(a[3]) : POOL_PRECOMPUTE_ALL};

    must(pool_bases_create(&params, &msm.exec, &msm.points, &msm.params.bases));
    must(pool_msm(&msm.params, &msm.exec, NULL, &msm.scalars, &msm.results));
    show(msm.answer);
    must(pool_bases_destroy(&msm.params.bases));
}

static void row_msm_device(char **a)
{
    struct msm msm = msm_of(a, 1);
    pool_buffer *points = upload(content(a[1])), *scalars = upload(content(a[2])), *result;

    must(pool_buffer_alloc(device, msm.answer.size, &result));
    must(pool_buffer_span(points, 0, msm.points.count, POOL_FORM_STANDARD, &msm.points));
    must(pool_buffer_span(scalars, 0, msm.scalars.count, POOL_FORM_STANDARD, &msm.scalars));
    must(pool_buffer_span(result, 0, 1, POOL_FORM_STANDARD, &msm.results));
    must(compute(&msm));
    show_buffer(&result);
    must(pool_buffer_destroy(&points));
    must(pool_buffer_destroy(&scalars));
}

static void row_msm_async(char **a)
{
    struct msm msm = msm_of(a, 1);
    pool_stream *stream;

    must(pool_stream_create(device, NULL, &stream));
    msm.exec.stream = stream;
    msm.exec.is_async = 1;
    must(compute(&msm));
    must(pool_stream_synchronize(stream));
    show(msm.answer);
    must(pool_stream_destroy(&stream));
}

static void row_msm_lease(char **a)
{
    struct msm msm = msm_of(a, 1);
    pool_request request = {
        .struct_size = sizeof(request), .bytes = number(a[3]), .timeout_ns = POOL_WAIT_FOREVER};

    must(pool_acquire(shared, &request, &msm.exec.lease));
    msm.exec.device = NULL;
    must(compute(&msm));
    show(msm.answer);
    must(pool_release(&msm.exec.lease));
}

static void row_msm_error(char **a)
{
    struct msm msm = msm_of(a, 1);

    msm.exec.checks = strcmp(a[3], "canonical") ? POOL_CHECK_ON_CURVE : POOL_CHECK_CANONICAL;
    show_status(compute(&msm));
}

static void row_cancelled(char **a)
{
    struct msm msm = msm_of(a, 1);

    must(pool_cancel_create(&msm.exec.cancel));
    pool_cancel_request(msm.exec.cancel);
    show_status(compute(&msm));
    pool_cancel_destroy(&msm.exec.cancel);
}

static void row_encode(char **a)
{
    const pool_curve *curve = curve_named(a[0]);
    struct bytes points = content(a[1]);
    size_t count = points.size / pool_point_bytes(curve, POOL_POINT_AFFINE);
    struct bytes encoded =
        new_bytes(count * pool_encoding_bytes(curve, POOL_ENCODING_ZCASH_COMPRESSED));

    must(pool_points_encode(
        curve, NULL, points.data, count, POOL_ENCODING_ZCASH_COMPRESSED, 0, encoded.data));
    show(encoded);
}

static void row_decode_error(char **a)
{
    const pool_curve *curve = curve_named(a[0]);
    struct bytes encoded = content(a[1]),
                 point = new_bytes(pool_point_bytes(curve, POOL_POINT_AFFINE));

    show_status(pool_points_decode(curve, POOL_ENCODING_ZCASH_COMPRESSED, 0, encoded.data, 1,
        POOL_CHECK_SUBGROUP, NULL, point.data));
}

static void row_point_add(char **a)
{
    struct bytes p = content(a[1]), sum = new_bytes(p.size);

    must(pool_point_add(curve_named(a[0]), NULL, p.data, content(a[2]).data, sum.data));
    show(sum);
}

static void row_point_multiply(char **a)
{
    struct bytes p = content(a[1]), product = new_bytes(p.size);
    uint64_t scalar = number(a[2]);

    must(pool_point_mul(
        curve_named(a[0]), NULL, p.data, (const uint8_t *)&scalar, sizeof(scalar), product.data));
    show(product);
}

/* --- leases and faults ---------------------------------------------------------------------------
 */

static pool_lease *acquire(device_pool *pool, uint64_t bytes, uint32_t devices)
{
    pool_request request = {.struct_size = sizeof(request),
        .bytes = bytes,
        .devices = devices,
        .timeout_ns = POOL_WAIT_FOREVER};
    pool_lease *lease;

    must(pool_acquire(pool, &request, &lease));
    return lease;
}

static uint64_t leased_bytes(const pool_lease *lease)
{
    pool_lease_info info = {.struct_size = sizeof(info)};

    must(pool_lease_get_info(lease, &info));
    return info.bytes;
}

static void row_lease(char **a)
{
    device_pool *pool = open_pool(a[0], 0);
    pool_lease *lease = acquire(pool, number(a[1]), (uint32_t)number(a[2]));

    printf("%" PRIu64 " %u\n", leased_bytes(lease), pool_lease_device_count(lease));
    must(pool_release(&lease));
    must(pool_destroy(&pool));
}

static pool_status allocate_under(pool_lease *lease, uint64_t bytes, pool_buffer **buffer)
{
    pool_buffer_params params = {.struct_size = sizeof(params), .bytes = bytes, .lease = lease};
    pool_device *leased;

    must(pool_lease_device(lease, 0, &leased));
    return pool_buffer_create(leased, &params, buffer);
}

static void row_lease_used(char **a)
{
    device_pool *pool = open_pool(a[0], 0);
    pool_lease *lease = acquire(pool, number(a[1]), 1);
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    pool_buffer *buffer;

    must(allocate_under(lease, number(a[2]), &buffer));
    must(pool_lease_get_usage(lease, 0, &usage));
    printf("%" PRIu64 "\n", usage.used_bytes);
    must(pool_buffer_destroy(&buffer));
    must(pool_release(&lease));
    must(pool_destroy(&pool));
}

static void row_lease_exceeded(char **a)
{
    device_pool *pool = open_pool(a[0], 0);
    pool_lease *lease = acquire(pool, number(a[1]), 1);
    pool_buffer *buffer;

    show_status(allocate_under(lease, number(a[2]), &buffer));
    must(pool_release(&lease));
    must(pool_destroy(&pool));
}

static void row_lease_slots(char **a)
{
    device_pool *pool = open_pool(a[0], 0);
    pool_request request = {.struct_size = sizeof(request), .slots = (uint32_t)number(a[1])};
    pool_lease *lease;

    show_status(pool_acquire(pool, &request, &lease));
    must(pool_destroy(&pool));
}

static void row_lease_timeout(char **a)
{
    device_pool *pool = open_pool(a[0], 1);
    pool_lease *all = acquire(pool, 0, (uint32_t)pool_device_count(pool)), *lease;
    pool_request request = {.struct_size = sizeof(request), .timeout_ns = 1000000};

    show_status(pool_acquire(pool, &request, &lease));
    must(pool_release(&all));
    must(pool_destroy(&pool));
}

static void wait_for(pool_ticket *ticket)
{
    struct pollfd item = {.events = POLLIN};

    must(pool_ticket_fd(ticket, &item.fd));
    if (poll(&item, 1, 30000) != 1)
        exit(1);
}

static void row_ticket(char **a)
{
    device_pool *pool = open_pool(a[0], 1);
    pool_lease *all = acquire(pool, 0, (uint32_t)pool_device_count(pool)), *lease;
    pool_request request = {
        .struct_size = sizeof(request), .bytes = number(a[1]), .timeout_ns = POOL_WAIT_FOREVER};
    pool_ticket *ticket;

    must(pool_acquire_async(pool, &request, NULL, NULL, &ticket));
    if (pool_ticket_take(ticket, &lease) != POOL_ERR_NOT_READY)
        exit(1);
    must(pool_release(&all));
    wait_for(ticket);
    must(pool_ticket_take(ticket, &lease));
    printf("%" PRIu64 "\n", leased_bytes(lease));
    must(pool_ticket_destroy(&ticket));
    must(pool_release(&lease));
    must(pool_destroy(&pool));
}

static void row_ticket_cancelled(char **a)
{
    device_pool *pool = open_pool(a[0], 1);
    pool_lease *all = acquire(pool, 0, (uint32_t)pool_device_count(pool)), *lease;
    pool_request request = {.struct_size = sizeof(request), .timeout_ns = POOL_WAIT_FOREVER};
    pool_ticket *ticket;

    must(pool_cancel_create(&request.cancel));
    must(pool_acquire_async(pool, &request, NULL, NULL, &ticket));
    pool_cancel_request(request.cancel);
    wait_for(ticket);
    show_status(pool_ticket_take(ticket, &lease));
    must(pool_ticket_destroy(&ticket));
    pool_cancel_destroy(&request.cancel);
    must(pool_release(&all));
    must(pool_destroy(&pool));
}

static void row_fault(char **a)
{
    pool_buffer *buffer;
    pool_status status;

    must(pool_sim_set_faults(a[0]));
    status = pool_buffer_alloc(device, 1 << 20, &buffer);
    show_failure(status, 1);
    must(pool_sim_set_faults(NULL));
}

static void row_worker(char **a)
{
    device_pool *pool = open_pool(a[0], 0);
    pool_status status = POOL_OK;

    for (int i = 0; i < 1000 && !status; i++) {
        pool_buffer *buffer = NULL;
        char text[6] = "";

        status = pool_buffer_from_host(device_at(pool, 0), "worker", 6, &buffer);
        if (!status)
            status = pool_copy_to_host(text, buffer, 0, 6, NULL);
        if (!status && memcmp(text, "worker", 6))
            exit(1);
        (void)pool_buffer_destroy(&buffer); /* the failure is the copy's */
    }
    show_failure(status, 0);
    must(pool_destroy(&pool));
}

static void row_poisoned(char **a)
{
    pool_module *module = load(a[0]);
    pool_kernel *kernel;
    pool_buffer *buffer;
    pool_status status;

    must(pool_kernel_get(module, a[1], &kernel));
    must(pool_buffer_alloc(device, 4, &buffer));
    must(pool_sim_set_faults(a[2]));
    status = launch(kernel, buffer, 1, 1, 3);
    if (!status)
        status = pool_device_synchronize(device);
    show_failure(status, 1);
}

/* -------------------------------------------------------------------------------------------------
 */

static const struct operation {
    const char *name;
    void (*run)(char **arguments); /* which end with NULL */
} operations[] = {
#define OPERATION(name)                                                                            \
    {                                                                                              \
#name, row_##name                                                                          \
    }
    OPERATION(version), OPERATION(devices), OPERATION(next), OPERATION(best),
    OPERATION(pick_filter), OPERATION(pick_score), OPERATION(by_uuid), OPERATION(total),
    OPERATION(health), OPERATION(create_error), OPERATION(bound), OPERATION(not_bound),
    OPERATION(copy), OPERATION(slice), OPERATION(fill), OPERATION(copy_error), OPERATION(pinned),
    OPERATION(stream), OPERATION(launch), OPERATION(launch_error), OPERATION(kernel_error),
    OPERATION(image_error), OPERATION(field), OPERATION(field_custom), OPERATION(field_error),
    OPERATION(field_unknown), OPERATION(root), OPERATION(montgomery), OPERATION(vector),
    OPERATION(ntt), OPERATION(ntt_error), OPERATION(progress), OPERATION(hash), OPERATION(permute),
    OPERATION(merkle), OPERATION(hash_unknown), OPERATION(msm), OPERATION(msm_bases),
    OPERATION(msm_device), OPERATION(msm_async), OPERATION(msm_lease), OPERATION(msm_error),
    OPERATION(cancelled), OPERATION(encode), OPERATION(decode_error), OPERATION(point_add),
    OPERATION(point_multiply), OPERATION(lease), OPERATION(lease_used), OPERATION(lease_exceeded),
    OPERATION(lease_slots), OPERATION(lease_timeout), OPERATION(ticket),
    OPERATION(ticket_cancelled), OPERATION(fault), OPERATION(worker), OPERATION(poisoned)};

static void read_data(const char *name, const char *digits)
{
    named = realloc(named, (named_count + 1) * sizeof(*named));
    if (!named)
        exit(1);
    named[named_count++] = (struct named){strdup(name), from_hex(digits)};
}

static void run_row(char **words)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (strcmp(operations[i].name, words[1]))
            continue;
        printf("%s ", words[0]);
        operations[i].run(words + 2);
        fflush(stdout);
        return;
    }
    fprintf(stderr, "no operation %s\n", words[1]);
    exit(1);
}

int main(int argc, char **argv)
{
    static char line[MAX_BYTES];
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (!file)
        return 1;
    shared = open_pool("sim:3", 0);
    device = device_at(shared, 0);
    while (fgets(line, sizeof(line), file)) {
        char *words[MAX_WORDS] = {0}, *kind = strtok(line, " \n");
        int count = 0;

        while (kind && count < MAX_WORDS - 1 && (words[count] = strtok(NULL, " \n")) &&
               strcmp(words[count], "="))
            count++;
        words[count] = NULL;
        if (kind && !strcmp(kind, "data"))
            read_data(words[0], words[1]);
        if (kind && !strcmp(kind, "row"))
            run_row(words);
    }
    return fclose(file) ? 1 : 0;
}

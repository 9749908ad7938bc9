/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous calls over 1, 2, 3, 4 and 8 devices, with and without peer access: transforms that
 * are split and distributed, extensions, hashes, sponges, transforms of points, trees. Each call is
 * enqueued behind a host function that returns only after the call has, between copies of its input
 * and of its results; streams of the caller, of leases and default ones. What is refused, failures
 * of driver calls, cancellation, captures.
 *
 *   test_async_several [DEVICES]
 */
#include <pthread.h>

#include <devicepool/graph.h>

#include "support/ecntt.h"
#include "support/ntt_extend.h"
#include "support/sample.h"
#include "support/several.h"

/* ---- jobs ------------------------------------------------------------------------------------ */

struct job {
    uint32_t count; /* of devices */
    struct several_shards *in, *out;
    bool in_is_cyclic, out_is_cyclic;
    uint8_t *data;   /* input items */
    uint8_t *wanted; /* output items */
    pool_status (*call)(
        const void *user, const pool_exec *exec, const pool_span *in, const pool_span *out);
    const void *user;
};

static pool_status call_ntt(
    const void *user, const pool_exec *exec, const pool_span *in, const pool_span *out)
{
    return pool_ntt(user, exec, in, out);
}

static pool_status call_extend(
    const void *user, const pool_exec *exec, const pool_span *in, const pool_span *out)
{
    return pool_ntt_extend(user, exec, in, NULL, out);
}

static pool_status call_ecntt(
    const void *user, const pool_exec *exec, const pool_span *in, const pool_span *out)
{
    return pool_ecntt(user, exec, in, out);
}

static pool_status call_hash(
    const void *user, const pool_exec *exec, const pool_span *in, const pool_span *out)
{
    return pool_poseidon_hash(user, exec, in, 2, out);
}

static pool_status call_sponge(
    const void *user, const pool_exec *exec, const pool_span *in, const pool_span *out)
{
    const pool_poseidon_sponge_params sponge = {
        .struct_size = sizeof(sponge), .elements = 5, .output_elements = 2};

    return pool_poseidon_sponge(user, exec, &sponge, in, out);
}

struct tree {
    const pool_poseidon *set;
    pool_merkle_params params;
};

static pool_status call_tree(
    const void *user, const pool_exec *exec, const pool_span *in, const pool_span *out)
{
    const struct tree *tree = user;

    return pool_poseidon_merkle_build(tree->set, exec, &tree->params, in, out);
}

static void free_job(struct job *job)
{
    if (job->out != job->in)
        several_free(job->out);
    several_free(job->in);
    free(job->data);
    free(job->wanted);
}

static uint64_t total_bytes(const struct several_shards *shards)
{
    return shards->span.count * shards->item_bytes;
}

/* ---- one call -------------------------------------------------------------------------------- */

/* Keeps a stream from going on. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_open;
};

static void pass_gate(void *user)
{
    struct gate *gate = user;

    pthread_mutex_lock(&gate->lock);
    while (!gate->is_open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void open_gate(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->is_open = true;
    pthread_cond_signal(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

/* Waits for events of other devices make the calling thread wait. */
static bool has_workers(void)
{
    return strncmp(several_text, "workers", 7) == 0;
}

/* Items in the order of the shards, `to_items`: back. */
static void arrange(const struct several_shards *shards, bool is_cyclic, uint8_t *items,
    uint8_t *arranged, bool to_items)
{
    const uint64_t bytes = shards->item_bytes;
    uint64_t at = 0;

    for (uint32_t i = 0; i < shards->count; i++)
        for (uint64_t k = 0; k < shards->shard[i].count; k++, at++) {
            uint8_t *item = items + (is_cyclic ? i + k * shards->count : at) * bytes;

            memcpy(to_items ? item : arranged + at * bytes, to_items ? arranged + at * bytes : item,
                bytes);
        }
}

/* Enqueues copies between pinned memory and all shards behind the work of `stream`, and before the
 * work that it gets next. */
static void enqueue_copies(
    const struct several_shards *shards, uint8_t *arranged, bool to_host, pool_stream *stream)
{
    pool_stream *side[SEVERAL_MAX];

    for (uint32_t i = 0; i < shards->count; i++)
        assert_ok(pool_stream_create(several[i], NULL, &side[i]));
    assert_ok(pool_stream_fork(stream, side, shards->count));
    for (uint32_t i = 0; i < shards->count; i++) {
        const uint64_t bytes = shards->shard[i].count * shards->item_bytes;

        if (bytes && to_host)
            assert_ok(pool_copy_to_host(arranged, shards->buffer[i], 0, bytes, side[i]));
        else if (bytes)
            assert_ok(pool_copy_to_device(shards->buffer[i], 0, arranged, bytes, side[i]));
        arranged += bytes;
    }
    assert_ok(pool_stream_join(stream, side, shards->count));
    for (uint32_t i = 0; i < shards->count; i++)
        assert_ok(pool_stream_destroy(&side[i]));
}

/* Which stream the call has its place in. */
enum { OWN_STREAM, DEFAULT_STREAM, LEASE_STREAM, STREAMS };

static void run_between_copies(const struct job *job, pool_exec *exec, pool_stream *stream)
{
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    const uint64_t in_bytes = total_bytes(job->in), out_bytes = total_bytes(job->out);
    uint8_t *got = calloc(out_bytes + 1, 1), *input, *output;
    pool_pinned *pinned[2];

    assert_ok(pool_pinned_create(several[0], in_bytes + 1, 0, &pinned[0]));
    assert_ok(pool_pinned_create(several[0], out_bytes + 1, 0, &pinned[1]));
    input = pool_pinned_data(pinned[0]);
    output = pool_pinned_data(pinned[1]);
    arrange(job->in, job->in_is_cyclic, job->data, input, false);
    memset(output, 0, out_bytes);
    if (!has_workers())
        assert_ok(pool_stream_call(stream, pass_gate, &gate));
    enqueue_copies(job->in, input, false, stream);
    assert_ok(job->call(job->user, exec, &job->in->span, &job->out->span));
    enqueue_copies(job->out, output, true, stream);
    if (!has_workers())
        assert_status(pool_stream_query(stream), POOL_ERR_NOT_READY);
    open_gate(&gate);
    assert_ok(pool_stream_synchronize(stream));
    arrange(job->out, job->out_is_cyclic, got, output, true);
    assert_memory_equal(got, job->wanted, out_bytes);
    assert_ok(pool_pinned_destroy(&pinned[0]));
    assert_ok(pool_pinned_destroy(&pinned[1]));
    free(got);
}

static void check_enqueued(const struct job *job, int kind)
{
    const uint64_t enough[SEVERAL_MAX] = {1 << 20, 1 << 20};
    pool_exec exec = several_exec(job->count);
    pool_stream *stream = NULL;
    pool_device *device;

    if (kind == OWN_STREAM) {
        assert_ok(pool_stream_create(several[0], NULL, &stream));
        exec.stream = stream;
    } else if (kind == DEFAULT_STREAM) {
        assert_ok(pool_stream_default(several[0], &stream));
    } else { /* whose devices are in any order */
        bool is_in_order = true;

        exec.lease = several_lease(2, enough);
        for (uint32_t i = 0; i < several_count; i++) {
            assert_ok(pool_lease_device(exec.lease, i, &device));
            is_in_order &= device == several[i];
            if (device == several[0])
                assert_ok(pool_lease_stream(exec.lease, i, &stream));
        }
        if (is_in_order) /* the first ones of the lease */
            exec.devices = NULL;
    }
    /* The first call creates tables and loads kernels, for which it waits. */
    several_upload(job->in, job->data, job->in_is_cyclic);
    assert_ok(job->call(job->user, &exec, &job->in->span, &job->out->span));
    exec.is_async = 1;
    run_between_copies(job, &exec, stream);
    if (kind == OWN_STREAM)
        assert_ok(pool_stream_destroy(&stream));
    if (exec.lease)
        assert_ok(pool_release(&exec.lease));
}

static void check_job(struct job *job, uint32_t turn)
{
    check_enqueued(job, (int)(turn % STREAMS));
    free_job(job);
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Whole transforms on each device; without `divides`, one of which each device has a part. */
static struct job ntt_job(
    const pool_ntt_params *params, uint32_t count, bool in_place, bool divides, uint64_t seed)
{
    const pool_field *field = params->domain->field;
    const uint64_t batch = params->batch ? params->batch : 1;
    const uint64_t n = UINT64_C(1) << params->domain->log_size;
    struct job job = {.count = count,
        .data = ntt_random(field, seed, batch * n),
        .call = call_ntt,
        .user = params,
        .in_is_cyclic = !divides && (params->order == POOL_NTT_NN || params->order == POOL_NTT_NR),
        .out_is_cyclic =
            !divides && (params->order == POOL_NTT_NN || params->order == POOL_NTT_RN)};
    uint64_t first[SEVERAL_MAX + 1];

    if (divides)
        several_divide(count, batch, n, true, first);
    else
        several_divide(count, count, n / count, false, first);
    job.in = several_allocate(count, field->bytes, POOL_FORM_STANDARD, first);
    job.out = in_place ? job.in : several_allocate(count, field->bytes, POOL_FORM_STANDARD, first);
    job.wanted = ntt_expected(params, job.data);
    return job;
}

static void test_split_transforms(void **state)
{
    static const char *const names[] = {"babybear", "goldilocks", "bn254_fr"};
    uint32_t turn = 0;

    (void)state;
    for (uint32_t count = 2; count <= several_count; count *= 2)
        for (int order = 0; order < 4; order++, turn++) {
            const pool_ntt_params params = {.struct_size = sizeof(params),
                .domain = ntt_domain(ntt_field(names[turn % 3]), 6 + turn % 3),
                .order = (pool_ntt_order)order,
                .direction = (pool_ntt_direction)(turn & 1),
                .coset = turn >> 1 & 1};
            struct job job = ntt_job(&params, count, turn % 2, false, turn);

            check_job(&job, turn);
            assert_ok(pool_ntt_domain_destroy((pool_ntt_domain **)(uintptr_t)&params.domain));
        }
}

static void test_batches(void **state)
{
    uint32_t turn = 0;

    (void)state;
    for
        several_each(count)
        {
            for (int way = 0; way < 3; way++, turn++) {
                pool_ntt_params params = {.struct_size = sizeof(params),
                    .domain = ntt_domain(ntt_field("babybear"), 5),
                    .order = (pool_ntt_order)(turn & 3),
                    .batch = count + next_random() % 9};
                struct job job = ntt_job(&params, count, way == 1, true, turn);

                check_job(&job, turn);
                assert_ok(pool_ntt_domain_destroy(&params.domain));
            }
        }
}

static void test_extensions(void **state)
{
    uint32_t turn = 0;

    (void)state;
    for
        several_each(count)
        {
            const uint64_t batch = 1 + next_random() % 9;
            pool_ntt_extend_params params = {.struct_size = sizeof(params),
                .domain = ntt_domain(ntt_field("babybear"), 6),
                .log_blowup = 1 + turn % 2,
                .order = POOL_NTT_NR,
                .batch = batch};
            const uint64_t points = 64u >> params.log_blowup;
            uint64_t columns[SEVERAL_MAX + 1], first[SEVERAL_MAX + 1];
            struct ntt_extend_answer answer;
            struct job job = {.count = count, .call = call_extend, .user = &params};

            several_divide(count, batch, 1, true, columns);
            job.data = ntt_random(params.domain->field, turn, batch * points);
            answer = ntt_extend_expected(&params, job.data);
            job.wanted = malloc(batch * 64 * 4);
            memcpy(job.wanted, answer.out, batch * 64 * 4);
            ntt_extend_free(&answer);
            for (uint32_t i = 0; i <= count; i++)
                first[i] = columns[i] * points;
            job.in = several_allocate(count, 4, POOL_FORM_STANDARD, first);
            for (uint32_t i = 0; i <= count; i++)
                first[i] = columns[i] * 64;
            job.out = several_allocate(count, 4, POOL_FORM_STANDARD, first);
            check_job(&job, turn++);
            assert_ok(pool_ntt_domain_destroy(&params.domain));
        }
}

static void test_hashes(void **state)
{
    const pool_exec host = {.struct_size = sizeof(host), .on_host = 1};
    pool_poseidon *set;
    uint32_t turn = 0;

    (void)state;
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    for
        several_each(count)
        {
            const uint64_t items = 1 + next_random() % 30;
            const uint64_t from = turn % 2 ? 5 : 2, to = turn % 2 ? 2 : 1;
            struct job job = {
                .count = count, .call = turn % 2 ? call_sponge : call_hash, .user = set};
            uint64_t first[SEVERAL_MAX + 1];
            pool_span in = {.count = items}, out = {.count = items};

            in.data = job.data = ntt_random(pool_poseidon_field(set), turn, items * from);
            out.data = job.wanted = calloc(items * to, 32);
            assert_ok(job.call(set, &host, &in, &out));
            several_divide(count, items, 1, true, first);
            job.in = several_allocate(count, from * 32, POOL_FORM_STANDARD, first);
            job.out = several_allocate(count, to * 32, POOL_FORM_STANDARD, first);
            check_job(&job, turn++);
        }
    pool_poseidon_destroy(&set);
}

static void test_points(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    pool_ecntt_params params = ecntt_params_of(curve, 1);
    struct ecntt_problem problem;
    struct job job = {.count = 2, .call = call_ecntt, .user = &params};
    const uint64_t first[] = {0, 2, 6};

    (void)state;
    params.batch = 3;
    problem = ecntt_random(curve, 5, 6);
    job.data = malloc(6 * 64);
    memcpy(job.data, problem.points, 6 * 64);
    job.wanted = ecntt_expected(&params, &problem);
    job.in = several_allocate(2, 64, POOL_FORM_STANDARD, first);
    job.out = several_allocate(2, 64, POOL_FORM_STANDARD, first);
    check_job(&job, OWN_STREAM);
    ecntt_free(&problem);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* Leaves and levels on the devices; the answer is that of a call that waits, which the tests of
 * trees compare with the host's. */
static struct job tree_job(const struct tree *tree, uint32_t count)
{
    const pool_exec exec = several_exec(count);
    struct job job = {.count = count, .call = call_tree, .user = tree};
    uint64_t first[SEVERAL_MAX + 1], digests[SEVERAL_MAX];

    several_divide(count, 16 * count, 4, false, first);
    job.data = ntt_random(pool_poseidon_field(tree->set), count, 64 * count * 8);
    job.in = several_allocate(count, 32, POOL_FORM_STANDARD, first);
    several_upload(job.in, job.data, false);
    assert_ok(pool_poseidon_merkle_shards(tree->set, &exec, &tree->params, &job.in->span, digests));
    for (uint32_t i = 0; i < count; i++)
        first[i + 1] = first[i] + digests[i];
    job.out = several_allocate(count, 32, POOL_FORM_STANDARD, first);
    assert_ok(call_tree(tree, &exec, &job.in->span, &job.out->span));
    job.wanted = malloc(total_bytes(job.out));
    several_download(job.out, job.wanted, false);
    return job;
}

static void test_trees(void **state)
{
    struct tree tree = {.params = {.struct_size = sizeof(tree.params), .arity = 2}};
    pool_poseidon *set;
    uint32_t turn = 0;

    (void)state;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    tree.set = set;
    for
        several_each(count)
        {
            for (tree.params.kept_levels = 0; tree.params.kept_levels < 4;
                 tree.params.kept_levels += 3) {
                struct job job = tree_job(&tree, count);

                check_job(&job, turn++);
            }
        }
    pool_poseidon_destroy(&set);
}

/* An opening waits for the build that its stream has, with and without a stream of the caller. */
static void test_opening_after_build(void **state)
{
    const pool_exec host = {.struct_size = sizeof(host), .on_host = 1};
    struct tree tree = {.params = {.struct_size = sizeof(tree.params), .arity = 2}};
    static uint8_t levels[255 * 32], wanted[7 * 32], got[7 * 32];
    pool_span all = {.data = levels, .count = 255}, expected = {.data = wanted, .count = 7};
    pool_span path = {.data = got, .count = 7}, leaves = {.count = 128};
    pool_exec exec = several_exec(2);
    pool_poseidon *set;
    struct job job;

    (void)state;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    tree.set = set;
    job = tree_job(&tree, 2);
    leaves.data = job.data;
    assert_ok(call_tree(&tree, &host, &leaves, &all));
    exec.is_async = 1;
    for (uint64_t leaf = 0; leaf < 128; leaf += 43) {
        pool_stream *stream = NULL;

        if (leaf % 2)
            assert_ok(pool_stream_create(several[0], NULL, &stream));
        exec.stream = stream;
        for (uint32_t i = 0; i < 2; i++)
            assert_ok(
                pool_buffer_fill32(job.out->buffer[i], 0, job.out->shard[i].count * 8, 0, NULL));
        assert_ok(call_tree(&tree, &exec, &job.in->span, &job.out->span));
        assert_ok(pool_poseidon_merkle_open(
            set, &exec, &tree.params, 128, &job.in->span, &job.out->span, leaf, &path));
        assert_ok(
            pool_poseidon_merkle_open(set, &host, &tree.params, 128, NULL, &all, leaf, &expected));
        assert_memory_equal(got, wanted, sizeof(got));
        assert_ok(pool_stream_destroy(&stream));
    }
    free_job(&job);
    pool_poseidon_destroy(&set);
}

/* ---- host memory ----------------------------------------------------------------------------- */

/* Results in pageable memory are complete when the call returns, those in pinned memory later. */
static void check_host_memory(uint64_t batch, bool is_pinned, bool is_out_sharded)
{
    pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = ntt_domain(ntt_field("babybear"), 6),
        .order = POOL_NTT_NR,
        .batch = batch};
    const uint64_t count = batch << 6, bytes = count * 4;
    const uint64_t first[] = {0, batch > 1 ? 64 : count / 2, count};
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    uint8_t *data = ntt_random(params.domain->field, batch, count), *out = calloc(count, 4);
    uint8_t *wanted = ntt_expected(&params, data);
    struct several_shards *shards = several_allocate(2, 4, POOL_FORM_STANDARD, first);
    pool_span from = ntt_host(data, count), to = ntt_host(out, count);
    pool_exec exec = several_exec(2);
    pool_pinned *pinned[2] = {NULL, NULL};
    pool_stream *stream;

    assert_ok(pool_ntt(&params, &exec, &from, &to));
    memset(out, 0, bytes);
    for (int i = 0; i < 2 && is_pinned; i++)
        assert_ok(pool_pinned_create(several[0], bytes, 0, &pinned[i]));
    if (is_pinned) {
        from.data = memcpy(pool_pinned_data(pinned[0]), data, bytes);
        to.data = memset(pool_pinned_data(pinned[1]), 0, bytes);
    }
    if (is_out_sharded)
        to = shards->span;
    assert_ok(pool_stream_create(several[0], NULL, &stream));
    exec.stream = stream;
    exec.is_async = 1;
    if (is_pinned && !has_workers())
        assert_ok(pool_stream_call(stream, pass_gate, &gate));
    assert_ok(pool_ntt(&params, &exec, &from, &to));
    if (is_pinned && !has_workers())
        assert_status(pool_stream_query(stream), POOL_ERR_NOT_READY);
    open_gate(&gate);
    if (is_pinned || is_out_sharded)
        assert_ok(pool_stream_synchronize(stream));
    if (is_out_sharded)
        several_download(shards, out, false);
    ntt_assert_same(&params, is_out_sharded ? out : to.data, wanted);
    assert_ok(pool_stream_destroy(&stream));
    for (int i = 0; i < 2; i++)
        assert_ok(pool_pinned_destroy(&pinned[i]));
    several_free(shards);
    free(data);
    free(out);
    free(wanted);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

static void test_host_memory(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++)
        for (uint64_t batch = 1; batch <= 3; batch += 2)
            check_host_memory(batch, way & 1, way >> 1);
}

/* A batch of MSMs, each of them whole on a device; all operands in pinned memory. */
static void check_msms(uint32_t count, uint64_t batch)
{
    const uint64_t n = 5, points = n * batch;
    struct msm_problem problem =
        msm_problem_random(pool_curve_by_name("bn254_g1"), points, 7 * count);
    pool_msm_params params = {
        .struct_size = sizeof(params), .curve = problem.curve, .batch = batch};
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    const uint64_t bytes[] = {
        points * problem.point_bytes, points * problem.scalar_bytes, batch * problem.point_bytes};
    uint8_t *wanted = msm_expect_batch(&problem, batch, 0);
    pool_span spans[] = {{.count = points}, {.count = points}, {.count = batch}};
    pool_exec exec = several_exec(count);
    pool_pinned *pinned[3];
    pool_stream *stream;

    for (int i = 0; i < 3; i++) {
        assert_ok(pool_pinned_create(several[0], bytes[i], 0, &pinned[i]));
        spans[i].data = pool_pinned_data(pinned[i]);
    }
    memset(spans[0].data, 0, bytes[0]); /* infinities, then the points */
    memcpy(spans[1].data, problem.scalars, bytes[1]);
    exec.is_async = 1;
    assert_ok(pool_stream_create(several[0], NULL, &stream));
    exec.stream = stream;
    assert_ok(pool_msm(&params, &exec, &spans[0], &spans[1], &spans[2])); /* loads kernels */
    assert_ok(pool_stream_synchronize(stream));
    memcpy(spans[0].data, problem.points, bytes[0]);
    if (!has_workers())
        assert_ok(pool_stream_call(stream, pass_gate, &gate));
    assert_ok(pool_msm(&params, &exec, &spans[0], &spans[1], &spans[2]));
    if (!has_workers())
        assert_status(pool_stream_query(stream), POOL_ERR_NOT_READY);
    open_gate(&gate);
    assert_ok(pool_stream_synchronize(stream));
    assert_memory_equal(spans[2].data, wanted, bytes[2]);
    if (count > 1) { /* one of them split */
        params.batch = 1;
        spans[2].count = 1;
        assert_status(
            pool_msm(&params, &exec, &spans[0], &spans[1], &spans[2]), POOL_ERR_UNSUPPORTED);
        assert_says("where MSMs are split");
        exec.is_async = 0;
        assert_ok(pool_msm(&params, &exec, &spans[0], &spans[1], &spans[2]));
    }
    for (int i = 0; i < 3; i++)
        assert_ok(pool_pinned_destroy(&pinned[i]));
    assert_ok(pool_stream_destroy(&stream));
    free(wanted);
    msm_problem_free(&problem);
}

static void test_msms(void **state)
{
    (void)state;
    check_msms(1, 1);
    if (several_count >= 2)
        check_msms(2, 4);
    if (several_count >= 3)
        check_msms(3, 3);
}

/* ---- calls that wait, with a stream ---------------------------------------------------------- */

/* A call that waits starts after the work of its stream. */
static void test_stream_of_waiting_calls(void **state)
{
    pool_ntt_params params = {
        .struct_size = sizeof(params), .domain = ntt_domain(ntt_field("babybear"), 6)};
    struct job job = ntt_job(&params, 2, false, false, 3);
    pool_exec exec = several_exec(2);
    uint8_t *got = calloc(64, 4), *input;
    pool_pinned *pinned;
    pool_stream *stream;

    (void)state;
    assert_ok(pool_stream_create(several[0], NULL, &stream));
    assert_ok(pool_pinned_create(several[0], 256, 0, &pinned));
    input = pool_pinned_data(pinned);
    exec.stream = stream;
    for (uint32_t turn = 0; turn < 2; turn++) { /* split, and in two parts */
        arrange(job.in, job.in_is_cyclic, job.data, input, false);
        enqueue_copies(job.in, input, false, stream);
        assert_ok(job.call(job.user, &exec, &job.in->span, &job.out->span));
        several_download(job.out, got, job.out_is_cyclic);
        assert_memory_equal(got, job.wanted, 256);
        free_job(&job);
        assert_ok(pool_ntt_domain_destroy(&params.domain));
        params.batch = 2;
        params.domain = ntt_domain(ntt_field("babybear"), 5);
        job = ntt_job(&params, 2, false, true, 4);
    }
    free_job(&job);
    free(got);
    assert_ok(pool_pinned_destroy(&pinned));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* Without a stream a call that waits, and copies on the default streams, follow one that does not.
 */
static void test_default_streams(void **state)
{
    const pool_field *field = ntt_field("babybear");

    (void)state;
    for
        several_each(count)
        {
            pool_ntt_params params = {
                .struct_size = sizeof(params), .domain = ntt_domain(field, 6), .batch = count};
            struct job job;
            pool_exec exec = several_exec(count);
            uint8_t *got;

            if (count == 2 || count == 4) /* a split one */
                params.batch = 1;
            job = ntt_job(&params, count, true, params.batch > 1, count);
            got = calloc(params.batch * 64, 4);
            several_upload(job.in, job.data, job.in_is_cyclic);
            for (uint32_t turn = 0; turn < 6; turn++) {
                exec.is_async = turn % 3 != 2;
                params.direction = (pool_ntt_direction)(turn & 1);
                assert_ok(pool_ntt(&params, &exec, &job.in->span, &job.in->span));
            }
            several_download(job.in, got, job.in_is_cyclic);
            assert_memory_equal(got, job.data, params.batch * 64 * 4);
            free_job(&job);
            free(got);
            assert_ok(pool_ntt_domain_destroy(&params.domain));
        }
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void test_refused(void **state)
{
    const uint64_t first[] = {0, 32, 64};
    pool_ntt_params params = {
        .struct_size = sizeof(params), .domain = ntt_domain(ntt_field("babybear"), 6)};
    struct several_shards *shards = several_allocate(2, 4, POOL_FORM_STANDARD, first);
    const pool_merkle_params tree = {.struct_size = sizeof(tree), .arity = 2};
    static uint32_t leaves[64 * 8], levels[127 * 8];
    const pool_span from = {.data = leaves, .count = 64}, to = {.data = levels, .count = 127};
    pool_exec exec = several_exec(2);
    pool_poseidon *set;
    pool_stream *stream;

    (void)state;
    assert_ok(pool_stream_create(several[1], NULL, &stream));
    exec.stream = stream;
    for (exec.is_async = 0; exec.is_async < 2; exec.is_async++) {
        assert_status(
            pool_ntt(&params, &exec, &shards->span, &shards->span), POOL_ERR_WRONG_DEVICE);
        params.batch = 2;
        shards->span.count = 128;
        shards->shard[0].count = shards->shard[1].count = 64;
        assert_status(
            pool_ntt(&params, &exec, &shards->span, &shards->span), POOL_ERR_WRONG_DEVICE);
        params.batch = 0;
        shards->span.count = 64;
        shards->shard[0].count = shards->shard[1].count = 32;
    }
    assert_ok(pool_stream_destroy(&stream));
    exec = several_exec(2);
    exec.is_async = 1;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    assert_status(pool_poseidon_merkle_build(set, &exec, &tree, &from, &to), POOL_ERR_UNSUPPORTED);
    assert_says("`is_async` is not supported");
    pool_poseidon_destroy(&set);
    several_free(shards);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

static void test_refused_capture(void **state)
{
    pool_ntt_params params = {
        .struct_size = sizeof(params), .domain = ntt_domain(ntt_field("babybear"), 6)};
    struct job job = ntt_job(&params, 2, true, false, 1);
    pool_exec exec = several_exec(2);
    pool_stream *stream;
    pool_graph *graph = NULL;

    (void)state;
    assert_ok(pool_stream_create(several[0], NULL, &stream));
    exec.stream = stream;
    exec.is_async = 1;
    several_upload(job.in, job.data, true);
    assert_ok(pool_stream_begin_capture(stream));
    assert_status(pool_ntt(&params, &exec, &job.in->span, &job.out->span), POOL_ERR_UNSUPPORTED);
    assert_says("being captured into a graph, which cannot contain work on several devices");
    assert_status(pool_stream_end_capture(stream, &graph), POOL_ERR_UNSUPPORTED);
    assert_ok(pool_ntt(&params, &exec, &job.in->span, &job.out->span));
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_stream_destroy(&stream));
    free_job(&job);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Each of the first driver calls on one of the devices fails (in a sample every third): the call
 * fails with that, no device has work or memory of the call left, and the next call is right. */
static uint32_t fail_calls(const struct job *job, uint32_t most)
{
    pool_memory_info before[2], after = {.struct_size = sizeof(after)};
    pool_exec exec = several_exec(2);
    uint32_t failures = 0;
    pool_stream *stream;

    exec.is_async = 1;
    assert_ok(pool_stream_create(several[0], NULL, &stream));
    exec.stream = stream;
    for (uint32_t i = 0; i < 2; i++)
        before[i] = several_memory(i);
    for (uint32_t device = 0; device < 2; device++)
        for (uint32_t nth = 1; nth <= most; nth++) {
            if (!is_sampled(nth + device, 3))
                continue;
            char rules[64];
            pool_status status;

            several_upload(job->in, job->data, job->in_is_cyclic);
            snprintf(rules, sizeof(rules), "dev%u.cu*@%u=701", device, nth);
            assert_ok(pool_sim_set_faults(rules));
            status = job->call(job->user, &exec, &job->in->span, &job->out->span);
            failures += status != POOL_OK;
            if (status) {
                assert_says("LAUNCH_OUT_OF_RESOURCES");
                assert_ok(pool_stream_query(stream));
            }
            assert_ok(pool_sim_set_faults(NULL));
            run_between_copies(job, &exec, stream);
            for (uint32_t i = 0; i < 2; i++) {
                assert_ok(pool_device_synchronize(several[i]));
                assert_ok(pool_memory_get_info(several[i], &after));
                assert_int_equal(after.used_bytes, before[i].used_bytes);
                assert_int_equal(after.buffers, before[i].buffers);
            }
        }
    assert_ok(pool_stream_destroy(&stream));
    return failures;
}

static void test_failures(void **state)
{
    pool_ntt_params one = {
        .struct_size = sizeof(one), .domain = ntt_domain(ntt_field("babybear"), 6)};
    pool_ntt_params two = {
        .struct_size = sizeof(two), .domain = one.domain, .order = POOL_NTT_NR, .batch = 4};
    struct tree tree = {
        .params = {.struct_size = sizeof(tree.params), .arity = 2, .kept_levels = 1}};
    pool_poseidon *set;
    struct job jobs[3] = {ntt_job(&one, 2, false, false, 1), ntt_job(&two, 2, false, true, 2)};
    uint32_t failures[3] = {0};

    (void)state;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    tree.set = set;
    jobs[2] = tree_job(&tree, 2);
    for (size_t j = 0; j < 3; j++) {
        if (strncmp(several_text, "sim", 3) == 0 && is_sampled(j, 2)) {
            check_enqueued(&jobs[j], OWN_STREAM);
            failures[j] = fail_calls(&jobs[j], 120);
            assert_true(failures[j] > (takes_a_sample() ? 4 : 8));
        }
        free_job(&jobs[j]);
    }
    pool_poseidon_destroy(&set);
    assert_ok(pool_ntt_domain_destroy(&one.domain));
}

static void cancel_now(void *user, uint64_t done, uint64_t total)
{
    assert_true(done < total);
    pool_cancel_request(user);
}

static void test_cancel(void **state)
{
    const uint64_t first[] = {0, 3 * 32, 6 * 32, 9 * 32, 12 * 32};
    pool_ntt_params params = {
        .struct_size = sizeof(params), .domain = ntt_domain(ntt_field("babybear"), 7), .batch = 3};
    struct several_shards *shards;
    pool_exec exec;
    pool_stream *stream;

    (void)state;
    if (several_count >= 4) {
        shards = several_allocate(4, 4, POOL_FORM_STANDARD, first);
        exec = several_exec(4);
        assert_ok(pool_stream_create(several[0], NULL, &stream));
        exec.stream = stream;
        exec.is_async = 1;
        assert_ok(pool_cancel_create(&exec.cancel));
        exec.progress = cancel_now;
        exec.user = exec.cancel;
        assert_status(pool_ntt(&params, &exec, &shards->span, &shards->span), POOL_ERR_CANCELLED);
        assert_ok(pool_stream_query(stream));
        pool_cancel_destroy(&exec.cancel);
        assert_ok(pool_stream_destroy(&stream));
        several_free(shards);
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_split_transforms),
        cmocka_unit_test(test_batches), cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_hashes), cmocka_unit_test(test_points), cmocka_unit_test(test_trees),
        cmocka_unit_test(test_opening_after_build), cmocka_unit_test(test_host_memory),
        cmocka_unit_test(test_msms), cmocka_unit_test(test_stream_of_waiting_calls),
        cmocka_unit_test(test_default_streams), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_capture), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_cancel)};

    /* Calls over one device, where there are no more. */
    const struct CMUnitTest on_one[] = {cmocka_unit_test(test_batches),
        cmocka_unit_test(test_extensions), cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_trees), cmocka_unit_test(test_msms),
        cmocka_unit_test(test_default_streams)};

    if (argc > 1)
        several_text = argv[1];
    if (several_exist())
        return cmocka_run_group_tests_name("async_several", tests, several_open, several_close);
    return several_count ? cmocka_run_group_tests_name(
                               "async_several on one device", on_one, several_open, several_close)
                         : 77;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous calls of Poseidon on pageable, pinned and device memory, on simulated devices or the
 * machine's own: they do not wait for pinned memory, come after the stream's earlier work and
 * before its later work, run on several streams at once, and after a failure leave nothing behind
 * that still uses the caller's memory.
 */
#include "support/poseidon.h"
#include "support/poseidon_tuning.h"
#include "support/sample.h"

#include <stdatomic.h>
#include <time.h>

enum { COUNT = 29, WIDTH = 3, ELEMENT = 32, GAP = 8, CHUNK = 500 };
enum { PERMUTE, HASH, SPONGE, TREE, OPERATIONS };
enum memory { PAGEABLE, PINNED, DEVICE, MEMORIES };

static pool_poseidon *set;
static pool_stream *stream;
static const uint32_t in_elements[OPERATIONS] = {WIDTH, 2, 5, 4};
static const uint32_t out_elements[OPERATIONS] = {WIDTH, 1, 1, 1};
static const uint64_t out_counts[OPERATIONS] = {
    COUNT, COUNT, COUNT, 29 + 15 + 8 + 4 + 2 + 1}; /* the levels of a tree of 29 leaves */

/* Items in one kind of memory, with a copy that the test reads and writes. */
struct operand {
    enum memory kind;
    size_t item; /* bytes of an item */
    size_t bytes;
    unsigned char *host; /* PAGEABLE and PINNED: the memory itself */
    pool_pinned *pinned;
    pool_buffer *buffer;
    pool_span span;
};

static struct operand operand_of(
    enum memory kind, uint32_t elements, uint64_t count, int is_strided)
{
    size_t item = elements * ELEMENT, stride = item + (is_strided ? GAP : 0);
    struct operand made = {.kind = kind, .item = item, .bytes = count * stride};
    void *address = NULL;
    CUdeviceptr at;

    if (kind == PINNED) {
        assert_ok(pool_pinned_create(device, made.bytes, 0, &made.pinned));
        made.host = pool_pinned_data(made.pinned);
        memset(made.host, 0, made.bytes);
    } else {
        made.host = calloc(1, made.bytes);
    }
    address = made.host;
    if (kind == DEVICE) {
        assert_ok(pool_buffer_zeroed(device, made.bytes, &made.buffer));
        assert_ok(pool_buffer_address(made.buffer, &at));
        address = (void *)(uintptr_t)at;
    }
    made.span = (pool_span){.data = address,
        .count = count,
        .stride = is_strided ? stride : 0,
        .space = kind == DEVICE ? POOL_MEMORY_DEVICE : POOL_MEMORY_HOST};
    return made;
}

static unsigned char *item_at(const struct operand *operand, uint64_t index)
{
    return operand->host + index * (operand->span.stride ? operand->span.stride : operand->item);
}

static void fill(struct operand *operand, uint64_t seed)
{
    for (uint64_t i = 0; i < operand->span.count; i++)
        assert_ok(pool_random_scalars(pool_poseidon_field(set), seed * 1000 + i,
            operand->item / ELEMENT, POOL_FORM_STANDARD, item_at(operand, i)));
    if (operand->kind == DEVICE)
        assert_ok(pool_copy_to_device(operand->buffer, 0, operand->host, operand->bytes, NULL));
}

static void drop(struct operand *operand)
{
    assert_ok(pool_buffer_destroy(&operand->buffer));
    if (!operand->pinned)
        free(operand->host);
    assert_ok(pool_pinned_destroy(&operand->pinned));
}

static pool_status operate(
    int operation, const pool_exec *run, const pool_span *in, const pool_span *out)
{
    pool_poseidon_sponge_params sponge = {.struct_size = sizeof(sponge), .elements = 5};
    pool_merkle_params tree = {.struct_size = sizeof(tree), .arity = 2, .leaf_elements = 4};

    switch (operation) {
    case PERMUTE:
        return pool_poseidon_permute(set, run, in, out);
    case HASH:
        return pool_poseidon_hash(set, run, in, 2, out);
    case SPONGE:
        return pool_poseidon_sponge(set, run, &sponge, in, out);
    default:
        return pool_poseidon_merkle_build(set, run, &tree, in, out);
    }
}

/* What the host computes from the items as they are now, packed. */
static unsigned char *expected(int operation, const struct operand *in)
{
    unsigned char *want = calloc(out_counts[operation], out_elements[operation] * ELEMENT);
    pool_span from = in->span;
    pool_span to = {.data = want, .count = out_counts[operation]};

    from.data = in->host, from.space = POOL_MEMORY_HOST;
    assert_ok(operate(operation, &on_host, &from, &to));
    return want;
}

static void expect(struct operand *out, const unsigned char *want, const char *what)
{
    if (out->kind == DEVICE)
        assert_ok(pool_copy_to_host(out->host, out->buffer, 0, out->bytes, NULL));
    for (uint64_t i = 0; i < out->span.count; i++)
        if (memcmp(item_at(out, i), want + i * out->item, out->item))
            fail_msg("%s: item %llu differs from the host's", what, (unsigned long long)i);
}

static pool_exec asynchronous(pool_stream *on)
{
    pool_exec run = here();

    run.stream = on;
    run.is_async = 1;
    return run;
}

static void check_operation(int operation, enum memory from, enum memory to, int is_strided)
{
    struct operand in = operand_of(from, in_elements[operation], COUNT, is_strided);
    struct operand out = operand_of(to, out_elements[operation], out_counts[operation], is_strided);
    pool_exec run = asynchronous(stream);
    unsigned char *want;
    char what[80];

    fill(&in, (uint64_t)operation + 1);
    want = expected(operation, &in);
    assert_ok(operate(operation, &run, &in.span, &out.span));
    if (from == PAGEABLE || (from == PINNED && is_strided)) /* has been read */
        memset(in.host, 0x5a, in.bytes);
    snprintf(what, sizeof(what), "operation %d, memory %d to %d, strided %d", operation, from, to,
        is_strided);
    if (to == PAGEABLE || (to == PINNED && is_strided)) /* is written */
        expect(&out, want, what);
    assert_ok(pool_stream_synchronize(stream));
    expect(&out, want, what);
    free(want);
    drop(&in);
    drop(&out);
}

/* Small chunks, several per operation, or the default. */
static void choose_chunks(bool are_small)
{
    set->tuning = NULL;
    if (are_small)
        poseidon_tune(set, CHUNK, 128);
}

static void test_memories(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * OPERATIONS * MEMORIES * MEMORIES * 2; i++) {
        if (!is_sampled((size_t)i, 5))
            continue;
        choose_chunks(i % 2);
        check_operation(i / 2 % OPERATIONS, i / 8 % MEMORIES, i / 24 % MEMORIES, i / 72);
    }
    choose_chunks(false);
}

/* A stream's work that waits for the test. */
static atomic_int gate;

static void wait_for_gate(void *user)
{
    const struct timespec pause = {.tv_nsec = 200000};

    (void)user;
    for (int i = 0; !atomic_load(&gate) && i < 50000; i++)
        nanosleep(&pause, NULL);
}

/* The call returns while the stream is blocked, and uses what the stream's earlier work wrote;
 * later work of the stream finds the results. */
struct later {
    struct operand *in;
    struct operand *out;
    const unsigned char *want;
    int is_right;
};

static void write_input(void *user)
{
    const struct later *later = user;

    wait_for_gate(NULL);
    for (uint64_t i = 0; i < later->in->span.count; i++)
        memset(item_at(later->in, i), (int)i + 1, later->in->item);
    for (size_t i = 31; i < later->in->bytes; i += ELEMENT)
        later->in->host[i] = 0; /* below the modulus */
}

static void read_output(void *user)
{
    struct later *later = user;

    later->is_right = memcmp(later->out->host, later->want, later->out->bytes) == 0;
}

static void check_order(int operation)
{
    struct operand in = operand_of(PINNED, in_elements[operation], COUNT, 0);
    struct operand out = operand_of(PINNED, out_elements[operation], out_counts[operation], 0);
    struct later later = {.in = &in, .out = &out};
    pool_exec run = asynchronous(stream);
    unsigned char *want;

    atomic_store(&gate, 1);
    write_input(&later);
    want = expected(operation, &in);
    later.want = want;
    memset(in.host, 0, in.bytes);
    assert_ok(operate(operation, &run, &in.span, &out.span)); /* compiled and loaded from here on */
    assert_ok(pool_stream_synchronize(stream));
    atomic_store(&gate, 0);
    assert_ok(pool_stream_call(stream, write_input, &later));
    assert_ok(operate(operation, &run, &in.span, &out.span));
    assert_ok(pool_stream_call(stream, read_output, &later));
    assert_int_equal(pool_stream_query(stream), POOL_ERR_NOT_READY);
    assert_false(later.is_right);
    atomic_store(&gate, 1);
    assert_ok(pool_stream_synchronize(stream));
    assert_true(later.is_right);
    free(want);
    drop(&in);
    drop(&out);
}

static void test_order(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * OPERATIONS; i++) {
        choose_chunks(i % 2);
        check_order(i / 2);
    }
    choose_chunks(false);
}

/* All that is enqueued on three streams, then waited for; the default stream is one of them. */
static void test_streams(void **state)
{
    enum { STREAMS = 3, CALLS = 4 };
    pool_stream *streams[STREAMS] = {NULL};
    struct operand in[STREAMS][CALLS], out[STREAMS][CALLS];
    unsigned char *want[STREAMS][CALLS];

    (void)state;
    choose_chunks(true);
    for (int s = 1; s < STREAMS; s++)
        assert_ok(pool_stream_create(device, NULL, &streams[s]));
    for (int call = 0; call < CALLS; call++)
        for (int s = 0; s < STREAMS; s++) {
            pool_exec run = asynchronous(streams[s]);
            int operation = (s + call) % OPERATIONS;

            in[s][call] = operand_of(PINNED, in_elements[operation], COUNT, 0);
            out[s][call] = operand_of(PINNED, out_elements[operation], out_counts[operation], 0);
            fill(&in[s][call], (uint64_t)(100 + 10 * s + call));
            want[s][call] = expected(operation, &in[s][call]);
            assert_ok(operate(operation, &run, &in[s][call].span, &out[s][call].span));
        }
    assert_ok(pool_stream_default(device, &streams[0]));
    for (int s = 0; s < STREAMS; s++) {
        assert_ok(pool_stream_synchronize(streams[s]));
        for (int call = 0; call < CALLS; call++) {
            expect(&out[s][call], want[s][call], "several streams");
            drop(&in[s][call]);
            drop(&out[s][call]);
            free(want[s][call]);
        }
        if (s)
            assert_ok(pool_stream_destroy(&streams[s]));
    }
    choose_chunks(false);
}

struct watcher {
    uint64_t calls, done, total;
    pool_cancel *cancel; /* requested at the second call, unless NULL */
};

static void watch(void *user, uint64_t done, uint64_t total)
{
    struct watcher *watcher = user;

    assert_true(done > watcher->done && done <= total);
    watcher->calls++;
    watcher->done = done;
    watcher->total = total;
    if (watcher->cancel && watcher->calls == 2)
        pool_cancel_request(watcher->cancel);
}

/* Progress counts what is enqueued. A cancelled call has ended on the device when it returns. */
static void test_cancel(void **state)
{
    (void)state;
    choose_chunks(true);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        struct operand in = operand_of(PINNED, in_elements[operation], COUNT, 0);
        struct operand out = operand_of(PINNED, out_elements[operation], out_counts[operation], 0);
        struct watcher watcher = {0};
        pool_exec run = asynchronous(stream);
        unsigned char *want;

        fill(&in, (uint64_t)operation + 40);
        want = expected(operation, &in);
        run.progress = watch;
        run.user = &watcher;
        assert_ok(operate(operation, &run, &in.span, &out.span));
        assert_true(watcher.calls > 2);
        assert_int_equal(watcher.done, watcher.total);
        assert_ok(pool_stream_synchronize(stream));
        expect(&out, want, "a watched call");
        watcher.calls = watcher.done = 0;
        assert_ok(pool_cancel_create(&watcher.cancel));
        run.cancel = watcher.cancel;
        assert_int_equal(operate(operation, &run, &in.span, &out.span), POOL_ERR_CANCELLED);
        assert_int_equal(watcher.calls, 2);
        assert_ok(pool_stream_query(stream));
        pool_cancel_destroy(&watcher.cancel);
        run.cancel = NULL;
        run.progress = NULL;
        assert_ok(operate(operation, &run, &in.span, &out.span));
        assert_ok(pool_stream_synchronize(stream));
        expect(&out, want, "after a cancelled call");
        free(want);
        drop(&in);
        drop(&out);
    }
    choose_chunks(false);
}

/* Every copy, launch and event of a call fails once: the stream is idle when the call returns. */
static void test_errors_in_the_middle(void **state)
{
    static const char *const calls[] = {"cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuLaunchKernel*",
        "cuEventRecord", "cuStreamWaitEvent", "cuStreamCreate*", "cuEventCreate",
        "cuMemAllocFromPoolAsync"};
    int failures = 0;

    (void)state;
    choose_chunks(true);
    for (int i = 0; i < OPERATIONS * (int)(sizeof(calls) / sizeof(calls[0])); i++) {
        int operation = i % OPERATIONS;

        if (!is_sampled((size_t)i, 2)) /* each call in one or two operations */
            continue;
        struct operand in = operand_of(PINNED, in_elements[operation], COUNT, 0);
        struct operand out = operand_of(PINNED, out_elements[operation], out_counts[operation], 0);
        pool_exec run = asynchronous(stream);
        unsigned char *want;
        pool_status status = POOL_ERR_INTERNAL;
        char rule[64];

        fill(&in, 60);
        want = expected(operation, &in);
        for (int when = 1; status && when < 60; when++) {
            snprintf(rule, sizeof(rule), "%s@%d=801", calls[i / OPERATIONS], when);
            if (pool_sim_set_faults(rule) == POOL_ERR_NOT_FOUND)
                when = 60; /* no simulated device */
            status = operate(operation, &run, &in.span, &out.span);
            failures += status != POOL_OK;
            if (status)
                assert_ok(pool_stream_query(stream));
        }
        assert_ok(status);
        if (pool_sim_set_faults(NULL))
            pool_sim_set_faults("");
        assert_ok(pool_stream_synchronize(stream));
        expect(&out, want, "after failures");
        free(want);
        drop(&in);
        drop(&out);
    }
    choose_chunks(false);
    if (device_text && strncmp(device_text, "sim", 3) == 0)
        assert_true(failures > (takes_a_sample() ? 50 : 100));
}

static int open_stream(void **state)
{
    (void)state;
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    assert_ok(pool_stream_create(device, NULL, &stream));
    return 0;
}

static int close_all(void **state)
{
    assert_ok(pool_stream_destroy(&stream));
    pool_poseidon_destroy(&set);
    return close_pool(state);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memories),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_errors_in_the_middle),
    };

    if (open_here(argc, argv))
        return 77;
    return cmocka_run_group_tests(tests, open_stream, close_all);
}

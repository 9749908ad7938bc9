/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements of operations on devices: inputs, timing, statistics, and checks of the results.
 * Shared by the devicepool command and the programs of tests/bench; uses public headers only.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include <devicepool.h>

#define BENCH_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- time.c: clock, statistics, reports ---- */

/* Returns monotonic time in seconds. */
double bench_now(void);

/* Sorts the values; the median of an even number of values is the mean of the middle two. */
double bench_median(double *values, size_t count);

/* How a call is timed: between events on the stream or, without a stream, by the host's clock. */
struct bench_timer {
    pool_device *device;
    pool_stream *stream;
    uint64_t warm_ups;                                       /* untimed runs */
    uint64_t repeat;                                         /* timed runs */
    uint64_t calls;                                          /* per run; 0: 1 */
    void (*on_run)(void *user, uint64_t run, uint64_t runs); /* before each run; may be NULL */
    void *user;
};

/* Seconds per call. */
struct bench_timing {
    double median;
    double min;
    double max;
    double host_median; /* until the calls have returned, by the host's clock */
};

pool_status bench_time(const struct bench_timer *timer, pool_status (*call)(void *argument),
    void *argument, struct bench_timing *timing);

/* ---- launches.c: the launches of a call ---- */

enum { BENCH_MAX_KERNELS = 64 };

struct bench_kernel_launches {
    char name[48];
    uint64_t count;
    double longest; /* seconds: the median of the runs' longest launches */
};

/* Of the last run. */
struct bench_launches {
    uint64_t count;
    uint64_t untimed;                                        /* of them, as those of graphs */
    size_t kernel_count;                                     /* 0: all untimed */
    struct bench_kernel_launches kernels[BENCH_MAX_KERNELS]; /* the longest launch first */
};

/* As bench_time; the launches on all devices of the pool are counted, so nothing else may use it.
 */
pool_status bench_time_launches(const struct bench_timer *timer, device_pool *pool,
    pool_status (*call)(void *argument), void *argument, struct bench_launches *launches);

/* A report of the device and the rows, which it owns from now on. */
cJSON *bench_report(pool_device *device, cJSON *rows);

/* Allocates zeroed memory, or exits. */
void *bench_alloc(size_t count, size_t bytes);

/* Fills memory with a reproducible byte pattern. */
void bench_fill_pattern(uint8_t *bytes, uint64_t count);

/* ---- random.c: inputs; element i depends on the seed, i and the field or curve only ---- */

pool_status bench_random_scalars(
    const pool_field *field, uint64_t seed, uint64_t count, pool_form form, void *elements);

/* Packed affine points of the format's form, and their logarithms. */
pool_status bench_random_points(const pool_curve *curve, uint64_t seed, uint64_t count,
    const pool_point_format *format, void *points, void *scalars);

/* ---- threads.c: work that a hung device may prevent from ending ---- */

/*
 * Runs work(argument) on `threads` threads at once and returns true when all have returned. Returns
 * false when a thread is still running but none has returned or called bench_report_progress for
 * `timeout` seconds (0: no limit). The threads keep running then, so their memory must never be
 * freed.
 */
bool bench_run_threads(
    size_t threads, uint64_t timeout, void *(*work)(void *argument), void *argument);
void bench_report_progress(void);
/* Changes at each of its calls, and when a thread returns. */
uint64_t bench_progress(void);
bool bench_has_timed_out(void);

/* The number of online processors, at most `limit`. */
size_t bench_processors(size_t limit);

/* Calls work(user, first, end) for consecutive ranges of 0 to count - 1, on all processors. */
void bench_run_ranges(
    uint64_t count, void (*work)(void *user, uint64_t first, uint64_t end), void *user);

/* ---- check.c: checks by OpenSSL's integers, independent of the library's arithmetic ---- */

/*
 * Whether `out` is the transform of `in` that the params describe (domain, direction, coset, order,
 * layout, batch); both are packed host arrays in standard form. A random linear combination of the
 * batch is evaluated at a random point from the coefficients and, by the barycentric formula, from
 * the values: a wrong output passes with a probability of at most (size + batch) / p. For fields of
 * up to 64 bits that is done at four points, each with a probability of size / p + 2^-32. Uses all
 * processors.
 */
bool bench_check_ntt(const pool_ntt_params *params, const void *in, const void *out);

/* Computes the sum of a[i] b[i mod period] over `count` packed elements in standard form. */
void bench_inner_product(const pool_field *field, const void *a, const void *b, uint64_t count,
    uint64_t period, void *sum);

/* ---- small_field.c: arithmetic of checks, independent of the library's ---- */

enum { BENCH_MAX_DEGREE = 4 };

/* A prime field of at most 64 bits, or an extension base[x] / (x^degree - w) of one. */
struct bench_small_field {
    const pool_field *field;
    uint64_t p;
    uint64_t w;
    uint32_t degree;
    size_t bytes; /* of a coordinate */
};

/* Returns false for other fields and unknown names. */
bool bench_small_field(const char *name, struct bench_small_field *small);

/* Element `index` of packed ones in standard form, to or from its coordinates. */
void bench_small_load(
    const struct bench_small_field *small, const void *packed, uint64_t index, uint64_t *x);
void bench_small_store(
    const struct bench_small_field *small, void *packed, uint64_t index, const uint64_t *x);

/* Results may be operands. `b` of bench_small_scale is in the base field. */
void bench_small_add(
    const struct bench_small_field *small, uint64_t *sum, const uint64_t *a, const uint64_t *b);
void bench_small_scale(
    const struct bench_small_field *small, uint64_t *product, const uint64_t *a, uint64_t b);
void bench_small_multiply(
    const struct bench_small_field *small, uint64_t *product, const uint64_t *a, const uint64_t *b);
void bench_small_power(const struct bench_small_field *small, uint64_t *power, const uint64_t *base,
    uint64_t exponent);
bool bench_small_is_equal(
    const struct bench_small_field *small, const uint64_t *a, const uint64_t *b);

/* ---- measure.c: operations ---- */

/* What is measured. Members that an operation does not have are ignored. */
struct bench_case {
    const char *subject; /* a field, curve, parameter set, kind of copy, or function */
    uint64_t size;
    uint64_t batch; /* 0: 1 */
    pool_ntt_order order;
    pool_ntt_direction direction;
    bool is_coset;
    uint32_t log_blowup; /* of extensions */
    uint32_t precompute_factor;
    uint32_t window_bits;
    uint32_t affine_passes; /* as pool_msm_params */
    const char *scalars;    /* of an MSM, see bench_msm; NULL: uniform */
    bool from_host; /* scalars of an MSM, leaves of a tree: in pinned memory, not on the device */
    bool from_pageable;  /* scalars of an MSM: in pageable host memory */
    bool waits;          /* copies: until they are done, by the host's clock instead of events */
    bool on_device;      /* levels of a tree: in device memory instead of pinned memory */
    bool is_permutation; /* Poseidon: permutations instead of hashes */
    pool_form form;      /* Poseidon, vectors: of inputs and results */
    pool_vector_operation function; /* of vectors */
    pool_matrix_layout layout;      /* of evaluations and rows in bit-reversed order */
    uint32_t log_arity;             /* of folds and trees; trees: 0 is 1 */
    bool commits;                   /* folds, extensions: also to the results */
    const char *key, *witness;      /* files of a proof */
};

enum { BENCH_MAX_DEVICES = 64, BENCH_ARRAYS = 8 };
struct bench_array;

/* The measurement of one case on one device, and its result. */
struct bench_run {
    const struct bench_operation *operation;
    struct bench_case spec;
    device_pool *pool;
    pool_device *device;
    /* One job over the devices that this names, from and to pinned host memory, blocking; `device`
     * is the first of them. NULL: on `device`. Operations with the option "together". */
    const pool_exec *together;
    bool is_sharded; /* together: from and to shards on the devices instead */
    uint64_t warm_ups;
    uint64_t repeat;
    void (*on_stage)(struct bench_run *run, const char *stage); /* may be NULL */
    pool_status (*examine)(struct bench_run *run);              /* after the check; may be NULL */
    void *user;

    struct bench_launches *launches; /* receives them instead of `timing`; NULL: calls are timed */

    double units;         /* processed per call, for the rate */
    uint64_t lease_bytes; /* of a call, where they vary; 0: those of the first call */
    double first_use;     /* seconds of the operation's warm-up */
    struct bench_timing timing;
    bool is_correct;
    int driver_code;      /* of the failure, as is the next */
    char failure[2048];   /* what an operation leaves empty is the thread's last error */
    pool_status prepared; /* of operation->prepare */

    pool_stream *stream; /* of the calls; valid in `examine`, as are the next */
    /* Of the calls. bench_begin sets it to `together`, or to the device, with the stream and
     * asynchronous unless calls block. On one device it may be changed before a call. */
    pool_exec exec;
    void *state;            /* private to the operation */
    pool_buffer *workspace; /* of bench_allocate_workspace */
    /* Freed by bench_end: */
    struct bench_array *arrays[BENCH_ARRAYS];
    void *memory[BENCH_ARRAYS];
};

/* Where the last result is: at `data` in host memory, or from byte `offset` of the buffer on. */
struct bench_result {
    const void *data;
    const pool_buffer *buffer;
    uint64_t offset;
    uint64_t bytes;
};

/*
 * An operation. `create` creates the inputs on the host. `warm_up` compiles and computes tables, as
 * a first use does. `upload` copies the inputs to the device. `call` is measured: it enqueues the
 * work on the stream or, if is_blocking is set, blocks until it is done. `check` compares the last
 * result with an independent answer. `destroy` releases handles, also after any of the others
 * failed; arrays and memory belong to the run.
 */
struct bench_operation {
    const char *name;
    const char *unit;   /* of the rate: "elements", "bytes" … */
    const char *option; /* of the command, that selects subjects: "field" … */
    const char *default_subjects;
    const char *default_sizes;
    const char *options; /* of the command that it takes, besides those of all operations */
    bool is_blocking;
    bool needs_powers; /* sizes are powers of two */
    uint32_t arrays;   /* that are in device memory at the same time, at the least; their items are
                        * the subject's: elements, affine points of a curve, bytes of a copy */
    bool (*has_subject)(const char *subject);
    uint64_t (*max_size)(const char *subject); /* NULL: unbounded */
    pool_status (*create)(struct bench_run *run);
    pool_status (*warm_up)(struct bench_run *run); /* may be NULL */
    pool_status (*upload)(struct bench_run *run);  /* may be NULL */
    pool_status (*prepare)(struct bench_run *run); /* before each run, untimed; may be NULL */
    pool_status (*call)(struct bench_run *run);
    pool_status (*check)(struct bench_run *run, bool *is_correct);
    /* The result of the last call on one device, or the root of a tree, which every bit of the
     * result changes. NULL: `check` compares every byte. */
    void (*result)(const struct bench_run *run, struct bench_result *result);
    void (*destroy)(struct bench_run *run); /* not without a state; NULL: there are no handles */
};

/*
 * MSMs over resident bases, with a workspace. At most 2^20 different bases are created, which
 * repeat. Kinds of scalars: "uniform", "equal" (all the same), "zeros" (99 % of them), "bits" (0
 * and 1), "window" (equal low 16 bits), "geometric" (of geometrically distributed lengths).
 */
extern const struct bench_operation bench_msm;
extern const struct bench_operation bench_ntt;      /* in device memory */
extern const struct bench_operation bench_extend;   /* likewise */
extern const struct bench_operation bench_ecntt;    /* likewise */
extern const struct bench_operation bench_poseidon; /* in device memory */
extern const struct bench_operation bench_tree;     /* levels in pinned host memory */
extern const struct bench_operation bench_open;     /* paths from a tree in device memory */
extern const struct bench_operation bench_commit;   /* of a matrix in device memory */
extern const struct bench_operation bench_fold;     /* in device memory, as are the next three */
extern const struct bench_operation bench_evaluate; /* blocking */
extern const struct bench_operation bench_reverse;
extern const struct bench_operation bench_vector;
extern const struct bench_operation bench_copy;
/* Leases are of pools whose devices have that many slots. */
enum { BENCH_SLOTS = 64 };
extern const struct bench_operation bench_pool;

/* ---- subjects.c: `has_subject`, `max_size` and domains of operations ---- */

bool bench_has_field(const char *subject);
bool bench_has_curve(const char *subject);
bool bench_has_set(const char *subject);
bool bench_has_extension(const char *subject); /* of a field of at most 64 bits */
/* The largest transform over the field, or over an extension's base field. */
uint64_t bench_max_transform(const char *subject);
/* Device memory that the case needs at the least, for all that is there at the same time. */
uint64_t bench_device_bytes(const struct bench_operation *operation, const struct bench_case *spec);
pool_status bench_create_domain(const pool_field *field, uint64_t size, pool_ntt_domain **domain);

/* Items in device memory, in pinned memory, or in shards on the devices of a job. */
struct bench_array {
    pool_span span;
    uint64_t item_bytes;
    pool_buffer *buffer; /* or: */
    pool_pinned *pinned; /* or: */
    bool is_cyclic;      /* shard i has items i, i + count …, else consecutive ones */
    uint32_t shard_count;
    pool_buffer **buffers;
    pool_span *shards;
};
struct bench_items {
    const void *from; /* packed; NULL: zeros, but for device memory, which may have any content */
    uint64_t item_bytes, count;
    pool_form form;
    bool is_pinned;       /* on one device, too */
    uint64_t unit;        /* equal shards have whole units of so many items; 0: 1 */
    bool is_cyclic;       /* shards */
    const uint64_t *each; /* the items of each shard instead */
};
/* Places items in the device's memory or, together, in pinned memory or in shards. The array, which
 * must live as long as the run, is freed by bench_end, also after a failure. */
pool_status bench_place(
    struct bench_run *run, const struct bench_items *items, struct bench_array *array);
/* Copies all items to host memory. */
pool_status bench_gather(const struct bench_array *array, void *to);
/* The last item, the root of a tree's levels; of shards the last one of the first. */
pool_status bench_copy_root(const struct bench_array *levels, void *root);
void bench_array_free(struct bench_array *array);

/* Zeroed memory of the run; exits if there is none. */
void *bench_keep(struct bench_run *run, size_t count, size_t bytes);
/* The workspace of run->exec; 0 bytes: none. */
pool_status bench_allocate_workspace(struct bench_run *run, uint64_t bytes);

/* The state of bench_msm, for measurements of its stages. */
struct bench_msm_state {
    const pool_curve *curve;
    const pool_field *field;
    pool_msm_params params;
    size_t scalar_bytes;
    size_t point_bytes;
    uint64_t base_count; /* different ones */
    uint8_t *bases;      /* packed affine points in Montgomery form */
    uint8_t *logarithms; /* of the bases */
    uint8_t *scalars;
    uint8_t *results;
    struct bench_array pinned; /* the scalars, with from_host */
    pool_bases **device_bases; /* together */
    struct bench_array placed; /* the scalars */
    pool_span scalar_span;
    pool_span result_span;
    double bases_seconds; /* duration of pool_bases_create */
};

/* The state of bench_ntt, for measurements of other tunings. */
struct bench_ntt_state {
    const pool_field *field;
    pool_ntt_params params;
    uint64_t bytes; /* of the input */
    uint8_t *input;
    struct bench_array in;
    struct bench_array out;
};

/* A commitment to one matrix, and what it is checked by. */
struct bench_commitment {
    const pool_matrix_commit_params *params;
    const pool_exec *exec; /* of the openings */
    const pool_matrix *matrix;
    const pool_span *levels;
    const void *root;
    const uint8_t *elements; /* of the matrix, packed in its layout, in host memory */
};
/* Opens a sample of the rows, which have to be those of `elements` and belong to the root. */
pool_status bench_check_openings(const struct bench_commitment *commitment, bool *is_correct);

/* Copies the last result to memory that the caller frees; NULL where the operation has none. */
pool_status bench_read(struct bench_run *run, uint8_t **bytes, uint64_t *count);

/* Measures one case. The result, or the message of the failure, is in the run. */
pool_status bench_measure(struct bench_run *run);

/* Its parts: everything before the timed calls, one of these, and the end, also after a failure of
 * the others, whose message it stores in the run. */
pool_status bench_begin(struct bench_run *run);
pool_status bench_create(struct bench_run *run); /* the first part of it: inputs on the host */
pool_status bench_call(void *run);
void bench_end(struct bench_run *run, pool_status status);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PTX conformance suite: what an instruction does on a device against an answer computed in C,
 * and, by digests of all results, what a simulated device does against a real one.
 *
 * A lane case is one instruction, or a few, run by one thread for each triple of inputs. In its
 * text a b c are the 32-bit inputs and d, e results; la … le are 64 bits wide, ha … he 16 bits; p
 * is a predicate result, q the predicate "bit 0 of c". A program case is a kernel in CUDA C.
 */
#ifndef TESTS_CONFORMANCE_CONFORMANCE_H
#define TESTS_CONFORMANCE_CONFORMANCE_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool.h>

/* What of the registers is the result. The float kinds take every NaN for the same in comparisons
 * with C; the digests are of the bits. */
enum result { R16, R32, R64, PREDICATE, HALF, BFLOAT, FLOAT, DOUBLE, PAIR };

/* Where the inputs come from: all triples of edge values, then seeded random ones. */
enum inputs { INTEGERS, FLOATS, DOUBLES, HALVES, BFLOATS, INPUT_KINDS };

struct lane_case;
typedef uint64_t (*lane_answer)(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c);
/* For approximations: whether `got` is near enough. */
typedef int (*lane_accept)(const struct lane_case *lane, const uint64_t in[3], uint64_t got);

struct lane_case {
    const char *body;
    enum result result;
    enum inputs inputs;
    lane_answer answer;
    const char *name; /* NULL: the first word of the body */
    uint32_t how[4];  /* the answer's own */
    lane_accept accept;
};

/* A kernel (const u32 *in, u32 *out, u32 n) of the group's source; out is zeros before. */
struct program_case {
    const char *kernel;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared;
    int cooperative;
    uint32_t in_words;  /* random, seeded by the kernel's name */
    uint32_t out_words; /* n */
    void (*answer)(const struct program_case *program, const uint32_t *in, uint32_t *out);
};

struct group {
    const char *name;
    const char *source; /* for the programs; NULL: none */
    const struct program_case *programs;
    size_t program_count;
    void (*add)(void); /* adds the lane cases; NULL: there are none */
    int has_no_digests; /* none are committed: only compared with C */
};

extern const struct group *const groups[];
extern const size_t group_count;

/* ---- cases.c: the list of lane cases of the group at hand ----------------------------------- */

void lane_add(const struct lane_case *lane); /* copies the texts */
void lane_add_all(const struct lane_case *lanes, size_t count);
const struct lane_case *lane_at(size_t index);
size_t lane_count(void);
void lane_clear(void);

/* ---- inputs.c ------------------------------------------------------------------------------- */

uint64_t random_next(uint64_t *state);
const uint64_t *input_triples(enum inputs kind, uint32_t *count);
void input_free(void);

/* ---- lanes.c, programs.c: run, compare, record; the number of failed cases ------------------ */

struct runner {
    pool_device *device;
    const char *only; /* a part of the names to run, or NULL */
    int is_verbose;
    unsigned run;
    unsigned failed;
};

void run_lanes(struct runner *runner, const struct group *group);
void run_programs(struct runner *runner, const struct group *group);

/* A call that must succeed. */
void must(pool_status status);

/* ---- digests.c ------------------------------------------------------------------------------ */

int digests_read(const char *path); /* 0 or 1 */
/* Of a case that passed: printed to the file to write, compared with the file read; 1: differs. */
int digest_check(const char *group, const char *name, const void *bytes, size_t size);
int digests_write_to(const char *path);
/* Results whose digests differ go to this file, each after a line "group/name bytes". */
int digests_keep(const char *path);
void digests_close(void);

#define ANSWER(name, expression)                                                                   \
    static uint64_t name(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)         \
    {                                                                                              \
        (void)lane;                                                                                \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        return (uint64_t)(expression);                                                             \
    }

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned __int128 u128;
typedef __int128 s128;

#endif

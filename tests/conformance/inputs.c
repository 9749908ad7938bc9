/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs: every triple of a kind's edge values, then seeded random triples, half of which have
 * similar parts (exponents of floats, lengths of integers).
 */
#include "conformance.h"

#include <stdlib.h>

enum { RANDOM_TRIPLES = 3072, EDGE_LIMIT = 32 };

static const struct {
    unsigned bits;
    unsigned mantissa; /* bits of it; 0: integers */
    unsigned count;
    uint64_t edges[EDGE_LIMIT];
} kinds[INPUT_KINDS] = {
    [INTEGERS] = {64, 0, 27,
        {0, 1, 2, 3, 5, 16, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff,
            0x12345678, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x100000000,
            0x123456789abcdef0, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff}},
    [FLOATS] = {32, 23, 30,
        {0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x3f800000,
            0xbf800000, 0x3f800001, 0x3f7fffff, 0x40000000, 0x3f000000, 0xbf000000, 0x3fc00000,
            0x40490fdb, 0x3eaaaaab, 0x4effffff, 0x4f000000, 0xcf000000, 0x5f000000, 0x477fe000,
            0x477ff000, 0x33800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00001, 0xff800123}},
    [DOUBLES] = {64, 52, 28,
        {0, 0x8000000000000000, 1, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
            0x8010000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001,
            0x3fefffffffffffff, 0x3fe0000000000000, 0xc000000000000000, 0x4008000000000000,
            0x400921fb54442d18, 0x3fd5555555555555, 0x41dfffffffc00000, 0x41e0000000000000,
            0xc1e0000000200000, 0x43e0000000000000, 0x47efffffefffffff, 0x36a0000000000000,
            0x380fffffffffffff, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
            0x7ff8000000000001, 0xfff0000000000123}},
    [HALVES] = {16, 10, 24,
        {0, 0x8000, 1, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x3c01, 0x3bff,
            0x4000, 0x3800, 0xb800, 0x4248, 0x3555, 0x5800, 0x7800, 0x7bff, 0x7c00, 0xfc00, 0x7e01,
            0xfc01}},
    [BFLOATS] = {16, 7, 22,
        {0, 0x8000, 1, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x3f80, 0xbf80, 0x3f81, 0x3f7f,
            0x4000, 0x3f00, 0xbf00, 0x4049, 0x4f00, 0x7f7f, 0x7f80, 0xff80, 0x7fc1, 0xff81}},
};

static uint64_t *made[INPUT_KINDS];
static uint32_t made_count[INPUT_KINDS];

/* splitmix64 */
uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void random_triple(enum inputs kind, uint64_t *state, uint64_t *to)
{
    unsigned bits = kinds[kind].bits, mantissa = kinds[kind].mantissa;
    uint64_t choice = random_next(state);
    uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

    for (int i = 0; i < 3; i++) {
        uint64_t value = random_next(state) & all;

        if (choice & 1 && mantissa) {
            uint64_t middle = UINT64_C(1) << (bits - mantissa - 2); /* twice the bias, nearly */
            uint64_t exponent = middle - 4 + (random_next(state) & 7);

            value &= ((UINT64_C(1) << mantissa) - 1) | UINT64_C(1) << (bits - 1);
            value |= exponent << mantissa;
        } else if (choice & 1) {
            value >>= random_next(state) & 63;
        }
        to[i] = value;
    }
}

static uint64_t *make_triples(enum inputs kind, uint32_t *count)
{
    uint32_t edges = kinds[kind].count, n = 0;
    uint64_t seed = 1000u + (unsigned)kind;
    uint64_t *triples;

    *count = edges * edges * edges + RANDOM_TRIPLES;
    triples = malloc(*count * 3 * sizeof(*triples));
    if (!triples)
        abort();
    for (uint32_t i = 0; i < edges * edges * edges; i++) {
        triples[n++] = kinds[kind].edges[i % edges];
        triples[n++] = kinds[kind].edges[i / edges % edges];
        triples[n++] = kinds[kind].edges[i / edges / edges];
    }
    for (int i = 0; i < RANDOM_TRIPLES; i++, n += 3)
        random_triple(kind, &seed, triples + n);
    return triples;
}

const uint64_t *input_triples(enum inputs kind, uint32_t *count)
{
    if (!made[kind])
        made[kind] = make_triples(kind, &made_count[kind]);
    *count = made_count[kind];
    return made[kind];
}

void input_free(void)
{
    for (int i = 0; i < INPUT_KINDS; i++) {
        free(made[i]);
        made[i] = NULL;
    }
}

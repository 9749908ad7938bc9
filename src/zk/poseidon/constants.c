/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generators of the built-in parameter sets' constants.
 *
 * Grain is defined in appendix E of the Poseidon paper (eprint 2019/458): an 80-bit register is
 * initialised with the parameters and ones, 160 bits are discarded, and of each following pair of
 * bits the second one is output if the first one is 1. ChaCha8 is seeded as in plonky2, by
 * rand_chacha's ChaCha8Rng::seed_from_u64(0). Starknet's constants ("Hades") are SHA-256 digests of
 * numbered strings modulo p, Mina's ("Coda") are such digests drawn again until below p.
 */
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "zk/field/integer.h"
#include "zk/poseidon/constants.h"

enum { GRAIN_BITS = 80, GRAIN_DISCARDED = 160 };

static uint64_t grain_clock(struct poseidon_grain *grain)
{
    uint64_t low = grain->low;
    uint64_t bit = ((low >> 62) ^ (low >> 51) ^ (low >> 38) ^ (low >> 23) ^ (low >> 13) ^ low) & 1;

    grain->low = (low >> 1) | (grain->high << 63);
    grain->high = (grain->high >> 1) | (bit << (GRAIN_BITS - 64 - 1));
    return bit;
}

static void grain_append(
    struct poseidon_grain *grain, uint32_t *filled, uint32_t value, uint32_t bits)
{
    for (uint32_t i = bits; i-- > 0;) {
        uint64_t bit = (value >> i) & 1;
        if (*filled < 64)
            grain->low |= bit << *filled;
        else
            grain->high |= bit << (*filled - 64);
        (*filled)++;
    }
}

void poseidon_grain_init(struct poseidon_grain *grain, uint32_t sbox, uint32_t bits, uint32_t width,
    uint32_t full_rounds, uint32_t partial_rounds)
{
    uint32_t filled = 0;

    memset(grain, 0, sizeof(*grain));
    grain_append(grain, &filled, 1, 2); /* a prime field */
    grain_append(grain, &filled, sbox, 4);
    grain_append(grain, &filled, bits, 12);
    grain_append(grain, &filled, width, 12);
    grain_append(grain, &filled, full_rounds, 10);
    grain_append(grain, &filled, partial_rounds, 10);
    grain_append(grain, &filled, UINT32_MAX >> 2, 30);
    for (int i = 0; i < GRAIN_DISCARDED; i++)
        grain_clock(grain);
}

static uint64_t grain_bit(struct poseidon_grain *grain)
{
    for (;;) {
        uint64_t first = grain_clock(grain);
        uint64_t second = grain_clock(grain);
        if (first)
            return second;
    }
}

/* Draws as many bits as the modulus has, the highest first. */
static void grain_number(struct poseidon_grain *grain, const pool_field *field, uint64_t *number)
{
    memset(number, 0, field->limbs * sizeof(*number));
    for (uint32_t i = field->bits; i-- > 0;)
        number[i / 64] |= grain_bit(grain) << (i % 64);
}

void poseidon_grain_rejection(
    struct poseidon_grain *grain, const pool_field *field, uint64_t *standard)
{
    do
        grain_number(grain, field, standard);
    while (!field_is_canonical(field, standard));
}

void poseidon_grain_reduction(
    struct poseidon_grain *grain, const pool_field *field, uint64_t *standard)
{
    grain_number(grain, field, standard); /* below 2 p */
    if (!field_is_canonical(field, standard))
        field_integer_sub(standard, standard, field->modulus, field->limbs);
}

static uint32_t rotate_left(uint32_t word, unsigned by)
{
    return (word << by) | (word >> ((32 - by) & 31));
}

static void chacha_quarter(uint32_t *s, int a, int b, int c, int d)
{
    s[a] += s[b], s[d] = rotate_left(s[d] ^ s[a], 16);
    s[c] += s[d], s[b] = rotate_left(s[b] ^ s[c], 12);
    s[a] += s[b], s[d] = rotate_left(s[d] ^ s[a], 8);
    s[c] += s[d], s[b] = rotate_left(s[b] ^ s[c], 7);
}

static void chacha8_block(const uint32_t key[8], uint32_t counter, uint32_t block[16])
{
    uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

    memcpy(start + 4, key, 8 * sizeof(*key));
    start[12] = counter;
    memcpy(block, start, sizeof(start));
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++)
            chacha_quarter(block, j, 4 + j, 8 + j, 12 + j);
        for (int j = 0; j < 4; j++)
            chacha_quarter(block, j, 4 + (j + 1) % 4, 8 + (j + 2) % 4, 12 + (j + 3) % 4);
    }
    for (int i = 0; i < 16; i++)
        block[i] += start[i];
}

/* The key for the seed 0: eight outputs of PCG32 that starts from it. */
static void chacha_key_of_zero(uint32_t key[8])
{
    uint64_t state = 0;

    for (int i = 0; i < 8; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(11634580027462260723);
        uint32_t mixed = (uint32_t)(((state >> 18) ^ state) >> 27);
        key[i] = rotate_left(mixed, (unsigned)(32 - (state >> 59)) & 31);
    }
}

void poseidon_chacha_elements(const pool_field *field, uint64_t *elements, size_t count)
{
    uint32_t key[8];
    uint32_t block[16];
    uint32_t counter = 0;
    uint32_t used = 16;

    chacha_key_of_zero(key);
    for (size_t i = 0; i < count;) {
        if (used == 16) {
            chacha8_block(key, counter++, block);
            used = 0;
        }
        uint64_t drawn = block[used] | (uint64_t)block[used + 1] << 32;
        field_wide product = (field_wide)drawn * field->modulus[0];
        used += 2;
        if ((uint64_t)product >= field->modulus[0])
            continue; /* rejected: it would bias the result */
        elements[i++] = (uint64_t)(product >> 64);
    }
}

static pool_status coda_element(
    const pool_field *field, const char *prefix, size_t index, uint64_t *element)
{
    uint8_t digest[BASE_SHA256_BYTES];
    char message[128];

    for (unsigned attempt = 0;; attempt++) {
        pool_status status;

        snprintf(message, sizeof(message), "%s%zu_%u", prefix, index, attempt);
        status = base_sha256_of(message, strlen(message), digest);
        if (status)
            return status;
        if (field_integer_from_bytes(element, field->limbs, digest, sizeof(digest), true) &&
            field_is_canonical(field, element))
            return POOL_OK;
    }
}

pool_status poseidon_coda_elements(
    const pool_field *field, const char *prefix, size_t first, uint64_t *elements, size_t count)
{
    pool_status status = POOL_OK;

    for (size_t i = 0; i < count && !status; i++)
        status = coda_element(field, prefix, first + i, elements + i * field->limbs);
    return status;
}

pool_status poseidon_hades_elements(const pool_field *field, uint64_t *elements, size_t count)
{
    uint8_t digest[BASE_SHA256_BYTES];
    char message[32];

    for (size_t i = 0; i < count; i++) {
        uint64_t *element = elements + i * field->limbs;
        pool_status status;

        snprintf(message, sizeof(message), "Hades%zu", i);
        status = base_sha256_of(message, strlen(message), digest);
        if (status)
            return status;
        field_integer_from_bytes(element, field->limbs, digest, sizeof(digest), true);
        while (!field_is_canonical(field, element))
            field_integer_sub(element, element, field->modulus, field->limbs);
    }
    return POOL_OK;
}

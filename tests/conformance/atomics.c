/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomics under contention of thousands of threads: results that do not depend on the order. Each
 * operation and width on global and shared memory, as atom and as red.
 */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

#include "softfloat.h"

static const char source[] =
    "typedef unsigned int u32; typedef unsigned long long u64; typedef long long s64;\n"
    "#define K extern \"C\" __global__ void\n"
    "#define ID (blockIdx.x * blockDim.x + threadIdx.x)\n"
    "#define RED(text, type, p, v) asm volatile(text \" [%0], %1;\" :: \"l\"(p), type(v) : "
    "\"memory\")\n"
    "K words(const u32 *in, u32 *out, u32 n) { u32 v = in[ID], a = ID & 7; u32 *o = out + a * 16;\n"
    "  atomicAdd(o, v); atomicSub(o + 1, v); atomicMin(o + 2, v | 5); atomicMax(o + 3, v); \n"
    "  atomicMin((int *)o + 4, (int)v); atomicMax((int *)o + 5, (int)v); atomicAnd(o + 6, v | "
    "0xf0f0);\n"
    "  atomicOr(o + 7, v & 0x11111111 << (ID & 3)); atomicXor(o + 8, v); atomicInc(o + 9, 1000); "
    "atomicDec(o + 10, 777);\n"
    "  RED(\"red.global.add.u32\", \"r\", o + 11, v); RED(\"red.relaxed.gpu.global.max.s32\", "
    "\"r\", o + 12, v);\n"
    "  RED(\"red.global.inc.u32\", \"r\", o + 13, 300); RED(\"red.global.xor.b32\", \"r\", o + 14, "
    "v);\n"
    "  if (atomicExch(o + 15, 1) == 0) atomicAdd(out + 8 * 16, 1); }\n"
    "K doubles(const u32 *in, u32 *out, u32 n) { u64 v = (u64)in[ID] << 32 | in[ID ^ 1];\n"
    "  u64 *o = (u64 *)out + (ID & 3) * 10; atomicAdd(o, v); atomicMin(o + 1, v); atomicMax(o + 2, "
    "v);\n"
    "  atomicMin((s64 *)o + 3, (s64)v); atomicMax((s64 *)o + 4, (s64)v); atomicAnd(o + 5, v | "
    "0xffull << 30);\n"
    "  atomicOr(o + 6, v & 0x0101010101010101); atomicXor(o + 7, v); RED(\"red.global.add.u64\", "
    "\"l\", o + 8, v);\n"
    "  RED(\"red.global.max.s64\", \"l\", o + 9, v); }\n"
    "K shared_words(const u32 *in, u32 *out, u32 n) { __shared__ u32 s[12]; __shared__ u64 w[4];\n"
    "  u32 t = threadIdx.x, v = in[ID]; if (t < 12) s[t] = 0; if (t < 4) w[t] = 0; "
    "__syncthreads();\n"
    "  atomicAdd(s, v); atomicSub(s + 1, v); atomicMax(s + 2, v); atomicMax((int *)s + 3, "
    "(int)v);\n"
    "  atomicOr(s + 4, 1u << (v & 31)); atomicXor(s + 5, v); atomicInc(s + 6, 40); atomicDec(s + "
    "7, 30);\n"
    "  atomicMin(s + 8, v); atomicAnd(s + 9, v); atomicAdd(w, (u64)v * v); atomicMax(w + 1, (u64)v "
    "<< 20);\n"
    "  atomicXor(w + 2, (u64)v << 17); atomicOr(w + 3, 1ull << (v & 63)); __syncthreads();\n"
    "  if (t < 12) out[blockIdx.x * 20 + t] = s[t];\n"
    "  if (t < 4) { out[blockIdx.x * 20 + 12 + 2 * t] = (u32)w[t]; out[blockIdx.x * 20 + 13 + 2 * "
    "t] = (u32)(w[t] >> 32); } }\n"
    /* tickets: each number is returned once; the sum of the returned values is the same in every
     * order */
    "K tickets(const u32 *in, u32 *out, u32 n) { u32 t = atomicAdd(out, 1); atomicAdd(out + 1 + t, "
    "t * 3 + 1); }\n"
    "K swaps(const u32 *in, u32 *out, u32 n) { u32 old, seen = out[0];\n"
    "  do { old = seen; seen = atomicCAS(out, old, old + (in[ID] & 255)); } while (seen != old);\n"
    "  u64 *w = (u64 *)(out + 2), o, s = *w; do { o = s; s = atomicCAS(w, o, o + in[ID]); } while "
    "(s != o);\n"
    "  unsigned short *h = (unsigned short *)(out + 4) + 1, a, b = *h; do { a = b; b = "
    "atomicCAS(h, a, (unsigned short)(a + 3)); } while (a != b); }\n"
    "K lock(const u32 *in, u32 *out, u32 n) { for (int done = 0; !done;) {\n"
    "    if (atomicCAS(out, 0, 1) == 0) { __threadfence(); volatile u32 *c = out + 1; c[0] = c[0] "
    "+ in[ID]; c[1] = c[1] + 1;\n"
    "      __threadfence(); atomicExch(out, 0); done = 1; } } }\n"
    /* sums of small whole numbers are exact in any order */
    "K float_sums(const u32 *in, u32 *out, u32 n) { float v = (float)(int)(in[ID] & 255) - "
    "128.0f;\n"
    "  atomicAdd((float *)out, v); atomicAdd((double *)(out + 2), (double)v * 0.5);\n"
    "  RED(\"red.global.add.f32\", \"f\", (float *)out + 4, v); RED(\"red.global.add.f64\", \"d\", "
    "(double *)(out + 6), (double)v);\n"
    "  __shared__ float s; if (threadIdx.x == 0) s = 0; __syncthreads(); atomicAdd(&s, v); "
    "__syncthreads();\n"
    "  if (threadIdx.x == 0) out[8 + blockIdx.x] = __float_as_uint(s);\n"
    "  asm volatile(\"{.reg .b32 h; mov.b32 h, 0x3c003800; red.global.add.noftz.f16x2 [%0], h;}\" "
    ":: \"l\"(out + 14) : \"memory\"); }\n"
    "K generic(const u32 *in, u32 *out, u32 n) { __shared__ u32 s[4]; u32 t = threadIdx.x; if (t < "
    "4) s[t] = 0; __syncthreads();\n"
    "  u32 *p = t & 1 ? s + (t >> 1 & 3) : out + 64 + (t >> 1 & 3);\n"
    "  asm volatile(\"{.reg .b32 d; atom.add.u32 d, [%0], %1; red.or.b32 [%0], %2;}\" :: \"l\"(p), "
    "\"r\"(in[ID] & 0xfffff0), \"r\"(0) : \"memory\");\n"
    "  __syncthreads(); if (t < 4) atomicAdd(out + blockIdx.x * 4 + t, s[t]); }\n"
    "K neighbours(const u32 *in, u32 *out, u32 n) { u32 v = in[ID]; u32 first = atomicAdd(out + "
    "(ID & ~31u) / 32 * 2, 1);\n"
    "  u32 sum = first; for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d); \n"
    "  if ((threadIdx.x & 31) == 0) out[ID / 32 * 2 + 1] = sum + (v & 0); }\n";

static void words(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->in_words; i++) {
        u32 v = in[i], *o = out + (i & 7) * 16;

        o[0] += v;
        o[1] -= v;
        o[2] = 0; /* the least, from zero */
        o[3] = v > o[3] ? v : o[3];
        o[4] = (s32)v < (s32)o[4] ? v : o[4];
        o[5] = (s32)v > (s32)o[5] ? v : o[5];
        o[6] &= v;
        o[7] |= v & 0x11111111u << (i & 3);
        o[8] ^= v;
        o[9] = o[9] >= 1000 ? 0 : o[9] + 1;
        o[10] = o[10] == 0 || o[10] > 777 ? 777 : o[10] - 1;
        o[11] += v;
        o[12] = (s32)v > (s32)o[12] ? v : o[12];
        o[13] = o[13] >= 300 ? 0 : o[13] + 1;
        o[14] ^= v;
        o[15] = 1;
    }
    out[8 * 16] = 8;
}

static void doubles(const struct program_case *p, const u32 *in, u32 *out)
{
    u64 all[4][10] = {{0}};

    for (u32 i = 0; i < p->in_words; i++) {
        u64 v = (u64)in[i] << 32 | in[i ^ 1], *o = all[i & 3];

        o[0] += v;
        o[2] = v > o[2] ? v : o[2];
        o[3] = (s64)v < (s64)o[3] ? v : o[3];
        o[4] = (s64)v > (s64)o[4] ? v : o[4];
        o[6] |= v & 0x0101010101010101;
        o[7] ^= v;
        o[8] += v;
        o[9] = (s64)v > (s64)o[9] ? v : o[9];
    }
    memcpy(out, all, sizeof(all));
}

static void shared_words(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 block = 0; block < p->grid[0]; block++, in += p->block[0], out += 20) {
        u64 w[4] = {0};

        for (u32 t = 0; t < p->block[0]; t++) {
            u32 v = in[t];

            out[0] += v;
            out[1] -= v;
            out[2] = v > out[2] ? v : out[2];
            out[3] = (s32)v > (s32)out[3] ? v : out[3];
            out[4] |= 1u << (v & 31);
            out[5] ^= v;
            out[6] = out[6] >= 40 ? 0 : out[6] + 1;
            out[7] = out[7] == 0 || out[7] > 30 ? 30 : out[7] - 1;
            w[0] += (u64)v * v;
            w[1] = (u64)v << 20 > w[1] ? (u64)v << 20 : w[1];
            w[2] ^= (u64)v << 17;
            w[3] |= UINT64_C(1) << (v & 63);
        }
        memcpy(out + 12, w, sizeof(w));
    }
}

static void tickets(const struct program_case *p, const u32 *in, u32 *out)
{
    (void)in;
    out[0] = p->out_words - 1;
    for (u32 t = 0; t < out[0]; t++)
        out[1 + t] = t * 3 + 1;
}

static void swaps(const struct program_case *p, const u32 *in, u32 *out)
{
    u64 sum = 0;

    for (u32 i = 0; i < p->in_words; i++) {
        out[0] += in[i] & 255;
        sum += in[i];
    }
    memcpy(out + 2, &sum, sizeof(sum));
    out[4] = (u32)(u16)(p->in_words * 3) << 16;
}

static void lock(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->in_words; i++)
        out[1] += in[i];
    out[2] = p->in_words;
}

static void float_sums(const struct program_case *p, const u32 *in, u32 *out)
{
    float sum = 0, block_sum = 0;
    double half, whole;

    for (u32 i = 0; i < p->in_words; i++) {
        float v = (float)(int)(in[i] & 255) - 128.0f;

        sum += v;
        block_sum += v;
        if (i % p->block[0] == p->block[0] - 1) {
            out[8 + i / p->block[0]] = (u32)bits_of_float(block_sum);
            block_sum = 0;
        }
    }
    half = (double)sum * 0.5;
    whole = (double)sum;
    out[0] = out[4] = (u32)bits_of_float(sum);
    memcpy(out + 2, &half, sizeof(half));
    memcpy(out + 6, &whole, sizeof(whole));
    out[14] = (u32)(bits_of_format(&half_format, p->in_words, RN) << 16 |
                    bits_of_format(&half_format, p->in_words * 0.5, RN));
}

static void generic(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->in_words; i++) {
        u32 t = i % p->block[0], block = i / p->block[0];

        out[t & 1 ? block * 4 + (t >> 1 & 3) : 64 + (t >> 1 & 3)] += in[i] & 0xfffff0;
    }
}

static void neighbours(const struct program_case *p, const u32 *in, u32 *out)
{
    (void)in;
    for (u32 i = 0; i < p->out_words; i += 2) {
        out[i] = 32;
        out[i + 1] = 31 * 16;
    }
}

static const struct program_case programs[] = {
    {"words", {16, 1, 1}, {256, 1, 1}, 0, 0, 4096, 129, words},
    {"doubles", {16, 1, 1}, {256, 1, 1}, 0, 0, 4096, 80, doubles},
    {"shared_words", {8, 1, 1}, {512, 1, 1}, 0, 0, 4096, 160, shared_words},
    {"tickets", {16, 1, 1}, {256, 1, 1}, 0, 0, 0, 4097, tickets},
    {"swaps", {8, 1, 1}, {256, 1, 1}, 0, 0, 2048, 5, swaps},
    {"lock", {4, 1, 1}, {64, 1, 1}, 0, 0, 256, 3, lock},
    {"float_sums", {4, 1, 1}, {256, 1, 1}, 0, 0, 1024, 15, float_sums},
    {"generic", {16, 1, 1}, {256, 1, 1}, 0, 0, 4096, 68, generic},
    {"neighbours", {4, 1, 1}, {256, 1, 1}, 0, 0, 1024, 64, neighbours},
};

const struct group atomics_group = {
    .name = "atomics", .source = source, .programs = programs, .program_count = COUNT_OF(programs)};

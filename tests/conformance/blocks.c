/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks and grids: special registers in three dimensions, barriers with and without reduction,
 * named barriers between warps, barriers of a cooperative grid, data passed from block to block.
 */
#include "conformance.h"

static const char source[] =
    "typedef unsigned int u32; typedef unsigned long long u64;\n"
    "#define K extern \"C\" __global__ void\n"
    "#define ID (blockIdx.x * blockDim.x + threadIdx.x)\n"
    "K places(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
    "  u32 b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);\n"
    "  u32 *o = out + (b * blockDim.x * blockDim.y * blockDim.z + t) * 8;\n"
    "  o[0] = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16; o[1] = blockIdx.x | blockIdx.y "
    "<< 8 | blockIdx.z << 16;\n"
    "  o[2] = blockDim.x | blockDim.y << 8 | blockDim.z << 16; o[3] = gridDim.x | gridDim.y << 8 | "
    "gridDim.z << 16;\n"
    "  asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(o[4])); asm volatile(\"mov.u32 %0, "
    "%%nwarpid;\" : \"=r\"(o[5]));\n"
    "  o[5] = o[5] * 32 >= blockDim.x * blockDim.y * blockDim.z; o[6] = warpSize;\n"
    "  u32 s, m; asm volatile(\"mov.u32 %0, %%smid; mov.u32 %1, %%nsmid;\" : \"=r\"(s), "
    "\"=r\"(m)); o[7] = s < m; }\n"
    "K clocks(const u32 *in, u32 *out, u32 n) { u64 a, b, c, d; asm volatile(\"mov.u64 %0, "
    "%%clock64;\" : \"=l\"(a));\n"
    "  asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(c)); u32 s = 0; for (u32 i = 0; i < "
    "100; i++) s += in[i & 31] ^ s << 1;\n"
    "  asm volatile(\"mov.u64 %0, %%clock64;\" : \"=l\"(b)); asm volatile(\"mov.u64 %0, "
    "%%globaltimer;\" : \"=l\"(d));\n"
    "  out[ID] = (b > a) + 2 * (d >= c) + 4 * (c != 0) + (s & 0); }\n"
    "K exchange(const u32 *in, u32 *out, u32 n) { __shared__ u32 s[2][256]; u32 t = threadIdx.x; "
    "s[0][t] = in[ID];\n"
    "  for (u32 i = 0; i < 24; i++) { __syncthreads(); s[~i & 1][t] = s[i & 1][(t + 97 + i) & 255] "
    "* 3 + s[i & 1][t ^ 1]; }\n"
    "  __syncthreads(); out[ID] = s[0][t]; }\n"
    "K barrier_reductions(const u32 *in, u32 *out, u32 n) { u32 v = in[ID], s = 0; for (u32 i = 0; "
    "i < 16; i++) {\n"
    "    int q = (v >> i & 31) > 1; s = s * 7 + __syncthreads_count(q) + 3 * __syncthreads_and(q) "
    "+ 5 * __syncthreads_or(!q); }\n"
    "  out[ID] = s; }\n"
    "K named_reductions(const u32 *in, u32 *out, u32 n) { u32 v = in[ID], t = threadIdx.x, half = "
    "t / 128, r, a, o;\n"
    "  asm volatile(\"{.reg .pred p, q, r; setp.ne.u32 p, %3, 0; barrier.cta.red.popc.u32 %0, %4, "
    "128, p;\\n\"\n"
    "  \"barrier.cta.red.and.pred q, %4, 128, p; selp.u32 %1, 1, 0, q; barrier.cta.red.or.pred r, "
    "%4, 128, !p;\\n\"\n"
    "  \"selp.u32 %2, 1, 0, r;}\" : \"=r\"(r), \"=r\"(a), \"=r\"(o) : \"r\"(v & 6), \"r\"(half + "
    "1) : \"memory\");\n"
    "  out[ID] = r + 1000 * a + 2000 * o; }\n"
    /* warps 0 and 1 produce, 2 and 3 consume; full and empty are barriers of their own */
    "K producer(const u32 *in, u32 *out, u32 n) { __shared__ u32 box[64]; u32 t = threadIdx.x, s = "
    "0;\n"
    "  for (u32 round = 0; round < 10; round++) { if (t < 64) { if (round) asm volatile(\"bar.sync "
    "2, 128;\" ::: \"memory\");\n"
    "      box[t] = in[round * 64 + t] + blockIdx.x; asm volatile(\"bar.arrive 1, 128;\" ::: "
    "\"memory\");\n"
    "    } else { asm volatile(\"bar.sync 1, 128;\" ::: \"memory\"); s = s * 3 + box[127 - t];\n"
    "      if (round < 9) asm volatile(\"bar.arrive 2, 128;\" ::: \"memory\"); } }\n"
    "  out[ID] = s; }\n"
    "K separate_warps(const u32 *in, u32 *out, u32 n) { __shared__ u32 s[256]; u32 t = "
    "threadIdx.x, w = t / 64;\n"
    "  s[t] = in[ID]; for (u32 i = 0; i < (w + 1) * 5; i++) { asm volatile(\"bar.sync %0, 64;\" :: "
    "\"r\"(w + 1) : \"memory\");\n"
    "    u32 v = s[t ^ 33]; asm volatile(\"bar.sync %0, 64;\" :: \"r\"(w + 1) : \"memory\"); s[t] "
    "+= v + i; }\n"
    "  out[ID] = s[t]; }\n"
    "K tree(const u32 *in, u32 *out, u32 n) { __shared__ u64 s[256]; u32 t = threadIdx.x; u64 v = "
    "0;\n"
    "  for (u32 i = t; i < 4096; i += 256) v += in[i]; s[t] = v; __syncthreads();\n"
    "  for (u32 d = 128; d; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }\n"
    "  if (t == 0) { out[0] = (u32)s[0]; out[1] = (u32)(s[0] >> 32); } }\n"
    /* the last block to come adds up what the others left */
    "__device__ u32 arrived;\n"
    "K last_block(const u32 *in, u32 *out, u32 n) { __shared__ u32 s, is_last; if (threadIdx.x == "
    "0) s = 0; __syncthreads();\n"
    "  atomicAdd(&s, in[ID]); __syncthreads(); if (threadIdx.x == 0) { out[1 + blockIdx.x] = s; "
    "__threadfence();\n"
    "    is_last = atomicAdd(&arrived, 1) == gridDim.x - 1; } __syncthreads(); if (is_last && "
    "threadIdx.x == 0) {\n"
    "    __threadfence(); u32 sum = 0; for (u32 i = 0; i < gridDim.x; i++) sum += ((volatile u32 "
    "*)out)[1 + i]; out[0] = sum; arrived = 0; } }\n"
    "__device__ void grid_barrier(u32 *count, u32 turn) { __syncthreads(); if (threadIdx.x == 0) { "
    "__threadfence();\n"
    "    atomicAdd(count, 1); while (*(volatile u32 *)count < turn * gridDim.x) {} "
    "__threadfence(); } __syncthreads(); }\n"
    "K grid_exchange(const u32 *in, u32 *out, u32 n) { volatile u32 *a = out, *b = out + 512; "
    "a[ID] = in[ID]; u32 turn = 0;\n"
    "  for (u32 i = 0; i < 8; i++) { grid_barrier(out + 1024, ++turn); volatile u32 *f = i & 1 ? b "
    ": a, *g = i "
    "& 1 ? a : b;\n"
    "    g[ID] = f[(ID + 64 + i) & 511] * 5 + f[ID]; }\n"
    "  grid_barrier(out + 1024, ++turn); }\n";

static void places(const struct program_case *p, const u32 *in, u32 *out)
{
    u32 threads = p->block[0] * p->block[1] * p->block[2];

    (void)in;
    for (u32 i = 0; i < p->out_words / 8; i++) {
        u32 t = i % threads, b = i / threads, *o = out + i * 8;

        o[0] = t % p->block[0] | t / p->block[0] % p->block[1] << 8 |
               t / p->block[0] / p->block[1] << 16;
        o[1] =
            b % p->grid[0] | b / p->grid[0] % p->grid[1] << 8 | b / p->grid[0] / p->grid[1] << 16;
        o[2] = p->block[0] | p->block[1] << 8 | p->block[2] << 16;
        o[3] = p->grid[0] | p->grid[1] << 8 | p->grid[2] << 16;
        o[4] = t & 31;
        o[5] = 1;
        o[6] = 32;
        o[7] = 1;
    }
}

static void clocks(const struct program_case *p, const u32 *in, u32 *out)
{
    (void)in;
    for (u32 i = 0; i < p->out_words; i++)
        out[i] = 7;
}

static void exchange(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 block = 0; block < p->out_words; block += 256) {
        u32 s[2][256];

        for (u32 t = 0; t < 256; t++)
            s[0][t] = in[block + t];
        for (u32 i = 0; i < 24; i++)
            for (u32 t = 0; t < 256; t++)
                s[~i & 1][t] = s[i & 1][(t + 97 + i) & 255] * 3 + s[i & 1][t ^ 1];
        for (u32 t = 0; t < 256; t++)
            out[block + t] = s[0][t];
    }
}

static void barrier_reductions(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 block = 0; block < p->out_words; block += p->block[0])
        for (u32 i = 0; i < 16; i++) {
            u32 count = 0;

            for (u32 t = 0; t < p->block[0]; t++)
                count += (in[block + t] >> i & 31) > 1;
            for (u32 t = 0; t < p->block[0]; t++)
                out[block + t] = out[block + t] * 7 + count + 3 * (count == p->block[0]) +
                                 5 * (count != p->block[0]);
        }
}

static void named_reductions(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 half = 0; half < p->out_words; half += 128) {
        u32 count = 0;

        for (u32 t = 0; t < 128; t++)
            count += (in[half + t] & 6) != 0;
        for (u32 t = 0; t < 128; t++)
            out[half + t] = count + 1000 * (count == 128) + 2000 * (count != 128);
    }
}

static void producer(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 block = 0; block < p->grid[0]; block++)
        for (u32 round = 0; round < 10; round++)
            for (u32 t = 64; t < 128; t++)
                out[block * 128 + t] = out[block * 128 + t] * 3 + in[round * 64 + 127 - t] + block;
}

static void separate_warps(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 base = 0; base < p->out_words; base += 64) {
        u32 w = base % 256 / 64, v[64];

        for (u32 t = 0; t < 64; t++)
            out[base + t] = in[base + t];
        for (u32 i = 0; i < (w + 1) * 5; i++) {
            for (u32 t = 0; t < 64; t++)
                v[t] = out[base + (t ^ 33)];
            for (u32 t = 0; t < 64; t++)
                out[base + t] += v[t] + i;
        }
    }
}

static void tree(const struct program_case *p, const u32 *in, u32 *out)
{
    u64 sum = 0;

    for (u32 i = 0; i < p->in_words; i++)
        sum += in[i];
    out[0] = (u32)sum;
    out[1] = (u32)(sum >> 32);
}

static void last_block(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->in_words; i++) {
        out[1 + i / p->block[0]] += in[i];
        out[0] += in[i];
    }
}

static void grid_exchange(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->in_words; i++)
        out[i] = in[i];
    out[1024] = 9 * p->grid[0]; /* arrivals at the barriers */
    for (u32 turn = 0; turn < 8; turn++) {
        const u32 *from = turn & 1 ? out + 512 : out;
        u32 *to = turn & 1 ? out : out + 512;

        for (u32 i = 0; i < 512; i++)
            to[i] = from[(i + 64 + turn) & 511] * 5 + from[i];
    }
}

static const struct program_case programs[] = {
    {"places", {3, 4, 5}, {7, 3, 2}, 0, 0, 0, 20160, places},
    {"clocks", {2, 1, 1}, {64, 1, 1}, 0, 0, 32, 128, clocks},
    {"exchange", {4, 1, 1}, {256, 1, 1}, 0, 0, 1024, 1024, exchange},
    {"barrier_reductions", {8, 1, 1}, {96, 1, 1}, 0, 0, 768, 768, barrier_reductions},
    {"named_reductions", {4, 1, 1}, {256, 1, 1}, 0, 0, 1024, 1024, named_reductions},
    {"producer", {6, 1, 1}, {128, 1, 1}, 0, 0, 640, 768, producer},
    {"separate_warps", {3, 1, 1}, {256, 1, 1}, 0, 0, 768, 768, separate_warps},
    {"tree", {1, 1, 1}, {256, 1, 1}, 0, 0, 4096, 2, tree},
    {"last_block", {37, 1, 1}, {128, 1, 1}, 0, 0, 4736, 38, last_block},
    {"grid_exchange", {4, 1, 1}, {128, 1, 1}, 0, 1, 512, 1025, grid_exchange},
};

const struct group blocks_group = {
    .name = "blocks", .source = source, .programs = programs, .program_count = COUNT_OF(programs)};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores of every width, vectors and state space: global, shared, local, constant,
 * parameter; address conversions; dynamic shared memory.
 */
#include "conformance.h"

#include <string.h>

static const char source[] =
    "typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32;\n"
    "typedef unsigned long long u64;\n"
    "__constant__ u32 table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};\n"
    "__constant__ u8 bytes[8] = {1, 2, 4, 8, 16, 32, 64, 128};\n"
    "__device__ u64 variable[4] = {10, 20, 30, 40};\n"
    "__device__ const u32 *indirect[2] = {table, table + 8};\n"
    "struct odd { u8 a; u16 b; u32 c; u64 d; u8 e[5]; };\n"
    "#define K extern \"C\" __global__ void\n"
    "#define ID (blockIdx.x * blockDim.x + threadIdx.x)\n"
    /* every width, sign- and zero-extended */
    "K widths(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 i = ID; const char *p = (const char *)in + i * 8; u32 *o = out + i * 8;\n"
    "  o[0] = (u32)(int)*(const signed char *)(p + 1); o[1] = *(const u8 *)(p + 3);\n"
    "  o[2] = (u32)(int)*(const short *)(p + 2); o[3] = *(const u16 *)(p + 6);\n"
    "  o[4] = *(const u32 *)(p + 4); u64 w = *(const u64 *)p; o[5] = (u32)(w >> 20);\n"
    "  asm volatile(\"ld.global.s16 %0, [%1+4];\" : \"=r\"(o[6]) : \"l\"(p));\n"
    "  asm volatile(\"{.reg .b64 t; ld.global.s8 t, [%1+7]; shr.u64 t, t, 8; cvt.u32.u64 %0, "
    "t;}\"\n"
    "    : \"=r\"(o[7]) : \"l\"(p)); }\n"
    "K stores(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 i = ID, v = in[i]; char *o = (char *)(out + i * 6);\n"
    "  *(u8 *)(o + 1) = (u8)v; *(u16 *)(o + 2) = (u16)(v >> 8); *(u64 *)(o + 8) = (u64)v * v;\n"
    "  o[16] = (char)(v >> 24); asm volatile(\"st.global.u8 [%0+5], %1;\" :: \"l\"(o), \"r\"(v));\n"
    "  asm volatile(\"st.global.u16 [%0+20], %1;\" :: \"l\"(o), \"r\"(v) : \"memory\"); }\n"
    /* vectors of 2 and 4, of 8 to 64 bits */
    "K vectors(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 i = ID; const u32 *p = in + i * 8; u32 *o = out + i * 12;\n"
    "  asm volatile(\"{.reg .b32 a, b, c, d; .reg .b64 x, y; .reg .b16 s, t;\\n\"\n"
    "    \"ld.global.v4.u32 {a, b, c, d}, [%0]; st.global.v4.u32 [%1], {d, c, b, a};\\n\"\n"
    "    \"ld.global.v2.u64 {x, y}, [%0+16]; st.global.v2.u64 [%1+16], {y, x};\\n\"\n"
    "    \"ld.global.v2.u16 {s, t}, [%0+4]; st.global.v2.u16 [%1+32], {t, s};\\n\"\n"
    "    \"ld.global.v4.u8 {a, b, c, d}, [%0+8]; st.global.v4.u8 [%1+36], {d, c, b, a};\\n\"\n"
    "    \"ld.global.v2.f32 {a, b}, [%0+24]; st.global.v2.f32 [%1+40], {b, a};}\"\n"
    "    :: \"l\"(p), \"l\"(o) : \"memory\"); }\n"
    "K shared_space(const u32 *in, u32 *out, u32 n) {\n"
    "  __shared__ u32 a[64]; __shared__ u8 b[256]; __shared__ u64 c[64];\n"
    "  u32 t = threadIdx.x, v = in[ID]; a[t] = v; c[63 - t] = (u64)v << 7; \n"
    "  for (int i = 0; i < 4; i++) b[t * 4 + i] = (u8)(v >> (8 * i)) ^ (u8)i;\n"
    "  __syncthreads(); u32 o = (t * 7 + 3) & 63;\n"
    "  out[ID] = a[o] + (u32)(c[o] >> 3) * 5 + b[(o * 4 + t) & 255]; }\n"
    "K shared_vectors(const u32 *in, u32 *out, u32 n) {\n"
    "  __shared__ __align__(16) u32 a[256]; u32 t = threadIdx.x;\n"
    "  *(uint4 *)(a + 4 * t) = ((const uint4 *)in)[t]; __syncthreads();\n"
    "  uint2 w = *(uint2 *)(a + 2 * ((t * 5) & 63)); u32 s = (u32)__cvta_generic_to_shared(a + "
    "t);\n"
    "  u32 direct; asm volatile(\"ld.shared.u32 %0, [%1];\" : \"=r\"(direct) : \"r\"(s));\n"
    "  out[t] = w.x * 3 + w.y + direct; }\n"
    "K dynamic_shared(const u32 *in, u32 *out, u32 n) {\n"
    "  extern __shared__ u32 dynamic[]; u32 t = threadIdx.x;\n"
    "  for (u32 i = t; i < 16384; i += blockDim.x) dynamic[i] = in[i & 1023] + i;\n"
    "  __syncthreads(); u32 s = 0;\n"
    "  for (u32 i = 0; i < 64; i++) s = s * 31 + dynamic[(t * 64 + i * 257) & 16383];\n"
    "  out[ID] = s; }\n"
    "K local_space(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 a[32]; u64 b[8]; u32 v = in[ID];\n"
    "  for (int i = 0; i < 32; i++) a[(i * 5 + v) & 31] = v * i + (v >> i);\n"
    "  for (int i = 0; i < 8; i++) b[(i + v) & 7] = (u64)a[i] * a[(v >> i) & 31];\n"
    "  u32 *p = a + (v & 15); p[3] ^= 0x5a5a; out[ID] = a[v >> 27] + (u32)(b[v & 7] >> 9); }\n"
    "K constants(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 v = in[ID]; out[ID] = table[v & 15] + 100 * bytes[v >> 8 & 7] + (u32)variable[v >> 16 & "
    "3] "
    "+ indirect[v >> 20 & 1][v >> 24 & 7] * 70000; }\n"
    "K odd_struct(const u32 *in, u32 *out, u32 n) {\n"
    "  struct odd s, *p = &s; u32 v = in[ID];\n"
    "  p->a = (u8)v; p->b = (u16)(v >> 3); p->c = v * 3; p->d = (u64)v * v;\n"
    "  for (int i = 0; i < 5; i++) p->e[i] = (u8)(v >> i);\n"
    "  struct odd q[2]; q[v & 1] = s; q[~v & 1].c = 9; struct odd r = q[v >> 1 & 1];\n"
    "  out[ID] = (v & 1) == (v >> 1 & 1) ? r.a + r.b + r.c + (u32)r.d + r.e[v % 5] : r.c * 2; }\n"
    "K spaces(const u32 *in, u32 *out, u32 n) {\n"
    "  __shared__ u32 s; u32 l = in[threadIdx.x], mask = 0; s = 1; __syncthreads();\n"
    "  const void *p[4] = {in, &s, &l, out};\n"
    "  for (int i = 0; i < 4; i++) {\n"
    "    u32 g, h, c, k; asm volatile(\"{.reg .pred a; isspacep.global a, %4; selp.u32 %0, 1, 0, "
    "a;\\n\"\n"
    "    \"isspacep.shared a, %4; selp.u32 %1, 1, 0, a; isspacep.local a, %4; selp.u32 %2, 1, 0, "
    "a;\\n\"\n"
    "    \"isspacep.const a, %4; selp.u32 %3, 1, 0, a;}\" : \"=r\"(g), \"=r\"(h), \"=r\"(c), "
    "\"=r\"(k) : \"l\"(p[i]));\n"
    "    mask |= (g | h << 1 | c << 2 | k << 3) << 4 * i; }\n"
    "  atomicExch(&s, l); out[threadIdx.x] = mask; }\n"
    "K generic_addresses(const u32 *in, u32 *out, u32 n) {\n"
    "  __shared__ u32 s[64]; u32 l[4]; u32 t = threadIdx.x, v = in[t]; s[t] = v ^ 1; "
    "__syncthreads();\n"
    "  l[0] = v; l[1] = v * 3; l[2] = ~v; l[3] = 7;\n"
    "  const u32 *p = t % 3 == 0 ? s + (v & 63) : t % 3 == 1 ? l + (v & 3) : in + (v & 63);\n"
    "  u32 w = *p; __syncthreads(); u32 *q = t & 1 ? out + 64 + t : s + t; *q = w + 5;\n"
    "  __syncthreads(); out[t] = s[63 - t]; }\n"
    "K cached(const u32 *in, u32 *out, u32 n) {\n"
    "  const u32 *p = in + ID * 4; u32 *o = out + ID * 8;\n"
    "  asm volatile(\"ld.global.nc.u32 %0, [%8]; ld.global.ca.u32 %1, [%8+4]; ld.global.cg.u32 %2, "
    "[%8+8];\\n\"\n"
    "  \"ld.global.cs.u32 %3, [%8+12]; ld.volatile.global.u32 %4, [%8]; ld.relaxed.gpu.global.u32 "
    "%5, [%8+4];\\n\"\n"
    "  \"ld.acquire.gpu.global.u32 %6, [%8+8]; ld.weak.global.lu.u32 %7, [%8+12];\" : "
    "\"=r\"(o[0]), \"=r\"(o[1]),\n"
    "  \"=r\"(o[2]), \"=r\"(o[3]), \"=r\"(o[4]), \"=r\"(o[5]), \"=r\"(o[6]), \"=r\"(o[7]) : "
    "\"l\"(p));\n"
    "  asm volatile(\"st.global.cg.u32 [%0], %1; st.relaxed.gpu.global.u32 [%0+4], %1;\\n\"\n"
    "  \"st.release.gpu.global.u32 [%0+8], %1; st.volatile.global.u32 [%0+12], %1;\"\n"
    "  :: \"l\"(o), \"r\"(o[0] + 1) : \"memory\"); }\n"
    "K copy_async(const u32 *in, u32 *out, u32 n) {\n"
    "  __shared__ __align__(16) u32 s[256]; u32 t = threadIdx.x;\n"
    "  u32 a = (u32)__cvta_generic_to_shared(s + 4 * t);\n"
    "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], 16;\\ncp.async.commit_group;\\n\"\n"
    "  \"cp.async.wait_group 0;\" :: \"r\"(a), \"l\"(in + 4 * (63 - t)) : \"memory\");\n"
    "  __syncthreads(); for (int i = 0; i < 4; i++) out[4 * t + i] = s[(4 * t + i * 65) & 255]; "
    "}\n";

static uint64_t load(const void *from, size_t bytes)
{
    uint64_t value = 0;

    memcpy(&value, from, bytes);
    return value;
}

static void widths(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words / 8; i++) {
        const char *from = (const char *)in + i * 8;
        u32 *o = out + i * 8;

        o[0] = (u32)(s8)from[1];
        o[1] = (u8)from[3];
        o[2] = (u32)(s16)load(from + 2, 2);
        o[3] = (u16)load(from + 6, 2);
        o[4] = (u32)load(from + 4, 4);
        o[5] = (u32)(load(from, 8) >> 20);
        o[6] = (u32)(s16)load(from + 4, 2);
        o[7] = (u32)((u64)(s64)(s8)from[7] >> 8);
    }
}

static void stores(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words / 6; i++) {
        u32 v = in[i];
        u16 half = (u16)(v >> 8), low = (u16)v;
        u64 square = (u64)v * v;
        char *o = (char *)(out + i * 6);

        o[1] = (char)v;
        o[5] = (char)v;
        o[16] = (char)(v >> 24);
        memcpy(o + 2, &half, 2);
        memcpy(o + 8, &square, 8);
        memcpy(o + 20, &low, 2);
    }
}

static void vectors(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words / 12; i++) {
        const u32 *f = in + i * 8;
        u32 *o = out + i * 12;

        for (int j = 0; j < 4; j++)
            o[j] = f[3 - j];
        memcpy(o + 4, f + 6, 8);
        memcpy(o + 6, f + 4, 8);
        o[8] = f[1] >> 16 | f[1] << 16;
        o[9] = __builtin_bswap32(f[2]);
        o[10] = f[7];
        o[11] = f[6];
    }
}

static void shared_space(const struct program_case *p, const u32 *in, u32 *out)
{
    (void)p;
    for (u32 block = 0; block < 2; block++, in += 64, out += 64)
        for (u32 t = 0; t < 64; t++) {
            u32 o = (t * 7 + 3) & 63, at = (o * 4 + t) & 255;
            u8 byte = (u8)(in[at / 4] >> 8 * (at % 4)) ^ (u8)(at % 4);

            out[t] = in[o] + (u32)((u64)in[63 - o] << 7 >> 3) * 5 + byte;
        }
}

static void shared_vectors(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 t = 0; t < p->out_words; t++) {
        u32 w = 2 * ((t * 5) & 63);

        out[t] = in[w] * 3 + in[w + 1] + in[t];
    }
}

static void dynamic_shared(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 id = 0; id < p->out_words; id++) {
        u32 t = id % 256, sum = 0;

        for (u32 i = 0; i < 64; i++) {
            u32 at = (t * 64 + i * 257) & 16383;

            sum = sum * 31 + in[at & 1023] + at;
        }
        out[id] = sum;
    }
}

static void local_space(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 id = 0; id < p->out_words; id++) {
        u32 a[32], v = in[id];
        u64 b[8];

        for (u32 i = 0; i < 32; i++)
            a[(i * 5 + v) & 31] = v * i + (v >> i);
        for (u32 i = 0; i < 8; i++)
            b[(i + v) & 7] = (u64)a[i] * a[(v >> i) & 31];
        a[(v & 15) + 3] ^= 0x5a5a;
        out[id] = a[v >> 27] + (u32)(b[v & 7] >> 9);
    }
}

static void constants(const struct program_case *p, const u32 *in, u32 *out)
{
    static const u32 table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

    for (u32 i = 0; i < p->out_words; i++) {
        u32 v = in[i];

        out[i] = table[v & 15] + (100u << (v >> 8 & 7)) + (10 + 10 * (v >> 16 & 3)) +
                 table[(v >> 20 & 1) * 8 + (v >> 24 & 7)] * 70000;
    }
}

static void odd_struct(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++) {
        u32 v = in[i];
        int same = (v & 1) == (v >> 1 & 1);
        u32 sum = (u8)v + (u16)(v >> 3) + v * 3 + (u32)((u64)v * v) + (u8)(v >> v % 5);

        out[i] = same ? sum : 18;
    }
}

static void spaces(const struct program_case *p, const u32 *in, u32 *out)
{
    (void)in;
    for (u32 t = 0; t < p->out_words; t++)
        out[t] = 1 | 2 << 4 | 4 << 8 | 1 << 12;
}

static void generic_addresses(const struct program_case *p, const u32 *in, u32 *out)
{
    (void)p;
    for (u32 t = 0; t < 64; t++) {
        u32 v = in[t], local[4] = {v, v * 3, ~v, 7};
        u32 w = t % 3 == 0 ? in[v & 63] ^ 1 : t % 3 == 1 ? local[v & 3] : in[v & 63];

        if (t & 1)
            out[64 + t] = w + 5;
        out[63 - t] = t & 1 ? v ^ 1 : w + 5;
    }
}

static void cached(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words / 8; i++)
        for (u32 j = 0; j < 8; j++)
            out[i * 8 + j] = j < 4 ? in[i * 4] + 1 : in[i * 4 + j - 4];
}

static void copy_async(const struct program_case *p, const u32 *in, u32 *out)
{
    (void)p;
    for (u32 t = 0; t < 64; t++)
        for (u32 i = 0; i < 4; i++) {
            u32 at = (4 * t + i * 65) & 255;

            out[4 * t + i] = in[4 * (63 - at / 4) + at % 4];
        }
}

static const struct program_case programs[] = {
    {"widths", {3, 1, 1}, {64, 1, 1}, 0, 0, 384, 1536, widths},
    {"stores", {3, 1, 1}, {64, 1, 1}, 0, 0, 192, 1152, stores},
    {"vectors", {2, 1, 1}, {64, 1, 1}, 0, 0, 1024, 1536, vectors},
    {"shared_space", {2, 1, 1}, {64, 1, 1}, 0, 0, 128, 128, shared_space},
    {"shared_vectors", {1, 1, 1}, {64, 1, 1}, 0, 0, 256, 64, shared_vectors},
    {"dynamic_shared", {2, 1, 1}, {256, 1, 1}, 65536, 0, 1024, 512, dynamic_shared},
    {"local_space", {4, 1, 1}, {96, 1, 1}, 0, 0, 384, 384, local_space},
    {"constants", {4, 1, 1}, {100, 1, 1}, 0, 0, 400, 400, constants},
    {"odd_struct", {4, 1, 1}, {64, 1, 1}, 0, 0, 256, 256, odd_struct},
    {"spaces", {1, 1, 1}, {64, 1, 1}, 0, 0, 64, 64, spaces},
    {"generic_addresses", {1, 1, 1}, {64, 1, 1}, 0, 0, 64, 128, generic_addresses},
    {"cached", {2, 1, 1}, {64, 1, 1}, 0, 0, 512, 1024, cached},
    {"copy_async", {1, 1, 1}, {64, 1, 1}, 0, 0, 256, 256, copy_async},
};

const struct group memory_group = {
    .name = "memory", .source = source, .programs = programs, .program_count = COUNT_OF(programs)};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mma of every shape and type against a plain matrix product, and ldmatrix and stmatrix. The
 * kernels distribute the elements to lanes by the formulas of the PTX manual. The elements are
 * small whole numbers: their sums are exact in every order of additions, on a GPU as here.
 */
#include "conformance.h"

#include <string.h>

#include "softfloat.h"

enum {
    A_WORDS = 16 * 32,
    B_WORDS = 32 * 8,
    C_WORDS = 16 * 8,
    IN_WORDS = A_WORDS + B_WORDS + C_WORDS
};

static const char source[] =
    "typedef unsigned int u32; typedef unsigned short u16;\n"
    "#define K(name) extern \"C\" __global__ void name(const u32 *in, u32 *out, u32 n)\n"
    "__device__ u32 f16(int v) { u16 h; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : "
    "\"f\"((float)v)); return h; }\n"
    "__device__ u32 bf16(int v) { u16 h; asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(h) : "
    "\"f\"((float)v)); return h; }\n"
    "__device__ int of_f16(u32 h) { float f; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : "
    "\"h\"((u16)h)); return (int)f; }\n"
    "__device__ u32 tf32(int v) { return __float_as_uint((float)v); }\n"
    "__device__ u32 byte(int v) { return v & 255; }\n"
    "#define A(row, k) ((int)(in[(row) * 32 + (k)] % 9) - 4)\n"
    "#define B(k, col) ((int)(in[512 + (k) * 8 + (col)] % 9) - 4)\n"
    "#define C(row, col) ((int)(in[768 + (row) * 8 + (col)] & 127) - 64)\n"
    "#define WIDE_A(row, k) ((int)in[(row) * 32 + (k)])\n"
    "#define WIDE_B(k, col) ((int)in[512 + (k) * 8 + (col)])\n"
    "#define WIDE_C(row, col) ((int)in[768 + (row) * 8 + (col)])\n"
    "#define LANE u32 g = threadIdx.x >> 2, t = threadIdx.x & 3; u32 a[4] = {0}, b[2] = {0};\n"
    "#define FLOATS float c[4]; for (int i = 0; i < 4; i++) c[i] = C(i < 2 ? g : g + 8, t * 2 + (i "
    "& 1));\n"
    "#define STORE(value) for (int i = 0; i < 4; i++) out[(i < 2 ? g : g + 8) * 8 + t * 2 + (i & "
    "1)] = value;\n"
    "#define M(text, kind) asm volatile(text \" {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
    "%1, %2, %3};\" : \"+\" kind(c[0]), \"+\" kind(c[1]), \"+\" kind(c[2]), \"+\" kind(c[3]) : "
    "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
    "#define M2(text, kind) asm volatile(text \" {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, "
    "%3};\" : \"+\" kind(c[0]), \"+\" kind(c[1]), \"+\" kind(c[2]), \"+\" kind(c[3]) : "
    "\"r\"(a[0]), \"r\"(a[1]), \"r\"(b[0]));\n"
    "#define HALF16(f) for (int i = 0; i < 8; i++) a[i / 2] |= f(A(i < 2 || (i >= 4 && i < 6) ? g "
    ": g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0))) << 16 * (i & 1); for (int i = 0; i < 4; i++) "
    "b[i / 2] |= f(B(t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g)) << 16 * (i & 1);\n"
    "#define HALF8(f) for (int i = 0; i < 4; i++) a[i / 2] |= f(A(i < 2 ? g : g + 8, t * 2 + (i & "
    "1))) << 16 * (i & 1); for (int i = 0; i < 2; i++) b[0] |= f(B(t * 2 + i, g)) << 16 * i;\n"
    "#define SUMS16 u32 c[2] = {0}; for (int i = 0; i < 4; i++) c[i / 2] |= f16(C(i < 2 ? g : g + "
    "8, t * 2 + (i & 1))) << 16 * (i & 1);\n"
    "K(f16_k16) { LANE HALF16(f16) FLOATS "
    "M(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\", \"f\") STORE((int)c[i]) }\n"
    "K(bf16_k16) { LANE HALF16(bf16) FLOATS "
    "M(\"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32\", \"f\") STORE((int)c[i]) }\n"
    "K(f16_k8) { LANE HALF8(f16) FLOATS M2(\"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32\", "
    "\"f\") STORE((int)c[i]) }\n"
    "K(bf16_k8) { LANE HALF8(bf16) FLOATS "
    "M2(\"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32\", \"f\") STORE((int)c[i]) }\n"
    "K(f16_sums_k16) { LANE HALF16(f16) SUMS16 asm "
    "volatile(\"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, "
    "{%6, %7}, {%0, %1};\" : \"+r\"(c[0]), \"+r\"(c[1]) : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), "
    "\"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1])); STORE(of_f16(c[i / 2] >> 16 * (i & 1))) }\n"
    "K(f16_sums_k8) { LANE HALF8(f16) SUMS16 asm "
    "volatile(\"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, "
    "%1};\" : \"+r\"(c[0]), \"+r\"(c[1]) : \"r\"(a[0]), \"r\"(a[1]), \"r\"(b[0])); "
    "STORE(of_f16(c[i / 2] >> 16 * (i & 1))) }\n"
    "K(tf32_k8) { LANE for (int i = 0; i < 4; i++) a[i] = tf32(A(i == 0 || i == 2 ? g : g + 8, i < "
    "2 ? t : t + 4)); for (int i = 0; i < 2; i++) b[i] = tf32(B(i == 0 ? t : t + 4, g)); FLOATS "
    "M(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32\", \"f\") STORE((int)c[i]) }\n"
    "K(tf32_k4) { LANE for (int i = 0; i < 2; i++) a[i] = tf32(A(i == 0 ? g : g + 8, t)); b[0] = "
    "tf32(B(t, g)); FLOATS M2(\"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32\", \"f\") "
    "STORE((int)c[i]) }\n"
    "#define BYTES32 for (int i = 0; i < 16; i++) a[i / 4] |= byte(WIDE_A(i < 4 || (i >= 8 && i < "
    "12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0))) << 8 * (i & 3); for (int i = 0; i < 8; "
    "i++) b[i / 4] |= byte(WIDE_B(t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g)) << 8 * (i & 3); int "
    "c[4]; for (int i = 0; i < 4; i++) c[i] = WIDE_C(i < 2 ? g : g + 8, t * 2 + (i & 1));\n"
    "K(s8_s8) { LANE BYTES32 M(\"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32\", \"r\") "
    "STORE(c[i]) }\n"
    "K(u8_s8) { LANE BYTES32 M(\"mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32\", \"r\") "
    "STORE(c[i]) }\n"
    "K(s8_u8_sat) { LANE BYTES32 for (int i = 0; i < 4; i++) c[i] |= 0x7ff00000; "
    "M(\"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32\", \"r\") STORE(c[i]) }\n"
    "K(u8_u8_k16) { LANE for (int i = 0; i < 8; i++) a[i / 4] |= byte(WIDE_A(i < 4 ? g : g + 8, t "
    "* 4 + (i & 3))) << 8 * (i & 3); for (int i = 0; i < 4; i++) b[0] |= byte(WIDE_B(t * 4 + i, "
    "g)) << 8 * i; int c[4]; for (int i = 0; i < 4; i++) c[i] = WIDE_C(i < 2 ? g : g + 8, t * 2 + "
    "(i & 1)); M2(\"mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32\", \"r\") STORE(c[i]) }\n"
    "K(s8_m8) { LANE for (int i = 0; i < 4; i++) { a[0] |= byte(WIDE_A(g, t * 4 + i)) << 8 * i; "
    "b[0] |= byte(WIDE_B(t * 4 + i, g)) << 8 * i; } int c[2]; for (int i = 0; i < 2; i++) c[i] = "
    "WIDE_C(g, t * 2 + i); asm volatile(\"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, "
    "{%2}, {%3}, {%0, %1};\" : \"+r\"(c[0]), \"+r\"(c[1]) : \"r\"(a[0]), \"r\"(b[0])); for (int i "
    "= 0; i < 2; i++) out[g * 8 + t * 2 + i] = c[i]; }\n"
    "#define LANE64 u32 g = threadIdx.x >> 2, t = threadIdx.x & 3; double c[4]; for (int i = 0; i "
    "< 4; i++) c[i] = C(i < 2 ? g : g + 8, t * 2 + (i & 1));\n"
    "K(f64_m8) { LANE64 double a = A(g, t), b = B(t, g); asm "
    "volatile(\"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};\" "
    ": \"+d\"(c[0]), \"+d\"(c[1]) : \"d\"(a), \"d\"(b)); for (int i = 0; i < 2; i++) out[g * 8 + t "
    "* 2 + i] = (int)c[i]; }\n"
    "#define A64(i) (double)A((i) & 1 ? g + 8 : g, (i) / 2 * 4 + t)\n"
    "#define B64(i) (double)B((i) * 4 + t, g)\n"
    "K(f64_k4) { LANE64 asm volatile(\"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, "
    "%2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};\" : \"+d\"(c[0]), \"+d\"(c[1]), \"+d\"(c[2]), "
    "\"+d\"(c[3]) : \"d\"(A64(0)), \"d\"(A64(1)), \"d\"(B64(0))); STORE((int)c[i]) }\n"
    "K(f64_k8) { LANE64 asm volatile(\"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, "
    "%2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\" : \"+d\"(c[0]), \"+d\"(c[1]), "
    "\"+d\"(c[2]), \"+d\"(c[3]) : \"d\"(A64(0)), \"d\"(A64(1)), \"d\"(A64(2)), \"d\"(A64(3)), "
    "\"d\"(B64(0)), \"d\"(B64(1))); STORE((int)c[i]) }\n"
    "K(f64_k16) { LANE64 asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, "
    "%2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};\" : "
    "\"+d\"(c[0]), \"+d\"(c[1]), \"+d\"(c[2]), \"+d\"(c[3]) : \"d\"(A64(0)), \"d\"(A64(1)), "
    "\"d\"(A64(2)), \"d\"(A64(3)), \"d\"(A64(4)), \"d\"(A64(5)), \"d\"(A64(6)), \"d\"(A64(7)), "
    "\"d\"(B64(0)), \"d\"(B64(1)), \"d\"(B64(2)), \"d\"(B64(3))); STORE((int)c[i]) }\n"
    /* lanes that arrive one half after the other */
    "K(late_lanes) { LANE HALF8(f16) FLOATS if (in[0] != 1 && threadIdx.x >= 16) for (u32 i = 0; i "
    "< 50 + (in[1] & 1); i++) { asm volatile(\"\"); if (out[200 % n] == 77) c[0] = 0; } "
    "M2(\"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32\", \"f\") STORE((int)c[i]) }\n"
    /* row l of 8 elements is at row (5 l + 3) % 32 of shared memory */
    "#define ROW(s) ((u32)__cvta_generic_to_shared(s) + ((threadIdx.x * 5 + 3) & 31) * 16)\n"
    "#define FILL __shared__ __align__(16) u32 s[128]; for (int i = 0; i < 4; i++) s[i * 32 + "
    "threadIdx.x] = in[i * 32 + threadIdx.x]; __syncthreads();\n"
    "#define L4(text, base) asm volatile(text \" {%0, %1, %2, %3}, [%4];\" : \"=r\"(d[0]), "
    "\"=r\"(d[1]), \"=r\"(d[2]), \"=r\"(d[3]) : \"r\"(ROW(s))); for (int i = 0; i < 4; i++) "
    "out[base + i * 32 + threadIdx.x] = d[i];\n"
    "K(loads) { FILL u32 d[4]; L4(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16\", 0) "
    "L4(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16\", 128)\n"
    "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%0, %1}, [%2];\" : "
    "\"=r\"(d[0]), \"=r\"(d[1]) : \"r\"(ROW(s))); asm "
    "volatile(\"ldmatrix.sync.aligned.m8n8.x1.trans.b16 {%0}, [%1];\" : \"=r\"(d[2]) : "
    "\"l\"((char *)s + ((threadIdx.x * 5 + 3) & 31) * 16)); for (int i = 0; i < 3; i++) out[256 + "
    "i * 32 + threadIdx.x] = d[i]; }\n"
    "K(stores) { FILL u32 t = threadIdx.x; __syncthreads(); asm "
    "volatile(\"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\" :: "
    "\"r\"(ROW(s)), \"r\"(in[t] + 1), \"r\"(in[t + 32] + 2), \"r\"(in[t + 64] + 3), \"r\"(in[t + "
    "96] + 4) : \"memory\"); __syncthreads(); for (int i = 0; i < 4; i++) out[i * 32 + t] = s[i * "
    "32 + t]; __syncthreads(); asm volatile(\"stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], "
    "{%1, %2};\" :: \"r\"(ROW(s)), \"r\"(in[t] * 3), \"r\"(in[t + 32] * 5) : \"memory\"); "
    "__syncthreads(); for (int i = 0; i < 4; i++) out[128 + i * 32 + t] = s[i * 32 + t]; }\n";

/* The plain product; elements as `element` makes them from the input words. */
typedef s64 (*element)(u32 word);

static s64 small(u32 word)
{
    return (s64)(word % 9) - 4;
}

static s64 as_s8(u32 word)
{
    return (s8)word;
}

static s64 as_u8(u32 word)
{
    return (u8)word;
}

static s64 small_sum(u32 word)
{
    return (s64)(word & 127) - 64;
}

static s64 as_s32(u32 word)
{
    return (s32)word;
}

static s64 large_s32(u32 word)
{
    return (s32)(word | 0x7ff00000);
}

static void product(
    u32 rows, u32 depth, element a, element b, element c, int saturates, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < rows * 8; i++) {
        s64 sum = c(in[A_WORDS + B_WORDS + i]);

        for (u32 k = 0; k < depth; k++)
            sum += a(in[i / 8 * 32 + k]) * b(in[A_WORDS + k * 8 + i % 8]);
        if (saturates)
            sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        out[i] = (u32)sum;
    }
}

#define PRODUCT(name, rows, depth, a, b, c, saturates)                                             \
    static void name(const struct program_case *p, const u32 *in, u32 *out)                        \
    {                                                                                              \
        (void)p;                                                                                   \
        product(rows, depth, a, b, c, saturates, in, out);                                         \
    }

PRODUCT(k16, 16, 16, small, small, small_sum, 0)
PRODUCT(k8, 16, 8, small, small, small_sum, 0)
PRODUCT(k4, 16, 4, small, small, small_sum, 0)
PRODUCT(m8k4, 8, 4, small, small, small_sum, 0)
PRODUCT(s8_s8, 16, 32, as_s8, as_s8, as_s32, 0)
PRODUCT(u8_s8, 16, 32, as_u8, as_s8, as_s32, 0)
PRODUCT(s8_u8_sat, 16, 32, as_s8, as_u8, large_s32, 1)
PRODUCT(u8_u8_k16, 16, 16, as_u8, as_u8, as_s32, 0)
PRODUCT(s8_m8, 8, 16, as_s8, as_s8, as_s32, 0)

static u16 *row_of(u32 *words, u32 row)
{
    return (u16 *)(void *)words + ((row * 5 + 3) & 31) * 8;
}

/* "Thread l has row l / 4, elements 2 (l % 4) and the next", or the same of columns. */
static void loads(const struct program_case *p, const u32 *in, u32 *out)
{
    static const struct {
        u32 matrix;
        int is_transposed;
    } registers[] = {
        {0, 0}, {1, 0}, {2, 0}, {3, 0}, {0, 1}, {1, 1}, {2, 1}, {3, 1}, {0, 0}, {1, 0}, {0, 1}};
    u32 shared[128];

    (void)p;
    memcpy(shared, in, sizeof(shared));
    for (u32 r = 0; r < COUNT_OF(registers); r++)
        for (u32 l = 0; l < 32; l++) {
            u32 major = l / 4, minor = l % 4 * 2, matrix = registers[r].matrix * 8, low, high;

            low = registers[r].is_transposed ? row_of(shared, matrix + minor)[major]
                                             : row_of(shared, matrix + major)[minor];
            high = registers[r].is_transposed ? row_of(shared, matrix + minor + 1)[major]
                                              : row_of(shared, matrix + major)[minor + 1];
            out[r * 32 + l] = low | high << 16;
        }
}

static void stores(const struct program_case *p, const u32 *in, u32 *out)
{
    u32 shared[128];

    (void)p;
    for (u32 i = 0; i < 128; i++) {
        u32 l = i % 32, value = in[i] + 1 + i / 32, row = i / 32 * 8 + l / 4;

        row_of(shared, row)[l % 4 * 2] = (u16)value;
        row_of(shared, row)[l % 4 * 2 + 1] = (u16)(value >> 16);
    }
    memcpy(out, shared, sizeof(shared));
    for (u32 i = 0; i < 64; i++) {
        u32 l = i % 32, value = in[i] * (i < 32 ? 3 : 5), row = i / 32 * 8 + l % 4 * 2;

        row_of(shared, row)[l / 4] = (u16)value;
        row_of(shared, row + 1)[l / 4] = (u16)(value >> 16);
    }
    memcpy(out + 128, shared, sizeof(shared));
}

#define MMA(name, rows, answer)                                                                    \
    {                                                                                              \
#name, {1, 1, 1 }, {32, 1, 1 }, 0, 0, IN_WORDS, (rows)*8, answer                           \
    }

static const struct program_case programs[] = {
    MMA(f16_k16, 16, k16),
    MMA(bf16_k16, 16, k16),
    MMA(f16_k8, 16, k8),
    MMA(bf16_k8, 16, k8),
    MMA(f16_sums_k16, 16, k16),
    MMA(f16_sums_k8, 16, k8),
    MMA(tf32_k8, 16, k8),
    MMA(tf32_k4, 16, k4),
    MMA(s8_s8, 16, s8_s8),
    MMA(u8_s8, 16, u8_s8),
    MMA(s8_u8_sat, 16, s8_u8_sat),
    MMA(u8_u8_k16, 16, u8_u8_k16),
    MMA(s8_m8, 8, s8_m8),
    MMA(f64_m8, 8, m8k4),
    MMA(f64_k4, 16, k4),
    MMA(f64_k8, 16, k8),
    MMA(f64_k16, 16, k16),
    MMA(late_lanes, 16, k8),
    {"loads", {1, 1, 1}, {32, 1, 1}, 0, 0, 128, 352, loads},
    {"stores", {1, 1, 1}, {32, 1, 1}, 0, 0, 128, 256, stores},
};

const struct group matrices_group = {
    .name = "matrices",
    .source = source,
    .programs = programs,
    .program_count = COUNT_OF(programs),
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow: divergent loops and switches, brx tables, nested, recursive and indirect calls, by
 * value and on the stack, early exit, predication, and reconvergence after each.
 */
#include "conformance.h"

static const char source[] =
    "typedef unsigned int u32; typedef unsigned long long u64;\n"
    "#define K extern \"C\" __global__ void\n"
    "#define ID (blockIdx.x * blockDim.x + threadIdx.x)\n"
    "#define F __device__ __noinline__\n"
    "K collatz(const u32 *in, u32 *out, u32 n) {\n"
    "  u64 x = in[ID] % 100000 + 1; u32 s = 0; while (x != 1) { x = x & 1 ? 3 * x + 1 : x / 2; "
    "s++; }\n"
    "  out[ID] = s; }\n"
    "K nested_loops(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 v = in[ID], s = 0; for (u32 i = 0; i < (v & 15); i++) {\n"
    "    for (u32 j = i; j < (v >> 4 & 15); j++) { if ((i * j + v) % 7 == 3) continue;\n"
    "      if (s > 900) break; s += i * 31 + j; } if ((v >> i & 3) == 3) s ^= i; }\n"
    "  out[ID] = s; }\n"
    "K many_ways(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 v = in[ID], s = v; for (int i = 0; i < 20; i++) { switch (s % 13) {\n"
    "    case 0: s += 17; break; case 1: s = s * 3 + 1; break; case 2: s ^= s >> 5;\n"
    "    case 3: s += i; break; case 4: s = ~s; break; case 5: s -= v; break; case 6: s *= "
    "0x9e3779b1;\n"
    "    break; case 7: s = s << 3 | s >> 29; break; case 8: if (s & 64) s += 5; else s -= 9; "
    "break;\n"
    "    case 9: for (int j = 0; j < (int)(s & 3); j++) s += j * 7 + 1; break; case 10: s /= 3; "
    "break;\n"
    "    case 11: s |= 0x10000; break; default: s = s * s + 12345; } } out[ID] = s; }\n"
    "K branch_table(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 v = in[ID], i = v % 4, r = v;\n"
    "  asm volatile(\"{ T: .branchtargets A, B, C, A; brx.idx %1, T; A: add.u32 %0, %0, 1; bra "
    "E;\\n\"\n"
    "  \"B: mul.lo.u32 %0, %0, 3; bra E; C: xor.b32 %0, %0, 0x55; E: }\" : \"+r\"(r) : \"r\"(i));\n"
    "  out[ID] = r; }\n"
    "F u32 factorial(u32 n) { return n < 2 ? 1 : n * factorial(n - 1); }\n"
    "F u32 ackermann(u32 m, u32 n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1)\n"
    "  : ackermann(m - 1, ackermann(m, n - 1)); }\n"
    "K recursion(const u32 *in, u32 *out, u32 n) { u32 v = in[ID];\n"
    "  out[ID] = factorial(v % 13) + 100 * ackermann(v >> 8 & 1, v >> 12 & 3); }\n"
    "F u32 f0(u32 x, u32 y) { return x + y; }\n"
    "F u32 f1(u32 x, u32 y) { return x * y + f0(y, 3); }\n"
    "F u32 f2(u32 x, u32 y) { return (x & 1 ? f1(x, y) : f0(x >> 1, y)) ^ 0xabc; }\n"
    "typedef u32 (*op)(u32, u32);\n"
    "__device__ op ops[3] = {f0, f1, f2};\n"
    "K indirect(const u32 *in, u32 *out, u32 n) { u32 v = in[ID], s = 1;\n"
    "  for (u32 i = 0; i < 6; i++) s = ops[(v >> 2 * i & 3) % 3](s, v >> i); out[ID] = s; }\n"
    "K divergent_calls(const u32 *in, u32 *out, u32 n) { u32 v = in[ID], s = 0;\n"
    "  if (v & 1) { s = f2(v, 5); if (v & 2) s += f1(s, v); } else s = f1(v, f0(v, f2(v, 7)));\n"
    "  u32 m = __activemask(); out[ID] = s + (__popc(m) > 32); }\n"
    "struct big { u32 a[9]; u64 b; };\n"
    "F big change(big x, u32 i) { x.a[i % 9] += (u32)x.b; x.b = x.b * 3 + x.a[(i + 1) % 9]; return "
    "x; }\n"
    "K by_value(const u32 *in, u32 *out, u32 n) { big x; u32 v = in[ID];\n"
    "  for (int i = 0; i < 9; i++) x.a[i] = v * (i + 1); x.b = v; for (int i = 0; i < 4; i++) x = "
    "change(x, v >> i);\n"
    "  u32 s = (u32)x.b; for (int i = 0; i < 9; i++) s = s * 31 + x.a[i]; out[ID] = s; }\n"
    "F void through_pointer(u32 *a, u64 *b, u32 k) { *a += k; *b ^= *a; if (k) through_pointer(a, "
    "b, k - 1); }\n"
    "K pointers_to_locals(const u32 *in, u32 *out, u32 n) { u32 a = in[ID]; u64 b = a * 7ull;\n"
    "  through_pointer(&a, &b, a & 7); out[ID] = a + (u32)b; }\n"
    "K early_exit(const u32 *in, u32 *out, u32 n) { u32 v = in[ID]; out[ID] = 1; if (v & 1) "
    "return;\n"
    "  out[ID] = 2; for (int i = 0; i < 10; i++) { if ((v >> i & 7) == 5) return; out[ID] += i; } "
    "out[ID] ^= v; }\n"
    "K exits_and_barriers(const u32 *in, u32 *out, u32 n) { __shared__ u32 s; if (threadIdx.x == "
    "0) s = 0;\n"
    "  __syncthreads(); if (threadIdx.x >= 64) { out[ID] = 7; return; } atomicAdd(&s, in[ID] & "
    "15);\n"
    "  asm volatile(\"bar.sync 1, 64;\" ::: \"memory\"); out[ID] = s; }\n"
    "K predicated(const u32 *in, u32 *out, u32 n) { u32 v = in[ID], r = 0;\n"
    "  asm volatile(\"{.reg .pred p, q, r; .reg .b32 t; and.b32 t, %1, 1; setp.ne.u32 p, t, "
    "0;\\n\"\n"
    "  \"setp.gt.u32 q, %1, 0x80000000; @p add.u32 %0, %0, 5; @!p add.u32 %0, %0, 11; @q shl.b32 "
    "%0, %0, 4;\\n\"\n"
    "  \"@!q setp.lt.s32 p, t, 5; @p xor.b32 %0, %0, %1; xor.pred r, p, q; @r bra D; @!q "
    "mul.lo.u32 %0, %0, 7;\\n\"\n"
    "  \"D: @q st.global.u32 [%2], %0; @!q st.global.u32 [%2], %1; }\" : \"+r\"(r) : \"r\"(v), "
    "\"l\"(out + ID) : \"memory\");\n"
    "  out[ID] += r; }\n"
    /* the loop's exit and a jump into the shared tail */
    "K irregular(const u32 *in, u32 *out, u32 n) { u32 v = in[ID], s = 0, i = 0;\n"
    "  if (v & 8) goto middle;\n"
    "top: s = s * 5 + i; if (s % 11 == 4) goto tail;\n"
    "middle: i++; s ^= v >> (i & 15); if (i < 12) { if (s & 1) goto top; s += 3; goto middle; }\n"
    "tail: out[ID] = s * 3 + i; }\n"
    "K reconverged(const u32 *in, u32 *out, u32 n) { u32 v = in[ID], s = 0;\n"
    "  for (u32 i = 0; i < (v & 31); i++) s += v >> i; __syncwarp();\n"
    "  s += __shfl_xor_sync(~0u, s, 1); if (v & 32) s *= 3; __syncwarp(); out[ID] = s + "
    "__shfl_down_sync(~0u, s, 4); }\n";

static void collatz(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++)
        for (u64 x = in[i] % 100000 + 1; x != 1; x = x & 1 ? 3 * x + 1 : x / 2)
            out[i]++;
}

static void nested_loops(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 id = 0; id < p->out_words; id++) {
        u32 v = in[id], s = 0;

        for (u32 i = 0; i < (v & 15); i++) {
            for (u32 j = i; j < (v >> 4 & 15); j++) {
                if ((i * j + v) % 7 == 3)
                    continue;
                if (s > 900)
                    break;
                s += i * 31 + j;
            }
            if ((v >> i & 3) == 3)
                s ^= i;
        }
        out[id] = s;
    }
}

static u32 one_way(u32 s, u32 v, u32 i)
{
    u32 turns;

    switch (s % 13) {
    case 0:
        return s + 17;
    case 1:
        return s * 3 + 1;
    case 2:
        return (s ^ s >> 5) + i;
    case 3:
        return s + i;
    case 4:
        return ~s;
    case 5:
        return s - v;
    case 6:
        return s * 0x9e3779b1;
    case 7:
        return s << 3 | s >> 29;
    case 8:
        return s & 64 ? s + 5 : s - 9;
    case 9:
        turns = 0; /* the bound is evaluated in each iteration */
        for (; turns < (s & 3); turns++)
            s += turns * 7 + 1;
        return s;
    case 10:
        return s / 3;
    case 11:
        return s | 0x10000;
    default:
        return s * s + 12345;
    }
}

static void many_ways(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 id = 0; id < p->out_words; id++) {
        out[id] = in[id];
        for (u32 i = 0; i < 20; i++)
            out[id] = one_way(out[id], in[id], i);
    }
}

static void branch_table(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++)
        out[i] = in[i] % 4 == 1 ? in[i] * 3 : in[i] % 4 == 2 ? in[i] ^ 0x55 : in[i] + 1;
}

static u32 ackermann(u32 m, u32 n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static void recursion(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++) {
        u32 v = in[i], product = 1;

        for (u32 k = 2; k <= v % 13; k++)
            product *= k;
        out[i] = product + 100 * ackermann(v >> 8 & 1, v >> 12 & 3);
    }
}

static u32 f0(u32 x, u32 y)
{
    return x + y;
}

static u32 f1(u32 x, u32 y)
{
    return x * y + f0(y, 3);
}

static u32 f2(u32 x, u32 y)
{
    return (x & 1 ? f1(x, y) : f0(x >> 1, y)) ^ 0xabc;
}

static void indirect(const struct program_case *p, const u32 *in, u32 *out)
{
    static u32 (*const functions[3])(u32, u32) = {f0, f1, f2};

    for (u32 id = 0; id < p->out_words; id++) {
        out[id] = 1;
        for (u32 i = 0; i < 6; i++)
            out[id] = functions[(in[id] >> 2 * i & 3) % 3](out[id], in[id] >> i);
    }
}

static void divergent_calls(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++) {
        u32 v = in[i];

        if (v & 1) {
            out[i] = f2(v, 5);
            if (v & 2)
                out[i] += f1(out[i], v);
        } else {
            out[i] = f1(v, f0(v, f2(v, 7)));
        }
    }
}

static void by_value(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 id = 0; id < p->out_words; id++) {
        u32 a[9], v = in[id];
        u64 b = v;

        for (u32 i = 0; i < 9; i++)
            a[i] = v * (i + 1);
        for (u32 i = 0; i < 4; i++) {
            a[(v >> i) % 9] += (u32)b;
            b = b * 3 + a[((v >> i) + 1) % 9];
        }
        out[id] = (u32)b;
        for (u32 i = 0; i < 9; i++)
            out[id] = out[id] * 31 + a[i];
    }
}

static void pointers_to_locals(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++) {
        u32 a = in[i];
        u64 b = a * UINT64_C(7);

        for (u32 k = (a & 7) + 1; k-- > 0;) {
            a += k;
            b ^= a;
        }
        out[i] = a + (u32)b;
    }
}

static u32 until_exit(u32 v)
{
    u32 result = 2;

    if (v & 1)
        return 1;
    for (u32 i = 0; i < 10; i++) {
        if ((v >> i & 7) == 5)
            return result;
        result += i;
    }
    return result ^ v;
}

static void early_exit(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++)
        out[i] = until_exit(in[i]);
}

static void exits_and_barriers(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 block = 0; block < p->out_words; block += 128) {
        u32 sum = 0;

        for (u32 t = 0; t < 64; t++)
            sum += in[block + t] & 15;
        for (u32 t = 0; t < 128; t++)
            out[block + t] = t < 64 ? sum : 7;
    }
}

static void predicated(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++) {
        u32 v = in[i], r = v & 1 ? 5 : 11;
        int q = v > 0x80000000, first = q ? (int)(v & 1) : 1;

        if (q)
            r <<= 4;
        if (first)
            r ^= v;
        if (first == q && !q)
            r *= 7;
        out[i] = (q ? r : v) + r;
    }
}

static void irregular(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 id = 0; id < p->out_words; id++) {
        u32 v = in[id], s = 0, i = 0;
        int at_top = !(v & 8);

        for (;;) {
            if (at_top) {
                s = s * 5 + i;
                if (s % 11 == 4)
                    break;
            }
            i++;
            s ^= v >> (i & 15);
            if (i >= 12)
                break;
            at_top = (int)(s & 1);
            if (!at_top)
                s += 3;
        }
        out[id] = s * 3 + i;
    }
}

static void reconverged(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 base = 0; base < p->out_words; base += 32) {
        u32 s[32] = {0}, t[32];

        for (u32 l = 0; l < 32; l++)
            for (u32 i = 0; i < (in[base + l] & 31); i++)
                s[l] += in[base + l] >> i;
        for (u32 l = 0; l < 32; l++)
            t[l] = (s[l] + s[l ^ 1]) * (in[base + l] & 32 ? 3 : 1);
        for (u32 l = 0; l < 32; l++)
            out[base + l] = t[l] + t[l + 4 < 32 ? l + 4 : l];
    }
}

#define CONTROL(name)                                                                              \
    {                                                                                              \
#name, {3, 1, 1 }, {128, 1, 1 }, 0, 0, 384, 384, name                                      \
    }

static const struct program_case programs[] = {CONTROL(collatz), CONTROL(nested_loops),
    CONTROL(many_ways), CONTROL(branch_table), CONTROL(recursion), CONTROL(indirect),
    CONTROL(divergent_calls), CONTROL(by_value), CONTROL(pointers_to_locals), CONTROL(early_exit),
    CONTROL(exits_and_barriers), CONTROL(predicated), CONTROL(irregular), CONTROL(reconverged)};

const struct group control_group = {
    .name = "control", .source = source, .programs = programs, .program_count = COUNT_OF(programs)};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication between the lanes of a warp: shfl in all modes and widths, vote, match, redux,
 * activemask, barrier.warp, elect, also in divergent parts of a warp.
 */
#include "conformance.h"

static const char source[] =
    "typedef unsigned int u32; typedef unsigned long long u64;\n"
    "#define K extern \"C\" __global__ void\n"
    "#define ID (blockIdx.x * blockDim.x + threadIdx.x)\n"
    "#define FULL 0xffffffffu\n"
    /* mode by how: each lane has a different distance, and the predicate is stored in bit 0 */
    "#define SHUFFLE(mode) K shfl_##mode(const u32 *in, u32 *out, u32 n) {\\\n"
    "  u32 v = in[ID], s = 0; for (u32 w = 0; w < 6; w++) {\\\n"
    "    u32 width = 1u << w, c = (32 - width) << 8 | (TOP_##mode), r, p, by = (v >> w) & 31;\\\n"
    "    asm volatile(\"{.reg .pred p; shfl.sync.\" #mode \".b32 %0|p, %2, %3, %4, -1;\"\\\n"
    "      \"selp.u32 %1, 1, 0, p;}\" : \"=r\"(r), \"=r\"(p) : \"r\"(v), \"r\"(by), \"r\"(c));\\\n"
    "    s = s * 5 + r + p; } out[ID] = s; }\n"
    "#define TOP_up 0\n#define TOP_down 31\n#define TOP_bfly 31\n#define TOP_idx 31\n"
    "SHUFFLE(up) SHUFFLE(down) SHUFFLE(bfly) SHUFFLE(idx)\n"
    "K shfl_wide(const u32 *in, u32 *out, u32 n) {\n"
    "  u64 v = (u64)in[ID] << 32 | in[ID ^ 1]; u64 r = __shfl_xor_sync(FULL, v, 5, 16);\n"
    "  out[ID] = (u32)(r >> 32) ^ (u32)r * 3; }\n"
    "K shfl_part(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 v = in[ID], lane = threadIdx.x & 31, r = 0;\n"
    "  if (lane & 1) r = __shfl_sync(0xaaaaaaaa, v, lane ^ 2);\n"
    "  else if (lane & 2) r = __shfl_sync(0x44444444, v, (lane + 4) & 31);\n"
    "  else r = __shfl_sync(0x11111111, v, 0);\n"
    "  out[ID] = r + lane; }\n"
    "K scan(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 v = in[ID], lane = threadIdx.x & 31;\n"
    "  for (u32 d = 1; d < 32; d *= 2) { u32 o = __shfl_up_sync(FULL, v, d); if (lane >= d) v += "
    "o; }\n"
    "  out[ID] = v; }\n"
    "K votes(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 v = in[ID], s = __ballot_sync(FULL, v & 1);\n"
    "  for (int i = 0; i < 12; i++) { int q = (v >> i) < 0x300000u;\n"
    "    s = s * 7 + __all_sync(FULL, q) + 2 * __any_sync(FULL, q) + 4 * (__ballot_sync(FULL, q) "
    ">> 9 & 1);\n"
    "    int u; asm volatile(\"{.reg .pred p, q; setp.ne.u32 q, %1, 0; vote.sync.uni.pred p, q, "
    "-1;\"\n"
    "    \"selp.u32 %0, 1, 0, p;}\" : \"=r\"(u) : \"r\"(q)); s += u * 3; }\n"
    "  out[ID] = s; }\n"
    "K votes_part(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 v = in[ID], lane = threadIdx.x & 31, r;\n"
    "  if (lane < 11) r = __ballot_sync(0x7ff, v & 1) * 2 + __all_sync(0x7ff, v & 2);\n"
    "  else { r = __ballot_sync(0xfffff800, v & 4); if (lane >= 20) r += __any_sync(0xfff00000, v "
    "& 8) + __activemask(); }\n"
    "  out[ID] = r; }\n"
    "K matches(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 v = in[ID] & 3; int p; u64 w = (u64)(in[ID] >> 4 & 1) << 40 | 7;\n"
    "  u32 a = __match_any_sync(FULL, v), b = __match_any_sync(FULL, w);\n"
    "  u32 c = __match_all_sync(FULL, v, &p); u32 s = a + b * 3 + c * 5 + p;\n"
    "  u32 d = __match_all_sync(FULL, blockIdx.x, &p); s += d * 7 + p;\n"
    "  u64 e = (u64)blockIdx.x << 33; s += __match_all_sync(FULL, e, &p) + p * 11;\n"
    "  out[ID] = s; }\n"
    "K reductions(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 v = in[ID], s = __reduce_add_sync(FULL, v);\n"
    "  s = s * 3 + __reduce_min_sync(FULL, v); s = s * 3 + __reduce_max_sync(FULL, v);\n"
    "  s = s * 3 + __reduce_min_sync(FULL, (int)v); s = s * 3 + __reduce_max_sync(FULL, (int)v);\n"
    "  s = s * 3 + __reduce_and_sync(FULL, v | 0xff00); s = s * 3 + __reduce_or_sync(FULL, v & "
    "0xff00ff);\n"
    "  s = s * 3 + __reduce_xor_sync(FULL, v);\n"
    "  if (threadIdx.x & 4) s += __reduce_add_sync(0xf0f0f0f0, v); else s += "
    "__reduce_max_sync(0x0f0f0f0f, v);\n"
    "  out[ID] = s; }\n"
    "K active(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 lane = threadIdx.x & 31, m = __activemask();\n"
    "  out[ID] = m; __syncwarp(); \n"
    "  if (lane == 0) out[ID] ^= 1; __syncwarp(); }\n"
    "K elected(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 p, d; u32 lane = threadIdx.x & 31; p = d = 0;\n"
    "  if (lane >= 5) asm volatile(\"{.reg .pred p; elect.sync %1|p, 0xffffffe0; selp.u32 %0, 1, "
    "0, p;}\"\n"
    "    : \"=r\"(p), \"=r\"(d)); __syncwarp(); out[ID] = p + 2 * __popc(__ballot_sync(FULL, p)); "
    "}\n"
    /* a warp's lanes pass values through shared memory with barrier.warp between them */
    "K warp_barrier(const u32 *in, u32 *out, u32 n) {\n"
    "  __shared__ volatile u32 s[128]; u32 t = threadIdx.x, base = t & ~31u, lane = t & 31; s[t] = "
    "in[ID];\n"
    "  __syncwarp(); for (u32 d = 16; d; d /= 2) { u32 o = s[base + (lane ^ d)]; __syncwarp();\n"
    "    s[t] += o * 3 + d; __syncwarp(); } out[ID] = s[t]; }\n"
    "K lane_registers(const u32 *in, u32 *out, u32 n) {\n"
    "  u32 l, eq, lt, le, gt, ge; asm volatile(\"mov.u32 %0, %%laneid; mov.u32 %1, "
    "%%lanemask_eq;\\n\"\n"
    "  \"mov.u32 %2, %%lanemask_lt; mov.u32 %3, %%lanemask_le; mov.u32 %4, %%lanemask_gt;\\n\"\n"
    "  \"mov.u32 %5, %%lanemask_ge;\" : \"=r\"(l), \"=r\"(eq), \"=r\"(lt), \"=r\"(le), \"=r\"(gt), "
    "\"=r\"(ge));\n"
    "  out[ID] = l + eq * 3 + lt * 5 + le * 7 + gt * 11 + ge * 13; }\n";

enum { UP, DOWN, BFLY, IDX };

static u32 shuffled(int mode, const u32 *warp, u32 lane, u32 by, u32 width)
{
    u32 first = lane & ~(width - 1), last = first + width - 1, from;
    int is_in;

    if (mode == UP) {
        from = lane - by;
        is_in = (s32)from >= (s32)first;
    } else {
        from = mode == DOWN ? lane + by : mode == BFLY ? lane ^ by : first | (by & (width - 1));
        is_in = from <= last;
    }
    return (is_in ? warp[from] : warp[lane]) + (u32)is_in;
}

static void shuffle(int mode, const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++)
        for (u32 w = 0; w < 6; w++)
            out[i] =
                out[i] * 5 + shuffled(mode, in + (i & ~31u), i & 31, (in[i] >> w) & 31, 1u << w);
}

static void shfl_up(const struct program_case *p, const u32 *in, u32 *out)
{
    shuffle(UP, p, in, out);
}

static void shfl_down(const struct program_case *p, const u32 *in, u32 *out)
{
    shuffle(DOWN, p, in, out);
}

static void shfl_bfly(const struct program_case *p, const u32 *in, u32 *out)
{
    shuffle(BFLY, p, in, out);
}

static void shfl_idx(const struct program_case *p, const u32 *in, u32 *out)
{
    shuffle(IDX, p, in, out);
}

static void shfl_wide(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++)
        out[i] = in[i ^ 5] ^ in[i ^ 4] * 3;
}

static void shfl_part(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++) {
        u32 base = i & ~31u, lane = i & 31;

        out[i] = lane + (lane & 1 ? in[i ^ 2] : lane & 2 ? in[base + ((lane + 4) & 31)] : in[base]);
    }
}

static void scan(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++)
        out[i] = in[i] + (i & 31 ? out[i - 1] : 0);
}

/* Bit i: what `in[i] op`s in the warp. */
#define BALLOT(warp, expression)                                                                   \
    ({                                                                                             \
        u32 ballot = 0;                                                                            \
        for (u32 l = 0; l < 32; l++) {                                                             \
            u32 v = (warp)[l];                                                                     \
            ballot |= (u32)((expression) != 0) << l;                                               \
        }                                                                                          \
        ballot;                                                                                    \
    })

static void votes(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++) {
        const u32 *warp = in + (i & ~31u);

        out[i] = BALLOT(warp, v & 1);
        for (int k = 0; k < 12; k++) {
            u32 b = BALLOT(warp, (v >> k) < 0x300000u);

            out[i] = out[i] * 7 + (b == UINT32_MAX) + 2u * (b != 0) + 4 * (b >> 9 & 1) +
                     3u * (b == 0 || b == UINT32_MAX);
        }
    }
}

static void votes_part(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++) {
        const u32 *warp = in + (i & ~31u);
        u32 low = BALLOT(warp, v & 1) & 0x7ff, all = BALLOT(warp, v & 2) & 0x7ff;
        u32 high = BALLOT(warp, v & 4) & 0xfffff800, any = BALLOT(warp, v & 8) & 0xfff00000;

        if ((i & 31) < 11)
            out[i] = low * 2 + (all == 0x7ff);
        else
            out[i] = high + ((i & 31) >= 20 ? (any != 0) + 0xfff00000 : 0);
    }
}

static void matches(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++) {
        const u32 *warp = in + (i & ~31u);
        u32 a = BALLOT(warp, (v & 3) == (in[i] & 3));
        u32 b = BALLOT(warp, (v >> 4 & 1) == (in[i] >> 4 & 1));
        u32 all = a == UINT32_MAX;

        out[i] = a + b * 3 + (all ? UINT32_MAX : 0) * 5 + all;
        out[i] += UINT32_MAX * 7 + 1;
        out[i] += UINT32_MAX + 11;
    }
}

#define FOLD(warp, start, mask, expression)                                                        \
    ({                                                                                             \
        u32 r = (start);                                                                           \
        for (u32 l = 0; l < 32; l++)                                                               \
            if ((mask) >> l & 1) {                                                                 \
                u32 v = (warp)[l];                                                                 \
                r = (expression);                                                                  \
            }                                                                                      \
        r;                                                                                         \
    })

static void reductions(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++) {
        const u32 *warp = in + (i & ~31u);
        u32 s = FOLD(warp, 0, UINT32_MAX, r + v);

        s = s * 3 + FOLD(warp, UINT32_MAX, UINT32_MAX, v < r ? v : r);
        s = s * 3 + FOLD(warp, 0, UINT32_MAX, v > r ? v : r);
        s = s * 3 + FOLD(warp, INT32_MAX, UINT32_MAX, (s32)v < (s32)r ? v : r);
        s = s * 3 + FOLD(warp, 0x80000000, UINT32_MAX, (s32)v > (s32)r ? v : r);
        s = s * 3 + FOLD(warp, UINT32_MAX, UINT32_MAX, r & (v | 0xff00));
        s = s * 3 + FOLD(warp, 0, UINT32_MAX, r | (v & 0xff00ff));
        s = s * 3 + FOLD(warp, 0, UINT32_MAX, r ^ v);
        out[i] = s + (i & 4 ? FOLD(warp, 0, 0xf0f0f0f0, r + v)
                            : FOLD(warp, 0, 0x0f0f0f0f, v > r ? v : r));
    }
}

static void active(const struct program_case *p, const u32 *in, u32 *out)
{
    (void)in;
    for (u32 i = 0; i < p->out_words; i++) {
        u32 t = i % p->block[0];

        out[i] = t >= 64 ? 0x3ff : UINT32_MAX;
        out[i] ^= (t & 31) == 0;
    }
}

static void elected(const struct program_case *p, const u32 *in, u32 *out)
{
    (void)in;
    for (u32 i = 0; i < p->out_words; i++)
        out[i] = 2 + ((i & 31) == 5);
}

static void warp_barrier(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 base = 0; base < p->out_words; base += 32) {
        u32 s[32], o[32];

        for (u32 l = 0; l < 32; l++)
            s[l] = in[base + l];
        for (u32 d = 16; d; d /= 2) {
            for (u32 l = 0; l < 32; l++)
                o[l] = s[l ^ d];
            for (u32 l = 0; l < 32; l++)
                s[l] += o[l] * 3 + d;
        }
        for (u32 l = 0; l < 32; l++)
            out[base + l] = s[l];
    }
}

static void lane_registers(const struct program_case *p, const u32 *in, u32 *out)
{
    (void)in;
    for (u32 i = 0; i < p->out_words; i++) {
        u32 l = i & 31, eq = 1u << l, lt = eq - 1;

        out[i] = l + eq * 3 + lt * 5 + (lt | eq) * 7 + ~(lt | eq) * 11 + ~lt * 13;
    }
}

#define WARPS(name)                                                                                \
    {                                                                                              \
#name, {3, 1, 1 }, {128, 1, 1 }, 0, 0, 384, 384, name                                      \
    }

static const struct program_case programs[] = {WARPS(shfl_up), WARPS(shfl_down), WARPS(shfl_bfly),
    WARPS(shfl_idx), WARPS(shfl_wide), WARPS(shfl_part), WARPS(scan), WARPS(votes),
    WARPS(votes_part), WARPS(matches), WARPS(reductions),
    {"active", {3, 1, 1}, {74, 1, 1}, 0, 0, 0, 222, active}, WARPS(elected), WARPS(warp_barrier),
    WARPS(lane_registers)};

const struct group warps_group = {
    .name = "warps", .source = source, .programs = programs, .program_count = COUNT_OF(programs)};

/* SPDX-License-Identifier: Apache-2.0 */
/* mbarrier in shared memory, cp.async that arrives on one, and bulk copies. */
#include "conformance.h"

static const char source[] =
    "typedef unsigned int u32; typedef unsigned long long u64;\n"
    "#define K(name) extern \"C\" __global__ void name(const u32 *in, u32 *out, u32 n)\n"
    "__device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }\n"
    "__device__ void init(u64 *m, u32 count) { asm volatile(\"mbarrier.init.shared.b64 [%0], %1;\" "
    ":: \"r\"(at(m)), \"r\"(count) : \"memory\"); }\n"
    "__device__ u64 arrive(u64 *m) { u64 s; asm volatile(\"mbarrier.arrive.shared.b64 %0, [%1];\" "
    ": \"=l\"(s) : \"r\"(at(m)) : \"memory\"); return s; }\n"
    "__device__ bool test(u64 *m, u64 s) { u32 d; asm volatile(\"{.reg .pred p; "
    "mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}\" : \"=r\"(d) : "
    "\"r\"(at(m)), \"l\"(s) : \"memory\"); return d; }\n"
    "__device__ bool test_parity(u64 *m, u32 parity) { u32 d; asm volatile(\"{.reg .pred p; "
    "mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}\" : \"=r\"(d) : "
    "\"r\"(at(m)), \"r\"(parity) : \"memory\"); return d; }\n"
    "__device__ bool try_parity(u64 *m, u32 parity) { u32 d; asm volatile(\"{.reg .pred p; "
    "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}\" : \"=r\"(d) : "
    "\"r\"(at(m)), \"r\"(parity) : \"memory\"); return d; }\n"
    "__device__ u32 pending(u64 s) { u32 d; asm volatile(\"mbarrier.pending_count.b64 %0, %1;\" : "
    "\"=r\"(d) : \"l\"(s)); return d; }\n"
    /* values pass through shared memory in nine phases of two barriers */
    "K(phases) { __shared__ u64 m[2]; __shared__ u32 s[160]; u32 t = threadIdx.x, v = in[t]; if (t "
    "== 0) { init(m, 160); init(m + 1, 160); } __syncthreads();\n"
    "  for (u32 phase = 0; phase < 9; phase++) { s[t] = v; u64 state = arrive(m); while (!test(m, "
    "state)) {} v = v * 3 + s[(t + 37) % 160]; arrive(m + 1); while (!test_parity(m + 1, phase & "
    "1)) {} } out[t] = v; }\n"
    /* one warp produces, the others consume: the arrivals of a part of the block */
    "K(pipeline) { __shared__ u64 full[2], empty[2]; __shared__ u32 s[2][32]; u32 t = threadIdx.x, "
    "l = t & 31, sum = 0; if (t == 0) for (int i = 0; i < 2; i++) { init(full + i, 32); init(empty "
    "+ i, 64); } __syncthreads();\n"
    "  for (u32 i = 0; i < 8; i++) { u32 k = i & 1, parity = i >> 1 & 1; if (t < 32) { while "
    "(!try_parity(empty + k, parity ^ 1)) {} s[k][l] = in[i * 32 + l]; arrive(full + k); } else { "
    "while (!try_parity(full + k, parity)) {} sum = sum * 5 + s[k][(l + t / 32) & 31]; "
    "arrive(empty + k); } } out[t] = sum; }\n"
    "K(bulk) { __shared__ u64 m; __shared__ __align__(128) u32 s[512]; u32 t = threadIdx.x; if (t "
    "== 0) { init(&m, 1); asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\"); } "
    "__syncthreads(); if (t == 0) { asm volatile(\"{.reg .b64 s; "
    "mbarrier.arrive.expect_tx.shared.b64 s, [%0], 1024;}\" :: \"r\"(at(&m)) : \"memory\");\n"
    "  for (u32 i = 0; i < 4; i++) asm "
    "volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
    "[%3];\" :: \"r\"(at(s + i * 64)), \"l\"(in + (3 - i) * 64), \"r\"(256), \"r\"(at(&m)) : "
    "\"memory\"); } while (!try_parity(&m, 0)) {} s[256 + t] = s[t] * 7 + 1;\n"
    "  asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\"); __syncthreads(); if (t == "
    "0) asm volatile(\"cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024; "
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\" :: \"l\"(out), \"r\"(at(s + 256)) : "
    "\"memory\"); }\n"
    "K(async_arrival) { __shared__ u64 m[2]; __shared__ __align__(16) u32 s[256]; u32 t = "
    "threadIdx.x; if (t == 0) { init(m, 64); init(m + 1, 64); } __syncthreads(); asm "
    "volatile(\"cp.async.ca.shared.global [%0], [%1], 16; "
    "cp.async.mbarrier.arrive.noinc.shared.b64 "
    "[%2]; cp.async.mbarrier.arrive.shared.b64 [%3];\" :: \"r\"(at(s + t * 4)), \"l\"(in + (63 - "
    "t) * 4), \"r\"(at(m)), \"r\"(at(m + 1)) : \"memory\"); u64 state = arrive(m + 1);\n"
    "  while (!test_parity(m, 0)) {} while (!test(m + 1, state)) {} for (int i = 0; i < 4; i++) "
    "out[t * 4 + i] = s[(t * 4 + i * 67) & 255]; }\n"
    "K(counts) { __shared__ u64 m; u64 s, z; init(&m, 5); s = arrive(&m); out[0] = pending(s); "
    "out[1] = test(&m, s); asm volatile(\"mbarrier.arrive.shared.b64 %0, [%1], 3;\" : \"=l\"(z) : "
    "\"r\"(at(&m)) : \"memory\"); out[2] = pending(z); asm "
    "volatile(\"mbarrier.arrive_drop.shared.b64 %0, [%1];\" : \"=l\"(z) : \"r\"(at(&m)) : "
    "\"memory\"); out[3] = pending(z); out[4] = test(&m, s); out[5] = test_parity(&m, 0); out[6] = "
    "test_parity(&m, 1);\n"
    /* four arrivals are expected now; bytes hold the phase open */
    "  asm volatile(\"mbarrier.arrive.noComplete.shared.b64 %0, [%1], 3;\" : \"=l\"(z) : "
    "\"r\"(at(&m)) : \"memory\"); out[7] = pending(z); asm "
    "volatile(\"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 64;\" :: \"r\"(at(&m)) : "
    "\"memory\"); s = arrive(&m); out[8] = pending(s); out[9] = test(&m, s); asm "
    "volatile(\"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 48;\" :: \"r\"(at(&m)) : "
    "\"memory\"); out[10] = test(&m, s); asm "
    "volatile(\"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;\" :: \"r\"(at(&m)) : "
    "\"memory\"); out[11] = test(&m, s); out[12] = test_parity(&m, 1); asm "
    "volatile(\"mbarrier.inval.shared.b64 [%0];\" :: \"r\"(at(&m)) : \"memory\"); out[13] = 1; }\n";

static void phases(const struct program_case *p, const u32 *in, u32 *out)
{
    u32 values[160], next[160];

    (void)p;
    for (u32 t = 0; t < 160; t++)
        values[t] = in[t];
    for (u32 phase = 0; phase < 9; phase++) {
        for (u32 t = 0; t < 160; t++)
            next[t] = values[t] * 3 + values[(t + 37) % 160];
        for (u32 t = 0; t < 160; t++)
            values[t] = next[t];
    }
    for (u32 t = 0; t < 160; t++)
        out[t] = values[t];
}

static void pipeline(const struct program_case *p, const u32 *in, u32 *out)
{
    (void)p;
    for (u32 t = 32; t < 96; t++)
        for (u32 i = 0; i < 8; i++)
            out[t] = out[t] * 5 + in[i * 32 + ((t + t / 32) & 31)];
}

static void bulk(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++)
        out[i] = in[(3 - i / 64) * 64 + i % 64] * 7 + 1;
}

static void async_arrival(const struct program_case *p, const u32 *in, u32 *out)
{
    for (u32 i = 0; i < p->out_words; i++) {
        u32 from = (i / 4 * 4 + i % 4 * 67) & 255;

        out[i] = in[(63 - from / 4) * 4 + from % 4];
    }
}

static void counts(const struct program_case *p, const u32 *in, u32 *out)
{
    static const u32 want[] = {5, 0, 4, 1, 1, 1, 0, 4, 1, 0, 0, 1, 1, 1};

    (void)in;
    for (u32 i = 0; i < p->out_words; i++)
        out[i] = want[i];
}

static const struct program_case programs[] = {
    {"phases", {1, 1, 1}, {160, 1, 1}, 0, 0, 160, 160, phases},
    {"pipeline", {1, 1, 1}, {96, 1, 1}, 0, 0, 256, 96, pipeline},
    {"bulk", {1, 1, 1}, {256, 1, 1}, 0, 0, 256, 256, bulk},
    {"async_arrival", {1, 1, 1}, {64, 1, 1}, 0, 0, 256, 256, async_arrival},
    {"counts", {1, 1, 1}, {1, 1, 1}, 0, 0, 0, 14, counts},
};

const struct group transfers_group = {
    .name = "transfers",
    .source = source,
    .programs = programs,
    .program_count = COUNT_OF(programs),
};

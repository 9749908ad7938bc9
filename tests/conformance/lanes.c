/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a group's lane cases: one kernel per case, all in one module. */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 3, KERNEL_TEXT = 1400 };

static const char before[] = "asm volatile(\"{ .reg .b64 la, lb, lc, ld, le; .reg .b32 a, b, c, d, "
                             "e; .reg .b16 ha, hb, hc, hd, he; .reg .pred p, q;\\n\"\n"
                             "\"mov.b64 la, %1; mov.b64 lb, %2; mov.b64 lc, %3;\\n\"\n"
                             "\"cvt.u32.u64 a, la; cvt.u32.u64 b, lb; cvt.u32.u64 c, lc;\\n\"\n"
                             "\"cvt.u16.u64 ha, la; cvt.u16.u64 hb, lb; cvt.u16.u64 hc, lc;\\n\"\n"
                             "\"mov.b64 ld, 0; mov.b32 d, 0; mov.b16 hd, 0;\\n\"\n"
                             "\"mov.b64 le, 0; mov.b32 e, 0; mov.b16 he, 0;\\n\"\n"
                             "\"and.b32 d, c, 1; setp.ne.u32 q, d, 0; mov.b32 d, 0;\\n\"\n"
                             "\"setp.ne.u32 p, d, 0;\\n\"\n";

static const char *after(enum result result)
{
    switch (result) {
    case R16:
    case HALF:
    case BFLOAT:
        return "cvt.u64.u16 %0, hd;";
    case R32:
    case FLOAT:
        return "cvt.u64.u32 %0, d;";
    case PAIR:
        return "mov.b64 %0, {d, e};";
    case PREDICATE:
        return "selp.u64 %0, 1, 0, p;";
    default:
        return "mov.b64 %0, ld;";
    }
}

static char *make_source(void)
{
    size_t room = lane_count() * (KERNEL_TEXT + 512) + 256, n = 0;
    char *text = malloc(room);

    if (!text)
        abort();
    n += (size_t)snprintf(text, room, "typedef unsigned long long u64;\n");
    for (size_t i = 0; i < lane_count(); i++) {
        const struct lane_case *lane = lane_at(i);

        if (strlen(lane->body) > 512)
            abort();
        n += (size_t)snprintf(text + n, room - n,
            "extern \"C\" __global__ void case%zu(const u64 *in, u64 *out, unsigned n)\n{\n"
            "unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i >= n) return;\n"
            "u64 a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2], d;\n%s\"%s\\n\"\n\"%s }\" : "
            "\"=l\"(d) : \"l\"(a), \"l\"(b), \"l\"(c) : \"memory\");\nout[i] = d;\n}\n",
            i, before, lane->body, after(lane->result));
    }
    return text;
}

static int is_nan(enum result result, uint64_t bits)
{
    switch (result) {
    case HALF:
        return (bits & 0x7fff) > 0x7c00;
    case BFLOAT:
        return (bits & 0x7fff) > 0x7f80;
    case FLOAT:
        return (bits & 0x7fffffff) > 0x7f800000;
    case DOUBLE:
        return (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
    default:
        return 0;
    }
}

static uint64_t cut(enum result result, uint64_t value)
{
    switch (result) {
    case R16:
    case HALF:
    case BFLOAT:
        return value & 0xffff;
    case R32:
    case FLOAT:
        return value & 0xffffffff;
    case PREDICATE:
        return value & 1;
    default:
        return value;
    }
}

static int is_right(
    const struct lane_case *lane, const uint64_t in[3], uint64_t got, uint64_t *want)
{
    *want = 0;
    if (lane->accept)
        return lane->accept(lane, in, got);
    *want = cut(lane->result, lane->answer(lane, in[0], in[1], in[2]));
    return got == *want || (is_nan(lane->result, got) && is_nan(lane->result, *want));
}

static int compare_lane(const struct group *group, const struct lane_case *lane, const uint64_t *in,
    const uint64_t *out, uint32_t count)
{
    unsigned wrong = 0;
    uint64_t want;

    for (uint32_t i = 0; i < count; i++) {
        if (is_right(lane, in + 3 * i, out[i], &want))
            continue;
        if (wrong++ < SHOWN)
            printf("%s/%s: %s\n    a %llx b %llx c %llx: got %llx, want %llx\n", group->name,
                lane->name, lane->body, (unsigned long long)in[3 * i],
                (unsigned long long)in[3 * i + 1], (unsigned long long)in[3 * i + 2],
                (unsigned long long)out[i], (unsigned long long)want);
    }
    if (wrong)
        printf("%s/%s: %u of %u are wrong\n", group->name, lane->name, wrong, count);
    return wrong != 0;
}

static void launch(pool_module *module, size_t index, pool_buffer *in, pool_buffer *out,
    uint32_t count, uint64_t *results)
{
    CUdeviceptr in_address, out_address;
    void *arguments[] = {&in_address, &out_address, &count};
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_kernel *kernel;
    char name[32];

    snprintf(name, sizeof(name), "case%zu", index);
    must(pool_kernel_get(module, name, &kernel));
    must(pool_buffer_address(in, &in_address));
    must(pool_buffer_address(out, &out_address));
    must(pool_launch_shape_for(count, &shape));
    shape.argument_count = 3;
    must(pool_launch(kernel, &shape, arguments, NULL));
    must(pool_copy_to_host(results, out, 0, count * sizeof(*results), NULL));
}

static void run_kind(
    struct runner *runner, const struct group *group, pool_module *module, enum inputs kind)
{
    uint32_t count;
    const uint64_t *triples = input_triples(kind, &count);
    uint64_t *results = malloc(count * sizeof(*results));
    pool_buffer *in, *out;

    must(pool_buffer_from_host(runner->device, triples, count * 3 * sizeof(*triples), &in));
    must(pool_buffer_zeroed(runner->device, count * sizeof(*results), &out));
    for (size_t i = 0; i < lane_count(); i++) {
        const struct lane_case *lane = lane_at(i);
        int failed;

        if (lane->inputs != kind || (runner->only && !strstr(lane->name, runner->only)))
            continue;
        launch(module, i, in, out, count, results);
        failed = compare_lane(group, lane, triples, results, count);
        if (!lane->accept)
            failed |= !group->has_no_digests &&
                      digest_check(group->name, lane->name, results, count * sizeof(*results));
        runner->run++;
        runner->failed += failed != 0;
    }
    must(pool_buffer_destroy(&in));
    must(pool_buffer_destroy(&out));
    free(results);
}

void run_lanes(struct runner *runner, const struct group *group)
{
    pool_module_params params = {.struct_size = sizeof(params), .name = group->name, .no_cache = 1};
    pool_module *module;
    char *source;

    if (!group->add)
        return;
    group->add();
    source = make_source();
    params.source = source;
    must(pool_module_compile(runner->device, &params, &module));
    for (int kind = 0; kind < INPUT_KINDS; kind++)
        run_kind(runner, group, module, (enum inputs)kind);
    pool_module_destroy(&module);
    free(source);
    lane_clear();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels made of instructions that the input chooses, so that every input is valid PTX and the
 * simulator executes it: parsing accepts it, nothing is touched outside of the buffer and shared
 * memory, and a second run leaves the same bytes in the buffer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/run_ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_INSTRUCTIONS = 64, LABELS = 4, TEXT_BYTES = 1 << 14 };

/*
 * One instruction each. A letter after '@' stands for an operand that the next byte chooses: h, r,
 * d, f, g and p a register of 16, 32 and 64 bits, of single and double precision, and a predicate;
 * i a number; l a label. %a is the address of the buffer, which nothing changes.
 */
static const char *const instructions[] = {
    "add.s32 @r, @r, @r;",
    "sub.u32 @r, @r, @i;",
    "mul.lo.u32 @r, @r, @r;",
    "mul.hi.s32 @r, @r, @r;",
    "mul.wide.u32 @d, @r, @r;",
    "mad.lo.s32 @r, @r, @r, @r;",
    "add.cc.u32 @r, @r, @r;",
    "addc.cc.u32 @r, @r, @r;",
    "addc.u32 @r, @r, @r;",
    /* A borrow is read by subtractions only, and is not left to additions. */
    "sub.cc.u32 @r, @r, @r; subc.u32 @r, @r, @r; add.cc.u32 @r, @r, @r;",
    "sub.cc.u32 @r, @r, @r; subc.cc.u32 @r, @r, @r; subc.u32 @r, @r, @r; add.cc.u32 @r, @r, @r;",
    "mad.lo.cc.u32 @r, @r, @r, @r;",
    "madc.hi.cc.u32 @r, @r, @r, @r;",
    "add.cc.u64 @d, @d, @d;",
    "addc.u64 @d, @d, @d;",
    "mul.hi.u64 @d, @d, @d;",
    "div.s32 @r, @r, @r;",
    "rem.u32 @r, @r, @r;",
    "div.u64 @d, @d, @d;",
    "rem.s64 @d, @d, @d;",
    "div.s16 @h, @h, @h;",
    "rem.u16 @h, @h, @h;",
    "and.b32 @r, @r, @r;",
    "xor.b64 @d, @d, @d;",
    "not.b32 @r, @r;",
    "lop3.b32 @r, @r, @r, @r, 150;",
    "shl.b32 @r, @r, @r;",
    "shr.s32 @r, @r, @i;",
    "shr.u64 @d, @d, @r;",
    "shf.l.wrap.b32 @r, @r, @r, @r;",
    "prmt.b32 @r, @r, @r, @r;",
    "bfe.u32 @r, @r, @r, @r;",
    "bfi.b32 @r, @r, @r, @r, @r;",
    "brev.b32 @r, @r;",
    "clz.b64 @r, @d;",
    "popc.b32 @r, @r;",
    "bfind.u32 @r, @r;",
    "sad.s32 @r, @r, @r, @r;",
    "min.s32 @r, @r, @r;",
    "abs.s64 @d, @d;",
    "neg.s32 @r, @r;",
    "mov.u32 @r, @i;",
    "mov.u32 @r, %tid.x;",
    "mov.b64 @d, {@r, @r};",
    "mov.b64 {@r, @r}, @d;",
    "cvt.u64.u32 @d, @r;",
    "cvt.s32.s16 @r, @h;",
    "cvt.u16.u32 @h, @r;",
    "cvt.rzi.s32.f32 @r, @f;",
    "cvt.rn.f32.u32 @f, @r;",
    "cvt.f64.f32 @g, @f;",
    "cvt.sat.u16.s32 @h, @r;",
    "add.rn.f32 @f, @f, @f;",
    "fma.rn.f32 @f, @f, @f, @f;",
    "div.rn.f32 @f, @f, @f;",
    "sqrt.rn.f64 @g, @g;",
    "fma.rz.f64 @g, @g, @g, @g;",
    "min.f32 @f, @f, @f;",
    "setp.lt.s32 @p, @r, @r;",
    "setp.eq.u64 @p, @d, @d;",
    "setp.gtu.f32 @p, @f, @f;",
    "selp.b32 @r, @r, @r, @p;",
    "and.pred @p, @p, @p;",
    "@@@p add.s32 @r, @r, @r;",
    "@@@p bra @l;",
    "@@!@p bra.uni @l;",
    "and.b32 %o, @r, 4092; cvt.u64.u32 %e, %o; add.s64 %e, %e, %a; ld.global.u32 @r, [%e];",
    "and.b32 %o, @r, 4088; cvt.u64.u32 %e, %o; add.s64 %e, %e, %a; st.global.u64 [%e], @d;",
    "and.b32 %o, @r, 4092; cvt.u64.u32 %e, %o; add.s64 %e, %e, %a; red.global.add.u32 [%e], @r;",
    "atom.global.max.s32 @r, [%a], @r;",
    "ld.global.u32 @r, [@d];",
    "st.global.u32 [@d+@i], @r;",
    "and.b32 %o, @r, 252; st.shared.u32 [%o], @r;",
    "and.b32 %o, @r, 252; ld.shared.u32 @r, [%o];",
    "ld.shared.u32 @r, [@r];",
    "and.b32 %o, @r, 60; cvt.u64.u32 %e, %o; add.s64 %e, %e, %k; st.local.u32 [%e], @r;",
    "st.local.u32 [@d], @r;",
    "shfl.sync.bfly.b32 @r|@p, @r, @r, 31, -1;",
    "vote.sync.ballot.b32 @r, @p, -1;",
    "activemask.b32 @r;",
    "bar.sync 0;",
    "bar.warp.sync -1;",
    "membar.gl;",
    "exit;",
};

struct input {
    const uint8_t *data;
    size_t size, at;
};

struct text {
    char bytes[TEXT_BYTES];
    size_t size;
};

static unsigned next(struct input *input)
{
    return input->at < input->size ? input->data[input->at++] : 0;
}

static void append(struct text *text, const char *bytes)
{
    size_t size = strlen(bytes);

    if (text->size + size >= TEXT_BYTES)
        abort(); /* more room than 64 instructions take */
    memcpy(text->bytes + text->size, bytes, size + 1);
    text->size += size;
}

static void append_operand(struct text *text, struct input *input, char kind)
{
    unsigned byte = next(input);
    char operand[32] = "@";

    if (kind == 'i')
        snprintf(operand, sizeof(operand), "%d", (int)byte - 128);
    else if (kind == 'l')
        snprintf(operand, sizeof(operand), "L%u", byte % LABELS);
    else if (kind != '@')
        snprintf(operand, sizeof(operand), "%%%c%u", kind, byte % 6);
    append(text, operand);
}

static void append_instruction(struct text *text, struct input *input)
{
    const char *form = instructions[next(input) % (sizeof(instructions) / sizeof(instructions[0]))];

    for (; *form; form++) {
        char letter[2] = {*form, '\0'};

        if (*form == '@')
            append_operand(text, input, *++form);
        else
            append(text, letter);
    }
    append(text, "\n");
}

/* Labels are evenly spaced, so that branches go forwards and backwards. */
static void make_kernel(struct text *text, struct input *input)
{
    size_t count = 1 + next(input) % MOST_INSTRUCTIONS;

    append(text,
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n"
        ".reg .b16 %h<6>; .reg .b32 %r<6>; .reg .b64 %d<6>; .reg .f32 %f<6>; .reg .f64 %g<6>;\n"
        ".reg .pred %p<6>; .reg .b32 %o; .reg .b64 %a, %e, %k;\n"
        ".shared .align 4 .b8 s[256]; .local .align 4 .b8 t[64];\n"
        "ld.param.u64 %a, [p]; mov.u64 %k, t;\n"
        "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; shl.b32 %r2, %r0, 2;\n"
        "cvt.u64.u32 %d0, %r2; add.s64 %d0, %d0, %a;\n");
    for (size_t i = 0; i < count; i++) {
        if (i % (MOST_INSTRUCTIONS / LABELS) == 0) {
            char label[8];

            snprintf(label, sizeof(label), "L%zu:\n", i / (MOST_INSTRUCTIONS / LABELS));
            append(text, label);
        }
        append_instruction(text, input);
    }
    for (size_t label = (count - 1) / (MOST_INSTRUCTIONS / LABELS) + 1; label < LABELS; label++) {
        char line[8];

        snprintf(line, sizeof(line), "L%zu:\n", label);
        append(text, line);
    }
    append(text, "st.global.u32 [%d0], %r3;\nret;\n}\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t first[RUN_BUFFER_BYTES], second[RUN_BUFFER_BYTES];
    struct input input = {.data = data, .size = size};
    static struct text text;

    text.size = 0;
    make_kernel(&text, &input);
    if (!run_ptx(text.bytes, text.size, first) || !run_ptx(text.bytes, text.size, second)) {
        fprintf(stderr, "refused:\n%s", text.bytes);
        abort();
    }
    if (memcmp(first, second, sizeof(first)) != 0) {
        fprintf(stderr, "two runs differ:\n%s", text.bytes);
        abort();
    }
    return 0;
}

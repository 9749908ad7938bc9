/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of 32-bit operations, which the executor executes as one: random programs of them, carry
 * chains and pairs of product halves above all, against C. Full warps, a partial one, and lanes
 * that have diverged. */
#include "executor.h"

enum { REGISTERS = 9, STEPS = 60, THREADS = 61, PROGRAMS = 120, TEXT = 16384 };

enum kind {
    ADD,
    SUB,
    MAD_LO,
    MAD_HI,
    MUL_LO,
    MUL_HI,
    MOV,
    AND,
    OR,
    XOR,
    FUNNEL,
    SELECT,
    NOT, /* in no run */
    KINDS
};

struct step {
    enum kind kind;
    bool reads, writes; /* the carry */
    bool is_guarded;
    unsigned d, a, b, c;
};

struct state {
    uint32_t r[REGISTERS];
    uint32_t carry;
};

static uint64_t seed;

static uint32_t next_random(uint32_t bound)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % bound;
}

static bool has_carry(enum kind kind)
{
    return kind <= MAD_HI;
}

/* Half of all products are followed by the other half of the same product. */
static void choose_steps(struct step *steps)
{
    int flag = -1; /* whether the flag holds a borrow; -1: nothing */
    for (unsigned i = 0; i < STEPS; i++) {
        struct step *s = &steps[i];
        const struct step *before = i ? s - 1 : NULL;
        bool is_half =
            before && (before->kind == MAD_LO || before->kind == MUL_LO) && next_random(2) == 0;
        *s = (struct step){.kind = (enum kind)next_random(KINDS),
            .d = next_random(REGISTERS),
            .a = next_random(REGISTERS),
            .b = next_random(REGISTERS),
            .c = next_random(REGISTERS)};
        if (next_random(3) == 0)
            s->kind = MAD_LO;
        if (is_half) {
            bool is_swapped = next_random(4) == 0;
            s->kind = before->kind == MAD_LO ? MAD_HI : MUL_HI;
            s->a = is_swapped ? before->b : before->a;
            s->b = is_swapped ? before->a : before->b;
        }
        if (has_carry(s->kind)) {
            s->reads = flag == (s->kind == SUB) && next_random(4) != 0;
            s->writes = next_random(4) != 0;
        }
        s->is_guarded = next_random(16) == 0;
        if (s->writes)
            flag = s->kind == SUB;
    }
}

static int put_step(char *text, size_t size, const struct step *s)
{
    static const char *const names[KINDS] = {"add", "sub", "mad.lo", "mad.hi", "mul.lo.u32",
        "mul.hi.u32", "mov.u32", "and.b32", "or.b32", "xor.b32", "shf.l.wrap.b32", "selp.b32",
        "not.b32"};
    const char *guard = s->is_guarded ? "@%q " : "";
    if (has_carry(s->kind)) {
        bool is_mad = s->kind >= MAD_LO;
        char third[16] = "";
        if (is_mad)
            snprintf(third, sizeof(third), ", %%r%u", s->c);
        return snprintf(text, size, "%s%.3s%s%s%s.u32 %%r%u, %%r%u, %%r%u%s;\n", guard,
            names[s->kind], s->reads ? "c" : "", is_mad ? names[s->kind] + 3 : "",
            s->writes ? ".cc" : "", s->d, s->a, s->b, third);
    }
    if (s->kind == MOV || s->kind == NOT)
        return snprintf(text, size, "%s%s %%r%u, %%r%u;\n", guard, names[s->kind], s->d, s->a);
    if (s->kind == FUNNEL)
        return snprintf(text, size, "%s%s %%r%u, %%r%u, %%r%u, %%r%u;\n", guard, names[s->kind],
            s->d, s->a, s->b, s->c);
    return snprintf(text, size, "%s%s %%r%u, %%r%u, %%r%u%s;\n", guard, names[s->kind], s->d, s->a,
        s->b, s->kind == SELECT ? ", %q" : "");
}

static void apply_step(struct state *state, const struct step *s, bool q)
{
    uint32_t a = state->r[s->a], b = state->r[s->b], c = state->r[s->c], value = 0;
    uint64_t product = (uint64_t)a * b, sum;
    uint32_t in = s->reads ? state->carry : 0;
    if (s->is_guarded && !q)
        return;
    switch (s->kind) {
    case ADD:
    case MAD_LO:
    case MAD_HI:
        sum = s->kind == ADD ? (uint64_t)a + b
                             : (s->kind == MAD_LO ? (uint32_t)product : product >> 32) + c;
        sum += in;
        value = (uint32_t)sum;
        state->carry = s->writes ? (uint32_t)(sum >> 32) : state->carry;
        break;
    case SUB:
        sum = (uint64_t)a - b - in;
        value = (uint32_t)sum;
        state->carry = s->writes ? (uint32_t)(sum >> 63) : state->carry;
        break;
    case MUL_LO:
        value = (uint32_t)product;
        break;
    case MUL_HI:
        value = (uint32_t)(product >> 32);
        break;
    case MOV:
        value = a;
        break;
    case AND:
        value = a & b;
        break;
    case OR:
        value = a | b;
        break;
    case XOR:
        value = a ^ b;
        break;
    case FUNNEL:
        value = (uint32_t)(((uint64_t)b << 32 | a) << (c & 31) >> 32);
        break;
    case SELECT:
        value = q ? a : b;
        break;
    default:
        value = ~a;
        break;
    }
    state->r[s->d] = value;
}

/* Thread i has its registers at in + 36 i. The steps are executed twice: by all threads, and by
 * those with %x, between which others have jumped away. */
static void put_program(char *text, const struct step *steps)
{
    size_t n = (size_t)snprintf(text, TEXT,
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in)\n{\n"
        ".reg .b32 %%r<%d>, %%i, %%j; .reg .b64 %%p; .reg .pred %%q, %%x;\n"
        "ld.param.u64 %%p, [in]; mov.u32 %%i, %%tid.x; mad.wide.u32 %%p, %%i, %d, %%p;\n"
        "and.b32 %%j, %%i, 2; setp.ne.u32 %%q, %%j, 0;\n"
        "and.b32 %%j, %%i, 5; setp.ne.u32 %%x, %%j, 0;\n",
        REGISTERS, REGISTERS * 4);
    for (int r = 0; r < REGISTERS; r++)
        n += (size_t)snprintf(text + n, TEXT - n, "ld.global.u32 %%r%d, [%%p+%d];\n", r, r * 4);
    for (int half = 0; half < 2; half++) {
        n += (size_t)snprintf(text + n, TEXT - n, "%s", half ? "@!%x bra DONE;\n" : "");
        for (int i = 0; i < STEPS; i++)
            n += (size_t)put_step(text + n, TEXT - n, &steps[i]);
    }
    n += (size_t)snprintf(text + n, TEXT - n, "DONE:\n");
    for (int r = 0; r < REGISTERS; r++)
        n += (size_t)snprintf(text + n, TEXT - n, "st.global.u32 [%%p+%d], %%r%d;\n", r * 4, r);
    n += (size_t)snprintf(text + n, TEXT - n, "ret;\n}\n");
    assert_true(n < TEXT);
}

static uint32_t random_word(void)
{
    static const uint32_t edges[] = {0, 1, 0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff};
    uint32_t choice = next_random(12);
    return choice < 6 ? edges[choice] : next_random(65536) << 16 | next_random(65536);
}

static void test_random_runs(void **unused)
{
    (void)unused;
    static char text[TEXT];
    for (unsigned program = 0; program < PROGRAMS; program++) {
        struct machine m = {0};
        struct step steps[STEPS];
        struct state expected[THREADS];
        seed = program;
        choose_steps(steps);
        put_program(text, steps);
        machine_load(&m, text);
        uint32_t *memory = machine_alloc(&m, sizeof(uint32_t) * REGISTERS * THREADS);
        uint64_t parameter = (uint64_t)(uintptr_t)memory;
        for (unsigned t = 0; t < THREADS; t++) {
            struct state *state = &expected[t];
            state->carry = 0;
            for (unsigned r = 0; r < REGISTERS; r++)
                state->r[r] = memory[t * REGISTERS + r] = random_word();
            for (unsigned half = 0; half < (t & 5 ? 2 : 1); half++)
                for (unsigned i = 0; i < STEPS; i++)
                    apply_step(state, &steps[i], t & 2);
        }
        machine_run(&m, "k", 1, THREADS, &parameter);
        for (unsigned t = 0; t < THREADS; t++)
            for (unsigned r = 0; r < REGISTERS; r++)
                if (memory[t * REGISTERS + r] != expected[t].r[r])
                    fail_msg("program %u, thread %u, register %u: 0x%08x, expected 0x%08x\n%s",
                        program, t, r, memory[t * REGISTERS + r], expected[t].r[r], text);
        machine_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

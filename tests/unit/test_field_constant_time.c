/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The basic operations in prime fields execute the same instructions whatever the values are: each
 * runs in a child process that is single-stepped with very different operands, and the sequences of
 * program counters are compared. Skipped if a child cannot be traced. A comparison that depends on
 * values shows that the method detects a difference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <devicepool/field.h>

#include "zk/field/field.h"
#include "zk/field/integer.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#endif

#if defined(__x86_64__) && !defined(HAS_SANITIZER)

typedef void field_operation(
    const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y);

static void negate(const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    (void)y;
    field_neg(field, result, x);
}

static void twice(const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    (void)y;
    field_double(field, result, x);
}

static void half(const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    (void)y;
    field_halve(field, result, x);
}

static void square(const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    (void)y;
    field_sqr(field, result, x);
}

static void inverse(const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    (void)y;
    field_inverse(field, result, x);
}

static void to_montgomery(
    const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    (void)y;
    field_to_montgomery(field, result, x);
}

static void from_montgomery(
    const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    (void)y;
    field_from_montgomery(field, result, x);
}

static void equal(const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    result[0] = field_equal(field, x, y);
}

static void is_zero(const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    (void)y;
    result[0] = field_is_zero(field, x);
}

/* The product in C, where the field's own is in assembly. */
static void multiply_in_c(
    const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    field_product_plain(field)(field, result, x, y);
}

static void choose(const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    field_select(field, result, x[0] & 1, x, y);
}

static void invert_batch(
    const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    uint64_t values[2 * FIELD_MAX_LIMBS], scratch[2 * FIELD_MAX_LIMBS];

    field_copy(field, values, x);
    field_copy(field, values + field->limbs, y);
    field_batch_inverse(field, values, 2, scratch);
    field_copy(field, result, values);
}

static void reduce_bytes(
    const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    uint64_t bytes[2 * FIELD_MAX_LIMBS];

    memcpy(bytes, x, sizeof(bytes) / 2);
    memcpy(bytes + FIELD_MAX_LIMBS, y, sizeof(bytes) / 2);
    pool_field_reduce_bytes(field, sizeof(bytes), POOL_LITTLE_ENDIAN, (const uint8_t *)bytes, 1,
        POOL_FORM_MONTGOMERY, result);
}

/* Depends on values, as its comment says. */
static void compare(const pool_field *field, uint64_t *result, const uint64_t *x, const uint64_t *y)
{
    result[0] = (uint64_t)field_integer_compare(x, y, field->limbs);
}

static const struct {
    const char *name;
    field_operation *operation;
    bool is_long;
} operations[] = {
    {"add", field_add, false},
    {"subtract", field_sub, false},
    {"multiply", field_mul, false},
    {"multiply in C", multiply_in_c, false},
    {"negate", negate, false},
    {"double", twice, false},
    {"halve", half, false},
    {"square", square, false},
    {"invert", inverse, true},
    {"invert a batch", invert_batch, true},
    {"select", choose, false},
    {"reduce bytes", reduce_bytes, true},
    {"to Montgomery form", to_montgomery, false},
    {"from Montgomery form", from_montgomery, false},
    {"equal", equal, false},
    {"is zero", is_zero, false},
};

struct steps {
    uint64_t hash;
    uint64_t count;
};

/* In the child: runs the operation once to load what is loaded lazily, then between two stops. */
static void run_traced(
    const pool_field *field, field_operation *operation, const uint64_t *x, const uint64_t *y)
{
    uint64_t result[FIELD_MAX_LIMBS];

    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
        _exit(77);
    operation(field, result, x, y);
    raise(SIGSTOP);
    operation(field, result, x, y);
    raise(SIGSTOP);
    _exit(0);
}

/* Volatile, so that the compiler inlines no copies of it: the same instructions would have other
 * program counters in each. */
static void (*const volatile run_in_child)(
    const pool_field *, field_operation *, const uint64_t *, const uint64_t *) = run_traced;

/* Steps from the first stop to the second; false where tracing is not permitted. */
static bool trace(const pool_field *field, field_operation *operation, const uint64_t *x,
    const uint64_t *y, struct steps *steps)
{
    pid_t child = fork();
    int ended;

    if (child == 0)
        run_in_child(field, operation, x, y);
    *steps = (struct steps){.hash = 0xcbf29ce484222325u};
    if (child < 0 || waitpid(child, &ended, 0) != child || !WIFSTOPPED(ended))
        return false;
    for (;;) {
        struct user_regs_struct registers;

        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) || waitpid(child, &ended, 0) != child)
            return false;
        if (!WIFSTOPPED(ended) || WSTOPSIG(ended) != SIGTRAP)
            break;
        if (ptrace(PTRACE_GETREGS, child, NULL, &registers))
            return false;
        steps->hash = (steps->hash ^ registers.rip) * 0x100000001b3u;
        steps->count++;
    }
    kill(child, SIGKILL);
    waitpid(child, &ended, 0);
    return true;
}

/* Operands with all limbs at their extremes, and some in between. */
static unsigned make_operands(const pool_field *field, uint64_t operands[][FIELD_MAX_LIMBS])
{
    uint64_t one[FIELD_MAX_LIMBS] = {1};

    memset(operands, 0, 5 * sizeof(operands[0]));
    field_copy(field, operands[1], one);
    field_integer_sub_small(memcpy(operands[2], field->modulus, sizeof(one)), 1, field->limbs);
    field_copy(field, operands[3], field->one);
    field_copy(field, operands[4], field->root);
    return 5;
}

/* Whether all pairs of operands take the same steps. */
static bool takes_same_steps(const pool_field *field, field_operation *operation, unsigned pairs)
{
    uint64_t operands[5][FIELD_MAX_LIMBS];
    unsigned count = make_operands(field, operands);
    struct steps first, steps;

    if (!trace(field, operation, operands[0], operands[0], &first))
        skip();
    assert_true(first.count > 10);
    for (unsigned pair = 1; pair < pairs; pair++) {
        if (!trace(field, operation, operands[pair % count], operands[pair * 3 % count], &steps))
            skip();
        if (steps.hash != first.hash || steps.count != first.count)
            return false;
    }
    return true;
}

static void test_basic_operations(void **state)
{
    static const char *const names[] = {
        "bn254_fr", "bls12_381_fq", "secp256k1_fq", "bw6_761_fq", "goldilocks", "babybear"};

    (void)state;
    for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); f++) {
        const pool_field *field = pool_field_by_name(names[f]);

        assert_non_null(field);
        for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
            /* Several limbs have tens of thousands of instructions to step through, in the loop of
             * one limb. */
            if (operations[i].is_long && field->limbs > 1)
                continue;
            unsigned pairs = operations[i].is_long ? 2 : 4;

            if (!takes_same_steps(field, operations[i].operation, pairs))
                fail_msg("%s in %s depends on values", operations[i].name, names[f]);
        }
    }
}

static void test_a_dependence_is_seen(void **state)
{
    (void)state;
    assert_false(takes_same_steps(pool_field_by_name("bn254_fr"), compare, 12));
}

#else

static void test_basic_operations(void **state)
{
    (void)state;
    skip();
}

static void test_a_dependence_is_seen(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_basic_operations),
        cmocka_unit_test(test_a_dependence_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

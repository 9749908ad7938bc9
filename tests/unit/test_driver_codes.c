/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver/codes.c: every result code has a name, a class and a status that agree with one another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "driver/internal.h"

static const pool_cu_result all_codes[] = {
#define CODE(name, code, harms) code,
    POOL_CU_RESULTS(CODE)
#undef CODE
};
#define CODE_COUNT (sizeof(all_codes) / sizeof(all_codes[0]))

static const char *const written_classes[] = {
#define WRITTEN_CLASS(name, code, harms) #harms,
    POOL_CU_RESULTS(WRITTEN_CLASS)
#undef WRITTEN_CLASS
};

static const char *const written_names[] = {
#define WRITTEN_NAME(name, code, harms) #name,
    POOL_CU_RESULTS(WRITTEN_NAME)
#undef WRITTEN_NAME
};

/* The status of a code harms what its class in the list says. */
static void test_every_code(void **state)
{
    char name[96];

    (void)state;
    for (size_t i = 0; i < CODE_COUNT; i++) {
        pool_cu_result code = all_codes[i];
        pool_status status = driver_status_of(code);

        snprintf(name, sizeof(name), "CUDA_%s%s", code ? "ERROR_" : "", written_names[i]);
        assert_string_equal(driver_code_name(code), name);
        assert_int_equal(pool_status_class(status), driver_code_class(code));
        if (strcmp(written_classes[i], "SHUTDOWN") == 0)
            assert_int_equal(status, POOL_ERR_SHUTDOWN);
        else if (strcmp(written_classes[i], "PROCESS") == 0)
            assert_int_equal(status, POOL_ERR_PROCESS_POISONED);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(all_codes[k], code);
    }
}

/* The classes of the codes whose class matters, listed a second time by hand. */
static void test_classes(void **state)
{
    static const int process[] = {
        214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911};
    static const int device[] = {46, 100, 101, 102, 802, 803, 804, 805, 806, 807, 808};
    static const int call[] = {1, 2, 3, 200, 201, 209, 218, 222, 400, 500, 600, 701, 704, 709, 720};
    size_t in_process = 0, in_device = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(process) / sizeof(process[0]); i++)
        assert_int_equal(driver_code_class((pool_cu_result)process[i]), POOL_CLASS_PROCESS);
    for (size_t i = 0; i < sizeof(device) / sizeof(device[0]); i++)
        assert_int_equal(driver_code_class((pool_cu_result)device[i]), POOL_CLASS_DEVICE);
    for (size_t i = 0; i < sizeof(call) / sizeof(call[0]); i++)
        assert_int_equal(driver_code_class((pool_cu_result)call[i]), POOL_CLASS_CALL);
    for (size_t i = 0; i < CODE_COUNT; i++) {
        in_process += driver_code_class(all_codes[i]) == POOL_CLASS_PROCESS;
        in_device += driver_code_class(all_codes[i]) == POOL_CLASS_DEVICE;
    }
    assert_int_equal(in_process, sizeof(process) / sizeof(process[0]) + 1); /* and DEINITIALIZED */
    assert_int_equal(in_device, sizeof(device) / sizeof(device[0]));
}

static void test_statuses(void **state)
{
    static const struct {
        pool_cu_result code;
        pool_status status;
    } exact[] = {{0, POOL_OK}, {1, POOL_ERR_INVALID_ARGUMENT}, {2, POOL_ERR_OUT_OF_DEVICE_MEMORY},
        {3, POOL_ERR_DRIVER}, {4, POOL_ERR_SHUTDOWN}, {34, POOL_ERR_NO_DRIVER},
        {36, POOL_ERR_DRIVER_TOO_OLD}, {46, POOL_ERR_DEVICE_UNUSABLE},
        {100, POOL_ERR_DEVICE_UNUSABLE}, {200, POOL_ERR_BAD_IMAGE}, {201, POOL_ERR_DRIVER},
        {209, POOL_ERR_BAD_IMAGE}, {217, POOL_ERR_UNSUPPORTED}, {218, POOL_ERR_BAD_IMAGE},
        {222, POOL_ERR_BAD_IMAGE}, {400, POOL_ERR_INVALID_ARGUMENT}, {500, POOL_ERR_NOT_FOUND},
        {600, POOL_ERR_NOT_READY}, {700, POOL_ERR_PROCESS_POISONED},
        {701, POOL_ERR_INVALID_ARGUMENT}, {704, POOL_ERR_DRIVER}, {720, POOL_ERR_INVALID_ARGUMENT},
        {801, POOL_ERR_UNSUPPORTED}, {803, POOL_ERR_DEVICE_UNUSABLE}, {909, POOL_ERR_TIMEOUT},
        {999, POOL_ERR_DRIVER}};

    (void)state;
    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
        assert_int_equal(driver_status_of(exact[i].code), exact[i].status);
}

static void test_unknown_code(void **state)
{
    (void)state;
    assert_string_equal(driver_code_name(4711), "CUDA_ERROR_?");
    assert_int_equal(driver_code_class(4711), POOL_CLASS_CALL);
    assert_int_equal(driver_status_of(4711), POOL_ERR_DRIVER);
    assert_string_equal(driver_code_hint(4711), "");
}

/* Every code that poisons the process says what it means. */
static void test_hints(void **state)
{
    (void)state;
    for (size_t i = 0; i < CODE_COUNT; i++)
        if (driver_code_class(all_codes[i]) >= POOL_CLASS_DEVICE)
            assert_true(strlen(driver_code_hint(all_codes[i])) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_unknown_code),
        cmocka_unit_test(test_hints),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msm_enqueue uses programmatic dependent launch, so each kernel must begin with pdl_wait: without
 * it a kernel would still be right on most runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "pool/module/sources.h"

#define WAIT "    pdl_wait();\n"

/* The statement after the declarations of shared memory. */
static const char *first_statement(const char *kernel)
{
    const char *line = strstr(kernel, "\n{\n");

    assert_non_null(line);
    for (line += 3; strstr(line, "__shared__") && strstr(line, "__shared__") < strchr(line, '\n');)
        line = strchr(line, '\n') + 1;
    return line;
}

static void test_kernels_wait(void **state)
{
    static const char mark[] = "extern \"C\" __global__";
    size_t kernels = 0;

    (void)state;
    for (size_t i = 0; i < module_sources_count; i++) {
        const char *kernel = module_sources[i].text;

        if (strncmp(module_sources[i].name, "msm/", 4) != 0)
            continue;
        while ((kernel = strstr(kernel, mark))) {
            if (strncmp(first_statement(kernel), WAIT, strlen(WAIT)) != 0)
                fail_msg("%s: %.80s does not begin with the wait", module_sources[i].name,
                    strchr(kernel, '\n'));
            kernel += strlen(mark);
            kernels++;
        }
    }
    assert_true(kernels >= 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels_wait)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

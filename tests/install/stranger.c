/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of a user who has only the installed library. C11 and
 * C++17. A transform there and back on a simulated device gives what went in.
 *
 *   stranger [DEVICES]
 */
#include <devicepool.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LOG_SIZE 10
#define COUNT (1 << LOG_SIZE)

/* Names that the library uses too, inside. */
int base_fail, field_add, sim_state, msm_plan;

static uint64_t input[COUNT], middle[COUNT], output[COUNT];

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, pool_last_error()->message);
    return 1;
}

static pool_span span_of(uint64_t *numbers)
{
    pool_span span;

    memset(&span, 0, sizeof(span));
    span.data = numbers;
    span.count = COUNT;
    return span;
}

static int transform(pool_device *device)
{
    pool_span from = span_of(input), between = span_of(middle), to = span_of(output);
    pool_ntt_domain_params wanted;
    pool_ntt_params params;
    pool_exec exec;
    pool_ntt_domain *domain;

    pool_ntt_domain_params_init(&wanted, sizeof(wanted));
    wanted.field = pool_field_by_name("goldilocks");
    wanted.log_size = LOG_SIZE;
    if (pool_ntt_domain_create(&wanted, &domain))
        return failed("domain");
    pool_ntt_params_init(&params, sizeof(params));
    params.domain = domain;
    pool_exec_init(&exec, sizeof(exec));
    exec.device = device;
    if (pool_ntt(&params, &exec, &from, &between))
        return failed("forward");
    params.direction = POOL_NTT_INVERSE;
    if (pool_ntt(&params, &exec, &between, &to))
        return failed("inverse");
    if (pool_ntt_domain_destroy(&domain))
        return failed("destroying the domain");
    if (memcmp(input, middle, sizeof(input)) == 0 || memcmp(input, output, sizeof(input)) != 0) {
        fprintf(stderr, "there and back is not what went in\n");
        return 1;
    }
    return 0;
}

int main(int argument_count, char **arguments)
{
    device_pool *pool;
    pool_device *device;
    pool_params params;
    int result;

    for (int i = 0; i < COUNT; i++)
        input[i] = (uint64_t)i * 0x9e3779b97f4a7c15u >> 1;
    pool_params_init(&params, sizeof(params));
    params.devices = argument_count > 1 ? arguments[1] : "sim:2";
    if (pool_create(&pool, &params) || pool_next_device(pool, &device))
        return failed("pool");
    result = transform(device);
    if (pool_destroy(&pool))
        return failed("destroying the pool");
    if (!result)
        printf(
            "devicepool %s: a transform of 2^%d there and back\n", pool_version_text(), LOG_SIZE);
    return result;
}

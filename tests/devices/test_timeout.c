/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_exec.timeout_ns: a call returns at its deadline although a kernel hangs, the device of the
 * hang is quarantined and no other one, and nothing is left once the hang has ended. On simulated
 * devices; each test is a process of its own, because it may leave a hanging device behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <devicepool.h>

#include "base/clock.h"
#include "support/child.h"
#include "support/sample.h"

#define SECOND ((uint64_t)1000000000)
#define TIMEOUT (2 * SECOND)
/* Of a call that loads its kernels before it hangs. */
#define LONG_TIMEOUT (8 * SECOND)
/* Of a call that returns at its deadline, on a host with much other work. */
#define LATEST (LONG_TIMEOUT + 10 * SECOND)
#define ELEMENT 32
#define CHILD_OK(call) CHILD_CHECK(check((call), POOL_OK, #call, __LINE__))
#define CHILD_STATUS(call, expected) CHILD_CHECK(check((call), (expected), #call, __LINE__))

static int check(pool_status status, pool_status expected, const char *call, int line)
{
    if (status != expected)
        fprintf(stderr, "line %d: %s: %s: %s\n", line, call, pool_status_name(status),
            pool_last_error()->message);
    return status == expected;
}

struct setting {
    device_pool *pool;
    pool_device *device[2];
    pool_poseidon *hash;
};

static int set_up(struct setting *setting)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "sim:2,mem=256M"};

    CHILD_OK(pool_create(&setting->pool, &params));
    for (size_t i = 0; i < 2; i++)
        CHILD_OK(pool_device_at(setting->pool, i, &setting->device[i]));
    CHILD_OK(pool_poseidon_by_name("circom-bn254-t3", &setting->hash));
    return 0;
}

static int tear_down(struct setting *setting)
{
    pool_poseidon_destroy(&setting->hash);
    CHILD_OK(pool_destroy(&setting->pool));
    return 0;
}

static pool_device_state state_of(pool_device *device, char *reason, size_t size)
{
    pool_device_info info = {.struct_size = sizeof(info)};

    if (pool_device_get_info(device, &info))
        return POOL_DEVICE_UNUSABLE;
    if (reason)
        snprintf(reason, size, "%s", info.reason);
    return info.state;
}

static pool_status hash_on(
    const struct setting *setting, const pool_exec *exec, uint8_t inputs[2 * ELEMENT], uint8_t *out)
{
    const pool_span in = {.data = inputs, .count = 1}, digests = {.data = out, .count = 1};

    return pool_poseidon_hash(setting->hash, exec, &in, 2, &digests);
}

/* The answer of the host's arithmetic. */
static int is_right(const struct setting *setting, uint8_t inputs[2 * ELEMENT], const uint8_t *out)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .on_host = 1};
    uint8_t expected[ELEMENT];

    CHILD_OK(hash_on(setting, &exec, inputs, expected));
    CHILD_CHECK(memcmp(out, expected, ELEMENT) == 0);
    return 0;
}

/* The hang ends: what was left behind ends by itself, and the device is used again. */
static int recover(struct setting *setting, pool_device *device)
{
    CHILD_OK(pool_sim_set_faults(NULL));
    CHILD_OK(pool_sim_resume());
    CHILD_OK(pool_device_wait_drained(device, 60 * SECOND));
    CHILD_OK(pool_device_probe(device, 60 * SECOND));
    CHILD_OK(pool_device_resume(device));
    CHILD_CHECK(pool_usable_count(setting->pool) == 2);
    return 0;
}

/* pool_destroy is refused until the thread that was left behind has ended. */
static int destroy_in_the_end(struct setting *setting)
{
    pool_status status = POOL_ERR_BUSY;

    pool_poseidon_destroy(&setting->hash);
    for (int i = 0; i < 60000 && status == POOL_ERR_BUSY; i++) {
        status = pool_destroy(&setting->pool);
        usleep(1000);
    }
    CHILD_OK(status);
    return 0;
}

static int warm_up_hangs(void *unused)
{
    struct setting setting = {0};
    static uint8_t inputs[2 * ELEMENT] = {1}, digest[ELEMENT];
    pool_exec exec = {.struct_size = sizeof(exec), .timeout_ns = LONG_TIMEOUT};
    char reason[256];
    uint64_t began;

    (void)unused;
    CHILD_CHECK(set_up(&setting) == 0);
    /* Compiles, which may take longer than the call that hangs has. */
    exec.device = setting.device[1];
    exec.timeout_ns = 300 * SECOND;
    CHILD_OK(pool_poseidon_warm_up(setting.hash, &exec));
    exec.device = setting.device[0];
    exec.timeout_ns = LONG_TIMEOUT;
    CHILD_OK(pool_sim_set_faults("dev0.cuLaunchKernel*@1=hang"));
    began = base_clock_ns();
    CHILD_STATUS(pool_poseidon_warm_up(setting.hash, &exec), POOL_ERR_TIMEOUT);
    CHILD_CHECK(base_clock_ns() - began < LATEST);
    CHILD_CHECK(strstr(pool_last_error()->message, "pool_poseidon_warm_up") != NULL);
    CHILD_CHECK(strstr(pool_last_error()->message, "device 0") != NULL);
    CHILD_CHECK(state_of(setting.device[0], reason, sizeof(reason)) == POOL_DEVICE_QUARANTINED);
    CHILD_CHECK(strstr(reason, "pool_poseidon_warm_up") != NULL);
    CHILD_STATUS(pool_destroy(&setting.pool), POOL_ERR_BUSY);
    CHILD_CHECK(strstr(pool_last_error()->message, "left behind") != NULL);
    /* The other device is not affected. */
    exec.device = setting.device[1];
    exec.timeout_ns = 300 * SECOND;
    CHILD_OK(hash_on(&setting, &exec, inputs, digest));
    CHILD_CHECK(is_right(&setting, inputs, digest) == 0);
    CHILD_CHECK(recover(&setting, setting.device[0]) == 0);
    exec.device = setting.device[0];
    memset(digest, 0, sizeof(digest));
    CHILD_OK(hash_on(&setting, &exec, inputs, digest));
    CHILD_CHECK(is_right(&setting, inputs, digest) == 0);
    return destroy_in_the_end(&setting);
}

/* A device that never answers again keeps neither the pool nor the process. */
static int hung_device_is_abandoned(void *unused)
{
    struct setting setting = {0};
    static uint8_t inputs[2 * ELEMENT] = {1}, digest[ELEMENT];
    pool_exec exec = {.struct_size = sizeof(exec), .timeout_ns = TIMEOUT};

    (void)unused;
    CHILD_CHECK(set_up(&setting) == 0);
    exec.device = setting.device[1];
    exec.timeout_ns = 300 * SECOND;
    CHILD_OK(pool_poseidon_warm_up(setting.hash, &exec));
    exec.timeout_ns = TIMEOUT;
    CHILD_OK(pool_sim_set_faults("dev1.cuLaunchKernel*@1=hang"));
    CHILD_STATUS(hash_on(&setting, &exec, inputs, digest), POOL_ERR_TIMEOUT);
    CHILD_CHECK(state_of(setting.device[1], NULL, 0) == POOL_DEVICE_QUARANTINED);
    CHILD_OK(pool_device_abandon(setting.device[1], "it hangs"));
    exec.device = setting.device[0];
    exec.timeout_ns = 300 * SECOND;
    CHILD_OK(hash_on(&setting, &exec, inputs, digest));
    CHILD_CHECK(is_right(&setting, inputs, digest) == 0);
    return tear_down(&setting);
}

/* What a thread that hangs holds, the other device does not wait for: the same objects are warmed
 * up and used there. */
static int other_device_goes_on(void *unused)
{
    enum { LOG_SIZE = 10, SIZE = 1 << LOG_SIZE };
    struct setting setting = {0};
    const pool_field *field = pool_field_by_name("bn254_fr");
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    static uint8_t data[SIZE * ELEMENT], once[SIZE * ELEMENT];
    const pool_span span = {.data = data, .count = SIZE};
    pool_ntt_params forward = {.struct_size = sizeof(forward)}, inverse;
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_ntt_domain *domain = NULL;
    pool_status status = POOL_ERR_BUSY;

    (void)unused;
    CHILD_CHECK(set_up(&setting) == 0);
    CHILD_OK(pool_ntt_domain_create(
        &(pool_ntt_domain_params){
            .struct_size = sizeof(pool_ntt_domain_params), .field = field, .log_size = LOG_SIZE},
        &domain));
    CHILD_OK(pool_random_scalars(field, 3, SIZE, 0, data));
    memcpy(once, data, sizeof(data));
    CHILD_OK(pool_sim_set_faults("dev0.cuLaunchKernel*@1=hang"));
    exec.device = setting.device[0];
    exec.timeout_ns = LONG_TIMEOUT;
    CHILD_STATUS(pool_ntt_warm_up(domain, &exec), POOL_ERR_TIMEOUT);
    CHILD_STATUS(pool_vector_warm_up(field, &exec), POOL_OK); /* loads only */
    CHILD_STATUS(pool_poseidon_warm_up(setting.hash, &exec), POOL_ERR_TIMEOUT);
    exec.device = setting.device[1];
    exec.timeout_ns = 300 * SECOND;
    CHILD_OK(pool_ntt_warm_up(domain, &exec));
    CHILD_OK(pool_vector_warm_up(field, &exec));
    CHILD_OK(pool_poseidon_warm_up(setting.hash, &exec));
    if (!takes_a_sample()) /* most of the time of this test under a sanitizer */
        CHILD_OK(pool_msm_warm_up(curve, &exec));
    forward.domain = domain;
    inverse = forward;
    inverse.direction = POOL_NTT_INVERSE;
    CHILD_OK(pool_ntt(&forward, &exec, &span, &span));
    CHILD_CHECK(memcmp(once, data, sizeof(data)) != 0);
    CHILD_OK(pool_ntt(&inverse, &exec, &span, &span));
    CHILD_CHECK(memcmp(once, data, sizeof(data)) == 0);
    CHILD_CHECK(recover(&setting, setting.device[0]) == 0);
    exec.device = setting.device[0];
    CHILD_OK(pool_ntt(&forward, &exec, &span, &span));
    for (int i = 0; i < 60000 && status == POOL_ERR_BUSY; i++) {
        status = pool_ntt_domain_destroy(&domain);
        usleep(1000);
    }
    CHILD_OK(status);
    return destroy_in_the_end(&setting);
}

/* Of two devices of a job the one that hangs is found. */
static int several_devices(void *unused)
{
    enum { STATES = 256 };
    struct setting setting = {0};
    static uint8_t states[STATES * 3 * ELEMENT], results[STATES * 3 * ELEMENT];
    const pool_span in = {.data = states, .count = STATES};
    const pool_span out = {.data = results, .count = STATES};
    pool_exec exec = {.struct_size = sizeof(exec), .timeout_ns = 300 * SECOND, .device_count = 2};

    (void)unused;
    CHILD_CHECK(set_up(&setting) == 0);
    exec.devices = setting.device;
    CHILD_OK(pool_poseidon_permute(setting.hash, &exec, &in, &out));
    CHILD_OK(pool_sim_set_faults("dev1.cuLaunchKernel*@1=hang"));
    exec.timeout_ns = TIMEOUT;
    CHILD_STATUS(pool_poseidon_permute(setting.hash, &exec, &in, &out), POOL_ERR_TIMEOUT);
    CHILD_CHECK(state_of(setting.device[0], NULL, 0) == POOL_DEVICE_READY);
    CHILD_CHECK(state_of(setting.device[1], NULL, 0) == POOL_DEVICE_QUARANTINED);
    CHILD_CHECK(recover(&setting, setting.device[1]) == 0);
    return destroy_in_the_end(&setting);
}

struct progress {
    pthread_t caller;
    uint64_t done, total;
    unsigned calls, others; /* on another thread, or backwards */
};

static void note_progress(void *user, uint64_t done, uint64_t total)
{
    struct progress *progress = user;

    progress->calls++;
    if (!pthread_equal(progress->caller, pthread_self()) || done < progress->done)
        progress->others++;
    progress->done = done;
    progress->total = total;
}

/* Work that is only slow is cancelled at the deadline, and no device is blamed. */
static int slow_work(void *unused)
{
    enum { STATES = 1 << 19 };
    struct setting setting = {0};
    struct progress progress = {.caller = pthread_self()};
    uint8_t *states = calloc(STATES, 3 * ELEMENT);
    const pool_span span = {.data = states, .count = STATES};
    pool_exec exec = {.struct_size = sizeof(exec),
        .on_host = 1,
        .timeout_ns = SECOND / 2,
        .progress = note_progress,
        .user = &progress};

    (void)unused;
    CHILD_CHECK(states != NULL && set_up(&setting) == 0);
    CHILD_STATUS(pool_poseidon_permute(setting.hash, &exec, &span, &span), POOL_ERR_TIMEOUT);
    CHILD_CHECK(progress.others == 0 && progress.done < STATES);
    CHILD_CHECK(pool_usable_count(setting.pool) == 2);
    usleep(1000000);
    free(states);
    return tear_down(&setting);
}

/* Within the time a call does what it does without one: results, handles, messages, progress. */
static int in_time(void *unused)
{
    enum { STATES = 1024, POINTS = 16 };
    struct setting setting = {0};
    struct progress progress = {.caller = pthread_self()};
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const pool_bases_params bases_params = {.struct_size = sizeof(bases_params), .curve = curve};
    static uint8_t states[STATES * 3 * ELEMENT], results[STATES * 3 * ELEMENT], points[POINTS * 64],
        scalars[POINTS * ELEMENT], sum[64], expected[64];
    const pool_span in = {.data = states, .count = STATES};
    const pool_span out = {.data = results, .count = STATES};
    const pool_span point_span = {.data = points, .count = POINTS};
    const pool_span scalar_span = {.data = scalars, .count = POINTS};
    const pool_span sum_span = {.data = sum, .count = 1};
    const pool_span expected_span = {.data = expected, .count = 1};
    pool_msm_params msm = {.struct_size = sizeof(msm), .curve = curve};
    pool_exec exec = {.struct_size = sizeof(exec),
        .timeout_ns = 300 * SECOND,
        .progress = note_progress,
        .user = &progress};
    pool_error_slot slot;
    pool_request request = {.struct_size = sizeof(request)};
    pool_lease *lease = NULL;
    pool_bases *bases = NULL;
    pool_cancel *cancel = NULL;

    (void)unused;
    CHILD_CHECK(set_up(&setting) == 0);
    CHILD_OK(pool_bind(setting.device[1])); /* found although another thread runs the call */
    CHILD_OK(pool_poseidon_permute(setting.hash, &exec, &in, &out));
    CHILD_CHECK(progress.others == 0 && progress.calls > 0);
    CHILD_CHECK(progress.done == STATES && progress.total == STATES);
    exec.progress = NULL;
    CHILD_OK(pool_random_points(curve, 1, POINTS, NULL, points, NULL));
    CHILD_OK(pool_random_scalars(pool_field_by_name("bn254_fr"), 2, POINTS, 0, scalars));
    CHILD_OK(pool_bases_create(&bases_params, &exec, &point_span, &bases));
    CHILD_CHECK(bases != NULL);
    CHILD_OK(pool_unbind(setting.device[1]));
    msm.bases = bases; /* their device is the call's */
    CHILD_OK(pool_msm(&msm, &exec, NULL, &scalar_span, &sum_span));
    msm.bases = NULL;
    exec = (pool_exec){.struct_size = sizeof(exec), .device = setting.device[0]};
    CHILD_OK(pool_msm(&msm, &exec, &point_span, &scalar_span, &expected_span));
    CHILD_CHECK(memcmp(sum, expected, sizeof(sum)) == 0);
    exec.timeout_ns = 300 * SECOND;
    CHILD_STATUS(
        pool_poseidon_permute(setting.hash, &exec, &in, &sum_span), POOL_ERR_INVALID_ARGUMENT);
    CHILD_STATUS(pool_poseidon_warm_up(NULL, &exec), POOL_ERR_INVALID_ARGUMENT);
    CHILD_CHECK(strstr(pool_last_error()->message, "set") != NULL);
    exec.is_async = 1;
    CHILD_STATUS(pool_poseidon_warm_up(setting.hash, &exec), POOL_ERR_UNSUPPORTED);
    exec.is_async = 0;
    CHILD_OK(pool_cancel_create(&cancel));
    pool_cancel_request(cancel);
    exec.cancel = cancel;
    CHILD_STATUS(pool_poseidon_permute(setting.hash, &exec, &in, &out), POOL_ERR_CANCELLED);
    CHILD_STATUS(pool_poseidon_warm_up(setting.hash, &exec), POOL_ERR_CANCELLED);
    exec.timeout_ns = 0;
    CHILD_STATUS(pool_poseidon_warm_up(setting.hash, &exec), POOL_ERR_CANCELLED);
    pool_cancel_destroy(&cancel);
    /* The caller's slot has the failure, with and without a timeout, whatever the thread does then.
     */
    exec.cancel = NULL;
    exec.error = &slot;
    for (int i = 0; i < 2; i++) {
        slot = (pool_error_slot){.struct_size = sizeof(slot)};
        exec.timeout_ns = i * 300 * SECOND;
        CHILD_STATUS(
            pool_poseidon_permute(setting.hash, &exec, &in, &sum_span), POOL_ERR_INVALID_ARGUMENT);
        CHILD_STATUS(pool_bind(NULL), POOL_ERR_INVALID_ARGUMENT);
        CHILD_CHECK(slot.status == POOL_ERR_INVALID_ARGUMENT);
        CHILD_CHECK(strstr(slot.message, "pool_poseidon_permute") != NULL);
    }
    slot.struct_size = 5;
    CHILD_STATUS(pool_poseidon_permute(setting.hash, &exec, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    CHILD_CHECK(strstr(pool_last_error()->message, "exec->error") != NULL);
    slot = (pool_error_slot){.struct_size = sizeof(slot)};
    request.error = &slot;
    request.slots = 1000;
    CHILD_STATUS(pool_acquire(setting.pool, &request, &lease), POOL_ERR_INVALID_ARGUMENT);
    CHILD_CHECK(slot.status == POOL_ERR_INVALID_ARGUMENT && strstr(slot.message, "slots") != NULL);
    CHILD_OK(pool_bases_destroy(&bases));
    return tear_down(&setting);
}

/* A worker process in which a call hangs is ended, and its device comes back by itself. */
static int worker_is_ended(void *unused)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:2,mem=256M"};
    struct setting setting = {0};
    static uint8_t inputs[2 * ELEMENT] = {1}, digest[ELEMENT];
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_status status = POOL_ERR_DEVICE_LOST;

    (void)unused;
    setenv("DEVICEPOOL_SIM_FAULTS", "dev0.cuLaunchKernel*@1=hang", 1);
    CHILD_OK(pool_create(&setting.pool, &params));
    unsetenv("DEVICEPOOL_SIM_FAULTS");
    CHILD_OK(pool_poseidon_by_name("circom-bn254-t3", &setting.hash));
    CHILD_OK(pool_device_at(setting.pool, 0, &exec.device));
    exec.timeout_ns = LONG_TIMEOUT;
    CHILD_STATUS(pool_poseidon_warm_up(setting.hash, &exec), POOL_ERR_TIMEOUT);
    exec.timeout_ns = 300 * SECOND;
    for (int i = 0; i < 60000 && status == POOL_ERR_DEVICE_LOST; i++) { /* until it is replaced */
        status = hash_on(&setting, &exec, inputs, digest);
        usleep(1000);
    }
    CHILD_OK(status);
    CHILD_CHECK(pool_usable_count(setting.pool) == 2);
    CHILD_CHECK(is_right(&setting, inputs, digest) == 0);
    return destroy_in_the_end(&setting);
}

#define TEST(part)                                                                                 \
    static void test_##part(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        assert_int_equal(child_run(part, NULL), 0);                                                \
    }

TEST(warm_up_hangs)
TEST(hung_device_is_abandoned)
TEST(other_device_goes_on)
TEST(several_devices)
TEST(slow_work)
TEST(in_time)
TEST(worker_is_ended)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warm_up_hangs),
        cmocka_unit_test(test_hung_device_is_abandoned),
        cmocka_unit_test(test_other_device_goes_on),
        cmocka_unit_test(test_several_devices),
        cmocka_unit_test(test_slow_work),
        cmocka_unit_test(test_in_time),
        cmocka_unit_test(test_worker_is_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the compilers, and the verdicts on them: see compiler.h.
 */
#include "pool/module/compiler.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/status.h"
#include "pool/module/levels.h"
#include "pool/module/module.h"
#include "pool/module/trial.h"

/* The interval at which a thread that waits for another one's trial looks for a cancellation. */
#define WAIT_NS 5000000

enum state { UNTRIED, WORKS, FAILS };

struct verdict {
    enum state state;
    bool is_trying;
    char reason[1024]; /* FAILS */
};

/* A resource of a device; guarded by lock. */
struct verdicts {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a trial has ended */
    struct verdict of[DRIVER_NVRTC_MAX];
};

static pool_status create_verdicts(pool_device *device, void **object)
{
    struct verdicts *verdicts = base_calloc(1, sizeof(*verdicts));

    (void)device;
    if (!verdicts)
        return base_fail_memory("the verdicts on compilers");
    pthread_mutex_init(&verdicts->lock, NULL);
    pthread_cond_init(&verdicts->changed, NULL);
    *object = verdicts;
    return POOL_OK;
}

static void destroy_verdicts(pool_device *device, void *object, int driver_alive)
{
    struct verdicts *verdicts = object;

    (void)driver_alive;
    if (device_usable(device, DEVICE_USE_HOST))
        pthread_cond_destroy(&verdicts->changed);
    device_lock_destroy(device, &verdicts->lock);
    base_free(verdicts);
}

static const struct device_resource_type verdicts_type = {
    .name = "verdicts on compilers", .create = create_verdicts, .destroy = destroy_verdicts};

static bool is_same_chip(const pool_device *left, const pool_device *right)
{
    return device_properties(left)->compute_major == device_properties(right)->compute_major &&
           device_properties(left)->compute_minor == device_properties(right)->compute_minor;
}

static enum state read_verdict(pool_device *device, size_t index, char *reason, size_t size)
{
    struct verdicts *verdicts = device_resource_find(device, &verdicts_type);
    enum state state;

    if (!verdicts)
        return UNTRIED;
    pthread_mutex_lock(&verdicts->lock);
    state = verdicts->of[index].state;
    if (state == FAILS)
        snprintf(reason, size, "%s", verdicts->of[index].reason);
    pthread_mutex_unlock(&verdicts->lock);
    return state;
}

/* The verdict on the device or on another one of the pool with its chip. */
static enum state known_verdict(const struct module_choice *choice, char *reason, size_t size)
{
    pool_device *device = choice->request->device, *other;
    device_pool *pool = device ? device_pool_of(device) : NULL;
    enum state state;

    if (!device)
        return UNTRIED;
    state = read_verdict(device, choice->index, reason, size);
    for (size_t i = 0; !state && i < pool_device_count(pool); i++)
        if (!pool_device_at(pool, i, &other) && is_same_chip(device, other))
            state = read_verdict(other, choice->index, reason, size);
    return state;
}

/* ---- the order of the compilers -------------------------------------------------------------- */

void module_choice_reject(struct module_choice *choice, const char *reason)
{
    size_t used = strlen(choice->reason);

    snprintf(
        choice->reason + used, sizeof(choice->reason) - used, "%s%s", used ? "; " : "", reason);
}

static void find_next(struct module_choice *choice)
{
    char reason[DRIVER_NVRTC_REASON] = "";

    for (;; choice->index++) {
        choice->nvrtc = driver_nvrtc_candidate(choice->index, reason, sizeof(reason));
        if (choice->nvrtc && known_verdict(choice, reason, sizeof(reason)) != FAILS)
            return;
        if (reason[0])
            module_choice_reject(choice, reason);
        if (!choice->nvrtc)
            return;
    }
}

void module_choice_begin(struct module_choice *choice, const struct module_request *request)
{
    choice->request = request;
    choice->index = 0;
    choice->skips_levels = choice->is_from_level = false;
    choice->reason[0] = '\0';
    find_next(choice);
}

void module_choice_next(struct module_choice *choice)
{
    if (!choice->nvrtc) {
        choice->skips_levels = true;
        return;
    }
    choice->index++;
    find_next(choice);
}

/* ---- trials ---------------------------------------------------------------------------------- */

/* Waits, with the lock held, while another thread tries the same compiler. */
static pool_status wait_for_trial(
    const struct module_choice *choice, struct verdicts *verdicts, const struct verdict *verdict)
{
    pool_status status = POOL_OK;

    while (verdict->is_trying && !status) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&verdicts->changed, &verdicts->lock, &until);
        if (!verdict->is_trying)
            break;
        if (choice->request->params && pool_cancel_requested(choice->request->params->cancel))
            status = base_fail(POOL_ERR_CANCELLED, "compiling %s was cancelled by the caller",
                choice->request->name);
        else
            status = device_check(choice->request->device, DEVICE_USE_CALLS);
    }
    return status;
}

/* With the lock held: one trial, whose verdict is stored. */
static pool_status try_locked(struct module_choice *choice, struct device_scope *scope,
    struct verdicts *verdicts, struct verdict *verdict)
{
    char reason[sizeof(verdict->reason)];
    pool_status status;

    verdict->is_trying = true;
    pthread_mutex_unlock(&verdicts->lock);
    status = module_trial_run(choice, scope, reason, sizeof(reason));
    pthread_mutex_lock(&verdicts->lock);
    if (!status)
        verdict->state = WORKS;
    if (status == POOL_ERR_NO_COMPILER) {
        verdict->state = FAILS;
        memcpy(verdict->reason, reason, sizeof(reason));
    }
    verdict->is_trying = false;
    pthread_cond_broadcast(&verdicts->changed);
    return status;
}

/* The trial of the present compiler on a device; `again`: whatever its verdict is. */
static pool_status try_on_device(
    struct module_choice *choice, struct device_scope *scope, bool again, char *reason, size_t size)
{
    struct verdict *verdict;
    struct verdicts *verdicts;
    void *object;
    pool_status status = device_resource_get(choice->request->device, &verdicts_type, &object);

    if (status)
        return status;
    verdicts = object;
    verdict = &verdicts->of[choice->index];
    pthread_mutex_lock(&verdicts->lock);
    /* A thread inside the device does not wait for one that may have to enter it. */
    if (!scope)
        status = wait_for_trial(choice, verdicts, verdict);
    if (!status && (again ? verdict->state != FAILS : verdict->state == UNTRIED))
        status = try_locked(choice, scope, verdicts, verdict);
    else if (!status && verdict->state == FAILS)
        status = POOL_ERR_NO_COMPILER;
    if (status == POOL_ERR_NO_COMPILER)
        snprintf(reason, size, "%s", verdict->reason);
    pthread_mutex_unlock(&verdicts->lock);
    return status;
}

static pool_status try_present(struct module_choice *choice, struct device_scope *scope, bool again)
{
    char reason[DRIVER_NVRTC_REASON] = "";
    pool_status status = choice->request->device
                             ? try_on_device(choice, scope, again, reason, sizeof(reason))
                             : module_trial_run(choice, NULL, reason, sizeof(reason));

    if (status == POOL_ERR_NO_COMPILER)
        module_choice_reject(choice, reason);
    return status;
}

pool_status module_choice_try(struct module_choice *choice)
{
    char reason[DRIVER_NVRTC_REASON] = "";
    enum state state = known_verdict(choice, reason, sizeof(reason));
    pool_status status;
    bool is_stored;

    if (state == FAILS) { /* since it was chosen */
        module_choice_reject(choice, reason);
        return POOL_ERR_NO_COMPILER;
    }
    if (state == WORKS)
        return POOL_OK;
    status = module_trial_look(choice, &is_stored);
    return status || is_stored ? status : try_present(choice, NULL, false);
}

pool_status module_choice_doubt(struct module_choice *choice, struct device_scope *scope)
{
    return try_present(choice, scope, true);
}

/* ---- reports --------------------------------------------------------------------------------- */

static void fill_component(const struct module_choice *choice, pool_component *component)
{
    const struct nvrtc *nvrtc = choice->nvrtc;

    memset(component, 0, sizeof(*component));
    component->status = nvrtc ? POOL_OK : POOL_ERR_NO_COMPILER;
    component->version = nvrtc ? nvrtc->version : 0;
    snprintf(component->path, sizeof(component->path), "%s", nvrtc ? nvrtc->path : "");
    snprintf(component->message, sizeof(component->message), "%.*s",
        (int)sizeof(component->message) - 1, choice->reason);
}

/* Adds a remark unless the compiler has been tried, by this process or another one. */
static pool_status remark_untried(struct module_choice *choice)
{
    char reason[DRIVER_NVRTC_REASON];
    bool is_stored;
    pool_status status;

    if (known_verdict(choice, reason, sizeof(reason)))
        return POOL_OK;
    status = module_trial_look(choice, &is_stored);
    if (!status && !is_stored)
        module_choice_reject(choice, "it has not been tried yet");
    return status;
}

pool_status module_compiler_report(pool_device *device, bool tries, pool_component *component)
{
    /* Without a device: any chip. */
    struct module_request request = {.device = device, .name = MODULE_TRIAL_NAME, .ptx_only = 1};
    struct module_choice choice;
    pool_status status;

    if (device)
        module_request_set_device(&request, device);
    module_choice_begin(&choice, &request);
    while (tries && choice.nvrtc) {
        status = module_choice_try(&choice);
        if (!status)
            break;
        if (status != POOL_ERR_NO_COMPILER)
            return status;
        module_choice_next(&choice);
    }
    status = tries || !choice.nvrtc ? POOL_OK : remark_untried(&choice);
    if (!status)
        fill_component(&choice, component);
    return status;
}

pool_status module_pack_report(pool_device *device, pool_component *component)
{
    struct module_request request = {.name = MODULE_TRIAL_NAME};
    struct module_choice choice;
    pool_status status;

    module_request_set_device(&request, device);
    module_choice_begin(&choice, &request);
    status = levels_report(request.compute_capability, choice.nvrtc, component);
    if (!status && !component->status && request.ptx_only) {
        component->status = POOL_ERR_UNSUPPORTED;
        snprintf(component->message, sizeof(component->message),
            "%.256s: the driver takes no machine code", component->path);
    }
    return status;
}

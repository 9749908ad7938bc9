/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process-wide state of the simulated driver: start and end, the code common to all functions
 * of the table, and the sticky fault.
 */
#include "driver/sim/table/state.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/status.h"
#include "driver/sim/table/rules.h"

struct sim_state sim_state = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
};

static const pool_cuda_api table = {.struct_size = sizeof(pool_cuda_api),
    .flags = POOL_CUDA_PTX_ONLY,
#define ENTRY(field, symbol, suffix, version, need, parameters) .field = sim_cu_##field,
    POOL_CUDA_FUNCTIONS(ENTRY)
#undef ENTRY
};

static atomic_int is_forked_child;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static _Thread_local bool is_in_host_function;

/*
 * After fork() the child has this memory but none of the threads: as with the real driver, no call
 * works there. The lock may be held by a thread that does not exist in the child, so it is not
 * used any more. A lock that is held while there are no devices protects the creation or
 * destruction of devices or the replacement of rules; what it protects is then inconsistent.
 */
static void mark_forked_child(void)
{
    if (pthread_mutex_trylock(&sim_state.lock)) {
        atomic_store(&is_forked_child, 1);
        return;
    }
    if (sim_state.references > 0 || sim_state.is_closing)
        atomic_store(&is_forked_child, 1);
    pthread_mutex_unlock(&sim_state.lock);
}

static void register_fork_handler(void)
{
    pthread_atfork(NULL, NULL, mark_forked_child);
}

const pool_cuda_api *sim_driver_table(void)
{
    return &table;
}

pool_status sim_lock(void)
{
    pthread_once(&fork_once, register_fork_handler);
    if (atomic_load(&is_forked_child))
        return base_fail(POOL_ERR_FORKED,
            "simulated devices were in use before fork(): they do not work in the child");
    pthread_mutex_lock(&sim_state.lock);
    return POOL_OK;
}

void sim_set_in_host_function(bool is_inside)
{
    is_in_host_function = is_inside;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool harms_process(pool_cu_result code)
{
    switch (code) {
#define CODE(name, number, harms)                                                                  \
    case number:                                                                                   \
        return POOL_CLASS_##harms == POOL_CLASS_PROCESS;
#define POOL_CLASS_SHUTDOWN POOL_CLASS_CALL
        POOL_CU_RESULTS(CODE)
#undef CODE
#undef POOL_CLASS_SHUTDOWN
    default:
        return false;
    }
}

/* Counts the call in every rule that matches it; returns the first rule that applies, or NULL. */
static const struct sim_rule *match_rules(enum sim_driver_function function, int device)
{
    const struct sim_rule *found = NULL;

    for (uint32_t at = 0; at < sim_state.rules.count; at++) {
        struct sim_rule *rule = &sim_state.rules.items[at];

        if ((rule->device >= 0 && rule->device != device) || !sim_rule_matches(rule, function) ||
            (rule->is_hang && !sim_function_can_hang(function)))
            continue;
        rule->seen++;
        if (!found && rule->seen >= rule->first && rule->seen <= rule->last)
            found = rule;
    }
    return found;
}

static pool_cu_result apply_rules(struct sim_call *call, int device)
{
    const struct sim_rule *rule = match_rules(call->function, device);

    if (!rule)
        return POOL_CU_SUCCESS;
    if (rule->is_hang ||
        (harms_process(rule->code) && sim_function_enqueues_only(call->function))) {
        call->rule = rule;
        return POOL_CU_SUCCESS;
    }
    if (harms_process(rule->code))
        sim_poison_text(rule->code, device, "injected", "A fault rule made the call \"%s\" fail.",
            rule->pattern);
    return rule->code;
}

static pool_cu_result check_context(struct sim_call *call)
{
    call->scope = sim_context_current();
    if (!call->scope)
        return POOL_CU_INVALID_CONTEXT;
    call->context = call->scope->root;
    return call->scope->is_alive ? POOL_CU_SUCCESS : POOL_CU_CONTEXT_IS_DESTROYED;
}

static pool_cu_result validate_call(struct sim_call *call, enum sim_need need, int device)
{
    pool_cu_result code;

    if (device < 0 && sim_state.references > 0) {
        struct sim_context *context = sim_context_current();
        device = context ? context->device : -1;
    }
    code = apply_rules(call, device);
    if (code || need == SIM_NEED_NOTHING)
        return code;
    if (!sim_state.is_initialised)
        return POOL_CU_NOT_INITIALIZED;
    if (sim_state.poison && (need == SIM_NEED_HEALTHY || need == SIM_NEED_CONTEXT))
        return sim_state.poison;
    if (need == SIM_NEED_CONTEXT || need == SIM_NEED_CONTEXT_ONLY)
        return check_context(call);
    return POOL_CU_SUCCESS;
}

pool_cu_result sim_enter(
    struct sim_call *call, enum sim_driver_function function, enum sim_need need, int device)
{
    pool_cu_result code;

    *call = (struct sim_call){.function = function};
    if (is_in_host_function && need != SIM_NEED_NOTHING)
        return POOL_CU_NOT_PERMITTED;
    if (atomic_load(&is_forked_child))
        return POOL_CU_NOT_INITIALIZED;
    pthread_mutex_lock(&sim_state.lock);
    code = validate_call(call, need, device);
    if (code)
        pthread_mutex_unlock(&sim_state.lock);
    return code;
}

pool_cu_result sim_leave(pool_cu_result code)
{
    pthread_mutex_unlock(&sim_state.lock);
    return code;
}

bool sim_wait(void)
{
    if (!sim_state.is_closing)
        pthread_cond_wait(&sim_state.changed, &sim_state.lock);
    return !sim_state.is_closing;
}

/* Replaces the operation by a fault and releases what the operation owns. */
static void replace_by_fault(struct sim_work *work, pool_cu_result code)
{
    struct sim_work spare = *work;
    struct sim_work *old = sim_work_create(SIM_WORK_NO_OP);

    if (old) {
        *old = spare;
        old->next = NULL;
        sim_work_free(old);
    }
    work->kind = SIM_WORK_FAULT;
    work->u.code = code;
}

pool_cu_result sim_enqueue(
    const struct sim_call *call, struct sim_stream *stream, struct sim_work *work)
{
    if (call->rule && call->rule->is_hang) {
        struct sim_work *hang = sim_work_create(SIM_WORK_HANG);
        pool_cu_result code = POOL_CU_OUT_OF_MEMORY;

        if (hang) {
            hang->u.hang_epoch = sim_state.hang_epoch;
            code = sim_stream_enqueue(stream, hang);
        }
        if (code) {
            sim_work_free(work);
            return code;
        }
    } else if (call->rule && work->kind != SIM_WORK_RECORD && work->kind != SIM_WORK_WAIT) {
        replace_by_fault(work, call->rule->code);
    } else if (call->rule) {
        struct sim_work *fault = sim_work_create(SIM_WORK_FAULT);

        if (fault) {
            fault->u.code = call->rule->code;
            sim_stream_enqueue(stream, fault);
        }
    }
    return sim_stream_enqueue(stream, work);
}

/* ---- the sticky fault ------------------------------------------------------------------------ */

void sim_poison(pool_cu_result code, const pool_sim_fault *report)
{
    if (sim_state.poison)
        return;
    sim_state.poison = code;
    sim_state.fault = *report;
    sim_state.fault.struct_size = sizeof(pool_sim_fault);
    sim_state.fault.driver_code = (int32_t)code;
    __atomic_store_n(&sim_state.cancel, 1, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&sim_state.changed);
    base_log(POOL_LOG_WARN, "simulated driver: sticky fault %u: %s", code, report->text);
}

void sim_poison_text(pool_cu_result code, int device, const char *kind, const char *format, ...)
{
    pool_sim_fault report;
    va_list arguments;

    memset(&report, 0, sizeof(report));
    report.device = device;
    snprintf(report.kind, sizeof(report.kind), "%s", kind);
    va_start(arguments, format);
    vsnprintf(report.text, sizeof(report.text), format, arguments);
    va_end(arguments);
    sim_poison(code, &report);
}

/* ---- start and end --------------------------------------------------------------------------- */

static pool_status start_driver(const struct sim_config *config)
{
    const char *text = base_setting(BASE_SETTING_SIM_FAULTS);

    if (!sim_state.has_program_rules) {
        pool_status status = sim_rules_parse(text ? text : "", &sim_state.rules);
        if (status)
            return status;
    }
    if (!base_thread_pool_create(config->threads, &sim_state.workers)) {
        if (!sim_state.has_program_rules)
            sim_rules_free(&sim_state.rules);
        return base_fail_memory("threads of the simulated devices");
    }
    base_free(sim_state.leak_text);
    base_free(sim_state.leak_json);
    sim_state.leak_text = sim_state.leak_json = NULL;
    sim_state.leak_count = 0;
    sim_state.config = *config;
    sim_state.reports = config->reports;
    sim_state.generation++;
    sim_state.poison = POOL_CU_SUCCESS;
    sim_state.cancel = 0;
    memset(&sim_state.fault, 0, sizeof(sim_state.fault));
    sim_state.fault.device = -1;
    for (uint32_t at = 0; at < config->device_count; at++) {
        const struct sim_device_config *device = &config->devices[at];

        sim_state.devices[at].used_bytes = device->memory_bytes - device->free_bytes;
        sim_state.devices[at].chip = sim_chip_find(device->capability);
    }
    return POOL_OK;
}

static bool is_same_device(
    const struct sim_device_config *one, const struct sim_device_config *other)
{
    return one->memory_bytes == other->memory_bytes && one->free_bytes == other->free_bytes &&
           one->peers == other->peers && one->capability == other->capability &&
           one->multiprocessors == other->multiprocessors && one->identity == other->identity &&
           strcmp(one->name, other->name) == 0;
}

static bool is_same(const struct sim_config *one, const struct sim_config *other)
{
    for (uint32_t at = 0; at < one->device_count && at < other->device_count; at++)
        if (!is_same_device(&one->devices[at], &other->devices[at]))
            return false;
    return one->device_count == other->device_count && one->threads == other->threads &&
           one->reports == other->reports && one->instruction_limit == other->instruction_limit &&
           one->has_waits == other->has_waits && one->is_serial == other->is_serial &&
           one->jitter == other->jitter && one->mps_percentage == other->mps_percentage &&
           one->driver_version == other->driver_version;
}

pool_status sim_open(const char *spec, const pool_cuda_api **table_out)
{
    return sim_open_visible(spec, NULL, table_out);
}

pool_status sim_open_visible(const char *spec, const char *visible, const pool_cuda_api **table_out)
{
    struct sim_config config;
    pool_status status = sim_config_parse(spec, &config);

    if (!status && visible)
        sim_config_restrict(&config, visible);
    if (status)
        return status;
    status = sim_lock();
    if (status)
        return status;
    while (sim_state.is_closing)
        pthread_cond_wait(&sim_state.changed, &sim_state.lock);
    if (sim_state.references == 0)
        status = start_driver(&config);
    else if (!is_same(&sim_state.config, &config))
        status = base_fail(POOL_ERR_BUSY,
            "the process already has simulated devices of another kind (%u, the first of cc %u "
            "with %llu bytes); \"%.128s\" has to wait until every pool with them is destroyed",
            sim_state.config.device_count, sim_state.config.devices[0].capability,
            (unsigned long long)sim_state.config.devices[0].memory_bytes, spec);
    if (!status) {
        sim_state.references++;
        *table_out = &table;
    }
    pthread_mutex_unlock(&sim_state.lock);
    return status;
}

/* After a sticky fault nothing can be freed, so nothing counts as leaked. */
static void record_leaks(void)
{
    if (sim_state.poison)
        return;
    sim_state.leak_count = sim_leaks_list(&sim_state.leak_text, &sim_state.leak_json);
    if (sim_state.leak_count > 0 && sim_state.reports & POOL_SIM_REPORT_LEAK)
        base_log(POOL_LOG_WARN, "simulated driver: left behind: %s",
            sim_state.leak_text ? sim_state.leak_text : "(no memory for the list)");
}

void sim_stats_free(void)
{
    for (size_t at = 0; at < sim_state.stats_count; at++)
        base_free(sim_state.stats[at].kernel);
    base_free(sim_state.stats);
    sim_state.stats = NULL;
    sim_state.stats_count = 0;
    sim_profiles_free();
}

static void free_state(void)
{
    sim_memory_reset();
    sim_memory_pools_free();
    sim_virtual_free();
    sim_greens_free();
    for (int at = 0; at < SIM_MAX_DEVICES; at++)
        base_free(sim_state.devices[at].primary);
    memset(sim_state.devices, 0, sizeof(sim_state.devices));
    base_free(sim_state.slots);
    sim_state.slots = NULL;
    sim_state.slot_count = sim_state.slot_capacity = 0;
    sim_stats_free();
    sim_rules_free(&sim_state.rules);
    sim_state.has_program_rules = false;
    sim_state.poison = POOL_CU_SUCCESS;
    sim_state.is_initialised = false;
    sim_state.next_allocation_id = 0;
    sim_state.last_context_id = 0;
    sim_state.last_split = 0;
}

/* Ends all work: running work is cancelled, waiting or hanging work is dropped. */
static void stop_driver(void)
{
    sim_state.is_closing = true;
    sim_state.is_initialised = false;
    record_leaks();
    __atomic_store_n(&sim_state.cancel, 1, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&sim_state.changed);
    for (int at = 0; at < SIM_MAX_DEVICES; at++) {
        while (sim_state.devices[at].contexts)
            sim_context_end(sim_state.devices[at].contexts, true);
    }
    while (sim_state.threads > 0)
        pthread_cond_wait(&sim_state.changed, &sim_state.lock);
    base_thread_pool_destroy(&sim_state.workers);
    free_state();
    sim_state.is_closing = false;
    pthread_cond_broadcast(&sim_state.changed);
}

void sim_close(void)
{
    if (atomic_load(&is_forked_child))
        return;
    pthread_mutex_lock(&sim_state.lock);
    if (sim_state.references > 0 && --sim_state.references == 0)
        stop_driver();
    pthread_mutex_unlock(&sim_state.lock);
}

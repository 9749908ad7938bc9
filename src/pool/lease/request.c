/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests: validation, the evaluation of a pick, and the failures that explain why a request was
 * not granted.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/params.h"
#include "base/text.h"
#include "pool/device/extension.h"
#include "pool/lease/admission.h"

static const struct base_struct request_type = BASE_STRUCT(pool_request);

pool_error_slot *lease_request_error(const pool_request *given)
{
    if (base_struct_is_valid(&request_type, given) &&
        given->struct_size >= offsetof(pool_request, error) + sizeof(given->error))
        return given->error;
    return NULL;
}

pool_status lease_request_end(const pool_request *given, pool_status status)
{
    if (status)
        base_error_fill(lease_request_error(given));
    return status;
}

void pool_request_init(pool_request *request, size_t struct_size)
{
    base_struct_init(request, struct_size);
}

/* --- the pick -----------------------------------------------------------------------------------
 */

static pool_status read_pick(const char *call, const pool_pick *given, pool_pick *pick)
{
    static const struct base_struct type = BASE_STRUCT(pool_pick);
    pool_status status = base_struct_read(&type, call, "request->pick", given, pick);

    if (!status)
        status = base_check_ranges(call, {"pick->policy", pick->policy, 0, POOL_POLICY_SCORE});
    if (!status && pick->policy == POOL_POLICY_SCORE && !pick->score)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: pick->score must not be NULL with POOL_POLICY_SCORE", call);
    return status;
}

/* Ranks by descending score; equal scores have equal ranks. */
static void rank_scores(const double *scores, uint32_t count, uint32_t *ranks)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t better = 0;

        if (ranks[i] == SCHEDULER_EXCLUDED)
            continue;
        for (uint32_t j = 0; j < count; j++)
            better += ranks[j] != SCHEDULER_EXCLUDED && scores[j] > scores[i];
        ranks[i] = better;
    }
}

/* Calls filter and score for each device that is not lost. */
static pool_status evaluate_candidates(const struct admission *admission, const pool_pick *pick,
    pool_candidate *candidates, double *scores, uint32_t *ranks)
{
    uint32_t count = admission->device_count;
    pool_status status = device_pool_candidates(admission->pool, candidates);

    if (status)
        return status;
    for (uint32_t i = 0; i < count; i++) {
        bool is_excluded = candidates[i].free_bytes < pick->min_free_bytes ||
                           (pick->filter && !pick->filter(pick->user, &candidates[i]));

        if (!is_excluded && pick->policy == POOL_POLICY_SCORE) {
            scores[i] = pick->score(pick->user, &candidates[i]);
            is_excluded = isnan(scores[i]);
        }
        ranks[i] = is_excluded ? SCHEDULER_EXCLUDED : 0;
    }
    if (pick->policy == POOL_POLICY_SCORE)
        rank_scores(scores, count, ranks);
    return POOL_OK;
}

static pool_status evaluate_pick(
    const struct admission *admission, const pool_pick *pick, uint32_t *ranks)
{
    uint32_t count = admission->device_count;
    pool_candidate *candidates = base_calloc(count, sizeof(*candidates));
    double *scores = base_calloc(count, sizeof(*scores));
    pool_status status = candidates && scores
                             ? evaluate_candidates(admission, pick, candidates, scores, ranks)
                             : base_fail_memory("the candidates of a request");

    base_free(candidates);
    base_free(scores);
    return status;
}

static enum scheduler_policy scheduler_policy_of(pool_policy policy)
{
    switch (policy) {
    case POOL_POLICY_MOST_FREE:
        return SCHEDULER_MOST_FREE;
    case POOL_POLICY_LEAST_LOADED:
        return SCHEDULER_LEAST_LOADED;
    case POOL_POLICY_ROUND_ROBIN:
    case POOL_POLICY_SCORE:
        break;
    }
    return SCHEDULER_ROUND_ROBIN;
}

/* Policy and ranks of a request with a pick. */
static pool_status apply_pick(const char *call, const struct admission *admission,
    const pool_request *request, uint32_t *ranks, struct lease_terms *terms)
{
    uint32_t passed = 0;
    pool_pick pick;
    pool_status status = read_pick(call, request->pick, &pick);

    if (status)
        return status;
    terms->request.policy = scheduler_policy_of(pick.policy);
    if (pick.policy == POOL_POLICY_LEAST_LOADED || pick.filter || pick.score)
        status = device_pool_poll_work(admission->pool);
    if (status || (!pick.filter && !pick.min_free_bytes && pick.policy != POOL_POLICY_SCORE))
        return status;
    status = evaluate_pick(admission, &pick, ranks);
    if (status)
        return status;
    terms->request.ranks = ranks;
    for (uint32_t i = 0; i < admission->device_count; i++)
        passed += ranks[i] != SCHEDULER_EXCLUDED;
    if (passed < terms->request.devices)
        return base_fail(POOL_ERR_NOT_FOUND, "%s: %u of %u devices passed `pick`, %u asked for",
            call, passed, admission->device_count, terms->request.devices);
    return POOL_OK;
}

/* --- devices that the request names -------------------------------------------------------------
 */

static uint32_t index_of(const struct admission *admission, const pool_device *device)
{
    uint32_t index = 0;

    while (index < admission->device_count && admission->devices[index] != device)
        index++;
    return index;
}

static pool_status apply_device(const char *call, const struct admission *admission,
    const pool_request *request, uint32_t *ranks, struct lease_terms *terms)
{
    uint32_t index = index_of(admission, request->device);

    if (request->pick || terms->request.devices > 1)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `device` names the only device, so `pick` must be NULL and `devices` 0 or 1",
            call);
    if (index == admission->device_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `device` belongs to another pool", call);
    for (uint32_t i = 0; i < admission->device_count; i++)
        ranks[i] = i == index ? 0 : SCHEDULER_EXCLUDED;
    terms->request.ranks = ranks;
    return POOL_OK;
}

/* Devices without a copy come after all that have one. */
static pool_status apply_near_resident(const char *call, const struct admission *admission,
    const pool_request *request, uint32_t *ranks, struct lease_terms *terms)
{
    const struct lease_locality *locality = (const struct lease_locality *)request->near_resident;

    if (locality->pool != admission->pool)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: `near_resident` belongs to another pool", call);
    for (uint32_t i = 0; i < admission->device_count; i++) {
        uint32_t rank = terms->request.ranks ? ranks[i] : 0;

        if (rank != SCHEDULER_EXCLUDED)
            ranks[i] = rank + (atomic_load_explicit(&locality->has_copy[i], memory_order_relaxed)
                                      ? 0
                                      : admission->device_count);
    }
    terms->request.ranks = ranks;
    return POOL_OK;
}

/* --- the whole request --------------------------------------------------------------------------
 */

static pool_status check_values(const char *call, const pool_request *request)
{
    pool_status status = base_check_ranges(
        call, {"priority", request->priority, -POOL_LEASE_PRIORITY_MAX, POOL_LEASE_PRIORITY_MAX});

    if (!status)
        status = base_error_slot_check(call, "request->error", request->error);
    if (!status)
        status = base_flags_check(call, "flags", request->flags, POOL_LEASE_SECRET);
    if (!status && request->label && strlen(request->label) >= POOL_LEASE_LABEL_BYTES)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `label` has %zu bytes, the most are %d",
            call, strlen(request->label), POOL_LEASE_LABEL_BYTES - 1);
    if (!status && request->label) {
        size_t printable = base_text_printable(request->label);

        if (request->label[printable])
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: byte %zu of `label` is 0x%02x, which is not part of a printable UTF-8 "
                "character",
                call, printable, (unsigned char)request->label[printable]);
    }
    return status;
}

/* What the request says about devices; the label is in the terms already. */
static pool_status apply_devices(const char *call, const struct admission *admission,
    const pool_request *request, uint32_t *ranks, struct lease_terms *terms)
{
    BASE_LOG_LABEL(terms->label);
    pool_status status = POOL_OK;

    if (request->device)
        status = apply_device(call, admission, request, ranks, terms);
    else if (request->pick)
        status = apply_pick(call, admission, request, ranks, terms);
    if (!status && request->near_resident)
        status = apply_near_resident(call, admission, request, ranks, terms);
    return status;
}

static pool_status read_terms(const char *call, struct admission *admission,
    const pool_request *given, uint32_t *ranks, struct lease_terms *terms)
{
    static const pool_request none = {.struct_size = sizeof(none)};
    pool_request request;
    pool_status status =
        base_struct_read(&request_type, call, "request", given ? given : &none, &request);

    if (!status)
        status = check_values(call, &request);
    if (status)
        return status;
    *terms = (struct lease_terms){
        .request = {.bytes = request.bytes,
            .slots = request.slots ? request.slots : 1,
            .devices = request.devices ? request.devices : 1,
            .priority = request.priority,
            .policy = SCHEDULER_MOST_FREE,
            .deadline = SCHEDULER_NEVER},
        .cancel = request.cancel,
        .flags = request.flags,
        .timeout_ns = request.timeout_ns,
        .duration_ns = request.duration_ns,
    };
    if (request.label)
        memcpy(terms->label, request.label, strlen(request.label));
    if (request.bytes)
        status = device_pool_sample(admission->pool);
    if (!status && (request.device || request.pick || request.near_resident))
        status = apply_devices(call, admission, &request, ranks, terms);
    return status;
}

pool_status lease_attempt_begin(
    const char *call, device_pool *pool, const pool_request *request, struct lease_attempt *attempt)
{
    struct admission *admission;
    pool_status status = device_pool_check(pool, DEVICE_USE_DRIVER);

    attempt->ranks = attempt->ranks_on_stack;
    if (!status)
        status = admission_of(pool, &attempt->admission);
    if (status)
        return status;
    admission = attempt->admission;
    if (admission->device_count > LEASE_RANKS_ON_STACK) {
        attempt->ranks = base_calloc(admission->device_count, sizeof(*attempt->ranks));
        if (!attempt->ranks)
            return base_fail_memory("the ranks of the devices");
    }
    return read_terms(call, admission, request, attempt->ranks, &attempt->terms);
}

void lease_attempt_end(struct lease_attempt *attempt)
{
    if (attempt->ranks != attempt->ranks_on_stack)
        base_free(attempt->ranks);
}

/* --- failures -----------------------------------------------------------------------------------
 */

/* Appends what one device has. */
static size_t describe_device(
    const struct admission *admission, uint32_t index, char *text, size_t size)
{
    const struct scheduler_device *device = &admission->states[index];

    if (device->state != SCHEDULER_READY)
        return (size_t)snprintf(
            text, size, "; device %d is not ready", pool_device_ordinal(admission->devices[index]));
    return (size_t)snprintf(text, size, "; device %d: %s and %u of %u slots free",
        pool_device_ordinal(admission->devices[index]),
        base_size_text(scheduler_free_bytes(device)).text, scheduler_free_slots(device),
        device->slots);
}

/* What the devices that the request may run on have, and how many requests wait. */
static void describe_devices(
    struct admission *admission, const struct scheduler_request *request, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    pthread_mutex_lock(&admission->lock);
    for (uint32_t i = 0; i < admission->device_count && used < size; i++)
        if (!request->ranks || request->ranks[i] != SCHEDULER_EXCLUDED)
            used += describe_device(admission, i, text + used, size - used);
    if (used < size)
        snprintf(text + used, size - used, "; %u other requests wait, %u leases are held",
            admission->scheduler.waiting, admission->held);
    pthread_mutex_unlock(&admission->lock);
}

pool_status lease_terms_fail(const char *call, struct admission *admission,
    const struct lease_terms *terms, pool_status status)
{
    const struct scheduler_request *request = &terms->request;
    char devices[1024];

    BASE_LOG_LABEL(terms->label);
    if (status == POOL_ERR_PROCESS_POISONED)
        return device_pool_check(admission->pool, DEVICE_USE_DRIVER);
    if (status == POOL_ERR_CANCELLED)
        return base_fail(
            status, "%s: request \"%s\" was cancelled while it waited", call, terms->label);
    describe_devices(admission, request, devices, sizeof(devices));
    if (status == POOL_ERR_TIMEOUT)
        return base_fail(status,
            "%s: request \"%s\" for %s and %u slot%s on %u device%s was not granted within %.3f "
            "s%s",
            call, terms->label, base_size_text(request->bytes).text, request->slots,
            base_plural(request->slots), request->devices, base_plural(request->devices),
            (double)terms->timeout_ns / 1e9, devices);
    return base_fail(status,
        "%s: fewer than the %u device%s that request \"%s\" asks for can be used any more%s", call,
        request->devices, base_plural(request->devices), terms->label, devices);
}

/* The most bytes that `count` of the devices could ever reserve each; how many are not lost. */
static uint32_t most_possible(struct admission *admission, const struct scheduler_request *request,
    uint64_t *bytes, uint32_t *slots)
{
    const uint32_t most_parts =
        request->devices < admission->device_count ? request->devices : admission->device_count;
    uint32_t usable = 0;

    *bytes = 0;
    *slots = 0;
    pthread_mutex_lock(&admission->lock);
    for (uint32_t i = 0; i < admission->device_count; i++) {
        const struct scheduler_device *device = &admission->states[i];
        struct scheduler_request probe = *request;

        if ((request->ranks && request->ranks[i] == SCHEDULER_EXCLUDED) ||
            device->state == SCHEDULER_LOST)
            continue;
        usable++;
        if (device->slots > *slots)
            *slots = device->slots;
        probe.slots = 1;
        /* Less on each of devices that share memory. */
        for (uint32_t parts = 1; parts <= most_parts; parts++) {
            probe.bytes = device->limit_bytes / parts;
            if (probe.bytes > *bytes &&
                scheduler_possible_devices(&admission->scheduler, &probe) >= request->devices)
                *bytes = probe.bytes;
        }
    }
    pthread_mutex_unlock(&admission->lock);
    return usable;
}

pool_status lease_terms_refuse(
    const char *call, struct admission *admission, const struct lease_terms *terms)
{
    BASE_LOG_LABEL(terms->label);
    const struct scheduler_request *request = &terms->request;
    char reasons[1024];
    uint64_t bytes;
    uint32_t slots, usable = most_possible(admission, request, &bytes, &slots);
    pool_status status = device_pool_check(admission->pool, DEVICE_USE_DRIVER);

    if (status)
        return status;
    if (request->devices > admission->device_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `devices` is %u, the pool has %u device%s",
            call, request->devices, admission->device_count, base_plural(admission->device_count));
    if (usable < request->devices) {
        device_pool_reasons(admission->pool, reasons, sizeof(reasons));
        return base_fail(POOL_ERR_NO_DEVICE,
            "%s: %u device%s asked for, %u of those that the request allows can be used%s%s", call,
            request->devices, base_plural(request->devices), usable, reasons[0] ? ": " : "",
            reasons);
    }
    if (request->slots > slots)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `slots` is %u, each device has %u (pool_params.slots)", call, request->slots,
            slots);
    return base_fail(POOL_ERR_OUT_OF_DEVICE_MEMORY,
        "%s: %s on %u device%s can never be reserved, at most %s could", call,
        base_size_text(request->bytes).text, request->devices, base_plural(request->devices),
        base_size_text(bytes).text);
}

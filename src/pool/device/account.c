/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account of a device's memory: see account.h.
 */
#include "pool/device/account.h"

#include <string.h>

#include "base/params.h"
#include "base/settings.h"
#include "base/status.h"
#include "pool/device/pool.h"

/*
 * Contexts grow after they were created: kernels are loaded, their local memory and printf buffers
 * are allocated, and memory pools reserve in blocks of 32 MiB. 512 MiB cover that for the kernels
 * of one curve; on small devices 1/64 of the memory is kept free instead.
 */
#define HEADROOM_MAX ((uint64_t)512 << 20)
#define HEADROOM_DIVISOR 64u

/* ---- limits ---------------------------------------------------------------------------------- */

/* "24G", "512M", "1000000" or "80%". */
static bool parse_limit(const char *text, struct device_account_rules *rules)
{
    static const char suffixes[] = "KMGT";
    const char *suffix;
    uint64_t value = 0;
    size_t digits = strspn(text, "0123456789");

    if (!digits || digits > 18)
        return false;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (uint64_t)(text[i] - '0');
    text += digits;
    if (!strcmp(text, "%")) {
        rules->percent = value <= 100 ? (uint32_t)value : 0;
        return rules->percent != 0;
    }
    suffix = *text ? strchr(suffixes, *text) : NULL;
    if (*text && (!suffix || text[1]))
        return false;
    for (const char *at = suffixes; suffix && at <= suffix; at++)
        if (__builtin_mul_overflow(value, (uint64_t)1024, &value))
            return false;
    rules->bytes = value;
    return value != 0;
}

pool_status device_account_rules_read(const pool_params *params, struct device_account_rules *rules)
{
    const char *setting = base_setting(BASE_SETTING_MEMORY_LIMIT);
    pool_status status = base_check_ranges(
        "pool_create", {"memory_limit_percent", params->memory_limit_percent, 0, 100});

    if (status)
        return status;
    if (params->memory_limit && params->memory_limit_percent)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: `memory_limit` is %llu and `memory_limit_percent` %u; one of them must "
            "be 0",
            (unsigned long long)params->memory_limit, (unsigned)params->memory_limit_percent);
    *rules = (struct device_account_rules){.bytes = params->memory_limit,
        .percent = params->memory_limit_percent,
        .headroom = params->memory_headroom};
    if (rules->bytes || rules->percent || !setting)
        return POOL_OK;
    if (!parse_limit(setting, rules))
        return base_setting_refuse(BASE_SETTING_MEMORY_LIMIT,
            "a number of bytes, a number with K, M, G or T, or a percentage from \"1%\" to "
            "\"100%\"");
    return POOL_OK;
}

void device_account_init(
    struct device_account *account, const struct device_account_rules *rules, uint64_t total_bytes)
{
    uint64_t headroom = total_bytes / HEADROOM_DIVISOR;

    account->limit = rules->bytes ? rules->bytes : UINT64_MAX;
    if (rules->percent)
        account->limit = total_bytes / 100 * rules->percent;
    account->headroom = headroom < HEADROOM_MAX ? headroom : HEADROOM_MAX;
    if (rules->headroom)
        account->headroom = rules->headroom;
    atomic_store_explicit(&account->base, total_bytes, memory_order_relaxed);
}

/* ---- allocations ----------------------------------------------------------------------------- */

static uint64_t load(const atomic_uint_least64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

/* The parts of a GPU have one account. */
static struct device_account *account_of(const pool_device *device)
{
    return &device->gpu->account;
}

uint64_t device_reserved(const pool_device *device)
{
    int64_t reserved = atomic_load_explicit(&account_of(device)->reserved, memory_order_relaxed);

    return reserved > 0 ? (uint64_t)reserved : 0;
}

uint32_t device_leases(const pool_device *device)
{
    return (uint32_t)atomic_load_explicit(&device->leases, memory_order_acquire);
}

/* a - b, or 0 */
static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Adds unless the sum would exceed `most`. */
static bool add_at_most(atomic_uint_least64_t *value, uint64_t bytes, uint64_t most)
{
    uint64_t now = load(value);

    do {
        if (bytes > most || now > most - bytes)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        value, &now, now + bytes, memory_order_relaxed, memory_order_relaxed));
    return true;
}

bool device_account_add(pool_device *device, uint64_t bytes, bool is_charged)
{
    struct device_account *account = account_of(device);

    if (!is_charged && account->limit != UINT64_MAX) {
        uint64_t most = less(account->limit, device_reserved(device));

        if (!add_at_most(&account->used_outside, bytes, most))
            return false;
    } else if (!is_charged) {
        atomic_fetch_add_explicit(&account->used_outside, bytes, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&account->used, bytes, memory_order_relaxed);
    return true;
}

void device_account_subtract(pool_device *device, uint64_t bytes, bool is_charged)
{
    struct device_account *account = account_of(device);

    atomic_fetch_sub_explicit(&account->used, bytes, memory_order_relaxed);
    if (!is_charged)
        atomic_fetch_sub_explicit(&account->used_outside, bytes, memory_order_relaxed);
}

void device_account_quarantined(pool_device *device, uint64_t bytes)
{
    atomic_fetch_add_explicit(&account_of(device)->used_outside, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&account_of(device)->used, bytes, memory_order_relaxed);
}

void device_account_outlive(pool_device *device, uint64_t bytes)
{
    atomic_fetch_add_explicit(&account_of(device)->used_outside, bytes, memory_order_relaxed);
}

void device_account_evictable(pool_device *device, int64_t bytes)
{
    atomic_fetch_sub_explicit(
        &account_of(device)->used_outside, (uint64_t)bytes, memory_order_relaxed);
}

void device_reserved_changed(pool_device *device, int64_t bytes, int leases)
{
    struct device_account *account = account_of(device);
    int64_t reserved = atomic_load_explicit(&account->reserved, memory_order_relaxed);
    int living = atomic_load_explicit(&device->leases, memory_order_relaxed);

    atomic_store_explicit(&account->reserved, reserved + bytes, memory_order_relaxed);
    atomic_store_explicit(&device->leases, living + leases, memory_order_release);
}

/* ---- what there is --------------------------------------------------------------------------- */

void device_account_sample(struct device_account *account, uint64_t free_bytes, uint64_t held)
{
    atomic_store_explicit(&account->held, held, memory_order_relaxed);
    atomic_store_explicit(&account->base, free_bytes + held, memory_order_relaxed);
}

uint64_t device_account_free(const struct device_account *account)
{
    return less(load(&account->base), load(&account->held));
}

uint64_t device_capacity_limit(const pool_device *device)
{
    const struct device_account *account = account_of(device);
    uint64_t bytes = less(device->properties.total_bytes, account->headroom);

    return bytes < account->limit ? bytes : account->limit;
}

/* Whether both use the same memory. Integrated devices use that of their host. */
static bool is_shared(const pool_device *device, const pool_device *other)
{
    return device->gpu == other->gpu ||
           (device->properties.integrated && other->properties.integrated);
}

uint32_t device_shares_with(const pool_device *device)
{
    const pool_device *first = device->pool->devices;

    while (!is_shared(device, first))
        first++;
    return (uint32_t)(first - device->pool->devices);
}

/* Of the account of the device and of those that share its memory: base, and what is used outside
 * of leases and reserved. */
struct shared {
    uint64_t base, used_outside, reserved;
};

static struct shared read_shared(const pool_device *device)
{
    const device_pool *pool = device->pool;
    struct shared all = {.base = load(&account_of(device)->base)};

    for (size_t i = 0; i < pool->count; i++) {
        const pool_device *other = &pool->devices[i];

        if (other != other->gpu || !is_shared(device, other))
            continue;
        all.base += other == device->gpu ? 0 : load(&other->account.held);
        all.used_outside += load(&other->account.used_outside);
        all.reserved += device_reserved(other);
    }
    return all;
}

uint64_t device_capacity(const pool_device *device)
{
    const struct device_account *account = account_of(device);
    const struct shared all = read_shared(device);
    uint64_t capacity = less(all.base, account->headroom);

    capacity = capacity < account->limit ? capacity : account->limit;
    return less(capacity, all.used_outside);
}

uint64_t device_net_free(const pool_device *device)
{
    const struct device_account *account = account_of(device);
    const struct shared all = read_shared(device);
    uint64_t base = all.base < account->limit ? all.base : account->limit;

    return less(base, all.used_outside + all.reserved);
}

void device_account_read(const pool_device *device, struct device_account_info *info)
{
    const struct device_account *account = account_of(device);

    info->used_outside = load(&account->used_outside);
    info->used = load(&account->used);
    info->held = load(&account->held);
    info->held = info->held > info->used ? info->held : info->used;
    info->limit = account->limit;
    info->headroom = account->headroom;
    info->reserved = device_reserved(device);
    info->charged = less(info->used, info->used_outside);
    info->leases = device_leases(device);
    info->available = less(device_capacity(device), read_shared(device).reserved);
}

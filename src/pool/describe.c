/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool, or one device, as text: the information that an operator needs when the GPUs have a
 * problem.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/device/pool.h"
#include "pool/module/compiler.h"

/* A growing string. */
struct text_buffer {
    char *text;
    size_t used, capacity;
    int is_broken; /* out of memory: further writes are no-ops */
};

__attribute__((format(printf, 2, 3))) static void write_text(
    struct text_buffer *buffer, const char *format, ...)
{
    va_list arguments;
    int length;

    if (buffer->is_broken)
        return;
    va_start(arguments, format);
    length = vsnprintf(buffer->text ? buffer->text + buffer->used : NULL,
        buffer->capacity - buffer->used, format, arguments);
    va_end(arguments);
    if (buffer->used + (size_t)length >= buffer->capacity) {
        size_t capacity = 2 * buffer->capacity + (size_t)length + 1024;
        char *text = base_realloc(buffer->text, capacity, 1);

        if (!text) {
            buffer->is_broken = 1;
            return;
        }
        buffer->text = text;
        buffer->capacity = capacity;
        va_start(arguments, format);
        vsnprintf(buffer->text + buffer->used, buffer->capacity - buffer->used, format, arguments);
        va_end(arguments);
    }
    buffer->used += (size_t)length;
}

const char *device_context_mode_name(pool_context_mode mode)
{
    switch (mode) {
    case POOL_CONTEXT_PRIMARY:
        return "primary";
    case POOL_CONTEXT_OWN:
        return "own";
    case POOL_CONTEXT_ADOPT:
        return "adopted";
    }
    return "?";
}

static double gib(uint64_t bytes)
{
    return (double)bytes / (1024.0 * 1024.0 * 1024.0);
}

static void write_device(struct text_buffer *buffer, const pool_device_info *info, int name_width)
{
    char memory[32], flags[64] = "", part[32] = "", numa[12] = "-";

    if (info->has_context && info->free_bytes)
        snprintf(
            memory, sizeof(memory), "%.1f / %.1f", gib(info->free_bytes), gib(info->total_bytes));
    else
        snprintf(memory, sizeof(memory), "? / %.1f", gib(info->total_bytes));
    if (info->partitions)
        snprintf(part, sizeof(part), " part %d of %d", info->partition, info->partitions);
    snprintf(flags, sizeof(flags), "%s%s%s%s%s", info->ecc ? " ecc" : "", info->mps ? " mps" : "",
        info->mig ? " mig" : "", info->integrated ? " integrated" : "", part);
    if (info->numa_node >= 0)
        snprintf(numa, sizeof(numa), "%d", info->numa_node);
    write_text(buffer, "%3u  %3d  %-*s  %-40s  %-12s  %2d.%-2d %4d  %5.2f  %15s  %4s  %s%s\n",
        info->index, info->ordinal, name_width, info->name, info->uuid, info->pci,
        info->compute_major, info->compute_minor, info->multiprocessors,
        (double)info->clock_khz / 1e6, memory, numa, device_state_name(info->state), flags);
}

static void write_devices(struct text_buffer *buffer, const struct pool_snapshot *snapshot)
{
    int name_width = 4;

    for (size_t i = 0; i < snapshot->count; i++)
        if ((int)strlen(snapshot->devices[i].name) > name_width)
            name_width = (int)strlen(snapshot->devices[i].name);
    write_text(buffer, "  #  ord  %-*s  %-40s  %-12s  %-5s %4s  %5s  %15s  %4s  %-8s %s\n",
        name_width, "name", "uuid", "pci", "cc", "SMs", "GHz", "free/all GiB", "numa", "state",
        "flags");
    for (size_t i = 0; i < snapshot->count; i++)
        write_device(buffer, &snapshot->devices[i], name_width);
    for (size_t i = 0; i < snapshot->count; i++)
        if (snapshot->devices[i].reason[0])
            write_text(buffer, "device %d: %s\n", snapshot->devices[i].ordinal,
                snapshot->devices[i].reason);
}

/* What the library has of each device's memory, by its account. */
static void write_memory(struct text_buffer *buffer, device_pool *pool)
{
    struct device_account_info account;
    char limit[24];

    write_text(buffer, "\n  #  limit GiB     used     held  reserved by leases  available\n");
    for (size_t i = 0; i < pool->count; i++) {
        device_account_read(&pool->devices[i], &account);
        snprintf(limit, sizeof(limit), "%.2f", gib(account.limit));
        write_text(buffer, "%3zu  %9s  %7.2f  %7.2f  %8.2f (%u)%*s  %9.2f\n", i,
            account.limit == UINT64_MAX ? "none" : limit, gib(account.used), gib(account.held),
            gib(account.reserved), account.leases, account.leases < 10 ? 6 : 4, "",
            gib(account.available));
    }
}

/* The processes that use the devices, if this one does not. */
static void write_workers(struct text_buffer *buffer, device_pool *pool)
{
    struct device_worker worker;
    bool has_title = false;

    for (size_t i = 0; i < pool->count; i++) {
        if (!device_read_worker(&pool->devices[i], &worker))
            continue;
        if (!has_title)
            write_text(
                buffer, "\n  #  worker pid  generation  restarts  state     cause of last loss\n");
        has_title = true;
        write_text(buffer, "%3zu  %10llu  %10llu  %8llu  %-8s  %s\n", i,
            (unsigned long long)worker.pid, (unsigned long long)worker.generation,
            (unsigned long long)worker.restarts, device_worker_state_name(worker.state),
            worker.cause[0] ? worker.cause : "-");
    }
}

/* "-" is the device itself, "no" no access, else the driver's rank of the link, * with atomics. */
static void write_peers(struct text_buffer *buffer, const struct pool_snapshot *snapshot)
{
    size_t count = snapshot->count;

    if (!snapshot->peers || count < 2)
        return;
    write_text(buffer,
        "\npeer access, row to column: rank of the link (0 is best), * with atomics, "
        "no: none\n   ");
    for (size_t to = 0; to < count; to++)
        write_text(buffer, " %4zu", to);
    for (size_t from = 0; from < count; from++) {
        write_text(buffer, "\n%3zu", from);
        for (size_t to = 0; to < count; to++) {
            const pool_peer_info *peer = &snapshot->peers[from * count + to];

            if (from == to)
                write_text(buffer, "    -");
            else if (!peer->access)
                write_text(buffer, "   no");
            else
                write_text(
                    buffer, " %3d%s", peer->performance_rank, peer->native_atomics ? "*" : " ");
        }
    }
    write_text(buffer, "\n");
}

/* Returns the text to the caller, or frees it if it is incomplete. */
static pool_status finish_text(struct text_buffer *buffer, const char *what, char **text)
{
    if (buffer->is_broken) {
        base_free(buffer->text);
        return base_fail_memory(what);
    }
    *text = buffer->text;
    return POOL_OK;
}

/* The numbers that plans use; see tuning.h. */
static void write_tuning(struct text_buffer *buffer, const device_pool *pool)
{
    const pool_tuning_info *info = &pool->tuning_info;

    if (info->source == POOL_TUNING_DEFAULT)
        write_text(buffer, "tuning    defaults%s%s%s%s%s\n", info->message[0] ? " (" : "",
            info->message[0] ? info->path : "", info->message[0] ? " is not used: " : "",
            info->message, info->message[0] ? ")" : "");
    else
        write_text(buffer, "tuning    %u number%s of %s%s%s\n", info->changed,
            base_plural(info->changed),
            info->source == POOL_TUNING_FILE ? info->path : "the caller",
            info->message[0] ? "; " : "", info->message);
}

/* Which classes of leases have which level of streams; see pool_params. */
static void write_levels(struct text_buffer *buffer, const device_pool *pool)
{
    write_text(
        buffer, "leases    %u slot%s; streams: level", pool->slots, base_plural(pool->slots));
    for (int i = -DEVICE_MIN_LEVEL; i > 0; i--)
        write_text(buffer, " %d from class %d down,", -i, pool->levels.background[i - 1]);
    write_text(buffer, " 0");
    for (int i = 1; i <= DEVICE_MAX_LEVEL; i++)
        write_text(buffer, ", %d from class %d up", i, pool->levels.urgent[i - 1]);
    write_text(buffer, "\n");
}

static bool is_same_chip(const device_pool *pool, size_t left, size_t right)
{
    const pool_device_info *a = &pool->devices[left].properties;
    const pool_device_info *b = &pool->devices[right].properties;

    return a->compute_major == b->compute_major && a->compute_minor == b->compute_minor;
}

static void write_compiler(
    struct text_buffer *buffer, const pool_device_info *chip, const pool_component *compiler)
{
    char of_chip[64] = "";

    if (chip)
        snprintf(of_chip, sizeof(of_chip), " for compute capability %d.%d", chip->compute_major,
            chip->compute_minor);
    if (compiler->status)
        write_text(buffer, "compiler  none%s (%s), the library uses its prebuilt PTX\n", of_chip,
            compiler->message);
    else
        write_text(buffer, "compiler  %s, NVRTC %d.%d%s%s%s\n", compiler->path,
            compiler->version / 1000, compiler->version % 1000 / 10, of_chip,
            compiler->message[0] ? "; " : "", compiler->message);
}

/* Nothing where no pack is there for the chip. */
static void write_pack(
    struct text_buffer *buffer, const pool_device_info *chip, const pool_component *pack)
{
    const int version = pack->version;

    if (!pack->status)
        write_text(buffer, "machine code  %s, %s that NVRTC %d.%d has compiled\n", pack->path,
            pack->message, version / 1000, version % 1000 / 10);
    else if (pack->message[0])
        write_text(buffer, "machine code  none for compute capability %d.%d (%s)\n",
            chip->compute_major, chip->compute_minor, pack->message);
}

/* One line, or one per chip. Nothing is tried: a description uses no device. */
static void write_compilers(struct text_buffer *buffer, const device_pool *pool)
{
    bool is_mixed = false;

    for (size_t i = 1; i < pool->count; i++)
        is_mixed |= !is_same_chip(pool, 0, i);
    for (size_t i = 0; i < pool->count; i++) {
        pool_component compiler, pack;
        size_t first = 0;

        while (first < i && !is_same_chip(pool, first, i))
            first++;
        if (first < i)
            continue;
        if (module_compiler_report(&pool->devices[i], false, &compiler))
            buffer->is_broken = 1; /* out of memory */
        else
            write_compiler(buffer, is_mixed ? &pool->devices[i].properties : NULL, &compiler);
        if (module_pack_report(&pool->devices[i], &pack))
            buffer->is_broken = 1;
        else
            write_pack(buffer, &pool->devices[i].properties, &pack);
    }
}

static pool_status write_description(
    device_pool *pool, const struct pool_snapshot *snapshot, char **text)
{
    const struct driver *driver = pool->driver;
    struct text_buffer buffer = {0};
    pool_health_info health = {.struct_size = sizeof(health)};

    pool_get_health(pool, &health);
    write_text(&buffer, "driver    %s, CUDA %d.%d\n", driver->path, driver->version / 1000,
        driver->version % 1000 / 10);
    write_compilers(&buffer, pool);
    write_text(&buffer, "devices   %zu, %u usable, %s contexts%s, %u bindings held\n", pool->count,
        health.usable_devices, device_context_mode_name(pool->context_mode),
        pool->is_lazy ? " created at first use" : "", health.bindings);
    write_tuning(&buffer, pool);
    write_levels(&buffer, pool);
    if (health.first_cause[0])
        write_text(&buffer, "POISONED  %s\n", health.first_cause);
    write_text(&buffer, "\n");
    write_devices(&buffer, snapshot);
    write_memory(&buffer, pool);
    write_workers(&buffer, pool);
    write_peers(&buffer, snapshot);
    return finish_text(&buffer, "the description of the pool", text);
}

static void write_worker(struct text_buffer *buffer, const pool_device *device)
{
    struct device_worker worker;

    if (!device_read_worker(device, &worker))
        return;
    write_text(buffer, "worker    process %llu, generation %llu, %llu restart%s, %s",
        (unsigned long long)worker.pid, (unsigned long long)worker.generation,
        (unsigned long long)worker.restarts, base_plural(worker.restarts),
        device_worker_state_name(worker.state));
    write_text(buffer, "%s%s\n", worker.cause[0] ? "; cause of the last loss: " : "", worker.cause);
}

static pool_status write_device_description(
    const pool_device *device, const pool_device_info *info, char **text)
{
    struct text_buffer buffer = {0};

    write_text(&buffer, "device    %d: %s\n", info->ordinal, info->name);
    write_text(&buffer, "uuid      %s\n", info->uuid);
    write_text(&buffer, "pci       %s", info->pci);
    if (info->numa_node >= 0)
        write_text(&buffer, ", NUMA node %d", info->numa_node);
    write_text(&buffer, "\nstate     %s%s%s\n", device_state_name(info->state),
        info->reason[0] ? ": " : "", info->reason);
    write_text(&buffer, "context   %s%s\n", device_context_mode_name(device->pool->context_mode),
        info->has_context ? "" : ", not created yet");
    write_text(&buffer, "compute   %d.%d, %d multiprocessors at %.2f GHz\n", info->compute_major,
        info->compute_minor, info->multiprocessors, (double)info->clock_khz / 1e6);
    write_text(&buffer, "memory    %.1f GiB", gib(info->total_bytes));
    if (info->has_context && info->state == POOL_DEVICE_READY)
        write_text(&buffer, ", %.1f GiB free", gib(info->free_bytes));
    write_text(&buffer, ", %d bits at %.2f GHz, %s of L2 cache\n", info->memory_bus_bits,
        (double)info->memory_clock_khz / 1e6, base_size_text(info->l2_bytes).text);
    write_text(&buffer, "block     %d threads, %s of shared memory", info->max_threads_per_block,
        base_size_text(info->shared_bytes_per_block).text);
    write_text(&buffer, ", up to %s on request\n",
        base_size_text(info->shared_bytes_per_block_optin).text);
    write_text(&buffer, "SM        %d threads, %d blocks, %d registers, %s of shared memory\n",
        info->max_threads_per_multiprocessor, info->max_blocks_per_multiprocessor,
        info->registers_per_multiprocessor,
        base_size_text(info->shared_bytes_per_multiprocessor).text);
    if (info->partitions)
        write_text(&buffer, "part      %d of %d, %d multiprocessors\n", info->partition,
            info->partitions, info->multiprocessors);
    write_text(&buffer, "features  %d copy engine%s%s%s%s%s%s%s\n", info->copy_engines,
        base_plural((uint64_t)info->copy_engines), info->memory_pools ? ", memory pools" : "",
        info->cooperative_launch ? ", cooperative launches" : "", info->ecc ? ", ECC" : "",
        info->mps ? ", MPS" : "", info->mig ? ", MIG instance" : "",
        info->integrated ? ", integrated" : "");
    write_tuning(&buffer, device->pool);
    write_worker(&buffer, device);
    return finish_text(&buffer, "the description of a device", text);
}

/* A device that cannot be queried now is described by its constant properties. */
static void read_device(pool_device *device, pool_device_info *info)
{
    info->struct_size = sizeof(*info);
    if (pool_device_get_info(device, info))
        *info = device->properties;
}

/* A device or link whose query fails is shown without values; the others are still shown. */
static pool_status take_snapshot(device_pool *pool, struct pool_snapshot *snapshot)
{
    size_t count = pool->count;

    snapshot->count = count;
    snapshot->devices = base_calloc(count, sizeof(*snapshot->devices));
    snapshot->peers = base_calloc(count * count, sizeof(*snapshot->peers));
    if (!snapshot->devices || !snapshot->peers)
        return base_fail_memory("the description of the pool");
    for (size_t i = 0; i < count; i++)
        read_device(&pool->devices[i], &snapshot->devices[i]);
    for (size_t i = 0; i < count * count && device_pool_usable(pool, DEVICE_USE_DRIVER); i++)
        if (i / count != i % count)
            device_read_peer(
                &pool->devices[i / count], &pool->devices[i % count], &snapshot->peers[i]);
    if (!device_pool_usable(pool, DEVICE_USE_DRIVER)) {
        base_free(snapshot->peers);
        snapshot->peers = NULL;
    }
    return POOL_OK;
}

static pool_status check_format(const char *call, pool_text_format format)
{
    return base_check_ranges(call, {"format", (int64_t)format, 0, POOL_TEXT_JSON});
}

pool_status pool_describe(device_pool *pool, pool_text_format format, char **text)
{
    struct pool_snapshot snapshot = {0};
    pool_status status;

    status = base_check_pointers("pool_describe", {"pool", pool}, {"text", text});
    if (!status)
        status = check_format("pool_describe", format);
    if (!status)
        status = device_pool_check(pool, DEVICE_USE_HOST);
    if (status)
        return status;
    status = take_snapshot(pool, &snapshot);
    if (!status)
        status = format == POOL_TEXT_JSON ? device_pool_write_json(pool, &snapshot, text)
                                          : write_description(pool, &snapshot, text);
    base_free(snapshot.devices);
    base_free(snapshot.peers);
    return status;
}

pool_status pool_device_describe(pool_device *device, pool_text_format format, char **text)
{
    pool_device_info info;
    pool_status status =
        base_check_pointers("pool_device_describe", {"device", device}, {"text", text});

    if (!status)
        status = check_format("pool_device_describe", format);
    if (!status)
        status = device_check(device, DEVICE_USE_HOST);
    if (status)
        return status;
    read_device(device, &info);
    return format == POOL_TEXT_JSON ? device_write_json(device, &info, text)
                                    : write_device_description(device, &info, text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* printf of device code: format and arguments lie in device memory; each value takes four or eight
 * bytes. */
#include "sim/exec/machine.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_LIMIT = 4096, SPEC_LIMIT = 24 };

struct printer {
    struct sim_warp *warp;
    uint64_t arguments;
    char text[TEXT_LIMIT];
    size_t length;
};

/* Host address of device bytes, or NULL. Reads byte by byte would be safe anywhere, this is only as
 * wide as asked. */
static const void *host_bytes(
    const struct sim_warp *warp, uint64_t address, uint32_t bytes, uint64_t *left)
{
    const struct sim_memory *memory = &warp->core->run->launch->memory;
    uint64_t base = (uint64_t)(uintptr_t)warp->local,
             size = (uint64_t)warp->local_stride * SIM_LANES;
    struct sim_range range = {0, 0};
    if (address >= base && address - base < size)
        range = (struct sim_range){base, size};
    else if (!memory->resolve || !memory->resolve(memory->context, address, &range))
        return NULL;
    *left = range.size - (address - range.base);
    return *left >= bytes ? (const void *)(uintptr_t)address : NULL;
}

static void put(struct printer *p, const char *text, size_t length)
{
    size_t room = TEXT_LIMIT - p->length;
    length = length < room ? length : room;
    memcpy(p->text + p->length, text, length);
    p->length += length;
}

static uint64_t take(struct printer *p, uint32_t bytes)
{
    uint64_t value = 0, left;
    p->arguments = (p->arguments + bytes - 1) / bytes * bytes;
    const void *at = host_bytes(p->warp, p->arguments, bytes, &left);
    if (at)
        memcpy(&value, at, bytes);
    p->arguments += bytes;
    return value;
}

static void put_string(struct printer *p, uint64_t address)
{
    uint64_t left = 0;
    const char *text = host_bytes(p->warp, address, 1, &left);
    if (text)
        put(p, text, strnlen(text, left < TEXT_LIMIT ? (size_t)left : TEXT_LIMIT));
}

/* spec: % flags width precision, without length letters; is_long: the value takes eight bytes. */
static void put_value(struct printer *p, const char *spec, char conversion, bool is_long)
{
    char format[SPEC_LIMIT + 8], shown[512];
    int length = 0;
    if (conversion == 's') {
        put_string(p, take(p, 8));
        return;
    }
    if (strchr("eEfFgGaA", conversion)) {
        uint64_t bits = take(p, 8);
        double value;
        memcpy(&value, &bits, sizeof(value));
        snprintf(format, sizeof(format), "%s%c", spec, conversion);
        length = snprintf(shown, sizeof(shown), format, value);
    } else if (conversion == 'p') {
        length = snprintf(shown, sizeof(shown), "0x%llx", (unsigned long long)take(p, 8));
    } else if (conversion == 'c') {
        snprintf(format, sizeof(format), "%sc", spec);
        length = snprintf(shown, sizeof(shown), format, (int)take(p, 4));
    } else {
        uint64_t value = take(p, is_long ? 8 : 4);
        if (!is_long && (conversion == 'd' || conversion == 'i'))
            value = (uint64_t)(int64_t)(int32_t)(uint32_t)value;
        snprintf(format, sizeof(format), "%sll%c", spec, conversion);
        length = snprintf(shown, sizeof(shown), format, value);
    }
    if (length > 0)
        put(p, shown, (size_t)length < sizeof(shown) ? (size_t)length : sizeof(shown) - 1);
}

/* One conversion after its percent sign; gives the character behind it. */
static const char *put_conversion(struct printer *p, const char *at, const char *end)
{
    char spec[SPEC_LIMIT] = "%";
    size_t n = 1;
    bool is_long = false;
    for (; at < end && strchr("0123456789.+-# *", *at) && *at; at++) {
        if (*at == '*')
            n += (size_t)snprintf(spec + n, sizeof(spec) - n, "%d", (int)take(p, 4) % 1000);
        else
            spec[n++] = *at;
        if (n >= sizeof(spec) - 8)
            return end;
        spec[n] = '\0';
    }
    for (; at < end && *at && strchr("hljztL", *at); at++)
        is_long |= *at != 'h' && *at != 'L';
    if (at == end)
        return end;
    if (*at == '%')
        put(p, "%", 1);
    else if (*at && strchr("diouxXcspeEfFgGaA", *at))
        put_value(p, spec, *at, is_long);
    return at + 1;
}

void sim_print_lane(struct sim_warp *warp, uint64_t format, uint64_t arguments)
{
    struct sim_run *run = warp->core->run;
    struct printer printer = {.warp = warp, .arguments = arguments};
    uint64_t left = 0;
    const char *at = host_bytes(warp, format, 1, &left);
    if (!run->launch->print || !at)
        return;
    const char *end = at + strnlen(at, left < TEXT_LIMIT ? (size_t)left : TEXT_LIMIT);
    while (at < end) {
        const char *percent = memchr(at, '%', (size_t)(end - at));
        put(&printer, at, (size_t)((percent ? percent : end) - at));
        at = percent ? put_conversion(&printer, percent + 1, end) : end;
    }
    pthread_mutex_lock(&run->lock);
    run->launch->print(run->launch->print_context, printer.text, printer.length);
    pthread_mutex_unlock(&run->lock);
}

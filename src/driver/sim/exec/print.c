/* SPDX-License-Identifier: Apache-2.0 */
/* printf of device code: the format and the arguments lie in device memory; each value takes four
 * or eight bytes. */
#include "driver/sim/exec/machine.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_LIMIT = 4096, SPEC_LIMIT = 24 };

struct printer {
    struct sim_warp *warp;
    uint64_t arguments;
    char text[TEXT_LIMIT];
    size_t length;
};

/* Host address of device bytes, or NULL. It reads only as many bytes as requested. */
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

static void append_text(struct printer *printer, const char *text, size_t length)
{
    size_t capacity = TEXT_LIMIT - printer->length;
    length = length < capacity ? length : capacity;
    memcpy(printer->text + printer->length, text, length);
    printer->length += length;
}

static uint64_t next_argument(struct printer *printer, uint32_t bytes)
{
    uint64_t value = 0, left;
    printer->arguments = (printer->arguments + bytes - 1) / bytes * bytes;
    const void *at = host_bytes(printer->warp, printer->arguments, bytes, &left);
    if (at)
        memcpy(&value, at, bytes);
    printer->arguments += bytes;
    return value;
}

static void format_string(struct printer *printer, uint64_t address)
{
    uint64_t left = 0;
    const char *text = host_bytes(printer->warp, address, 1, &left);
    if (text)
        append_text(printer, text, strnlen(text, left < TEXT_LIMIT ? (size_t)left : TEXT_LIMIT));
}

/* spec: % flags width precision, without length modifiers; is_long: the value takes eight bytes. */
static void format_value(struct printer *printer, const char *spec, char conversion, bool is_long)
{
    char format[SPEC_LIMIT + 8], shown[512];
    int length = 0;
    if (conversion == 's') {
        format_string(printer, next_argument(printer, 8));
        return;
    }
    if (strchr("eEfFgGaA", conversion)) {
        uint64_t bits = next_argument(printer, 8);
        double value;
        memcpy(&value, &bits, sizeof(value));
        snprintf(format, sizeof(format), "%s%c", spec, conversion);
        length = snprintf(shown, sizeof(shown), format, value);
    } else if (conversion == 'p') {
        length =
            snprintf(shown, sizeof(shown), "0x%llx", (unsigned long long)next_argument(printer, 8));
    } else if (conversion == 'c') {
        snprintf(format, sizeof(format), "%sc", spec);
        length = snprintf(shown, sizeof(shown), format, (int)next_argument(printer, 4));
    } else {
        uint64_t value = next_argument(printer, is_long ? 8 : 4);
        if (!is_long && (conversion == 'd' || conversion == 'i'))
            value = (uint64_t)(int64_t)(int32_t)(uint32_t)value;
        snprintf(format, sizeof(format), "%sll%c", spec, conversion);
        length = snprintf(shown, sizeof(shown), format, value);
    }
    if (length > 0)
        append_text(
            printer, shown, (size_t)length < sizeof(shown) ? (size_t)length : sizeof(shown) - 1);
}

/* Formats one conversion after its percent sign; returns the character that follows. */
static const char *format_conversion(struct printer *printer, const char *at, const char *end)
{
    char spec[SPEC_LIMIT] = "%";
    size_t n = 1;
    bool is_long = false;
    for (; at < end && strchr("0123456789.+-# *", *at) && *at; at++) {
        if (*at == '*')
            n += (size_t)snprintf(
                spec + n, sizeof(spec) - n, "%d", (int)next_argument(printer, 4) % 1000);
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
        append_text(printer, "%", 1);
    else if (*at && strchr("diouxXcspeEfFgGaA", *at))
        format_value(printer, spec, *at, is_long);
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
        append_text(&printer, at, (size_t)((percent ? percent : end) - at));
        at = percent ? format_conversion(&printer, percent + 1, end) : end;
    }
    pthread_mutex_lock(&run->lock);
    run->launch->print(run->launch->print_context, printer.text, printer.length);
    pthread_mutex_unlock(&run->lock);
}

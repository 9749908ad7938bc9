/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records in an ELF note which libraries a file opens at run time, for packagers, as "dlopen()
 * Metadata for ELF Files" of systemd.io defines it. `readelf -n` and dlopen-notes show it.
 */
#ifndef DRIVER_NOTE_H
#define DRIVER_NOTE_H

#include <stdint.h>

#define DRIVER_NOTE_TYPE 0x407c0c0a

/* AddressSanitizer would put its red zones between the notes. */
#ifdef __clang__
#define DRIVER_NOTE_PLAIN no_sanitize("address")
#else
#define DRIVER_NOTE_PLAIN
#endif

/* `json` is a string literal: an array of objects with feature, description, priority, soname. */
#define DRIVER_NOTE_DLOPEN(variable, json_text)                                                    \
    static const struct {                                                                          \
        uint32_t owner_bytes;                                                                      \
        uint32_t json_bytes;                                                                       \
        uint32_t type;                                                                             \
        char owner[4];                                                                             \
        char json[(sizeof(json_text) + 3) / 4 * 4];                                                \
    } variable __attribute__((used, section(".note.dlopen"), aligned(4), DRIVER_NOTE_PLAIN)) = {   \
        .owner_bytes = sizeof("FDO"),                                                              \
        .json_bytes = sizeof(json_text),                                                           \
        .type = DRIVER_NOTE_TYPE,                                                                  \
        .owner = "FDO",                                                                            \
        .json = json_text,                                                                         \
    }

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The scalar types of PTX and their sizes. */
#ifndef SIM_EXEC_TYPES_H
#define SIM_EXEC_TYPES_H

#include <stdbool.h>
#include <stdint.h>

enum ptx_type {
    PTX_NONE,
    PTX_PRED,
    PTX_B8,
    PTX_U8,
    PTX_S8,
    PTX_B16,
    PTX_U16,
    PTX_S16,
    PTX_F16,
    PTX_BF16,
    PTX_B32,
    PTX_U32,
    PTX_S32,
    PTX_F32,
    PTX_F16X2,
    PTX_BF16X2,
    PTX_U16X2,
    PTX_S16X2,
    PTX_B64,
    PTX_U64,
    PTX_S64,
    PTX_F64,
    PTX_B128,
    PTX_TYPE_COUNT
};

/* Size of a value in bytes; 0 for PTX_NONE and PTX_PRED. */
uint32_t ptx_type_size(enum ptx_type type);
bool ptx_type_is_signed(enum ptx_type type);
bool ptx_type_is_float(enum ptx_type type);
/* The type whose arithmetic untyped bits follow: .b32 becomes .u32 and so on. */
enum ptx_type ptx_type_unsigned(enum ptx_type type);
const char *ptx_type_name(enum ptx_type type);

#endif

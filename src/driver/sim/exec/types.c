/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and names of PTX types. */
#include "driver/sim/exec/types.h"

static const struct {
    const char *name;
    uint8_t size;
    bool is_signed;
    bool is_float;
    uint8_t as_unsigned;
} types[PTX_TYPE_COUNT] = {
    [PTX_NONE] = {"(none)", 0, false, false, PTX_NONE},
    [PTX_PRED] = {"pred", 0, false, false, PTX_PRED},
    [PTX_B8] = {"b8", 1, false, false, PTX_U8},
    [PTX_U8] = {"u8", 1, false, false, PTX_U8},
    [PTX_S8] = {"s8", 1, true, false, PTX_U8},
    [PTX_B16] = {"b16", 2, false, false, PTX_U16},
    [PTX_U16] = {"u16", 2, false, false, PTX_U16},
    [PTX_S16] = {"s16", 2, true, false, PTX_U16},
    [PTX_F16] = {"f16", 2, true, true, PTX_U16},
    [PTX_BF16] = {"bf16", 2, true, true, PTX_U16},
    [PTX_B32] = {"b32", 4, false, false, PTX_U32},
    [PTX_U32] = {"u32", 4, false, false, PTX_U32},
    [PTX_S32] = {"s32", 4, true, false, PTX_U32},
    [PTX_F32] = {"f32", 4, true, true, PTX_U32},
    [PTX_F16X2] = {"f16x2", 4, true, true, PTX_U32},
    [PTX_BF16X2] = {"bf16x2", 4, true, true, PTX_U32},
    [PTX_U16X2] = {"u16x2", 4, false, false, PTX_U32},
    [PTX_S16X2] = {"s16x2", 4, true, false, PTX_U32},
    [PTX_B64] = {"b64", 8, false, false, PTX_U64},
    [PTX_U64] = {"u64", 8, false, false, PTX_U64},
    [PTX_S64] = {"s64", 8, true, false, PTX_U64},
    [PTX_F64] = {"f64", 8, true, true, PTX_U64},
    [PTX_B128] = {"b128", 16, false, false, PTX_B128},
};

uint32_t ptx_type_size(enum ptx_type type)
{
    return types[type].size;
}

bool ptx_type_is_signed(enum ptx_type type)
{
    return types[type].is_signed;
}

bool ptx_type_is_float(enum ptx_type type)
{
    return types[type].is_float;
}

enum ptx_type ptx_type_unsigned(enum ptx_type type)
{
    return (enum ptx_type)types[type].as_unsigned;
}

const char *ptx_type_name(enum ptx_type type)
{
    return types[type].name;
}

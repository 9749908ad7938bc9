/* SPDX-License-Identifier: Apache-2.0 */
/* shfl.sync of full warps with full masks; warp.c has the others. Included by lanes.h, once per
 * instruction set. */

/* The source of each lane, as the PTX manual computes it from c = clamp | segment mask << 8, or the
 * lane itself. Returns the lanes whose source is valid: all ones. */
VECTOR_INLINE vec shuffle_source(const uint32_t mode, vec lane, vec b, vec c, vec *source)
{
    vec bound = c & 31, segment = c >> 8 & 31, shift = b & 31;
    vec_signed end = (vec_signed)((lane & segment) | (bound & ~segment));
    vec_signed from = (vec_signed)(mode == SIM_SHFL_UP     ? lane - shift
                                   : mode == SIM_SHFL_DOWN ? lane + shift
                                   : mode == SIM_SHFL_BFLY ? lane ^ shift
                                                           : (lane & segment) | (shift & ~segment));
    vec is_valid = mode == SIM_SHFL_UP ? (vec)(from >= end) : (vec)(from <= end);
    *source = ((vec)from & 31 & is_valid) | (lane & ~is_valid);
    return is_valid;
}

VECTOR_INLINE void shuffle(struct sim_warp *restrict warp, const struct sim_op *op, uint32_t mode)
{
    const vec *a = VREG(u32, op->a), *b = VREG(u32, op->b), *c = VREG(u32, op->c);
    vec *d = VREG(u32, op->d);
    uint32_t valid = 0;
    vec sources[VECTORS], lane;

    for (unsigned k = 0; k < SIM_LANES_BYTES / 4; k++)
        lane[k] = k;
    EACH_VECTOR
    {
        vec is_valid = shuffle_source(mode, lane, b[i], c[i], &sources[i]);
        valid |= bits_of(is_valid) << (i * (SIM_LANES_BYTES / 4));
        lane += SIM_LANES_BYTES / 4;
    }
#if SIM_LANES_BYTES == 64
    __m512i low = (__m512i)a[0], high = (__m512i)a[1];
    EACH_VECTOR d[i] = (vec)_mm512_permutex2var_epi32(low, (__m512i)sources[i], high);
#else
    uint32_t values[SIM_LANES], from[SIM_LANES], *to = (uint32_t *)(void *)d;
    __builtin_memcpy(values, a, sizeof(values));
    __builtin_memcpy(from, sources, sizeof(from));
    LANES to[l] = values[from[l] & 31];
#endif
    *sim_word_at(warp, op[1].words[0]) = valid;
}

HANDLER(shfl)
{
    const vec *masks = VREG(u32, op[1].words[1]);
    vec all = masks[0];

    EACH_VECTOR all &= masks[i];
    if (warp->block->is_watched || sim_active_lanes(warp, op) != SIM_ALL_LANES ||
        bits_of((vec)(all == ~(vec){0})) != FULL_BITS)
        return sim_run_shfl(warp, op);
    switch (op->aux) {
    case SIM_SHFL_UP:
        shuffle(warp, op, SIM_SHFL_UP);
        break;
    case SIM_SHFL_DOWN:
        shuffle(warp, op, SIM_SHFL_DOWN);
        break;
    case SIM_SHFL_BFLY:
        shuffle(warp, op, SIM_SHFL_BFLY);
        break;
    default:
        shuffle(warp, op, SIM_SHFL_IDX);
        break;
    }
    return op + 2;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores whose lanes are all inside one allocation or window: no check is enabled, the
 * elements have the lanes' width, and a check of all addresses at once finds nothing wrong. All
 * others take memory.c's way, which raises the faults. Included by lanes.h, once per instruction
 * set.
 */

/* The host address of each active lane; false: not all are plainly valid. */
static inline UNCHECKED bool find_plain_addresses(const struct sim_warp *warp,
    const struct sim_op *op, uint32_t lanes, uint32_t bytes, uint64_t *restrict at)
{
    const struct sim_block *block = warp->block;
    const struct sim_range *slot = sim_slot(warp, op);
    uint32_t flags = op->b, space = flags & 7;
    u64 add = (u64)(s64)(s32)op->aux, low = 0, limit, shift = 0, stride = 0, bad = 0, any = 0;

    if (space == SIM_IN_SHARED) {
        limit = block->shared_bytes;
        shift = (u64)(uintptr_t)block->shared;
    } else if (space == SIM_IN_LOCAL) {
        limit = warp->local_bytes;
        shift = (u64)(uintptr_t)warp->local;
        stride = warp->local_stride;
    } else if (space == SIM_IN_PARAM) { /* which nothing writes */
        low = (u64)(uintptr_t)warp->core->run->parameters;
        limit = warp->core->run->parameter_bytes;
    } else {
        low = slot->base;
        limit = slot->size;
    }
    if (block->is_watched || limit < bytes || lanes == 0)
        return false;
    limit -= bytes;
    if (flags & SIM_ACCESS_WIDE_ADDRESS) {
        const u64 *a = VREG(u64, op->a);
        LANES at[l] = a[l] + add;
    } else {
        const u32 *a = VREG(u32, op->a);
        LANES at[l] = (u32)(a[l] + (u32)add);
    }
    if (lanes == SIM_ALL_LANES) {
        LANES
        {
            bad |= at[l] - low > limit;
            any |= at[l];
        }
    } else {
        LANES
        {
            u64 active = 0 - (u64)(lanes >> l & 1);
            bad |= active & (at[l] - low > limit);
            any |= active & at[l];
        }
    }
    if (bad | (any & (bytes - 1)))
        return false;
    if (stride)
        LANES at[l] += l * stride;
    if (shift)
        LANES at[l] += shift;
    return true;
}

static inline UNCHECKED bool is_contiguous(const u64 *at, uint32_t step)
{
    u64 bad = 0;
    LANES bad |= at[l] ^ (at[0] + l * step);
    return bad == 0;
}

static inline UNCHECKED bool is_uniform(const u64 *at)
{
    u64 bad = 0;
    LANES bad |= at[l] ^ at[0];
    return bad == 0;
}

/* Values may be written by other threads: relaxed atomics, which compile to plain moves. */
#define MOVE_ELEMENT(T)                                                                            \
    static inline UNCHECKED void load_##T(                                                         \
        const u64 *restrict at, u64 skip, uint32_t lanes, T *restrict d)                           \
    {                                                                                              \
        if (lanes == SIM_ALL_LANES) {                                                              \
            _Pragma("GCC unroll 8") LANES d[l] =                                                   \
                __atomic_load_n((const T *)(uintptr_t)(at[l] + skip), __ATOMIC_RELAXED);           \
            return;                                                                                \
        }                                                                                          \
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {                                      \
            unsigned l = (unsigned)__builtin_ctz(rest);                                            \
            d[l] = __atomic_load_n((const T *)(uintptr_t)(at[l] + skip), __ATOMIC_RELAXED);        \
        }                                                                                          \
    }                                                                                              \
    static inline UNCHECKED void store_##T(                                                        \
        const u64 *restrict at, u64 skip, uint32_t lanes, const T *restrict a)                     \
    {                                                                                              \
        if (lanes == SIM_ALL_LANES) {                                                              \
            _Pragma("GCC unroll 8")                                                                \
                LANES __atomic_store_n((T *)(uintptr_t)(at[l] + skip), a[l], __ATOMIC_RELAXED);    \
            return;                                                                                \
        }                                                                                          \
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {                                      \
            unsigned l = (unsigned)__builtin_ctz(rest);                                            \
            __atomic_store_n((T *)(uintptr_t)(at[l] + skip), a[l], __ATOMIC_RELAXED);              \
        }                                                                                          \
    }

MOVE_ELEMENT(u16)
MOVE_ELEMENT(u32)
MOVE_ELEMENT(u64)

#define FILL_LANES(T)                                                                              \
    static inline UNCHECKED void fill_##T(u64 from, T *d)                                          \
    {                                                                                              \
        T value = __atomic_load_n((const T *)(uintptr_t)from, __ATOMIC_RELAXED);                   \
        LANES d[l] = value;                                                                        \
    }

FILL_LANES(u32)
FILL_LANES(u64)

#if defined(__SSE2__) && !defined(SIM_LANES_CHECKED)
#define HAS_TRANSPOSED_MOVES

/* Four rows of four elements become four columns. */
#define TRANSPOSE(R0, R1, R2, R3)                                                                  \
    __m128i low01 = _mm_unpacklo_epi32(R0, R1), high01 = _mm_unpackhi_epi32(R0, R1);               \
    __m128i low23 = _mm_unpacklo_epi32(R2, R3), high23 = _mm_unpackhi_epi32(R2, R3);               \
    __m128i c0 = _mm_unpacklo_epi64(low01, low23), c1 = _mm_unpackhi_epi64(low01, low23),          \
            c2 = _mm_unpacklo_epi64(high01, high23), c3 = _mm_unpackhi_epi64(high01, high23);

/* .v4.u32 of all lanes: 16 bytes of each at once. */
static inline UNCHECKED void load_four(
    const struct sim_warp *warp, const u64 *at, const uint32_t *words)
{
    u32 *d0 = VREG(u32, words[0]), *d1 = VREG(u32, words[1]);
    u32 *d2 = VREG(u32, words[2]), *d3 = VREG(u32, words[3]);
    for (unsigned l = 0; l < SIM_LANES; l += 4) {
        __m128i r0 = _mm_loadu_si128((const __m128i *)(uintptr_t)at[l]),
                r1 = _mm_loadu_si128((const __m128i *)(uintptr_t)at[l + 1]),
                r2 = _mm_loadu_si128((const __m128i *)(uintptr_t)at[l + 2]),
                r3 = _mm_loadu_si128((const __m128i *)(uintptr_t)at[l + 3]);
        TRANSPOSE(r0, r1, r2, r3)
        _mm_storeu_si128((__m128i *)(void *)(d0 + l), c0);
        _mm_storeu_si128((__m128i *)(void *)(d1 + l), c1);
        _mm_storeu_si128((__m128i *)(void *)(d2 + l), c2);
        _mm_storeu_si128((__m128i *)(void *)(d3 + l), c3);
    }
}

static inline UNCHECKED void store_four(
    const struct sim_warp *warp, const u64 *at, const uint32_t *words)
{
    const u32 *a0 = VREG(u32, words[0]), *a1 = VREG(u32, words[1]);
    const u32 *a2 = VREG(u32, words[2]), *a3 = VREG(u32, words[3]);
    for (unsigned l = 0; l < SIM_LANES; l += 4) {
        __m128i r0 = _mm_loadu_si128((const __m128i *)(const void *)(a0 + l)),
                r1 = _mm_loadu_si128((const __m128i *)(const void *)(a1 + l)),
                r2 = _mm_loadu_si128((const __m128i *)(const void *)(a2 + l)),
                r3 = _mm_loadu_si128((const __m128i *)(const void *)(a3 + l));
        TRANSPOSE(r0, r1, r2, r3)
        _mm_storeu_si128((__m128i *)(uintptr_t)at[l], c0);
        _mm_storeu_si128((__m128i *)(uintptr_t)at[l + 1], c1);
        _mm_storeu_si128((__m128i *)(uintptr_t)at[l + 2], c2);
        _mm_storeu_si128((__m128i *)(uintptr_t)at[l + 3], c3);
    }
}
#endif

/* Elements as wide as their lanes, of 2, 4 or 8 bytes. */
static inline bool has_plain_elements(uint32_t flags)
{
    uint32_t size = flags >> SIM_ACCESS_SIZE_SHIFT & 7;
    return size == (flags >> SIM_ACCESS_LANE_SHIFT & 7) && size >= 1 && size <= 3 &&
           !(flags & SIM_ACCESS_STRONG);
}

#define EACH_ELEMENT(MOVE)                                                                         \
    for (uint32_t i = 0; i < count; i++) {                                                         \
        uint32_t vreg = count == 1 ? op->d : op[1].words[i];                                       \
        u64 skip = (u64)i << size;                                                                 \
        if (size == 2)                                                                             \
            MOVE##_u32(at, skip, lanes, VREG(u32, vreg));                                          \
        else if (size == 3)                                                                        \
            MOVE##_u64(at, skip, lanes, VREG(u64, vreg));                                          \
        else                                                                                       \
            MOVE##_u16(at, skip, lanes, VREG(u16, vreg));                                          \
    }

HANDLER(ld)
{
    u64 at[SIM_LANES] __attribute__((aligned(64)));
    uint32_t flags = op->b, lanes = sim_active_lanes(warp, op);
    uint32_t size = flags >> SIM_ACCESS_SIZE_SHIFT & 7,
             count = flags >> SIM_ACCESS_COUNT_SHIFT & 15;
    const struct sim_op *next = op + (count == 1 ? 1 : 2);

    if (!has_plain_elements(flags) || !find_plain_addresses(warp, op, lanes, count << size, at))
        return sim_run_ld(warp, op);
    if (lanes == SIM_ALL_LANES && count == 1 && is_contiguous(at, 1u << size)) {
        __builtin_memcpy(
            VREG(u16, op->d), (const void *)(uintptr_t)at[0], (size_t)SIM_LANES << size);
        return next;
    }
    if (lanes == SIM_ALL_LANES && size >= 2 && is_uniform(at)) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t vreg = count == 1 ? op->d : op[1].words[i];
            if (size == 2)
                fill_u32(at[0] + i * 4, VREG(u32, vreg));
            else
                fill_u64(at[0] + i * 8, VREG(u64, vreg));
        }
        return next;
    }
#if defined(HAS_TRANSPOSED_MOVES)
    if (lanes == SIM_ALL_LANES && size == 2 && count == 4) {
        load_four(warp, at, op[1].words);
        return next;
    }
#endif
    EACH_ELEMENT(load)
    return next;
}

HANDLER(st)
{
    u64 at[SIM_LANES] __attribute__((aligned(64)));
    uint32_t flags = op->b, lanes = sim_active_lanes(warp, op);
    uint32_t size = flags >> SIM_ACCESS_SIZE_SHIFT & 7,
             count = flags >> SIM_ACCESS_COUNT_SHIFT & 15;
    const struct sim_op *next = op + (count == 1 ? 1 : 2);

    if (!has_plain_elements(flags) || !find_plain_addresses(warp, op, lanes, count << size, at))
        return sim_run_st(warp, op);
    if (lanes == SIM_ALL_LANES && count == 1 && is_contiguous(at, 1u << size)) {
        __builtin_memcpy((void *)(uintptr_t)at[0], VREG(u16, op->d), (size_t)SIM_LANES << size);
        return next;
    }
#if defined(HAS_TRANSPOSED_MOVES)
    if (lanes == SIM_ALL_LANES && size == 2 && count == 4) {
        store_four(warp, at, op[1].words);
        return next;
    }
#endif
    EACH_ELEMENT(store)
    return next;
}

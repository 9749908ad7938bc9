/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the points of a trip are: in memory, in a tile of shared memory, and which of them a thread
 * has in a step. A column is what a trip transforms, a digit the number of a point in it.
 */
typedef unsigned long long u64;

/* Where column `column` of the whole launch is: its transform in the batch, and its number there.
 */
struct place {
    u64 batch;
    u64 column;
};

__device__ __forceinline__ struct place place_of(const struct ntt_pass &pass, u64 column)
{
    struct place place;
    if (pass.flags & NTT_COLUMNS) {
        place.column = column / pass.batch;
        place.batch = column - place.column * pass.batch;
    } else {
        place.batch = column >> (pass.log_size - pass.bits);
        place.column = column & ((1ull << (pass.log_size - pass.bits)) - 1);
    }
    return place;
}

__device__ __forceinline__ u64 address_of(const struct ntt_pass &pass, u64 batch, u64 position)
{
    return pass.flags & NTT_COLUMNS ? position * pass.batch + batch
                                    : (batch << pass.log_size) + position;
}

/* Position in memory of point `digit` of a column when nothing is moved. */
__device__ __forceinline__ u64 position_of(const struct ntt_pass &pass, u64 column, u64 digit)
{
    unsigned low = pass.log_size - pass.before - pass.bits;
    return (((column >> low << pass.bits) | digit) << low) | (column & ((1ull << low) - 1));
}

/* The same when loading; `digit` counts along the addresses, which the gather reverses. */
__device__ __forceinline__ u64 load_position(const struct ntt_pass &pass, u64 column, u64 digit)
{
    unsigned rest = pass.log_size - pass.bits;
    if (pass.flags & (NTT_GATHER | NTT_SCATTER))
        return (reverse_long(column, rest) << pass.bits) | digit;
    return position_of(pass, column, digit);
}

/* Output `digit` of a column that is stored to its natural place, else as it was loaded. */
__device__ __forceinline__ u64 store_position(const struct ntt_pass &pass, u64 column, u64 digit)
{
    if (pass.flags & NTT_SCATTER)
        return (digit << (pass.log_size - pass.bits)) | column;
    return position_of(pass, column, digit);
}

/* A tile's index is (upper columns, digit, lower columns): column and digit apart and together. */
__device__ __forceinline__ unsigned tile_index(
    const struct ntt_pass &pass, unsigned column, unsigned digit)
{
    unsigned lower = column & ((1u << pass.lower_columns) - 1);
    return (((column >> pass.lower_columns << pass.bits) | digit) << pass.lower_columns) | lower;
}

__device__ __forceinline__ unsigned tile_digit(const struct ntt_pass &pass, unsigned index)
{
    return (index >> pass.lower_columns) & ((1u << pass.bits) - 1);
}

__device__ __forceinline__ unsigned tile_column(const struct ntt_pass &pass, unsigned index)
{
    return (index >> (pass.lower_columns + pass.bits) << pass.lower_columns) |
           (index & ((1u << pass.lower_columns) - 1));
}

/* Item `i` of the tile in the order of addresses: down the column first or across columns first. */
__device__ __forceinline__ void in_order(const struct ntt_pass &pass, unsigned i, bool across,
    unsigned *column, unsigned *digit)
{
    *column = across ? i & ((1u << pass.log_columns) - 1) : i >> pass.bits;
    *digit = across ? i >> pass.log_columns : i & ((1u << pass.bits) - 1);
}

/*
 * Where a thread's points are in a step: column and digit of the first one; the others follow at
 * multiples of 2^below. Neighbouring threads have neighbouring columns (across) or digits.
 */
struct share {
    unsigned below; /* bits of the digit that later steps do */
    unsigned column;
    unsigned digit;
};

__device__ __forceinline__ struct share share_of(const struct ntt_pass &pass, unsigned done)
{
    unsigned high = pass.bits - NTT_RADIX; /* bits of the digit that are the thread's number */
    bool is_first = done == 0, is_last = pass.bits <= done + NTT_RADIX;
    bool across =
        is_last ? pass.flags & NTT_STORE_ACROSS : !is_first || pass.flags & NTT_LOAD_ACROSS;
    if (is_first && is_last)
        across = pass.flags & (pass.flags & NTT_LOAD_DIRECT ? NTT_LOAD_ACROSS : NTT_STORE_ACROSS);
    unsigned rest = across ? threadIdx.x >> pass.log_columns : threadIdx.x & ((1u << high) - 1);
    unsigned below = is_last ? 0 : pass.bits - done - NTT_RADIX;
    struct share share;
    share.below = below;
    share.column =
        across ? threadIdx.x & ((1u << pass.log_columns) - 1) : threadIdx.x >> high;
    share.digit = (rest >> below << (below + NTT_RADIX)) | (rest & ((1u << below) - 1));
    return share;
}

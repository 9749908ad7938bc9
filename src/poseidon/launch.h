/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work on devices, shared by launch.c (one kernel over items), chunk.c (host memory piece by
 * piece), merkle_build.c (trees) and device_ops.c (the operations).
 */
#ifndef POSEIDON_PASS_H
#define POSEIDON_PASS_H

#include "memory/span.h"
#include "poseidon/kernels.h"

/* One kernel over items, from one span to another. */
struct poseidon_pass {
    const pool_poseidon *set;
    enum poseidon_kernel kernel;
    struct poseidon_args args; /* all but the spans and the count */
    size_t in_bytes;           /* of an item */
    size_t out_bytes;
};

/* launch.c */
/* Enqueues `count` results; both spans in the memory of the site's device. */
pool_status poseidon_pass_launch(const struct poseidon_pass *pass, const struct memory_site *site,
    const pool_span *in, const pool_span *out, uint64_t count);
/* A sponge's part of the items. */
void poseidon_pass_sponge(struct poseidon_pass *pass, const struct poseidon_sponge *sponge);
/* Refuses device memory that is not the site's, or misaligned. */
pool_status poseidon_pass_check(
    const struct memory_site *site, const pool_span *span, size_t item_bytes, const char *what);
/* Items from `first` on. */
pool_span poseidon_span_part(
    const pool_span *span, size_t item_bytes, uint64_t first, uint64_t count);

/* A span in host memory on its way to or from a buffer. */
struct poseidon_landing {
    pool_buffer *buffer;
    CUdeviceptr address;
    unsigned char *packed; /* host memory of strided items */
    size_t item_bytes;
};
/* For up to `most` items of `span`; nothing where that is in device memory, or NULL. */
pool_status poseidon_landing_make(struct poseidon_landing *landing, const struct memory_site *site,
    const pool_span *span, size_t item_bytes, uint64_t most);
pool_status poseidon_landing_free(
    struct poseidon_landing *landing, const struct memory_site *site, pool_status status);
/* Where the piece lies, or will lie, on the device. */
pool_span poseidon_landing_there(const struct poseidon_landing *landing, const pool_span *piece);
pool_status poseidon_landing_up(
    const struct poseidon_landing *landing, const struct memory_site *site, const pool_span *piece);
/* From item `first` of the buffer on. */
pool_status poseidon_landing_down(const struct poseidon_landing *landing,
    const struct memory_site *site, uint64_t first, const pool_span *piece);

/* chunk.c */
/*
 * All items of `in`, in pieces of whole `unit`s where a span is in host memory: while one piece is
 * computed the next one comes and the last one goes. `work` enqueues on the site's stream what is
 * to be done with a piece, which lies on the device. `out` may be NULL: then there are no results
 * to bring, and `work` gets NULL.
 */
struct poseidon_pieces {
    struct memory_site site;
    const pool_span *in;
    const pool_span *out;
    size_t in_bytes;
    size_t out_bytes;
    uint64_t unit;
    uint64_t weight; /* of an item for `watch` */
    pool_status (*work)(void *user, const struct memory_site *site, const pool_span *in,
        const pool_span *out, uint64_t first);
    void *user;
    struct poseidon_watch *watch;
    /* Whether elements are checked before `work` sees them, and how a message names them. */
    bool checks;
    const pool_field *field;
    uint32_t elements; /* of an item of `in` */
    uint64_t first;    /* index of the first item of `in` in the caller's span */
    const char *what;
};
extern size_t poseidon_piece_bytes; /* of the larger side; tests make it small */
pool_status poseidon_pieces_run(const struct poseidon_pieces *pieces);

/* Counts for somebody who watches: waits for the site's stream first, unless asynchronous. */
pool_status poseidon_watch_done(
    struct poseidon_watch *watch, const struct memory_site *site, uint64_t amount);

#endif

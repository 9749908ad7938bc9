/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check that elements in device memory are below the modulus, which transforms, vectors and
 * Poseidon share.
 */
#ifndef VECTOR_CHECK_H
#define VECTOR_CHECK_H

#include "zk/operation/operand.h"

/* Items of packed elements in device memory; a vector has one element per item. */
struct vector_items {
    CUdeviceptr address; /* a multiple of 4 */
    uint64_t stride;     /* bytes from the start of one item to that of the next */
    uint64_t count;
    uint64_t elements; /* of each item */
    uint64_t first;    /* index of the first item in the caller's span */
    /* Where the items are parts of the caller's: the elements of those, 0: these are whole, and the
     * index of the first one that is given. */
    uint64_t whole_elements;
    uint64_t first_element;
    const char *what; /* the name of that span in messages */
};

/*
 * POOL_ERR_BAD_DATA when an element is not below the modulus; the message has the index of the
 * first one. Waits for the answer.
 */
pool_status vector_check_elements(
    const struct exec_target *target, const pool_field *field, const struct vector_items *items);

/* The failure that such a check reports, also when the host has found it. */
pool_status vector_report_element(
    const pool_field *field, const struct vector_items *items, uint64_t item, uint64_t element);

#endif

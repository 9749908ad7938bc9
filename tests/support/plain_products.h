/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of field elements use the instructions that the processor has. Tests of arithmetic run
 * once with those, and once with products in portable C, which all other processors use.
 */
#ifndef TESTS_SUPPORT_PLAIN_PRODUCTS_H
#define TESTS_SUPPORT_PLAIN_PRODUCTS_H

#include "zk/field/field.h"

static bool products_are_plain;

static inline void make_product_plain(const pool_field *field)
{
    ((pool_field *)(uintptr_t)field)->product = field_product_plain(field);
}

/* All built-in fields from here on; false when they did it that way already. */
static inline bool make_products_plain(void)
{
    for (size_t i = 0; i < pool_field_count(); i++) {
        const pool_field *field = pool_field_at(i);

        if (field->product != field_product_plain(field))
            products_are_plain = true;
        make_product_plain(field);
    }
    return products_are_plain;
}

#endif

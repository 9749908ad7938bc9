/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All functions of the library behind one, by the numbers of raw.js.
 */
#ifndef DEVICEPOOL_NODE_RAW_H
#define DEVICEPOOL_NODE_RAW_H

#include <stdint.h>

uint64_t raw_call(uint32_t function, const uint64_t *a);
int raw_returns_status(uint32_t function);

#endif

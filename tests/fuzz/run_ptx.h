/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the kernels of PTX on the simulator, for fuzz targets with different sources. */
#ifndef TESTS_FUZZ_RUN_PTX_H
#define TESTS_FUZZ_RUN_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the buffer that every parameter of a kernel points to. */
enum { RUN_BUFFER_BYTES = 4096 };

/*
 * Parses the text and launches its first kernels, each for a bounded number of instructions, over
 * variables and a buffer of zeros. False when the text is refused. `left`, unless it is NULL,
 * receives what the buffer holds in the end.
 */
bool run_ptx(const char *text, size_t size, uint8_t left[RUN_BUFFER_BYTES]);

#endif

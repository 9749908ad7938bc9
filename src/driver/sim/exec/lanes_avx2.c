/* SPDX-License-Identifier: Apache-2.0 */
/* The performance-critical handlers for processors with AVX2. */
#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2")
#pragma GCC optimize("O3")
#endif

#define SIM_LANES_FILL sim_lanes_fill_avx2
#define SIM_LANES_BYTES 32
#include "driver/sim/exec/lanes.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif

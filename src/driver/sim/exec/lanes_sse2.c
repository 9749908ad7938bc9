/* SPDX-License-Identifier: Apache-2.0 */
/* The performance-critical handlers for any processor. */
#if !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define SIM_LANES_CHECKED
#define SIM_LANES_FILL sim_lanes_fill_sse2
#define SIM_LANES_BYTES 16
#include "driver/sim/exec/lanes.h"

/* SPDX-License-Identifier: Apache-2.0 */
/* 16-bit floating-point formats, in software. */
#ifndef SIM_EXEC_HALF_H
#define SIM_EXEC_HALF_H

#include "driver/sim/exec/ops.h"

double sim_half_to_double(uint16_t bits);
double sim_bfloat_to_double(uint16_t bits);
/* Rounded once, from a double; NaN becomes the canonical NaN of GPUs. */
uint16_t sim_double_to_half(double value, enum sim_rounding rounding);
uint16_t sim_double_to_bfloat(double value, enum sim_rounding rounding);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics themselves: their names, types, units and samples.
 */
#ifndef METRICS_FAMILIES_H
#define METRICS_FAMILIES_H

#include "metrics/reading.h"
#include "metrics/writer.h"

void metrics_write_families(struct metrics_writer *writer, const struct metrics_reading *reading);

#endif

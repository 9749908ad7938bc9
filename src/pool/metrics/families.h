/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics themselves: their names, types, units and samples.
 */
#ifndef METRICS_FAMILIES_H
#define METRICS_FAMILIES_H

#include "pool/metrics/reading.h"
#include "pool/metrics/writer.h"

void metrics_write_families(struct metrics_writer *writer, const struct metrics_reading *reading);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes metrics in either format: a family with its type and help, then its samples.
 */
#ifndef METRICS_WRITER_H
#define METRICS_WRITER_H

#include <stddef.h>

#include <devicepool/metrics.h>

struct metrics_writer;

/* A label's name and value; the value may be any text. */
struct metrics_label {
    const char *name;
    const char *value;
};

/* NULL: out of host memory. */
struct metrics_writer *metrics_writer_new(pool_metrics_format format);

enum metrics_type { METRICS_GAUGE, METRICS_COUNTER, METRICS_HISTOGRAM };
enum metrics_unit { METRICS_NO_UNIT, METRICS_BYTES, METRICS_SECONDS };

/* By the conventions of Prometheus a name ends with the unit, and that of a counter with _total. */
struct metrics_family {
    const char *name;
    enum metrics_type type;
    enum metrics_unit unit;
    const char *help;
};

/* All samples up to the next family belong to this one. */
void metrics_begin_family(struct metrics_writer *writer, const struct metrics_family *family);

/* `suffix` is appended to the family's name: "", or "_bucket", "_sum", "_count" of a histogram. */
void metrics_sample(struct metrics_writer *writer, const char *suffix,
    const struct metrics_label *labels, size_t count, double value);

/* The text, for pool_text_free; frees the writer. POOL_ERR_OUT_OF_HOST_MEMORY if anything did not
 * fit since metrics_writer_new, whose NULL it takes as well. */
pool_status metrics_writer_end(struct metrics_writer *writer, char **text);

#endif

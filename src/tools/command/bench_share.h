/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool bench share: the latency of short jobs beside long ones on one device.
 */
#ifndef CLI_BENCH_SHARE_H
#define CLI_BENCH_SHARE_H

#include "bench.h"
#include "cli.h"

/* Comma-separated lists; NULL: the defaults. Jobs are NAME or NAME:SIZE. */
struct cli_share {
    const char *short_jobs;
    const char *long_jobs;
    const char *modes;
    uint64_t arrivals;
    uint64_t rate; /* per second */
    uint64_t seed;
    uint64_t clients;
    const char *key, *witness; /* files of the job groth16 */
    const char *plot;          /* the file to draw; NULL: none */
};

/* Proofs with the key and witness of its spec, under a lease or on a device. */
extern const struct bench_operation cli_bench_groth16;

/* Measures the first usable device. Returns an exit code. */
int cli_run_share(
    const struct cli_command *self, const struct cli_share *options, const struct cli_line *line);

#endif

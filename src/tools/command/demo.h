/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool demo: its data, its jobs, and their distribution over devices.
 */
#ifndef CLI_DEMO_H
#define CLI_DEMO_H

#include "cli.h"

enum { DEMO_BLOBS = 2, DEMO_BLOB_VALUES = 4096, DEMO_PTAU_LOG = 9, DEMO_TREE_LOG = 14 };

/* The input files of the jobs, see tests/vectors/SOURCES.md. */
struct demo_data {
    pool_file *kzg;
    pool_file *ptau;
    pool_file_section setup; /* 4096 Lagrange points of Ethereum's ceremony */
    pool_file_section tau;   /* powers of tau, and below their Lagrange basis */
    pool_file_section basis;
    uint8_t *blobs[DEMO_BLOBS]; /* as in the files: 32-byte big-endian values */
    pool_ntt_domain *domain;
    pool_poseidon *set;
};

/* Reads the data below a directory. Returns CLI_GO, or an exit code after reporting the failure. */
int demo_data_open(const char *directory, struct demo_data *data);
void demo_data_close(struct demo_data *data);

enum demo_state { DEMO_WAITING, DEMO_COMPILING, DEMO_RUNNING, DEMO_DONE };

/* A job on one device, and its result. */
struct demo_job {
    const char *title;
    const char *tag;  /* a short title for the progress line */
    const char *unit; /* of its size */
    uint64_t size;
    int index; /* of the blob, or seed of the random polynomial */
    /* Compiles for the device, as a first use does. */
    pool_status (*prepare)(const struct demo_data *data, pool_device *device);
    /* Runs on the device bound to the thread, and checks the result. */
    pool_status (*run)(const struct demo_data *data, const struct demo_job *job, int *is_correct);

    pool_device *device;
    const struct demo_data *data;
    enum demo_state state;
    double first_use; /* seconds */
    double seconds;
    int is_correct;
    pool_status status;
    char failure[400];
};

/* Fills in every kind of job once. */
enum { DEMO_JOBS = 5 };
void demo_jobs(struct demo_job jobs[DEMO_JOBS]);

/* Assigns each job to the pool's next device, runs the jobs, and shows the progress. Results are
 * stored in the jobs. */
void demo_run(device_pool *pool, const struct demo_data *data, struct demo_job *jobs, size_t count);

#endif

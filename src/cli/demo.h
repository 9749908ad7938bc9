/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool demo: its data, its jobs, and the part that spreads them over devices.
 */
#ifndef CLI_DEMO_H
#define CLI_DEMO_H

#include <pthread.h>

#include "cli.h"

enum { DEMO_BLOBS = 2, DEMO_BLOB_VALUES = 4096, DEMO_PTAU_LOG = 9, DEMO_TREE_LOG = 14 };

/* What the jobs read: real files, see tests/vectors/SOURCES.md. */
struct demo_data {
    pool_file *kzg;
    pool_file *ptau;
    pool_file_section setup; /* 4096 Lagrange points of Ethereum's ceremony */
    pool_file_section tau;   /* powers of tau, and the same as a Lagrange basis */
    pool_file_section basis;
    uint8_t *blobs[DEMO_BLOBS]; /* values as they come: 32 bytes, big-endian */
    pool_ntt_domain *domain;
    pool_poseidon *set;
};

/* Reads the data below a folder; CLI_GO or, having said what is wrong, an exit code. */
int demo_data_open(const char *folder, struct demo_data *data);
void demo_data_close(struct demo_data *data);

/* Something to do on one device, and what became of it. */
struct demo_job {
    const char *title;
    const char *tag;  /* the same in a word, for the progress line */
    const char *unit; /* of its size */
    uint64_t size;
    int index; /* which blob, which random polynomial */
    /* Compiles for the device, as a first use would. */
    pool_status (*prepare)(const struct demo_data *data, pool_device *device);
    /* Runs on the device that the thread has bound, and compares the result. */
    pool_status (*run)(const struct demo_data *data, const struct demo_job *job, int *is_right);

    pool_device *device;
    const struct demo_data *data;
    pthread_t preparer; /* runs prepare, while jobs before this one run */
    int has_preparer;
    double first_use; /* seconds */
    double seconds;
    int is_done;
    int is_right;
    pool_status status;
    char failure[400];
};

/* Every kind of job, once. */
enum { DEMO_JOBS = 5 };
void demo_jobs(struct demo_job jobs[DEMO_JOBS]);

/* Gives each job to the pool's next device, runs them with a thread a device, and shows how it
 * goes. What becomes of each job is in the job. */
void demo_run(device_pool *pool, const struct demo_data *data, struct demo_job *jobs, size_t count);

#endif

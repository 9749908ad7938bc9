/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One transform over several devices, in four steps: see plan_split.c.
 */
#ifndef NTT_SPLIT_H
#define NTT_SPLIT_H

#include "ntt/split_args.h"
#include "pool/tuning/rates.h"
#include "zk/ntt/ntt.h"
#include "zk/operation/devices.h"

struct ntt_split {
    uint32_t log_size;
    uint32_t log_devices;
    uint32_t log_rows; /* at most what one pass transforms */
    uint32_t log_columns;
    bool takes_reversed; /* the input is bit-reversed */
    bool gives_reversed;
    bool is_uploaded;           /* the input is in host memory */
    bool is_downloaded;         /* the output will be */
    uint64_t chunk;             /* columns that are uploaded at once */
    struct ntt_job columns_job; /* of each device; its transforms have 2^log_rows points */
    struct ntt_job rows_job;
};

/* log2 of the devices that a transform is split over: at most 2^NTT_SPLIT_LOG_DEVICES and the
 * square root of its size. */
uint32_t ntt_split_log_devices(uint32_t log_size, uint32_t devices);

void ntt_split_make(const struct chip *chip, const struct ntt_job *job, uint32_t log_devices,
    bool is_uploaded, bool is_downloaded, struct ntt_split *split);

/* Which columns a device transforms, and where it stores them; without addresses. With `is_direct`
 * at their place among all columns, otherwise its own ones one after the other. */
struct ntt_split_args ntt_split_args_of(
    const struct ntt_split *split, uint32_t device, bool is_direct);

/* cost.c: the predicted seconds of transforms of 8-word elements on `devices` equal devices, from
 * and to shards on the devices; at least as many transforms as devices are distributed. Infinite
 * where a plan cannot be made. */
double ntt_cost(const struct chip *chip, const struct chip_rates *rates, const struct ntt_job *job,
    uint32_t devices);
/* The same for one transform from and to pinned host memory. */
double ntt_cost_on_host(const struct chip *chip, const struct chip_rates *rates,
    const struct ntt_job *job, uint32_t devices);

/* split.c: computes all transforms of the call, one after the other, on the first 2^log_split of
 * the devices; and the bytes that each of these allocates. */
pool_status ntt_split_run(struct operation_division *division);
pool_status ntt_split_forecast(
    struct operation_division *division, uint32_t index, const pool_exec *exec, uint64_t *bytes);

#endif

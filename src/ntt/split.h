/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One transform over several devices, in four steps: see plan_split.c.
 */
#ifndef NTT_SPLIT_H
#define NTT_SPLIT_H

#include "memory/devices.h"
#include "ntt/exchange_args.h"
#include "ntt/ntt.h"
#include "pool/rates.h"

/*
 * A distribution of 2^log_size elements over 2^log_devices devices: logical[i] is the bit of an
 * element's logical index (row 2^log_columns + column) that bit i of its position is. The position
 * is its index in the device's memory, with the device's index above that.
 */
struct ntt_layout {
    uint8_t logical[NTT_EXCHANGE_BITS];
};

/* A permutation of positions, as ntt_exchange of exchange.cu computes it. */
struct ntt_exchange {
    uint32_t log_local; /* of a device's elements */
    uint32_t log_devices;
    uint32_t log_tile;
    uint8_t read[NTT_EXCHANGE_LOG_TILE];
    uint8_t read_logical[NTT_EXCHANGE_LOG_TILE];
    uint8_t slot[NTT_EXCHANGE_LOG_TILE];
    uint8_t write_to[NTT_EXCHANGE_LOG_TILE];
    uint8_t block_read[NTT_EXCHANGE_BITS];
    uint8_t block_logical[NTT_EXCHANGE_BITS];
    uint8_t block_to[NTT_EXCHANGE_BITS];
    uint8_t device_logical[NTT_EXCHANGE_LOG_DEVICES]; /* of the source's index */
    uint8_t device_to[NTT_EXCHANGE_LOG_DEVICES];
};
void ntt_exchange_make(const struct ntt_layout *from, const struct ntt_layout *to,
    uint32_t log_size, uint32_t log_devices, struct ntt_exchange *exchange);

/* By stores to the other devices' memory; or on each device, copies of blocks, on each device. */
struct ntt_exchanges {
    struct ntt_exchange direct;
    struct ntt_exchange gather;
    struct ntt_exchange distribute;
};

struct ntt_split {
    uint32_t log_size;
    uint32_t log_devices;
    uint32_t log_rows;
    uint32_t log_columns;
    bool takes_reversed; /* the input is bit-reversed */
    bool gives_reversed;
    bool is_uploaded;           /* the input is in host memory */
    bool is_downloaded;         /* the output will be */
    bool collects;              /* results in natural order are collected for the download */
    struct ntt_job columns_job; /* of each device; its transforms have 2^log_rows points */
    struct ntt_job rows_job;
    struct ntt_exchanges exchange;
    struct ntt_exchanges collect;
};

/* log2 of the devices that a transform is split over: at most 2^NTT_EXCHANGE_LOG_DEVICES and the
 * square root of its size. */
uint32_t ntt_split_log_devices(uint32_t log_size, uint32_t devices);

void ntt_split_make(const struct chip *chip, const struct ntt_job *job, uint32_t log_devices,
    bool is_uploaded, bool is_downloaded, struct ntt_split *split);

/* cost.c: the predicted seconds of transforms of 8-word elements on `devices` equal devices, from
 * and to shards on the devices; at least as many transforms as devices are dealt out. Infinite where
 * a plan cannot be made. */
double ntt_cost(const struct chip *chip, const struct chip_rates *rates, const struct ntt_job *job,
    uint32_t devices);
/* The same for one transform from and to pinned host memory. */
double ntt_cost_on_host(const struct chip *chip, const struct chip_rates *rates,
    const struct ntt_job *job, uint32_t devices);

/* split.c: computes all transforms of the call, one after the other, on the first 2^log_devices of
 * the devices. */
pool_status ntt_split_run(
    const struct ntt_call *call, const struct memory_devices *devices, uint32_t log_devices);
/* The bytes that each of these devices allocates. */
pool_status ntt_split_workspace(const struct ntt_call *call, const struct memory_devices *devices,
    uint32_t log_devices, uint64_t *bytes);

#endif

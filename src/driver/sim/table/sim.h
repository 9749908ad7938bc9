/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated driver's interface to the rest of the library: it takes a device string and
 * provides a table of driver functions. The functions are implemented in driver/, the execution of
 * kernels in ptx/ and exec/.
 */
#ifndef SIM_DRIVER_SIM_H
#define SIM_DRIVER_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include <devicepool/driver.h>
#include <devicepool/status.h>

#define SIM_MAX_DEVICES 64
#define SIM_NAME_BYTES 96
#define SIM_DRIVER_VERSION 13000u /* of the driver, unless the device string says cuda= */

/* The settings of a device string; after parsing, every member has its final value. */
/* One device. */
struct sim_device_config {
    uint64_t memory_bytes;
    /* Before the first context; the rest counts as used by other processes. */
    uint64_t free_bytes;
    uint64_t peers;      /* bit i: it can address the memory of the device whose identity is i */
    uint32_t capability; /* 90 is 9.0 */
    uint32_t multiprocessors;
    uint32_t identity; /* its place in the device string, which its UUID and PCI address tell */
    char name[SIM_NAME_BYTES];
};

struct sim_config {
    uint32_t device_count;
    uint32_t threads;           /* CPU threads shared by launches; 0: one per core */
    uint32_t reports;           /* POOL_SIM_REPORT_… */
    uint32_t driver_version;    /* 13000 is CUDA 13.0 */
    uint32_t has_waits;         /* 1: calls wait for other streams where those of a GPU do */
    uint32_t is_serial;         /* 1: one launch of a device at a time, the most urgent one first */
    uint32_t jitter;            /* seed of the delays of work; 0: none */
    uint32_t mps_percentage;    /* through an MPS server, of the threads; 0: without one */
    uint64_t instruction_limit; /* warp instructions per launch; 0: unlimited */
    struct sim_device_config devices[SIM_MAX_DEVICES];
};

/* Whether a pool's device string requests simulated devices: "sim" or "sim:…". */
bool sim_spec_is_sim(const char *spec);

/*
 * Parses "sim[:[count][,key=value]…[;[count][,key=value]…]…]": groups of like devices with the keys
 * mem, free, cc, sms and name; the first group also has the keys of all devices, threads, limit,
 * report, p2p, waits, serial, jitter, mps and cuda. *config is written on success only; the message
 * of POOL_ERR_INVALID_ARGUMENT gives position and reason.
 */
pool_status sim_config_parse(const char *spec, struct sim_config *config);

/*
 * Keeps the devices that CUDA_VISIBLE_DEVICES names, in its order: ordinals, or UUIDs ("GPU-" and
 * enough digits to tell them apart), separated by commas. As in the driver, an entry that names no
 * device ends the list; so does a device that is named again.
 */
void sim_config_restrict(struct sim_config *config, const char *visible);

/* The UUID of the device with that identity, the same in every process. */
void sim_uuid(uint32_t identity, pool_cu_uuid *uuid);

/* One fault rule of <devicepool/sim.h>. */
struct sim_rule {
    char pattern[64]; /* function name with '*' and '?' */
    int device;       /* -1: any */
    uint64_t first;   /* the matching calls first … last are affected; the first call is 1 */
    uint64_t last;
    pool_cu_result code;
    bool is_hang;
    uint64_t seen; /* matching calls so far */
};

struct sim_rules {
    struct sim_rule *items;
    uint32_t count;
};

/* Parses rules by the grammar in <devicepool/sim.h>; *rules is written on success only. */
pool_status sim_rules_parse(const char *text, struct sim_rules *rules);
void sim_rules_free(struct sim_rules *rules);

/*
 * Starts the simulated driver, or adds a reference to the running one when `spec` describes the
 * same devices; POOL_ERR_BUSY when it runs with others. *table is sim_driver_table(). Each success
 * must be balanced by one sim_close; the last one ends all work and frees everything, the sticky
 * fault included.
 */
pool_status sim_open(const char *spec, const pool_cuda_api **table);
/* The same with the devices that `visible` leaves; see sim_config_restrict. NULL: all. */
pool_status sim_open_visible(const char *spec, const char *visible, const pool_cuda_api **table);
void sim_close(void);
/* Of the running driver: POOL_SIM_REPORT_…; 0 without one. */
uint32_t sim_reports(void);

/*
 * The address range of device memory, for a process that uses one device: it must be free, and a
 * multiple of the device's memory large. Before sim_open.
 */
void sim_reserve_at(uint64_t base, uint64_t bytes);

/* The table; its functions return 3 (not initialised) while the driver is not open. */
const pool_cuda_api *sim_driver_table(void);

#endif

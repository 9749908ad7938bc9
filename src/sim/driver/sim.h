/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated driver as the rest of the library sees it: a device string in, a table of driver
 * functions out. What the table does is in the files of driver/, what kernels do in ptx/ and
 * exec/.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include <devicepool/driver.h>
#include <devicepool/status.h>

#define SIM_MAX_DEVICES 64
#define SIM_NAME_BYTES 96

/* What a device string asks for; every member has its final value after parsing. */
struct sim_config {
    uint32_t device_count;
    uint32_t capability; /* 90 is 9.0 */
    uint32_t multiprocessors;
    uint32_t threads; /* CPU threads that launches share; 0: one per core */
    uint32_t reports; /* POOL_SIM_REPORT_… */
    uint64_t memory_bytes;
    uint64_t free_bytes;        /* before the first context; the rest counts as used by others */
    uint64_t instruction_limit; /* warp instructions of one launch; 0: none */
    char name[SIM_NAME_BYTES];
};

/* Whether a pool's device string is about simulated devices: "sim" or "sim:…". */
bool sim_spec_is_sim(const char *spec);

/*
 * Reads "sim[:[count][,key=value]…]" with the keys mem, free, cc, sms, threads, limit, name and
 * report. *config is written on success only; POOL_ERR_INVALID_ARGUMENT says where and why.
 */
pool_status sim_config_parse(const char *spec, struct sim_config *config);

/* One rule of pool_sim_set_faults. */
struct sim_rule {
    char pattern[64]; /* function name with '*' and '?' */
    int device;       /* -1: any */
    uint64_t first;   /* the matching calls first … last are hit; first is 1 */
    uint64_t last;
    pool_cu_result code;
    bool is_hang;
    uint64_t seen; /* matching calls so far */
};

struct sim_rules {
    struct sim_rule *items;
    uint32_t count;
};

/* Reads rules by the grammar in <devicepool/sim.h>; *rules is written on success only. */
pool_status sim_rules_parse(const char *text, struct sim_rules *rules);
void sim_rules_free(struct sim_rules *rules);

/*
 * Starts the simulated driver, or joins the one that runs when `spec` asks for the same devices;
 * POOL_ERR_BUSY when it runs with others. *table is sim_driver_table(). Each success is to be paid
 * back with one sim_close; the last one ends all work and frees everything, poison included.
 */
pool_status sim_open(const char *spec, const pool_cuda_api **table);
void sim_close(void);

/* The table; its functions answer 3 (not initialised) while nothing is open. */
const pool_cuda_api *sim_driver_table(void);

#endif

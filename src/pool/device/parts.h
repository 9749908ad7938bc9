/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a GPU's multiprocessors, as "/16+116" and "/2" of a device string name them: reading and
 * rounding. Pure; split.h asks the driver.
 */
#ifndef POOL_PARTS_H
#define POOL_PARTS_H

#include <stdint.h>

#include <devicepool/pool.h>
#include <devicepool/status.h>

#define DEVICE_PARTS_MAX 64

/* What was requested. Count 0: the GPU is one device. */
struct device_parts {
    uint32_t count;
    int is_equal; /* of sizes as equal as the chip allows, else of `sizes` */
    uint32_t sizes[DEVICE_PARTS_MAX];
};

/* What a chip allows: parts of `fewest` multiprocessors and any number of steps more, of which the
 * last part may have others. */
struct device_granularity {
    uint32_t multiprocessors; /* of the GPU */
    uint32_t fewest;
    uint32_t step;
};

/* "16+116" or "2"; one part is the whole GPU. `what` is the element of the string, for messages. */
pool_status device_parts_parse(const char *text, const char *what, struct device_parts *parts);

/* From the members `partitions` and `partition_count` of pool_params. */
pool_status device_parts_read(const pool_params *params, struct device_parts *parts);

/*
 * The numbers of multiprocessors of the parts, rounded up to what the chip allows; the last part
 * has what the others leave. POOL_ERR_INVALID_ARGUMENT where that is less than was requested; the
 * message has sizes that are possible. `name` is the GPU's.
 */
pool_status device_parts_round(const struct device_parts *parts,
    const struct device_granularity *chip, const char *name, uint32_t sizes[DEVICE_PARTS_MAX]);

#endif

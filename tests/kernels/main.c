/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel stage against plain C, on a simulated device or a GPU:
 *
 *   kernels [--device SPEC] [--bench] [--list] [PATTERN...]
 *
 * SPEC is a device as pool_params.devices names it; without one it is GPU 0, and the program exits
 * with 77 where there is none. A PATTERN selects the stages whose name and subject contain it;
 * --list prints them and runs nothing. With --bench each stage that gives the right result is also
 * timed, and a line of JSON is printed for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/nvrtc.h"
#include "harness.h"
#include "pool/device/device.h"

static int usage(void)
{
    fprintf(stderr, "usage: kernels [--device SPEC] [--bench] [--list] [PATTERN...]\n");
    return 2;
}

static bool open_device(struct harness *harness, const char *spec)
{
    const struct nvrtc *nvrtc;
    pool_params params = {.struct_size = sizeof(params), .devices = spec};
    pool_device_info info = {.struct_size = sizeof(info)};

    if (driver_nvrtc_open(&nvrtc) || pool_create(&harness->pool, &params) ||
        pool_device_at(harness->pool, 0, &harness->device)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return false;
    }
    MUST(pool_device_get_info(harness->device, &info));
    MUST(pool_stream_create(harness->device, NULL, &harness->stream));
    MUST(pool_event_create(harness->device, POOL_EVENT_TIMING, &harness->start));
    MUST(pool_event_create(harness->device, POOL_EVENT_TIMING, &harness->end));
    harness->multiprocessors = (uint32_t)info.multiprocessors;
    harness->is_simulated = (device_driver(harness->device)->api.flags & POOL_CUDA_PTX_ONLY) != 0;
    printf("# %s\n", info.name);
    return true;
}

static void close_device(struct harness *harness)
{
    MUST(pool_event_destroy(&harness->start));
    MUST(pool_event_destroy(&harness->end));
    MUST(pool_stream_destroy(&harness->stream));
    MUST(pool_destroy(&harness->pool));
}

int main(int argc, char **argv)
{
    static void (*const operations[])(struct harness *) = {
        check_field_stages,
        check_chain_stages,
        check_curve_stages,
        check_curve_vectors,
        check_vector_stages,
        check_ntt_stages,
        check_poseidon_stages,
        check_msm_stages,
    };
    struct harness harness = {0};
    const char *spec = "0";
    int at = 1;

    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
        if (strcmp(argv[at], "--device") == 0 && at + 1 < argc)
            spec = argv[++at];
        else if (strcmp(argv[at], "--bench") == 0)
            harness.is_timing = true;
        else if (strcmp(argv[at], "--list") == 0)
            harness.is_listing = true;
        else
            return usage();
    }
    harness.patterns = argv + at;
    harness.pattern_count = argc - at;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!open_device(&harness, spec))
        return 77;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        operations[i](&harness);
    close_device(&harness);
    if (!harness.is_listing)
        printf("# %u stages checked, %u wrong\n", harness.checked, harness.wrong);
    return harness.wrong != 0 || (harness.checked == 0 && !harness.is_listing);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX, the ranges of NVIDIA's profilers, without their headers: a profiler names its library in
 * the environment variable NVTX_INJECTION64_PATH of the process that it starts. That library's
 * InitializeInjectionNvtx2 asks the program for tables of function pointers and fills in its own.
 */
#ifndef DRIVER_NVTX_H
#define DRIVER_NVTX_H

#include <stdbool.h>

#include <devicepool/trace.h>

/* Whether a profiler listens; the first call loads its library. Any thread. */
bool nvtx_is_attached(void);

/* Opens a range on the calling thread ("msm bn254 device 0, 1048576 items"), and closes the last
 * one. Only when a profiler listens. */
void nvtx_push(const pool_trace_event *event);
void nvtx_pop(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool: zero-knowledge cryptography on a pool of CUDA devices. This header includes all
 * others except <devicepool/mock.h> and <devicepool/mpi.h>, which belong to separate libraries.
 * Each header can also be included separately.
 */
#ifndef DEVICEPOOL_H
#define DEVICEPOOL_H

/* base */
#include <devicepool/cancel.h>  /* tokens that cancel operations from other threads */
#include <devicepool/log.h>     /* the log callback */
#include <devicepool/status.h>  /* status codes, the thread's error detail, texts */
#include <devicepool/trace.h>   /* the trace hook: ranges of time */
#include <devicepool/version.h> /* version numbers, the rule for struct sizes */

/* devices */
#include <devicepool/device.h>  /* properties of a device, installed components */
#include <devicepool/driver.h>  /* CUDA types and the table of driver functions */
#include <devicepool/metrics.h> /* metrics for monitoring systems */
#include <devicepool/pool.h>    /* creation of pools, device selection, binding, health */
#include <devicepool/tuning.h>  /* numbers of plans that are measured on the present chip */

/* memory and execution */
#include <devicepool/graph.h>   /* work that is captured once and launched many times */
#include <devicepool/lease.h>   /* admission of jobs to devices: requests, leases, tickets */
#include <devicepool/memory.h>  /* buffers, slices, pinned memory, copies */
#include <devicepool/module.h>  /* compilation, cache, loading and launching of kernels */
#include <devicepool/stream.h>  /* streams and events */
#include <devicepool/virtual.h> /* ranges of addresses, physical memory, mappings */

/* mathematics */
#include <devicepool/curve.h> /* elliptic curves and conversions of points */
#include <devicepool/field.h> /* prime fields and conversions of elements */
#include <devicepool/span.h>  /* descriptions of arrays, checks of their items */

/* operations */
#include <devicepool/commit.h>   /* commitments to matrices, as STARK provers make them */
#include <devicepool/ecntt.h>    /* number-theoretic transforms of points */
#include <devicepool/exec.h>     /* where and how an operation runs */
#include <devicepool/fri.h>      /* folds of FRI, columns at a point, rows in other orders */
#include <devicepool/msm.h>      /* multi-scalar multiplication, resident bases */
#include <devicepool/ntt.h>      /* number-theoretic transforms */
#include <devicepool/poseidon.h> /* Poseidon permutations, hashes, sponges, Merkle trees */
#include <devicepool/resident.h> /* proving keys that stay on devices and are evicted and restored */
#include <devicepool/vector.h>   /* element-wise operations on vectors of field elements */

/* files */
#include <devicepool/formats.h> /* files of ceremonies, keys and witnesses */

/* testing */
#include <devicepool/sim.h> /* simulated devices, fault injection, reports of their checks */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool: a pool of CUDA devices for programs that run zero-knowledge work on GPUs.
 * This header is all of them but <devicepool/mock.h>, which belongs to a library of its own for
 * tests; each one below can also be included by itself.
 */
#ifndef DEVICEPOOL_H
#define DEVICEPOOL_H

#include <devicepool/cache.h>
#include <devicepool/cancel.h>
#include <devicepool/check.h>
#include <devicepool/curve.h>
#include <devicepool/device.h>
#include <devicepool/driver.h>
#include <devicepool/field.h>
#include <devicepool/formats.h>
#include <devicepool/host.h>
#include <devicepool/log.h>
#include <devicepool/memory.h>
#include <devicepool/module.h>
#include <devicepool/msm.h>
#include <devicepool/ntt.h>
#include <devicepool/pool.h>
#include <devicepool/poseidon.h>
#include <devicepool/sim.h>
#include <devicepool/span.h>
#include <devicepool/status.h>
#include <devicepool/stream.h>
#include <devicepool/vector.h>
#include <devicepool/version.h>

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the args.h of each operation, which C and NVRTC both include: a pointer to device memory is a
 * typed pointer in a kernel and a device address on the host. Both have 64 bits. No header is
 * included here: the search for headers on disk would apply to every kernel of the library.
 */
#ifndef PTX_BASE_ARGS_H
#define PTX_BASE_ARGS_H

#ifdef __CUDACC_RTC__
#define DEVICE_POINTER(type) type *
#else
#define DEVICE_POINTER(type) unsigned long long /* CUdeviceptr */
#endif

#endif

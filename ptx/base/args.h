/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the args.h of each operation, which C and NVRTC both include: a pointer to device memory is a
 * typed pointer in a kernel and a device address on the host. Both have 64 bits. This file includes
 * no other one, because headers on disk would then be searched for every kernel of the library.
 */
#ifndef PTX_BASE_ARGS_H
#define PTX_BASE_ARGS_H

#ifdef __CUDACC_RTC__
#define DEVICE_POINTER(type) type *
#else
#define DEVICE_POINTER(type) unsigned long long /* CUdeviceptr */
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that are launched to start early (pool_launch_shape.starts_early): a chip from compute
 * capability 9.0 on brings their blocks to the multiprocessors while the kernel before them in the
 * stream still ends. PTX for older chips has no such instructions, and the library launches it in
 * order.
 */
#ifndef EARLY_CUH
#define EARLY_CUH

/* All that was enqueued before has ended and is in memory. */
__device__ __forceinline__ void wait_for_earlier_work()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Once every block has come here the next kernel's blocks may take places that are free. */
__device__ __forceinline__ void let_next_kernel_start()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

#endif

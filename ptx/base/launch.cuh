/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programmatic dependent launch (PDL, pool_launch_shape.pdl): from compute capability 9.0 on, a
 * chip may schedule a kernel's blocks while the preceding kernel of the stream drains. PTX for
 * older chips lacks the instructions, and the library launches those kernels in stream order.
 */
#ifndef PTX_BASE_LAUNCH_CUH
#define PTX_BASE_LAUNCH_CUH

/* Waits until all preceding kernels of the stream have completed and their writes are visible. */
__device__ __forceinline__ void pdl_wait()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Once every block has called this or exited, blocks of the next kernel may be scheduled. */
__device__ __forceinline__ void pdl_trigger()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

#endif

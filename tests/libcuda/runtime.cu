/* SPDX-License-Identifier: Apache-2.0 */
/* A program over the CUDA runtime library, which asks for undocumented functions of the driver. */
#include <cstdio>

__global__ void add(int *to)
{
    atomicAdd(to, 1);
}

int main()
{
    int *to = nullptr, value = 0;
    cudaError_t error = cudaMalloc(&to, sizeof(*to));

    if (!error)
        error = cudaMemset(to, 0, sizeof(*to));
    add<<<2, 32>>>(to);
    if (!error)
        error = cudaMemcpy(&value, to, sizeof(value), cudaMemcpyDeviceToHost);
    std::printf("%s, %d\n", cudaGetErrorName(error), value);
    return error != cudaSuccess;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for tests/simulator/test_exec_control.c; control.ptx is what nvcc -ptx -arch=compute_90 makes of this. */
typedef unsigned int u32;
typedef unsigned long long u64;

struct big {
    u32 v[8];
    u64 w;
};

__constant__ u32 table[16] = {1, 2, 3, 5, 8, 13};
__device__ int seed = 5;
__device__ int *seed_pointer = &seed;
__shared__ u32 module_shared[64];

__device__ __noinline__ int plus_one(int x) { return x + 1; }
__device__ __noinline__ int twice(int x) { return x * 2; }
__device__ __noinline__ int negate(int x) { return -x; }
typedef int (*function)(int);
__device__ function functions[3] = {plus_one, twice, negate};

__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ big bump(big b, int i)
{
    b.v[i & 7] += 100;
    b.w += i;
    return b;
}
__device__ __noinline__ void sort4(u32 *values)
{
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++)
            if (values[j] < values[i]) {
                u32 t = values[i];
                values[i] = values[j];
                values[j] = t;
            }
}

extern "C" __global__ void calls(int *out)
{
    int t = threadIdx.x;
    out[t] = factorial(t % 9) + fibonacci(t % 7) * 1000000;
}

extern "C" __global__ void indirect(int *out)
{
    int t = threadIdx.x;
    out[t] = functions[t % 3](t + *seed_pointer);
}

extern "C" __global__ void by_value(big b, u64 *out)
{
    int t = threadIdx.x;
    b.v[t & 7] += table[t & 7];
    big r = bump(b, t);
    u64 sum = r.w;
    for (int i = 0; i < 8; i++)
        sum += (u64)r.v[i] << i;
    out[t] = sum;
}

extern "C" __global__ void locals(u32 *out)
{
    u32 t = threadIdx.x, v[4] = {t * 7 % 11, t * 5 % 13, t * 3 % 17, t};
    sort4(v);
    out[t] = v[0] | v[1] << 8 | v[2] << 16 | v[t & 3] << 24;
}

/* Steps of the Collatz walk: every lane loops as often as its own number asks for. */
extern "C" __global__ void collatz(u32 *out, u32 *active)
{
    u32 t = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    for (u64 x = t + 1; x != 1; x = x & 1 ? 3 * x + 1 : x / 2)
        steps++;
    out[t] = steps;
    active[t] = __activemask();
}

extern "C" __global__ void branches(u32 *out, const u32 *in)
{
    u32 t = threadIdx.x, x = in[t];
    switch (x & 15) {
    case 0: x += 3; break;
    case 1: x ^= 9; break;
    case 2: x *= 5;
    case 3: x -= 8; break;
    case 4: x |= 6; break;
    case 5: x &= 0xff; break;
    case 6: x = x << 3 | x >> 29; break;
    case 7: x = x / 7; break;
    case 8: x = x % 13; break;
    case 9: x = __popc(x); break;
    case 10: if (t & 1) return; x = 77; break;
    default: x = ~x;
    }
    out[t] = x;
}

extern "C" __global__ void block_sum(const u32 *in, u32 *out)
{
    __shared__ u32 part[256];
    extern __shared__ u32 dynamic[];
    u32 t = threadIdx.x;
    part[t] = in[blockIdx.x * blockDim.x + t];
    dynamic[t] = part[t] * 2;
    __syncthreads();
    for (u32 step = blockDim.x / 2; step; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t < 64)
        module_shared[t] = dynamic[255 - t];
    __syncthreads();
    if (t == 0)
        out[blockIdx.x] = part[0] + module_shared[63] + dynamic[1];
}

extern "C" __global__ void warp_ops(u32 *out)
{
    u32 t = threadIdx.x, *o = out + t * 12;
    o[0] = __shfl_xor_sync(~0u, t * 3, 5);
    o[1] = __shfl_up_sync(~0u, t * 3, 2);
    o[2] = __shfl_down_sync(~0u, t * 3, 3, 8);
    o[3] = __shfl_sync(~0u, t * 3, 37);
    o[4] = __ballot_sync(~0u, t % 3 == 0);
    o[5] = __all_sync(~0u, t < 32) * 2 + __any_sync(~0u, t == 31);
    o[6] = __match_any_sync(~0u, t & 3);
    int all;
    o[7] = __match_all_sync(~0u, 5ull, &all) + all;
    o[8] = __reduce_add_sync(~0u, t);
    o[9] = (u32)__reduce_min_sync(~0u, (int)t - 7);
    if (t & 1)
        o[10] = __ballot_sync(0xaaaaaaaa, t > 15);
    else
        o[10] = __reduce_xor_sync(0x55555555, t);
    o[11] = __syncthreads_count(t & 1) + 100 * __syncthreads_or(t == 5) + 1000 * __syncthreads_and(t < 31);
}

extern "C" __global__ void atomics(u32 *a, u64 *b, int *c, float *f)
{
    u32 t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(a, 1u);
    atomicAdd(a + 1, t);
    atomicMax(a + 2, t);
    atomicMin(c, -(int)t);
    atomicXor(a + 3, t);
    atomicOr(a + 4, 1u << (t & 31));
    atomicInc(a + 5, 99u);
    atomicAdd(b, (u64)t << 20);
    atomicAdd(f, 0.5f);
    u32 old = a[6], seen;
    do {
        seen = old;
        old = atomicCAS(a + 6, seen, seen + 2);
    } while (old != seen);
    atomicExch(a + 7, 42u);
}

/* A lock that lanes of one warp and threads of many blocks take in turn. */
extern "C" __global__ void locked(u32 *lock, volatile u32 *count)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0u, 1u) == 0u) {
            *count = *count + 1;
            __threadfence();
            atomicExch(lock, 0u);
            done = true;
        }
    }
}

/* Every block waits until all have come, three times: needs all of them resident. */
extern "C" __global__ void grid_wait(volatile u32 *arrived, u32 *out)
{
    for (u32 round = 1; round <= 3; round++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd((u32 *)arrived, 1u);
            while (*arrived < round * gridDim.x)
                __nanosleep(20);
        }
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = *arrived;
}

extern "C" __global__ void shape(u32 *out)
{
    u32 t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    u32 b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    out[b * blockDim.x * blockDim.y * blockDim.z + t] = threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 |
        blockIdx.x << 12 | blockIdx.y << 16 | blockIdx.z << 20;
}

extern "C" __global__ void bytes(const unsigned char *in, short *s, signed char *c, uint4 *q, long long *w)
{
    u32 t = threadIdx.x;
    s[t] = (short)(in[t] * 257 - 32768);
    c[t] = (signed char)(in[t] + 1);
    uint4 v = q[t];
    q[t] = make_uint4(v.w, v.z, v.y, v.x + c[t]);
    w[t] = (long long)s[t] * c[t];
}

extern "C" int printf(const char *, ...);
extern "C" __global__ void speak(int x, double y)
{
    if (threadIdx.x == 3)
        printf("x %d y %.2f %s %llu%%\n", x, y, "text", 123456789012ull);
}

extern "C" __global__ void store_at(u32 *out, long long index) { out[index] = 1; }
extern "C" __global__ void store_odd(char *out) { *(u32 *)(out + 2) = 1; }
extern "C" __global__ void stop(u32 *out) { if (threadIdx.x == 33) __trap(); out[threadIdx.x] = 1; }
extern "C" __global__ void forever(volatile u32 *out) { while (*out == 0) { } }
extern "C" __global__ void half_barrier(u32 *out)
{
    if (threadIdx.x < 16)
        __syncthreads();
    out[threadIdx.x] = 1;
}
extern "C" __global__ void lone_barrier(u32 *out)
{
    asm volatile("bar.sync 1, 96;");
    out[threadIdx.x] = 1;
}
extern "C" __global__ void unwritten(u32 *out)
{
    __shared__ u32 s[64];
    if (threadIdx.x != 5)
        s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}
__device__ __noinline__ int deep(int n, int *out) { int v[16]; v[n & 15] = n; int r = n > 0 ? deep(n - 1, out) : 0; out[0] += v[(n + 1) & 15]; return r + v[n & 15]; }
extern "C" __global__ void sink(int n, int *out) { out[1] = deep(n, out); }

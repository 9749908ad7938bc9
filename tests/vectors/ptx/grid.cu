/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups for tests/simulator/test_exec_control.c; grid.ptx is what nvcc -ptx -arch=compute_80 makes of this. */
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void grid_rounds(unsigned *sums)
{
    cg::grid_group grid = cg::this_grid();
    for (unsigned round = 0; round < 4; round++) {
        atomicAdd(sums + round, 1u);
        grid.sync();
        if (sums[round] != grid.size())
            atomicAdd(sums + 8, 1u);
        grid.sync();
    }
    cg::coalesced_group group = cg::coalesced_threads();
    if (group.thread_rank() == 0)
        atomicAdd(sums + 9, group.size());
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The handler table, filled once for the host's instruction set. */
#include "driver/sim/exec/machine.h"

#include <pthread.h>
#include <string.h>

#include "base/settings.h"

static struct sim_handlers handlers;
static pthread_once_t filled = PTHREAD_ONCE_INIT;

#if defined(__x86_64__)
/* DEVICEPOOL_SIM_LANES=sse2|avx2|avx512 restricts the instruction set below the processor's, for
 * tests and comparisons. */
static bool may_use(const char *name)
{
    static const char *const order[] = {"sse2", "avx2", "avx512"};
    const char *asked = base_setting(BASE_SETTING_SIM_LANES);
    int level = 2, wanted = 0;
    for (int i = 0; i < 3; i++) {
        if (asked && strcmp(asked, order[i]) == 0)
            level = i;
        if (strcmp(name, order[i]) == 0)
            wanted = i;
    }
    return wanted <= level;
}
#endif

static void fill(void)
{
    sim_bits_fill(&handlers);
    sim_float_fill(&handlers);
    sim_convert_fill(&handlers);
    sim_atomic_fill(&handlers);
    sim_memory_fill(&handlers);
    sim_warp_fill(&handlers);
    sim_control_fill(&handlers);
    sim_barrier_fill(&handlers);
    sim_mma_fill(&handlers);
    sim_mbarrier_fill(&handlers);
    sim_lanes_fill_sse2(&handlers);
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        may_use("avx512")) {
        sim_lanes_fill_avx512(&handlers);
    } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
               may_use("avx2")) {
        sim_lanes_fill_avx2(&handlers);
    }
#endif
}

sim_handler sim_handler_find(enum sim_kind kind, enum ptx_type type)
{
    pthread_once(&filled, fill);
    return handlers.run[kind][type];
}

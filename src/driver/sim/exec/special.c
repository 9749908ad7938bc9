/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the special registers. */
#include "driver/sim/exec/ops.h"

#include <string.h>

static const struct {
    const char *name;
    enum sim_special special;
} specials[] = {
    {"%tid.x", SIM_TID_X},
    {"%tid.y", SIM_TID_Y},
    {"%tid.z", SIM_TID_Z},
    {"%ntid.x", SIM_NTID_X},
    {"%ntid.y", SIM_NTID_Y},
    {"%ntid.z", SIM_NTID_Z},
    {"%ctaid.x", SIM_CTAID_X},
    {"%ctaid.y", SIM_CTAID_Y},
    {"%ctaid.z", SIM_CTAID_Z},
    {"%nctaid.x", SIM_NCTAID_X},
    {"%nctaid.y", SIM_NCTAID_Y},
    {"%nctaid.z", SIM_NCTAID_Z},
    {"%laneid", SIM_LANEID},
    {"%warpid", SIM_WARPID},
    {"%nwarpid", SIM_NWARPID},
    {"%smid", SIM_SMID},
    {"%nsmid", SIM_NSMID},
    {"%gridid", SIM_GRIDID},
    {"%lanemask_eq", SIM_LANEMASK_EQ},
    {"%lanemask_le", SIM_LANEMASK_LE},
    {"%lanemask_lt", SIM_LANEMASK_LT},
    {"%lanemask_ge", SIM_LANEMASK_GE},
    {"%lanemask_gt", SIM_LANEMASK_GT},
    {"%dynamic_smem_size", SIM_DYNAMIC_SMEM},
    {"%total_smem_size", SIM_TOTAL_SMEM},
    {"%aggr_smem_size", SIM_AGGR_SMEM},
    {"%clock", SIM_CLOCK_LO},
    {"%clock_hi", SIM_CLOCK_HI},
    {"%clock64", SIM_CLOCK64},
    {"%globaltimer", SIM_GLOBALTIMER},
    {"%globaltimer_lo", SIM_GLOBALTIMER_LO},
    {"%globaltimer_hi", SIM_GLOBALTIMER_HI},
    {"%reserved_smem_offset_begin", SIM_ZERO},
    {"%reserved_smem_offset_end", SIM_ZERO},
    {"%reserved_smem_offset_cap", SIM_ZERO},
    {"%reserved_smem_offset_0", SIM_ZERO},
    {"%reserved_smem_offset_1", SIM_ZERO},
    /* A launch without clusters behaves as one with clusters of one block. */
    {"%is_explicit_cluster", SIM_ZERO},
    {"%clusterid.x", SIM_CTAID_X},
    {"%clusterid.y", SIM_CTAID_Y},
    {"%clusterid.z", SIM_CTAID_Z},
    {"%nclusterid.x", SIM_NCTAID_X},
    {"%nclusterid.y", SIM_NCTAID_Y},
    {"%nclusterid.z", SIM_NCTAID_Z},
    {"%cluster_ctaid.x", SIM_ZERO},
    {"%cluster_ctaid.y", SIM_ZERO},
    {"%cluster_ctaid.z", SIM_ZERO},
    {"%cluster_nctaid.x", SIM_ONE},
    {"%cluster_nctaid.y", SIM_ONE},
    {"%cluster_nctaid.z", SIM_ONE},
    {"%cluster_ctarank", SIM_ZERO},
    {"%cluster_nctarank", SIM_ONE},
};

bool sim_special_find(const char *name, uint32_t length, uint32_t *special)
{
    for (unsigned i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
        if (strlen(specials[i].name) == length && memcmp(specials[i].name, name, length) == 0) {
            *special = specials[i].special;
            return true;
        }
    /* The address, in halves, of the state of a cooperative launch's grid-wide barriers. */
    if (length == 8 && memcmp(name, "%envreg1", 8) == 0) {
        *special = SIM_WORKSPACE_HIGH;
        return true;
    }
    if (length == 8 && memcmp(name, "%envreg2", 8) == 0) {
        *special = SIM_WORKSPACE_LOW;
        return true;
    }
    if (length > 7 && length < 10 && memcmp(name, "%envreg", 7) == 0) {
        *special = SIM_ZERO;
        return true;
    }
    return false;
}

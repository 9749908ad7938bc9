/* SPDX-License-Identifier: Apache-2.0 */
/* Former names of memory/operand.h, until src/msm and src/poseidon use the present ones. */
#ifndef MEMORY_SPAN_H
#define MEMORY_SPAN_H

#include "memory/operand.h"

#define memory_site exec_target
#define memory_site_init exec_target_init
#define memory_site_end exec_target_end
#define memory_temporary memory_scratch
#define memory_temporary_free memory_scratch_free

#endif

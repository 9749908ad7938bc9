/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a compile may read: found by reading the #include lines of the source, of its
 * headers in memory and of the files themselves. NVRTC has no option that lists them.
 *
 * The set is larger than what the compiler reads: conditions are not evaluated, and a name that
 * several directories have counts with all of them. So a change to any file that matters, and a
 * file that appears earlier on the search path, always change the digest.
 */
#ifndef MODULE_INCLUDES_H
#define MODULE_INCLUDES_H

#include <stdbool.h>

#include "driver/nvrtc.h"
#include "module/image.h"

struct module_includes {
    size_t files;             /* that exist on disk; 0: all comes from memory */
    bool is_complete;         /* false: the set cannot be known, nothing may be kept */
    struct module_key digest; /* over paths and contents; zero when there are no files */
};

/*
 * Searched in this order, as NVRTC does: headers in memory by the name as it is written; for
 * quotes the directory of the file with the #include; the -I options; the toolkit's directories.
 * Fails for want of host memory only.
 */
pool_status module_includes_find(const struct nvrtc *nvrtc, const struct module_request *request,
    struct module_includes *includes);

#endif

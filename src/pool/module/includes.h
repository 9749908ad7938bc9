/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a compilation may read, found from the #include lines of the source, of its
 * headers in memory and of the files themselves. NVRTC has no option that lists them.
 *
 * The set is a superset of the files that the compiler reads: conditions are not evaluated, and a
 * name refers to the files of all directories that have it. So changes to relevant files, and new
 * files earlier in the search path, always change the digest.
 */
#ifndef MODULE_INCLUDES_H
#define MODULE_INCLUDES_H

#include <stdbool.h>

#include "driver/nvrtc.h"
#include "pool/module/image.h"

struct module_includes {
    size_t files;             /* that exist on disk; 0: all sources are in memory */
    bool is_complete;         /* false: the set is unknown, the image must not be cached */
    struct module_key digest; /* over paths and contents; zero when there are no files */
};

/*
 * The search order is NVRTC's: headers in memory by their literal names; for quoted names the
 * directory of the including file; the -I options; the toolkit's directories. Fails only when out
 * of host memory.
 */
pool_status module_includes_find(const struct nvrtc *nvrtc, const struct module_request *request,
    struct module_includes *includes);

#endif

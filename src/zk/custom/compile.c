/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public function that compiles custom kernels: the headers of the params' arithmetic, then the
 * compilation of src/module.
 */
#include "zk/custom/header.h"

#include "base/params.h"
#include "base/status.h"
#include "pool/module/module.h"

pool_status pool_module_compile(
    pool_device *device, const pool_module_params *params, pool_module **module)
{
    struct arithmetic_expansion expansion;
    const struct module_request request = {
        .params = &expansion.params, .generator = &expansion.generator};
    pool_status status =
        base_check_pointers("pool_module_compile", {"device", device}, {"module", module});

    if (!status)
        status = arithmetic_expand("pool_module_compile", params, &expansion);
    if (status)
        return status;
    status = module_compile(device, &request, NULL, module);
    if (!status)
        module_make_permanent(*module);
    arithmetic_release(&expansion);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose devices access each other's memory: see operation.h. */
#include "zk/operation/operation.h"

pool_status operation_device_open(const struct operation_division *division,
    const struct fork *fork, uint32_t index, uint64_t bytes, uint64_t items,
    struct operation_device *device)
{
    const struct operation_call *call = division->call;
    pool_exec exec = devices_exec(&division->devices, &call->exec, index);
    pool_status status;

    if (fork->count)
        exec.stream = fork->stream[index];
    status = operation_open_target(call, bytes, &exec, &device->target, &device->workspace);
    if (status)
        return status;
    device->target.field = call->target.field;
    device_operation_begin(
        &device->counted, device->target.device, call->operation->counter, call->subject, items);
    device->is_counted = true;
    return POOL_OK;
}

void operation_device_close(struct operation_device *device, pool_status status)
{
    if (device->is_counted)
        (void)device_operation_end(&device->counted, status);
}

pool_status operation_enqueue(
    const struct exec_target *target, pool_status (*enqueue)(void *work), void *work)
{
    struct device_scope scope;
    pool_status status = device_enter(target->device, &scope);

    return status ? status : device_leave(&scope, enqueue(work));
}

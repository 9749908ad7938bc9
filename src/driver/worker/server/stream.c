/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors of streams whose arguments are no plain values.
 */
#include "driver/worker/server/server.h"

pool_cu_result server_StreamGetCtx(struct execution *execution)
{
    CUstream stream = execution_handle(execution, WORKER_STREAM);
    uint64_t has_context = execution_word(execution);
    CUcontext context = NULL;
    pool_cu_result code = execution_check(execution);

    if (!code)
        code = execution->server->api->StreamGetCtx(stream, has_context ? &context : NULL);
    execution_reply(execution, server_context_number(execution->server, context));
    return code;
}

/* A failure of a posted call is what the client has to learn: the graph would lack the operation.
 */
pool_cu_result server_StreamEndCapture(struct execution *execution)
{
    const pool_cuda_api *api = execution->server->api;
    CUstream stream = execution_handle(execution, WORKER_STREAM);
    uint64_t has_graph = execution_word(execution);
    CUgraph graph = NULL;
    pool_cu_result code = execution_check(execution);

    if (!code)
        code = EXECUTION_CALL(execution, StreamEndCapture, stream, has_graph ? &graph : NULL);
    if (execution_has_failure(execution)) {
        if (graph)
            api->GraphDestroy(graph);
        return POOL_CU_SUCCESS; /* the failure takes its place */
    }
    if (code)
        return code;
    code = execution_reply_new(execution, WORKER_GRAPH, graph);
    if (code)
        api->GraphDestroy(graph);
    return code;
}

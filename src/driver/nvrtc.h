/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVRTC, the run-time compiler: its functions as a table, found and loaded at the first use. It
 * needs no driver and no device. A host may have several versions.
 */
#ifndef DRIVER_NVRTC_H
#define DRIVER_NVRTC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <devicepool/status.h>

#include "base/sha256.h"

typedef struct _nvrtcProgram *nvrtc_program;                    /* the tag is nvrtc.h's */
typedef unsigned int nvrtc_result;                              /* an enumeration there */
typedef int (*nvrtc_flow_callback)(void *user, void *reserved); /* 1 cancels the compilation */

/* Result codes: X(name without NVRTC_, code). */
#define NVRTC_RESULTS(X)                                                                           \
    X(SUCCESS, 0)                                                                                  \
    X(ERROR_OUT_OF_MEMORY, 1)                                                                      \
    X(ERROR_PROGRAM_CREATION_FAILURE, 2)                                                           \
    X(ERROR_INVALID_INPUT, 3)                                                                      \
    X(ERROR_INVALID_PROGRAM, 4)                                                                    \
    X(ERROR_INVALID_OPTION, 5)                                                                     \
    X(ERROR_COMPILATION, 6)                                                                        \
    X(ERROR_BUILTIN_OPERATION_FAILURE, 7)                                                          \
    X(ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION, 8)                                              \
    X(ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION, 9)                                                \
    X(ERROR_NAME_EXPRESSION_NOT_VALID, 10)                                                         \
    X(ERROR_INTERNAL_ERROR, 11)                                                                    \
    X(ERROR_TIME_FILE_WRITE_FAILED, 12)                                                            \
    X(ERROR_NO_PCH_CREATE_ATTEMPTED, 13)                                                           \
    X(ERROR_PCH_CREATE_HEAP_EXHAUSTED, 14)                                                         \
    X(ERROR_PCH_CREATE, 15)                                                                        \
    X(ERROR_CANCELLED, 16)                                                                         \
    X(ERROR_TIME_TRACE_FILE_WRITE_FAILED, 17)

enum nvrtc_code {
#define NVRTC_CODE(name, code) DRIVER_NVRTC_##name = code,
    NVRTC_RESULTS(NVRTC_CODE)
#undef NVRTC_CODE
};

/* Functions: X(field, symbol, need, returned type, parameters). */
#define NVRTC_FUNCTIONS(X)                                                                         \
    X(Version, "nvrtcVersion", NEEDED, nvrtc_result, (int *major, int *minor))                     \
    X(GetErrorString, "nvrtcGetErrorString", NEEDED, const char *, (nvrtc_result result))          \
    X(GetNumSupportedArchs, "nvrtcGetNumSupportedArchs", NEEDED, nvrtc_result, (int *count))       \
    X(GetSupportedArchs, "nvrtcGetSupportedArchs", NEEDED, nvrtc_result, (int *archs))             \
    X(CreateProgram, "nvrtcCreateProgram", NEEDED, nvrtc_result,                                   \
        (nvrtc_program * program, const char *source, const char *name, int header_count,          \
            const char *const *headers, const char *const *header_names))                          \
    X(DestroyProgram, "nvrtcDestroyProgram", NEEDED, nvrtc_result, (nvrtc_program * program))      \
    X(CompileProgram, "nvrtcCompileProgram", NEEDED, nvrtc_result,                                 \
        (nvrtc_program program, int option_count, const char *const *options))                     \
    X(GetPTXSize, "nvrtcGetPTXSize", NEEDED, nvrtc_result, (nvrtc_program program, size_t * size)) \
    X(GetPTX, "nvrtcGetPTX", NEEDED, nvrtc_result, (nvrtc_program program, char *text))            \
    X(GetCUBINSize, "nvrtcGetCUBINSize", NEEDED, nvrtc_result,                                     \
        (nvrtc_program program, size_t * size))                                                    \
    X(GetCUBIN, "nvrtcGetCUBIN", NEEDED, nvrtc_result, (nvrtc_program program, char *image))       \
    X(GetProgramLogSize, "nvrtcGetProgramLogSize", NEEDED, nvrtc_result,                           \
        (nvrtc_program program, size_t * size))                                                    \
    X(GetProgramLog, "nvrtcGetProgramLog", NEEDED, nvrtc_result,                                   \
        (nvrtc_program program, char *log))                                                        \
    X(AddNameExpression, "nvrtcAddNameExpression", NEEDED, nvrtc_result,                           \
        (nvrtc_program program, const char *expression))                                           \
    X(GetLoweredName, "nvrtcGetLoweredName", NEEDED, nvrtc_result,                                 \
        (nvrtc_program program, const char *expression, const char **lowered))                     \
    X(SetFlowCallback, "nvrtcSetFlowCallback", EXTRA, nvrtc_result,                                \
        (nvrtc_program program, nvrtc_flow_callback callback, void *user))

struct nvrtc_api {
#define NVRTC_FIELD(field, symbol, need, returned, parameters) returned(*field) parameters;
    NVRTC_FUNCTIONS(NVRTC_FIELD)
#undef NVRTC_FIELD
};

enum { DRIVER_NVRTC_INCLUDES = 3 };

struct nvrtc {
    struct nvrtc_api api;       /* SetFlowCallback is NULL before CUDA 12.8 */
    int version;                /* 13000 is CUDA 13.0 */
    char path[256];             /* the library file */
    char builtins[256];         /* the file of its builtins library; "": it could not be opened, */
    char builtins_problem[256]; /* and why */
    /* The include directories of its toolkit that exist; the rest are "". */
    char includes[DRIVER_NVRTC_INCLUDES][256];
};

/* Fills `includes` from `path` and `version`; docs/kernels.md lists the searched directories. */
void driver_nvrtc_find_includes(struct nvrtc *nvrtc);

/* The path at which the builtins library of an NVRTC belongs. */
void driver_nvrtc_builtins_place(const struct nvrtc *nvrtc, char *path, size_t size);

/* Opens the builtins library; `opened` is the path under which the NVRTC was found. */
void driver_nvrtc_open_builtins(struct nvrtc *nvrtc, const char *opened);

/*
 * The compilers of the host in the order in which they are tried: the library that DEVICEPOOL_NVRTC
 * names or, if that is not set, the usual names, newest first, each in the library path and then in
 * the toolkit directories; with "off" there are none. They are loaded one by one, each when it is
 * first requested, and never unloaded. NULL: there is none with this index, with the reason in
 * `reason`, which is "" when everything that was found could be loaded. That there is none at all
 * is not cached. Any thread.
 */
enum { DRIVER_NVRTC_REASON = 2048, DRIVER_NVRTC_MAX = 8 };
const struct nvrtc *driver_nvrtc_candidate(size_t index, char *reason, size_t size);

/* DEVICEPOOL_NVRTC=last: what has prebuilt PTX is not compiled. Any thread. */
bool driver_nvrtc_is_last(void);

/* The digest of which build of NVRTC it is, by its files and not by their paths. POOL_ERR_IO: a
 * file cannot be read. Any thread. */
pool_status driver_nvrtc_identify(const struct nvrtc *nvrtc, uint8_t identity[BASE_SHA256_BYTES]);

/* The first of them, for callers to whom a missing compiler is an error. */
pool_status driver_nvrtc_open(const struct nvrtc **nvrtc);

/* The end of a message about a compiler that does not work. */
#define DRIVER_NVRTC_REMEDY                                                                        \
    "reinstall NVRTC, or set DEVICEPOOL_NVRTC to another library (off: none)"

/*
 * Converts a result into a status; a failure sets the thread's error detail. ERROR_COMPILATION is
 * left to the caller, which has the compilation log.
 */
pool_status driver_nvrtc_check(const struct nvrtc *nvrtc, nvrtc_result result, const char *call);

/*
 * Whether a result means that the compiler itself does not work, whatever the input; its status is
 * POOL_ERR_NO_COMPILER. driver_nvrtc_describe writes driver_nvrtc_check's message for a result.
 */
bool driver_nvrtc_is_broken(nvrtc_result result);
void driver_nvrtc_describe(
    const struct nvrtc *nvrtc, nvrtc_result result, const char *call, char *text, size_t size);

/* "NVRTC_ERROR_COMPILATION" and so on; "NVRTC_ERROR_?" for a code that is not in the list. */
const char *driver_nvrtc_result_name(nvrtc_result result);

#endif

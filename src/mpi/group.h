/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this library share: the state of a communicator, waits with a deadline, the
 * agreement of the ranks, messages between them, exchanges between their devices.
 *
 * MPI only ever accesses memory of the pool_mpi (records, buffers, pinned memory), or, with a
 * transport that takes device addresses, the library's device memory: after a rank has failed its
 * messages may stay outstanding, and that memory is then never freed.
 */
#ifndef MPI_GROUP_H
#define MPI_GROUP_H

#include <stdbool.h>

#include <devicepool/log.h>
#include <devicepool/mpi.h>
#include <devicepool/vector.h>

#include "base/params.h"
#include "base/status.h"

struct group_nccl; /* nccl.c */

/* Host memory for messages; grows, and lives as long as the pool_mpi. */
enum { GROUP_SENT, GROUP_RECEIVED, GROUP_BUFFERS };
struct group_buffer {
    void *data;
    size_t bytes;
};

/* Arguments that have to be the same on all ranks. */
enum { GROUP_VALUES = 12, GROUP_OBJECT_BYTES = 64 };
struct group_call {
    const char *name; /* of the public function */
    uint32_t operation;
    uint32_t offers;         /* bits beside those of transports; see pool_mpi.common */
    uint32_t count;          /* of values */
    const char *object_kind; /* "curve"; NULL: no object */
    char object[GROUP_OBJECT_BYTES];
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES];
    const char *names[GROUP_VALUES];
    uint64_t values[GROUP_VALUES];
};

enum group_operation {
    GROUP_CREATE = 1,
    GROUP_MSM,
    GROUP_NTT,
    GROUP_EXTEND,
    GROUP_MERKLE_BUILD,
    GROUP_MERKLE_OPEN,
    GROUP_DIVIDE
};

/* survivors.c: an agreement of the ranks that are left. Its members are MPI's while it is pending.
 */
struct group_agreement {
    MPI_Request request;
    int flag;
    int code;
    bool is_pending;
};

struct pool_mpi {
    MPI_Comm communicator;
    int rank;
    int ranks;
    pool_device *device;
    pool_mpi_transport wanted; /* of the params */
    pool_mpi_transport transport;
    double rate;   /* jobs per nanosecond, divide.c; 0: not measured */
    uint32_t able; /* bit t: this rank has transport t */
    uint64_t timeout_ns;
    uint64_t chunk_bytes;
    uint64_t sequence; /* of agreements */
    uint32_t common;   /* of the last agreement: the bits that all ranks offered */
    uint64_t host;     /* digest of the host's identity; see place.c */
    uint64_t identity; /* digest of the device's UUID; 0: none yet */
    int local_rank;
    int local_ranks;
    char warning[256];   /* of pool_mpi_info */
    bool is_tolerant;    /* MPI reports processes that have ended, and continues without them */
    bool is_interrupted; /* it has reported one, or the communicator is revoked: messages fail */
    bool is_settled;     /* the ranks that are left have agreed on those that have ended */
    bool is_broken;      /* messages of this call may be outstanding after it */
    struct group_agreement agreement;
    const int *numbers; /* during creation: of the ranks, in messages; NULL: their own */
    /* After the first failure with outstanding messages. */
    pool_status status;
    int failed_rank; /* that MPI reports to have ended, or that did not answer; -1: unknown */
    char message[1024];
    char outcome[1024];           /* the message of the last agreement that was a failure */
    struct group_record *records; /* rank 0: of all ranks; else one */
    struct group_verdict *verdict;
    MPI_Request *requests; /* two per rank */
    struct group_buffer buffer[GROUP_BUFFERS];
    pool_stream *stream; /* of exchanges beside computations, during a call */
    void *chunks;        /* of exchanges through host memory; see exchange.c */
    pool_pinned *pinned; /* them */
    struct group_nccl *nccl;
};

/* ---- wait.c ---------------------------------------------------------------------------------- */

/* A failure of MPI function `call` with that code; `rank` is the other rank, or -1. Where the code
 * says that a process has ended, nobody is blamed: see group_settle. */
pool_status group_fail_mpi(pool_mpi *mpi, const char *call, int code, int rank);

/* Polls the request until the deadline of base_clock_ns. False: it is outstanding. */
bool group_poll(MPI_Request *request, uint64_t deadline, int *code);
/* The same for a message from or to `rank`. After a failure it may be outstanding, and
 * mpi->failed_rank is `rank`. */
pool_status group_wait(pool_mpi *mpi, MPI_Request *request, int rank, uint64_t deadline);
uint64_t group_deadline(const pool_mpi *mpi, uint32_t timeouts);

/* Messages of any size to one rank, or from it, in library memory. Blocks up to the timeout. */
pool_status group_send(pool_mpi *mpi, const void *data, uint64_t bytes, int rank);
pool_status group_receive(pool_mpi *mpi, void *data, uint64_t bytes, int rank);
/* Block i of `data`, of `bytes` bytes, is that of rank i: rank 0 receives all of them. */
pool_status group_gather(pool_mpi *mpi, void *data, uint64_t bytes);

/* Copies library memory of rank `root` to that of all ranks. */
pool_status group_broadcast(pool_mpi *mpi, void *data, uint64_t bytes, int root);

/* At least `bytes` bytes of library memory for messages. */
pool_status group_buffer_get(pool_mpi *mpi, int index, uint64_t bytes, void **data);

/*
 * From one call to the other MPI returns errors, also those that it reports to handlers of other
 * communicators than that of the call: Open MPI gives failures of collective requests to that of
 * MPI_COMM_WORLD.
 */
enum { GROUP_HANDLERS = 3 };
struct group_handlers {
    MPI_Comm communicator[GROUP_HANDLERS];
    MPI_Errhandler handler[GROUP_HANDLERS];
};
void group_handlers_replace(struct group_handlers *handlers, MPI_Comm communicator);
void group_handlers_restore(struct group_handlers *handlers);

/* ---- create.c -------------------------------------------------------------------------------- */

/* pool_mpi_create; `numbers` are what messages call the ranks of the communicator; NULL: their own.
 */
pool_status group_create(
    MPI_Comm communicator, const pool_mpi_params *params, const int *numbers, pool_mpi **mpi);

/* ---- place.c --------------------------------------------------------------------------------- */

/* The host of this process, as a digest. */
uint64_t group_host(void);
/* Collective, after an agreement: the number of this rank among those of its host. */
pool_status group_find_local_rank(pool_mpi *mpi);
/* The device of that number, where the params have a pool; its identity. */
pool_status group_choose_device(pool_mpi *mpi, const pool_mpi_params *params);

/* ---- survivors.c ----------------------------------------------------------------------------- */

/* Whether MPI tolerates that processes end. */
bool group_is_tolerant(void);
/* Whether the code says that a process has ended, or that the communicator is revoked. */
bool group_code_is_interruption(int code);
/* Whether MPI knows that now, without a message. */
bool group_knows_ended(pool_mpi *mpi);
/* Revokes the communicator, so that all ranks learn of the failure at their next message. */
void group_interrupt(pool_mpi *mpi);
/*
 * Agrees with the ranks that are left on those that are gone, once per communicator: POOL_OK if
 * none is and all are well; POOL_ERR_IO, the same message and failed_rank on all; POOL_ERR_TIMEOUT
 * at the deadline, after which it can be called again.
 */
pool_status group_settle(pool_mpi *mpi, const char *call, bool is_well, uint64_t deadline);
/* The communicator of a pool_mpi, as a copy of that one, or a failure on all ranks. */
pool_status group_duplicate_tolerant(pool_mpi *mpi, MPI_Comm communicator, uint64_t deadline);

/* ---- agree.c --------------------------------------------------------------------------------- */

pool_status group_agree_open(pool_mpi *mpi);
void group_agree_close(pool_mpi *mpi);

/*
 * Every rank passes its own status, whose detail is the thread's last error, and the call's values.
 * Returns the same status on all ranks: POOL_OK if all are, and the values are the same; else the
 * cause, with the rank in the message. A rank that does not answer makes the pool_mpi unusable.
 */
pool_status group_agree(pool_mpi *mpi, const struct group_call *call, pool_status status);

/* The same in two parts, for calls that free memory in between: the failure becomes the thread's
 * last error with the second. */
pool_status group_vote(pool_mpi *mpi, const struct group_call *call, pool_status status);
pool_status group_fail_outcome(const pool_mpi *mpi, pool_status status);

/* On rank 0, after an agreement: how many ranks of the rank's host come before it, and all. */
void group_count_local(const pool_mpi *mpi, int rank, int32_t *before, int32_t *all);

/* The thread's last error becomes what every later call returns. */
void group_latch(pool_mpi *mpi, pool_status status);
/* Fails for NULL, and again after the first failure with which messages are outstanding. */
pool_status group_check(const pool_mpi *mpi, const char *call);

void group_call_add(struct group_call *call, const char *name, uint64_t value);
/* A short digest of bytes that have to be the same. */
uint64_t group_digest(const void *bytes, size_t count);

/* ---- exec.c ---------------------------------------------------------------------------------- */

/* A copy of exec with the pool_mpi's device where it names none, and is_async refused. */
pool_status group_exec_read(
    const pool_mpi *mpi, const char *call, const pool_exec *exec, pool_exec *known);

/* ---- element.c ------------------------------------------------------------------------------- */

/* Single elements in host memory, in standard form: x^exponent, x y, 1 / x. */
struct group_element {
    uint8_t bytes[POOL_FIELD_MAX_BYTES];
};
pool_status group_element_power(
    const pool_field *field, pool_device *device, uint64_t exponent, struct group_element *x);
pool_status group_element_multiply(const pool_field *field, pool_device *device,
    const struct group_element *y, struct group_element *x);
pool_status group_element_invert(
    const pool_field *field, pool_device *device, struct group_element *x);

/* ---- transforms.c, ntt.c ----------------------------------------------------------------------
 */

/* Transforms of one call: the call's values, where it runs, and memory for a rank's part. */
enum { NTT_FIRST, NTT_SECOND, NTT_REGIONS };

/* Memory for one transform. Those of a batch are computed in two lanes: the exchange of one
 * overlaps with the computation of the other. */
enum { GROUP_LANES = 2 };
#define GROUP_OFFERS_LANES (UINT32_C(1) << 31)
struct group_lane {
    pool_buffer *region[NTT_REGIONS];
    pool_buffer *extra; /* of an extension */
    pool_form form;     /* of what lies in the regions */
    pool_event *ready;  /* what is to be exchanged; NULL with one lane */
};
struct group_transforms {
    pool_mpi *mpi;
    struct group_call call;
    pool_exec exec;
    pool_lease *lease;
    pool_stream *stream;
    const pool_field *field;
    uint32_t log_ranks;
    bool has_agreed; /* on a failure: there is no further agreement in this call */
    struct group_lane lanes[GROUP_LANES];
    struct group_lane *lane; /* of the current step */
    uint32_t lane_count;     /* that all ranks have */
};

/* One transform: `in` and `out` have the rank's part. */
struct group_transform {
    pool_ntt_domain *domain;
    pool_ntt_direction direction;
    int32_t coset;
    pool_ntt_order order;
    bool takes_blocks; /* the input in natural order is distributed in blocks */
    bool gives_blocks;
    uint32_t checks;
};

static inline bool group_takes_reversed(pool_ntt_order order)
{
    return order == POOL_NTT_RN || order == POOL_NTT_RR;
}
static inline bool group_gives_reversed(pool_ntt_order order)
{
    return order == POOL_NTT_NR || order == POOL_NTT_RR;
}

pool_status group_transforms_read(
    struct group_transforms *run, const pool_exec *exec, const pool_ntt_domain *domain);
/* Allocates regions of `count` elements. For a batch the ranks agree on the number of lanes. */
pool_status group_transforms_open(
    struct group_transforms *run, uint64_t count, uint64_t extra, uint64_t batch);
/*
 * Runs the steps of every job of a batch, two jobs in turn where there are two lanes. A step ends
 * with computations that it has enqueued, and all but the first begin with an exchange.
 */
typedef pool_status (*group_step)(void *user, uint64_t job, uint32_t step);
pool_status group_transforms_run(
    struct group_transforms *run, uint64_t batch, uint32_t steps, group_step step, void *user);
/* Waits, frees, and agrees on the status that is returned, unless the ranks have agreed. */
pool_status group_transforms_close(struct group_transforms *run, pool_status status);
/* The two steps of a transform. */
pool_status group_transform_begin(struct group_transforms *run,
    const struct group_transform *transform, const pool_span *in, const pool_span *out);
pool_status group_transform_end(
    struct group_transforms *run, const struct group_transform *transform, const pool_span *out);
/* The elements of a packed span from `first` on. */
pool_span group_part(
    const struct group_transforms *run, const pool_span *span, uint64_t first, uint64_t count);
pool_span group_region(const struct group_transforms *run, int region, uint64_t count);
/* Natural order from blocks in `in` to cyclic in the second region, and back from the first. */
pool_status group_deal_blocks(
    struct group_transforms *run, const pool_span *in, uint64_t count, uint32_t checks);
pool_status group_collect_blocks(
    struct group_transforms *run, uint64_t count, const pool_span *out);
/* What is to be exchanged has been enqueued: after this the other lane's work is. */
pool_status group_mark_ready(struct group_transforms *run, pool_status status);
/* The ranks agree first: a rank that has failed would leave the others waiting. */
pool_status group_exchange_regions(
    struct group_transforms *run, int from, int to, uint64_t count, pool_status status);
pool_status group_check_elements(
    const struct group_transforms *run, const pool_span *span, uint64_t count, const char *name);

/* ---- exchange.c, nccl.c ---------------------------------------------------------------------- */

/* Blocks of `bytes` bytes: block i of `from` goes to rank i, that of rank i to block i of `to`. */
struct group_exchange {
    pool_buffer *from;
    pool_buffer *to;
    uint64_t bytes;
    pool_stream *stream; /* that has produced `from`, and may read `to` after the call */
};
/* What the transport needs. Before the agreement after which group_exchange_run is called. */
pool_status group_exchange_open(pool_mpi *mpi);
pool_status group_exchange_run(pool_mpi *mpi, const struct group_exchange *exchange);
void group_exchange_close(pool_mpi *mpi);

/* The transports that this rank has: bit t for transport t. */
uint32_t group_transports(pool_mpi *mpi);

bool group_nccl_is_found(void);
const char *group_nccl_why_not(void); /* "" where it is found. Static. */

/* Whose the device's context is. */
enum group_context {
    GROUP_CONTEXT_OTHER,  /* simulated, or in a worker process */
    GROUP_CONTEXT_NATIVE, /* of the CUDA driver in this process */
    GROUP_CONTEXT_PRIMARY /* its primary one, which is the one that NCCL uses */
};
enum group_context group_context_kind(pool_device *device);
/* Collective, like all NCCL calls. */
pool_status group_nccl_open(pool_mpi *mpi);
void group_nccl_close(pool_mpi *mpi);
pool_status group_nccl_exchange(pool_mpi *mpi, const struct group_exchange *exchange);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the pool's process (the client) and a worker process share: the layout of the control block,
 * the rings and the messages. Both sides come from the same build, which worker_build verifies.
 *
 * Both sides map the control block of the worker and the arena of pinned memory. Each thread of the
 * client that calls a worker has a ring of it, and a thread of the worker executes that ring's
 * messages in order. Neither side trusts the lengths, indices and states that the other one writes:
 * what is checked is copied to private memory first.
 */
#ifndef WORKER_PROTOCOL_H
#define WORKER_PROTOCOL_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include <devicepool/driver.h>

#define WORKER_MAX_DEVICES 64
/* Threads of the client that may use one worker at the same time. */
#define WORKER_RINGS 128
/*
 * Bytes of messages that may wait in a ring. A launch has about 150 bytes, so the client can be
 * some 400 launches ahead of the worker, which takes it 1.2 ms to enqueue.
 */
#define WORKER_RING_BYTES 65536u
/* Pageable memory is copied in chunks of this size. */
#define WORKER_STAGE_BYTES (UINT64_C(1) << 20)
/* The longest message: the kernel arguments of a launch are the longest part, at most 4 KiB. */
#define WORKER_MESSAGE_BYTES 8192u
#define WORKER_REPLY_BYTES 8192u
#define WORKER_MAX_PARAMETERS 480u /* of a kernel: their sizes fit a reply */
#define WORKER_HOST_CALLS 64u      /* host functions of streams that may wait at the same time */
#define WORKER_CONTEXTS 64u        /* of one device; number 0 is the primary one */
#define WORKER_TEXT_BYTES 1024u
#define WORKER_ATTRIBUTES 8u /* of a launch */
#define WORKER_RESOURCES 48u /* parts of a device in a message or a reply */

/* The descriptors that a worker inherits. */
enum {
    WORKER_FD_LIFELINE = 3,
    WORKER_FD_CONTROL,
    WORKER_FD_ARENA,
    WORKER_FD_PASSING, /* a socket for descriptors, see pass.h */
    WORKER_FD_FIRST_OTHER
};

/* Exit statuses of a worker that are no failures of the driver. */
enum {
    WORKER_EXIT_PARENT = 0,    /* the client has closed the lifeline */
    WORKER_EXIT_START = 120,   /* it could not start; the control block has the message */
    WORKER_EXIT_PROTOCOL = 121 /* the client wrote something that is no message */
};

/* Functions by number: those of the driver, then those of the protocol itself. */
enum worker_function {
#define WORKER_FUNCTION(field, symbol, suffix, version, need, parameters) WORKER_##field,
    POOL_CUDA_FUNCTIONS(WORKER_FUNCTION)
#undef WORKER_FUNCTION
        WORKER_DRIVER_FUNCTIONS,
    WORKER_PinArena = WORKER_DRIVER_FUNCTIONS, /* registers a range of the arena */
    WORKER_UnpinArena,
    WORKER_FUNCTIONS
};

/* Kinds of handles. Contexts have numbers instead, which the client assigns. */
enum worker_kind {
    WORKER_FREE = 0,
    WORKER_CONTEXT,
    WORKER_STREAM,
    WORKER_EVENT,
    WORKER_MODULE,
    WORKER_KERNEL,
    WORKER_MEMORY_POOL,
    WORKER_ALLOCATION, /* of memory without addresses */
    WORKER_GRAPH,
    WORKER_GRAPH_EXEC,
    WORKER_GREEN,
    WORKER_RESOURCE_DESC
};

/*
 * A handle in a message: the index of the object's slot in the worker, and how often the slot has
 * been reused. The first indices are not used: 0 is NULL, 1 and 2 name default streams.
 */
#define WORKER_INDEX_BITS 21
#define WORKER_INDEX_MASK ((1u << WORKER_INDEX_BITS) - 1)
#define WORKER_FIRST_INDEX 3u

/*
 * A message: a header, then words. Each argument is a word; a string or the bytes of a kernel's
 * arguments are a word with the length and as many bytes, padded to words.
 */
struct worker_header {
    uint32_t bytes;    /* of the message, a multiple of 8; 0: the rest of the ring is unused */
    uint16_t function; /* enum worker_function */
    uint16_t flags;
    uint32_t context; /* number of the current context + 1; 0: none */
    uint32_t unused;
};
_Static_assert(sizeof(struct worker_header) == 16, "messages consist of 8-byte words");

/* The client waits for the reply. Otherwise a failure is stored with the stream. */
#define WORKER_FLAG_WAITS 1u

/* How a launch's message has the arguments of the kernel. */
enum worker_arguments {
    WORKER_ARGUMENTS_NONE,
    WORKER_ARGUMENTS_EACH,  /* one after the other, see layout.h */
    WORKER_ARGUMENTS_BUFFER /* as the buffer that the caller passed */
};

/* Host memory in a message: an offset in the arena, or the stage of the ring. */
#define WORKER_STAGE UINT64_MAX

/* Worker's half of the reply to the message that the client waits for. */
struct worker_reply {
    uint32_t code;
    uint32_t bytes;
    uint64_t words[WORKER_REPLY_BYTES / 8];
};

struct worker_ring {
    /* written by the client */
    alignas(128) atomic_uint posted;    /* messages */
    atomic_uint_least64_t posted_bytes; /* grows; modulo WORKER_RING_BYTES it is a position */
    atomic_uint is_active;              /* a thread of the worker shall execute it */
    atomic_uint client_sleeps;
    /* A message has come or will come soon: the futex that an idle worker thread waits on. */
    atomic_uint is_expected;
    /* written by the worker */
    alignas(128) atomic_uint executed;
    atomic_uint_least64_t consumed_bytes;
    atomic_uint worker_sleeps;
    alignas(128) atomic_uint bell; /* the futex of a sleeping client; changes with each wake-up */
    alignas(128) struct worker_reply reply;
    alignas(128) unsigned char data[WORKER_RING_BYTES];
    alignas(4096) unsigned char stage[WORKER_STAGE_BYTES];
};

/* A host function that a stream has reached: the worker's stream waits until the client has run it.
 */
struct worker_host_call {
    atomic_uint state; /* enum worker_host_state; the futex of the waiting worker */
    uint64_t token;    /* of the client */
};
enum worker_host_state {
    WORKER_HOST_FREE,
    WORKER_HOST_FILLED,
    WORKER_HOST_REQUESTED,
    WORKER_HOST_DONE
};

enum worker_phase { WORKER_STARTING, WORKER_OPENING_DRIVER, WORKER_READY, WORKER_FAILED };

/* What the client tells the worker before it starts. */
struct worker_config {
    char devices[512]; /* "sim:2,mem=8G", or "" for the real driver */
    int32_t ordinal;   /* of the device in the worker */
    uint32_t ring_count;
    uint64_t arena_base; /* where the client has mapped the arena; the worker tries the same */
    uint64_t arena_bytes;
    uint64_t region_base; /* device memory's addresses: of simulated devices */
    uint64_t region_bytes;
    uint64_t blocked_base; /* addresses that the driver must not use: other workers' */
    uint64_t blocked_bytes;
    uint64_t spin_ns;
    uint32_t long_spinners; /* threads that may spin for long_spin_ns at the same time */
};

struct worker_shared {
    /* These two have the same place in every build, so that a worker of another one can say so. */
    uint64_t build;               /* the client's */
    char text[WORKER_TEXT_BYTES]; /* written by the worker: why it failed */
    struct worker_config config;
    /* written by the client, at any time: how long a thread of the worker spins before it sleeps */
    atomic_uint_least64_t long_spin_ns;
    /* written by the worker */
    alignas(128) atomic_uint phase;
    int32_t driver_version;
    uint32_t driver_flags;
    uint64_t functions[4]; /* bit n: the driver has function n */
    char library[256];
    /* The first sticky fault: the function, set first, and its code, not 0 once there is one. */
    alignas(128) atomic_uint fault_function;
    atomic_uint fault;
    atomic_uint beats; /* grows several times a second while the threads of the worker run */
    alignas(128) atomic_uint activations;   /* futex: the client has activated a ring */
    alignas(128) atomic_uint host_requests; /* futex: the worker has a host function to run */
    struct worker_host_call host_calls[WORKER_HOST_CALLS];
    alignas(4096) struct worker_ring rings[WORKER_RINGS];
};

/* A number of the library's version, of the functions in messages and of the layout above. */
uint64_t worker_build(void);

_Static_assert(WORKER_FUNCTIONS <= 256, "the set of functions has 256 bits");

#endif

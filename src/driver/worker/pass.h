/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors between the client and a worker, over a socket pair that the worker inherits. Each
 * has a number, which the message of the call has, too: one whose call failed meanwhile is closed
 * when the next one is received.
 */
#ifndef WORKER_PASS_H
#define WORKER_PASS_H

#include <stdbool.h>
#include <stdint.h>

/* Never waits. The descriptor stays the caller's; false: it could not be sent. */
bool pass_send(int socket, uint64_t number, int descriptor);

/* The descriptor of that number, which is the caller's; -1: none has been sent. Never waits. */
int pass_receive(int socket, uint64_t number);

#endif

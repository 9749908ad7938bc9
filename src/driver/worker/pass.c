/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors that cross the border between the processes: see pass.h.
 */
#include "driver/worker/pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for more than the one that is expected, as others would not be closed. */
#define RECEIVED 4
/* More than are left of calls that failed between sending and receiving. */
#define MOST_MESSAGES 64

union control {
    struct cmsghdr header;
    unsigned char bytes[CMSG_SPACE(RECEIVED * sizeof(int))];
};

bool pass_send(int socket, uint64_t number, int descriptor)
{
    union control control = {0};
    struct iovec part = {&number, sizeof(number)};
    struct msghdr message = {.msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = CMSG_SPACE(sizeof(int))};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    ssize_t sent;

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    do {
        sent = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof(number);
}

/* The first descriptor of a message; others are closed. */
static int take_first(struct msghdr *message)
{
    int first = -1;

    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header;
         header = CMSG_NXTHDR(message, header)) {
        size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < count; i++) {
            int descriptor;

            memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            if (first < 0)
                first = descriptor;
            else
                close(descriptor);
        }
    }
    return first;
}

/* One message; false: there is none. */
static bool receive_one(int socket, uint64_t *number, int *descriptor)
{
    union control control = {0};
    struct iovec part = {number, sizeof(*number)};
    struct msghdr message = {.msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof(control.bytes)};
    ssize_t got;

    do {
        got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return false;
    *descriptor = take_first(&message);
    if (got != (ssize_t)sizeof(*number))
        *number = 0;
    return got || *descriptor >= 0; /* otherwise the other side has closed the socket */
}

int pass_receive(int socket, uint64_t number)
{
    uint64_t received = 0;
    int descriptor = -1;

    for (int i = 0; i < MOST_MESSAGES && receive_one(socket, &received, &descriptor); i++) {
        if (received == number)
            return descriptor;
        if (descriptor >= 0)
            close(descriptor);
    }
    return -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock file: at most one process holds it, until it releases it or ends. A child of fork() does
 * not inherit the lock, so it is a record lock (fcntl); a lock of flock() or of an open file
 * description would live as long as the child. The kernel does not exclude the same process from
 * such a lock, and drops it when the process closes any descriptor of the file, so the process has
 * a list of its locks and opens no file of that list.
 */
#ifndef BASE_PROCESS_LOCK_H
#define BASE_PROCESS_LOCK_H

#include <sys/types.h>

struct process_lock {
    int file; /* -1: not held */
    dev_t device;
    ino_t inode;
    const char *path; /* the caller's, for as long as the lock is held */
    struct process_lock *next;
};

/*
 * Creates the file, with mode 0600, or takes the one that an ended process has left. 0, or -1 with
 * errno; EWOULDBLOCK: a process holds the lock, *owner is its id (0: not known). EEXIST: the path
 * names something else than a regular file of this user.
 */
int process_lock_take(struct process_lock *lock, const char *path, pid_t *owner);

/* Deletes the file and releases the lock; no-op unless it is held by this process. */
void process_lock_release(struct process_lock *lock);

#endif

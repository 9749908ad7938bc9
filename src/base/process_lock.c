/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock files of this process.
 */
#include "base/process_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lock.h"

static struct process_lock *held; /* guarded by list_lock; changed by single stores */

/* A forked child has none of the locks; closing the descriptors there drops none of the parent's.
 */
static void forget_all(void)
{
    for (struct process_lock *lock = held; lock; lock = lock->next) {
        int file = lock->file;

        lock->file = -1;
        close(file);
    }
    held = NULL;
}

static struct base_lock list_lock = BASE_LOCK_INIT_REINIT(forget_all);

static bool is_held_here(const struct stat *file)
{
    for (const struct process_lock *lock = held; lock; lock = lock->next)
        if (lock->device == file->st_dev && lock->inode == file->st_ino)
            return true;
    return false;
}

static bool is_own_file(const struct stat *file)
{
    return S_ISREG(file->st_mode) && file->st_uid == geteuid();
}

/* 0, -1 with errno, or 1: the file was deleted meanwhile, as its owner has released it. */
static int try_take(struct process_lock *lock, pid_t *owner)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat opened, named;
    int failure;

    if (!lstat(lock->path, &named)) {
        if (is_held_here(&named))
            *owner = getpid();
        if (*owner || !is_own_file(&named)) {
            errno = *owner ? EWOULDBLOCK : EEXIST;
            return -1;
        }
    }
    lock->file =
        base_openat(AT_FDCWD, lock->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (lock->file < 0)
        return -1;
    if (fcntl(lock->file, F_SETLK, &whole)) {
        failure = errno == EACCES || errno == EAGAIN ? EWOULDBLOCK : errno;
        if (failure == EWOULDBLOCK && !fcntl(lock->file, F_GETLK, &whole) &&
            whole.l_type != F_UNLCK)
            *owner = whole.l_pid;
    } else if (base_fstat(lock->file, &opened)) {
        failure = errno;
    } else if (lstat(lock->path, &named) || named.st_dev != opened.st_dev ||
               named.st_ino != opened.st_ino) {
        failure = 0;
    } else {
        lock->device = opened.st_dev;
        lock->inode = opened.st_ino;
        return 0;
    }
    base_close(lock->file);
    lock->file = -1;
    errno = failure;
    return failure ? -1 : 1;
}

int process_lock_take(struct process_lock *lock, const char *path, pid_t *owner)
{
    int result;

    *owner = 0;
    lock->path = path;
    lock->file = -1;
    base_lock(&list_lock);
    do {
        result = try_take(lock, owner);
    } while (result > 0);
    if (!result) {
        lock->next = held;
        held = lock;
    }
    base_unlock(&list_lock);
    return result;
}

void process_lock_release(struct process_lock *lock)
{
    base_lock(&list_lock);
    if (lock->file >= 0) {
        struct process_lock **link = &held;
        int file = lock->file;

        while (*link != lock)
            link = &(*link)->next;
        *link = lock->next;
        (void)base_unlinkat(AT_FDCWD, lock->path); /* while no other process can take it */
        lock->file = -1;
        close(file);
    }
    base_unlock(&list_lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File operations of the library, so that a test can make the n-th one fail. Each returns the
 * result of the system call of that name and sets errno; read and write continue until everything
 * is done.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

int base_openat(int directory, const char *name, int flags, mode_t mode); /* adds O_CLOEXEC */
int base_fstat(int file, struct stat *facts);
int base_mkdirat(int directory, const char *name, mode_t mode);
int base_fsync(int file);
int base_renameat(int directory, const char *from, const char *to);
int base_unlinkat(int directory, const char *name);
int base_read_all(int file, void *bytes, size_t size); /* 0, or -1 also when the file is shorter */
/* The same from `offset` on; errno is 0 when the file is shorter. */
int base_read_at(int file, void *bytes, size_t size, uint64_t offset);
int base_write_all(int file, const void *bytes, size_t size); /* 0 or -1 */
/*
 * Whether the limit on the size of files (RLIMIT_FSIZE, `ulimit -f`) allows a file of `size` bytes;
 * else errno is EFBIG. It also holds for memory of memfd_create. A call that exceeds it raises
 * SIGXFSZ, which ends the process, so every call that makes a file longer asks first.
 */
bool base_file_may_have(uint64_t size);
int base_truncate(int file, uint64_t size); /* ftruncate; 0 or -1 */
void *base_map(int file, size_t size);      /* read-only; NULL with errno; size must not be 0 */
void base_unmap(void *bytes, size_t size);  /* NULL is a no-op */
void base_close(int file);                  /* -1 is a no-op */

/*
 * Test hook: called with the operation's name before every operation except close and unmap; if it
 * returns non-zero, the operation fails with that errno. NULL removes it. Set it only while no
 * other thread uses files.
 */
typedef int (*base_file_hook)(void *user, const char *operation);
void base_file_set_hook(base_file_hook hook, void *user);

#endif

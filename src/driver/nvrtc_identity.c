/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which build of NVRTC it is: two of the same version can make different code. The digest is over
 * the build ids of its two library files, which the linker puts into a note of each; of a file
 * without one, over its contents.
 */
#include "driver/nvrtc.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/lock.h"
#include "base/status.h"

/* A loaded library and the build id that is found in it. */
struct search {
    const char *path;
    uint8_t id[64];
    size_t size; /* 0: none */
};

/* The notes of a segment that the loader has mapped. */
static void find_in_notes(struct search *search, const uint8_t *at, size_t left)
{
    ElfW(Nhdr) note;

    while (!search->size && left >= sizeof(note)) {
        size_t name, data;

        memcpy(&note, at, sizeof(note));
        name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
        data = ((size_t)note.n_descsz + 3) & ~(size_t)3;
        if (name > left - sizeof(note) || data > left - sizeof(note) - name)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
            memcmp(at + sizeof(note), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
            note.n_descsz <= sizeof(search->id)) {
            memcpy(search->id, at + sizeof(note) + name, note.n_descsz);
            search->size = note.n_descsz;
        }
        at += sizeof(note) + name + data;
        left -= sizeof(note) + name + data;
    }
}

static int visit_library(struct dl_phdr_info *info, size_t size, void *user)
{
    struct search *search = user;
    char resolved[PATH_MAX];

    (void)size;
    if (!strstr(info->dlpi_name, "nvrtc") || !realpath(info->dlpi_name, resolved) ||
        strcmp(resolved, search->path) != 0)
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            find_in_notes(search,
                (const uint8_t *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                info->dlpi_phdr[i].p_memsz);
    return 1;
}

static pool_status add_file(struct base_sha256 *digest, const char *path)
{
    uint8_t bytes[1 << 14];
    struct stat about;
    uint64_t done = 0;
    int file = base_openat(AT_FDCWD, path, O_RDONLY, 0);
    bool is_read = file >= 0 && !base_fstat(file, &about);
    pool_status status;

    while (is_read && done < (uint64_t)about.st_size) {
        const uint64_t left = (uint64_t)about.st_size - done;
        const size_t size = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);

        is_read = !base_read_at(file, bytes, size, done);
        if (is_read)
            base_sha256_add(digest, bytes, size);
        done += size;
    }
    status = is_read ? POOL_OK : base_fail(POOL_ERR_IO, "%s: %s", path, strerror(errno));
    base_close(file);
    return status;
}

/* A length in front, so that an id never hashes as contents do. "": there is no such library. */
static pool_status add_library(struct base_sha256 *digest, const char *path)
{
    struct search search = {.path = path};
    uint8_t size;

    if (path[0])
        dl_iterate_phdr(visit_library, &search);
    size = (uint8_t)search.size;
    base_sha256_add(digest, &size, sizeof(size));
    base_sha256_add(digest, search.id, search.size);
    return search.size || !path[0] ? POOL_OK : add_file(digest, path);
}

static pool_status compute(const struct nvrtc *nvrtc, uint8_t identity[BASE_SHA256_BYTES])
{
    struct base_sha256 *digest = base_sha256_begin();
    pool_status status, ended;

    if (!digest)
        return base_fail_memory("the digest of NVRTC");
    base_sha256_add(digest, &nvrtc->version, sizeof(nvrtc->version));
    status = add_library(digest, nvrtc->path);
    if (!status)
        status = add_library(digest, nvrtc->builtins);
    ended = base_sha256_end(digest, identity);
    return status ? status : ended;
}

static struct base_lock lock = BASE_LOCK_INIT;
static struct {
    const struct nvrtc *nvrtc;
    uint8_t identity[BASE_SHA256_BYTES];
} known[DRIVER_NVRTC_MAX]; /* guarded by lock */

pool_status driver_nvrtc_identify(const struct nvrtc *nvrtc, uint8_t identity[BASE_SHA256_BYTES])
{
    pool_status status = POOL_OK;
    size_t i = 0;

    base_lock(&lock);
    while (i < DRIVER_NVRTC_MAX && known[i].nvrtc && known[i].nvrtc != nvrtc)
        i++;
    if (i < DRIVER_NVRTC_MAX && known[i].nvrtc) {
        memcpy(identity, known[i].identity, BASE_SHA256_BYTES);
    } else {
        status = compute(nvrtc, identity);
        if (!status && i < DRIVER_NVRTC_MAX) {
            known[i].nvrtc = nvrtc;
            memcpy(known[i].identity, identity, BASE_SHA256_BYTES);
        }
    }
    base_unlock(&lock);
    return status;
}

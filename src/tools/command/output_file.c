/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Result files, see output_file.h.
 */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MAX_LINKS = 40, MAX_FILES = 16 };

/* ---- files that no output may be ------------------------------------------------------------- */

/* A file that exists, or a name in a directory. */
struct identity {
    dev_t device;
    ino_t inode;
    char name[NAME_MAX + 1]; /* of a file that does not exist, in the directory `inode`; else "" */
    int is_input;
};

static struct identity known[MAX_FILES];
static size_t known_count;

static const struct identity *find(const struct identity *wanted)
{
    for (size_t i = 0; i < known_count; i++) {
        if (known[i].device == wanted->device && known[i].inode == wanted->inode &&
            strcmp(known[i].name, wanted->name) == 0)
            return &known[i];
    }
    return NULL;
}

static void remember(const struct identity *identity)
{
    if (known_count < MAX_FILES)
        known[known_count++] = *identity;
}

void output_file_add_input(const char *path)
{
    struct identity identity = {.is_input = 1};
    struct stat facts;

    if (stat(path, &facts) || !S_ISREG(facts.st_mode))
        return;
    identity.device = facts.st_dev;
    identity.inode = facts.st_ino;
    remember(&identity);
}

/* ---- signals --------------------------------------------------------------------------------- */

/* Names of new files, which the handler deletes; an entry is in use while its first byte is not 0.
 */
static char temporaries[MAX_FILES][PATH_MAX];
static pid_t owner; /* a child of fork deletes nothing */
static volatile sig_atomic_t is_renaming, pending;

void output_files_abandon(void)
{
    for (size_t i = 0; i < MAX_FILES; i++) {
        if (temporaries[i][0] && getpid() == owner)
            unlink(temporaries[i]);
    }
}

static void end_process(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

/* Between the first and the last rename the process continues: all become visible, or none. */
static void clean_up(int number)
{
    const int error = errno;

    if (is_renaming) {
        pending = number;
        errno = error;
        return;
    }
    output_files_abandon();
    end_process(number);
}

/* Signals that are ignored, or that the command handles itself, stay so. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM};
    static int is_set;
    struct sigaction action = {.sa_handler = clean_up}, old;

    if (is_set)
        return;
    is_set = 1;
    owner = getpid();
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaddset(&action.sa_mask, numbers[i]);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (!sigaction(numbers[i], NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* write fails with EFBIG */
}

/* Adds a name. Its first byte is written last: another thread may be in the handler. */
static void add_temporary(const char *name)
{
    for (size_t i = 0; i < MAX_FILES; i++) {
        if (temporaries[i][0])
            continue;
        memcpy(temporaries[i] + 1, name + 1, strlen(name));
        temporaries[i][0] = *name;
        return;
    }
}

static void remove_temporary(const char *name)
{
    for (size_t i = 0; i < MAX_FILES; i++) {
        if (strcmp(temporaries[i], name) == 0)
            temporaries[i][0] = 0;
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The directory of a path, and the beginning of its last name. */
static const char *split(const char *path, char directory[PATH_MAX])
{
    const char *slash = strrchr(path, '/');

    if (!slash) {
        strcpy(directory, ".");
        return path;
    }
    snprintf(directory, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return slash + 1;
}

/* /dev/stdout, /dev/fd/N and /proc/self/fd/N are links into procfs: the descriptor itself is used,
 * because opening a file again would lose its offset. Returns -1 if it is none. */
static int own_descriptor(const char *directory, const char *name)
{
    char path[PATH_MAX], own[64];
    struct statfs system;
    int is_own;

    if (statfs(directory, &system) || system.f_type != PROC_SUPER_MAGIC ||
        !realpath(directory, path) || !*name || name[strspn(name, "0123456789")])
        return -1;
    snprintf(own, sizeof(own), "/proc/%ld/fd", (long)getpid());
    is_own = strcmp(path, own) == 0;
    snprintf(own, sizeof(own), "/proc/%ld/task/", (long)getpid());
    return is_own || strncmp(path, own, strlen(own)) == 0 ? atoi(name) : -1;
}

/*
 * Follows links into output->target. Returns 0, or -1 and sets errno. The last link of a descriptor
 * is not followed: *descriptor is its number then.
 */
static int follow_links(const char *path, char target[PATH_MAX], int *descriptor)
{
    char directory[PATH_MAX], link[PATH_MAX], next[2 * PATH_MAX];

    *descriptor = -1;
    if (snprintf(target, PATH_MAX, "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (int i = 0; i < MAX_LINKS; i++) {
        struct stat facts;
        const char *name = split(target, directory);
        ssize_t length;

        if (lstat(target, &facts) || !S_ISLNK(facts.st_mode))
            return 0;
        *descriptor = own_descriptor(directory, name);
        if (*descriptor >= 0)
            return 0;
        length = readlink(target, link, sizeof(link) - 1);
        if (length < 0)
            return -1;
        link[length] = 0;
        if (*link == '/')
            snprintf(next, sizeof(next), "%s", link);
        else
            snprintf(next, sizeof(next), "%s/%s", directory, link);
        if (snprintf(target, PATH_MAX, "%s", next) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
    }
    errno = ELOOP;
    return -1;
}

static const char *because_of(int error)
{
    static char reason[160];

    snprintf(reason, sizeof(reason), "cannot be written: %s", strerror(error));
    return reason;
}

/* Refuses a file that is read, or another output. */
static const char *claim(const struct identity *identity)
{
    const struct identity *other = find(identity);

    if (!other) {
        remember(identity);
        return NULL;
    }
    return other->is_input ? "is also an input, which would be overwritten: write to another file"
                           : "is given for two outputs: name two files";
}

/* The file is written at the end, in the place of `facts` or, if that is NULL, as a new one. */
static const char *prepare_regular(const struct output_file *output, const struct stat *facts)
{
    char directory[PATH_MAX];
    const char *name = split(output->target, directory);
    struct identity identity = {0};
    struct stat place;

    if (!*name)
        return because_of(EISDIR);
    if (strlen(name) > NAME_MAX)
        return because_of(ENAMETOOLONG);
    if (stat(directory, &place))
        return because_of(errno);
    if (!S_ISDIR(place.st_mode))
        return because_of(ENOTDIR);
    if (facts) {
        identity.device = facts->st_dev;
        identity.inode = facts->st_ino;
        if (faccessat(AT_FDCWD, output->target, W_OK, AT_EACCESS))
            return because_of(errno);
    } else {
        identity.device = place.st_dev;
        identity.inode = place.st_ino;
        strcpy(identity.name, name);
    }
    if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS))
        return errno == EACCES ? "cannot be written: its directory takes no new file, which is "
                                 "needed to replace it at once"
                               : because_of(errno);
    return claim(&identity);
}

/* A regular file behind a descriptor must not be an input either. */
static const char *open_direct(struct output_file *output, int descriptor)
{
    struct stat facts;

    output->is_direct = 1;
    output->file = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
                                   : open(output->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (output->file < 0 || fstat(output->file, &facts))
        return because_of(errno);
    if (S_ISREG(facts.st_mode)) {
        const struct identity identity = {.device = facts.st_dev, .inode = facts.st_ino};

        return claim(&identity);
    }
    return NULL;
}

const char *output_file_open(const char *path, struct output_file *output)
{
    struct stat facts;
    const char *wrong;
    int descriptor;

    *output = (struct output_file){.path = path, .file = -1};
    if (!path)
        return NULL;
    if (!*path)
        wrong = because_of(ENOENT);
    else if (follow_links(path, output->target, &descriptor))
        wrong = because_of(errno);
    else if (descriptor >= 0)
        wrong = open_direct(output, descriptor);
    else if (stat(output->target, &facts))
        wrong = errno == ENOENT ? prepare_regular(output, NULL) : because_of(errno);
    else if (S_ISDIR(facts.st_mode))
        wrong = because_of(EISDIR);
    else
        wrong = S_ISREG(facts.st_mode) ? prepare_regular(output, &facts) : open_direct(output, -1);
    if (wrong && output->file >= 0)
        close(output->file);
    if (wrong)
        *output = (struct output_file){.file = -1};
    return wrong;
}

/* ---- writing --------------------------------------------------------------------------------- */

int output_file_create(struct output_file *output)
{
    char directory[PATH_MAX];
    struct stat facts;
    uint64_t number;

    if (output->file >= 0)
        return 0;
    (void)split(output->target, directory);
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return -1;
    if (snprintf(output->temporary, sizeof(output->temporary), "%s/.devicepool-%016" PRIx64,
            directory, number) >= (int)sizeof(output->temporary)) {
        output->temporary[0] = 0;
        errno = ENAMETOOLONG;
        return -1;
    }
    catch_signals();
    add_temporary(output->temporary);
    output->file = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output->file < 0) {
        remove_temporary(output->temporary);
        output->temporary[0] = 0;
        return -1;
    }
    if (stat(output->target, &facts) == 0)
        return fchmod(output->file, facts.st_mode & 0777);
    return 0;
}

int output_file_write(struct output_file *output, const void *bytes, size_t count)
{
    const char *rest = bytes;

    if (output_file_create(output))
        return -1;
    while (count) {
        ssize_t written = write(output->file, rest, count);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        rest += written;
        count -= (size_t)written;
    }
    return 0;
}

/* File systems without fsync are written all the same. */
static int close_file(struct output_file *output, int keeps)
{
    const int file = output->file;

    output->file = -1;
    if (file < 0)
        return 0;
    if (keeps && !output->is_direct && fsync(file) && errno != EINVAL && errno != ENOTSUP) {
        const int error = errno;

        close(file);
        errno = error;
        return -1;
    }
    return close(file);
}

static void forget(struct output_file *output, int deletes)
{
    if (deletes && output->temporary[0])
        unlink(output->temporary);
    if (output->temporary[0])
        remove_temporary(output->temporary);
    *output = (struct output_file){.file = -1};
}

int output_files_close(
    struct output_file *outputs, size_t count, int keeps, struct output_file **failed)
{
    int error = 0;

    *failed = NULL;
    for (size_t i = 0; i < count; i++) {
        if (close_file(&outputs[i], keeps) && keeps && !*failed) {
            error = errno;
            *failed = &outputs[i];
        }
    }
    keeps = keeps && !*failed;
    is_renaming = keeps;
    for (size_t i = 0; i < count && keeps; i++) {
        if (!outputs[i].temporary[0] || !rename(outputs[i].temporary, outputs[i].target))
            continue;
        error = errno;
        *failed = &outputs[i];
        keeps = 0;
    }
    for (size_t i = 0; i < count; i++) {
        /* The caller needs the path of the one that failed. */
        const char *path = &outputs[i] == *failed ? outputs[i].path : NULL;

        forget(&outputs[i], !keeps);
        outputs[i].path = path;
    }
    is_renaming = 0;
    if (pending)
        end_process(pending);
    errno = error;
    return *failed ? -1 : 0;
}

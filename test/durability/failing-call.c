/*
 * A disk of which one call fails: preloaded into a process (LD_PRELOAD), it counts the calls on paths
 * below FAIL_FOLDER, of every thread, from the moment when the file FAIL_WHEN exists.
 *
 *   FAIL_AT     the number of the call that fails, from 1 on; 0: none does
 *   FAIL_ERRNO  with this error, a number
 *   FAIL_ON     if it is set, every later call fails too
 *   FAIL_KINDS  if it is set, only these fail: open,mkdir,read,write,rename,sync,statfs,unlink,truncate
 *   FAIL_COUNT  a file: gets one line for each call, KIND PATH
 *
 * Of a call that fails it says so on the process's standard output, before the process knows:
 * "failed KIND PATH". Whoever says there what is acknowledged, without a buffer, says it in order.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>


static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int has_begun;
static long counted;

/* The call of this name that would have been made without this library. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int is_on(void) {
  if (has_begun) return 1;
  const char *trigger = getenv("FAIL_WHEN");
  if (trigger == NULL || access(trigger, F_OK) != 0) return 0;
  has_begun = 1;
  return 1;
}

/* What of the path is below the folder; NULL: it is elsewhere. */
static const char *below(const char *path) {
  const char *folder = getenv("FAIL_FOLDER");
  size_t length = folder == NULL ? 0 : strlen(folder);
  if (length == 0 || path == NULL || strncmp(path, folder, length) != 0) return NULL;
  if (path[length] == '\0') return ".";
  return path[length] == '/' ? path + length + 1 : NULL;
}

static int is_of_kinds(const char *kind) {
  const char *kinds = getenv("FAIL_KINDS");
  size_t length = strlen(kind);
  if (kinds == NULL || kinds[0] == '\0') return 1;
  for (const char *at = kinds; (at = strstr(at, kind)) != NULL; at += length) {
    char end = at[length];
    if ((at == kinds || at[-1] == ',') && (end == ',' || end == '\0')) return 1;
  }
  return 0;
}

static void say(int fd, const char *before, const char *kind, const char *path) {
  char line[PATH_MAX + 64];
  int length = snprintf(line, sizeof line, "%s%s %s\n", before, kind, path);
  if (REAL(write)(fd, line, (size_t)length) != length) _exit(70);
}

static long number(const char *name) {
  const char *value = getenv(name);
  return value == NULL ? 0 : atol(value);
}

/* Counts the call, and sets errno when it fails. */
static int fails(const char *kind, const char *path) {
  const char *name = is_on() ? below(path) : NULL;
  const char *report = getenv("FAIL_COUNT");
  long at = number("FAIL_AT");
  if (name == NULL) return 0;
  pthread_mutex_lock(&lock);
  counted += 1;
  int failed = at > 0 && is_of_kinds(kind) &&
               (counted == at || (counted > at && getenv("FAIL_ON") != NULL));
  if (report != NULL) {
    int fd = REAL(open)(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) _exit(70);
    say(fd, "", kind, name);
    close(fd);
  }
  if (failed) say(STDOUT_FILENO, "failed ", kind, name);
  pthread_mutex_unlock(&lock);
  if (failed) errno = (int)number("FAIL_ERRNO");
  return failed;
}

static int fd_fails(const char *kind, int fd) {
  char link[64], path[PATH_MAX];
  if (!is_on()) return 0;
  int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  errno = before;
  if (length < 0) return 0;
  path[length] = '\0';
  return fails(kind, path);
}

#define OPEN(name)                                                    \
  int name(const char *path, int flags, ...) {                        \
    va_list args;                                                     \
    va_start(args, flags);                                            \
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;         \
    va_end(args);                                                     \
    return fails("open", path) ? -1 : REAL(name)(path, flags, mode);  \
  }
#define OPENAT(name)                                                            \
  int name(int folder, const char *path, int flags, ...) {                      \
    va_list args;                                                               \
    va_start(args, flags);                                                      \
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;                   \
    va_end(args);                                                               \
    return fails("open", path) ? -1 : REAL(name)(folder, path, flags, mode);    \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

#define OF_FD(kind, type, name, parameters, ...) \
  type name parameters { return fd_fails(kind, fd) ? -1 : REAL(name)(__VA_ARGS__); }
OF_FD("read", ssize_t, read, (int fd, void *to, size_t size), fd, to, size)
OF_FD("read", ssize_t, pread, (int fd, void *to, size_t size, off_t at), fd, to, size, at)
OF_FD("read", ssize_t, pread64, (int fd, void *to, size_t size, off64_t at), fd, to, size, at)
OF_FD("write", ssize_t, write, (int fd, const void *from, size_t size), fd, from, size)
OF_FD("write", ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), fd, from, size, at)
OF_FD("write", ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), fd, from, size,
      at)
OF_FD("write", ssize_t, writev, (int fd, const struct iovec *parts, int count), fd, parts, count)
OF_FD("write", ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), fd, parts,
      count, at)
OF_FD("write", ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), fd,
      parts, count, at)
OF_FD("sync", int, fsync, (int fd), fd)
OF_FD("sync", int, fdatasync, (int fd), fd)
OF_FD("truncate", int, ftruncate, (int fd, off_t size), fd, size)
OF_FD("truncate", int, ftruncate64, (int fd, off64_t size), fd, size)
OF_FD("statfs", int, fstatfs, (int fd, struct statfs *found), fd, found)
OF_FD("statfs", int, fstatfs64, (int fd, struct statfs64 *found), fd, found)

#define OF_PATH(kind, name, parameters, ...) \
  int name parameters { return fails(kind, path) ? -1 : REAL(name)(__VA_ARGS__); }
OF_PATH("statfs", statfs, (const char *path, struct statfs *found), path, found)
OF_PATH("statfs", statfs64, (const char *path, struct statfs64 *found), path, found)
OF_PATH("unlink", unlink, (const char *path), path)
OF_PATH("mkdir", mkdir, (const char *path, mode_t mode), path, mode)
OF_PATH("rename", rename, (const char *from, const char *path), from, path)

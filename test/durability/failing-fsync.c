/*
 * A disk that fails: preloaded into a gateway (LD_PRELOAD), it lets fsync and fdatasync answer EIO
 * for files whose path contains FAIL_FSYNC_OF, from the moment when the file FAIL_FSYNC_WHEN
 * exists. Everything else goes on as usual.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int fd) {
  const char *trigger = getenv("FAIL_FSYNC_WHEN");
  const char *part = getenv("FAIL_FSYNC_OF");
  char link[64];
  char path[PATH_MAX];
  ssize_t length;
  if (trigger == NULL || part == NULL || access(trigger, F_OK) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return strstr(path, part) != NULL;
}

typedef int sync_call(int fd);

static int call(const char *name, int fd) {
  sync_call *real = (sync_call *)dlsym(RTLD_NEXT, name);
  if (fails(fd)) {
    errno = EIO;
    return -1;
  }
  return real(fd);
}

int fsync(int fd) { return call("fsync", fd); }
int fdatasync(int fd) { return call("fdatasync", fd); }

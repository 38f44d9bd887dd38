/*
 * A disk that keeps only what was synced: preloaded into a gateway (LD_PRELOAD), it writes down below
 * LYING_DISK_SHADOW what a power cut would leave of the folder LYING_DISK_ROOT, and makes one sync
 * fail. The bench takes the power away: it kills the gateway and puts that in the folder's place
 * (bench/power-cut/disk.ts).
 *
 *   file/KEY      the bytes of a file as they were at its last fsync that succeeded
 *   names/KEY     the names in a folder as they were at its last: lines of TYPE KEY NAME
 *   dropped/KEY   the bytes of a file, or the names in a folder, when its fsync failed
 *   arm           written by the bench: COUNT PART. The COUNTth sync of a path that contains PART fails;
 *                 with a $ at its end, of one that ends so
 *   failed        written here: the time in ns since the epoch, and the path
 *   acks          written here: one line for each acknowledgement that left after that, in us
 *
 * As with Linux, what could not be written by the sync that failed is dropped, and can still be read:
 * later syncs succeed and do not write it, until it is changed again. KEY is the inode and the time of
 * its birth, since inodes are used again.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096
#define KEY_MAX 64

static const char *root, *shadow;
static size_t root_length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long failed_at;
static int counted;

typedef int sync_call(int fd);
typedef ssize_t write_call(int fd, const void *bytes, size_t length);
typedef ssize_t writev_call(int fd, const struct iovec *parts, int count);
typedef ssize_t pwrite_call(int fd, const void *bytes, size_t length, off_t at);
typedef ssize_t sendmsg_call(int fd, const struct msghdr *message, int flags);
static sync_call *real_fsync, *real_fdatasync;
static write_call *real_write;
static writev_call *real_writev;
static sendmsg_call *real_sendmsg;
static pwrite_call *real_pwrite;

__attribute__((constructor)) static void begin(void) {
  root = getenv("LYING_DISK_ROOT");
  shadow = getenv("LYING_DISK_SHADOW");
  root_length = root == NULL ? 0 : strlen(root);
  real_fsync = (sync_call *)dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = (sync_call *)dlsym(RTLD_NEXT, "fdatasync");
  real_write = (write_call *)dlsym(RTLD_NEXT, "write");
  real_writev = (writev_call *)dlsym(RTLD_NEXT, "writev");
  real_sendmsg = (sendmsg_call *)dlsym(RTLD_NEXT, "sendmsg");
  real_pwrite = (pwrite_call *)dlsym(RTLD_NEXT, "pwrite64");
}

static long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void give_up(const char *what) {
  fprintf(stderr, "lying-disk: %s: %s\n", what, strerror(errno));
  _exit(70);
}

static void shadow_path(char *path, const char *kind, const char *name) {
  snprintf(path, PATH_MAX, "%s/%s%s%s", shadow, kind, name[0] == '\0' ? "" : "/", name);
}

/* Appends a line to a file of the report. */
static void report(const char *file, const char *format, ...) {
  char path[PATH_MAX], line[PATH_MAX + 64];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  shadow_path(path, file, "");
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd < 0 || real_write(fd, line, (size_t)length) != length) give_up(path);
  close(fd);
}

/* Whether this descriptor is of a file or folder that is watched; its path as it is called now. */
static int is_watched(int fd, char *path) {
  char link[64];
  if (root == NULL || shadow == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  if (strncmp(path, root, root_length) != 0) return 0;
  if (path[root_length] != '/' && path[root_length] != '\0') return 0;
  /* Nobody misses it, and it is large. */
  return strstr(path, "/ballast") == NULL;
}

static void key_of(int dir, const char *name, char *key, unsigned *mode) {
  struct statx found;
  if (statx(dir, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BTIME | STATX_INO | STATX_TYPE,
            &found) != 0) {
    key[0] = '\0';
    return;
  }
  snprintf(key, KEY_MAX, "%llu-%lld", (unsigned long long)found.stx_ino,
           found.stx_btime.tv_sec * 1000000000LL + found.stx_btime.tv_nsec);
  *mode = found.stx_mode;
}

struct bytes {
  char *at;
  size_t size;
};

static struct bytes read_whole(int fd) {
  struct bytes all = {NULL, 0};
  struct stat found;
  if (fd < 0 || fstat(fd, &found) != 0) return all;
  all.at = malloc((size_t)found.st_size + 1);
  while (all.size < (size_t)found.st_size) {
    ssize_t part = pread(fd, all.at + all.size, (size_t)found.st_size - all.size, (off_t)all.size);
    if (part <= 0) break;
    all.size += (size_t)part;
  }
  all.at[all.size] = '\0';
  return all;
}

/* Nothing when there is none. */
static struct bytes read_shadow(const char *kind, const char *key) {
  char path[PATH_MAX];
  shadow_path(path, kind, key);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct bytes all = read_whole(fd);
  if (fd >= 0) close(fd);
  return all;
}

static void write_shadow(const char *kind, const char *key, struct bytes all) {
  char path[PATH_MAX], temporary[PATH_MAX + 4];
  shadow_path(path, kind, key);
  snprintf(temporary, sizeof temporary, "%s.new", path);
  int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) give_up(temporary);
  for (size_t at = 0; at < all.size;) {
    ssize_t part = real_write(fd, all.at + at, all.size - at);
    if (part <= 0) give_up(temporary);
    at += (size_t)part;
  }
  close(fd);
  if (rename(temporary, path) != 0) give_up(path);
}

/* Takes from `before` what was dropped and has not been changed since. */
static void without_dropped(const char *key, struct bytes *live) {
  struct bytes dropped = read_shadow("dropped", key);
  if (dropped.at == NULL) return;
  struct bytes before = read_shadow("file", key);
  for (size_t at = 0; at < live->size; at += BLOCK) {
    size_t length = live->size - at < BLOCK ? live->size - at : BLOCK;
    if (at + length > dropped.size) continue;
    if (memcmp(live->at + at, dropped.at + at, length) != 0) continue;
    memset(live->at + at, 0, length);
    if (at < before.size) {
      memcpy(live->at + at, before.at + at, before.size - at < length ? before.size - at : length);
    }
  }
  free(dropped.at);
  free(before.at);
}

/* Other syncs of a file that had dropped pages copy what is equal on both: nothing is lost by that. */
static void keep_file(int fd, const char *key) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int own = open(path, O_RDONLY | O_CLOEXEC);
  struct bytes live = read_whole(own);
  if (own >= 0) close(own);
  if (live.at == NULL) return;
  without_dropped(key, &live);
  write_shadow("file", key, live);
  free(live.at);
}

static struct bytes names_in(const char *path) {
  struct bytes all = {calloc(1, 1), 0};
  DIR *folder = opendir(path);
  if (folder == NULL) return all;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char key[KEY_MAX], line[PATH_MAX];
    unsigned mode = 0;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    key_of(dirfd(folder), entry->d_name, key, &mode);
    if (key[0] == '\0') continue;
    int length = snprintf(line, sizeof line, "%c %s %s\n", S_ISDIR(mode) ? 'd' : 'f', key,
                          entry->d_name);
    all.at = realloc(all.at, all.size + (size_t)length + 1);
    memcpy(all.at + all.size, line, (size_t)length + 1);
    all.size += (size_t)length;
  }
  closedir(folder);
  return all;
}

static int has_line(struct bytes all, const char *line, size_t length) {
  for (const char *at = all.at; at != NULL && (at = strstr(at, line)) != NULL; at += length) {
    if (at == all.at || at[-1] == '\n') return 1;
  }
  return 0;
}

static void keep_names(const char *path, const char *key) {
  struct bytes live = names_in(path);
  struct bytes dropped = read_shadow("dropped", key);
  struct bytes before = read_shadow("names", key);
  if (dropped.at != NULL) {
    struct bytes kept = {calloc(1, live.size + 1), 0};
    for (char *at = live.at, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
      char line[PATH_MAX];
      size_t length = (size_t)(end - at) + 1;
      snprintf(line, sizeof line, "%.*s", (int)length, at);
      if (has_line(dropped, line, length) && !has_line(before, line, length)) continue;
      memcpy(kept.at + kept.size, at, length);
      kept.size += length;
    }
    free(live.at);
    live = kept;
  }
  write_shadow("names", key, live);
  free(live.at);
  free(dropped.at);
  free(before.at);
}

static int is_to_fail(const char *path) {
  char part[256];
  int wanted = 0;
  struct bytes arm = read_shadow("arm", "");
  if (arm.at == NULL || failed_at != 0) {
    free(arm.at);
    return 0;
  }
  part[0] = '\0';
  sscanf(arm.at, "%d %255s", &wanted, part);
  free(arm.at);
  size_t length = strlen(part), whole = strlen(path);
  if (length > 0 && part[length - 1] == '$') {
    part[length -= 1] = '\0';
    if (whole < length || strcmp(path + whole - length, part) != 0) return 0;
  }
  /* The index is made again. */
  if (strstr(path, part) == NULL || strstr(path, "/search") != NULL) return 0;
  counted += 1;
  return counted >= wanted;
}

static int synced(int fd, sync_call *real) {
  char path[PATH_MAX], key[KEY_MAX];
  unsigned mode = 0;
  if (!is_watched(fd, path)) return real(fd);
  key_of(fd, "", key, &mode);
  pthread_mutex_lock(&lock);
  struct bytes live = {NULL, 0};
  int fails = is_to_fail(path);
  if (fails) {
    live = S_ISDIR(mode) ? names_in(path) : read_whole(fd);
    write_shadow("dropped", key, live);
    free(live.at);
    report("failed", "%ld %s\n", now_ns(), path);
    failed_at = now_ns();
  } else if (S_ISDIR(mode)) {
    keep_names(path, key);
  } else {
    keep_file(fd, key);
  }
  pthread_mutex_unlock(&lock);
  if (!fails) return 0;
  errno = EIO;
  return -1;
}

int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }

static const char *ACKS[] = {"queued as", "<Response/>", "{\"ok\":true,\"seq\"",
                             "{\"ok\":true,\"entries\"", "HTTP/1.1 201"};

static void look(const void *bytes, size_t length) {
  for (size_t n = 0; n < sizeof ACKS / sizeof *ACKS; n += 1) {
    if (memmem(bytes, length, ACKS[n], strlen(ACKS[n])) == NULL) continue;
    pthread_mutex_lock(&lock);
    report("acks", "%ld %s\n", (now_ns() - failed_at) / 1000, ACKS[n]);
    pthread_mutex_unlock(&lock);
  }
}

/*
 * A page that is written again is dirty again, also when it is written with what it was: here its copy
 * among what was dropped is made another one.
 */
static void rewritten(int fd, size_t length, off_t at) {
  char path[PATH_MAX], key[KEY_MAX], dropped[PATH_MAX];
  unsigned mode = 0;
  if (length == 0 || !is_watched(fd, path)) return;
  key_of(fd, "", key, &mode);
  shadow_path(dropped, "dropped", key);
  pthread_mutex_lock(&lock);
  int own = open(dropped, O_RDWR | O_CLOEXEC);
  if (own >= 0) {
    struct stat found;
    char live, other;
    fstat(own, &found);
    for (off_t block = at / BLOCK * BLOCK; block < at + (off_t)length; block += BLOCK) {
      if (block >= found.st_size) break;
      char path_of[64];
      snprintf(path_of, sizeof path_of, "/proc/self/fd/%d", fd);
      int reader = open(path_of, O_RDONLY | O_CLOEXEC);
      if (reader >= 0 && pread(reader, &live, 1, block) == 1) {
        other = (char)~live;
        if (real_pwrite(own, &other, 1, block) != 1) give_up(dropped);
      }
      if (reader >= 0) close(reader);
    }
    close(own);
  }
  pthread_mutex_unlock(&lock);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) {
  ssize_t written = real_pwrite(fd, bytes, length, at);
  if (written > 0) rewritten(fd, (size_t)written, at);
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  return pwrite64(fd, bytes, length, at);
}

static int is_socket(int fd) {
  struct stat found;
  return fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  if (failed_at != 0 && is_socket(fd)) look(bytes, length);
  return real_write(fd, bytes, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (failed_at != 0 && is_socket(fd)) {
    for (int n = 0; n < count; n += 1) look(parts[n].iov_base, parts[n].iov_len);
  }
  return real_writev(fd, parts, count);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  if (failed_at != 0) {
    for (size_t n = 0; n < message->msg_iovlen; n += 1) {
      look(message->msg_iov[n].iov_base, message->msg_iov[n].iov_len);
    }
  }
  return real_sendmsg(fd, message, flags);
}

/*
 * A clock that is wrong: preloaded into a gateway (LD_PRELOAD), it moves the time of day by
 * CLOCK_OFFSET_SECONDS. Clocks that only measure how long something takes are as usual.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static time_t offset(void) {
  const char *seconds = getenv("CLOCK_OFFSET_SECONDS");
  return seconds == NULL ? 0 : (time_t)atoll(seconds);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  int result;
  if (real == NULL) real = dlsym(RTLD_NEXT, "clock_gettime");
  result = real(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    now->tv_sec += offset();
  }
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  static int (*real)(struct timeval *, void *);
  int result;
  if (real == NULL) real = dlsym(RTLD_NEXT, "gettimeofday");
  result = real(now, zone);
  if (result == 0 && now != NULL) now->tv_sec += offset();
  return result;
}

time_t time(time_t *where) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (where != NULL) *where = now.tv_sec;
  return now.tv_sec;
}

/* Copyright 2026 robodyn_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Replays recorded steps and the calls before them, and compares efforts, phases, reasons and
 * errors bit for bit. Each record: time, call, numbers of the call, error, publish, phase, joint of
 * the reason (a double each), code of the reason (32 characters), the numbers, states (7 double a
 * joint), efforts (a double a joint). See test/c_library/replica.py.
 *
 * Arguments: file, number of joints, and optionally: steps that are recorded, file of the
 * recording, number of repetitions.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "robodyn_controller.h"

enum { MOST = 32, NUMBERS = 2 + 1000 * (1 + 3 * MOST), HEAD = 7, REASON = 32 };
enum {
  NOTHING,
  ARM,
  DISARM,
  STOP,
  EMERGENCY_STOP,
  RELEASE,
  STREAM_JOINTS,
  STREAM_POSE,
  TRAJECTORY,
  TARGET,
  POSE,
  SETTINGS
};

/* Counts allocations: defined by a library that LD_PRELOAD names, otherwise absent. */
extern long allocations(void) __attribute__((weak));

static double seconds(void)
{
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Makes a call; returns its error. */
static int call(robodyn_controller *c, int kind, const double *x, size_t count, size_t n)
{
  switch (kind) {
  case ARM:
    robodyn_controller_arm(c);
    return ROBODYN_OK;
  case DISARM:
    robodyn_controller_disarm(c);
    return ROBODYN_OK;
  case STOP:
    robodyn_controller_stop(c);
    return ROBODYN_OK;
  case EMERGENCY_STOP:
  case RELEASE:
    robodyn_controller_emergency_stop(c, kind == EMERGENCY_STOP);
    return ROBODYN_OK;
  case STREAM_JOINTS:
    robodyn_controller_set_reference(c, x, x + n, x + 2 * n);
    return ROBODYN_OK;
  case STREAM_POSE:
    robodyn_controller_set_pose(c, x, x + 3, x + 7);
    return ROBODYN_OK;
  case TRAJECTORY: {
    const int points = count ? (int)x[0] : 0;
    const double *const times = x + 2, *const positions = times + points;
    return robodyn_controller_post_trajectory(
        c, points, times, positions, positions + (size_t)points * n,
        points && x[1] == 3.0 ? positions + 2 * (size_t)points * n : NULL, NULL, NULL);
  }
  case TARGET:
    return robodyn_controller_post_target(c, x);
  case POSE:
    return robodyn_controller_post_pose(c, x, x + 3);
  case SETTINGS:
    return robodyn_controller_post_settings(c, (int)x[0]);
  default:
    return ROBODYN_OK;
  }
}

struct totals {
  long steps;
  double *times;
};

static const long ROOM = 2000000;

/* Replays all records; returns 0 if they agree, 1 after the first that does not. */
static int replay(robodyn_controller *c, const char *data, const char *end, size_t n,
                  struct totals *totals)
{
  double efforts[MOST];
  static double numbers[NUMBERS];
  long step = 0;
  while (data < end) {
    double head[HEAD];
    memcpy(head, data, sizeof head);
    const char *const reason = data + sizeof head;
    const size_t count = (size_t)head[2];
    memcpy(numbers, reason + REASON, count * sizeof *numbers);
    robodyn_joint_state state[MOST];
    const char *const states = reason + REASON + count * sizeof *numbers;
    memcpy(state, states, n * sizeof *state);
    double expected[MOST];
    memcpy(expected, states + n * sizeof *state, n * sizeof *expected);
    data = states + n * sizeof *state + n * sizeof *expected;
    const int kind = (int)head[1];
    robodyn_controller_heartbeat(c);
    int error = call(c, kind, numbers, count, n);
    const long before = allocations ? allocations() : 0;
    const double begin = seconds();
    const int publish = robodyn_controller_step(c, state, head[0], efforts);
    if (totals->steps < ROOM) {
      totals->times[totals->steps++] = seconds() - begin;
    }
    if (allocations && allocations() != before) {
      printf("step %ld allocates\n", step);
      return 1;
    }
    if (kind == STREAM_JOINTS || kind == STREAM_POSE) {
      error = robodyn_controller_reference_error(c, NULL);
    } else if (kind >= TRAJECTORY && error == ROBODYN_OK) {
      error = robodyn_controller_posted(c, NULL);
    }
    if (error != (int)head[3] || publish != (int)head[4] ||
        robodyn_controller_phase(c) != (int)head[5] ||
        robodyn_controller_reason_joint(c) != (int)head[6] ||
        strcmp(robodyn_controller_reason(c), reason) != 0 ||
        (publish ? memcmp(efforts, expected, n * sizeof *efforts) != 0
                 : efforts[0] == efforts[0])) {
      printf("step %ld differs: call %d, error %d %g, publish %d %g, phase %d %g, reason %s %s, "
             "effort %.17g %.17g\n",
             step, kind, error, head[3], publish, head[4], robodyn_controller_phase(c), head[5],
             robodyn_controller_reason(c), reason, efforts[0], expected[0]);
      return 1;
    }
    step++;
  }
  return 0;
}

int main(int count, char **words)
{
  const int joints = count > 2 ? atoi(words[2]) : 0, recorded = count > 3 ? atoi(words[3]) : 0;
  const int repetitions = count > 5 ? atoi(words[5]) : 1;
  FILE *const file = joints > 0 && joints <= MOST ? fopen(words[1], "rb") : NULL;
  if (!file || fseek(file, 0, SEEK_END)) {
    puts("no file");
    return 2;
  }
  const size_t size = (size_t)ftell(file);
  rewind(file);
  char *const data = malloc(size);
  struct totals totals = {0, malloc((size_t)ROOM * sizeof(double))};
  if (!data || !totals.times || fread(data, 1, size, file) != size) {
    puts("no memory");
    return 2;
  }
  fclose(file);
  int failed = 0;
  long steps = 0;
  for (int k = 0; k < repetitions && !failed; k++) {
    int error = 0;
    const long before = totals.steps;
    robodyn_controller *const c =
        robodyn_controller_create(ROBODYN_CONTROLLER_VERSION, joints, recorded, &error);
    if (!c) {
      printf("error %d: %s\n", error, robodyn_controller_error_text(error));
      return 2;
    }
    failed = replay(c, data, data + size, (size_t)joints, &totals);
    steps += totals.steps - before;
    if (count > 4 && words[4][0]) {
      error = robodyn_controller_write_recording(c, words[4]);
      if (error) {
        puts(robodyn_controller_error_text(error));
        failed = 1;
      }
    }
    robodyn_controller_destroy(c);
  }
  if (!failed) {
    qsort(totals.times, (size_t)totals.steps, sizeof *totals.times, ascending);
    printf("%ld steps agree; median %.2f us, 99.9 %% %.2f us%s\n", steps,
           1e6 * totals.times[totals.steps / 2], 1e6 * totals.times[totals.steps * 999 / 1000],
           allocations ? "; none allocates" : "");
  }
  free(totals.times);
  free(data);
  return failed;
}

/* Copyright 2026 robodyn_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Replays recorded cycles and compares efforts, phases and reasons bit for bit.
 * Each record: now, request, publish, phase, joint of the reason (double each), code of the reason
 * (32 characters), states (7 double a joint), efforts (double a joint).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "robodyn_controller.h"

enum { MOST = 32 };

static double seconds(void)
{
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int count, char **words)
{
  const int joints = count > 2 ? atoi(words[2]) : 0;
  int error = 0;
  FILE *const file = fopen(words[1], "rb");
  robodyn_controller *const c =
      robodyn_controller_create(ROBODYN_CONTROLLER_VERSION, joints, &error);
  if (!file || !c || joints > MOST) {
    printf("error %d\n", error);
    return 2;
  }
  double head[5], efforts[MOST], expected[MOST];
  char reason[32];
  robodyn_joint_state state[MOST];
  long steps = 0;
  const long room = 1000000;
  double *const times = malloc(room * sizeof *times);
  while (fread(head, sizeof head, 1, file) == 1) {
    const size_t n = (size_t)joints;
    if (fread(reason, sizeof reason, 1, file) != 1 || fread(state, sizeof *state, n, file) != n ||
        fread(expected, sizeof *expected, n, file) != n) {
      return 2;
    }
    if (head[1] == 1.0) {
      robodyn_controller_arm(c);
    } else if (head[1] == 2.0) {
      robodyn_controller_disarm(c);
    } else if (head[1] == 3.0) {
      robodyn_controller_stop(c);
    }
    const double begin = seconds();
    const int publish = robodyn_controller_step(c, state, head[0], efforts);
    if (steps < room) {
      times[steps] = seconds() - begin;
    }
    if (publish != (int)head[2] || robodyn_controller_phase(c) != (int)head[3] ||
        robodyn_controller_reason_joint(c) != (int)head[4] ||
        strcmp(robodyn_controller_reason(c), reason) != 0 ||
        (publish ? memcmp(efforts, expected, n * sizeof *efforts) != 0
                 : efforts[0] == efforts[0])) {
      printf("step %ld differs: publish %d %g, phase %d %g, reason %s %s, effort %.17g %.17g\n", steps,
             publish, head[2], robodyn_controller_phase(c), head[3], robodyn_controller_reason(c),
             reason, efforts[0], expected[0]);
      return 1;
    }
    steps++;
  }
  const long timed = steps < room ? steps : room;
  qsort(times, (size_t)timed, sizeof *times, compare);
  printf("%ld steps agree; median %.2f us, 99.9 %% %.2f us\n", steps, 1e6 * times[timed / 2],
         1e6 * times[timed * 999 / 1000]);
  free(times);
  robodyn_controller_destroy(c);
  fclose(file);
  return 0;
}

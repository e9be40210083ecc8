/* Copyright 2026 robodyn_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Controller of one robot: control law and guard, as robodyn_ros runs them, without Python.
 *
 * Threads: one thread at a time calls the functions of a controller; different controllers are
 * independent. All memory is allocated by robodyn_controller_create; no other function allocates,
 * locks or waits.
 */
#ifndef ROBODYN_CONTROLLER_H
#define ROBODYN_CONTROLLER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a declaration below does. */
#define ROBODYN_CONTROLLER_VERSION 1

#ifndef ROBODYN_API
#define ROBODYN_API
#endif

typedef struct robodyn_controller robodyn_controller;

/* Newest sample of one joint; NAN stands for what is not known. */
typedef struct {
  double position; /* rad | m */
  double velocity; /* rad/s | m/s, NAN if it is not measured */
  double effort;   /* N·m | N, NAN if it is not measured */
  double received; /* s, time of receipt on the clock of robodyn_controller_step */
  double sequence; /* NAN */
  double other;    /* s, time of the newest sample of another publisher, otherwise NAN */
  double stamp;    /* s, time of measurement on the clock of its publisher, or NAN */
} robodyn_joint_state;

enum robodyn_phase {
  ROBODYN_INACTIVE,
  ROBODYN_RISING,
  ROBODYN_RUNNING,
  ROBODYN_STOPPING,
  ROBODYN_FAULT
};

enum robodyn_error {
  ROBODYN_OK,
  ROBODYN_WRONG_VERSION, /* the header is that of another version than the library */
  ROBODYN_WRONG_JOINTS,  /* the caller has another number of joints than the robot */
  ROBODYN_WRONG_CPU,     /* the processor lacks instructions of x86-64-v3 */
  ROBODYN_NO_MEMORY
};

/*
 * Makes a controller, INACTIVE, of the robot and the settings that were exported.
 *
 * version: ROBODYN_CONTROLLER_VERSION.
 * joints: number of joints that the caller has states and efforts of.
 * error: receives an enum robodyn_error; it may be NULL.
 * Returns NULL after an error.
 */
ROBODYN_API robodyn_controller *robodyn_controller_create(int version, int joints, int *error);

/* Frees a controller; NULL is allowed. */
ROBODYN_API void robodyn_controller_destroy(robodyn_controller *controller);

/* Name of a joint, the order of all arrays; NULL if there is none of this index. */
ROBODYN_API const char *robodyn_controller_joint(int index);

/* Time between two steps for which the gains were checked [s]. */
ROBODYN_API double robodyn_controller_period(void);

/* Requests for the next step: to arm the robot, to withdraw that, to bring it to rest. */
ROBODYN_API void robodyn_controller_arm(robodyn_controller *controller);
ROBODYN_API void robodyn_controller_disarm(robodyn_controller *controller);
ROBODYN_API void robodyn_controller_stop(robodyn_controller *controller);

/*
 * Advances to the time now [s].
 *
 * state: the newest samples of all joints.
 * efforts: one number a joint [N·m | N] to be applied; NAN if there is nothing to apply.
 * Returns 1 if the efforts are to be applied, otherwise 0: no command is to be sent, and what the
 * robot does without one is up to its drives.
 */
ROBODYN_API int robodyn_controller_step(robodyn_controller *controller,
                                        const robodyn_joint_state *state, double now,
                                        double *efforts);

/* Phase after the last step, an enum robodyn_phase. */
ROBODYN_API int robodyn_controller_phase(const robodyn_controller *controller);

/* Code of the fault that is latched, as "STALE_STATE"; "NO_REASON" if there is none. */
ROBODYN_API const char *robodyn_controller_reason(const robodyn_controller *controller);

/* Joint that the fault concerns, -1 if none. */
ROBODYN_API int robodyn_controller_reason_joint(const robodyn_controller *controller);

#ifdef __cplusplus
}
#endif

#endif

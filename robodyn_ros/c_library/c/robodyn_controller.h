/* Copyright 2026 robodyn_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Controller of one robot: control law and guard, as robodyn_ros runs them, without Python.
 *
 * Threads. Different controllers are independent. Of one controller,
 *
 *   [step]  functions are called by the thread that calls robodyn_controller_step;
 *   [post]  functions by one other thread at a time, or by that one: they hand over a request,
 *           which the next step takes;
 *   [any]   functions by any thread.
 *
 * robodyn_controller_create allocates all memory. No [step] and no [any] function allocates,
 * locks or waits, and no [post] function does except robodyn_controller_write_recording.
 *
 * Arrays have one element a joint, in the order of robodyn_controller_joint. Positions are in
 * rad | m (rotating | sliding joints), efforts in N·m | N, times in s. Poses are those of the frame
 * `task_frame` in the frame of the base.
 */
#ifndef ROBODYN_CONTROLLER_H
#define ROBODYN_CONTROLLER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a declaration below does. */
#define ROBODYN_CONTROLLER_VERSION 4

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

/* Limits of one joint that references are checked with; infinite where there is none. */
typedef struct {
  double position_lower; /* rad | m */
  double position_upper;
  double velocity;     /* rad/s | m/s */
  double acceleration; /* rad/s² | m/s² */
  double effort;       /* N·m | N, of the commands */
  int continuous;      /* 1: positions that differ by full turns are the same */
} robodyn_joint_limits;

/* What a joint of the robot moves, and its limits; infinite where there is none. */
typedef struct {
  const char *joint;  /* one of robodyn_controller_joint, or a joint that mimics one */
  const char *parent; /* the joint that moves this one, "" for none */
  const char *type;   /* "revolute", "continuous" or "prismatic" */
  double mass;        /* kg, of all links up to the next joints */
  double position_lower, position_upper; /* rad | m */
  double velocity;                       /* rad/s | m/s */
  double effort;                         /* N·m | N */
} robodyn_body;

/* A frame of the robot that does not move, and its pose in that of the base. */
typedef struct {
  const char *name;
  double position[3];   /* m */
  double quaternion[4]; /* x, y, z, w */
} robodyn_frame;

/* Parameters of some settings that concern who else has to hold the arm. */
typedef struct {
  double arming_time;   /* s, of the good samples before the arm is driven */
  double state_timeout; /* s, age at which a sample is stale */
  double heartbeat_timeout; /* s, longest time without a heartbeat; 0: none is required */
  int robot_compensates_gravity;
  int stop_with_gravity; /* 1: the last message of a stop is g(q), 0: zero */
  int lower_to_rest;     /* 1: a stop lowers the arm until it lies */
} robodyn_parameters;

enum robodyn_phase {
  ROBODYN_INACTIVE,
  ROBODYN_RISING,
  ROBODYN_RUNNING,
  ROBODYN_STOPPING,
  ROBODYN_FAULT
};

/* Kind of reference that a control law follows. */
enum robodyn_reference { ROBODYN_NO_REFERENCE, ROBODYN_JOINT_REFERENCE, ROBODYN_POSE_REFERENCE };

enum robodyn_error {
  ROBODYN_OK,
  ROBODYN_WRONG_VERSION,   /* the header is that of another version than the library */
  ROBODYN_WRONG_JOINTS,    /* the caller has another number of joints than the robot */
  ROBODYN_WRONG_CPU,       /* the processor lacks instructions that the library uses */
  ROBODYN_NO_MEMORY,       /* memory could not be allocated */
  ROBODYN_PENDING,         /* no step has taken the request yet */
  ROBODYN_BUSY,            /* no step has taken the request before this one yet, or the loop
                              sets references itself */
  ROBODYN_NOT_RUNNING,     /* references are followed in the phase RUNNING alone */
  ROBODYN_NOT_FOLLOWED,    /* the law in force follows no such reference */
  ROBODYN_NOT_FINITE,      /* a number is NAN or infinite, or a quaternion has not length 1 */
  ROBODYN_OUTSIDE,         /* a position is outside its limits, or a pose is out of reach */
  ROBODYN_TOO_FAST,        /* a velocity or acceleration is above its limit */
  ROBODYN_JUMP,            /* the reference begins too far from the present one */
  ROBODYN_WRONG_TIMES,     /* times of waypoints do not increase from 0 on */
  ROBODYN_MOVING_END,      /* the last waypoint of a trajectory has a velocity */
  ROBODYN_TOO_MANY,        /* more waypoints than robodyn_controller_waypoints() */
  ROBODYN_NOT_EXPORTED,    /* settings or a payload that the export has not checked */
  ROBODYN_WRONG_PAYLOAD,   /* gravity with the payload contradicts the efforts, see payload */
  ROBODYN_NOT_RECORDED,    /* there is no recording: create was given no cycles */
  ROBODYN_NOT_WRITTEN,     /* the file could not be written */
  ROBODYN_BOUNDED,         /* bounds of the motion are set, which would not slow down a stream */
  ROBODYN_NO_LIMITS,       /* a joint has no limit of velocity, acceleration or jerk */
  ROBODYN_UNREACHABLE      /* no motion within the limits leads there */
};

/* What an error means, in words. [any] */
ROBODYN_API const char *robodyn_controller_error_text(int error);

/* --- The library: what was exported. [any] ------------------------------------------------- */

/* ROBODYN_CONTROLLER_VERSION of the library, and version of robodyn_ros that has written it. */
ROBODYN_API int robodyn_controller_version(void);
ROBODYN_API const char *robodyn_controller_package_version(void);

/* Name of the robot, and number of its joints. */
ROBODYN_API const char *robodyn_controller_robot(void);
ROBODYN_API int robodyn_controller_joints(void);

/* Name of a joint, the order of all arrays; NULL if there is none of this index. */
ROBODYN_API const char *robodyn_controller_joint(int index);

/* Time between two steps for which the gains were checked [s]. */
ROBODYN_API double robodyn_controller_period(void);

/*
 * The settings that were checked and exported, of which one is in force at a time: each a parameter
 * file, with its mode, gains, friction and payload. Those of index 0 are in force at first.
 * Name and mode are NULL, and the kind of reference is ROBODYN_NO_REFERENCE, without such an index.
 */
ROBODYN_API int robodyn_controller_settings_count(void);
ROBODYN_API const char *robodyn_controller_settings_name(int settings);
ROBODYN_API const char *robodyn_controller_settings_mode(int settings);
ROBODYN_API int robodyn_controller_settings_reference(int settings); /* enum robodyn_reference */

/* Which joints friction keeps from their targets, with remedies; "" for none, NULL as above. */
ROBODYN_API const char *robodyn_controller_settings_warning(int settings);

/* Writes the limits of a joint with some settings; returns 0 if there are none of these indices. */
ROBODYN_API int robodyn_controller_limits(int settings, int joint, robodyn_joint_limits *limits);

/* Writes parameters of some settings; returns 0 if there are none of this index. */
ROBODYN_API int robodyn_controller_parameters(int settings, robodyn_parameters *parameters);

/* Writes a body of the robot as its URDF has it; returns 0 if there is none of this index. */
ROBODYN_API int robodyn_controller_body(int index, robodyn_body *body);

/* Writes a frame that does not move, of the base or of what is fixed to it; 0: there is none. */
ROBODYN_API int robodyn_controller_fixed_frame(int index, robodyn_frame *frame);

/* Greatest mass of a payload [kg], and how far its center may be from the frame [m]; 0: none. */
ROBODYN_API double robodyn_controller_payload_mass(void);
ROBODYN_API double robodyn_controller_payload_distance(void);

/* Most waypoints of a trajectory. */
ROBODYN_API int robodyn_controller_waypoints(void);

/* What a reason code such as "STALE_STATE" means, in words; NULL if there is no such code. */
ROBODYN_API const char *robodyn_controller_reason_text(const char *code);

/* --- Creation ------------------------------------------------------------------------------ */

/*
 * Makes a controller, INACTIVE, of the robot and the settings that were exported.
 *
 * version: ROBODYN_CONTROLLER_VERSION.
 * joints: number of joints that the caller has states and efforts of.
 * recorded: number of the latest steps that are recorded, 0 for none; a step then takes longer.
 * error: receives an enum robodyn_error; it may be NULL.
 * Returns NULL after an error.
 */
ROBODYN_API robodyn_controller *robodyn_controller_create(int version, int joints, int recorded,
                                                          int *error);

/* Frees a controller that no thread uses any more; NULL is allowed. */
ROBODYN_API void robodyn_controller_destroy(robodyn_controller *controller);

/* --- Requests of the phase. [any] ---------------------------------------------------------- */

/*
 * To arm the robot, to withdraw that, to bring it to rest. The last one before a step counts; a
 * request to arm while arming changes nothing.
 */
ROBODYN_API void robodyn_controller_arm(robodyn_controller *controller);
ROBODYN_API void robodyn_controller_disarm(robodyn_controller *controller);
ROBODYN_API void robodyn_controller_stop(robodyn_controller *controller);

/*
 * Emergency stop: 1 brings the arm to rest and prevents arming until 0. With the parameter
 * `emergency_stop` it is 1 from the beginning. This is no certified safety function.
 */
ROBODYN_API void robodyn_controller_emergency_stop(robodyn_controller *controller, int stop);

/* Heartbeat, to be called more often than `heartbeat_timeout`; without that it does nothing. */
ROBODYN_API void robodyn_controller_heartbeat(robodyn_controller *controller);

/* Stops the arm at once, as silence would; until the next heartbeat, it cannot be armed. */
ROBODYN_API void robodyn_controller_end_heartbeat(robodyn_controller *controller);

/* --- The control cycle. [step] ------------------------------------------------------------- */

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

/*
 * Reference of the joints in the next step, from a generator that runs in the loop.
 *
 * Each array may be NULL, and each number NAN, for "not given": a velocity or acceleration is 0
 * then; a position is that of the reference, moved on with the velocity. Without another call the
 * reference comes to rest: after three periods it decelerates, which takes as long as the joint
 * needs that has the least acceleration limit for its velocity.
 *
 * The step that takes it refuses numbers outside of robodyn_controller_limits, and positions
 * further from those of the last step than the velocity limit allows, and holds the reference. The
 * first one of a stream may be up to `trajectory_start_tolerance` away: the difference is taken
 * back at a tenth of the velocity limit.
 */
ROBODYN_API void robodyn_controller_set_reference(robodyn_controller *controller,
                                                  const double *position, const double *velocity,
                                                  const double *acceleration);

/*
 * Likewise the reference pose of a law that follows poses.
 *
 * position: [m]. quaternion: x, y, z, w, of length 1.
 * twist: linear and angular velocity in the axes of the base [m/s, rad/s]; NULL for 0.
 */
ROBODYN_API void robodyn_controller_set_pose(robodyn_controller *controller,
                                             const double position[3], const double quaternion[4],
                                             const double twist[6]);

/* Result of the last two functions in the last step, an enum robodyn_error; joint: the one that
 * is concerned, or axis of the pose, -1 for none; it may be NULL. */
ROBODYN_API int robodyn_controller_reference_error(const robodyn_controller *controller,
                                                   int *joint);

/* Lets hands guide the arm in the mode hand_guiding until a time on the clock of step [s]. */
ROBODYN_API void robodyn_controller_guide(robodyn_controller *controller, double until);

/* Phase after the last step, an enum robodyn_phase. */
ROBODYN_API int robodyn_controller_phase(const robodyn_controller *controller);

/* Index of the settings in force. */
ROBODYN_API int robodyn_controller_settings(const robodyn_controller *controller);

/* Code of the fault that is latched, as "STALE_STATE"; "NO_REASON" if there is none. */
ROBODYN_API const char *robodyn_controller_reason(const robodyn_controller *controller);

/* Joint that the fault concerns, -1 if none. */
ROBODYN_API int robodyn_controller_reason_joint(const robodyn_controller *controller);

/* Likewise what has prevented arming in the last step. */
ROBODYN_API const char *robodyn_controller_arming_refusal(const robodyn_controller *controller);
ROBODYN_API int robodyn_controller_arming_refusal_joint(const robodyn_controller *controller);

/* Code of what has ended the last motion before its end, "NO_REASON" if nothing has. */
ROBODYN_API const char *robodyn_controller_held_by(const robodyn_controller *controller);

/* 1 while a reference is followed that has not come to its end, otherwise 0. */
ROBODYN_API int robodyn_controller_moving(const robodyn_controller *controller);

/* Reference of the joints in the last step; an array may be NULL. It is valid in RUNNING. */
ROBODYN_API void robodyn_controller_reference(const robodyn_controller *controller,
                                              double *position, double *velocity,
                                              double *acceleration);

/* Pose of the frame and its reference, 4 x 4 by rows, with a law that follows poses. */
ROBODYN_API void robodyn_controller_pose(const robodyn_controller *controller, double *pose,
                                         double *reference);

/* Estimated external efforts; NAN while there is no estimate. */
ROBODYN_API void robodyn_controller_external_effort(const robodyn_controller *controller,
                                                    double *effort);

/* --- Requests of another thread. [post] ---------------------------------------------------- *
 *
 * Each returns ROBODYN_OK once the request is handed over, or an error: then nothing has changed.
 * The next step takes it and may refuse it: see robodyn_controller_posted.
 */

/* PENDING until a step has taken the last request, then its result, or why it was refused at once. */
ROBODYN_API int robodyn_controller_posted(const robodyn_controller *controller, int *joint);

/*
 * Follows a trajectory, from the step that takes it on.
 *
 * count: of waypoints; 0 decelerates to rest.
 * times: (count) since the start [s], increasing. The first may be 0, for the pose in which the
 *   trajectory was planned; it may be up to `trajectory_start_tolerance` from the reference, which
 *   joins the trajectory as soon as its limits allow.
 * positions, velocities: (count, joints), one waypoint after another; the last one is at rest.
 * accelerations: likewise; NULL for cubic polynomials.
 * joint, waypoint: receive what an error concerns, -1 for none; they may be NULL.
 */
ROBODYN_API int robodyn_controller_post_trajectory(robodyn_controller *controller, int count,
                                                   const double *times, const double *positions,
                                                   const double *velocities,
                                                   const double *accelerations, int *joint,
                                                   int *waypoint);

/* Moves to a position at rest in the shortest time within the limits, from any motion. */
ROBODYN_API int robodyn_controller_post_target(robodyn_controller *controller,
                                               const double *position);

/* Likewise to a pose; quaternion: x, y, z, w, of length 1. */
ROBODYN_API int robodyn_controller_post_pose(robodyn_controller *controller,
                                             const double position[3], const double quaternion[4]);

/*
 * Puts other settings in force, those of an index. Efforts change at the effort rate limit. With
 * other gains a reference under way goes on; with another mode the present pose is held.
 */
ROBODYN_API int robodyn_controller_post_settings(robodyn_controller *controller, int settings);

/*
 * Changes the payload of the settings in force: a point mass on `payload_frame`, in addition to
 * that of the settings. It stays when other settings come into force.
 *
 * mass: [kg], at most robodyn_controller_payload_mass().
 * center: of mass, in the axes of the frame [m], at most robodyn_controller_payload_distance()
 *   from its origin.
 * The dynamics change within `payload_transition`. While the arm is driven, the request is refused
 * with WRONG_PAYLOAD if gravity with it differs too much from the measured efforts.
 */
ROBODYN_API int robodyn_controller_post_payload(robodyn_controller *controller, double mass,
                                                const double center[3]);

/*
 * Writes the recorded steps into a file, which `robodyn replay` reads. Steps may go on meanwhile:
 * those that are overwritten while the file is written are left out, and so may be a request that
 * waits. It calls functions of stdio.
 */
ROBODYN_API int robodyn_controller_write_recording(const robodyn_controller *controller,
                                                   const char *path);

#ifdef __cplusplus
}
#endif

#endif

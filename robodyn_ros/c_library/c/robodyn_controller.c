/* Copyright 2026 robodyn_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls the control cycle with a copy of the memory that it had in Python.
 *
 * That memory is the image: 64-bit words, of which some are addresses of others. It begins with
 * structures of arrays, as Numba lays them out: one for each of the settings that were exported,
 * one that the cycle reads, into which those in force are copied, and two with requests: that of
 * the thread that steps, and that of another one.
 */
#define ROBODYN_API __attribute__((visibility("default")))
#include "robodyn_controller.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the cycle takes an array: who owns it, elements, bytes of each, address, shape, stride. */
typedef uint8_t cycle_function(void *cycle, double now, void *meminfo, void *parent, int64_t items,
                               int64_t itemsize, double *data, int64_t shape, int64_t stride);
extern cycle_function robodyn_recorded_cycle;

/* A request is planned in the cycle that begins; it returns an enum robodyn_error. */
typedef int64_t request_function(void *cycle, void *request, double now);
extern request_function robodyn_stream_joints, robodyn_stream_pose, robodyn_begin_target,
    robodyn_begin_stop, robodyn_begin_path, robodyn_begin_pose, robodyn_prepare_path,
    robodyn_load_payload, robodyn_check_payload;

/* Of the robot: JOINTS, PERIOD and other constants, the image, and the places of what is in it. */
#include "robodyn_image.h"

/* Requests of the cycle, and posted ones, which the next step takes. */
enum { NO_REQUEST, ARM, DISARM, STOP };
enum { NOTHING, PATH, HALT, TARGET, POSE, SETTINGS, PAYLOAD };
/* Streams of references, set for the next step. */
enum { NO_STREAM, JOINTS_STREAM, POSE_STREAM };
enum { STOPPED = 1, STOP_UNSEEN = 2 };
enum { POSTED_REFERENCES = 4 };
enum { CHANGES = 64 }; /* of the settings that a recording may refer to */

static const double LONGEST_INTERVAL = 10.0; /* s; a longer one is a pause */
static const double ROUNDING = 1e-6;         /* periods */

/* Words of an array: owners (2), elements, bytes of each, address, shape, strides. */
enum { ITEMS = 2, ITEM_BYTES, ADDRESS, SHAPE };

/* A reference: header (start, serial number), times, coefficients, and what else it consists of. */
struct reference {
  int64_t segments;
  double *memory;
};

/*
 * Room for references, which are planned in turn: the newest one may be in force until another one
 * of its kind is, whatever pool that is from, and is not overwritten before that.
 */
struct pool {
  struct reference *references;
  int pose, count, next, segments;
};

/* Pools of a request: references of the joints, and of the pose. */
struct pools {
  struct pool of[2];
};

/* Settings, as a recording refers to them by the number of their version. */
struct change {
  int64_t version, settings, law, basis, payload;
  unsigned char bodies[BODIES_BYTES];
};

struct robodyn_controller {
  int64_t *words;
  void *allocated;
  double last, behind; /* time of the last step, and periods behind */
  double efforts[JOINTS], load[4]; /* mass and center of a payload beside that of the settings */
  int settings, loaded, stream, error, error_joint;
  struct pools step_pools, post_pools;
  struct change *changes;
  int64_t recorded, version, spare_bodies;
  double heard; /* the last heartbeat */
  int beats_seen;
  atomic_int beats, request, stop, silent;

  /* The mailbox: written by another thread while posted is NOTHING, read by the step otherwise. */
  atomic_int posted;
  int posted_settings, result, result_joint;
};

/* --- Arrays and references --------------------------------------------------------------- */

static double *numbers(const robodyn_controller *c, int place)
{
  return (double *)(c->words + place);
}

/* Lets an array of a structure have other rows elsewhere. */
static void set_rows(int64_t *array, int dimensions, void *data, int64_t rows)
{
  array[ITEMS] = rows * array[SHAPE + dimensions] / array[ITEM_BYTES];
  array[ADDRESS] = (int64_t)(uintptr_t)data;
  array[SHAPE] = rows;
}

/* Size of a reference in numbers: see Points and PosePoints of robodyn_ros. */
static size_t reference_size(int pose, int segments)
{
  const size_t s = (size_t)segments, n = JOINTS;
  return 2 + s + 1 + (pose ? s * (36 + 9) + COMMAND : s * 8 * n);
}

/* Lets the fields of a structure refer to a reference, made for `room` segments and with fewer. */
static void set_reference(int64_t *fields, int pose, double *memory, int room, int segments)
{
  const size_t s = (size_t)room;
  double *const times = memory + 2, *const coefficients = times + s + 1;
  set_rows(fields + HEADER_FIELD, 1, memory, 1);
  set_rows(fields + TIMES_FIELD, 1, times, segments + 1);
  set_rows(fields + COEFFICIENTS_FIELD, 3, coefficients, segments);
  set_rows(fields + THIRD_FIELD, 3, coefficients + s * (pose ? 36 : 6 * JOINTS), segments);
  if (pose) {
    set_rows(fields + COMMAND_FIELD, 1, coefficients + s * (36 + 9), COMMAND);
  }
}

/* Lets a request write its reference where the next one of its kind is. */
static void give_next(int64_t *request, const struct pools *pools)
{
  for (int pose = 0; pose < 2; pose++) {
    const struct pool *const pool = pools->of + pose;
    set_reference(request + (pose ? REQUEST_POSES : REQUEST_POINTS), pose,
                  pool->references[pool->next].memory, pool->segments, pool->segments);
  }
}

/* Plans a reference and puts it in force, or returns an error. */
static int begin(robodyn_controller *c, request_function *plan, int pose, int64_t *request,
                 const int64_t *result, struct pools *pools, double now)
{
  struct pool *const pool = pools->of + pose;
  struct reference *const new = pool->references + pool->next;
  new->segments = 0; /* what was there is overwritten, even if the request is refused */
  const int error = (int)plan(c->words + CYCLE, request, now);
  if (error == ROBODYN_OK) {
    new->segments = result[2];
    set_reference(c->words + CYCLE + (pose ? CYCLE_POSES : CYCLE_POINTS), pose, new->memory,
                  pool->segments, (int)new->segments);
    pool->next = (pool->next + 1) % pool->count;
    give_next(request, pools);
  }
  return error;
}

/* --- Settings and payload ---------------------------------------------------------------- */

static int64_t *record(robodyn_controller *c)
{
  return c->words + settings_places[c->settings];
}

/* Notes the settings and the bodies of a new version, for recordings that refer to it. */
static void note_change(robodyn_controller *c)
{
  const int64_t *const r = record(c), *const bodies = c->words + CYCLE + CYCLE_BODIES;
  struct change *const change = c->changes + c->version % CHANGES;
  change->version = c->version;
  change->settings = c->settings;
  change->law = r[LAW];
  change->basis = r[BASIS];
  change->payload = r[PAYLOAD_NUMBER];
  memcpy(change->bodies, (void *)(uintptr_t)bodies[ADDRESS], BODIES_BYTES);
}

/* Copies what settings consist of into a structure that the cycle may read. */
static void copy_settings(int64_t *to, const int64_t *from)
{
  memcpy(to, from, CYCLE_POINTS * sizeof *to); /* what follows does not depend on settings, */
  memcpy(to + CYCLE_TASK, from + CYCLE_TASK, (CYCLE_POSES - CYCLE_TASK) * sizeof *to); /* except */
  memcpy(to + CYCLE_BOUNDS, from + CYCLE_BOUNDS,
         (CYCLE_CONTROLLER - CYCLE_BOUNDS) * sizeof *to); /* these */
}

/*
 * Puts settings and a payload beside theirs in force, or returns an error.
 *
 * load: mass and center; NULL for none. Robots with one have no dynamics compiled for them.
 * check: whether the gravity of both is compared with the efforts.
 * A new version of the settings refers to their law, basis and payload by the differences.
 */
static int use(robodyn_controller *c, int settings, const double *load, int check, int differences,
               double now)
{
  int64_t *const words = c->words, *const request = words + STEP, *const trial = words + TRIAL;
  int error = ROBODYN_OK;
  memcpy(trial, words + CYCLE, CYCLE_WORDS * sizeof *trial);
  copy_settings(trial, words + structures[settings]);
  words[STEP_SETTINGS] = settings;
  if (load) {
    memcpy(words + STEP_PAYLOAD, load, sizeof c->load);
    error = (int)robodyn_load_payload(words + structures[settings], request, now);
    trial[CYCLE_BODIES + ADDRESS] = request[REQUEST_BODIES + ADDRESS];
    trial[CYCLE_ADDRESSES + ADDRESS] = trial[CYCLE_NO_ADDRESSES + ADDRESS];
  }
  if (error == ROBODYN_OK && check) {
    error = (int)robodyn_check_payload(trial, request, now);
    c->result_joint = (int)words[STEP_RESULT];
  }
  if (error != ROBODYN_OK) {
    words[STEP_SETTINGS] = c->settings;
    return error;
  }
  if (load) { /* the next one is written elsewhere */
    request[REQUEST_BODIES + ADDRESS] = c->spare_bodies;
    c->spare_bodies = trial[CYCLE_BODIES + ADDRESS];
    memmove(c->load, load, sizeof c->load);
    c->loaded = 1;
  }
  const int64_t *const old = record(c);
  int64_t *const new = words + settings_places[settings];
  const int64_t law = old[LAW] + !!(differences & OTHER_LAW);
  const int64_t basis = old[BASIS] + !!(differences & OTHER_BASIS);
  const int64_t payload = old[PAYLOAD_NUMBER] + !!(differences & OTHER_PAYLOAD);
  new[LAW] = law;
  new[BASIS] = basis;
  new[PAYLOAD_NUMBER] = payload;
  new[VERSION] = ++c->version;
  memcpy(words + CYCLE, trial, CYCLE_WORDS * sizeof *trial);
  c->settings = settings;
  words[POST_SETTINGS] = settings;
  note_change(c);
  return ROBODYN_OK;
}

static int use_settings(robodyn_controller *c, int settings, double now)
{
  const int changed = differences[c->settings][settings];
  return use(c, settings, c->loaded ? c->load : NULL, changed & OTHER_PAYLOAD, changed, now);
}

static int use_payload(robodyn_controller *c, double now)
{
  return use(c, c->settings, numbers(c, POST_PAYLOAD), 1, OTHER_PAYLOAD, now);
}

/* --- Creation ---------------------------------------------------------------------------- */

/*
 * Lets all arrays be in one block of memory; returns its size.
 * memory: NULL, to learn the size alone.
 */
static size_t lay_out(robodyn_controller *c, char *memory, int recorded)
{
  size_t used = 0;
#define TAKE(bytes) (used += ((size_t)(bytes) + 63) / 64 * 64, memory ? memory + used - \
                     ((size_t)(bytes) + 63) / 64 * 64 : NULL)
  c->recorded = recorded ? (int64_t)recorded + SPARE : 0;
  c->words = (int64_t *)TAKE(sizeof image);
  c->changes = (struct change *)TAKE(CHANGES * sizeof *c->changes);
  c->spare_bodies = (int64_t)(uintptr_t)TAKE(BODIES_BYTES);
  for (int k = 0; k < 4; k++) {
    struct pool *const pool = (k < 2 ? &c->step_pools : &c->post_pools)->of + k % 2;
    pool->pose = k % 2;
    pool->count = k < 2 ? recorded + SPARE + 2 : POSTED_REFERENCES;
    pool->segments = k == 2 ? SEGMENTS : k == 3 ? POSE_SEGMENTS : BRIEF;
    const size_t size = reference_size(pool->pose, pool->segments);
    pool->references =
        (struct reference *)TAKE((size_t)pool->count * sizeof *pool->references);
    double *const numbers = (double *)TAKE((size_t)pool->count * size * sizeof(double));
    for (int i = 0; memory && i < pool->count; i++) {
      pool->references[i].memory = numbers + (size_t)i * size;
    }
  }
  double *const times = (double *)TAKE(WAYPOINTS * sizeof(double));
  double *const waypoints = (double *)TAKE(4 * WAYPOINTS * JOINTS * sizeof(double));
  if (memory) {
    memcpy(c->words, image, sizeof image);
    set_rows(c->words + POST + REQUEST_TIMES, 1, times, WAYPOINTS);
    set_rows(c->words + POST + REQUEST_WAYPOINTS, 3, waypoints, WAYPOINTS);
  }
  for (int i = 0; i < RING_ARRAYS; i++) {
    char *const rows = TAKE(c->recorded * ring[i].row_bytes);
    for (int k = 0; memory && k < STRUCTURES; k++) {
      set_rows(c->words + structures[k] + ring[i].field, ring[i].dimensions, rows, c->recorded);
    }
  }
#undef TAKE
  return used + 64;
}

ROBODYN_API robodyn_controller *robodyn_controller_create(int version, int joints, int recorded,
                                                          int *error)
{
  int ignored;
  int *const result = error ? error : &ignored;
  *result = version != ROBODYN_CONTROLLER_VERSION ? ROBODYN_WRONG_VERSION
            : joints != JOINTS                    ? ROBODYN_WRONG_JOINTS
            : recorded < 0 || recorded > LONGEST  ? ROBODYN_NO_MEMORY
                                                  : ROBODYN_OK;
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi2")) {
    *result = ROBODYN_WRONG_CPU;
  }
#endif
  if (*result != ROBODYN_OK) {
    return NULL;
  }
  robodyn_controller *const c = calloc(1, sizeof *c);
  const size_t size = c ? lay_out(c, NULL, recorded) : 0;
  char *const memory = c ? malloc(size) : NULL;
  if (!memory) {
    free(c);
    *result = ROBODYN_NO_MEMORY;
    return NULL;
  }
  memset(memory, 0, size); /* now, and not in the loop, the system provides the memory */
  c->allocated = memory;
  char *const aligned = (char *)(((uintptr_t)memory + 63) / 64 * 64);
  lay_out(c, aligned, recorded);
  for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
    if (!c->words[pointers[i].word]) { /* not those of the arrays above */
      c->words[pointers[i].word] = (int64_t)(uintptr_t)(c->words + pointers[i].target);
    }
  }
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    c->words[functions[i].word] = (int64_t)(uintptr_t)functions[i].function;
  }
  give_next(c->words + STEP, &c->step_pools);
  give_next(c->words + POST, &c->post_pools);
  note_change(c);
  c->last = c->heard = -INFINITY;
  c->error_joint = c->result_joint = -1;
  if (recorded) { /* the boundary before the first step */
    int64_t *const fields = c->words + CYCLE;
    memcpy((void *)(uintptr_t)fields[ring[RING_MEMORY].field + ADDRESS],
           c->words + CONTROLLER, (size_t)ring[RING_MEMORY].row_bytes);
    memcpy((void *)(uintptr_t)fields[ring[RING_VECTORS].field + ADDRESS], c->words + PRESENT,
           (size_t)ring[RING_VECTORS].row_bytes);
  }
  atomic_store(&c->stop, EMERGENCY_STOP ? STOPPED : 0);
  return c;
}

ROBODYN_API void robodyn_controller_destroy(robodyn_controller *c)
{
  if (c) {
    free(c->allocated);
    free(c);
  }
}

/* --- Requests of any thread ---------------------------------------------------------------- */

ROBODYN_API void robodyn_controller_arm(robodyn_controller *c)
{
  atomic_store(&c->request, ARM);
}

ROBODYN_API void robodyn_controller_disarm(robodyn_controller *c)
{
  atomic_store(&c->request, DISARM);
}

ROBODYN_API void robodyn_controller_stop(robodyn_controller *c)
{
  atomic_store(&c->request, STOP);
}

ROBODYN_API void robodyn_controller_emergency_stop(robodyn_controller *c, int stop)
{
  if (stop) {
    atomic_store(&c->stop, STOPPED | STOP_UNSEEN);
  } else {
    atomic_fetch_and(&c->stop, ~STOPPED); /* one that no step has seen yet stays */
  }
}

ROBODYN_API void robodyn_controller_heartbeat(robodyn_controller *c)
{
  atomic_fetch_and(&c->silent, ~STOPPED);
  atomic_fetch_add(&c->beats, 1);
}

ROBODYN_API void robodyn_controller_end_heartbeat(robodyn_controller *c)
{
  atomic_store(&c->silent, STOPPED | STOP_UNSEEN);
}

/* --- The step ------------------------------------------------------------------------------ */

/* Periods without a step before this one, as the class Pace of robodyn_ros counts them. */
static int64_t missed_periods(robodyn_controller *c, double now)
{
  const double elapsed = now - c->last;
  c->last = now;
  if (!(0.0 < elapsed && elapsed <= LONGEST_INTERVAL) || elapsed > STATE_TIMEOUT) {
    return 0;
  }
  const double behind = c->behind + elapsed / PERIOD - 1.0;
  c->behind = behind > 0.0 ? behind : 0.0;
  const int64_t whole = (int64_t)(c->behind + ROUNDING);
  c->behind -= (double)whole;
  return whole;
}

/* Reason code of an emergency stop or of a missing heartbeat, 0 for none. */
static int64_t stop_reason(robodyn_controller *c, double now)
{
  const int beats = atomic_load(&c->beats);
  if (beats != c->beats_seen || now < c->heard) {
    c->beats_seen = beats;
    c->heard = now;
  }
  if (atomic_fetch_and(&c->stop, ~STOP_UNSEEN)) {
    return EMERGENCY_STOP_REASON;
  }
  const int silent = atomic_fetch_and(&c->silent, ~STOP_UNSEEN);
  return HEARTBEAT_TIMEOUT > 0.0 && (silent || now - c->heard > HEARTBEAT_TIMEOUT)
           ? HEARTBEAT_LOST_REASON
           : 0;
}

static int take(robodyn_controller *c, int posted, double now)
{
  int64_t *const request = c->words + POST;
  c->words[POST_RESULT] = -1;
  if (posted == SETTINGS) {
    return use_settings(c, c->posted_settings, now);
  }
  if (posted == PAYLOAD) {
    return use_payload(c, now);
  }
  if (c->stream != NO_STREAM) {
    return ROBODYN_BUSY;
  }
  request_function *const plan = posted == PATH     ? &robodyn_begin_path
                                 : posted == TARGET ? &robodyn_begin_target
                                 : posted == POSE   ? &robodyn_begin_pose
                                                    : &robodyn_begin_stop;
  const int error = begin(c, plan, posted == POSE, request, c->words + POST_RESULT, &c->post_pools,
                          now);
  c->result_joint = error == ROBODYN_OK ? -1 : (int)c->words[POST_RESULT];
  return error;
}

static void follow_stream(robodyn_controller *c, double now)
{
  const int pose = c->stream == POSE_STREAM;
  c->error = ROBODYN_OK;
  c->error_joint = -1;
  if (c->stream != NO_STREAM) {
    c->error = begin(c, pose ? &robodyn_stream_pose : &robodyn_stream_joints, pose,
                     c->words + STEP, c->words + STEP_RESULT, &c->step_pools, now);
    c->error_joint = (int)c->words[STEP_RESULT];
  }
  c->stream = NO_STREAM;
}

ROBODYN_API int robodyn_controller_step(robodyn_controller *c, const robodyn_joint_state *state,
                                        double now, double *efforts)
{
  memcpy(c->words + STATE, state, JOINTS * sizeof *state);
  c->words[MISSED] = missed_periods(c, now);
  c->words[STOP_REASON] = stop_reason(c, now);
  const int request = atomic_exchange(&c->request, NO_REQUEST);
  if (request != NO_REQUEST && !(request == ARM && c->words[ARMING])) { /* it would count anew */
    c->words[REQUEST] = request;
  }
  const int posted = atomic_load(&c->posted);
  if (posted != NOTHING) {
    c->result_joint = -1;
    c->result = take(c, posted, now);
    atomic_store(&c->posted, NOTHING);
  }
  follow_stream(c, now);
  const int publish = robodyn_recorded_cycle(c->words + CYCLE, now, NULL, NULL, JOINTS,
                                             sizeof(double), c->efforts, JOINTS, sizeof(double));
  for (int i = 0; i < JOINTS; i++) {
    efforts[i] = publish ? c->efforts[i] : NAN; /* not those of an earlier step */
  }
  return publish;
}

ROBODYN_API void robodyn_controller_set_reference(robodyn_controller *c, const double *position,
                                                  const double *velocity,
                                                  const double *acceleration)
{
  const double *const given[3] = {position, velocity, acceleration};
  double *const asked = numbers(c, STEP_ASKED);
  c->stream = NO_STREAM;
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < JOINTS; i++) {
      asked[k * JOINTS + i] = given[k] ? given[k][i] : NAN;
      if (!isnan(asked[k * JOINTS + i])) {
        c->stream = JOINTS_STREAM;
      }
    }
  }
}

static void write_pose(robodyn_controller *c, int where, const double position[3],
                       const double quaternion[4], const double *twist)
{
  double *const pose = numbers(c, where);
  memcpy(pose, position, 3 * sizeof *pose);
  memcpy(pose + 3, quaternion, 4 * sizeof *pose);
  for (int i = 0; i < 6; i++) {
    pose[7 + i] = twist ? twist[i] : 0.0;
  }
}

ROBODYN_API void robodyn_controller_set_pose(robodyn_controller *c, const double position[3],
                                             const double quaternion[4], const double twist[6])
{
  write_pose(c, STEP_POSE, position, quaternion, twist);
  c->stream = POSE_STREAM;
}

ROBODYN_API int robodyn_controller_reference_error(const robodyn_controller *c, int *joint)
{
  if (joint) {
    *joint = c->error_joint;
  }
  return c->error;
}

ROBODYN_API void robodyn_controller_guide(robodyn_controller *c, double until)
{
  *numbers(c, GUIDING_UNTIL) = until;
}

ROBODYN_API int robodyn_controller_phase(const robodyn_controller *c)
{
  return (int)c->words[PHASE];
}

ROBODYN_API int robodyn_controller_settings(const robodyn_controller *c)
{
  return c->settings;
}

ROBODYN_API const char *robodyn_controller_reason(const robodyn_controller *c)
{
  return reasons[c->words[REASON]].code;
}

ROBODYN_API int robodyn_controller_reason_joint(const robodyn_controller *c)
{
  return (int)c->words[REASON_JOINT];
}

ROBODYN_API const char *robodyn_controller_arming_refusal(const robodyn_controller *c)
{
  return reasons[c->words[REFUSAL]].code;
}

ROBODYN_API int robodyn_controller_arming_refusal_joint(const robodyn_controller *c)
{
  return (int)c->words[REFUSAL_JOINT];
}

ROBODYN_API const char *robodyn_controller_held_by(const robodyn_controller *c)
{
  return reasons[c->words[HELD_BY]].code;
}

ROBODYN_API int robodyn_controller_moving(const robodyn_controller *c)
{
  const int pose = references[c->settings] == ROBODYN_POSE_REFERENCE;
  const int64_t *const fields = c->words + CYCLE + (pose ? CYCLE_POSES : CYCLE_POINTS);
  const double *const header = (double *)(uintptr_t)fields[HEADER_FIELD + ADDRESS];
  const double *const times = (double *)(uintptr_t)fields[TIMES_FIELD + ADDRESS];
  const double time = *numbers(c, TIME) - *numbers(c, LAG);
  return c->words[PHASE] == ROBODYN_RUNNING && c->words[pose ? POSE_FOLLOWING : FOLLOWING] == 1 &&
         time < header[0] + times[fields[TIMES_FIELD + SHAPE] - 1];
}

static void copy(double *to, const double *from, size_t count)
{
  if (to) {
    memcpy(to, from, count * sizeof *to);
  }
}

ROBODYN_API void robodyn_controller_reference(const robodyn_controller *c, double *position,
                                              double *velocity, double *acceleration)
{
  copy(position, numbers(c, TARGET_POSITION), JOINTS);
  copy(velocity, numbers(c, TARGET_VELOCITY), JOINTS);
  copy(acceleration, numbers(c, TARGET_ACCELERATION), JOINTS);
}

ROBODYN_API void robodyn_controller_pose(const robodyn_controller *c, double *pose,
                                         double *reference)
{
  const int64_t *const cycle = c->words + CYCLE;
  copy(pose, (double *)(uintptr_t)cycle[CYCLE_TASK_POSE + ADDRESS], 16);
  copy(reference, (double *)(uintptr_t)cycle[CYCLE_TASK_TARGET + ADDRESS], 16);
}

ROBODYN_API void robodyn_controller_external_effort(const robodyn_controller *c, double *effort)
{
  for (int i = 0; i < JOINTS; i++) {
    effort[i] = c->words[ESTIMATES] ? numbers(c, EXTERNAL)[i] : NAN;
  }
}

/* --- Requests of another thread ------------------------------------------------------------ */

static int post(robodyn_controller *c, int what)
{
  atomic_store(&c->posted, what);
  return ROBODYN_OK;
}

/* Keeps why a request is not handed over, for robodyn_controller_posted, unless another one waits. */
static int refuse(robodyn_controller *c, int error, int joint)
{
  if (error != ROBODYN_BUSY) {
    c->result = error;
    c->result_joint = joint;
  }
  return error;
}

ROBODYN_API int robodyn_controller_posted(const robodyn_controller *c, int *joint)
{
  const int waits = atomic_load(&c->posted) != NOTHING;
  if (joint) {
    *joint = waits ? -1 : c->result_joint;
  }
  return waits ? ROBODYN_PENDING : c->result;
}

ROBODYN_API int robodyn_controller_post_trajectory(robodyn_controller *c, int count,
                                                   const double *times, const double *positions,
                                                   const double *velocities,
                                                   const double *accelerations, int *joint,
                                                   int *waypoint)
{
  int64_t *const request = c->words + POST;
  int error = atomic_load(&c->posted) != NOTHING      ? ROBODYN_BUSY
              : count > WAYPOINTS || count < 0        ? ROBODYN_TOO_MANY
              : count > 0 && (!times || !positions || !velocities) ? ROBODYN_NOT_FINITE
                                                      : ROBODYN_OK;
  int64_t *const result = c->words + POST_RESULT;
  if (error != ROBODYN_BUSY) {
    result[0] = result[1] = -1;
  }
  if (error == ROBODYN_OK) {
    if (count == 0) {
      return post(c, HALT);
    }
    double *const kept = (double *)(uintptr_t)request[REQUEST_WAYPOINTS + ADDRESS];
    copy((double *)(uintptr_t)request[REQUEST_TIMES + ADDRESS], times, (size_t)count);
    for (int w = 0; w < count; w++) {
      copy(kept + 4 * w * JOINTS, positions + w * JOINTS, JOINTS);
      copy(kept + (4 * w + 1) * JOINTS, velocities + w * JOINTS, JOINTS);
      if (accelerations) {
        copy(kept + (4 * w + 2) * JOINTS, accelerations + w * JOINTS, JOINTS);
      }
    }
    c->words[POST_COUNTS] = count;
    c->words[POST_COUNTS + 1] = accelerations ? 2 : 1; /* the highest derivative */
    c->post_pools.of[0].references[c->post_pools.of[0].next].segments = 0; /* overwritten */
    error = (int)robodyn_prepare_path(c->words + CYCLE, request, 0.0);
  }
  if (joint) {
    *joint = error == ROBODYN_BUSY ? -1 : (int)result[0];
  }
  if (waypoint) {
    *waypoint = error == ROBODYN_BUSY ? -1 : (int)result[1];
  }
  return error == ROBODYN_OK ? post(c, PATH) : refuse(c, error, (int)result[0]);
}

ROBODYN_API int robodyn_controller_post_target(robodyn_controller *c, const double *position)
{
  if (atomic_load(&c->posted) != NOTHING) {
    return ROBODYN_BUSY;
  }
  copy(numbers(c, POST_ASKED), position, JOINTS);
  return post(c, TARGET);
}

ROBODYN_API int robodyn_controller_post_pose(robodyn_controller *c, const double position[3],
                                             const double quaternion[4])
{
  if (atomic_load(&c->posted) != NOTHING) {
    return ROBODYN_BUSY;
  }
  write_pose(c, POST_POSE, position, quaternion, NULL);
  return post(c, POSE);
}

ROBODYN_API int robodyn_controller_post_settings(robodyn_controller *c, int settings)
{
  if (atomic_load(&c->posted) != NOTHING) {
    return ROBODYN_BUSY;
  }
  if (settings < 0 || settings >= SETTINGS_COUNT) {
    return refuse(c, ROBODYN_NOT_EXPORTED, -1);
  }
  c->posted_settings = settings;
  return post(c, SETTINGS);
}

ROBODYN_API int robodyn_controller_post_payload(robodyn_controller *c, double mass,
                                                const double center[3])
{
  if (atomic_load(&c->posted) != NOTHING) {
    return ROBODYN_BUSY;
  }
  if (!(PAYLOAD_MASS > 0.0)) {
    return refuse(c, ROBODYN_NOT_EXPORTED, -1);
  }
  *numbers(c, POST_PAYLOAD) = mass;
  copy(numbers(c, POST_PAYLOAD) + 1, center, 3);
  return post(c, PAYLOAD);
}

/* --- Recording ----------------------------------------------------------------------------- */

static int64_t done(const robodyn_controller *c)
{
  return *(const volatile int64_t *)(c->words + DONE);
}

static void write_recording(const robodyn_controller *c, FILE *file)
{
  const int64_t *const cycle = c->words + CYCLE, n = c->recorded, last = done(c);
  const int64_t first = last + SPARE > n ? last + SPARE - n : 0;
  const int waits = atomic_load(&c->posted) != NOTHING; /* a step may plan it meanwhile, */
  const int next[] = {c->post_pools.of[0].next, c->post_pools.of[1].next}; /* and write it here */
  const int64_t head[] = {(int64_t)sizeof about, last - first, CHANGES,
                          (int64_t)sizeof(struct change),
                          2 * (c->step_pools.of[0].count + POSTED_REFERENCES)};
  fwrite("robodyn_cycles 1", 16, 1, file);
  fwrite(head, sizeof head, 1, file);
  fwrite(about, sizeof about, 1, file);
  for (int i = 0; i < RING_ARRAYS; i++) {
    const char *const rows = (const char *)(uintptr_t)cycle[ring[i].field + ADDRESS];
    for (int64_t k = first; k <= last; k++) {
      fwrite(rows + k % n * ring[i].row_bytes, (size_t)ring[i].row_bytes, 1, file);
    }
  }
  fwrite(c->changes, sizeof *c->changes, CHANGES, file);
  for (int k = 0; k < 4; k++) {
    const struct pool *const pool = (k < 2 ? &c->step_pools : &c->post_pools)->of + k % 2;
    const size_t size = reference_size(pool->pose, pool->segments);
    for (int i = 0; i < pool->count; i++) {
      const struct reference *const r = pool->references + i;
      const int overwritten = waits && k >= 2 && i == next[k - 2];
      const int64_t what[] = {pool->pose, overwritten ? 0 : r->segments, pool->segments,
                              (int64_t)size};
      fwrite(what, sizeof what, 1, file);
      fwrite(r->memory, sizeof *r->memory, size, file);
    }
  }
  const int64_t lost = done(c) + SPARE - n - first; /* overwritten meanwhile */
  fwrite(&lost, sizeof lost, 1, file);
}

ROBODYN_API int robodyn_controller_write_recording(const robodyn_controller *c, const char *path)
{
  if (!c->recorded) {
    return ROBODYN_NOT_RECORDED;
  }
  FILE *const file = fopen(path, "wb");
  if (!file) {
    return ROBODYN_NOT_WRITTEN;
  }
  write_recording(c, file);
  const int failed = ferror(file);
  return fclose(file) || failed ? ROBODYN_NOT_WRITTEN : ROBODYN_OK;
}

/* --- What was exported --------------------------------------------------------------------- */

ROBODYN_API const char *robodyn_controller_error_text(int error)
{
  static const char *const texts[] = {
      "no error",
      "the header is that of another version than the library: compile with the exported header",
      "the robot has another number of joints: claim those that robodyn_controller_joint names",
      "the processor lacks instructions that the library uses: export it for this one",
      "memory could not be allocated",
      "no step has taken the request yet",
      "the request before this one has not been taken yet, or the loop sets references itself",
      "the controller is not RUNNING: arm it first",
      "the law in force follows no such reference: put settings with another mode in force",
      "a number is not finite, or a quaternion has not length 1",
      "a position is outside of its limits, or a pose is out of reach",
      "a velocity or acceleration is above its limit: give the motion more time",
      "the reference would jump: begin at the present reference",
      "times of waypoints have to increase from 0 on, to at least one after 0",
      "the last waypoint has a velocity: end at rest",
      "there are too many waypoints",
      "settings or payload were not exported: name them as the library is exported",
      "gravity with the payload contradicts the efforts: change it at rest, or before arming",
      "nothing is recorded: create the controller with a number of steps to record",
      "the file could not be written",
      "bounds of the motion would not slow down a stream: post a trajectory or a target",
      "a joint has no limit of velocity, acceleration or jerk: set velocity_limit",
      "no motion within the limits leads there: give it more time, or a nearer target"};
  const int count = (int)(sizeof texts / sizeof *texts);
  return error >= 0 && error < count ? texts[error] : "unknown error";
}

ROBODYN_API int robodyn_controller_version(void)
{
  return ROBODYN_CONTROLLER_VERSION;
}

ROBODYN_API const char *robodyn_controller_package_version(void)
{
  return package_version;
}

ROBODYN_API const char *robodyn_controller_robot(void)
{
  return robot_name;
}

ROBODYN_API int robodyn_controller_joints(void)
{
  return JOINTS;
}

ROBODYN_API const char *robodyn_controller_joint(int index)
{
  return index >= 0 && index < JOINTS ? joint_names[index] : NULL;
}

ROBODYN_API double robodyn_controller_period(void)
{
  return PERIOD;
}

ROBODYN_API int robodyn_controller_settings_count(void)
{
  return SETTINGS_COUNT;
}

static int exported(int settings)
{
  return settings >= 0 && settings < SETTINGS_COUNT;
}

ROBODYN_API const char *robodyn_controller_settings_name(int settings)
{
  return exported(settings) ? settings_names[settings] : NULL;
}

ROBODYN_API const char *robodyn_controller_settings_mode(int settings)
{
  return exported(settings) ? modes[settings] : NULL;
}

ROBODYN_API const char *robodyn_controller_settings_warning(int settings)
{
  return exported(settings) ? warnings[settings] : NULL;
}

ROBODYN_API int robodyn_controller_settings_reference(int settings)
{
  return exported(settings) ? references[settings] : ROBODYN_NO_REFERENCE;
}

ROBODYN_API int robodyn_controller_limits(int settings, int joint, robodyn_joint_limits *limits)
{
  if (!exported(settings) || joint < 0 || joint >= JOINTS) {
    return 0;
  }
  *limits = joint_limits[settings][joint];
  return 1;
}

ROBODYN_API int robodyn_controller_parameters(int settings, robodyn_parameters *parameters)
{
  if (!exported(settings)) {
    return 0;
  }
  *parameters = settings_parameters[settings];
  return 1;
}

ROBODYN_API int robodyn_controller_body(int index, robodyn_body *body)
{
  if (index < 0 || index >= BODIES) {
    return 0;
  }
  *body = bodies_of_robot[index];
  return 1;
}

ROBODYN_API int robodyn_controller_fixed_frame(int index, robodyn_frame *frame)
{
  if (index < 0 || index >= FIXED_FRAMES) {
    return 0;
  }
  *frame = fixed_frames[index];
  return 1;
}

ROBODYN_API double robodyn_controller_payload_mass(void)
{
  return PAYLOAD_MASS;
}

ROBODYN_API double robodyn_controller_payload_distance(void)
{
  return PAYLOAD_DISTANCE;
}

ROBODYN_API int robodyn_controller_waypoints(void)
{
  return WAYPOINTS;
}

ROBODYN_API const char *robodyn_controller_reason_text(const char *code)
{
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
    if (!strcmp(reasons[i].code, code)) {
      return reasons[i].text;
    }
  }
  return NULL;
}

/*
 * The compiled functions report an error of Python through these, and return 0, as in Python; they
 * raise none.
 */
void *PyExc_RuntimeError, *PyExc_StopIteration, *PyExc_SystemError;

void *PyBytes_FromStringAndSize(const char *bytes, intptr_t size)
{
  (void)bytes;
  (void)size;
  return NULL;
}

void *PyUnicode_FromString(const char *text)
{
  (void)text;
  return NULL;
}

void PyErr_Clear(void) {}

void PyErr_SetNone(void *type)
{
  (void)type;
}

void PyErr_SetString(void *type, const char *text)
{
  (void)type;
  (void)text;
}

void PyErr_WriteUnraisable(void *object)
{
  (void)object;
}

void Py_DecRef(void *object)
{
  (void)object;
}

void numba_do_raise(void *exception)
{
  (void)exception;
}

void numba_gil_ensure(int *state)
{
  (void)state;
}

void numba_gil_release(int *state)
{
  (void)state;
}

void *numba_runtime_build_excinfo_struct(void *bytes, void *arguments)
{
  (void)bytes;
  (void)arguments;
  return NULL;
}

void *numba_unpickle(const char *bytes, int size, const void *hash)
{
  (void)bytes;
  (void)size;
  (void)hash;
  return NULL;
}

/* Nobody owns the arrays of the image: these are referred to, and not called. */
void NRT_Free(void *memory)
{
  (void)memory;
}

void NRT_MemInfo_call_dtor(void *meminfo)
{
  (void)meminfo;
}

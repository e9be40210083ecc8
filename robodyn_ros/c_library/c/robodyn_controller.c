/* Copyright 2026 robodyn_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls the machine code of the control cycle with a copy of the memory that it had in Python.
 */
#define ROBODYN_API __attribute__((visibility("default")))
#include "robodyn_controller.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As the cycle takes an array: who owns it, elements, bytes of each, address, shape, stride. */
typedef uint8_t cycle_function(void *cycle, double now, void *meminfo, void *parent, int64_t items,
                               int64_t itemsize, double *data, int64_t shape, int64_t stride);
extern cycle_function robodyn_cycle;

/* Of the robot: JOINTS, PERIOD, STATE_TIMEOUT, the image, and the places of what is in it. */
#include "robodyn_image.h"

enum { NO_REQUEST, ARM, DISARM, STOP };

static const double LONGEST_INTERVAL = 10.0; /* s; a longer one is a pause */
static const double ROUNDING = 1e-6;         /* periods */

struct robodyn_controller {
  int64_t *words;
  void *allocated;
  double last, behind;
  double efforts[JOINTS];
};

ROBODYN_API robodyn_controller *robodyn_controller_create(int version, int joints, int *error)
{
  int ignored;
  int *const result = error ? error : &ignored;
  *result = version != ROBODYN_CONTROLLER_VERSION ? ROBODYN_WRONG_VERSION
            : joints != JOINTS                    ? ROBODYN_WRONG_JOINTS
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
  void *const memory = malloc(sizeof image + 64);
  if (!c || !memory) {
    free(c);
    free(memory);
    *result = ROBODYN_NO_MEMORY;
    return NULL;
  }
  c->allocated = memory;
  c->words = (int64_t *)(((uintptr_t)memory + 63) / 64 * 64);
  memcpy(c->words, image, sizeof image);
  for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
    c->words[pointers[i].word] = (int64_t)(uintptr_t)(c->words + pointers[i].target);
  }
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    c->words[functions[i].word] = (int64_t)(uintptr_t)functions[i].function;
  }
  c->last = -INFINITY;
  return c;
}

ROBODYN_API void robodyn_controller_destroy(robodyn_controller *c)
{
  if (c) {
    free(c->allocated);
    free(c);
  }
}

ROBODYN_API const char *robodyn_controller_joint(int index)
{
  return index >= 0 && index < JOINTS ? joint_names[index] : NULL;
}

ROBODYN_API double robodyn_controller_period(void)
{
  return PERIOD;
}

ROBODYN_API void robodyn_controller_arm(robodyn_controller *c)
{
  c->words[REQUEST] = ARM;
}

ROBODYN_API void robodyn_controller_disarm(robodyn_controller *c)
{
  c->words[REQUEST] = DISARM;
}

ROBODYN_API void robodyn_controller_stop(robodyn_controller *c)
{
  c->words[REQUEST] = STOP;
}

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

ROBODYN_API int robodyn_controller_step(robodyn_controller *c, const robodyn_joint_state *state,
                                        double now, double *efforts)
{
  memcpy(c->words + STATE, state, JOINTS * sizeof *state);
  c->words[MISSED] = missed_periods(c, now);
  const int publish = robodyn_cycle(c->words, now, NULL, NULL, JOINTS, sizeof(double), c->efforts,
                                    JOINTS, sizeof(double));
  for (int i = 0; i < JOINTS; i++) {
    efforts[i] = publish ? c->efforts[i] : NAN; /* not those of an earlier step */
  }
  return publish;
}

ROBODYN_API int robodyn_controller_phase(const robodyn_controller *c)
{
  return (int)c->words[PHASE];
}

ROBODYN_API const char *robodyn_controller_reason(const robodyn_controller *c)
{
  return reason_codes[c->words[REASON]];
}

ROBODYN_API int robodyn_controller_reason_joint(const robodyn_controller *c)
{
  return (int)c->words[REASON_JOINT];
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

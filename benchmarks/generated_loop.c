// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0
//
// A loop around generated code, as pinocchio_loop.cpp has one around Pinocchio.

#include "generated.c"

typedef int (*Function)(
  const casadi_real **, casadi_real **, casadi_int *, casadi_real *, int);

void run(
  int quantity, long count, long states, long nv, const double * q, const double * v,
  const double * w, double * out)
{
  static const Function functions[] = {inverse_dynamics, gravity, mass_matrix, forward_dynamics};
  for (long k = 0, s = 0; k < count; ++k) {
    const casadi_real * inputs[] = {q + nv * s, v + nv * s, w + nv * s};
    casadi_real * outputs[] = {out};
    functions[quantity](inputs, outputs, 0, 0, 0);
    s = s + 1 < states ? s + 1 : 0;
  }
}

// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0
//
// Pinocchio in a loop of C++: what a C++ controller gets, with nothing of Python.
// The model comes as arrays, so that its headers alone are needed and all of it is compiled for
// this processor.

#include <memory>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "pinocchio_model.hpp"

using Vector = Eigen::VectorXd;

namespace
{
struct Robot
{
  pin::Model model;
  std::unique_ptr<pin::Data> data;
};

// Go through the states again and again; the sum makes every result one that somebody reads.
template <typename Evaluate>
double repeated(long count, long states, Evaluate evaluate)
{
  double total = 0.0;
  for (long k = 0, s = 0; k < count; ++k) {
    total += evaluate(s);
    s = s + 1 < states ? s + 1 : 0;
  }
  return total;
}
}  // namespace

extern "C" {
void * robot_new(
  long count, const long * parents, const char * kinds, const double * rotations,
  const double * origins, const double * bodies, const double * gravity)
{
  auto robot = std::make_unique<Robot>();
  robot->model = model_of(count, parents, kinds, rotations, origins, bodies, gravity);
  robot->data = std::make_unique<pin::Data>(robot->model);
  return robot.release();
}

void robot_delete(void * robot) { delete static_cast<Robot *>(robot); }

// Evaluate `quantity` `count` times and return a sum of what came out. `q`, `v` and `w` (q̈ or τ)
// are (states, nv); `out` gets the last result.
double run(
  void * handle, int quantity, long count, long states, const double * q, const double * v,
  const double * w, double * out)
{
  auto & robot = *static_cast<Robot *>(handle);
  const auto & model = robot.model;
  auto & data = *robot.data;
  const long nv = model.nv;
  const auto row = [nv](const double * table, long s) {
    return Eigen::Map<const Vector>(table + nv * s, nv);
  };
  double sum = 0.0;
  Eigen::Map<Vector> vector(out, nv);
  if (quantity == 0) {
    sum = repeated(count, states, [&](long s) {
      return pin::rnea(model, data, row(q, s), row(v, s), row(w, s))[s % nv];
    });
    vector = data.tau;
  } else if (quantity == 1) {
    sum = repeated(count, states, [&](long s) {
      return pin::computeGeneralizedGravity(model, data, row(q, s))[s % nv];
    });
    vector = data.g;
  } else if (quantity == 2) {
    // The upper triangle alone is filled: no more is asked of Pinocchio
    sum = repeated(count, states, [&](long s) {
      return pin::crba(model, data, row(q, s))(s % nv, s % nv);
    });
    Eigen::Map<Eigen::MatrixXd> matrix(out, nv, nv);
    matrix = data.M.selfadjointView<Eigen::Upper>();
  } else {
    sum = repeated(count, states, [&](long s) {
      return pin::aba(model, data, row(q, s), row(v, s), row(w, s))[s % nv];
    });
    vector = data.ddq;
  }
  return sum;
}
}

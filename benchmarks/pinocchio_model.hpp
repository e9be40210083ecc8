// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0
//
// A model of Pinocchio from arrays, so that its headers alone are needed.

#pragma once

#include <string>

#include <pinocchio/multibody.hpp>

namespace pin = pinocchio;
using Rows3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

inline pin::JointModel joint(char motion, char axis)
{
  if (motion == 'R')
    return axis == 'X'   ? pin::JointModel(pin::JointModelRX())
           : axis == 'Y' ? pin::JointModel(pin::JointModelRY())
                         : pin::JointModel(pin::JointModelRZ());
  return axis == 'X'   ? pin::JointModel(pin::JointModelPX())
         : axis == 'Y' ? pin::JointModel(pin::JointModelPY())
                       : pin::JointModel(pin::JointModelPZ());
}

// `kinds` has two letters a joint: R or P, and the axis. A body is its mass, centre (3) and
// inertia about that (9), in the frame of its joint.
inline pin::Model model_of(
  long count, const long * parents, const char * kinds, const double * rotations,
  const double * origins, const double * bodies, const double * gravity)
{
  pin::Model model;
  for (long i = 0; i < count; ++i) {
    const pin::SE3 place(
      Eigen::Map<const Rows3>(rotations + 9 * i), Eigen::Map<const Eigen::Vector3d>(origins + 3 * i));
    const auto id = model.addJoint(
      parents[i], joint(kinds[2 * i], kinds[2 * i + 1]), place, "joint" + std::to_string(i));
    const double * body = bodies + 13 * i;
    model.appendBodyToJoint(
      id,
      pin::Inertia(
        body[0], Eigen::Map<const Eigen::Vector3d>(body + 1), Eigen::Map<const Rows3>(body + 4)),
      pin::SE3::Identity());
  }
  model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(gravity);
  return model;
}

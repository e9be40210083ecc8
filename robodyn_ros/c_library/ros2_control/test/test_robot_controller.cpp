// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <string>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "gtest/gtest.h"
#include "pluginlib/class_loader.hpp"
#include "robodyn_controller.h"

namespace
{
struct Controller
{
  int joints = robodyn_controller_joints();
  robodyn_controller * own =
    robodyn_controller_create(ROBODYN_CONTROLLER_VERSION, joints, 0, nullptr);
  std::vector<double> efforts = std::vector<double>(static_cast<std::size_t>(joints));
  double now = 0.0;

  ~Controller() { robodyn_controller_destroy(own); }
  /// Steps with states whose positions are this; returns whether efforts are to be applied.
  bool step(double position)
  {
    now += robodyn_controller_period();
    const std::vector<robodyn_joint_state> states(
      efforts.size(), {position, 0.0, NAN, now, NAN, NAN, NAN});
    return robodyn_controller_step(own, states.data(), now, efforts.data());
  }
};
}  // namespace

TEST(Controller, has_a_version_joints_and_settings)
{
  EXPECT_EQ(robodyn_controller_version(), ROBODYN_CONTROLLER_VERSION);
  int error = ROBODYN_OK;
  EXPECT_EQ(
    robodyn_controller_create(
      ROBODYN_CONTROLLER_VERSION, robodyn_controller_joints() + 1, 0, &error),
    nullptr);
  EXPECT_EQ(error, ROBODYN_WRONG_JOINTS);
  for (int k = 0; k < robodyn_controller_settings_count(); ++k)
  {
    robodyn_parameters parameters{};
    EXPECT_EQ(robodyn_controller_parameters(k, &parameters), 1);
    EXPECT_GT(parameters.state_timeout, robodyn_controller_period());
  }
}

TEST(Controller, applies_no_effort_unless_it_is_armed)
{
  Controller c;
  for (int k = 0; k < 100; ++k)
  {
    EXPECT_FALSE(c.step(0.1));
    EXPECT_TRUE(std::isnan(c.efforts[0]));
  }
}

TEST(Controller, is_not_armed_without_states)
{
  Controller c;
  robodyn_controller_emergency_stop(c.own, 0);
  robodyn_controller_arm(c.own);
  for (int k = 0; k < 100; ++k)
  {
    EXPECT_FALSE(c.step(NAN));
  }
  EXPECT_EQ(robodyn_controller_phase(c.own), ROBODYN_INACTIVE);
}

TEST(Plugin, is_found)
{
  pluginlib::ClassLoader<controller_interface::ChainableControllerInterface> loader(
    "controller_interface", "controller_interface::ChainableControllerInterface");
  EXPECT_TRUE(loader.isClassAvailable("robot_controller/RobotController"));
}

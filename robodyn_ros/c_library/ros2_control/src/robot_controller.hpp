// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0

#ifndef ROBOT_CONTROLLER_HPP_
#define ROBOT_CONTROLLER_HPP_

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "diagnostic_msgs/msg/diagnostic_array.hpp"
#include "geometry_msgs/msg/inertia_stamped.hpp"
#include "geometry_msgs/msg/pose_stamped.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_lifecycle/state.hpp"
#include "robodyn_controller.h"
#include "sensor_msgs/msg/joint_state.hpp"
#include "std_msgs/msg/bool.hpp"
#include "std_msgs/msg/u_int8.hpp"
#include "std_srvs/srv/trigger.hpp"
#include "trajectory_msgs/msg/joint_trajectory.hpp"

namespace robot_controller
{
using controller_interface::CallbackReturn;
using controller_interface::return_type;

/// Law and guard of one robot as a controller of ros2_control; the C library computes the efforts.
class RobotController : public controller_interface::ChainableControllerInterface
{
public:
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;
  CallbackReturn on_init() override;
  CallbackReturn on_configure(const rclcpp_lifecycle::State & previous) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State & previous) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State & previous) override;
  CallbackReturn on_cleanup(const rclcpp_lifecycle::State & previous) override;
  CallbackReturn on_error(const rclcpp_lifecycle::State & previous) override;

protected:
  std::vector<hardware_interface::CommandInterface::SharedPtr> on_export_reference_interfaces_list()
    override;
  return_type update_reference_from_subscribers(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;
  return_type update_and_write_commands(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;

private:
  using Library = std::shared_ptr<robodyn_controller>;

  /// What the loop tells the executor of the node.
  struct Cycle
  {
    int phase = ROBODYN_INACTIVE;
    int joint = -1;
    int settings = 0;
    int reference_error = ROBODYN_OK;
    const char * reason = "NO_REASON";
    const char * held_by = "NO_REASON";
    bool active = false;
    bool refused = false;  // arming: the reason is against that
    std::uint64_t cycles = 0;
    std::uint64_t unread = 0;     // samples of a joint that were not finite or not readable
    std::uint64_t unwritten = 0;  // commands that the hardware interface did not take
    std::vector<double> position, velocity, effort;
    std::vector<double> reference_position, reference_velocity, commanded, external;
  };

  // In the loop
  bool step();
  void read_states();
  void read_chained_reference();
  void write(const std::vector<double> & efforts);
  void share();

  // In the executor
  Library create(int * error) const;
  void open_topics();
  void close_topics();
  void tick();
  void report(const Cycle & cycle);
  void publish(const Cycle & cycle);
  void check_emergency_stop();
  void set_emergency_stop(int stop);
  void follow_trajectory(const trajectory_msgs::msg::JointTrajectory & message);
  void follow_pose(const geometry_msgs::msg::PoseStamped & message);
  void take_payload(const geometry_msgs::msg::InertiaStamped & message);
  /// Hands a request over if it is the one publisher's, a reference only if none is chained.
  template <typename Request>
  void post(const rclcpp::SubscriptionBase & subscription, bool reference, Request request);
  static std::string error_text(int error, int joint);
  rcl_interfaces::msg::SetParametersResult set_parameters(
    const std::vector<rclcpp::Parameter> & parameters);

  std::vector<std::string> joints_;
  std::vector<std::string> state_interface_types_;

  // Of the loop
  robodyn_controller * stepped_ = nullptr;
  std::vector<robodyn_joint_state> states_;
  std::vector<double robodyn_joint_state::*> fields_;
  std::vector<double> applied_, efforts_, zeros_, chained_position_, chained_velocity_;
  std::uint64_t cycles_ = 0, unread_ = 0, unwritten_ = 0;
  double now_ = 0.0;     // s, clock of the library: the sum of all periods
  double waited_ = 0.0;  // s since arming was requested; NAN once it has succeeded
  double arming_timeout_ = 0.0;
  bool release_at_fault_ = false;
  std::chrono::steady_clock::time_point last_update_;
  std::chrono::duration<double> interval_{0.0};  // between the last two updates

  std::mutex loop_mutex_;  // updates only try to lock it: the manager may switch in another thread
  bool released_ = true;

  std::mutex cycle_mutex_;  // updates only try to lock it
  Cycle cycle_;

  std::mutex library_mutex_;           // which library is posted to; not locked in updates
  Library library_, spare_, retired_;  // in use; for the next activation; to be freed
  int stop_ = -1;                      // emergency stop that was heard last, -1 for none
  int settings_ = 0;

  // Of the executor
  Cycle reported_;
  Library faulty_;  // to be recorded
  double telemetry_rate_ = 0.0;
  std::string base_frame_, payload_frame_, flight_folder_;
  int ticks_ = 0, ticks_to_recording_ = 0;
  bool waits_for_post_ = false;
  rclcpp::TimerBase::SharedPtr timer_;
  rclcpp::Subscription<trajectory_msgs::msg::JointTrajectory>::SharedPtr trajectory_;
  rclcpp::Subscription<geometry_msgs::msg::PoseStamped>::SharedPtr pose_;
  rclcpp::Subscription<geometry_msgs::msg::InertiaStamped>::SharedPtr payload_;
  rclcpp::Subscription<std_msgs::msg::Bool>::SharedPtr emergency_stop_, heartbeat_;
  rclcpp::Service<std_srvs::srv::Trigger>::SharedPtr stop_service_;
  rclcpp::Publisher<diagnostic_msgs::msg::DiagnosticArray>::SharedPtr diagnostics_;
  rclcpp::Publisher<sensor_msgs::msg::JointState>::SharedPtr reference_, external_torque_;
  rclcpp::Publisher<std_msgs::msg::UInt8>::SharedPtr phase_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr on_set_parameters_;
};
}  // namespace robot_controller

#endif  // ROBOT_CONTROLLER_HPP_

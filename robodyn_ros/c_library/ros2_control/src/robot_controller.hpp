// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0

#ifndef ROBOT_CONTROLLER_HPP_
#define ROBOT_CONTROLLER_HPP_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "control_msgs/msg/joint_trajectory_controller_state.hpp"
#include "controller_interface/chainable_controller_interface.hpp"
#include "diagnostic_msgs/msg/diagnostic_array.hpp"
#include "geometry_msgs/msg/inertia_stamped.hpp"
#include "geometry_msgs/msg/pose_stamped.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_lifecycle/state.hpp"
#include "realtime_tools/lock_free_queue.hpp"
#include "realtime_tools/realtime_thread_safe_box.hpp"
#include "robodyn_controller.h"
#include "robot_controller/robot_controller_parameters.hpp"
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
  CallbackReturn on_shutdown(const rclcpp_lifecycle::State & previous) override;
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

  /// What happened in the loop; the executor reports all, in order.
  struct Event
  {
    enum Kind
    {
      kPhase,     // another phase; reason and joint are those of a fault
      kNotArmed,  // with the first reason
      kStopped,   // by ~/stop: nothing holds the arm any more
      kNotTaken,  // commands, by the hardware interface
      kDeactivated
    };
    Kind kind = kPhase;
    int phase = ROBODYN_INACTIVE;
    int joint = -1;
    const char * reason = "NO_REASON";
    const robodyn_controller * library = nullptr;
  };

  /// What the loop tells the executor of the node.
  struct Cycle
  {
    int phase = ROBODYN_INACTIVE;
    int joint = -1;
    int settings = 0;
    int reference_error = ROBODYN_OK;
    const char * reason = "NO_REASON";
    const char * held_by = "NO_REASON";
    std::uint64_t cycles = 0;
    std::uint64_t unread = 0;      // samples of a joint that were not finite or not readable
    std::uint64_t unwritten = 0;   // commands that the hardware interface did not take
    std::uint64_t unreported = 0;  // events for which there was no room
    std::vector<double> position, velocity, effort;
    std::vector<double> reference_position, reference_velocity, commanded, external;
  };

  /// What is asked of each controller of the library, whenever it is made.
  struct Intent
  {
    int settings = 0;
    double mass = 0.0;  // kg, of the payload beside that of the settings
    double center[3] = {0.0, 0.0, 0.0};
  };

  /// Recording of a fault that is to be written.
  struct Recording
  {
    Library library;
    int ticks;
  };

  // In the loop
  bool step();
  void read_states();
  void read_chained_reference();
  bool write(const std::vector<double> & efforts);
  void share();
  void write(Cycle & c) const;
  void push(Event::Kind kind, const char * reason = "NO_REASON", int joint = -1);
  void fail(Event::Kind kind, const char * reason = "NO_REASON", int joint = -1);

  // In the executor
  CallbackReturn configure();
  /// Calls a function that no other one of the executor interrupts, unless it is cleaned up.
  template <typename Function>
  void call(Function function);
  std::string contradiction(const std::string & description) const;
  /// Makes a controller of which all is asked; an error, unless there is memory, is that of this.
  Library create(const Intent & intent, int * error, int * joint) const;
  void open_topics();
  void close_topics();
  void tick();
  void report(const Event & event, const std::vector<Library> & retired);
  void report_events();
  void write_recordings(bool all);
  void publish();
  void check_emergency_stop();
  void set_emergency_stop(int stop);
  std::string stop();
  void follow_trajectory(const trajectory_msgs::msg::JointTrajectory & message);
  void follow_pose(const geometry_msgs::msg::PoseStamped & message);
  void take_payload(const geometry_msgs::msg::InertiaStamped & message);
  /// Hands a request over if it is the one publisher's; a reference only in motion, unchained.
  template <typename Request>
  void post(const rclcpp::SubscriptionBase & topic, bool reference, Request request);
  /// Waits until a step has taken the last request; returns why it was refused.
  std::string result(const Library & library, int error, int joint) const;
  /// Asks all of this, now and whenever the controller is activated; returns why not.
  std::string ask(const Intent & intent);
  std::string set_settings(const std::string & name);
  std::string described(const char * code, int joint) const;
  std::string error_text(int error, int joint) const;
  const char * joint_name(int joint) const;

  std::shared_ptr<ParamListener> listener_;
  std::vector<std::string> joints_;
  int recorded_ = 0;  // cycles
  std::vector<std::string> state_interface_types_;

  // Of the loop, and of transitions of the lifecycle, which lock it
  std::mutex loop_mutex_;  // updates only try to lock it: the manager may switch in another thread
  bool released_ = true;
  robodyn_controller * stepped_ = nullptr;
  std::vector<robodyn_joint_state> states_;
  std::vector<double robodyn_joint_state::*> fields_;
  std::vector<double> applied_, efforts_, zeros_, chained_position_, chained_velocity_;
  std::uint64_t cycles_ = 0, unread_ = 0, unwritten_ = 0, unreported_ = 0;
  double now_ = 0.0;        // s, clock of the library: the sum of all periods
  double waited_ = 0.0;     // s since arming was requested; NAN once it has succeeded
  double not_taken_ = 0.0;  // s for which the hardware interface has not taken all commands
  double arming_timeout_ = 0.0, state_timeout_ = 0.0;
  int phase_ = ROBODYN_INACTIVE;
  bool applied_now_ = false;          // the library has efforts to be applied in this cycle
  bool failed_ = false;               // a failure that the manager has to act on
  const char * refusal_ = nullptr;    // why it was not armed at first
  const char * no_reason_ = nullptr;  // address of this code
  int refusal_joint_ = -1;
  bool release_at_fault_ = false;
  std::chrono::steady_clock::time_point last_update_;
  std::chrono::duration<double> interval_{0.0};  // between the last two updates

  // Between the loop and the executor
  realtime_tools::LockFreeSPSCQueue<Event, 128> events_;
  std::atomic<bool> active_{false};
  realtime_tools::RealtimeThreadSafeBox<Cycle> cycle_;  // updates only try to lock it
  std::mutex library_mutex_;                            // what follows; not locked in updates
  Library library_, spare_;                             // in use; for the next activation
  std::vector<Library> retired_;                        // to be freed
  Intent intent_;
  int stop_ = -1;  // emergency stop that was heard last, -1 for none
  static constexpr std::chrono::steady_clock::time_point kNever{-std::chrono::hours(1000000)};
  std::chrono::steady_clock::time_point heartbeat_time_ = kNever;

  // Of the executor
  // A parameter is set with the lock of all parameters: none is read with this one
  std::mutex executor_mutex_;
  bool open_ = false;
  std::vector<Recording> recordings_;
  double telemetry_rate_ = 0.0;
  bool has_fallback_ = false;
  std::string prefix_, base_frame_, payload_frame_, flight_folder_;
  int ticks_ = 0;
  rclcpp::TimerBase::SharedPtr timer_;
  rclcpp::Subscription<trajectory_msgs::msg::JointTrajectory>::SharedPtr trajectory_;
  rclcpp::Subscription<geometry_msgs::msg::PoseStamped>::SharedPtr pose_;
  rclcpp::Subscription<geometry_msgs::msg::InertiaStamped>::SharedPtr payload_;
  rclcpp::Subscription<std_msgs::msg::Bool>::SharedPtr emergency_stop_, heartbeat_;
  rclcpp::Service<std_srvs::srv::Trigger>::SharedPtr stop_service_;
  rclcpp::Publisher<diagnostic_msgs::msg::DiagnosticArray>::SharedPtr diagnostics_;
  rclcpp::Publisher<control_msgs::msg::JointTrajectoryControllerState>::SharedPtr state_;
  rclcpp::Publisher<sensor_msgs::msg::JointState>::SharedPtr external_torque_;
  rclcpp::Publisher<std_msgs::msg::UInt8>::SharedPtr phase_publisher_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr on_set_parameters_;
};
}  // namespace robot_controller

#endif  // ROBOT_CONTROLLER_HPP_

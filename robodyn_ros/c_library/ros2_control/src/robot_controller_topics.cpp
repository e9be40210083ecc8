// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0
//
// Topics, parameters and recordings: what the executor of the node does, beside the loop.

#include <algorithm>
#include <limits>
#include <utility>

#include "robot_controller.hpp"

namespace robot_controller
{
namespace
{
constexpr double kLongestPast = 0.5;  // s, of the stamp of a trajectory
constexpr double kRecordAfter = 1.0;  // s after a fault
constexpr const char * kPhases[] = {"INACTIVE", "RISING", "RUNNING", "STOPPING", "FAULT"};

std::string described(const char * code, int joint)
{
  const char * const text = robodyn_controller_reason_text(code);
  const char * const name = robodyn_controller_joint(joint);
  return std::string(code) + (text ? std::string(": ") + text : "") +
         (name ? std::string(" (") + name + ")" : "");
}
}  // namespace

void RobotController::open_topics()
{
  const auto node = get_node();
  diagnostics_ = node->create_publisher<diagnostic_msgs::msg::DiagnosticArray>("/diagnostics", 10);
  reference_ = node->create_publisher<sensor_msgs::msg::JointState>("~/reference", 10);
  external_torque_ = node->create_publisher<sensor_msgs::msg::JointState>("~/external_torque", 10);
  phase_ = node->create_publisher<std_msgs::msg::UInt8>("~/phase", 10);
  trajectory_ = node->create_subscription<trajectory_msgs::msg::JointTrajectory>(
    "~/joint_trajectory", 1,
    [this](const trajectory_msgs::msg::JointTrajectory & m) { follow_trajectory(m); });
  pose_ = node->create_subscription<geometry_msgs::msg::PoseStamped>(
    "~/target_pose", 1, [this](const geometry_msgs::msg::PoseStamped & m) { follow_pose(m); });
  payload_ = node->create_subscription<geometry_msgs::msg::InertiaStamped>(
    "~/payload", 1, [this](const geometry_msgs::msg::InertiaStamped & m) { take_payload(m); });
  emergency_stop_ = node->create_subscription<std_msgs::msg::Bool>(
    "~/emergency_stop", 10, [this](const std_msgs::msg::Bool & m) { set_emergency_stop(m.data); });
  heartbeat_ = node->create_subscription<std_msgs::msg::Bool>(
    "~/heartbeat", rclcpp::QoS(10).best_effort(),
    [this](const std_msgs::msg::Bool & m)
    {
      const std::lock_guard<std::mutex> lock(library_mutex_);
      if (m.data && library_ && heartbeat_->get_publisher_count() == 1)
      {
        robodyn_controller_heartbeat(library_.get());
      }
    });
  stop_service_ = node->create_service<std_srvs::srv::Trigger>(
    "~/stop",
    [this](
      const std_srvs::srv::Trigger::Request::SharedPtr,
      const std_srvs::srv::Trigger::Response::SharedPtr response)
    {
      const std::lock_guard<std::mutex> lock(library_mutex_);
      response->success = static_cast<bool>(library_);
      response->message = library_ ? "see ~/phase" : "not activated yet";
      if (library_)
      {
        robodyn_controller_stop(library_.get());
      }
    });
  on_set_parameters_ = node->add_on_set_parameters_callback(
    [this](const std::vector<rclcpp::Parameter> & p) { return set_parameters(p); });
  timer_ = node->create_wall_timer(
    std::chrono::duration<double>(1.0 / telemetry_rate_), [this] { tick(); });
}

void RobotController::close_topics()
{
  timer_.reset();
  trajectory_.reset();
  pose_.reset();
  payload_.reset();
  emergency_stop_.reset();
  heartbeat_.reset();
  stop_service_.reset();
  on_set_parameters_.reset();
}

void RobotController::tick()
{
  Cycle cycle;
  {
    const std::lock_guard<std::mutex> lock(cycle_mutex_);
    cycle = cycle_;
  }
  check_emergency_stop();
  report(cycle);
  publish(cycle);
  Library retired, spare;
  bool lacks_spare;
  {
    const std::lock_guard<std::mutex> lock(library_mutex_);
    retired = std::move(retired_);
    lacks_spare = !spare_;
  }
  if (lacks_spare)
  {
    spare = create(nullptr);
    const std::lock_guard<std::mutex> lock(library_mutex_);
    spare_ = std::move(spare);
  }
}

void RobotController::report(const Cycle & cycle)
{
  const auto logger = get_node()->get_logger();
  if (cycle.phase == ROBODYN_FAULT && reported_.phase != ROBODYN_FAULT)
  {
    RCLCPP_ERROR(
      logger, "FAULT %s; activate again to re-arm", described(cycle.reason, cycle.joint).c_str());
  }
  else if (cycle.active && (cycle.phase != reported_.phase || !reported_.active))
  {
    RCLCPP_INFO(logger, "%s", kPhases[cycle.phase]);
  }
  if (reported_.active && !cycle.active)
  {
    const bool refused = cycle.phase == ROBODYN_INACTIVE && cycle.refused;
    RCLCPP_INFO(
      logger, "inactive%s%s", refused ? ", not armed: " : "",
      refused ? described(cycle.reason, cycle.joint).c_str() : "");
  }
  int joint = -1, result = ROBODYN_PENDING;
  {
    const std::lock_guard<std::mutex> lock(library_mutex_);
    if (waits_for_post_)
    {
      result = robodyn_controller_posted(library_.get(), &joint);
    }
    if (cycle.phase == ROBODYN_FAULT && reported_.phase != ROBODYN_FAULT)
    {
      faulty_ = library_;
      ticks_to_recording_ = static_cast<int>(kRecordAfter * telemetry_rate_);
    }
  }
  if (result != ROBODYN_PENDING)
  {
    waits_for_post_ = false;
    if (result != ROBODYN_OK)
    {
      const char * const name = robodyn_controller_joint(joint);
      RCLCPP_WARN(
        logger, "request refused: %s%s%s", robodyn_controller_error_text(result), name ? ", " : "",
        name ? name : "");
    }
  }
  if (faulty_ && --ticks_to_recording_ < 0)
  {
    const std::string file = flight_folder_ + "/" + get_node()->get_name() + "_" +
                             std::to_string(get_node()->now().nanoseconds()) + ".flight";
    const int written = robodyn_controller_write_recording(faulty_.get(), file.c_str());
    faulty_.reset();
    if (written == ROBODYN_OK)
    {
      RCLCPP_INFO(logger, "recording of the fault: robodyn replay %s", file.c_str());
    }
    else if (written != ROBODYN_NOT_RECORDED)
    {
      RCLCPP_ERROR(logger, "%s: %s", file.c_str(), robodyn_controller_error_text(written));
    }
  }
  reported_ = cycle;
}

void RobotController::publish(const Cycle & cycle)
{
  const auto stamp = get_node()->now();
  const bool fault = cycle.phase == ROBODYN_FAULT;
  if (cycle.active)
  {
    std_msgs::msg::UInt8 phase;
    phase.data = static_cast<std::uint8_t>(cycle.phase);
    phase_->publish(phase);
    sensor_msgs::msg::JointState message;
    message.header.stamp = stamp;
    message.name = joints_;
    message.position = cycle.reference_position;
    message.velocity = cycle.reference_velocity;
    message.effort = cycle.commanded;
    reference_->publish(message);
    message.position = cycle.position;
    message.velocity = cycle.velocity;
    message.effort = cycle.external;
    external_torque_->publish(message);
  }
  if (++ticks_ < telemetry_rate_)
  {
    return;
  }
  ticks_ = 0;  // once a second
  diagnostic_msgs::msg::DiagnosticStatus status;
  const std::string phase = cycle.active ? kPhases[cycle.phase] : "inactive";
  const std::string reason = described(cycle.reason, cycle.joint);
  status.level = fault ? status.ERROR : status.OK;
  status.name = get_node()->get_name();
  status.hardware_id = robodyn_controller_robot();
  status.message = fault ? "FAULT: " + reason : phase;
  const std::pair<const char *, std::string> values[] = {
    {"phase", phase},
    {"mode", robodyn_controller_settings_mode(cycle.settings)},
    {"settings", robodyn_controller_settings_name(cycle.settings)},
    {"reason", reason},
    {"reason code", cycle.reason},
    {"held by", cycle.held_by},
    {"chained reference", robodyn_controller_error_text(cycle.reference_error)},
    {"cycles", std::to_string(cycle.cycles)},
    {"refused samples", std::to_string(cycle.unread)},
    {"commands not taken", std::to_string(cycle.unwritten)}};
  for (const auto & [key, value] : values)
  {
    diagnostic_msgs::msg::KeyValue pair;
    pair.key = key;
    pair.value = value;
    status.values.push_back(pair);
  }
  diagnostic_msgs::msg::DiagnosticArray array;
  array.header.stamp = stamp;
  array.status.push_back(status);
  diagnostics_->publish(array);
}

void RobotController::set_emergency_stop(int stop)
{
  const std::lock_guard<std::mutex> lock(library_mutex_);
  stop_ = stop;
  if (library_)
  {
    robodyn_controller_emergency_stop(library_.get(), stop);
  }
}

void RobotController::check_emergency_stop()
{
  const std::size_t publishers = emergency_stop_->get_publisher_count();
  if (publishers > 1 || (stop_ == 0 && publishers == 0))
  {
    set_emergency_stop(1);
  }
}

template <typename Request>
void RobotController::post(const rclcpp::SubscriptionBase & topic, bool reference, Request request)
{
  std::string refusal;
  if (!reported_.active)
  {
    refusal = "the controller is not active";
  }
  else if (reference && is_in_chained_mode())
  {
    refusal = "another controller commands the reference interfaces: deactivate it";
  }
  else if (topic.get_publisher_count() > 1)
  {
    refusal = std::to_string(topic.get_publisher_count()) + " publishers: let one remain";
  }
  else
  {
    const std::lock_guard<std::mutex> lock(library_mutex_);
    refusal = request(library_.get());
    waits_for_post_ = waits_for_post_ || refusal.empty();
  }
  if (!refusal.empty())
  {
    RCLCPP_WARN_THROTTLE(
      get_node()->get_logger(), *get_node()->get_clock(), 1000, "%s refused: %s",
      topic.get_topic_name(), refusal.c_str());
  }
}

std::string RobotController::error_text(int error, int joint)
{
  const char * const name = robodyn_controller_joint(joint);
  return error == ROBODYN_OK ? ""
                             : std::string(robodyn_controller_error_text(error)) +
                                 (name ? ", " : "") + (name ? name : "");
}

void RobotController::follow_trajectory(const trajectory_msgs::msg::JointTrajectory & message)
{
  post(
    *trajectory_, true,
    [&](robodyn_controller * library) -> std::string
    {
      const std::size_t n = joints_.size(), count = message.points.size();
      const rclcpp::Time stamp(message.header.stamp, RCL_ROS_TIME);
      const double late = (get_node()->now() - stamp).seconds();
      if (stamp.nanoseconds() != 0 && !(0.0 <= late && late <= kLongestPast))
      {
        return "its stamp is neither zero nor that of now: send it when it is to start";
      }
      std::vector<std::size_t> place;
      for (const auto & joint : joints_)
      {
        const auto & names = message.joint_names;
        const auto found = std::find(names.begin(), names.end(), joint);
        if (found == names.end() || names.size() != n)
        {
          return "joint_names are not those of the robot: name " + joint + " and all others once";
        }
        place.push_back(static_cast<std::size_t>(found - names.begin()));
      }
      const bool target = count == 1 && message.points[0].velocities.empty();
      const bool quintic = count > 0 && !message.points[0].accelerations.empty();
      std::vector<double> times, positions, velocities, accelerations;
      for (const auto & point : message.points)
      {
        if (
          point.positions.size() != n || (!target && point.velocities.size() != n) ||
          point.accelerations.size() != (quintic ? n : 0))
        {
          return "a waypoint lacks positions or velocities of all joints";
        }
        times.push_back(rclcpp::Duration(point.time_from_start).seconds());
        for (const std::size_t i : place)
        {
          positions.push_back(point.positions[i]);
          velocities.push_back(target ? 0.0 : point.velocities[i]);
          accelerations.push_back(quintic ? point.accelerations[i] : 0.0);
        }
      }
      int joint = -1;
      const int error =
        target ? robodyn_controller_post_target(library, positions.data())
               : robodyn_controller_post_trajectory(
                   library, static_cast<int>(count), times.data(), positions.data(),
                   velocities.data(), quintic ? accelerations.data() : nullptr, &joint, nullptr);
      return error_text(error, joint);
    });
}

void RobotController::follow_pose(const geometry_msgs::msg::PoseStamped & message)
{
  post(
    *pose_, true,
    [&](robodyn_controller * library) -> std::string
    {
      const auto & frame = message.header.frame_id;
      if (!frame.empty() && frame != base_frame_)
      {
        return "frame_id is '" + frame + "': transform the pose to " + base_frame_;
      }
      const auto & p = message.pose.position;
      const auto & q = message.pose.orientation;
      const double position[] = {p.x, p.y, p.z};
      const double quaternion[] = {q.x, q.y, q.z, q.w};
      return error_text(robodyn_controller_post_pose(library, position, quaternion), -1);
    });
}

void RobotController::take_payload(const geometry_msgs::msg::InertiaStamped & message)
{
  post(
    *payload_, false,
    [&](robodyn_controller * library) -> std::string
    {
      const auto & load = message.inertia;
      if (message.header.frame_id != payload_frame_)
      {
        return "frame_id is not the payload_frame '" + payload_frame_ + "'";
      }
      if (load.ixx != 0.0 || load.iyy != 0.0 || load.izz != 0.0)
      {
        return "it has an inertia: give a point mass, or export settings with the payload";
      }
      const double center[] = {load.com.x, load.com.y, load.com.z};
      return error_text(robodyn_controller_post_payload(library, load.m, center), -1);
    });
}

rcl_interfaces::msg::SetParametersResult RobotController::set_parameters(
  const std::vector<rclcpp::Parameter> & parameters)
{
  rcl_interfaces::msg::SetParametersResult result;
  result.successful = true;
  for (const auto & parameter : parameters)
  {
    if (parameter.get_name() != "settings")
    {
      continue;
    }
    std::string names;
    int settings = 0;
    const int count = robodyn_controller_settings_count();
    while (settings < count && parameter.as_string() != robodyn_controller_settings_name(settings))
    {
      names += std::string(settings ? ", " : "") + robodyn_controller_settings_name(settings);
      ++settings;
    }
    if (settings == count)
    {
      result.reason = "settings '" + parameter.as_string() + "' were not exported: choose " + names;
    }
    else
    {
      const std::lock_guard<std::mutex> lock(library_mutex_);
      if (reported_.active)
      {
        result.reason = error_text(robodyn_controller_post_settings(library_.get(), settings), -1);
        waits_for_post_ = waits_for_post_ || result.reason.empty();
      }
      settings_ = result.reason.empty() ? settings : settings_;
    }
    result.successful = result.reason.empty();
  }
  return result;
}
}  // namespace robot_controller

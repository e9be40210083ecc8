// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0
//
// Topics, parameters and recordings: what the executor of the node does, beside the loop.

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "robot_controller.hpp"

namespace robot_controller
{
namespace
{
constexpr double kLongestPast = 0.5;  // s, of the stamp of a trajectory
constexpr double kRecordAfter = 1.0;  // s after a fault
constexpr double kTurn = 6.283185307179586;
constexpr int kLongestWait = 100;  // ms, for a step to take a request
constexpr const char * kPhases[] = {"INACTIVE", "RISING", "RUNNING", "STOPPING", "FAULT"};

/// Product of two quaternions (x, y, z, w).
void multiply(const double * a, const double * b, double * product)
{
  for (int i = 0; i < 3; ++i)
  {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    product[i] = a[3] * b[i] + b[3] * a[i] + a[j] * b[k] - a[k] * b[j];
  }
  product[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}
}  // namespace

std::string RobotController::described(const char * code, int joint) const
{
  const char * const text = robodyn_controller_reason_text(code);
  const char * const name = joint_name(joint);
  return std::string(code) + (text ? std::string(": ") + text : "") +
         (name ? std::string(" (") + name + ")" : "");
}

const char * RobotController::joint_name(int joint) const
{
  const bool known = joint >= 0 && joint < static_cast<int>(joints_.size());
  return known ? joints_[static_cast<std::size_t>(joint)].c_str() : nullptr;
}

template <typename Function>
void RobotController::call(Function function)
{
  const std::lock_guard<std::mutex> lock(executor_mutex_);
  if (!open_)
  {
    return;  // cleaned up since it was scheduled
  }
  try
  {
    function();
  }
  catch (const std::exception & error)  // would end the process of the manager
  {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
  }
}

void RobotController::open_topics()
{
  const auto node = get_node();
  diagnostics_ = node->create_publisher<diagnostic_msgs::msg::DiagnosticArray>("/diagnostics", 10);
  state_ = node->create_publisher<control_msgs::msg::JointTrajectoryControllerState>(
    "~/controller_state", 10);
  external_torque_ = node->create_publisher<sensor_msgs::msg::JointState>("~/external_torque", 10);
  phase_publisher_ = node->create_publisher<std_msgs::msg::UInt8>("~/phase", 10);
  trajectory_ = node->create_subscription<trajectory_msgs::msg::JointTrajectory>(
    "~/joint_trajectory", 1, [this](const trajectory_msgs::msg::JointTrajectory & m)
    { call([&] { follow_trajectory(m); }); });
  pose_ = node->create_subscription<geometry_msgs::msg::PoseStamped>(
    "~/target_pose", 1,
    [this](const geometry_msgs::msg::PoseStamped & m) { call([&] { follow_pose(m); }); });
  payload_ = node->create_subscription<geometry_msgs::msg::InertiaStamped>(
    "~/payload", 1,
    [this](const geometry_msgs::msg::InertiaStamped & m) { call([&] { take_payload(m); }); });
  emergency_stop_ = node->create_subscription<std_msgs::msg::Bool>(
    "~/emergency_stop", 10,
    [this](const std_msgs::msg::Bool & m) { call([&] { set_emergency_stop(m.data); }); });
  heartbeat_ = node->create_subscription<std_msgs::msg::Bool>(
    "~/heartbeat", rclcpp::QoS(10).best_effort(),
    [this](const std_msgs::msg::Bool & m)
    {
      call(
        [&]
        {
          const std::lock_guard<std::mutex> lock(library_mutex_);
          // A second publisher would hide that the first has died
          const bool beats = m.data && heartbeat_->get_publisher_count() == 1;
          heartbeat_time_ = beats ? std::chrono::steady_clock::now() : kNever;
          if (library_)
          {
            (beats ? robodyn_controller_heartbeat
                   : robodyn_controller_end_heartbeat)(library_.get());
          }
        });
    });
  stop_service_ = node->create_service<std_srvs::srv::Trigger>(
    "~/stop",
    [this](
      const std_srvs::srv::Trigger::Request::SharedPtr,
      const std_srvs::srv::Trigger::Response::SharedPtr response)
    {
      call(
        [&]
        {
          response->message = stop();
          response->success = response->message.empty();
        });
    });
  on_set_parameters_ = node->add_on_set_parameters_callback(
    [this](const std::vector<rclcpp::Parameter> & parameters)
    {
      rcl_interfaces::msg::SetParametersResult result;
      result.successful = false;
      result.reason = "the controller is not configured, or see its log";
      call(
        [&]
        {
          result.reason.clear();
          for (const auto & parameter : parameters)
          {
            if (parameter.get_name() == "settings")
            {
              result.reason = set_settings(parameter.as_string());
            }
          }
          result.successful = result.reason.empty();
        });
      return result;
    });
  timer_ = node->create_wall_timer(
    std::chrono::duration<double>(1.0 / telemetry_rate_), [this] { call([this] { tick(); }); });
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
  check_emergency_stop();
  report_events();
  write_recordings(false);
  publish();
  bool lacks_spare;
  {
    const std::lock_guard<std::mutex> lock(library_mutex_);
    lacks_spare = !spare_;
  }
  if (lacks_spare)
  {
    int error = ROBODYN_OK, joint = -1;
    Library spare = create(intent_, &error, &joint);
    const std::lock_guard<std::mutex> lock(library_mutex_);
    spare_ = std::move(spare);
  }
}

void RobotController::report_events()
{
  std::vector<Library> known;  // those before the last activation are freed after this
  {
    const std::lock_guard<std::mutex> lock(library_mutex_);
    known = retired_;
    retired_.clear();
    known.push_back(library_);
  }
  Event event;
  while (events_.pop(event))
  {
    report(event, known);
  }
}

void RobotController::report(const Event & event, const std::vector<Library> & known)
{
  const auto logger = get_node()->get_logger();
  const std::string reason = described(event.reason, event.joint);
  if (event.kind == Event::kNotArmed)
  {
    RCLCPP_ERROR(logger, "not armed within arming_timeout: %s", reason.c_str());
  }
  else if (event.kind == Event::kStopped)
  {
    RCLCPP_WARN(logger, "stopped: the controller ends, its fallback_controllers hold the arm");
  }
  else if (event.kind == Event::kNotTaken)
  {
    RCLCPP_ERROR(
      logger, "the hardware interface has not taken the commands for %g s", state_timeout_);
  }
  else if (event.kind == Event::kDeactivated)
  {
    RCLCPP_INFO(logger, "inactive");
  }
  else if (event.phase != ROBODYN_FAULT)
  {
    RCLCPP_INFO(logger, "%s", kPhases[event.phase]);
  }
  else
  {
    RCLCPP_ERROR(logger, "FAULT %s; activate again to re-arm", reason.c_str());
    for (const auto & library : known)
    {
      if (library.get() == event.library)
      {
        recordings_.push_back({library, static_cast<int>(kRecordAfter * telemetry_rate_)});
      }
    }
  }
}

void RobotController::write_recordings(bool all)
{
  const auto logger = get_node()->get_logger();
  for (auto & recording : recordings_)
  {
    if (--recording.ticks >= 0 && !all)
    {
      continue;
    }
    const std::string file = flight_folder_ + "/" + get_node()->get_name() + "_" +
                             std::to_string(get_node()->now().nanoseconds()) + ".flight";
    const int written = robodyn_controller_write_recording(recording.library.get(), file.c_str());
    recording.library.reset();
    if (written == ROBODYN_OK)
    {
      RCLCPP_INFO(logger, "recording of the fault: robodyn replay %s", file.c_str());
    }
    else if (written != ROBODYN_NOT_RECORDED)
    {
      RCLCPP_ERROR(logger, "%s: %s", file.c_str(), robodyn_controller_error_text(written));
    }
  }
  recordings_.erase(
    std::remove_if(
      recordings_.begin(), recordings_.end(),
      [](const Recording & recording) { return !recording.library; }),
    recordings_.end());
}

void RobotController::publish()
{
  const Cycle cycle = cycle_.get();
  const bool active = active_;
  const auto stamp = get_node()->now();
  const bool fault = cycle.phase == ROBODYN_FAULT;
  if (active)
  {
    std_msgs::msg::UInt8 phase;
    phase.data = static_cast<std::uint8_t>(cycle.phase);
    phase_publisher_->publish(phase);
    control_msgs::msg::JointTrajectoryControllerState state;
    state.header.stamp = stamp;
    state.joint_names = joints_;
    state.reference.positions = cycle.reference_position;
    state.reference.velocities = cycle.reference_velocity;
    state.feedback.positions = cycle.position;
    state.feedback.velocities = cycle.velocity;
    state.feedback.effort = cycle.effort;
    state.output.effort = cycle.commanded;
    for (std::size_t i = 0; i < joints_.size(); ++i)
    {
      robodyn_joint_limits limits{};
      std::ignore = robodyn_controller_limits(cycle.settings, static_cast<int>(i), &limits);
      const double error = cycle.reference_position[i] - cycle.position[i];
      state.error.positions.push_back(limits.continuous ? std::remainder(error, kTurn) : error);
      state.error.velocities.push_back(cycle.reference_velocity[i] - cycle.velocity[i]);
    }
    state_->publish(state);
    sensor_msgs::msg::JointState message;
    message.header.stamp = stamp;
    message.name = joints_;
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
  const std::string phase = active ? kPhases[cycle.phase] : "inactive";
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
    {"commands not taken", std::to_string(cycle.unwritten)},
    {"events not reported", std::to_string(cycle.unreported)}};
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

std::string RobotController::stop()
{
  const std::lock_guard<std::mutex> lock(library_mutex_);
  robodyn_parameters p{};
  std::ignore = robodyn_controller_parameters(intent_.settings, &p);
  if (!active_)
  {
    return "the controller is not active";
  }
  if (!has_fallback_ && !p.robot_compensates_gravity && !p.stop_with_gravity && !p.lower_to_rest)
  {
    return "nothing would hold the arm after the stop: name fallback_controllers, or export with "
           "stop_with: gravity";
  }
  robodyn_controller_stop(library_.get());
  return "";
}

template <typename Request>
void RobotController::post(const rclcpp::SubscriptionBase & topic, bool reference, Request request)
{
  std::string refusal;
  if (reference && !active_)
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
    Library library;
    {
      const std::lock_guard<std::mutex> lock(library_mutex_);
      library = library_;
    }
    refusal = request(library);
  }
  if (!refusal.empty())
  {
    RCLCPP_WARN_THROTTLE(
      get_node()->get_logger(), *get_node()->get_clock(), 1000, "%s refused: %s",
      topic.get_topic_name(), refusal.c_str());
  }
}

std::string RobotController::result(const Library & library, int error, int joint) const
{
  if (error == ROBODYN_OK)
  {
    error = ROBODYN_PENDING;
    for (int i = 0; error == ROBODYN_PENDING && active_ && i < kLongestWait; ++i)
    {
      rclcpp::sleep_for(std::chrono::milliseconds(1));
      error = robodyn_controller_posted(library.get(), &joint);
    }
  }
  return error_text(error, joint);
}

std::string RobotController::error_text(int error, int joint) const
{
  const char * const name = joint_name(joint);
  return error == ROBODYN_OK ? ""
                             : std::string(robodyn_controller_error_text(error)) +
                                 (error == ROBODYN_WRONG_CPU ? "; export for this processor" : "") +
                                 (name ? ", " : "") + (name ? name : "");
}

std::string RobotController::ask(const Intent & intent)
{
  int error = ROBODYN_OK, joint = -1;
  Library spare = create(intent, &error, &joint);
  if (!spare)
  {
    return error_text(error, joint);
  }
  for (Library asked;;)  // until no other controller was activated meanwhile
  {
    {
      const std::lock_guard<std::mutex> lock(library_mutex_);
      if (!active_ || asked == library_)
      {
        intent_ = intent;
        spare_ = std::move(spare);
        return "";
      }
      asked = library_;
    }
    const std::string refusal =
      intent.settings != intent_.settings
        ? result(asked, robodyn_controller_post_settings(asked.get(), intent.settings), -1)
        : result(
            asked, robodyn_controller_post_payload(asked.get(), intent.mass, intent.center), -1);
    if (!refusal.empty() && active_)
    {
      return refusal;
    }
  }
}

std::string RobotController::set_settings(const std::string & name)
{
  std::string names;
  const int count = robodyn_controller_settings_count();
  for (int settings = 0; settings < count; ++settings)
  {
    if (name == robodyn_controller_settings_name(settings))
    {
      Intent intent = intent_;
      intent.settings = settings;
      const std::string warning = robodyn_controller_settings_warning(settings);
      if (!warning.empty())
      {
        RCLCPP_WARN(get_node()->get_logger(), "%s: %s", name.c_str(), warning.c_str());
      }
      return active_ && settings == intent_.settings ? "" : ask(intent);
    }
    names += std::string(settings ? ", " : "") + robodyn_controller_settings_name(settings);
  }
  return "settings '" + name + "' were not exported: choose " + names;
}

void RobotController::follow_trajectory(const trajectory_msgs::msg::JointTrajectory & message)
{
  post(
    *trajectory_, true,
    [&](const Library & library) -> std::string
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
        target ? robodyn_controller_post_target(library.get(), positions.data())
               : robodyn_controller_post_trajectory(
                   library.get(), static_cast<int>(count), times.data(), positions.data(),
                   velocities.data(), quintic ? accelerations.data() : nullptr, &joint, nullptr);
      return result(library, error, joint);
    });
}

void RobotController::follow_pose(const geometry_msgs::msg::PoseStamped & message)
{
  post(
    *pose_, true,
    [&](const Library & library) -> std::string
    {
      const auto & name = message.header.frame_id;
      robodyn_frame frame{};
      int k = 0;
      while (robodyn_controller_fixed_frame(k, &frame) && name != prefix_ + frame.name)
      {
        ++k;
      }
      if (!robodyn_controller_fixed_frame(k, &frame))
      {
        if (!name.empty() && name != base_frame_)
        {
          return "frame_id is '" + name +
                 "', which is not fixed to the base: transform the pose to " + base_frame_;
        }
        frame = {"", {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0}};  // another name of the base
      }
      const auto & p = message.pose.position;
      const auto & q = message.pose.orientation;
      const double * const f = frame.quaternion;
      const double moved[] = {p.x, p.y, p.z, 0.0}, turned[] = {q.x, q.y, q.z, q.w};
      const double back[] = {-f[0], -f[1], -f[2], f[3]};
      double position[4], quaternion[4];
      multiply(f, moved, quaternion);
      multiply(quaternion, back, position);
      for (int i = 0; i < 3; ++i)
      {
        position[i] += frame.position[i];
      }
      multiply(f, turned, quaternion);
      const int error = robodyn_controller_post_pose(library.get(), position, quaternion);
      return result(library, error, -1);
    });
}

void RobotController::take_payload(const geometry_msgs::msg::InertiaStamped & message)
{
  post(
    *payload_, false,
    [&](const Library &) -> std::string
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
      return ask({intent_.settings, load.m, {load.com.x, load.com.y, load.com.z}});
    });
}
}  // namespace robot_controller

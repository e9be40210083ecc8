// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0

#include "robot_controller.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <set>
#include <utility>

#include "pluginlib/class_list_macros.hpp"
#if __has_include("urdf/model.hpp")
#include "urdf/model.hpp"
#else
#include "urdf/model.h"  // before Kilted
#endif

namespace robot_controller
{
namespace
{
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kRounding = 1e-6;  // relative, of the update rate
constexpr double kResume = 2.5;     // intervals of updates within which a restart goes on
constexpr std::size_t kRetired = 16;

robodyn_parameters parameters(int settings)
{
  robodyn_parameters parameters{};
  std::ignore = robodyn_controller_parameters(settings, &parameters);
  return parameters;
}

/// Names of the joints, in the exported order, after a prefix.
std::vector<std::string> exported_names(const std::string & prefix = "")
{
  std::vector<std::string> names;
  for (int i = 0; i < robodyn_controller_joints(); ++i)
  {
    names.push_back(prefix + robodyn_controller_joint(i));
  }
  return names;
}

/// Mass of a link and of all that is fixed to it.
double mass(const urdf::Link & link, const std::set<std::string> & moving)
{
  double sum = link.inertial ? link.inertial->mass : 0.0;
  for (const auto & child : link.child_links)
  {
    sum += moving.count(child->parent_joint->name) ? 0.0 : mass(*child, moving);
  }
  return sum;
}

const char * type_of(const urdf::Joint & joint)
{
  return joint.type == urdf::Joint::REVOLUTE     ? "revolute"
         : joint.type == urdf::Joint::CONTINUOUS ? "continuous"
         : joint.type == urdf::Joint::PRISMATIC  ? "prismatic"
                                                 : "of another type";
}
}  // namespace

CallbackReturn RobotController::on_init()
{
  try
  {
    listener_ = std::make_shared<ParamListener>(get_node());
    return CallbackReturn::SUCCESS;
  }
  catch (const std::exception & error)
  {
    RCLCPP_ERROR(get_node()->get_logger(), "parameters: %s", error.what());
    return CallbackReturn::ERROR;
  }
}

CallbackReturn RobotController::on_configure(const rclcpp_lifecycle::State &)
{
  try
  {
    return configure();
  }
  catch (const std::exception & error)
  {
    RCLCPP_ERROR(get_node()->get_logger(), "not configured: %s", error.what());
    return CallbackReturn::FAILURE;
  }
}

CallbackReturn RobotController::configure()
{
  const auto logger = get_node()->get_logger();
  const Params given = listener_->get_params();
  const double rate = 1.0 / robodyn_controller_period();
  if (std::abs(get_update_rate() / rate - 1.0) > kRounding)
  {
    RCLCPP_ERROR(
      logger,
      "update_rate is %u Hz, and the gains were checked at %g Hz: set update_rate of the manager "
      "or "
      "of this controller to %g, or export again with rate: %u.0",
      get_update_rate(), rate, rate, get_update_rate());
    return CallbackReturn::FAILURE;
  }
  if (is_async())
  {
    RCLCPP_ERROR(logger, "is_async is set: the efforts would be a period late, set it to false");
    return CallbackReturn::FAILURE;
  }
  joints_ = given.joints;
  prefix_ = given.prefix;
  const std::size_t n = joints_.size();
  if (n != static_cast<std::size_t>(robodyn_controller_joints()))
  {
    RCLCPP_ERROR(
      logger, "joints: %zu names, and %s has %d joints", n, robodyn_controller_robot(),
      robodyn_controller_joints());
    return CallbackReturn::FAILURE;
  }
  for (auto & joint : joints_)
  {
    joint = prefix_ + joint;
  }
  const auto exported = exported_names(prefix_);
  for (std::size_t i = 0; i < n; ++i)
  {
    const auto found = std::find(exported.begin(), exported.end(), joints_[i]);
    if (found != exported.end() && found - exported.begin() != static_cast<std::ptrdiff_t>(i))
    {
      RCLCPP_ERROR(
        logger, "joints: %s is number %zu, and was exported as number %zu: keep the order",
        joints_[i].c_str(), i + 1, static_cast<std::size_t>(found - exported.begin()) + 1);
      return CallbackReturn::FAILURE;
    }
  }
  const std::string other = contradiction(get_robot_description());
  if (!other.empty())
  {
    RCLCPP_ERROR(
      logger,
      "robot_description is not of the robot that was exported, %s: %s; export again from this "
      "URDF, or give that one to the controller manager",
      robodyn_controller_robot(), other.c_str());
    return CallbackReturn::FAILURE;
  }
  state_interface_types_ = given.state_interfaces;
  fields_.clear();
  for (const auto & type : state_interface_types_)
  {
    fields_.push_back(
      type == "position"   ? &robodyn_joint_state::position
      : type == "velocity" ? &robodyn_joint_state::velocity
      : type == "effort"   ? &robodyn_joint_state::effort
                           : nullptr);
  }
  if (
    std::count(fields_.begin(), fields_.end(), nullptr) ||
    !std::count(fields_.begin(), fields_.end(), &robodyn_joint_state::position))
  {
    RCLCPP_ERROR(
      logger, "state_interfaces: name position, and those of velocity and effort that there are");
    return CallbackReturn::FAILURE;
  }

  Cycle cycle;
  states_.assign(n, {kNan, kNan, kNan, -INFINITY, kNan, kNan, kNan});
  for (auto * array :
       {&applied_, &efforts_, &zeros_, &cycle.position, &cycle.velocity, &cycle.effort,
        &cycle.reference_position, &cycle.reference_velocity, &cycle.commanded, &cycle.external,
        &chained_position_, &chained_velocity_})
  {
    array->assign(n, 0.0);
  }
  cycle_.set(cycle);
  arming_timeout_ = given.arming_timeout;
  state_timeout_ = parameters(0).state_timeout;
  release_at_fault_ = given.release_at_fault;
  telemetry_rate_ = given.telemetry_rate;
  base_frame_ = given.base_frame;
  payload_frame_ = given.payload_frame;
  flight_folder_ =
    given.flight_folder.empty() ? rclcpp::get_log_directory().string() : given.flight_folder;
  has_fallback_ = !given.fallback_controllers.empty();
  recorded_ = static_cast<int>(given.flight_recorder / robodyn_controller_period());
  retired_.reserve(kRetired);
  intent_ = Intent{};
  const std::string refusal = set_settings(given.settings);
  if (!refusal.empty())
  {
    RCLCPP_ERROR(logger, "no controller of %s: %s", robodyn_controller_robot(), refusal.c_str());
    return CallbackReturn::FAILURE;
  }
  // Under the fault efforts, such an arm sinks: the fallback would catch it in motion
  release_at_fault_ |= has_fallback_ && !parameters(intent_.settings).robot_compensates_gravity;
  if (!has_fallback_ && !parameters(intent_.settings).robot_compensates_gravity)
  {
    RCLCPP_WARN(
      logger,
      "fallback_controllers is empty: nothing holds the arm after a fault or if it is not armed, "
      "unless its brakes engage; name a controller that does");
  }
  open_topics();  // whose callbacks do nothing until the executor is let in
  const std::lock_guard<std::mutex> lock(executor_mutex_);
  open_ = true;
  return CallbackReturn::SUCCESS;
}

std::string RobotController::contradiction(const std::string & description) const
{
  urdf::Model robot;
  if (!robot.initString(description))
  {
    return "it cannot be read";
  }
  const auto name_of = [&](const char * exported)
  {
    for (std::size_t i = 0; i < joints_.size(); ++i)
    {
      if (!std::strcmp(exported, robodyn_controller_joint(static_cast<int>(i))))
      {
        return joints_[i];
      }
    }
    return prefix_ + exported;  // mimics another one
  };
  robodyn_body body;
  std::set<std::string> moving;
  for (int i = 0; robodyn_controller_body(i, &body); ++i)
  {
    const std::string name = name_of(body.joint);
    if (!robot.getJoint(name))
    {
      return "it has no joint " + name;
    }
    moving.insert(name);
  }
  for (int i = 0; robodyn_controller_body(i, &body); ++i)
  {
    const std::string name = name_of(body.joint);
    const auto joint = robot.getJoint(name);
    const auto link = robot.getLink(joint->child_link_name);
    if (std::strcmp(type_of(*joint), body.type))
    {
      return name + " is " + type_of(*joint) + ", and was " + body.type;
    }
    auto carrier = robot.getLink(joint->parent_link_name);
    while (carrier->parent_joint && !moving.count(carrier->parent_joint->name))
    {
      carrier = robot.getLink(carrier->parent_joint->parent_link_name);
    }
    const std::string parent = carrier->parent_joint ? carrier->parent_joint->name : "no joint";
    const std::string was = *body.parent ? name_of(body.parent) : "no joint";
    if (parent != was)
    {
      return name + " is moved by " + parent + ", and was by " + was;
    }
    const urdf::JointLimits none;
    const auto & limits = joint->limits ? *joint->limits : none;
    const std::tuple<const char *, double, double> numbers[] = {
      {"mass moved by", mass(*link, moving), body.mass},
      {"lower limit of", limits.lower, body.position_lower},
      {"upper limit of", limits.upper, body.position_upper},
      {"velocity limit of", limits.velocity, body.velocity},
      {"effort limit of", limits.effort, body.effort}};
    for (const auto & [what, here, exported] : numbers)
    {
      if (
        std::isfinite(exported) &&
        std::abs(here - exported) > kRounding * std::max(1.0, std::abs(exported)))
      {
        return std::string(what) + " " + name + " is " + std::to_string(here) + ", and was " +
               std::to_string(exported);
      }
    }
  }
  return "";
}

RobotController::Library RobotController::create(
  const Intent & intent, int * error, int * joint) const
{
  Library library(
    robodyn_controller_create(
      ROBODYN_CONTROLLER_VERSION, static_cast<int>(joints_.size()), recorded_, error),
    robodyn_controller_destroy);
  if (!library)
  {
    return nullptr;
  }
  const std::vector<robodyn_joint_state> states(
    joints_.size(), {kNan, kNan, kNan, -INFINITY, kNan, kNan, kNan});
  std::vector<double> efforts(joints_.size());
  const auto taken = [&](int posted)
  {
    if (posted == ROBODYN_OK)
    {
      std::ignore = robodyn_controller_step(
        library.get(), states.data(), -robodyn_controller_period(), efforts.data());
      posted = robodyn_controller_posted(library.get(), joint);
    }
    return posted;
  };
  if (intent.settings != 0)
  {
    *error = taken(robodyn_controller_post_settings(library.get(), intent.settings));
  }
  if (*error == ROBODYN_OK && intent.mass != 0.0)
  {
    *error = taken(robodyn_controller_post_payload(library.get(), intent.mass, intent.center));
  }
  return *error == ROBODYN_OK ? library : nullptr;
}

CallbackReturn RobotController::on_cleanup(const rclcpp_lifecycle::State &)
{
  const std::lock_guard<std::mutex> executor(executor_mutex_);  // none of its functions runs
  if (open_)
  {
    report_events();
    write_recordings(true);
  }
  open_ = false;
  close_topics();
  const std::lock_guard<std::mutex> lock(library_mutex_);
  const std::lock_guard<std::mutex> loop(loop_mutex_);
  released_ = true;
  active_ = false;
  stepped_ = nullptr;
  library_ = spare_ = nullptr;
  retired_.clear();
  stop_ = -1;
  return CallbackReturn::SUCCESS;
}

CallbackReturn RobotController::on_shutdown(const rclcpp_lifecycle::State & previous)
{
  return on_cleanup(previous);
}

CallbackReturn RobotController::on_error(const rclcpp_lifecycle::State & previous)
{
  return on_cleanup(previous);
}

controller_interface::InterfaceConfiguration RobotController::command_interface_configuration()
  const
{
  controller_interface::InterfaceConfiguration configuration;
  configuration.type = controller_interface::interface_configuration_type::INDIVIDUAL;
  for (const auto & joint : joints_)
  {
    configuration.names.push_back(joint + "/effort");
  }
  return configuration;
}

controller_interface::InterfaceConfiguration RobotController::state_interface_configuration() const
{
  controller_interface::InterfaceConfiguration configuration;
  configuration.type = controller_interface::interface_configuration_type::INDIVIDUAL;
  for (const auto & joint : joints_)
  {
    for (const auto & type : state_interface_types_)
    {
      configuration.names.push_back(joint + "/" + type);
    }
  }
  return configuration;
}

std::vector<hardware_interface::CommandInterface::SharedPtr>
RobotController::on_export_reference_interfaces_list()
{
  std::vector<hardware_interface::CommandInterface::SharedPtr> interfaces;
  for (const char * const type : {"position", "velocity"})
  {
    for (const auto & joint : joints_)
    {
      hardware_interface::InterfaceInfo info;
      info.name = type;
      info.data_type = "double";
      interfaces.push_back(
        std::make_shared<hardware_interface::CommandInterface>(
          hardware_interface::InterfaceDescription(
            std::string(get_node()->get_name()) + "/" + joint, info)));
    }
  }
  return interfaces;
}

CallbackReturn RobotController::on_activate(const rclcpp_lifecycle::State &)
{
  const std::lock_guard<std::mutex> lock(library_mutex_);
  const std::lock_guard<std::mutex> loop(loop_mutex_);
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> pause = now - last_update_;
  last_update_ = now;
  for (const auto & interface : ordered_exported_reference_interfaces_)
  {
    std::ignore = interface->set_value(kNan);
  }
  // The manager restarts a controller whose chained mode changes: the arm does not notice.
  const bool driven =
    library_ && !failed_ && (phase_ == ROBODYN_RISING || phase_ == ROBODYN_RUNNING);
  if (driven && pause < kResume * interval_)
  {
    released_ = false;
    active_ = true;
    std::ignore = write(efforts_);
    push(Event::kPhase);
    return CallbackReturn::SUCCESS;
  }
  // With a memory of its own, allocated beforehand: faults, requests and estimates are of the past.
  int error = ROBODYN_OK, joint = -1;
  if (library_)
  {
    retired_.push_back(std::move(library_));  // freed by the executor
  }
  library_ = spare_ ? std::move(spare_) : create(intent_, &error, &joint);
  spare_.reset();
  if (!library_)
  {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error_text(error, joint).c_str());
    return CallbackReturn::FAILURE;
  }
  stepped_ = library_.get();
  no_reason_ = robodyn_controller_reason(stepped_);  // which has not failed yet
  if (stop_ >= 0)
  {
    robodyn_controller_emergency_stop(stepped_, stop_);
  }
  const std::chrono::duration<double> silence = now - heartbeat_time_;
  if (silence.count() < parameters(0).heartbeat_timeout)
  {
    robodyn_controller_heartbeat(stepped_);
  }
  robodyn_controller_arm(stepped_);
  states_.assign(joints_.size(), {kNan, kNan, kNan, -INFINITY, kNan, kNan, kNan});
  waited_ = now_ = not_taken_ = 0.0;
  phase_ = ROBODYN_INACTIVE;
  failed_ = false;
  refusal_ = nullptr;
  released_ = false;
  active_ = true;
  step();  // before the hardware is written to: it would get no effort in this cycle
  return CallbackReturn::SUCCESS;
}

CallbackReturn RobotController::on_deactivate(const rclcpp_lifecycle::State &)
{
  // The manager has no time for a stop, see the README: a constant effort would drive an arm away.
  // After a stop by ~/stop its last message remains, zero or g(q). An update that another thread
  // makes meanwhile must not write after this.
  const std::lock_guard<std::mutex> loop(loop_mutex_);
  released_ = true;
  if (phase_ != ROBODYN_INACTIVE)
  {
    std::ignore = write(zeros_);
  }
  active_ = false;
  push(Event::kDeactivated);
  return CallbackReturn::SUCCESS;
}

return_type RobotController::update_reference_from_subscribers(
  const rclcpp::Time &, const rclcpp::Duration &)
{
  return return_type::OK;  // subscribers hand their requests over to the library
}

return_type RobotController::update_and_write_commands(
  const rclcpp::Time &, const rclcpp::Duration & period)
{
  const std::unique_lock<std::mutex> lock(loop_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || released_)
  {
    return return_type::OK;
  }
  const auto update = std::chrono::steady_clock::now();  // which neither NTP nor /clock sets
  interval_ = update - last_update_;
  last_update_ = update;
  now_ += period.seconds();
  const bool taken = step();
  not_taken_ = taken ? 0.0 : not_taken_ + period.seconds();
  waited_ += period.seconds();
  // The manager deactivates a controller whose update fails, and activates its fallback.
  if (failed_ || phase_ == ROBODYN_FAULT)
  {
    failed_ = failed_ || release_at_fault_ || !applied_now_;
  }
  else if (waited_ > arming_timeout_)
  {
    fail(Event::kNotArmed, refusal_ ? refusal_ : "NO_REASON", refusal_joint_);
  }
  else if (phase_ == ROBODYN_INACTIVE && std::isnan(waited_))
  {
    fail(Event::kStopped);
  }
  else if (not_taken_ > state_timeout_)
  {
    fail(Event::kNotTaken);
  }
  return failed_ ? return_type::ERROR : return_type::OK;
}

void RobotController::fail(Event::Kind kind, const char * reason, int joint)
{
  failed_ = true;
  push(kind, reason, joint);
}

void RobotController::push(Event::Kind kind, const char * reason, int joint)
{
  unreported_ += events_.push(Event{kind, phase_, joint, reason, stepped_}) ? 0 : 1;
}

bool RobotController::step()
{
  read_states();
  if (is_in_chained_mode())
  {
    read_chained_reference();
  }
  applied_now_ = robodyn_controller_step(stepped_, states_.data(), now_, applied_.data());
  const int phase = robodyn_controller_phase(stepped_);
  if (phase != ROBODYN_INACTIVE)
  {
    waited_ = kNan;
  }
  else if (!refusal_ && robodyn_controller_arming_refusal(stepped_) != no_reason_)
  {
    refusal_ = robodyn_controller_arming_refusal(stepped_);
    refusal_joint_ = robodyn_controller_arming_refusal_joint(stepped_);
  }
  if (phase != phase_)
  {
    phase_ = phase;
    push(
      Event::kPhase, robodyn_controller_reason(stepped_),
      robodyn_controller_reason_joint(stepped_));
  }
  if (applied_now_)
  {
    efforts_ = applied_;
  }
  else if (phase == ROBODYN_FAULT || !std::isnan(waited_))
  {
    efforts_ = zeros_;  // otherwise the last message of a stop remains
  }
  share();
  return write(efforts_);
}

void RobotController::read_states()
{
  const std::size_t fields = fields_.size();
  for (std::size_t i = 0; i < joints_.size(); ++i)
  {
    robodyn_joint_state sample{kNan, kNan, kNan, now_, kNan, kNan, kNan};
    bool good = true;
    for (std::size_t k = 0; k < fields; ++k)
    {
      const auto value = state_interfaces_[i * fields + k].get_optional();
      good = good && value.has_value();
      sample.*fields_[k] = value.value_or(kNan);
    }
    if (good && std::isfinite(sample.position))
    {
      states_[i] = sample;
    }
    else
    {
      ++unread_;  // the sample before it becomes stale
    }
  }
}

void RobotController::read_chained_reference()
{
  const std::size_t n = joints_.size();
  for (std::size_t i = 0; i < n; ++i)
  {
    chained_position_[i] = ordered_exported_reference_interfaces_[i]->get_optional().value_or(kNan);
    chained_velocity_[i] =
      ordered_exported_reference_interfaces_[n + i]->get_optional().value_or(kNan);
  }
  robodyn_controller_set_reference(
    stepped_, chained_position_.data(), chained_velocity_.data(), nullptr);
}

bool RobotController::write(const std::vector<double> & efforts)
{
  bool taken = true;
  for (std::size_t i = 0; i < efforts.size(); ++i)
  {
    if (!command_interfaces_[i].set_value(efforts[i]))
    {
      taken = false;
      ++unwritten_;
    }
  }
  return taken;
}

void RobotController::share()
{
  ++cycles_;
  std::ignore = cycle_.try_set([this](Cycle & c) { write(c); });
}

void RobotController::write(Cycle & c) const
{
  c.phase = phase_;
  c.settings = robodyn_controller_settings(stepped_);
  const bool refused = c.phase == ROBODYN_INACTIVE && !std::isnan(waited_);
  c.reason =
    refused ? robodyn_controller_arming_refusal(stepped_) : robodyn_controller_reason(stepped_);
  c.joint = refused ? robodyn_controller_arming_refusal_joint(stepped_)
                    : robodyn_controller_reason_joint(stepped_);
  c.held_by = robodyn_controller_held_by(stepped_);
  c.reference_error = robodyn_controller_reference_error(stepped_, nullptr);
  c.cycles = cycles_;
  c.unread = unread_;
  c.unwritten = unwritten_;
  c.unreported = unreported_;
  for (std::size_t i = 0; i < joints_.size(); ++i)
  {
    c.position[i] = states_[i].position;
    c.velocity[i] = states_[i].velocity;
    c.effort[i] = states_[i].effort;
  }
  c.commanded = efforts_;
  robodyn_controller_external_effort(stepped_, c.external.data());
  if (c.phase == ROBODYN_RUNNING)
  {
    robodyn_controller_reference(
      stepped_, c.reference_position.data(), c.reference_velocity.data(), nullptr);
  }
  else
  {
    std::fill(c.reference_position.begin(), c.reference_position.end(), kNan);
    std::fill(c.reference_velocity.begin(), c.reference_velocity.end(), kNan);
  }
}

}  // namespace robot_controller

PLUGINLIB_EXPORT_CLASS(
  robot_controller::RobotController, controller_interface::ChainableControllerInterface)

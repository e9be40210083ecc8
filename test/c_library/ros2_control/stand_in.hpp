// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0
//
// As much of ROS 2 and ros2_control as the exported plugin uses, for tests in one thread or
// several.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <variant>
#include <vector>

namespace stand_in {
/// The steady clock of the plugin, see the end of this file; the tests advance it.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
  static inline std::atomic<std::int64_t> now_{0};
  static time_point now() { return time_point(duration(now_.load())); }
};
inline std::mutex log_mutex;
inline std::string log;
inline std::function<void()> while_sleeping;  // what other threads do meanwhile

template <typename... Values>
void note(const char * level, const char * format, Values... values) {
  char text[2000];
  std::snprintf(text, sizeof text, format, values...);
  const std::lock_guard<std::mutex> lock(log_mutex);
  log += std::string(level) + " " + text + "\n";
}
inline void note(const char * level, const char * text) { note(level, "%s", text); }
}  // namespace stand_in

#define RCLCPP_ERROR(logger, ...) (std::ignore = logger, stand_in::note("ERROR", __VA_ARGS__))
#define RCLCPP_WARN(logger, ...) (std::ignore = logger, stand_in::note("WARN", __VA_ARGS__))
#define RCLCPP_INFO(logger, ...) (std::ignore = logger, stand_in::note("INFO", __VA_ARGS__))
#define RCLCPP_WARN_THROTTLE(logger, clock, ms, ...) RCLCPP_WARN(logger, __VA_ARGS__)
#define PLUGINLIB_EXPORT_CLASS(type, base) \
  std::unique_ptr<base> make_controller() { return std::make_unique<type>(); }

namespace builtin_interfaces::msg {
struct Time {
  int sec = 0;
  unsigned nanosec = 0;
};
}  // namespace builtin_interfaces::msg
namespace std_msgs::msg {
struct Header {
  builtin_interfaces::msg::Time stamp;
  std::string frame_id;
};
struct Bool {
  bool data = false;
};
struct UInt8 {
  unsigned char data = 0;
};
}  // namespace std_msgs::msg
namespace geometry_msgs::msg {
struct Vector3 {
  double x = 0.0, y = 0.0, z = 0.0;
};
struct Quaternion {
  double x = 0.0, y = 0.0, z = 0.0, w = 1.0;
};
struct Pose {
  Vector3 position;
  Quaternion orientation;
};
struct PoseStamped {
  std_msgs::msg::Header header;
  Pose pose;
};
struct Inertia {
  double m = 0.0;
  Vector3 com;
  double ixx = 0, ixy = 0, ixz = 0, iyy = 0, iyz = 0, izz = 0;
};
struct InertiaStamped {
  std_msgs::msg::Header header;
  Inertia inertia;
};
}  // namespace geometry_msgs::msg
namespace sensor_msgs::msg {
struct JointState {
  std_msgs::msg::Header header;
  std::vector<std::string> name;
  std::vector<double> position, velocity, effort;
};
}  // namespace sensor_msgs::msg
namespace diagnostic_msgs::msg {
struct KeyValue {
  std::string key, value;
};
struct DiagnosticStatus {
  static constexpr unsigned char OK = 0, WARN = 1, ERROR = 2;
  unsigned char level = OK;
  std::string name, message, hardware_id;
  std::vector<KeyValue> values;
};
struct DiagnosticArray {
  std_msgs::msg::Header header;
  std::vector<DiagnosticStatus> status;
};
}  // namespace diagnostic_msgs::msg
namespace trajectory_msgs::msg {
struct JointTrajectoryPoint {
  std::vector<double> positions, velocities, accelerations, effort;
  double time_from_start = 0.0;
};
struct JointTrajectory {
  std_msgs::msg::Header header;
  std::vector<std::string> joint_names;
  std::vector<JointTrajectoryPoint> points;
};
}  // namespace trajectory_msgs::msg
namespace control_msgs::msg {
struct JointTrajectoryControllerState {
  std_msgs::msg::Header header;
  std::vector<std::string> joint_names;
  trajectory_msgs::msg::JointTrajectoryPoint reference, feedback, error, output;
};
}  // namespace control_msgs::msg
namespace std_srvs::srv {
struct Trigger {
  struct Request {
    using SharedPtr = std::shared_ptr<Request>;
  };
  struct Response {
    using SharedPtr = std::shared_ptr<Response>;
    bool success = false;
    std::string message;
  };
};
}  // namespace std_srvs::srv
namespace rcl_interfaces::msg {
struct SetParametersResult {
  bool successful = true;
  std::string reason;
};
}  // namespace rcl_interfaces::msg

enum { RCL_ROS_TIME };
namespace rclcpp {
struct Duration {
  double value = 0.0;
  explicit Duration(double seconds) : value(seconds) {}
  double seconds() const { return value; }
};
struct Time {
  std::int64_t value = 0;
  Time(const builtin_interfaces::msg::Time & t, int) : value(t.sec * 1000000000LL + t.nanosec) {}
  explicit Time(std::int64_t nanoseconds) : value(nanoseconds) {}
  std::int64_t nanoseconds() const { return value; }
  Duration operator-(const Time & other) const { return Duration(1e-9 * (value - other.value)); }
  operator builtin_interfaces::msg::Time() const {
    return {static_cast<int>(value / 1000000000), static_cast<unsigned>(value % 1000000000)};
  }
};
class Parameter {
public:
  using Value = std::variant<bool, double, std::string, std::vector<std::string>>;
  Parameter(const std::string & name, const Value & value) : name_(name), value_(value) {}
  const std::string & get_name() const { return name_; }
  template <typename Kind>
  void get(Kind & value) const {
    value = std::get<Kind>(value_);
  }
  double as_double() const { return std::get<double>(value_); }
  const std::string & as_string() const { return std::get<std::string>(value_); }

private:
  std::string name_;
  Value value_;
};
struct QoS {
  QoS(int) {}
  QoS & best_effort() { return *this; }
};
struct Handle {
  using SharedPtr = std::shared_ptr<Handle>;
  virtual ~Handle() = default;
  std::string topic;
};
struct TimerBase : Handle {
  using SharedPtr = std::shared_ptr<TimerBase>;
  std::function<void()> callback;
};
struct SubscriptionBase : Handle {
  std::atomic<std::size_t> publishers{1};
  std::size_t get_publisher_count() const { return publishers; }
  const char * get_topic_name() const { return topic.c_str(); }
};
template <typename Message>
struct Subscription : SubscriptionBase {
  using SharedPtr = std::shared_ptr<Subscription>;
  std::function<void(const Message &)> callback;
};
template <typename Message>
struct Publisher : Handle {
  using SharedPtr = std::shared_ptr<Publisher>;
  Message last;
  void publish(const Message & message) { last = message; }
};
template <typename Kind>
struct Service : Handle {
  using SharedPtr = std::shared_ptr<Service>;
  std::function<void(typename Kind::Request::SharedPtr, typename Kind::Response::SharedPtr)>
    callback;
};
namespace node_interfaces {
struct OnSetParametersCallbackHandle : Handle {
  using SharedPtr = std::shared_ptr<OnSetParametersCallbackHandle>;
  std::function<rcl_interfaces::msg::SetParametersResult(const std::vector<Parameter> &)> callback;
};
}  // namespace node_interfaces
inline std::filesystem::path get_log_directory() { return "."; }
inline bool sleep_for(std::chrono::nanoseconds) {
  stand_in::while_sleeping ? stand_in::while_sleeping() : std::this_thread::yield();
  return true;
}

/// A node whose entities the executor holds weakly, as that of ROS, and calls one at a time.
class Node {
public:
  std::string name = "controller";
  std::map<std::string, Parameter::Value> overrides, parameters;
  std::map<std::string, std::weak_ptr<Handle>> entities;
  std::mutex entities_mutex;
  mutable std::recursive_mutex parameters_mutex;

  const char * get_name() const { return name.c_str(); }
  int get_logger() const { return 0; }
  std::shared_ptr<int> get_clock() const { return std::make_shared<int>(0); }
  Time now() const {
    static std::atomic<std::int64_t> times{1};
    return Time(times++);
  }
  template <typename Value>
  void declare_parameter(const std::string & key, const Value & value) {
    const Parameter::Value given = value;
    parameters[key] = overrides.count(key) ? overrides[key] : given;
    if (parameters[key].index() != given.index()) {
      throw std::runtime_error("parameter " + key + " has another type");
    }
  }
  Parameter get_parameter(const std::string & key) const {
    const std::lock_guard<std::recursive_mutex> lock(parameters_mutex);
    return Parameter(key, parameters.at(key));
  }
  template <typename Message>
  auto create_publisher(const std::string & topic, int) {
    return add<Publisher<Message>>(topic);
  }
  template <typename Message, typename Callback>
  auto create_subscription(const std::string & topic, const QoS &, Callback callback) {
    return add<Subscription<Message>>(topic, callback);
  }
  template <typename Kind, typename Callback>
  auto create_service(const std::string & topic, Callback callback) {
    return add<Service<Kind>>(topic, callback);
  }
  template <typename Callback>
  auto add_on_set_parameters_callback(Callback callback) {
    const std::lock_guard<std::recursive_mutex> lock(parameters_mutex);
    return add<node_interfaces::OnSetParametersCallbackHandle>("parameters", callback);
  }
  template <typename Period, typename Callback>
  std::shared_ptr<TimerBase> create_wall_timer(Period, Callback callback) {
    return add<TimerBase>("timer", callback);
  }
  template <typename Kind>
  std::shared_ptr<Kind> entity(const std::string & key) {
    const std::lock_guard<std::mutex> lock(entities_mutex);
    return std::dynamic_pointer_cast<Kind>(entities[key].lock());
  }

private:
  template <typename Kind, typename... Callback>
  std::shared_ptr<Kind> add(const std::string & key, Callback... callback) {
    auto made = std::make_shared<Kind>();
    made->topic = key;
    ((made->callback = callback), ...);
    const std::lock_guard<std::mutex> lock(entities_mutex);
    entities[key] = made;
    return made;
  }
};
}  // namespace rclcpp
namespace rclcpp_lifecycle {
struct State {};
}  // namespace rclcpp_lifecycle

namespace realtime_tools {
template <typename Value, std::size_t capacity>
class LockFreeSPSCQueue {
public:
  [[nodiscard]] bool push(const Value & value) {
    const std::size_t end = end_.load(std::memory_order_relaxed);
    if (end - begin_.load(std::memory_order_acquire) == capacity) {
      return false;
    }
    values_[end % capacity] = value;
    end_.store(end + 1, std::memory_order_release);
    return true;
  }
  [[nodiscard]] bool pop(Value & value) {
    const std::size_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == end_.load(std::memory_order_acquire)) {
      return false;
    }
    value = values_[begin % capacity];
    begin_.store(begin + 1, std::memory_order_release);
    return true;
  }

private:
  Value values_[capacity];
  std::atomic<std::size_t> begin_{0}, end_{0};
};
template <typename Value>
class RealtimeThreadSafeBox {
public:
  bool try_set(const std::function<void(Value &)> & function) {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    return lock.owns_lock() && (function(value_), true);
  }
  void set(const Value & value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    value_ = value;
  }
  Value get() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return value_;
  }

private:
  mutable std::mutex mutex_;
  Value value_;
};
}  // namespace realtime_tools

namespace urdf {
struct JointLimits {
  double lower = 0.0, upper = 0.0, velocity = 0.0, effort = 0.0;
};
struct Joint {
  enum { UNKNOWN, REVOLUTE, CONTINUOUS, PRISMATIC } type = UNKNOWN;
  std::string name, parent_link_name, child_link_name;
  std::shared_ptr<JointLimits> limits;
};
struct Inertial {
  double mass = 0.0;
};
struct Link {
  std::string name;
  std::shared_ptr<Inertial> inertial;
  std::shared_ptr<Joint> parent_joint;
  std::vector<std::shared_ptr<Link>> child_links;
};
/// Reads a robot whose elements and attributes are written as in the URDFs of this package.
class Model {
public:
  bool initString(const std::string & text) {
    for_each(text, "link", [this](const std::string & element) {
      auto link = std::make_shared<Link>();
      link->name = attribute(element, "", "name");
      if (const auto mass = attribute(element, "<mass", "value"); !mass.empty()) {
        link->inertial = std::make_shared<Inertial>(Inertial{std::stod(mass)});
      }
      links_[link->name] = link;
    });
    for_each(text, "joint", [this](const std::string & element) {
      auto joint = std::make_shared<Joint>();
      joint->name = attribute(element, "", "name");
      const auto type = attribute(element, "", "type");
      joint->type = type == "revolute"     ? Joint::REVOLUTE
                    : type == "continuous" ? Joint::CONTINUOUS
                    : type == "prismatic"  ? Joint::PRISMATIC
                                           : Joint::UNKNOWN;
      if (element.find("<limit") != std::string::npos) {
        const auto number = [&](const char * key) {
          const auto value = attribute(element, "<limit", key);
          return value.empty() ? 0.0 : std::stod(value);
        };
        joint->limits = std::make_shared<JointLimits>(
          JointLimits{number("lower"), number("upper"), number("velocity"), number("effort")});
      }
      joint->parent_link_name = attribute(element, "<parent", "link");
      joint->child_link_name = attribute(element, "<child", "link");
      const auto child = links_.at(joint->child_link_name);
      child->parent_joint = joint;
      links_.at(joint->parent_link_name)->child_links.push_back(child);
      joints_[joint->name] = joint;
    });
    return !links_.empty();
  }
  std::shared_ptr<const Joint> getJoint(const std::string & name) const {
    const auto found = joints_.find(name);
    return found == joints_.end() ? nullptr : found->second;
  }
  std::shared_ptr<const Link> getLink(const std::string & name) const {
    const auto found = links_.find(name);
    return found == links_.end() ? nullptr : found->second;
  }

private:
  template <typename Function>
  static void for_each(const std::string & text, const std::string & tag, Function function) {
    const std::string open = "<" + tag + " ", close = "</" + tag + ">";
    for (auto at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
      const auto end = text.find('>', at);
      const bool empty = text[end - 1] == '/';
      function(text.substr(at, (empty ? end : text.find(close, at)) - at));
    }
  }
  static std::string attribute(const std::string & element, const std::string & tag,
                               const std::string & name) {
    const auto at = element.find(tag), begin = element.find(" " + name + "=\"", at);
    if (at == std::string::npos || begin == std::string::npos || begin > element.find('>', at)) {
      return "";
    }
    const auto value = begin + name.size() + 3;
    return element.substr(value, element.find('"', value) - value);
  }
  std::map<std::string, std::shared_ptr<Link>> links_;
  std::map<std::string, std::shared_ptr<Joint>> joints_;
};
}  // namespace urdf

namespace hardware_interface {
struct InterfaceInfo {
  std::string name, data_type;
};
struct InterfaceDescription {
  std::string prefix;
  InterfaceInfo info;
  InterfaceDescription(const std::string & p, const InterfaceInfo & i) : prefix(p), info(i) {}
};
/// A number that is read and written as by hardware of the tests.
struct CommandInterface {
  using SharedPtr = std::shared_ptr<CommandInterface>;
  double own = 0.0, *value = &own;
  const bool * refuses = nullptr;
  std::string name;
  explicit CommandInterface(const InterfaceDescription & d) : name(d.prefix + "/" + d.info.name) {}
  explicit CommandInterface(double * at, const bool * refuse) : value(at), refuses(refuse) {}
  [[nodiscard]] bool set_value(double number) {
    const bool taken = !refuses || !*refuses;
    *value = taken ? number : *value;
    return taken;
  }
  std::optional<double> get_optional() const { return *value; }
};
}  // namespace hardware_interface

namespace controller_interface {
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class return_type { OK, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };
struct InterfaceConfiguration {
  interface_configuration_type type = interface_configuration_type::NONE;
  std::vector<std::string> names;
};
class ChainableControllerInterface {
public:
  std::shared_ptr<rclcpp::Node> node = std::make_shared<rclcpp::Node>();
  std::string robot_description;
  unsigned update_rate = 0;
  bool chained = false;
  std::vector<hardware_interface::CommandInterface> command_interfaces_, state_interfaces_;
  std::vector<hardware_interface::CommandInterface::SharedPtr>
    ordered_exported_reference_interfaces_;

  virtual ~ChainableControllerInterface() = default;
  std::shared_ptr<rclcpp::Node> get_node() const { return node; }
  unsigned get_update_rate() const { return update_rate; }
  bool is_async() const { return false; }
  bool is_in_chained_mode() const { return chained; }
  const std::string & get_robot_description() const { return robot_description; }
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_init() = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_cleanup(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_shutdown(const rclcpp_lifecycle::State &) {
    return CallbackReturn::SUCCESS;
  }
  virtual CallbackReturn on_error(const rclcpp_lifecycle::State &) = 0;
  return_type update(const rclcpp::Time & time, const rclcpp::Duration & period) {
    update_reference_from_subscribers(time, period);
    return update_and_write_commands(time, period);
  }
  void export_references() {
    ordered_exported_reference_interfaces_ = on_export_reference_interfaces_list();
  }

protected:
  virtual std::vector<hardware_interface::CommandInterface::SharedPtr>
  on_export_reference_interfaces_list() = 0;
  virtual return_type update_reference_from_subscribers(const rclcpp::Time &,
                                                        const rclcpp::Duration &) = 0;
  virtual return_type update_and_write_commands(const rclcpp::Time &, const rclcpp::Duration &) = 0;
};
}  // namespace controller_interface

std::unique_ptr<controller_interface::ChainableControllerInterface> make_controller();
namespace std::chrono {
using stand_in_clock = ::stand_in::Clock;
}
#define steady_clock stand_in_clock

// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0
//
// Controllers as a controller manager holds them: functions for the tests in Python and, as a
// program, threads that call a controller at the same time.

#include "stand_in.hpp"

#include <cmath>
#include <cstdlib>
#include <new>

using controller_interface::CallbackReturn;
using Base = controller_interface::ChainableControllerInterface;

static thread_local bool updating = false;
static std::atomic<long> allocated{0};
void * operator new(std::size_t size) {
  allocated += updating ? 1 : 0;
  void * const memory = std::malloc(size);
  return memory ? memory : throw std::bad_alloc();
}
void operator delete(void * memory) noexcept { std::free(memory); }
void operator delete(void * memory, std::size_t) noexcept { std::free(memory); }

struct Controller {
  std::unique_ptr<Base> base = make_controller();
  std::vector<double> states = std::vector<double>(300, NAN),
                      commands = std::vector<double>(100, NAN);
  bool refuses = false;
  std::string text;
};
static const rclcpp_lifecycle::State state;

/// As rclcpp_lifecycle: an exception is an error, which on_error handles.
template <typename Function>
static int transition(Controller * c, Function function) {
  CallbackReturn result = CallbackReturn::ERROR;
  try {
    result = function();
  } catch (const std::exception & error) {
    stand_in::note("EXCEPTION", "%s", error.what());
  }
  if (result == CallbackReturn::ERROR) {
    c->base->on_error(state);
  }
  return static_cast<int>(result);
}

extern "C" {
Controller * create(const char * name, double rate, const char * description) {
  auto * c = new Controller;
  c->base->node->name = name;
  c->base->update_rate = static_cast<unsigned>(rate);
  c->base->robot_description = description;
  return c;
}
void destroy(Controller * c) { delete c; }
void give_text(Controller * c, const char * key, const char * v) {
  c->base->node->overrides[key] = std::string(v);
}
void give_number(Controller * c, const char * key, double v) { c->base->node->overrides[key] = v; }
void give_flag(Controller * c, const char * key, int v) { c->base->node->overrides[key] = v != 0; }
void give_texts(Controller * c, const char * key, const char * v) {
  std::vector<std::string> words;
  for (std::string rest = v; !rest.empty();) {
    const auto end = rest.find(',');
    words.push_back(rest.substr(0, end));
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  c->base->node->overrides[key] = words;
}
double parameter(Controller * c, const char * key) {
  return c->base->node->get_parameter(key).as_double();
}
int init(Controller * c) {
  return transition(c, [&] { return c->base->on_init(); });
}
int configure(Controller * c) {
  const int result = transition(c, [&] { return c->base->on_configure(state); });
  if (result == 0) {
    c->base->export_references();
    c->base->command_interfaces_.clear();
    c->base->state_interfaces_.clear();
    double * at = c->commands.data();
    for (std::size_t i = 0; i < c->base->command_interface_configuration().names.size(); ++i) {
      c->base->command_interfaces_.emplace_back(at++, &c->refuses);
    }
    at = c->states.data();
    for (std::size_t i = 0; i < c->base->state_interface_configuration().names.size(); ++i) {
      c->base->state_interfaces_.emplace_back(at++, nullptr);
    }
  }
  return result;
}
int activate(Controller * c) {
  return transition(c, [&] { return c->base->on_activate(state); });
}
int deactivate(Controller * c) {
  return transition(c, [&] { return c->base->on_deactivate(state); });
}
int cleanup(Controller * c) {
  return transition(c, [&] { return c->base->on_cleanup(state); });
}
int shut_down(Controller * c) {
  return transition(c, [&] { return c->base->on_shutdown(state); });
}
int update(Controller * c, double period) {
  stand_in::Clock::now_ += std::llround(1e9 * period);
  updating = true;
  const auto result = c->base->update(rclcpp::Time(0), rclcpp::Duration(period));
  updating = false;
  return static_cast<int>(result);
}
long allocations(Controller *) { return allocated.exchange(0); }
double * states(Controller * c) { return c->states.data(); }
double * commands(Controller * c) { return c->commands.data(); }
void refuse(Controller * c, int refuses) { c->refuses = refuses != 0; }
void chain(Controller * c, int chained) { c->base->chained = chained != 0; }
void refer(Controller * c, int i, double value) {
  std::ignore = c->base->ordered_exported_reference_interfaces_[i]->set_value(value);
}
const char * interfaces(Controller * c) {
  c->text.clear();
  for (const auto & name : c->base->command_interface_configuration().names) {
    c->text += name + " ";
  }
  for (const auto & one : c->base->ordered_exported_reference_interfaces_) {
    c->text += one->name + " ";
  }
  return c->text.c_str();
}

// The executor
void spin(Controller * c) {
  if (const auto timer = c->base->node->entity<rclcpp::TimerBase>("timer")) {
    timer->callback();
  }
}
void while_sleeping(void (*function)()) { stand_in::while_sleeping = function; }
const char * log_text(Controller * c) {
  const std::lock_guard<std::mutex> lock(stand_in::log_mutex);
  c->text = stand_in::log;
  stand_in::log.clear();
  return c->text.c_str();
}
const char * set_parameter(Controller * c, const char * key, const char * value) {
  const std::lock_guard<std::recursive_mutex> lock(c->base->node->parameters_mutex);
  const auto handle =
    c->base->node->entity<rclcpp::node_interfaces::OnSetParametersCallbackHandle>("parameters");
  static thread_local std::string text;
  text = "not configured";
  if (handle) {
    const auto result = handle->callback({rclcpp::Parameter(key, std::string(value))});
    text = result.successful ? "" : result.reason;
  }
  return text.c_str();
}
const char * stop(Controller * c) {
  const auto service = c->base->node->entity<rclcpp::Service<std_srvs::srv::Trigger>>("~/stop");
  auto response = std::make_shared<std_srvs::srv::Trigger::Response>();
  service->callback(std::make_shared<std_srvs::srv::Trigger::Request>(), response);
  c->text = response->success ? "" : response->message;
  return c->text.c_str();
}
void send_bool(Controller * c, const char * topic, int value) {
  if (const auto s = c->base->node->entity<rclcpp::Subscription<std_msgs::msg::Bool>>(topic)) {
    s->callback({value != 0});
  }
}
void send_payload(Controller * c, const char * frame, double mass, double x, double y, double z) {
  geometry_msgs::msg::InertiaStamped m;
  m.header.frame_id = frame;
  m.inertia.m = mass;
  m.inertia.com = {x, y, z};
  using Payload = rclcpp::Subscription<geometry_msgs::msg::InertiaStamped>;
  if (const auto s = c->base->node->entity<Payload>("~/payload")) {
    s->callback(m);
  }
}
void send_target(Controller * c, const char * joint0, const char * joint1, double a, double b) {
  trajectory_msgs::msg::JointTrajectory m;
  m.joint_names = {joint0, joint1};
  m.points.resize(1);
  m.points[0].positions = {a, b};
  using Trajectory = rclcpp::Subscription<trajectory_msgs::msg::JointTrajectory>;
  if (const auto s = c->base->node->entity<Trajectory>("~/joint_trajectory")) {
    s->callback(m);
  }
}
void send_pose(Controller * c, const char * frame, double x, double y, double z, double qx,
               double qy, double qz, double qw) {
  geometry_msgs::msg::PoseStamped m;
  m.header.frame_id = frame;
  m.pose.position = {x, y, z};
  m.pose.orientation = {qx, qy, qz, qw};
  if (const auto s =
        c->base->node->entity<rclcpp::Subscription<geometry_msgs::msg::PoseStamped>>(
          "~/target_pose")) {
    s->callback(m);
  }
}
/// Names and numbers of the last message, as text.
const char * controller_state(Controller * c) {
  using State = control_msgs::msg::JointTrajectoryControllerState;
  const State m = c->base->node->entity<rclcpp::Publisher<State>>("~/controller_state")->last;
  c->text.clear();
  for (const auto & name : m.joint_names) {
    c->text += name + " ";
  }
  for (const auto & row : {m.reference.positions, m.reference.velocities, m.feedback.positions,
                           m.feedback.velocities, m.feedback.effort, m.error.positions,
                           m.error.velocities, m.output.effort}) {
    for (const double number : row) {
      c->text += std::to_string(number) + " ";
    }
  }
  return c->text.c_str();
}
const char * diagnostics(Controller * c) {
  using Array = diagnostic_msgs::msg::DiagnosticArray;
  const auto status =
    c->base->node->entity<rclcpp::Publisher<Array>>("/diagnostics")->last.status.at(0);
  c->text = std::to_string(status.level) + " " + status.message;
  for (const auto & one : status.values) {
    c->text += "\n" + one.key + ": " + one.value;
  }
  return c->text.c_str();
}
int phase(Controller * c) {
  return c->base->node->entity<rclcpp::Publisher<std_msgs::msg::UInt8>>("~/phase")->last.data;
}
}

/// Arguments: a URDF file, and how often the controller is configured and cleaned up.
int main(int count, char ** words) {
  std::string urdf(1 << 16, '\0');
  std::FILE * const file = count == 3 ? std::fopen(words[1], "r") : nullptr;
  if (!file) {
    return 2;
  }
  urdf.resize(std::fread(urdf.data(), 1, urdf.size(), file));
  std::fclose(file);
  Controller * const c = create("controller", 1000.0, urdf.c_str());
  give_number(c, "telemetry_rate", 1000.0);
  give_number(c, "flight_recorder", 0.05);
  give_texts(c, "fallback_controllers", "other");
  give_text(c, "payload_frame", "link2");
  std::atomic<bool> ends{false}, runs{false};
  std::atomic<long> spins{0}, messages{0}, updates{0};
  int failures = init(c);
  std::thread executor([&] {
    for (; !ends; ++spins) {
      spin(c);
    }
  });
  std::thread publisher([&] {
    for (int k = 0; !ends; ++k, ++messages) {
      send_bool(c, "~/emergency_stop", 0);
      send_target(c, "joint1", "joint2", 0.3, 0.5 + 0.01 * (k % 2));
      send_payload(c, "link2", 0.1 * (k % 2), 0.0, 0.0, 0.0);
      send_bool(c, "~/heartbeat", 1);
      std::ignore = set_parameter(c, "settings", k % 2 ? "stiff" : "soft");
    }
  });
  std::mutex turn;  // the manager switches between updates, or beside them
  std::thread loop([&] {
    while (!ends) {
      if (runs) {
        const std::lock_guard<std::mutex> lock(turn);
        update(c, 0.001);
        ++updates;
      }
      std::this_thread::yield();
    }
  });
  const double pose[] = {0.3, 0.0, 16.79165356, 0.5, 0.0, 2.73387713};
  std::copy(pose, pose + 6, c->states.begin());
  for (int round = 0; round < std::atoi(words[2]); ++round) {
    failures += configure(c);
    send_bool(c, "~/emergency_stop", 0);
    for (int activation = 0; activation < 2; ++activation) {
      {
        const std::lock_guard<std::mutex> lock(turn);
        failures += activate(c);
      }
      runs = true;
      const long until = updates + 50;
      while (updates < until) {
        std::this_thread::yield();
      }
      failures += deactivate(c);  // beside an update
      runs = false;
      const std::lock_guard<std::mutex> lock(turn);
    }
    failures += cleanup(c);
  }
  ends = true;
  executor.join();
  publisher.join();
  loop.join();
  failures += shut_down(c) + (allocations(c) != 0);
  destroy(c);
  std::printf("%s%d failures, %ld spins, %ld messages\n", stand_in::log.c_str(), failures,
              spins.load(), messages.load());
  return failures != 0 || !spins || !messages;
}

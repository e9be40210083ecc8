# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator as a process, spoken to over real DDS, and its obstacle."""

import re
import signal
import time

from geometry_msgs.msg import WrenchStamped
from nodes.bring_up import parameters
from nodes.remote import Remote
import numpy as np
from processes import node, until
import pytest
from rclpy.qos import DurabilityPolicy, qos_profile_sensor_data, QoSProfile
from robodyn_ros.errors import ParameterError, UnknownNameError
from robodyn_ros.model.urdf import load_urdf
from robodyn_ros.model.urdf_source import urdf_text
from robodyn_ros.nodes import simulator as simulator_node
from robodyn_ros.nodes.simulator.loop import obstacle_of, obstacle_parameters, put
from robodyn_ros.nodes.simulator.node import Simulator
from robodyn_ros.nodes.simulator.parameters import TABLE
from robodyn_ros.simulation.plant import Plant
from robots import GRIPPER, OWN
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

DEADLINE = 60.0     # s; reached only by a test that fails
HOME = [0.3, -0.2]
PERIOD = 0.005      # s; slow enough for a busy machine
TWO_LINK = {'urdf': 'two_link', 'rate': 1 / PERIOD, 'substeps': 2, 'initial_position': HOME,
            'command_timeout': 1.0}


def gravity(q):
    """Of two_link, from the textbook [N·m]."""
    outer = 0.4 * 9.81 * np.cos(q[0] + q[1])
    return np.array([3 * 0.5 * 9.81 * np.cos(q[0]) + outer, outer])


class Bus(Remote):
    """A node that listens to the simulator and speaks to it; ``answer`` is asked at each state."""

    def __init__(self, namespace=''):
        super().__init__('bus', namespace=namespace)
        self.ignore_commands()
        self.ignore_states()
        self.heard, self.clock, self.description = [], [], []
        self.answer = lambda state: None
        self.sender = self.node.create_publisher(Float64MultiArray, 'commands', 10)
        self.pushes = self.node.create_publisher(WrenchStamped, 'simulator/push', 10)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.node.create_subscription(JointState, 'joint_states', self._on_state, 1000)
        self.node.create_subscription(Clock, '/clock', self.clock.append, 1000)
        self.node.create_subscription(String, 'robot_description', self.description.append,
                                      latched)

    def meet(self, process, ready):
        """Wait for a simulator that says so when it is ready."""
        process.wait_for_line(f'simulator ready: {ready}')
        self.until(lambda: self.sender.get_subscription_count() and self.heard
                   and self.pushes.get_subscription_count())
        return process

    def _on_state(self, state):
        self.heard.append(state)
        efforts = self.answer(state)
        if efforts is not None:
            self.send(efforts)

    def send(self, efforts):
        self.sender.publish(Float64MultiArray(data=[float(x) for x in efforts]))

    def more(self, count=5):
        """Return the next states."""
        self.heard.clear()
        self.until(lambda: len(self.heard) >= count)
        return list(self.heard)

    def at_rest(self):
        """Wait until states repeat themselves (older ones may still be queued), return one."""
        self.heard.clear()
        self.until(lambda: len(self.heard) >= 10 and same_pose(self.heard[-10:]))
        return self.heard[-1]


@pytest.fixture(scope='module')
def shared(start_once):
    """Yield a simulator that several tests share, and the bus to it."""
    bus = Bus()
    yield bus, bus.meet(start_once(node('simulator'), '--ros-args', *parameters(
        **TWO_LINK, publish_clock=True, publish_description=True, lockstep_timeout=3.0,
        lockstep_settle=0.4, real_time_factor=1.0, push_duration=0.2)), 'two_link, 2 joints')
    bus.close()


@pytest.fixture
def simulator(shared):
    """Return the bus and the shared simulator at HOME, held by its brakes, without lockstep."""
    bus, process = shared
    bus.answer = lambda state: None
    assert bus.set('simulator', brakes=True, lockstep=False, joint_damping=0.0) == ''
    assert bus.trigger('simulator/reset')[0]
    bus.until(lambda: list(bus.at_rest().position) == HOME)
    bus.clock.clear()
    process.forget()
    return bus, process


@pytest.fixture
def own(start):
    """Return what starts a simulator for one test in a namespace; yield it and the bus to it."""
    bus = Bus('/own')

    def own(ready, **values):
        return bus, bus.meet(start(node('simulator'), '--ros-args', *parameters(
            **{**TWO_LINK, **values}), '-r', '__ns:=/own'), ready)
    yield own
    bus.close()


def same_pose(states):
    return len({tuple(state.position) for state in states}) == 1


def stamp(state):
    return state.header.stamp.sec + state.header.stamp.nanosec * 1e-9


def push(link, force):
    """Return a push along x."""
    message = WrenchStamped()
    message.header.frame_id, message.wrench.force.x = link, force
    return message


def test_joints_that_mimic_are_in_the_states_and_not_in_the_commands(own, tmp_path):
    path = tmp_path / 'gripper.urdf'
    path.write_text(GRIPPER)
    bus, process = own(r'gripper, 2 joints \(wrist, left\)', urdf=path,
                       initial_position=[0.3, 0.02])
    assert list(bus.heard[0].name) == ['wrist', 'left', 'right', 'right_tip']
    assert bus.heard[0].position == pytest.approx([0.3, 0.02, 0.0, 0.1])
    assert list(bus.heard[0].effort[2:]) == [0, 0]
    bus.answer = lambda state: [0.0, 9.0]
    bus.until(lambda: bus.heard[-1].position[1] > 0.03)
    moving = max(bus.heard, key=lambda state: state.velocity[1])
    assert moving.velocity[2:] == pytest.approx([-0.5 * moving.velocity[1],
                                                 -10 * moving.velocity[1]])
    assert moving.position[2:] == pytest.approx([0.01 - 0.5 * moving.position[1],
                                                 0.3 - 10 * moving.position[1]])
    assert process.interrupt(by=signal.SIGTERM) == 0


def test_brakes_commands_timeout_and_services(own):
    """What cannot be used, or does not arrive, is no command, and the log says so."""
    bus, process = own('two_link, 2 joints')
    states = bus.more()
    assert list(states[0].name) == ['joint1', 'joint2']
    assert same_pose(states) and list(states[0].position) == HOME
    assert states[0].effort == pytest.approx(gravity(HOME), rel=1e-6)
    assert abs(stamp(states[-1]) - time.time()) < DEADLINE

    bus.send([1.0])
    bus.send([1.0, float('nan')])
    bus.until_line(process, 'command refused.*number of elements')
    bus.until_line(process, 'command refused.*NaN')
    bus.malformed_is_refused('simulator')
    # A best-effort publisher and a reliable subscription do not match
    bus.node.create_publisher(Float64MultiArray, 'commands', qos_profile_sensor_data)
    bus.until_line(process, "messages of '/own/bus' on /own/commands do not arrive: .*eliab")
    assert same_pose(bus.more())

    bus.answer = lambda state: 0.9 * gravity(state.position)
    bus.until_line(process, 'brakes released: by a command')
    bus.until(lambda: not same_pose(bus.heard[-20:]))
    bus.answer = lambda state: None
    bus.until_line(process, 'brakes engaged: no command for 1 s')
    state = bus.at_rest()
    assert list(state.position) != HOME
    assert state.effort == pytest.approx(gravity(state.position), rel=1e-6)

    assert bus.trigger('simulator/reset')[0]
    bus.until(lambda: list(bus.heard[-1].position) == HOME)
    assert bus.trigger('simulator/release_brakes')[0]
    bus.until_line(process, 'brakes released: on request')
    bus.until(lambda: not same_pose(bus.heard[-20:]))
    assert bus.trigger('simulator/engage_brakes')[0]
    bus.at_rest()
    bus.answer = lambda state: gravity(state.position)
    assert same_pose(bus.more(40))

    assert process.interrupt() == 0
    assert '1 commands refused' in process.text and 'Traceback' not in process.text


def test_without_brakes_it_falls_and_parameters_act_live(simulator):
    bus, process = simulator
    bus.until(lambda: bus.description)
    assert bus.description[0].data == urdf_text(OWN['two_link'])
    bus.until(lambda: bus.clock)
    times = {stamp(state) for state in bus.more()}
    bus.until(lambda: times <= {c.clock.sec + c.clock.nanosec * 1e-9 for c in bus.clock})
    assert bus.set('simulator', brakes=False) == ''
    assert bus.trigger('simulator/reset')[0]
    assert not same_pose(bus.more())
    assert not bus.trigger('simulator/engage_brakes')[0]
    assert bus.set('simulator', joint_damping=-1.0) and bus.set('simulator', rate=100.0)

    # 20 N·m·s/rad and 20 N·m of weight: it sinks slowly, wherever it is
    assert bus.set('simulator', joint_damping=20.0) == ''
    bus.until(lambda: np.abs(bus.heard[-1].velocity).max() < 2.0)
    assert bus.set('simulator', brakes=True) == ''
    bus.until_line(process, 'brakes engaged')
    bus.at_rest()


def test_lockstep_answers_each_command_with_exactly_one_state(simulator):
    """And no faster than asked: its parameter real_time_factor is 1."""
    bus, process = simulator
    assert bus.set('simulator', lockstep=True) == ''
    assert same_pose(bus.more())
    trace, times = [], []

    def answer(state):
        # Efforts that tell the states apart: measured ones come back in the next state
        trace.append(state)
        times.append(time.monotonic())
        return gravity(state.position) + [0.0, 0.01 * np.sin(len(trace))]

    def check():
        """Check that each state is that of the command which answered the one before it."""
        first = next(n for n, state in enumerate(trace) if list(state.position) != HOME)
        for n in range(max(first, 1), len(trace)):
            assert stamp(trace[n]) - stamp(trace[n - 1]) == pytest.approx(PERIOD, abs=1e-9)
            assert trace[n].effort == pytest.approx(
                gravity(trace[n - 1].position) + [0.0, 0.01 * np.sin(n)], abs=1e-12)

    bus.answer = answer
    bus.until_line(process, 'lockstep begins')
    bus.until(lambda: len(trace) > 300)
    assert 'brakes released: by a command' in process.text
    check()
    # The first ones may have waited for us
    assert stamp(trace[300]) - stamp(trace[240]) <= times[300] - times[240] + 10 * PERIOD

    # Without a command nothing comes, until its patience ends
    bus.answer = lambda state: None
    bus.until_line(process, 'lockstep ends')
    bus.until_line(process, 'brakes engaged: no command for 3 s')
    bus.at_rest()

    # Once the brakes are released it begins again, and a reset leaves no command behind either
    assert bus.trigger('simulator/release_brakes')[0]
    trace.clear()
    bus.answer = answer
    bus.until(lambda: len(trace) > 100)
    assert bus.trigger('simulator/reset')[0]
    bus.until(lambda: list(bus.heard[-1].position) == HOME)
    trace.clear()
    bus.until(lambda: len(trace) > 100)
    check()


def test_lockstep_says_so_when_commands_answer_no_states(simulator):
    bus, process = simulator
    assert bus.set('simulator', lockstep=True) == ''
    until(lambda: 'must answer states' in process.text,
          lambda: bus.send(gravity(HOME)) or time.sleep(0.02))


def test_a_push_moves_the_arm_and_an_unknown_link_is_refused(simulator):
    bus, process = simulator
    bus.pushes.publish(push('tool', 10.0))
    bus.until_line(process, "push refused: no link 'tool'")
    assert "no link 'tool'" in bus.set('simulator', obstacle_link='tool')
    bus.answer = lambda state: gravity(state.position) - 2.0 * np.array(state.velocity)
    bus.until_line(process, 'brakes released')
    rest = bus.more()[-1].position
    bus.pushes.publish(push('tool0', 10.0))
    bus.until_line(process, 'push on tool0 for 0.2 s')
    bus.until(lambda: np.abs(np.subtract(bus.heard[-1].position, rest)).max() > 0.01)


def test_what_no_simulation_can_follow_ends_it(ends, monkeypatch):
    """With the reason, at once, also while somebody asks for something."""
    run = Simulator.run
    monkeypatch.setattr(Simulator, 'run', lambda node, spin, over: run(
        node, lambda: node._on_push(push('tool0', 1e200)), over))
    code, printed = ends(simulator_node.main, '--ros-args', *parameters(**TWO_LINK, brakes=False))
    assert code == 1 and re.search('^error: the simulation diverged', printed, re.MULTILINE)


def test_a_part_of_a_robot_is_simulated(ends, brief):
    """As its controller has it, in the file of `robodyn init --root --tip`."""
    code, printed = ends(simulator_node.main, '--ros-args', *parameters(
        urdf='arm6', root='link_2', tip='link_4', gravity=[0.0, 0.0, -9.81],
        locked_joints='[joint_5, joint_6]', locked_positions=[0.0, 0.0], armature=[0.1, 0.2]))
    assert code == 0 and 'simulator ready: arm6, 2 joints' in printed


@pytest.mark.parametrize(('given', 'complaint'), [
    ({}, 'there is no robot'),
    ({'urdf': 'two_link', 'rate': 1000}, 'parameter rate is refused.*as 1.0'),
    ({'urdf': 'two_link', 'initial_position': [0.0]}, 'pass one for each of joint1, joint2')])
def test_what_cannot_be_simulated_is_said_in_one_line(ends, given, complaint):
    code, printed = ends(simulator_node.main, '--ros-args', *parameters(**given))
    assert code == 1 and re.search(f'^error: .*{complaint}', printed, re.MULTILINE)


DEFAULT = {p.name: p.default for p in TABLE}
LINKS = 'link1', 'tool0'


def test_there_is_none_without_a_link_and_it_has_its_values_with_one():
    assert obstacle_of(DEFAULT, LINKS) is None
    obstacle = obstacle_of({**DEFAULT, 'obstacle_link': 'tool0',
                            'obstacle_normal': [0.0, 2.0, 0.0],
                            'obstacle_surface': [0.1, 0.2, 0.3]}, LINKS)
    assert obstacle.link == 'tool0' and obstacle.stiffness == 75e3
    assert obstacle.normal.tolist() == [0.0, 1.0, 0.0]
    assert obstacle.surface.tolist() == [0.1, 0.2, 0.3]
    assert set(obstacle_parameters(DEFAULT)) == {name for name in DEFAULT if 'obstacle' in name}


@pytest.mark.parametrize(('values', 'error', 'text'), [
    ({'obstacle_link': 'arm'}, UnknownNameError, "no link 'arm'"),
    ({'obstacle_point': [0.0]}, ParameterError, 'obstacle_point has 1 elements'),
    ({'obstacle_normal': [0.0, 0.0, 0.0]}, ParameterError, 'no direction')])
def test_what_is_no_obstacle_is_refused(values, error, text):
    with pytest.raises(error, match=text):
        obstacle_of({**DEFAULT, 'obstacle_link': 'tool0', **values}, LINKS)


def test_its_force_ends_when_it_is_taken_away():
    text = OWN['two_link'].read_text()
    model = load_urdf(text, gravity=(0.0, 0.0, 0.0))
    plant = Plant(text, model=model)
    plant.reset([0.0, 0.0])
    # The tool is at x = 0.9 and may go no lower than 1 mm above that
    put(plant, obstacle_of({**DEFAULT, 'obstacle_link': 'tool0',
                            'obstacle_surface': [0.0, 0.0, 1e-3]}, model.frame_names))
    plant.step(0.0)
    assert plant.obstacles[0].peak == pytest.approx(75.0, rel=0.01)
    put(plant, None)
    before = plant.state().velocity
    plant.step(0.0)
    assert np.abs(plant.state().velocity - before).max() < 1e-3 * np.abs(before).max()
    assert not plant.obstacles

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The exported plugin of ros2_control, its own C++, with an arm in MuJoCo and a manager in lockstep.

``ros2_control/stand_in.hpp`` is as much of ROS as it uses; :class:`Manager` has the rules of the
controller manager: it deactivates a controller whose update fails, in the same cycle.
"""

import ctypes
from hashlib import sha256
import json
from pathlib import Path
import platform
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

from cli.commands import config_options, done
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.c_library.library import c_compiler, FLAGS as LIBRARY_FLAGS
from robodyn_ros.compiler.code_cache import stored
from robodyn_ros.flight_recorder.file import read
from robodyn_ros.flight_recorder.replay import Replay
from robodyn_ros.model.rigid_body import rpy_rotation
from scipy.spatial.transform import Rotation
from thorough import seeds
import yaml

HERE = Path(__file__).parent / 'ros2_control'
URDF = Path(__file__).parents[2] / 'urdf/two_link.urdf'
PACKAGE = 'my_arm_controller'
MASS, DISTANCE = 3.0, 0.15
COMMON = {'rate': 1000.0, 'payload_frame': 'link2', 'arming_samples': 1,
          'heartbeat_timeout': 0.2, 'emergency_stop': True}
STIFF = {'mode': 'joint_impedance', 'stiffness': [100.0, 60.0], 'damping': [8.0, 4.0]}
FILES = {'stiff': STIFF, 'soft': STIFF | {'stiffness': [40.0, 25.0]},
         'free': {'mode': 'gravity_compensation'},
         'kept': STIFF | {'stop_with': 'gravity'},
         'weak': STIFF | {'stiffness': [100.0, 2.0], 'damping': [8.0, 0.5],
                          'coulomb_friction': [0.5, 0.5]},
         'spatial': {'mode': 'cartesian_impedance', 'task_frame': 'tool0'}}
TABLE = ('<link name="table"/><joint name="table_joint" type="fixed"><parent link="base_link"/>'
         '<child link="table"/><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 1.0"/></joint></robot>')
RESTS = 'friction keeps joints from their targets: joint2 may rest 0.25 rad away (friction 0.5); '
FLAGS = '-std=c++17', '-O0', '-Wall', '-Wextra', '-Werror', '-Wno-missing-field-initializers'
POSE = np.array([0.3, 0.5])
TYPES = {'string': 'std::string', 'string_array': 'std::vector<std::string>', 'bool': 'bool',
         'double': 'double'}                                        # of C++
BRACES = str.maketrans('[]', '{}')
GXX = shutil.which('c++')
PERIOD = 0.001
SUCCESS, FAILURE, ERROR = range(3)
INACTIVE, RISING, RUNNING, STOPPING, FAULT = range(5)
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('few_poses'), pytest.mark.skipif(
    platform.machine() != 'x86_64' or 'avx2' not in Path('/proc/cpuinfo').read_text(),
    reason='needs x86-64-v3'), pytest.mark.skipif(not GXX, reason='needs a C++ compiler')]


def run(words, cwd=None):
    """Run a program; return its output."""
    done = subprocess.run([*map(str, words)], text=True, capture_output=True, timeout=600, cwd=cwd)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
    return done.stdout


def compiled(source, *words):
    """Return the object of a C++ source: that of before, if the preprocessor makes the same."""
    words = [*FLAGS, *words]
    text = run([GXX, '-E', '-P', *words, source]) + run([GXX, '--version'])
    digest = sha256(' '.join([text, *(x for x in words if not x.startswith('-I'))]).encode())

    def make(cached):
        file = (cached or source.parent) / 'source.o'
        if not (cached and file.exists()):
            run([GXX, *words, '-c', source, '-o', file])
        return file
    return stored(f'object_{digest.hexdigest()[:20]}', source.name, make)


def parameters_header(package):
    """Return as much as is used of what generate_parameter_library makes of the parameters."""
    file = package / 'src' / f'{PACKAGE}_parameters.yaml'
    (name, declared), = yaml.safe_load(file.read_text()).items()
    fields = {key: (TYPES[one['type']], json.dumps(one['default_value'], ensure_ascii=False)
                    .translate(BRACES)) for key, one in declared.items()}
    return f"""#include "stand_in.hpp"
namespace {name} {{
struct Params {{
  {''.join(f'{kind} {key} = {value};' for key, (kind, value) in fields.items())}
}};
struct ParamListener {{
  std::shared_ptr<rclcpp::Node> node;
  ParamListener(std::shared_ptr<rclcpp::Node> of) : node(of) {{
    const Params p;
    {''.join(f'node->declare_parameter("{key}", p.{key});' for key in fields)}
  }}
  Params get_params() const {{
    Params p;
    {''.join(f'node->get_parameter("{key}").get(p.{key});' for key in fields)}
    return p;
  }}
}};
}}
"""


def build(package, output, *flags):
    """Compile the unchanged sources of a package with the stand-in of ROS."""
    includes = package / 'stand_in'
    for name in re.findall(r'#include "(\w+/[\w/.]+)"', ''.join(
            file.read_text() for file in (package / 'src').iterdir())):
        (includes / name).parent.mkdir(parents=True, exist_ok=True)
        (includes / name).write_text('#include "stand_in.hpp"\n')
    (includes / PACKAGE / f'{PACKAGE}_parameters.hpp').write_text(parameters_header(package))
    together = includes / 'together.cpp'        # the headers of C++ once
    together.write_text(''.join(f'#include "{source}"\n' for source in (
        *(package / 'src').glob('*.cpp'), HERE / 'manager.cpp')))
    (includes / 'urdf/model.h').write_text('#warning "obsolete since Kilted"\n')
    library = package / f'{output}.c.o'
    run([*c_compiler(), *LIBRARY_FLAGS, *flags, '-c', package / 'robodyn_controller.c', '-o',
         library])
    object = compiled(together, *flags, '-fPIC', f'-I{package}', f'-I{includes}', f'-I{HERE}')
    run([GXX, *flags, object, library, package / 'robodyn_cycle.s', '-lm', '-pthread', '-o',
         package / output])
    return package / output


@pytest.fixture(scope='module')
def package(tmp_path_factory):
    """Return a folder with an exported package."""
    pytest.importorskip('rclpy')
    place = tmp_path_factory.mktemp('workspace')
    robot = place / 'two_link.urdf'
    robot.write_text(URDF.read_text().replace('</robot>', TABLE))
    result = done('export', robot, '-o', place / PACKAGE, '--payload', f'{MASS},{DISTANCE}',
                  *config_options(place, {name: COMMON | own for name, own in FILES.items()}))
    assert f'warning: weak: {RESTS}' in result.output and result.output.count(RESTS) == 1
    return place / PACKAGE


@pytest.fixture(scope='module')
def plugin(package):
    """Return the plugin, loaded."""
    library = ctypes.CDLL(build(package, 'plugin.so', '-shared'))
    for name in ('log_text', 'set_parameter', 'stop', 'interfaces', 'controller_state',
                 'diagnostics'):
        getattr(library, name).restype = ctypes.c_char_p
    for name in ('states', 'commands'):
        getattr(library, name).restype = ctypes.POINTER(ctypes.c_double)
    library.create.restype, library.parameter.restype = ctypes.c_void_p, ctypes.c_double
    return library


class Manager:
    """
    One controller of the plugin, in lockstep with an arm.

    :ivar active: whether it is active; before, and if there is a ``fallback`` after, another
        controller compensates gravity.
    """

    def __init__(self, plugin, folder, fallback='other', plant=None, urdf=None, name='controller',
                 rate=1.0 / PERIOD, **parameters):
        from robodyn_ros.simulation.plant import Plant

        self._plugin, self.model = plugin, plant or load_urdf('two_link')
        self.plant = Plant(self.model.to_urdf(), model=self.model, timestep=0.25e-3, substeps=4)
        self.plant.reset(POSE)
        self._gravity = Dynamics(self.model).gravity
        self._controller = ctypes.c_void_p(plugin.create(
            name.encode(), ctypes.c_double(rate),
            (URDF.read_text() if urdf is None else urdf).encode()))
        self.active, self.fallback, self.beats = False, fallback, True
        self.give_texts('fallback_controllers', fallback)
        self.give_text('flight_folder', str(folder))
        self.give_text('payload_frame', 'link2')
        for key, value in parameters.items():
            give = {str: 'give_text', float: 'give_number', bool: 'give_flag'}[type(value)]
            getattr(self, give)(key, value)
        assert self.init() == SUCCESS
        self.log_text()         # of another one

    def __getattr__(self, name):
        def call(*words):
            given = [word.encode() if isinstance(word, str) else
                     ctypes.c_double(word) if isinstance(word, float) else word for word in words]
            result = getattr(self._plugin, name)(self._controller, *given)
            return result.decode() if isinstance(result, bytes) else result
        return call

    @property
    def log(self):
        """Return the lines since the last call."""
        return self.log_text()

    @property
    def tau(self):
        """Return the efforts that the hardware has."""
        return np.array(self.commands()[:self.model.nv])

    def measure(self):
        state = self.plant.state()
        np.ctypeslib.as_array(self.states(), (self.model.nv, 3)).T[:] = (
            state.position, state.velocity, state.effort)

    def start(self):
        """Activate in the cycle after the fallback, and go on until the arm is RUNNING."""
        self.tick()
        if self.beats:
            self.send_bool('~/heartbeat', 1)
        assert self.activate() == SUCCESS
        self.active = True
        self.run(0.5)
        assert self.active and self.phase() == RUNNING, self.log

    def end(self):
        """Deactivate it."""
        assert self.deactivate() == SUCCESS
        self.active = False

    def tick(self):
        """Move the arm for a period, and update."""
        tau = self.tau
        if not self.active and (self.fallback or not np.isfinite(tau).all()):
            tau = self._gravity(self.plant.state().position)
        self.plant.step(np.nan_to_num(tau))
        self.measure()
        if self.active and self.update(PERIOD):
            self.end()
        if not round(self.plant.time / PERIOD) % 50:
            self.spin()
            if self.beats:
                self.send_bool('~/heartbeat', 1)

    def run(self, seconds):
        """Return the largest distance from where the arm was, and its largest velocity."""
        began, far, fast = self.plant.state().position.copy(), 0.0, 0.0
        for _ in range(round(seconds / PERIOD)):
            self.tick()
            state = self.plant.state()
            far = max(far, np.abs(state.position - began).max())
            fast = max(fast, np.abs(state.velocity).max())
        return far, fast

    def sleeping(self):
        """Update while the executor waits for a step."""
        self._callback = ctypes.CFUNCTYPE(None)(self.tick)
        self._plugin.while_sleeping(self._callback)
        return self

    def stall(self):
        """Update no more while the executor waits."""
        self._plugin.while_sleeping(None)


@pytest.fixture
def manager(plugin, tmp_path):
    """Return a function that makes a configured one."""
    pytest.importorskip('mujoco')
    made = []

    def make(**more):
        one = Manager(plugin, tmp_path, **more)
        assert one.configure() == SUCCESS, one.log
        one.send_bool('~/emergency_stop', 0)
        one.send_bool('~/heartbeat', 1)
        made.append(one.sleeping())
        return one
    yield make
    plugin.while_sleeping(None)
    for one in made:
        if one.active:
            one.end()
        one.cleanup()
        one.destroy()


def test_the_arm_is_taken_over_held_and_moved(manager):
    one = manager(release_at_fault=True)
    one.tick()
    assert one.activate() == SUCCESS
    one.active = True
    assert np.abs(one.tau - Dynamics(one.model).gravity(POSE)).max() < 0.05, 'in the first cycle'
    far, fast = one.run(1.0)
    assert far < 1e-4 and one.phase() == RUNNING
    one.send_target('joint1', 'joint2', 0.5, 0.3)
    one.run(2.0)
    assert np.abs(one.plant.state().position - [0.5, 0.3]).max() < 1e-3
    assert one.log == 'INFO RUNNING\n'
    jump(one)
    assert one.allocations() == 0, 'in updates'


def test_a_stop_hands_the_arm_over(manager):
    one = manager()
    one.start()
    one.send_target('joint1', 'joint2', 0.8, 0.3)
    one.run(0.3)
    assert one.stop() == ''
    one.run(1.0)
    assert not one.active, 'the manager is told, and activates the fallback'
    far, fast = one.run(1.0)
    assert fast < 0.05, fast
    assert 'WARN stopped: ' in one.log


@pytest.mark.parametrize('settings', ['stiff', 'kept'])
def test_a_stop_that_would_drop_the_arm_is_refused(settings, manager):
    one = manager(fallback='', settings=settings)
    one.start()
    refusal = one.stop()
    far, fast = one.run(1.0)
    if settings == 'stiff':
        assert 'nothing would hold the arm' in refusal and 'stop_with: gravity' in refusal
        assert one.active and one.phase() == RUNNING
    else:
        assert refusal == '' and not one.active
    assert far < 1e-3 and fast < 0.05, (far, fast)


@pytest.mark.parametrize('fallback', ['', 'other'])
def test_a_fallback_holds_the_arm_from_the_fault_on(fallback, manager):
    one = manager(fallback=fallback)
    one.start()
    one.send_bool('~/emergency_stop', 1)
    one.run(0.002)
    assert one.active == (not fallback)
    far, fast = one.run(1.5)
    assert not one.active
    assert (far < 1e-3 and fast < 0.01) if fallback else far > 0.1, (far, fast)


def loaded(mass=MASS):
    from robodyn_ros.model.robot import with_payload

    return with_payload(load_urdf('two_link'), 'link2', mass, (0.0, 0.0, 0.1))


@pytest.mark.parametrize('settings', ['stiff', 'free'])
def test_a_payload_declared_before_activation_is_carried_from_then_on(settings, manager):
    one = manager(plant=loaded(), settings=settings)
    one.send_payload('link2', MASS, 0.0, 0.0, 0.1)
    for _ in range(2):
        one.start()
        far, fast = one.run(0.5)
        assert far < 1e-3 and fast < 0.01, (far, fast)
        one.end()
        one.run(0.2)
    assert one.set_parameter('settings', 'soft' if settings == 'stiff' else 'stiff') == ''
    one.start()
    far, fast = one.run(0.5)
    assert far < 1e-3 and fast < 0.01, (far, fast)


def test_a_payload_stays_when_settings_change(manager):
    one = manager(plant=loaded(2.0))
    one.send_payload('link2', 2.0, 0.0, 0.0, 0.1)
    one.start()
    assert one.set_parameter('settings', 'free') == ''
    far, fast = one.run(1.0)
    assert far < 1e-3 and fast < 0.01, (far, fast)
    one.end()
    one.start()
    far, fast = one.run(0.5)
    assert far < 1e-3 and fast < 0.01, 'the next activation has settings and payload'


def test_what_is_asked_for_is_judged_before_the_answer(manager):
    one = manager()
    assert 'choose stiff, soft, free' in one.set_parameter('settings', 'other')
    one.send_payload('link2', MASS + 0.1, 0.0, 0.0, 0.0)
    assert 'settings or payload were not exported' in one.log
    one.start()
    one.send_payload('link2', MASS, 0.0, 0.0, 0.1)
    assert 'gravity with the payload contradicts the efforts' in one.log
    one.end()
    one.start()
    assert one.run(0.3)[0] < 1e-3, 'a refused payload is none of the next activation'
    one.stall()
    assert 'no step has taken' in one.set_parameter('settings', 'soft'), 'the loop stands still'


@pytest.mark.parametrize('old, new, said', [
    ('<mass value="2"/>', '<mass value="3"/>', 'mass moved by joint1 is 3'),
    ('"joint2" type="revolute"', '"joint2" type="prismatic"', 'joint2 is prismatic, and was rev'),
    ('effort="80"', 'effort="150"', 'effort limit of joint1 is 150'),
    ('velocity="8"', 'velocity="3"', 'velocity limit of joint1 is 3'),
    ('lower="-3.1416"', 'lower="-1"', 'lower limit of joint1 is -1'),
    ('"joint2"', '"other"', 'it has no joint joint2'),
    ('"link1"/>\n    <child link="link2"', '"base_link"/>\n    <child link="link2"',
     'joint2 is moved by no joint, and was by joint1'),
    (URDF.read_text(), '', 'it cannot be read')])
def test_another_robot_with_the_same_joints_is_refused(plugin, tmp_path, old, new, said):
    text = URDF.read_text()
    assert old in text
    one = Manager(plugin, tmp_path, urdf=text.replace(old, new))
    assert one.configure() == FAILURE
    log = one.log
    assert said in log and 'export again from this URDF' in log, log


def test_two_equal_arms_are_controllers_of_one_package(manager):
    body = URDF.read_text().partition('<robot name="two_link">')[2].partition('</robot>')[0]
    both = ''.join(re.sub('"((?:joint|link)[12]|base_link|tool0)"', rf'"{side}_\1"', body)
                   for side in ('left', 'right'))
    arms = {side: manager(urdf=f'<robot name="both">{both}</robot>', prefix=f'{side}_', name=side)
            for side in ('left', 'right')}
    for side, arm in arms.items():
        assert arm.interfaces().split() == [
            f'{side}_joint1/effort', f'{side}_joint2/effort', f'{side}/{side}_joint1/position',
            f'{side}/{side}_joint2/position', f'{side}/{side}_joint1/velocity',
            f'{side}/{side}_joint2/velocity']
        arm.sleeping().start()
        arm.send_target(f'{side}_joint1', f'{side}_joint2', 0.4, 0.4)
        arm.run(1.5)
        assert np.abs(arm.plant.state().position - 0.4).max() < 0.01, arm.log
    left, right = arms.values()
    left.stop()
    left.run(0.5)
    assert not left.active and right.run(0.3)[0] < 1e-3 and right.phase() == RUNNING


@pytest.mark.parametrize('names, rate, said', [
    ('joint1', 1000.0, 'joints: 1 names, and two_link has 2 joints'),
    ('joint2,joint1', 1000.0, 'joint2 is number 1, and was exported as number 2: keep the order'),
    ('joint1,joint2', 500.0, 'update_rate is 500 Hz, and the gains were checked at 1000 Hz')])
def test_joints_and_rate_are_parameters_that_are_checked(plugin, tmp_path, names, rate, said):
    one = Manager(plugin, tmp_path, rate=rate)
    one.give_texts('joints', names)
    assert one.init() == SUCCESS and one.configure() == FAILURE
    assert said in one.log


def test_joints_that_friction_keeps_from_their_targets_are_named(plugin, tmp_path, manager):
    one = Manager(plugin, tmp_path, settings='weak')
    assert one.configure() == SUCCESS
    assert f'WARN weak: {RESTS}set friction_compensation, raise the gains' in one.log
    one.cleanup()
    other = manager()
    assert other.log == ''
    assert other.set_parameter('settings', 'weak') == '' and RESTS in other.log


def test_the_state_is_that_of_a_trajectory_controller(manager):
    one = manager()
    one.start()
    one.send_target('joint1', 'joint2', 0.8, 0.3)
    one.run(0.25)
    one.spin()
    words = one.controller_state().split()
    rows = np.array(words[2:], float).reshape(8, 2)
    reference, velocity, position, moved, effort, error, slip, commanded = rows
    state = one.plant.state()
    assert words[:2] == ['joint1', 'joint2'] and velocity[0] > 0.1 > -0.05 > velocity[1]
    for published, true in ((position, state.position), (moved, state.velocity),
                            (effort, state.effort), (error, reference - position),
                            (slip, velocity - moved), (commanded, one.tau)):
        assert np.abs(published - true).max() < 2e-6


def jump(one):
    """Let the reading of a joint jump until the fault."""
    for _ in range(200):
        tau = one.tau
        one.plant.step(np.nan_to_num(tau))
        one.measure()
        one.states()[0] += 1.0
        if one.update(PERIOD):
            one.end()
            return
        one.active = True
    raise AssertionError('no fault')


def test_each_fault_is_reported_and_recorded(manager, tmp_path):
    one = manager(release_at_fault=True)
    for k in range(3):
        one.plant.reset(POSE)
        one.start()
        jump(one)
        one.send_target('joint1', 'joint2', 0.4, 0.4)           # references stream on
        if k == 1:
            one.spin()
    one.run(1.3)
    log = one.log
    assert log.count('ERROR FAULT STATE_INCONSISTENT') == 3, log
    assert log.count('recording of the fault') == 3, log
    for file in tmp_path.glob('*.flight'):
        flown = read(file)
        agreement = Replay(flown.model, flown.snapshot).compare()
        assert agreement.cycles == agreement.same > 100


def test_a_recording_is_written_although_a_request_waits(manager, tmp_path):
    one = manager(release_at_fault=True)
    one.start()
    one.stall()
    one.send_target('joint1', 'joint2', 0.4, 0.4)               # no step takes it
    jump(one)
    one.send_target('joint1', 'joint2', 0.4, 0.4)
    assert one.cleanup() == SUCCESS
    assert 'recording of the fault' in one.log
    flown, = (read(file) for file in tmp_path.glob('*.flight'))
    agreement = Replay(flown.model, flown.snapshot).compare()
    assert agreement.cycles == agreement.same > 100


def test_the_first_reason_of_a_refused_arming_is_reported(manager):
    one = manager()
    one.plant.reset(POSE, [0.5, 0.0])
    one.measure()
    assert one.activate() == SUCCESS                            # it moves, as the first reason
    one.active = True
    for k in range(100):
        one.measure()
        if k:
            one.states()[0] = 9.0                               # then it is elsewhere
        if one.active and one.update(PERIOD):
            one.end()
            break
    assert k == 9, 'after arming_timeout'
    one.spin()
    log = one.log.split('\n')
    assert log[0].startswith('ERROR not armed within arming_timeout: ARM_MOVES') and (
        '(joint1)' in log[0]), log
    assert log[1] == 'INFO inactive'


def refusal(one):
    """Return the reason against arming."""
    one.tick()
    assert one.activate() == SUCCESS
    one.active = True
    one.run(0.02)
    assert not one.active
    one.spin()
    return re.search(r'not armed within arming_timeout: (\w+)', one.log)[1]


def test_emergency_stop_and_heartbeat(manager):
    one = manager()
    one.start()
    one.send_bool('~/emergency_stop', 1)
    one.run(0.05)
    assert 'FAULT EMERGENCY_STOP' in one.log
    one.run(1.0)                                                # they are published every second
    status, *values = one.diagnostics().split('\n')
    assert status == '2 FAULT: EMERGENCY_STOP: emergency stop'
    assert {'mode: joint_impedance', 'settings: stiff', 'commands not taken: 0',
            'events not reported: 0', 'reason code: EMERGENCY_STOP'} <= {*values}
    one.end()
    assert refusal(one) == 'EMERGENCY_STOP', 'heard before this activation'
    one.send_bool('~/emergency_stop', 0)
    one.plant.reset(POSE)
    one.start()
    one.beats = False
    one.run(0.25)
    assert 'FAULT HEARTBEAT_LOST' in one.log
    one.end()
    assert refusal(one) == 'HEARTBEAT_LOST'
    one.beats = True
    one.plant.reset(POSE)
    one.start()
    one.send_bool('~/heartbeat', 0)
    one.run(0.05)
    assert 'FAULT HEARTBEAT_LOST' in one.log, 'false is a stop at once'


def test_commands_that_are_not_taken_end_the_controller(manager):
    one = manager()
    one.start()
    one.refuse(1)
    one.run(0.02)
    one.refuse(0)
    one.run(0.2)
    assert one.active, 'some are counted'
    one.refuse(1)
    one.run(0.049)
    assert one.active
    one.run(0.02)
    one.refuse(0)
    assert not one.active
    one.run(0.1)
    assert 'the hardware interface has not taken the commands for 0.05 s' in one.log


def test_who_holds_the_arm_after_a_fault_is_asked_at_configure(plugin, tmp_path):
    one = Manager(plugin, tmp_path, fallback='')
    assert one.configure() == SUCCESS
    assert 'WARN fallback_controllers is empty: nothing holds the arm' in one.log
    other = Manager(plugin, tmp_path)
    assert other.configure() == SUCCESS and 'fallback' not in other.log
    assert one.parameter('arming_timeout') == 0.01, 'the one default'
    for manager in (one, other):
        manager.cleanup()
        manager.destroy()


def test_callbacks_after_the_cleanup_do_nothing(manager):
    one = manager()
    one.start()
    one.end()
    assert one.cleanup() == SUCCESS
    one.spin()
    one.send_bool('~/emergency_stop', 1)
    assert one.configure() == SUCCESS
    one.send_bool('~/emergency_stop', 0)
    one.start()
    one.end()
    assert one.shut_down() == SUCCESS


def test_an_exception_ends_in_the_lifecycle(plugin, tmp_path):
    one = Manager(plugin, tmp_path)
    one.give_number('arming_timeout', 0.1)
    one.give_text('prefix', '')
    assert one.init() == SUCCESS
    one.give_texts('settings', 'stiff')                         # of another type
    assert one.init() == ERROR
    assert one.log == 'ERROR parameters: parameter settings has another type\n'


def test_poses_are_known_in_all_frames_that_are_fixed_to_the_base(manager):
    one = manager(settings='spatial', base_frame='world')
    one.start()
    table = np.eye(4)
    table[:3] = np.column_stack([rpy_rotation([0.4, 0.5, 1.0]), [0.1, 0.2, 0.3]])
    for frame, base, goal in (('table', table, [0.4, 0.4]), ('base_link', np.eye(4), [0.3, 0.6]),
                              ('world', np.eye(4), [0.35, 0.5])):
        pose = np.linalg.inv(base) @ Dynamics(one.model).pose(goal, 'tool0')
        one.send_pose(frame, *pose[:3, 3].tolist(),
                      *Rotation.from_matrix(pose[:3, :3]).as_quat().tolist())
        one.run(2.0)
        assert np.abs(one.plant.state().position - goal).max() < 0.005, one.log
    one.send_pose('tool0', 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    assert "frame_id is 'tool0', which is not fixed to the base: transform the pose" in one.log


def test_references_are_chained(manager):
    one = manager()
    one.start()
    one.chain(1)
    assert one.deactivate() == SUCCESS and one.activate() == SUCCESS
    one.spin()
    assert one.log.endswith('INFO inactive\nINFO RUNNING\n'), 'driven, as before'
    for k in [*range(400), *[400] * 600]:
        one.refer(0, float(0.3 + 0.1 * (1.0 - np.cos(np.pi * k / 400))))
        one.refer(1, 0.5)
        one.tick()
    assert one.active and one.phase() == RUNNING
    assert abs(one.plant.state().position[0] - 0.5) < 0.02
    one.send_target('joint1', 'joint2', 0.4, 0.4)
    assert 'another controller commands the reference interfaces' in one.log


def test_activation_and_cleanup_beside_messages(plugin, package):
    main = ('import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).main(3, (ctypes.c_char_p * 3)('
            'b"", *map(str.encode, sys.argv[2:]))))')
    words = [sys.executable, '-c', main, package / 'plugin.so', URDF, '5']
    assert '0 failures' in run(words, package)


@pytest.mark.skipif(not seeds(0, 1), reason='compiles for 20 s: ROBODYN_THOROUGH=1')
@pytest.mark.parametrize('sanitizer', ['thread', 'address'])
def test_threads_and_memory_of_that(package, sanitizer):
    if not Path(run([GXX, f'-print-file-name=lib{sanitizer[0]}san.so']).strip()).is_absolute():
        pytest.skip(f'needs lib{sanitizer[0]}san of the compiler')
    program = build(package, f'{sanitizer}_program', f'-fsanitize={sanitizer}', '-g1')
    assert '0 failures' in run([program, URDF, '5'], package)


GTEST = """
#include "stand_in.hpp"
inline int failures = 0, tests = 0;
inline std::vector<void (*)()> & all() { static std::vector<void (*)()> made; return made; }
#define TEST(suite, name) \\
  static void suite##_##name(); \\
  static const int has_##suite##_##name = (all().push_back(suite##_##name), 0); \\
  static void suite##_##name()
#define EXPECT_TRUE(x) (failures += (x) ? 0 : (std::puts(#x), 1))
#define EXPECT_FALSE(x) EXPECT_TRUE(!(x))
#define EXPECT_EQ(a, b) EXPECT_TRUE((a) == (b))
#define EXPECT_GT(a, b) EXPECT_TRUE((a) > (b))
namespace pluginlib
{
template <typename Base>
struct ClassLoader
{
  ClassLoader(const char *, const char *) {}
  bool isClassAvailable(const char * name) { return std::string(name) == NAME; }
};
}
"""
MAIN = '\nint main() { for (auto test : all()) { test(); } std::printf("%zu tests\\n", ' \
       'all().size()); return failures; }\n'


def test_the_tests_of_the_package_pass(package):
    declared = ElementTree.parse(package / f'{PACKAGE}_plugin.xml').find('class').get('name')
    includes = package / 'gtest_stand_in'
    for name in ('gtest/gtest.h', 'pluginlib/class_loader.hpp',
                 'controller_interface/chainable_controller_interface.hpp'):
        (includes / name).parent.mkdir(parents=True, exist_ok=True)
        (includes / name).write_text('#pragma once\n#include "gtest.hpp"\n')
    (includes / 'gtest.hpp').write_text(f'#pragma once\n#define NAME "{declared}"\n{GTEST}')
    source = package / 'test' / f'test_{PACKAGE}.cpp'
    (includes / 'main.cpp').write_text(source.read_text() + MAIN)
    object = compiled(includes / 'main.cpp', f'-I{includes}', f'-I{HERE}', f'-I{package}')
    run([GXX, object, f'-L{package}', '-ltwo_link', f'-Wl,-rpath,{package}', '-o',
         includes / 'tests'])
    assert run([includes / 'tests']) == '4 tests\n'

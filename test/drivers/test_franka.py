# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Driver of a Franka: on a library in its place, and by pylibfranka on a simulated robot.

The second needs ``pip install pylibfranka``, and franka-sim, which may be in another environment:
the variable FRANKA_SIM_PYTHON names its Python.
"""

import os
from pathlib import Path
import socket
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from robodyn_ros import Controller, drive, load_urdf, Settings
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.steps import guard
from robodyn_ros.driver import DriverLost, make
from robodyn_ros.driver_loop import with_facts
from robodyn_ros.drivers import franka
from robodyn_ros.drivers.franka import ARMATURE, Franka, MAX_STEP, SILENCE
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.resources import share_path
from thorough import seeds
import yaml

SEVEN = SimpleNamespace(nv=7)
PORT = 1337                 # of the robot; pylibfranka knows no other
STARTS = 60.0               # s, on a busy machine
LONGEST = 30.0              # s for a fault to come
AHEAD = 0.5                 # s that a busy machine has to plan a motion
SIM_PYTHON = os.environ.get('FRANKA_SIM_PYTHON', sys.executable)


class Library:
    """What the driver uses of pylibfranka, with a robot that does as it is told."""

    class ControlException(RuntimeError):  # noqa: N818
        """As of pylibfranka."""

    class NetworkException(RuntimeError):  # noqa: N818
        """As of pylibfranka."""

    __spec__ = 'found'
    RobotMode = SimpleNamespace(Idle=SimpleNamespace(name='Idle'),
                                Move=SimpleNamespace(name='Move'))
    RealtimeConfig = SimpleNamespace(kIgnore=0)

    def __init__(self):
        self.sent, self.raised, self.errors, self.mode = [], [], '', self.RobotMode.Idle
        self.recovered = self.motions = 0

    def Robot(self, address, config):  # noqa: N802
        """Return the robot, which is this."""
        return self

    def Torques(self, tau):  # noqa: N802
        """Return a command."""
        return SimpleNamespace(tau=np.array(tau), motion_finished=False)

    def automatic_error_recovery(self):
        """End a reflex."""
        self.recovered += 1

    def start_torque_control(self):
        """Begin a motion, which is this."""
        self.motions += 1
        return self

    def read_once(self):
        """Return a state."""
        if self.raised:
            raise self.raised.pop(0)
        return SimpleNamespace(q=[0.1] * 7, dq=[0.0] * 7, tau_J=[1.0] * 7,
                               current_errors=self.errors, robot_mode=self.mode,
                               control_command_success_rate=1.0)

    def readOnce(self):  # noqa: N802
        """Return a state, and the time since the last one."""
        return self.read_once(), None

    def writeOnce(self, command):  # noqa: N802
        """Take a command."""
        self.sent.append(command)


@pytest.fixture
def library(monkeypatch):
    library = Library()
    monkeypatch.setitem(sys.modules, 'pylibfranka', library)
    return library


@pytest.fixture
def arm(library):
    arm = Franka(SEVEN, 'robot')
    yield arm
    arm.close()


def test_a_motion_begins_with_the_first_effort_and_ends_with_the_last(arm, library):
    assert arm.read().faults == [] and library.motions == 0
    arm.enable()
    arm.write(np.full(7, 0.5))
    assert library.motions == 1 and library.sent[-1].tau.tolist() == [0.5] * 7
    assert not library.sent[-1].motion_finished
    time.sleep(4 * SILENCE)                 # the control loop has ended
    assert library.sent[-1].motion_finished and library.sent[-1].tau.tolist() == [0.0] * 7
    assert arm.read().faults == []          # as is right
    arm.enable()
    arm.write(np.zeros(7))
    assert library.motions == 2


def test_a_motion_ends_where_states_go_on_without_efforts(arm, library):
    arm.enable()
    arm.write(np.zeros(7))
    end = time.monotonic() + 4 * SILENCE
    while time.monotonic() < end:
        arm.read()
    assert library.sent[-1].motion_finished


def test_efforts_change_as_fast_as_the_robot_takes_them(arm, library):
    """It ends the motion where they jump; they are brought to zero at the end, too."""
    arm.enable()
    for _ in range(3):
        arm.write(np.full(7, 2.5))
    arm.close()
    sent = np.array([command.tau for command in library.sent])
    assert sent[2].tolist() == [2.5] * 7 and sent[-1].tolist() == [0.0] * 7
    assert np.abs(np.diff(sent, axis=0, prepend=0.0)).max() == MAX_STEP
    assert [command.motion_finished for command in library.sent].index(True) == len(sent) - 1


def test_a_reflex_is_a_fault_in_its_words(arm, library):
    arm.enable()
    arm.write(np.zeros(7))
    library.raised.append(library.ControlException('motion aborted by reflex! ["joint_reflex"]'))
    fault, = arm.read().faults
    assert 'joint_reflex' in fault.text and fault.stop
    sent = len(library.sent)
    arm.write(np.ones(7))                   # nobody takes it
    assert len(library.sent) == sent and 'joint_reflex' in arm.read().faults[0].text
    arm.enable()
    assert arm.read().faults == []


def test_efforts_that_nobody_takes_are_a_fault(arm):
    arm.write(np.zeros(7))
    assert 'no efforts came' in arm.read().faults[0].text


@pytest.mark.parametrize(('errors', 'mode', 'words'), [
    ('["joint_velocity_violation"]', 'Reflex', ['joint_velocity_violation', 'mode Reflex']),
    ('', 'UserStopped', ['mode UserStopped']), ('', 'Guiding', ['mode Guiding'])])
def test_a_robot_that_takes_no_efforts_is_a_fault(arm, library, errors, mode, words):
    library.errors, library.mode = errors, SimpleNamespace(name=mode)
    faults = arm.read().faults
    assert all(word in fault.text for word, fault in zip(words, faults, strict=True))


def test_a_reflex_is_ended_on_request_only(library):
    Franka(SEVEN, 'robot').close()
    assert library.recovered == 0
    Franka(SEVEN, 'robot', recover=True).close()
    assert library.recovered == 1


def test_a_lost_connection_is_final(arm, library):
    library.raised.append(library.NetworkException('timeout'))
    for _ in range(2):
        with pytest.raises(DriverLost, match='timeout'):
            arm.read()
    with pytest.raises(DriverLost, match='timeout'):
        arm.write(np.zeros(7))


def test_another_robot_is_refused(library):
    with pytest.raises(ParameterError, match='has 7 joints, and the model 2'):
        make('franka', load_urdf('two_link'), {'address': 'robot'})


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setattr('robodyn_ros.errors.find_spec', lambda name: None)
    with pytest.raises(ParameterError, match='pylibfranka'):
        make('franka', SEVEN, {'address': 'robot'})


@pytest.fixture(scope='module')
def model(tmp_path_factory):
    """Run a simulated robot; return the model of it."""
    pytest.importorskip('pylibfranka', reason='needs pip install pylibfranka')
    spec = subprocess.run([SIM_PYTHON, '-c', 'from importlib.util import find_spec; '
                           "print(find_spec('franka_sim').origin)"], text=True,
                          capture_output=True)
    if spec.returncode:
        pytest.skip(f'needs pip install franka-sim for {SIM_PYTHON}: FRANKA_SIM_PYTHON')
    import mujoco

    urdf = (Path(spec.stdout.strip()).parent / 'models/fr3.urdf').read_text()
    for kind in 'joint', 'link':            # the names that franka-sim looks for
        for i in range(9):
            urdf = urdf.replace(f'"{kind}{i}"', f'"fr3_{kind}{i}"')
    model = load_urdf(urdf)
    scene = mujoco.MjSpec.from_string(model.to_urdf())
    for joint, armature in zip(scene.joints, ARMATURE, strict=True):
        joint.armature = armature
    scene.compile()
    (path := tmp_path_factory.mktemp('franka') / 'fr3.xml').write_text(scene.to_xml())
    server = subprocess.Popen(
        [SIM_PYTHON, Path(__file__).with_name('franka_server.py')],
        env={**os.environ, 'PYTHONPATH': '', 'FR3_MJCF': str(path)},
        stderr=(log := path.with_suffix('.log')).open('w'))
    end = time.monotonic() + STARTS
    while server.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(('127.0.0.1', PORT)) == 0 or time.monotonic() > end:
                break
        time.sleep(0.1)
    assert server.poll() is None, log.read_text()
    yield model
    server.terminate()
    server.wait()


def settings(mode, **more):
    """
    Return the settings of config/franka.yaml, for which a busy machine is no broken robot.

    On one, the simulated robot is slow: its positions change by less than velocity times time.
    """
    text = Path(share_path('config', 'franka.yaml')).read_text()
    given = yaml.safe_load(text)['/**/controller']['ros__parameters']
    names = ('stiffness', 'damping', 'acceleration_kp', 'acceleration_kd', 'effort_rate_limit',
             'acceleration_limit')
    return Settings(mode=mode, rate=1000.0, missed_limit=10**6, late_limit=1.0, state_timeout=0.2,
                    consistency_tolerance=(0.0,),
                    **{name: tuple(given[name]) for name in names}, **more)


def ready(model, mode, **more):
    """Return a connected robot and a controller of it."""
    robot = Franka(model, '127.0.0.1', recover=True)
    return robot, Controller(*with_facts(robot.facts, model, settings(mode, **more)),
                             specialize=False)


def within(seconds, over):
    """Return what is true once ``over()`` is, or the time is over."""
    end = time.monotonic() + seconds
    return lambda: over() or time.monotonic() > end


def moving(controller, mode, over):
    """Move to and fro from another thread, as a user does, until it is over."""
    names, pose = controller.model.joint_names, None
    for turn in range(1000):
        if over.wait(1.0):
            return
        now = time.monotonic()
        if mode == 'cartesian_impedance':
            controller.follow_twist([0.0, 0.0, 0.05 * (-1) ** turn, 0.0, 0.0, 0.0], now + AHEAD)
        elif mode != 'gravity_compensation':
            pose = controller.state['position'].copy() if pose is None else pose
            target = pose + 0.1 * (turn % 2)
            controller.follow(Waypoints(names, np.array([0.8]), target[None], np.zeros((1, 7)),
                                        None), now + AHEAD)


LAWS = {'gravity_compensation': {}, 'joint_impedance': {}, 'computed_torque': {},
        'cartesian_impedance': {'task_frame': 'fr3_link8'}}


@pytest.fixture
def robot_judges(monkeypatch):
    """Leave it to the robot how late efforts may be: it counts cycles, and may be slow itself."""
    monkeypatch.setattr(franka, 'SILENCE', 0.5)


@pytest.mark.alone
@pytest.mark.parametrize('mode', LAWS)
def test_the_robot_moves_without_a_reflex(model, mode, robot_judges):
    """
    The success rate is that of its own report, the mean of its windows of 100 cycles.

    Thorough tests are those of a machine that does nothing else.
    """
    robot, controller = ready(model, mode, **LAWS[mode])
    rates, begin, running, over = [], [], threading.Event(), threading.Event()
    mover = threading.Thread(target=moving, args=(controller, mode, over))

    def ended():
        if controller.phase == guard.RUNNING:
            rates.append(robot.diagnostics()['control command success rate'])
            if not running.is_set():
                running.set()
                mover.start()
                begin.append(time.monotonic())
        return controller.phase == guard.FAULT or len(rates) > 1000 * seeds(3, 60)
    drive(controller, robot, within(seeds(30, 150), ended))
    over.set()
    if running.is_set():
        mover.join()
    taken = time.monotonic() - begin[0]
    print(f'{mode}: {len(rates) / taken:.0f} Hz in {taken:.0f} s, success rate '
          f'{np.mean(rates):.5f}, least {min(rates[200:]):.2f}, load {os.getloadavg()[0]:.1f}')
    assert controller.reason == 'none' and controller.phase == guard.INACTIVE
    assert robot._report == '' and np.mean(rates[200:]) >= seeds(0.99, 0.999)


@pytest.mark.alone
@pytest.mark.parametrize(('what', 'words'), [
    ('jump', 'controller_torque_discontinuity'), ('sleep', 'no efforts came for 0.012 s')])
def test_what_ends_a_motion_is_a_fault_of_ours(model, what, words):
    """The name of a reflex is in the reason."""
    robot, controller = ready(model, 'gravity_compensation')
    done = []

    def over():
        if controller.phase == guard.RUNNING and not done:
            done.append(True)
            if what == 'sleep':
                time.sleep(0.1)
            else:                           # past our own limit of the rate
                robot._tau = np.full(7, 8.0)
                robot.write(robot._tau)
        return controller.phase == guard.FAULT and not controller.driving
    drive(controller, robot, within(LONGEST, over))
    assert 'a drive reports a fault' in controller.reason and words in controller.reason


@pytest.mark.alone
def test_a_fault_of_ours_ends_the_motion_in_order(model, robot_judges):
    robot, controller = ready(model, 'gravity_compensation', fault_hold_time=0.05)
    read, run = robot.read, []

    def unplugged():
        run.append(controller.phase == guard.RUNNING)
        reading = read()
        return None if sum(run) > 200 else reading
    robot.read = unplugged
    drive(controller, robot, within(LONGEST, lambda: (
        controller.phase == guard.FAULT and not controller.driving)))
    assert 'state is stale' in controller.reason
    again = Franka(model, '127.0.0.1')      # without recovery: there is nothing to recover from
    assert again.read().faults == [] and again.diagnostics()['mode'] == 'Idle'
    again.close()

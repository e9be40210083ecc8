# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Arms in LeRobot: what comes of targets, of their end, and of that of the program that sends them.

The control loop is played in lockstep with its answers; one test starts it as a process.
"""

from multiprocessing import Pipe
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from robodyn_ros import load_urdf, Settings, suggest_gains
from robodyn_ros.control.inputs.partner import ALIGNED
from robodyn_ros.control.steps import guard
from robodyn_ros.driver_loop import PartnerLink, with_facts
from robodyn_ros.drivers.arm import load_arm
from robodyn_ros.errors import ParameterError, TrajectoryError
from robodyn_ros.flight_recorder.reading_log import ReadingLog
from robodyn_ros.testing import mit_motors
from robodyn_ros.testing.desk_arm import Bench, POSES, RATE

FOLDER = Path(__file__).parents[2] / 'lerobot_robot_robodyn'
sys.path.insert(0, str(FOLDER))
from robodyn_process import Answers, ArmProcess  # noqa: E402

near = pytest.approx
NAMES = [f'joint{i + 1}' for i in range(6)]
# A busy machine is not to look like a broken arm
PATIENT = {'rate': 200.0, 'state_timeout': 1.0, 'missed_limit': 5000, 'late_limit': 1.0,
           'mode': 'joint_impedance', 'motor_test_effort': 0.0}
DRIVES = {'position': [0.3, 0.5], 'timeout': 1.0}
ARM = {'urdf': 'two_link', 'driver': 'robodyn_ros.simulation.driver:SimulatedArm', 'load': {},
       'link': '', 'settings': PATIENT}
# It asks, and is killed; a process that it has forked goes on
PROGRAM = """
import os, time
from robodyn_process import ArmProcess
arm = ArmProcess(**{options})
assert abs(arm.state(60.0)['pos'][0] - 0.3) < 0.05
try:
    arm.ask({{'joint2': 99.0}})
except Exception as error:
    assert 'position of joint2 would be 99, outside' in str(error)
end = time.monotonic() + 60.0
if not os.fork():
    while time.monotonic() < end and not os.path.exists({file!r}):
        time.sleep(0.05)
    os._exit(0)
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def steps(monkeypatch):
    """Have the plant as exact as springs of this stiffness need."""
    monkeypatch.setattr(mit_motors, 'STEP', 1e-3)


class Asked(Bench):
    """A bench whose controller another process asks."""

    def __init__(self, link=None, **settings):
        super().__init__(load_arm('yam'))
        self.connect(accept_unconfirmed=True)
        model, known = with_facts(self.driver.facts, self.model, Settings(rate=RATE))
        self.control(**{'mode': 'joint_impedance', 'motor_test_effort': 0.0, **settings,
                        **suggest_gains(model, None, known)._asdict()})
        self.asking, theirs = Pipe()
        self.answers = Answers(self.controller, theirs, link and PartnerLink(
            self.controller, link, self.bus.clock), self.bus.clock)
        self.peak = np.zeros(6)

    def cycle(self):
        super().cycle()
        if self.answers.over() and not self.controller.asked and self.phase == guard.RUNNING:
            self.controller.stop()
        self.peak = np.maximum(self.peak, np.abs(self.plant.qd))

    def ask(self, question):
        """Return the answer of the next cycle."""
        self.asking.send(question)
        self.cycle()
        return self.asking.recv()

    def stream(self, position, seconds, rate=30.0):
        """Send targets (6,), functions of the time, at a rate."""
        begin = self.bus.clock()
        while (t := self.bus.clock() - begin) < seconds:
            assert self.ask(dict(zip(NAMES, position(t).tolist()))) is None
            self.run(1.0 / rate - 1.0 / 500.0)


@pytest.fixture
def arm():
    arm = Asked()
    arm.start()
    arm.peak[:] = 0.0
    return arm


def test_a_target_that_jumps_is_approached_within_the_limits(arm):
    """0.5 rad away in one step of the policy, then half-way back."""
    for off in (0.5, 0.25):
        target = POSES[0] + np.array([off, 0.0, 0.0, -off, 0.0, off])
        assert arm.ask(dict(zip(NAMES, target.tolist()))) is None
        arm.run(3.0)
        assert arm.plant.q == near(target, abs=0.02) and arm.phase == guard.RUNNING
    assert (arm.peak <= 1.05 * arm.model.velocity_limit).all() and arm.peak[0] > 0.5


def test_a_policy_that_stalls_leaves_the_arm_at_its_last_target(arm):
    """It moves, and then sends nothing for 1 s."""
    pose = np.array(POSES[0])

    def position(t):
        return pose + 0.2 * (1.0 - np.cos(2.0 * t)) * np.array([1.0, 0.5, 0.0, 1.0, -1.0, 1.0])
    arm.stream(position, 1.0)
    assert np.abs(arm.plant.qd).max() > 0.2     # it is stopped in motion
    last, passed = [*arm.answers.stream._targets.values()], 0.0
    for _ in range(50):
        arm.run(0.02)
        passed = max(passed, *np.abs(arm.plant.q - last))
    assert arm.phase == guard.RUNNING and arm.run(0.1) < 0.02
    assert arm.plant.q == near(last, abs=0.02) and passed < 0.1, passed


def test_targets_that_are_none_are_refused(arm):
    """The error names the joint; the target before stays in force, and the arm at rest."""
    before = arm.controller.trajectory.serial
    for target, why in (
            ({'joint2': np.nan, 'joint3': 0.1}, 'the target position of joint2 is nan'),
            ({'joint2': -np.inf}, 'the target position of joint2 is -inf'),
            ({'joint7': 0.1}, "no joint 'joint7': the joints are joint1, "),
            ({}, 'no joint is named')):
        answer = arm.ask(target)
        assert isinstance(answer, TrajectoryError) and why in str(answer)
        assert arm.run(0.05) < 0.02 and arm.phase == guard.RUNNING
        assert arm.controller.trajectory.serial == before


def test_a_program_that_dies_leaves_an_arm_that_stops(arm):
    """In the middle of a motion; nobody has said goodbye. How it comes to rest: test_mit_can."""
    arm.ask({'joint1': POSES[0][0] + 1.0})
    arm.run(0.3)
    assert arm.plant.qd[0] > 0.2
    arm.asking.close()
    arm.run(0.05)
    assert arm.phase == guard.STOPPING
    arm.run(0.5)
    assert arm.run(0.5) < 0.5 and arm.controller.reason == 'none'


def test_the_state_is_that_of_the_arm(arm):
    state = arm.ask('state')
    assert (state['phase'], state['reason']) == ('RUNNING', 'none')
    assert state['pos'] == near(arm.plant.q, abs=2e-3) and state['vel'] == near(0.0, abs=0.05)
    assert state['torque'] == near(arm.controller.tau) and state['external_torque'].shape == (6,)
    arm.plant.motors[3].temperature = 200.0
    arm.until(lambda: arm.phase == guard.FAULT, 0.5)
    assert 'joint4: rotor too hot' in arm.ask('state')['reason']
    assert 'the controller is FAULT' in str(arm.ask({'joint1': 0.0}))


def test_a_leader_and_its_follower_feel_each_other():
    """What moves one moves the other; when one is gone the other is held."""
    name = f'test{os.getpid()}'
    arms = [Asked(name, mode='leader_follower', coupling_role=role)
            for role in ('leader', 'follower')]
    with pytest.raises(OSError, match='in use'):
        PartnerLink(arms[0].controller, name)
    for arm in arms:
        arm.controller.arm()

    def run(seconds):
        for _ in range(round(seconds * RATE)):
            for arm in arms:
                arm.cycle()
    run(1.5)
    assert [arm.controller.coupling_state().status for arm in arms] == [ALIGNED] * 2
    for moved, other in (arms, arms[::-1]):
        before = other.plant.q[0]
        moved.plant.qd[0] += 1.0
        run(0.5)
        assert other.plant.q[0] - before > 0.02
    _, follower = arms
    follower.until(lambda: follower.phase == guard.FAULT, 0.5)
    assert follower.controller.reason_code == 'PARTNER_LOST' and follower.run(0.5) < 0.1


@pytest.mark.slow
def test_the_loop_is_a_process(tmp_path):
    """It refuses what it cannot drive, and outlives no program, even one that has forked."""
    with pytest.raises(ParameterError, match='nowhere'):
        ArmProcess(**{**ARM, 'driver': 'nowhere:Arm'}, driver_options={})
    file = tmp_path / 'run.mcap'
    ended = subprocess.run([sys.executable, '-c', PROGRAM.format(options={
        **ARM, 'driver_options': {**DRIVES, 'record': str(file)}}, file=str(file))],
        cwd=FOLDER, timeout=180.0)
    assert ended.returncode == -signal.SIGKILL
    end = time.monotonic() + 60.0
    while not file.exists() or not file.stat().st_size:
        assert time.monotonic() < end
        time.sleep(0.05)
    rows = ReadingLog(load_urdf('two_link'), str(file))._rows
    assert np.nanmax(np.abs(rows[:, -1])) > 1.0
    # At rest, and then zeros, which no reading shows if the machine stalls then
    assert rows[-1, -1].tolist() == [0.0, 0.0] or abs(rows[-1, 1]).max() < 1e-3


@pytest.mark.slow
def test_lerobot_drives_robot_and_leader(tmp_path):
    """As its command line makes them; needs LeRobot, which no other test does."""
    draccus = pytest.importorskip('draccus', reason='LeRobot is not installed')
    pytest.importorskip('lerobot', reason='LeRobot is not installed')
    from lerobot.robots import make_robot_from_config
    from lerobot.scripts.lerobot_teleoperate import TeleoperateConfig
    from lerobot.teleoperators import make_teleoperator_from_config

    import lerobot_robot_robodyn  # noqa: F401  (it registers itself)

    config = draccus.parse(TeleoperateConfig, args=[
        f'--{part}.{option}' for part, kind, mode in (
            ('robot', 'follower', 'joint_impedance'), ('teleop', 'leader', 'gravity_compensation'))
        for option in (f'type=robodyn_{kind}', 'urdf=two_link', f'driver={ARM["driver"]}',
                       f'calibration_dir={tmp_path}', f'driver_options={DRIVES}',
                       f'settings={PATIENT | {"mode": mode}}')])
    leader, robot = make_teleoperator_from_config(config.teleop), make_robot_from_config(
        config.robot)
    with leader, robot:
        observed = robot.get_observation()
        assert observed.keys() == robot.observation_features.keys()
        assert observed['joint2.pos'] == near(0.5, abs=0.05)
        assert robot.send_action(leader.get_action()).keys() == robot.action_features.keys()
        with pytest.raises(TrajectoryError, match='of joint1 is nan'):
            robot.send_action({'joint1.pos': np.nan, 'joint2.pos': 0.5})
    assert not robot.is_connected and not leader.is_connected

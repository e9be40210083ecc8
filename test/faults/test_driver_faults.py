# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of a driver in the process of the controller: as those of topics."""

import os
from pathlib import Path
import re
import time

from driven_arm import driven_arm, fault_is_over
from faults.rows import row
from motors_arm import desktop_arm, MotorsArm
from nodes.bring_up import CONTROLLER
import numpy as np
from processes import node
import pytest
from robodyn_ros import Controller, drive, driver, Dynamics, load_urdf, Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.control.steps.velocity_estimator import slower
from robodyn_ros.driver import DriverReader, Fault, note_age, Reading
from robodyn_ros.drivers.mit_can import MitCan
from robodyn_ros.errors import ParameterError
from robodyn_ros.testing.mit_motors import LockstepBus, MotorBus
from spring_arm import PlayedDrives, SpringArm

near = pytest.approx
MOST = 500              # cycles in which a fault has to come, 2.5 s
STARTS = 120.0          # s, an interpreter of its own on a busy machine


@pytest.fixture
def driven(start, tmp_path, monkeypatch):
    """Start a controller with the driver: the process, and what tells the driver how to be."""
    file = tmp_path / 'behaviour'
    file.write_text('')
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        [str(Path(__file__).parents[1]), *filter(None, [os.environ.get('PYTHONPATH')])]))
    controller = start(
        node('controller'), *CONTROLLER, '-p', 'urdf:=two_link', '-p', 'rate:=200.0', '-p',
        'driver:=faults.faulty_driver:FaultyArm', '-p', f'driver_options:=[file={file}]', '-p',
        'trigger:=state', '-p', 'stiffness:=[50.0, 10.0]', '-p', 'damping:=[10.0, 2.0]', '-p',
        'acceleration_kp:=[100.0]', '-p', 'acceleration_kd:=[20.0]', '-p',
        'state_timeout:=0.5', '-p', 'fault_hold_time:=0.05', '-p', 'autostart:=true', '-p',
        'arming_timeout:=20.0', '-p',
        # On a busy machine, brakes that engage without efforts look like a frozen reading
        'consistency_tolerance:=[0.0]')
    controller.wait_for_line('RUNNING', deadline=STARTS)
    return controller, file.write_text


@row('a driver raises, stands still or returns unusable states', 'STALE_STATE',
     where=DriverReader._read, find="self._report('read', error)", instead='self._over.set()')
def test_driver_that_gives_no_states(driven, remote):
    """Fault efforts, that end with zero; the reason is logged; it is read again after that."""
    controller, behave = driven
    gravity = Dynamics(load_urdf('two_link')).gravity([0.3, 0.5])
    remote.until(lambda: remote.command_count > 20 and remote.state_count > 20, 'what others see',
                 deadline=STARTS)
    assert np.array(remote.newest_command()) == near(gravity, abs=0.5)
    stale = 'state is stale (joint1)'
    for wrong, sentence, told in (
            ('raise', stale, r'read\(\) of the driver raised OSError: the cable is out'),
            ('length', stale, r'read\(\) .* raised ArgumentError: position has shape \(3,\)'),
            ('nan', stale, 'joint states are refused: a number is NaN or infinite'),
            ('hot', 'a drive reports a fault (joint2: rotor too hot)', 'FAULT DRIVE_FAULT')):
        remote.forget()
        behave(wrong)
        remote.until(lambda: f'FAULT: {sentence}' in remote.diagnostics.get('message', ''),  # noqa: B023
                     f'a fault: {wrong}', deadline=STARTS)
        assert remote.diagnostics['driver: temperature of joint1 [°C]'] == '41'
        remote.until(lambda: remote.diagnostics['driver: efforts'] == '[0.0, 0.0]', 'the last')
        controller.wait_for_line(told)
        behave('')
        remote.until(lambda: remote.trigger('/controller/reset')[0], 'armed again')
        remote.until(lambda: remote.diagnostics.get('phase') == 'RUNNING', 'running')
    assert controller.interrupt() == 0


@pytest.mark.parametrize(('read', 'why'), [
    (lambda: Reading(np.zeros(3), np.zeros(3)), r'ValueError: arrays of shapes \(3,\)'),
    (lambda: 'no reading', 'TypeError'), (lambda: time.sleep(0.1), '')])
def test_what_is_no_reading_is_no_state(read, why):
    arm, controller = driven_arm()
    arm.read, told, end = read, [], time.monotonic() + 0.2
    drive(controller, arm, lambda: time.monotonic() > end, told.append)
    assert re.search(rf'read\(\) of the driver raised {why}', told[0]) if why else not told
    assert np.isnan(controller.state['received']).all()


@row('a drive reports a fault', 'DRIVE_FAULT', where=DriverReader._read,
     find='(f for f in faults if f.stop)', instead='()')
def test_a_drive_reports_a_fault():
    """It is one at once, in the drive's words; the state stays valid, and the arm is held."""
    arm, controller = driven_arm()
    read, told, phases = arm.read, [], []

    def hot():
        running = controller.phase == guard.RUNNING
        return Reading(*read()[:3], faults=[Fault('joint1', 'warm', stop=False),
                                            *[Fault('joint2', 'rotor too hot')] * running])

    def over():
        phases.append((controller.phase, controller.memory['without_state'][0]))
        return fault_is_over(controller) or phases.count((guard.RUNNING, 0)) > MOST
    arm.read = hot
    drive(controller, arm, over, told.append)
    assert controller.reason == 'a drive reports a fault (joint2: rotor too hot)'
    assert (guard.FAULT, 0) in phases and told[0] == 'the drives report joint1: warm'


@row('a driver does not take efforts', 'DRIVE_FAULT', where=DriverReader._attempt,
     find='_ - _ >= _', instead='False')
def test_efforts_that_are_not_taken_for_some_time_are_a_fault():
    """A few failures are counted; no state is lost, and the loop goes on."""
    arm, controller = driven_arm()
    told, since, armed, running = [], [], [], []

    def over():
        if controller.phase == guard.RUNNING and not since:
            since.append(time.monotonic())
            arm.broken = 'write'
        if fault_is_over(controller) and not armed:
            armed.append(controller.reason)
            arm.broken = ''
            controller.arm()            # refused until the failures are some time ago
        running.append(controller.phase == guard.RUNNING)
        return armed and running[-1] or running.count(True) > MOST
    drive(controller, arm, over, told.append)
    assert time.monotonic() - since[0] >= controller.settings.state_timeout
    assert armed == ['a drive reports a fault (write() of the driver raised OSError: bus off)']
    assert told[0] == 'write() of the driver raised OSError: bus off'
    assert controller.phase == guard.INACTIVE and arm.efforts[-1].tolist() == [0.0, 0.0]


@row('a drive is silent, and its last position repeated', 'STALE_STATE', where=note_age,
     find="_['received'] = _", instead='pass')
def test_a_silent_drive_is_a_stale_state_of_its_joint():
    """Only the age tells."""
    arm, controller = driven_arm()
    read, since = arm.read, []

    def silent():
        if controller.phase == guard.RUNNING:
            since.append(time.monotonic())
        ages = [0.0, time.monotonic() - since[0] if since else 0.001]
        return Reading(*read()[:3], age=ages)
    arm.read = silent
    end = time.monotonic() + 6.0
    drive(controller, arm, lambda: time.monotonic() > end or (
        fault_is_over(controller)))
    assert controller.reason == 'state is stale (joint2)'


HELD = {'two_link': [0.3, 0.5], 'panda': [0.3, 0.9, 0.2, -1.2, 0.5, 1.5, 0.7, 0.02]}


@row('drives hold the arm in their own spring', where=DriverReader._send, find='self._fade(_)',
     instead='self._fade(0.0)')
@pytest.mark.parametrize('name', HELD)
def test_g_takes_over_from_the_spring_of_drives(name):
    """Nothing sags, although the efforts begin without g(q)."""
    arm = PlayedDrives(name, HELD[name])
    shares = []
    arm.driver.fade = lambda share: (shares.append(share), SpringArm.fade(arm.driver, share))
    arm.reader = DriverReader(arm.driver, arm.controller, 1, arm.told.append, arm.told.append)
    assert arm.arm() < 0.01
    assert shares[0] > 0.99 and shares[-1] == 0.0 and (np.diff(shares) <= 0.0).all()
    assert np.abs(arm.position - HELD[name]).max() < 0.005 and arm.told == []


@row('an arm without brakes loses its state', 'STALE_STATE', where=DriverReader._send,
     find='self._rest(_)', instead='False')
def test_drives_damp_an_arm_without_state():
    """At once, and until it rests; without that it falls at more than 2 rad/s."""
    arm = PlayedDrives('two_link', HELD['two_link'], damping=20.0)
    arm.arm()
    arm.valid = False
    assert arm.until(lambda: not (arm.controller.driving or arm.reader.resting), 7.0) < 1.0
    assert 'state is stale' in arm.controller.reason and arm.told == []
    assert np.abs(arm.velocity).max() < 0.02


@row('the measured velocity is coarse', 'ARM_MOVES', where=slower,
     find='abs(_speed) < _threshold or _', instead='abs(_speed) < _threshold')
def test_noise_of_the_velocity_is_no_motion():
    """Three steps of 22 mrad/s do not prevent arming; motion with the same noise does."""
    controller = Controller(load_urdf('two_link'), Settings(rate=500.0), specialize=False)
    noise = 0.022 * np.random.default_rng(0).integers(-3, 4, (1000, 2))
    for speed, rate in (0.0, 1.0), (0.1, 0.1), (0.4, 40.0):
        controller.begin()
        controller.state[...] = np.nan
        controller.arm()
        for k in range(1, 1000):
            now, angle = 10.0 + k / 500.0, rate * k / 500.0
            controller.state['position'] = 0.38e-3 * np.round(
                (0.3 + speed / rate * np.sin(angle)) / 0.38e-3)
            controller.state['velocity'] = speed * np.cos(angle) + noise[k]
            controller.state['received'], controller.state['sequence'] = now, k
            controller.step(now)
        assert controller.arming == (speed > 0.0), (speed, rate)
        assert not controller.arming or 'the arm is moving' in controller.arming_refusal


@row('a driver is lost', where=DriverReader._attempt, find='raise\n', instead='return\n')
def test_driver_that_is_lost(driven):
    """The control loop ends, zeros are tried, and the node deactivates itself."""
    controller, behave = driven
    behave('lost')
    controller.wait_for_line(r'write\(\) of the driver raised DriverLost: the adapter is gone')
    controller.wait_for_line('the control thread failed; zero was its last message')
    assert controller.interrupt() == 0


@pytest.mark.parametrize(('name', 'options', 'why'), [
    ('nowhere.at_all:Arm', [], r"'nowhere.at_all:Arm' is refused: .* \(ModuleNotFoundError"),
    ('builtins:Arm', [], 'builtins has no Arm'),
    ('builtins:str', [], 'it lacks read, write or close'),
    ('builtins', [], 'it names no class'),
    ('robodyn_ros.simulation.driver:SimulatedArm', ['rates=3'], 'unexpected keyword argument'),
    ('robodyn_ros.simulation.driver:SimulatedArm', ['rate 3'], 'write name=value')])
def test_drivers_that_cannot_be_used(name, options, why):
    with pytest.raises(ParameterError, match=why):
        driver.make(name, load_urdf('two_link'), driver.given_options(options))


def test_a_driver_is_refused_on_simulation_time(start):
    controller = start(node('controller'), *CONTROLLER, '-p', 'urdf:=two_link', '-p',
                       'use_sim_time:=true', '-p', 'driver:=a:B', '-p', 'autostart:=true')
    controller.wait_for_line('a driver is read in real time', deadline=STARTS)
    assert controller.interrupt() == 0


@row('an arm whose file nobody has seen on hardware', 'VELOCITY_ABOVE_LIMIT',
     where=MitCan.__init__, find='inf if _ else UNCONFIRMED_SPEED', instead='inf')
def test_an_unconfirmed_arm_is_slow_until_its_user_accepts_it():
    """It is said at the start; what is faster than 0.3 rad/s is a fault."""
    arm = MotorsArm(desktop_arm(unconfirmed=True), mode='gravity_compensation')
    arm.start()
    assert 'desktop is unconfirmed, nobody has seen its file on hardware' in arm.told[0]
    assert arm.run(0.2) < 0.3 and arm.phase == guard.RUNNING
    arm.plant.qd[0] = 0.6
    arm.until(lambda: arm.phase == guard.FAULT, wait=0.1)
    assert arm.controller.reason_code == 'VELOCITY_ABOVE_LIMIT'
    limits = [MitCan(arm.arm, bus=LockstepBus(MotorBus(arm.arm)), accept_unconfirmed=accepted
                     ).facts.velocity_limit for accepted in (False, True)]
    assert limits == [[0.3] * 6, [6.0] * 6]

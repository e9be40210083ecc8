# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The driver of motors on a CAN bus: what it refuses, what it states, what it sends."""

from dataclasses import replace
import threading
import time

from hypothesis import given, strategies
from motors_arm import DAMIAO, desktop_arm, MotorsArm, ROBSTRIDE
import numpy as np
from processes import until
import pytest
from robodyn_ros.control.steps import guard
from robodyn_ros.driver import make
from robodyn_ros.drivers.arm import arm_of, load_arm
from robodyn_ros.drivers.frames import open_bus
from robodyn_ros.drivers.mit_can import MitCan
from robodyn_ros.errors import ParameterError, UnknownNameError
from robodyn_ros.testing import mit_motors
from robodyn_ros.testing.desk_arm import Bench, desk_arm, POSES
from robodyn_ros.testing.mit_motors import (
    LockstepBus, MotorBus, SerialBridge, serve, Served, socket_pair)
import yaml

near = pytest.approx
POSE = POSES[0]


def connected(types=DAMIAO, change=lambda plant: None, arm=None):
    """Return a driver of motors that are changed before, and their bus."""
    arm = arm or desktop_arm(types)
    plant = MotorBus(desktop_arm(types), desk_arm(), POSE)
    change(plant)
    bus = LockstepBus(plant)
    return MitCan(arm, desk_arm(), bus=bus, clock=bus.clock, sleep=bus.sleep), plant


def pass_time(plant, seconds):
    """Let time pass without the driver."""
    LockstepBus(plant).sleep(seconds)


@pytest.mark.parametrize('types', [DAMIAO, ROBSTRIDE])
def test_the_pose_of_the_joints_and_what_the_motors_state(types):
    """Signs and offsets are those of the arm, and efforts are unknown while motors are off."""
    driver, plant = connected(types)
    reading = driver.read()
    assert reading.position == near(POSE, abs=4e-4)
    assert np.isnan(reading.effort).all() and list(reading.faults) == []
    facts, damiao = driver.facts, types is DAMIAO
    assert facts.effort_limit == near([24.3] * 3 + [8.1] * 3)
    assert (facts.brakes, facts.compensates_gravity, facts.armature) == (False, False, None)
    assert facts.max_rate == near(604 if damiao else 513, abs=10)
    codec = plant.motors[0].motor.codec
    assert {m.registers[codec.TIMEOUT] for m in plant.motors} == {1000}
    driver.enable()
    driver.fade(0.0)
    for _ in range(2):          # a motor answers with the torque before the command
        driver.write(np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3]))
        reading = driver.read()
    assert reading.effort == near([1.0, 2.0, 3.0, 0.1, 0.2, 0.3], abs=0.01)
    assert [m.effort > 0 for m in plant.motors] == [True, False, True, True, False, True]
    driver.close()
    pass_time(plant, 0.01)
    assert not any(m.on for m in plant.motors)


def registers(**values):
    """Return a change of the registers of motor 5."""
    return lambda plant: plant.motors[4].registers.update(
        {int(name[1:]): value for name, value in values.items()})


class Stubborn(dict):
    """Registers that keep their values."""

    def __setitem__(self, key, value):
        pass


def stubborn(register, value):
    """Return a change: a register of motor 5 that cannot be written."""
    def change(plant):
        motor = plant.motors[4]
        motor.registers = Stubborn(motor.registers | {register: value})
    return change


def on(plant):
    plant.motors[2].on = True


def torque_limit(value):
    return lambda plant: plant.motors[2].registers.update({0x700B: value})


@pytest.mark.parametrize(('types', 'change', 'why'), [
    (DAMIAO, registers(_23=28.0), r'register 23 \(TMAX\) of joint5 \(DM4310, id 0x05\) is 28 and '
     'not 10: correct the type'),
    (DAMIAO, registers(_22=45.0), r'register 22 \(VMAX\) .* is 45 and not 30'),
    (DAMIAO, registers(_21=3.14), r'register 21 \(PMAX\) .* is 3.14 and not 12.5'),
    (DAMIAO, registers(_7=0x16), r'register 7 \(MST_ID\) .* is 0x16 and not 0x15'),
    (DAMIAO, stubborn(9, 0.0), 'register 0x9 of joint5 .* is 0 and not 1000, which was written'),
    (DAMIAO, stubborn(10, 2.0), 'register 0xa of joint5 .* is 2 and not 1, which was written'),
    (DAMIAO, lambda plant: setattr(plant.motors[4], 'silent', True),
     r'joint5 \(DM4310, id 0x05\) does not answer: check its power'),
    (DAMIAO, on, r'joint3 .* is on already: another program may control it'),
    (ROBSTRIDE, on, r'joint3 .* is on already'),
    (ROBSTRIDE, torque_limit(61.0), r'register 0x700b \(limit_torque\) of joint3 .* is 61, not '
     r'from its limit, 24.3, to its range, 36 N·m'),
    (ROBSTRIDE, torque_limit(9.0), 'is 9, not from its limit'),
    (ROBSTRIDE, torque_limit(np.nan), 'is nan, not from its limit'),
    (ROBSTRIDE, stubborn(0x7028, 0.0), 'register 0x7028 of joint5 .* is 0 and not 1000')])
def test_motors_that_are_not_as_the_arm_says(types, change, why):
    """Nothing is switched on or off before."""
    plants = []
    with pytest.raises(ParameterError, match=why):
        connected(types, lambda plant: (plants.append(plant), change(plant)))
    assert [m.on for m in plants[0].motors] == [change is on and i == 2 for i in range(6)]


def test_mode_and_timeout_are_set_where_they_differ():
    driver, plant = connected(change=registers(_10=2.0, _9=0.0))
    assert plant.motors[4].registers[10] == 1.0 and plant.motors[4].registers[9] == 1000
    with pytest.raises(ParameterError, match=r'the motors stop after 0.05 s .* at least 80 Hz'):
        driver.period = 0.02
        driver.enable()
    assert not any(m.on for m in plant.motors)


def test_motors_are_put_into_the_order_of_the_model():
    arm = desktop_arm()
    driver, _ = connected(arm=replace(arm, motors=arm.motors[::-1]))
    assert driver.read().position == near(POSE, abs=4e-4)
    with pytest.raises(ParameterError, match='and the URDF moves joint1'):
        connected(arm=replace(arm, motors=arm.motors[:5]))


def test_frames_of_anybody_move_no_joint():
    """Whatever comes over the bus, unless it is a whole answer of the motor."""
    driver, plant = connected()
    before = driver.read().position.tolist()
    identifiers = strategies.one_of(
        strategies.integers(0, 0x7FF), strategies.integers(0x80000000, 0x9FFFFFFF),
        strategies.sampled_from([0x11, 0x13, 3, 0x7FF]))

    @given(strategies.lists(strategies.tuples(identifiers, strategies.binary(max_size=12))))
    def move_none(frames):
        plant.arrived += [(identifier, data) for identifier, data in frames
                          if len(data) != 8 or not 0x11 <= identifier <= 0x16]
        assert driver.read().position.tolist() == before
    move_none()


@pytest.mark.parametrize('effort', [np.nan, np.inf, -np.inf])
def test_efforts_that_are_no_numbers_are_not_sent(effort):
    driver, plant = connected()
    driver.enable()
    before = [m.command for m in plant.motors]
    with pytest.raises(ValueError, match='not finite'):
        driver.write(np.array([0.0, 0.0, 0.0, 0.0, 0.0, effort]))
    pass_time(plant, 0.01)
    assert [m.command for m in plant.motors] == before


def test_efforts_beyond_the_range_are_its_end_and_counted():
    """They never wrap around, whatever the sign."""
    driver, plant = connected()
    driver.enable()
    driver.fade(0.0)
    driver.write(np.array([1e3, 1e3, -1e3, 9.9, 10.1, -1e9]))
    pass_time(plant, 0.01)
    taken = [m.command.effort for m in plant.motors]
    assert taken == near([28.0, -28.0, -28.0, 9.9, -10.0, -10.0], abs=3e-3)
    assert driver.diagnostics()['efforts beyond the range'] == 5


@pytest.mark.slow
def test_it_holds_the_arm_and_brings_it_to_rest_and_holds_it_again(monkeypatch):
    """In lockstep, with quantised states: a cycle is complete, and the arm does not sag."""
    monkeypatch.setattr(mit_motors, 'STEP', 1e-3)
    arm = MotorsArm()
    assert arm.start() < 0.02
    arm.incomplete = 0
    assert arm.run(0.5) < 0.05 and arm.incomplete == 0
    arm.controller.stop()
    assert arm.until(lambda: arm.phase == guard.INACTIVE, 60.0) < 0.5
    arm.until(lambda: not arm.reader.resting)
    assert arm.run(2.0) < 0.2           # what hangs swings out, without the motors' damping
    assert not any(m.on for m in arm.plant.motors) and arm.controller.reason == 'none'
    assert arm.start() < 0.02 and arm.told == []


@pytest.mark.slow
def test_an_arm_that_nobody_has_seen_passes_the_motor_test_slowly():
    """A velocity limit of 0.3 rad/s does not make a few steps of the encoder a motion."""
    arm = load_arm('yam')
    bench = Bench(arm, MotorBus(arm, desk_arm(), POSES[0], friction=0.2))
    bench.connect(accept_unconfirmed=False)
    bench.carry(POSES[0])
    bench.control(rate=400.0)
    assert bench.controller.settings.tested_effort == 0.1
    assert bench.start() < 0.3 and bench.controller.reason == 'none'


def test_a_motor_with_an_error_is_not_switched_on():
    """Only a person may do so; the loss of communication after efforts have ended is none."""
    driver, plant = connected()
    driver.enable()
    pass_time(plant, 0.2)         # no commands: they stop
    for _ in range(3):
        driver.read()
    assert {m.status for m in plant.motors} == {0xD} and list(driver.read().faults) == []
    driver.enable()
    assert all(m.on for m in plant.motors)
    pass_time(plant, 0.2)
    plant.motors[3].status = 0xA
    for _ in range(3):
        reading = driver.read()
    assert [tuple(fault) for fault in reading.faults] == [('joint4', 'over-current', True)]
    with pytest.raises(ParameterError, match=r'joint4 .* reports over-current: remove the cause'):
        driver.enable()
    assert not any(m.on for m in plant.motors)


def test_a_motor_whose_power_failed_stops_by_itself_again():
    """It has forgotten its timeout and its mode; the fault was that it is off."""
    driver, plant = connected()
    driver.enable()
    plant.motors[2].on = False
    plant.motors[2].registers.update({9: 0.0, 10: 2.0})
    driver.write(np.zeros(6))
    assert [tuple(fault) for fault in driver.read().faults] == [('joint3', 'switched off', True)]
    driver.enable()
    driver.fade(0.0)
    for _ in range(2):
        driver.write(np.ones(6))
        reading = driver.read()
    assert reading.effort == near(np.ones(6), abs=0.01)
    pass_time(plant, 0.2)
    assert not any(m.on for m in plant.motors)


def test_motors_that_another_program_has_switched_on_meanwhile_are_left_to_it():
    driver, plant = connected()
    plant.motors[2].on, plant.motors[2].commanded = True, np.inf
    driver.read()
    with pytest.raises(ParameterError, match='joint3 .* is on already: another program may'):
        driver.enable()
    assert [m.on for m in plant.motors] == [i == 2 for i in range(6)]


def test_motors_that_are_switched_off_on_purpose_are_no_fault():
    driver, plant = connected()
    driver.enable()
    driver.spring(POSE, np.full(6, 20.0), np.ones(6))
    assert driver.read().faults == [] and all(m.on for m in plant.motors)
    driver.spring(POSE, np.full(6, 20.0), np.ones(6))
    driver.switch_off()
    assert driver.read().faults == [] and not any(m.on for m in plant.motors)


@pytest.mark.slow
def test_the_damping_of_the_drives_brings_the_arm_to_rest(monkeypatch):
    """Without efforts and spring; then it says so."""
    monkeypatch.setattr(mit_motors, 'STEP', 1e-3)
    driver, plant = connected()
    plant.supported = False
    driver.enable()
    driver.fade(0.0)
    fastest, cycles = 0.0, 0
    while not driver.rest(driver.period):
        driver.write(np.zeros(6))
        driver.read()
        fastest, cycles = max(fastest, np.abs(plant.qd).max()), cycles + 1
        assert cycles < 10_000
    assert 0.5 < fastest < 4.0 and np.abs(plant.qd).max() < 0.05


def test_temperatures_and_losses_are_diagnostics():
    driver, plant = connected()
    plant.motors[1].temperature = 71.4
    plant.spoil = lambda frame: [] if frame[0] == 0x16 else [frame, (0x321, b'')]
    for _ in range(4):
        driver.read()
    told = driver.diagnostics()
    assert told['joint2 MOSFET [°C]'] == 71 and told['joint2 rotor [°C]'] == 71
    assert told['joint6 lost answers'] >= 2 and told['foreign frames'] >= 10


GIVEN = {'bus': {'channel': 'can0'}, 'motors': [
    {'joint': 'a', 'id': 1, 'type': 'DM4310'}, {'joint': 'b', 'id': 2, 'type': 'DM4340'}]}


def changed(**change):
    first = GIVEN['motors'][0] | change.pop('motor', {})
    return GIVEN | {'motors': [first, GIVEN['motors'][1]]} | change


@pytest.mark.parametrize(('content', 'error', 'why'), [
    (changed(motor={'type': 'DM431'}), UnknownNameError, 'did you mean .DM4310'),
    (changed(motor={'sign': 2}), ParameterError, 'sign = 2 of motor a is refused: it is 1 or -1'),
    (changed(motor={'offset': float('nan')}), ParameterError, 'offset = nan'),
    (changed(motor={'id': 2}), ParameterError, 'have the same joint, id or reply'),
    (changed(motor={'reply': 2}), ParameterError, 'have the same joint, id or reply'),
    (changed(motor={'reply': 1}), ParameterError, 'have the same joint, id or reply'),
    (changed(motor={'joint': 'b'}), ParameterError, 'have the same joint, id or reply'),
    (changed(motor={'ranges': [12.5, 30.0]}), ParameterError, 'three positive numbers'),
    (changed(motor={'limits': 3}), UnknownNameError, 'did you mean .limit'),
    (changed(timeout=0.0), ParameterError, 'timeout = 0.0 of test is refused'),
    (changed(timeouts=0.1), UnknownNameError, 'did you mean .timeout'),
    (changed(driver='franka'), ParameterError, 'it is mit_can'),
    (changed(gripper={'id': 1, 'type': 'DM4310'}), ParameterError, 'have the same'),
    ({'bus': {}, 'motors': []}, ParameterError, 'has no motors'),
    (changed(bus='can0'), ParameterError, 'has no motors or no bus'),
    ([], ParameterError, 'is not a mapping')])
def test_descriptions_that_are_refused(content, error, why):
    with pytest.raises(error, match=why):
        arm_of('test', content)


def test_an_arm_is_loaded_from_a_file(tmp_path):
    file = tmp_path / 'mine.yaml'
    file.write_text('bus: {channel: can0}\nmotors: [{joint: a, id: 1, type: DM4310}]\n')
    arm = load_arm(file)
    assert (arm.name, arm.motors[0].reply, arm.brakes, arm.timeout) == ('mine', 0x11, False, 0.05)
    with pytest.raises(UnknownNameError, match='no arm'):
        load_arm('my_arm_of_arms')
    with pytest.raises(ParameterError, match='cannot be read'):
        load_arm(tmp_path / 'none.yaml')


def test_the_file_of_an_arm_is_a_driver(tmp_path):
    """Over a socket, in real time; the motors of another process are so, too."""
    file, path, over = tmp_path / 'desktop.yaml', tmp_path / 'bus', []
    arm = desktop_arm()
    file.write_text(yaml.safe_dump({
        'bus': {'interface': 'socket', 'channel': str(path)}, 'motors': [
            {name: getattr(motor, name) for name in ('joint', 'id', 'reply', 'type', 'sign',
                                                     'offset')} for motor in arm.motors]}))
    thread = threading.Thread(target=serve, args=(
        MotorBus(arm, desk_arm(), POSE), path, lambda: over))
    thread.start()
    try:
        while not path.exists():
            time.sleep(0.01)
        connected = make(str(file), desk_arm(), {})
        assert connected.read().position == near(POSE, abs=4e-4)
        connected.close()
    finally:
        over.append(True)
        thread.join()


def buses(kind):
    """Return the ends of a bus: of the host, and of the motors."""
    if kind == 'socket':
        return socket_pair()
    if kind == 'damiao_serial':
        pytest.importorskip('serial', reason='pyserial is not installed')
        bridge = SerialBridge()
        return open_bus({'interface': kind, 'channel': bridge.port}), bridge
    pytest.importorskip('can', reason='python-can is not installed')
    return [open_bus({'interface': kind, 'channel': 'motors'}) for _ in range(2)]


@pytest.mark.parametrize(('kind', 'types'), [
    ('socket', ROBSTRIDE), ('damiao_serial', DAMIAO), ('virtual', ROBSTRIDE)])
def test_motors_are_switched_on_over_each_bus(kind, types):
    """In real time, on a machine that may be busy; extended identifiers, too."""
    ours, theirs = buses(kind)
    plant = MotorBus(desktop_arm(types, timeout=1.0), desk_arm(), POSE)
    served = Served(plant, theirs)
    try:
        driver = MitCan(plant.arm, desk_arm(), bus=ours)
        driver.motors.timeout = 1.0
        driver.enable()
        assert all(answer.enabled for answer in driver.motors.answers)
        assert driver.read().position == near(POSE, abs=2e-3)
        driver.close()
        until(lambda: not any(motor.on for motor in plant.motors))
    finally:
        served.close()


def test_motors_take_what_a_host_has_sent_before_it_closed():
    """Also where it had not read their answers, and they find out by sending."""
    ours, theirs = socket_pair()
    plant = MotorBus(desktop_arm(DAMIAO), desk_arm(), POSE)
    for motor in plant.motors:
        motor.on = True
        ours.send(*motor.motor.codec.disable())
    theirs.send(0x15, bytes(8))
    ours.close()
    served = Served(plant, theirs)
    served.thread.join()
    served.close()
    assert not any(motor.on for motor in plant.motors)

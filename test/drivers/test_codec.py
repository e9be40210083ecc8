# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Frames of motors: rounding, ranges, and what is no state; and against another implementation."""

from math import inf, nan, pi
import time

from hypothesis import assume, given, settings, strategies
from motors_arm import desktop_arm
import numpy as np
import pytest
from robodyn_ros.drivers.codec import (
    Answer, codec_of, Command, Damiao, decoded, encoded, key_of, Ranges, RobStride)
from robodyn_ros.testing.mit_motors import MotorBus, SerialBridge, Served, SimulatedMotor

near = pytest.approx
RANDOM = np.random.default_rng(0)
MOTORS = {kind: desktop_arm([kind]).motors[0] for kind in ('DM4310', 'DM8009', 'RS00', 'RS03')}


def half_steps(ranges, bits):
    """Return half of the steps of a command."""
    steps = [2 * ranges.position / 65535, *(
        size / ((1 << bits) - 1) for size in (2 * ranges.velocity, ranges.stiffness,
                                              ranges.damping, 2 * ranges.effort))]
    return 0.5 * np.array(steps)


def share(low=-1.0):
    return strategies.floats(low, 1.0)


@pytest.mark.parametrize('kind', MOTORS)
@given(shares=strategies.tuples(share(), share(), share(0.0), share(0.0), share()))
def test_a_motor_gets_each_number_to_half_a_step(kind, shares):
    motor = SimulatedMotor.of(MOTORS[kind])
    ranges, bits = motor.ranges, 12 if kind.startswith('DM') else 16
    sizes = np.array([ranges.position, ranges.velocity, ranges.stiffness, ranges.damping,
                      ranges.effort])
    command = Command(*(sizes * shares))
    assume(min(shares) < 0.99)      # the next test
    motor.receive(*motor.motor.codec.command(ranges, command), 0.0, RANDOM)
    assert (np.abs(np.subtract(motor.command, command))
            <= half_steps(ranges, bits) * (1.0 + 1e-9)).all()


@pytest.mark.parametrize('below', np.linspace(0.0, 0.01, 21))
def test_no_command_is_one_that_sets_the_zero(below):
    """With all numbers at the ends of their ranges it would be; the velocity is a step lower."""
    motor = SimulatedMotor.of(MOTORS['DM4310'])
    frame = motor.motor.codec.command(motor.ranges, Command(12.5, 30.0, 500.0, 5.0, 10.0 - below))
    assert frame[1][:7] != b'\xff' * 7
    motor.receive(*frame, 0.0, RANDOM)
    assert motor.command == near((12.5, 30.0, 500.0, 5.0, 10.0), abs=0.015)
    assert not motor.on and motor.offset == MOTORS['DM4310'].offset


@pytest.mark.parametrize('kind', MOTORS)
@given(p=share(), v=share(), t=share())
def test_the_state_of_a_motor_arrives_to_half_a_step(kind, p, v, t):
    motor = SimulatedMotor.of(MOTORS[kind])
    r, codec, bits = motor.ranges, motor.motor.codec, 12 if kind.startswith('DM') else 16
    motor.position, motor.velocity, motor.effort = p * r.position, v * r.velocity, t * r.effort
    motor.on = True
    identifier, data = motor._state(RANDOM)
    answer = codec.answer(r, identifier, data)
    half = half_steps(r, bits)[[0, 1, 4]] * (1.0 + 1e-9)
    assert (np.abs(np.subtract(answer[:3], (motor.position, motor.velocity, motor.effort)))
            <= half).all()
    assert answer.enabled and not codec.words(answer.status) and key_of(identifier) in codec.keys


@pytest.mark.parametrize(('bits', 'limit'), [(12, 10.0), (12, 54.0), (16, 17.0)])
def test_numbers_beyond_a_range_are_its_ends_and_zero_is_half_a_step_off(bits, limit):
    """They never wrap around."""
    step = 2.0 * limit / ((1 << bits) - 1)
    for value in (limit, 1.0001 * limit, 2.0 * limit, 1e9):
        assert decoded(encoded(value, limit, bits), limit, bits) == limit
        assert decoded(encoded(-value, limit, bits), limit, bits) == -limit
    assert abs(decoded(encoded(0.0, limit, bits), limit, bits)) == near(0.5 * step)
    for value in (nan, inf, -inf):
        with pytest.raises((ValueError, OverflowError)):
            encoded(value, limit, bits)


@given(value=strategies.floats(allow_nan=False, allow_infinity=False, width=32),
       number=strategies.integers(0, 2**32 - 1))
def test_registers(value, number):
    for kind, registers in (('DM4310', ((21, value), (9, number))),
                            ('RS00', ((0x700B, value), (0x7028, number)))):
        motor = SimulatedMotor.of(MOTORS[kind])
        codec = motor.motor.codec
        for register, wanted in registers:
            motor.receive(*codec.write(register, wanted), 0.0, RANDOM)
            frame = motor.receive(*codec.read(register), 0.0, RANDOM)
            assert codec.register(register, *frame) == wanted
            assert codec.register(register + 1, *frame) is None


@given(register=strategies.integers(0, 255), what=strategies.sampled_from([0x33, 0x55, 0xAA]),
       value=strategies.binary(min_size=4, max_size=4))
def test_the_value_of_a_register_is_no_state(register, what, value):
    """To another host that asks a motor; as a state it would be a jump to the end of the range."""
    codec, ranges = Damiao(3, 0x13), Ranges(12.5, 30.0, 10.0)
    assert codec.answer(ranges, 0x13, bytes([3, 0, what, register]) + value) is None


@given(data=strategies.binary(min_size=8, max_size=8))
def test_answers_of_motors_with_another_number_are_none(data):
    answer = Damiao(3, 0x13).answer(Ranges(12.5, 30.0, 10.0), 0x13, data)
    assert (answer is None) or data[0] & 0x0F == 3
    assert answer is None or (abs(answer.position) <= 12.5 and isinstance(answer, Answer))


@pytest.mark.parametrize(('codec', 'status', 'words'), [
    (Damiao, 1, ''), (Damiao, 0, ''), (Damiao, 0xC, 'rotor too hot'), (Damiao, 0xD,
                                                                       'communication lost'),
    (Damiao, 0x3, 'unknown error 0x3'), (RobStride, 0, ''),
    (RobStride, 0b100101, 'under-voltage, motor too hot, uncalibrated')])
def test_errors_have_names(codec, status, words):
    assert codec.words(status) == words


def test_types_of_both_families():
    assert codec_of('DM4310') is Damiao and codec_of('RS03') is RobStride
    assert codec_of('AK80') is None
    assert MOTORS['RS03'].codec.GAINS['RS03'] == (5000.0, 100.0)
    assert SimulatedMotor.of(MOTORS['RS03']).ranges == (4 * pi, 20.0, 60.0, 5000.0, 100.0)


# Against motorbridge, a stranger's implementation in Rust, over the serial bridge of Damiao

@pytest.fixture
def stranger():
    """Yield motorbridge's motor with id 3, and the end of the motors."""
    motorbridge = pytest.importorskip('motorbridge', reason='motorbridge is not installed')
    bridge = SerialBridge()
    controller = motorbridge.Controller.from_dm_serial(bridge.port, 921600)
    yield controller.add_damiao_motor(3, 0x13, '4310'), bridge
    controller.close()


def sent(bridge):
    """Return the next frame that it has sent, None where none comes."""
    end, frame = time.monotonic() + 10.0, None
    while frame is None and time.monotonic() < end:
        frame = bridge.receive(0.1)
    return frame


MOTOR, RANGES = desktop_arm(['DM4310'] * 3).motors[2], Ranges(12.5, 30.0, 10.0)


def test_commands_differ_from_those_of_a_stranger_by_rounding(stranger):
    """It truncates: its codes are ours, or one lower."""
    motor, bridge = stranger

    @settings(max_examples=200)
    @given(p=strategies.floats(-13.0, 13.0, width=32), v=strategies.floats(-31.0, 31.0, width=32),
           kp=strategies.floats(0.0, 500.0, width=32), kd=strategies.floats(0.0, 5.0, width=32),
           t=strategies.floats(-11.0, 11.0, width=32))
    def compare(p, v, kp, kd, t):
        assume(min(p / 12.5, v / 30.0, kp / 500.0, kd / 5.0) < 0.99)    # theirs may set the zero
        motor.send_mit(p, v, kp, kd, t)
        identifier, theirs = sent(bridge)
        ours = MOTOR.codec.command(RANGES, Command(p, v, kp, kd, t))
        assert ours[0] == identifier == 3
        for low, bits in ((48, 16), (36, 12), (24, 12), (12, 12), (0, 12)):
            a, b = (int.from_bytes(data, 'big') >> low & ((1 << bits) - 1)
                    for data in (ours[1], theirs))
            assert a - b in (0, 1)
    compare()


def test_other_frames_are_those_of_a_stranger(stranger):
    motor, bridge = stranger
    codec = MOTOR.codec
    for call, frame in ((motor.enable, codec.enable()), (motor.disable, codec.disable()),
                        (motor.clear_error, codec.clear()),
                        (motor.request_feedback, codec.refresh(0.0))):
        call()
        assert sent(bridge) == frame


def test_a_stranger_reads_our_motors_and_we_its_words(stranger):
    """It writes and reads registers of simulated motors, switches them on, and has their state."""
    motor, bridge = stranger
    plant = MotorBus(desktop_arm(['DM4310'] * 3))
    served, simulated = Served(plant, bridge), plant.motors[2]
    try:
        simulated.position, simulated.velocity = 1.234, -5.678
        motor.write_register_u32(9, 1234)
        assert motor.get_register_u32(9) == simulated.registers[9] == 1234
        assert motor.get_register_f32(22) == 30.0
        motor.enable()
        motor.send_mit(0.0, 0.0, 0.0, 0.0, 2.5)
        end = time.monotonic() + 10.0
        while time.monotonic() < end and not (
                (state := motor.get_state()) and abs(state.torq - 2.5) < 0.01):
            motor.send_mit(0.0, 0.0, 0.0, 0.0, 2.5)
            time.sleep(0.01)
    finally:
        served.close()
    assert (state.can_id, state.status_code) == (3, 1) and simulated.on
    ours = Damiao(3, 0x13).answer(RANGES, *simulated._state(RANDOM))
    assert (state.pos, state.vel, state.torq) == near(ours[:3], abs=2e-5)
    assert (state.t_mos, state.t_rotor) == (ours.mosfet, ours.rotor)

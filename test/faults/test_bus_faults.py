# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of motors on a CAN bus, and of the bus, in lockstep with simulated motors."""

from errno import ENOBUFS, ENODEV

from faults.rows import row
from motors_arm import MotorsArm
import numpy as np
import pytest
from robodyn_ros.control.steps import guard
from robodyn_ros.driver import DriverLost
from robodyn_ros.drivers import frames
from robodyn_ros.drivers.codec import Damiao
from robodyn_ros.drivers.mit_can import MitCan
from robodyn_ros.drivers.motors import Motors
from robodyn_ros.testing.mit_motors import socket_pair

STALE = 0.055       # s: state_timeout, and some cycles
AT_ONCE = 0.009     # s: two cycles
SLOW = 0.05         # rad/s, of an arm that is held


@pytest.fixture
def arm():
    """Return an arm that runs."""
    arm = MotorsArm(rate=250.0)
    arm.start()
    return arm


def fault(arm, within):
    """Run until a fault; return its words and the fastest velocity until then [rad/s]."""
    fastest = arm.until(lambda: arm.phase == guard.FAULT, within)
    return arm.controller.reason, fastest


def spoil(arm, reply, change):
    """Have the answers of a motor arrive as a change returns them."""
    arm.plant.spoil = lambda frame: change(*frame) if frame[0] == reply else [frame]


@row('a motor does not answer', 'STALE_STATE', where=Motors._note,
     find='self.measured[i], self._asked[i] = asked, None',
     instead='self.measured[:] = asked\nself._asked[i] = None')
def test_a_motor_that_does_not_answer(arm):
    """Its joint becomes stale, although its last position goes on; single losses are counted."""
    generator = np.random.default_rng(1)
    arm.plant.spoil = lambda frame: [frame] if generator.random() > 0.1 else []
    assert arm.run(0.5) < SLOW and arm.phase == guard.RUNNING
    assert all(arm.driver.motors.lost[f'joint{i + 1}'] > 3 for i in range(6))
    spoil(arm, 0x15, lambda *frame: [])
    reason, fastest = fault(arm, STALE)
    assert reason == 'state is stale (joint5)' and fastest < SLOW


@row('answers of a motor have another length', 'STALE_STATE', where=Motors._note,
     find='len(data) != 8', instead='len(data) < 6')
def test_answers_of_another_length(arm):
    """They are counted, and are no state."""
    spoil(arm, 0x13, lambda identifier, data: [(identifier, data[:7])])
    reason, fastest = fault(arm, STALE)
    assert reason == 'state is stale (joint3)' and fastest < SLOW
    assert arm.driver.diagnostics()['wrong length'] > 10


@row('a motor answers under the id of another', 'STALE_STATE', where=Damiao.answer,
     find='_ & 0x0F != _', instead='False')
def test_answers_of_another_motor(arm):
    """A wrong `reply`, or two motors with one: no position of another joint is taken."""
    spoil(arm, 0x14, lambda identifier, data: [(identifier, bytes([data[0] & 0xF0 | 5])
                                                + data[1:])])
    reason, fastest = fault(arm, STALE)
    assert reason == 'state is stale (joint4)' and fastest < SLOW


@row('another host commands a motor', 'DRIVE_FAULT', where=Motors._note_stranger,
     find='motor.codec.from_host(_, _)', instead='False')
def test_another_host_on_the_bus(arm):
    """Its first frame is a fault; one that only reads does no harm, nor do others' frames."""
    for frame in ((0x7FF, bytes([3, 0, 0x33, 10, 0, 0, 0, 0])), (0x123, bytes(3))):
        arm.plant.send(*frame)                      # a motor answers
        arm.plant.send(*frame, of_motor=True)       # we receive it
        assert arm.run(0.02) < SLOW and arm.phase == guard.RUNNING
    assert arm.driver.motors.strange['foreign frames'] == 2
    arm.plant.send(0x103, bytes(8), of_motor=True)  # a command of another mode
    reason, fastest = fault(arm, AT_ONCE)
    assert reason == 'a drive reports a fault (joint3: another host commands it)'
    assert fastest < SLOW


@row('a motor stops by itself', 'DRIVE_FAULT', where=MitCan._faults,
     find='self._driven and not answer.enabled', instead='False')
def test_a_motor_that_is_off_while_it_is_commanded(arm):
    """By another's command, or by its timeout; with its words at once, before its joint moves."""
    arm.plant.motors[3].on = False
    reason, fastest = fault(arm, AT_ONCE)
    assert reason == 'a drive reports a fault (joint4: switched off)' and fastest < 0.3


def test_errors_of_motors_have_their_words(arm):
    """An overheated rotor; the others hold the arm."""
    arm.plant.motors[5].temperature = 200.0
    reason, _ = fault(arm, AT_ONCE)
    assert reason == 'a drive reports a fault (joint6: rotor too hot)'
    assert arm.controller.memory['without_state'][0] == 0
    arm.run(0.3)
    assert np.abs(arm.plant.qd[:5]).max() < 0.2


def test_a_stall_of_the_host_is_told_by_the_motors(arm):
    """The motors have stopped meanwhile; nothing switches them on again."""
    arm.bus.sleep(0.1)
    reason, _ = fault(arm, 0.01)
    assert 'stale' in reason or 'communication lost' in reason
    arm.run(0.1)
    assert not any(motor.on for motor in arm.plant.motors)


@row('a position at the end of its range', 'DRIVE_FAULT', where=MitCan._faults,
     find='answer.at_end', instead='False')
def test_a_position_beyond_its_range(arm):
    """The motor may be anywhere beyond."""
    arm.driver.motors.answers[2] = arm.driver.motors.answers[2]._replace(at_end=True)
    spoil(arm, 0x13, lambda identifier, data: [])
    reason, fastest = fault(arm, AT_ONCE)
    assert reason == 'a drive reports a fault (joint3: its position is at the end of its range)'
    assert fastest < SLOW


@row('the controller is off the bus', 'DRIVE_FAULT', where=MitCan._faults, find='self._bus.off',
     instead='False')
def test_bus_off(arm):
    """At once, in words; the motors stop by themselves."""
    arm.bus.off, arm.bus.send = True, lambda *frame: None
    reason, fastest = fault(arm, AT_ONCE)
    assert reason == 'a drive reports a fault (the CAN controller is off the bus)'
    assert fastest < SLOW


@row('the buffer of the adapter is full', where=MitCan._command,
     find='why = error', instead='raise')
def test_a_full_buffer_costs_the_commands_that_it_does_not_take(arm):
    """The next joints get theirs, and the loop goes on."""
    send, generator = arm.bus.send, np.random.default_rng(2)

    def full(identifier, data):
        if identifier == 2 or generator.random() < 0.02:
            raise OSError(ENOBUFS, 'No buffer space available')
        send(identifier, data)
    arm.bus.send = full
    arm.cycle()
    commands = [motor.commanded for motor in arm.plant.motors]
    arm.run(0.004)
    later = [motor.commanded > before for motor, before in zip(arm.plant.motors, commands)]
    assert later[2:] == [True] * 4 and not later[1]
    assert arm.reader.failed_writes
    assert 'no command to joint2' in arm.told[0] and 'No buffer space' in arm.told[0]


@row('the adapter is unplugged', where=frames._raise, find='_ in GONE', instead='False')
def test_an_adapter_that_is_gone(arm):
    """`DriverLost` ends the loop; an interface that is down is an error that may pass."""
    class Gone:
        def __init__(self, end):
            self.fileno, self.setblocking = end.fileno, end.setblocking

        def send(self, data):
            raise OSError(ENODEV, 'No such device')
    ours, _ = socket_pair()
    with pytest.raises(DriverLost, match=r'the CAN adapter is gone \(send: No such device\)'):
        frames.SocketBus(Gone(ours._socket)).send(1, bytes(8))
    arm.bus.send = frames.SocketBus(Gone(ours._socket)).send
    with pytest.raises(DriverLost):
        arm.run(0.1)

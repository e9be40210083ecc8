# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Changes of the payload: one test a row of the table in docs/safety.md."""

from math import inf, nan

from faults.rows import row
from geometry_msgs.msg import InertiaStamped
import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python
from rclpy.serialization import serialize_message
from robodyn_ros import Dynamics
from robodyn_ros.control.steps import payload_transition
from robodyn_ros.model.payload import with_payload
from robodyn_ros.nodes.topics.payload_subscriber import PayloadSubscriber
from test_reference_faults import motion

near = pytest.approx
NAMES = ('payload_frame', 'payload_mass', 'payload_com', 'payload_inertia')
COM = [0.02, 0.0, 0.03]


def payload(mass=1.0, com=COM, frame='tool0', inertia=(0.001, 0.0, 0.0, 0.002, 0.0, 0.002)):
    """Return a payload as a message."""
    message = InertiaStamped()
    message.header.frame_id, message.inertia.m = frame, mass
    message.inertia.com.x, message.inertia.com.y, message.inertia.com.z = com
    for name, value in zip(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), inertia):
        setattr(message.inertia, name, value)
    return message


def loaded(arm, mass=1.0):
    """Return the dynamics of the arm with a payload."""
    return Dynamics(with_payload(arm.model, 'tool0', mass, COM, np.diag([0.001, 0.002, 0.002])))


def publisher(arm):
    """Return a publisher of payloads that the controller hears."""
    sender = arm.remote.node.create_publisher(InertiaStamped, '/controller/payload', 1)
    arm.remote.until(sender.get_subscription_count, 'the controller')
    return sender


def in_force(arm):
    """Return the payload that the parameters tell."""
    answer = arm.remote.call(GetParameters, '/controller/get_parameters',
                             GetParameters.Request(names=NAMES))
    return [parameter_value_to_python(value) for value in answer.values]


def told(arm, sender, message, word):
    """Send a payload, and wait for the log line with this word."""
    said = len(arm.controller.text)
    sender.publish(message)
    arm.remote.until(lambda: 'payload' in arm.controller.text[said:], word)
    assert word in arm.controller.text[said:], arm.controller.text[said:]


@row('payload change', where=payload_transition.changes_payload,
     find='1.0 if _ <= _ else _ / _', instead='1.0')
def test_payload_change(running):
    """
    Efforts go linearly from one to the other, the motion goes on, and the parameters tell.

    Takes 5 s: 700 ticks, each a message and its answer, and a motion to be planned.
    """
    arm = running(mode='joint_impedance', payload_transition=0.1,
                  consistency_tolerance=[0.0], following_error=[0.0])
    sender, empty = publisher(arm), arm.gravity
    full = arm.effort = loaded(arm).gravity(arm.position)
    arm.ticks(3)
    told(arm, sender, payload(), 'payload: 1 kg at tool0')
    share = np.arange(1, 101)[:, None] / 100
    assert arm.ticks(100) == near(empty + share * (full - empty), abs=1e-9)
    assert arm.tick() == near(full)
    assert in_force(arm) == ['tool0', 1.0, near(COM), near([0.001, 0, 0, 0.002, 0, 0.002])]

    # In motion, which goes on: each step is that of the motion and a hundredth of the change
    arm.remote.trajectories().publish(motion(arm, (0.35, 0.45)))
    arm.controller.wait_for_line('following a trajectory')
    before = arm.ticks(300)
    told(arm, sender, payload(0.9), 'payload: 0.9 kg')
    efforts = np.array([before[-1], *arm.ticks(300)])
    most = abs(np.diff(before, axis=0)).max(0) + 0.02 * abs(full - empty)
    assert (abs(np.diff(efforts, axis=0)) < 1.5 * most).all()
    assert abs(efforts[-1] - loaded(arm, 0.9).gravity(arm.position)).max() > 1.0


@row('payload change without a transition', where=payload_transition.changes_payload,
     find='shift_efforts(_, _, -1.0)', instead='shift_efforts(m, v, 0.0)')
def test_payload_change_without_a_transition(running):
    """Efforts change at the rate limit, not at once, and there and back."""
    step = np.array([0.2, 0.1])
    arm = running(payload_transition=0.0, effort_rate_limit=(1000.0 * step).tolist())
    sender, before = publisher(arm), arm.gravity
    for mass in (1.0, 0.0):
        goal = arm.effort = loaded(arm, mass).gravity(arm.position) if mass else arm.gravity
        arm.ticks(3)
        told(arm, sender, payload(mass), f'payload: {mass:g} kg')
        steps = np.outer(np.arange(1, 81), step)
        assert arm.ticks(80) == near(before + np.clip(goal - before, -steps, steps), abs=1e-9)
        before = goal


@row('bad payload', where=PayloadSubscriber._set, find='result.successful', instead='True')
def test_bad_payload(running):
    """Not finite, no body, no such link, against the measurement: refused, and nothing changes."""
    arm = running()
    sender, before = publisher(arm), in_force(arm)
    for message, why in (
            *((payload(mass), 'payload_mass') for mass in (nan, inf, -1.0)),
            (payload(com=[nan, 0.0, 0.0]), 'payload_com'), (payload(frame='hand'), "'hand'"),
            (payload(frame=''), 'frame_id is empty'),
            (payload(frame='base_link'), 'does not move'),
            (payload(inertia=(0.1, 0.0, 0.0, 0.1, 0.0, 0.5)), 'principal moments'),
            (payload(inertia=(nan, 0.0, 0.0, 0.1, 0.0, 0.5)), 'payload_inertia'),
            (payload(inertia=(2.0, 0.0, 0.0, 2.0, 0.0, 2.0)), 'wider than'),
            (payload(3.0), 'the gravity torque of joint1 would be'),
            (payload(900.0), 'the gravity torque of joint1 would be')):
        told(arm, sender, message, why)
        assert 'payload refused' in arm.controller.text
        assert arm.ticks(3) == near(np.tile(arm.gravity, (3, 1)))
    sender.publish(serialize_message(payload()).replace(b'tool0', b'\xff\xfeol0'))    # no UTF-8
    assert arm.ticks(200) == near(np.tile(arm.gravity, (200, 1)))
    told(arm, sender, payload(3.0), 'would be')         # and it still listens
    assert in_force(arm) == before and arm.phase == 'RUNNING'


@row('two publishers of the payload', where=PayloadSubscriber._refusal,
     find='several(_, _, _)', instead="''")
def test_two_publishers_of_the_payload(running):
    """Refused and warned about, whoever sends; one is enough again when the other has gone."""
    arm = running()
    first, second = publisher(arm), publisher(arm)
    arm.effort = loaded(arm).gravity(arm.position)
    arm.ticks(3)
    for sender in (first, second):
        told(arm, sender, payload(), '2 publishers of payload')
        assert arm.ticks(5) == near(np.tile(arm.gravity, (5, 1)))
    arm.remote.node.destroy_publisher(second)
    arm.remote.until(lambda: arm.remote.node.count_publishers('/controller/payload') == 1, 'one')
    arm.remote.listen(0.5)
    told(arm, first, payload(), 'payload: 1 kg')


@row('payload during a fault', where=payload_transition.changes_payload,
     find='driven == IN_FAULT', instead='False')
def test_payload_during_a_fault(running):
    """On its way it stands still, a new one is refused, and the fault ends as ever."""
    arm = running(payload_transition=0.2, fault_action='hold')
    sender, empty = publisher(arm), arm.gravity
    full = arm.effort = loaded(arm).gravity(arm.position)
    arm.ticks(3)
    told(arm, sender, payload(), 'payload: 1 kg')
    half = arm.ticks(100)[-1]
    assert half == near(0.5 * (empty + full))
    arm.tick(velocity=[])
    arm.faulted('NO_VELOCITY')
    held = arm.ticks(20)
    assert held == near(np.tile(held[0], (20, 1)))
    assert held[0] == near(empty + 0.505 * (full - empty))
    told(arm, sender, payload(0.5), 'the controller is in FAULT')
    assert arm.remote.set('controller', payload_mass=0.5) != ''
    assert arm.ticks(5) == near(np.tile(held[0], (5, 1)))

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Changes of the payload: one test a row of the table in docs/safety.md."""


from faults.arm import running
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.control.controller.settings_in_force import SettingsInForce
from robodyn_ros.control.steps import payload_transition
from robodyn_ros.model.payload import with_payload

near = pytest.approx
COM, INERTIA = [0.02, 0.0, 0.03], [0.001, 0.0, 0.0, 0.002, 0.0, 0.002]


def payload(mass=1.0, com=COM, frame='tool0', inertia=INERTIA):
    """Return the settings of a payload."""
    return {'payload_frame': frame, 'payload_mass': mass, 'payload_com': com,
            'payload_inertia': inertia}


def loaded(arm, mass=1.0):
    """Return the dynamics of the arm with a payload."""
    return Dynamics(with_payload(arm.model, 'tool0', mass, COM, np.diag([0.001, 0.002, 0.002])))


@row('payload change', where=payload_transition.changes_payload,
     find='1.0 if _ <= _ else _ / _', instead='1.0')
def test_payload_change():
    """Efforts go linearly from one to the other, and the motion goes on."""
    arm = running(mode='joint_impedance', payload_transition=0.1,
                  consistency_tolerance=[0.0], following_error=[0.0])
    empty = arm.gravity
    full = arm.effort = loaded(arm).gravity(arm.position)
    arm.ticks(3)
    assert arm.set(**payload()) == ''
    share = np.arange(1, 101)[:, None] / 100
    assert arm.ticks(100) == near(empty + share * (full - empty), abs=1e-9)
    assert arm.tick() == near(full)

    # In motion, which goes on: each step is that of the motion and a hundredth of the change
    arm.follow((0.35, 0.45))
    before = arm.ticks(300)
    assert arm.set(**payload(0.9)) == ''
    efforts = np.array([before[-1], *arm.ticks(300)])
    most = abs(np.diff(before, axis=0)).max(0) + 0.02 * abs(full - empty)
    assert (abs(np.diff(efforts, axis=0)) < 1.5 * most).all()
    assert abs(efforts[-1] - loaded(arm, 0.9).gravity(arm.position)).max() > 1.0


@row('payload change without a transition', where=payload_transition.changes_payload,
     find='shift_efforts(_, _, -1.0)', instead='shift_efforts(m, v, 0.0)')
def test_payload_change_without_a_transition():
    """Efforts change at the rate limit, not at once, and there and back."""
    step = np.array([0.2, 0.1])
    arm = running(payload_transition=0.0, effort_rate_limit=(1000.0 * step).tolist())
    before = arm.gravity
    for mass in (1.0, 0.0):
        goal = arm.effort = loaded(arm, mass).gravity(arm.position) if mass else arm.gravity
        arm.ticks(3)
        assert arm.set(**payload(mass)) == ''
        steps = np.outer(np.arange(1, 81), step)
        assert arm.ticks(80) == near(before + np.clip(goal - before, -steps, steps), abs=1e-9)
        before = goal


@row('payload during a fault', where=payload_transition.changes_payload,
     find='driven == IN_FAULT', instead='False')
def test_payload_during_a_fault():
    """On its way it stands still, a new one is refused, and the fault ends as ever."""
    arm = running(payload_transition=0.2, fault_action='hold')
    empty = arm.gravity
    full = arm.effort = loaded(arm).gravity(arm.position)
    arm.ticks(3)
    assert arm.set(**payload()) == ''
    half = arm.ticks(100)[-1]
    assert half == near(0.5 * (empty + full))
    arm.tick(velocity=[])
    arm.faulted('NO_VELOCITY')
    held = arm.ticks(20)
    assert held == near(np.tile(held[0], (20, 1)))
    assert held[0] == near(empty + 0.505 * (full - empty))
    assert 'gravity torque of joint1' in arm.set(**payload(0.5))
    assert arm.ticks(5) == near(np.tile(held[0], (5, 1)))


@row('payload or friction changed against the measurement', where=SettingsInForce.prepare,
     find='check_gravity(_, _, _, _)', instead='None')
def test_payload_changed_against_the_measurement():
    """Refused with the reason, and nothing moves; what the sensors feel is taken, at its rate."""
    arm = running(payload_transition=0.0)
    g = arm.gravity
    heavy = {'payload_frame': 'tool0', 'payload_mass': 3.0}
    for mass in (3.0, 20.0):
        said = arm.set(**{**heavy, 'payload_mass': mass})
        assert 'the gravity torque of joint1 would be' in said and 'are measured' in said
        assert arm.ticks(5) == near(np.tile(g, (5, 1)))
    said = arm.set(friction_offset=[10.0], friction_compensation=[0.5])
    assert 'friction_offset of joint1 is 10' in said
    felt = Dynamics(with_payload(arm.model, 'tool0', 3.0, np.zeros(3))).gravity(arm.position)
    arm.effort = felt
    assert arm.tick() == near(g)
    assert arm.set(**heavy) == ''
    efforts = np.array([g, *arm.ticks(80)])
    assert efforts[-1] == near(felt) and (felt - g > 5.0).all()
    assert (np.diff(efforts, axis=0) <= np.array([0.8, 0.3]) + 1e-9).all()
    assert 'joint1 would be' in arm.set(payload_mass=0.0)

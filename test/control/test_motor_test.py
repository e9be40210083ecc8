# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motors that are tested while arming: wrong ones are named, healthy ones pass, all slowly."""

from control.rig import Rig, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.model.robot import with_payload

HANGING, STRETCHED = (-np.pi / 2.0, 0.0), (0.3, 0.5)    # gravity needs no effort, and much of it
OUTSIDE = (HANGING[0], TWO_LINK.position_upper[1] + 0.03)
LONGEST = 8.0           # s, of two joints in three rounds
SLIP = 0.01             # rad/s below which friction holds
HEALTHY = np.eye(2)


class SlowRig(Rig):
    """The loop and its samples at 250 Hz."""

    period, substeps = 0.004, 16
    settings = {'rate': 250.0, 'stiffness': (), 'damping': (), 'state_timeout': 0.1}


class Motors:
    """
    Dynamics of an arm whose motors are not as the controller believes.

    :param made: (2, 2), efforts that the motors make of those that are sent; NaN: brakes hold it.
    :param dry: (2,) friction [N·m].
    """

    def __init__(self, model, made, dry):
        self._arm, self._made, self._dry = Dynamics(model), np.array(made, float), np.array(dry)
        self.gravity = self._arm.gravity

    def forward_dynamics(self, q, qd, tau):
        if np.isnan(self._made).any():
            return np.zeros(2)
        return self._arm.forward_dynamics(
            q, qd, self._made @ tau - self._dry * np.tanh(qd / SLIP))


def armed(q=HANGING, made=HEALTHY, payload=0.0, dry=(0.0, 0.0), noise=0.0, kind=Rig, **settings):
    """Arm with the test; return the rig and its greatest velocity, of the limit."""
    rig = kind(TWO_LINK, q, motor_test_effort=0.1, mode='gravity_compensation', **settings)
    rig.dynamics = Motors(with_payload(TWO_LINK, 'tool0', payload, (0.0, 0.0, 0.0)) if payload
                          else TWO_LINK, made, dry)
    random, sense, fastest = np.random.default_rng(0), rig.sense, 0.0

    def noisy():
        sense()
        rig.state['velocity'] += noise * random.standard_normal(2)
        rig.state['effort'] = np.nan

    rig.sense = noisy
    rig.controller.arm()
    while rig.time < LONGEST and rig.phase in ('INACTIVE', 'RISING'):
        rig.tick()
        fastest = max(fastest, (abs(rig.qd) / TWO_LINK.velocity_limit).max())
    return rig, fastest


@pytest.mark.parametrize('case', [
    {}, {'q': STRETCHED}, {'payload': 0.5}, {'q': STRETCHED, 'payload': 0.5, 'noise': 0.01},
    {'dry': (2.0, 1.0)}, {'q': STRETCHED, 'noise': 0.01}, {'q': OUTSIDE}])
def test_healthy_motors_pass(case):
    """With an unknown payload of 30 %, noise, friction, from outside a limit: slowly, to rest."""
    rig, fastest = armed(**case)
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert fastest < 0.1 and rig.time < 3.0
    assert abs(rig.qd).max() < 0.02         # or a floating arm would drift on
    assert abs(rig.q - case.get('q', HANGING)).max() < 0.1


AGAINST, OTHER = 'WRONG_DIRECTION', 'OTHER_JOINT_MOVES'
REVERSED = np.diag([-1.0, 1.0]), np.diag([1.0, -1.0])
SWAPPED, DEAD = np.eye(2)[::-1], (np.diag([0.0, 1.0]), np.diag([1.0, 0.0]))
SLOW = {'kind': SlowRig, **SlowRig.settings}


@pytest.mark.parametrize('q, made, code, joint, most, how', [
    *((q, REVERSED[1], AGAINST, 'joint2', 0.4, {}) for q in (HANGING, STRETCHED)),
    (STRETCHED, SWAPPED, OTHER, 'joint1 moves joint2', 0.4, {}),
    # One sample with its pattern is enough in a slow loop, for the next one would come late
    *((q, REVERSED[0], AGAINST, 'joint1', 0.6, SLOW) for q in (HANGING, STRETCHED)),
    # Hanging, it swings for ever; stretched, it falls: against its effort
    (HANGING, DEAD[1], AGAINST, 'joint2', 2.0, {}),
    (STRETCHED, DEAD[0], AGAINST, 'joint1', 0.4, {})])
def test_wrong_motors_are_named(q, made, code, joint, most, how):
    """Whether gravity shows it or only the test, long before the limits."""
    rig, fastest = armed(q, made, **how)
    assert rig.phase == 'FAULT' and rig.controller.reason_code == code
    assert f'({joint}' in rig.controller.reason and fastest < most


def test_a_load_that_sinks_is_no_wrong_motor():
    """It is more than the test may hold: the arm moves, whatever its motors are."""
    rig, fastest = armed(STRETCHED, payload=4.0)
    assert rig.controller.reason_code == 'ARM_MOVES' and fastest < 0.2


def test_brakes_that_hold_the_arm():
    """No joint moves: the motors are not blamed, and the remedy is told."""
    rig, fastest = armed(made=np.full((2, 2), np.nan))
    assert rig.controller.reason.startswith('no joint moves in the test of the motors: are the '
                                            'brakes engaged')
    assert fastest == 0.0


def test_known_friction_is_overcome():
    """More friction than the test has effort: a refusal, unless the friction is known."""
    dry = (10.0, 4.0)
    assert armed(dry=dry)[0].controller.reason_code == 'JOINT_BLOCKED'
    rig, fastest = armed(dry=dry, coulomb_friction=dry, static_friction=dry)
    assert rig.phase == 'RUNNING' and fastest < 0.1, rig.controller.reason


def test_a_stop_ends_the_test():
    """While an effort is on a joint: the arm is brought to rest as from any phase."""
    rig = Rig(TWO_LINK, HANGING, motor_test_effort=0.1)
    rig.controller.arm()
    while rig.controller.memory['test_effort'][0] == 0.0:
        rig.tick()
    rig.run(0.05)
    assert rig.phase == 'RISING'
    rig.controller.stop()
    rig.run(0.5)
    assert rig.phase == 'INACTIVE' and not rig.controller.tau.any()


def test_a_stop_does_not_drive_swapped_motors():
    """Efforts that bring the arm to rest would go to the other joint."""
    rig, _ = armed(made=np.eye(2)[::-1], dry=(4.0, 2.0), fault_action='hold')
    assert rig.controller.reason_code == 'OTHER_JOINT_MOVES' and rig.controller.driving
    rig.controller.stop()
    rig.tick()
    assert rig.phase == 'FAULT'


def test_one_false_position_long_after_a_fault_is_no_wrong_motor():
    """Of an arm that has been too fast, and is held since, in a slow loop."""
    rig = SlowRig(TWO_LINK, STRETCHED, mode='gravity_compensation', fault_action='hold',
                  motor_test_effort=0.0, **SlowRig.settings)
    rig.controller.arm()
    rig.run(1.0)
    rig.qd = 1.25 * TWO_LINK.velocity_limit * [1.0, 0.0]
    while rig.phase == 'RUNNING':
        rig.tick()
    assert rig.controller.reason_code == 'VELOCITY_ABOVE_LIMIT'
    rig.run(3.0)
    assert rig.controller.driving
    rig.sense()
    rig.state['position'][1] += 0.5
    rig.tick(sense=False)
    rig.run(0.5)
    assert rig.controller.driving and abs(rig.qd).max() < 0.1

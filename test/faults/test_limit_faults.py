# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the efforts: of a law, or what it asks for and the arm is not given at once."""

from dataclasses import replace

from faults.arm import Arm, PERIOD, RAMP, running, STIFFNESS, TELEPORTED
from faults.rows import row
import numpy as np
import own_laws
import pytest
from robodyn_ros.control.cycle import call, cycle
from robodyn_ros.control.laws import adaptive
from robodyn_ros.control.settings import gain_stability
from robodyn_ros.control.settings.friction import check_compensation
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps import limits
from robodyn_ros.control.steps.acceleration_limits import acceleration_bounds, DISTURBANCE_WEIGHT
from robodyn_ros.control.steps.limits import DISTURBANCE_BANDWIDTH
from robodyn_ros.errors import ParameterError

near = pytest.approx
UPPER, FASTEST = 3.1416, 8.0                # rad, rad/s: joint1 of two_link


def blend(start, goal, step, count: int) -> np.ndarray:
    """Efforts (count, 2) that go by steps from a start, which is none of them, to a goal."""
    steps = np.outer(np.arange(1, count + 1), step)
    return start + np.clip(np.subtract(goal, start), -steps, steps)


@row('effort above the limit; step above the rate limit', 'EFFORT_LIMITED', 'GRAVITY_ABOVE_LIMIT',
     where=limits.limit_efforts, find='abs(_ - _) > _', instead='False')
def test_effort_above_the_limit_step_above_the_rate_limit():
    """Gravity is kept at once, the rest comes at its rate up to the limit; too long is a fault."""
    limit, step = np.array([18.5, 5.0]), np.array([0.1, 0.2])
    # The rate counts from the third cycle on
    arm = running(mode='joint_impedance', effort_limit=limit.tolist(), saturation_timeout=0.0475,
                  effort_rate_limit=(step / PERIOD).tolist(), acceleration_limit=[1.0],
                  **TELEPORTED)
    assert arm.tick() == near(arm.gravity)
    arm.position = arm.position - [0.05, 0.08]
    arm.effort = g = arm.gravity
    wish = g + STIFFNESS * [0.05, 0.08]
    assert (wish > limit).all()
    assert arm.ticks(50) == near(np.minimum(limit, blend(g, wish, step, 50)))

    assert arm.tick() == near(limit - step)
    arm.faulted('EFFORT_LIMITED', '(joint2)')
    assert arm.counted('rate_limited') == 51
    assert arm.counted('saturated') == 50 - min((limit - g) // step)
    efforts = arm.ticks(70)
    assert efforts[:19] == near(blend(limit - step, g, step, 19))
    assert efforts[19:] == near(RAMP[:, None] * g, abs=1e-9)
    arm.nothing()
    arm.faulted('EFFORT_LIMITED')
    arm.refuses('gravity torque is above the effort limit (joint1)',
                position=[0.001, 0.0], effort=[])
    arm.resumes()


class Inside:
    """What becomes of the efforts of a law: joint1 accelerates no more than it has room to."""

    def __init__(self, arm: Arm):
        self.arm, self.touched = arm, 0
        self._joint = Settings().joint_records(arm.model).view(np.recarray)[0]
        self._settings = Settings(loop_delay=0.0).settings_record().view(np.recarray)[0]
        self._velocity = self._disturbance = self._acceleration = 0.0

    def efforts(self, law: np.ndarray) -> np.ndarray:
        """Efforts of this tick; velocity that the last efforts do not explain is a disturbance."""
        arm, most_sudden = self.arm, self._settings.limit_rate * FASTEST
        sudden = (arm.velocity[0] - self._velocity) / PERIOD - self._acceleration
        self._disturbance += (1.0 - np.exp(-DISTURBANCE_BANDWIDTH * PERIOD)) * (
            np.clip(sudden, -most_sudden, most_sudden) - self._disturbance)
        self._velocity, outward = arm.velocity[0], DISTURBANCE_WEIGHT * self._disturbance
        least, most = acceleration_bounds(
            self._joint, self._settings.limit_rate, self._settings.approach_rate,
            self._joint.velocity_limit, arm.position[0], arm.velocity[0])
        least, most = min(most, least - min(outward, 0.0)), max(least, most - max(outward, 0.0))
        brought = arm.dynamics.forward_dynamics(arm.position, arm.velocity, law)[0]
        response = np.linalg.inv(arm.dynamics.mass_matrix(arm.position))[0, 0]
        limit = arm.model.effort_limit[0]
        push = np.clip((np.clip(brought, least, most) - brought) / response,
                       -limit - law[0], limit - law[0])
        self._acceleration = brought + push * response
        self.touched += push != 0.0
        return law + [push, 0.0]


@row('position or velocity limit breached', 'POSITION_OUTSIDE', where=limits.bound_acceleration,
     find='(min(max(_, _), _) - _) / _', instead='0.0')
def test_position_or_velocity_limit_breached():
    """Only what is outward of the effort is cut, and motion damped; gravity and joint2 stay."""
    arm = Arm(effort_rate_limit=[1e7], loop_delay=0.0, **TELEPORTED)
    arm.refuses('position is outside its limits (joint1): -3.1416 to 3.1416 rad',
                position=[3.4, 0.5], effort=[])
    arm.activate()
    inside = Inside(arm)

    def given(position: float, velocity: float, pulled: float = 0.0) -> np.ndarray:
        arm.position, arm.velocity = np.array([position, 0.5]), np.array([velocity, 0.0])
        expected = inside.efforts(arm.gravity + [pulled, 0.0])
        efforts = arm.tick(position=list(arm.position))     # to the last bit: there is a limit
        assert efforts == near(expected)
        return efforts

    # gravity_compensation: nothing is wanted but what keeps the arm inside
    for position, velocity in ((0.3, 0.0), (0.3, -0.5), (2.9, 0.5)):
        assert given(position, velocity) == near(arm.gravity)
    for position, velocity in ((2.9, 2.0), (3.2, 0.0), (3.2, 0.1), (-2.9, -2.0), (-3.2, 0.0)):
        cut = given(position, velocity)
        assert (cut[0] - arm.gravity[0]) * position < -1.0 and cut[1] == near(arm.gravity[1])
    assert given(0.3, 1.02 * FASTEST)[0] < arm.gravity[0] - 1.0
    for _ in range(100):                # not faster than a tenth of the limit: inward is free
        returning = given(3.2, -0.5)
    assert returning == near(arm.gravity)

    # joint_impedance that pulls outward: the present pose, beyond the limit, is its reference
    given(3.3, 0.0)
    assert arm.set(mode='joint_impedance') == ''
    given(3.3, 0.0)
    for position in (UPPER, 3.2, 3.15):
        assert given(position, 0.0, STIFFNESS[0] * (3.3 - position))[0] < arm.gravity[0]
    assert arm.counted('joint_limited') == inside.touched
    assert arm.phase == 'RUNNING'


@row('mode or gain change', where=cycle.law_efforts,
     find='_ != _ or _restart or _ == NEW_BASIS or _', instead='_restart')
def test_mode_or_gain_change():
    """The present pose becomes the reference, and what differs blends at the effort rate."""
    step, away = np.array([0.4, 0.1]), np.array([0.01, -0.02])
    arm = running(mode='joint_impedance', effort_rate_limit=(step / PERIOD).tolist(),
                  acceleration_limit=[1.0],
                  **TELEPORTED)
    for change, compensated, stiffness in (
            ({'stiffness': [300.0, 80.0]}, True, [300.0, 80.0]),
            ({'mode': 'pd'}, False, [300.0, 80.0]),
            ({'mode': 'joint_impedance'}, True, [300.0, 80.0]),
            ({'mode': 'gravity_compensation'}, True, [0.0, 0.0])):
        g = arm.effort = arm.gravity
        before = arm.tick()
        assert arm.set(**change) == ''
        held = compensated * g
        assert arm.ticks(60) == near(blend(before, held, step, 60), abs=1e-9)

        arm.position = arm.position - away
        extra, g = held - g, arm.gravity
        law = compensated * g + stiffness * away
        assert arm.ticks(60) == near(blend(g + extra, law, step, 60), abs=1e-9)


@row('gain change in motion', where=cycle.law_efforts, find='under_way(_, _, _, _)',
     instead='False')
def test_gain_change_in_motion():
    """The reference goes on, and what differs blends; a mode ends it, which the node can log."""
    step = np.array([0.4, 0.1])
    arm = running(mode='joint_impedance', effort_rate_limit=(step / PERIOD).tolist(),
                  acceleration_limit=[1.0],
                  **TELEPORTED)
    g = arm.gravity
    arm.follow(arm.position + [0.05, 0.0])
    before = arm.ticks(500)
    assert before[-1, 0] - g[0] > 8.0
    assert arm.set(stiffness=[300.0, 100.0]) == ''
    after = arm.ticks(100)
    assert abs(np.diff(np.vstack([before[-1:], after]), axis=0)).max() <= step.max() + 1e-9
    assert arm.ticks(600)[-1] == near(g + [300.0 * 0.05, 0.0], abs=1e-3)

    arm.follow(arm.position)
    arm.ticks(300)
    ended = replace(arm.controller.settings, mode='gravity_compensation')
    assert 'mode changed' in arm.controller.reference_ended_by(ended)
    assert arm.set(mode='gravity_compensation') == ''
    assert arm.ticks(100)[-1] == near(g, abs=1e-9) and arm.phase == 'RUNNING'


@row('gains that the effort rate limit cannot follow', where=gain_stability.check_rate,
     find='_damping > _most', instead='_damping > _damping')
def test_gains_that_the_effort_rate_limit_cannot_follow():
    """Refused with gain, joint, the highest that is accepted and the parameter to change."""
    arm = running(mode='joint_impedance')
    said = arm.set(damping=[200.0, 3.0], effort_rate_limit=[1000.0, 300.0])
    assert 'damping 200 (joint1)' in said and 'effort_rate_limit 1000 (joint1)' in said
    assert 'use at most damping' in said and 'or effort_rate_limit' in said
    g = arm.gravity
    assert arm.ticks(5) == near(np.tile(g, (5, 1)), abs=1e-9)


@row('shares of joints that one motor turns differ', where=check_compensation,
     find='(ratio[:-1] != 0.0) & (share[:-1] != share[1:])', instead='np.zeros(1, bool)')
def test_shares_of_coupled_joints():
    """Both together could be given more power than the friction of the motor takes: refused."""
    coupled = {'coupling_ratio': [1.0, 0.0], 'coupled_coulomb_friction': [0.3, 0.0]}
    with pytest.raises(ParameterError, match='same share'):
        Arm(**coupled, friction_compensation=[0.8, 0.5])
    Arm(**coupled, friction_compensation=[0.8])


@row('control law writes no effort', 'EFFORT_NOT_FINITE', where=call.call_law,
     find='_[:] = np.nan', instead='pass')
def test_a_law_that_writes_no_effort():
    """Its last effort is not published for ever: the fault is latched in the same cycle."""
    arm = running(mode='own_laws:SILENT_LATE', position_margin=[0.0], **TELEPORTED)
    assert arm.tick() == near(arm.gravity)
    arm.position = np.array([own_laws.BEYOND + 5e-4, arm.position[1]])
    g = arm.gravity
    assert arm.tick() == near(g)
    arm.goes_limp(arm.tick, g, first=1)
    arm.faulted('EFFORT_NOT_FINITE')


@row('control law writes its arguments', where=call.call_law, find='copied(_, _)', instead='arm')
def test_a_law_that_writes_its_arguments():
    """In a branch that no trial has reached: limits, state and reference stay what they were."""
    arm = running(mode='own_laws:WRITING_LATE', position_margin=[0.0],
                  effort_rate_limit=[1e6, 1e6], **TELEPORTED)
    arm.position = np.array([own_laws.BEYOND + 5e-4, arm.position[1]])
    limit, kept = arm.model.effort_limit, arm.controller.inputs
    v, joints, target = kept.vectors, kept.joints.copy(), kept.vectors.target.copy()
    for _ in range(3):
        assert (abs(arm.tick()) <= limit + 1e-9).all()
        assert v.requested == near(arm.gravity + 1e3)       # the branch has been reached
        assert v.q == near(arm.position) and v.gravity == near(arm.gravity)
        assert (kept.joints == joints).all() and v.target == near(target)


@row('payload learned from a blocked arm', where=adaptive.adapt,
     find='excess(times_transposed(new, new), _, _, _) <= _', instead='True')
def test_learning_from_a_blocked_arm():
    """An arm that something holds seems to carry a payload: at most `adaptation_mass` of it."""
    damping, bandwidth, way = np.array([4.0, 1.0]), 2.0, np.array([0.4, 0.4])
    arm = running(mode='adaptive', damping=[4.0, 1.0], adaptive_bandwidth=[2.0],
                  adaptation_rate=[20.0], adaptation_mass=[0.1], blocked_effort=0.0)
    arm.follow(arm.position + way)
    arm.ticks(1200)
    learned = [arm.tick() - arm.gravity - damping * bandwidth * way for _ in range(2)]
    assert 0.1 < abs(learned[0]).max() < 1.5
    assert learned[1] == near(learned[0])

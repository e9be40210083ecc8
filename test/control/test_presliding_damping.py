# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Elastic contacts of a floating arm come to rest, and a hand does not feel what damps them."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

from control.rig import risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps.cycle_data import JOINT, Vectors
from robodyn_ros.control.steps.friction_compensation import DAMPING_RATIO, presliding_damping
from robodyn_ros.dynamics.friction import advance_presliding

FRICTION, DISTANCE, INERTIA = 5.0, 1e-3, 0.5        # N·m, rad, kg·m²
FREQUENCY = np.sqrt(FRICTION / DISTANCE / INERTIA)  # rad/s


@cache
def record_of(delay):
    """Return the settings of a fast loop."""
    return Settings(loop_delay=delay, rate=1e4).settings_record().view(np.recarray)[0]


def damping(qd, z=0.0, *, share=0.8, delay=0.0, unmeasured=-1):
    """Return the effort of the damping on one joint."""
    parameters, joints, v = np.zeros((13, 1)), np.zeros(1, JOINT), Vectors.zeros(1)
    tau = np.zeros(1)
    parameters[[1, 4, 8]] = [[FRICTION], [FRICTION], [DISTANCE]]
    joints['friction_compensation'] = share
    v.qd[:], v.friction_compensation.presliding[:] = qd, z
    c = SimpleNamespace(joints=joints.view(np.recarray), settings=record_of(delay), vectors=v,
                        workspace=SimpleNamespace(M=np.array([[INERTIA]])))
    presliding_damping(c, parameters, unmeasured, tau)
    return float(tau[0])


def test_it_vanishes_where_the_joint_slides():
    """And where friction is not compensated, or the velocity is too late to damp anything."""
    full = -2.0 * DAMPING_RATIO * np.sqrt(FRICTION / DISTANCE * INERTIA) * 0.01
    assert damping(0.01) == pytest.approx(full * (1.0 - 1e-4 * FREQUENCY), rel=1e-6)
    assert damping(-0.01) == -damping(0.01)
    assert damping(0.01, z=1.0) == damping(0.01, share=0.0) == 0.0
    assert damping(-0.01, z=0.5) == pytest.approx(-1.5 * damping(0.01))
    assert 0.0 > damping(0.01, delay=0.5 / FREQUENCY) > damping(0.01)
    assert damping(0.01, delay=1.0 / FREQUENCY) == 0.0
    assert 0.0 >= damping(0.01, unmeasured=0) > damping(0.01)


@pytest.mark.parametrize('delay', [0.0, 0.3 / FREQUENCY])
def test_a_vibration_of_the_contact_decays(delay):
    """Of a joint that nothing else damps but its contact, which dissipates next to nothing."""
    parameters, step = np.zeros((13, 1)), 2.5e-4
    parameters[8] = DISTANCE
    late = [0.0] * round(delay / step)

    def left(damped):
        q, qd, z, moved, most = 0.0, 1e-3, np.zeros(1), np.zeros(1), 0.0
        queue = late[:]
        for k in range(4000):
            queue.append(damping(qd, float(z[0]), delay=delay) if damped else 0.0)
            moved[0] = qd * step
            advance_presliding(parameters, moved, z)
            qd += (queue.pop(0) - FRICTION * z[0]) / INERTIA * step
            q += qd * step
            most = max(most, abs(qd)) if k > 3500 else 0.0
        return most
    assert left(True) < 0.2 * left(False)


def test_a_floating_arm_is_damped_by_the_cycle():
    """After a kick within its contacts, without any viscous friction of arm or model."""
    dry = np.full(2, 2.0)
    elastic = replace(TWO_LINK, coulomb_friction=dry, static_friction=dry,
                      presliding_distance=np.full(2, 0.004),
                      backward_friction=np.array([np.zeros(2), dry, dry]))
    rig = risen(model=elastic, mode='gravity_compensation', friction_compensation=[0.8])
    rig.qd += [0.0, 0.01]
    rig.tick()
    added = rig.controller.tau - rig.controller._v.gravity
    assert -0.5 < added[1] < -0.01 * abs(added[0])

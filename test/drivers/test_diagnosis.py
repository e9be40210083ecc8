# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of mistakes that are planted in g(q) and friction."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.drivers.diagnosis import (
    AGREES, diagnose, MASS, PAYLOAD, RANGE, SIGN, SWAPPED, UNKNOWN, ZERO)
from robodyn_ros.errors import ArgumentError
from robodyn_ros.model.robot import with_payload
from robodyn_ros.testing.desk_arm import desk_arm, POSES

near = pytest.approx
ARM = desk_arm()
DYNAMICS = Dynamics(ARM)
DEVIATION = 0.5 * ARM.coulomb_friction + 0.005


def efforts(model=ARM):
    """Return the poses and the efforts there, with what friction may add."""
    dynamics, random = Dynamics(model), np.random.default_rng(1)
    friction = random.uniform(-0.7, 0.7, np.shape(POSES)) * ARM.coulomb_friction
    return np.array(POSES), np.array([dynamics.gravity(q) for q in POSES]) + friction


def heavier(link, factor):
    mass = ARM.mass.copy()
    mass[link] *= factor
    return replace(ARM, mass=mass)


def found(q, tau, **turned):
    diagnosis = diagnose(DYNAMICS, q, tau, DEVIATION, **turned)
    assert diagnosis.agrees == (diagnosis.findings[0].kind == AGREES)
    return diagnosis.findings[0]


def test_a_sound_arm_agrees():
    """Either sign of two joints would do in these poses, and they are named."""
    diagnosis = diagnose(DYNAMICS, *efforts(), DEVIATION)
    assert diagnosis.agrees and len(diagnosis.findings) == 1
    assert diagnosis.unseen == ('joint1', 'joint5')
    assert diagnosis.ratio[1:5] == near([1.0] * 4, abs=0.1) and np.isnan(diagnosis.ratio[0])


@pytest.mark.parametrize('j', [1, 2, 3, 4])
def test_a_range_a_sign_or_a_zero_of_one_joint(j):
    """Zeros as well as friction lets them be seen, for which the wrist has a hand's weight."""
    name, one = (f'joint{j + 1}',), np.arange(ARM.nv) == j
    q, tau = efforts()
    finding = found(q, np.where(one, 2.0, 1.0) * tau)
    assert finding[:2] == (RANGE, name) and finding.value == near(2.0, rel=0.1)
    assert 'TMAX (register 23)' in finding.text
    finding = found(q + 0.2 * one, tau)
    assert finding[:2] == (ZERO, name) and finding.value == near(0.2, abs=0.1)
    if j < 4:
        sign = np.where(one, -1.0, 1.0)
        assert found(sign * q, sign * tau)[:2] == (SIGN, name)


def test_one_range_of_all_joints():
    finding = found(*(efforts()[0], 0.75 * efforts()[1]))
    assert finding[:2] == (RANGE, ('all joints',)) and finding.value == near(0.75, abs=0.03)


@pytest.mark.parametrize('pair', [(1, 2), (3, 4), (3, 5)])
def test_two_swapped_ids(pair):
    """Also where signs and offsets of the two differ."""
    q, tau = efforts()
    sign, offset = np.ones(ARM.nv), np.zeros(ARM.nv)
    sign[pair[0]], offset[pair[1]] = -1.0, 0.3
    angle = sign * q + offset
    for values in (angle, tau := sign * tau):
        values[:, pair] = values[:, pair[::-1]]
    finding = found(sign * (angle - offset), sign * tau, sign=sign, offset=offset)
    assert finding[:2] == (SWAPPED, tuple(f'joint{j + 1}' for j in pair))


@pytest.mark.parametrize(('robot', 'kind', 'link', 'value'), [
    (with_payload(ARM, 'link6', 1.0, (0.0, 0.0, 0.05)), PAYLOAD, 'link6', 1.0),
    (heavier(2, 1.6), MASS, 'link3', 1.6), (heavier(3, 1.6), MASS, 'link4', 1.6)])
def test_a_payload_or_a_wrong_mass(robot, kind, link, value):
    finding = found(*efforts(robot))
    assert finding[:2] == (kind, (link,)) and finding.value == near(value, abs=0.1)


def test_two_mistakes_are_none_that_is_known():
    q, tau = efforts(heavier(2, 2.5))
    tau[:, 3] *= -4.0
    finding = found(q, tau)
    assert finding.kind == UNKNOWN and 'hold the arm again' in finding.text


def test_what_is_not_enough():
    q, tau = efforts()
    with pytest.raises(ArgumentError, match='1 pose tells no zero from a mass'):
        diagnose(DYNAMICS, q[:1], tau[:1], DEVIATION)
    tau[1, 2] = np.nan
    with pytest.raises(ArgumentError, match='positions or efforts are incomplete'):
        diagnose(DYNAMICS, q, tau, DEVIATION)

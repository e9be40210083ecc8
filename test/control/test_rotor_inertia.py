# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Models without rotors leave wrists little effort, which is stated; the remedy, `armature`."""

from dataclasses import replace

from control.disturbed import run
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf, Settings, simulate
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.rotor_inertia import SCARCE_EFFORT
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.model.resources import robot_path
from thorough import seeds

POSE = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])


@pytest.fixture(scope='module')
def panda():
    """Return the arm, whose URDF has no rotor inertia."""
    return load_urdf(robot_path('panda'), locked={'panda_finger_joint1': 0.02,
                                                  'panda_finger_joint2': 0.02})


def with_rotors(model, times):
    """Return a model with a multiple of the smallest plausible rotor inertia."""
    return replace(model, armature=times * Settings().scarcity(model).armature)


def test_what_is_left_is_quantified(panda):
    found = Settings().scarcity(panda)
    assert found.scarce[6] and not found.scarce[1]
    assert (found.available[found.scarce] < SCARCE_EFFORT * panda.effort_limit[found.scarce]).all()
    only = np.arange(7) == 6
    sentence = found.sentence(found.scarce & only)
    assert 'of 12 (panda_joint7)' in sentence and 'set armature' in sentence
    assert '0.023 (panda_joint7)' in sentence and 'panda_joint1' not in sentence
    slow = Settings(velocity_limit=[0.3], effort_limit=[8.0]).scarcity(panda)
    assert (slow.armature == found.armature).all()          # that of the same drive
    assert not Settings().scarcity(with_rotors(panda, 1.0)).scarce.any()
    assert not Settings(armature=found.armature.tolist()).scarcity(
        Settings(armature=found.armature.tolist()).loaded(panda)).scarce.any()


@pytest.mark.parametrize('known, fault', [(False, 'FOLLOWING_ERROR'), (True, '')])
def test_the_remedy(panda, known, fault):
    """An arm with rotors and friction: its wrist stays behind without `armature`, and why."""
    real = replace(with_rotors(panda, 3.0), coulomb_friction=0.05 * panda.effort_limit)
    least = with_rotors(panda, 1.0)
    given = Settings(armature=least.armature.tolist() if known else [0.0])
    settings = Settings(mode='computed_torque', **suggest_gains(panda, POSE, given)._asdict())
    goal = POSE + [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.2]
    motion = Waypoints(panda.joint_names, [1.2], [goal], [np.zeros(7)])
    seen = simulate(panda, settings, POSE, 1.3, motion, plant=real)
    assert seen.code == fault, seen.fault
    assert known or 'set armature for a real drive, at least about 0.023 (panda_joint7)' in (
        seen.fault)


@pytest.mark.parametrize('times', [1.0, 4.0])
def test_limits_hold_with_real_rotors(panda, times, few_poses):
    """The smallest plausible rotor inertia is assumed, and the true one is that or more."""
    known, real = with_rotors(panda, 1.0), Dynamics(with_rotors(panda, times))
    for seed in range(seeds(2, 200)):
        worst = run(known, real, seed)
        assert not worst.violations(), f'seed {seed}: {worst}'

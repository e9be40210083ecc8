# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from robodyn_ros.model.rigid_body import (
    axis_rotation,
    Inertial,
    joined,
    rotation_rpy,
    rpy_rotation,
)
from scipy.spatial.transform import Rotation


def test_rotations_are_those_of_scipy():
    rng = np.random.default_rng(1)
    for rpy in rng.uniform(-4, 4, (20, 3)):
        np.testing.assert_allclose(rpy_rotation(rpy), Rotation.from_euler('xyz', rpy).as_matrix(),
                                   atol=1e-15)
        axis = rpy / np.linalg.norm(rpy)
        np.testing.assert_allclose(axis_rotation(axis, rpy[0]),
                                   Rotation.from_rotvec(rpy[0] * axis).as_matrix(), atol=1e-15)


def test_angles_give_the_rotation_back_even_where_two_of_them_turn_about_one_axis():
    rng = np.random.default_rng(3)
    for pitch in (0.4, np.pi / 2, -np.pi / 2, 1.570796325, np.pi / 2 - 1e-9, np.pi / 2 - 1e-13, 3):
        for roll, yaw in rng.uniform(-4, 4, (20, 2)):
            rotation = rpy_rotation([roll, pitch, yaw])
            np.testing.assert_allclose(rpy_rotation(rotation_rpy(rotation)), rotation, rtol=0,
                                       atol=1e-15)


def test_joined_bodies_are_their_points():
    """A cloud of point masses, split into two bodies in frames of their own, is one cloud."""
    rng = np.random.default_rng(2)
    cloud, masses = rng.normal(size=(12, 3)), rng.uniform(0.1, 2, 12)

    def body(points, masses):
        com = masses @ points / masses.sum()
        r = points - com
        inertia = (np.eye(3) * (masses @ (r * r).sum(1))
                   - np.einsum('n,ni,nj->ij', masses, r, r))
        return Inertial(masses.sum(), com, inertia)

    rotation, origin = rpy_rotation([0.3, -1, 2]), np.array([0.5, 1, -2])
    there = body((cloud[5:] - origin) @ rotation, masses[5:])
    both = joined([body(cloud[:5], masses[:5]), there.placed(rotation, origin)])
    for one, other in zip(both, body(cloud, masses), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_nothing_is_joined_to_nothing():
    mass, com, inertia = joined([])
    assert mass == 0 and not com.any() and not inertia.any()


@pytest.mark.parametrize('mass', [0.3, 0.0])
def test_a_single_part_stays_exactly_as_it_is(mass):
    part = Inertial(mass, np.array([0.1, 0.7, 0.3]), np.diag([1., 2, 3]))
    for one, other in zip(joined([part]), part, strict=True):
        np.testing.assert_array_equal(one, other)

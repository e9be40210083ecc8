# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Band of predictions, errors by blocks, and motions that tell what recordings do not."""

from dataclasses import replace

from motions import motion, noisy, with_joints
import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.identification import identify, ParameterSelection
from robodyn_ros.identification.estimation.covariance import with_spread_of_blocks
from robodyn_ros.identification.excitation.base_regressor import BaseRegressor
from robodyn_ros.identification.excitation.motion_limits import motion_limits
from robodyn_ros.identification.excitation.objective import known_rows
from robodyn_ros.identification.prediction_band import prediction_band

pytestmark = pytest.mark.slow

SELECTION = ParameterSelection(armature=False)


def test_the_band_covers_the_errors_and_shrinks_with_data(planar):
    true = with_joints(planar, 0.3, 0.4)
    bands, covered = [], []
    for count in (400, 6400):
        given = noisy(motion(true, count), 0.2, 1)
        found = identify(planar, given, SELECTION, 'weighted')
        bands.append(prediction_band(found, given))
        exact = motion(true, 300, seed=9)
        covered.append((abs(found.predict(exact) - exact.effort) < bands[-1].largest).mean())
    assert (bands[1].median < 0.5 * bands[0].median).all() and min(covered) > 0.95
    assert set(bands[0].plain()) == set(planar.joint_names)


def test_errors_are_those_of_changing_friction(planar):
    """Friction that differs from block to block has larger errors than its residuals tell."""
    given = noisy(motion(with_joints(planar, 0.3, 0.4), 2000), 0.02, 1)
    steady = identify(planar, given, SELECTION, 'weighted')
    effort = given.effort.copy()
    for k, change in enumerate((-0.2, 0.1, 0.3, -0.3, 0.1)):
        part = slice(400 * k, 400 * (k + 1))
        effort[part] += change * np.tanh(given.velocity[part] / planar.friction_velocity)
    found = identify(planar, replace(given, effort=effort), SELECTION, 'weighted')
    for kind in ('Coulomb joint1', 'Coulomb joint2'):
        at = found.base.base_names.index(kind)
        spread = np.std([-0.2, 0.1, 0.3, -0.3, 0.1], ddof=1) / np.sqrt(5)
        assert found.standard_errors[at] > max(0.6 * spread, 5.0 * steady.standard_errors[at])


def test_blocks_never_make_errors_smaller():
    rng = np.random.default_rng(0)
    blocks = [np.linalg.qr(rng.normal(size=(50, 4)), mode='r') for _ in range(5)]
    matrix = np.diag([1e-6, 1.0, 1e6])
    wider = with_spread_of_blocks(matrix, blocks)
    assert (np.diag(wider) >= np.diag(matrix)).all() and wider[2, 2] == 1e6


def test_known_motions_count_by_their_duration(planar):
    dynamics = Dynamics(planar)
    limits = motion_limits(planar, ranges=dict.fromkeys(planar.joint_names, (-3.0, 3.0)),
                           velocity=dict.fromkeys(planar.joint_names, 3.0),
                           acceleration=dict.fromkeys(planar.joint_names, 9.0))
    regressor = BaseRegressor(dynamics, limits, np.full(2, 50.0))
    given = motion(planar, 1000)
    rows = regressor(given.position, given.velocity, given.acceleration).reshape(
        -1, len(regressor))
    known = known_rows(regressor, [given], 10.0).reshape(-1, len(regressor))
    # As much of it as of a new motion of 10 s, which has as many samples
    assert known.T @ known == pytest.approx(rows.T @ rows / 1000)
    assert known_rows(regressor, [], 10.0).shape == (0, 2, len(regressor))

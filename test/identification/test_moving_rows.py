# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows that are left out while a joint may stick."""

from dataclasses import replace

from motions import motion, noisy, with_joints
import numpy as np
import pytest
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification import identify, Motion, ParameterSelection
from robodyn_ros.identification.estimation.filtered_columns import (
    RESPONSE_PERIODS,
    rows_that_count,
)
from robodyn_ros.identification.estimation.regression import regression

pytestmark = pytest.mark.slow

MOVING = ParameterSelection(moving=0.1)


def sticking(given: Motion, effort: float) -> Motion:
    """Return the same where joints that are slower than 0.1 rad/s bear less."""
    slow = abs(given.velocity) < 0.1
    return replace(given, effort=given.effort - effort * slow * np.sign(given.velocity))


def test_slow_rows_are_left_out_joint_by_joint(planar):
    given = motion(planar)
    rows = rows_that_count(given, MOVING)
    np.testing.assert_array_equal(rows, abs(given.velocity) >= 0.1)
    assert 0.5 < rows.mean() < 1.0 and (rows[:, 0] != rows[:, 1]).any()
    whole, part = regression(planar, given), regression(planar, given, MOVING)
    np.testing.assert_array_equal(part.matrix, whole.matrix * rows[:, :, None])
    np.testing.assert_array_equal(part.target, whole.target * rows)


def test_a_motion_that_is_never_so_fast_is_refused(planar):
    with pytest.raises(IdentificationError, match='no joint is faster than 100'):
        regression(planar, motion(planar), ParameterSelection(moving=100.0))


def test_filters_carry_slowness_and_ends_further(planar):
    given = replace(motion(planar, rate=1000.0, count=9000), cutoff=20.0)
    rows = rows_that_count(given, ParameterSelection(moving=0.1))
    reach = int(np.ceil(RESPONSE_PERIODS / 20 * 1000))
    for fast, counted in zip((abs(given.velocity) >= 0.1).T, rows.T):
        around = [fast[max(i - reach, 0):i + reach + 1].all() for i in range(len(fast))]
        expected = np.array(around)
        expected[:reach] = expected[-reach:] = False
        np.testing.assert_array_equal(counted, expected)
    thin = rows_that_count(given, ParameterSelection(moving=0.1, decimate=7))
    np.testing.assert_array_equal(thin, rows[::7])


@pytest.mark.parametrize('method', ['weighted', 'consistent'])
def test_what_sticks_biases_nothing(planar, method):
    true = with_joints(planar, viscous=0.3, coulomb=0.8, armature=0.05)
    given = sticking(noisy(motion(true, count=3000), 0.01, seed=3), 0.7)
    off = {selection: identify(with_joints(planar), given, selection, method
                               ).of_joints('Coulomb') - 0.8
           for selection in (MOVING, ParameterSelection())}
    assert abs(off[MOVING]).max() < 5e-3
    assert abs(off[ParameterSelection()]).min() > 0.02


def test_standard_errors_are_those_of_the_rows_that_count(planar):
    true = with_joints(planar, viscous=0.3, coulomb=0.8)
    found, bounds = [], []
    for seed in range(25):
        estimate = identify(planar, noisy(motion(true), 0.05, seed, bandwidth=10.0), MOVING,
                            'weighted')
        found.append(estimate.values)
        bounds.append(estimate.standard_errors)
        assert estimate.sigma == pytest.approx(0.05, rel=0.3)
    ratio = np.std(found, axis=0) / np.mean(bounds, axis=0)
    assert (ratio > 0.55).all() and (ratio < 1.7).all()


def test_a_speed_that_is_none_is_refused():
    with pytest.raises(IdentificationError, match='moving'):
        ParameterSelection(moving=0.0)


def test_a_prediction_has_all_rows(planar):
    given = motion(planar)
    estimate = identify(planar, given, MOVING, 'weighted')
    assert estimate.predict(given) == pytest.approx(given.effort, abs=1e-6)

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Series that begin and end at rest, and whose derivatives are derivatives."""

import numpy as np
import pytest
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.excitation.fourier import Fourier

pytestmark = pytest.mark.slow


@pytest.fixture(params=[(2, 1.0), (5, 10.0), (7, 4.5)], ids=str)
def series(request):
    return Fourier(*request.param)


def motion(series, times, seed=3, pose=(0.3, -1.2)):
    coefficients = np.random.default_rng(seed).normal(size=(2, series.size))
    return series.motion(times, coefficients, np.array(pose))


def test_starts_and_ends_at_rest_at_the_pose(series):
    for period in range(3):
        q, qd, qdd = motion(series, [period * series.period])
        assert np.allclose(q, [0.3, -1.2], atol=1e-12)
        assert np.allclose(qd, 0.0, atol=1e-12) and np.allclose(qdd, 0.0, atol=1e-10)


def test_derivatives_are_those_of_the_position(series):
    times, h = np.linspace(0.0, series.period, 31), 1e-5 * series.period
    before, here, after = (motion(series, times + step) for step in (-h, 0.0, h))
    for k in (0, 1):
        slope = (after[k] - before[k]) / (2.0 * h)
        assert np.allclose(slope, here[k + 1], rtol=0.0, atol=1e-6 * np.abs(here[k + 1]).max())


def test_every_series_at_rest_can_be_had(series):
    position, _, _ = series.basis(series.grid(8))
    assert np.linalg.matrix_rank(position) == series.size == 2 * (series.harmonics - 1)


def test_peaks_between_samples_of_the_grid_are_bounded(series):
    fine = series.period * np.arange(20_000) / 20_000
    for seed in range(5):
        for k, coarse in enumerate(motion(series, series.grid(8), seed, (0.0, 0.0))):
            peak = np.abs(motion(series, fine, seed, (0.0, 0.0))[k]).max(0)
            assert (peak <= np.abs(coarse).max(0) / np.cos(np.pi / 8) + 1e-12).all()


def test_bernstein_bounds_the_acceleration(series):
    _, qd, qdd = motion(series, series.grid(400))
    assert (np.abs(qdd).max(0) <= series.highest_frequency * np.abs(qd).max(0) * 1.001).all()


@pytest.mark.parametrize('harmonics, period, name', [
    (1, 10.0, 'harmonics'), (5, 0.0, 'period'), (5, np.nan, 'period'), (5, np.inf, 'period')])
def test_refuses_what_is_no_series(harmonics, period, name):
    with pytest.raises(IdentificationError) as caught:
        Fourier(harmonics, period)
    assert caught.value.name == name

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures over a sliding window against NumPy over the same samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.errors import ArgumentError
from robodyn_ros.realtime.statistics import Window


@given(st.integers(1, 8), st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30))
def test_the_latest_samples_count_and_no_others(size, samples):
    window = Window(size)
    for seen, x in enumerate(samples, 1):
        window.add(x)
        latest = samples[max(0, seen - size):seen]
        assert len(window) == len(latest)
        assert window.max() == max(latest)
        np.testing.assert_array_equal(window.percentiles((0, 50, 99)),
                                      np.percentile(latest, (0, 50, 99)))


def test_without_samples_there_are_no_figures():
    window = Window(3)
    assert len(window) == 0
    assert np.isnan(window.max())
    assert np.isnan(window.percentiles((50, 99))).tolist() == [True, True]


def test_a_window_has_room():
    with pytest.raises(ArgumentError, match='window of 0 samples'):
        Window(0)

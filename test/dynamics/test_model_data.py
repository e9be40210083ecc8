# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Records made of a model."""

import pytest
from robodyn_ros.dynamics.model_data import parameters


def test_the_records_are_read_only(case):
    robot = parameters(case.model)
    for array in robot:
        with pytest.raises(ValueError, match='read-only'):
            array[0] = array[0]

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.settings.suggested_gains import suggest_gains, SUGGESTED_KD, SUGGESTED_KP
from robots import PANDA_LOCKED, REAL


def test_stiffness_is_as_much_lower_as_damping():
    # Stretched upwards, the Panda's joints 1 and 3 turn about one line: bent, they move little
    model = load_urdf(REAL['panda'], locked=PANDA_LOCKED)
    pose = np.array([0.0, 0.0, 0.0, -1.57, 0.0, 1.87, 0.0])
    gains = suggest_gains(model, pose, Settings(armature=[0.0]))
    lowered = gains.damping / (SUGGESTED_KD * Dynamics(model).mass_matrix(pose).diagonal())
    assert lowered[2] < 0.5
    ratio = gains.stiffness / gains.damping
    np.testing.assert_allclose(ratio, ratio[0], rtol=0.02)
    # The disturbance observer has its room: it adds damping
    assert SUGGESTED_KP / SUGGESTED_KD <= ratio.max() <= 1.45 * SUGGESTED_KP / SUGGESTED_KD
    assert gains.observer_bandwidth.min() >= 25.0

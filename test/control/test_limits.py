# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The limits hold in a bad world, with nothing but the controller to keep the arm inside."""

from dataclasses import replace

import numpy as np
import pytest
from control.disturbed import run

from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.control import settings
from robodyn_ros.control.limits import RETURN_VELOCITY, SHARE, room
from robodyn_ros.control.records import JOINT, SETTINGS
from robodyn_ros.model.library import robot_path

ROBOTS = {'two_link': {}, 'panda': {'panda_finger_joint1': 0.02, 'panda_finger_joint2': 0.02}}
SEEDS = 200


@pytest.fixture(autouse=True)
def few_poses(monkeypatch):
    """Judge gains at two poses: test_stability.py is about that, and arms meet worse ones here."""
    monkeypatch.setattr(settings, 'JUDGED_POSES', 2)


def arm(name):
    """Model and dynamics."""
    model = load_urdf(robot_path(name), locked=ROBOTS[name])
    return model, Dynamics(model)


@pytest.mark.parametrize('name', ROBOTS)
def test_no_joint_leaves_its_limits(name):
    """Random poses, modes, gains, payloads and references; late efforts, lost samples."""
    model, dynamics = arm(name)
    acted = 0
    for seed in range(SEEDS):
        worst = run(model, dynamics, seed)
        assert worst.position <= 0.02, f'{name}, seed {seed}: {worst}'
        assert worst.velocity <= 1.10, f'{name}, seed {seed}: {worst}'
        assert worst.effort <= 1.0, f'{name}, seed {seed}: {worst}'
        acted += worst.cut > 0
    assert acted > 0.1 * SEEDS


def test_without_them_arms_leave():
    """The same world is too much for a controller that knows of no limits."""
    model, dynamics = arm('two_link')
    unlimited = np.full(2, np.inf)
    known = replace(model, position_lower=-unlimited, position_upper=unlimited,
                    velocity_limit=unlimited)
    runs = [run(model, dynamics, seed, known) for seed in range(30)]
    assert sum(w.velocity > 1.10 or w.position > 0.02 for w in runs) >= 3


def test_room():
    """Far from the limits, near them, at them, beyond them: inward is never forbidden."""
    j, s = np.zeros(1, JOINT).view(np.recarray)[0], np.zeros(1, SETTINGS).view(np.recarray)[0]
    j.position_lower, j.position_upper, j.velocity_limit = -1.0, 2.0, 3.0
    s.limit_rate, s.approach_rate = 80.0, 7.0
    top, slow = SHARE * 3.0, RETURN_VELOCITY * 3.0
    for q, qd, least, most in ((0.5, 0.0, -top, top), (0.5, top, -2 * top, 0.0),
                               (1.9, 0.0, -top, 0.7), (1.9, 0.7, -top - 0.7, 0.0),
                               (2.0, 0.0, -top, 0.0), (2.02, 0.1, -slow - 0.1, -0.24),
                               (2.1, -1.0, 1.0 - slow, 1.0 - slow), (-1.02, 0.0, 0.14, slow),
                               (9.0, 0.0, -slow, -slow), (-9.0, 0.0, slow, slow)):
        assert room(j, s, q, qd) == pytest.approx((80.0 * least, 80.0 * most))
    j.position_lower, j.position_upper, j.velocity_limit = -np.inf, np.inf, np.inf
    assert room(j, s, 5.0, 1e3) == (-np.inf, np.inf)

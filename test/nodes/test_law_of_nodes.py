# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`compare-laws --topics` goes on after a law that fails; the nodes are in lockstep."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import Dynamics, law_comparison, load_urdf
from robodyn_ros.control.laws import registry
from robodyn_ros.control.references import sine_motion as motion
from robodyn_ros.testing import lockstep

pytest.importorskip('mujoco')
POSE, DURATION = np.array([0.3, 0.5]), 0.9
RATE = 500.0        # Hz; half the cycles of the default
NOT_ARMED, AT_REST, MOVING, FINE = LAWS = (
    'disturbance_observer', 'pd', 'joint_impedance', 'computed_torque')
USUAL = {'arming_samples': 20, 'arming_timeout': 5.0, 'power_limit': 1e4, 'following_error': [1.0]}
# The first one waits for too long, the second one sags and the third one lags behind too far
LIMITS = {NOT_ARMED: USUAL | {'arming_samples': 10_000, 'arming_timeout': 0.2},
          AT_REST: USUAL | {'power_limit': 1e-3}, MOVING: USUAL | {'following_error': [3e-3]},
          FINE: USUAL}


@pytest.fixture
def one_scene(forked_children, monkeypatch):
    """Compare in the scene with the exact model, with limits that some laws exceed."""
    scenes, gains_of = law_comparison.scenes, law_comparison.gains_of
    settings_of = law_comparison.settings_of
    for parameters in (lockstep.SIMULATOR, lockstep.CONTROLLER):
        monkeypatch.setitem(parameters, 'rate', RATE)
    for name, value in {
            'settings_of': lambda *of: replace(settings_of(*of), rate=RATE),
            'scenes': lambda model: scenes(model)[:1],
            'gains_of': lambda law, *where: gains_of(law, *where) | LIMITS[law]}.items():
        monkeypatch.setattr(law_comparison, name, value)
    monkeypatch.setattr(registry, 'FOLLOWING', LAWS)


def test_a_law_that_fails_does_not_end_the_comparison(one_scene):
    """
    The next one has the figures that it has without topics.

    Takes 15-30 s: two nodes start, and carry out four laws.
    """
    model = load_urdf('two_link')
    found = list(law_comparison.compare_topics(model, POSE, DURATION))
    assert [one.law for one in found] == list(LAWS)
    not_armed, at_rest, moving, fine = found
    assert not_armed.fault == 'not armed' and 'does not activate' in not_armed.reason
    assert at_rest.fault.startswith('faulted: POWER_ABOVE_LIMIT at rest, after 0.')
    assert at_rest.reason
    assert moving.fault.startswith('faulted: FOLLOWING_ERROR at 0.')
    assert moving.reason.startswith('the arm does not follow its reference')
    assert np.isnan([one[2:7] for one in (not_armed, at_rest, moving)]).all()
    asked = motion.plan(Dynamics(model), POSE, DURATION)
    alone = law_comparison.drive(law_comparison.scenes(model)[0], FINE, POSE, asked, DURATION)
    assert not fine.fault and fine[2:5] == pytest.approx(alone[2:5], rel=0.05)

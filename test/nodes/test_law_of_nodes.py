# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The nodes, in lockstep, carry out a law as `compare-laws` does in one process."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.closed_loop import Simulated
from robodyn_ros.control.references import sine_motion as motion
from robodyn_ros.control.settings.settings import GAINS
from robodyn_ros.law_comparison import drive, evaluated, scenes, settings_of
from robodyn_ros.testing import simulated_arm

pytest.importorskip('mujoco')
POSE, DURATION, LAW = np.array([0.3, 0.5]), 0.9, 'computed_torque'
RATE = 500.0        # Hz; half the cycles of the default
DELAY = 0.1         # s, simulation time: from the request to the motion


def test_a_motion_has_the_same_figures(forked_children, tmp_path):
    scene = scenes(load_urdf('two_link'))[0]
    settings = replace(settings_of(LAW, scene.known, POSE), rate=RATE)
    gains = {name: np.ravel(values).tolist() for name in (*GAINS, 'friction_compensation')
             if np.size(values := getattr(settings, name))}
    asked = motion.plan(Dynamics(scene.known), POSE, DURATION)
    (urdf := tmp_path / 'arm.urdf').write_text(scene.plant.to_urdf())
    with simulated_arm(str(urdf), position=POSE.tolist(), simulator={'rate': RATE}, controller={
            'rate': RATE, 'autostart': False, 'specialize': False, 'accepted_links': ['*'],
            'robot_compensates_gravity': False, **gains}) as arm:
        arm.change_state('configure')
        arm.start(LAW)
        arm.send(asked, arm.time + DELAY)
        arm.run(DELAY)
        begin, moved = arm.time, arm.run(float(asked.times[-1]) + DURATION)
    through_nodes = Simulated(moved.time - begin, *moved[1:], '', '', np.nan, moved.position,
                              moved.time, scene.known)
    found = evaluated(scene, LAW, asked, through_nodes, np.zeros((1, 2)))
    alone = drive(scene, LAW, POSE, asked, DURATION, settings)
    assert not found.fault and found[2:5] == pytest.approx(alone[2:5], rel=0.05)

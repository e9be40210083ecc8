# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Cut-off and mounting that predict the blocks that were not fitted."""

from dataclasses import replace

from motions import motion, noisy, nominal, real
import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.identification.estimation.conditions import better_cutoff, mounting_issue
from robodyn_ros.identification.preparation.options import PreparationOptions
from robodyn_ros.identification.preparation.prepare import prepare
from robodyn_ros.identification.recordings.recording import Recording

pytest.importorskip('clarabel', reason='needs the extra identify')


def recorded(model, chirp, noise=0.05, seconds=60.0, rate=200.0):
    """Return a recording of slow motion with chirps [rad] up to 6 Hz at times."""
    time = np.arange(round(seconds * rate)) / rate
    phase = 2 * np.pi * (1.0 * time + 0.5 * 5.0 * (time % 10.0)**2 / 10.0)
    burst = chirp * np.sin(phase)[:, None] * np.where(time % 10.0 > 5.0, 1.0, 0.0)[:, None]
    q = 0.8 * np.sin(np.outer(time, [1.1, 1.7])) + burst * [1.0, -0.7]
    v, a = (np.gradient(x, time, axis=0) for x in (q, np.gradient(q, time, axis=0)))
    batch = Dynamics(model).batch
    effort = batch.inverse_dynamics(q, v, a) + batch.friction(v)
    effort += noise * np.random.default_rng(1).normal(size=q.shape)
    return Recording(model.joint_names, time, q, None, effort)


def test_a_higher_cutoff_where_the_slow_part_of_a_chirp_tells_too_little():
    recording = recorded(real(), 0.03)
    motions = {cutoff: prepare(recording, PreparationOptions(cutoff=cutoff)).motion
               for cutoff in (0.6, 1.2, 2.4)}
    found, why = better_cutoff(nominal(), motions)
    assert found > 0.6 and 'by cross-validation' in why


def test_short_blocks_choose_no_cutoff():
    recording = recorded(real(), 0.03, seconds=20.0)
    motions = {cutoff: prepare(recording, PreparationOptions(cutoff=cutoff)).motion
               for cutoff in (0.6, 1.2, 2.4)}
    assert better_cutoff(nominal(), motions) is None


def test_the_cutoff_of_the_spectrum_stays_where_it_is_as_good():
    recording = recorded(real(), 0.0)
    motions = {cutoff: prepare(recording, PreparationOptions(cutoff=cutoff)).motion
               for cutoff in (3.0, 6.0, 12.0)}
    assert better_cutoff(nominal(), motions) is None


@pytest.mark.parametrize('gravity', [(9.81, 0.0, 0.0), (0.0, 0.0, 9.81), (0.0, 0.0, -9.81)])
def test_the_mounting_of_a_robot_whose_inertias_nobody_wrote(spatial, gravity):
    robot = replace(spatial, gravity_vector=np.array(gravity))
    given = noisy(motion(robot, 1500), 0.05, 2)
    kinematics = replace(spatial, mass=0 * spatial.mass, com=0 * spatial.com,
                         inertia=0 * spatial.inertia, gravity_vector=np.array([0.0, 0.0, -9.81]))
    found = mounting_issue(kinematics, given)
    if gravity == (0.0, 0.0, -9.81):
        assert found is None
    else:
        assert found.kind == 'mounting' and str(gravity) in found.message

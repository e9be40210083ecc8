# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Many controllers that are stepped together do what each would do alone."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import (
    Controller,
    ControllerBatch,
    Dynamics,
    load_urdf,
    Phase,
    Settings,
    suggest_gains,
    Waypoints,
)
from robodyn_ros.control.controller import controller_batch
from robodyn_ros.errors import ArgumentError

DT = 1e-3


@pytest.fixture(scope='module')
def arm():
    return load_urdf('two_link')


@pytest.fixture(scope='module')
def settings(arm):
    return Settings(mode='computed_torque', **suggest_gains(arm)._asdict())


@pytest.mark.parametrize('threaded', [False, True])
def test_each_does_what_it_would_do_alone(arm, settings, threaded, monkeypatch):
    monkeypatch.setattr(controller_batch, 'MIN_THREADED', 2 if threaded else 100)
    n, dynamics, rng = 9, Dynamics(arm), np.random.default_rng(1)
    batch = ControllerBatch(arm, settings, n, specialize=False)
    alone = [Controller(arm, settings, specialize=False) for _ in range(n)]
    q, goal = rng.uniform(-0.5, 0.5, (2, n, 2))
    qd, effort = np.zeros((n, 2)), dynamics.batch.gravity(q)        # of the brakes
    batch.arm()
    for one in alone:
        one.arm()
    for k in range(400):
        now = DT * k
        if k == 200:
            assert {one.phase for one in batch} == {Phase.RUNNING}
            for one, other, end in zip(batch, alone, goal):
                path = Waypoints(arm.joint_names, np.array([1.0]), end[None])
                one.follow(path, now)
                other.follow(path, now)
        if k == 250:
            batch[4].stop()
            alone[4].stop()
        heard = np.arange(n) != (5 if k > 300 else -1)
        batch.state['position'], batch.state['velocity'] = q, qd
        batch.state['effort'] = effort
        batch.state['received'][heard] = now
        for one, state in zip(alone, batch.state):
            one.state[:] = state
        sent = batch.step(now)
        assert sent.tolist() == [one.step(now) for one in alone]
        np.testing.assert_array_equal(batch.tau, [one.tau for one in alone])
        effort[sent] = batch.tau[sent]
        qd = np.where(sent[:, None], qd + DT * dynamics.batch.forward_dynamics(q, qd, effort), 0)
        q = q + DT * qd
    assert [one.phase for one in batch] == [one.phase for one in alone]
    assert batch[5].reason_code == 'STALE_STATE' and batch[4].phase is Phase.INACTIVE
    assert len({one.phase for one in batch}) == 3 and len(batch) == n


def test_missed_periods_count_for_all(arm, settings):
    batch = ControllerBatch(arm, settings, 3, specialize=False)
    gravity = Dynamics(arm).gravity([0.1, 0.2])
    batch.state['position'], batch.state['velocity'] = [0.1, 0.2], 0.0
    batch.state['effort'] = gravity
    batch.arm()
    for k in range(300):                # twice as slow as the gains were judged for
        batch.state['received'] = now = 2 * DT * k
        batch.step(now)
    assert {one.reason_code for one in batch} == {'PERIODS_MISSED'}
    assert 'step is called every 2 ms' in batch[2].reason


def test_only_an_equal_controller_vouches_for_another_one(arm, settings):
    first = Controller(arm, settings, specialize=False)
    for model, other in ((load_urdf('two_link'), settings), (arm, replace(settings, rate=900.0))):
        with pytest.raises(ArgumentError, match='another model, or with other settings'):
            Controller(model, other, specialize=False, like=first)


def test_there_is_at_least_one_arm(arm, settings):
    for count in (2.5, '2', np.nan):
        with pytest.raises(ArgumentError, match='count is'):
            ControllerBatch(arm, settings, count)
    with pytest.raises(ArgumentError, match='count is 0'):
        ControllerBatch(arm, settings, 0)

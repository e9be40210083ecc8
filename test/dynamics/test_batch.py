# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Batches: every quantity of many states is that of each."""

import numpy as np
import pytest
from robodyn_ros.dynamics import BaseMotion, Batch
from robodyn_ros.dynamics.signatures import QUANTITIES
from robodyn_ros.errors import ArgumentError

COUNT = 130


def parts(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize('name', QUANTITIES)
def test_a_batch_is_what_the_single_calls_give(robot, name):
    dynamics = robot('panda').dynamics
    inputs = np.random.default_rng(1).uniform(-1, 1, (len(QUANTITIES[name].inputs), COUNT, 7))
    choices = {'frame': 'panda_hand', 'axes': 'xyz', 'reference': 'aligned'}
    frame = {key: value for key, value in choices.items() if key in QUANTITIES[name].options}
    together = parts(getattr(dynamics.batch, name)(*inputs, **frame))
    alone = [parts(getattr(dynamics, name)(*inputs[:, k], **frame)) for k in range(COUNT)]
    for i, part in enumerate(together):
        assert (part == np.array([one[i] for one in alone])).all()


def test_wrenches_are_those_of_all_states_or_of_each(robot, close):
    dynamics, rng = robot('ur5').dynamics, np.random.default_rng(1)
    motion, each = rng.uniform(-1, 1, (3, COUNT, 6)), rng.uniform(-9, 9, (COUNT, 6))
    base = BaseMotion((1, 2, 3), (0.1, 0.2, 0.3))
    for reference in ('body', 'aligned', 'world'):
        for wrench in (each, each[0]):
            ours = dynamics.batch.inverse_dynamics(*motion, {'tool0': wrench}, reference, base)
            alone = [dynamics.inverse_dynamics(*motion[:, k], {'tool0': w}, reference, base)
                     for k, w in enumerate(np.broadcast_to(wrench, (COUNT, 6)))]
            close(ours, np.array(alone), 1e-13)
    on_links = rng.uniform(-1, 1, (COUNT, 6, 6))
    ours = dynamics.batch.inverse_dynamics(*motion, on_links, 'body')
    close(ours[77], dynamics.inverse_dynamics(*motion[:, 77], on_links[77], 'body'), 1e-13)


@pytest.mark.parametrize('threads', [1, 2, 5])
def test_any_number_of_threads_gives_the_same(robot, threads):
    dynamics = robot('panda').dynamics
    q = np.random.default_rng(1).uniform(-1, 1, (1001, 7))
    assert (Batch(dynamics.model, threads).gravity(q) == dynamics.batch.gravity(q)).all()


@pytest.mark.parametrize('threads', [0, -1])
def test_no_threads_are_refused_at_once(robot, threads):
    with pytest.raises(ArgumentError, match='threads'):
        Batch(robot('two_link').model, threads=threads)


def test_none_are_a_batch_too(robot):
    dynamics = robot('panda').dynamics
    assert dynamics.batch.gravity(np.zeros((0, 7))).shape == (0, 7)
    assert dynamics.batch.kinetic_energy(np.zeros((0, 7)), np.zeros((0, 7))).shape == (0,)

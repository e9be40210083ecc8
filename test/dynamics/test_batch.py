# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Batches: several states at once are each of them, of one instruction too."""

from dynamics.conftest import parts, VECTORS
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.dynamics import BaseMotion, Batch
from robodyn_ros.dynamics.entry_points import QUANTITIES
from robodyn_ros.dynamics.llvm_code import SIMD_LANES
from robodyn_ros.dynamics.spatial import REDUCTION_LIMIT
from robodyn_ros.dynamics.specialize import simd_batch, SPECIALIZED_QUANTITIES
from robodyn_ros.errors import ArgumentError
from robots import ARM, GRIPPER, REAL

pytestmark = pytest.mark.slow

COUNT = 130


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


# Sliding joints and turning ones, followers; sliders, whose efforts do not depend on positions
FAST = GRIPPER.replace('multiplier="20"', 'multiplier="2e3"').replace(
    'lower="-1" upper="0.15"', 'lower="-1e5" upper="1e5"')
ROBOTS = {'gripper': FAST, 'sliders': ARM.replace('"revolute"', '"prismatic"')}
OF_ROBOTS = [*(('gripper', name) for name in VECTORS), ('sliders', 'inverse_dynamics'),
             ('sliders', 'kinetic_energy')]


@pytest.fixture(scope='module', params=ROBOTS)
def model(request):
    return load_urdf(ROBOTS[request.param])


def inputs_of(name, count, nv, seed=1):
    return np.random.default_rng(seed).uniform(-3, 3, (len(QUANTITIES[name].inputs), count, nv))


@pytest.mark.parametrize(('model', 'name'), OF_ROBOTS, indirect=['model'])
def test_a_batch_is_what_the_code_for_any_robot_gives(model, name, close):
    ours, any_robot = Batch(model, 1, specialize=True), Batch(model, 1)
    for count in (0, 1, SIMD_LANES - 1, SIMD_LANES, SIMD_LANES + 1, 70):
        inputs = inputs_of(name, count, model.nv)
        mine, right = getattr(ours, name)(*inputs), getattr(any_robot, name)(*inputs)
        assert mine.shape == right.shape and len(mine) == count
        for one, other in zip(np.atleast_1d(mine), np.atleast_1d(right)):
            close(np.asarray(one), np.asarray(other), 1e-12)


def test_far_angles_and_kinds_of_inputs(model, close):
    ours, any_robot = Batch(model, 1, specialize=True), Batch(model, 1)
    (q,) = inputs_of('gravity', 11, model.nv)
    q[4, 0], q[6, -1] = 3.0 * REDUCTION_LIMIT, -1e12 * REDUCTION_LIMIT
    q[9, -1] = -1e3 * REDUCTION_LIMIT           # in the incomplete group
    q[2] = 0.5 * REDUCTION_LIMIT                # the pad turns a thousand times as far
    for mine, right in zip(ours.gravity(q), any_robot.gravity(q)):
        close(mine, right, 1e-12)
    dynamics = Dynamics(model, specialize=True)
    for name in SPECIALIZED_QUANTITIES & QUANTITIES.keys():
        if not QUANTITIES[name].options:
            kernel = getattr(dynamics.kernels, name) if name in VECTORS else None
            made = simd_batch(name, dynamics._robot, {}, kernel)
            assert (made is not None) == (name in VECTORS), name


def test_offsets_beyond_the_limit_and_axes_that_bear_no_weight(close):
    far = load_urdf(GRIPPER.replace('offset="0.1"', 'offset="5e8"').replace(
        'lower="-1" upper="0.15"', 'lower="4e8" upper="6e8"'))
    (q,) = inputs_of('gravity', 2 * SIMD_LANES, far.nv)
    close(Batch(far, 1, specialize=True).gravity(q), Batch(far, 1).gravity(q), 1e-12)
    # The vertical axis at the foot of an arm bears no weight.
    model = load_urdf(REAL['ur5'])
    (q,) = inputs_of('gravity', 9, model.nv)
    mine = Batch(model, 1, specialize=True).gravity(q)
    assert (mine[:, 0] == 0.0).all()
    close(mine, Batch(model, 1).gravity(q), 1e-12)


def test_threads_share_the_states_and_numbers_may_be_huge(model):
    inputs = inputs_of('inverse_dynamics', 203, model.nv)
    for specialize in (False, True):
        one, *more = (Batch(model, threads, specialize) for threads in (1, 2, 3, 5))
        for many in more:
            assert (one.inverse_dynamics(*inputs) == many.inverse_dynamics(*inputs)).all()
    q, qd, qdd = inputs_of('inverse_dynamics', SIMD_LANES, model.nv)
    qdd[0] = 1.7e308                        # whose sum is not
    mine = Batch(model, 1, specialize=True).inverse_dynamics(q, qd, qdd)
    assert np.isfinite(mine[1:]).all()


def test_inputs_stay_as_they_are_and_may_be_of_any_kind(model):
    batch = Batch(model, 1, specialize=True)
    (q,) = inputs_of('gravity', 10, model.nv)
    before, right = q.copy(), batch.gravity(q)
    constant = q.copy()
    constant.setflags(write=False)
    other = np.asfortranarray(q)
    apart = np.repeat(q, 2, axis=0)[::2]
    raw = np.frombuffer(b'x' + q.tobytes(), np.uint8)[1:].view(np.float64).reshape(q.shape)
    for given in (constant, other, apart, raw, q.tolist(), q.astype('>f8')):
        assert (batch.gravity(given) == right).all()
    assert (q == before).all()
    assert not np.shares_memory(batch.gravity(q), q)


@pytest.mark.parametrize(('model', 'name'), OF_ROBOTS, indirect=['model'])
def test_what_is_not_finite_is_named_wherever_it_is(model, name):
    """In a whole group of states and in an incomplete one; outputs need not depend on it."""
    batch = Batch(model, 1, specialize=True)
    names = QUANTITIES[name].inputs
    for where in np.ndindex(len(names), 2, model.nv):
        for value in (np.nan, np.inf, -np.inf):
            inputs = inputs_of(name, SIMD_LANES + 2, model.nv)
            of, k, joint = where[0], (3, SIMD_LANES + 1)[where[1]], where[2]
            inputs[of, k, joint] = value
            with pytest.raises(ArgumentError,
                               match=rf'{names[of]}\[{k}, {joint}\], of joint .*, is {value}'):
                getattr(batch, name)(*inputs)

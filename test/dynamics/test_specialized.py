# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled for one robot: the generic ones' numbers, behavior and promises."""

from dataclasses import replace
import logging
import os
import subprocess
import sys
import threading

import numba
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.compiler import code_cache, jit
from robodyn_ros.dynamics.model_data import parameters
from robodyn_ros.dynamics.signatures import QUANTITIES
from robodyn_ros.dynamics.specialize import MAX_OPERATIONS, with_kernels
from robodyn_ros.errors import ArgumentError, SingularityError
from robots import random_tree

pytestmark = pytest.mark.slow

MAIN = ('inverse_dynamics', 'gravity', 'bias', 'mass_matrix', 'forward_dynamics')
FRAME = {'two_link': 'tool0', 'gripper': 'right_pad'}


@pytest.fixture(scope='session')
def special(robot):
    """Return what gives the specialized dynamics of a robot by name."""
    made = {}

    def special(name):
        if name not in made:
            made[name] = Dynamics(robot(name).model, specialize=True)
        return made[name]
    return special


def arguments(name, quantity):
    """Frame and axes that a quantity asks for."""
    options = QUANTITIES[quantity].options
    found = {'frame': FRAME[name]} if 'frame' in options else {}
    if 'reference' in options:
        found['reference'] = 'aligned'
    return found | ({'axes': 'z', 'damping': 0.01}
                    if 'damping' in options else {})


def parts(result):
    return result if isinstance(result, tuple) else (result,)


# The code that is compiled is run in Python by test_trace.py, for every quantity of a gripper too
@pytest.mark.parametrize(('name', 'quantity'), [
    *(('two_link', quantity) for quantity in QUANTITIES),
    *(('gripper', quantity) for quantity in MAIN)])
def test_every_quantity_is_that_of_the_generic_kernels(robot, special, close, name, quantity):
    case, more = robot(name), arguments(name, quantity)
    for state in case.states(3):
        given = state[:len(QUANTITIES[quantity].inputs)]
        theirs = parts(getattr(case.dynamics, quantity)(*given, **more))
        ours = parts(getattr(special(name), quantity)(*given, **more))
        batch = parts(getattr(special(name).batch, quantity)(*(v[None] for v in given), **more))
        for mine, other, many in zip(ours, theirs, batch):
            close(np.asarray(mine), np.asarray(other), 1e-12)
            close(np.asarray(many)[0], np.asarray(other), 1e-12)


@pytest.mark.parametrize('quantity', MAIN)
def test_a_panda_is_that_of_the_generic_kernels(robot, special, close, quantity):
    case = robot('panda')
    for state in case.states(20):
        given = state[:len(QUANTITIES[quantity].inputs)]
        close(getattr(special('panda'), quantity)(*given),
              getattr(case.dynamics, quantity)(*given), 1e-12)


def test_positions_far_out_are_as_good_as_near_ones(robot, special, close):
    case = robot('panda')
    for q, _, _ in case.states():
        for far in (q + 2 * np.pi * 1e9, np.where(np.arange(7) == 3, q + 2 * np.pi * 1e7, q)):
            close(special('panda').gravity(far), case.gravity(far))


def test_anything_like_an_array_gives_the_same(special):
    dynamics, q = special('two_link'), np.array([0.3, 0.5])
    frozen = q.copy()
    frozen.setflags(write=False)
    expected = dynamics.gravity(q)
    for same in ([0.3, 0.5], (0.3, 0.5), frozen, np.repeat(q, 2)[::2]):
        assert (dynamics.gravity(same) == expected).all()
    assert (dynamics.gravity(q=q) == expected).all()


@pytest.mark.parametrize('bad', [np.array([0.3, np.nan]), np.array([np.inf, 0]), np.zeros(3),
                                 np.zeros((2, 1)), 'ab', None])
def test_errors_are_those_of_the_generic_methods(robot, special, bad):
    messages = []
    for dynamics in (robot('two_link').dynamics, special('two_link')):
        with pytest.raises(ArgumentError) as error:
            dynamics.bias(np.zeros(2), bad)
        messages.append(str(error.value))
    assert messages[0] == messages[1]
    with pytest.raises(TypeError):
        special('two_link').gravity()
    with pytest.raises(SingularityError):
        special('two_link').task_space([0, 0], [0, 0], 'tool0', 'xy', 'body')


def test_wrenches_and_a_moving_base_are_taken(robot, special, close):
    wrench = {'tool0': np.arange(6.0)}
    given = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    close(special('two_link').inverse_dynamics(*given, wrench, 'body'),
          robot('two_link').dynamics.inverse_dynamics(*given, wrench, 'body'), 1e-15)


def test_compiled_code_calls_them_without_the_gil(special):
    gravity = special('two_link').kernels.gravity
    assert gravity.targetoptions['nogil']

    @numba.njit
    def twice(q, tau):
        gravity(q, tau)
        for i in range(len(tau)):
            tau[i] *= 2.0

    q, tau = np.array([0.3, 0.5]), np.zeros(2)
    twice(q, tau)
    assert (tau == 2.0 * special('two_link').gravity(q)).all()


def test_threads_do_not_disturb_each_other(robot, special):
    dynamics, states = special('panda'), list(robot('panda').states(50))
    expected = [dynamics.forward_dynamics(*state) for state in states]
    wrong = []

    def work(step):
        for k in range(2000):
            i = k * step % len(states)
            if (dynamics.forward_dynamics(*states[i]) != expected[i]).any():
                wrong.append(i)
    threads = [threading.Thread(target=work, args=(step,)) for step in (3, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_is_too_large_is_generic_and_says_so(close, caplog):
    model = load_urdf(random_tree(30, 120))
    with caplog.at_level(logging.WARNING):
        dynamics = Dynamics(model, specialize=True)
        q = np.random.default_rng(1).uniform(-1, 1, 120)
        M = dynamics.mass_matrix(q)
    assert 'mass_matrix' in caplog.text and f'more than {MAX_OPERATIONS} operations' in caplog.text
    close(M, Dynamics(model).mass_matrix(q), 1e-13)


# The cache. What holds for any compiled text is tested in test_jit.py: here, what decides the text

def file_of(model):
    """Name of the module that a robot's gravity is compiled in."""
    return Dynamics(model, specialize=True).kernels.gravity.__module__


def test_another_robot_has_another_file(robot):
    model = robot('two_link').model
    first = file_of(model)
    assert file_of(load_urdf(model.to_urdf())) == first
    heavier = model.mass.copy()
    heavier[1] = np.nextafter(heavier[1], 9)
    for change in ({'mass': heavier}, {'gravity_vector': np.array([0, 0, -9.8])}):
        assert file_of(replace(model, **change)) != first


@pytest.mark.parametrize('module', ['rnea', 'spatial', 'joint_transforms'])
def test_a_changed_source_has_another_file(robot, monkeypatch, tmp_path, module):
    model = robot('two_link').model
    first = file_of(model)
    source = sys.modules[f'robodyn_ros.dynamics.{module}']
    changed = tmp_path / f'{module}.py'
    changed.write_text(open(source.__file__).read() + '\n# changed\n')
    monkeypatch.setattr(source, '__file__', str(changed))
    jit._load.cache_clear()
    try:
        assert file_of(model) != first
    finally:
        jit._load.cache_clear()


def test_another_processor_has_another_file(robot, monkeypatch):
    model = robot('two_link').model
    first = file_of(model)
    monkeypatch.setattr(code_cache.llvmlite.binding, 'get_host_cpu_name', lambda: 'another')
    jit._load.cache_clear()
    code_cache.compiler_digest.cache_clear()
    try:
        assert file_of(model) != first
    finally:
        jit._load.cache_clear()
        code_cache.compiler_digest.cache_clear()


SCRIPT = """
import sys
from robodyn_ros import Dynamics, load_urdf
dynamics = Dynamics(load_urdf(sys.argv[1]), specialize=True)
kernel = dynamics.kernels.gravity
print(dynamics.gravity([0.3, 0.5]).tolist(), sum(kernel.stats.cache_misses.values()))
"""


def test_the_next_process_compiles_nothing(robot, tmp_path):
    """Two at once, and folders that cannot be written: test_jit.py. An interpreter takes 2 s."""
    urdf = tmp_path / 'robot.urdf'
    urdf.write_text(robot('two_link').urdf)
    first, second = (subprocess.run(
        [sys.executable, '-c', SCRIPT, str(urdf)], text=True, capture_output=True, check=True,
        env={**os.environ, 'ROBODYN_CACHE_DIR': str(tmp_path / 'cache')},
        timeout=120).stdout.rpartition(' ') for _ in range(2))
    assert first[0] == second[0] and (first[2], second[2]) == ('1\n', '0\n')


def test_kernels_are_called_by_address_too(robot):
    own = with_kernels(parameters(robot('two_link').model))
    assert own.addresses.all() and len(set(own.addresses)) == len(own.addresses)


def test_a_task_that_is_singular_everywhere_has_a_kernel_without_meaning(special):
    M, V, G = np.zeros((1, 1)), np.zeros(1), np.zeros(1)
    special('two_link').kernels.task_space('tool0', 'z', 'body')(np.ones(2), np.ones(2), M, V, G)
    assert not np.isfinite(M).all()

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled for one robot: the generic ones' numbers, behavior and promises."""

from dataclasses import replace
import logging
import subprocess
import sys

from dynamics.conftest import MAIN, parts, VECTORS
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.compiler import code_cache, jit
from robodyn_ros.dynamics import rnea
from robodyn_ros.dynamics.entry_points import QUANTITIES
from robodyn_ros.dynamics.model_data import parameters
from robodyn_ros.dynamics.specialize import MAX_OPERATIONS, with_kernels
from robodyn_ros.errors import ArgumentError, SingularityError
from robots import random_tree

pytestmark = pytest.mark.slow


@pytest.fixture(scope='session')
def special(robot):
    """Return what gives the specialized dynamics of a robot by name."""
    made = {}

    def special(name):
        if name not in made:
            made[name] = Dynamics(robot(name).model, specialize=True)
        return made[name]
    return special


def arguments(quantity):
    """Options that a quantity of two_link asks for."""
    options = {'frame': 'tool0', 'reference': 'aligned', 'axes': 'xz', 'damping': 0.0}
    return {name: options[name] for name in QUANTITIES[quantity].options}


# The code that is compiled is run in Python by test_plain_functions.py, for a gripper too
@pytest.mark.parametrize(('name', 'quantity', 'count'), [
    *(('two_link', quantity, 3) for quantity in QUANTITIES),
    *(('panda', quantity, 20) for quantity in MAIN)])
def test_every_quantity_is_that_of_the_generic_kernels(robot, special, close, name, quantity,
                                                       count):
    case, more = robot(name), arguments(quantity)
    for state in case.states(count):
        given = state[:len(QUANTITIES[quantity].inputs)]
        theirs = parts(getattr(case.dynamics, quantity)(*given, **more))
        ours = parts(getattr(special(name), quantity)(*given, **more))
        for mine, other in zip(ours, theirs):
            close(mine, other, 1e-12)
        if name == 'two_link' and quantity not in VECTORS:
            batch = getattr(special(name).batch, quantity)(*(v[None] for v in given), **more)
            for many, other in zip(parts(batch), theirs):
                close(many[0], other, 1e-12)


def test_far_positions_wrenches_and_addresses(robot, special, close):
    case = robot('panda')
    for q, _, _ in case.states():
        for far in (q + 2 * np.pi * 1e9, np.where(np.arange(7) == 3, q + 2 * np.pi * 1e7, q)):
            for dynamics in (case.dynamics, special('panda')):
                close(dynamics.gravity(far), case.gravity(far))
    wrench = {'tool0': np.arange(6.0)}
    given = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    close(special('two_link').inverse_dynamics(*given, wrench, 'body'),
          robot('two_link').dynamics.inverse_dynamics(*given, wrench, 'body'), 1e-15)
    own = with_kernels(parameters(robot('two_link').model))
    assert own.addresses.all() and len(set(own.addresses)) == len(own.addresses)
    M, V, G = np.zeros((1, 1)), np.zeros(1), np.zeros(1)
    special('two_link').kernels.task_space('tool0', 'z', 'body')(np.ones(2), np.ones(2), M, V, G)
    assert not np.isfinite(M).all()


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


def test_what_is_too_large_is_generic_and_says_so(close, caplog):
    model = load_urdf(random_tree(30, 120))
    with caplog.at_level(logging.WARNING):
        dynamics = Dynamics(model, specialize=True)
        q = np.random.default_rng(1).uniform(-1, 1, 120)
        M = dynamics.mass_matrix(q)
    assert 'mass_matrix' in caplog.text and f'more than {MAX_OPERATIONS} operations' in caplog.text
    close(M, Dynamics(model).mass_matrix(q), 1e-13)


def test_what_decides_the_code_decides_its_file(robot, monkeypatch, tmp_path):
    """What holds for any compiled text is tested in test_jit.py."""
    model = robot('two_link').model
    heavier = model.mass.copy()
    heavier[1] = np.nextafter(heavier[1], 9)
    changed = tmp_path / 'rnea.py'
    changed.write_text(open(rnea.__file__).read() + '\n# changed\n')

    def file_of(model):
        jit._load.cache_clear()
        code_cache.compiler_digest.cache_clear()
        return Dynamics(model, specialize=True).kernels.gravity.__module__
    first = file_of(model)
    try:
        assert file_of(load_urdf(model.to_urdf())) == first
        assert file_of(replace(model, mass=heavier)) != first
        with monkeypatch.context() as patch:
            patch.setattr(rnea, '__file__', str(changed))
            assert file_of(model) != first
        with monkeypatch.context() as patch:
            patch.setattr(code_cache.llvmlite.binding, 'get_host_cpu_name', lambda: 'another')
            assert file_of(model) != first
    finally:
        assert file_of(model) == first


SCRIPT = """
import sys
from robodyn_ros import Dynamics, load_urdf
dynamics = Dynamics(load_urdf(sys.argv[1]), specialize=True)
kernel = dynamics.kernels.gravity
print(dynamics.gravity([0.3, 0.5]).tolist(), sum(kernel.stats.cache_misses.values()))
"""


def test_the_next_process_compiles_nothing(robot, special, tmp_path):
    """Two at once, and folders that cannot be written: test_jit.py."""
    (urdf := tmp_path / 'robot.urdf').write_text(robot('two_link').urdf)
    expected = special('two_link').gravity([0.3, 0.5]).tolist()
    found = subprocess.run([sys.executable, '-c', SCRIPT, str(urdf)], text=True, check=True,
                           capture_output=True, timeout=120).stdout
    assert found == f'{expected} 0\n'

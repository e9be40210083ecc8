# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion and refusal of arguments in checked calls."""

import numpy as np
import pytest
from robodyn_ros.errors import ArgumentError, UnknownNameError

CALLS = {'inverse_dynamics': ('q', 'qd', 'qdd'), 'gravity': ('q',), 'bias': ('q', 'qd'),
         'mass_matrix': ('q',), 'forward_dynamics': ('q', 'qd', 'tau')}
ARGUMENTS = [(call, name) for call, names in CALLS.items() for name in names]


@pytest.fixture(scope='session')
def ur5(robot):
    return robot('ur5').dynamics


def call_with(dynamics, call, name, value):
    arguments = {other: np.zeros(dynamics.model.nv) for other in CALLS[call]}
    return getattr(dynamics, call)(**{**arguments, name: value})


@pytest.mark.parametrize(('call', 'name'), ARGUMENTS)
@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_named(ur5, call, name, bad):
    with pytest.raises(ArgumentError, match=rf'{name}\[2\].*elbow_joint.*{bad}') as error:
        call_with(ur5, call, name, [0, 0, bad, 0, 0, 0])
    assert error.value.name == name


@pytest.mark.parametrize(('call', 'name'), ARGUMENTS)
@pytest.mark.parametrize('bad', [np.zeros(5), np.zeros(7), np.zeros((6, 1)), 0.0, [], None])
def test_a_wrong_shape_is_told_with_the_right_one(ur5, call, name, bad):
    with pytest.raises(ArgumentError, match=rf'{name} .*\(6,\)') as error:
        call_with(ur5, call, name, bad)
    assert error.value.name == name


@pytest.mark.parametrize('bad', [['a'] * 6, [1j] * 6, [[1], [1, 2]]])
def test_what_is_no_array_of_numbers_is_refused(ur5, bad):
    with pytest.raises(ArgumentError, match='q is not an array of numbers'):
        ur5.gravity(bad)


def test_any_array_like_will_do(ur5):
    expected = ur5.gravity(np.arange(6.0))
    frozen = np.arange(6.0)
    frozen.setflags(write=False)
    for same in (range(6), [0, 1, 2, 3, 4, 5], np.arange(6, dtype='>f4'),
                 np.arange(12.0)[::2] / 2, frozen):
        assert (ur5.gravity(same) == expected).all()


def test_large_numbers_are_numbers(ur5):
    assert np.isfinite(ur5.inverse_dynamics(np.zeros(6), np.zeros(6), [1e200] * 6)).all()


def test_results_are_new_and_arguments_untouched(ur5):
    q = np.arange(6.0)
    first = ur5.mass_matrix(q)
    kept = first.copy()
    assert ur5.mass_matrix(q + 1) is not first
    assert (first == kept).all()
    assert (q == np.arange(6.0)).all()


def test_wrenches_on_the_base_change_nothing(ur5):
    q = np.arange(6.0)
    assert ur5.model.frame(ur5.model.base_link).body == -1
    assert (ur5.inverse_dynamics(q, q, q, {ur5.model.base_link: np.ones(6)}, 'body')
            == ur5.inverse_dynamics(q, q, q)).all()


@pytest.mark.parametrize('call', ['inverse_dynamics', 'forward_dynamics'])
def test_bad_wrenches_are_refused(ur5, call):
    def under(wrenches):
        return getattr(ur5, call)(*np.zeros((3, 6)), wrenches, 'body')

    with pytest.raises(UnknownNameError, match='tool0'):
        under({'tool1': np.zeros(6)})
    with pytest.raises(ArgumentError, match=r"wrenches\['tool0'\].*\(6,\)"):
        under({'tool0': np.zeros(3)})
    with pytest.raises(ArgumentError, match='tool0.*nan'):
        under({'tool0': [0, 0, np.nan, 0, 0, 0]})
    with pytest.raises(ArgumentError, match='base_link.*nan'):
        under({'base_link': [0, 0, np.nan, 0, 0, 0]})
    with pytest.raises(ArgumentError, match=r'wrenches has shape \(6,\).*\(6, 6\)'):
        under(np.zeros(6))
    with pytest.raises(ArgumentError, match='wrist_3_link.*inf'):
        under([[0] * 6] * 5 + [[0, np.inf, 0, 0, 0, 0]])


def test_what_is_no_option_is_refused(ur5):
    q, zero = np.zeros(6), np.zeros(6)
    for name, call in {
            'frame': lambda: ur5.pose(q, ['tool0']),
            'reference': lambda: ur5.jacobian(q, 'tool0', ['body']),
            'axes': lambda: ur5.task_space(q, zero, 'tool0', ['x', 'y'], 'body'),
            'damping': lambda: ur5.task_space(q, zero, 'tool0', 'x', 'body', damping=np.ones(2)),
            'base': lambda: ur5.gravity(q) + ur5.bias(q, zero, base=5)}.items():
        with pytest.raises(ArgumentError) as error:
            call()
        assert error.value.name == name
    with pytest.raises(ArgumentError, match='axes'):
        ur5.kernels.task_space('tool0', ['x', 'y'], 'body')
    with pytest.raises(UnknownNameError, match='reference'):
        ur5.bias(q, zero, {'tool0': np.ones(6)}, reference=['world'])


def test_no_imaginary_part_is_dropped(ur5):
    with pytest.raises(ArgumentError, match='numbers'):
        ur5.gravity(np.full(6, 1e-20j))


def test_damping_that_changes_fills_no_memory(ur5):
    q = np.linspace(0.3, 0.8, 6)
    for share in np.geomspace(1e-4, 1e-2, 20):
        ur5.task_space(q, q, 'tool0', 'xyz', 'body', damping=share)
    assert sum(options[:1] == ('tool0',) and 'xyz' in options for options in ur5._options) == 1

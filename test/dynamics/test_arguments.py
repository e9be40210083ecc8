# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of checked calls; copies and subclasses of the objects; robots without inertia."""

import copy
import pickle
import re

from dynamics.conftest import MAIN
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.dynamics import Batch
from robodyn_ros.dynamics.entry_points import QUANTITIES
from robodyn_ros.errors import ArgumentError, InertiaError, SingularityError, UnknownNameError
from robodyn_ros.model.resources import robot_path
from robots import ARM, differences

Q, ZERO = np.arange(6.0), np.zeros(6)
INERTIAL = re.compile(r'<inertial>.*?</inertial>', re.DOTALL)
Q2, QD2, QDD2 = [0.3, 0.1], [1.0, 2.0], [0.5, -1.0]
MASSLESS = """<robot name="wheel"><link name="base"/><link name="rim"><inertial><mass value="0"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="axle" type="continuous"><parent link="base"/><child link="rim"/></joint></robot>"""


@pytest.fixture(scope='session')
def ur5(robot):
    return robot('ur5').dynamics


@pytest.mark.parametrize(('call', 'name'), [
    (call, name) for call in MAIN for name in QUANTITIES[call].inputs])
def test_numbers_that_are_not_finite_and_wrong_shapes_are_named(ur5, call, name):
    for bad, said in (*((value, rf'{name}\[2\].*elbow_joint.*{value}')
                        for value in (np.nan, np.inf, -np.inf)),
                      *((value, rf'{name} .*\(6,\)') for value in (
                          np.zeros(5), np.zeros(7), np.zeros((6, 1)), 0.0, [], None)),
                      *((value, f'{name} is not an array of numbers') for value in (
                          ['a'] * 6, [1j] * 6, [[1], [1, 2]], np.full(6, 1e-20j)))):
        given = [0, 0, bad, 0, 0, 0] if 'elbow' in said else bad
        with pytest.raises(ArgumentError, match=said) as error:
            getattr(ur5, call)(**{
                **dict.fromkeys(QUANTITIES[call].inputs, ZERO), name: given})
        assert error.value.name == name


@pytest.mark.parametrize('specialize', [False, True])
def test_any_array_like_will_do(specialize):
    dynamics = Dynamics(load_urdf(robot_path('two_link')), specialize)
    q = np.array([1.0, 2.0])
    expected, frozen = dynamics.gravity(q), q.copy()
    frozen.setflags(write=False)
    for same in (range(1, 3), [1, 2], (1.0, 2.0), q.astype('>f4'), np.repeat(q, 2)[::2], frozen):
        assert (dynamics.gravity(same) == expected).all()
    assert (dynamics.gravity(q=q) == expected).all()
    for wrong in ([], None, 'q', [0.3], [0.3, 'a']):
        with pytest.raises(ArgumentError, match='q'):
            dynamics.gravity(wrong)


def test_results_are_new_and_numbers_may_be_large(ur5):
    assert np.isfinite(ur5.inverse_dynamics(ZERO, ZERO, [1e200] * 6)).all()
    q = Q.copy()
    first = ur5.mass_matrix(q)
    kept = first.copy()
    assert ur5.mass_matrix(q + 1) is not first
    assert (first == kept).all()
    assert (q == Q).all()
    base = ur5.model.base_link
    assert ur5.model.frame(base).body == -1
    assert (ur5.pose(Q, base) == np.eye(4)).all() and not ur5.jacobian(Q, base, 'body').any()
    assert (ur5.inverse_dynamics(Q, Q, Q, {base: np.ones(6)}, 'body')
            == ur5.inverse_dynamics(Q, Q, Q)).all()


WRENCHES = (
    ({'tool1': ZERO}, UnknownNameError, 'tool0'),
    ({'tool0': np.zeros(3)}, ArgumentError, r"wrenches\['tool0'\].*\(6,\)"),
    ({'tool0': [0, 0, np.nan, 0, 0, 0]}, ArgumentError, 'tool0.*nan'),
    ({'base_link': [0, 0, np.nan, 0, 0, 0]}, ArgumentError, 'base_link.*nan'),
    (ZERO, ArgumentError, r'wrenches has shape \(6,\).*\(6, 6\)'),
    ([[0] * 6] * 5 + [[0, np.inf, 0, 0, 0, 0]], ArgumentError, 'wrist_3_link.*inf'))


@pytest.mark.parametrize(('wrenches', 'error', 'said'), WRENCHES)
def test_bad_wrenches_are_refused(ur5, wrenches, error, said):
    for call in (ur5.inverse_dynamics, ur5.forward_dynamics):
        with pytest.raises(error, match=said):
            call(ZERO, ZERO, ZERO, wrenches, 'body')


@pytest.mark.parametrize(('ask', 'error', 'said', 'name'), [
    (lambda on: on.pose(Q, ['tool0']), ArgumentError, '', 'frame'),
    (lambda on: on.jacobian(Q, 'tool0', ['body']), ArgumentError, '', 'reference'),
    (lambda on: on.task_space(Q, ZERO, 'tool0', ['x', 'y'], 'body'), ArgumentError, '', 'axes'),
    (lambda on: on.kernels.task_space('tool0', ['x', 'y'], 'body'), ArgumentError, '', 'axes'),
    (lambda on: on.task_space(Q, ZERO, 'tool0', 'x', 'body', damping=np.ones(2)), ArgumentError,
     '', 'damping'),
    (lambda on: on.task_space(Q, ZERO, 'tool0', 'xy', 'body', damping=-1), ArgumentError,
     'damping is -1', 'damping'),
    *((lambda on, axes=axes: on.task_space(Q, ZERO, 'tool0', axes, 'body'), ArgumentError, 'axes',
       'axes') for axes in ('', 'xx', 'q', 'xyyy', 'ryY')),
    (lambda on: on.bias(Q, ZERO, base=5), ArgumentError, '', 'base'),
    *((lambda on, threads=threads: Batch(on.model, threads=threads), ArgumentError, 'threads',
       'threads') for threads in (0, -1)),
    (lambda on: on.bias(Q, ZERO, {'tool0': np.ones(6)}, reference=['world']), UnknownNameError,
     'reference', None),
    (lambda on: on.pose(ZERO, 'tool'), UnknownNameError, 'tool0', 'tool'),
    (lambda on: on.jacobian(ZERO, 'tool0', 'local'), UnknownNameError,
     "no reference 'local'.*body, aligned, world", 'local')])
def test_what_is_no_option_is_refused(ur5, ask, error, said, name):
    with pytest.raises(error, match=said) as refused:
        ask(ur5)
    assert name in (None, refused.value.name)


def test_states_and_axes_at_fault_are_named(robot):
    dynamics = robot('ur5').dynamics
    q = np.zeros((9, 6))
    q[4, 2] = np.nan
    with pytest.raises(ArgumentError, match=r'q\[4, 2\].*elbow_joint.*nan'):
        dynamics.batch.gravity(q)
    with pytest.raises(ArgumentError, match=r'qd has shape \(8, 6\).*\(9, 6\)'):
        dynamics.batch.bias(np.zeros((9, 6)), np.zeros((8, 6)))
    for bad in (np.zeros(6), 0.0, np.zeros((2, 5)), np.zeros((2, 2, 6))):
        with pytest.raises(ArgumentError, match=r'q has shape .*\(N, 6\)'):
            dynamics.batch.gravity(bad)
    poses = np.full((9, 6), 0.7)
    poses[5] = 0.0
    with pytest.raises(SingularityError, match='in state 5'):
        dynamics.batch.task_space(poses, np.zeros((9, 6)), 'tool0', reference='body')
    with pytest.raises(ArgumentError, match='6 axes .* of 2 joints'):
        robot('two_link').dynamics.task_space(np.zeros(2), np.zeros(2), 'tool0', reference='body')
    # They would be those of the wrong states, or be read from beyond the array.
    dynamics = robot('two_link').dynamics
    q = np.zeros((5, 2))
    for count in (0, 2, 10):
        for wrenches in (np.ones((count, 2, 6)), {'tool0': np.ones((count, 6))}):
            for reference in ('body', 'world'):
                with pytest.raises(ArgumentError, match=r'\(5, ') as error:
                    dynamics.batch.bias(q, q, wrenches, reference)
                assert error.value.name.startswith('wrenches')


def test_damping_that_changes_fills_no_memory(ur5):
    q = np.linspace(0.3, 0.8, 6)
    for share in np.geomspace(1e-4, 1e-2, 20):
        ur5.task_space(q, q, 'tool0', 'xyz', 'body', damping=share)
    assert sum(options[:1] == ('tool0',) and 'xyz' in options for options in ur5._options) == 1


class Floating(Dynamics):
    def gravity(self, q):  # noqa: CNL100
        return 0.0 * super().gravity(q)


@pytest.mark.parametrize('specialize', [False, True])
def test_a_subclass_may_override_any_method(specialize):
    floating = Floating(load_urdf(robot_path('two_link')), specialize)
    q = [0.3, 0.5]
    assert (floating.gravity(q) == 0.0).all() and (floating.mass_matrix(q) != 0.0).any()


@pytest.mark.parametrize('again', [copy.copy, copy.deepcopy,
                                   lambda thing: pickle.loads(pickle.dumps(thing))])
def test_models_and_dynamics_can_be_copied_and_sent_to_processes(again):
    model = load_urdf(robot_path('two_link'))
    same = again(model)
    assert not list(differences(model, same))
    assert not same.mass.flags.writeable and not same.frame('tool0').origin.flags.writeable
    with pytest.raises(TypeError):
        same.frames['tool0'] = None
    for specialize in (False, True):
        dynamics = Dynamics(model, specialize)
        assert (again(dynamics).gravity([0.3, 0.5]) == dynamics.gravity([0.3, 0.5])).all()
    assert again(Batch(model, threads=3)).threads == 3


@pytest.mark.parametrize('specialize', [False, True])
def test_what_has_no_mass_has_no_centre(specialize):
    dynamics = Dynamics(load_urdf(MASSLESS), specialize)
    for ask, q in ((dynamics, [0.1]), (dynamics.batch, [[0.1]])):
        with pytest.raises(InertiaError, match='wheel'):
            ask.center_of_mass(q)
        assert ask.potential_energy(q) == 0.0


@pytest.fixture(scope='module')
def model():
    # The last body has none: joint 'slide' moves nothing
    light = ARM.partition('<link name="fore">')
    return load_urdf(light[0] + light[1] + INERTIAL.sub('', light[2]), massless='warn')


@pytest.mark.parametrize('call', [
    lambda d: d.forward_dynamics(Q2, QD2, QDD2),
    lambda d: d.forward_dynamics(*map(np.array, (Q2, QD2, QDD2))),     # the shortest way
    lambda d: d.forward_dynamics_derivatives(Q2, QD2, QDD2),
    lambda d: d.task_space(Q2, QD2, 'tool', 'xz', 'aligned'),
    lambda d: d.task_velocity_terms(Q2, 'tool', 'xz', 'aligned'),
    lambda d: d.batch.forward_dynamics([Q2], [QD2], [QDD2]),
    lambda d: d.kernels.forward_dynamics])
def test_what_needs_the_inverse_of_the_mass_matrix_names_the_joint(model, call):
    dynamics = Dynamics(model)
    with pytest.raises(InertiaError, match="resists joint 'slide'") as refused:
        call(dynamics)
    assert refused.value.name == 'slide'
    assert dynamics.gravity(Q2)[0] != 0.0 and dynamics.mass_matrix(Q2)[1, 1] == 0.0


def test_a_robot_of_geometry_alone_has_kinematics():
    model = load_urdf(INERTIAL.sub('', ARM), massless='warn')
    assert model.massless_joints == ('shoulder', 'slide')
    dynamics = Dynamics(model)
    assert not dynamics.gravity(Q2).any() and not dynamics.inverse_dynamics(Q2, QD2, QDD2).any()
    np.testing.assert_array_equal(dynamics.jacobian(Q2, 'tool', 'body'),
                                  Dynamics(load_urdf(ARM)).jacobian(Q2, 'tool', 'body'))

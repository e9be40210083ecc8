# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The object itself: subclasses, copies, other processes, robots without a center of mass."""

import copy
import pickle

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.dynamics import Batch
from robodyn_ros.errors import ArgumentError, InertiaError
from robodyn_ros.model.resources import robot_path
from robots import differences

Q = np.array([0.3, 0.5])
MASSLESS = """<robot name="wheel"><link name="base"/><link name="rim"><inertial><mass value="0"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="axle" type="continuous"><parent link="base"/><child link="rim"/></joint></robot>"""


class Floating(Dynamics):
    def gravity(self, q):  # noqa: CNL100
        return 0.0 * super().gravity(q)


@pytest.mark.parametrize('specialize', [False, True])
def test_a_subclass_may_override_any_method(specialize):
    floating = Floating(load_urdf(robot_path('two_link')), specialize)
    assert (floating.gravity(Q) == 0.0).all() and (floating.mass_matrix(Q) != 0.0).any()


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
        assert (again(dynamics).gravity(Q) == dynamics.gravity(Q)).all()
    assert again(Batch(model, threads=3)).threads == 3


@pytest.mark.parametrize('specialize', [False, True])
def test_what_has_no_mass_has_no_centre(specialize):
    dynamics = Dynamics(load_urdf(MASSLESS), specialize)
    for ask, q in ((dynamics, [0.1]), (dynamics.batch, [[0.1]])):
        with pytest.raises(InertiaError, match='wheel'):
            ask.center_of_mass(q)
        assert ask.potential_energy(q) == 0.0


@pytest.mark.parametrize('specialize', [False, True])
def test_positional_arguments_that_are_no_arrays_are_checked(specialize):
    dynamics = Dynamics(load_urdf(robot_path('two_link')), specialize)
    assert (dynamics.gravity([0.3, 0.5]) == dynamics.gravity(Q)).all()
    for wrong in ([], None, 'q', [0.3], [0.3, 'a']):
        with pytest.raises(ArgumentError, match='q'):
            dynamics.gravity(wrong)

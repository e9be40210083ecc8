# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The linear system of a motion: columns and names."""

from motions import motion, with_joints
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.identification import ParameterSelection
from robodyn_ros.identification.estimation.base_parameters import base_of, base_parameters
from robodyn_ros.identification.estimation.regression import predicted, regression
from robots import EXTENDED, GRIPPER

pytestmark = pytest.mark.slow


@pytest.mark.parametrize('text', [GRIPPER, EXTENDED])
@pytest.mark.parametrize('selection', [
    ParameterSelection(), ParameterSelection(directions=True, static=True),
    ParameterSelection(viscous=False, coulomb=False),
    ParameterSelection(armature=False, offset=False)])
def test_parameters_of_the_model_give_its_efforts(text, selection):
    # Mimic joints among them; and friction that no URDF has words for, of each direction its own
    model = load_urdf(text)
    given = motion(model, 60)
    linear = regression(model, given, selection)
    mixed = (model.backward_friction != [model.viscous_friction, model.coulomb_friction,
                                         model.static_friction]).any()
    if selection.coulomb and mixed and not selection.directions:
        assert abs(linear.predict(linear.prior) - given.effort).max() > 0.01
    else:
        np.testing.assert_allclose(linear.predict(linear.prior), given.effort, atol=1e-9)
    assert len(set(linear.names)) == len(linear.units) == linear.size == linear.matrix.shape[2]
    other = linear.prior + np.random.default_rng(0).normal(size=linear.size)
    np.testing.assert_allclose(predicted(model, given, selection, other), linear.predict(other),
                               atol=1e-9)


def test_names_and_units():
    linear = regression(model := load_urdf(EXTENDED), motion(model, 5))
    of = dict(zip(linear.names, linear.units))
    assert of['m upper'] == 'kg' and of['mcx upper'] == 'kg·m' and of['Izz fore'] == 'kg·m²'
    assert of['viscous shoulder'] == 'N·m·s/rad' and of['viscous slide'] == 'N·s/m'
    assert of['Coulomb slide'] == of['offset slide'] == 'N' and of['armature slide'] == 'kg'


def test_samples_are_left_out_within_segments(planar):
    given = motion(planar, 103)
    linear = regression(planar, given, ParameterSelection(decimate=10))
    assert len(linear) == 11 and linear.rate == pytest.approx(10.0)
    assert linear.segments == ((0, 11),)
    np.testing.assert_array_equal(linear.effort, given.effort[::10])


def test_a_motion_tells_as_much_as_all_states_or_less(planar):
    robot = with_joints(planar, 0.7, 0.4)
    everything = base_parameters(robot).rank
    assert base_of(regression(robot, motion(robot, 200))).rank == everything
    assert base_of(regression(robot, motion(robot, 4))).rank <= 8 < everything      # equations

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motions that do not determine every base parameter: the prior stands in for what is missing."""

from dataclasses import replace

from exciting import motion, noisy, relative_errors, with_joints
import numpy as np
import pytest
from recorded_files import nominal, real
from rich.console import Console
from robodyn_ros.cli.identification_tables import comparison
from robodyn_ros.identification import base_parameters, identify, ParameterSelection
from robodyn_ros.identification.estimation.least_squares import least_squares
from robodyn_ros.identification.estimation.regression import regression
from robodyn_ros.identification.options import PipelineOptions
from robodyn_ros.identification.pipeline import identify_parts
from robodyn_ros.identification.recorded_motion import Parts
from robodyn_ros.identification.result import ORDINARY
from robodyn_ros.model.pseudo_inertia import pseudo_inertia

pytest.importorskip('clarabel', reason='needs the extra identify')

pytestmark = pytest.mark.slow


def still(model, joint, count=600):
    """Return a motion in which one joint stands."""
    given = motion(model, count)
    moved = np.arange(model.nv) != joint
    velocity, acceleration = given.velocity * moved, given.acceleration * moved
    from robodyn_ros import Dynamics
    batch = Dynamics(model).batch
    position = given.position * moved
    effort = batch.inverse_dynamics(position, velocity, acceleration) + batch.friction(velocity)
    return noisy(replace(given, position=position, velocity=velocity, acceleration=acceleration,
                         effort=effort), 0.02, 1)


def test_what_the_motion_does_not_tell_stays_nominal(planar):
    robot = with_joints(planar, 0.7, 0.4)
    given = regression(planar, still(robot, 1), ParameterSelection(armature=False))
    base = base_parameters(planar, given.selection)
    found = least_squares(given, 'weighted', base, full_rank=False)
    assert 'viscous joint2' in found.undetermined and 'viscous joint1' not in found.undetermined
    lost = np.isin(base.base_names, found.undetermined)
    assert np.isinf(found.standard_errors[lost]).all()
    assert np.isfinite(found.standard_errors[~lost]).all()
    assert found['viscous joint1'] == pytest.approx(0.7, abs=0.02)
    assert found['viscous joint2'] == 0.0
    np.testing.assert_allclose(base.values(found.parameters), found.values, atol=1e-9)
    error = given.target - given.matrix @ found.parameters
    np.testing.assert_allclose(error.std(0), 0.02, rtol=0.1)


def test_a_full_motion_is_treated_as_before(spatial):
    robot = with_joints(spatial, 0.7, 0.4, 0.2)
    given = regression(spatial, noisy(motion(robot, 400), 0.1, 3), ParameterSelection())
    strict, free = (least_squares(given, full_rank=full) for full in (True, False))
    np.testing.assert_array_equal(strict.parameters, free.parameters)
    np.testing.assert_array_equal(strict.covariance, free.covariance)
    assert not free.undetermined


def test_the_regularised_estimate_needs_no_full_rank(planar):
    robot = with_joints(planar, 0.7, 0.4)
    given = still(robot, 1)
    found = identify(planar, given, ParameterSelection(armature=False), weight=0.1)
    assert np.linalg.eigvalsh(pseudo_inertia(found.parameters[:10 * robot.nb])).min() > 0.0
    assert 'Coulomb joint2' in found.undetermined
    assert (relative_errors(found, given)[:1] < 0.05).all()


def test_only_the_rows_of_least_squares_are_missing():
    model = nominal()
    given = still(real(), 1, 1500)
    found = identify_parts(Parts(*given.split(0.7), (), ()), model, PipelineOptions(
        delay=0.0, tilt=False))
    assert ORDINARY not in found.validations and ORDINARY not in found.others
    assert 'not determined by this motion: ' in found.absent[ORDINARY]
    assert 'viscous joint2' in found.absent[ORDINARY]
    assert any('stay near the URDF' in line for line in found.warnings)
    assert found.validation.relative[0] < 0.05
    console = Console(width=120, record=True, file=open('/dev/null', 'w'))
    console.print(comparison(found.validations))
    assert 'consistent' in console.export_text()

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Plain Python and traced straight-line code: the numbers of the kernels; records; friction."""

from dataclasses import replace
from math import cos, sin

from hypothesis import example, given, strategies as st
import numpy as np
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh
from robodyn_ros.dynamics import entry_points
from robodyn_ros.dynamics.compile import generic
from robodyn_ros.dynamics.entry_points import QUANTITIES
from robodyn_ros.dynamics.kinematics import ALIGNED, velocity_product
from robodyn_ros.dynamics.model_data import (
    dimensions, frame_record, ModelData, parameters, record_frames, Workspace, workspace)
from robodyn_ros.dynamics.spatial import cos_sin, REDUCTION_LIMIT
from robodyn_ros.dynamics.trace import lanes, trace

pytestmark = pytest.mark.slow
ROBOTS = 'rp', 'tree3', 'gripper', 'ur5', 'panda_fingers'
TRACED = [name for name in QUANTITIES if name != 'friction']
SLOW = 20_000       # operations: Python takes too long to parse so many


class Asked:
    """What a quantity of a robot is asked with, and what the generic kernel answers."""

    def __init__(self, case, quantity):
        self.model, self.spec = case.model, QUANTITIES[quantity]
        self.data, self.memory = parameters(case.model), workspace(case.model)
        options = {'frame': frame_record(case.model, self.data, case.model.link_names[-1]),
                   'reference': 1, 'axes': np.array([0, 1]), 'damping': 0.01}
        self.options = {key: options[key] for key in self.spec.options}
        self.inputs = dict(zip(self.spec.inputs, next(case.states())))
        self.loads = ((self.memory.unloaded, self.data.base)
                      if self.spec.takes_external_wrench else ())
        size = {**dimensions(case.model.nb, case.model.nv), 'k': 2}
        self.outputs = {key: np.full([size[word] for word in shape], np.nan)
                        for key, shape in self.spec.outputs.items()}
        generic(quantity)(self.data, *self.options.values(), *self.inputs.values(), *self.loads,
                          self.memory, *self.outputs.values())


@pytest.mark.parametrize('name', ROBOTS)
def test_kinematics_of_the_control_cycle(robot, close, name):
    """Pose and Jacobian in one pass, and J̇ q̇ without J̇, are those of the single queries."""
    model = robot(name).model
    data, memory, n = parameters(model), workspace(model), model.nv
    data = ModelData(data.bodies.view(np.recarray), *data[1:])
    work = Workspace(memory.bodies.view(np.recarray), memory.joints.view(np.recarray), *memory[2:])
    frame = frame_record(model, parameters(model), model.link_names[-1]).view(np.recarray)
    q, qd = next(robot(name).states())[:2]
    T, J, exact_T, exact_J, Jd = (np.zeros(shape) for shape in (
        (4, 4), (6, n), (4, 4), (6, n), (6, n)))
    entry_points.pose_and_jacobian(data, frame, q, work, T, J)
    entry_points.pose(data, frame, q, work, exact_T)
    entry_points.jacobian(data, frame, ALIGNED, q, work, exact_J)
    entry_points.jacobian_dot(data, frame, ALIGNED, q, qd, work, Jd)
    close(T, exact_T, 1e-15)
    close(J, exact_J, 1e-15)
    close(np.concatenate(velocity_product(data.bodies, work.joints, frame[0], qd)), Jd @ qd, 1e-12)
    assert not work.rest.any() and not work.unloaded.any()


def run(code, robot, inputs, outputs):
    """Execute the lines with the sines and cosines that they expect."""
    bodies, room = robot.bodies, lanes(len(robot.bodies))
    angle = bodies['turn'] * inputs['q'][bodies['driver']] + bodies['offset']
    trig = np.zeros(2 * room)
    trig[:len(bodies)], trig[room:room + len(bodies)] = np.cos(angle), np.sin(angle)
    exec('\n'.join(code.lines), {}, {**inputs, **outputs, 'trig': trig})


@pytest.mark.parametrize('quantity', TRACED)
@pytest.mark.parametrize('name', ROBOTS)
def test_straight_line_code_computes_what_the_generic_kernel_does(robot, close, name, quantity):
    asked = Asked(robot(name), quantity)
    code = trace(quantity, asked.data, asked.options)
    if code.operations > SLOW:
        pytest.skip(f'{code.operations} operations')
    ours = {f'out_{key}': np.full_like(array, np.nan) for key, array in asked.outputs.items()}
    run(code, asked.data, asked.inputs, ours)
    for mine, other in zip(ours.values(), asked.outputs.values()):
        scale = max(1.0, np.abs(other).max())
        close(mine / scale, other / scale, 1e-11 if 'forward' in quantity else 1e-12)


def test_the_text_is_short_and_the_same(robot):
    # A Panda's inverse dynamics are some 1900 operations when nothing folds
    assert trace('inverse_dynamics', parameters(robot('panda').model), {}).operations < 700
    assert trace('gravity', parameters(robot('ur5').model), {}).operations < 30
    own = parameters(robot('tree3').model)
    assert trace('bias', own, {}) == trace('bias', own, {})


def test_the_records_are_read_only(robot):
    for array in parameters(robot('panda').model):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = array[0]


def test_axes_and_angles_are_not_rounded(robot):
    arm = from_dh([DhLink(0, 0, 0.5, angle, mass=1, inertia=np.eye(3))
                   for angle in (1e-5, 1e-3, 0.05)])
    assert np.abs(record_frames(arm).origin).max() < 1e-9
    # The URDF writes 1.57079632679 for angles about the joints' own axes: 5e-12 are missing.
    offset = record_frames(robot('ur5').model).offset
    missing = np.abs(offset - np.pi / 2 * np.round(offset / (np.pi / 2)))
    assert ((missing > 4e-12) & (missing < 1.1e-11)).any()


@given(st.floats(-REDUCTION_LIMIT, REDUCTION_LIMIT))
@example(0.0)
@example(np.pi / 2)
@example(-np.pi)
@example(63661 * np.pi / 2)
@example(63661 * np.pi / 4)
def test_agrees_with_the_library(angle):
    c, s = cos_sin(angle)
    assert abs(c - cos(angle)) < 3e-16
    assert abs(s - sin(angle)) < 3e-16


ARM = from_dh([DhLink(0, 0, 1, 0, mass=1, viscous=0.5, coulomb=2)])
STICKY = replace(ARM, static_friction=np.array([3.0]))


def effort(model, qd):
    return efforts(model, [qd])[0]


def efforts(model, speeds):
    dynamics = Dynamics(model)
    return np.array([dynamics.friction([qd])[0] for qd in speeds])


def test_the_curve():
    assert effort(ARM, 4.0) == pytest.approx(0.5 * 4 + 2)
    assert effort(ARM, -4.0) == pytest.approx(-0.5 * 4 - 2)
    assert effort(STICKY, 4.0) == pytest.approx(0.5 * 4 + 2)
    speeds = np.linspace(0, 0.5, 2001)
    curve = efforts(STICKY, speeds) - 0.5 * speeds
    assert curve[0] == 0.0
    assert 2.7 < curve.max() <= 3.0
    assert curve[-1] == pytest.approx(2.0)
    speeds = np.linspace(-0.1, 0.1, 4001)
    curve = efforts(STICKY, speeds)
    steepest = 0.5 + 3.0 / ARM.friction_velocity[0]         # F_v + F_s / v_0, at rest
    assert np.abs(np.diff(curve)).max() <= 1.001 * steepest * (speeds[1] - speeds[0])
    model = replace(ARM, backward_friction=np.array([[0.1], [1.0], [1.0]]))
    assert effort(model, 4.0) == pytest.approx(0.5 * 4 + 2)
    assert effort(model, -4.0) == pytest.approx(-0.1 * 4 - 1)


@given(st.floats(-1e3, 1e3))
def test_it_never_drives(qd):
    assert effort(STICKY, qd) * qd >= 0.0

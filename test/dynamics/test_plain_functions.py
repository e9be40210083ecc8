# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The algorithms as plain Python: the same numbers, and never a question to a value."""

from types import SimpleNamespace

import numpy as np
import pytest
from robodyn_ros.dynamics import entry_points
from robodyn_ros.dynamics.compile import generic
from robodyn_ros.dynamics.coriolis import coriolis
from robodyn_ros.dynamics.crba import crba
from robodyn_ros.dynamics.derivatives import position_derivative
from robodyn_ros.dynamics.energy import kinetic_energy, potential_energy
from robodyn_ros.dynamics.forward_dynamics import forward_dynamics
from robodyn_ros.dynamics.joint_transforms import place_joints
from robodyn_ros.dynamics.kinematics import (
    ALIGNED,
    jacobian_rate,
    pose,
    velocity_product,
    WORLD,
)
from robodyn_ros.dynamics.model_data import (
    BODY,
    dimensions,
    FRAME,
    frame_record,
    JOINT,
    ModelData,
    parameters,
    WORK,
    Workspace,
    workspace,
)
from robodyn_ros.dynamics.regressor import regressor
from robodyn_ros.dynamics.rnea import rnea
from robodyn_ros.dynamics.signatures import QUANTITIES

ROBOTS = ['panda', 'rp', 'tree3', 'tree11']


OPTIONS = {'reference': 1, 'axes': np.array([0, 1]), 'damping': 0.01}


@pytest.mark.parametrize('quantity', QUANTITIES)
@pytest.mark.parametrize('name', ROBOTS)
def test_plain_python_gives_the_numbers_of_the_kernels(robot, close, name, quantity):
    model, spec = robot(name).model, QUANTITIES[quantity]
    robot_, memory = parameters(model), workspace(model)
    robot_ = ModelData(robot_.bodies.view(np.recarray), *robot_[1:])
    work = Workspace(memory.bodies.view(np.recarray), memory.joints.view(np.recarray), *memory[2:])
    frame = frame_record(model, parameters(model), model.link_names[-1])
    options = {**OPTIONS, 'frame': frame}
    plain_options = [frame.view(np.recarray) if o == 'frame' else options[o] for o in spec.options]
    inputs = next(robot(name).states())[:len(spec.inputs)]
    size = {**dimensions(model.nb, model.nv), 'k': 2}
    shapes = [[size[word] for word in shape] for shape in spec.outputs.values()]
    ours, theirs = ([np.full(shape, np.nan) for shape in shapes] for _ in range(2))
    loads = (memory.unloaded, robot_.base) if spec.takes_external_wrench else ()
    function = getattr(entry_points, spec.entry_point(quantity))
    function(robot_, *plain_options, *inputs, *loads, work, *ours)
    generic(quantity)(parameters(model), *(options[o] for o in spec.options), *inputs, *loads,
                      workspace(model), *theirs)
    for mine, other in zip(ours, theirs):
        close(mine, other, 1e-9 if 'damping' in spec.options or 'forward' in quantity else 1e-12)


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


class Opaque:
    """A number that can be calculated with, not looked at."""

    __array_ufunc__ = None
    __hash__ = None

    def __init__(self, value):
        self.value = value

    def _refuse(self, *_):
        raise TypeError('the algorithm asks for a value')

    __bool__ = __float__ = __int__ = __index__ = __abs__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse

    def __neg__(self):
        return Opaque(-self.value)

    def __add__(self, other):
        return Opaque(self.value + plain(other))

    def __sub__(self, other):
        return Opaque(self.value - plain(other))

    def __rsub__(self, other):
        return Opaque(plain(other) - self.value)

    def __mul__(self, other):
        return Opaque(self.value * plain(other))

    def __truediv__(self, other):
        return Opaque(self.value / plain(other))

    def __rtruediv__(self, other):
        return Opaque(plain(other) / self.value)

    __radd__, __rmul__ = __add__, __mul__


def plain(x):
    return x.value if isinstance(x, Opaque) else x


def numbers(array):
    return np.vectorize(plain, otypes=[float])(array)


def opaque(array):
    return np.vectorize(Opaque, otypes=[object])(array)


def namespaces(dtype, records, structure=()):
    """Return records as objects; every field but those of the structure is opaque."""
    def convert(name, value):
        if dtype[name].shape:
            return opaque(value)
        return value.item() if name in structure else Opaque(value.item())
    return [SimpleNamespace(**{n: convert(n, r[n]) for n in dtype.names}) for r in records]


@pytest.mark.parametrize('name', ROBOTS)
def test_no_algorithm_branches_on_a_value(robot, close, name):
    case = robot(name)
    n = case.model.nv
    robot_, work = parameters(case.model), workspace(case.model)
    bodies = namespaces(BODY, robot_.bodies, ('parent', 'driver', 'turn', 'slide'))
    base, unloaded, rest = opaque(robot_.base), opaque(work.unloaded), opaque(work.rest)
    scratch = namespaces(WORK, work.bodies)
    out, M = np.empty(n, object), np.empty((n, n), object)
    q, qd, qdd = next(case.states())
    place_joints(robot_.bodies.view(np.recarray), q, work.joints.view(np.recarray))
    joints = namespaces(JOINT, work.joints)

    rnea(bodies, base, joints, opaque(qd), opaque(qdd), unloaded, scratch, out)
    close(numbers(out), case.dynamics.inverse_dynamics(q, qd, qdd), 1e-13)
    crba(bodies, joints, scratch, M)
    close(numbers(M), case.dynamics.mass_matrix(q), 1e-13)
    forward_dynamics(bodies, base, robot_.elimination_parent, joints, opaque(qd), opaque(qdd),
                     rest, unloaded, scratch, M, out)
    close(numbers(out), case.dynamics.forward_dynamics(q, qd, qdd), 1e-10)

    C, J, Jd, T = (np.empty(shape, object) for shape in ((n, n), (6, n), (6, n), (4, 4)))
    name = case.model.link_names[-1]
    frame = namespaces(FRAME, frame_record(case.model, robot_, name), ('body',))[0]
    pose(bodies, joints, frame, T)
    close(numbers(T), case.dynamics.pose(q, name), 1e-13)
    jacobian_rate(bodies, joints, frame, WORLD, opaque(qd), J, Jd)
    close(numbers(J), case.dynamics.jacobian(q, name, 'world'), 1e-13)
    close(numbers(Jd), case.dynamics.jacobian_dot(q, qd, name, 'world'), 1e-13)

    rnea(bodies, base, joints, opaque(qd), opaque(qdd), unloaded, scratch, out)
    Y = np.empty((n, 10 * n), object)
    regressor(bodies, opaque(robot_.axes), opaque(robot_.origins), joints, scratch, Y)
    close(numbers(Y), case.dynamics.regressor(q, qd, qdd), 1e-13)
    coriolis(bodies, base, joints, opaque(qd), scratch, C)
    close(numbers(C), case.dynamics.coriolis_matrix(q, qd), 1e-13)
    position_derivative(bodies, joints, scratch, M)
    close(numbers(M), case.dynamics.inverse_dynamics_derivatives(q, qd, qdd).dtau_dq, 1e-12)

    energy = np.empty(1, object)
    kinetic_energy(bodies, base, joints, opaque(qd), scratch, energy)
    close(numbers(energy)[0], np.float64(case.dynamics.kinetic_energy(q, qd)), 1e-13)
    potential_energy(bodies, base, joints, scratch, energy)
    close(numbers(energy)[0], np.float64(case.dynamics.potential_energy(q)), 1e-13)

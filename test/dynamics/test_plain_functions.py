# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The algorithms as plain Python: the same numbers, and never a question to a value."""

from types import SimpleNamespace

import numpy as np
import pytest
from robodyn_ros.dynamics import entry_points
from robodyn_ros.dynamics.compile import generic
from robodyn_ros.dynamics.joint_transforms import place_joints
from robodyn_ros.dynamics.kinematics import ALIGNED, velocity_product
from robodyn_ros.dynamics.model_data import (
    dimensions,
    frame_record,
    ModelData,
    parameters,
    Workspace,
    workspace,
)
from robodyn_ros.dynamics.signatures import QUANTITIES

ROBOTS = 'rp', 'tree3', 'gripper'
STRUCTURE = 'parent', 'driver', 'turn', 'slide', 'body'


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


def seen(array):
    """Return records as objects, and arrays of numbers; all but the structure is opaque."""
    if array.dtype.names is None:
        return array if array.dtype.kind == 'i' else opaque(array)

    def field(name, value):
        if array.dtype[name].shape:
            return opaque(value)
        return value.item() if name in STRUCTURE else Opaque(value.item())
    return [SimpleNamespace(**{n: field(n, record[n]) for n in array.dtype.names})
            for record in array]


@pytest.mark.parametrize('quantity', QUANTITIES)
@pytest.mark.parametrize('name', ROBOTS)
def test_plain_python_asks_no_value_and_gives_the_numbers_of_the_kernels(
        robot, close, monkeypatch, name, quantity):
    """But for friction, which is no polynomial: it is computed with numbers."""
    model, spec = robot(name).model, QUANTITIES[quantity]
    data, memory = parameters(model), workspace(model)
    frame = frame_record(model, data, model.link_names[-1])
    options = {key: {'frame': frame, 'reference': 1, 'axes': np.array([0, 1]), 'damping': 0.01}[
        key] for key in spec.options}
    inputs = next(robot(name).states())[:len(spec.inputs)]
    size = {**dimensions(model.nb, model.nv), 'k': 2}
    theirs = [np.full([size[word] for word in shape], np.nan) for shape in spec.outputs.values()]
    loads = (memory.unloaded, data.base) if spec.takes_external_wrench else ()
    generic(quantity)(data, *options.values(), *inputs, *loads, memory, *theirs)

    memory = workspace(model)
    if 'q' in spec.inputs:
        place_joints(data.bodies.view(np.recarray), inputs[0], memory.joints.view(np.recarray))
    monkeypatch.setattr(entry_points, 'place_joints', lambda *_: None)
    see = np.asarray if quantity == 'friction' else seen
    ours = [np.zeros(array.shape, object) for array in theirs]
    getattr(entry_points, spec.entry_point(quantity))(
        ModelData(*map(see, data)), *(see(value) if key == 'frame' else value
                                      for key, value in options.items()),
        *map(see, inputs), *map(see, loads), Workspace(*map(see, memory)), *ours)
    for mine, other in zip(ours, theirs):
        close(numbers(mine), other,
              1e-9 if 'damping' in spec.options or 'forward' in quantity else 1e-12)


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

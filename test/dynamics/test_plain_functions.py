# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The algorithms as plain Python and as traced straight-line code: the numbers of the kernels.

Neither asks for a value, be it of the state or of the robot.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from robodyn_ros.dynamics import entry_points
from robodyn_ros.dynamics.compile import generic
from robodyn_ros.dynamics.entry_points import QUANTITIES
from robodyn_ros.dynamics.kinematics import ALIGNED, velocity_product
from robodyn_ros.dynamics.model_data import (
    dimensions,
    frame_record,
    ModelData,
    parameters,
    Workspace,
    workspace,
)
from robodyn_ros.dynamics.spatial import place_joints
from robodyn_ros.dynamics.trace import lanes, regrouped, trace

pytestmark = pytest.mark.slow

ROBOTS = 'rp', 'tree3', 'gripper'
TRACED_ROBOTS = *ROBOTS, 'panda', 'ur5', 'tree11', 'panda_fingers'
TRACED = [name for name in QUANTITIES if name != 'friction']
STRUCTURE = 'parent', 'driver', 'turn', 'slide', 'body'
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
def test_plain_python_asks_no_value(robot, close, monkeypatch, name, quantity):
    """But for friction, which is no polynomial: it is computed with numbers."""
    asked = Asked(robot(name), quantity)
    memory, spec = workspace(asked.model), asked.spec
    if 'q' in spec.inputs:
        place_joints(asked.data.bodies.view(np.recarray), asked.inputs['q'],
                     memory.joints.view(np.recarray))
    monkeypatch.setattr(entry_points, 'place_joints', lambda *_: None)
    see = np.asarray if quantity == 'friction' else seen
    ours = [np.zeros(array.shape, object) for array in asked.outputs.values()]
    getattr(entry_points, spec.entry_point(quantity))(
        ModelData(*map(see, asked.data)), *(see(value) if key == 'frame' else value
                                            for key, value in asked.options.items()),
        *map(see, asked.inputs.values()), *map(see, asked.loads), Workspace(*map(see, memory)),
        *ours)
    for mine, other in zip(ours, asked.outputs.values()):
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


def run(code, robot, inputs, outputs):
    """Execute the lines with the sines and cosines that they expect."""
    bodies, room = robot.bodies, lanes(len(robot.bodies))
    angle = bodies['turn'] * inputs['q'][bodies['driver']] + bodies['offset']
    trig = np.zeros(2 * room)
    trig[:len(bodies)], trig[room:room + len(bodies)] = np.cos(angle), np.sin(angle)
    exec('\n'.join(code.lines), {}, {**inputs, **outputs, 'trig': trig})


@pytest.mark.parametrize('quantity', TRACED)
@pytest.mark.parametrize('name', TRACED_ROBOTS)
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


def test_what_a_joint_cannot_feel_moves_to_its_parent(robot):
    bodies = parameters(robot('panda').model).bodies
    moved = regrouped(bodies)
    assert not moved['mass'][moved['turn'] > 0].any()
    assert not moved['first'][:, 2].any() and not moved['second'][:, 2].any()
    assert (bodies['mass'] > 0).all()           # the original is left alone
    slides = regrouped(parameters(robot('tree3').model).bodies)
    assert not slides['second'][slides['slide'] > 0].any()

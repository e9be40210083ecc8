# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The algorithms as plain Python: the same numbers, and never a question to a value."""

from types import SimpleNamespace

import numpy as np
import pytest

from robodyn_ros.dynamics import terms
from robodyn_ros.dynamics.bodies import BODY, JOINT, WORK, Robot, Workspace, parameters, workspace
from robodyn_ros.dynamics.crba import crba
from robodyn_ros.dynamics.forward import forward_dynamics
from robodyn_ros.dynamics.joints import place
from robodyn_ros.dynamics.rnea import rnea

ROBOTS = ['panda', 'rp', 'tree3', 'tree11']


@pytest.mark.parametrize('name', ROBOTS)
def test_plain_python_gives_the_numbers_of_the_kernels(robot, close, name):
    case = robot(name)
    robot_, work = parameters(case.model), workspace(case.model)
    robot_ = Robot(robot_.bodies.view(np.recarray), *robot_[1:])
    work = Workspace(work.bodies.view(np.recarray), work.joints.view(np.recarray), *work[2:])
    out, M = np.empty(case.model.nv), np.empty((case.model.nv, case.model.nv))
    for q, qd, qdd in case.states(2):
        terms.gravity(robot_, q, work, out)
        close(out, case.dynamics.gravity(q), 1e-13)
        terms.bias(robot_, q, qd, work, out)
        close(out, case.dynamics.bias(q, qd), 1e-13)
        terms.inverse_dynamics(robot_, q, qd, qdd, work, out)
        close(out, case.dynamics.inverse_dynamics(q, qd, qdd), 1e-13)
        terms.mass_matrix(robot_, q, work, M)
        close(M, case.dynamics.mass_matrix(q), 1e-13)
        terms.forward_dynamics(robot_, q, qd, qdd, work, out)
        close(out, case.dynamics.forward_dynamics(q, qd, qdd), 1e-10)
        assert not work.rest.any()
        assert not work.unloaded.any()


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
    """Records as objects; every field but those of the structure is opaque."""
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
    place(robot_.bodies.view(np.recarray), q, work.joints.view(np.recarray))
    joints = namespaces(JOINT, work.joints)

    rnea(bodies, base, joints, opaque(qd), opaque(qdd), unloaded, scratch, out)
    close(numbers(out), case.dynamics.inverse_dynamics(q, qd, qdd), 1e-13)
    crba(bodies, joints, scratch, M)
    close(numbers(M), case.dynamics.mass_matrix(q), 1e-13)
    forward_dynamics(bodies, base, robot_.chain, joints, opaque(qd), opaque(qdd), rest, unloaded,
                     scratch, M, out)
    close(numbers(out), case.dynamics.forward_dynamics(q, qd, qdd), 1e-10)

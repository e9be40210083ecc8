# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Others that compute the same, called from Python."""

from collections.abc import Callable, Iterator, Mapping

from lxml import etree
import mujoco
import numpy as np
from numpy import ndarray
import pinocchio as pin
from robodyn_ros import RobotModel
from scipy.spatial.transform import Rotation

from . import reference_numpy
from .interleaved_timer import Contestant, from_python, Missing, States


def pinocchio_model(urdf: str, model: RobotModel, locked: Mapping[str, float]
                    ) -> tuple[pin.Model, ndarray]:
    """Return Pinocchio's model of a URDF, and where our joints (nv,) are among its."""
    full = pin.buildModelFromXML(urdf)
    if locked:
        at = pin.neutral(full)
        ids = [full.getJointId(name) for name in locked]
        at[[full.joints[i].idx_q for i in ids]] = list(locked.values())
        full = pin.buildReducedModel(full, ids, at)
    order = np.array([full.joints[full.getJointId(name)].idx_v for name in model.joint_names])
    return full, order


def binding(model: pin.Model, order: ndarray, states: States
            ) -> Iterator[tuple[tuple[str, str], Contestant]]:
    """Yield what Pinocchio's Python binding computes, quantity by quantity."""
    data = model.createData()
    inputs = []
    for mine in states.inputs(3):
        theirs = np.empty_like(mine)
        theirs[:, order] = mine
        inputs.append(theirs)
    upper = np.triu(np.ones((model.nv, model.nv), bool))
    for name, function, count in (
            ('inverse_dynamics', pin.rnea, 3), ('gravity', pin.computeGeneralizedGravity, 1),
            ('mass_matrix', pin.crba, 1), ('forward_dynamics', pin.aba, 3)):
        arguments = {key: table[0].copy() for key, table in zip('qvw', inputs[:count])}

        def answer(k: int, function=function, count=count) -> ndarray:
            found = function(model, data, *(table[k] for table in inputs[:count]))
            if found.ndim == 1:
                return found[order]
            return np.where(upper, found, found.T)[np.ix_(order, order)]
        yield (name, 'binding'), Contestant(
            from_python(f'f(model, data, {", ".join(arguments)})', f=function, model=model,
                        data=data, **arguments), answer)


def numpy(model: RobotModel, states: States) -> Iterator[tuple[tuple[str, str], Contestant]]:
    """Yield what is computed the plain way."""
    still = np.zeros(model.nv)

    def gravity(q: ndarray) -> ndarray:
        return reference_numpy.inverse_dynamics(model, q, still, still)

    def inverse_dynamics(q: ndarray, v: ndarray, w: ndarray) -> ndarray:
        return reference_numpy.inverse_dynamics(model, q, v, w)

    for function, count in ((inverse_dynamics, 3), (gravity, 1)):
        arguments = dict(zip('qvw', (table[0] for table in states.inputs(count))))
        yield (function.__name__, 'numpy'), Contestant(
            from_python(f'f({", ".join(arguments)})', f=function, **arguments),
            lambda k, f=function, count=count: f(*(t[k] for t in states.inputs(count))))


def mujoco_contestants(urdf: str, model: RobotModel, locked: Mapping[str, float], states: States
                       ) -> Iterator[tuple[tuple[str, str], Contestant]]:
    """
    Yield what MuJoCo computes, by the functions that it takes and no others.

    Inverse dynamics and gravity are kinematics, velocities and ``mj_rne``, the mass matrix is
    kinematics, ``mj_makeM`` and ``mj_fullM``; forward dynamics is ``mj_forward`` without
    constraints. Each begins with writing the state.

    :raises Missing: MuJoCo refuses the robot, as it does point masses.
    """
    try:
        robot = mujoco.MjModel.from_xml_string(plain_urdf(urdf, locked))
    except ValueError as error:
        raise Missing(f'MuJoCo refuses this robot: {str(error).splitlines()[0]}') from None
    robot.dof_damping[:] = robot.dof_frictionloss[:] = 0
    robot.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    robot.opt.gravity[:] = model.gravity_vector
    data = mujoco.MjData(robot)
    joints = [robot.joint(name) for name in model.joint_names]
    at = np.array([joint.qposadr[0] for joint in joints])
    order = np.array([joint.dofadr[0] for joint in joints])
    inputs = []
    for mine, place in zip(states.inputs(3), (at, order, order)):
        theirs = np.zeros_like(mine)
        theirs[:, place] = mine
        inputs.append(theirs)
    qpos, qvel, qacc, applied = data.qpos, data.qvel, data.qacc, data.qfrc_applied
    efforts, M, still = np.zeros(robot.nv), np.zeros((robot.nv, robot.nv)), np.zeros(robot.nv)

    def inverse_dynamics(q: ndarray, v: ndarray, w: ndarray, accelerated: int = 1) -> ndarray:
        qpos[:], qvel[:], qacc[:] = q, v, w
        mujoco.mj_kinematics(robot, data)
        mujoco.mj_comPos(robot, data)
        mujoco.mj_comVel(robot, data)
        mujoco.mj_rne(robot, data, accelerated, efforts)
        return efforts

    def gravity(q: ndarray) -> ndarray:
        return inverse_dynamics(q, still, still, 0)

    def mass_matrix(q: ndarray) -> ndarray:
        qpos[:] = q
        mujoco.mj_kinematics(robot, data)
        mujoco.mj_comPos(robot, data)
        mujoco.mj_makeM(robot, data)
        mujoco.mj_fullM(robot, data, M)
        return M

    def forward_dynamics(q: ndarray, v: ndarray, w: ndarray) -> ndarray:
        qpos[:], qvel[:], applied[:] = q, v, w
        mujoco.mj_forward(robot, data)
        return qacc

    functions: tuple[tuple[Callable[..., ndarray], int], ...] = (
        (inverse_dynamics, 3), (gravity, 1), (mass_matrix, 1), (forward_dynamics, 3))
    for function, count in functions:
        arguments = dict(zip('qvw', (table[0].copy() for table in inputs[:count])))

        def answer(k: int, f=function, count=count) -> ndarray:
            found = f(*(table[k] for table in inputs[:count]))
            return found[order] if found.ndim == 1 else found[np.ix_(order, order)]
        yield (function.__name__, 'mujoco'), Contestant(
            from_python(f'f({", ".join(arguments)})', f=function, **arguments), answer)


def plain_urdf(urdf: str, locked: Mapping[str, float]) -> str:
    """Return a URDF without shapes, limits and mimicking, in which locked joints are fixed."""
    root = etree.fromstring(urdf.encode())
    for element in list(root.iter('visual', 'collision', 'limit', 'mimic')):
        element.getparent().remove(element)
    for joint in root.iterfind('joint'):
        if (position := locked.get(joint.get('name'))) is None:
            continue
        if joint.get('type') != 'prismatic':
            raise ValueError(f'joint {joint.get("name")!r}: only sliding joints can be locked')
        axis = _three(joint.find('axis').get('xyz'))
        origin = joint.find('origin')
        R = Rotation.from_euler('xyz', _three(origin.get('rpy', '0 0 0'))).as_matrix()
        moved = _three(origin.get('xyz', '0 0 0')) + R @ axis * position
        origin.set('xyz', ' '.join(map(repr, moved.tolist())))
        joint.set('type', 'fixed')
    return etree.tostring(root, encoding='unicode')


def _three(text: str) -> ndarray:
    return np.array(text.split(), float)

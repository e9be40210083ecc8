# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Libraries that take part in the benchmark of dynamics where they are installed."""

from collections.abc import Callable, Iterator, Mapping
import os
from pathlib import Path
import tempfile
from traceback import format_exception_only
from typing import Any
import warnings

from lxml import etree
import numpy as np
from numpy import ndarray
from robodyn_ros import RobotModel

from .interleaved_timer import Contestant, from_python, Missing, States
from .reference_libraries import plain_urdf

Found = Iterator[tuple[tuple[str, str], Contestant]]
STANDARD_GRAVITY = 9.80665      # m/s², of Dynibo
Functions = Mapping[str, Callable[..., Any]]


def optional(urdf: str, model: RobotModel, locked: Mapping[str, float], states: States,
             say: Callable[[str], None]) -> dict[tuple[str, str], Contestant]:
    """Return contestants of all that are installed; ``say`` names the others, and why."""
    found: dict[tuple[str, str], Contestant] = {}
    text = _with_limits(plain_urdf(urdf, locked))
    for name, make in MAKERS.items():
        try:
            found |= dict(make(text, model, states))
        except Missing as missing:
            say(f'Without {name}: {missing}.')
        except ImportError as error:
            say(f'Without {name}: {error}; `pip install {name}`.')
        except Exception as error:          # whatever it does not like about this robot
            say(f'Without {name}, which refuses this robot: '
                f'{"".join(format_exception_only(error)).splitlines()[0]}')
    return found


def _contestants(way: str, functions: Functions, order: ndarray, states: States) -> Found:
    """
    Yield the contestants of functions of q, q̇ and q̈.

    :param order: where our joints are among those of the library.
    """
    for quantity, function in functions.items():
        count = 3 if quantity == 'inverse_dynamics' else 1
        inputs = []
        for mine in states.inputs(count):
            theirs = np.empty_like(mine)
            theirs[:, order] = mine
            inputs.append(theirs)
        arguments = {key: table[0].copy() for key, table in zip('qvw', inputs)}

        def answer(k: int, f=function, inputs=inputs) -> ndarray:
            found = np.asarray(f(*(table[k] for table in inputs)))
            return found[order] if found.ndim == 1 else found[np.ix_(order, order)]
        yield (quantity, way), Contestant(
            from_python(f'f({", ".join(arguments)})', f=function, **arguments), answer)


def _check_plain(model: RobotModel) -> None:
    """Raise :class:`Missing` for what a URDF alone does not tell such a library."""
    if len(model.body_joint_names) != model.nv or model.armature.any():
        raise Missing('it has no joints that follow others, and no armature')


def _is_chain(model: RobotModel) -> bool:
    """Whether each body is the parent of the next one, and of no other."""
    return list(model.parent) == list(range(-1, model.nv - 1))


def _dynibo(urdf: str, model: RobotModel, states: States) -> Found:
    """Dynibo: Rust, called from Python with NumPy arrays."""
    import dynibo

    _check_plain(model)
    with _file(urdf) as path:
        robot = dynibo.Robot.from_urdf(path)
    if robot.joint_count != model.nv:
        raise Missing(f'it finds {robot.joint_count} joints, not {model.nv}')
    if not _is_chain(model):
        raise Missing('it does not tell in which order it takes the joints of a tree')
    functions = {'inverse_dynamics': robot.inverse_dynamics, 'gravity': robot.gravity}
    for key, contestant in _contestants('dynibo', functions, np.arange(model.nv), states):
        def answer(k: int, raw=contestant.answer) -> ndarray:
            # It has no parameter of gravity: what is missing to ours is a share of its own
            weight = np.asarray(robot.gravity(states.q[k]))
            return raw(k) + (-model.gravity_vector[2] / STANDARD_GRAVITY - 1.0) * weight
        yield key, contestant._replace(answer=answer)


def _drake(urdf: str, model: RobotModel, states: States) -> Found:
    """Drake's MultibodyPlant, from Python."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import MultibodyForces

    _check_plain(model)
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(urdf, 'urdf')
    if (root := _root_link(urdf)) != 'world':       # which Drake takes for its own
        plant.WeldFrames(plant.world_frame(), plant.GetBodyByName(root).body_frame())
    plant.mutable_gravity_field().set_gravity_vector(model.gravity_vector)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    order = np.array([plant.GetJointByName(name).velocity_start() for name in model.joint_names])
    forces, still = MultibodyForces(plant), np.zeros(model.nv)

    def inverse_dynamics(q: ndarray, v: ndarray, w: ndarray) -> ndarray:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        plant.CalcForceElementsContribution(context, forces)
        return plant.CalcInverseDynamics(context, w, forces)

    def gravity(q: ndarray) -> ndarray:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, still)
        return -plant.CalcGravityGeneralizedForces(context)

    def mass_matrix(q: ndarray) -> ndarray:
        plant.SetPositions(context, q)
        return plant.CalcMassMatrix(context)
    return _contestants('drake', {'inverse_dynamics': inverse_dynamics, 'gravity': gravity,
                                  'mass_matrix': mass_matrix}, order, states)


def _frax(urdf: str, model: RobotModel, states: States) -> Found:
    """Frax: JAX functions, jitted for one state at a time, in float64."""
    os.environ.setdefault('JAX_ENABLE_X64', '1')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')         # of settings that are not this package's
        import frax
        import jax

    _check_plain(model)
    with _file(urdf) as path:
        robot = frax.Manipulator(path, joint_ordering=list(model.joint_names))
    gravity = jax.jit(robot.gravity_vector)
    return _contestants('frax', {'gravity': lambda q: gravity(q).block_until_ready()},
                        np.arange(model.nv), states)


MAKERS: dict[str, Callable[[str, RobotModel, States], Found]] = {
    'dynibo': _dynibo, 'drake': _drake, 'frax': _frax}


class _file:
    """Path of a file with a text, while the block lasts."""

    def __init__(self, text: str):
        self._text, self._folder = text, tempfile.TemporaryDirectory()

    def __enter__(self) -> str:
        path = Path(self._folder.name) / 'robot.urdf'
        path.write_text(self._text)
        return str(path)

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


def _with_limits(urdf: str) -> str:
    """Return a URDF without friction, with the limits that some libraries insist on, but wide."""
    robot = etree.fromstring(urdf.encode())
    for friction in list(robot.iter('dynamics')):
        friction.getparent().remove(friction)
    for joint in robot.iterfind('joint'):
        if joint.get('type') in ('revolute', 'prismatic'):
            etree.SubElement(joint, 'limit', lower='-10', upper='10', effort='1e4', velocity='1e2')
    return etree.tostring(robot, encoding='unicode')


def _root_link(urdf: str) -> str:
    """Return the link that is no child of a joint."""
    robot = etree.fromstring(urdf.encode())
    children = {joint.find('child').get('link') for joint in robot.iterfind('joint')}
    return next(link.get('name') for link in robot.iterfind('link')
                if link.get('name') not in children)

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Simulated robot arm with MuJoCo, and an obstacle in its way: efforts in, motion out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
import logging
from types import MappingProxyType
from typing import NamedTuple

import mujoco
import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .joint_friction import is_beyond_mujoco, JointFriction
from .loading import load, POINT_INERTIA
from ..errors import ArgumentError, SimulationError, UnknownNameError
from ..model.robot import RobotModel

# Bound of timestep * trace(M⁻¹D) for the explicit integrator, which is stable up to about 2.8; M
# depends on the pose
MAX_EXPLICIT_DAMPING = 1.0

_log = logging.getLogger(__name__)


@cache
def _tell_stiff(name: str) -> None:
    """Log the change of the integrator, once for all plants of a robot in this process."""
    _log.warning('%s: the damping is stiff: the implicit first-order integrator is used', name)


class PlantState(NamedTuple):
    """
    Measured state of an arm; arrays (nv,) in the joint order of the model.

    :param time: [s] simulation time.
    :param position: [rad | m].
    :param velocity: [rad/s | m/s].
    :param effort: [N·m | N] total effort of motor or brake on the joint.
    """

    time: float
    position: ndarray
    velocity: ndarray
    effort: ndarray


class Plant:
    """
    Simulated robot, driven by joint efforts that are held for one state period.

    MuJoCo reads the URDF itself; names, order of joints, gravity and armature are those of the
    model. There are no contacts but with :attr:`obstacles`. Position limits are soft stops of
    MuJoCo, efforts are clamped at their limits, and velocity limits have no effect. Friction that
    URDF cannot express (static friction, presliding, ...) is that of the model, see
    :mod:`.joint_friction`.

    The integrator is Runge-Kutta of fourth order: at steps of 0.25 ms, a free double pendulum with
    a kinetic energy of 24 J keeps its energy to 5e-9 J, which changes by 0.1 J with the
    first-order integrators of MuJoCo. As an explicit integrator it is unstable if damping stops a
    light link within a step (``timestep`` * trace(M⁻¹D) > 1); then the implicit one is used.

    :param urdf: URDF text.
    :param model: the robot as loaded by this package, with the same joints locked.
    :param locked: positions [rad | m] of the joints locked in ``model``, by name.
    :param timestep: [s] physics step.
    :param substeps: physics steps per state period.
    :param joint_damping: see :attr:`joint_damping`.
    :param compensates_gravity: whether the motors add g(q), known exactly, to the commanded
        efforts, as those of some robots do.
    :param friction_offset: (nv,) constant efforts that the motors need in addition [N·m | N], for
        the friction of the model in place of that of the URDF; None: see above.
    :raises SimulationError: MuJoCo rejects the robot, or its joints are not those of the model.
    :raises UnknownNameError: a locked joint does not exist.
    """

    def __init__(self, urdf: str, *, model: RobotModel,
                 locked: Mapping[str, float] = MappingProxyType({}), timestep: float = 0.25e-3,
                 substeps: int = 4, joint_damping: float = 0.0,
                 compensates_gravity: bool = False, friction_offset: ArrayLike | None = None):
        self.model, self.substeps, self.compensates_gravity = model, substeps, compensates_gravity
        self.period = timestep * substeps       # of the state [s]
        self._mj, points = load(urdf, model.joint_names, timestep=timestep, locked=locked,
                                gravity=model.gravity_vector,
                                compensates_gravity=compensates_gravity)
        self._data = mujoco.MjData(self._mj)
        # Indices of all moving joints, and of the independent ones
        self._moving = np.array([self._mj.joint(n).dofadr[0] for n in model.body_joint_names])
        self._joints = self._moving[model.leaders]
        self._mj.dof_armature[self._joints] += model.armature
        mujoco.mj_setConst(self._mj, self._data)
        #: Sentences about deviations from the URDF.
        self.warnings = tuple(
            f'link {link} has no inertia of its own: {POINT_INERTIA:g} kg·m² is added'
            for link in points)
        self._friction = JointFriction(
            self._mj, model, self._moving, self._checked('friction_offset', (
                0.0 if friction_offset is None else friction_offset))) \
            if is_beyond_mujoco(model) or friction_offset is not None else None
        self._own_damping = self._mj.dof_damping.copy()
        self._periods = 0
        self._brakes = False
        self._pushes: dict[int, tuple[ndarray, float]] = {}     # body: force, until
        #: Elastic obstacles that links may run into; a link that is pushed feels none of them.
        #: One is taken away by :meth:`remove_obstacles`, which ends its force too.
        self.obstacles: list[Obstacle] = []
        self.joint_damping = joint_damping
        self.reset(np.zeros(model.nv))

    @property
    def time(self) -> float:
        """Return simulation time [s], which grows each period, braked or not, across resets."""
        return self._periods * self.period

    @property
    def joint_damping(self) -> float:
        """
        Viscous damping in addition to that of the URDF [N·m·s/rad | N·s/m].

        It applies to the independent joints, not to mimic joints.
        """
        return self._joint_damping

    @joint_damping.setter
    def joint_damping(self, damping: float) -> None:
        self._joint_damping = damping
        self._mj.dof_damping[:] = self._own_damping
        self._mj.dof_damping[self._joints] += damping
        fastest = self._mj.dof_damping @ self._mj.dof_invweight0
        stiff = self._mj.opt.timestep * fastest > MAX_EXPLICIT_DAMPING
        self._mj.opt.integrator = (mujoco.mjtIntegrator.mjINT_IMPLICITFAST if stiff
                                   else mujoco.mjtIntegrator.mjINT_RK4)
        if stiff:
            _tell_stiff(self.model.name)

    @property
    def brakes(self) -> bool:
        """Whether the brakes are engaged, which stops the arm and holds its pose."""
        return self._brakes

    @brakes.setter
    def brakes(self, engaged: bool) -> None:
        self._brakes = engaged
        if engaged:
            self._data.qvel[:] = 0
        self._data.ctrl[:] = 0
        mujoco.mj_forward(self._mj, self._data)

    def reset(self, position: ArrayLike, velocity: ArrayLike = 0.0) -> None:
        """
        Set the state; pushes end, and brakes stay as they are (if engaged, the velocity is zero).

        :param position: (nv,) [rad | m].
        :param velocity: (nv,), or one number for all joints [rad/s | m/s].
        :raises ArgumentError: wrong shape, or a number that is not finite.
        """
        model = self.model
        for name, values, shift, out in (
                ('position', position, model.shift, self._data.qpos),
                ('velocity', velocity, 0.0, self._data.qvel)):
            values = np.broadcast_to(self._checked(name, values), (model.nv,))
            out[self._moving] = model.ratio * values[model.driver] + shift
        self._data.qacc_warmstart[:] = 0
        self._data.xfrc_applied[:] = 0
        self._pushes.clear()
        if self._friction is not None:
            self._friction.reset()
        self.brakes = self._brakes

    def step(self, tau: ArrayLike) -> None:
        """
        Simulate one state period with constant efforts.

        :param tau: (nv,), or one number for all joints [N·m | N].
        :raises ArgumentError: wrong shape, or a number that is not finite.
        :raises SimulationError: the simulation diverged.
        """
        tau = self._checked('tau', tau)
        if not self._brakes:
            self._data.ctrl[:] = tau
            if self._pushes or self.obstacles or self._friction is not None:
                for n in range(self.substeps):
                    if self._friction is not None:
                        self._friction.apply(self._data)
                    self._touch_obstacles()
                    self._apply_pushes(self.time + n * self._mj.opt.timestep)
                    mujoco.mj_step(self._mj, self._data)
            else:
                mujoco.mj_step(self._mj, self._data, self.substeps)
            if not (np.isfinite(self._data.qpos).all() and np.isfinite(self._data.qvel).all()):
                raise SimulationError(
                    f'the simulation diverged after {self.time:.3f} s', name=self.model.name,
                    value=tau, remedy='use smaller physics steps, or look for links with very '
                    'little inertia under large efforts')
        self._periods += 1

    def state(self) -> PlantState:
        """Return the present state; the effort of a brake is that which holds the arm."""
        effort = self._data.qfrc_bias if self._brakes else self._data.qfrc_actuator
        return PlantState(self.time, self._data.qpos[self._joints],
                          self._data.qvel[self._joints],
                          np.bincount(self.model.driver, self.model.ratio * effort[self._moving]))

    def push(self, link: str, force: ArrayLike, duration: float) -> None:
        """
        Apply a force to a link for some time, in place of a present one on this link.

        :param link: any link of the URDF; the force acts at the origin of its frame.
        :param force: (3,) [N] in world axes.
        :param duration: [s] simulation time, rounded up to a physics step.
        :raises UnknownNameError: there is no such link.
        :raises ArgumentError: the force is not three finite numbers.
        """
        body = self._body(link)
        vector = np.asarray(force, float)
        if vector.shape != (3,) or not np.isfinite(vector).all():
            raise ArgumentError('the force of a push is invalid', name='force', value=force,
                                remedy='use three finite numbers')
        self._pushes[body] = vector, self.time + duration

    def remove_obstacles(self) -> None:
        """Remove all obstacles and their forces."""
        for obstacle in self.obstacles:
            if (body := self._body(obstacle.link)) not in self._pushes:
                self._data.xfrc_applied[body] = 0
        self.obstacles.clear()

    def _body(self, link: str) -> int:
        body = mujoco.mj_name2id(self._mj, mujoco.mjtObj.mjOBJ_BODY, link)
        if body < 0:
            raise UnknownNameError('link', link,
                                   [self._mj.body(i).name for i in range(1, self._mj.nbody)])
        return int(body)

    def _touch_obstacles(self) -> None:
        for obstacle in self.obstacles:
            body = self._body(obstacle.link)
            point = (self._data.xpos[body]
                     + self._data.xmat[body].reshape(3, 3) @ obstacle.point)
            force = obstacle.push_out(point)
            self._data.xfrc_applied[body] = wrench(point - self._data.xipos[body], force)

    def _apply_pushes(self, time: float) -> None:
        for body, (force, until) in list(self._pushes.items()):
            if time < until - 1e-9:
                # MuJoCo applies forces at the center of mass
                arm = self._data.xpos[body] - self._data.xipos[body]
                self._data.xfrc_applied[body] = wrench(arm, force)
            else:
                self._data.xfrc_applied[body] = 0
                del self._pushes[body]

    def _checked(self, name: str, values: ArrayLike) -> ndarray:
        numbers = np.asarray(values, float)
        if numbers.shape not in ((), (self.model.nv,)) or not np.isfinite(numbers).all():
            raise ArgumentError(f'{name} is invalid', name=name, value=values, remedy=f'use '
                                f'{self.model.nv} finite numbers, one per joint: '
                                f'{", ".join(self.model.joint_names)}')
        return numbers


def wrench(arm: ndarray, force: ndarray) -> tuple[float, ...]:
    """Return force and moment (6,) of a force at ``arm`` (3,); NumPy's cross product is slow."""
    (a, b, c), (x, y, z) = arm.tolist(), force.tolist()
    return x, y, z, b * z - c * y, c * x - a * z, a * y - b * x


@dataclass
class Obstacle:
    """
    Elastic half-space that pushes a point of one link out, as a linear spring without friction.

    :param link: link of the URDF that touches it.
    :param point: (3,) [m] point of the link that touches it, in the frame of the link.
    :param surface: (3,) [m] a point of the surface, in world axes.
    :param normal: (3,) normal of the surface, out of the obstacle; it need not have length 1.
    :param stiffness: [N/m]; 75 N/mm is that of a human hand in ISO/TS 15066, table A.3.
    """

    link: str
    point: ndarray
    surface: ndarray
    normal: ndarray
    stiffness: float = 75e3
    #: Force on the link [N] in the last physics step, and the largest one so far.
    force: float = 0.0
    peak: float = 0.0

    def __post_init__(self):
        self.normal = np.asarray(self.normal, float) / np.linalg.norm(self.normal)

    def push_out(self, point: ndarray) -> ndarray:
        """
        Return the force (3,) [N] on the link, in world axes.

        :param point: (3,) [m] the point of the link, in world axes.
        """
        depth = float((self.surface - point) @ self.normal)
        self.force = self.stiffness * max(0.0, depth)
        self.peak = max(self.peak, self.force)
        return self.force * self.normal

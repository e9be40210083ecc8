# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An arm of the laboratory that is not there: efforts in, motion out, with MuJoCo's physics."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import mujoco
import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from ..errors import ArgumentError, SimulationError, UnknownNameError
from ..model.robot import RobotModel
from .loading import POINT_INERTIA, load

# An explicit integrator is stable up to about 2.8 times the fastest time constant; poses differ
# from the one that is looked at.
STIFF = 1.0

_log = logging.getLogger(__name__)


class PlantState(NamedTuple):
    """
    What the sensors of an arm tell; arrays (nv,) in the model's joint order.

    ``time`` [s] of the simulation, ``position`` [rad | m], ``velocity`` [rad/s | m/s], and the
    ``effort`` [N·m | N] with which the motor, or the brake, acts on the joint, all of it.
    """

    time: float
    position: ndarray
    velocity: ndarray
    effort: ndarray


class Plant:
    """
    A robot in simulation, moved by joint efforts that are held for one state period.

    MuJoCo reads the URDF itself; the model gives only the names, the order, gravity and, since
    URDF has no word for it, the armature. Contacts are off. Position limits are MuJoCo's soft
    stops, efforts are clamped at their limits like those of a drive, velocity limits do not act.

    Integrator: Runge-Kutta of fourth order. A free double pendulum with 24 J in motion keeps its
    energy to 5e-9 J at steps of 0.25 ms, where MuJoCo's other integrators, which are of first
    order, lose or gain 0.1 J. Being explicit it cannot follow damping that stops a light link
    within a step: then (``timestep`` * trace(M⁻¹D) > 1) the implicit one steps in.

    :param urdf: URDF text.
    :param model: the same robot as this package reads it, with the same joints locked.
    :param locked: joints locked in ``model``, by name, and their positions [rad | m].
    :param timestep: physics step [s].
    :param substeps: physics steps in one state period.
    :param joint_damping: see the property of that name.
    :param compensates_gravity: whether the motors add g(q) to the efforts they are given, as some
        robots do; they know it exactly, at every instant.
    :raises SimulationError: if MuJoCo refuses the robot or its joints are not those of the model.
    :raises UnknownNameError: if a locked joint does not exist.
    """

    def __init__(self, urdf: str, *, model: RobotModel,
                 locked: Mapping[str, float] = MappingProxyType({}), timestep: float = 0.25e-3,
                 substeps: int = 4, joint_damping: float = 0.0,
                 compensates_gravity: bool = False):
        self.model, self.substeps, self.compensates_gravity = model, substeps, compensates_gravity
        self.period = timestep * substeps       # of the state [s]
        self._mj, points = load(urdf, model.joint_names, timestep=timestep, locked=locked,
                                gravity=model.gravity_vector,
                                compensates_gravity=compensates_gravity)
        self._data = mujoco.MjData(self._mj)
        # Of all joints that move, and of those among them that move on their own
        self._moving = np.array([self._mj.joint(n).dofadr[0] for n in model.body_joint_names])
        self._joints = self._moving[model.leaders]
        self._mj.dof_armature[self._joints] += model.armature
        mujoco.mj_setConst(self._mj, self._data)
        #: What differs from the URDF's numbers, in sentences.
        self.warnings = tuple(
            f'link {link} has no inertia of its own: {POINT_INERTIA:g} kg·m² is added'
            for link in points)
        self._own_damping = self._mj.dof_damping.copy()
        self._periods = 0
        self._brakes = False
        self._pushes: dict[int, tuple[ndarray, float]] = {}     # body: force, until
        self.joint_damping = joint_damping
        self.reset(np.zeros(model.nv))

    @property
    def time(self) -> float:
        """Simulation time [s]: it goes on with every period, braked or not, through resets too."""
        return self._periods * self.period

    @property
    def joint_damping(self) -> float:
        """
        Viscous damping on top of the URDF's [N·m·s/rad | N·s/m].

        It is on every joint of the model, not on those that mimic one.
        """
        return self._joint_damping

    @joint_damping.setter
    def joint_damping(self, damping: float) -> None:
        self._joint_damping = damping
        self._mj.dof_damping[:] = self._own_damping
        self._mj.dof_damping[self._joints] += damping
        fastest = self._mj.dof_damping @ self._mj.dof_invweight0
        stiff = self._mj.opt.timestep * fastest > STIFF
        self._mj.opt.integrator = (mujoco.mjtIntegrator.mjINT_IMPLICITFAST if stiff
                                   else mujoco.mjtIntegrator.mjINT_RK4)
        if stiff:
            _log.warning('the damping is stiff: integrated implicitly, to first order')

    @property
    def brakes(self) -> bool:
        """Whether brakes hold the pose; engaging stops the arm, releasing goes on from there."""
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
        Put the arm there; pushes end, brakes stay as they are (braked, it has no velocity).

        :param position: (nv,) [rad | m].
        :param velocity: (nv,), or one for all joints [rad/s | m/s].
        :raises ArgumentError: if a number is missing or not finite.
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
        self.brakes = self._brakes

    def step(self, tau: ArrayLike) -> None:
        """
        Let one state period pass with the efforts ``tau`` (nv,) [N·m | N] held.

        :raises ArgumentError: if a number is missing or not finite.
        :raises SimulationError: if the motion cannot be followed any more.
        """
        tau = self._checked('tau', tau)
        if not self._brakes:
            self._data.ctrl[:] = tau
            if self._pushes:
                for n in range(self.substeps):
                    self._apply_pushes(self.time + n * self._mj.opt.timestep)
                    mujoco.mj_step(self._mj, self._data)
            else:
                mujoco.mj_step(self._mj, self._data, self.substeps)
            if not (np.isfinite(self._data.qpos).all() and np.isfinite(self._data.qvel).all()):
                raise SimulationError(
                    f'the simulation diverged after {self.time:.3f} s', name=self.model.name,
                    value=tau, remedy='use smaller physics steps, or look for links with next '
                    'to no inertia under large efforts')
        self._periods += 1

    def state(self) -> PlantState:
        """Return the state now; a brake reports the effort that holds the arm against gravity."""
        effort = self._data.qfrc_bias if self._brakes else self._data.qfrc_actuator
        return PlantState(self.time, self._data.qpos[self._joints],
                          self._data.qvel[self._joints],
                          np.bincount(self.model.driver, self.model.ratio * effort[self._moving]))

    def push(self, link: str, force: ArrayLike, duration: float) -> None:
        """
        Let a force act on a link for a while; a new one replaces the one at work there.

        :param link: any link of the URDF; the force acts at the origin of its frame.
        :param force: (3,) in world axes [N].
        :param duration: simulation time [s], to the next physics step.
        :raises UnknownNameError: if there is no such link.
        :raises ArgumentError: if the force is not three finite numbers.
        """
        body = mujoco.mj_name2id(self._mj, mujoco.mjtObj.mjOBJ_BODY, link)
        if body < 0:
            raise UnknownNameError('link', link,
                                   [self._mj.body(i).name for i in range(1, self._mj.nbody)])
        vector = np.asarray(force, float)
        if vector.shape != (3,) or not np.isfinite(vector).all():
            raise ArgumentError('the force of a push is unusable', name='force', value=force,
                                remedy='give three finite numbers')
        self._pushes[body] = vector, self.time + duration

    def _apply_pushes(self, time: float) -> None:
        for body, (force, until) in list(self._pushes.items()):
            if time < until - 1e-9:
                # MuJoCo takes forces at the centre of mass
                arm = self._data.xpos[body] - self._data.xipos[body]
                self._data.xfrc_applied[body] = [*force, *np.cross(arm, force)]
            else:
                self._data.xfrc_applied[body] = 0
                del self._pushes[body]

    def _checked(self, name: str, values: ArrayLike) -> ndarray:
        numbers = np.asarray(values, float)
        if numbers.shape not in ((), (self.model.nv,)) or not np.isfinite(numbers).all():
            raise ArgumentError(f'{name} is unusable', name=name, value=values, remedy=f'give '
                                f'{self.model.nv} finite numbers, one a joint: '
                                f'{", ".join(self.model.joint_names)}')
        return numbers

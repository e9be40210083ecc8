# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Exact dynamics of an arm without joint stops, driven by delayed efforts and by hands."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

from .arm import Arm
from .plant_step import TICK, WRECKED
from .tick import ADVANCE, COMMAND, COMMANDS_LOST, compiled_run, LATCH, SAMPLES_LOST, WORLD
from .world_data import number, WorldData
from ..compiler.tuple_reference import TupleMemory
from ..control.settings.friction import with_friction
from ..dynamics import Dynamics
from ..dynamics.model_data import parameters, workspace
from ..errors import SimulationError
from ..model.robot import RobotModel

__all__ = ['Drives', 'IDEAL', 'Plant', 'SILENCE', 'TICK', 'WRECKED', 'with_gear_friction']
SUBSTEPS, MOST_SUBSTEPS = 4, 64
STOP_RATE = 300.0       # 1/s, of a joint on its stop, damped by half
STIFFNESS = 0.5         # of a step: friction changes the velocity by this share of it at most
# Friction of a real arm's gears, of the effort limit: per rad/s, and at any speed above SLIP rad/s
VISCOUS, COULOMB, SLIP = 0.01, 0.005, 0.05
SILENCE = 0.1           # s without commands after which the plant's own brakes engage


@dataclass(frozen=True)
class Drives:
    """
    Drives of an arm; efforts are in N·m | N.

    :param gain: (nv,) effort per commanded effort, negative for a reversed motor.
    :param saturation: (nv,) largest effort; ``dead_zone``: (nv,) smaller commands do nothing.
    :param lag: [s] time constant of the effort.
    :param compensate_gravity: whether they add g(q), as those of Franka and UR do.
    :param stop_distance: [rad | m] from the position limits to the joint stops; infinite: none.
    """

    gain: ndarray | float = 1.0
    saturation: ndarray | float = np.inf
    dead_zone: ndarray | float = 0.0
    lag: float = 0.0
    compensate_gravity: bool = False
    stop_distance: float = np.inf


IDEAL = Drives()


def with_gear_friction(model: RobotModel) -> RobotModel:
    """Return the model with the friction of gears."""
    return with_friction(model, {
        'viscous_friction': VISCOUS * model.effort_limit,
        'coulomb_friction': COULOMB * model.effort_limit,
        'friction_velocity': np.full(model.nv, SLIP)})


class Plant:
    """
    Simulated arm; its brakes hold it before the first command, and when commands have stopped.

    It owns the memory of its world, ``data``, which the steps of a tick read and write. ``q``,
    ``qd``, ``effort`` (commanded), ``external`` (of hands, in one tick), ``motor`` (sign and
    health of the motors), ``stuck`` (efforts that motors keep) and ``wired`` (joint whose effort
    each one gets) are arrays (nv,) of it.

    :param arm: with the true model, which need not be the controller's.
    :param q: (nv,) initial pose.
    :param delay: [s] from a command to the effect of its efforts.
    :param silence: [s] of the command timeout.
    """

    blocked, wrecked, speed = number('blocked'), number('wrecked'), number('speed')
    delay, silence = number('delay'), number('silence')

    def __init__(self, arm: Arm, q: ndarray, delay: float = 0.0, silence: float = SILENCE,
                 drives: Drives = IDEAL):
        model = arm.model
        self.arm, self.drives = arm, drives
        self.data = WorldData.of(workspace(model), model.nv)
        self._memory, self._run = TupleMemory(WORLD), compiled_run()
        self._address = self._memory.address
        p, m = self.data.plant, self.data.numbers
        self.q, self.qd, self.effort, self.external = p.q, p.qd, p.command, p.external
        self.motor, self.stuck, self.wired = p.motor, p.stuck, self.data.wired
        p.stop_lower[:] = model.position_lower - drives.stop_distance
        p.stop_upper[:] = model.position_upper + drives.stop_distance
        p.q[:] = np.clip(q, p.stop_lower, p.stop_upper)
        self._dynamics: Dynamics | None = None
        self.dynamics = arm.dynamics
        p.command[:] = self.dynamics.gravity(p.q) * (not drives.compensate_gravity)     # acts
        p.actual[:], p.motor[:], p.stuck[:] = p.command, 1.0, np.nan
        p.gain[:], p.saturation[:], p.dead_zone[:] = (drives.gain, drives.saturation,
                                                      drives.dead_zone)
        light = 1.0 / np.diag(np.linalg.inv(self.dynamics.mass_matrix(p.q)))
        p.stop_stiffness[:], p.stop_damping[:] = light * STOP_RATE**2, light * STOP_RATE
        p.velocity_limit[:], p.effort_limit[:] = model.velocity_limit, model.effort_limit
        m['lag'], m['compensates'] = drives.lag, drives.compensate_gravity
        m['delay'], m['silence'], m['blocked'] = delay, silence, -1
        m['command_time'], m['hand_since'], m['hand_until'] = -np.inf, np.inf, np.inf
        m['every'] = 1
        self.data.violations['time'] = np.nan

    @property
    def dynamics(self) -> Dynamics:
        """Dynamics of the arm as it is now; faults may change them."""
        assert self._dynamics is not None
        return self._dynamics

    @dynamics.setter
    def dynamics(self, dynamics: Dynamics) -> None:
        if dynamics is self._dynamics:
            return
        model, self._dynamics = dynamics.model, dynamics
        self.give(robot=parameters(model))
        # Friction is explicit in the integration: light joints with much of it need short steps
        slope = dynamics.friction(np.full(model.nv, 1e-9)) / 1e-9
        rate = float((slope * np.diag(np.linalg.inv(dynamics.mass_matrix(self.q)))).max())
        self.data.numbers['steps'] = int(np.clip(np.ceil(TICK * rate / STIFFNESS), SUBSTEPS,
                                                 MOST_SUBSTEPS))

    def give(self, **parts: Any) -> None:
        """Replace parts of the memory."""
        self.data = self.data._replace(**parts)
        self._memory.write(self.data)

    def run(self, inputs: int, ticks: int, first: int, last: int) -> int:
        """
        Run steps of ticks, see :func:`.tick.run`; return the number of ticks.

        :raises SimulationError: more samples or commands are under way than there may be.
        """
        done = int(self._run(self._address, inputs, ticks, first, last))
        if done in (SAMPLES_LOST, COMMANDS_LOST):
            what = 'samples' if done == SAMPLES_LOST else 'commands'
            raise SimulationError(f'too many {what} are under way', name='delay', value=self.delay,
                                  remedy='use shorter delays')
        return done

    def command(self, tau: ndarray) -> None:
        """Take a command that is published in this tick."""
        self.data.tau[:] = tau
        self.data.numbers['published'] = 1
        self.run(0, 1, COMMAND, ADVANCE)

    def advance(self, ticks: int = 1) -> None:
        """Move on."""
        self.run(0, ticks, ADVANCE, LATCH)

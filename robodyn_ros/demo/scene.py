# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Common parts of the demo's scenes: activation of a law, checks, what physics predicts."""

from collections.abc import Callable
from contextlib import AbstractContextManager
import re
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .results import Check, Results, thousandths
from ..catalog.robots import CatalogRobot
from ..control.references.trajectory import Waypoints
from ..control.settings.settings import GAINS, Settings
from ..control.settings.suggested_gains import suggest_gains
from ..dynamics import Dynamics
from ..errors import DemoError
from ..model.robot import units
from ..testing import SimulatedArm, States, TIME_TOLERANCE

FALL_SAMPLES = 5    # to either side of the difference quotient: no joint is at a limit yet
PUSH_TURN, PUSH_SLIDE = 0.2, 0.1            # [rad], [m] that a push shall move a joint
SUFFICIENT_DISTANCE = 0.05    # [rad | m]
MAX_RANGE_SHARE = 0.5    # of the distance to the next limit
MIN_LEVER = 1e-3    # [m] with which a force moves a joint
IDLE_GRAVITY = 'nothing: gravity moves no joint from this pose; another may: --at V1,V2,...'


def moved_by_gravity(dynamics: Dynamics, pose: ndarray) -> bool:
    """Return whether gravity moves an arm without efforts from ``pose``: friction may hold it."""
    model, g = dynamics.model, dynamics.gravity(pose)
    held = np.clip(g, -model.static_friction, model.static_friction)
    acceleration = np.linalg.solve(dynamics.mass_matrix(pose), held - g)
    return bool(np.abs(acceleration).max() > 0.05)


def held_share(dynamics: Dynamics, fall: States) -> float:
    """
    Return the share of gravity that efforts hold: 1 for an arm at rest, 0 in free fall.

    The equation of motion gives the acting efforts, τ = M(q) q̈ + C(q, q̇) q̇ + g(q), from which
    the largest possible friction is subtracted.

    :param fall: states of a fall, from its beginning.
    """
    model, n = dynamics.model, FALL_SAMPLES
    q, qd = fall.position[n], fall.velocity[n]
    qdd = (fall.velocity[2 * n] - fall.velocity[0]) / (fall.time[2 * n] - fall.time[0])
    friction = model.coulomb_friction + model.viscous_friction * np.abs(qd)
    efforts = np.maximum(np.abs(dynamics.inverse_dynamics(q, qd, qdd)) - friction, 0.0)
    return float(efforts.max() / np.abs(dynamics.gravity(q)).max())


def damping(dynamics: Dynamics, pose: ndarray, time_constant: float = 0.3) -> float:
    """Return the joint damping for which the slowest motion has a time constant [s]."""
    return float(np.linalg.eigvalsh(dynamics.mass_matrix(pose))[-1]) / time_constant


class Push(NamedTuple):
    """Force on a link, and the expected motion of the joints."""

    link: str
    force: ndarray              # (3,) [N] in world axes
    displacement: ndarray       # (nv,) [rad | m]


def push(dynamics: Dynamics, pose: ndarray, damping: float, duration: float) -> Push:
    """
    Return a push along x, y or z that moves some joint well but none too far.

    It acts on the last link for which there is one: fingers soon reach their stops.

    An arm without gravity that only damping brakes gives its momentum to the damper: the impulse
    Jᵀ F Δt equals D Δq. Coulomb friction takes its part while the force acts.

    :param damping: of every joint [N·m·s/rad | N·s/m], in addition to the model's.
    :param duration: Δt [s] of the force.
    """
    pushes = []
    for link in reversed(dynamics.model.link_names):
        pushes.append(_push(dynamics, pose, damping, duration, link))
        if np.abs(pushes[-1].displacement).max() >= SUFFICIENT_DISTANCE:
            return pushes[-1]
    return max(pushes, key=lambda push: np.abs(push.displacement).max())


def _push(dynamics: Dynamics, pose: ndarray, damping: float, duration: float, link: str) -> Push:
    """Return the push on one link that moves a joint most."""
    model = dynamics.model
    linear = dynamics.jacobian(pose, link, 'aligned')[:3]
    slides = model.slides
    damper = (damping + model.viscous_friction) / duration
    best = Push(link, np.zeros(3), np.zeros(model.nv))
    for axis in np.vstack([np.eye(3), -np.eye(3)]):
        effort = linear.T @ axis
        room = np.where(effort > 0, model.position_upper - pose, pose - model.position_lower)
        most = np.minimum(np.where(slides, PUSH_SLIDE, PUSH_TURN), MAX_RANGE_SHARE * room)
        felt = np.abs(effort) > np.maximum(MIN_LEVER, 0.001 * np.abs(effort).max())
        if not felt.any():
            continue
        scale = ((most * damper + model.coulomb_friction)[felt] / np.abs(effort)[felt]).min()
        moved = np.maximum(scale * np.abs(effort) - model.coulomb_friction, 0.0) / damper
        if moved.max() > np.abs(best.displacement).max():
            best = Push(link, scale * axis, moved * np.sign(effort))
    return best


def best_ratio(dynamics: Dynamics, reference: ndarray, without: ndarray) -> float:
    """
    Return the ratio of the disturbances of a simpler law and of computed torque.

    Feedback of the same stiffness turns disturbances into tracking errors. Computed torque leaves
    friction, which it does not model; a simpler law leaves friction and the terms that it omits.

    :param reference: (N, 3, nv) position, velocity and acceleration.
    :param without: (N, nv) [N·m | N] efforts that the simpler law computes.
    """
    model = dynamics.model
    left, left_simple = [], []
    for (q, qd, qdd), known in zip(reference, without):
        inertia = dynamics.mass_matrix(q).diagonal()
        friction = model.coulomb_friction * np.sign(qd) + model.viscous_friction * qd
        left.append(friction / inertia)
        left_simple.append((dynamics.inverse_dynamics(q, qd, qdd) + friction - known) / inertia)
    rms = np.sqrt(np.mean(np.square(left)))
    return float(np.sqrt(np.mean(np.square(left_simple))) / rms) if rms else np.inf


Step = Callable[[str], AbstractContextManager]
START_DELAY = 1.0    # [s] from the release of the brakes to the start of a trajectory


class Scene:
    """
    Scene with one robot, on simulation time: its results do not depend on the machine.

    :param step: ``step(text)`` is entered for each step, for a progress bar.
    """

    #: Simulation time of :meth:`run` [s].
    duration: float

    def __init__(self, robot: CatalogRobot, dynamics: Dynamics, arm: SimulatedArm, step: Step):
        self.dynamics, self.arm, self.step = dynamics, arm, step
        self.model, self.pose = robot.model, robot.pose
        self.small_unit, self.unit = (units(self.model, prefix)[0] for prefix in ('m', ''))
        self.results = Results()
        self.fault_expected = False
        self._gains = {name: gain.tolist() for name, gain in suggest_gains(
            self.model, self.pose, Settings(rate=1.0 / arm.period))._asdict().items()
            if name in GAINS}

    def run(self) -> None:
        """Run all steps."""
        raise NotImplementedError

    def look(self) -> None:
        """Raise :class:`DemoError` if the controller reports a fault that is not expected."""
        report = self.arm.report
        if report.get('phase') == 'FAULT' and not self.fault_expected:
            raise DemoError(f'FAULT {report["reason code"]}: {report["reason"]}',
                            name=report['reason code'],
                            remedy=f'see {self.arm.folder}/controller.log')

    def configure(self) -> None:
        """Configure the controller with the suggested gains: those of the robot need its rate."""
        self.arm.set_parameters('controller', **self._gains)
        self.arm.change_state('configure')

    def begin(self, mode: str, **parameters: Any) -> None:
        """Activate a control law, with further parameters, at the initial pose, and pause."""
        self.arm.start(**parameters, mode=mode)

    def follow(self, asked: Waypoints, seconds: float) -> States:
        """Return the states of a trajectory, ``seconds`` long; its start has the time 0."""
        start = self.arm.time + START_DELAY
        self.arm.send(asked, start)
        states = self.arm.run(START_DELAY + seconds)
        inside = states.time > start - TIME_TOLERANCE
        states = States(*(column[inside] for column in states))
        return states._replace(time=states.time - start)

    def faults(self) -> list[str]:
        """Return the codes of all faults that the controller has logged."""
        return re.findall(r'FAULT (\w+):', self.arm.log())

    def check_faults(self, *expected: str) -> None:
        """End the scene; check that the controller has logged the expected faults only."""
        self.arm.deactivate()
        codes = self.faults()
        self.check('no fault of the controller', ', '.join(codes) or 'none',
                   ', '.join(expected) or 'none', codes == [*expected])

    def below(self, what: str, value: float, limit: float, unit: str,
              floating: ndarray | None = None) -> None:
        """Check a distance or speed in thousandths of a unit, of an arm that floats at a pose."""
        measured, passed = f'{thousandths(value)} {unit}', value < limit
        if passed and floating is not None and not moved_by_gravity(self.dynamics, floating):
            self.check(what, measured, IDLE_GRAVITY, None)
        else:
            self.check(what, measured, f'< {1e3 * limit:g}', passed)

    def check(self, what: str, measured: str, required: str, passed: bool | None) -> None:
        """Record whether a condition holds; None: it cannot fail."""
        self.results.checks.append(Check(what, measured, required,
                                         None if passed is None else bool(passed)))

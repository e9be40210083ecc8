# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One world played to its end: the controller of a robot in it, and what came of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from functools import cached_property, partial
from pathlib import Path
import traceback
from typing import Any

import numpy as np
from numpy import ndarray

from .arm import Arm, arm_of, UnheldError
from .catalogue import CATALOGUE, excused
from .draw import Draw, draw, nominal_model, STOPPED, true_model
from .following import Errors
from .judge_step import compensation_ratio, COMPENSATION_TOLERANCE, excessive
from .library import Library
from .motion import SETTLING, Tour
from .plant import Drives
from .plant_step import TICK
from .play import Planned, play
from .sensing import Conditions
from .world import World
from .worlds import Worlds
from ..compiler.code_cache import machine
from ..control.controller.controller import Controller
from ..control.cycle.compile import compiled
from ..control.laws import registry
from ..control.laws.law import NO_REFERENCE
from ..control.references.trajectory import Waypoints
from ..control.settings.motion_limits import holding_warning
from ..control.settings.settings import Settings
from ..control.steps.guard import FAULT
from ..dynamics import Dynamics
from ..errors import RobodynError, writing
from ..model.resources import package_version
from ..model.robot import RobotModel
from ..parallel import in_processes

RISING = 10.0           # s that are recorded besides the motion


@dataclass(frozen=True, eq=False)
class Case:
    """
    What is verified: a robot, the settings of its controller, and the worlds that it is played in.

    :param model: as the parameter file gives it to the controller.
    :param trigger: timer or state.
    :param waypoints: motion to follow; None: random ones.
    :param files: path and digest of each file that it is read from.
    """

    name: str
    model: RobotModel
    settings: Settings
    worlds: Worlds
    seed: int
    trigger: str = 'timer'
    waypoints: Waypoints | None = None
    files: tuple[tuple[str, str], ...] = ()

    @property
    def seconds(self) -> float:
        """Duration of a world after the arm has risen [s]."""
        given = 0.0 if self.waypoints is None else float(self.waypoints.times[-1]) + 2.0 * SETTLING
        return max(self.worlds.seconds, given)


@dataclass(frozen=True)
class Outcome:
    """
    What came of one world; JSON holds it without loss.

    :param world: :meth:`.draw.Draw.plain`.
    :param refusal: why the arm was not armed, '' if it was.
    :param fault: code of the fault, '' without one; ``reason``: its sentence.
    :param fault_time: [s] from the injection, without one from arming; None: as the arm rose.
    :param violations: sentence by the name of a broken criterion.
    :param figures: those of :data:`.criteria.FIGURES`; None where there is none.
    """

    index: int
    world: Mapping[str, Any]
    refusal: str = ''
    fault: str = ''
    reason: str = ''
    fault_time: float | None = None
    violations: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def bad(self) -> bool:
        """Return whether something is wrong that no injected fault explains."""
        return bool(self.violations or self.refusal or self.unexplained_fault)

    @property
    def unexplained_fault(self) -> bool:
        """Return whether a fault latched before an injection, or for a reason not its own."""
        early = self.fault_time is None or self.fault_time < 0.0
        return bool(self.fault) and (early or self.fault not in excused(self.injection))

    @property
    def injection(self) -> str:
        """Return the name of the injected fault, '' without one."""
        return self.world['injection']

    def plain(self) -> dict[str, Any]:
        """Return it as JSON would hold it."""
        return asdict(self)


class Player:
    """
    Plays worlds of one case one after the other, in one process.

    :raises RobodynError: the controller refuses the model or the settings.
    """

    def __init__(self, case: Case, specialize: bool = True, recorded: int = 0):
        self.case = case
        joints = case.settings.joint_records(case.model)
        believed = replace(case.settings.loaded(case.model), effort_limit=joints['effort_limit'],
                           velocity_limit=joints['velocity_limit'])
        self._arm = arm_of(case.name, believed)
        #: Which joints cannot hold the arm, '' if all can.
        self.unheld = holding_warning(
            nominal_model(case.model, case.worlds.truth),
            np.minimum(joints['effort_limit'], case.worlds.truth.effort_limit))
        self.library = Library(case.model, case.settings, specialize=specialize,
                                recorded=recorded)

    @cached_property
    def modes(self) -> dict[str, Settings]:
        """Return the settings of each mode of the worlds."""
        found, own = {}, dict(self.case.settings.gains)
        for mode in self.case.worlds.modes:
            found[mode] = replace(self.case.settings, mode=mode, gains={
                f.name: own[f.name] for f in registry.find(mode).declared if f.name in own})
            self.library.controller.check(found[mode])
        return found

    def play(self, index: int) -> Outcome:
        """Play one world."""
        return self.play_drawn(draw(self.case.worlds, self.case.model.nv, self.case.seed, index))

    def play_drawn(self, drawn: Draw) -> Outcome:
        """Play a world; an exception of the controller is a violation."""
        settings = self.modes[drawn.mode]
        unheld = {'holding': self.unheld} if self.unheld else {}
        try:
            one = self._play(drawn, settings)
            return replace(one, violations={**unheld, **one.violations}) if unheld else one
        except UnheldError as error:
            return Outcome(drawn.index, drawn.plain(),
                           violations=unheld or {'holding': str(error)})
        except (ArithmeticError, LookupError, TypeError, ValueError, RobodynError):
            return Outcome(drawn.index, drawn.plain(),
                           violations={'exception': traceback.format_exc(limit=-3)})

    def _play(self, drawn: Draw, settings: Settings) -> Outcome:
        world = self.world(drawn, settings)
        motion = Tour(drawn.motion, world, self.case.seconds, self.case.waypoints)
        planned = [Planned(CATALOGUE[drawn.injection], drawn.start, drawn.duration, drawn.joint)
                   ] if drawn.injection else []
        world.motion = motion
        run = play(self.library, world, planned, self.case.seconds)
        f = run.figures
        faulted = f.phase == FAULT
        if not (run.armed or faulted):
            return Outcome(drawn.index, drawn.plain(), violations=run.violations,
                           refusal=self.library.controller.arming_refusal or 'not RUNNING in time')
        violations = dict(run.violations)
        time = 1e-3 * f.fault if np.isfinite(f.fault) else None
        calm = not drawn.injection and not faulted
        worlds = self.case.worlds
        if drawn.injection == STOPPED and drawn.duration >= worlds.reaction_time and not (
                faulted and (time or 0.0) <= worlds.reaction_time):
            violations['reaction'] = (f'a fault after {time:.3f} s' if faulted and time
                                      else 'no fault')
        numbers = world.data.numbers[0]
        last_velocity = float(numbers['late_speed'])
        passive = settings.law_in_force.reference == NO_REFERENCE
        ratio = compensation_ratio(numbers)
        if calm and passive and excessive(numbers):
            violations['passive'] = f'the law supplies {numbers["supplied"]:.3g} J to the arm'
        if calm and ratio is not None and ratio > 2.0 + COMPENSATION_TOLERANCE:
            violations['friction'] = f'{ratio:.3g} times the friction is compensated'
        if calm and numbers['at_stop']:
            violations['stops'] = 'a joint has reached its stop'
        if calm and motion.refused:
            violations['refused'] = 'the controller refused the motion'
        at_rest = settings.law_in_force.follows
        errors = Errors(world, self.controller, np.array(worlds.resting_error),
                        worlds.tracking_share)
        if calm and at_rest and last_velocity > worlds.settled_velocity:
            violations['settling'] = f'{last_velocity:.3g} velocity limits at the end'
        if calm and at_rest:
            violations |= errors.violations()
        return Outcome(
            drawn.index, drawn.plain(), fault=f.reason if faulted else '',
            reason=self.controller.reason if faulted else '',
            fault_time=time if faulted else None, violations=violations,
            figures={'velocity': f.velocity, 'effort': f.effort, 'step': f.step,
                     'rest time': 1e-3 * f.rest if np.isfinite(f.rest) else None,
                     'resting': errors.resting if at_rest and not faulted else None,
                     'tracking': errors.tracking if at_rest else None,
                     'settling': last_velocity if at_rest and not faulted else None,
                     'supplied energy': float(numbers['supplied']) if calm and passive else None,
                     'compensated friction': ratio if calm else None})

    @property
    def controller(self) -> Controller:
        """Return the controller, as the last world has left it."""
        return self.library.controller

    def world(self, drawn: Draw, settings: Settings) -> World:
        """Return the world of a draw."""
        worlds, v, random = self.case.worlds, drawn.values, drawn.random(1)
        truth = worlds.truth
        moved = replace(true_model(self.case.model, truth, drawn), velocity_limit=np.minimum(
                            self._arm.model.velocity_limit, truth.velocity_limit),
                        effort_limit=self._arm.model.effort_limit)
        true_arm = Arm(self._arm.name, moved, Dynamics(moved), self._arm.gravity_rate)
        limit = np.array(truth.effort_limit)
        drives = Drives(
            gain=np.array(truth.motor_gain) * (1.0 + (v['drive_gain'] - 1.0)
                                               * random.uniform(0.5, 1.0, moved.nv)),
            saturation=limit, dead_zone=v['dead_zone'] * limit, lag=v['drive_lag'],
            compensate_gravity=truth.compensates_gravity, stop_distance=v['stop_distance'])
        ticks = round(v['delay'] / TICK)
        latency = int(random.integers(ticks + 1))
        conditions = Conditions(
            rate=truth.state_rate, latency=TICK * latency, delay=TICK * (ticks - latency),
            loss=v['state_loss'], jitter=v['jitter'], position_noise=v['position_noise'],
            velocity_noise=v['velocity_noise'], resolution=v['resolution'],
            measures_effort=truth.measures_effort)
        start = None
        if self.case.waypoints is not None and drawn.motion == 'tour':
            start = _start(self.case.waypoints, self.case.model)
        return World(self._arm, settings, conditions, drawn.motion, self.case.trigger,
                     [drawn.seed, drawn.index, 3], true_arm=true_arm, drives=drives, pose=start)


def _start(waypoints: Waypoints, model: RobotModel) -> ndarray:
    """Return the first waypoint (nv,) in the order of the model."""
    assert waypoints.positions is not None
    names = list(waypoints.joint_names)
    return waypoints.positions[0][[names.index(name) for name in model.joint_names]]


def play_all(case: Case, indices: Iterable[int], jobs: int, *,
             specialize: bool = True) -> Iterator[Outcome]:
    """
    Yield the outcomes of worlds as they come in.

    :raises RobodynError: the controller refuses the model or the settings; see
        :func:`~robodyn_ros.parallel.in_processes`.
    """
    return in_processes(partial(Player, case, specialize), Player.play, indices, jobs)


def check(case: Case) -> None:
    """
    Raise what would end each process.

    :raises RobodynError: the controller refuses the model or the settings.
    """
    Player(case, specialize=False).modes        # noqa: B018  (each is checked)


def record(case: Case, index: int, path: Path | None) -> Outcome:
    """
    Play one world and write its cycles.

    :param path: of the MCAP file; None to write none.
    :raises RobodynError: the controller refuses the settings, or the file cannot be written.
    """
    from ..flight_recorder import file  # which needs the library mcap
    from ..flight_recorder.arrays import About

    cycles = round((case.seconds + RISING) * case.settings.rate) if path else 0
    player = Player(case, recorded=cycles)
    outcome = player.play(index)
    if path is not None:
        controller = player.controller
        about = About('robodyn verify', controller.reason_code, controller.reason,
                      f'{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S.%fZ}', 'simulation',
                      case.trigger, 'ros', 0.0, package_version(), compiled().code, machine())
        with writing(path, '--output'):
            path.parent.mkdir(parents=True, exist_ok=True)
            file.write(path, controller.model, controller.history.take(), about)
    return outcome

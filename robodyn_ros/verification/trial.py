# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One world played to its end: the controller of a robot in it, and what came of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
import traceback
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .arm import Arm, arm_of, UnheldError
from .catalogue import CATALOGUE, excused
from .injection import Active, Injection
from .judge_step import (
    AFTER_ZERO, BRAKES_RELEASED, CAUSES, compensation_ratio, COMPENSATION_TOLERANCE, EFFORT,
    Errors, excessive, KINDS, NOT_FINITE, NOT_LATCHED, STEP, SUSPECT, VELOCITY)
from .plant import Drives, END, LATCH, number
from .plant_step import TICK
from .sensing import Conditions
from .world import Library, SETTLING, Tour, World
from .worlds import Draw, draw, nominal_model, STOPPED, true_model, Worlds
from ..control.controller.controller import Controller
from ..control.laws import registry
from ..control.laws.law import NO_REFERENCE
from ..control.references.trajectory import Waypoints
from ..control.settings.motion_limits import holding_warning
from ..control.settings.settings import Settings
from ..control.steps.guard import CODES, FAULT, INACTIVE, PHASES, RUNNING
from ..dynamics import Dynamics
from ..errors import ParameterError, RobodynError
from ..model.robot import RobotModel
from ..model.unit_checks import MAX_TURNS, UNLIMITED
from ..parallel import in_processes

RISING_TICKS = 1500           # ticks, at most
TESTING = 6000          # ticks for each motor that is tested, at most
BEFORE = 0.4            # s of healthy motion before the first injection


class Planned(NamedTuple):
    """A planned injection: start after the healthy motion, and duration [s]."""

    what: Injection
    start: float
    duration: float
    joint: int


@dataclass
class Figures:
    """Peaks and times after the injection; times in ms, NaN where it did not happen."""

    step: float = 0.0               # largest effort change without a fault, of the effort limit
    step_effort: float = 0.0        # the same [N·m | N]
    effort: float = 0.0             # largest, of the effort limit
    velocity: float = 0.0           # largest, of the velocity limit
    travel: float = 0.0             # farthest from where it was [rad | m]
    fault: float = np.nan           # time to fault [ms]
    zero: float = np.nan            # time to zero effort [ms]
    rest: float = np.nan            # time from the fault until all joints rest [ms]
    reason: str = ''
    phase: int = 0


class Judge:
    """
    Judge of every tick of a world from now on; its figures begin with ``since`` [s].

    The ticks themselves are judged by :mod:`.judge_step`.
    """

    since = number('since')

    def __init__(self, world: World, since: float):
        self._world, self.data, s = world, world.plant.data, world.settings
        m, self.since = self.data.numbers, since
        self.data.judge.gravity_rate[:] = world.arm.gravity_rate
        m['period'], m['judged'] = TICK * max(1, round(1.0 / s.rate / TICK)), 1
        m['fault_ramp_time'], m['fault_hold_time'] = s.fault_ramp_time, s.fault_hold_time
        m['zero_is_end'] = s.mode != 'pd'       # whose errors may be zero
        m['rests_without_effort'] = (s.robot_compensates_gravity or not
                                     world.arm.dynamics.gravity(world.plant.q).any())
        m['corrects_gravity'] = (world.plant.drives.compensate_gravity
                                 != s.robot_compensates_gravity)
        m['published_at'], m['too_fast_since'] = -np.inf, np.inf
        m['fault'] = m['zero'] = np.nan
        self._ended: dict[str, str] = {}

    def settle(self) -> None:
        """Judge the end of the run; nodes report their faults with a delay."""
        world, data = self._world, self.data
        world.subject.settle()
        if not world.subject.alive:
            self._ended['ended'] = self._at(world.time, 'the process has ended')
            return
        m, phase = data.numbers, world.subject.phase
        m['phase'] = phase
        over = phase in (FAULT, INACTIVE)
        m['reason'] = CODES.index(world.subject.reason_code)
        world.plant.run(0, 1, LATCH, END)
        suspect = data.violations[SUSPECT]
        if not over and not np.isnan(suspect['time']):
            self._ended['step'] = self._sentence(STEP, suspect)
        if not over and m['ended'][0]:
            self._ended['not latched'] = self._at(world.time, f'phase {phase} after zero effort')

    @property
    def figures(self) -> Figures:
        """Figures so far."""
        m = self.data.numbers[0]
        reason = CODES[m['fault_reason']] if m['faulted'] else ''
        peaks = {name: float(m[f'top_{name}']) for name in (
            'step', 'step_effort', 'effort', 'velocity', 'travel')}
        fault = float(m['fault'])
        return Figures(**peaks, fault=fault, zero=float(m['zero']),
                       rest=max(1e3 * (float(m['moved']) - self.since) - fault, 0.0),
                       reason='ENDED' if 'ended' in self._ended else reason,
                       phase=int(m['phase']))

    @property
    def violations(self) -> dict[str, str]:
        """Sentence by the kind of each violation so far."""
        found = self.data.violations
        return {**self._ended, **{kind: self._sentence(k, found[k]) for k, kind in enumerate(KINDS)
                                  if not np.isnan(found[k]['time'])}}

    def _at(self, time: float, what: str) -> str:
        return f'{what} at {1e3 * (time - self.since):.0f} ms'

    def _sentence(self, kind: int, first: np.void) -> str:
        value, braking = float(first['value']), ', braking' * bool(first['braking'])
        joint = self._world.arm.model.joint_names[first['joint']]
        what = {
            NOT_FINITE: f'effort {self.data.judge.not_finite.tolist()}',
            EFFORT: f'{joint} {value:.3f} of the limit', AFTER_ZERO: 'a message',
            BRAKES_RELEASED: f'a message after {value:.2f} s',
            STEP: f'{joint} {value:.2f} N·m, {first["factor"]:.1f} times what is allowed{braking}',
            NOT_LATCHED: 'no fault any more',
            VELOCITY: f'{joint} {value:.2f} of the limit'}.get(kind, 'a fault without a reason')
        cause = f' while {CAUSES[first["cause"]]}' if first['cause'] else ''
        return f'{self._at(float(first["time"]), what)}, {PHASES[first["phase"]]}{cause}'


class Run(NamedTuple):
    """Result of a run."""

    armed: bool
    figures: Figures
    violations: dict[str, str]


def play(subject: Any, world: World, planned: list[Planned], seconds: float) -> Run:
    """
    Play a run to its end, ``seconds`` after the first injection, or until the arm is wrecked.

    Without an injection it ends ``seconds`` after the arm has risen, and the figures cover it
    from arming on.
    """
    world.subject = subject
    world.active = [Active(p.what, world, float('inf'), float('inf'), p.joint) for p in planned]
    subject.begin(world)
    subject.arm()
    judge = Judge(world, world.time if not planned else float('inf'))
    if not rise(world):
        judge.settle()
        return Run(False, judge.figures, judge.violations)
    begin = world.time + BEFORE * bool(planned)
    for active, p in zip(world.active, planned):
        active.start, active.end = begin + p.start, begin + p.start + p.duration
    first = min((a.start for a in world.active), default=begin)
    world.moving = True
    if planned:
        judge.since = first
    world.run(round(1e3 * (first - world.time + seconds)))
    judge.settle()
    return Run(True, judge.figures, judge.violations)


def rise(world: World) -> bool:
    """Let the arm rise, with the test of the motors if it is set; return whether it has risen."""
    tested = world.settings.tested_effort > 0.0
    world.run(RISING_TICKS + TESTING * tested * world.arm.model.nv, halt=(RUNNING, FAULT))
    return world.subject.phase == RUNNING


RISING = 10.0           # s that are recorded besides the motion


@dataclass(frozen=True, eq=False)
class Case:
    """
    What is verified: a robot, the settings of its controller, and the worlds that it is played in.

    :param model: as the parameter file gives it to the controller.
    :param trigger: timer or state.
    :param waypoints: motion to follow; None: random ones.
    :param files: path and digest of each file that it is read from.
    :param true: robot that moves, without what ``worlds.truth`` changes; None: ``model``.
    """

    name: str
    model: RobotModel
    settings: Settings
    worlds: Worlds
    seed: int
    trigger: str = 'timer'
    waypoints: Waypoints | None = None
    files: tuple[tuple[str, str], ...] = ()
    true: RobotModel | None = None

    @property
    def seconds(self) -> float:
        """Duration of a world after the arm has risen [s]."""
        given = 0.0 if self.waypoints is None else float(self.waypoints.times[-1]) + 2.0 * SETTLING
        return max(self.worlds.seconds, given)


@dataclass(frozen=True)
class Outcome:
    """
    What came of one world; JSON holds it without loss.

    :param world: :meth:`.worlds.Draw.plain`.
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


def problem(one: Outcome) -> str:
    """Return what is wrong with an outcome as a sentence, '' if nothing is."""
    parts = [f'not armed: {one.refusal}'] * bool(one.refusal)
    if one.unexplained_fault:
        when = ' while arming' if one.fault_time is None else (
            f' {-one.fault_time:.3f} s before the injection' if one.fault_time < 0.0
            else f' after {one.fault_time:.3f} s')
        parts.append(f'fault {one.fault}{when}: {one.reason}')
    return '; '.join([*parts, *(f'{kind}: {what.splitlines()[-1]}'
                                for kind, what in one.violations.items())])


class Player:
    """
    Plays worlds of one case one after the other, in one process.

    :raises RobodynError: the controller refuses the model or the settings.
    """

    def __init__(self, case: Case, specialize: bool = True, recorded: int = 0):
        self.case = case
        _check_limits(case.model)
        joints = case.settings.joint_records(case.model)
        believed = replace(case.settings.loaded(case.model), effort_limit=joints['effort_limit'],
                           velocity_limit=joints['velocity_limit'])
        self._arm = arm_of(case.name, believed)
        #: Which joints cannot hold the arm, '' if all can.
        self.unheld = holding_warning(
            nominal_model(case.true or case.model, case.worlds.truth),
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
        elastic, limit = np.array(truth.joint_stiffness) > 0.0, np.array(truth.effort_limit)
        true = true_model(self.case.true or self.case.model, truth, drawn)
        moved = replace(true, velocity_limit=np.minimum(
                            self._arm.model.velocity_limit, truth.velocity_limit),
                        effort_limit=self._arm.model.effort_limit,
                        armature=np.where(elastic, 0.0, true.armature))
        true_arm = Arm(self._arm.name, moved, Dynamics(moved), self._arm.gravity_rate)
        drives = Drives(
            gain=np.array(truth.motor_gain) * (1.0 + (v['drive_gain'] - 1.0)
                                               * random.uniform(0.5, 1.0, moved.nv)),
            saturation=limit, dead_zone=v['dead_zone'] * limit, lag=v['drive_lag'],
            compensate_gravity=truth.compensates_gravity, stop_distance=v['stop_distance'],
            stiffness=np.array(truth.joint_stiffness), rotor=true.armature,
            play=np.array(truth.backlash), ripple=np.array(truth.ripple),
            ripple_period=np.array(truth.ripple_period),
            ripple_phase=random.uniform(0.0, 2.0 * np.pi, moved.nv),
            base_stiffness=truth.base_stiffness, base_inertia=truth.base_inertia)
        ticks = round(v['delay'] / TICK)
        latency = int(random.integers(ticks + 1))
        conditions = Conditions(
            rate=truth.state_rate, latency=TICK * latency, delay=TICK * (ticks - latency),
            loss=v['state_loss'], jitter=v['jitter'], position_noise=v['position_noise'],
            velocity_noise=v['velocity_noise'], resolution=v['resolution'],
            measures_effort=truth.measures_effort, motor_encoders=truth.motor_encoders,
            differences=truth.velocity_by_differences, stamped=truth.stamped,
            stamp_error=truth.stamp_error, loop_rate=truth.loop_rate)
        start = None
        if self.case.waypoints is not None and drawn.motion == 'tour':
            start = _start(self.case.waypoints, self.case.model)
        return World(self._arm, settings, conditions, drawn.motion, self.case.trigger,
                     [drawn.seed, drawn.index, 3], true_arm=true_arm, drives=drives, pose=start)


def _check_limits(model: RobotModel) -> None:
    """Refuse position limits in degrees: no world within them says anything of the arm."""
    bound = np.maximum(abs(model.position_lower), abs(model.position_upper))
    for i in np.flatnonzero(~model.slides & (bound > MAX_TURNS) & (bound < UNLIMITED)):
        raise ParameterError(
            f'the position limits of {model.joint_names[i]} are {model.position_lower[i]:.4g} and '
            f'{model.position_upper[i]:.4g} rad, {bound[i] / (2.0 * np.pi):.3g} turns: probably '
            'degrees', name=model.joint_names[i], value=float(bound[i]), remedy='give the limits '
            'of the URDF in rad, or the joint the type continuous')


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
    from ..flight_recorder.file import write_cycles  # which needs the library mcap

    cycles = round((case.seconds + RISING) * case.settings.rate) if path else 0
    player = Player(case, recorded=cycles)
    outcome = player.play(index)
    if path is not None:
        write_cycles(path, player.controller, 'robodyn verify', '--output', case.trigger)
    return outcome

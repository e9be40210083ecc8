# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""World of one run: an arm, the channel to its controller, its motion, and injected faults."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy import ndarray

from .arm import Arm
from .injection import Active, ASKED, FAR, PLANT, SEEN
from .judge_step import ARMING_TICKS, REACTION_TIME
from .plant import (
    ADVANCE, CYCLE, Drives, END, IDEAL, MEASURE, number, Plant, RECEIVE, SILENCE,
    with_gear_friction, WorldData)
from .plant_step import START, TICK
from .sensing import Channel, Conditions, DONE
from ..compiler.tuple_reference import TupleMemory
from ..control.controller.controller import Controller
from ..control.cycle.compile import CYCLE_INPUTS
from ..control.laws import registry
from ..control.references.trajectory import Waypoints
from ..control.settings.settings import Settings
from ..control.steps.guard import CODES
from ..dynamics import Dynamics
from ..errors import RobodynError
from ..identification.excitation.trajectory_file import QUINTIC_ACCELERATION
from ..model.robot import RobotModel

BETWEEN = 0.25          # s between two trajectories
SHORTEST = 0.3          # s, of a trajectory
SETTLING = 0.6          # s at the end of a world without a motion
SETTLED = 0.1           # s of these in which the arm has to be at rest
SLOWNESS = 2.5, 6.0     # 15/8 divided by it is the peak velocity of a tour in velocity limits
NO_MODE = -1            # number of a mode that none is
GOALS, HELD = 100, 0.7  # random goals; gravity takes at most this share of the effort limits


class Motion:
    """Motion of a healthy arm: ``still``, ``hand`` or ``trajectory``."""

    def __init__(self, kind: str, plant: Plant, random: np.random.Generator):
        self.kind, self._random = kind, random
        model, n = plant.arm.model, plant.q.shape[0]
        self._centre = plant.q.copy()
        self._pace = random.uniform(1.5, 4.0, n)        # 1/s
        room = 0.5 * np.minimum(plant.arm.upper - plant.q, plant.q - plant.arm.lower)
        fast = 0.3 * model.velocity_limit / self._pace
        self._amplitude = np.minimum(np.minimum(0.4, room), fast)
        self.lasts = 0.0                                # s, of the latest trajectory
        self._began, self._asked = np.nan, -np.inf
        self.due = -np.inf                              # s, when it acts again

    def undisturbed(self, now: int) -> int:
        """Return the number of ticks from ``now`` before it acts."""
        return int(max(0.0, min((self.due - START) / TICK - now, FAR)))

    def act(self, world: 'World') -> None:
        """Let a hand guide the plant, or ask the controller for the next trajectory."""
        if np.isnan(self._began):
            self._began, self.due = world.time, np.inf
            self._guide(world.plant, self.kind == 'hand')
        t = world.time - self._began
        if self.kind == 'trajectory':
            if t - self._asked >= BETWEEN:
                self._asked = t
                self.ask(world, self._random.uniform(2.0, 4.0))
            self.due = self._began + self._asked + BETWEEN

    def _guide(self, plant: Plant, guided: bool) -> None:
        """Let a hand guide every joint along a sine from now on, or none."""
        p, m = plant.data.plant, plant.data.numbers
        p.centre[:], p.amplitude[:], p.pace[:] = self._centre, self._amplitude, self._pace
        m['hand_since'] = self._began if guided else np.inf

    def ask(self, world: 'World', slowness: float, *, near: bool = False,
            everywhere: bool = False, shortest: float = 0.05) -> bool:
        """
        Request a motion to a random pose; return whether it was accepted.

        :param slowness: 1.5 times this many velocity limits would be the mean velocity.
        :param near: a goal in the neighbourhood, soon; ``everywhere``: up to the limits.
        :param shortest: minimum duration [s]; a short motion has great accelerations.
        """
        arm, n = world.arm, world.plant.q.shape[0]
        range_ = arm.upper - arm.lower
        inside = self._random.uniform(*((0.0, 1.0) if everywhere else (0.15, 0.85)), n)
        goal = arm.lower + range_ * inside
        if near:
            goal = np.clip(world.plant.q + self._random.uniform(-0.1, 0.1, n), arm.lower,
                           arm.upper)
        way = abs(goal - world.plant.q) / arm.model.velocity_limit
        self.lasts = max(shortest, slowness * way.max())
        return world.subject.follow(Waypoints(
            arm.model.joint_names, np.array([self.lasts]), goal[None], np.zeros((1, n))))


class Tour(Motion):
    """
    Quintic trajectories to random poses with pauses between them, or given waypoints.

    They are within the acceleration limit of the settings. Other kinds are those of
    :class:`Motion`. The distance from the reference is observed from the beginning on, and the
    rest after the end of the last motion at ``until``, a time of the world [s].

    :param seconds: of the world, of which the last SETTLING are without a motion.
    :param waypoints: of a tour, that the arm starts at; None: random poses.
    """

    def __init__(self, kind: str, world: 'World', seconds: float,
                 waypoints: Waypoints | None = None):
        super().__init__(kind, world.plant, world.random)
        self._seconds, self._waypoints = seconds, waypoints
        self.refused, self.until = False, np.inf

    def act(self, world: 'World') -> None:
        """Observe from now on; ask for the next motion once the arm has rested after the last."""
        m = world.data.numbers
        if self.until == np.inf:
            self.until = world.time + self._seconds - SETTLING
            m['observed'], m['late_from'] = 1, self.until + SETTLING - SETTLED
            world.data.observed.lower[:], world.data.observed.upper[:] = np.inf, -np.inf
            m['balanced_from'] = m['ticks'] + ARMING_TICKS
            law = world.settings.law_in_force
            m['observed_mode'] = registry.number(world.settings.mode) if law.follows else NO_MODE
        if self.kind != 'tour':
            m['hand_until'] = self.until
            super().act(world)
            return
        if world.time < self.due:
            return
        if self._waypoints is not None:
            self.lasts = float(self._waypoints.times[-1])
            self.refused = not world.subject.follow(self._waypoints)
            self.due = np.inf
            return
        left = self.until - world.time
        slowness = self._random.uniform(*SLOWNESS)
        goal = self._goal(world, slowness, left)
        if goal is not None:
            n = len(goal)
            self.refused |= not world.subject.follow(Waypoints(
                world.arm.model.joint_names, np.array([self.lasts]), goal[None],
                np.zeros((1, n)), np.zeros((1, n))))
        self.due = world.time + self.lasts + BETWEEN if goal is not None else np.inf

    def _goal(self, world: 'World', slowness: float, left: float) -> ndarray | None:
        """Return a random pose that is reached in the time left [s]; None if it is too short."""
        arm, q = world.arm, world.plant.q
        for _ in range(GOALS):
            goal = arm.lower + (arm.upper - arm.lower) * self._random.uniform(0.0, 1.0, len(q))
            if (abs(arm.dynamics.gravity(goal)) <= HELD * arm.model.effort_limit).all():
                break
        else:
            return None
        limit = arm.model.velocity_limit
        most = world.settings.acceleration(arm.model, limit)
        way = abs(goal - q)
        lasts = max(SHORTEST, slowness * float((way / limit).max()),
                    float(np.sqrt(QUINTIC_ACCELERATION * way / most).max()))
        if left < SHORTEST:
            return None
        self.lasts = min(lasts, left)
        return q + (goal - q) * (self.lasts / lasts)**2         # at no greater acceleration


class World:
    """
    Everything except the controller, in ticks of 1 ms.

    :param arm: as the controller believes it to be.
    :param trigger: timer or state, of the controller's cycle.
    :param kind: of the healthy motion.
    :param true_arm: the arm that moves; None: ``arm``, with the friction of gears if the
        conditions say so.
    :param pose: (nv,) [rad | m] initial position; None: a random one.
    """

    ticks, unheard = number('ticks'), number('unheard')     # nobody listens to the commands

    def __init__(self, arm: Arm, settings: Settings, conditions: Conditions, kind: str,
                 trigger: str, seed: int | Sequence[int], *, true_arm: Arm | None = None,
                 drives: Drives = IDEAL, pose: ndarray | None = None):
        self.arm, self.settings, self.trigger = arm, settings, trigger
        self.loop_rate = conditions.loop_rate       # Hz
        self.random = np.random.default_rng(seed)
        silence = max(SILENCE, 2.0 * settings.state_timeout)
        moved = true_arm or (replace(arm, dynamics=Dynamics(with_gear_friction(arm.model)))
                             if conditions.friction else arm)
        self.plant = Plant(moved, moved.pose(self.random) if pose is None else pose,
                           conditions.delay, silence, drives)
        self.channel = Channel(conditions, self.data, self.random)
        self.motion = Motion(kind, self.plant, self.random)
        self.active: list[Active] = []
        #: Controller under test: a :class:`.library.Library`, or what has its methods.
        self.subject: Any
        self.moving = False
        rates = self.data.judge.effort_rate
        rates[:] = settings.per_joint(arm.model, 'effort_rate_limit')
        self.effort_rate = rates                # in force
        m = self.data.numbers
        self._ticks = m['ticks']
        m['heard'] = m['heard_before'] = m['deaf'] = START

    @property
    def data(self) -> WorldData:
        """Memory of the world."""
        return self.plant.data

    @property
    def time(self) -> float:
        """Time of the world [s], which knows no jumps."""
        return START + self._ticks.item() * TICK

    @property
    def now(self) -> float:
        """Time on the controller's clock, and on that of the time stamps [s]."""
        return self.time + float(self.data.numbers['offset'][0])

    def jump(self, seconds: float) -> None:
        """Move these clocks by some seconds."""
        self.data.numbers['offset'] += seconds

    def intrude(self, tau: ndarray) -> None:
        """Let another publisher command efforts (nv,) [N·m | N] in this tick."""
        self.data.judge.intruder[:] = tau
        self.data.numbers['intruded'] = 1

    @property
    def simulated(self) -> bool:
        """Whether its clocks are those of a simulation."""
        return any(a.what.clock for a in self.active)

    @property
    def over(self) -> bool:
        """Whether the arm is wrecked, or the phase is one at which :meth:`run` ends."""
        m = self.data.numbers[0]
        return bool(m['wrecked'] or m['halt'] >> m['phase'] & 1)

    def run(self, ticks: int, halt: Sequence[int] = ()) -> None:
        """Advance by ticks, until the arm is wrecked or the phase is one of these."""
        self.data.numbers['halt'] = sum(1 << phase for phase in halt)
        while ticks > 0:
            undisturbed = min(ticks, self._undisturbed())
            if undisturbed:
                self._excuse()
                ticks -= self.subject.run(self, min(undisturbed, self.channel.ticks()), MEASURE)
            else:
                self._tick()
                ticks -= 1
            if self.over:
                return

    def _undisturbed(self) -> int:
        """Return the number of ticks for which neither motion nor injections do anything."""
        now = self._ticks.item()
        found = [active.undisturbed(now) for active in self.active]
        if self.moving:
            found.append(self.motion.undisturbed(now))
        return min(found, default=now + 1)

    def _tick(self) -> None:
        """Advance by a tick in which motion and injections act."""
        self.data.numbers['intruded'] = 0
        if self.moving:
            self.motion.act(self)
        for a in self.active:
            a.apply(PLANT, self.plant)
        for a in self.active:
            a.apply(ASKED, self)
        self.channel.ticks()
        first = MEASURE
        if any(a.what.hook == SEEN for a in self.active):
            self.plant.run(0, 1, MEASURE, RECEIVE)
            if (sample := self.channel.measured()) is not None:
                for a in self.active:
                    a.apply(SEEN, sample)
                self.channel.edit(sample)
            first = RECEIVE
        self._excuse()
        self.subject.run(self, 1, first)

    def _excuse(self) -> None:
        """
        Let the judge know what injections are excused for at the end of this tick.

        States that freeze while the arm rests may throw it too, until the controller reacts to
        their end: they look like those of an arm at rest.
        """
        time, m = self.time + TICK, self.data.numbers
        begun = [(a, time >= a.end - 1e-9) for a in self.active if time >= a.start - 1e-9]
        m['throwing'] = any(
            a.what.throws and (not over or time - a.start < 2.0 * TICK)
            or a.memory.get('unseen') and time <= a.end + REACTION_TIME for a, over in begun)
        m['disobeying'] = any(a.what.disobeys and not over for a, over in begun)
        m['lied_to'] = any(a.what.hook == SEEN for a, _ in begun)
        # A fault with fresh state allows to stop
        m['may_stop'] = any(a.what.name == 'stop in motion' for a in self.active)

    def finish(self, published: Sequence[ndarray]) -> None:
        """End a tick of a controller in another process, which has published efforts."""
        m = self.data.numbers
        m['phase'], m['braking'] = self.subject.phase, 1        # nobody tells
        m['reason'] = CODES.index(self.subject.reason_code)
        for tau in published:
            self.plant.command(tau)
        m['published'] = 0
        self.plant.run(0, 1, ADVANCE, END)


LEAD = 0.002            # s from now that a trajectory starts


class Library:
    """
    One controller, for many runs.

    :param known: the model of the controller.
    :param specialize: compile the dynamics for this robot.
    :param recorded: cycles that the flight recorder keeps; 0: none.
    """

    def __init__(self, known: RobotModel, settings: Settings, *, specialize: bool = True,
                 recorded: int = 0):
        self.controller = Controller(known, settings, specialize=specialize, recorded=recorded)
        self._outside = self.controller.cycle_input.copy()
        self._inputs = TupleMemory(CYCLE_INPUTS)

    def begin(self, world: World) -> None:
        """Start anew in another world, INACTIVE."""
        controller, m = self.controller, world.plant.data.numbers
        controller.begin()
        controller.use(world.settings)
        controller.state[...] = np.nan
        controller.tau[:] = 0.0
        controller.cycle_input[...] = self._outside
        world.plant.give(tau=controller.tau)
        self._world = world
        m['rate'], m['state_timeout'] = world.settings.rate, world.settings.state_timeout
        m['on_timer'] = world.trigger == 'timer'
        period = max(1, round(1.0 / world.settings.rate / TICK))
        m['period_ticks'] = max(period, round(1.0 / world.loop_rate / TICK))
        m['missing'] = m['on_timer'] * (m['period_ticks'] // period - 1)
        m['stepped'] = m['stalled_until'] = -np.inf
        self.tell(simulated_time=int(world.simulated))

    def arm(self) -> None:
        """Ask to rise."""
        self.controller.arm()

    @property
    def alive(self) -> bool:
        """Return True: the controller lives in this process."""
        return True

    @property
    def phase(self) -> int:
        """Return the phase, an index of guard.PHASES."""
        return self.controller.phase

    @property
    def reason_code(self) -> str:
        """Return the code of the latest fault."""
        return self.controller.reason_code

    def run(self, world: World, ticks: int, first: int) -> int:
        """Run ticks from a step on, see :func:`.plant.run`; return their number."""
        if self.controller.compiled.step is not None:
            return world.plant.run(self.controller.write_inputs(), ticks, first, END)
        for k in range(ticks):              # the cycle in plain Python
            self._inputs.write(self.controller.inputs)
            world.plant.run(self._inputs.address, 1, first, CYCLE)
            m = world.plant.data.numbers
            if m['due']:
                m['published'], m['due'] = self.controller.advance(world.now), DONE
            world.plant.run(self._inputs.address, 1, CYCLE, END)
            if world.over:
                return k + 1
        return ticks

    def settle(self) -> None:
        """Do nothing: phase and reason are those of now."""

    def use(self, **changes: Any) -> bool:
        """Change settings; return False where they are refused."""
        try:
            self.controller.use(replace(self.controller.settings, **changes))
        except RobodynError:
            return False
        return True

    def follow(self, waypoints: Waypoints) -> bool:
        """Follow waypoints from LEAD on; return False where they are refused."""
        try:
            self.controller.follow(waypoints, self._world.now + LEAD)
        except RobodynError:
            return False
        return True

    def stall(self, seconds: float) -> None:
        """Run no cycle for a time [s]."""
        self._world.plant.data.numbers['stalled_until'] = self._world.time + seconds

    def stop(self) -> None:
        """Bring the arm to rest."""
        self.controller.stop()

    def tell(self, **fields: Any) -> None:
        """Write fields of the cycle input."""
        for name, value in fields.items():
            self.controller.cycle_input[name] = value

    def second_publisher(self, there: bool) -> None:
        """Let the cycle see another publisher of commands, or none."""
        self.tell(command_publishers=2 if there else self._outside['command_publishers'][0])

    def malformed_request(self) -> None:
        """Raise NotImplementedError: requests reach nodes only."""
        raise NotImplementedError

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""World of one run: an arm, the channel to its controller, its motion, and injected faults."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy import ndarray

from .arm import Arm
from .injection import Active, ASKED, PLANT, SEEN
from .judge_step import REACTION_TIME
from .motion import Motion
from .plant import Drives, IDEAL, Plant, SILENCE, with_gear_friction
from .plant_step import START, TICK
from .sensing import Channel, Conditions
from .tick import ADVANCE, END, MEASURE, RECEIVE
from .world_data import number, WorldData
from ..control.settings.settings import Settings
from ..control.steps.guard import CODES
from ..dynamics import Dynamics


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
        rates[:] = settings.joint_records(arm.model)['effort_rate_limit']
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

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Injected faults: small functions that edit samples, the plant or the requests."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TYPE_CHECKING

from .plant_step import START, TICK

if TYPE_CHECKING:
    from .world import World

SEEN, PLANT, ASKED = 'seen', 'plant', 'asked'
NEAR, FAR = 3, 10**9                    # ticks
FOR_EVER = float('inf')
CONTINUOUS = 'two_link_continuous'      # name of the textbook arm without position limits


@dataclass(frozen=True)
class Scene:
    """Situation in which the table shows an injection."""

    robot: str = 'two_link'
    mode: str = 'gravity_compensation'
    motion: str = 'hand'                # still | hand | trajectory, see motion.py
    seconds: float = 4.0                # after the injection
    loop_delay: float = 0.008
    share: float = 0.25                 # of the highest accepted gains
    rate: float = 1000.0                # Hz, of the cycle
    duration: float = FOR_EVER
    path: str = 'library'               # library | native | python
    trigger: str = 'state'
    collision_threshold: float = 0.0    # effort limits; 0: collisions are not detected


FLOATING, IMPEDANCE = Scene(), Scene(mode='joint_impedance', motion='trajectory')
DETECTING = Scene(mode='joint_impedance', motion='trajectory', collision_threshold=0.03)
PANDA_DETECTING = Scene('panda', 'joint_impedance', 'trajectory', collision_threshold=0.05)
PANDA = Scene('panda')
PANDA_IMPEDANCE = Scene('panda', 'joint_impedance', 'trajectory')


@dataclass(frozen=True)
class Injection:
    """
    A fault: ``act`` is called with an :class:`Active` and what it edits.

    :param hook: SEEN: each sample on its way; PLANT: the plant before each tick; ASKED: the world
        before each tick, whose ``subject`` may be asked for something.
    :param once: the first time only.
    :param steady: what it has done lasts: it need not act in each tick.
    :param throws: it may itself move joints beyond their velocity limit.
    :param disobeys: while it lasts, joints do not do what their efforts ask for, or far too
        late.
    :param clock: it is one of simulation time, whose jumps are no stalls.
    :param random: may be drawn in a random composition.
    :param robots: the only arms that it makes sense for.
    :param paths: likewise, of library, native and python.
    """

    name: str
    hook: str
    act: Callable[['Active', Any], None]
    once: bool = False
    steady: bool = False
    throws: bool = False
    disobeys: bool = False
    clock: bool = False
    random: bool = True
    robots: tuple[str, ...] = ()
    paths: tuple[str, ...] = ('library', 'native', 'python')
    scenes: tuple[Scene, ...] = (FLOATING,)


CATALOGUE: dict[str, Injection] = {}


def injection(name: str, hook: str, **more: Any) -> Callable[[Callable], Callable]:
    """Put a function into the catalogue."""
    def register(act: Callable) -> Callable:
        assert name not in CATALOGUE
        CATALOGUE[name] = Injection(name, hook, act, **more)
        return act
    return register


class Active:
    """An injection in a run, from ``start`` to ``end`` [s]."""

    def __init__(self, what: Injection, world: 'World', start: float, end: float, joint: int):
        self.what, self.world, self.joint = what, world, joint
        self.start, self.end = start, end
        self.memory: dict[str, Any] = {}        # of the function, across calls
        self._done = False

    @property
    def since(self) -> float:
        """Seconds since it began."""
        return self.world.time - self.start

    @property
    def over(self) -> bool:
        """Return whether its time has passed."""
        return self.world.time >= self.end - 1e-9

    def first(self, key: str, value: Any) -> Any:
        """Return the value that the key had at the first call."""
        return self.memory.setdefault(key, value)

    def undisturbed(self, now: int) -> int:
        """
        Return the number of ticks from ``now`` for which it neither acts nor begins nor ends.

        Near its begin and its end it is asked in each tick.
        """
        for time in (self.start, self.end):
            ticks = (time - START) / TICK - now
            if ticks > NEAR:
                return int(min(ticks, FAR)) - NEAR
            if ticks > -NEAR or not self._rests:
                return 0
        return FAR

    @property
    def _rests(self) -> bool:
        """Return whether there is nothing to do in each tick."""
        return self._done or self.what.steady and 'called' in self.memory

    def apply(self, hook: str, edited: Any) -> None:
        """Act while the injection is active."""
        if hook != self.what.hook or self._done or self.world.time < self.start - 1e-9:
            return
        if self.over and not (self.what.once and not self.memory.get('called')):
            if self.memory.get('called') and (restore := self.memory.get('restore')):
                restore()
            self._done = True
            return
        self.memory['called'] = True
        self.what.act(self, edited)
        self._done = self.what.once

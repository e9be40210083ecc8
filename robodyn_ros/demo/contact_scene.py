# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Contact scene of the demo: a push, guiding by hand, and a collision with a post."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from . import contact_plan, physics
from .collision_time import detection
from .conductor import ANSWER_TIMEOUT, Conductor
from .recorder import Recording
from .results import Results
from .scene import Scene, Step
from ..catalog.robots import CatalogRobot
from ..control.learning.collision_thresholds import thresholds
from ..dynamics import Dynamics
from ..errors import DemoError

DISPLACEMENT_TOLERANCE = 0.05    # share of the expected displacement
RETURN_TOLERANCE = 1e-3    # [m] after the push
ESTIMATE_TOLERANCE = 0.1    # share of the efforts of the push
GUIDING_TOLERANCE = 0.01    # [m] from where the hand leads the tool
RELEASE_TOLERANCE = 1e-3    # [m] that the tool moves after the hand lets go

MAX_DETECTION_TIME = 0.03    # [s] from the first contact
CONTACT_DURATION = 0.5    # [s], at most
RECORDED_AFTER_CONTACT = 1.0    # [s]
THRESHOLD_MARGIN = 2.0    # over the external efforts without contact
MIN_THRESHOLD = 0.05    # in effort limits
POST_STIFFNESS = 75e3    # [N/m] of a human hand in ISO/TS 15066
START_DELAY = 1.0    # [s] from sending a trajectory to its start
PULL_INTERVAL = 0.02    # [s] between two forces of the hand
RELEASE_TIME = 0.3    # [s] after the last of them
HOLD_TIME = 1.5    # [s] at the end of the path, until the hand lets go
MAX_TIME_RATIO = 50.0    # wall clock over simulation time


class Times(NamedTuple):
    """Durations [s] of the push, of the rest after it, and of leading the tool."""

    push: float
    rest: float
    lead: float


FULL, BRIEF = Times(1.5, 1.5, 2.5), Times(1.0, 1.0, 1.5)


class Trace(NamedTuple):
    """A quantity over time: (N,) [s], (N,), and what it should be, (N,)."""

    time: ndarray
    value: ndarray
    reference: ndarray


@dataclass
class ContactResults(Results):
    """Checks, and what the picture shows of each part."""

    pushed: Trace | None = None             # displacement of the tool, and F/K [m]
    felt: Trace | None = None               # norm of external efforts, as estimated and as exerted
    led: Trace | None = None                # way of the tool and of the hand [m]
    pressed: dict[str, Trace] = field(default_factory=dict)     # force of the post [N], 0
    found: float = np.nan                   # s from the first contact to the detection


class ContactScene(Scene):
    """
    Contact scene with one robot, on simulation time.

    :param folder: of the flight recordings of the controller, from which a collision is timed.
    """

    results: ContactResults

    def __init__(self, robot: CatalogRobot, dynamics: Dynamics, conductor: Conductor, brief: bool,
                 step: Step, folder: Path):
        super().__init__(robot, dynamics, conductor, step)
        self.times, self.folder = BRIEF if brief else FULL, folder
        self.results = ContactResults()
        self._known: set[Path] = set()
        self.tool = contact_plan.tool(dynamics, self.pose)
        self.impact = contact_plan.impact(dynamics, self.pose, self.tool)
        self.task = contact_plan.task_gains(self.model, self.tool.frame)

    @property
    def duration(self) -> float:
        """About how long :meth:`run` takes [s]."""
        once = START_DELAY + self.impact.asked.times[-1] + 4
        return 4 + self.times.push + self.times.rest + self.times.lead + 8 + 3 * once

    def run(self) -> ContactResults:
        """Run all steps and return the results."""
        with self.step('the nodes start', 4):
            self.conductor.trigger('simulator/reset')
            self.conductor.change_state('configure')
        with self.step('cartesian_impedance: the tool is pushed, and returns',
                       self.times.push + self.times.rest + 3):
            self.push()
        with self.step('gravity_compensation: a hand leads the tool', self.times.lead + 4):
            self.lead()
        once = START_DELAY + self.impact.asked.times[-1] + 4
        with self.step('joint_impedance: a motion without contact', once):
            limits = self.quiet()
        with self.step('into a post, without detection', once):
            self.post('without detection', {})
        with self.step('into a post, with detection', once):
            self.collide(limits)
        self.check_faults()
        return self.results

    # The steps

    def push(self) -> None:
        """Push the tool, held by a Cartesian spring, and let it return."""
        conductor, duration = self.conductor, self.times.push
        conductor.set_parameters('simulator', {'push_duration': duration})
        self.activate('cartesian_impedance', **self.task)
        stiffness = [float(k) for k in self.task['task_stiffness']]
        push = contact_plan.push(self.dynamics, self.pose, self.tool, stiffness)
        conductor.recorder.clear()
        conductor.external.clear()
        self.watch(0.1)
        conductor.push(self.tool.frame, push.force)
        begin = self.now()
        self.watch(duration + self.times.rest)
        states = conductor.recorder.recording()
        moved = self.along(states)
        # When the log of the simulator shows the push, it has already begun
        pushing = (states.time > begin + 0.5 * duration) & (states.time < begin + 0.9 * duration)
        there, back = float(np.median(moved[pushing])), float(moved[-1])
        allowed = DISPLACEMENT_TOLERANCE * push.moved + push.tolerance
        self.check(f'{np.linalg.norm(push.force):.3g} N on {self.tool.frame} move it by F/K',
                   f'{1e3 * there:.4g} mm',
                   f'{1e3 * push.moved:.4g} ± {1e3 * allowed:.2g}',
                   abs(there - push.moved) < allowed)
        self.check('without the force it returns', f'{1e3 * abs(back):.2g} mm off',
                   f'< {1e3 * (RETURN_TOLERANCE + push.tolerance):.2g}',
                   abs(back) < RETURN_TOLERANCE + push.tolerance)
        self.results.pushed = Trace(states.time - begin, moved, np.where(
            (states.time > begin) & (states.time < begin + duration), push.moved, 0.0))
        self.estimate(push, begin)
        self.report()

    def estimate(self, push: contact_plan.Push, begin: float) -> None:
        """Check the external efforts that the controller has estimated during the push."""
        heard = [(m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec, m.effort)
                 for m in self.conductor.external]
        at = np.array([stamp for stamp, _ in heard])
        efforts = np.array([e for _, e in heard]).reshape(len(heard), self.model.nv)
        exerted = float(np.linalg.norm(push.efforts))
        pushing = (at > begin + 0.5 * self.times.push) & (at < begin + 0.9 * self.times.push)
        off = np.linalg.norm(np.median(efforts[pushing], axis=0) - push.efforts) / exerted \
            if pushing.any() else np.inf
        friction = float(np.linalg.norm(self.model.coulomb_friction)) / exerted
        self.check('the controller feels the push: error of its estimate', f'{off:.1%}',
                   f'< {ESTIMATE_TOLERANCE + friction:.0%}',
                   bool(off < ESTIMATE_TOLERANCE + friction))
        during = (at > begin) & (at < begin + self.times.push)
        self.results.felt = Trace(at - begin, np.linalg.norm(efforts, axis=1),
                                  np.where(during, exerted, 0.0))

    def lead(self) -> None:
        """Lead the floating arm by its tool, and let go."""
        conductor, duration = self.conductor, self.times.lead
        self._mode = 'gravity_compensation'
        conductor.set_parameters('controller', {'mode': self._mode})
        damping = physics.damping(self.dynamics, self.pose)
        conductor.set_parameters('simulator', {'joint_damping': damping,
                                               'push_duration': RELEASE_TIME})
        stiffness = contact_plan.hand_stiffness(self.dynamics, self.pose, self.tool, damping)
        way = contact_plan.guided(self.model, self.pose, self.tool)
        origin = self.place(self.position())
        conductor.recorder.clear()
        self.watch(0.1)
        begin, next_pull = self.now(), 0.0
        led: list[tuple[float, float]] = []
        while (now := self.now() - begin) < duration + HOLD_TIME:
            if now >= next_pull:
                x = min(now / duration, 1.0)
                hand = way * (10 * x**3 - 15 * x**4 + 6 * x**5)
                tool = self.place(self.position())
                conductor.pull(self.tool.frame,
                               stiffness * (origin + hand * self.tool.direction - tool))
                led.append((now, hand))
                next_pull = now + PULL_INTERVAL
            conductor.poll()
        self.watch(RELEASE_TIME + 1.0)
        states = conductor.recorder.recording()
        moved = self.along(states, origin)
        at = states.time - begin
        there = float(moved[np.searchsorted(at, duration + HOLD_TIME - 0.1)])
        self.check('a hand leads the tool, floating', f'{1e3 * there:.4g} mm',
                   f'{1e3 * way:.4g} ± {1e3 * GUIDING_TOLERANCE:.2g}',
                   abs(there - way) < GUIDING_TOLERANCE)
        last = at > at[-1] - 0.5
        drift = float(np.ptp(moved[last]))
        self.check('let go, it stays: drift in 0.5 s', f'{1e3 * drift:.2g} mm',
                   f'< {1e3 * RELEASE_TOLERANCE:g}', drift < RELEASE_TOLERANCE)
        self.results.led = Trace(at, moved, np.interp(at, *np.array(led).T))
        self.report()
        conductor.set_parameters('simulator', {'joint_damping': 0.0})

    def quiet(self) -> dict[str, list[float]]:
        """Move without contact; return thresholds that are above what is estimated there."""
        self.again('joint_impedance', collision_threshold=[0.0])
        self.conductor.external.clear()
        self.move(self.impact.asked.times[-1] + 0.3)
        heard = self.conductor.external
        rows = [np.array([getattr(m, name) for m in heard]).reshape(-1, self.model.nv)
                for name in ('position', 'velocity', 'effort')]
        if not len(heard):
            raise DemoError('no message on controller/external_torque', name='controller',
                            remedy='is the machine too busy?')
        bias = np.array([self.dynamics.bias(q, qd) for q, qd in zip(rows[0], rows[1])])
        limit = self.model.effort_limit
        found = thresholds(rows[1], bias, rows[2], limit, margin=THRESHOLD_MARGIN)._asdict()
        found['collision_threshold'] = np.maximum(found['collision_threshold'],
                                                  MIN_THRESHOLD * limit)
        self.report()
        return {name: values.tolist() for name, values in found.items()}

    def post(self, name: str, parameters: dict[str, object]) -> float:
        """Run into the post; return the time of the first contact [s] on the wall clock."""
        self.again('joint_impedance', **parameters)
        self.conductor.set_parameters('simulator', {
            'obstacle_link': self.tool.frame, 'obstacle_surface': self.impact.surface.tolist(),
            'obstacle_normal': self.impact.normal.tolist(), 'obstacle_stiffness': POST_STIFFNESS})
        self._known = self.flights()
        contact = self.impact.asked.times[-1] * contact_plan.CONTACT_SHARE
        states = self.move(contact + RECORDED_AFTER_CONTACT)
        depth = [(self.impact.surface - self.place(q)) @ self.impact.normal
                 for q in states.position]
        force = POST_STIFFNESS * np.maximum(0.0, depth)
        if not force.any():
            raise DemoError('the tool has not reached the post', name='simulator',
                            remedy='see the logs of the nodes')
        touched = float(states.time[np.argmax(force > 0.0)])
        self.results.pressed[name] = Trace(states.time - touched, force, 0.0 * force)
        self.conductor.set_parameters('simulator', {'obstacle_link': ''})
        return touched

    def collide(self, limits: dict[str, list[float]]) -> None:
        """Run into the post with detection, and check that the arm lets go."""
        touched = self.post('with detection', {
            **limits, 'collision_reaction': 'retreat', 'fault_action': 'hold'})
        self.conductor.wait_until(lambda: bool(self.flights() - self._known), ANSWER_TIMEOUT,
                                  'the flight recording of a fault', 'controller')
        found = detection(max(self.flights() - self._known))
        self.results.found = found.time - touched
        self.check('the collision is found', found.reason, 'COLLISION',
                   found.reason == 'COLLISION')
        self.check(f'found after the contact at {self.impact.speed:.2g} m/s',
                   f'{1e3 * self.results.found:.1f} ms', f'< {1e3 * MAX_DETECTION_TIME:g}',
                   0.0 <= self.results.found < MAX_DETECTION_TIME)
        held, released = (self.late_force(name) for name in (
            'without detection', 'with detection'))
        self.check(f'{CONTACT_DURATION:g} s later the arm presses on the post',
                   f'{released:.3g} N',
                   f'0 ({held:.3g} without detection)', released == 0.0 < held)

    # What they are made of

    def again(self, mode: str, **parameters: object) -> None:
        """Activate a law at the initial pose, from any state of the arm."""
        self.conductor.change_state('deactivate')
        self.conductor.trigger('simulator/reset')
        self.activate(mode, **parameters)

    def move(self, seconds: float) -> Recording:
        """Follow the motion of the impact, and return the states until so long after its start."""
        self.conductor.recorder.clear()
        start = self.now() + START_DELAY
        self.conductor.send(self.impact.asked, start)
        self.watch(start + seconds - self.now())
        return self.conductor.recorder.recording()

    def flights(self) -> set[Path]:
        """Return the flight recordings that the controller has written."""
        return set(self.folder.glob('*.mcap'))

    def late_force(self, name: str) -> float:
        """Return the largest force of the post from CONTACT_DURATION after the contact on [N]."""
        trace = self.results.pressed[name]
        return float(trace.value[trace.time > CONTACT_DURATION].max())

    def position(self) -> ndarray:
        """Return the newest position of the joints (nv,) [rad | m]."""
        return self.newest().position[-1]

    def now(self) -> float:
        """Return the simulation time [s]."""
        return float(self.newest().time[-1])

    def newest(self) -> Recording:
        """Return the newest state, after waiting for it."""
        latest = self.conductor.recorder.latest
        self.conductor.wait_until(lambda: len(latest().time) > 0, ANSWER_TIMEOUT, 'a joint state',
                                  'simulator')
        return latest()

    def watch(self, seconds: float) -> None:
        """Record states for some simulation time [s]."""
        until = self.now() + seconds
        self.conductor.wait_until(lambda: self.now() >= until,
                                  ANSWER_TIMEOUT + MAX_TIME_RATIO * seconds,
                                  f'{seconds:g} s of simulation time', 'simulator')

    def place(self, q: ndarray) -> ndarray:
        """Return the position of the tool (3,) [m]."""
        return self.dynamics.pose(q, self.tool.frame)[:3, 3]

    def along(self, states: Recording, origin: ndarray | None = None) -> ndarray:
        """Return the way of the tool in its direction (N,) [m]."""
        first = self.tool.position if origin is None else origin
        return np.array([(self.place(q) - first) @ self.tool.direction for q in states.position])

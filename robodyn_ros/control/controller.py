# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller without ROS: give it joint states and the time, it gives efforts."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy import ndarray

from ..dynamics import Dynamics
from ..dynamics.model_data import ModelData, parameters, workspace
from ..dynamics.specialize import with_kernels
from ..errors import ParameterError, TrajectoryError
from ..flight_recorder.history import History, Version
from ..model.robot import RobotModel
from ..wire.joint_state import STATE, no_state
from . import guard, ring_buffer
from .compile import compiled
from .dtypes import (
    ARM,
    DISARM,
    GRAVITY_COMPENSATION,
    MEMORY,
    MODES,
    NO_REQUEST,
    OUTSIDE,
    STOP,
)
from .limits import SHARE
from .pace import Pace
from .settings import Settings
from .trajectory import Waypoints, interpolate, splice
from .trajectory_tracking import Points, sample

# Share of the effort limit by which gravity may change while the arm is driven, if measured
# efforts do not agree with it
GRAVITY_CHANGE = 0.1
LATEST = 0.05       # s after its start that a trajectory may still be taken over
STREAM, HORIZON = 2, 0.5            # so many upon one another, each shorter [s], are a stream
STREAM_FAULTS = ('EFFORT_LIMITED', 'EFFORT_OSCILLATES', 'FOLLOWING_ERROR')
STREAM_HINT = ('every trajectory ends at rest, and these are a stream of short ones: send longer '
               f'ones, with waypoints for the next {HORIZON:g} s or more')


class Controller:
    """
    The state machine, the law and the guard of one robot; it knows no clock but the one given.

    One thread calls :meth:`step`; others may meanwhile call anything else: settings and references
    are replaced as whole objects, requests are single words.

    :param state: (nv,) records ``wire.joint_state.STATE``, filled by whoever reads the arm; None:
        an own one, of which nothing is known yet.
    :param specialize: compile the dynamics for this robot, which takes seconds once. With another
        payload than at the start the dynamics for any robot is used: nothing compiles in between.
    :param recorded: cycles that the flight recorder keeps, in ``history``; 0: it is off.
    :raises RobodynError: see :meth:`use`.
    """

    def __init__(self, model: RobotModel, settings: Settings, state: ndarray | None = None, *,
                 specialize: bool = True, recorded: int = 0):
        model.require_inertia('a controller')
        self.model = model
        #: (nv,) ``STATE``: what the arm was last seen to do.
        self.state = no_state(model.nv) if state is None else np.asarray(state).view(STATE)
        #: (1,) ``OUTSIDE``: what the guard has to be told before a step.
        self.outside = np.zeros(1, OUTSIDE)
        self.outside['listeners'] = 1
        self.memory = np.zeros(1, MEMORY)
        self.tau = np.zeros(model.nv)
        self.settings, self._law = settings, 0
        self._judged: tuple = ()            # `stability` of settings known to be stable
        self._flight, self._v = ring_buffer.recorder(model.nv, recorded)
        #: What the flight recorder knows.
        self.history = History(self._flight)
        self._work = workspace(model)
        self._own: ModelData | None = None  # with the kernels that are compiled for it
        self._records: Version
        self._version = 0
        #: Called when :attr:`arguments` are others than before.
        self.changed: Callable[[], None] = lambda: None
        self._points, self._pace = Points.none(model.nv), Pace()
        self._streamed = 0                  # short trajectories in a row, each upon the other
        self.use(settings)
        if specialize:
            self._own = with_kernels(self._records.robot)
            self._records = self._records._replace(robot=self._own)
        self.begin()
        #: The compiled control cycle, see :func:`.cycle.cycle`.
        self.cycle = compiled().cycle

    def begin(self) -> None:
        """
        Be INACTIVE, and know of nothing but the last efforts; call it while nobody steps.

        What was asked, followed or latched before is forgotten.
        """
        self.memory[0] = np.zeros((), MEMORY)
        self.memory['newest'] = self.memory['time'] = -np.inf
        self.memory['joint'] = self.memory['objection_joint'] = -1
        self.outside['request'] = NO_REQUEST
        self._points, self._streamed = Points.none(self.model.nv), 0
        self._pace.begin()
        ring_buffer.begin(self._flight, self.memory, self.tau)
        self.history.begin(self._records, self._points)

    def use(self, settings: Settings) -> None:
        """
        Replace the settings; another law begins with the present pose as its reference.

        :raises RobodynError: they could not be used, and those before stay in force.
        """
        new = self._prepare(settings)
        self._version += 1
        new.record['version'] = self._version
        self.history.add(new)               # before a cycle can refer to it
        self._records, self.settings, self._law = new, settings, int(new.record['law'][0])
        self.changed()

    def check(self, settings: Settings) -> None:
        """Raise :class:`RobodynError` where these settings could not be used."""
        self._prepare(settings)

    def _prepare(self, settings: Settings) -> Version:
        """Return what the cycle reads of them."""
        loaded, joints = settings.loaded(self.model), settings.joint_records(self.model)
        if (stability := settings.stability) != self._judged:      # it takes tens of milliseconds
            settings.check_gains(loaded, joints)
            self._judged = stability
        record = settings.settings_record()
        record['law'] = self._law + (settings.law != self.settings.law)
        if settings.loading != self.settings.loading:
            self._check_gravity(loaded, settings, joints['effort_limit'])
        robot = parameters(loaded)
        # The compiled kernels know no friction, the last field but one
        if self._own and all((a == b).all() for a, b in zip(robot[:-2], self._own)):
            robot = robot._replace(addresses=self._own.addresses)
        return Version(robot, joints, record, settings)

    def _check_gravity(self, loaded: RobotModel, settings: Settings, limit: ndarray) -> None:
        """
        Refuse another gravity torque that an arm which is driven would not be armed with.

        While the efforts of a fault are in force any other is refused.

        :raises ParameterError: it differs by more than ``arming_effort`` (at most GRAVITY_CHANGE)
            of the effort limit from the measured efforts, or without these from what it was.
        """
        if not self.memory['publishing'][0]:
            return
        gravity, measured = Dynamics(loaded).gravity(self._v.q), self._v.measured.copy()
        known = np.where(np.isfinite(measured), measured, self._v.gravity)
        held = self.phase == guard.FAULT        # perhaps in a pose that nobody knows
        allowed = 0.0 if held else min(settings.arming_effort, GRAVITY_CHANGE) * limit
        if (wrong := np.abs(gravity - known) > allowed).any():
            i = int(wrong.argmax())
            said = 'measured' if np.isfinite(measured[i]) else 'given before'
            raise ParameterError(
                f'the gravity torque of {self.model.joint_names[i]} would be {gravity[i]:.4g}, '
                f'and {known[i]:.4g} N·m or N are {said}', name='payload_mass',
                value=settings.payload_mass, remedy='change payload and model while the arm is at '
                'rest and carries it, in steps that it would be armed with, or deactivate first')

    def step(self, now: float) -> bool:
        """
        Advance to ``now`` [s], on the clock of the states; True: publish ``tau`` (nv,).

        The times of the steps are compared with ``Settings.rate``, with which the gains were
        judged: a loop that is slower misses periods, and too many of them (``missed_limit``) are
        the fault PERIODS_MISSED, whose :attr:`reason` tells both rates.
        """
        settings = self.settings
        self.outside['missed'] = self._pace.missed(now, 1.0 / settings.rate,
                                                   settings.state_timeout)
        return self.advance(now)

    def advance(self, now: float) -> bool:
        """As :meth:`step`, for a loop that counts the periods it misses in ``outside`` itself."""
        return self.cycle(*self.arguments, now, self.tau)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the compiled :attr:`cycle` takes before time and efforts, as of now."""
        robot, joints, settings, _ = self._records
        return (robot, self._work, joints, settings, self.outside, self.state, self._points,
                self.memory, self._v, self._flight)

    def arm(self) -> None:
        """Ask to rise as soon as enough samples are good; see :attr:`objection`."""
        self.outside['request'] = ARM

    def disarm(self) -> None:
        """Take the wish to rise back."""
        self.outside['request'] = DISARM

    def stop(self) -> None:
        """Ask to come to rest and publish the last message."""
        self.outside['request'] = STOP

    def follow(self, waypoints: Waypoints, start: float) -> None:
        """
        Follow a trajectory from ``start`` [s] on.

        Every trajectory ends at rest, and a new one may replace it on the way. A stream, as of
        teleoperation, has to look ahead: give each trajectory waypoints for the next
        half second or more and send the next one before it brakes. Waypoints a few hundredths
        of a second ahead make the arm stop and go with each of them, until EFFORT_LIMITED or
        EFFORT_OSCILLATES; :attr:`reason` says so then.

        :raises TrajectoryError: it is refused, and what was followed or held goes on.
        """
        if self.phase != guard.RUNNING:
            raise TrajectoryError(f'the controller is {guard.PHASES[self.phase]}', name='phase',
                                  remedy='activate it first; it follows when RUNNING')
        if self.memory['mode'][0] == GRAVITY_COMPENSATION:
            raise TrajectoryError('gravity_compensation follows no reference', name='mode',
                                  remedy=f'set mode to one of {", ".join(MODES[1:])}')
        old, serial = self._points, int(self._points.header['serial'][0]) + 1
        position, velocity = self._v.target.copy(), np.zeros(self.model.nv)
        if following := bool(self.memory['following'][0]):
            position, velocity = sample(old, start)
        joints = self._records.joints
        allowed = replace(self.model, velocity_limit=SHARE * joints['velocity_limit'])
        new = interpolate(allowed, waypoints, position, velocity, start, serial)
        now = float(self.memory['time'][0])
        if now > start + LATEST:
            raise TrajectoryError(f'it was planned {now - start:.3f} s after its start',
                                  name='start', remedy='give it a start further in the future')
        streamed = (following and start < old.header['start'][0] + old.times[-1] + LATEST
                    and waypoints.times[-1] < HORIZON)
        self._streamed = self._streamed + 1 if streamed else 0
        new = splice(old, new, now) if following else new
        self.history.add(new)
        self._points = new
        self.changed()

    @property
    def phase(self) -> int:
        """Number of the phase, see :data:`.guard.PHASES`."""
        return int(self.memory['phase'][0])

    @property
    def reason(self) -> str:
        """Why the fault was latched, with the joint where there is one, and what may help."""
        hint = ''
        if self.reason_code in ('PERIODS_MISSED', 'LOOP_STALLED'):
            hint = self._pace.sentence(1.0 / self.settings.rate)
        elif self.reason_code in STREAM_FAULTS and self._streamed >= STREAM:
            hint = STREAM_HINT
        return self._sentence('reason', 'joint') + (hint and f'; {hint}')

    @property
    def reason_code(self) -> str:
        """Code of the reason, one of :data:`.guard.CODES`."""
        return guard.CODES[int(self.memory['reason'][0])]

    @property
    def objection(self) -> str:
        """Why the arm does not rise although it shall."""
        if self.asked:
            return 'time stands still, or no state starts a cycle'
        if self.memory['objection'][0] == guard.NO_REASON:
            return (f'{self.memory["good_samples"][0]} good samples in a row, of '
                    f'{self.settings.arming_samples}')
        return self._sentence('objection', 'objection_joint')

    @property
    def asked(self) -> bool:
        """Whether a request waits for the next cycle."""
        return bool(self.outside['request'][0] != NO_REQUEST)

    @property
    def driving(self) -> bool:
        """Whether efforts are published, and more are to come."""
        return bool(self.memory['publishing'][0]) and self.phase != guard.INACTIVE

    @property
    def arming(self) -> bool:
        """Whether arming was asked for and has not happened yet."""
        return bool(self.outside['request'][0] == ARM or self.memory['arming'][0])

    def _sentence(self, reason: str, joint: str) -> str:
        i = int(self.memory[joint][0])
        text = guard.REASONS[guard.CODES[int(self.memory[reason][0])]]
        return f'{text} ({self.model.joint_names[i]})' if i >= 0 else text

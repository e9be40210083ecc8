# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control loop of a controller and a driver without ROS."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
import json
import signal
import socket
import threading
from time import monotonic
from typing import Any
import warnings

import numpy as np

from .control.controller.controller import Controller
from .control.inputs.partner import COUPLING_ROLE, CouplingState
from .control.references.trajectory import Waypoints
from .control.settings.settings import Settings
from .control.steps.lowering import LONGEST_DESCENT
from .control.steps.motor_test import effort_in_force
from .driver import Driver, DriverFacts, DriverReader, facts_of, note_age, Read
from .errors import ParameterError, RobodynError, TrajectoryError
from .model.robot import RobotModel
from .realtime.scheduling import prompt_switches, shared

QUEUE_DEPTH = 10    # readings
OF_MODEL = 'effort_limit', 'velocity_limit', 'armature'     # facts that the model has, too
FACT_TOLERANCE = 1e-6    # relative, of the limits that a driver states
STREAM_TIME = 0.13      # [s] from one target of a stream to the next at most
LAG, OVERDUE = 1.5, 1.3     # periods behind a stream; without a target, until the last one is held
LINK_PACE, MOST_STATES = 2, 16      # cycles from state to state of a link; received at once
STOP_MARGIN = 1.0       # s beyond `stop_timeout` for which the arm may take to come to rest


def drive(controller: Controller, driver: Driver, over: Callable[[], bool],
          tell: Callable[[str], Any] = warnings.warn) -> None:
    """
    Arm a controller and run it on an arm until ``over()``; then bring the arm to rest.

    A cycle runs for each reading of the driver, and after a period without one, so that the guard
    checks states, silence and efforts as in the node. After a fault the loop continues with the
    fault efforts; ``controller.reason`` explains it. This blocks; other threads may call
    :meth:`.Controller.follow` and all other methods meanwhile. The driver is closed at the end.

    :param controller: of the arm, which no other loop runs; :func:`with_facts` returns the model
        and the settings that its driver agrees with.
    :param driver: that reads and writes the arm.
    :param over: returns after each cycle whether to stop, e.g. ``event.is_set``.
    :param tell: called with a sentence for each failure of the driver.
    :raises ParameterError: model or settings contradict the facts of the driver.
    :raises DriverLost: the driver has raised it, and efforts have ended; zeros were tried.
    :raises KeyboardInterrupt: Ctrl-C was pressed; the arm has come to rest before.
    """
    with _interrupts() as interrupts, shared('switches', prompt_switches):
        try:
            agreed = _agreed(controller, facts_of(driver))
            if agreed != controller.settings:
                controller.use(agreed)
        except ParameterError:
            driver.close()
            raise
        reader = DriverReader(driver, controller, QUEUE_DEPTH, tell, controller.report_drives)
        controller.begin()
        controller.state[...] = np.nan
        controller.arm()
        try:
            _run(controller, reader, lambda: bool(interrupts) or over())
        finally:
            try:
                if controller.memory['publishing'][0]:      # an arm may keep the last efforts
                    controller.memory['publishing'] = 0
                    reader.write(np.zeros(controller.model.nv))
            finally:
                reader.close()


def _agreed(controller: Controller, facts: DriverFacts) -> Settings:
    """Return the settings with the motor test of a driver, whose facts they must agree with."""
    model, settings = with_facts(facts, controller.model, controller.settings)
    for name in OF_MODEL:
        if (getattr(model, name) != getattr(controller.model, name)).any():
            raise _contradicted(name, getattr(controller.model, name).tolist(),
                                getattr(facts, name))
    for name, fact in known(facts).items():
        if getattr(controller.settings, name) != fact:
            raise _contradicted(name, not fact, fact)
    return settings


def _run(controller: Controller, reader: DriverReader, over: Callable[[], bool]) -> None:
    """Run cycles until the arm has come to rest after ``over()``."""
    period, number, stop_at = 1.0 / controller.settings.rate, 0, np.inf
    while not _at_rest(controller, reader, stop_at):
        if reader.wait(round(1e9 * period)):
            for _ in range(QUEUE_DEPTH):   # bounded: new ones may arrive as fast
                if taken := reader.take():
                    number += _accept(controller, taken, number + 1, reader)
        now = monotonic()
        if controller.step(now):
            reader.write(controller.tau.copy())
        else:
            reader.idle()
        if stop_at == np.inf and over():
            controller.stop()
            settings = controller.settings
            stop_at = now + STOP_MARGIN + settings.stop_timeout + (
                LONGEST_DESCENT if settings.lower_to_rest else 0.0)


def with_facts(facts: DriverFacts, model: RobotModel, settings: Settings,
               given: Container[str] = ()) -> tuple[RobotModel, Settings]:
    """
    Return the model and the settings of a controller that agree with what its driver knows.

    :param model: of the URDF, whose limits and rotors those of the drives replace.
    :param given: settings that a user has chosen although they have their default value.
    :raises ParameterError: a setting contradicts the driver: a limit or a rate is above that of
        the drives, or another rotor inertia or gravity compensation is set.
    """
    changes: dict[str, Any] = {}
    for name in OF_MODEL:
        if (fact := getattr(facts, name)) is None:
            continue
        try:
            values = np.asarray(fact, float)
        except (TypeError, ValueError):     # no numbers
            values = np.zeros(0)
        if values.shape != (model.nv,) or not (values >= 0.0).all():
            raise ParameterError(f'{name} of the driver is not one number for each of '
                                 f'{model.nv} joints', name=name, value=fact,
                                 remedy='correct the facts of the driver')
        changes[name] = values
        if len(chosen := getattr(settings, name)):
            wanted = settings.per_joint(model, name)
            differs = (np.abs(wanted - values) > FACT_TOLERANCE * values if name == 'armature'
                       else wanted > (1.0 + FACT_TOLERANCE) * values)
            if differs.any():
                raise _contradicted(name, list(chosen), values.tolist())
    for name, fact in known(facts).items():
        if fact != getattr(settings, name):
            if name in given or not fact:
                raise _contradicted(name, not fact, fact)
            settings = replace(settings, **{name: fact})
    if facts.max_rate is not None and settings.rate > facts.max_rate:
        raise _contradicted('rate', settings.rate, facts.max_rate)
    return replace(model, **changes), replace(settings, motor_test_effort=effort_in_force(
        settings.motor_test_effort, not facts.obeys))


def known(facts: DriverFacts) -> dict[str, Any]:
    """Return the settings that a driver decides."""
    settings: dict[str, Any] = {}
    if facts.compensates_gravity is not None:
        settings['robot_compensates_gravity'] = facts.compensates_gravity
    if facts.brakes is False:
        settings['lower_to_rest'] = True
    return settings


def _contradicted(name: str, value: object, fact: object) -> ParameterError:
    return ParameterError(f'parameter {name} = {value} contradicts the driver, which states '
                          f'{fact}', name=name, value=value, remedy=f'set {name} accordingly, or '
                          'leave it out')


def _at_rest(controller: Controller, reader: DriverReader, stop_at: float) -> bool:
    """Return whether the arm has stopped on request, or the time for it is over."""
    return stop_at < np.inf and (monotonic() > stop_at or not (
        controller.driving or controller.asked or reader.resting and controller.drives_damp))


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Yield a list that gets SIGINT, which would otherwise end the loop and drop the arm."""
    seen: list[int] = []
    taken = (threading.current_thread() is threading.main_thread()
             and signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    if taken:
        signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        yield seen
    finally:
        if taken:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if seen:
        raise KeyboardInterrupt


def _accept(controller: Controller, taken: Read, number: int, reader: DriverReader) -> bool:
    """Write a reading to the controller's state; return False if it cannot be used."""
    state, nv = controller.state, controller.model.nv
    try:
        position, velocity, effort, *_ = taken.reading
        rows = [np.array(row, float) for row in (position, velocity)]
        rows.append(np.full(nv, np.nan) if effort is None else np.array(effort, float))
        if any(row.shape != (nv,) for row in rows):
            raise ValueError(f'arrays of shapes {", ".join(str(row.shape) for row in rows)}, '
                             f'not ({nv},)')
    except Exception as error:          # invalid return value of the driver
        reader.refuse(error)
        return False
    if not np.isfinite(rows[0]).all() or np.isinf(rows[1:]).any():
        return False                    # as a message: without others the state becomes stale
    state['position'], state['velocity'], state['effort'] = rows
    before = state['received'].copy()
    state['received'], state['sequence'] = taken.time, number   # it may have waited for the loop
    note_age(state, before, taken.time, taken.age)
    return True


class TargetStream:
    """
    A stream of positions without velocities, such as a learned policy sends.

    Each target is passed at the velocity from the one before to it, so that the arm does not stop
    and go, until the next one is overdue: then the last one is held. A target that jumps, faster
    than the velocity limits, is moved to as fast as the limits allow.

    :param clock: of :meth:`.Controller.step`.
    """

    def __init__(self, controller: Controller, clock: Callable[[], float] = monotonic):
        self._controller, self._clock = controller, clock
        self._targets, self._asked, self._overdue = dict[str, float](), -np.inf, np.inf

    def follow(self, targets: dict[str, float]) -> None:
        """
        Move joints to positions [rad | m], by their names.

        :raises TrajectoryError: they are refused; the targets before stay in force.
        """
        now, time, velocity, c = self._clock(), 0.0, None, self._controller
        if (period := now - self._asked) < STREAM_TIME and [*targets] == [*self._targets]:
            step = {name: targets[name] - self._targets[name] for name in targets}
            most = zip(c.model.joint_names, c.records.joints['velocity_limit'].tolist())
            if all(abs(step.get(name, 0.0)) <= limit * period for name, limit in most):
                time, velocity = LAG * period, np.array([[*step.values()]]) / period
        c.follow(Waypoints(tuple(targets), np.array([time]), np.array([[*targets.values()]]),
                           velocity), now)
        self._targets, self._asked = targets, now
        self._overdue = np.inf if velocity is None else now + OVERDUE * period

    def watch(self) -> None:
        """Hold the last targets if the next ones are overdue; to be called in each cycle."""
        if self._clock() > self._overdue:
            asked, self._asked, self._overdue = self._asked, -np.inf, np.inf
            with suppress(TrajectoryError):         # of an arm that is driven no more
                self.follow(self._targets)
            self._asked = asked


class PartnerLink:
    """
    Exchange of states with the partner in the mode leader_follower, on one machine of Linux.

    :param name: of the link, which leader and follower share.
    :param clock: of :meth:`.Controller.step`, the same for both.
    :raises OSError: another controller has this role already.
    """

    def __init__(self, controller: Controller, name: str,
                 clock: Callable[[], float] = monotonic):
        self._controller, self._clock, self._cycles = controller, clock, 0
        own, self._other = (f'\0robodyn.{name}.{role}' for role in sorted(
            COUPLING_ROLE, key=lambda role: role != controller.settings.coupling_role))
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(own)

    def exchange(self) -> None:
        """Send the state of this arm, and take the newest one of the other; once a cycle."""
        self._cycles += 1
        if self._cycles % LINK_PACE:
            return
        newest, (*about, rows) = b'', self._controller.coupling_state()
        with suppress(OSError):         # it is not there
            self._socket.sendto(json.dumps([self._clock(), *about, rows.tolist()]).encode(),
                                self._other)
        with suppress(BlockingIOError):
            for _ in range(MOST_STATES):
                received, sender = self._socket.recvfrom(1 << 16)
                newest = received if sender == self._other.encode() else newest
        if newest:                      # without a good one, PARTNER_LOST comes soon
            with suppress(RobodynError, TypeError, ValueError):
                time, role, status, names, rows = json.loads(newest)
                self._controller.follow_partner(
                    CouplingState(role, status, tuple(names), np.array(rows)), time)

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Drivers of arms in Python, in the process of the controller.

A driver is a class with ``read`` and ``write``, over the SDK of an arm or a bus. The controller
calls both without messages in between (parameter ``driver`` of the node, :func:`.drive` of the
library); all else, from the decoding of states to the limits of efforts, is as with topics.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
import threading
from time import monotonic, time_ns
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
import yaml

from .errors import load_object, ParameterError, refused, RobodynError

#: How a driver is read: its member ``reading``.
READING = WAITS, LATEST, INLINE = 'waits', 'latest', 'inline'
# Drivers of this package that have a name
NAMED = {'franka': 'robodyn_ros.drivers.franka:Franka'}
# Arms whose motors are on a CAN bus: by their names in this folder, or by their files
ARMS, ARM_FILES = Path(__file__).parent / 'drivers' / 'arms', ('.yaml', '.yml')
# Files of recorded readings, and the module that reads and writes them, which imports this one
LOG, LOGS = '.mcap', 'robodyn_ros.flight_recorder.reading_log'
RETRY_PAUSE = 0.01    # [s] after a read that failed or returned nothing at once
# A driver that waits is read this often in a period at most, so that one whose read returns at
# once leaves the CPU to others, and a full buffer is still emptied
READS_PER_PERIOD = 4
CLOSE_TIMEOUT = 1.0    # [s] of a read in progress
REPORT_INTERVAL = 1.0    # [s] between two reports of the same failure


class DriverLost(Exception):
    """Raised by a driver whose connection is gone for good: the control loop ends at once."""


class Fault(NamedTuple):
    """
    Error that a drive reports.

    :param joint: its name; '' for the robot as a whole.
    :param text: words of the drive, such as 'rotor too hot'.
    :param stop: whether it is a fault of the controller, DRIVE_FAULT; else it is a warning.
    """

    joint: str
    text: str
    stop: bool = True


class Reading(NamedTuple):
    """
    State of an arm; arrays (nv,) in the order of ``model.joint_names``.

    :param position: [rad | m].
    :param velocity: [rad/s | m/s]; NaN where it is not measured.
    :param effort: [N·m | N] measured; NaN for a joint whose drive is off; None: not measured.
    :param age: [s] since the joints were measured, a number or (nv,). A joint whose drive is
        silent keeps its last values, and its age grows: the guard finds it stale.
    :param faults: errors that the drives report; the state stays valid.
    """

    position: ArrayLike
    velocity: ArrayLike
    effort: ArrayLike | None = None
    age: ArrayLike = 0.0
    faults: Sequence[Fault] = ()


class DriverFacts(NamedTuple):
    """
    What a driver knows of the arm; None: nothing.

    They replace what the URDF says, and a setting that contradicts them is an error.

    :param compensates_gravity: whether the robot adds g(q) to the efforts itself.
    :param brakes: whether something holds the arm without efforts; False sets ``lower_to_rest``.
    :param effort_limit, velocity_limit: (nv,) of the drives [N·m | N, rad/s | m/s].
    :param armature: (nv,) rotor inertia reflected to the joints [kg·m² | kg].
    :param max_rate: at which the arm takes efforts [Hz].
    :param obeys: True: each motor is known to move its joint, in the direction of its effort; else
        ``motor_test_effort`` tests the motors by default.
    """

    compensates_gravity: bool | None = None
    brakes: bool | None = None
    effort_limit: ArrayLike | None = None
    velocity_limit: ArrayLike | None = None
    armature: ArrayLike | None = None
    max_rate: float | None = None
    obeys: bool | None = None

    def __str__(self) -> str:
        return ', '.join(f'{name} {np.asarray(value).tolist()}'
                         for name, value in self._asdict().items() if value is not None)


@runtime_checkable
class Driver(Protocol):
    """
    Interface of a driver; it need not inherit from this class.

    It is made by a call with the :class:`~robodyn_ros.RobotModel` and the options of the user, in
    which it connects to the arm. Further members are used where a driver has them:

    - ``reading``: how it is read. ``'waits'`` (default): ``read`` waits for the next state, in a
      thread of its own. ``'latest'``: it returns the newest state at once, and that thread calls
      it once a period. ``'inline'``: the thread of the control loop calls ``read`` and ``write``
      in turn, for an SDK that holds the GIL, or a bus that answers commands; ``read`` has to
      return, None if need be, within about ten periods.
    - ``facts``: a :class:`DriverFacts`.
    - ``period``: of the control loop [s], which sets it before the first ``read``, for a driver
      that has to keep time itself.
    - ``enable()``: switch the drives on; called by the thread that writes, before the first
      efforts, and again before the next ones after efforts had ended. With ``fade`` it has the
      drives hold the present pose in a spring of their own.
    - ``fade(share)``: share in [0, 1] that the next ``write`` leaves of this spring; called before
      each. It falls from 1 to 0 while g(q) takes over, so that nothing sags.
    - ``rest(dt)``: add the drives' own damping to the next ``write``, and return whether the arm
      is at rest; called once a cycle, each ``dt`` [s], before ``write``, while an arm without
      brakes comes down, and from a fault without a valid state on. It is called with zero efforts
      after that, until it returns True, a minute at most.
    - ``diagnostics()``: a dictionary of temperatures, bus errors and the like, which the node
      publishes once a second; called by another thread.
    """

    def read(self) -> Reading | None:
        """
        Return the next state of the arm, or None if none comes within a time of its choice.

        An exception is logged, and ``read`` is called again; without states for ``state_timeout``
        the fault STALE_STATE is latched, and its efforts are written.
        :class:`DriverLost` is DRIVE_FAULT at once, and ends the control loop after its efforts.
        """

    def write(self, tau: ndarray) -> None:
        """
        Send efforts (nv,) [N·m | N], without waiting for what comes of them.

        Exceptions are counted and logged; if they go on for ``state_timeout`` the fault
        DRIVE_FAULT is latched. :class:`DriverLost` ends the control loop. An arm has to stop by
        itself without efforts: nothing else helps if this process dies.
        """

    def close(self) -> None:
        """End the connection; the last efforts have been written."""


def make(name: str, model: Any, options: Mapping[str, Any]) -> Driver:
    """
    Return the driver of a name.

    :param name: ``package.module:NAME`` of a class or function, one of NAMED, an arm on a CAN bus,
        or a file of recorded readings.
    :param model: robot model, its first argument.
    :param options: its keywords; ``record`` is for any driver: the name of a new file (.mcap) of
        its latest readings, which is written when the driver is closed.
    :raises RobodynError: it cannot be imported or made, or it lacks a method.
    """
    reference = NAMED.get(name, name)
    if 'record' in options:
        others = {key: value for key, value in options.items() if key != 'record'}
        reference = f'{LOGS}:RecordedDriver'
        options = {'driver': name, 'options': others, 'file': options['record']}
    elif name.endswith(LOG):
        reference, options = f'{LOGS}:ReadingLog', {**options, 'file': name}
    elif name.endswith(ARM_FILES) or (ARMS / f'{name}.yaml').is_file():
        reference, options = 'robodyn_ros.drivers.mit_can:connect', {**options, 'arm': name}
    module, kind = load_object('driver', reference, 'class')
    if kind is None:
        raise refused('driver', name, f'{module.__name__} has no {name.partition(":")[2]}',
                      'see `robodyn new driver`')
    try:
        driver = kind(model, **options)
    except RobodynError:
        raise
    except Exception as error:          # any error of the user's class
        raise refused('driver', name, f'{type(error).__name__}: {error}', 'correct it, the '
                      'parameter driver_options or the connection') from error
    if not isinstance(driver, Driver):
        raise refused('driver', name, 'it lacks read, write or close', 'see `robodyn new driver`')
    if reading_of(driver) not in READING:
        raise refused('driver', name, f'its reading is {reading_of(driver)!r}',
                      f'it is one of {", ".join(READING)}')
    return driver


def given_options(texts: Iterable[str]) -> dict[str, Any]:
    """
    Return the options of a driver, whose values are YAML.

    :param texts: each of the form name=value.
    :raises ParameterError: one is of another form.
    """
    options = {}
    for text in texts:
        name, equals, value = text.partition('=')
        try:
            if not (name.isidentifier() and equals):
                raise ValueError
            options[name] = yaml.safe_load(value)
        except (ValueError, yaml.YAMLError):
            raise ParameterError(f'option {text!r} of the driver is refused',
                                 name='driver_options', value=text,
                                 remedy='write name=value, as rate=500') from None
    return options


def reading_of(driver: Driver) -> str:
    """Return how a driver is read, one of READING."""
    return getattr(driver, 'reading', WAITS)


def facts_of(driver: Driver) -> DriverFacts:
    """Return what a driver knows of the arm."""
    return getattr(driver, 'facts', DriverFacts())


class Read(NamedTuple):
    """A reading, its number (from 1 on), when it was read, and its age then [s]."""

    reading: Reading
    number: int
    time_ns: int        # time of day
    time: float         # [s] of `time.monotonic`
    age: ndarray


class DriverReader:
    """
    What the control loop reads and writes of a driver.

    Unless the driver is read inline, a thread reads it, so that a blocked driver does not stall
    the control loop.

    :param controller: the :class:`.Controller` of the arm.
    :param keep: readings that wait at most; older ones are dropped, as from a topic.
    :param tell: called with a sentence for each failure.
    :param stop: called with the words of DRIVE_FAULT when they change; '': the drives are well.
    """

    def __init__(self, driver: Driver, controller: Any, keep: int, tell: Callable[[str], object],
                 stop: Callable[[str], object]):
        self._driver, self._controller, self._keep = driver, controller, keep
        self._period = period = 1.0 / controller.settings.rate
        self._timeout = controller.settings.state_timeout   # for which writing may fail
        self._enable, self._fade, self._rest = (
            getattr(driver, name, None) for name in ('enable', 'fade', 'rest'))
        controller.cycle_input['spring'] = self._fade is not None
        if hasattr(driver, 'period'):
            driver.period = period
        self._interval = period / (1 if reading_of(driver) == LATEST else READS_PER_PERIOD)
        self._due = monotonic()
        self._tell, self._stop = tell, stop
        self._waiting: SimpleQueue[Read | None] = SimpleQueue()
        self._next: Read | None = None
        self._over = threading.Event()
        self._told = {'': 0.0}
        self._lock = threading.Lock()       # of `_words`, which two threads change
        self._words = {'read': '', 'write': ''}
        self._failing_since = self._failed_at = np.inf
        self._number, self._enabled = 0, False
        self._lost: DriverLost | None = None
        #: Whether drives may still have to damp the arm once no efforts are written.
        self.resting = False
        #: Efforts that could not be written.
        self.failed_writes = 0
        self._thread: threading.Thread | None = None
        if reading_of(driver) != INLINE:
            self._thread = threading.Thread(target=self._run, name='driver', daemon=True)
            self._thread.start()

    def begin(self) -> None:
        """Drop old readings; the drives are switched on before the next efforts."""
        for _ in range(self._keep):         # bounded: new ones may arrive as fast
            self.take()
        self._enabled = False

    def take(self) -> Read | None:
        """Return the oldest reading that waits, None without one."""
        if self._next is None and self._thread is not None:
            self.wait(0)
        taken, self._next = self._next, None
        return taken

    def wait(self, timeout_ns: int) -> bool:
        """
        Wait for a reading (True), or until the time is over or :meth:`wake` is called.

        Inline, this reads the driver once.
        """
        if self._next is None and self._thread is None:
            self._next = self._read(min(RETRY_PAUSE, self._period))
        elif self._next is None:
            try:
                self._next = (self._waiting.get(timeout=1e-9 * timeout_ns) if timeout_ns > 0
                              else self._waiting.get_nowait())
            except Empty:
                pass
        return self._next is not None

    def wake(self) -> None:
        """End the wait under way, or the next one; a read inline ends by itself."""
        self._waiting.put(None)

    def write(self, tau: ndarray) -> None:
        """
        Write efforts by the driver; report its errors.

        :raises DriverLost: the driver has raised it.
        """
        if self._attempt(self._send_enabled, tau):
            self._enabled = bool(self._controller.memory['publishing'][0])

    def idle(self) -> None:
        """
        Have drives damp an arm without brakes until it rests, in a cycle without efforts.

        :raises DriverLost: the driver has raised it, in its last read perhaps.
        """
        self._enabled = False
        if self._lost is not None:
            raise self._lost
        if self.resting:
            self._attempt(self._send, np.zeros(self._controller.model.nv))

    def _send_enabled(self, tau: ndarray) -> None:
        if not self._enabled and self._enable:
            self._enable()
        self._enabled, self.resting = True, self._rest is not None
        self._send(tau)

    def _send(self, tau: ndarray) -> None:
        if self._fade:
            self._fade(float(self._controller.memory['spring'][0]))
        if (self.resting and self._rest and self._controller.drives_damp
                and self._rest(self._period)):
            self.resting = self._enabled
        self._driver.write(tau)

    def _attempt(self, send: Callable[[ndarray], None], tau: ndarray) -> bool:
        """Send efforts; return whether the driver took them."""
        try:
            send(tau)
        except DriverLost as error:
            self._report('write', error)
            raise
        except Exception as error:
            self.failed_writes += 1
            self._failed_at = monotonic()
            self._failing_since = min(self._failing_since, self._failed_at)
            words = self._report('write', error)
            if self._failed_at - self._failing_since >= self._timeout:
                self._change('write', words)
            return False
        self._failing_since = np.inf
        self._change('write', '')
        return True

    def diagnostics(self) -> dict[str, object]:
        """Return what the driver tells of itself, and how many efforts it did not take."""
        told: dict[str, object] = {'efforts not written': self.failed_writes}
        if report := getattr(self._driver, 'diagnostics', None):
            try:
                told.update(report())
            except Exception as error:
                self._report('diagnostics', error)
        return told

    def close(self) -> None:
        """End the thread, without waiting long for a blocked read; close the driver."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(CLOSE_TIMEOUT)
        try:
            self._driver.close()
        except Exception as error:      # the connection may be gone already
            self._report('close', error)

    def refuse(self, error: Exception) -> None:
        """Report an invalid reading."""
        self._report('read', error)

    def _run(self) -> None:
        while not self._over.is_set():
            if (taken := self._read(RETRY_PAUSE)) is not None:
                if self._waiting.qsize() >= self._keep:
                    try:
                        self._waiting.get_nowait()
                    except Empty:
                        pass
                self._waiting.put(taken)

    def _read(self, pause: float) -> Read | None:
        """Read once; where nothing came at once, pause [s] rather than poll in a tight loop."""
        begun = monotonic()
        self._due = max(self._due + self._interval, begun - self._interval)
        if self._due > begun:
            self._over.wait(self._due - begun)
            begun = monotonic()
        if begun - self._failed_at > self._timeout:     # the efforts of the fault have ended
            self._failing_since = self._failed_at = np.inf
            self._change('write', '')
        try:
            reading = self._driver.read()
            if reading is not None:
                reading = Reading(*reading)
                faults = [fault if isinstance(fault, Fault) else Fault(*fault)
                          for fault in reading.faults]
                taken = Read(reading, self._number + 1, time_ns(), monotonic(), ages_of(reading))
        except Exception as error:
            words, reading = self._report('read', error), None
            if isinstance(error, DriverLost):
                self._lost = error
                self._change('read', words)
        if reading is None:
            if monotonic() - begun < pause:
                self._over.wait(pause)
            return None
        self._number, self._lost = self._number + 1, None
        self._change('read', ', '.join(map(words_of, (f for f in faults if f.stop))))
        if warnings := [f for f in faults if not f.stop]:
            self._once(f'the drives report {", ".join(map(words_of, warnings))}')
        return taken

    def _change(self, what: str, words: str) -> None:
        with self._lock:
            if self._words[what] != words:
                self._words[what] = words
                self._stop('; '.join(filter(None, self._words.values())))

    def _report(self, method: str, error: Exception) -> str:
        text = f'{method}() of the driver raised {type(error).__name__}: {error}'
        self._once(text)
        return text

    def _once(self, text: str) -> None:
        if monotonic() - self._told.get(text, -REPORT_INTERVAL) >= REPORT_INTERVAL:
            self._told = {text: monotonic()}
            self._tell(text)


def note_age(state: ndarray, before: ndarray, now: float, age: ndarray) -> None:
    """
    Have the receipt of a state be the time at which its joints were measured.

    A joint that has not been measured since keeps its time, and has none where it never was. With
    an age the stamp of the message tells nothing more.

    :param state: (nv,) STATE, just written; ``before``: (nv,) ``received`` before that [s].
    :param now: time of receipt on the clock of the cycle [s]; ``age`` [s], a number or (nv,).
    """
    if age.any():
        state['received'] = np.fmax(before, np.where(np.isfinite(age), now - age, np.nan))
        state['stamp'] = np.where(age > 0.0, np.nan, state['stamp'])


def words_of(fault: Fault) -> str:
    """Return a fault in words: ``joint4: rotor too hot``."""
    return f'{fault.joint}: {fault.text}' if fault.joint else fault.text


def ages_of(reading: Reading) -> ndarray:
    """
    Return the ages (nv,) of a reading [s].

    :raises ValueError: one is negative or NaN, or their shape is another one; infinite is a drive
        that has never answered.
    """
    ages, shape = np.asarray(reading.age, float), np.shape(reading.position)
    if ages.shape != shape:         # else not: it takes longer than all else here
        ages = np.broadcast_to(ages, shape)
    if not (ages >= 0.0).all():
        raise ValueError(f'an age of {ages.min():g} s is negative or NaN')
    return ages

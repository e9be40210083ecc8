# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Drivers of arms in Python, in the process of the controller.

A driver is a class with ``read`` and ``write``, over the SDK of an arm or a bus. The controller
calls both without messages in between (parameter ``driver`` of the node, :func:`.drive` of the
library); all else, from the decoding of states to the limits of efforts, is as with topics.
"""

from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
import threading
from time import monotonic, time_ns
from typing import Any, NamedTuple, Protocol, runtime_checkable

from numpy import ndarray
from numpy.typing import ArrayLike

from .object_reference import load_object, refused

RETRY_PAUSE = 0.01    # [s] after a read that failed or returned nothing at once
# A read that returns within this time [s] has not waited for its state. After so many of
# these in a row the driver does not wait at all: a buffer of one that waits has fewer states. The
# GIL delays reads, too, and each that took longer counts only so many times against this.
AT_ONCE, WAITLESS, DELAYED = 1e-4, 1000, 5
CLOSE_TIMEOUT = 1.0    # [s] of a read in progress
REPORT_INTERVAL = 1.0    # [s] between two reports of the same failure


class Reading(NamedTuple):
    """
    State of an arm; arrays (nv,) in the order of ``model.joint_names``.

    :param position: [rad | m].
    :param velocity: [rad/s | m/s]; NaN where it is not measured.
    :param effort: [N·m | N] measured; None: not measured.
    """

    position: ArrayLike
    velocity: ArrayLike
    effort: ArrayLike | None = None


@runtime_checkable
class Driver(Protocol):
    """
    Interface of a driver; it need not inherit from this class.

    It is made by a call with the :class:`~robodyn_ros.RobotModel` and the options of the user, in
    which it connects to the arm. ``read`` is called by one thread, ``write`` by another.
    """

    def read(self) -> Reading | None:
        """
        Wait for the next state of the arm and return it.

        Return None if none comes within some time of the driver's choice. An exception is logged,
        and ``read`` is called again; without states for ``state_timeout`` the fault STALE_STATE is
        latched, and its efforts are written. If ``read`` does not wait but returns the latest
        state at once, it is called once a period of the controller.
        """

    def write(self, tau: ndarray) -> None:
        """
        Send efforts (nv,) [N·m | N], without waiting for what comes of them.

        An exception ends the control loop, which tries to write zeros as the last efforts. An arm
        has to stop by itself without efforts: nothing else helps if this process dies.
        """

    def close(self) -> None:
        """End the connection; the last efforts have been written."""


def make(name: str, model: Any, options: Mapping[str, Any]) -> Driver:
    """
    Return the driver of a name.

    :param name: ``package.module:NAME`` of a class or function.
    :param model: robot model, its first argument; ``options``: its keywords.
    :raises ParameterError: it cannot be imported or made, or it lacks a method.
    """
    module, kind = load_object('driver', name, 'class')
    if kind is None:
        raise refused('driver', name, f'{module.__name__} has no {name.partition(":")[2]}',
                      'see robodyn new-driver')
    try:
        driver = kind(model, **options)
    except Exception as error:          # any error of the user's class
        raise refused('driver', name, f'{type(error).__name__}: {error}', 'correct it, the '
                      'parameter driver_options or the connection') from error
    if not isinstance(driver, Driver):
        raise refused('driver', name, 'it lacks read, write or close', 'see robodyn new-driver')
    return driver


class Read(NamedTuple):
    """A reading, its number (from 1 on) and the time of day at which it was read [ns]."""

    reading: Any
    number: int
    time_ns: int


class DriverReader:
    """
    Thread that reads a driver, so that a blocked driver does not stall the control loop.

    :param keep: readings that wait at most; older ones are dropped, as from a topic.
    :param period: of the controller [s]: a driver that does not wait for states is read as often.
    :param tell: called with a sentence for each failure.
    """

    def __init__(self, driver: Driver, keep: int, period: float, tell: Callable[[str], object]):
        self._driver, self._keep, self._period, self._tell = driver, keep, period, tell
        self._waiting: SimpleQueue[Read | None] = SimpleQueue()
        self._next: Read | None = None
        self._over = threading.Event()
        self._told = {'': 0.0}
        self._thread = threading.Thread(target=self._run, name='driver', daemon=True)
        self._thread.start()

    def take(self) -> Read | None:
        """Return the oldest reading that waits, None without one."""
        if self._next is None:
            self.wait(0)
        taken, self._next = self._next, None
        return taken

    def wait(self, timeout_ns: int) -> bool:
        """Wait for a reading (True), or until the time is over or :meth:`wake` is called."""
        if self._next is None:
            try:
                self._next = (self._waiting.get(timeout=1e-9 * timeout_ns) if timeout_ns > 0
                              else self._waiting.get_nowait())
            except Empty:
                pass
        return self._next is not None

    def wake(self) -> None:
        """End the wait under way, or the next one."""
        self._waiting.put(None)

    def write(self, tau: ndarray) -> None:
        """Write efforts by the driver; report and re-raise its errors."""
        try:
            self._driver.write(tau)
        except Exception as error:
            self._report('write', error)
            raise

    def close(self) -> None:
        """End the thread, without waiting long for a blocked read; close the driver."""
        self._over.set()
        self._thread.join(CLOSE_TIMEOUT)
        try:
            self._driver.close()
        except Exception as error:      # the connection may be gone already
            self._report('close', error)

    def refuse(self, error: Exception) -> None:
        """Report an invalid reading."""
        self._report('read', error)

    def _run(self) -> None:
        number, waitless, next_read = 0, 0, 0.0
        while not self._over.is_set():
            begun = monotonic()
            try:
                reading = self._driver.read()
            except Exception as error:
                self._report('read', error)
                self._over.wait(RETRY_PAUSE)
                continue
            if reading is None:
                if monotonic() - begun < RETRY_PAUSE:     # do not poll in a tight loop
                    self._over.wait(RETRY_PAUSE)
                continue
            number += 1
            if self._waiting.qsize() >= self._keep:
                try:
                    self._waiting.get_nowait()
                except Empty:
                    pass
            self._waiting.put(Read(reading, number, time_ns()))
            now = monotonic()
            if now - begun > AT_ONCE:
                waitless = max(0, waitless - DELAYED)
            else:
                waitless = min(waitless + 1, WAITLESS)
            if waitless == WAITLESS:
                next_read = max(next_read + self._period, begun)
                self._over.wait(next_read - now)

    def _report(self, method: str, error: Exception) -> None:
        text = f'{method}() of the driver raised {type(error).__name__}: {error}'
        if monotonic() - self._told.get(text, -REPORT_INTERVAL) >= REPORT_INTERVAL:
            self._told = {text: monotonic()}
            self._tell(text)

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control loop of a controller and a driver without ROS."""

from collections.abc import Callable
from time import monotonic
from typing import Any
import warnings

import numpy as np

from .control.controller.controller import Controller
from .driver import Driver, DriverReader, Read

QUEUE_DEPTH = 10    # readings
STOP_MARGIN = 1.0       # s beyond `stop_timeout` for which the arm may take to come to rest


def drive(controller: Controller, driver: Driver, over: Callable[[], bool],
          tell: Callable[[str], Any] = warnings.warn) -> None:
    """
    Arm a controller and run it on an arm until ``over()``; then bring the arm to rest.

    A cycle runs for each reading of the driver, and after a period without one, so that the guard
    checks states, silence and efforts as in the node. After a fault the loop continues with the
    fault efforts; ``controller.reason`` explains it. This blocks; other threads may call
    :meth:`.Controller.follow` and all other methods meanwhile. The driver is closed at the end.

    :param controller: of the arm, which no other loop runs.
    :param driver: that reads and writes the arm.
    :param over: returns after each cycle whether to stop, e.g. ``event.is_set``.
    :param tell: called with a sentence for each failure of the driver.
    :raises Exception: what ``driver.write`` has raised, after zeros were tried.
    """
    period, number = 1.0 / controller.settings.rate, 0
    reader, stop_at = DriverReader(driver, QUEUE_DEPTH, period, tell), np.inf
    controller.begin()
    controller.state[...] = np.nan
    controller.arm()
    try:
        while not _at_rest(controller, stop_at):
            if reader.wait(round(1e9 * period)):
                for _ in range(QUEUE_DEPTH):   # bounded: new ones may arrive as fast
                    if taken := reader.take():
                        number += _accept(controller, taken, number + 1, reader)
            now = monotonic()
            if controller.step(now):
                reader.write(controller.tau.copy())
            if stop_at == np.inf and over():
                controller.stop()
                stop_at = now + controller.settings.stop_timeout + STOP_MARGIN
    finally:
        try:
            if controller.memory['publishing'][0]:      # an arm may keep the last efforts for ever
                controller.memory['publishing'] = 0
                reader.write(np.zeros(controller.model.nv))
        finally:
            reader.close()


def _at_rest(controller: Controller, stop_at: float) -> bool:
    """Return whether the arm has stopped on request, or the time for it is over."""
    return stop_at < np.inf and (monotonic() > stop_at
                                 or not (controller.driving or controller.asked))


def _accept(controller: Controller, taken: Read, number: int, reader: DriverReader) -> bool:
    """Write a reading to the controller's state; return False if it cannot be used."""
    state, nv = controller.state, controller.model.nv
    try:
        position, velocity, effort = taken.reading
        rows = [np.array(row, float) for row in (position, velocity)]
        rows.append(np.full(nv, np.nan) if effort is None else np.array(effort, float))
        if any(row.shape != (nv,) for row in rows):
            raise ValueError(f'arrays of shapes {", ".join(str(row.shape) for row in rows)}, '
                             f'not ({nv},)')
    except Exception as error:          # invalid return value of the driver
        reader.refuse(error)
        return False
    if not np.isfinite(rows[0]).all() or np.isinf(rows[1]).any() or np.isinf(rows[2]).any():
        return False                    # as a message: without others the state becomes stale
    state['position'], state['velocity'], state['effort'] = rows
    state['received'], state['sequence'] = monotonic(), number
    return True

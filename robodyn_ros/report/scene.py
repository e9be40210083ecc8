# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The moving robot as a page of its own, by viser."""

from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.pool import AsyncResult, Pool
from pathlib import Path

import numpy as np
from numpy import ndarray

from ..model.robot import RobotModel
from ..viewer import REQUIRED_MODULES

RATE = 20.0         # pictures in a second
LONGEST = 30.0      # s of a motion that are shown: the last ones
PATIENCE = 60.0     # s that a page is waited for
PORT = 18800        # or the next free one, on this machine and for a moment only


def available() -> bool:
    """Return whether viser is installed."""
    return all(find_spec(name) is not None for name in REQUIRED_MODULES)


def moving_robot(model: RobotModel, urdf: Path | None, time: ndarray, position: ndarray) -> str:
    """
    Return a page that shows a motion again and again; '' where viser is not installed.

    :param urdf: file with the shapes of the robot; None: links are drawn as rods.
    :param time: (N,) [s], increasing; ``position``: (N, nv) [rad | m].
    """
    if len(time) < 2 or not available():
        return ''
    from ..viewer.page import Page

    page = Page(model, urdf, position[0], PORT)
    try:
        scene = page.server.get_scene_serializer()
        for t in np.arange(max(time[0], time[-1] - LONGEST), time[-1], 1 / RATE):
            page.show(position[min(int(np.searchsorted(time, t)), len(time) - 1)])
            scene.insert_sleep(1 / RATE)
        return scene.as_html()
    finally:
        page.close()


class MovingRobot:
    """
    Page of a moving robot that another process draws, while this one is busy.

    A context, at whose end that process ends, too.
    """

    def __init__(self) -> None:
        self._pool: Pool | None = None
        self._page: AsyncResult[str] | None = None

    def __enter__(self) -> 'MovingRobot':
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.terminate()
            self._pool.join()

    def draw(self, model: RobotModel, urdf: Path | None, time: ndarray, position: ndarray) -> None:
        """Begin to draw, once; see :func:`moving_robot`."""
        if available():
            self._pool = get_context('spawn').Pool(1)
            self._page = self._pool.apply_async(moving_robot, (model, urdf, time, position))

    def page(self) -> str:
        """
        Return the page, '' where viser is not installed.

        :raises RobodynError: a shape of the robot cannot be read.
        :raises multiprocessing.TimeoutError: the process does not answer.
        """
        return self._page.get(PATIENCE) if self._page else ''

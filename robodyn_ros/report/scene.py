# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The moving robot as a page of its own, by viser."""

from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal
from typing import Any

import numpy as np
from numpy import ndarray

from ..errors import DemoError
from ..model.robot import RobotModel
from ..viewer import REQUIRED_MODULES

RATE = 20.0         # pictures in a second
LONGEST = 30.0      # s of a motion that are shown: the last ones
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
        self._process: BaseProcess | None = None

    def __enter__(self) -> 'MovingRobot':
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._end.close()

    def draw(self, model: RobotModel, urdf: Path | None, time: ndarray, position: ndarray) -> None:
        """Begin to draw, once, where viser is installed; see :func:`moving_robot`."""
        if self._process is None and available():
            context = get_context('spawn')
            self._end, end = context.Pipe()
            self._process = context.Process(
                target=_draw, args=(end, model, urdf, time, position), daemon=True)
            self._process.start()
            end.close()

    def page(self) -> str:
        """
        Return the page, '' where viser is not installed.

        :raises DemoError: it could not be drawn.
        """
        if self._process is None:
            return ''
        try:
            page, trouble = self._end.recv()
        except EOFError:
            page, trouble = '', f'its process ended with exit code {self._process.exitcode}'
        if trouble:
            raise DemoError(f'the moving robot is not drawn, {trouble}', name='viser',
                            remedy='see whether `robodyn view` draws this robot')
        return page


def _draw(end: Connection, *motion: Any) -> None:
    """Send the page of a motion, and what prevented it, in the process of its own."""
    signal(SIGINT, SIG_IGN)         # as that of the terminal: whoever waits ends this process
    try:
        answer = moving_robot(*motion), ''
    except Exception as error:      # whatever it is, the report is written without it
        answer = '', f'{type(error).__name__}: {error}'
    end.send(answer)

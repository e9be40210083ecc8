# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The moving robot as a page of its own, by viser."""

from contextlib import closing, ExitStack
from importlib.util import find_spec
import os
from pathlib import Path
import pickle
import subprocess
import sys
from tempfile import TemporaryFile

import numpy as np
from numpy import ndarray

from ..compiler import second_process
from ..errors import DemoError
from ..model.robot import RobotModel
from ..viewer import REQUIRED_MODULES

FRAME_RATE = 20.0    # [1/s]
MAX_DURATION = 30.0    # [s]: the end of a longer motion is shown
FAILURE_CODE = 3    # exit code of a drawing process that printed its error
FIRST_PORT = 18800    # or the next free one; local, and for a moment only


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

    with closing(Page(model, urdf, position[0], FIRST_PORT)) as page:
        scene = page.server.get_scene_serializer()
        for t in np.arange(max(time[0], time[-1] - MAX_DURATION), time[-1], 1 / FRAME_RATE):
            page.show(position[min(int(np.searchsorted(time, t)), len(time) - 1)])
            scene.insert_sleep(1 / FRAME_RATE)
        return scene.as_html()


class MovingRobot:
    """
    Page of a moving robot that another process draws, while this one is busy.

    A context, at whose end that process ends, too.
    """

    def __init__(self) -> None:
        self._held = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> 'MovingRobot':
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._held.close()

    def draw(self, model: RobotModel, urdf: Path | None, time: ndarray, position: ndarray) -> None:
        """Start to draw, once, if viser is installed; see :func:`moving_robot`."""
        if self._process is not None or not available() or not sys.executable:
            return
        # In files, where neither process waits for the other
        motion, self._page = (self._held.enter_context(TemporaryFile()) for _ in range(2))
        pickle.dump((model, urdf, time, position), motion)
        motion.seek(0)
        self._process = subprocess.Popen(
            [sys.executable, '-c',
             f'{second_process.SAFE_PATH}from {__name__} import draw_given; draw_given()'],
            stdin=motion, stdout=self._page, stderr=subprocess.DEVNULL,
            env=second_process.environment(),
            start_new_session=True)         # Ctrl-C is for this process, which ends that one

    def page(self) -> str:
        """
        Return the page, '' where viser is not installed.

        :raises DemoError: it could not be drawn.
        """
        if self._process is None:
            return ''
        code = self._process.wait()
        self._page.seek(0)
        text = self._page.read().decode()
        if code:
            why = text if code == FAILURE_CODE else f'its process ended with exit code {code}'
            raise DemoError(f'the moving robot is not drawn, {why}', name='viser',
                            remedy='see whether `robodyn view` draws this robot')
        return text


def draw_given() -> None:
    """Write the page of the motion on stdin to stdout, or what prevented it, and end."""
    with os.fdopen(os.dup(1), 'w', encoding='utf-8') as page:
        os.dup2(2, 1)           # what others print is not part of it
        try:
            page.write(moving_robot(*pickle.load(sys.stdin.buffer)))
        except Exception as error:      # the report is written without the scene
            page.write(f'{type(error).__name__}: {error}')
            sys.exit(FAILURE_CODE)

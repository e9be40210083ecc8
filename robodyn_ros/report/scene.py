# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The moving robot as a page of its own, by viser."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy import ndarray

from ..model.robot import RobotModel
from ..viewer import REQUIRED_MODULES

RATE = 20.0         # pictures in a second
LONGEST = 30.0      # s of a motion that are shown: the last ones
PORT = 18800        # or the next free one, on this machine and for a moment only


def moving_robot(model: RobotModel, urdf: Path | None, time: ndarray, position: ndarray) -> str:
    """
    Return a page that shows a motion again and again; '' where viser is not installed.

    :param urdf: file with the shapes of the robot; None: links are drawn as rods.
    :param time: (N,) [s], increasing; ``position``: (N, nv) [rad | m].
    """
    if len(time) < 2 or any(find_spec(name) is None for name in REQUIRED_MODULES):
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

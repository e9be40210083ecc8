# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Page of a robot in the browser, by viser: 3D scene, joint sliders, gravity torques."""

from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
import html
import io
import logging
from pathlib import Path
from threading import Lock
import time
from typing import Any

import numpy as np
from numpy import ndarray
import viser
from viser.uplot import Series

from .local_server import LocalServer
from .quantities import (
    Drawn, drawn, RED as TEXT_RED, short_names, slider_range, torque_table, view_of)
from .robot_nodes import extent, link_shapes, RobotNodes
from ..dynamics import Dynamics
from ..model.robot import RobotModel, units

TIME_SPAN = 10.0    # [s] shown
SAMPLE_INTERVAL = 0.1    # [s]: drawing costs processor time
COLORS = ('#1f6fb4', '#e07b1a', '#2a9d5c', '#c8283c', '#7c5cbf', '#8c6d46', '#d16ba5', '#5f6b7a')


class LivePlot:
    """
    A folder with a plot of one quantity of each joint over the last :data:`TIME_SPAN`.

    :param names: of the joints.
    :param absent: sentence in place of the plot while there are no values.
    """

    def __init__(self, gui: viser.GuiApi, title: str, names: Sequence[str], absent: str):
        # Time [s] and values
        self._rows: deque[list[float]] = deque(maxlen=round(TIME_SPAN / SAMPLE_INTERVAL))
        with gui.add_folder(title):
            self._absent = gui.add_html(f'<div style="padding:0 0.8em 0.4em;font-size:0.85em">'
                                        f'{absent}</div>')
            self._plot: Any = gui.add_uplot(
                _columns([[at] + [0.0] * len(names) for at in (-SAMPLE_INTERVAL, 0.0)]),
                ({'label': 's'}, *(
                    Series(label=name, stroke=COLORS[i % len(COLORS)], width=1)
                    for i, name in enumerate(short_names(names)))),
                scales={'x': {'time': False}}, legend={'live': False}, aspect=2.2, visible=False)

    def add(self, time: float, values: ndarray) -> None:
        """Add values (n,) at a time [s], if the next ones are due; NaN leaves a gap."""
        if self._rows and time < self._rows[-1][0] + SAMPLE_INTERVAL:
            return
        self._rows.append([time, *np.round(values, 3).tolist()])        # as the axis shows them
        if len(self._rows) > 1:
            self._plot.data = columns = _columns(self._rows)
            self._plot.visible = bool(np.isfinite(columns[1:]).any())
            self._absent.visible = not self._plot.visible


def _columns(rows: Iterable[list[float]]) -> tuple[ndarray, ...]:
    """Return times relative to the newest [s], then one array of each value."""
    time, *values = np.ascontiguousarray(np.array([*rows]).T)
    return time - time[-1], *values


RED = (200, 40, 60)
SLIDER_STEPS = 4000
# Browsers of machines that are busy do not keep up with what changes at each picture
MIN_DISPLAYED_MOTION = 1e-4    # [rad | m]: smaller motions of a live robot are not drawn
TYPICAL_ASPECT = 1.5    # width over height of a window
TEXT_INTERVAL = 0.2         # s between two changes of the texts of a live page


class Page:
    """
    A page that shows one robot, on this machine only.

    :param model: the robot; ``urdf``: file with its shapes, None: rods are drawn.
    :param pose: (nv,) [rad | m] at the start.
    :param port: of the page; the next free one is taken where it is in use.
    :param live: whether :meth:`show` and :meth:`report` say what is drawn, instead of sliders.
    :raises UrdfError: the file cannot be read.
    """

    def __init__(self, model: RobotModel, urdf: Path | None, pose: ndarray, port: int = 8080, *,
                 live: bool = False):
        #: Its model.
        self.model, self._dynamics = model, Dynamics(model)
        self._live = live
        self._start, self._lock = np.array(pose, float), Lock()
        self._tabulated = -np.inf
        shapes, self.notes = link_shapes(urdf, model) if urdf is not None else ([], [])
        #: Length of the robot [m].
        self.size = extent(model)
        logging.getLogger('trimesh').setLevel(logging.ERROR)
        # Browsers open connections that they do not use: no error of ours, and no traceback
        logging.getLogger('websockets.server').setLevel(logging.CRITICAL)
        with redirect_stdout(io.StringIO()):        # a banner, even where it is not verbose
            self.server = LocalServer(port, model.name)
        self.server.scene.set_up_direction('+z')
        self.server.gui.configure_theme(control_width='large', show_share_button=False)
        #: What is drawn of the robot.
        self.robot = RobotNodes(self.server.scene, model, shapes, self.size)
        self.notes += self.robot.notes
        self._com = self.server.scene.add_icosphere('/center_of_mass', 0.03 * self.size, RED)
        self.server.scene.add_grid('/ground', 2.5 * self.size, 2.5 * self.size,
                                   cell_size=0.1, section_size=0.5)
        self._add_controls()
        self._choose()
        self.update()
        self._points = np.array([T[:3, 3] for T in self._seen.frames.values()])
        self._aim(self.server.initial_camera, TYPICAL_ASPECT)
        self.server.on_client_connect(lambda client: self._aim(client.camera,
                                                               client.camera.aspect))

    @property
    def address(self) -> str:
        """Address of the page, with the key of this run."""
        return self.server.address

    @property
    def position(self) -> ndarray:
        """Position (nv,) of the sliders [rad | m]."""
        return np.array([slider.value for slider in self.sliders], float)

    def close(self) -> None:
        """End the server."""
        with redirect_stdout(io.StringIO()):
            self.server.stop()

    def update(self) -> None:
        """Draw the pose of the sliders."""
        with self._lock:        # sliders call from several threads: the latest pose comes last
            self._draw(self.position)
            self._tabulate()

    def show(self, q: ndarray) -> dict[str, ndarray]:
        """Draw a pose (nv,) [rad | m], wherever the sliders are; return poses of its frames."""
        with self._lock:
            if np.abs(q - self._at).max() > MIN_DISPLAYED_MOTION:
                self._draw(q)
            if (now := time.monotonic()) >= self._tabulated + TEXT_INTERVAL:
                self._tabulated = now
                self._tabulate()
            return self._seen.frames

    def plot(self, now: float, error: ndarray, effort: ndarray, external: ndarray) -> None:
        """
        Add to the plots of a live page.

        :param now: time [s].
        :param error: (nv,) of the tracking [rad | m]; NaN: none, as for the others.
        :param effort, external: (nv,) measured and estimated external ones [N·m | N].
        """
        for plot, values in zip(self._plots, (1e3 * error, effort, external), strict=True):
            plot.add(now, values)

    def report(self, lines: Iterable[tuple[str, bool]],
               details: Sequence[tuple[str, str]] = ()) -> None:
        """Show lines of text, those marked True, problems, in red; and a table of details."""
        rows = ''.join(f'<tr><td>{html.escape(name)}</td><td style="text-align:right">'
                       f'{html.escape(value)}</td></tr>' for name, value in details)
        table = f'<table style="width:100%;font-size:0.8em;padding:0 0.8em">{rows}</table>'
        if table != self.details.content:
            self.details.content = table
        text = ''.join(f'<div style="padding:0.2em 0.8em;font-size:0.85em;'
                       f'color:{TEXT_RED if problem else "inherit"}">{html.escape(line)}</div>'
                       for line, problem in lines)
        if text != self.status.content:
            self.status.content = text

    def _tabulate(self) -> None:
        self.table.content = torque_table(self.model, self._seen.gravity, self._seen.share)

    def _draw(self, q: ndarray) -> None:
        self._at = np.array(q)
        self._seen: Drawn = drawn(self._dynamics, self.model, q)
        seen = self._seen
        with self.server.atomic():
            self.robot.place(seen.frames)
            if seen.com is not None:
                self._com.position = seen.com

    def _aim(self, camera: Any, aspect: float) -> None:
        """Let a camera of a window (width over height) see the robot as it is at the start."""
        camera.position, camera.look_at = view_of(self._points, aspect)

    def _add_controls(self) -> None:
        gui, model = self.server.gui, self.model
        self.status = gui.add_html('', visible=self._live)
        (angle, torque), names = units(model, 'm'), short_names(model.joint_names)
        self._plots = [LivePlot(gui, title, model.joint_names, absent) for title, absent in (
            (f'tracking error [{angle}]', 'No reference is followed.'),
            (f'measured effort [{torque}]', 'The joint states carry no efforts.'),
            (f'external effort [{torque}]', 'The controller publishes no estimate.')
            )] if self._live else []
        with gui.add_folder('guard and timing', visible=self._live, expand_by_default=False):
            self.details = gui.add_html('')
        #: Folder of the sliders, which a live page hides unless it may move the arm.
        self.joints = gui.add_folder(f'{model.name}: joints', visible=not self._live,
                                     order=self.status.order + 0.6)     # before the plots
        with self.joints:
            self.sliders = [self._add_slider(i, name) for i, name in enumerate(names)]
            back = gui.add_button('initial pose', visible=not self._live)
        with gui.add_folder('gravity torques'):
            self.table = gui.add_html('')
        with gui.add_folder('show'):
            self._toggles = {label: gui.add_checkbox(label, value) for label, value in (
                ('shapes', True), ('frames', False), ('center of mass', True),
                ('inertia ellipsoids', False))}
        if self.notes or model.warnings:
            with gui.add_folder('notes', expand_by_default=False):
                gui.add_html('<ul>' + ''.join(f'<li>{html.escape(text)}</li>' for text in
                                              (*self.notes, *model.warnings)) + '</ul>')
        back.on_click(lambda _: self.go(self._start))
        for slider in self.sliders:
            if not self._live:
                slider.on_update(lambda _: self.update())
        for toggle in self._toggles.values():
            toggle.on_update(lambda _: self._choose())

    def _add_slider(self, i: int, name: str) -> Any:
        start, unit = float(self._start[i]), 'm' if self.model.slides[i] else 'rad'
        low, high = slider_range(self.model, i, start)
        step = min(1e-3, (high - low) / SLIDER_STEPS)
        return self.server.gui.add_slider(f'{name} [{unit}]', low, high, step,
                                          min(max(low, self._shown(start, step)), high))

    def _shown(self, value: float, step: float) -> float:
        """Return a position; that of a live robot with few digits, as a multiple of a step."""
        return round(round(value / step) * step, 6) if self._live else value

    def go(self, q: ndarray) -> None:
        """Move the sliders to a position (nv,) [rad | m]."""
        for slider, value in zip(self.sliders, q):
            slider.value = self._shown(float(value), slider.step)
        if not self._live:
            self.update()

    def _choose(self) -> None:
        """Show what is chosen."""
        self._com.visible = self._toggles['center of mass'].value and bool(self.model.mass.any())
        for handle in self.robot.links.values():
            handle.visible = self._toggles['shapes'].value
        for handle in self.robot.frames.values():
            handle.visible = self._toggles['frames'].value
        for handle in self.robot.ellipsoids:
            handle.visible = self._toggles['inertia ellipsoids'].value

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Page of a robot in the browser, by viser: 3D scene, joint sliders, gravity torques."""

import html
import io
import logging
import time
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import trimesh
import viser
from numpy import ndarray

from ..dynamics import Dynamics
from ..errors import ArgumentError
from ..model.robot import RobotModel
from ..model.shapes import Shape
from .link_shapes import THICKNESS, extent, link_shapes, rods
from .live_plots import LivePlot
from .origin import refuse_other_sites
from .quantities import Drawn, along, drawn, ellipsoid, quaternion, slider_range
from .torque_table import RED as TEXT_RED
from .torque_table import torque_table

GREY, ORANGE, BLUE, RED = (122, 130, 140), (224, 123, 26), (31, 111, 180), (200, 40, 60)
SMALLEST_AXIS = 2e-3        # [m] of an ellipsoid, so that thin ones can be seen
STEPS = 4000                # of a slider
# Browsers of machines that are busy do not keep up with what changes at each picture
STILL = 1e-4                # [rad | m] of all joints, below which a live picture stays as it is
TEXT_INTERVAL = 0.2         # s between two tables of gravity torques of a live page


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
        self._model, self._dynamics = model, Dynamics(model)
        self._live = live
        self._start, self._lock = np.array(pose, float), Lock()
        self._tabulated = -np.inf
        shapes, self.notes = link_shapes(urdf, model) if urdf is not None else ([], [])
        #: Length of the robot [m].
        self.size = extent(model)
        #: Links and handles of what is drawn of them.
        self.solids: list[tuple[str, Any]] = []
        logging.getLogger('trimesh').setLevel(logging.ERROR)
        # Browsers open connections that they do not use: no error of ours, and no traceback
        logging.getLogger('websockets.server').setLevel(logging.CRITICAL)
        with redirect_stdout(io.StringIO()):        # a banner, even where it is not verbose
            self.server = viser.ViserServer(host='127.0.0.1', port=port, label=model.name,
                                            verbose=False)
        refuse_other_sites(self.server)
        self.server.scene.set_up_direction('+z')
        self.server.gui.configure_theme(control_width='large', show_share_button=False)
        # Names of nodes must not nest or coincide, as names of links with a slash would
        nodes = {name: f'{i} {name.replace("/", " ")}' for i, name in enumerate(
            model.frame_names)}
        self._frames = {name: self.server.scene.add_frame(
            f'/frames/{node}', axes_length=0.12 * self.size, axes_radius=0.004 * self.size,
            visible=False) for name, node in nodes.items()}
        self._links = {name: self.server.scene.add_frame(f'/shapes/{node}', show_axes=False)
                       for name, node in nodes.items()}
        self._bodies = [self.server.scene.add_frame(f'/bodies/{nodes[name]}', show_axes=False)
                        for name in model.link_names]
        self.shown = self._add_shapes(shapes)
        self._add_rods()
        self._ellipsoids = [self._add_ellipsoid(i) for i in range(model.nb) if model.mass[i] > 0]
        self._com = self.server.scene.add_icosphere('/center_of_mass', 0.03 * self.size, RED)
        self.server.scene.add_grid('/ground', 2.5 * self.size, 2.5 * self.size,
                                   cell_size=0.1, section_size=0.5)
        self._add_camera()
        self._add_controls()
        self._choose()
        self.update()

    @property
    def address(self) -> str:
        """Address of the page."""
        return f'http://127.0.0.1:{self.server.get_port()}'

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
            if np.abs(q - self._at).max() > STILL:
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
        for plot, values in zip(self._plots, (error, effort, external), strict=True):
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
        self.table.content = torque_table(self._model, self._seen.gravity, self._seen.share)

    def _draw(self, q: ndarray) -> None:
        self._at = np.array(q)
        self._seen: Drawn = drawn(self._dynamics, self._model, q)
        seen = self._seen
        with self.server.atomic():
            for name, T in seen.frames.items():
                for handle in (self._frames[name], self._links[name]):
                    handle.wxyz, handle.position = quaternion(T[:3, :3]), T[:3, 3]
            for i, name in enumerate(self._model.link_names):
                T = self._of_body(i, seen.frames[name])
                self._bodies[i].wxyz = quaternion(T[:3, :3])
                self._bodies[i].position = T[:3, 3]
            if seen.com is not None:
                self._com.position = seen.com

    def _of_body(self, i: int, T: ndarray) -> ndarray:
        """Return the pose (4, 4) of body i from that of the frame of its link."""
        frame, placed = self._model.frames[self._model.link_names[i]], np.eye(4)
        placed[:3, :3], placed[:3, 3] = frame.rotation, frame.origin
        return T @ np.linalg.inv(placed)

    def _add_shapes(self, shapes: list[Shape]) -> list[str]:
        """Add the shapes; return the names of the links that have one."""
        shown = []
        for k, one in enumerate(shapes):
            try:
                mesh = solid(one)
            except Exception as error:      # of a reader of meshes, of any type
                self.notes.append(f'link {one.link!r}: {one.mesh} is not read ({error})')
                continue
            self.solids.append((one.link, self.server.scene.add_mesh_trimesh(
                f'{self._links[one.link].name}/{k}', mesh, wxyz=quaternion(one.rotation),
                position=one.origin)))
            shown.append(one.link)
        return shown

    def _add_rods(self) -> None:
        radius = THICKNESS * self.size
        for k, (body, begin, end) in enumerate(rods(self._model, self.shown)):
            parent = self._bodies[body].name if body >= 0 else '/base'
            rod = self.server.scene.add_cylinder(
                f'{parent}/rod{k}', radius, float(np.linalg.norm(end - begin)), GREY,
                wxyz=along(end - begin), position=(begin + end) / 2)
            if body >= 0:
                self.solids.append((self._model.link_names[body], rod))
            self.server.scene.add_icosphere(f'{parent}/knob{k}', 1.5 * radius, ORANGE)

    def _add_ellipsoid(self, i: int) -> Any:
        axes, rotation = ellipsoid(self._model.mass[i], self._model.inertia[i])
        return self.server.scene.add_icosphere(
            f'{self._bodies[i].name}/inertia', 1.0, BLUE, opacity=0.45,
            scale=tuple(np.maximum(axes, SMALLEST_AXIS).tolist()), wxyz=quaternion(rotation),
            position=self._model.com[i], visible=False)

    def _add_camera(self) -> None:
        camera = self.server.initial_camera         # the robot is left of the panel
        camera.position = (1.06 * self.size, -0.75 * self.size, 0.7 * self.size)
        camera.look_at = (0.46 * self.size, 0.25 * self.size, 0.3 * self.size)

    def _add_controls(self) -> None:
        gui, model = self.server.gui, self._model
        self.status = gui.add_html('', visible=self._live)
        self._plots = [LivePlot(gui, title, model.joint_names) for title in (
            'tracking error [rad | m]', 'measured effort [N·m | N]',
            'external effort [N·m | N]')] if self._live else []
        with gui.add_folder('guard and timing', visible=self._live, expand_by_default=False):
            self.details = gui.add_html('')
        with gui.add_folder(f'{model.name}: joints', visible=not self._live):
            self.sliders = [self._add_slider(i) for i in range(model.nv)]
            back = gui.add_button('initial pose')
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
            slider.on_update(lambda _: self.update())
        for toggle in self._toggles.values():
            toggle.on_update(lambda _: self._choose())

    def _add_slider(self, i: int) -> Any:
        start, unit = float(self._start[i]), 'm' if self._model.slides[i] else 'rad'
        low, high = slider_range(self._model, i, start)
        return self.server.gui.add_slider(f'{self._model.joint_names[i]} [{unit}]', low, high,
                                          min(1e-3, (high - low) / STEPS), start)

    def go(self, q: ndarray) -> None:
        """Move the sliders to a position (nv,) [rad | m]."""
        for slider, value in zip(self.sliders, q):
            slider.value = float(value)
        self.update()

    def _choose(self) -> None:
        """Show what is chosen."""
        self._com.visible = self._toggles['center of mass'].value and bool(self._model.mass.any())
        for handle in self._links.values():
            handle.visible = self._toggles['shapes'].value
        for handle in self._frames.values():
            handle.visible = self._toggles['frames'].value
        for handle in self._ellipsoids:
            handle.visible = self._toggles['inertia ellipsoids'].value


def solid(one: Shape) -> trimesh.Trimesh:
    """
    Return the surface of a shape [m], in its own axes.

    :raises ArgumentError: a mesh has no faces, or vertices that are not finite.
    :raises Exception: whatever the reader of a mesh raises where it cannot read the file.
    """
    if one.mesh is not None:
        mesh = trimesh.load(one.mesh, force='mesh')
        if not len(mesh.faces) or not np.isfinite(mesh.bounds).all():
            raise ArgumentError('it has no surface', name=one.mesh.name, value=len(mesh.faces),
                                remedy='export the mesh again')
        return mesh.apply_scale(one.size)
    if one.kind == 'box':
        mesh = trimesh.creation.box(2.0 * np.array(one.size))
    elif one.kind == 'sphere':
        mesh = trimesh.creation.icosphere(3, one.size[0])
    else:
        make = trimesh.creation.cylinder if one.kind == 'cylinder' else trimesh.creation.capsule
        mesh = make(radius=one.size[0], height=2 * one.size[1])
    mesh.visual.face_colors = [*GREY, 255]
    return mesh

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Controls of a running robot on its page: stop, motions, mode, gains, payload, pushes."""

from collections.abc import Mapping, Sequence
from functools import partial
import html
from threading import Lock
import time
from typing import Any

import numpy as np
from numpy import ndarray

from .page import Page
from .quantities import quaternion, RED
from .wishes import Aim, Change, Command, Field, Go, Push, Target, Wish, Wishes

MAX_PUSH_DURATION = 10.0    # [s] without a release from the browser
MAX_TAKING_TIME = 2.0    # [s] between two calls of :meth:`ControlPanel.take`
DRAG_STIFFNESS = 200.0    # [N/m] between a link and the mouse


class Holder:
    """
    The one tab that drags: others wait for its end, or until it has been silent for long.

    Methods may be called from any thread.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._tab: int | None = None
        self._what, self._since, self._seen = '', 0.0, 0.0

    @property
    def what(self) -> str:
        """Return what is dragged, '' for nothing."""
        return self._what

    def grab(self, tab: int, what: str, now: float) -> bool:
        """Start a drag; return False if another tab drags."""
        with self._lock:
            if self._tab not in (None, tab) and now <= self._seen + MAX_PUSH_DURATION:
                return False
            self._tab, self._what, self._since, self._seen = tab, what, now, now
            return True

    def holds(self, tab: int, what: str, now: float) -> bool:
        """Return whether this tab goes on dragging what it has grabbed."""
        with self._lock:
            held = self._tab == tab and self._what == what
            self._seen = now if held else self._seen
            return held

    def release(self, tab: int | None = None) -> str:
        """Return what this tab dragged, '' for nothing, and let it go; None: any tab."""
        with self._lock:
            if self._tab is None or tab not in (None, self._tab):
                return ''
            what, self._tab, self._what = self._what, None, ''
            return what

    def too_long(self, now: float) -> bool:
        """Return whether the drag takes longer than :data:`MAX_PUSH_DURATION`."""
        with self._lock:
            return self._tab is not None and now > self._since + MAX_PUSH_DURATION


def force_of(start: ndarray, end: ndarray, limit: float) -> ndarray:
    """
    Return the force (3,) [N] of a spring from the point of a link to that of the mouse.

    :param start, end: (3,) [m]; ones that are not finite give no force.
    :param limit: [N] of its magnitude.
    """
    force = DRAG_STIFFNESS * (np.asarray(end, float) - np.asarray(start, float))
    if force.shape != (3,) or not np.isfinite(force).all():
        return np.zeros(3)
    size = float(np.linalg.norm(force))
    return force * (limit / size) if size > limit else force


MAX_SHOWN_ANSWERS = 6
DEFAULT_PUSH_LIMIT = 30.0    # [N]
MAX_PUSH_LIMIT = 500.0    # [N]
GIZMO_SHARE = 0.2    # of the size of the robot
PULL_COLOR = (240, 90, 40)
TARGET = 'the target'
PRESENT = 'present'
SLIDER_STEP = 2e-3      # [rad | m] of the sliders that follow the arm


class ControlPanel:
    """
    Controls beside a live :class:`Page`; each use becomes a wish that :meth:`take` returns.

    Every browser tab shows the same values; one tab at a time drags, and when it is closed or
    silent for too long, the push ends and the reference of the target comes to rest.

    :param modes: that can be chosen.
    :param pushable: whether links can be pushed: on a simulator only.
    """

    def __init__(self, page: Page, modes: Sequence[str], pushable: bool):
        self._page, self._gui = page, page.server.gui
        self._wishes, self._holder = Wishes(), Holder()
        self._shown: dict[str, str] = {}
        self._told: list[tuple[str, bool]] = []
        self._gains: dict[str, Any] = {}
        self._pull: tuple[str, ndarray] | None = None
        self._moved = False         # sliders, by a person
        self._taken = time.monotonic()
        self._poses: dict[str, ndarray] = {}
        self._frame = ''
        self._at: ndarray | None = None     # while no joint states come, the arm may be anywhere
        self._add(modes, pushable)
        page.server.on_client_disconnect(self._leave)

    def take(self) -> list[Wish]:
        """Return the requests since the last call, and a lasting push again."""
        self._taken = time.monotonic()
        if self._pull is not None and self._holder.too_long(time.monotonic()):
            self.tell([(f'dragging {self._holder.what} ended: it took too long', True)])
            self._end(None)
        if (pull := self._pull) is not None:
            self._wishes.add(Push(*pull))
        return self._wishes.take()

    def tell(self, lines: Sequence[tuple[str, bool]]) -> None:
        """Add answers to the list of the latest; those marked True, refusals, in red."""
        if not lines:
            return
        self._told = [*self._told, *lines][-MAX_SHOWN_ANSWERS:]
        self._log.content = ''.join(
            f'<div style="padding:0.1em 0.8em;font-size:0.8em;color:{RED if bad else "inherit"}">'
            f'{html.escape(text)}</div>' for text, bad in reversed(self._told))

    def show(self, mode: str, gains: Sequence[Field], payload: Sequence[Field], frame: str,
             poses: Mapping[str, ndarray], phase: str, emergency: bool) -> None:
        """
        Show the current values; unchanged fields keep the text typed into them.

        :param frame: that a target pose is for, '' for none.
        :param poses: (nv,) [rad | m] by name.
        :param phase: of the controller, '' while it is not active.
        :param emergency: whether the controller listens to ``~/emergency_stop``.
        """
        for button, visible in ((self._arm, phase in ('', 'INACTIVE')),
                                (self._reset, phase == 'FAULT'), (self._emergency, emergency)):
            if button.visible != visible:
                button.visible = visible
        if list(poses) != list(self._poses):
            self._named.options = (PRESENT, *poses)
        self._poses = dict(poses)
        if self._shown.get('mode') != mode:
            self._shown['mode'] = mode
            if mode not in self._mode.options:
                self._mode.options = (*self._mode.options, mode)
            self._mode.value = mode
        if [field.name for field in gains] != list(self._gains):
            for handle in self._gains.values():
                handle.remove()
            with self._gain_folder:
                self._gains = {field.name: self._text(field) for field in gains}
        for handles, fields in ((self._gains, gains), (self._payload, payload)):
            for field in fields:
                if self._shown.get(field.name) != field.text:
                    handles[field.name].value = self._shown[field.name] = field.text
        if frame != self._frame:
            self._frame = frame
            self._aim.label = f'target pose of {frame}' if frame else 'target pose'

    def follow(self, position: ndarray | None, poses: Mapping[str, ndarray]) -> None:
        """
        Keep sliders at the position, and the target at its frame, while unused.

        :param position: (nv,) [rad | m]; None: it is not known.
        :param poses: of frames, (4, 4) by name.
        """
        if not self._moved and position is not None and (
                np.abs(position - self._page.position).max() > SLIDER_STEP):
            self._page.go(position)
        self._at = position
        if not self._aim.value and self._frame in poses:
            T = poses[self._frame]
            self._gizmo.wxyz, self._gizmo.position = quaternion(T[:3, :3]), T[:3, 3]

    def restore(self, names: Sequence[str]) -> None:
        """Show the current values of these parameters again, after a refusal."""
        for name in names:
            self._shown.pop(name, None)

    def _add(self, modes: Sequence[str], pushable: bool) -> None:
        gui, page = self._gui, self._page
        page.server.stop_pressed = self._stop
        self._emergency = gui.add_button(
            'EMERGENCY STOP', color='red', order=page.status.order - 0.5, visible=False,
            hint='Publish true on ~/emergency_stop, which takes up to 1 s: no safety device.')
        self._emergency.on_click(lambda _: self._wishes.add(Command.EMERGENCY_STOP))
        self._arm = gui.add_button('arm', order=page.status.order + 0.2)
        self._reset = gui.add_button('reset the fault', order=page.status.order + 0.2,
                                     visible=False)
        for button in (self._arm, self._reset):
            button.on_click(lambda _: self._wishes.add(Command.ARM))
        page.joints.visible = True
        with page.joints:
            self._named = gui.add_dropdown('pose', (PRESENT,), hint='Named by the parameter poses')
            move = gui.add_button('move the arm', hint='In a straight line of the joints, at a '
                                  'quarter of the velocity limits; collisions are not checked.')
        for slider in page.sliders:
            slider.on_update(self._slide)
        self._named.on_update(self._choose)
        move.on_click(lambda _: self._go())
        with gui.add_folder('control', order=self._page.status.order + 0.5):
            self._log = gui.add_html('')
            self._mode = gui.add_dropdown('mode', tuple(modes), initial_value=modes[0])
            self._gain_folder = gui.add_folder('gains', expand_by_default=False)
            with self._gain_folder:
                apply = gui.add_button('apply gains', order=1e9)
            with gui.add_folder('payload', expand_by_default=False):
                self._payload = {name: self._text(Field(name, '', unit)) for name, unit in (
                    ('payload_mass', 'kg'), ('payload_com', 'm'), ('payload_frame', ''))}
                load = gui.add_button('set payload')
            self._aim = gui.add_checkbox('target pose', initial_value=False)
            if pushable:
                self._limit = gui.add_slider('push up to [N]', 1.0, MAX_PUSH_LIMIT, 1.0,
                                             DEFAULT_PUSH_LIMIT)
                gui.add_html('<div style="padding:0 0.8em;font-size:0.8em">Drag a link with the '
                             'mouse to push it.</div>')
        self._gizmo = self._page.server.scene.add_transform_controls(
            '/target', GIZMO_SHARE * self._page.size, visible=False)
        self._line = self._page.server.scene.add_line_segments(
            '/pull', np.zeros((1, 2, 3)), PULL_COLOR, line_width=4.0, visible=False)
        self._mode.on_update(lambda event: self._change_mode(event.client_id))
        apply.on_click(lambda _: self._apply(self._gains))
        load.on_click(lambda _: self._apply(self._payload))
        self._aim.on_update(lambda event: self._use_target())
        self._gizmo.on_update(self._move_target)
        if pushable:
            for link, handle in self._page.robot.solids:
                handle.on_drag('left')(partial(self._drag, link))

    def _stop(self) -> bool:
        """Ask for a stop; return whether somebody takes requests."""
        self._wishes.add(Command.STOP)
        return time.monotonic() < self._taken + MAX_TAKING_TIME

    def _slide(self, event: Any) -> None:
        self._moved = self._moved or event.client_id is not None

    def _choose(self, event: Any) -> None:
        if event.client_id is not None:
            self._moved = self._named.value != PRESENT
            goal = self._poses.get(self._named.value, self._at)
            if goal is not None:
                self._page.go(goal)

    def _go(self) -> None:
        start, goal, self._moved = self._at, self._page.position, False
        named = self._poses.get(self._named.value, goal)
        if np.abs(named - goal).max() < SLIDER_STEP:        # which sliders show in few digits
            goal = named
        if start is None:
            self.tell([('the arm is not moved: no joint states come', True)])
        else:
            self._wishes.add(Go(start, goal))
        self._named.value = PRESENT

    def _text(self, field: Field) -> Any:
        label = field.name + (f' [{field.unit}]' if field.unit else '')
        return self._gui.add_text(label, field.text, hint=field.doc or None)

    def _change_mode(self, tab: int | None) -> None:
        # An update of the value by this process has no tab
        if tab is not None and self._mode.value != self._shown.get('mode'):
            self._wishes.add(Change({'mode': self._mode.value}))

    def _apply(self, handles: Mapping[str, Any]) -> None:
        changed = {name: handle.value for name, handle in handles.items()
                   if handle.value != self._shown.get(name)}
        if changed:
            self._wishes.add(Change(changed))
        else:
            self.tell([('nothing is changed', False)])

    def _use_target(self) -> None:
        if self._aim.value and not self._frame:
            self.tell([('the parameter task_frame is not set: no frame has a target', True)])
            self._aim.value = False
        self._gizmo.visible = self._aim.value
        if not self._aim.value:
            if self._holder.what == TARGET:
                self._holder.release()
            self._wishes.add(Command.HOLD)
        self._wishes.add(Aim(self._aim.value))

    # Coroutines, which the server runs in the order of the events

    async def _move_target(self, event: Any) -> None:
        if not self._may(event, TARGET):
            return
        if event.phase == 'end':
            self._holder.release(event.client_id)   # and the arm goes on to where it was left
        self._wishes.add(Target(np.array(self._gizmo.position), np.array(self._gizmo.wxyz)))

    async def _drag(self, link: str, event: Any) -> None:
        if not self._may(event, link):
            return
        if event.phase == 'end':
            self._end(event.client_id)
            return
        start, end = np.array(event.start_position), np.array(event.end_position)
        self._pull = link, force_of(start, end, float(self._limit.value))
        self._line.points, self._line.visible = np.stack([start, end])[None], True

    async def _leave(self, client: Any) -> None:
        self._end(client.client_id)

    def _may(self, event: Any, what: str) -> bool:
        """Return whether the tab of an event may drag this; report a refusal to it."""
        tab, now = event.client_id, time.monotonic()
        if tab is None:                         # an update by this process
            return False
        if event.phase != 'start':
            return self._holder.holds(tab, what, now)
        if not self._holder.grab(tab, what, now):
            self.tell([(f'another tab drags {self._holder.what}', True)])
            return False
        return True

    def _end(self, tab: int | None) -> None:
        """End what a tab drags, the motion of a target too; None: any tab."""
        if (what := self._holder.release(tab)) == TARGET:
            self._wishes.add(Command.HOLD)
        elif what:
            self._pull, self._line.visible = None, False
            self._wishes.add(Push(what, np.zeros(3)))

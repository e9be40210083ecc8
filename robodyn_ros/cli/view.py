# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `view`: a robot in the browser, until Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Event
import time
from typing import Annotated, TYPE_CHECKING
import webbrowser

from rich.console import Console
import typer

from .options import (
    At, chosen_robot, command, console, Gravity, Locked, MODEL, NodeName, Robot, Root, States, Tip)
from ..errors import DemoError, ParameterError, require_modules, RosError

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot
    from ..nodes.clients.live_control import LiveControl
    from ..nodes.middleware.client_session import Session
    from ..viewer.control_panel import ControlPanel
    from ..viewer.page import Page

FRAME_PERIOD = 1 / 40    # [s]
DISCOVERY_TIMEOUT = 3.0    # [s] of a simulator


@command(MODEL, 'panda --live --allow-control')
def view(robot: Robot, locked: Locked = [], at: At = '',  # noqa: B006
         root: Root = '',
         tip: Tip = '',
         gravity: Gravity = '',
         port: Annotated[int, typer.Option(
             min=1, max=65535, help='Port of the page on localhost; the next free one if it is in '
             'use.')] = 8080,
         browser: Annotated[bool, typer.Option(
             '--browser/--no-browser', help='Open the page in the browser.')] = True,
         live: Annotated[bool, typer.Option(
             '--live', help='Show the joint states and diagnostics of a running robot; publishes '
             'nothing.')] = False,
         allow_control: Annotated[bool, typer.Option(
             '--allow-control', help='With --live: change mode, gains and payload, reset, move a '
             'target pose, push a simulated arm.')] = False,
         states: States = '', node: NodeName = 'controller',
         simulator: Annotated[str, typer.Option(
             help='Name of the simulator, with its namespace, with --allow-control; default: '
             '`simulator` in the namespace of --node.')] = '') -> None:
    """Show a robot in the browser: joints, gravity torques, center of mass, inertias."""
    from ..viewer import REQUIRED_MODULES

    require_modules('view', REQUIRED_MODULES, DemoError)
    if live:
        require_modules('view --live', ['rclpy'], RosError)
    elif allow_control:
        raise ParameterError('--allow-control is given without --live', name='--allow-control',
                             remedy='add --live: a robot that does not run is not controlled')
    chosen = chosen_robot(robot, locked, root, tip, gravity, at, massless='warn')
    with _page(chosen, port, browser, console(), live=live, control=allow_control) as page:
        if live:
            _follow(page, states, node, simulator, allow_control)
        else:
            Event().wait()


def _follow(page: Page, states: str, controller: str, simulator: str, control: bool) -> None:
    """
    Show a robot that is running until the process is interrupted.

    :param states: topic of its joint states; ``controller``, ``simulator``: names of the nodes;
        '': those in the namespace of the controller.
    :param control: whether the page may change something.
    """
    from ..control.laws import registry
    from ..nodes.clients.live_control import LiveControl, LiveRobot
    from ..nodes.clients.running_controller import beside
    from ..nodes.middleware.client_session import session
    from ..viewer.control_panel import ControlPanel
    from ..viewer.page import TEXT_INTERVAL

    with session('robodyn_view') as here:
        live = LiveRobot(here.node, page.model.joint_names,
                         states or beside(controller, 'joint_states'), controller)
        client = panel = None
        if control:
            client = LiveControl(here.node, controller, simulator or beside(
                controller, 'simulator'), page.model)
            here.until(lambda: client.simulated, DISCOVERY_TIMEOUT)
            panel = ControlPanel(page, registry.MODES, client.simulated)
        due = read = 0.0
        try:
            while True:
                now = _listen(here, due)
                due = max(due + FRAME_PERIOD, now)     # those that are late are left out
                present, poses = live.update(now), {}
                if present:
                    poses = page.show(live.position)
                    page.plot(now, live.tracking_error, live.effort, live.external_effort)
                if panel is not None:
                    panel.follow(live.position if present else None, poses)
                if reading := now >= read:
                    read = now + TEXT_INTERVAL
                    page.report(live.report(), live.details())
                if client is not None and panel is not None:
                    _serve(panel, client, now, live.phase if reading else None)
        finally:
            if client is not None:
                client.close()


def _listen(here: Session, due: float) -> float:
    """Run callbacks until a time is due, those that wait already in any case; return the time."""
    here.poll(0.0)
    while (left := due - time.monotonic()) > 0.0:
        here.poll(left)
    return time.monotonic()


def _serve(panel: ControlPanel, client: LiveControl, now: float, phase: str | None) -> None:
    """Forward the requests of the page and the answers; show the current values at a phase."""
    for wish in panel.take():
        client.do(wish, now)
    panel.tell(client.answers(now))
    if client.in_force and phase is not None:
        panel.restore(client.refused)
        client.refused.clear()
        panel.show(client.in_force['mode'], client.gains(), client.payload(),
                   client.in_force['task_frame'], client.poses(), phase,
                   client.in_force['emergency_stop'])


@contextmanager
def _page(robot: CatalogRobot, port: int, browser: bool, out: Console, live: bool,
          control: bool = False) -> Iterator[Page]:
    from ..viewer.page import Page

    page = Page(robot.model, robot.path, robot.pose, port, live=live)
    if control:         # a browser that is faster than the control panel shows STOP, too
        page.server.stop_pressed = lambda: False
    with closing(page):
        out.print(f'{robot.model.name}: {page.address} (Ctrl-C ends it)')
        for note in page.notes:
            out.print(f'! {note}')
        if browser:
            webbrowser.open(page.address)
        yield page

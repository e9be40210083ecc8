# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `view`: a robot in the browser, until Ctrl-C."""

import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

from rich.console import Console

from ..catalog.robots import CatalogRobot
from ..viewer.page import Page


def run(robot: CatalogRobot, port: int, browser: bool, out: Console) -> None:
    """
    Show a robot until the process is interrupted.

    :param port: of the page on this machine.
    :param browser: whether to open the page in the browser.
    """
    with _page(robot, port, browser, out, live=False):
        Event().wait()


def follow(robot: CatalogRobot, port: int, browser: bool, out: Console, topic: str) -> None:
    """
    Show a robot that is running until the process is interrupted, as :func:`run`.

    :param topic: of its joint states.
    """
    from ..nodes.client_session import session
    from ..nodes.live_robot import LiveRobot

    with session('robodyn_view') as here, _page(robot, port, browser, out, live=True) as page:
        live = LiveRobot(here.node, robot.model.joint_names, topic)
        while True:
            here.poll()
            if live.update(time.monotonic()):
                page.show(live.position)
            page.report((line.text, line.problem) for line in live.report())


@contextmanager
def _page(robot: CatalogRobot, port: int, browser: bool, out: Console, live: bool
          ) -> Iterator[Page]:
    page = Page(robot.model, robot.path, robot.pose, port, live=live)
    try:
        out.print(f'{robot.model.name}: {page.address} (Ctrl-C ends it)')
        for note in page.notes:
            out.print(f'! {note}')
        if browser:
            webbrowser.open(page.address)
        yield page
    finally:
        page.close()

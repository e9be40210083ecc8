# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `view`: a robot in the browser, until Ctrl-C."""

import webbrowser
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
    page = Page(robot.model, robot.path, robot.pose, port)
    try:
        out.print(f'{robot.model.name}: {page.address} (Ctrl-C ends it)')
        for note in page.notes:
            out.print(f'! {note}')
        if browser:
            webbrowser.open(page.address)
        Event().wait()
    finally:
        page.close()

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Draw docs/refusal.png, docs/verdict.png and docs/view.png: pages of the program, in Chromium.

    PYTHONPATH=test python docs/page_pictures.py
"""

from contextlib import ExitStack
import os
from pathlib import Path
import sys
import tempfile
import time

from PIL import Image
from processes import node, Process
from viewer.browser import browsing, Tab, wait_for

ROBODYN = [sys.executable, '-m', 'robodyn_ros.cli']
DOCS = Path(__file__).resolve().parent
CONFIG = str(DOCS.parent / 'config' / 'panda.yaml')
LOCKSTEP = ['-p', 'urdf:=panda', '-p', 'lockstep:=true', '-p', 'publish_clock:=true', '-p',
            'command_timeout:=5.0', '-p', 'use_sim_time:=true', '-p', 'trigger:=state', '-p',
            'autostart:=true', '-p', 'mode:=joint_impedance', '-p', 'state_timeout:=1.0', '-p',
            'robot_compensates_gravity:=false', '-p', 'flight_recorder:=0.0']
# States that stop for so long are not noticed in time
MISTAKE = 'ros__parameters:\n', """ros__parameters:
    robot_compensates_gravity: false
    state_timeout: 1.0
""", 1
TOO_STIFF = '6000, 155, 60, 95, 4.25, 5.5, 0.7'
SETTLED = 5.0       # s until a page has drawn everything


def save(tab: Tab, name: str, height: int, width: int = 1300) -> None:
    """Write what a tab shows of a window of this size [pixels], in few colors."""
    tab.resize(width, height)
    time.sleep(SETTLED)
    tab.run('document.querySelectorAll(".mantine-Notification-closeButton").forEach('
            'one => one.click())')      # that the browser draws in software
    time.sleep(SETTLED)
    Image.fromarray(tab.picture()).quantize(200).save(DOCS / name, optimize=True)


def main() -> None:
    """Start what the pages show, draw them, and end it."""
    with ExitStack() as stack, browsing() as browser:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))

        def start(name: str, *command: str) -> Process:
            process = Process(command, folder / name, {**os.environ, 'ROS_DOMAIN_ID': '97'},
                              folder, fresh=True)
            stack.callback(process.interrupt)
            return process

        def page(*words: str) -> str:
            shown = start(words[-1], *ROBODYN, 'view', 'panda', '--no-browser', *words)
            return shown.wait_for_line(r'(http://127.0.0.1:\S+)').group(1)

        with browser.tab(page('--port', '18097')) as tab:
            save(tab, 'view.png', 620)
        for kind, share in ('yaml', 'config'), ('urdf', 'urdf'):
            text = (DOCS.parent / share / f'two_link.{kind}').read_text()
            (folder / f'my_arm.{kind}').write_text(text.replace(*MISTAKE))
        start('verify', *ROBODYN, 'verify', 'my_arm.urdf', '--config', 'my_arm.yaml', '--brief',
              '--report', 'risks.html').wait()
        with browser.tab((folder / 'risks.html').as_uri()) as tab:
            save(tab, 'verdict.png', 450)
        for name in 'simulator', 'controller':
            start(name, *node(name), '--ros-args', '--params-file', CONFIG, *LOCKSTEP
                  ).wait_for_line('ready|configured')
        with browser.tab(page('--live', '--allow-control', '--port', '18098')) as tab:
            wait_for(lambda: 'control loop: RUNNING' in tab.text())
            tab.click('gains', lambda: tab.has_input('52.5, 155, 60, 95, 4.25, 5.5, 0.7'))
            tab.type_into('52.5, 155, 60, 95, 4.25, 5.5, 0.7', TOO_STIFF)
            tab.click('apply gains', lambda: 'refused: ' in tab.text())
            save(tab, 'refusal.png', 700)


if __name__ == '__main__':
    main()

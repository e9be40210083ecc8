# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands that give a machine the permissions and settings which a real-time loop lacks."""

import os
import subprocess
from typing import NamedTuple

from .scheduling import DMA_LATENCY, LIMITS_FILE, Scheduling
from .system_checks import attempt, CPU_FOLDER, REALTIME_PRIORITY, text

UDEV_RULES = '/etc/udev/rules.d/99-cpu-dma-latency.rules'


class Fix(NamedTuple):
    """Missing permission, root commands that grant it, and when they take effect."""

    name: str
    commands: tuple[str, ...]
    then: str


def missing() -> list[Fix]:
    """
    Return the fixes of this machine for this user, without those that need another kernel.

    Each may be applied again; all last, but for the frequency governor, which lasts until the
    machine is booted.
    """
    return [fix for fix in (_permissions(), _idle_states(), _governor()) if fix]


def apply(fix: Fix) -> str:
    """Run the commands as root, by sudo for other users; return what went wrong, '' if nothing."""
    shell = ['sh', '-ec', '\n'.join(fix.commands)]
    try:
        done = subprocess.run(shell if os.geteuid() == 0 else ['sudo', *shell], text=True,
                              stderr=subprocess.PIPE)
    except OSError as error:
        return f'{error.filename}: {error.strerror}'
    return '' if done.returncode == 0 else done.stderr.strip() or f'exit code {done.returncode}'


def _user() -> str:
    """Return the name of the user, also under sudo."""
    return os.environ.get('SUDO_USER') or os.environ.get('USER') or str(os.getuid())


def _permissions() -> Fix | None:
    if not any(attempt(wanted).refused for wanted in (
            Scheduling(priority=REALTIME_PRIORITY), Scheduling(lock_memory=True))):
        return None
    return Fix('real-time priority and locked memory', (
        'groupadd -f realtime', f'usermod -aG realtime {_user()}',
        r"printf '@realtime - rtprio 98\n@realtime - memlock unlimited\n' > " + LIMITS_FILE),
        'log in again')


def _idle_states() -> Fix | None:
    if not DMA_LATENCY.exists() or not attempt(Scheduling(keep_awake=True)).refused:
        return None
    rule = 'KERNEL=="cpu_dma_latency", GROUP="realtime", MODE="0660"'
    return Fix('keeping CPUs awake', (
        'groupadd -f realtime', f'usermod -aG realtime {_user()}', f"echo '{rule}' > {UDEV_RULES}",
        'udevadm control --reload', 'udevadm trigger --name-match=cpu_dma_latency'),
        'log in again, and set keep_awake: true')


def _governor() -> Fix | None:
    files = [path for path in sorted(CPU_FOLDER.glob('cpu[0-9]*/cpufreq/scaling_governor'))
             if text(path) not in ('', 'performance')]
    if not files:
        return None
    return Fix('frequency governor', (
        f'echo performance | tee {" ".join(map(str, files))} > /dev/null',), '')

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the Linux settings that determine wake-up latencies, and commands that fix them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
import os
from pathlib import Path
import platform
import subprocess
from typing import NamedTuple

from .scheduling import (
    DMA_LATENCY, LIMITS_FILE, listed, Outcome, scheduled, Scheduling, UDEV_FILE, UDEV_RULE)

CPU_FOLDER = Path('/sys/devices/system/cpu')
DEEP_IDLE_LATENCY = 10    # [µs] to leave an idle state
MIN_CPUS_TO_ISOLATE = 4
REALTIME_PRIORITY = 80
FINE, FAIR, BAD = range(3)


@dataclass(frozen=True)
class Fact:
    """
    One property of the machine.

    ``grade``: FINE, FAIR (could be better) or BAD (a 1 kHz loop suffers). ``advice``: what to do
    for a better one, with the commands; '' where there is nothing to do, or nothing to gain.
    """

    name: str
    value: str
    grade: int = FINE
    advice: str = ''


def facts() -> list[Fact]:
    """Look at the machine; takes milliseconds and changes nothing that lasts."""
    slack = int(text('/proc/self/timerslack_ns') or 0)
    return [_kernel(), _host(), _cpus(), _isolation(), _governor(), _idle(),
            Fact('timer slack', f'{slack / 1000:g} µs; the loop takes 1 ns for itself'),
            _throttling(),
            _asked('real-time priority', Scheduling(priority=REALTIME_PRIORITY), BAD,
                   f'granted (tried {REALTIME_PRIORITY})'),
            _asked('locked memory', Scheduling(lock_memory=True), FAIR),
            _asked('keeping CPUs awake', Scheduling(keep_awake=True), FAIR)]


def text(path: Path | str) -> str:
    """Return a small file of /proc or /sys without its newline; '' where there is none."""
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ''


def attempt(wanted: Scheduling) -> Outcome:
    """Request the scheduling from the kernel, in a short-lived thread."""
    def ask() -> Outcome:
        with scheduled(wanted) as outcome:
            return outcome
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(ask).result()


def _kernel() -> Fact:
    about = os.uname()
    if text('/sys/kernel/realtime') == '1' or 'PREEMPT_RT' in about.version:
        return Fact('kernel', f'{about.release}, PREEMPT_RT')
    try:
        family = platform.freedesktop_os_release().get('ID', '')
    except OSError:
        family = ''
    debian = {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(about.machine, about.machine)
    command = {'ubuntu': 'sudo pro attach; sudo pro enable realtime-kernel',
               'debian': f'sudo apt install linux-image-rt-{debian}'}.get(
        family, 'that of your distribution whose name has rt or realtime in it')
    return Fact('kernel', f'{about.release}, not real-time', FAIR,
                f'a PREEMPT_RT kernel bounds how late a thread is: {command}, then boot it')


def _host() -> Fact:
    if ' hypervisor' in text('/proc/cpuinfo'):
        return Fact('host', 'a virtual machine', FAIR, 'the host may stop a virtual machine at '
                    'any time: control a real arm from a physical machine')
    return Fact('host', 'no virtual machine')


def _cpus() -> Fact:
    mine, online = os.sched_getaffinity(0), os.cpu_count() or 1
    load, value = os.getloadavg()[0], f'{listed(mine)} of {online}'
    if load > len(mine) / 2:
        return Fact('CPUs', f'{value}, load {load:.1f}', FAIR,
                    'other programs load the CPUs and distort the measurement: see top')
    return Fact('CPUs', f'{value}, load {load:.1f}')


def _isolation() -> Fact:
    isolated, tickless = text(CPU_FOLDER / 'isolated'), text(CPU_FOLDER / 'nohz_full')
    if isolated:
        return Fact('isolated CPUs', f'{isolated}' + (f', without tick {tickless}'
                                                      if tickless not in ('', '(null)') else ''),
                    advice=f'set cpus: [{isolated.split(",")[0].split("-")[0]}], or nothing runs '
                    'there')
    last = (os.cpu_count() or 1) - 1
    if last + 1 < MIN_CPUS_TO_ISOLATE:
        return Fact('isolated CPUs', 'none (too few CPUs to isolate one)')
    return Fact('isolated CPUs', 'none', FAIR,
                f'keep one for the loop: append "isolcpus={last} nohz_full={last}" to '
                'GRUB_CMDLINE_LINUX in /etc/default/grub, sudo update-grub, boot, and set '
                f'cpus: [{last}]')


def _governor() -> Fact:
    governors = {text(p) for p in CPU_FOLDER.glob('cpu[0-9]*/cpufreq/scaling_governor')} - {''}
    if not governors:
        return Fact('frequency governor', 'none: this system does not set the frequency')
    value = ', '.join(sorted(governors))
    if governors == {'performance'}:
        return Fact('frequency governor', value)
    return Fact('frequency governor', value, FAIR, 'echo performance | sudo tee '
                f'{CPU_FOLDER}/cpu*/cpufreq/scaling_governor')


def _idle() -> Fact:
    states = [(int(text(p / 'latency') or 0), text(p / 'name'))
              for p in CPU_FOLDER.glob('cpu0/cpuidle/state*')]
    if not states:
        return Fact('idle states', 'unknown to this system')
    latency, name = max(states)
    value = f'{name}, {latency} µs to leave'
    return Fact('idle states', value, FAIR,
                'set keep_awake: true') if latency > DEEP_IDLE_LATENCY else Fact(
        'idle states', value)


def _throttling() -> Fact:
    runtime = int(text('/proc/sys/kernel/sched_rt_runtime_us') or -1)
    period = int(text('/proc/sys/kernel/sched_rt_period_us') or 1_000_000)
    return Fact('real-time threads', 'may use a CPU whole' if runtime < 0 or runtime >= period
                else f'get {100 * runtime // period} % of a CPU at most')


def _asked(name: str, wanted: Scheduling, grade: int, granted: str = 'granted') -> Fact:
    outcome = attempt(wanted)
    if outcome.refused:
        return Fact(name, 'not granted', grade, outcome.refused[0])
    return Fact(name, granted)


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
    return [fix for fix in (_fix_permissions(), _fix_idle_states(), _fix_governor()) if fix]


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


def _fix_permissions() -> Fix | None:
    if not any(attempt(wanted).refused for wanted in (
            Scheduling(priority=REALTIME_PRIORITY), Scheduling(lock_memory=True))):
        return None
    return Fix('real-time priority and locked memory', (
        'groupadd -f realtime', f'usermod -aG realtime {_user()}',
        r"printf '@realtime - rtprio 98\n@realtime - memlock unlimited\n' > " + LIMITS_FILE),
        'log in again')


def _fix_idle_states() -> Fix | None:
    if not DMA_LATENCY.exists() or not attempt(Scheduling(keep_awake=True)).refused:
        return None
    return Fix('keeping CPUs awake', (
        'groupadd -f realtime', f'usermod -aG realtime {_user()}',
        f"echo '{UDEV_RULE}' > {UDEV_FILE}", 'udevadm control --reload',
        'udevadm trigger --name-match=cpu_dma_latency'),
        'log in again, and set keep_awake: true')


def _fix_governor() -> Fix | None:
    files = [path for path in sorted(CPU_FOLDER.glob('cpu[0-9]*/cpufreq/scaling_governor'))
             if text(path) not in ('', 'performance')]
    if not files:
        return None
    return Fix('frequency governor', (
        f'echo performance | tee {" ".join(map(str, files))} > /dev/null',), '')

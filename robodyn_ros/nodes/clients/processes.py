# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Processes of nodes: start, supervision and orderly end."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
import ctypes
from functools import partial
import os
from pathlib import Path
import random
import signal
import socket
import subprocess
import sys
from types import FrameType

from ...errors import DemoError

PR_SET_PDEATHSIG = 1            # linux/prctl.h
SIGINT_TIMEOUT = 20.0    # [s]; the arm comes to rest first
SIGTERM_TIMEOUT = 3.0    # [s] before SIGKILL
LOG_TAIL = 12    # lines shown in an error

_prctl = ctypes.CDLL(None).prctl


def free_domain() -> int:
    """
    Return an unused ROS domain of this machine: that of the user, if it is free.

    The first participant of domain d receives on UDP port 7410 + 250 d (RTPS 2.2, 9.6.1.1).
    """
    if chosen := os.environ.get('ROS_DOMAIN_ID'):
        return int(chosen)
    for domain in random.sample(range(1, 100), 99):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(('', 7410 + 250 * domain))
            except OSError:
                continue
            return domain
    raise DemoError('every ROS domain from 1 to 99 is in use on this machine',
                    name='ROS_DOMAIN_ID', remedy='end other ROS 2 processes')


@contextmanager
def ending_once() -> Iterator[None]:
    """End this process in order at the first Ctrl-C or SIGTERM, and ignore others."""
    def leave(number: int, frame: FrameType | None) -> None:
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number in before:
            signal.signal(number, leave)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Defer Ctrl-C until the body of the ``with`` statement has finished."""
    waiting: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore Ctrl-C during clean-up."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Child:
    """
    Process in its own session, unaffected by Ctrl-C in the terminal.

    :param log: file of both output streams.
    """

    def __init__(self, name: str, command: Sequence[str], log: Path, env: Mapping[str, str]):
        self.name, self.log = name, log
        with log.open('wb') as sink:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                env=dict(env), start_new_session=True,
                preexec_fn=partial(_prctl, PR_SET_PDEATHSIG, signal.SIGTERM))   # dies with us

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def output(self) -> str:
        """Output so far."""
        return self.log.read_text(errors='replace')

    @property
    def code(self) -> int | None:
        """Exit code; None while the process runs."""
        return self._process.poll()

    def send(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        self._process.send_signal(number)

    def check(self) -> None:
        """Raise :class:`DemoError` with the end of the log if the process has ended."""
        if (code := self.code) is not None:
            raise DemoError(f'the {self.name} has ended with exit code {code}', name=self.name,
                            value=code, remedy=f'see {self.log}, which ends with\n'
                            + '\n'.join(self.output.splitlines()[-LOG_TAIL:]))

    @property
    def done(self) -> bool:
        """Whether the process ended with exit code 0; raise :class:`DemoError` for another one."""
        if self.code not in (None, 0):
            self.check()
        return self.code == 0

    def stop(self) -> int:
        """Stop the process with one SIGINT, escalating only if needed; return its exit code."""
        for number, patience in ((signal.SIGINT, SIGINT_TIMEOUT),
                                 (signal.SIGTERM, SIGTERM_TIMEOUT),
                                 (signal.SIGKILL, None)):
            if self.code is not None:
                break
            self.send(number)
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
        return self._process.returncode


@contextmanager
def running(commands: Mapping[str, Sequence[str]], folder: Path, env: Mapping[str, str]
            ) -> Iterator[dict[str, Child]]:
    """
    Run a process for each command; at the end stop all of them, the last one first.

    :param commands: by name; the output goes to FOLDER/NAME.log.
    """
    children: dict[str, Child] = {}
    try:
        with interrupts_later():
            for name, command in commands.items():
                children[name] = Child(name, command, folder / f'{name}.log', env)
        yield children
    finally:
        with undisturbed():
            for child in reversed(children.values()):
                child.stop()

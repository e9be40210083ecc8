# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
r"""
Start real processes from tests, read what they print, stop them as a person would.

Tests take the fixture ``start`` (conftest.py), which kills what a test leaves running::

    simulator = start(node('simulator'), '--ros-args', '-p', 'lockstep:=true')
    simulator.wait_for_line(r'publishing (\d+) joints')
    assert simulator.interrupt() == 0
"""

import ast
from collections.abc import Callable, Mapping, Sequence
import ctypes
import os
from pathlib import Path
import re
import signal
import socket
import subprocess
import sys
import time

import forked
import pytest

# What a test waits at most before it fails [s]: Python starting, kernels compiled for the first
# time and DDS discovery, all on a busy machine. Nothing takes this long when it works.
DEADLINE = 300.0    # s; a cold compilation of the loop takes 100 s on an idle core
# Exit codes of processes that a test has ended, as of Popen and as of a shell
ENDED_BY_TESTS = {code for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT,
                                      signal.SIGKILL, signal.SIGTERM)
                  for code in (-number, 128 + number)}
PR_SET_PDEATHSIG = 1        # linux/prctl.h

_prctl = ctypes.CDLL(None).prctl


def die_with_parent() -> None:
    """Have this process killed when the one that started it ends."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


# Prefix of a command, which gets a /dev/shm of its own
OWN_MEMORY = ['unshare', '--map-root-user', '--mount', 'sh', '-c',
              'mount -t tmpfs tmpfs /dev/shm && exec "$@"', 'sh']


def require_own_memory() -> None:
    """Skip a test where OWN_MEMORY cannot be had."""
    if subprocess.run([*OWN_MEMORY, 'true'], capture_output=True).returncode:
        pytest.skip('no shared memory of its own can be mounted (unshare --map-root-user --mount)')


def claim_domain() -> tuple[int, socket.socket]:
    """
    Return a ROS domain that no other test run on this machine uses, and the socket that holds it.

    A bound TCP port stands for a domain, the same one as in ament's ``domain_coordinator``, so
    that test runs of other packages keep away from ours too.
    """
    for domain in range(50, 100):
        holder = socket.socket()
        try:
            holder.bind(('127.0.0.1', 22119 + domain))
        except OSError:
            holder.close()
        else:
            return domain, holder
    raise RuntimeError('every ROS domain from 50 to 99 is in use by a test run on this machine')


def until(condition: Callable[[], object],
          poll: Callable[[], object] = lambda: time.sleep(0.005)) -> None:
    """Call ``poll`` until the condition holds."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f'not within {DEADLINE:g} s'
        poll()


def node(name: str) -> list[str]:
    """Command line of the node ``robodyn_ros.nodes.<name>``, run by the Python of the tests."""
    return [sys.executable, '-m', f'robodyn_ros.nodes.{name}']


def node_names() -> set[str]:
    """Names of the nodes that have an executable, as setup.py lists them."""
    text = (Path(__file__).parents[1] / 'setup.py').read_text()
    listed = re.search(r'^NODES = (\(.*\))$', text, re.MULTILINE)
    assert listed
    return set(ast.literal_eval(listed[1]))


class Process:
    """
    A running process whose output, both streams in one, goes to a file.

    It has its own session: what it starts can be found, and killed, with it. It does not outlive
    the tests, whatever ends them.

    :param fresh: start an interpreter of its own for a node too (:mod:`forked`).
    """

    def __init__(self, command: Sequence[str], output: Path, env: Mapping[str, str],
                 cwd: Path | None = None, *, fresh: bool = False):
        self.command, self.output, self._awaited = list(command), output, False
        self._begin = 0         # bytes of the output that are no more in `text`
        with output.open('wb') as sink:
            self.popen: subprocess.Popen | forked.Forked
            if not fresh and forked.forkable(self.command, env):
                self.popen = forked.server().fork(self.command, output, env, cwd)
            else:
                self.popen = subprocess.Popen(
                    self.command, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                    env=dict(env), cwd=cwd, start_new_session=True, preexec_fn=die_with_parent)

    @property
    def text(self) -> str:
        """Everything printed since `forget`."""
        return self.output.read_bytes()[self._begin:].decode(errors='replace')

    def forget(self) -> None:
        """Start the text anew, for a test that shares this process with others."""
        self._begin = self.output.stat().st_size

    def failure(self, problem: str) -> AssertionError:
        """Return what tells of a problem, with the output."""
        return AssertionError(f'{problem}\n  command: {" ".join(self.command)}\n'
                              f'  exit code: {self.popen.poll()}\n--- output\n{self.text}---')

    @property
    def failed(self) -> bool:
        """Whether the process has ended by itself, not well, and nobody has waited for that."""
        return not self._awaited and (self.popen.poll() or 0) not in {0, *ENDED_BY_TESTS}

    def wait_for_line(self, pattern: str, deadline: float = DEADLINE) -> re.Match[str]:
        """
        Return the first match of the regular expression in a line of the output.

        Fails, with the output, when the process ends without it or ``deadline`` seconds pass.
        """
        end = time.monotonic() + deadline
        while True:
            running = self.popen.poll() is None     # asked first: its last line still counts
            if found := re.search(pattern, self.text, re.MULTILINE):
                return found
            if not running:
                raise self.failure(f'the process ended without printing {pattern!r}')
            if time.monotonic() > end:
                raise self.failure(f'no {pattern!r} within {deadline:g} s')
            time.sleep(0.02)

    def wait(self, deadline: float = DEADLINE) -> int:
        """Return the exit code; fails when the process still runs after ``deadline`` seconds."""
        self._awaited = True
        try:
            return self.popen.wait(deadline)
        except subprocess.TimeoutExpired:
            raise self.failure(f'still running after {deadline:g} s') from None

    def interrupt(self, deadline: float = DEADLINE, *, everyone: bool = False,
                  by: signal.Signals = signal.SIGINT) -> int:
        """
        Send one SIGINT and return the exit code (negative: the signal that ended it).

        :param everyone: to all processes it started too, as Ctrl-C in a terminal does.
        :param by: another signal, e.g. SIGTERM.
        """
        if everyone:
            os.killpg(self.popen.pid, by)
        else:
            self.popen.send_signal(by)
        return self.wait(deadline)

    def kill(self) -> None:
        """End it and everything it started, at once."""
        try:
            os.killpg(self.popen.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.popen.wait()

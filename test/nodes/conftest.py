# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the nodes."""

from contextlib import suppress
from functools import partial, partialmethod
import gc
import os
import pty
import signal
import sys
import threading
from typing import NamedTuple

import forked
from nodes.bring_up import CONTROLLER, IN_STEP, LOCKSTEP, parameters, POSE, SIMULATOR
import numpy as np
from processes import DEADLINE, node, Process
import pytest
from rclpy.executors import SingleThreadedExecutor
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.model.resources import robot_path
from robodyn_ros.nodes.clients import processes
from robodyn_ros.nodes.controller.node import ControllerNode
from robodyn_ros.nodes.middleware import node_main
from robodyn_ros.nodes.middleware.middleware import lone_node
from robodyn_ros.nodes.simulator.node import Simulator


@pytest.fixture(scope='module')
def gravity():
    """g(q) of the arm at its pose."""
    return Dynamics(load_urdf(robot_path('two_link'))).gravity(np.array(POSE))


class Pair(NamedTuple):
    """Both nodes as processes."""

    simulator: Process
    controller: Process


def started(start, simulator=(), controller=(), *, real_time=False, remap=()):
    """
    Start both nodes, in lockstep unless ``real_time``; return them.

    ``simulator`` and ``controller`` are parameters of theirs, ``remap`` further arguments of both.
    """
    # More damping than this would be unstable at the rate of IN_STEP
    locked = ([], parameters(rate=500.0)) if real_time else (
        LOCKSTEP, [*IN_STEP, *parameters(damping=[40.0, 8.0])])
    sim = start(node('simulator'), *SIMULATOR, *locked[0], *parameters(**dict(simulator)), *remap)
    sim.wait_for_line('simulator ready')
    return Pair(sim, start(node('controller'), *CONTROLLER, *locked[1],
                           *parameters(**dict(controller)), *remap))


@pytest.fixture
def pair(start):
    """Return what starts a :class:`Pair` for one test."""
    return partial(started, start)


@pytest.fixture(scope='module')
def shared(start_once, request):
    """Return the pair of all tests of a module, in lockstep, with its SIMULATED and CONTROLLED."""
    return started(start_once, request.module.SIMULATED, request.module.CONTROLLED)


@pytest.fixture
def forked_children(start, monkeypatch):
    """Have the nodes of `simulated_arm` start as those of tests do."""
    class Started(processes.Child):
        def __init__(self, name, command, log, env):
            # No profiles that this process has chosen: `start` would fork nothing
            process = start(command, env={name: value for name, value in env.items()
                                          if not name.startswith('FAST')})
            self.name, self.log, self._process = name, process.output, process.popen
    monkeypatch.setattr(processes, 'Child', Started)


@pytest.fixture
def ends(monkeypatch, capfd):
    """Return what runs the `main` of a node that ends at once: exit code and what it prints."""
    def ends(main, *words):
        monkeypatch.setattr(sys, 'argv', ['node', *map(str, words)])
        patience = threading.Timer(DEADLINE, os.kill, (os.getpid(), signal.SIGINT))
        patience.start()
        try:
            code = main()
        except SystemExit as error:
            code = error.code
        finally:
            patience.cancel()
        gc.collect()            # or the tests after this one would still see the node
        printed = ''.join(capfd.readouterr())
        assert 'Traceback' not in printed
        return code, printed
    handlers = {number: signal.getsignal(number) for number in node_main.SHUTDOWN_SIGNALS}
    yield ends
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def brief(monkeypatch):
    """Have nodes of this process end as soon as they are ready."""
    for kind in ControllerNode, Simulator:
        monkeypatch.setattr(kind, 'run', partialmethod(
            lambda self, run, spin, over: run(self, spin, lambda: True), kind.run))


@pytest.fixture(name='node')
def own_node():
    with lone_node('of_the_test') as node:
        yield node


@pytest.fixture
def plain(node):
    """Return an executor of rclpy that spins the node."""
    plain = SingleThreadedExecutor(context=node.context)
    plain.add_node(node)
    yield plain
    plain.shutdown()


@pytest.fixture
def terminal():
    """Start a command in a terminal: its process, and functions that type and that read."""
    running = []

    def run(command):
        ours, theirs = pty.openpty()
        os.set_blocking(ours, False)
        process = forked.server().fork(command, os.ttyname(theirs), os.environ)
        running.append((process, ours, theirs))
        printed = []

        def text():
            with suppress(OSError):         # nothing yet, or it has ended
                while data := os.read(ours, 4096):
                    printed.append(data)
            return b''.join(printed).decode(errors='replace')
        return process, lambda keys: os.write(ours, keys.encode()), text
    yield run
    for process, ours, theirs in running:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)

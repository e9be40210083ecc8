# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Nodes and commands forked from a server that has imported the package, most of what starts them.

A forked process is one of its own: it has its session, its environment and its output, and runs
``main`` of the module, as the installed executables do. Loading rclpy starts two threads of LTTng,
which wait for somebody who traces; a fork loses them, and nothing else, since all threads of rclpy
begin with ``rclpy.init``. Run as a program, this file is the server.

Tests of compiled code fork scripts from a server of their own, which has loaded the compiler, but
not this package: that knows as little there as in a new interpreter.
"""

import atexit
from collections.abc import Mapping, Sequence
import ctypes
from functools import cache
import gc
import importlib
import inspect
import json
import os
from pathlib import Path
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time

POLL = 0.01             # s
FORKED = '# forked\n'   # first line of a script that may be
ENVIRONMENT = dict(os.environ)          # before any test changes it
PACKAGES = 'control', 'dynamics', 'model', 'realtime', 'simulation', 'wire'
# Modules of nodes; others import launch, or are rarely used
NODES = 'clients.play', 'clients.record', 'controller.node', 'simulator.node'
# What commands import when they run
COMMANDS = (
    'cli.app', 'control.learning', 'flight_recorder.replay',
    'identification.estimation.payload', 'identification.excitation.payload_motion',
    'identification.excitation.trajectory_file', 'identification.recorded_motion',
    'nodes.clients.live_control', 'nodes.clients.running_controller', 'report.document')
# Name in the environment: seconds that a controller which is activated waits for the discovery of
# other publishers of the commands, instead of DISCOVERY of nodes/topics/publishers.py
DISCOVERY = 'DISCOVERY_OF_PUBLISHERS'
# What decides at import how a node runs; where it is not as here, the node is started anew
IMPORT_TIME = ('ROBODYN_', 'NUMBA_', 'OPENBLAS_', 'LD_', 'PYTHONMALLOC', 'PYTHONHASHSEED',
               'PYTHONIOENCODING', 'PYTHONUTF8', 'LC_', 'LANG', 'RMW_', 'FAST', 'LTTNG_')


def forkable(command: Sequence[str], env: Mapping[str, str]) -> bool:
    """
    Say whether it can be forked: a node, `robodyn` or pytest, in our environment.

    Or a script (``-c``) that says in its first line that what it imports may be there already.
    """
    ours = {k: v for k, v in ENVIRONMENT.items() if k.startswith(IMPORT_TIME)}
    theirs = {k: v for k, v in env.items() if k.startswith(IMPORT_TIME)}
    return command[0] == sys.executable and ours == theirs and command[2].startswith(
        FORKED if command[1] == '-c' else ('robodyn_ros.nodes.', 'robodyn_ros.cli', 'pytest'))


class Server:
    """
    The process that forks.

    :param prepared: the function of this file that it calls first.
    """

    def __init__(self, prepared: str = 'prepare') -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno()), prepared],
                stdin=subprocess.DEVNULL, env=ENVIRONMENT, pass_fds=[theirs.fileno()],
                start_new_session=True)

    def ask(self, **request: object) -> int | None:
        """Send a request and return the answer."""
        self._socket.send(json.dumps(request).encode())
        return json.loads(self._socket.recv(1 << 16))

    def fork(self, command: Sequence[str], output: str | Path, env: Mapping[str, str],
             cwd: Path | None = None) -> 'Forked':
        """
        Start ``python -m <module> ...``, ``python -c <script>`` or ``python <file> ...``.

        :param output: file, or name of a terminal, of both streams.
        """
        pid = self.ask(command=list(command[1:]), output=str(output), env=dict(env),
                       cwd=str(cwd or Path.cwd()))
        assert pid is not None
        return Forked(self, list(command), pid)

    def close(self) -> None:
        """End the server, and what it has forked with it."""
        self._socket.close()
        self._process.wait()


class Forked:
    """What the tests use of ``subprocess.Popen``."""

    def __init__(self, server: Server, args: list[str], pid: int):
        self._server, self.args, self.pid = server, args, pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Exit code, None while it runs."""
        if self.returncode is None:
            self.returncode = self._server.ask(wait=self.pid)
        return self.returncode

    def wait(self, timeout: float = float('inf')) -> int:
        """Wait for the exit code; ``subprocess.TimeoutExpired`` after ``timeout`` seconds."""
        end = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(self.args, timeout)
            time.sleep(POLL)
        return code

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


@cache
def server() -> Server:
    """Return the server of these tests, which lives as long as they do."""
    return Server()


def close() -> None:
    """End the server, if there is one."""
    if server.cache_info().currsize:
        server().close()
        server.cache_clear()


def prepare() -> None:
    """Import what the nodes will, and load machine code: cycle, loops, the usual robot."""
    for package in PACKAGES:
        found = importlib.import_module(f'robodyn_ros.{package}')
        for module in pkgutil.iter_modules(found.__path__, f'robodyn_ros.{package}.'):
            importlib.import_module(module.name)
    for node in NODES:
        importlib.import_module(f'robodyn_ros.nodes.{node}')
    for name in COMMANDS:
        importlib.import_module(f'robodyn_ros.{name}')
    load_type_support()
    load_machine_code()
    inspect.getmodule(prepare.__code__)     # looks at each module once, as a first log line does
    gc.collect()
    gc.freeze()


def prepare_compiler() -> None:
    """Load the compiler, and nothing of this package."""
    import numba

    numba.njit(numba.float64(numba.float64))(lambda x: 2.0 * x)
    gc.freeze()


def load_type_support() -> None:
    """Load what translates each message that has been imported."""
    from rclpy.type_support import check_for_type_support

    for module in list(sys.modules.values()):
        for value in list(vars(module).values()):
            # The metaclass of a message has it
            if isinstance(value, type) and '_TYPE_SUPPORT' in vars(type(value)):
                check_for_type_support(value)


def load_machine_code() -> None:
    """Load the control cycle and what most tests need of the native loop."""
    from robodyn_ros import Controller, load_urdf, Settings
    from robodyn_ros.compiler.tuple_reference import TupleMemory
    from robodyn_ros.control.cycle.compile import CYCLE_INPUTS, plain
    from robodyn_ros.dynamics.compile import generic
    from robodyn_ros.model.resources import robot_path
    from robodyn_ros.realtime.native import loop, probe

    Controller(load_urdf(robot_path('two_link')), Settings())
    if not plain():
        for trigger in ('timer', 'state'):
            loop.compiled_loop(trigger)
        loop.compiled_callback()
        probe.compiled_trial()
        TupleMemory(CYCLE_INPUTS)       # Numba works out the layout of the type
        generic('gravity')              # of poses that effort limits should hold


def serve(connection: socket.socket) -> list[str]:
    """Answer requests until the tests end; return, in a forked process, the command to run."""
    while data := connection.recv(1 << 20):
        request = json.loads(data)
        if 'wait' in request:
            pid, status = os.waitpid(request['wait'], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if answer == 0:
                connection.close()
                return become(request)
        connection.send(json.dumps(answer).encode())
    os._exit(0)


def become(request: dict) -> list[str]:
    """Take over the environment and the output of a request; return its command."""
    # Here and not at the top: `processes` imports this file
    from processes import die_with_parent

    os.setsid()
    die_with_parent()
    # What the server has frozen stays so: a node that unfreezes all at its end would have it
    # looked at, which takes 0.7 s. The few objects of its own need no freezing
    gc.freeze = gc.unfreeze = lambda: None
    # LTTng would end its lost threads, which is a segmentation fault: exit(3) stops short of that
    libc = ctypes.CDLL(None)
    libc.on_exit(libc._exit, None)
    sink = os.open(request['output'], os.O_RDWR | os.O_CREAT | os.O_APPEND)
    for stream in (0, 1, 2) if os.isatty(sink) else (1, 2):
        os.dup2(sink, stream)
    os.close(sink)
    os.chdir(request['cwd'])
    ours = os.environ.get('PYTHONPATH', '').split(os.pathsep)
    theirs = request['env'].get('PYTHONPATH', '').split(os.pathsep)
    sys.path[:] = [request['cwd'], *filter(None, theirs),
                   *(path for path in sys.path[1:] if path not in ours)]
    os.environ.clear()
    os.environ.update(request['env'])
    sys.stdout.reconfigure(line_buffering=True)
    return request['command']


def run(command: Sequence[str]) -> None:
    """Do what an interpreter does with its arguments, with the DISCOVERY of the environment."""
    if DISCOVERY in os.environ:
        publishers = importlib.import_module('robodyn_ros.nodes.topics.publishers')
        publishers.DISCOVERY = float(os.environ[DISCOVERY])
    kind, *rest = command
    try:
        if kind == '-m':
            sys.argv[:] = rest
            sys.exit(importlib.import_module(rest[0]).main())
        if kind == '-c':
            sys.argv[:] = ['-c', *rest[1:]]
            exec(compile(rest[0], '<string>', 'exec'), {'__name__': '__main__'})
        else:
            sys.argv[:] = command
            runpy.run_path(kind, run_name='__main__')
        sys.exit()
    except SystemExit as end:
        if isinstance(end.code, str):
            raise
        leave(end.code or 0)


def leave(code: int) -> None:
    """End as an interpreter does, but do not take its modules apart: that takes 0.15 s."""
    threading._shutdown()
    atexit._run_exitfuncs()
    gc.collect()            # nodes in reference cycles leave the ROS graph
    for stream in sys.stdout, sys.stderr:
        if not stream.closed:
            stream.flush()
    os._exit(code)


if __name__ == '__main__':
    signal.signal(signal.SIGINT, signal.default_int_handler)
    globals()[sys.argv[2]]()
    run(serve(socket.socket(fileno=int(sys.argv[1]))))

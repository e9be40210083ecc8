# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Main function of node processes: from the start of rclpy to an exit code.

A full pipe, socket or terminal blocks its writer: a log whose reader is suspended would keep a
node from bringing the arm to rest. rclpy logs from C to file descriptor 2, so the relay works on
file descriptors: the process writes to a pipe that never blocks and is emptied by one thread;
another thread, which may block, writes to the reader. The reader's descriptor itself is not set to
O_NONBLOCK, because other processes share it.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, ExitStack, nullcontext, suppress
import fcntl
from functools import partial, wraps
import gc
import os
import signal
import stat
import sys
import threading
import time
import traceback
from typing import Any

import rclpy
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from .executor import TolerantExecutor, woken_by_signals
from . import middleware
from .parameters import Parameter, written_type
from .raw_subscription import RCLError
from ...compiler import second_process
from ...errors import RobodynError
from ...realtime.scheduling import LOOP_THREAD, prompt_switches

# Signals that end a node; on a closed session (SIGHUP) the last effort would stay active
SHUTDOWN_SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP
POLL_PERIOD = 0.1       # s between two checks whether several nodes are to end
COMPILATION_GRACE = 2.0    # s after a signal until a compilation is abandoned
PIPE_BYTES = 1 << 20    # more than is written before the relay thread runs
MAX_BACKLOG_BYTES = 1 << 18    # kept for a slow reader; older lines are dropped
FLUSH_TIMEOUT = 1.0    # [s] at exit
CHUNK_BYTES = 4096


class Relay:
    """
    Relay of file descriptors; output that is not read is dropped, counted and reported.

    :param descriptors: of one open file, e.g. (1, 2); redirected until the relay is closed.
    """

    def __init__(self, descriptors: tuple[int, ...]):
        self._descriptors = descriptors
        self._reader = os.dup(descriptors[0])
        self._ours, theirs = os.pipe()
        with suppress(OSError):                 # pipes of a user may be limited in all
            fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        os.set_blocking(theirs, False)          # even if the relay threads are stopped
        for descriptor in descriptors:
            os.dup2(theirs, descriptor)
        os.close(theirs)
        self._backlog, self._changed = bytearray(), threading.Condition()
        self._dropped, self._over, self._broken = 0, False, False
        self._threads = [threading.Thread(target=run, name=name, daemon=True) for run, name in (
            (self._take, 'log_relay_in'), (self._give, 'log_relay_out'))]
        for thread in self._threads:
            thread.start()

    def _take(self) -> None:
        """Empty the pipe until all its writers are gone."""
        while data := os.read(self._ours, 1 << 16):
            with self._changed:
                self._backlog += data
                if (excess := len(self._backlog) - MAX_BACKLOG_BYTES) > 0:
                    cut = self._backlog.find(b'\n', excess) + 1 or len(self._backlog)
                    del self._backlog[:cut]
                    self._dropped += cut
                self._changed.notify()
        with self._changed:
            self._over = True
            self._changed.notify()

    def _give(self) -> None:
        """Write the backlog to the reader, however long that takes."""
        new_line = True
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._backlog or self._over)
                chunk = bytes(self._backlog[:CHUNK_BYTES])
                del self._backlog[:CHUNK_BYTES]
                dropped, self._dropped = self._dropped, 0
            if not chunk:
                return
            if dropped:
                chunk = (b'' if new_line else b'\n') + (
                    f'[log] {dropped} bytes dropped: not read in time\n').encode() + chunk
            new_line = chunk.endswith(b'\n')
            try:
                while chunk:
                    chunk = chunk[os.write(self._reader, chunk):]
            except OSError:             # the reader is gone
                self._broken = True
                with self._changed:
                    self._backlog.clear()

    def close(self) -> None:
        """Restore the descriptors, or redirect them to /dev/null if the reader does not read."""
        null = os.open(os.devnull, os.O_WRONLY)
        for descriptor in self._descriptors:
            os.dup2(null, descriptor)           # ends the pipe, unless a child has it
        deadline = time.monotonic() + FLUSH_TIMEOUT
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if not self._broken and not any(thread.is_alive() for thread in self._threads):
            for descriptor in self._descriptors:
                os.dup2(self._reader, descriptor)
        os.close(null)


@contextmanager
def unblocked_output() -> Iterator[None]:
    """Relay standard output and error while the context is entered, if they could block."""
    if able_to_block(2) and os.isatty(2):       # rcutils will see a pipe
        os.environ.setdefault('RCUTILS_COLORIZED_OUTPUT', '1')
    with ExitStack() as stack:
        if able_to_block(1) and able_to_block(2) and _file(1) == _file(2):
            stack.callback(Relay((1, 2)).close)             # in one order
        else:
            for descriptor in (1, 2):
                if able_to_block(descriptor):
                    stack.callback(Relay((descriptor,)).close)
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()


def able_to_block(descriptor: int) -> bool:
    """Return whether writing to a descriptor may block: not for a regular file."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:                             # closed
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


def _file(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def freeze_garbage(everything: bool = False) -> None:
    """
    Exclude all objects made so far from Python's garbage collection.

    A full collection of the objects that imports and compiling leave takes 0.1 s while it holds
    the GIL, longer than an arm should go without efforts; a running node allocates little. While
    a loop of this process runs, nothing is collected before; otherwise what is not excluded yet.

    :param everything: collect also what was excluded earlier: a controller that was cleaned up, in
        reference cycles, with its flight recorder.
    """
    if not loop_runs():
        if everything:
            gc.unfreeze()
        gc.collect()
    gc.freeze()


def loop_runs() -> bool:
    """Return whether the control loop of a controller in this process runs."""
    return any(thread.name == LOOP_THREAD for thread in threading.enumerate())


Transition = Callable[[Any, LifecycleState], TransitionCallbackReturn]


def log_exceptions(transition: Transition) -> Transition:
    """Log exceptions of a lifecycle callback, which rclpy turns into ERROR without a log line."""
    @wraps(transition)
    def run(self: Any, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return transition(self, state)
        except Exception:
            self.get_logger().fatal(traceback.format_exc())
            raise
    return run


def main(make: Callable[..., Any], args: list[str] | None, table: Iterable[Parameter] = (), *,
         several: bool = False, load: Callable[[], None] | None = None) -> int:
    """
    Run a node until SIGINT, SIGTERM, SIGQUIT or SIGHUP and return the exit code.

    ``--help`` and arguments other than those of ROS are handled before a node is made.

    Signals only set a flag, so that the node ends in order: first the arm comes to rest, then the
    loop, the topics and ROS end. A :class:`RobodynError` is printed in one line; exceptions in
    callbacks are logged and do not end the node. A blocked log does not block the node
    (:class:`Relay`).

    :param make: makes the node, whose ``run(spin, over)`` calls ``spin`` until ``over()`` and
        ends all of its threads. With ``several``, it gets the namespace.
    :param args: arguments after the name of the program; None: those of the process.
    :param table: parameters of the node, iterated over for ``--help`` alone.
    :param several: one node for each of the namespaces given before the arguments of ROS,
        with an executor of its own, in a thread of its own. They end together.
    :param load: imports what the node needs, while other nodes are discovered; None: nothing.
    :raises SystemExit: after help (code 0), or with unknown arguments (code 2).
    """
    words = sys.argv[1:] if args is None else args
    try:
        others = remove_ros_args(words)
    except RCLError as error:           # a parameter file that is not there, or is none
        print(f'error: {" ".join(str(error).split())}', file=sys.stderr)
        return 1
    about = sys.modules[make.__module__].__doc__ or ''
    namespaces = _parser(about, table, several).parse_args(others).namespaces
    if len({name.strip('/') for name in namespaces}) < len(namespaces):
        print(f'error: a namespace is given twice: {" ".join(namespaces)}', file=sys.stderr)
        return 2
    with unblocked_output():
        return _main([partial(make, name) for name in namespaces] or [make], words, load)


def _parser(about: str, table: Iterable[Parameter], several: bool) -> argparse.ArgumentParser:
    """Return the parser of ``--help``; ROS parses all other arguments that have a meaning."""
    parser = _Parser(
        usage=f'%(prog)s [-h] {"NAMESPACE ... " if several else ""}'
              '[--ros-args [--params-file FILE.yaml] [-p NAME:=VALUE] [-r FROM:=TO] ...]',
        description=about.strip().partition('\n')[0], allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.table = table
    if several:
        parser.add_argument('namespaces', nargs='+', metavar='NAMESPACE',
                            help='of a node, as of `__ns`: left, /cell/right, ...')
    parser.set_defaults(namespaces=[])
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser whose help ends with the parameters ``table`` of the node."""

    table: Iterable[Parameter] = ()

    def format_help(self) -> str:
        """Return the help; what the parameters are is loaded for it alone."""
        lines = '\n'.join(f'  {p.name} ({written_type(p)}): {p.default!r}' for p in self.table)
        self.epilog = f'parameters and their defaults (docs/parameters.md explains them):\n{lines}'
        return super().format_help()


def _main(makers: Sequence[Callable[[], Any]], args: list[str],
          load: Callable[[], None] | None) -> int:
    over = threading.Event()
    for number in SHUTDOWN_SIGNALS:
        # nohup sets SIGHUP to be ignored, and that is respected
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: over.set())
    middleware.start(args=args, signal_handler_options=SignalHandlerOptions.NO)
    nodes: list[Any] = []
    ended = threading.Event()
    abandon = partial(_abandon_compilation, nodes, ended)
    try:
        with woken_by_signals(abandon), prompt_switches():
            made = _make(makers, load, nodes)
            return _run(nodes, int(not made), over, ended, abandon)
    finally:
        ended.set()
        rclpy.shutdown()
        gc.unfreeze()       # or the node, in reference cycles, would not leave the ROS graph


def _make(makers: Sequence[Callable[[], Any]], load: Callable[[], None] | None,
          nodes: list[Any]) -> bool:
    """Append the nodes as far as they can be made; return whether all could."""
    try:
        with middleware.discovering() if load else nullcontext():
            if load:
                gc.disable()    # next to nothing of what imports leave is garbage
                try:
                    load()
                finally:
                    gc.enable()
            gc.freeze()         # what imports leave is no garbage: collections can pass over it
            for make in makers:
                nodes.append(make())
    except RCLError as error:
        print(f'error: ROS gives no node: {error}', file=sys.stderr)
    except RobodynError as error:
        print(f'error: {error}', file=sys.stderr)
    return len(nodes) == len(makers)


def _run(nodes: Sequence[Any], code: int, over: threading.Event, ended: threading.Event,
         abandon: Callable[[], None]) -> int:
    """
    Run nodes until a signal or an exception in one of them ends all.

    A single node runs in this thread. Several have a thread each, and this one waits for signals:
    Python runs their handlers here, which no node may keep from it.

    :param code: exit code as yet; where it is not 0, they only end.
    :param ended: is set when all have ended; ``abandon``: is called after a signal.
    :returns: the exit code.
    """
    if code:
        over.set()
    executors = [TolerantExecutor(node) for node in nodes]
    failures: list[BaseException] = []
    remaining = list(nodes)
    if not remaining:
        ended.set()

    def wake() -> None:
        for executor in executors:
            executor.create_task(lambda: None)
        abandon()

    def run(node: Any, executor: TolerantExecutor) -> None:
        try:
            node.run(lambda: executor.spin_once(timeout_sec=1.0), over.is_set)
        except BaseException as error:
            failures.append(error)
            if isinstance(error, RobodynError):
                print(f'error: {error}', file=sys.stderr)
            else:
                node.get_logger().fatal(traceback.format_exc())
            over.set()
        remaining.remove(node)
        if not remaining:
            ended.set()
    if len(nodes) == 1:
        with woken_by_signals(wake):
            run(nodes[0], executors[0])
    else:
        threads = [threading.Thread(target=run, args=each, name='executor')
                   for each in zip(nodes, executors)]
        for thread in threads:
            thread.start()
        # Not `over.wait`, which a signal handler that sets it could lock up
        while not over.is_set():
            time.sleep(POLL_PERIOD)
        wake()
        for thread in threads:
            thread.join()
    with middleware.farewell():
        for node, executor in zip(nodes, executors):
            executor.shutdown()
            node.destroy_node()
    return int(bool(code or failures))


def _abandon_compilation(nodes: Sequence[Any], ended: threading.Event) -> None:
    """
    End this process if its nodes do not end because code is compiled, while no arm is driven.

    Numba cannot be interrupted, and takes up to minutes.
    """
    if ended.wait(COMPILATION_GRACE):
        return
    while not ended.is_set():
        if (activity := second_process.activity()) and not loop_runs():
            print(f'interrupted while {activity}', file=sys.stderr, flush=True)
            with middleware.farewell():
                for node in nodes:
                    node.destroy_node()
            os._exit(0)
        ended.wait(POLL_PERIOD)

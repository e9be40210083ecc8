# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The floor of a round trip: a process that answers each joint state with its positions.

`python -m benchmarks.echo FOLDER reliable | best_effort [NAMESPACE]` becomes the program of
fastdds_echo.cpp, which it compiles into the folder unless it is there. Without a compiler or the
headers of Fast DDS it does the same with compiled functions of our own that call librcl; no Python
runs in either.
"""

from functools import cache
import hashlib
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robodyn_ros.compiler.jit import compile_callback, jitable
from robodyn_ros.dynamics.numba_types import array_at
from robodyn_ros.nodes.middleware.raw_subscription import LeftAlone, never_called
from robodyn_ros.realtime.native.io import (
    check_symbols, content, publish_message, sem_post, sem_trywait, take)
from robodyn_ros.realtime.native.loop import aligned_copy, CALLBACK, IO_MODULES, LoopMemory
from robodyn_ros.wire.codecs import EffortEncoder, JointStateEncoder
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from . import native
from .interleaved_timer import Missing
from .native import handles_at, io_at
from .plant import ARMS, NAMESPACE, ROBOT, robot

SOURCE = Path(__file__).with_name('fastdds_echo.cpp')
FLAGS = ('-std=c++17', '-O2', '-DNDEBUG')
DEPTH = 10
SECONDS = 300               # that compiling may take
HEADER = Path('fastdds', 'dds', 'domain', 'DomainParticipantFactory.hpp')
RELIABILITY = {'reliable': ReliabilityPolicy.RELIABLE,
               'best_effort': ReliabilityPolicy.BEST_EFFORT}

# One record, at an address that a thread of the middleware is given.
ECHO = np.dtype([
    ('handles', np.int64), ('loop_state', np.int64), ('numbers', np.int64),     # addresses
    ('begin', np.int64), ('size', np.int64),    # of the positions in a state [bytes]
])


# In C++

def program(folder: Path) -> Path:
    """
    Return the compiled program, from ``folder`` where it was compiled before.

    :raises Missing: no compiler, no headers of Fast DDS 3, or the two do not fit.
    """
    compiler, prefix = shutil.which('g++'), _prefix()
    if not compiler:
        raise Missing('there is no g++')
    if not prefix:
        raise Missing('there are no headers of Fast DDS 3')
    version = subprocess.run([compiler, '--version'], text=True, capture_output=True).stdout
    parts = SOURCE.read_text(), ' '.join(FLAGS), version, str(prefix)
    path = folder / f'fastdds_echo_{hashlib.sha256("".join(parts).encode()).hexdigest()[:16]}'
    if not path.exists():
        part = path.with_suffix('.part')
        done = subprocess.run(
            [compiler, *FLAGS, f'-I{prefix}/include', str(SOURCE), f'-L{prefix}/lib', '-lfastdds',
             '-lfastcdr', '-Wl,--allow-shlib-undefined', '-o', str(part)],
            text=True, capture_output=True, timeout=SECONDS)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if 'error' in line]
            raise Missing(f'g++ cannot compile it: {(errors or ["no reason given"])[0]}')
        part.replace(path)
    return path


def _prefix() -> Path | None:
    """Return the folder of the installation whose Fast DDS this environment loads."""
    for folder in os.environ.get('LD_LIBRARY_PATH', '').split(os.pathsep):
        prefix = Path(folder).parent
        if Path(folder, 'libfastdds.so').exists() and (prefix / 'include' / HEADER).exists():
            return prefix
    return None


# In compiled functions of our own

def echo(address, number):
    """Answer what has come in, in the thread that has brought it."""
    e = array_at(address, (1,), ECHO)[0]     # type: ignore[call-arg]
    io, semaphore = io_at(e), handles_at(e.handles).semaphore
    if sem_trywait(semaphore) != 0:         # another thread of the middleware takes this one too
        return
    numbers = array_at(e.numbers, (e.size,), np.uint8)   # type: ignore[call-arg]
    while take(io):
        b = content(io.message)
        if b.shape[0] >= e.begin + e.size:
            for i in range(e.size):
                numbers[i] = b[e.begin + i]
            publish_message(io)
    sem_post(semaphore)


@cache
def compiled_echo() -> Any:
    """Return :func:`echo` as machine code."""
    check_symbols()
    modules = (*IO_MODULES, jitable(native), jitable(sys.modules[__name__]))
    return compile_callback('echo', echo, CALLBACK, modules)


class NativeEcho:
    """The node of the echo that is not C++."""

    def __init__(self, reliability: ReliabilityPolicy, namespace: str):
        self._node = rclpy.create_node('echo', namespace=namespace)
        pose, names = np.array(ARMS[ROBOT].pose), robot().joint_names
        n = len(pose)
        state = JointStateEncoder(names).encode(0, pose, np.zeros(n), np.zeros(n))
        encoder = EffortEncoder(n)
        self._states = self._node.create_subscription(
            JointState, 'joint_states', never_called, QoSProfile(
                depth=DEPTH, reliability=reliability), raw=True, callback_group=LeftAlone())
        self._efforts = self._node.create_publisher(Float64MultiArray, 'commands', DEPTH)
        message, numbers = aligned_copy(encoder.message, encoder.numbers)
        self._memory = LoopMemory(self._states.handle, self._efforts.handle, message, numbers)
        self._echo = np.zeros(1, ECHO)
        for field, value in {
                'handles': self._memory.io.handles.ctypes.data,
                'loop_state': self._memory.io.loop_state.ctypes.data,
                'numbers': numbers.ctypes.data, 'size': numbers.nbytes,
                'begin': bytes(state).index(pose.tobytes())}.items():
            self._echo[field] = value

    def run(self) -> None:
        """Answer until SIGINT or SIGTERM."""
        self._memory.wake()
        self._memory.set_callback(compiled_echo().address, self._echo)
        try:
            signal.sigwait(_ENDS)
        finally:
            self._memory.set_callback(None)
            self._node.destroy_node()


_ENDS = {signal.SIGINT, signal.SIGTERM}


def main(folder: str, mode: str, namespace: str = NAMESPACE) -> None:
    """Be the echo until a signal."""
    try:
        path = program(Path(folder))
    except Missing as missing:
        print(f'echo without C++: {missing}', flush=True)
    else:
        os.execv(path, [str(path), namespace, mode])
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)     # in all threads, and waited for
    rclpy.init(args=[])
    NativeEcho(RELIABILITY[mode], namespace).run()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main(*sys.argv[1:])

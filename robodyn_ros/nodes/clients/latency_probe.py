# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Round-trip time of a joint state to another process and of its efforts back, through DDS.

`python -m robodyn_ros.nodes.clients.latency_probe` is the other process, which answers each
state with efforts until its standard input ends.
"""

import subprocess
import sys
import threading
from time import monotonic, monotonic_ns

import numpy as np
from numpy import ndarray
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ..middleware import qos
from ..middleware.middleware import lone_node
from ..middleware.raw_subscription import open_subscription
from ...errors import RobodynError
from ...realtime.periodic_timer import Grid, sharpen_timers
from ...wire.codecs import EffortEncoder, JointStateEncoder

JOINTS = 7
RATE = 1000.0                   # Hz
DISCOVERY_TIMEOUT = 30.0    # [s]
WARM_UP_STATES = 200    # not counted: discovery is not symmetric
ANSWER_TIMEOUT_NS = 10_000_000
STATES, EFFORTS = '/robodyn_round_trip/joint_states', '/robodyn_round_trip/commands'


def measure(seconds: float) -> tuple[ndarray, int]:
    """
    Publish states at 1 kHz for ``seconds``; return round trips (N,) [s] and the number lost.

    :raises RobodynError: the other process has ended, or is not discovered.
    """
    command = [sys.executable, '-m', __name__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as other, \
            lone_node('robodyn_round_trip_there') as node:
        try:
            return _measure(node, other, max(1, round(seconds * RATE)))
        finally:
            assert other.stdin is not None
            other.stdin.close()             # it ends by that


def _measure(node: Node, other: subprocess.Popen, n: int) -> tuple[ndarray, int]:
    encoder = JointStateEncoder([f'joint{i}' for i in range(JOINTS)])
    states = node.create_publisher(JointState, STATES, qos.STATES_OUT)
    efforts = open_subscription(node, Float64MultiArray, EFFORTS, qos.COMMANDS)
    zero, begin = np.zeros(JOINTS), monotonic()
    while not (states.get_subscription_count() and efforts.publisher_count()):
        if other.poll() is not None:
            said = (other.stderr.read() if other.stderr else '').strip().splitlines()
            raise RobodynError('the other process has ended', name='round_trip',
                               remedy=said[-1] if said else 'run it by itself to see why')
        if monotonic() > begin + DISCOVERY_TIMEOUT:
            raise RobodynError(f'the two processes found no connection in {DISCOVERY_TIMEOUT:g} s',
                               name='round_trip', remedy='see whether multicast, or the '
                               'discovery of your ROS middleware, works on this machine')
        efforts.wait(10_000_000)
    sharpen_timers()
    trips, lost, grid = [], 0, Grid(round(1e9 / RATE))
    for k in range(-WARM_UP_STATES, n):
        grid.wait()
        efforts.drain()
        sent = monotonic_ns()
        states.publish(encoder.encode(sent, zero, zero, zero))
        if efforts.wait(ANSWER_TIMEOUT_NS):
            trips.append(monotonic_ns() - sent)
        else:
            lost += k >= 0
    efforts.destroy()
    return np.array(trips[max(0, len(trips) + lost - n):]) * 1e-9, lost


def answer() -> None:
    """Answer states with efforts until the standard input ends."""
    over = threading.Event()

    def until_closed() -> None:
        sys.stdin.read()
        over.set()
    with lone_node('robodyn_round_trip_here') as node:
        threading.Thread(target=until_closed, daemon=True).start()
        states = open_subscription(node, JointState, STATES, qos.STATES_IN)
        efforts = node.create_publisher(Float64MultiArray, EFFORTS, qos.COMMANDS)
        encoder, zero = EffortEncoder(JOINTS), np.zeros(JOINTS)
        while not over.is_set():
            states.wait(100_000_000)
            for _ in states.drain():
                efforts.publish(encoder.encode(zero))
        states.destroy()


if __name__ == '__main__':
    answer()

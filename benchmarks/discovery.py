# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Time until a new node knows a publisher of another process: `python -m benchmarks.discovery`.

The publisher's process runs all the time. Beside it, processes with one node each start one after
the other, in turns with `rclpy.init` alone and with `robodyn_ros.nodes.middleware.start`. Times
are counted from the creation of the node.
"""

import argparse
from collections.abc import Sequence
import os
import subprocess
import sys
import time

import numpy as np
import rclpy
from robodyn_ros.nodes.middleware import middleware
from std_msgs.msg import Float64MultiArray

TOPIC = '/commands'
PATIENCE = 10.0         # s
LATE = 0.5              # s, ten times what discovery takes if no message is lost
WAYS = {'plain': rclpy.init, 'robodyn_ros': middleware.start}


def speak() -> None:
    """Publish nothing on TOPIC until the standard input ends."""
    rclpy.init()
    node = rclpy.create_node('speaker')
    node.create_publisher(Float64MultiArray, TOPIC, 1)
    print('there', flush=True)
    sys.stdin.read()


def listen(way: str) -> None:
    """Print how long a new node takes to know the publisher of TOPIC [s]."""
    WAYS[way]()
    node = rclpy.create_node('listener')
    begin = time.monotonic()
    while not node.count_publishers(TOPIC) and time.monotonic() < begin + PATIENCE:
        time.sleep(0.002)
    print(time.monotonic() - begin)
    node.destroy_node()
    rclpy.shutdown()


def main(args: Sequence[str] | None = None) -> None:
    """Print a table of both ways."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().partition('\n')[0])
    parser.add_argument('--starts', type=int, default=40, help='of each kind')
    parser.add_argument('--as', dest='role', choices=['speaker', *WAYS], help=argparse.SUPPRESS)
    given = parser.parse_args(args)
    if given.role == 'speaker':
        return speak()
    if given.role is not None:
        return listen(given.role)
    command = [sys.executable, '-m', __spec__.name, '--as']
    env = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST', **os.environ}
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    with subprocess.Popen([*command, 'speaker'], env=env, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as speaker:
        assert speaker.stdout is not None
        speaker.stdout.readline()
        for _ in range(given.starts):
            for way, measured in times.items():
                measured.append(float(subprocess.check_output([*command, way], env=env)))
    print(f'| {given.starts} starts each | median | longest | after {LATE:g} s |\n'
          '|---|---:|---:|---:|')
    for way, measured in times.items():
        print(f'| {way} | {np.median(measured):.2f} s | {max(measured):.2f} s | '
              f'{sum(t > LATE for t in measured)} |')


if __name__ == '__main__':
    main()

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Gravity compensation as tutorials of rclpy write a node: what ours is compared with.

`python -m benchmarks.tutorial callback | timer [--hog] [--late FILE]`. They compute the same as
our controller does, with the same compiled function; what differs is how they get states and give
efforts.
"""

import argparse
from pathlib import Path
import threading
import time

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from robodyn_ros import Dynamics
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from .plant import NAMESPACE, robot

RATE = 1000.0               # Hz, of the timer


class Gravity(Node):
    """Publishes g(q)."""

    def __init__(self) -> None:
        super().__init__('gravity', namespace=NAMESPACE)
        model = robot()
        self.names, self.tau = model.joint_names, np.zeros(model.nv)
        self.gravity = Dynamics(model, specialize=True).kernels.gravity
        self.efforts = self.create_publisher(Float64MultiArray, 'commands', 10)
        self.create_subscription(JointState, 'joint_states', self.on_state, 10)

    def on_state(self, message: JointState) -> None:
        """Answer the state."""
        self.answer(message)

    def answer(self, message: JointState) -> None:
        """Publish the efforts that belong to a state."""
        positions = dict(zip(message.name, message.position))
        self.gravity(np.array([positions[name] for name in self.names]), self.tau)
        self.efforts.publish(Float64MultiArray(data=self.tau.tolist()))


class Timer(Gravity):
    """Publishes it at a fixed rate, of the latest state."""

    def __init__(self) -> None:
        super().__init__()
        self.latest: JointState | None = None
        self.woke: list[tuple[int, int]] = []    # ns, and how much later than its point
        self.timer = self.create_timer(1.0 / RATE, self.on_timer)
        self.next = self.next_point()

    def next_point(self) -> int:
        """When the timer is due next [ns]."""
        left = self.timer.time_until_next_call()
        assert left is not None         # the timer is not cancelled
        return time.monotonic_ns() + left

    def on_state(self, message: JointState) -> None:
        """Keep it."""
        self.latest = message

    def on_timer(self) -> None:
        """Answer the latest state; take down how late this is."""
        now = time.monotonic_ns()
        self.woke.append((now, now - self.next))
        self.next = self.next_point()
        if self.latest is not None:
            self.answer(self.latest)


def hog() -> None:
    """Never let go of the interpreter."""
    while True:
        pass


def main() -> None:
    """Run a node until SIGINT."""
    words = argparse.ArgumentParser()
    words.add_argument('node', choices=('callback', 'timer'))
    words.add_argument('--hog', action='store_true', help='Beside a thread that always computes.')
    words.add_argument('--late', type=Path, help='File for when the timer woke, and how late.')
    asked = words.parse_args()
    rclpy.init(args=[])
    node = {'callback': Gravity, 'timer': Timer}[asked.node]()
    if asked.hog:
        threading.Thread(target=hog, daemon=True).start()
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except RuntimeError as error:       # what rclpy makes of a SIGINT while it takes a message
        print(error)
    if asked.late and isinstance(node, Timer):
        np.save(asked.late, np.array(node.woke) * 1e-9)
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()

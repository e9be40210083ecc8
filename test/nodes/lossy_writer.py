# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Publish samples over a network that goes down for a while, and print which ones arrive.

``python lossy_writer.py write``, in a network namespace of its own.
"""

import subprocess
import sys
import time

import rclpy
from rclpy.node import Node
from robodyn_ros.nodes.middleware import middleware, qos
from std_msgs.msg import Float64MultiArray

TOPIC, SAMPLES, LOST = '/lossy', 20, range(10, 13)


def ip(*command):
    subprocess.run(['ip', *command], check=True)


def hear():
    rclpy.init()
    node = Node('reader')
    node.create_subscription(Float64MultiArray, TOPIC,
                             lambda message: print(int(message.data[0]), flush=True), 10)
    rclpy.spin(node)


def publish():
    ip('link', 'set', 'lo', 'up')
    ip('link', 'set', 'lo', 'multicast', 'on')
    ip('route', 'add', '224.0.0.0/4', 'dev', 'lo')
    reader = subprocess.Popen([sys.executable, __file__])
    try:
        middleware.start()
        node = Node('writer')
        assert middleware.hears_answers(node)
        writer = node.create_publisher(Float64MultiArray, TOPIC, qos.COMMANDS)
        end = time.monotonic() + 30.0
        while not writer.get_subscription_count() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.5)
        for i in range(SAMPLES):
            if i in (LOST.start, LOST.stop):
                ip('link', 'set', 'lo', 'down' if i == LOST.start else 'up')
            writer.publish(Float64MultiArray(data=[float(i)]))
            time.sleep(0.02)
        assert writer.wait_for_all_acked(rclpy.duration.Duration(seconds=20))
        time.sleep(0.5)                 # until the reader has printed it
    finally:
        reader.kill()


if __name__ == '__main__':
    if len(sys.argv) > 1:
        publish()
    else:
        hear()

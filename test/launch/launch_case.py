# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Base of the launch tests: the skip without a ROS installation, diagnostics, waiting and services.

`python3 -m launch_testing.launch_test` gives a file no path to this one: each has it from
``__file__``.
"""

from importlib import import_module
import os
import time
import unittest

import pytest

DEADLINE = 120.0            # s


def need(name):
    """
    Return a module of `launch`, or skip the module that asks for it.

    :param name: not ``launch``: seen from the root of the repository that may be our own folder.
    :raises ImportError: it is missing although REQUIRE_LAUNCH=1 says that it has to be there.
    """
    try:
        return import_module(name)
    except ImportError as error:
        if os.environ.get('REQUIRE_LAUNCH') == '1':
            raise
        pytest.skip(f'launch tests need a ROS installation: {error}', allow_module_level=True)


def compile_ahead():
    """Compile, or load, what every controller needs: the deadlines are those of a later start."""
    from robodyn_ros.control.cycle.compile import compiled
    from robodyn_ros.realtime.native.loop import compiled_loop
    from robodyn_ros.wire.compile import compiled_decoders
    compiled_decoders()
    compiled()
    for trigger in ('timer', 'state'):
        compiled_loop(trigger)


class LaunchCase(unittest.TestCase):
    """
    Test beside running nodes, with a node of its own.

    :ivar node: of rclpy; ``reports``: the last report on the control loop of each controller, by
        namespace without slashes.
    """

    def setUp(self):
        from diagnostic_msgs.msg import DiagnosticArray
        import rclpy
        rclpy.init()
        self.node, self.reports = rclpy.create_node('launch_test'), {}
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_report, 10)

    def tearDown(self):
        import rclpy
        self.node.destroy_node()
        rclpy.shutdown()

    def _on_report(self, message):
        for status in message.status:
            namespace, _, name = status.name.rpartition('/')
            if name == 'controller: control loop':
                self.reports[namespace] = {pair.key: pair.value for pair in status.values}

    def phase(self, namespace):
        """Return the phase of the last report, None before the first one."""
        return self.reports.get(namespace, {}).get('phase')

    def until(self, condition, what):
        """Spin the node until a condition holds; fail, and name ``what``, after DEADLINE."""
        import rclpy
        end = time.monotonic() + DEADLINE
        while not condition():
            self.assertLess(time.monotonic(), end, f'{what}; the reports: {self.reports}')
            rclpy.spin_once(self.node, timeout_sec=0.1)

    def call(self, kind, name, request):
        """Return the answer of a service."""
        client = self.node.create_client(kind, name)
        self.until(client.service_is_ready, name)
        answer = client.call_async(request)
        self.until(answer.done, name)
        return answer.result()

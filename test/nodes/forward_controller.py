# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Stand-in for ros2_control between controller and simulated drives, for tests of hand-overs.

It behaves as forward_command_controller does, as far as a hand-over can tell (read in the sources
of 2026): it subscribes when it is configured, so that an inactive one counts as a listener; an
activated one knows no command until the next comes; commands that are not finite are dropped, and
one of another length is an error, after which the manager deactivates the controller; the last one
stays in force without a timeout, and after deactivation the drive keeps it until another
controller writes. Beside it there is a controller that holds a position, as
joint_trajectory_controller does, and the manager that switches between them, strictly.
"""

import threading

import numpy as np
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from robodyn_ros import Dynamics
from robodyn_ros.nodes.middleware import qos
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

FORWARDER, HOLDER = 'forward_effort_controller', 'joint_trajectory_controller'
STIFFNESS, DAMPING = 100.0, 20.0        # 1/s², 1/s


class ForwardController:
    """
    Both controllers and their manager on one machine's loop: one effort for each joint state.

    :param drives: topic of the simulated drives; ``active``: the controller that begins.
    """

    def __init__(self, model, drives='/drives', active=HOLDER):
        self._context = Context()
        self._context.init()
        self.node = Node(FORWARDER, context=self._context)
        self.manager = Node('controller_manager', context=self._context)
        self._model, self._dynamics = model, Dynamics(model)
        self.node.declare_parameter('joints', list(model.joint_names))
        self.node.declare_parameter('interface_name', 'effort')
        self.active, self._held = {active}, None
        self.command, self.effort = None, np.zeros(model.nv)
        self.switches, self.dropped, self.interface = [], 0, 'effort'
        self._drives = self.node.create_publisher(Float64MultiArray, drives, qos.COMMANDS)
        self.node.create_subscription(Float64MultiArray, '~/commands', self._on_command, 10)
        self.node.create_subscription(JointState, '/joint_states', self._on_state, qos.STATES_IN)
        self._executor = SingleThreadedExecutor(context=self._context)
        for node in (self.node, self.manager):
            self._executor.add_node(node)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)

    def start(self):
        self._thread.start()
        return self

    def close(self):
        self._executor.shutdown()
        self._thread.join()
        for node in (self.node, self.manager):
            node.destroy_node()
        self._context.shutdown()

    def serve(self, services):
        """Serve states and switch; ``services``: module controller_manager_msgs.srv."""
        def switch(request, response):
            response.ok, response.message = self.switch(
                request.activate_controllers, request.deactivate_controllers)
            return response

        def states(request, response):
            for name in (FORWARDER, HOLDER):
                response.controller.append(state := ControllerState(
                    name=name, state='active' if name in self.active else 'inactive'))
                state.required_command_interfaces = [
                    f'{joint}/{self.interface}' for joint in self._model.joint_names]
            return response
        from controller_manager_msgs.msg import ControllerState
        self.manager.create_service(services.SwitchController, '~/switch_controller', switch)
        self.manager.create_service(services.ListControllers, '~/list_controllers', states)

    def switch(self, activate, deactivate):
        """Switch strictly: all of it or nothing."""
        self.switches.append((list(activate), list(deactivate)))
        for name in (*activate, *deactivate):
            if name not in (FORWARDER, HOLDER):
                return False, f'Could not find controller {name}'
        if not set(deactivate) <= self.active or set(activate) & self.active:
            return False, 'already in this state'
        after = (self.active - set(deactivate)) | set(activate)
        if len(after) > 1:
            return False, 'resources are claimed by another controller'
        if FORWARDER in activate:
            self.command = None
        if HOLDER in activate:
            self._held = None
        self.active = after
        return True, ''

    def _on_command(self, message):
        values = np.array(message.data)
        if not np.isfinite(values).all():
            self.dropped += 1
        else:
            self.command = values           # an inactive one is told, too

    def _on_state(self, message):
        q, qd = np.array(message.position), np.array(message.velocity)
        if FORWARDER in self.active and self.command is not None:
            if len(self.command) == self._model.nv:
                self.effort = self.command
            else:
                self.active.remove(FORWARDER)
        elif HOLDER in self.active:
            self._held = q if self._held is None else self._held
            self.effort = self._dynamics.inverse_dynamics(
                q, qd, STIFFNESS * (self._held - q) - DAMPING * qd)
        self._drives.publish(Float64MultiArray(data=self.effort.tolist()))

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Topics of a configured controller node, and the control loop between them."""

from contextlib import suppress
from typing import Any

from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from std_msgs.msg import Float64MultiArray

from ..control import guard
from ..control.controller import Controller
from ..realtime.loop_counters import Tally
from ..realtime.scheduling import Scheduling
from ..realtime.timing_log import LONGEST
from ..wire.joint_state import JointStateDecoder
from . import command_forwarder, qos, transport
from .command_publishers import CommandPublishers
from .control_loop import ControlLoop
from .external_effort_publisher import ExternalEffortPublisher
from .fastdds_profile import suppress_timer
from .raw_subscription import RCLError
from .reference_publisher import ReferencePublisher
from .simulation_clock import SimulationClock
from .stop_topics import StopTopics

LAST_MESSAGE = Duration(seconds=2.0)     # until all subscribers have acknowledged it, at most
DRIVEN = guard.RISING, guard.RUNNING, guard.STOPPING


class ControllerTopics:
    """
    Joint states, commands, `/clock` and stop topics of a controller, with its control loop.

    :param p: parameters of the node.
    :param scheduling: of the control thread.
    """

    def __init__(self, node: LifecycleNode, p: dict[str, Any], controller: Controller,
                 decoder: JointStateDecoder, scheduling: Scheduling):
        self._node = node
        self._external = ExternalEffortPublisher(
            node, controller, p['external_effort_rate'], p['external_wrench_frame'])
        self._reference = ReferencePublisher(node, controller, p['external_effort_rate'])
        suppress_timer(node.resolve_topic_name('commands'))
        self._commands = node.create_publisher(Float64MultiArray, 'commands', qos.COMMANDS)
        sim_time = node.get_parameter('use_sim_time').value
        self._clock = SimulationClock(node) if sim_time else None
        spin = p['spin'] if p['trigger'] == 'timer' else 0.0
        tally = Tally(decoder.state['sequence'], *([LONGEST] if p['timing_file'] else []))
        path = transport.open_transport(
            p['data_path'], node, controller, decoder, self._commands, self._clock, tally,
            trigger=p['trigger'], spin=spin)
        self._states = path.states
        #: Monitor of other publishers of the commands.
        self.command_publishers = CommandPublishers(node, self._commands, controller.cycle_input)
        #: The control loop, not started yet.
        self.loop = ControlLoop(
            controller, decoder, path, self._commands.publish,
            self._commands.get_subscription_count, tally,
            ros_time=self._clock.now if self._clock else None, scheduling=scheduling, spin=spin)
        #: Heartbeat and emergency stop.
        self.stop_topics = StopTopics(
            node, controller.cycle_input, lambda: controller.phase in DRIVEN,
            heartbeat_timeout=p['heartbeat_timeout'], emergency_stop=p['emergency_stop'])

    def forwarder_refusal(self) -> str:
        """Return why the commands must not be sent to who listens, '' if they may."""
        self.command_publishers.wait()          # by then listeners have been discovered too
        return command_forwarder.refusal(self._node, self._commands.topic_name,
                                         self.loop.controller.model.joint_names)

    def close(self) -> None:
        """Close all topics, after the loop has been stopped."""
        self.stop_topics.close()
        self._external.close()
        self._reference.close()
        self._states.destroy()
        if self._clock is not None:
            self._clock.destroy()
        # A message that is not acknowledged yet would be lost with its publisher
        with suppress(RCLError):                # not every middleware implements it
            self._commands.wait_for_all_acked(LAST_MESSAGE)
        self._node.destroy_publisher(self._commands)

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Topics of a configured controller node, and the control loop between them."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from .control_loop import ControlLoop
from .forward_controller import open_switch
from . import forward_controller, transport
from .telemetry import ExternalEffortPublisher, TelemetryPublisher
from .transport import DriverStates, QUEUE_DEPTH
from ..middleware import qos
from ..middleware.middleware import hears_answers
from ..middleware.raw_subscription import RCLError, SimulationClock
from ..topics.array_topics import ArraySubscriber, CouplingTopics, follow_policy
from ..topics.publishers import CommandPublishers, discovery_end, several, unmatched_subscribers
from ..topics.stop_topics import GuidingTopic, StopTopics
from ..topics.tool_topics import PayloadSubscriber, PoseSubscriber
from ..topics.trajectory_action import serve_trajectories
from ..topics.trajectory_subscriber import TrajectorySubscriber
from ...control.controller.controller import Controller
from ...control.steps import guard
from ...driver import Driver, DriverReader
from ...realtime.loop_settings import LoopSettings
from ...realtime.statistics import MAX_CYCLES, Tally
from ...wire.codecs import JointStateDecoder


class ReferenceTopics:
    """
    Subscriptions of trajectories, policies, poses, of the state of a partner, and of payloads.

    :param node: the controller node.
    :param active: returns the loop while the node is active; ``configured``: while it is
        configured, for payloads.
    :param reason: returns the reason of the present fault in words.
    :ivar trajectories: the subscriber of trajectories, for the diagnostics.
    """

    def __init__(self, node: Any, active: Callable[[], ControlLoop | None],
                 configured: Callable[[], ControlLoop | None], reason: Callable[[], str]):
        self.trajectories = TrajectorySubscriber(node, active)
        self._others = [ArraySubscriber(node, active, '~/policy', 'policy', follow_policy),
                        PoseSubscriber(node, active),
                        PayloadSubscriber(node, lambda: loop.controller
                                          if (loop := configured()) else None)]
        self._configured, self._parameters = configured, node.parameters
        self._coupling = CouplingTopics(node, active)
        self._goals = serve_trajectories(node, self.trajectories, reason)

    def update_coupling(self) -> None:
        """Publish to the partner while the present law couples arms."""
        loop = self._configured()
        couples = loop is not None and loop.controller.couples
        self._coupling.update(self._parameters['coupling_rate'] if couples else 0.0)

    def end_goals(self, why: str) -> None:
        """Abort the active goals of the action."""
        if self._goals is not None:
            self._goals.end(why)

    def destroy(self) -> None:
        """Close the action."""
        if self._goals is not None:
            self._goals.destroy()


ACKNOWLEDGE_TIMEOUT = Duration(seconds=2.0)    # of the last message
DRIVING_PHASES = guard.RISING, guard.RUNNING, guard.STOPPING


class CommandTopic:
    """
    Publisher of the commands.

    :param since: when the node began to discover others, on the steady clock [s].
    :param discovery_time: parameter of the node [s].
    """

    def __init__(self, node: LifecycleNode, since: float, discovery_time: float):
        self._node = node
        self.publisher = node.create_publisher(Float64MultiArray, 'commands', qos.COMMANDS)
        #: When others must have been discovered.
        self.known = discovery_end(since, discovery_time, hears_answers(node))

    def close(self) -> None:
        """Destroy the publisher once its last message is acknowledged, or it would be lost."""
        with suppress(RCLError):                # not every middleware implements it
            self.publisher.wait_for_all_acked(ACKNOWLEDGE_TIMEOUT)
        self._node.destroy_publisher(self.publisher)


class ControllerTopics:
    """
    Joint states, commands, `/clock` and stop topics of a controller, with its control loop.

    :param p: parameters of the node; ``settings``: those of the loop.
    :param commands: closed with the others.
    :param driver: reads states and writes efforts in place of the topics; None: the topics.
    """

    def __init__(self, node: LifecycleNode, p: dict[str, Any], settings: LoopSettings,
                 controller: Controller, decoder: JointStateDecoder, commands: CommandTopic,
                 driver: Driver | None):
        self._node, self._command_topic, self._commands = node, commands, commands.publisher
        self._controller = controller
        self._shown: Publisher | None = None        # of joint states, where a driver reads them
        self._external = ExternalEffortPublisher(
            node, controller, p['external_effort_rate'], p['external_wrench_frame'])
        sim_time = node.get_parameter('use_sim_time').value
        self._telemetry = TelemetryPublisher(node, controller, p['telemetry_rate'],
                                             sim_time=sim_time)
        #: Hand-over to the forward controller of ros2_control.
        self.switch = open_switch(node, p, self._commands.topic_name)
        self._clock = SimulationClock(node) if sim_time else None
        tally = Tally(decoder.state['sequence'], *([MAX_CYCLES] if p['timing_file'] else []))
        #: Heartbeat and emergency stop.
        self.stop_topics = StopTopics(
            node, controller.cycle_input, lambda: controller.phase in DRIVING_PHASES,
            heartbeat_timeout=p['heartbeat_timeout'], emergency_stop=p['emergency_stop'])
        #: What a driver says of itself, once a second, see :meth:`.DriverReader.diagnostics`.
        self.drives: Callable[[], dict[str, object]] = dict
        publish: Callable[[bytes], None] = self._commands.publish
        listeners = self._commands.get_subscription_count
        if driver is None:
            path = transport.open_transport(settings, node, controller, decoder, tally,
                                            self._commands, self._clock)
        else:
            self._shown = node.create_publisher(JointState, 'joint_states', qos.STATES_OUT)
            reader = DriverReader(driver, controller, QUEUE_DEPTH, node.get_logger().error,
                                  self._on_drive_fault)
            states, self.drives = DriverStates(reader, decoder.joint_names, self._shown,
                                               self._commands), reader.diagnostics
            path = transport.DataPath('driver', states)
            publish, listeners = states.write, lambda: 1    # the driver itself
        self._states = path.states
        #: Monitor of other publishers of the commands.
        self.command_publishers = CommandPublishers(
            node, self._commands, commands.known, controller.cycle_input)
        #: The control loop, not started yet.
        self.loop = ControlLoop(
            settings, controller, decoder, tally, path, publish, listeners,
            self._clock.now if self._clock else None)
        self._guiding = GuidingTopic(
            node, lambda: controller.settings.guiding_timeout,
            lambda: float(controller.memory['time'][0]), controller.guide)

    def _on_drive_fault(self, words: str) -> None:
        if words:
            self._controller.drive_fault = words
        self.stop_topics.report(guard.DRIVE_FAULT, words)

    def begin(self) -> None:
        """Prepare to arm; return the time by which other nodes are discovered."""
        self.switch.begin(self._controller)
        self.report_switch()
        self.command_publishers.wait()

    def subscriber_refusal(self, over: Callable[[], bool]) -> str | None:
        """
        Return why commands must not be sent, '' if they may be, None without subscriber.

        :param over: returns whether to stop waiting for answers.
        """
        if self._shown is not None:
            return ''                           # a driver accepts all commands
        if not self._commands.get_subscription_count():
            return None
        return self.switch.ask(over) or forward_controller.forwarding_refusal(
            self._node, self._commands.topic_name, self.loop.controller.model.joint_names,
            self.switch.interfaces, over)

    def detail(self, code: int) -> str:
        """Return which nodes are the cause of a reason code, or what is known of it, or ''."""
        if code in (guard.NO_REASON, guard.NO_STATE):       # not enough states yet
            no_time = self._clock is not None and not self._clock.subscription.publisher_count()
            return ('/clock has no publisher: start the simulation, or set use_sim_time to '
                    'false') if no_time else ''
        if code == guard.OTHER_COMMANDS:
            return self.command_publishers.others
        if code == guard.TWO_STATE_PUBLISHERS:
            return several(self._node, self._node.resolve_topic_name('joint_states'),
                           'joint_states')
        if code == guard.DRIVE_FAULT:           # the controller's sentence has it
            return ''
        if (known := self.stop_topics.detail(code)) or code != guard.NOBODY_LISTENS:
            return known
        return unmatched_subscribers(self._node, self._commands.topic_name)

    def look(self) -> None:
        """Check the subscribers periodically, and whether the commands reach the drives."""
        self._external.look()
        self._telemetry.look()
        self.switch.look()
        self.report_switch()

    def report_switch(self) -> None:
        """Have the guard stop the arm if the commands do not reach the drives."""
        self.stop_topics.report(guard.NOBODY_LISTENS, self.switch.trouble)

    def close(self) -> None:
        """Close all topics, after the loop has been stopped."""
        self.stop_topics.close()
        self._guiding.close()
        self._external.close()
        self._telemetry.close()
        self.switch.close()
        self._states.destroy()
        if self._clock is not None:
            self._clock.destroy()
        self._command_topic.close()
        if self._shown is not None:
            self._node.destroy_publisher(self._shown)

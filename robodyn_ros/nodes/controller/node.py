# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The lifecycle node between joint states and effort commands, see :mod:`.controller`."""

from collections.abc import Callable
from contextlib import ExitStack
from math import inf
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter as RosParameter

from .arming import Answer, ARMED, Arming, Autostart, REFUSAL_DURATION, ResetService, wait_for_rest
from .control_loop import ControlLoop
from .flight_recorder import TimingFile
from .forward_controller import check_switch
from . import robot, transport
from .opened_topics import CommandTopic, ControllerTopics, ReferenceTopics
from .parameters import driver_of, LiveSettings, settings, TABLE
from .reports import ControllerReports
from .robot import RobotDescription
from .telemetry import check_frame
from ..middleware import middleware, node_main
from ..middleware.executor import ChangeMonitor
from ..middleware.parameter_files import check_gravity_given
from ..middleware.parameters import Parameters
from ..topics.publishers import IncompatiblePublishers
from ...control.controller.controller import Controller
from ...control.cycle.compile import begin as begin_compilation, is_compiled
from ...control.steps import guard
from ...driver import Driver, DriverFacts, facts_of
from ...driver_loop import known, with_facts
from ...errors import RobodynError
from ...model.robot import RobotModel
from ...realtime.loop_settings import LoopSettings
from ...wire.codecs import JointStateDecoder
from ...wire.compile import compiled_joint_state

LOG_POLL_PERIOD = 0.05    # [s]
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class ControllerNode(LifecycleNode):
    """
    Lifecycle node of the controller.

    Configuring reads the robot and compiles its control cycle, activating arms it, deactivating
    brings it to rest. The control thread lives while the node is active; the executor only serves
    parameters, services, trajectories and reports.

    :param namespace: of the node; None: as the arguments of ROS say.
    """

    references: ReferenceTopics

    def __init__(self, namespace: str | None = None):
        # Start the slowest compilation in parallel
        begin_compilation()
        super().__init__('controller', namespace=namespace)
        self._discovering_since = middleware.discovering_since(self)
        self.topics: ControllerTopics | None = None     # while the node is configured
        self.active = False         # armed, and not deactivated since
        self.trouble = ''           # why configuring or activating failed, '' if it did not
        self._over: Callable[[], bool] = lambda: False
        self._answer, self._waits_for_robot = ARMED, False
        self._was_configured = False
        self._timing_file = TimingFile()
        self.parameters = Parameters(self, TABLE)
        LiveSettings(self.parameters, lambda: self.loop, self.resolve_topic_name('commands'),
                     lambda: self.references.update_coupling(), self.get_logger().warning)
        self.parameters.warn_of_unread()        # gains of the law are declared by now
        self.description = RobotDescription(self)
        self.reports = ControllerReports(self)
        self._incompatible_publishers = IncompatiblePublishers(self)
        # On the steady clock, so that reports go on in a paused simulation; all of them in one
        # timer, because each turn of the executor takes more than a millisecond
        self.create_timer(1.0, self._report, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._reset = ResetService(self, self._begin_reset, self._end_reset)
        self._changes = ChangeMonitor(self, LOG_POLL_PERIOD, self._poll, self._on_changes)
        self.references = ReferenceTopics(self, lambda: self.loop if self.active else None,
                                          lambda: self.loop, self.reports.reason)
        self._autostart = Autostart(self, lambda: self.loop is not None,
                                    lambda: self._waits_for_robot, lambda: self._answer)
        if not self.parameters['autostart']:
            self._autostart.end()

    @property
    def loop(self) -> ControlLoop | None:
        """Control loop while the node is configured."""
        return None if (topics := self.topics) is None else topics.loop

    # Lifecycle

    @node_main.log_exceptions
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the robot, compile its control cycle, open the topics; publish nothing yet."""
        self._autostart.transition_begins()
        p = self.parameters.values()
        if is_compiled():
            compiled_joint_state()  # for any robot: while its description is on its way
        with ExitStack() as opened:
            try:
                wanted = LoopSettings.of(p)
                model = robot.controlled(p, self.description.chosen(p, self._over))
                commands, controller, decoder, driver = self._prepare(p, wanted, model, opened)
            except RobodynError as error:
                self.get_logger().error(str(error))
                self._waits_for_robot = error.name == 'robot_description'
                self.trouble = str(error)
                return FAILURE
            self.reports.robot(model)
            self.topics = ControllerTopics(self, p, wanted, controller, decoder, commands, driver)
            opened.pop_all()
        self.trouble = ''
        node_main.freeze_garbage(everything=self._was_configured)
        self._was_configured = True
        self.reports.configured(self.topics.loop)
        self.references.update_coupling()
        return SUCCESS

    @node_main.log_exceptions
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Arm and rise; log and remember the reason of a refusal."""
        assert self.loop is not None and self.topics is not None
        self._autostart.transition_begins()
        self.reports.begin()
        self.loop.start()
        for refusal in self.loop.scheduling.refused:
            self.get_logger().warning(refusal)
        self.get_logger().info(f'control thread: {self.loop.scheduling}')
        self._answer = self._begin_arming(inf).wait()
        if not self._answer.refusal:
            self._answer = Answer(self._take_over())
        if not self._answer.refusal:
            self.active, self.trouble = True, ''
            self._autostart.end()
            return SUCCESS
        self._stop_loop()
        self.trouble = self._answer.refusal
        self.get_logger().error(f'not activated: {self.trouble}')
        return FAILURE

    @node_main.log_exceptions
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Come to rest, publish the last message, end the control thread."""
        self._autostart.end()
        self._stop_loop()
        return SUCCESS

    @node_main.log_exceptions
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the topics and forget the robot."""
        self._autostart.end()
        self._close()
        return SUCCESS

    @node_main.log_exceptions
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Come to rest, close the topics and forget the robot."""
        self._autostart.end()
        return self.on_error(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Return to unconfigured after an exception in a transition, with the arm at rest."""
        self._stop_loop()
        self._close()
        return SUCCESS

    def run(self, spin: Callable[[], None], over: Callable[[], bool]) -> None:
        """Call ``spin`` until ``over()``; then bring the arm to rest in any lifecycle state."""
        self._over = over
        try:
            while not over():
                spin()
        finally:
            self._changes.close()
            self._stop_loop()
            self.references.destroy()
            self._close()
            self.description.destroy()

    # Robot and topics

    def _prepare(
            self, p: dict[str, Any], wanted: LoopSettings, model: RobotModel, opened: ExitStack
            ) -> tuple[CommandTopic, Controller, JointStateDecoder, Driver | None]:
        """
        Check the parameters against the robot, and make what the topics are made of.

        Others discover the commands while machine code is loaded.

        :param opened: ends what has been opened, should configuring fail.
        :raises RobodynError: naming what is refused.
        """
        decoder, commands = JointStateDecoder(model.joint_names), list[CommandTopic]()

        driver = driver_of(p, settings(p).with_rotors(model),
                           self.get_parameter('use_sim_time').value)
        if driver is not None:
            opened.callback(driver.close)
            model = self._agree(p, model, facts_of(driver))

        def accepted() -> None:
            check_gravity_given(self.parameters.given, model.name)
            check_frame(model, p['external_wrench_frame'])
            robot.named_poses(p['poses'], model)
            check_switch(p, self.resolve_topic_name('commands'))
            opened.callback(self._timing_file.release)
            self._timing_file.claim(p['timing_file'])
            commands.append(CommandTopic(self, self._discovering_since, p['discovery_time']))
            opened.callback(commands[0].close)
            if driver is None:
                transport.compile_loop_ahead(wanted)
        controller = Controller(model, settings(p), decoder.state, specialize=p['specialize'],
                                checked=accepted, recorded=self.reports.recorded_cycles(model.nv))
        return commands[0], controller, decoder, driver

    def _agree(self, p: dict[str, Any], model: RobotModel, facts: DriverFacts) -> RobotModel:
        """Return the model with limits and rotors of a driver; write to p what else it knows."""
        model, agreed = with_facts(facts, model, settings(p), self.parameters.given)
        for name, fact in {**known(facts),
                           'motor_test_effort': agreed.motor_test_effort}.items():
            result, = self.set_parameters([RosParameter(name, value=fact)])
            assert result.successful, result.reason     # as long as the node is not configured
            p[name] = fact
        if told := str(facts):
            self.get_logger().info(f'the driver states: {told}')
        return model

    def _close(self) -> None:
        """Close the topics, and forget robot and loop."""
        self.reports.join()
        self._timing_file.release()
        if (topics := self.topics) is not None:
            self.topics = None
            topics.close()
            self.references.update_coupling()

    # Arming and stopping

    def _begin_arming(self, standing: float) -> Arming:
        assert self.topics is not None
        self.get_logger().info('arming')
        self.topics.begin()
        return Arming(self.topics.loop, self.parameters['arming_timeout'], standing,
                      self.reports.sentence, self.topics.subscriber_refusal, self._over)

    def _take_over(self) -> str:
        """Activate the forward controller, if configured; return a refusal or ''."""
        if self.topics is None:
            return 'the controller has been cleaned up meanwhile'
        return self.topics.switch.take_over(self.topics.loop.controller,
                                            self.parameters['arming_timeout'], self._over)

    def _begin_reset(self) -> Arming | str:
        if not self.active or self.loop is None or self.loop.controller.phase != guard.FAULT:
            return 'there is no fault to reset'
        self.reports.record_fault(at_once=True)     # arming may outlast the ring
        return self._begin_arming(REFUSAL_DURATION)

    def _end_reset(self) -> str:
        refusal = self._take_over()
        if self.topics is not None:
            self.topics.report_switch()     # a fault: the arm stays active
        return refusal

    def _stop_loop(self) -> None:
        """Bring the arm to rest, for a bounded time, and end the control thread."""
        self.references.end_goals('the controller is being deactivated')
        if self.loop is None or not self.loop.running and not self.active:
            return
        loop = self.loop
        self._reset.cancel('the controller is being deactivated')
        loop.controller.stop()
        self.reports.record_fault(at_once=True)     # stopping may outlast the ring
        wait_for_rest(loop)
        if self.topics is not None and loop.controller.phase == guard.INACTIVE:
            self.topics.switch.hand_back()
        if self.active:
            self._timing_file.write(loop, self.get_logger())
        self.active = False
        self._on_changes()
        self.reports.record_fault(at_once=True)

    # Periodic work

    def _poll(self) -> bool:
        """Do what must not wait for the executor; return whether there is something to log."""
        if (topics := self.topics) is None:
            return False
        topics.command_publishers.look()
        topics.loop.look_for_state_publishers()
        if (executor := self.executor) is not None:
            self._reset.poll(executor)
        return self.reports.pending()

    def _report(self) -> None:
        self._on_changes()
        if self.topics is not None:
            self.topics.look()
        self.references.trajectories.look()
        self._incompatible_publishers.look()
        self.reports.publish_diagnostics()      # of what was found just now, not a second ago

    def _on_changes(self) -> None:
        self.reports.log_changes()
        if self.active and self.loop and not self.loop.running:
            self.get_logger().fatal('the control thread failed; zero was its last message')
            self.trigger_deactivate()

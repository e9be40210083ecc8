# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller: a lifecycle node between joint states and effort commands."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from std_msgs.msg import Float64MultiArray

from ..control import guard
from ..control.controller import Controller
from ..errors import RobodynError
from ..model.robot import RobotModel
from ..realtime.recording import LONGEST
from ..realtime.tally import Tally
from ..wire.joint_state import JointStateDecoder
from . import data_path, diagnostics, gravity_choice, process, qos, robot, timing_file
from .arming import ARMED, STANDING, Answer, Arming, Autostart, ResetService
from .command_publishers import CommandPublishers
from .control_loop import ControlLoop
from .controller_parameters import TABLE, scheduling, settings, thresholds
from .description import RobotDescription
from .flight_recorder import FlightRecorder
from .parameters import Parameters
from .references import References
from .serialized import RCLError
from .simulation_clock import SimulationClock
from .stop_topics import StopTopics
from .watch import Watch

LOOK = 0.05             # s between two looks at whether there is something to log
LAST_WORD = Duration(seconds=2.0)        # until everybody has heard it, at most
DRIVEN = guard.RISING, guard.RUNNING, guard.STOPPING
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class ControllerNode(LifecycleNode):
    """
    configure reads the robot and compiles, activate arms and rises, deactivate comes to rest.

    The control thread lives while the node is active; the executor only serves parameters,
    services, references and diagnostics.
    """

    def __init__(self):
        super().__init__('controller')
        self.parameters = Parameters(self, TABLE)
        self.parameters.fixed = lambda: self.loop is not None
        self.parameters.accept = self._check
        self.parameters.changed = self._apply
        self.loop: ControlLoop | None = None
        self._waits_for_robot, self._trouble = False, ''
        self._active = False
        self._over: Callable[[], bool] = lambda: False
        self._seen: tuple[int, frozenset[str]] = guard.INACTIVE, frozenset()
        self._unheard = False
        self._description, self._described = RobotDescription(self), ''
        self._report = diagnostics.Report(self)
        self._recorder = FlightRecorder(self)
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)    # a paused simulation is told of too
        self.create_timer(1.0, self._each_second, clock=steady)
        self._reset = ResetService(self, self._begin_reset)
        self._watch = Watch(self, LOOK, self._look, self._log_changes)
        self.references = References(self, lambda: self.loop if self._active else None)
        self._answer = ARMED
        self._autostart = Autostart(
            self, lambda: self.loop is not None, lambda: self._waits_for_robot,
            lambda: self._answer) if self.parameters['autostart'] else None

    # Lifecycle

    @process.told
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the robot, compile its cycle, open the topics; nothing is published yet."""
        p = self.parameters.values()
        try:
            wanted = scheduling(p)
            model = self._load_model(p)
            decoder = JointStateDecoder(model.joint_names)
            controller = Controller(
                model, settings(p), decoder.state, specialize=p['specialize'],
                recorded=self._recorder.cycles(p['flight_recorder'], p['rate'], model.nv))
            gravity_choice.check_given(self.parameters.given, model.name)
        except RobodynError as error:
            self.get_logger().error(str(error))
            self._waits_for_robot = error.name == 'robot_description'
            self._trouble = str(error)
            return FAILURE
        self._report.robot = model.name
        for warning in model.warnings:
            self.get_logger().warning(warning)
        self._commands = self.create_publisher(Float64MultiArray, 'commands', qos.COMMANDS)
        sim_time = self.get_parameter('use_sim_time').value
        self._simulation_clock = SimulationClock(self) if sim_time else None
        spin = p['spin'] if p['trigger'] == 'timer' else 0.0
        tally = Tally(decoder.state['sequence'], *([LONGEST] if p['timing_file'] else []))
        path = data_path.reach(p['data_path'], self, controller, decoder, self._commands,
                               self._simulation_clock, tally, trigger=p['trigger'], spin=spin)
        self._states = path.states
        self.loop = ControlLoop(
            controller, decoder, path, self._commands.publish,
            self._commands.get_subscription_count, tally,
            ros_time=self._simulation_clock.now if self._simulation_clock else None,
            scheduling=wanted, spin=spin)
        self._command_publishers = CommandPublishers(self, self._commands, controller.outside)
        self._stops = StopTopics(
            self, controller.outside, lambda: controller.phase in DRIVEN,
            heartbeat_timeout=p['heartbeat_timeout'], emergency_stop=p['emergency_stop'])
        self._trouble = ''
        process.freeze_garbage()
        self.get_logger().info(
            f'configured: {model.name}, {model.nv} joints ({", ".join(model.joint_names)}), '
            f'{p["mode"]}, {p["rate"]:g} Hz, trigger {path.trigger}, '
            f'data path {path.name}')
        self.get_logger().info(gravity_choice.sentence(p['robot_compensates_gravity']))
        return SUCCESS

    @process.told
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Arm and rise; a refusal names what stands against it."""
        assert self.loop is not None
        self._recorder.begin()
        self.loop.start()
        for refusal in self.loop.scheduling.refused:
            self.get_logger().warning(refusal)
        self.get_logger().info(f'control thread: {self.loop.scheduling}')
        self._answer = self._arm()
        if not self._answer.refusal:
            self._active, self._trouble = True, ''
            self._end_autostart()
            return SUCCESS
        self._halt()
        self._trouble = self._answer.refusal
        self.get_logger().error(f'not activated: {self._trouble}')
        return FAILURE

    @process.told
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Come to rest, say the last word, end the control thread."""
        self._end_autostart()
        self._halt()
        return SUCCESS

    @process.told
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the robot."""
        self._end_autostart()
        self._close()
        return SUCCESS

    @process.told
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Come to rest and forget the robot."""
        self._end_autostart()
        self._halt()
        self._close()
        return SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """After an exception in a transition: come to rest, forget the robot, begin anew."""
        self._halt()
        self._close()
        return SUCCESS

    def run(self, spin: Callable[[], None], over: Callable[[], bool]) -> None:
        """Serve until it is over; then come to rest, whatever the lifecycle state."""
        self._over = over
        try:
            while not over():
                spin()
        finally:
            self._watch.close()
            self._halt()
            self._close()
            self._description.destroy()

    # How it is done

    def _load_model(self, p: dict[str, Any]) -> RobotModel:
        text = robot.description(p) or self._description.wait(p['description_timeout'], self._over)
        self._described = self._description.newest()
        return robot.controlled(p, text)

    def _arming(self, standing: float) -> Arming:
        """Begin to arm."""
        assert self.loop is not None
        self.get_logger().info('arming')
        self._command_publishers.wait()
        return Arming(self.loop, self.parameters['arming_timeout'], standing, self._sentence)

    def _arm(self) -> Answer:
        """Arm and wait until the arm rises, or for what stands against it."""
        return self._arming(inf).wait(self._over)

    def _sentence(self, text: str, code: int) -> str:
        """Return the sentence of a reason, with what this node knows beyond the guard."""
        more = self._command_publishers.others if code == guard.OTHER_COMMANDS else (
            gravity_choice.REMEDY if code == guard.GRAVITY_CONTRADICTED else
            self._stops.detail(code))
        return f'{text} ({more})' if more else text

    def _end_autostart(self) -> None:
        if self._autostart is not None:
            self._autostart.end()

    def _halt(self) -> None:
        """Stopping phase, bounded; then the control thread ends."""
        if self.loop is None or not self.loop.running and not self._active:
            return
        loop, controller, begin = self.loop, self.loop.controller, time.monotonic()
        self._reset.cancel('the controller is being deactivated')
        controller.stop()
        self._record_fault(at_once=True)        # stopping may take longer than the ring lasts
        longest = controller.settings.stop_timeout + 1.0
        while loop.running and time.monotonic() - begin < (
                longest if controller.driving else 0.1 if controller.asked else 0.0):
            time.sleep(0.002)
            if controller.phase in (guard.RISING, guard.RUNNING) and not controller.asked:
                controller.stop()       # another request crossed the first
        loop.stop()
        if self._active:
            timing_file.write(self.parameters['timing_file'], loop, self.get_logger())
        self._active = False
        self._log_changes()
        self._record_fault(at_once=True)

    def _close(self) -> None:
        self._recorder.join()
        if self.loop is not None:
            self.loop = None
            self._stops.close()
            self._states.destroy()
            if self._simulation_clock is not None:
                self._simulation_clock.destroy()
            # What is under way is lost with its publisher, for a listener that is not quick
            with suppress(RCLError):                # a middleware that does not tell
                self._commands.wait_for_all_acked(LAST_WORD)
            self.destroy_publisher(self._commands)

    def _check(self, values: dict[str, Any]) -> None:
        if self.loop is not None:
            self.loop.controller.check(settings(values))

    def _apply(self) -> None:
        if self.loop is not None:
            self.loop.controller.use(settings(self.parameters.values()))

    # What others ask and are told

    def _begin_reset(self) -> Arming | str:
        if not self._active or self.loop is None or self.loop.controller.phase != guard.FAULT:
            return 'there is no fault to reset'
        self._record_fault(at_once=True)        # arming may take longer than the ring lasts
        return self._arming(STANDING)

    def _each_second(self) -> None:
        self._log_changes()
        self._publish_diagnostics()

    def _publish_diagnostics(self) -> None:
        if self.loop is None or not self._active:
            told = [self._report.idle(self._trouble)]
        else:
            told = [self._report.status(self.loop, self.references, self._why(),
                                        time.monotonic()),
                    self._report.timing(self.loop, thresholds(self.parameters.values()))]
        self._diagnostics.publish(diagnostics.array(self.get_clock().now().to_msg(), told))

    def _why(self) -> str:
        """Return the reason of the fault, in words."""
        assert self.loop is not None
        controller = self.loop.controller
        return self._sentence(controller.reason, int(controller.memory['reason'][0]))

    def _look(self) -> bool:
        """Do what must not wait for the executor; tell whether that has something to log."""
        if (loop := self.loop) is None:
            return False
        self._command_publishers.look()
        loop.look_for_state_publishers()
        if (executor := self.executor) is not None:
            self._reset.look(executor)
        unheard = bool(loop.controller.outside['listeners'][0] == 0)
        return bool((loop.controller.phase, frozenset(loop.tally.refused)) != self._seen
                    or self._recorder.waits(loop)
                    or self._active and (unheard != self._unheard or not loop.running))

    def _log_changes(self) -> None:
        if self.loop is None:
            return
        controller = self.loop.controller
        phase, refused = controller.phase, frozenset(self.loop.tally.refused)
        if phase != self._seen[0]:
            if phase == guard.FAULT:
                again = controller.reason_code != 'GRAVITY_CONTRADICTED'
                self.get_logger().error(
                    f'FAULT: {self._why()}{"; ~/reset arms again" if again else ""}')
            else:
                self.get_logger().info(guard.PHASES[phase])
            self._publish_diagnostics()
        if new := sorted(refused - self._seen[1]):
            self.get_logger().warning(f'joint states are refused: {", ".join(new)}')
        self._seen = (phase, refused)
        self._record_fault()
        unheard = self._active and bool(controller.outside['listeners'][0] == 0)
        if unheard and not self._unheard:
            self.get_logger().warning('nobody listens to the commands: the reference is frozen')
        self._unheard = unheard
        if (text := self._description.newest()) != self._described:
            self._described = text
            self.get_logger().warning(
                'a new robot_description is refused while this robot is configured; deactivate '
                'and clean up, and the next configuration reads it')
        if self._active and not self.loop.running:
            self.get_logger().fatal('the control thread failed; zero was its last message')
            self.trigger_deactivate()

    def _record_fault(self, *, at_once: bool = False) -> None:
        if self.loop is not None:
            self._recorder.look(self.loop, self.parameters['flight_folder'], at_once=at_once)


def main(args: list[str] | None = None) -> int:
    """Run the node until a signal ends it; the arm comes to rest before it ends."""
    return process.main(ControllerNode, args, TABLE)


if __name__ == '__main__':
    sys.exit(main())

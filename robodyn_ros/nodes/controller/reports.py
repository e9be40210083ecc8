# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of the controller node: log lines, diagnostics and flight recordings."""

import time
from typing import Protocol

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from . import diagnostics, gravity_choice
from .control_loop import ControlLoop
from .flight_recorder import FlightRecorder
from .opened_topics import ControllerTopics
from .parameters import thresholds
from .reference_topics import ReferenceTopics
from .robot_description import RobotDescription
from ..middleware.parameters import Parameters
from ...control.settings.motion_limits import holding_warning, resting_error_warning
from ...control.steps import guard
from ...model.robot import RobotModel

# Arming refusals while the guard has not received enough states
UNREPORTED_REFUSALS = guard.NO_REASON, guard.NO_STATE


class ReportedNode(Protocol):
    """State of a controller node for its reports."""

    parameters: Parameters
    description: RobotDescription
    references: ReferenceTopics
    topics: ControllerTopics | None     # while the node is configured
    active: bool                        # armed, and not deactivated since
    trouble: str                        # why configuring or activating failed, '' if it did not

    @property
    def loop(self) -> ControlLoop | None:
        """Control loop while the node is configured."""


class ControllerReports:
    """
    Reports on the control loop of a node, made by its executor.

    Changes are logged within the period in which :meth:`pending` is polled; diagnostics are
    published once a second and with each change of the phase.

    :param node: publishes and logs the reports.
    :param reported: the same node, as what the reports are about.
    """

    def __init__(self, node: Node, reported: ReportedNode):
        self._node, self._log = reported, node.get_logger()
        self._clock = node.get_clock()
        self._status = diagnostics.Report(node)
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._recorder = FlightRecorder(node)
        self._logged: tuple[int, frozenset[str]] = guard.INACTIVE, frozenset()  # phase, refused
        self._unheard = False

    def begin(self) -> None:
        """Reset the reports before the loop starts."""
        self._recorder.begin()

    def robot(self, model: RobotModel) -> None:
        """Log the warnings of a model, and set it in the diagnostics."""
        self._status.robot = model.name
        for warning in model.warnings:
            self._log.warning(warning)

    def configured(self, loop: ControlLoop) -> None:
        """Log the configuration of the node."""
        p, model = self._node.parameters, loop.controller.model
        self._log.info(
            f'configured: {model.name}, {model.nv} joints ({", ".join(model.joint_names)}), '
            f'{p["mode"]}, {p["rate"]:g} Hz, trigger {p["trigger"]}, data path {loop.data_path}')
        self._log.info(gravity_choice.sentence(p['robot_compensates_gravity']))
        scarcity, settings = loop.controller.scarcity, loop.controller.settings
        limits = settings.joint_records(model)['effort_limit']
        for sentence in (scarcity.sentence(scarcity.scarce),
                         resting_error_warning(model, settings),
                         holding_warning(settings.loaded(model), limits)):
            if sentence:
                self._log.warning(sentence)

    def recorded_cycles(self, nv: int) -> int:
        """Return the number of cycles that the flight recorder keeps for ``nv`` joints."""
        p = self._node.parameters
        return self._recorder.cycles(p['flight_recorder'], p['rate'], nv)

    def sentence(self, text: str, code: int) -> str:
        """
        Return a sentence of the guard with details known only to the node.

        :param code: reason code of the sentence.
        """
        detail = ''
        if code == guard.GRAVITY_CONTRADICTED:
            detail = gravity_choice.REFUTED if self._refuted() else gravity_choice.REMEDY
        elif (topics := self._node.topics) is not None and code in UNREPORTED_REFUSALS:
            detail = topics.clock_detail()
        elif topics is not None:
            detail = topics.detail(code)
        return f'{text} ({detail})' if detail else text

    def _refuted(self) -> bool:
        """Return whether the arm moves, in the fault, as robot_compensates_gravity says."""
        if (loop := self._node.loop) is None or loop.controller.phase != guard.FAULT:
            return False            # INACTIVE, the choice is the set one in any case
        chosen = loop.controller.settings.robot_compensates_gravity
        return bool(loop.controller.memory['gravity_by_robot'][0] == chosen)

    def pending(self) -> bool:
        """Return whether :meth:`log_changes` has work; thread-safe."""
        if (loop := self._node.loop) is None:
            return False
        unheard = bool(loop.controller.cycle_input['listeners'][0] == 0)
        return bool((loop.controller.phase, frozenset(loop.tally.refused)) != self._logged
                    or self._recorder.waits(loop)
                    or self._node.active and (unheard != self._unheard or not loop.running))

    def log_changes(self) -> None:
        """Log what has changed since the last call, and start a flight recording of a fault."""
        if (loop := self._node.loop) is None:
            return
        phase, refused = loop.controller.phase, frozenset(loop.tally.refused)
        if phase != self._logged[0]:
            self._log_phase(phase)
            self.publish_diagnostics()
        if refused - self._logged[1]:
            self._log.warning(f'joint states are refused: {loop.refused_states}')
        self._logged = (phase, refused)
        self.record_fault()
        unheard = self._node.active and bool(loop.controller.cycle_input['listeners'][0] == 0)
        if unheard and not self._unheard:
            text = self.sentence(guard.REASONS['NOBODY_LISTENS'], guard.NOBODY_LISTENS)
            self._log.warning(f'{text}: the reference is frozen')
        self._unheard = unheard
        if self._node.description.replaced():
            self._log.warning(
                'a new robot_description is refused while this robot is configured; deactivate '
                'and clean up, and the next configuration reads it')

    def record_fault(self, *, at_once: bool = False) -> None:
        """Write a flight recording of the latest fault when it is due, or at once."""
        if self._node.loop is not None:
            self._recorder.look(self._node.loop, self._node.parameters['flight_folder'],
                                at_once=at_once)

    def join(self) -> None:
        """Wait until a flight recording under way is written."""
        self._recorder.join()

    def publish_diagnostics(self) -> None:
        """Publish the status of the control loop and of its timing."""
        node = self._node
        if node.loop is None or not node.active:
            statuses = [self._status.idle(node.trouble)]
        else:
            statuses = [self._status.status(node.loop, node.references.trajectories, self.reason(),
                                            time.monotonic()),
                        self._status.timing(node.loop, thresholds(node.parameters.values()))]
        self._publisher.publish(diagnostics.array(self._clock.now().to_msg(), statuses))

    def _log_phase(self, phase: int) -> None:
        if phase != guard.FAULT:
            self._log.info(guard.PHASES[phase])
            return
        assert self._node.loop is not None
        code = self._node.loop.controller.reason_code
        remedy = '' if code == 'GRAVITY_CONTRADICTED' else '; call ~/reset to re-arm'
        self._log.error(f'FAULT {code}: {self.reason()}{remedy}')

    def reason(self) -> str:
        """Return the reason of the fault in words."""
        assert self._node.loop is not None
        controller = self._node.loop.controller
        return self.sentence(controller.reason, int(controller.memory['reason'][0]))

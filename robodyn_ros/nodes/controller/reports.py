# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of the controller node: log lines, diagnostics and flight recordings."""

from collections.abc import Mapping
from math import inf, isfinite
import time
from typing import TYPE_CHECKING

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from .control_loop import ControlLoop
from .flight_recorder import FlightRecorder
from .parameters import QUALITY
from ..middleware.parameter_files import GRAVITY_PARAMETER
from ..topics.publishers import LOOP, TIMING, told_name
from ..topics.trajectory_subscriber import MAX_CLOCK_OFFSET, skew
from ...control.controller.status import receipt_offset
from ...control.laws.registry import mode_name
from ...control.settings.motion_limits import (
    holding_warning, resting_error_warning, velocity_warning)
from ...control.steps import guard
from ...model.robot import RobotModel
from ...realtime.statistics import OK, quality, rate, spread, worst

if TYPE_CHECKING:
    from .node import ControllerNode

TIMING_WINDOW = 2048    # cycles
OFF_TARGET_TIME = 1.0    # [s] for which an arm may rest away from its target
LEVELS = (DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR)
# Remedies of the fault GRAVITY_CONTRADICTED, the other one if the motion of the arm has refuted it
GRAVITY_REMEDY = f'{GRAVITY_PARAMETER} must be the contrary: deactivate, clean up and correct it'
GRAVITY_REFUTED = (f'but the arm moves as {GRAVITY_PARAMETER} says: leave it, and find out why '
                   'the driver sends false efforts; ~/reset re-arms')


def named_code(code: int) -> str:
    """Return a reason code by its name, 'nothing' for none."""
    return guard.CODES[code] if code != guard.NO_REASON else 'nothing'


def stamp_age(loop: ControlLoop) -> float:
    """Return the age [s] of the newest joint state's stamp at its receipt, 0 on ROS time."""
    if loop.on_ros_time:
        return 0.0
    age = receipt_offset(loop.controller) + time.time() - time.monotonic()
    return age if isfinite(age) and abs(age) < MAX_CLOCK_OFFSET else 0.0


class ControllerReports:
    """
    Reports on the control loop of a node, made by its executor.

    Changes are logged within the period in which :meth:`pending` is polled; diagnostics are
    published once a second and with each change of the phase, with rates since the last ones.
    Their names and hardware_id (``left/panda``) contain the namespace, so that several arms of a
    system stay apart.

    :param node: the controller node, which publishes and logs them.
    """

    def __init__(self, node: 'ControllerNode'):
        self._node, self._log = node, node.get_logger()
        self._clock = node.get_clock()
        self._robot = ''
        self._last: tuple[float, int, int] | None = None       # time, cycles, missed
        self._warned = False        # of implausible states
        self._off_since = inf       # time since when a joint rests away from its target [s]
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._recorder = FlightRecorder(node)
        self._logged: tuple[int, frozenset[str]] = guard.INACTIVE, frozenset()  # phase, refused
        self._unheard = False

    def begin(self) -> None:
        """Reset the reports before the loop starts."""
        self._recorder.begin()

    def robot(self, model: RobotModel) -> None:
        """Log the warnings of a model, and set it in the diagnostics."""
        self._robot = model.name
        for warning in model.warnings:
            self._log.warning(warning)

    def configured(self, loop: ControlLoop) -> None:
        """Log the configuration of the node."""
        p, model = self._node.parameters, loop.controller.model
        self._log.info(
            f'configured: {model.name}, {model.nv} joints ({", ".join(model.joint_names)}), '
            f'{p["mode"]}, {p["rate"]:g} Hz, trigger {p["trigger"]}, data path {loop.data_path}')
        self._log.info(
            f'the robot compensates gravity itself ({GRAVITY_PARAMETER}: true): efforts are '
            'published without g(q)' if p['robot_compensates_gravity'] else 'this controller '
            f'compensates gravity ({GRAVITY_PARAMETER}: false): efforts contain g(q)')
        scarcity, settings = loop.controller.scarcity, loop.controller.settings
        self._log.info(f'motor test: up to {settings.tested_effort:g} effort limits'
                       if settings.tested_effort else 'no motor test (motor_test_effort)')
        limits = settings.joint_records(model)['effort_limit']
        for sentence in (scarcity.sentence(scarcity.scarce),
                         resting_error_warning(model, settings),
                         holding_warning(settings.loaded(model), limits),
                         velocity_warning(model, settings)):
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
            detail = GRAVITY_REFUTED if self._refuted() else GRAVITY_REMEDY
        elif (topics := self._node.topics) is not None:
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
            self._last = None
            statuses = [self._status(DiagnosticStatus.ERROR, LOOP, f'not active: {node.trouble}',
                                     {}) if node.trouble else
                        self._status(DiagnosticStatus.OK, LOOP, 'not active', {})]
        else:
            statuses = [self._loop_status(node.loop), self._timing_status(node.loop)]
        message = DiagnosticArray(status=statuses)
        message.header.stamp = self._clock.now().to_msg()
        self._publisher.publish(message)

    def _loop_status(self, loop: ControlLoop) -> DiagnosticStatus:
        """Return the status of a running loop, its references and its driver."""
        references, reason = self._node.references.trajectories, self.reason()
        drives = self._node.topics.drives() if self._node.topics else {}
        m, now = loop.controller.memory[0], time.monotonic()
        present = (now, int(m['cycles']), loop.tally.missed)
        since, cycles, missed = self._last or present
        if present[1] < cycles:         # the loop was restarted
            since, cycles, missed = present
        self._last = present
        rate = (present[1] - cycles) / (now - since) if now > since else 0.0
        newly_missed = loop.tally.missed - missed
        phase, refused = guard.PHASES[m['phase']], loop.tally.refused
        level, message = DiagnosticStatus.OK, f'{phase}, {mode_name(int(m["mode"]))}'
        if m['implausible'] and not self._warned:
            self._warned = True         # once: the diagnostics count them
            self._log.warning('implausible joint state rejected, the previous one is used; '
                              '/diagnostics counts such samples')
        listeners = int(loop.controller.cycle_input['listeners'][0])
        if newly_missed:
            level, message = DiagnosticStatus.WARN, f'{message}: {newly_missed} periods missed'
        if references.trouble:
            level, message = DiagnosticStatus.WARN, f'{message}: {references.trouble}'
        if loop.controller.held_by:
            level, message = DiagnosticStatus.WARN, (
                f'{message}: the motion is held, {loop.controller.held_by}')
        off_target = loop.controller.off_target
        self._off_since = min(self._off_since, now) if off_target else inf
        if now - self._off_since >= OFF_TARGET_TIME:
            level, message = DiagnosticStatus.WARN, f'{message}: {off_target}'
        age = stamp_age(loop)
        if sentence := skew(references.skew.offset, 'joint_trajectory') or skew(
                age, 'joint_states'):
            level, message = DiagnosticStatus.WARN, f'{message}: {sentence}'
        if listeners == 0:
            level, message = DiagnosticStatus.WARN, f'{message}: no subscriber to the commands'
        if m['phase'] == guard.FAULT:
            level, message = DiagnosticStatus.ERROR, f'FAULT: {reason}'
        target_rate, jitter = references.targets.rate(now)
        values = {
            'phase': phase, 'mode': mode_name(int(m['mode'])), 'reason': reason,
            'reason code': loop.controller.reason_code, 'listeners': listeners,
            'waiting for': ', '.join(loop.decoder.missing) or 'nothing',
            'data path': loop.data_path, 'scheduling': loop.scheduling,
            'trigger': loop.settings.trigger,
            'rate [Hz]': f'{rate:.1f}', 'nominal rate [Hz]': f'{loop.settings.rate:g}',
            'cycles': m['cycles'], 'missed periods': loop.tally.missed,
            'accepted samples': loop.tally.accepted,
            'accepted trajectories': references.accepted,
            'refused trajectories': references.refused,
            'target rate [Hz]': f'{target_rate:.1f}', 'target jitter [ms]': f'{1e3 * jitter:.2f}',
            'reference transit [ms]': f'{1e3 * references.skew.offset:.1f}',
            'state stamp age [ms]': f'{1e3 * age:.1f}',
            'refused samples': sum(refused.values()),
            **{f'refused samples: {reason}': n for reason, n in sorted(refused.items())},
            'implausible samples': m['implausible'],
            'saturated cycles': m['saturated'], 'rate-limited cycles': m['rate_limited'],
            'cycles at position or velocity limits': m['joint_limited'],
            'speed of references': f'{1.0 - m["slowing"]:.3f}',
            'slowed by': named_code(m['slowed_by']), 'held by': named_code(m['held_by']),
            'guided by hand': 'yes' if m['guided'] and m['phase'] == guard.RUNNING else 'no',
            **{f'driver: {name}': value for name, value in drives.items()},
        }
        return self._status(level, LOOP, message, values)

    def _timing_status(self, loop: ControlLoop) -> DiagnosticStatus:
        """Return the status of the timing of the latest cycles; the rate is that of a timer."""
        cycles = loop.tally.newest(TIMING_WINDOW)
        fixed = loop.settings.trigger == 'timer' and not loop.on_ros_time
        level, message = worst(quality(cycles, loop.settings.rate if fixed else inf,
                                       **{p.name: self._node.parameters[p.name] for p in QUALITY}))
        mean, deviation = rate(cycles)
        values = {'rate mean [Hz]': f'{mean:.1f}', 'rate deviation [Hz]': f'{deviation:.1f}',
                  'overruns': loop.tally.overruns, 'missed periods': loop.tally.missed,
                  'lost samples': loop.tally.lost,
                  'slow publishes': loop.tally.slow_publishes}
        for name, column in (('wake-up error', 'wake_up'), ('cycle time', 'cycle'),
                             ('state age', 'age'),
                             ('state to effort', 'answer')):
            for figure, value in spread(cycles[column]).named().items():
                values[f'{name} {figure} [us]'] = f'{1e6 * value:.1f}'
        return self._status(LEVELS[level], TIMING, message if level != OK else 'timing OK', values)

    def _status(self, level: bytes, subject: str, message: str, values: Mapping[str, object]
                ) -> DiagnosticStatus:
        space = self._node.get_namespace()
        return DiagnosticStatus(
            level=level, name=f'{told_name(space, self._node.get_name())}: {subject}',
            message=message, hardware_id=told_name(space, self._robot),
            values=[KeyValue(key=name, value=str(value)) for name, value in values.items()])

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

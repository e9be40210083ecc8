# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of the controller: status of the control loop and of its timing."""

from collections.abc import Iterable, Mapping
from math import inf, isfinite
import time

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from .control_loop import ControlLoop
from ..middleware.message_timing import MAX_CLOCK_OFFSET, skew
from ..topics.trajectory_subscriber import TrajectorySubscriber
from ...control.controller.status import receipt_offset
from ...control.laws.registry import mode_name
from ...control.steps import guard
from ...realtime.statistics import OK, quality, rate, spread, worst

TIMING_WINDOW = 2048    # cycles
OFF_TARGET_TIME = 1.0    # [s] for which an arm may rest away from its target
LEVELS = (DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR)


class Report:
    """
    Diagnostics of a control loop; rates are those since the last report.

    Names and hardware_id contain the namespace, so that several arms of a system stay apart.
    """

    def __init__(self, node: Node):
        self.name, self.timing_name = (
            f'{told_name(node.get_namespace(), node.get_name())}: {what}'
            for what in ('control loop', 'timing'))
        self._namespace, self.robot = node.get_namespace(), ''
        self._last: tuple[float, int, int] | None = None       # time, cycles, missed
        self._logger, self._warned = node.get_logger(), False
        self._off_since = inf       # time since when a joint rests away from its target [s]

    @property
    def hardware(self) -> str:
        """Return the hardware_id: namespace and robot, e.g. ``left/panda``."""
        return told_name(self._namespace, self.robot)

    def idle(self, trouble: str) -> DiagnosticStatus:
        """Return the status of an inactive node; ``trouble``: the reason of a failure, or ''."""
        self._last = None
        if trouble:
            return _status(DiagnosticStatus.ERROR, self.name, f'not active: {trouble}',
                           self.hardware, {})
        return _status(DiagnosticStatus.OK, self.name, 'not active', self.hardware, {})

    def status(self, loop: ControlLoop, references: TrajectorySubscriber, reason: str,
               now: float) -> DiagnosticStatus:
        """
        Return the status of a running loop and its references.

        :param reason: of the fault, in words.
        :param now: time on the steady clock [s].
        """
        m = loop.controller.memory[0]
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
            self._logger.warning('implausible joint state rejected, the previous one is used; '
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
            'refused samples': sum(refused.values()), **_counts(refused),
            'implausible samples': m['implausible'],
            'saturated cycles': m['saturated'], 'rate-limited cycles': m['rate_limited'],
            'cycles at position or velocity limits': m['joint_limited'],
            'speed of references': f'{1.0 - m["slowing"]:.3f}',
            'slowed by': named_code(m['slowed_by']), 'held by': named_code(m['held_by']),
            'guided by hand': 'yes' if m['guided'] else 'no',
        }
        return _status(level, self.name, message, self.hardware, values)

    def timing(self, loop: ControlLoop, thresholds: Mapping[str, float]) -> DiagnosticStatus:
        """
        Return the status of the timing of the latest cycles.

        The rate is not checked on ROS time, nor if states trigger the cycles.

        :param thresholds: keyword arguments of :func:`.statistics.quality`.
        """
        cycles = loop.tally.timing.newest(TIMING_WINDOW)
        fixed = loop.settings.trigger == 'timer' and not loop.on_ros_time
        level, message = worst(quality(cycles, loop.settings.rate if fixed else inf, **thresholds))
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
        return _status(LEVELS[level], self.timing_name,
                       message if level != OK else 'timing OK', self.hardware, values)


def named_code(code: int) -> str:
    """Return a reason code by its name, 'nothing' for none."""
    return guard.CODES[code] if code != guard.NO_REASON else 'nothing'


def array(stamp: Time, statuses: Iterable[DiagnosticStatus]) -> DiagnosticArray:
    """Return the message for /diagnostics."""
    message = DiagnosticArray(status=list(statuses))
    message.header.stamp = stamp
    return message


def stamp_age(loop: ControlLoop) -> float:
    """Return the age [s] of the newest joint state's stamp at its receipt, 0 on ROS time."""
    if loop.on_ros_time:
        return 0.0
    age = receipt_offset(loop.controller) + time.time() - time.monotonic()
    return age if isfinite(age) and abs(age) < MAX_CLOCK_OFFSET else 0.0


def told_name(namespace: str, name: str) -> str:
    """Return a name with its namespace as in diagnostics: without the leading slash."""
    return f'{namespace}/{name}'.strip('/').replace('//', '/')


def _status(level: bytes, name: str, message: str, hardware: str, values: Mapping[str, object]
            ) -> DiagnosticStatus:
    return DiagnosticStatus(level=level, name=name, message=message, hardware_id=hardware,
                            values=[KeyValue(key=k, value=str(v)) for k, v in values.items()])


def _counts(refused: Mapping[str, int]) -> dict[str, int]:
    return {f'refused samples: {reason}': n for reason, n in sorted(refused.items())}

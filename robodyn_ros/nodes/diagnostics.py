# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the controller says of itself once a second on /diagnostics."""

from collections.abc import Mapping

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from ..control import guard
from ..control.records import MODES
from .control_loop import ControlLoop
from .references import References


class Report:
    """Turns counters of a loop into diagnostics; rates are those since the last report."""

    def __init__(self, node_name: str):
        self.name = f'{node_name}: control loop'
        self._last: tuple[float, int, int] | None = None       # time, cycles, missed

    def idle(self, trouble: str) -> DiagnosticStatus:
        """Status of a node whose loop does not run; ``trouble``: why not, '' if nobody asked."""
        self._last = None
        if trouble:
            return DiagnosticStatus(level=DiagnosticStatus.ERROR, name=self.name,
                                    message=f'not active: {trouble}')
        return DiagnosticStatus(level=DiagnosticStatus.OK, name=self.name, message='not active')

    def status(self, loop: ControlLoop, references: References, now: float) -> DiagnosticStatus:
        """Status of a running loop and its references at steady time ``now`` [s]."""
        m = loop.controller.memory[0]
        present = (now, int(m['cycles']), loop.missed)
        since, cycles, missed = self._last or present
        if present[1] < cycles:         # begun anew in between
            since, cycles, missed = present
        self._last = present
        rate = (present[1] - cycles) / (now - since) if now > since else 0.0
        newly_missed = loop.missed - missed
        wake_50, wake_99 = loop.wake_up.percentiles((50, 99))
        cycle_99, = loop.cycle_time.percentiles((99,))
        phase = guard.PHASES[m['phase']]
        level, message = DiagnosticStatus.OK, f'{phase}, {MODES[m["mode"]]}'
        listeners = int(loop.controller.outside['listeners'][0])
        if newly_missed:
            level, message = DiagnosticStatus.WARN, f'{message}: {newly_missed} periods missed'
        if references.trouble:
            level, message = DiagnosticStatus.WARN, f'{message}: {references.trouble}'
        if listeners == 0:
            level, message = DiagnosticStatus.WARN, f'{message}: nobody listens to the commands'
        if m['phase'] == guard.FAULT:
            level, message = DiagnosticStatus.ERROR, f'FAULT: {loop.controller.reason}'
        values = {
            'phase': phase, 'mode': MODES[m['mode']], 'reason': loop.controller.reason,
            'reason code': loop.controller.reason_code, 'listeners': listeners,
            'waiting for': ', '.join(loop.decoder.missing) or 'nothing',
            'data path': 'python wait set', 'trigger': loop.trigger,
            'rate [Hz]': f'{rate:.1f}', 'nominal rate [Hz]': f'{loop.rate:g}',
            'cycles': m['cycles'], 'missed periods': loop.missed,
            'accepted samples': loop.accepted,
            'accepted trajectories': references.accepted,
            'refused trajectories': references.refused,
            'refused samples': sum(loop.refused.values()), **_counts(loop.refused),
            'wake-up error p50 [us]': f'{wake_50 * 1e6:.0f}',
            'wake-up error p99 [us]': f'{wake_99 * 1e6:.0f}',
            'wake-up error max [us]': f'{loop.wake_up.max() * 1e6:.0f}',
            'cycle time p99 [us]': f'{cycle_99 * 1e6:.0f}',
            'saturated cycles': m['saturated'], 'rate-limited cycles': m['rate_limited'],
            'cycles at position or velocity limits': m['kept_inside'],
        }
        return DiagnosticStatus(level=level, name=self.name, message=message, hardware_id='',
                                values=[KeyValue(key=k, value=str(v)) for k, v in values.items()])


def array(stamp: Time, status: DiagnosticStatus) -> DiagnosticArray:
    """Return the message for /diagnostics."""
    message = DiagnosticArray(status=[status])
    message.header.stamp = stamp
    return message


def _counts(refused: Mapping[str, int]) -> dict[str, int]:
    return {f'refused samples: {reason}': n for reason, n in sorted(refused.items())}

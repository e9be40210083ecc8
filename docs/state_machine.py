# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Write the diagram of the phases, the events and the table of reasons into docs/safety.md.

The compiled controller of a simulated two-link arm is brought into each phase and gets one event;
the phase that follows is noted. Events, and reasons, with the same consequences share a row.
`python docs/state_machine.py`
"""

from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
import re

import numpy as np
from robodyn_ros import Controller, Dynamics, load_urdf, Settings
from robodyn_ros.control.steps import guard

PAGE = Path(__file__).with_name('safety.md')
BEGIN, END = '<!-- begin: docs/state_machine.py -->', '<!-- end: docs/state_machine.py -->'
MODEL, POSE, PERIOD = load_urdf('two_link'), np.array([0.3, 0.5]), 1e-3
MOVING = 0.4                    # rad/s, of an arm that takes a while to stop
SOON, LATER = 0.08, 2.0         # s in which an event acts, and in which a phase ends by itself
# The arm rises and stops slowly enough for an event meanwhile
SETTINGS = Settings(effort_rate_limit=[100.0, 100.0], fault_hold_time=0.1, fault_ramp_time=1.0)


class Arm:
    """A controller and its arm, which brakes hold until it has risen."""

    def __init__(self):
        self.controller, self._dynamics = Controller(MODEL, SETTINGS, specialize=False), Dynamics(
            MODEL)
        self._input = self.controller.cycle_input.copy()

    def begin(self) -> None:
        """Forget everything; the arm rests."""
        c = self.controller
        c.begin()
        c.state[...] = np.nan
        c.tau[:], c.cycle_input[...] = 0.0, self._input
        self.q, self.qd, self.time = POSE.copy(), np.zeros(2), 1.0
        self.heard, self.offset, self.other, self.held = True, 0.0, False, False
        self.cycle()

    def cycle(self) -> None:
        """Advance by a period."""
        c = self.controller
        self.time += PERIOD
        if self.heard:
            for name, value in (('position', self.q + self.offset), ('velocity', self.qd),
                                ('received', self.time)):
                c.state[name] = value
        if self.other:
            c.state['other'] = self.time
        if c.advance(self.time) and c.phase != guard.RISING and not self.held:
            self.qd += PERIOD * self._dynamics.forward_dynamics(self.q, self.qd, c.tau)
            self.q += PERIOD * self.qd
        c.cycle_input['stalled'] = 0.0

    def after(self, seconds: float) -> str:
        """Return the situation that the present one changes to within a time [s]."""
        before = self.situation
        for _ in range(round(seconds / PERIOD)):
            self.cycle()
            if self.situation != before:
                break
        return self.situation

    @property
    def situation(self) -> str:
        """Return the phase, and what distinguishes stops and faults."""
        memory = self.controller.memory
        phase = guard.PHASES[int(memory['phase'][0])]
        if phase == 'FAULT' and not memory['publishing'][0]:
            return 'FAULT (silent)'
        if phase == 'STOPPING' and memory['reason'][0] != guard.NO_REASON:
            return 'STOPPING (fault)'
        return phase

    def stop_for(self, code: str) -> None:
        """Give the cycle a reason to stop."""
        self.controller.cycle_input['stop_reason'] = guard.CODES.index(code)

    def fail(self, code: str = 'EMERGENCY_STOP') -> None:
        """Latch a fault while the arm moves."""
        self.qd[:] = MOVING
        self.cycle()
        if code in ITSELF:
            EVENTS[ITSELF[code]](self)
            self.after(SOON)
        else:
            self.stop_for(code)
            self.cycle()
            self.stop_for('NO_REASON')


def _rising(arm: Arm) -> None:
    arm.controller.arm()
    arm.after(1.0)


def _running(arm: Arm) -> None:
    _rising(arm)
    arm.after(LATER)


def _stopping(arm: Arm) -> None:
    _running(arm)
    arm.qd[:] = MOVING
    arm.controller.stop()
    arm.cycle()


def _fault(arm: Arm) -> None:
    _running(arm)
    arm.fail()
    arm.after(0.15)         # the efforts ramp down, so that there is something to ramp up


def _stopping_after_fault(arm: Arm) -> None:
    _running(arm)
    arm.fail()
    arm.controller.stop()
    arm.cycle()


def _ended(arm: Arm) -> None:
    _fault(arm)
    arm.after(LATER)


SITUATIONS: dict[str, Callable[[Arm], None]] = {
    'INACTIVE': lambda arm: None, 'RISING': _rising, 'RUNNING': _running, 'STOPPING': _stopping,
    'STOPPING (fault)': _stopping_after_fault, 'FAULT': _fault,
    'FAULT (silent)': _ended}


def _arm(arm: Arm) -> None:
    if arm.controller.phase in (guard.INACTIVE, guard.FAULT):
        arm.qd[:], arm.held = 0.0, True
    arm.controller.arm()


def _stop(arm: Arm) -> None:
    if arm.controller.phase in (guard.RISING, guard.RUNNING):
        arm.qd[:] = MOVING
    arm.controller.stop()


def _arm_in_vain(arm: Arm) -> None:
    _arm(arm)
    arm.controller.cycle_input['listeners'] = 0


def _stall(arm: Arm) -> None:
    arm.time += 0.1
    arm.controller.cycle_input['stalled'] = 0.1


EVENTS: dict[str, Callable[[Arm], object]] = {
    'arm': _arm, 'refused arming': _arm_in_vain,
    'disarm': lambda arm: arm.controller.disarm(), 'stop': _stop,
    'reason to stop': lambda arm: arm.stop_for('EMERGENCY_STOP'),
    'states end': lambda arm: setattr(arm, 'heard', False),
    'second source of states': lambda arm: setattr(arm, 'other', True),
    'states inconsistent': lambda arm: setattr(arm, 'offset', 1.0),
    'loop stalls': _stall,
    'clock stops': lambda arm: arm.controller.cycle_input.__setitem__('clock_stopped', 1.0)}

#: Events that are a reason themselves; others are given to the cycle as a reason to stop.
ITSELF = {'STALE_STATE': 'states end', 'TWO_STATE_PUBLISHERS': 'second source of states',
          'STATE_INCONSISTENT': 'states inconsistent', 'LOOP_STALLED': 'loop stalls',
          'CLOCK_STOPPED': 'clock stops'}


def transitions(arm: Arm) -> dict[str, list[str]]:
    """Return, by event, what each of SITUATIONS changes to, in their order."""
    def changed(reach: Callable[[Arm], None], event: Callable[[Arm], object],
                seconds: float) -> str:
        arm.begin()
        reach(arm)
        event(arm)
        return arm.after(seconds)
    found = {name: [changed(reach, event, SOON) for reach in SITUATIONS.values()]
             for name, event in EVENTS.items()}
    return found | {'time passes': [changed(reach, lambda arm: None, LATER)
                                    for reach in SITUATIONS.values()]}


def consequences(arm: Arm, code: str) -> tuple[str, str, str]:
    """Return, for a reason: efforts of a moving arm; what a stop does then; what it does to it."""
    def latch() -> str:
        arm.begin()
        _running(arm)
        arm.fail(code)
        return arm.situation
    brakes = latch() == 'FAULT'
    arm.controller.stop()
    stopped = arm.after(SOON).startswith('STOPPING')
    arm.begin()
    _stopping_after_fault(arm)
    if code in ITSELF:
        EVENTS[ITSELF[code]](arm)
    else:
        arm.stop_for(code)
    ends = arm.after(SOON).startswith('FAULT')
    return ('braking' if brakes else 'zero or none', 'STOPPING' if stopped else 'ignored',
            'FAULT' if ends else 'ignored')


def faults(page: str) -> list[str]:
    """Return the reasons that the page calls a fault; ValueError: it has others than the guard."""
    explained, known = set(re.findall('^- `([A-Z_]+)`: .', page, re.MULTILINE)), guard.CODES[1:]
    if unexplained := set(known) - explained:
        raise ValueError(f'{PAGE.name} does not explain {", ".join(sorted(unexplained))}: add an '
                         'item to the list of faults, or to another list of reasons')
    if unknown := explained - set(known):
        raise ValueError(f'{guard.__file__} does not have {", ".join(sorted(unknown))}: remove '
                         f'the item from {PAGE.name}, or import the package beside it')
    lists = re.findall(r'^Faults.*:\n\n((?:- .*\n)+)', page, re.MULTILINE)
    named = re.findall('^- `([A-Z_]+)`', ''.join(lists), re.MULTILINE)
    return [code for code in guard.CODES if code in named]


def diagram(after: dict[str, list[str]]) -> list[str]:
    """Return the lines of a Mermaid diagram of the phases."""
    labels: dict[tuple[str, str], list[str]] = {}
    for event, situations in after.items():
        for old, new in zip(SITUATIONS, situations):
            edge = old.split()[0].rstrip(','), new.split()[0].rstrip(',')
            label = event if event in ('arm', 'stop', 'time passes') else 'fault'
            if edge[0] != edge[1] and label not in labels.setdefault(edge, []):
                labels[edge].append(label)
    return ['```mermaid', 'stateDiagram-v2', '    direction LR', '    [*] --> INACTIVE',
            *(f'    {old} --> {new}: {" or ".join(names)}'
              for (old, new), names in labels.items()), '```']


def changes(after: list[str]) -> str:
    """Return which of SITUATIONS change, and to what."""
    sources: dict[str, list[str]] = {}
    for old, new in zip(SITUATIONS, after):
        if new != old:
            sources.setdefault(new, []).append(old)
    return '; '.join(f'{", ".join(old)} → {new}' for new, old in sources.items()) or 'no change'


def tables(page: str) -> str:
    """Return the diagram, a list of the events, and a table of the reasons."""
    arm, reasons = Arm(), faults(page)
    found = transitions(arm)
    alike: dict[str, list[str]] = {}
    for event, after in found.items():
        alike.setdefault(changes(after), []).append(event)
    items = [f'- {", ".join(events)}: {changed}' for changed, events in alike.items()]
    kinds = {code: consequences(arm, code) for code in reasons}
    second = [['reason', 'efforts after a fault in motion', '*stop* in FAULT',
               'reason in STOPPING (fault)']]
    for kind, codes in groupby(sorted(reasons, key=kinds.__getitem__), kinds.__getitem__):
        second.append([', '.join(f'`{code}`' for code in codes), *kind])
    return '\n'.join([*diagram(found), '', *items, '', *_table(second)])


def _table(rows: Iterable[list[str]]) -> list[str]:
    lines = ['| ' + ' | '.join(row) + ' |' for row in rows]
    return [lines[0], re.sub(r'[^|]+', '---', lines[0]), *lines[1:]]


def section(page: str) -> str:
    """Return what is between the markers of a page."""
    return page.split(BEGIN)[1].split(END)[0].strip()


if __name__ == '__main__':
    text = PAGE.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f'{before}{BEGIN}\n{tables(text)}\n{END}{after}')

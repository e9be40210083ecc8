# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parsing of column headers: quantity, joint and unit."""

from collections.abc import Sequence
import re

from .units import known

# If several columns match, the one whose word comes first is used
QUANTITY_WORDS = {
    'position': ('position', 'positions', 'pos', 'q', 'angle', 'angles', 'theta', 'joint', 'axis'),
    'velocity': ('velocity', 'velocities', 'vel', 'dq', 'qd', 'qdot', 'speed', 'dtheta', 'omega',
                 'thetadot', 'qp', 'v'),
    'effort': ('effort', 'efforts', 'eff', 'torque', 'torques', 'tau', 'trq', 'tq', 'force',
               'moment', 'current', 'currents'),
}
TIME_WORDS = ('time', 't', 'timestamp', 'stamp', 'times', 'timestamps', 'stamps', 'secs', 'sec',
              'seconds', 'elapsed')
NANOSECOND_WORDS = ('nanosec', 'nsec', 'nsecs', 'nanoseconds')
# Commanded or estimated quantities
UNMEASURED_WORDS = {'d', 'des', 'desired', 'cmd', 'command', 'commanded', 'target', 'ref',
                    'reference', 'goal', 'error', 'err', 'ext', 'external', 'hat', 'setpoint'}
IGNORED_WORDS = {
    'joint', 'joints', 'jnt', 'state', 'states', 'actual', 'act', 'measured', 'meas', 'j',
    'axis', 'robot', 'arm', 'motor', 'value', 'data', 'm', 'msr', 'sensor', 'link'}
# `q1_deg`, and where no number of a joint could be mistaken for one's name, `q_deg_1`
UNIT_SUFFIX = re.compile(r'(.*?)_(deg_s|rad_s|deg|rad|mNm|Nm|mA|A|ms|us|ns|s)')
UNIT_BEFORE_NUMBER = re.compile(r'(.*?)_(deg_s|rad_s|deg|rad|mNm|Nm|mA)(_?\d+)')
UNIT_AFTER_SLASH = re.compile(r'([^/].*?)/([^/]+/s|[^/]+)')


def without_unit(header: str) -> tuple[str, str]:
    """Return a header without its unit, and the unit: of `q1 [deg]`, `time_ms`, `tau1/Nm`."""
    for inside in re.findall(r'[\[(]([^\])]*)[\])]', header):
        if unit := known(inside):
            return re.sub(r'\s*[\[(]' + re.escape(inside) + r'[\])]', '', header), unit
    header = header.strip()
    if match := UNIT_SUFFIX.fullmatch(header):
        return match[1], match[2].replace('_', '/')
    if match := UNIT_BEFORE_NUMBER.fullmatch(header):
        return match[1] + match[3], match[2].replace('_', '/')
    if (match := UNIT_AFTER_SLASH.fullmatch(header)) and (unit := known(match[2])):
        return match[1], unit
    return header, ''


def words_in(text: str) -> list[str]:
    """Return the words of a header in lower case; `jointPos` has two, `dQ` one."""
    return re.findall(r'[a-z]+', re.sub(r'(?<=[a-z]{2})(?=[A-Z])', ' ', text).lower())


def number_in(text: str) -> int | None:
    """Return the last number of a header, None where there is none."""
    numbers = re.findall(r'\d+', text)
    return int(numbers[-1]) if numbers else None


def joint_in(text: str, joints: Sequence[str]) -> tuple[str | None, list[str]]:
    """
    Return the joint that a header names, and the other words.

    Case and the separators between the parts of a name may differ; `joint` may be left out.
    """
    by_length = sorted(joints, key=len, reverse=True)
    for shorter in (False, True):
        for joint in by_length:
            parts = [part for part in re.split(r'[\W_]+', joint)
                     if part and not (shorter and part.lower() == 'joint')]
            if not re.search('[a-zA-Z]', ''.join(parts)):
                continue
            pattern = r'[\W_]*'.join(map(re.escape, parts))
            match = re.search(rf'(?<![a-zA-Z0-9]){pattern}(?![a-zA-Z0-9])', text, re.IGNORECASE)
            if match:
                return joint, words_in(text[:match.start()] + ' ' + text[match.end():])
    return None, words_in(text)


def quantity_of(words: Sequence[str]) -> tuple[str | None, int]:
    """Return the quantity that words name, and the rank of the match: smaller is better."""
    if UNMEASURED_WORDS & {*words} or not words:
        return None, 0
    if 'dot' in words:
        words = ['qdot' if word in ('q', 'theta') else word for word in words if word != 'dot']
    strange = 100 * sum(
        word not in IGNORED_WORDS and not any(word in of for of in QUANTITY_WORDS.values())
        for word in words)
    best = [(of.index(word), quantity) for word in words for quantity, of in QUANTITY_WORDS.items()
            if word in of and word not in IGNORED_WORDS]
    if len({quantity for _, quantity in best}) > 1:
        return None, 0
    if not best:        # `joint3`, `axis_act_a3` and no more is its position
        bare = [word for word in words if word in ('joint', 'axis')]
        return ('position', QUANTITY_WORDS['position'].index(bare[0]) + strange) \
            if bare and {*words} <= {*IGNORED_WORDS, 'a'} else (None, 0)
    rank, quantity = min(best)
    return quantity, rank + strange


def is_current(header: str) -> bool:
    """Return whether a header names a current rather than a torque."""
    words = words_in(without_unit(header)[0])
    return 'effort' == quantity_of(words)[0] and not {'current', 'currents'}.isdisjoint(words)


def by_number(names: Sequence[str], joints: Sequence[str]) -> dict[str, str]:
    """
    Return the model's joint for each other name with the same number.

    :return: empty where a name is one of the model's, or numbers are missing or ambiguous.
    """
    if not {*names}.isdisjoint(joints):
        return {}
    ours = {number_in(joint): joint for joint in joints}
    theirs = {number_in(name): name for name in names}
    clear = None not in ours and len(ours) == len(joints) and len(theirs) == len(names)
    return {theirs[number]: joint for number, joint in ours.items()} \
        if clear and {*ours} <= {*theirs} else {}

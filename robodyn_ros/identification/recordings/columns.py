# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which column of a table is which quantity of which joint: by its header, or as one says."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import RecordingError, UnknownNameError
from .units import CURRENT, ROTARY, SLIDING, TIME

# Column pattern with {name}, {i} (from 1) or {i0}; or the columns themselves, in the joints' order
Columns = Mapping[str, str | int | Sequence[str | int] | None]

# Of several columns that would do, the one whose word comes first is taken
WORDS = {
    'position': ('position', 'positions', 'pos', 'q', 'angle', 'angles', 'theta', 'joint', 'axis'),
    'velocity': ('velocity', 'velocities', 'vel', 'dq', 'qd', 'qdot', 'speed', 'dtheta', 'omega',
                 'thetadot', 'qp', 'v'),
    'effort': ('effort', 'efforts', 'torque', 'torques', 'tau', 'trq', 'tq', 'force', 'moment',
               'current', 'currents'),
}
STAMPS = ('time', 't', 'timestamp', 'stamp', 'secs', 'sec', 'seconds')
FRACTIONS = ('nanosec', 'nsec', 'nsecs', 'nanoseconds')
# What was wanted, or estimated from something else, is not what was measured
NOT_MEASURED = {'d', 'des', 'desired', 'cmd', 'command', 'commanded', 'target', 'ref',
                'reference', 'goal', 'error', 'err', 'ext', 'external', 'hat', 'setpoint'}
COMMON = {'joint', 'joints', 'state', 'states', 'actual', 'act', 'measured', 'meas', 'j', 'axis',
          'robot', 'arm', 'motor', 'value', 'data', 'm', 'msr', 'sensor', 'link'}


@dataclass
class Found:
    """
    Columns by quantity and joint.

    ``by_number`` is set where joints were told by number alone, so that their order is a guess;
    ``units`` are those that headers name.
    """

    time: str | None = None
    fraction: str | None = None
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    by_number: bool = False


def by_map(columns: Columns, headers: Sequence[str], joints: Sequence[str],
           arrays: Mapping[str, Sequence[str]]) -> Found:
    """
    Return the columns as they were named by the caller.

    :param arrays: names that stand for several columns, in the order of the joints.
    :raises RecordingError: there are not as many columns as joints, or a pattern is none.
    :raises UnknownNameError: there is no such column.
    """
    found = Found()
    for quantity, given in columns.items():
        if quantity not in (*WORDS, 'time'):
            raise UnknownNameError('quantity', str(quantity), (*WORDS, 'time'))
        if given is None:
            continue
        if isinstance(given, str) and given in arrays:
            each: Sequence[str | int] = arrays[given]
        elif isinstance(given, str) and '{' in given and quantity != 'time':
            each = [_fill(given, name, k) for k, name in enumerate(joints)]
        else:
            each = [given] if isinstance(given, str | int) else list(given)
        names = [_column(item, headers) for item in each]
        wanted = 1 if quantity == 'time' else len(joints)
        if len(names) != wanted:
            raise RecordingError(
                f'{len(names)} columns are named for the {quantity}', name=quantity, value=given,
                remedy=f'name {wanted}: for instance a pattern such as '
                       f"'{quantity}_{{name}}' or 'q{{i}}'")
        if quantity == 'time':
            found.time = names[0]
        else:
            found.columns[quantity] = dict(zip(joints, names))
    return found


def by_header(headers: Iterable[str], joints: Sequence[str]) -> Found:
    """
    Return the columns that usual headers tell of: q1, dq1, pos_joint1, joint1_torque, tau[0], ...

    :raises RecordingError: two columns would do equally well, or one has no known unit.
    """
    found = Found()
    ranks: dict[tuple[str, object], int] = {}
    numbered: dict[str, dict[int, str]] = {}
    for header in headers:
        text, unit = _without_unit(header)
        if (words := _words(text)) and _is_time(words, found, header, unit):
            continue
        joint, rest = _joint_in(text, joints)
        quantity, rank = _quantity(rest)
        if quantity is None and joint is not None:
            joint, (quantity, rank) = None, _quantity(words)
        if quantity is None:
            continue
        if unit:
            found.units.setdefault(quantity, unit)
        elif words and WORDS[quantity][rank % 100].startswith('current'):
            found.units.setdefault(quantity, 'A')
        if joint is not None:
            _take(found.columns.setdefault(quantity, {}), ranks, (quantity, joint), joint, rank,
                  header)
        elif (number := _number(text)) is not None:
            _take(numbered.setdefault(quantity, {}), ranks, (quantity, number), number,
                  rank, header)
    for quantity, of in numbered.items():
        if quantity in found.columns:
            continue
        base = 0 if 0 in of else 1
        found.columns[quantity] = {joint: of[k + base] for k, joint in enumerate(joints)
                                   if k + base in of}
        found.by_number = True
    return found


def by_count(headers: Sequence[str], joints: Sequence[str], timed: bool) -> Found:
    """
    Return the columns of a table without headers: time, positions, velocities, efforts.

    :param timed: whether the first column is the time.
    :raises RecordingError: there are not as many columns.
    """
    n, first = len(joints), 1 if timed else 0
    found = Found(time=headers[0] if timed else None, by_number=True)
    if len(headers) != first + 3 * n:
        raise RecordingError(
            f'the table has no header and {len(headers)} columns', name='columns',
            value=len(headers),
            remedy=f'say which is what by their numbers from 0, for instance '
                   f"{{'time': 0, 'position': range(1, {n + 1}), 'effort': "
                   f"range({n + 1}, {2 * n + 1})}}")
    for k, quantity in enumerate(WORDS):
        at = first + k * n
        found.columns[quantity] = dict(zip(joints, headers[at:at + n]))
    return found


def _fill(pattern: str, name: str, k: int) -> str:
    try:
        return pattern.format(name=name, i=k + 1, i0=k)
    except (KeyError, IndexError, ValueError):
        raise RecordingError(f'{pattern!r} is no pattern of columns', name=pattern, value=pattern,
                             remedy='use {name}, {i} (from 1) or {i0} (from 0)') from None


def _column(given: str | int, headers: Sequence[str]) -> str:
    if isinstance(given, str):
        if given not in headers:
            raise UnknownNameError('column', given, headers)
        return given
    if not 0 <= given < len(headers):
        raise RecordingError(f'there is no column {given}', name='columns', value=given,
                             remedy=f'the columns are 0 to {len(headers) - 1}')
    return headers[given]


def _take(into: dict, ranks: dict, key: tuple[str, object], place: object, rank: int,
          header: str) -> None:
    if key in ranks and ranks[key] == rank:
        raise RecordingError(
            f'columns {into[place]!r} and {header!r} could both be the {key[0]} of {key[1]}',
            name=str(header), value=(into[place], header),
            remedy=f"say which it is, for instance columns={{'{key[0]}': 'q{{i}}'}}")
    if key not in ranks or rank < ranks[key]:
        into[place], ranks[key] = header, rank


def _without_unit(header: str) -> tuple[str, str]:
    """Return a header without its unit, and the unit: of `q1 [deg]`, `time_ms`."""
    for known in re.findall(r'[\[(]([^\])]*)[\])]', header):
        bare = known.replace(' ', '')
        if bare in {*TIME, *CURRENT, *(u for table in (ROTARY, SLIDING)
                                       for of in table.values() for u in of)}:
            return re.sub(r'\s*[\[(]' + re.escape(known) + r'[\])]', '', header), bare
    if match := re.fullmatch(r'(.*)_(deg_s|rad_s|deg|rad|mNm|Nm|ms|us|ns|s)', header.strip()):
        return match[1], match[2].replace('_', '/')
    return header, ''


def _words(text: str) -> list[str]:
    return re.findall(r'[a-z]+', text.lower())


def _number(text: str) -> int | None:
    numbers = re.findall(r'\d+', text)
    return int(numbers[-1]) if numbers else None


def _is_time(words: list[str], found: Found, header: str, unit: str) -> bool:
    if _number(header) is not None or not {*words} <= {*STAMPS, *FRACTIONS, 'header', 'ros'}:
        return False
    if words[-1] in FRACTIONS:
        found.fraction = header
    elif found.time is None or 'header' in words:
        found.time = header
        if unit:
            found.units['time'] = unit
    return True


def _joint_in(text: str, joints: Sequence[str]) -> tuple[str | None, list[str]]:
    for joint in sorted(joints, key=len, reverse=True):
        match = re.search(rf'(?<![a-zA-Z0-9]){re.escape(joint)}(?![a-zA-Z0-9])', text)
        if match:
            return joint, _words(text[:match.start()] + ' ' + text[match.end():])
    return None, _words(text)


def _quantity(words: Sequence[str]) -> tuple[str | None, int]:
    """Return the quantity that words tell of, and how well: less is better."""
    if NOT_MEASURED & {*words} or not words:
        return None, 0
    if 'dot' in words:
        words = ['qdot' if word in ('q', 'theta') else word for word in words if word != 'dot']
    strange = 100 * sum(word not in COMMON and not any(word in of for of in WORDS.values())
                        for word in words)
    best = [(of.index(word), quantity) for word in words for quantity, of in WORDS.items()
            if word in of and word not in COMMON]
    if len({quantity for _, quantity in best}) > 1:
        return None, 0
    if not best:        # `joint3` and no more is its position
        bare = [word for word in words if word in ('joint', 'axis')]
        return ('position', WORDS['position'].index(bare[0]) + strange) \
            if len(bare) == len(words) else (None, 0)
    rank, quantity = min(best)
    return quantity, rank + strange

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Assignment of table columns to quantities and joints by their headers."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
import re

from . import units as of_units
from .units import known, Unit, Units
from ...errors import Argument, RecordingError, UnknownNameError

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
                    'reference', 'goal', 'error', 'err', 'ext', 'external', 'hat', 'setpoint',
                    'con', 'ctrl', 'control', 'fric', 'friction', 'ff', 'feedforward', 'fb',
                    'feedback', 'pid', 'grav', 'gravity', 'cor', 'coriolis', 'model', 'pred',
                    'predicted', 'sim', 'est', 'estimated', 'dist', 'disturbance', 'limit'}
IGNORED_WORDS = {
    'joint', 'joints', 'jnt', 'state', 'states', 'actual', 'act', 'measured', 'meas', 'j',
    'axis', 'robot', 'arm', 'motor', 'value', 'data', 'm', 'msr', 'sensor', 'link'}
# `q1_deg`, and where no number of a joint could be mistaken for one's name, `q_deg_1`
UNIT_SUFFIX = re.compile(r'(.*?)_(deg_s|rad_s|deg|rad|mNm|Nm|mA|A|ms|us|ns|s)')
UNIT_BEFORE_NUMBER = re.compile(r'(.*?)_(deg_s|rad_s|deg|rad|mNm|Nm|mA)(_?\d+)')
# Units of a drive, whose factor to SI the file does not tell
DRIVE_UNITS = re.compile('%|percent|counts|ticks|pulses|increments', re.IGNORECASE)
UNIT_AFTER_SLASH = re.compile(r'([^/].*?)/([^/]+/s|[^/]+)')
# Column pattern with {name}, {i} (from 1) or {i0}, or a list '3,5,7-9' of headers and numbers
# (from 0); or the columns themselves, in the joints' order
Columns = Mapping[str, str | int | Sequence[str | int] | None]


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
    """Return the last number of a header, or None."""
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


def same_numbers(names: Sequence[str], joints: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """
    Return the model's joint for each other name with the same number, and a note of this guess.

    :return: empty where a name is one of the model's, or numbers are missing or ambiguous.
    """
    if not {*names}.isdisjoint(joints):
        return {}, []
    ours = {number_in(joint): joint for joint in joints}
    theirs = {number_in(name): name for name in names}
    if None in ours or len(ours) < len(joints) or len(theirs) < len(names) \
            or not {*ours} <= {*theirs}:
        return {}, []
    known = {theirs[number]: joint for number, joint in ours.items()}
    return known, ['joints by number: ' + ', '.join(f'{a} → {b}' for a, b in known.items())]


@dataclass
class Found:
    """
    Columns by quantity and joint.

    :param time: column of stamps; ``fraction``: column of their nanoseconds.
    :param columns: headers by quantity and joint.
    :param by_number: whether joints were assigned by number alone, so that their order is a guess.
    """

    time: str | None = None
    fraction: str | None = None
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    by_number: bool = False

    def units(self, given: Units) -> dict[str, Unit | dict[str, Unit]]:
        """
        Return the units in the headers; joint by joint where they differ.

        :param given: units of the caller.
        :raises RecordingError: a quantity without one is in a unit of a drive.
        """
        units: dict[str, Unit | dict[str, Unit]] = {}
        if self.time is not None and (unit := _unit('time', self.time)):
            units['time'] = unit
        for quantity, columns in self.columns.items():
            of_drive = next(filter(DRIVE_UNITS.search, columns.values()), None)
            if of_drive is not None and quantity not in given:
                raise RecordingError(
                    f'column {of_drive!r} is in a unit that depends on the drive', name=quantity,
                    value=of_drive, remedy=('give its factor to SI, for instance ',
                                            Argument('units', {quantity: 0.01})))
            each: dict[str, Unit] = {joint: _unit(quantity, header) or of_units.SI_UNITS[quantity]
                                     for joint, header in columns.items()}
            if len({*each.values()}) > 1:
                units[quantity] = each
            elif each:
                units[quantity] = next(iter(each.values()))
        return units


def by_map(columns: Columns, headers: Sequence[str], joints: Sequence[str],
           arrays: Mapping[str, Sequence[str]]) -> Found:
    """
    Return the columns that the caller named.

    :param columns: by quantity, see :func:`~.read.read`.
    :param arrays: names that stand for several columns, in the order of the joints.
    :raises RecordingError: the numbers of columns and joints differ, or a pattern is malformed.
    :raises UnknownNameError: there is no such column or quantity.
    """
    found = Found()
    for quantity, given in columns.items():
        if quantity not in (*QUANTITY_WORDS, 'time'):
            raise UnknownNameError('quantity', str(quantity), (*QUANTITY_WORDS, 'time'))
        if given is None:
            continue
        if isinstance(given, str) and given in arrays:
            each: Sequence[str | int] = arrays[given]
        elif isinstance(given, str) and '{' in given and quantity != 'time':
            each = [_fill(given, name, k) for k, name in enumerate(joints)]
        elif isinstance(given, str) and given not in headers:
            each = _listed(given, headers)
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


def by_header(headers: Iterable[str], joints: Sequence[str], named: Collection[str] = ()
              ) -> Found:
    """
    Return the columns recognised by usual headers: q1, dq1, pos_joint1, tau[0], ...

    :param named: quantities that are not looked for.
    :raises RecordingError: two columns match equally well.
    """
    found = Found()
    ranks: dict[tuple[str, object], tuple[int, list[str]]] = {}
    numbered: dict[str, dict[int, str]] = {}
    for header in headers:
        text, _ = without_unit(header)
        if (words := words_in(text)) and _is_time(words, found, header):
            continue
        joint, rest = joint_in(text, joints)
        quantity, rank = quantity_of(rest)
        if joint is not None and not rest:      # nothing but its name: where it is
            quantity, rank = 'position', len(QUANTITY_WORDS['position'])
        elif quantity is None and joint is not None:
            joint, (quantity, rank) = None, quantity_of(words)
        if quantity is None or quantity in named:
            continue
        number = number_in(text)
        if joint is None and number is None and len(joints) == 1:
            joint = joints[0]
        if joint is not None:
            _take(found.columns.setdefault(quantity, {}), ranks, (quantity, joint), rank, header)
        elif number is not None:
            _take(numbered.setdefault(quantity, {}), ranks, (quantity, number), rank, header)
    for (quantity, whose), (_, same) in ranks.items():
        if len(same) > 1:
            raise RecordingError(
                f'columns {same[0]!r} and {same[1]!r} could both be the {quantity} of {whose}',
                name=same[1], value=tuple(same),
                remedy=('name it, for instance ', Argument('columns', {quantity: 'q{i}'})))
    for quantity, of in numbered.items():
        if quantity in found.columns:
            continue
        base = 0 if 0 in of else 1
        if those := {joint: of[k + base] for k, joint in enumerate(joints) if k + base in of}:
            found.columns[quantity] = those
            found.by_number = True
    return found


def by_count(headers: Sequence[str], joints: Sequence[str], timed: bool) -> Found:
    """
    Return the columns of a table without headers: time, positions, velocities, efforts.

    :param timed: whether the first column is the time.
    :raises RecordingError: the number of columns is another.
    """
    n, first = len(joints), 1 if timed else 0
    found = Found(time=headers[0] if timed else None, by_number=True)
    if len(headers) != first + 3 * n:
        raise RecordingError(
            f'the table has no header and {len(headers)} columns', name='columns',
            value=len(headers),
            remedy=('list their numbers, which begin at 0, for instance ', Argument('columns', {
                'time': 0, 'position': _range(first, n), 'effort': _range(first + n, n)}))
            if len(headers) > 1 else
            'it needs time, positions and efforts side by side, one sample a line')
    for k, quantity in enumerate(QUANTITY_WORDS):
        at = first + k * n
        found.columns[quantity] = dict(zip(joints, headers[at:at + n]))
    return found


def _fill(pattern: str, name: str, k: int) -> str:
    try:
        return pattern.format(name=name, i=k + 1, i0=k)
    except (KeyError, IndexError, ValueError):
        raise RecordingError(f'{pattern!r} is not a column pattern', name=pattern, value=pattern,
                             remedy='use {name}, {i} (from 1) or {i0} (from 0)') from None


def _listed(given: str, headers: Sequence[str]) -> list[str | int]:
    """Return the headers, or column numbers from 0, in '3,5,7-9' or 'a,b,c'."""
    each: list[str | int] = []
    for item in (word.strip() for word in given.split(',')):
        if item not in headers and (match := re.fullmatch(r'(\d+)(?:-(\d+))?', item)):
            each += range(int(match[1]), int(match[2] or match[1]) + 1)
        else:
            each.append(item)
    return each


def _range(first: int, count: int) -> str:
    return f'{first}-{first + count - 1}' if count > 1 else f'{first}'


def _column(given: str | int, headers: Sequence[str]) -> str:
    if isinstance(given, str):
        if given not in headers:
            raise UnknownNameError('column', given, headers)
        return given
    if not 0 <= given < len(headers):
        raise RecordingError(f'there is no column {given}', name='columns', value=given,
                             remedy=f'the columns are 0 to {len(headers) - 1}')
    return headers[given]


def _take(into: dict, ranks: dict[tuple[str, object], tuple[int, list[str]]],
          key: tuple[str, object], rank: int, header: str) -> None:
    """Take a column if its rank is the best one, and keep those of the same rank."""
    best, same = ranks.get(key, (rank + 1, []))
    if rank < best:
        into[key[1]], ranks[key] = header, (rank, [header])
    elif rank == best:
        same.append(header)


def _is_time(words: list[str], found: Found, header: str) -> bool:
    if number_in(header) is not None \
            or not {*words} <= {*TIME_WORDS, *NANOSECOND_WORDS, 'header', 'ros'}:
        return False
    if words[-1] in NANOSECOND_WORDS:
        found.fraction = header
    elif found.time is None or 'header' in words:
        found.time = header
    return True


def _unit(quantity: str, header: str) -> str:
    """Return the unit of this quantity in a header, or an empty string."""
    unit = without_unit(header)[1]
    if unit and of_units.fits(quantity, unit):
        return unit
    return 'A' if quantity == 'effort' and is_current(header) else ''

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint states as `ros2 topic echo --csv` and `rostopic echo -p` print them."""

from itertools import takewhile
import re

from .joint_states import LoggedState
from .read_table import DIALECT_LINES, is_text

FIELD_NAME = re.compile(r'field\.(name|position|velocity|effort)\d+')
HEADER_CELLS = 3    # before the names in ROS 2: seconds, nanoseconds, frame_id


def read_echo(text: str) -> tuple[list[LoggedState], str] | None:
    """
    Return the joint states of a text, and what they are in words; None where it has none.

    The names of the joints stand in each line, between the time and the numbers. ROS 2 prints no
    header: a line without velocities or efforts is not read, since it does not say which it lacks.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    header = lines[0].split(',')
    if header[0] == '%time' and 'field.name0' in header:
        what, at = 'lines of `rostopic echo -p`', _columns(header)
        found = [_ros1(line.split(','), at, len(header)) for line in lines[1:]]
    else:
        what = 'lines of `ros2 topic echo --csv`'
        looked_at = [_ros2(line.split(',')) for line in lines[:DIALECT_LINES]]
        if 2 * sum(state is not None for state in looked_at) < len(looked_at):
            return None
        found = [_ros2(line.split(',')) for line in lines]
    states = [state for state in found if state is not None]
    if len(states) < len(found):        # `A message was lost!!!`, or one that was cut off
        what += f', {len(found) - len(states)} others left out'
    return (states, what) if states else None


def _ros2(cells: list[str]) -> LoggedState | None:
    """Return the joint state of a line without header, None where it is none."""
    names = list(takewhile(is_text, cells[HEADER_CELLS:]))
    count, first = len(names), HEADER_CELLS + len(names)
    if not count or len(cells) not in (first + count, first + 3 * count):
        return None
    try:
        stamp = 10**9 * int(cells[0]) + int(cells[1])
        numbers = [float(cell) for cell in cells[first:]]
    except ValueError:
        return None
    return LoggedState(stamp, stamp, names, numbers[:count], numbers[count:2 * count],
                       numbers[2 * count:])


def _columns(header: list[str]) -> dict[str, list[int]]:
    """Return the columns of each field of the joint state, by its name."""
    at: dict[str, list[int]] = {'stamp': [], 'name': [], 'position': [], 'velocity': [],
                                'effort': []}
    for k, title in enumerate(header):
        if match := FIELD_NAME.fullmatch(title):
            at[match[1]].append(k)
        elif title == 'field.header.stamp':
            at['stamp'] = [k]
    return at


def _ros1(cells: list[str], at: dict[str, list[int]], width: int) -> LoggedState | None:
    """Return the joint state of a line below a header, None where it is none."""
    if len(cells) != width:
        return None
    try:
        position, velocity, effort = ([float(cells[k]) for k in at[name]]
                                      for name in ('position', 'velocity', 'effort'))
        return LoggedState(int(cells[0]), sum(int(cells[k]) for k in at['stamp']),
                           [cells[k] for k in at['name']], position, velocity, effort)
    except ValueError:
        return None

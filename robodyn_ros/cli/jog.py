# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `jog`: the frame of a task-space law moved from the keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
import os
import select
import sys
import termios
import time
import tty
from typing import Annotated, TYPE_CHECKING

import numpy as np
from numpy import ndarray
from rich.live import Live
from rich.table import Table
from rich.text import Text
import typer

from .options import command, connected, console, NodeName, RUN, SimTime, table, Wait
from ..errors import ParameterError, RosError

if TYPE_CHECKING:
    from ..control.settings.settings import Settings

# Direction of each key: axis of the twist (x, y, z, about x, about y, about z) and sign
KEYS = {'w': (0, 1), 's': (0, -1), 'a': (1, 1), 'd': (1, -1), 'r': (2, 1), 'f': (2, -1),
        'u': (3, 1), 'o': (3, -1), 'i': (4, 1), 'k': (4, -1), 'j': (5, 1), 'l': (5, -1)}
AXES = 'x', 'y', 'z', 'rotation about x', 'rotation about y', 'rotation about z'
FASTER, SLOWER, STOP, END = '+=', '-', ' ', 'q\x1b'     # Escape, or what begins with it
SPEED_FACTOR = 1.25
MIN_SPEED_SHARE = 0.05    # of the requested speed


@command(RUN, '--linear 0.05')
def jog(linear: Annotated[float, typer.Option(
            min=1e-4, help='Initial linear speed (m/s).')] = 0.05,
        angular: Annotated[float, typer.Option(
            min=1e-3, help='Initial angular speed (rad/s).')] = 0.2,
        hold: Annotated[float, typer.Option(
            min=0.05, max=2.0, help='Duration of the motion after a key press (s); longer than '
            'the repeat delay of the keyboard.')] = 0.5,
        node: NodeName = 'controller', sim_time: SimTime = False, wait: Wait = 10.0) -> None:
    """
    Move the frame of a task-space law (`task_frame`) from the keyboard.

    The controller must run cartesian_impedance or operational_space. The frame stops --hold after
    the last key press, and `twist_timeout` after the terminal is closed.
    """
    require_terminal('jog')
    out = console()
    with connected('jog', node, sim_time, wait) as (here, controller):
        from geometry_msgs.msg import TwistStamped
        from rcl_interfaces.msg import Log
        from rclpy.duration import Duration

        from ..nodes.clients.running_controller import warning

        limit = checked(controller.settings(), linear, angular)
        keys = Jog(np.array([linear, angular]), limit, hold)
        topic = f'{controller.name}/target_twist'
        publisher = here.node.create_publisher(TwistStamped, topic, 1)
        if not here.until(publisher.get_subscription_count, wait):
            raise RosError(f'no subscriber to {topic}', name=topic,
                           remedy='is the controller configured?')

        def tell(message: Log) -> None:
            if text := warning(message, node):
                out.print(text, style='yellow', markup=False)

        here.node.create_subscription(Log, '/rosout', tell, 100)

        def publish(twist: ndarray) -> None:
            message = TwistStamped()
            message.header.stamp = here.node.get_clock().now().to_msg()
            v, w = message.twist.linear, message.twist.angular
            v.x, v.y, v.z, w.x, w.y, w.z = twist.tolist()
            publisher.publish(message)

        out.print(key_table())
        moving = False
        try:
            with keyboard() as typed, Live(console=out, refresh_per_second=10) as line:
                while not keys.over:
                    now = time.monotonic()
                    for key in typed():
                        keys.press(key, now)
                    twist = keys.twist(now)
                    if twist.any() or moving:       # a zero twist, once, ends the motion
                        publish(twist)
                    moving = bool(twist.any())
                    line.update(Text(keys.describe(now)))
                    here.poll()
        finally:
            if moving:
                publish(np.zeros(6))
                publisher.wait_for_all_acked(Duration(seconds=1))


class Jog:
    """
    Twist that the keys typed so far ask for.

    A key moves the frame for ``hold`` [s]; its repetition while it is held down prolongs that.

    :param speed: (2,) [m/s, rad/s].
    :param limit: (2,) highest speed that can be set.
    """

    def __init__(self, speed: ndarray, limit: ndarray, hold: float):
        self.speed, self._limit, self._hold = np.array(speed, float), limit, hold
        self._slowest = MIN_SPEED_SHARE * self.speed
        self._key, self._until = '', 0.0
        self.over = False

    def press(self, key: str, now: float) -> None:
        """Handle a key pressed at a time [s]; unknown keys and the space bar stop the motion."""
        self._key = key if key in KEYS else ''
        self._until = now + self._hold
        if key in FASTER:
            self.speed = np.minimum(self.speed * SPEED_FACTOR, self._limit)
        elif key in SLOWER:
            self.speed = np.maximum(self.speed / SPEED_FACTOR, self._slowest)
        self.over |= key in END

    def twist(self, now: float) -> ndarray:
        """Return (6,) [m/s, rad/s], the twist at a time; zero when the last key is old."""
        twist = np.zeros(6)
        if self._key and now < self._until and not self.over:
            axis, sign = KEYS[self._key]
            twist[axis] = sign * self.speed[axis // 3]
        return twist

    def describe(self, now: float) -> str:
        """Return a line that shows speed and direction."""
        twist = self.twist(now)
        moves = ', '.join(f'{"+" if v > 0 else "-"} {axis}' for axis, v in zip(AXES, twist) if v)
        return (f'{self.speed[0]:.3f} m/s, {self.speed[1]:.3f} rad/s: '
                f'{moves or "no motion"}')


def checked(settings: Settings, linear: float, angular: float) -> ndarray:
    """
    Return the highest speeds (2,) [m/s, rad/s] that the controller accepts.

    :raises ParameterError: its mode follows no pose, or a speed is above its limit.
    """
    from ..control.laws.law import POSE

    if settings.law_in_force.reference != POSE:
        raise ParameterError(f'mode {settings.law_in_force.name} follows no twist', name='mode',
                             remedy='set mode to cartesian_impedance or operational_space')
    limit = np.array(settings.task_velocity_limit, float)
    for option, value, most in zip(('--linear', '--angular'), (linear, angular), limit):
        if value > most:
            raise ParameterError(f'{option} {value:g} is above task_velocity_limit {most:g}',
                                 name=option, value=value,
                                 remedy='ask for less, or raise that parameter')
    return limit


def key_table() -> Table:
    """Return the table of the keys."""
    rows = table('Keys, in the axes of the base', '+', '-', 'motion')
    for k, axis in enumerate(AXES):
        rows.add_row(*(next(key for key, how in KEYS.items() if how == (k, sign))
                       for sign in (1, -1)), axis)
    rows.add_row('+', '-', 'speed')
    rows.add_row('space', '', 'stop')
    rows.add_row('q', '', 'end')
    return rows


def require_terminal(command: str) -> None:
    """Raise :class:`RosError` where no keys can be read."""
    if not sys.stdin.isatty():
        raise RosError('stdin is not a terminal', name='stdin',
                       remedy=f'run robodyn {command} in a terminal of its own')


@contextmanager
def keyboard() -> Iterator[Callable[[], str]]:
    """Yield a function that returns the keys typed since its last call, without echo."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield partial(typed_keys, descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def typed_keys(descriptor: int) -> str:
    """Return the keys that wait to be read; a terminal that was closed is taken for `q`."""
    keys = ''
    while select.select([descriptor], [], [], 0.0)[0]:
        data = os.read(descriptor, 256)
        keys += data.decode(errors='replace')
        if not data:
            return keys + 'q'
    return keys

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `teach`: poses or a motion shown by hand, as a trajectory file for `play`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TYPE_CHECKING

import numpy as np
from numpy import ndarray
from rich.console import Console
from rich.live import Live
from rich.text import Text
import typer

from .jog import keyboard, require_terminal
from .options import command, connected, console, Force, NodeName, RUN, SimTime, States, Wait
from ..errors import Argument, check_new

if TYPE_CHECKING:
    from ..identification.excitation.trajectory_file import JointTrajectory
    from ..model.robot import RobotModel
    from ..nodes.middleware.client_session import Session

KEEP, DROP, END = '\n\r ', 'b\x7f', 'q\x1b'
COMPLIANT_MODES = 'gravity_compensation', 'hand_guiding'
MIN_RAMP_TIME = 0.5    # [s] to the speed of a motion


@command(RUN, 'poses.yaml')
def teach(file: Annotated[Path, typer.Argument(
              metavar='FILE', help='Trajectory file to write, for robodyn play.')],
          motion: Annotated[bool, typer.Option(
              '--motion', help='Record one motion between two keys, instead of poses.')] = False,
          speed: Annotated[float, typer.Option(
              min=0.01, max=1.0, help='Speed limit of the replay, as a share of the velocity '
              'limits; slower parts stay slow.')] = 0.3,
          smoothing: Annotated[float, typer.Option(
              min=0.02, max=2.0, metavar='SECONDS', help='Knot spacing of the spline through a '
              'motion: larger values remove more tremor.')] = 0.15,
          states: States = '',
          force: Force = False,
          node: NodeName = 'controller', sim_time: SimTime = False, wait: Wait = 10.0) -> None:
    """
    Record poses or a motion of an arm that is guided by hand, and write a trajectory.

    Joint angles change linearly between two poses. The motion is NOT CHECKED FOR COLLISIONS:
    play it slowly first.
    """
    from ..identification.excitation.trajectory_file import through_poses, write

    require_terminal('teach')
    out = console()
    if not force:
        check_new([file], 'FILE', ('choose another name, or ', Argument('force', True)))
    with connected('teach', node, sim_time, wait) as (here, controller):
        from ..nodes.clients.running_controller import beside

        states = states or beside(node, 'joint_states')
        settings = controller.settings()
        model = controller.model()
        if (mode := settings.law_in_force.name) not in COMPLIANT_MODES:
            out.print(f'! the mode is {mode}: the arm pulls back when you let go; set mode to '
                      f'{" or ".join(COMPLIANT_MODES)}', style='yellow')
        elif settings.law_in_force.guided:
            out.print('the arm moves while ~/guiding is true, and holds its pose while it is not')
        velocity = speed * settings.joint_records(model)['velocity_limit']
        limits = velocity, velocity / MIN_RAMP_TIME
        taught = (_motion(here, states, model, out, limits, smoothing) if motion else
                  through_poses(model.joint_names, _poses(here, states, model, out), *limits))
        write(file, taught)
    out.print(f'written: {file}, {len(taught.times)} points, {taught.times[-1]:.1f} s; '
              f'robodyn play {file} --approach 5' + f' --node {node}' * (node != 'controller'))


def _poses(here: Session, states: str, model: RobotModel, out: Console) -> ndarray:
    """Return the poses (P, nv) that a person keeps, one for each key."""
    from ..nodes.clients.live_control import LiveRobot

    robot = LiveRobot(here.node, model.joint_names, states)
    poses: list[ndarray] = []
    q = robot.position
    out.print('move the arm by hand; Enter keeps its pose, b drops the last one, q ends')
    with keyboard() as typed, Live(console=out, refresh_per_second=10) as line:
        while True:
            here.poll()
            present = robot.update(here.node.get_clock().now().nanoseconds * 1e-9)
            turned = model.nearest_turn(robot.position, q)      # NaN: there was no position yet
            q = np.where(np.isnan(q), robot.position, turned)
            for key in typed():
                if key in END:
                    return np.array(poses)
                if key in DROP and poses:
                    poses.pop()
                elif key in KEEP and present:
                    poses.append(q)
            at = ', '.join(f'{x:.3f}' for x in q)
            line.update(Text(f'{len(poses)} poses; now at [{at}]' if present else
                             f'waiting for joint states on {robot.topic}'))


def _motion(here: Session, states: str, model: RobotModel, out: Console,
            limits: tuple[ndarray, ndarray], smoothing: float) -> JointTrajectory:
    """Return the motion that a person shows between two keys."""
    from ..identification.excitation.trajectory_file import smoothed
    from ..identification.recordings.read import without_jumps
    from ..nodes.clients.record import Recorder, silent

    out.print('Enter begins: move the arm when states are counted; Enter ends the motion')
    recorder = None
    try:
        with keyboard() as typed, Live(console=out, refresh_per_second=10) as line:
            while True:
                here.poll()
                pressed = any(key in KEEP + END for key in typed())
                if pressed and recorder is not None:
                    break
                if pressed:
                    recorder = Recorder(here.node, states)
                line.update(Text('not begun' if recorder is None else
                                 f'{len(recorder)} states on {recorder.topic}'))
    finally:
        if recorder is not None:
            recorder.stop()
    if not len(recorder):
        raise silent(here.node, recorder.topic)
    found = without_jumps(recorder.recording(), model)
    return smoothed(model.joint_names, found.time, found.position, *limits, smoothing)

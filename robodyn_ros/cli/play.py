# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands `play` and `record`: trajectories and joint states of a running robot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TYPE_CHECKING

from rich.console import Console
import typer

from .options import (
    command, console, Force, IDENTIFY, NodeName, play_with_bar, playing, RUN, seconds_bar, SimTime,
    States, Wait, wait_with_bar)
from ..errors import require_modules, RosError, TrajectoryError

if TYPE_CHECKING:
    from ..identification.recordings.recording import Recording


@command(RUN, 'excite.yaml --approach 5 --record motion.npz')
def play(file: Annotated[Path, typer.Argument(
             metavar='FILE', help='Trajectory, as robodyn excite writes it: YAML of a '
                                  'JointTrajectory.')],
         node: NodeName = 'controller',
         states: States = '',
         delay: Annotated[float, typer.Option(
             min=0.0, help='Seconds to wait before the motion.')] = 0.0,
         approach: Annotated[float, typer.Option(
             min=0.0, metavar='SECONDS', help='Minimum duration of a motion from the present pose '
             'to the start, at no more than half of the highest velocities in FILE. It is NOT '
             'CHECKED FOR COLLISIONS: keep the way free. 0: the robot must be there.')] = 0.0,
         record: Annotated[Path | None, typer.Option(
             metavar='FILE', help='Also record the motion: .npz or .csv.')] = None,
         force: Force = False,
         unconfirmed: Annotated[bool, typer.Option(
             '--unconfirmed', help='Do not check diagnostics, for controllers of other '
             'packages.')] = False,
         sim_time: SimTime = False,
         wait: Wait = 10.0) -> None:
    """
    Send a trajectory to a running controller; fails if it is refused. Ctrl-C stops the arm.

    The action FollowJointTrajectory needs ros-<distro>-control-msgs of a ROS installation.
    """
    require_modules('play', ['rclpy'], RosError)
    from ..identification.excitation.trajectory_file import read
    from ..identification.recordings.recording import check_target, write
    from ..nodes.clients.play import approach as approach_to, SETTLE_TIME
    from ..nodes.clients.record import recording

    out, motion = console(), read(file)
    if record is not None:
        check_target(record, force)
    with playing('play', node, states, sim_time, wait, confirm=not unconfirmed) as (
            here, controller, player), seconds_bar(out) as bars:
        if delay:
            wait_with_bar(here, bars, 'delay', delay)
        if approach:
            play_with_bar(player, bars, 'approach', approach_to(
                motion, player.pose(motion.joint_names), approach,
                None if unconfirmed else controller.model()))
        if record is None:
            play_with_bar(player, bars, 'motion', motion)
            return
        recorder, refused = None, False
        try:
            with recording(here, player.states, wait) as recorder:
                here.until(lambda: False, SETTLE_TIME)
                play_with_bar(player, bars, 'motion', motion)
        except TrajectoryError:
            refused = True
            raise
        finally:            # the record of a failed motion may explain it
            if recorder is not None and len(recorder) and not refused:
                found = recorder.recording()
                write(record, found)
                _report(out, record, found, recorder.lost)


@command(IDENTIFY, 'motion.npz')
def record(file: Annotated[Path, typer.Argument(
               metavar='FILE', help='File of the recording: .npz or .csv.')],
           states: Annotated[str, typer.Option(
               '--states', help='Topic of the joint states.')] = 'joint_states',
           duration: Annotated[float | None, typer.Option(
               min=0.1, help='Duration from the first message on (s); default: until '
                             'Ctrl-C.')] = None,
           force: Force = False, wait: Wait = 30.0) -> None:
    """Record joint states, with velocities and efforts, into a file for identification."""
    require_modules('record', ['rclpy'], RosError)
    from ..nodes.clients.record import record as recorded

    out = console()
    with out.status('') as status:
        recording, lost = recorded(file, states, seconds=duration, wait=wait, force=force,
                                 began=lambda name: out.print(f'recording {name}' + (
                                     '; Ctrl-C ends it' if duration is None else '')),
                                 tell=status.update)
    _report(out, file, recording, lost)


def _report(out: Console, path: Path, recording: Recording, lost: int) -> None:
    quantities = [name for name in ('position', 'velocity', 'effort')
                  if getattr(recording, name) is not None]
    span = float(recording.time[-1] - recording.time[0])
    out.print(f'{path}: {len(recording)} samples of {len(recording.joint_names)} joints '
              f'({", ".join(quantities)}), {span:.3f} s'
              + (f', {(len(recording) - 1) / span:.1f} Hz' if span > 0 else '')
              + f', {lost} lost on the way')
    for note in recording.notes:
        out.print(f'! {note}', style='yellow')

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands `play` and `record`: trajectories and joint states of a running robot."""

from __future__ import annotations

from pathlib import Path
import time
from typing import Annotated, TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
import typer

from .options import command, console, Force, IDENTIFY, NodeName, RUN, SimTime, States, Wait
from ..catalog.requirements import require_modules
from ..errors import RosError, TrajectoryError

if TYPE_CHECKING:
    from ..identification.excitation.trajectory_file import JointTrajectory
    from ..identification.recordings.recording import Recording
    from ..nodes.middleware.client_session import Session


@command(RUN, 'excite.yaml --approach 5 --record motion.npz')
def play(file: Annotated[Path, typer.Argument(
             metavar='FILE', help='Trajectory, as robodyn excite writes it: YAML of a '
                                  'JointTrajectory.')],
         node: NodeName = 'controller',
         states: States = 'joint_states',
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
    """Send a trajectory to a running controller; fails if the controller refuses it."""
    require_modules('play', ['rclpy'], RosError)
    topic = f'/{node.strip("/")}/joint_trajectory'
    run(file, console(), topic=topic, states=states, delay=delay, slowly=approach, into=record,
        force=force, confirm=not unconfirmed, sim_time=sim_time, wait=wait)


@command(IDENTIFY, 'motion.npz')
def record(file: Annotated[Path, typer.Argument(
               metavar='FILE', help='File of the recording: .npz or .csv.')],
           states: States = 'joint_states',
           duration: Annotated[float | None, typer.Option(
               min=0.1, help='Duration from the first message on (s); default: until '
                             'Ctrl-C.')] = None,
           force: Force = False, wait: Wait = 30.0) -> None:
    """Record joint states, with velocities and efforts, into a file for identification."""
    require_modules('record', ['rclpy'], RosError)
    record_to(file, console(), topic=states, seconds=duration, wait=wait, force=force)


def run(file: Path, out: Console, *, topic: str, states: str, delay: float, slowly: float,
         into: Path | None, force: bool, confirm: bool, sim_time: bool, wait: float) -> None:
    """
    Play a trajectory file with a progress bar.

    :param delay: before the motion [s].
    :param slowly: minimum duration of an approach [s], 0 for none.
    :param into: file of a recording of the motion.
    """
    from ..identification.excitation.trajectory_file import read
    from ..identification.recordings.recording import check_target, write
    from ..nodes.clients.play import approach, Player, SETTLE_TIME
    from ..nodes.clients.record import Recorder, silent
    from ..nodes.middleware.client_session import session

    motion = read(file)
    if into is not None:
        check_target(into, force)
    with session('robodyn_play', sim_time) as here, Progress(
            TextColumn('{task.description}'), BarColumn(), TextColumn(
                '{task.completed:.1f} of {task.total:.1f} s'), console=out) as bars:
        player = Player(here, topic, states, confirm=confirm, within=wait, option='--node')
        player.find()

        def go(what: str, asked: JointTrajectory) -> None:
            bar = bars.add_task(what)
            try:
                player.play(asked, lambda at, end: bars.update(bar, completed=at, total=end))
            except KeyboardInterrupt:
                out.print('The controller has the whole trajectory and goes on to its end; to '
                          'stop it, deactivate it.', style='yellow')
                raise
        if delay:
            _count_down(here, bars, delay)
        if slowly:
            go('approach', approach(motion, player.pose(motion.joint_names), slowly))
        if into is None:
            go('motion', motion)
            return
        recorder, refused = Recorder(here.node, states), False
        try:
            if not here.until(lambda: len(recorder), wait):
                raise silent(here.node, recorder.topic)
            begun = time.monotonic()
            here.until(lambda: time.monotonic() - begun > SETTLE_TIME, wait)
            go('motion', motion)
        except TrajectoryError:
            refused = True
            raise
        finally:            # the record of a failed motion may explain it
            recorder.stop()
            if len(recorder) and not refused:
                recording = recorder.recording()
                write(into, recording)
                _report(out, into, recording, recorder.lost)


def record_to(file: Path, out: Console, *, topic: str, seconds: float | None, wait: float,
              force: bool) -> None:
    """Record a topic, with a line of progress."""
    from ..nodes.clients.record import record as recorded

    with out.status('') as status:
        recording, lost = recorded(file, topic, seconds=seconds, wait=wait, force=force,
                                 began=lambda name: out.print(f'recording {name}' + (
                                     '; Ctrl-C ends it' if seconds is None else '')),
                                 tell=status.update)
    _report(out, file, recording, lost)


def _count_down(here: Session, bars: Progress, delay: float) -> None:
    begun, bar = time.monotonic(), bars.add_task('delay', total=delay)
    while (waited := time.monotonic() - begun) < delay:
        bars.update(bar, completed=waited)
        here.poll()
    bars.update(bar, completed=delay)


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

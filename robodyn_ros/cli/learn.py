# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `play --learn`: a trajectory is repeated, and the efforts along it are learned."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from .options import table
from ..errors import RosError, TrajectoryError

if TYPE_CHECKING:
    from ..control.learning.iterative_learning import IterativeLearning, Outcome, Repeat
    from ..nodes.clients.play import Player
    from ..nodes.middleware.client_session import Session

START_DELAY = 1.0    # [s] from publication to the start, reference of the recorded times
SUFFIX = '.learned.npz'
MAX_UNMEASURED = 3    # repeats in a row with missing states, after which learning ends


def learn(file: Path, out: Console, *, topic: str, states: str, repeats: int, kept: Path | None,
          picture: Path | None, slowly: float, sim_time: bool, wait: float) -> None:
    """
    Play a trajectory file once with the efforts that are known, then ``repeats`` times learning.

    :param kept: file of the efforts; None: FILE with another suffix.
    :param slowly: minimum duration of the approach before each repeat [s], 0 for none.
    """
    from ..control.learning import learned_efforts
    from ..control.learning.iterative_learning import IterativeLearning
    from ..control.references.trajectory import Waypoints
    from ..identification.excitation.trajectory_file import read
    from ..nodes.clients.play import approach, Player, START_TOLERANCE
    from ..nodes.clients.running_controller import RunningController
    from ..nodes.middleware.client_session import session

    motion = read(file)
    if not slowly and np.abs(motion.positions[-1] - motion.positions[0]).max() > START_TOLERANCE:
        raise TrajectoryError(f'{file} does not end where it begins', name=str(file),
                              remedy='give --approach SECONDS, with which it is repeated')
    kept = kept or file.with_suffix(SUFFIX)
    outcomes: list[Outcome] = []
    with session('robodyn_play', sim_time) as here:
        player = Player(here, topic, states, confirm=True, within=wait, option='--node')
        player.find()
        controller = RunningController(here, player.listener, wait)
        learning = IterativeLearning(controller.model(), controller.settings(), Waypoints(
            motion.joint_names, motion.times, motion.positions, motion.velocities,
            motion.accelerations))
        if kept.exists():
            learned_efforts.restore(kept, learning)
            out.print(f'beginning with the efforts of {kept}')
        try:
            for k in range(repeats + 1):
                if controller.settings() != learning.settings:
                    raise RosError(f'the parameters of {player.listener} have changed meanwhile',
                                   name=player.listener, remedy='learn again')

                def repeat(k: int = k) -> Outcome:
                    if slowly:
                        player.play(approach(motion, player.pose(motion.joint_names), slowly),
                                    lambda at, end: None)
                    return learning.learn(_repeat(here, player, learning, states, wait, out, k))
                outcomes.append(_measured(repeat, out, k))
                _tell(out, k, outcomes[-1])
                if learning.ended:
                    break
        finally:            # what was learned before a fault is not lost
            if np.isfinite(learning.best_rms):
                learned_efforts.write(kept, learning)
                out.print(f'{kept}: efforts of the best repeat')
    _report(out, learning.model.joint_names, outcomes)
    if picture is not None:
        _draw(picture, learning.model.joint_names, outcomes)


def _repeat(here: Session, player: Player, learning: IterativeLearning, states: str, wait: float,
            out: Console, k: int) -> Repeat:
    """Play the waypoints of the next repeat, and return the recorded states."""
    from ..control.learning.iterative_learning import Repeat
    from ..nodes.clients.record import Recorder, silent

    recorder = Recorder(here.node, states)
    try:
        if not here.until(lambda: len(recorder), wait):
            raise silent(here.node, recorder.topic)
        before = player.limited_cycles()
        with Progress(TextColumn('{task.description}'), BarColumn(), console=out,
                      transient=True) as bars:
            bar = bars.add_task(f'repeat {k}')
            start = player.play(learning.waypoints, lambda at, end: bars.update(
                bar, completed=at, total=end), START_DELAY)
        limited = player.limited_cycles() - before
    finally:
        recorder.stop()
    recording = recorder.recording().of(learning.model.joint_names)
    cycles = learning.times[-1] * learning.settings.rate
    return Repeat(recording.time + 1e-9 * (recorder.began - start),
                  recording.position, limited / cycles)


def _measured(repeat: Callable[[], Outcome], out: Console, k: int) -> Outcome:
    """
    Return the outcome of a repeat, which is made again where states of it are missing.

    :raises RosError: states were missing MAX_UNMEASURED times in a row.
    """
    for _ in range(MAX_UNMEASURED):
        outcome = repeat()
        if np.isfinite(outcome.rms):
            return outcome
        out.print(f'repeat {k} has no error to learn from: {outcome.message}')
    raise RosError(f'repeat {k} could not be measured {MAX_UNMEASURED} times: {outcome.message}',
                   name='joint_states', remedy='look for what keeps the machine or the network '
                   'busy; what was learned before is kept')


def _tell(out: Console, k: int, outcome: Outcome) -> None:
    out.print(f'repeat {k}: {outcome.rms:.3g} rad or m RMS'
              + (f'; nothing learned: {outcome.message}' if outcome.message else ''))


def _report(out: Console, names: tuple[str, ...], outcomes: list[Outcome]) -> None:
    """Print the errors of all repeats as a table."""
    rows = table('RMS error [mrad or mm]', 'repeat', *names, 'all', '')
    first = outcomes[0].rms
    for k, outcome in enumerate(outcomes):
        rows.add_row(str(k), *(f'{1e3 * x:.3f}' for x in (*outcome.joints, outcome.rms)),
                     f'{100.0 * (outcome.rms / first - 1.0):+.0f} %' if k else '')
    out.print(rows)


def _draw(path: Path, names: tuple[str, ...], outcomes: list[Outcome]) -> None:
    """Draw the errors of all repeats."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout='constrained', dpi=110)
    panel = figure.subplots()
    for name, row in zip(names, 1e3 * np.array([outcome.joints for outcome in outcomes]).T):
        panel.plot(row, label=name, alpha=0.6)
    panel.plot([1e3 * outcome.rms for outcome in outcomes], 'k', marker='o', label='all')
    panel.set(yscale='log', xlabel='repeat', ylabel='RMS error [mrad or mm]')
    panel.grid(alpha=0.3)
    panel.legend()
    figure.savefig(path)

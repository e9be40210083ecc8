# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `excite`: an exciting trajectory, its table and its picture."""

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from math import isinf
from pathlib import Path
from types import MappingProxyType
from typing import Any, TYPE_CHECKING

import numpy as np
from rich.console import Console, Group
from rich.progress import Progress

from .identify import recording_of
from .options import table
from .pictures import save
from ..catalog.robots import CatalogRobot
from ..dynamics import Dynamics
from ..errors import ArgumentError, IdentificationError
from ..extras import pip_install
from ..identification.excitation.collision_geometry import GEOMETRY_KINDS, shapes
from ..identification.excitation.fourier import Fourier
from ..identification.excitation.motion_limits import motion_limits, Shares
from ..identification.excitation.optimize import Excitation, excite
from ..identification.excitation.trajectory_file import JointTrajectory, write
from ..identification.motion import Motion
from ..identification.options import PreparationOptions
from ..identification.preparation.prepare import prepare
from ..report.units import units

if TYPE_CHECKING:
    from ..identification.excitation.collisions import Collisions

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
PICTURE_OVERSAMPLING = 5    # points for each of the trajectory


def run(robot: CatalogRobot, out: Console, *, output: Path, picture: Path | None, series: Fourier,
        criterion: str, starts: int, seed: int, shares: Shares, velocity: Sequence[str],
        acceleration: Sequence[str], ranges: Sequence[str], include: Sequence[str], kind: str,
        packages: Sequence[Path], ground: float | None, clearance: float, approach: float,
        repeat: int, after: Sequence[Path] = (), reading: Mapping[str, Any] = NO_OPTIONS) -> None:
    """
    Optimize a motion, print its table, and write the trajectory and a picture.

    :param reading: keyword arguments of :func:`~..identification.recordings.read.read` for the
        recordings ``after`` which the motion comes.
    """
    if approach < 0.0 or repeat < 1:
        raise ArgumentError(f'--approach {approach:g} --repeat {repeat}', name='--repeat',
                            value=(approach, repeat),
                            remedy='give a time from 0 on, and at least 1 repetition')
    model = robot.model
    limits = motion_limits(
        model, shares, ranges=_ranges(ranges),
        velocity=_by_joint('--velocity-limit', velocity, model.joint_names),
        acceleration=_by_joint('--acceleration', acceleration, model.joint_names))
    collisions, why = _collisions(robot, kind, packages, clearance, ground)
    dynamics, known = Dynamics(model), recorded(after, robot, reading, out)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task('optimising', total=1.0)
        found = excite(dynamics, robot.pose, limits, series=series, criterion=criterion,
                       starts=starts, seed=seed, include=include, collisions=collisions,
                       after=known, progress=lambda done: bar.update(task, completed=done))
    out.print(_report(found, shares, why))
    times, *motion = found.trajectory(repeat=repeat)
    write(output, JointTrajectory(model.joint_names, times + approach, *motion))
    out.print(f'trajectory: {output} ({len(times)} points, {times[-1] + approach:g} s)'
              + (f', which first goes to its start for {approach:g} s: nothing has looked at '
                 'that way' if approach else ''))
    if find_spec('matplotlib') is None:
        out.print(f'no picture: matplotlib is not installed ({pip_install("matplotlib")})',
                  style='yellow')
        return
    from ..identification.excitation.picture import draw
    fine, q, qd, qdd = found.trajectory(PICTURE_OVERSAMPLING * found.rate)
    figure = draw(
        f'{model.name}: condition {found.reached.condition:.3g} of '
        f'{len(found.columns)} base parameters', found, (fine, q, qd, qdd),
        dynamics.batch.inverse_dynamics(q, qd, qdd) + dynamics.batch.friction(qd),
        units(robot.model))
    picture = picture or output.with_suffix('.png')
    save(figure, picture)
    out.print(f'picture: {picture}')


def recorded(paths: Sequence[Path], robot: CatalogRobot, reading: Mapping[str, Any], out: Console
             ) -> list[Motion]:
    """Return the motions of recordings; print how they were read."""
    found = []
    for path in paths:
        recording = recording_of(path, robot, reading, out).of(robot.model.joint_names)
        found.append(prepare(recording, PreparationOptions()).motion)
    return found


def _collisions(robot: CatalogRobot, kind: str, packages: Sequence[Path], clearance: float,
                ground: float | None) -> tuple['Collisions | None', str]:
    """Return the collision checker, if any, and a line about it."""
    if kind not in (*GEOMETRY_KINDS, 'none'):
        raise ArgumentError(f'--shapes {kind!r}', name='--shapes', value=kind,
                            remedy=f'choose {", ".join(GEOMETRY_KINDS)} or none')
    found = [] if kind == 'none' else shapes(robot.path, kind, packages)
    if found:
        try:
            from ..identification.excitation.collisions import Collisions
        except ImportError as error:
            raise IdentificationError(
                f'collisions cannot be looked for ({error})', name='mujoco',
                remedy=f'run `{pip_install("mujoco")}`, or go without, with --shapes none'
                ) from error
        where = ('no ground given (--ground HEIGHT)' if ground is None
                 else f'ground {ground:g} m above the base')
        return (Collisions(robot.model, found, robot.pose, clearance, ground),
                f'at least {clearance:g} m between {len(found)} {kind} shapes; {where}')
    if ground is not None:
        raise IdentificationError('there are no shapes that could touch the ground',
                                  name='ground', value=ground,
                                  remedy='take others, with --shapes, or leave out --ground')
    return None, ('' if kind == 'none' else f'! the URDF has no {kind} geometry' + (
        ': --shapes visual takes the shapes that are shown' if kind == GEOMETRY_KINDS[0] else ''))


def _report(found: Excitation, shares: Shares, why: str) -> Group:
    attempts = table(f'Attempts ({found.criterion})', 'start', 'condition at random', 'condition',
                     'information')
    for k, attempt in enumerate(found.attempts):
        reached = attempt.reached
        attempts.add_row(f'{k + 1}', f'{attempt.start.condition:.4g}',
                         'keeps no limits' if reached is None else f'{reached.condition:.4g}',
                         '-' if reached is None else f'{reached.information:.4g}',
                         style='bold' if k == found.best else '')
    usage = table('What the motion takes, and how much of what is allowed', 'joint', 'from', 'to',
                  'velocity', 'acceleration', 'effort')
    use, limits = found.usage, found.limits
    for i, name in enumerate(found.joint_names):
        usage.add_row(name, f'{use.lower[i]:.3f}', f'{use.upper[i]:.3f}', *(
            f'{value[i]:.3g}' + ('' if isinf(limit[i]) else f' {value[i] / limit[i]:4.0%}')
            for value, limit in ((use.velocity, limits.velocity),
                                 (use.acceleration, limits.acceleration),
                                 (use.effort, limits.effort))))
    unlimited = np.isinf(limits.acceleration).any()
    bounds = ['accelerations: bounded by the effort limits and by the highest frequency alone '
              '(--acceleration)'] if unlimited else []
    lines = [f'{len(found.columns)} base parameters; allowed are {shares.position:.0%} of the '
             f'position range, {shares.velocity:.0%} of the velocity limits, {shares.effort:.0%} '
             'of the effort limits', *bounds, *([why] if why else []),
             *(f'! {note}' for note in found.notes)]
    return Group(attempts, usage, *lines)


def _words(words: Iterable[str]) -> list[str]:
    return [word.strip() for word in ','.join(words).split(',') if word.strip()]


def _by_joint(option: str, words: Iterable[str], joints: Sequence[str]) -> Mapping[str, float]:
    """Return the numbers of ``name=value`` words; one without a name is for all joints."""
    found: dict[str, float] = {}
    for word in _words(words):
        name, _, value = word.rpartition('=')
        try:
            found |= dict.fromkeys([name.strip()] if name else joints, float(value))
        except ValueError:
            raise ArgumentError(f'{option} {word!r} cannot be read', name=option, value=word,
                                remedy='write a number for all joints, or a joint and a number: '
                                       'joint1=2.5') from None
    return found


def _ranges(words: Iterable[str]) -> Mapping[str, tuple[float, float]]:
    found = {}
    for word in _words(words):
        name, _, ends = word.rpartition('=')
        try:
            lower, upper = (float(end) for end in ends.split(':'))
        except ValueError:
            raise ArgumentError(f'--range {word!r} cannot be read', name='--range', value=word,
                                remedy='write a joint and two ends: joint1=-1.5:2') from None
        found[name.strip()] = lower, upper
    return found

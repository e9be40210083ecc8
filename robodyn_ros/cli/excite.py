# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `excite`: an exciting trajectory, its table and its picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from math import isinf
from pathlib import Path
from typing import Annotated, Any, TYPE_CHECKING, TypeVar

import numpy as np
from rich.console import Console, Group
from rich.progress import Progress
import typer

from .options import (
    At, chosen_robot, command, console, Force, Gravity, IDENTIFY, Locked, output, print_doubts,
    Robot, Root, save_picture, table, Tip)
from .recording_options import (
    ColumnsOption, Joints, Rate, read_options, recording_of, Topic, UnitsOption)
from ..errors import ArgumentError, check_new, IdentificationError
from ..extras import pip_install

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy import ndarray

    from ..catalog.robots import CatalogRobot
    from ..identification.excitation.base_regressor import Shares
    from ..identification.excitation.collisions import Collisions
    from ..identification.excitation.optimize import Excitation
    from ..identification.motion import Motion

T = TypeVar('T')
NEAR_LIMIT = 0.7    # share of a limit
PICTURE_OVERSAMPLING = 5    # points for each of the trajectory


@command(IDENTIFY, 'my_arm.urdf')
def excite(robot: Robot, locked: Locked = [], at: At = '',  # noqa: B006
           root: Root = '',
           tip: Tip = '',
           gravity: Gravity = '',
           output: Annotated[Path, output('File of the trajectory: YAML of a JointTrajectory.')
                             ] = Path('excite.yaml'), force: Force = False,
           picture: Annotated[Path | None, typer.Option(
               metavar='PNG', help='File of the picture; default: beside the '
                                   'trajectory.')] = None,
           harmonics: Annotated[int, typer.Option(
               help='Harmonics of the Fourier series, 2 or more.')] = 5,
           period: Annotated[float, typer.Option(help='Period of the first harmonic (s).')] = 10.0,
           repeat: Annotated[int, typer.Option(help='Number of periods in the file.')] = 1,
           starts: Annotated[int, typer.Option(help='Number of random initial motions.')] = 5,
           criterion: Annotated[str, typer.Option(
               help='condition (minimize) or information (maximize).')] = 'condition',
           include: Annotated[str, typer.Option(
               help='Joint parameters to identify besides the inertias: friction, offset, '
                    'armature, separated by commas; or nothing.')] = 'friction',
           velocity: Annotated[float, typer.Option(
               help='Fraction of the velocity limits that may be used.')] = 0.8,
           effort: Annotated[float, typer.Option(
               help='Fraction of the effort limits that may be used.')] = 0.7,
           position: Annotated[float, typer.Option(
               help='Fraction of the range of each joint that may be used.')] = 0.95,
           ranges: Annotated[list[str], typer.Option(
               '--range', metavar='[JOINT=]LOWER:UPPER', help='Allowed range of a joint (rad or '
               'm).')
           ] = [],  # noqa: B006
           velocity_limit: Annotated[list[str], typer.Option(
               metavar='[JOINT=]V', help='Velocity limit, below that of the URDF.')
           ] = [],  # noqa: B006
           acceleration: Annotated[list[str], typer.Option(
               metavar='[JOINT=]A', help='Acceleration limit; default: bounded by the efforts '
                                         'only.')] = [],  # noqa: B006
           kind: Annotated[str, typer.Option(
               '--shapes', help='Shapes checked for collisions: those of collision or '
                                'visual elements, or none.')] = 'collision',
           packages: Annotated[list[Path], typer.Option(
               '--package-dir', metavar='FOLDER', help='ROS package with meshes of the URDF, or '
               'folder that contains such packages. Can be repeated.')] = [],  # noqa: B006
           ground: Annotated[float | None, typer.Option(
               help='Height of the ground above the origin of the base (m).')] = None,
           clearance: Annotated[float, typer.Option(
               min=0.0, help='Minimum distance between shapes (m).')] = 0.01,
           after: Annotated[list[Path], typer.Option(
               '--after', metavar='RECORDING', help='Recording that there is already: the motion '
               'is to tell what it does not. Can be repeated.')] = [],  # noqa: B006
           columns: ColumnsOption = [], units: UnitsOption = [],  # noqa: B006
           rate: Rate = None, topic: Topic = '', joints: Joints = '',
           approach: Annotated[float, typer.Option(
               help='Duration of a motion to the start (s); 0: the robot must be there.')] = 0.0,
           seed: Annotated[int, typer.Option(
               min=0, help='Seed of the random motions.')] = 0) -> None:
    """Optimize an exciting trajectory for parameter identification."""
    from ..control.settings.motion_limits import velocity_warning
    from ..control.settings.settings import Settings
    from ..dynamics import Dynamics
    from ..identification.excitation.base_regressor import motion_limits, Shares
    from ..identification.excitation.optimize import excite as optimized
    from ..identification.excitation.trajectory_file import Fourier, JointTrajectory, write
    from ..model.robot import units as units_of

    chosen, out = chosen_robot(robot, locked, root, tip, gravity, at), console()
    if approach < 0.0 or repeat < 1:
        raise ArgumentError(f'--approach {approach:g} --repeat {repeat}', name='--repeat',
                            value=(approach, repeat),
                            remedy='use a time from 0 on, and at least 1 repetition')
    if not force:
        check_new([output], '--output', 'choose another --output, or --force to replace it')
    model, shares = chosen.model, Shares(position, velocity, effort)
    series = Fourier(harmonics, period)
    joint_names = model.joint_names
    limits = motion_limits(
        model, shares, ranges=_by_joint('--range', ranges, joint_names, _range, '-1.5:2'),
        velocity=_by_joint('--velocity-limit', velocity_limit, joint_names, float, '2.5'),
        acceleration=_by_joint('--acceleration', acceleration, joint_names, float, '2.5'))
    print_doubts(out, model)
    used = replace(model, velocity_limit=limits.velocity / velocity)
    if unreal := velocity_warning(used, Settings()):
        out.print(f'! {unreal}', style='yellow', soft_wrap=True)
    if not at:          # joints at the end of their range start in its middle
        chosen = replace(chosen, pose=np.where(
            (limits.lower < chosen.pose) & (chosen.pose < limits.upper), chosen.pose,
            (limits.lower + limits.upper) / 2))
    collisions, why = _collisions(chosen, kind, packages, clearance, ground)
    dynamics = Dynamics(model)
    known = recorded(after, chosen, read_options(columns, units, rate, topic, joints), out)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task('optimising', total=1.0)
        found = optimized(
            dynamics, chosen.pose, limits, series=series, criterion=criterion, starts=starts,
            seed=seed, include=_words([include]), collisions=collisions, after=known,
            progress=lambda done: bar.update(task, completed=done))
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
    fine, q, qd, qdd = found.trajectory(PICTURE_OVERSAMPLING * found.rate)
    figure = _figure(
        f'{model.name}: condition {found.reached.condition:.3g} of '
        f'{len(found.columns)} base parameters', found, (fine, q, qd, qdd),
        dynamics.batch.inverse_dynamics(q, qd, qdd) + dynamics.batch.friction(qd),
        units_of(model))
    picture = picture or output.with_suffix('.png')
    save_picture(figure, picture)
    out.print(f'picture: {picture}')


def recorded(paths: Sequence[Path], robot: CatalogRobot, reading: Mapping[str, Any], out: Console
             ) -> list[Motion]:
    """Return the motions of recordings; print how they were read."""
    from ..identification.motion import prepare
    from ..identification.options import PreparationOptions

    found = []
    for path in paths:
        recording = recording_of(path, robot, reading, out).of(robot.model.joint_names)
        found.append(prepare(recording, PreparationOptions()).motion)
    return found


def _collisions(robot: CatalogRobot, kind: str, packages: Sequence[Path], clearance: float,
                ground: float | None) -> tuple[Collisions | None, str]:
    """Return the collision checker, if any, and a line about it."""
    found = []
    if kind != 'none':
        try:
            from ..identification.excitation.collisions import Collisions, GEOMETRY_KINDS, shapes
        except ImportError as error:
            raise IdentificationError(
                f'collisions cannot be looked for ({error})', name='mujoco',
                remedy=f'run `{pip_install("mujoco")}`, or go without, with --shapes none'
                ) from error
        if kind not in GEOMETRY_KINDS:
            raise ArgumentError(f'--shapes {kind!r}', name='--shapes', value=kind,
                                remedy=f'choose {", ".join(GEOMETRY_KINDS)} or none')
        found = shapes(robot.path, kind, packages)
    if found:
        where = ('no ground given (--ground HEIGHT)' if ground is None
                 else f'ground {ground:g} m above the base')
        return (Collisions(robot.model, found, robot.pose, clearance, ground),
                f'at least {clearance:g} m between {len(found)} {kind} shapes; {where}')
    if ground is not None:
        raise IdentificationError('there are no shapes that could touch the ground',
                                  name='ground', value=ground,
                                  remedy='take others, with --shapes, or leave out --ground')
    return None, ('' if kind == 'none' else f'! the URDF has no {kind} geometry' + (
        ': --shapes visual takes the shapes that are shown' if kind == 'collision' else ''))


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


def _by_joint(option: str, words: Iterable[str], joints: Sequence[str], read: Callable[[str], T],
              example: str) -> dict[str, T]:
    """Return the values of ``name=value`` words; one without a name is for all joints."""
    found: dict[str, T] = {}
    for word in _words(words):
        name, _, value = word.rpartition('=')
        try:
            found |= dict.fromkeys([name.strip()] if name else joints, read(value))
        except ValueError:
            raise ArgumentError(f'{option} {word!r} cannot be read', name=option, value=word,
                                remedy=f'write {example} for all joints, or joint1={example}'
                                ) from None
    return found


def _range(ends: str) -> tuple[float, float]:
    lower, upper = (float(end) for end in ends.split(':'))
    return lower, upper


def _figure(title: str, found: Excitation, motion: tuple[ndarray, ndarray, ndarray, ndarray],
            effort: ndarray, units: tuple[str, str]) -> Figure:
    """
    Return the figure; dashed lines are limits, where a joint comes near them.

    :param motion: times (T,) [s] and q, q̇, q̈ (T, nv).
    :param effort: (T, nv) [N·m | N].
    :param units: of positions and of efforts.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    times, q, qd, _ = motion
    colors = mpl.colormaps['tab10' if len(found.joint_names) <= 10 else 'viridis'].resampled(
        max(len(found.joint_names), 10))
    figure = Figure(figsize=(9.0, 9.0), layout='constrained')
    figure.suptitle(title.replace('$', r'\$'))
    rows = figure.subplots(3, 1, sharex=True)
    labels = (f'position [{units[0]}]', f'velocity [{units[0]}/s]', f'effort [{units[1]}]')
    limits = (None, found.limits.velocity, found.limits.effort)
    for axes, values, label, limit in zip(rows, (q, qd, effort), labels, limits):
        for i, name in enumerate(found.joint_names):
            axes.plot(times, values[:, i], color=colors(i), lw=1.2, label=name.replace('$', r'\$'))
        # Only those that a joint comes near: others would press the curves flat
        if limit is not None:
            for joint in np.flatnonzero(np.abs(values).max(0) > NEAR_LIMIT * limit).tolist():
                for sign in (-1.0, 1.0):
                    axes.axhline(sign * limit[joint], color=colors(joint), lw=0.8, ls='--')
        axes.set_ylabel(label)
        axes.grid(alpha=0.25)
    rows[-1].set(xlabel='time [s]', xlim=(times[0], times[-1]))
    figure.legend(*rows[0].get_legend_handles_labels(), loc='outside lower center',
                  ncols=min(len(found.joint_names), 7), fontsize=8)
    return figure

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `replay`: recomputation of the cycles before a fault."""

from __future__ import annotations

from datetime import datetime, timezone
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, TYPE_CHECKING

import numpy as np
from numpy import ndarray
from rich import box
from rich.table import Table
import typer

from .options import AsJson, command, console, DIAGNOSE, print_json, ReportFile, save_picture
from .simulate import write_csv
from ..errors import ArgumentError, RecordingError
from ..extras import pip_install

if TYPE_CHECKING:
    from ..control.controller.history import Snapshot
    from ..flight_recorder.arrays import Flown
    from ..flight_recorder.replay import Agreement, Replay
    from ..report.document import Report

Limits = tuple[tuple[str, float], tuple[str, float]]    # lower, upper: field of JOINT, sign
MIN_LABELED_WIDTH = 0.08    # of a phase, relative to the picture
MIN_DATE = 1e9    # [s]: later times are dates, earlier ones simulation time
MAX_STEP, MAX_JUMPS = 10.0, 5    # [s] between two cycles, else time has jumped; shown jumps
PHASE_COLORS = '#808080', '#8b6bd1', '#2a9d5c', '#e07b1a', '#c03020'


@command(DIAGNOSE, 'fault.mcap --report fault.html')
def replay(file: Annotated[Path, typer.Argument(
               metavar='FILE', help='Recording of the flight recorder of a controller.')],
           cycle: Annotated[int | None, typer.Option(
               '--cycle', metavar='N', help='Cycle to show; default: the one in which the '
               'latest fault latched.')] = None,
           law: Annotated[list[str], typer.Option(
               '--law', metavar='PACKAGE.MODULE:NAME', help='Custom law of the recording; its '
               'module is imported. Repeatable.')] = [],  # noqa: B006
           overlay: Annotated[Path | None, typer.Option(
               '--overlay', metavar='FILE', help='Recording of another run of the same robot, '
               'drawn into the plots of the report.')] = None,
           picture: Annotated[Path | None, typer.Option(
               '--picture', metavar='PNG', help='File of the picture; default: beside FILE.')
               ] = None,
           csv_file: Annotated[Path | None, typer.Option(
               '--csv', metavar='FILE', help='Also write time, positions, velocities, efforts and '
               'references of all cycles.')] = None,
           report: ReportFile = None, as_json: AsJson = False) -> None:
    """Recompute the last seconds before a fault and show the cycle in which it latched."""
    from ..control.laws import registry
    from ..flight_recorder.file import read
    from ..flight_recorder.replay import latched, Replay

    for mode in law:
        registry.find(mode)
    out, picture = console(as_json), picture or file.with_suffix('.png')
    flown = read(file)
    other = None if overlay is None else read(overlay)
    for path, one in ((file, flown), (overlay, other)):
        if one is not None and not len(one.snapshot.cycles):
            raise RecordingError(f'{path} holds no cycle', name='file', value=str(path),
                                 remedy='let the controller be active for a while')
    s, about, count = flown.snapshot, flown.about, len(flown.snapshot.cycles)
    if other is not None and other.model.joint_names != flown.model.joint_names:
        raise ArgumentError(f'{overlay} has the joints {", ".join(other.model.joint_names)}',
                            name='--overlay', value=str(overlay), remedy='give a recording of '
                            'the joints ' + ', '.join(flown.model.joint_names))
    faults = latched(s)
    k = _shown_cycle(s)
    if cycle is not None:
        if not 0 <= cycle < count:
            raise ArgumentError(f'there is no cycle {cycle}', name='--cycle', value=cycle,
                                remedy=f'the file has cycles 0 to {count - 1}')
        k = cycle
    t, jumps = _continuous_time(s)

    def say(line: str, style: str | None = None) -> None:
        out.print(line, style=style, soft_wrap=True)
    say(f'{flown.model.name}, {about.node}: {about.reason}, {about.sentence}; '
        f'noticed {about.time}', 'bold')
    say(f'{count} cycles, {t[-1]:.3f} s; trigger {about.trigger}, data path '
        f'{about.data_path}; sets of settings: {len(s.versions)}, references: {len(s.points)}')
    if jumps:
        say('time jumps in ' + ', '.join(f'cycle {i} by {by:+.3f} s' for i, by in
                                         list(jumps.items())[:MAX_JUMPS])
            + ': the simulation was reset or paused, or a state was of another time; '
            'pictures leave this out', 'yellow')
    with out.status(f'recomputing {count} cycles ...'):     # in a terminal only
        again = Replay(flown.model, s)
        agreement, same_code = again.compare(), about.code == again.code
    for line in _said(flown, agreement, same_code):
        say(line, 'green' if agreement.same == count else 'yellow')
    say(_happened(flown, k), 'bold')
    if len(faults) > 1:
        say(f'faults latched in cycles {", ".join(map(str, faults))}: --cycle shows another')
    out.print(_table(flown, again, k))
    if csv_file is not None:
        curves = _curves(flown)
        write_csv(csv_file, t, flown.model.joint_names, [one[1] for one in curves],
                  np.where(curves[0][3][:, None], curves[0][2], np.nan))
        say(f'written: {csv_file}')
    if report is not None:
        said = ' '.join(f'{line[0].upper()}{line[1:]}.' for line in _said(flown, agreement,
                                                                         same_code))
        _report(flown, again, k, said, {file: flown, **({overlay: other} if overlay and other
                                                        else {})}).write(report)
        say(f'report: {report}')
    if find_spec('matplotlib') is None:
        say(f'no picture: matplotlib is not installed ({pip_install("matplotlib")})', 'yellow')
    else:
        with out.status('drawing ...'):
            _draw(flown, k, file.name, picture)
        say(f'picture: {picture}')
    if as_json:
        print_json({
            'robot': flown.model.name, 'node': about.node, 'reason': about.reason,
            'sentence': about.sentence, 'cycle': k, 'faults': faults, 'cycles': count,
            'agreeing': agreement.same, 'largest_difference': agreement.largest,
            'same_code': same_code})
    if same_code and agreement.same != count:
        raise typer.Exit(1)


def _said(flown: Flown, agreement: Agreement, same_code: bool) -> list[str]:
    """Return how the recomputed cycles compare with the recorded ones."""
    from ..compiler.code_cache import machine

    a, names = agreement, flown.model.joint_names
    if a.same == a.cycles:
        lines = [f'recomputed: all {a.cycles} cycles agree bit by bit']
    else:
        lines = [f'recomputed: {a.same} of {a.cycles} cycles agree bit by bit; efforts differ by '
                 f'at most {a.largest:.3g} (cycle {a.cycle}, {names[a.joint]}); the first '
                 f'difference is in cycle {a.first}: {", ".join(a.what)}']
    if not same_code:
        lines.append(f'recorded by other code or another machine ({flown.about.version}, '
                     f'{flown.about.machine}; here: {machine()}): last bits may differ')
    return lines


def _happened(flown: Flown, k: int) -> str:
    """Time, phases and reason of a cycle, in words."""
    from ..control.laws import registry
    from ..control.steps import guard
    from ..flight_recorder.replay import fault_in

    s = flown.snapshot
    before, after, cycle = s.memory[k], s.memory[k + 1], s.cycles[k]
    given = s.inputs[k]
    time = float(cycle['now']) + flown.about.offset
    date = (f' ({datetime.fromtimestamp(time, timezone.utc):%F %T.%f} UTC)'
            if MIN_DATE < time < 100 * MIN_DATE else '')
    phases = ' → '.join(dict.fromkeys(guard.PHASES[m['phase']] for m in (before, after)))
    text = f'cycle {k}, {cycle["now"]:.6f} s{date}: {phases}'
    if after['phase'] == guard.FAULT:
        text += ', ' + ': '.join(fault_in(flown.model.joint_names, after))
    elif before['arming'] or after['arming']:
        text += f', arming: {guard.REASONS[guard.CODES[after["arming_refusal"]]]}'
    settings = s.versions[int(cycle['version'])].settings
    timeout = f'state_timeout {settings.state_timeout:g} s'
    return (f'{text}; mode {registry.mode_name(int(after["mode"]))}, {timeout}, '
            f'{given["missed"]} periods missed, {given["listeners"]} listeners')


def _table(flown: Flown, replay: Replay, k: int) -> Table:
    """Show what each joint did, should have done, and was given."""
    from ..control.steps import guard
    from ..control.steps.cycle_data import Vectors

    s, model = flown.snapshot, flown.model
    published = replay.run(k)
    v = Vectors.of(replay.vectors)
    joints = s.versions[int(s.cycles[k]['version'])].joints
    running = guard.RUNNING in (s.memory['phase'][k], replay.memory['phase'][0])
    target = running and replay.memory['mode'][0] in _following(s)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ('joint', 'position', 'limits', 'reference', 'velocity', 'limit', 'reference',
                    'measured', 'gravity', 'published' if published else 'not published', 'limit',
                    'age [ms]'):
        table.add_column(heading, justify='left' if heading == 'joint' else 'right', no_wrap=True)
    for i, (name, state, j) in enumerate(zip(model.joint_names, s.state[k], joints)):
        table.add_row(
            name, _number(state['position']),
            f'{_number(j["position_lower"])} … {_number(j["position_upper"])}',
            *map(_number, (v.target[i] if target else np.nan, state['velocity'],
                           j['velocity_limit'], v.target_qd[i] if target else np.nan,
                           state['effort'], v.gravity[i], replay.tau[i], j['effort_limit'],
                           1e3 * (s.cycles[k]['now'] - state['received']))))
    return table


def _following(s: Snapshot) -> list[int]:
    """Return the numbers of the laws that follow a reference."""
    from ..control.laws import registry

    modes = map(registry.mode_name, {*map(int, s.memory['mode'])})
    return [registry.number(mode) for mode in modes if registry.find(mode).follows]


def _number(x: float) -> str:
    return '-' if np.isnan(x) else f'{x:.5g}'


def _shown_cycle(s: Snapshot) -> int:
    """Return the cycle in which the latest fault latched, without one the last cycle."""
    from ..flight_recorder.replay import latched

    faults = latched(s)
    return int(faults[-1]) if len(faults) else len(s.cycles) - 1


def _continuous_time(s: Snapshot) -> tuple[ndarray, dict[int, float]]:
    """Return the time of the cycles [s], from 0 on, without jumps, and these by their cycle."""
    steps = np.diff(s.cycles['now'])
    jumps = np.flatnonzero((steps < 0.0) | (steps > MAX_STEP))
    found = {int(k) + 1: float(steps[k]) for k in jumps}
    steps[jumps] = 0.0
    return np.append(0.0, steps.cumsum()), found


def _curves(flown: Flown) -> list[tuple[str, ndarray, ndarray, ndarray, Limits]]:
    """Return quantities: name, values, those drawn dashed, where the latter are, and limits."""
    from ..control.steps import guard
    from ..control.steps.cycle_data import VECTOR_NAMES

    s = flown.snapshot
    published, running = s.cycles['published'] == 1, s.memory['phase'][1:] == guard.RUNNING
    follows = running & np.isin(s.memory['mode'][1:], _following(s))
    vector = {name: s.vectors[1:, i] for i, name in enumerate(VECTOR_NAMES)}
    return [
        ('position [rad | m]', s.state['position'], vector['target'], follows,
         (('position_lower', 1.0), ('position_upper', 1.0))),
        ('velocity [rad/s | m/s]', s.state['velocity'], vector['target_qd'], follows,
         (('velocity_limit', -1.0), ('velocity_limit', 1.0))),
        ('effort [N·m | N]', np.where(published[:, None], s.tau[1:], np.nan), vector['gravity'],
         published, (('effort_limit', -1.0), ('effort_limit', 1.0)))]


def _report(flown: Flown, replay: Replay, k: int, said: str, runs: dict[Path, Flown]) -> Report:
    """Return the report of the first of the runs at a cycle; a second one is drawn over it."""
    from ..control.steps import guard
    from ..flight_recorder.replay import fault_in
    from ..report.document import Band, hashed, Report
    from ..report.scene import moving_robot

    s, model, about = flown.snapshot, flown.model, flown.about
    after = s.memory[k + 1]
    fault, code = bool(after['phase'] == guard.FAULT), guard.CODES[after['reason']]
    report = Report(
        f'Recording of {model.name}, {about.node}', f'{_happened(flown, k)}; noticed '
        f'{about.time}. {said}', bad=fault, files=hashed(runs), verdict=(
            'No fault has latched.' if not fault else f'{code}: {about.sentence}.'
            if code == about.reason else f'{": ".join(fault_in(model.joint_names, after))}.'))
    report.rich(f'Cycle {k}', _table(flown, replay, k))
    t, jumps = _continuous_time(s)
    t = t - t[k]
    bands = [Band(t[first], t[last], guard.PHASES[phase], PHASE_COLORS[phase])
             for (first, last), phase in _spans(s.memory['phase'][1:])]
    report.heading(f'Joints, by the seconds from cycle {k}')
    report.legend({band.name: band.color for band in bands})
    report.text('Solid: measured, efforts as published. Dashed: reference of positions and '
                'velocities, gravity of efforts. Red: limits, where they are near.'
                + f' Dotted: {list(runs)[-1].name}.' * (len(runs) > 1)
                + f' Time jumps in cycle {", ".join(map(str, jumps))}.' * bool(jumps))
    other = None
    for one in list(runs.values())[1:]:
        beside = _continuous_time(one.snapshot)[0]
        other = beside - beside[_shown_cycle(one.snapshot)], _curves(one)
    joints = s.versions[int(s.cycles[k]['version'])].joints
    marks = {float(t[i]): 'time jumps' for i in jumps} | {0.0: ''}
    for i, joint in enumerate(model.joint_names):
        for row, (name, values, dashed, shown, limits) in enumerate(_curves(flown)):
            quantity, _, unit = name.strip(']').partition(' [')
            lower, upper = (sign * float(joints[one][i]) for one, sign in limits)
            known = values[np.isfinite(values[:, i]), i]
            report.plot(
                f'{joint} {quantity}' + (f': {known.min():.3g} to {known.max():.3g}' if known.size
                                         else '')
                + f' {unit.split(" | ")[int(model.slides[i])]}, limits '
                + (f'±{upper:.4g}' if lower == -upper else f'{lower:.4g} to {upper:.4g}'), t,
                {'measured': values[:, i]}, '', '', small=True, bands=bands, marks=marks,
                dashed={'measured': np.where(shown, dashed[:, i], np.nan)},
                other={'measured': (other[0], other[1][row][1][:, i])} if other else {},
                limits=[lower, upper])
    found = np.isfinite(s.state['position']).all(axis=1)
    if moving := moving_robot(model, None, t[found], s.state['position'][found]):
        report.page('The motion', moving)
    settings = s.versions[int(s.cycles[k]['version'])].settings
    report.parameters('Settings in force', vars(settings))
    return report


def _draw(flown: Flown, k: int, title: str, picture: Path) -> None:
    """Draw positions, velocities and efforts."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from ..control.steps import guard
    from ..flight_recorder.replay import latched

    s, model = flown.snapshot, flown.model
    t = _continuous_time(s)[0]
    t, rows = t - t[k], _curves(flown)
    with mpl.rc_context({'font.size': 9}):
        figure = Figure(figsize=(9.0, 8.0), layout='constrained')
        axes = figure.subplots(3, 1, sharex=True)
        colors = mpl.colormaps['tab10']
        for ax, (name, values, beside, shown, _) in zip(axes, rows):
            ax.set_title(name, loc='left')
            for i, joint in enumerate(model.joint_names):
                color = colors(i % 10)
                ax.plot(t, values[:, i], color=color, lw=1.2, label=joint)
                ax.plot(t, np.where(shown, beside[:, i], np.nan), color=color, lw=1.0, ls='--')
            ax.axvline(0.0, color='#303030', lw=0.8)
            for fault in latched(s):
                ax.axvline(t[fault], color='#c03020', lw=1.2)
            ax.grid(alpha=0.3)
        for (first, last), phase in _spans(s.memory['phase'][1:]):
            if phase != guard.RUNNING:
                for ax in axes:
                    ax.axvspan(t[first], t[last], lw=0,
                               color='#c03020' if phase == guard.FAULT else '#808080', alpha=0.08)
            if t[last] - t[first] < MIN_LABELED_WIDTH * (t[-1] - t[0]):
                continue
            axes[0].annotate(guard.PHASES[phase], (t[first], 1.0), (2, -2),
                             xycoords=('data', 'axes fraction'), textcoords='offset points',
                             va='top', fontsize=7, annotation_clip=True)
        axes[0].plot([], [], color='#303030', ls='--', lw=1.0, label='reference; gravity')
        axes[0].legend(fontsize=7, ncols=min(len(model.joint_names) + 1, 5), loc='lower left')
        axes[-1].set_xlabel(f's from cycle {k}')
        figure.suptitle(f'{title}: {flown.about.sentence}', x=0.02, ha='left')
        save_picture(figure, picture)


def _spans(phases: ndarray) -> list[tuple[tuple[int, int], int]]:
    """Return where each phase begins and ends: ((first, next), phase)."""
    changes = np.flatnonzero(np.diff(phases)) + 1
    firsts = [0, *changes.tolist()]
    return [((a, b), int(phases[a])) for a, b in zip(firsts, [*firsts[1:], len(phases) - 1])]

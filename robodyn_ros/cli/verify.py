# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `verify`: from the files of a robot to a case, and to the table of its risks."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields, replace
from pathlib import Path
import shlex
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .options import print_doubts
from ..catalog.robots import CatalogRobot, load_robot, one_line, read_configuration
from ..control.laws import registry
from ..control.references.reference_planning import plan
from ..control.references.trajectory import GENTLE_TIME, Waypoints
from ..control.settings.motion_limits import motion_limits, velocity_warning
from ..control.settings.parameters import ControlParameters
from ..control.settings.settings import GAINS, Settings
from ..errors import (
    ArgumentError, check_new, ParameterError, TrajectoryError, UnknownNameError, writing)
from ..model.resources import robot_path, share_path
from ..model.robot import RobotModel
from ..model.validate import check_inertias
from ..nodes.middleware.parameter_files import check_gravity_given, config_path, meant, values_in
from ..realtime.loop_settings import TRIGGERS
from ..report.document import hashed
from ..verification import criteria, sensitivity, worlds as worlds_files
from ..verification.catalogue import drawable
from ..verification.results import digest, fingerprint, Results
from ..verification.trial import Case, check, Outcome, play_all, record
from ..verification.worlds import BY_NAME

BRIEF = 2.0             # s of a world
NODE = '/controller'
ROBOT_PARAMETERS = ('urdf', 'root', 'tip', 'locked_joints', 'locked_positions', 'gravity',
                    'accepted_links')


def verification_case(robot: str, locked: Mapping[str, float], config: Path | None,
                      motion: Path | None, worlds: Path | None, seed: int, out: Console, *,
                      brief: bool = False) -> tuple[Case, str]:
    """
    Return what is verified, and the command line that asks for it.

    :raises RobodynError: a file cannot be read, or does not fit the robot.
    """
    values, chosen, settings = configured_robot(robot, locked, config, out)
    model = chosen.model
    check_inertias(model, values.get('accepted_links', []))
    locked = locked or _locked(values)
    found = (worlds_files.default_worlds(model, settings) if worlds is None
             else worlds_files.read(worlds, model, settings))
    true = _true_model(found.truth, chosen, values)
    follows = any(registry.find(mode).follows for mode in found.modes)
    if motion is not None and not follows:
        raise ArgumentError(f'no mode of the worlds follows {motion}: {", ".join(found.modes)}',
                            name='--motion', value=str(motion), remedy='set gains of a mode that '
                            'follows trajectories, or name one in the modes of --worlds')
    if brief:
        found = replace(found, seconds=min(found.seconds, BRIEF))
    trigger = str(values.get('trigger', 'timer'))
    if trigger not in TRIGGERS:
        raise ParameterError(f'parameter trigger = {trigger!r} is refused', name='trigger',
                             value=trigger, remedy=f'choose one of {", ".join(TRIGGERS)}')
    simulated = worlds_files.MAX_RATE / max(1, round(worlds_files.MAX_RATE / settings.rate))
    if abs(simulated - settings.rate) > 0.01 * settings.rate:
        out.print(f'! rate: {settings.rate:g} Hz is simulated at {simulated:g} Hz, because worlds '
                  'have steps of 1 ms', style='yellow', soft_wrap=True)
    words = ['robodyn', 'verify', robot]
    for option, value in (('--config', config), ('--motion', motion), ('--worlds', worlds),
                          ('--seed', seed or None)):
        words += [option, str(value)] if value is not None else []
    for name, position in locked.items() if config is None else ():
        words += ['--locked', f'{name}={position:g}'] if name not in values.get(
            'locked_joints', []) else []
    again = shlex.join([*words, *(['--brief'] if brief else [])])
    asked = None if motion is None else waypoints(motion, model, settings)
    if asked is not None and settings.tested_effort:        # the test of the motors moves the arm
        asked = replace(asked, times=asked.times + GENTLE_TIME)
    urdf = Path(found.truth.urdf) if found.truth.urdf else None
    given = (robot_path(robot), urdf, share_path('config', f'{robot}.yaml') if config is None else
             config_path(str(config)), motion, worlds)
    return Case(chosen.name, model, settings, found, seed, trigger, asked, tuple(hashed(given)),
                true), again


def _true_model(truth: worlds_files.Truth, chosen: CatalogRobot, values: Mapping[str, Any]
                ) -> RobotModel | None:
    """Return the robot that moves, if it is another one than that of the controller."""
    if not (truth.urdf or truth.locked_positions):
        return None
    locked = chosen.parameters['controller']
    names = locked.get('locked_joints', [])
    positions = truth.locked_positions or locked.get('locked_positions', [])
    if len(positions) != len(names):
        raise ArgumentError(f'truth.locked_positions has {len(positions)} positions of '
                            f'{len(names)} locked joints', name='locked_positions',
                            value=list(positions), remedy='pass one for each of '
                            + (', '.join(names) or 'the locked joints, of which there are none'))
    true = load_robot(truth.urdf or str(chosen.path), dict(zip(names, positions)), [],
                      root=values.get('root') or None, tip=values.get('tip') or None,
                      gravity=values.get('gravity') or None).model
    if true.joint_names != chosen.model.joint_names:
        raise ArgumentError(f'{truth.urdf} has the joints {", ".join(true.joint_names)}',
                            name='truth.urdf', value=truth.urdf, remedy='use a URDF with the '
                            'joints ' + ', '.join(chosen.model.joint_names))
    return true


def configured_robot(robot: str, locked: Mapping[str, float], config: Path | None, out: Console,
                     pose: Sequence[float] = ()) -> tuple[dict[str, Any], CatalogRobot, Settings]:
    """
    Return the values of a parameter file, its robot, and its settings.

    :param locked: replaces the locked joints of the file; ``config``: None: config/ROBOT.yaml.
    :raises RobodynError: a file cannot be read, or does not fit the robot.
    """
    values = _configured(robot, config)
    chosen = load_robot(robot, locked or _locked(values), list(pose),
                        root=values.get('root') or None, tip=values.get('tip') or None,
                        gravity=values.get('gravity') or None)
    check_gravity_given(values, chosen.name)
    print_doubts(out, chosen.model)
    settings = _settings(values, out)
    if unreal := velocity_warning(chosen.model, settings):
        out.print(f'! {unreal}', style='yellow', soft_wrap=True)
    return values, chosen, settings


def _locked(values: Mapping[str, Any]) -> dict[str, float]:
    return dict(zip(values.get('locked_joints', []), values.get('locked_positions', [])))


def _configured(robot: str, config: Path | None) -> dict[str, Any]:
    if config is not None:
        return values_in(config_path(str(config)), NODE)
    robot_path(robot)       # an unknown robot has no parameter file either
    if known := read_configuration(robot):
        return known['controller']
    raise ParameterError(f'{robot} has no parameter file', name='--config', value=robot,
                         remedy=f'write one with `robodyn init {robot}`, and give it with '
                         '--config')


def _settings(values: Mapping[str, Any], out: Console) -> Settings:
    """Return the settings of a parameter file; print names that resemble a parameter."""
    known = [f.name for f in fields(ControlParameters)]
    mode = values.get('mode', Settings().mode)
    own = [f.name for f in registry.find(mode).declared if f.name not in GAINS]
    for name in values:
        if name not in (*known, *own, *ROBOT_PARAMETERS) and (question := meant(name, known)):
            out.print(f'! parameter {name} has no effect here{question}', style='yellow',
                      soft_wrap=True)
    return Settings(**{name: values[name] for name in known if name in values},
                    gains={name: values[name] for name in own if values.get(name)})


def waypoints(path: Path, model: RobotModel, settings: Settings) -> Waypoints:
    """Return the motion of a trajectory file or a recording, whose time begins at zero."""
    if path.suffix in ('.yaml', '.yml'):
        from ..identification.excitation.trajectory_file import read

        motion = read(path)
    else:
        from ..identification.excitation.trajectory_file import smoothed
        from ..identification.recordings.read import read as read_recording

        recording = read_recording(path, model)
        velocity = settings.joint_records(model)['velocity_limit']
        motion = smoothed(recording.joint_names, recording.time, recording.position, velocity,
                          settings.acceleration(model, velocity), 0.2)
    for name in model.joint_names:
        if name not in motion.joint_names:
            raise TrajectoryError(f'{path} has no joint {name}', name=name, value=str(path),
                                  remedy='pass a motion of all joints: '
                                  + ', '.join(model.joint_names))
    order = [motion.joint_names.index(name) for name in model.joint_names]
    found = Waypoints(model.joint_names, motion.times - motion.times[0],
                      motion.positions[:, order], motion.velocities[:, order],
                      motion.accelerations[:, order])
    limits = motion_limits(model, settings, settings.joint_records(model)['velocity_limit'])
    plan(limits, found, None, motion.positions[0, order], 0.0, 0)       # refuses it
    return found


FOLDER = Path('build/verify')
INTERVAL = 10.0         # s between two lines of progress where there is no terminal
SHOWN, REPORTED = 5, 10             # worst worlds


def template(case: Case, path: Path, out: Console) -> None:
    """Write a worlds file; it replaces none."""
    check_new([path], '--write-worlds', 'choose another name, or delete it')
    heading = (f'Worlds of `robodyn verify` for {case.name}. `truth` describes the real robot: '
               'replace the values, which are those of the parameter file, by measured ones.')
    with writing(path, '--write-worlds'):
        path.write_text(worlds_files.text(case.worlds, heading), encoding='utf-8')
    out.print(f'wrote {path}; edit it, then give --worlds {path}', soft_wrap=True)


def faults(out: Console) -> None:
    """Print the names of the faults."""
    for name in drawable():
        out.print(name)


def one_world(case: Case, index: int, output: Path | None, out: Console) -> Outcome:
    """Play and print one world."""
    from ..flight_recorder.file import available

    path = (output or FOLDER / f'{_stem(case)}_world{index}.mcap') if available() else None
    one = record(case, index, path)
    drawn = one.world
    out.print(f'world {index}: {criteria.described(one)}', soft_wrap=True)
    for name, value in drawn['values'].items():
        unit = BY_NAME[name].unit
        out.print(f'  {name} = {value:.6g}{" " * bool(unit)}{unit}')
    for name, value in one.figures.items():
        if value is not None:
            label, unit = criteria.FIGURES[name]
            out.print(f'  {label}: {value:.6g} {unit}')
    if one.fault:
        when = '' if one.fault_time is None else f' at {one.fault_time:.3f} s'
        out.print(f'  fault: {one.fault}{when}')
    out.print(criteria.problem(one) or 'no criterion is broken',
              style='red' if one.bad else None, soft_wrap=True)
    if path is not None:
        law = f' --law {drawn["mode"]}' if ':' in drawn['mode'] else ''
        out.print(f'flight recording: robodyn replay {path}{law}', soft_wrap=True)
    return one


def edges(case: Case, names: Sequence[str], worlds: int, jobs: int, out: Console
          ) -> list[dict[str, Any]]:
    """Print how far quantities may grow; return the same for JSON."""
    for name in names:
        if name not in BY_NAME:
            raise UnknownNameError('quantity', name, tuple(BY_NAME))
    check(case)
    found = []
    with _progress(out, 'quantities', len(names)) as advance:
        for one in sensitivity.boundaries(case, names, worlds, min(jobs, len(names))):
            found.append(one)
            advance()
    found.sort(key=lambda one: names.index(one.quantity))
    high = criteria.binomial(0, worlds)[1]
    table = criteria.plain_table(f'{case.name}: {worlds} worlds at each value of a quantity',
                                 'how', 'holds at', 'breaks at', 'unit', first='quantity')
    for one in found:
        table.add_row(one.quantity, one.how, *('-' if x != x else f'{x:.3g}' for x in one[1:3]),
                      BY_NAME[one.quantity].unit)
    out.print(table)
    out.print(f'A value holds if none of {worlds} worlds breaks a criterion: with 95 % '
              f'confidence, less than {high:.0%} of such worlds do.')
    return [one._asdict() for one in found]


@contextmanager
def _progress(out: Console, what: str, total: int, done: int = 0
              ) -> Iterator[Callable[..., None]]:
    """Yield what counts one more: a bar in a terminal, elsewhere a line now and then."""
    with Progress(TextColumn('{task.description}'), BarColumn(), MofNCompleteColumn(),
                  TimeRemainingColumn(), console=out, transient=True,
                  disable=not out.is_terminal or not total) as bars:
        bar, printed = bars.add_task(what, total=total, completed=done), monotonic()

        def advance(note: str = '') -> None:
            nonlocal done, printed
            done += 1
            bars.update(bar, advance=1, description=what + note)
            if bars.disable and monotonic() - printed > INTERVAL:
                out.print(f'{done} of {total} {what}{note}')
                printed = monotonic()
        yield advance


def run(case: Case, count: int, jobs: int, output: Path | None, out: Console, *, again: str,
        page: Path | None, scheduler: str = '') -> tuple[dict[str, Any], list[Outcome]]:
    """Play the worlds that are missing; print the tables, and return figures and outcomes."""
    check(case)
    path = output or FOLDER / f'{_stem(case)}.sqlite'
    with closing(Results(path, case)) as results:
        left = sorted(set(range(count)) - results.known())
        if len(left) < count:
            out.print(f'{path} has {count - len(left)} of {count} worlds already', soft_wrap=True)
        with _progress(out, 'worlds', count, count - len(left)) as advance:
            bad = 0
            try:
                for one in _played(case, left, jobs, scheduler):
                    results.add(one)
                    bad += one.bad
                    advance(f', {bad} bad')
            except KeyboardInterrupt:
                out.print(f'interrupted: {path} has the results so far; the same command resumes',
                          style='yellow', soft_wrap=True)
                raise
        outcomes = list(results.outcomes(count))
        turns = _turning_points(case, outcomes, results, jobs, out)
    return _shown(case, outcomes, turns, path, out, again, page), outcomes


def _played(case: Case, left: Sequence[int], jobs: int, scheduler: str) -> Iterable[Outcome]:
    if not left:
        return ()
    if scheduler:
        from ..verification.results import play_on_cluster

        return play_on_cluster(case, left, scheduler)
    return play_all(case, left, min(jobs, len(left)))


def _turning_points(case: Case, outcomes: Sequence[Outcome], results: Results, jobs: int,
                    out: Console) -> list[sensitivity.TurningPoint]:
    """Return what the worst worlds without an injected fault turn on."""
    found = {pair.broken: pair for pair in sensitivity.pairs(outcomes, case.worlds)}
    worst = [found[one.index] for one in criteria.worst(
        [one for one in outcomes if one.index in found], REPORTED)]
    left = [pair for pair in worst if results.turning_points(pair) is None]
    with _progress(out, 'broken worlds compared', len(left)) as advance:
        for pair, points in (sensitivity.turning_points(case, left, min(jobs, len(left)))
                             if left else ()):
            results.add_turning_points(pair, points)
            advance()
    return [point for pair in worst for point in results.turning_points(pair) or ()]


def _shown(case: Case, outcomes: Sequence[Outcome], turns: Sequence[sensitivity.TurningPoint],
           path: Path, out: Console, again: str, page: Path | None) -> dict[str, Any]:
    influences, verdict = criteria.influences(outcomes), criteria.verdict(outcomes)
    bad = sum(one.bad for one in outcomes)
    worst = [one for one in criteria.worst(outcomes, REPORTED) if one.bad]
    tables = criteria.tables(case, outcomes, influences, turns)
    out.print(f'{case.name}: {verdict}', style='bold red' if bad else 'bold', width=criteria.WIDTH)
    out.print(*tables, sep='\n')
    for one in worst[:SHOWN]:
        out.print(f'world {one.index}: {criteria.described(one)}: {criteria.problem(one)}',
                  style='red', soft_wrap=True)
        out.print(f'  {again} --world {one.index}', soft_wrap=True)
    out.print(f'{bad} of {len(outcomes)} worlds break a criterion; results: {path}',
              soft_wrap=True)
    if page is not None:
        criteria.report_of(case, verdict, outcomes, tables, worst, influences, again).write(page)
        out.print(f'report: {page}', soft_wrap=True)
    return {'robot': case.name, 'verdict': verdict, 'files': dict(case.files),
            'worlds': len(outcomes), 'bad': bad, 'results': str(path),
            'broken_armed': [one.index for one in outcomes if one.bad and not one.refusal],
            'criteria': {e.criterion.name: {'worlds': e.worlds, 'broken': e.broken,
                                            'interval': [e.low, e.high]}
                         for e in criteria.estimates(outcomes)},
            'figures': criteria.distributions([one for one in outcomes if not one.injection]),
            'figures_with_fault': criteria.distributions([one for one in outcomes
                                                          if one.injection]),
            'influences': [one._asdict() for one in influences],
            'turning_points': [one._asdict() for one in turns],
            'worst': [one.plain() for one in worst]}


def suggest(case: Case, outcomes: Sequence[Outcome], jobs: int, out: Console) -> dict[str, Any]:
    """
    Print what to change after a run, if it breaks fewer worlds that have not been played yet.

    :return: the suggestion, for JSON.
    """
    if not any(one.bad for one in outcomes):
        out.print('no criterion is broken: nothing to suggest')
        return {}
    broken = [one.index for one in outcomes if one.bad and not one.refusal]
    if broken:
        out.print(f'searching for settings that break fewer worlds (now {len(broken)}) ...')
    best = sensitivity.suggestion(case, broken, [one.index for one in outcomes if not one.bad])
    if not best.changes:
        out.print('No change of gains, friction_compensation, velocity_scale, effort_limit, '
                  'state_timeout or loop_delay helps. Compare payload, gravity, friction and '
                  'motor signs of the parameter file with the robot.', style='yellow',
                  soft_wrap=True)
        return {}
    shown = sensitivity.comparison(case, best.case, len(outcomes), jobs)
    out.print(criteria.comparison_table(shown.before, shown.after))
    before, after = (sum(one.bad for one in played) for played in shown[:2])
    if not shown.better:
        out.print(f'Nothing is suggested: the best settings found break {best.broken} of the '
                  f'{best.tried} worlds of the search, but {after} instead of {before} of '
                  f'{len(shown.after)} new ones. More --runs show more broken worlds.',
                  style='yellow', soft_wrap=True)
        return {}
    out.print('suggested parameters, accepted by the controller:')
    for name, value in best.changes.items():
        out.print(f'  {name}: {one_line(value)}', soft_wrap=True)
    return {'changes': best.changes, 'tried': best.tried, 'broken': best.broken,
            'new_worlds': len(shown.after), 'broken_before': before, 'broken_after': after}


def _stem(case: Case) -> str:
    """Return a file name of which each case has its own."""
    return f'{case.name}_{digest(fingerprint(case))}'

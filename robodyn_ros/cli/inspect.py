# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
# flake8: noqa: A005
"""Subcommands `inspect`, tables of a robot for a terminal of 80 columns, and `robots`."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from math import inf, isinf
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray
from numpy.linalg import eigvalsh
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text
import typer

from .options import (
    AsJson, At, chosen_robot, command, console, Force, Gravity, Locked, MODEL, print_json, Robot,
    Root, table, Tip)
from ..errors import ArgumentError, check_new, ParameterError, writing
from ..extras import pip_install
from ..model.resources import robot_names, robot_path

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot
    from ..driver import DriverFacts
    from ..identification.repair import Change
    from ..model.robot import RobotModel

ZERO_EFFORT = 1e-9    # smaller efforts are shown as zero
# Settings of config/ROBOT.yaml that a driver may contradict
SETTINGS = ('effort_limit', 'velocity_limit', 'armature', 'rate', 'robot_compensates_gravity',
            'lower_to_rest')
WORDS = {True: 'yes', False: 'no', None: None}
UNITS = {'m': 'm, m/s, N', 'rad': 'rad, rad/s, N·m'}


@command(MODEL, 'my_arm.urdf --at 0,-0.8,0,-2.4,0,1.6,0.8')
def inspect(robot: Robot, locked: Locked = [],  # noqa: B006  (typer copies it)
            root: Root = '',
            tip: Tip = '',
            gravity: Gravity = '',
            at: At = '',
            driver: Annotated[str, typer.Option(
                '--driver', metavar='NAME', help='Driver whose facts replace those of the URDF; '
                'it connects to the arm, and enables nothing.')] = '',
            driver_options: Annotated[list[str], typer.Option(
                '--driver-options', metavar='NAME=VALUE',
                help='Option of the driver. Repeatable.')] = [],  # noqa: B006
            repaired: Annotated[Path | None, typer.Option(
                '--repair', metavar='FILE', help='Only write this URDF with the nearest '
                'physically consistent inertias, and show what was changed.')] = None,
            force: Force = False, as_json: AsJson = False) -> None:
    """Show joints, bodies, limits, gravity torques at a pose, and warnings; repair inertias."""
    if repaired is not None:
        if locked or root or tip or gravity or at or driver or as_json:
            raise ArgumentError('--repair takes no other option than --force', name='--repair',
                                value=str(repaired), remedy='leave the others out: the whole '
                                'URDF is written')
        repair(robot, repaired, force, console())
        return
    chosen = chosen_robot(robot, locked, root, tip, gravity, at, massless='warn')
    stated = stated_by(driver, driver_options, chosen) if driver else None
    model = stated.model if stated else chosen.model
    if as_json:
        print_json(figures(model, chosen.pose) | (
            {'driver': {'reading': stated.reading, **stated.facts._asdict(),
                        'contradictions': stated.contradictions}} if stated else {}))
    else:
        console().print(report(model, chosen.pose, chosen.source))
        if stated:
            console().print(_driver(driver, stated, chosen.model))


@command(MODEL, '')
def robots() -> None:
    """List the robots that commands and `load_urdf` know by name."""
    names, out = robot_names(), console()
    out.print('\n'.join(names))
    if 'panda' not in names:
        out.print(f'panda, ur5, kinova and others: {pip_install("example-robot-data")}')


class Stated(NamedTuple):
    """What a driver states of itself, the model with it, and what contradicts the driver."""

    reading: str
    facts: DriverFacts
    model: RobotModel
    contradictions: list[str]


def stated_by(name: str, options: list[str], robot: CatalogRobot) -> Stated:
    """
    Return what the driver of a name states, beside the URDF and config/ROBOT.yaml.

    :raises RobodynError: it cannot be made, or its facts do not fit the robot.
    """
    from ..control.settings.settings import Settings
    from ..driver import facts_of, given_options, make, reading_of
    from ..driver_loop import OF_MODEL, with_facts

    with closing(make(name, robot.model, given_options(options))) as driver:
        reading, facts = reading_of(driver), facts_of(driver)
    model, _ = with_facts(facts._replace(max_rate=None), robot.model, Settings())
    contradictions = []
    for quantity in OF_MODEL:
        urdf, driven = getattr(robot.model, quantity), getattr(model, quantity)
        # A URDF has no rotor inertia of its own: 0 is none
        if len(joints := np.flatnonzero((urdf != driven) & (
                (urdf > 0.0) | (quantity != 'armature')))):
            contradictions.append(
                f'{quantity} of the URDF is {_vector(urdf[joints])}, and of the drives '
                f'{_vector(driven[joints])} ({", ".join(model.joint_names[i] for i in joints)})')
    for quantity in SETTINGS:
        if (value := robot.parameters['controller'].get(quantity)) is None:
            continue
        given: dict[str, Any] = {quantity: tuple(value) if isinstance(value, list) else value}
        try:
            with_facts(facts, robot.model, replace(Settings(), **given), [quantity])
        except ParameterError as error:
            contradictions.append(str(error))
    return Stated(reading, facts, model, contradictions)


def _driver(name: str, stated: Stated, urdf: RobotModel) -> RenderableType:
    """Return what a driver states, beside the URDF, and what contradicts it."""
    from ..driver_loop import OF_MODEL

    told = [(quantity, getattr(urdf, quantity), getattr(stated.model, quantity))
            for quantity in OF_MODEL if getattr(stated.facts, quantity) is not None]
    rows = table('Driver, beside the URDF', 'joint', *(
        f'{quantity.removesuffix("_limit")} {of}' for quantity, *_ in told
        for of in ('URDF', 'drive')))
    for i, joint in enumerate(urdf.joint_names if told else ()):
        rows.add_row(joint, *('-' if isinf(values[i]) else f'{values[i]:.4g}'
                              for _, *both in told for values in both))
    facts = stated.facts
    words = [f'reading {stated.reading}', *(
        f'{text} {"not stated" if value is None else told_as.format(value)}'
        for text, value, told_as in (
            ('compensates gravity', WORDS[facts.compensates_gravity], '{}'),
            ('brakes', WORDS[facts.brakes], '{}'), ('highest rate', facts.max_rate, '{:g} Hz'),
            ('motors obey', WORDS[facts.obeys], '{}')))]
    return Group(Text(f'Driver {name}', 'bold'), Text(', '.join(words)), *[rows] * bool(told), *(
        [Text(f'! {text}', 'yellow') for text in stated.contradictions]
        or [Text('no contradictions', 'green')]))


def figures(model: RobotModel, pose: ndarray) -> dict[str, Any]:
    """Return what :func:`report` shows, in SI units, for a script; ``pose`` (nv,) [rad | m]."""
    from ..control.settings.settings import Settings
    from ..dynamics import Dynamics

    return {'name': model.name, 'base': model.base_link, 'joints': list(model.joint_names),
            'links': list(model.link_names), 'frames': list(model.frame_names),
            'mass': model.mass, 'center_of_mass': model.com, 'inertia': model.inertia,
            'position_lower': model.position_lower,
            'position_upper': model.position_upper, 'velocity_limit': model.velocity_limit,
            'effort_limit': model.effort_limit, 'pose': pose,
            'gravity': Dynamics(model).gravity(pose),
            'available_effort': Settings().scarcity(model).available,
            'warnings': _warnings(model)}


def report(model: RobotModel, pose: ndarray, source: str) -> RenderableType:
    """
    Return chain, bodies, limits, gravity at a pose and warnings, for 80 columns.

    :param pose: (nv,) [rad | m].
    :param source: files of the robot, for the headline.
    """
    more = model.nb - model.nv
    head = Text.assemble((model.name, 'bold'), f': {model.nv} joint{"s" * (model.nv > 1)} on '
                         f'{model.base_link}, ' + f'{more} more mimicking, ' * (more > 0) +
                         f'{model.mass.sum():.4g} kg in motion')
    odd = [Text(f'! {text}', 'yellow') for text in _warnings(model)]
    return Group(head, Text(source, 'dim', overflow='fold'), _chain(model), _bodies(model),
                 _limits(model), _gravity(model, pose), *(odd or [Text('no warnings', 'green')]))


def _warnings(model: RobotModel) -> list[str]:
    """Return the warnings of the model, and joints that a controller could hardly drive."""
    from ..control.settings.motion_limits import limit_warnings
    from ..control.settings.settings import Settings

    settings = Settings()
    scarcity = settings.scarcity(model)
    return [*model.warnings, *filter(None, [scarcity.sentence(scarcity.scarce)]),
            *limit_warnings(model, settings)]


def _chain(model: RobotModel) -> Table:
    rows = table('Chain', 'joint', 'type', 'axis', 'parent link', 'child link',
                 text=('type', 'parent link', 'child link'))
    for i, parent in enumerate(model.parent):
        rows.add_row(model.body_joint_names[i], _type(model, i), _vector(model.joint_axis[i]),
                     model.base_link if parent < 0 else model.link_names[parent],
                     model.link_names[i])
    return rows


def _bodies(model: RobotModel) -> Table:
    rows = table('Bodies', 'link', 'mass [kg]', 'centre of mass [m]', 'principal moments [kg·m²]')
    for i, name in enumerate(model.link_names):
        rows.add_row(name, f'{model.mass[i]:.4g}', _vector(model.com[i]),
                     _vector(eigvalsh(model.inertia[i])))
    return rows


def _type(model: RobotModel, i: int) -> str:
    """Return the joint type above body i and, for a mimic joint, its law."""
    kind, leader = model.body_joint_types[i], model.joint_names[model.driver[i]]
    if leader == model.body_joint_names[i]:
        return kind
    shift = f' {model.shift[i]:+.4g}' if model.shift[i] else ''
    return f'{kind}, mimics {leader} ×{model.ratio[i]:.4g}{shift}'


def _limits(model: RobotModel) -> Table:
    units = ['m' if slides else 'rad' for slides in model.slides]
    mixed = len(set(units)) > 1
    title = '; '.join(UNITS[unit] for unit in sorted(set(units)))
    rows = table(f'Limits and friction [{title}]', 'joint', 'lower', 'upper', 'velocity', 'effort',
                 'damping', 'friction', *['unit'] * mixed, text=('unit',))
    for i, name in enumerate(model.joint_names):
        values = (column[i] for column in (
            model.position_lower, model.position_upper, model.velocity_limit, model.effort_limit,
            model.viscous_friction, model.coulomb_friction))
        rows.add_row(name, *('-' if isinf(v) else f'{v:.4g}' for v in values),
                     *[units[i]] * mixed)
    return rows


def _gravity(model: RobotModel, pose: ndarray) -> Table:
    from ..dynamics import Dynamics

    rows = table('Gravity', 'joint', 'position', 'effort', 'limit', 'share of limit')
    for i, tau in enumerate(Dynamics(model).gravity(pose)):
        tau, limit = tau if abs(tau) > ZERO_EFFORT else 0.0, model.effort_limit[i]
        share = abs(tau) / limit if limit else inf if tau else 0.0
        rows.add_row(model.joint_names[i], f'{pose[i]:.4g}', f'{tau:.4g}',
                     '-' if isinf(limit) else f'{limit:.4g}',
                     Text(f'{share:.1%}' + (' TOO HEAVY' if share > 1 else ''),
                          'bold red' if share > 1 else ''))
    return rows


def _vector(v: ndarray) -> str:
    return ' '.join(f'{x:.3g}' for x in v + 0.0)


def repair(robot: str, target: Path, force: bool, out: Console) -> None:
    """
    Write a URDF with the nearest physically consistent inertias; print what was changed.

    :raises RobodynError: a file cannot be read or written, or an inertia differs too much.
    """
    from ..identification.repair import links_not_judged, repaired_urdf
    from ..model.urdf_source import content_of

    if not force:
        check_new([target], '--repair', 'choose another --repair, or --force to replace it')
    source = robot_path(robot)
    text, _ = content_of(source)
    repaired, changes = repaired_urdf(text)
    if without := links_not_judged(text):
        out.print(f'Not checked, for want of mass or inertia: {", ".join(without)}',
                  soft_wrap=True)
    if not changes:
        out.print(f'All {"other " if without else ""}inertias of {source} are physically '
                  'consistent: nothing to repair.', soft_wrap=True)
        return
    with writing(target, '--repair', 'choose another --repair'):
        target.write_bytes(repaired)
    out.print(changes_table(changes))
    out.print(f'Masses and centres of mass are as they were. Written: {target}', soft_wrap=True)


def changes_table(changes: tuple[Change, ...]) -> Table:
    """Return the excess of each link, and by how much its principal moments have changed."""
    result = table('Inertias that no rigid body has, and the nearest consistent ones',
                         'link', 'excess', 'principal moments [kg·m²]', 'change')
    for change in changes:
        for i in range(3):
            excess = _share(change.excess) if i == 0 else ''
            result.add_row('' if i else change.link, excess,
                           f'{change.before[i]:.4g} → {change.after[i]:.4g}',
                           _share(change.shares[i], signed=True))
    return result


def _share(value: float, signed: bool = False) -> str:
    """Return a share in percent; '-' where there is no number to take one of."""
    if not np.isfinite(value):
        return '-'
    return f'{float(f"{100 * value:.2g}"):{"+" if signed else ""}g} %'      # 220, not 2.2e+02

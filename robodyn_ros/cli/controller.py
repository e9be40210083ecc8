# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands `status`, `goto`, `stop`, `reset`, `get` and `set`: a running controller."""

from __future__ import annotations

from typing import Annotated, Any, TYPE_CHECKING

import numpy as np
from numpy import ndarray
import typer

from .options import (
    AsJson, command, connected, console, NodeName, numbers, play_with_bar, playing, print_json,
    RUN, seconds_bar, SimTime, States, table, Wait)
from ..errors import ArgumentError, RosError, UnknownNameError

if TYPE_CHECKING:
    from ..model.robot import RobotModel
    from ..nodes.clients.running_controller import RunningController
    from ..nodes.middleware.client_session import Session

DISCOVERY_TIME = 0.5    # [s] of the other nodes
# Values of the diagnostics that are shown
VALUES = ('phase', 'mode', 'reason', 'reason code', 'rate [Hz]', 'nominal rate [Hz]',
          'missed periods', 'state to effort p99 [us]', 'refused samples', 'implausible samples',
          'slowed by', 'held by')
# Topics of every node
COMMON = '/rosout', '/parameter_events', '/diagnostics', '/clock'


@command(RUN, '--node left/controller')
def status(node: NodeName = 'controller', wait: Wait = 10.0, as_json: AsJson = False) -> None:
    """Show phase, fault, rate and drives of a running controller, and who publishes what."""
    with connected('status', node, False, wait) as (here, controller):
        values = controller.report()
        links = _links(here, controller, wait)
    if as_json:
        print_json({'values': values, 'topics': links})
        return
    out = console()
    out.print(values.pop('message'), style='bold')
    shown = table('', 'diagnostics', 'value')
    for name in (*VALUES, *(one for one in values if one.startswith('driver: '))):
        if name in values:
            shown.add_row(name, values[name])
    topics = table('', 'topic', 'from', 'to')
    for topic, (publishers, subscribers) in links.items():
        topics.add_row(topic, ', '.join(publishers) or '-', ', '.join(subscribers) or '-')
    for part in (shown, topics):
        if part.row_count:
            out.print(part)


@command(RUN, '0,-0.8,0,-2.4,0,1.6,0.8 --duration 4',
         ignore_unknown_options=True)       # a pose may begin with a minus
def goto(pose: Annotated[str, typer.Argument(
             metavar='POSE', help='One position per joint (rad or m), separated by commas, or a '
             'name in the parameter `poses` of the controller.')],
         duration: Annotated[float | None, typer.Option(
             min=0.1, help='Duration (s); default: at a quarter of the velocity limits.')] = None,
         node: NodeName = 'controller', states: States = '',
         sim_time: SimTime = False, wait: Wait = 10.0) -> None:
    """
    Move a running arm to a pose; Ctrl-C stops it there and then.

    The way is NOT CHECKED FOR COLLISIONS: it is a straight line in joint space.
    """
    with playing('goto', node, states, sim_time, wait) as (here, controller, player):
        from ..control.references.trajectory import gentle_motion
        from ..nodes.clients.play import slowed

        model = controller.model()
        target = _pose(pose, controller.get(['poses'])['poses'], model)
        motion = gentle_motion(slowed(model, controller.settings()),
                               player.pose(model.joint_names), target, duration)
        with seconds_bar(console()) as bars:
            play_with_bar(player, bars, pose, motion)


@command(RUN, '--node left/controller')
def stop(node: NodeName = 'controller', wait: Wait = 10.0) -> None:
    """Bring the arm to rest and end its efforts; without brakes, set `lower_to_rest`."""
    with connected('stop', node, False, wait) as (_, controller):
        controller.do(controller.requests.stop())
    console().print('deactivated: the arm has come to rest, and no effort is published; '
                    '`robodyn reset` arms it again')


@command(RUN, '--node left/controller')
def reset(node: NodeName = 'controller', wait: Wait = 10.0) -> None:
    """
    Arm the controller after a fault, or activate it; fails with the reason if it refuses.

    A simulator in the same namespace then releases its brakes.
    """
    with connected('reset', node, False, wait) as (_, controller):
        try:
            done = controller.do(controller.requests.arm())
        except RosError as error:
            raise RosError(str(error), name=error.name, remedy=controller.report()['message']
                           ) from error
    console().print(done)


@command(RUN, 'mode stiffness damping')
def get(names: Annotated[list[str] | None, typer.Argument(
            metavar='NAME ...', help='Parameters; default: all that differ from their '
            'default.')] = None,
        node: NodeName = 'controller', wait: Wait = 10.0, as_json: AsJson = False) -> None:
    """Show parameters of a running controller, with units and meaning."""
    with connected('get', node, False, wait) as (_, controller):
        from ..nodes.clients.running_controller import PARAMETERS, written

        values = controller.get(names or list(PARAMETERS))
    if as_json:
        print_json(values)
        return
    shown = table('', 'parameter', 'value', 'unit', 'meaning')
    for name, value in values.items():
        known = PARAMETERS.get(name)
        if names or known is None or value != known.default and name != 'robot_description':
            shown.add_row(name, written(value), known.unit if known else '',
                          known.description if known else '')
    console().print(shown)


@command(RUN, 'payload_mass=1.5 payload_com=0,0,0.06 payload_frame=tool0')
def set_(assignments: Annotated[list[str], typer.Argument(
             metavar='NAME=VALUE ...', help='Parameters and their values: all are set, or '
             'none.')],
         node: NodeName = 'controller', wait: Wait = 10.0) -> None:
    """Set parameters of a running controller; fails with the reason if it refuses one."""
    texts = dict(_assignment(one) for one in assignments)
    with connected('set', node, False, wait) as (_, controller):
        from ..nodes.clients.running_controller import PARAMETERS, parsed, written
        from ..nodes.middleware.parameters import Parameter

        own = controller.get([name for name in texts if name not in PARAMETERS])    # of a law
        known = PARAMETERS | {name: Parameter(name, list[float] if isinstance(value, list)
                                              else type(value), value, '')
                              for name, value in own.items()}
        values = {name: parsed(known[name], text) for name, text in texts.items()}
        controller.set(values)
    for name, value in values.items():
        console().print(f'accepted: {name} = {written(value)}')


def _assignment(text: str) -> tuple[str, str]:
    name, given, value = text.partition('=')
    if not given:
        raise ArgumentError(f'{text} has no value', name='NAME=VALUE', value=text,
                            remedy=f'write {name}=VALUE')
    return name, value


def _pose(text: str, named: list[str], model: RobotModel) -> ndarray:
    """Return the positions (nv,) of a pose, which is a name or the numbers themselves."""
    from ..nodes.controller.robot import named_poses

    poses = named_poses(named, model)
    if text in poses:
        return poses[text]
    if text[:1].isalpha() and not poses:
        raise ArgumentError(f'no pose {text!r}: the parameter `poses` is empty', name='POSE',
                            value=text, remedy='write numbers with commas between them, or name '
                                               "poses: robodyn set 'poses=[\"low=0.0,-0.8\"]'")
    if text[:1].isalpha():
        raise UnknownNameError('pose', text, poses)
    values = numbers('POSE', text)
    if len(values) != model.nv:
        raise ArgumentError(f'{len(values)} positions of {model.nv} joints', name='POSE',
                            value=text, remedy='pass one for each of '
                            + ', '.join(model.joint_names))
    return np.array(values)


def _links(here: Session, controller: RunningController, wait: float
           ) -> dict[str, tuple[list[str], list[str]]]:
    """Return publishers and subscribers of the topics that a controller uses with others."""
    from ..nodes.topics.publishers import full_name

    space, _, name = controller.name.rpartition('/')
    graph: Any = here.node
    here.until(lambda: False, DISCOVERY_TIME)
    if not here.until(lambda: (name, space or '/') in graph.get_node_names_and_namespaces(), wait):
        raise RosError(f'node {controller.name} is not known', name=controller.name,
                       remedy='wait longer: --wait SECONDS')
    topics = sorted({topic for of in (graph.get_subscriber_names_and_types_by_node,
                                      graph.get_publisher_names_and_types_by_node)
                     for topic, _ in of(name, space or '/')} - {*COMMON})
    def names(endpoints: Any) -> list[str]:
        return sorted({full_name(one) for one in endpoints})

    links = {topic: (names(graph.get_publishers_info_by_topic(topic)),
                     names(graph.get_subscriptions_info_by_topic(topic))) for topic in topics}
    return {topic: ends for topic, ends in links.items() if all(ends)}

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of a node: ROS descriptors, checks and documentation from one declaration."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult)
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from . import middleware
from .parameter_files import check_sections, unread
from ...errors import ParameterError, printable, RobodynError

TYPES = {bool: RosParameter.Type.BOOL, int: RosParameter.Type.INTEGER,
         float: RosParameter.Type.DOUBLE, str: RosParameter.Type.STRING,
         list[float]: RosParameter.Type.DOUBLE_ARRAY, list[int]: RosParameter.Type.INTEGER_ARRAY,
         list[str]: RosParameter.Type.STRING_ARRAY}
LISTS = (list[float], list[int], list[str])
CLOCK = 'use_sim_time'      # which rclpy declares
WRITTEN = {bool: 'true or false', int: 'an integer', float: 'a number with a point, as 1.0',
           str: 'a text', list[float]: 'a list of numbers with a point, as [1.0, 2.0]',
           list[int]: 'a list of integers, as [2, 3]',
           list[str]: 'a list of texts, as [a, b]'}


@dataclass(frozen=True)
class Parameter:
    """
    Declaration of one parameter: type, default, meaning, unit and range.

    ``lower`` and ``upper`` bound a number, and each element of a list of numbers, inclusively.
    ``live`` parameters may change while the node runs; the others only while it is unconfigured,
    and those ``at_start`` never: paths that the node writes to, which no peer is to choose.
    """

    name: str
    type: Any  # noqa: A003
    default: Any
    description: str
    unit: str = ''
    lower: float | None = None
    upper: float | None = None
    choices: tuple[str, ...] = ()
    live: bool = False
    at_start: bool = False
    #: Whether package.module:NAME is accepted besides the choices.
    places: bool = False

    def check(self, value: Any) -> None:
        """Raise :class:`ParameterError` if the parameter may not have this value."""
        shown = list(value) if self.type in LISTS else value

        def refuse(remedy: str) -> None:
            raise ParameterError(f'parameter {self.name} = {shown!r} is refused',
                                 name=self.name, value=shown, remedy=remedy)
        if self.choices and value not in self.choices and not (self.places and ':' in value):
            refuse(f'choose one of {", ".join(self.choices)}'
                   + (', or a place package.module:NAME' if self.places else ''))
        numbers = value if self.type in LISTS else [value]
        if self.type not in (int, float, list[float], list[int]):
            return
        lower = -float('inf') if self.lower is None else self.lower
        upper = float('inf') if self.upper is None else self.upper
        if not all(isfinite(x) and lower <= x <= upper for x in numbers):
            refuse(f'{"every element" if self.type in LISTS else "it"} must be a finite '
                   f'number in {self.range}{" " + self.unit if self.unit else ""}')

    @property
    def range(self) -> str:  # noqa: A003
        """Return the range as text, e.g. [0, 1], or the choices; empty if there is none."""
        if self.choices:
            return ', '.join([*(f'`{c}`' for c in self.choices),
                              *(['package.module:NAME'] if self.places else [])])
        if self.lower is None and self.upper is None:
            return ''

        def bound(x: float | None, none: str) -> str:
            return none if x is None else f'{x:g}'
        return f'[{bound(self.lower, "-inf")}, {bound(self.upper, "inf")}]'

    def descriptor(self) -> ParameterDescriptor:
        """Return the ROS descriptor, as `ros2 param describe` shows it."""
        lower = -1e308 if self.lower is None else self.lower
        upper = 1e308 if self.upper is None else self.upper
        ranged = self.lower is not None or self.upper is not None
        unit = f' [{self.unit}]' if self.unit else ''
        out = ParameterDescriptor(name=self.name, type=TYPES[self.type].value,
                                  description=f'{self.description}{unit}',
                                  additional_constraints=self.range)
        if ranged and self.type is float:
            out.floating_point_range = [
                FloatingPointRange(from_value=float(lower), to_value=float(upper))]
        elif ranged and self.type is int:
            out.integer_range = [IntegerRange(from_value=int(max(lower, -2**63)),
                                              to_value=int(min(upper, 2**63 - 1)), step=1)]
        return out


class Parameters:
    """
    Declared parameters of one node, read by name and changed as whole sets.

    Every parameter has a value, empty lists too: rclpy answers a request for several parameters
    with nothing at all if one of them is unset.

    ``accept(values)`` is called before a set of changes is accepted, with all values as they would
    be; a :class:`RobodynError` refuses the whole set, with its text as the reason. ``changed()``
    is called after a set has been accepted. ``fixed()`` returns whether only live parameters may
    change at present.

    :raises ParameterError: a parameter has a value that it may not have, or a parameter file of
        the process has no section for the node.
    """

    def __init__(self, node: Any, table: Iterable[Parameter]):
        check_sections(middleware.arguments_of(node), node.get_fully_qualified_name())
        self.node, self.table = node, {p.name: p for p in table}
        self.accept: Callable[[dict[str, Any]], object] = lambda values: None
        self.changed = lambda: None
        self.fixed = lambda: False
        #: Names of the parameters set explicitly, at the start or later.
        self.given: set[str] = set()
        self._declaring = False
        self._declare(self.table.values())
        _answer_malformed(node)
        node.add_on_set_parameters_callback(self._on_set)
        node.add_post_set_parameters_callback(self._after_set)

    def add(self, table: Iterable[Parameter]) -> None:
        """
        Declare more parameters; keep those already declared.

        :raises ParameterError: as the constructor.
        """
        if not (more := [p for p in table if p.name not in self.table]):
            return
        self._declaring = True
        try:
            self._declare(more)
        finally:
            self._declaring = False
        self.table |= {p.name: p for p in more}

    def warn_of_unread(self) -> None:
        """Log a warning for each undeclared parameter given to the node."""
        for warning in unread(middleware.arguments_of(self.node),
                              self.node.get_fully_qualified_name(),
                              self.node.list_parameters([], 0).names):
            self.node.get_logger().warning(warning)

    def _declare(self, table: Collection[Parameter]) -> None:
        """Declare each parameter with its type, which an empty list lacks; then set defaults."""
        for p in table:
            if self.node.has_parameter(p.name):     # left by a failed attempt
                continue
            try:
                self.node.declare_parameter(p.name, TYPES[p.type], p.descriptor())
            except ParameterException as error:
                within = f', in {p.range} {p.unit}'.rstrip() if p.range else ''
                raise ParameterError(f'parameter {p.name} is refused ({error})', name=p.name,
                                     remedy=f'write {WRITTEN[p.type]}{within}') from error
            if self.node.get_parameter_or(p.name).value is not None:
                self.given.add(p.name)
        self.node.set_parameters_atomically(
            [RosParameter(p.name, TYPES[p.type], p.default) for p in table
             if p.name not in self.given])
        for p in table:
            p.check(self._value(p))

    def __getitem__(self, name: str) -> Any:
        return self._value(self.table[name])

    def _value(self, p: Parameter) -> Any:
        value = self.node.get_parameter(p.name).value
        return list(value) if p.type in LISTS else value

    def values(self) -> dict[str, Any]:
        """Return the current value of every parameter by name."""
        return {name: self[name] for name in self.table}

    def _after_set(self, changes: list[RosParameter]) -> None:
        if self._declaring:
            return
        self.given.update(change.name for change in changes)
        self.changed()

    def _on_set(self, changes: list[RosParameter]) -> SetParametersResult:
        if self._declaring:
            return SetParametersResult(successful=True)
        values = self.values()
        try:
            for change in changes:
                p = self.table.get(change.name)
                # The clock of rclpy would jump, under a loop that runs on the other one
                fixed = change.name == CLOCK if p is None else not p.live
                if fixed and self.fixed() and change.value != self.node.get_parameter(
                        change.name).value:
                    raise ParameterError(
                        f'parameter {change.name} cannot change while the node is configured',
                        name=change.name, value=change.value, remedy='clean the node up first')
                if p is None:
                    continue
                if p.at_start and change.value != self[p.name]:
                    raise ParameterError(
                        f'parameter {change.name} is read when the node starts, and cannot '
                        'change', name=change.name, value=change.value, remedy='start the node '
                        f'with -p {change.name}:=...')
                p.check(change.value)
                values[p.name] = change.value
            self.accept(values)
        except RobodynError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)


def _answer_malformed(node: Node) -> None:
    """Make the parameter services refuse values for which rclpy raises exceptions."""
    for service in node.services:
        if service.srv_type in (SetParameters, SetParametersAtomically):
            service.callback = partial(_set, service.callback)


def _set(usual: Callable, request: Any, response: Any) -> Any:
    """Answer a request of either service; one malformed value refuses all of it."""
    problem = ''
    for message in request.parameters:
        try:
            RosParameter.from_parameter_msg(message)
        except ValueError:
            problem = (f'parameter {printable(message.name)} has a value of type '
                       f'{message.value.type}, which there is not')
    if not problem:
        return usual(request, response)
    refusal = SetParametersResult(successful=False, reason=problem)
    if isinstance(response, SetParameters.Response):
        response.results = [refusal] * len(request.parameters)
    else:
        response.result = refusal
    return response


def written_type(p: Parameter) -> str:
    """Return the type of a parameter as in the docs, e.g. ``list[float]``."""
    return p.type.__name__ if p.type in (bool, int, float, str) else str(p.type)


def allowed(p: Parameter) -> str:
    """Return default, range and unit of a parameter as in the docs; its type if it has none."""
    if p.choices:
        first = f'`{p.default}`'
        return (f'**{first}**, [more](laws.md)' if p.places else
                p.range.replace(first, f'**{first}**', 1))
    shown = f'`{str(p.default).lower()}`' if p.default not in ('', []) else written_type(p)
    bounds = p.range.strip('[]').replace(', ', '–' if (p.lower or 0) >= 0 else '…')
    limits = f'{bounds} {p.unit.replace(" or ", ", ")}'.strip()
    return limits if p.type == list[float] and not p.default else ', '.join(
        filter(None, (shown, limits)))


def markdown(table: Iterable[Parameter]) -> str:
    """Return the table of parameters of the docs in Markdown."""
    rows = ['| parameter | meaning | default, range |', '|---|---|---|']
    for p in table:
        meaning = p.description.replace('|', r'\|')        # which does not end the cell
        change = '' if p.live else ', at start' if p.at_start else ', fixed'
        rows.append(f'| `{p.name}` | {meaning} | {allowed(p)}{change} |')
    return '\n'.join(rows) + '\n'

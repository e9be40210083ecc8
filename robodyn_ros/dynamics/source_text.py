# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Quantities of one robot as statements of another language, and as JavaScript.

The code is that of the specialized kernels (:mod:`~.trace`), translated statement by statement;
the numbers of all of these languages are IEEE 754. The operators +, -, * and / have the same
precedence in Python, C and JavaScript.
"""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
import re
from typing import Any, NamedTuple

from .arguments import reference_code
from .entry_points import TABLE
from .model_data import dimensions, frame_record, ModelData, parameters
from .specialize import MAX_OPERATIONS
from .trace import lanes, trace
from ..errors import ArgumentError
from ..model.robot import RobotModel


class Dialect(NamedTuple):
    """
    What differs between the languages.

    :param constant, counter: declarations of a number, and of the counter of a loop.
    :param functions: names of cos and sin.
    :param literal: returns a number as the language writes it.
    """

    constant: str
    counter: str
    functions: Mapping[str, str]
    literal: Callable[[float], str] = repr


class Kernel(NamedTuple):
    """
    Body of a function that computes a quantity, of a frame or ''.

    :param statements: which read the inputs and write the outputs, arrays of numbers by rows.
    :param outputs: number of elements of each output, by its name in the statements.
    :param number: from 2 on of a frame whose function would have the name of another, otherwise 0.
    """

    quantity: str
    frame: str
    statements: list[str]
    outputs: dict[str, int]
    number: int = 0

    @property
    def name(self) -> str:
        """Name of the function: ``gravity``, ``pose_tool0``, ``pose_tool0_2``."""
        number = f'_{self.number}' if self.number else ''
        return f'{self.quantity}_{identifier(self.frame)}{number}' if self.frame else self.quantity

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs, vectors (nv,)."""
        return TABLE[self.quantity].inputs


def identifier(name: str) -> str:
    """Return a name with all characters replaced that identifiers do not have."""
    word = re.sub(r'\W', '_', name, flags=re.ASCII)
    return f'_{word}' if word[:1].isdigit() or not word else word


def kernels(model: RobotModel, quantity: str, dialect: Dialect, frames: Iterable[str] = ()
            ) -> list[Kernel]:
    """Return :func:`kernel` of a quantity, once for each frame if it is one of a frame."""
    return [kernel(model, quantity, dialect, frame)
            for frame in (frames if 'frame' in TABLE[quantity].options else [''])]


def distinct(kernels: Iterable[Kernel]) -> list[Kernel]:
    """
    Return kernels with distinct names, also with ``_batch``: later ones are numbered.

    Names of frames may differ in ``_batch`` or ``dot_``, or in what no identifier has.
    """
    found: list[Kernel] = []
    taken: set[str] = set()
    for one in kernels:
        while taken & {one.name, f'{one.name}_batch'}:
            one = one._replace(number=max(one.number, 1) + 1)
        taken |= {one.name, f'{one.name}_batch'}
        found.append(one)
    return found


def kernel(model: RobotModel, quantity: str, dialect: Dialect, frame: str = '') -> Kernel:
    """
    Return the statements of a quantity.

    :param quantity: key of :data:`~.entry_points.TABLE`, without options other than a frame.
    :param frame: whose pose or Jacobian is computed, at its origin, in the axes of the base.
    :raises ArgumentError: the quantity takes more operations than specialized kernels may.
    :raises InertiaError: the quantity needs M⁻¹, and no inertia resists some joint.
    :raises UnknownNameError: the model has no such frame.
    """
    robot, of = parameters(model), TABLE[quantity]
    if of.inverts_mass_matrix:
        model.require_inertia(quantity)
    options: dict[str, Any] = {}
    if 'frame' in of.options:
        options['frame'] = frame_record(model, robot, frame)
    if 'reference' in of.options:
        options['reference'] = reference_code('aligned')
    traced = trace(quantity, robot, options)
    if traced.operations > MAX_OPERATIONS:
        raise ArgumentError(
            f'{quantity} of {model.name} takes {traced.operations} operations', name='quantity',
            value=quantity, remedy='choose other quantities: code without loops has up to '
                                   f'{MAX_OPERATIONS}')
    size = dimensions(model.nb, model.nv)
    shapes = {f'out_{key}': [size[word] for word in shape] for key, shape in of.outputs.items()}
    code = ast.parse(_with_angles('\n'.join(traced.lines), robot))
    code = _Translation(dialect, {key: shape[-1] for key, shape in shapes.items()}).visit(code)
    return Kernel(quantity, frame,
                  [line for node in code.body for line in _statements(node, dialect)],
                  {key: prod(shape) for key, shape in shapes.items()})


def _with_angles(code: str, robot: ModelData) -> str:
    """Replace the cosines and sines of the joints by calls with their angles."""
    bodies = robot.bodies

    def call(found: re.Match[str]) -> str:
        sine, i = divmod(int(found[1]), lanes(len(bodies)))
        turn, angle = float(bodies['turn'][i]), f'q[{bodies["driver"][i]}]'
        angle = angle if turn == 1.0 else f'{turn!r} * {angle}'
        offset = float(bodies['offset'][i])
        return f'{"sin" if sine else "cos"}({angle}{f" + {offset!r}" if offset else ""})'
    return re.sub(r'trig\[(\d+)\]', call, code)


class _Translation(ast.NodeTransformer):
    """Rewrites what Python writes in another way: indices of matrices, literals, functions."""

    def __init__(self, dialect: Dialect, columns: Mapping[str, int]):
        self._dialect, self._columns = dialect, columns

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        assert isinstance(node.value, ast.Name)
        if not isinstance(node.slice, ast.Tuple):
            return node
        i, j = map(ast.unparse, node.slice.elts)
        columns = self._columns[node.value.id]
        index = str(int(i) * columns + int(j)) if i.isdigit() and j.isdigit() else (
            f'{i} * {columns} + {j}')
        return ast.Name(f'{node.value.id}[{index}]')

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Name(self._dialect.literal(node.value)) if isinstance(
            node.value, float) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        assert isinstance(node.func, ast.Name)
        node.func = ast.Name(self._dialect.functions.get(node.func.id, node.func.id))
        return node


def _statements(node: ast.stmt, dialect: Dialect) -> list[str]:
    if isinstance(node, ast.For):
        assert isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Call)
        i, end = node.target.id, ast.unparse(node.iter.args[0])
        inner = [f'  {line}' for one in node.body for line in _statements(one, dialect)]
        return [f'for ({dialect.counter} {i} = 0; {i} < {end}; {i}++) {{', *inner, '}']
    assert isinstance(node, ast.Assign)
    text = f'{ast.unparse(node.targets[0])} = {ast.unparse(node.value)};'
    # Names are those of intermediate results, but for elements of outputs, which have brackets
    return [text if '[' in text.partition(' = ')[0] else f'{dialect.constant} {text}']


JAVASCRIPT = Dialect('const', 'let', {'cos': 'Math.cos', 'sin': 'Math.sin'})


def javascript_file(kernels: Sequence[Kernel], name: str, about: Sequence[str]) -> str:
    """
    Return a script of functions, ``NAME_gravity(q)``, for pages and for ``require``.

    :param kernels: in the dialect JAVASCRIPT.
    :param about: lines of a comment.
    """
    kernels = distinct(kernels)
    names = [f'{name}_{one.name}' for one in kernels]
    functions = [javascript(one, of) for one, of in zip(kernels, names, strict=True)]
    return '\n\n'.join(['\n'.join(f'// {line}' for line in about), *functions,
                        "if (typeof module !== 'undefined') {\n"
                        f'  module.exports = {{{", ".join(names)}}};\n}}\n'])


def javascript(kernel: Kernel, name: str) -> str:
    """
    Return a JavaScript function of this name.

    Its arguments are those of the kernel, arrays of nv numbers in the order of the joints; it
    returns its output, a matrix by rows, or, of several outputs, an object of them by name.

    :param kernel: in the dialect JAVASCRIPT.
    """
    arrays = [f'const {key} = new Float64Array({count});'
              for key, count in kernel.outputs.items()]
    first, *others = kernel.outputs
    result = first if not others else (
        '{' + ', '.join(f'{key.removeprefix("out_")}: {key}' for key in kernel.outputs) + '}')
    lines = *arrays, *kernel.statements, f'return {result};'
    return '\n'.join([f'function {name}({", ".join(kernel.inputs)}) {{',
                      *(f'  {line}' for line in lines), '}'])

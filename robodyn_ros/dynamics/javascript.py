# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Quantities of one robot as JavaScript, for pages that compute them.

The same straight-line code as that of the specialized kernels (:mod:`~.trace`), translated
statement by statement; numbers of both languages are doubles (IEEE 754).
"""

import ast
from collections.abc import Mapping
from typing import Any

from .model_data import dimensions, parameters
from .signatures import TABLE
from .trace import lanes, trace
from ..model.robot import RobotModel

OPERATORS = {ast.Add: '+', ast.Sub: '-', ast.Mult: '*', ast.Div: '/'}


def javascript(model: RobotModel, quantity: str, name: str = '') -> str:
    """
    Return a JavaScript function of a quantity without options, e.g. ``gravity``.

    Its arguments are those of the kernel, arrays of nv numbers in the order of the joints; it
    returns its output, a matrix by rows, or, of several outputs, an object of them by name.

    :param quantity: key of :data:`~.signatures.TABLE`; ``name``: of the function, the same if ''.
    """
    robot, of = parameters(model), TABLE[quantity]
    nb, nv = len(robot.bodies), len(robot.elimination_parent)
    size = dimensions(nb, nv)
    columns = {f'out_{key}': size[shape[-1]] for key, shape in of.outputs.items()}
    lines = [f'function {name or quantity}({", ".join(of.inputs)}) {{',
             f'  const trig = new Float64Array({2 * lanes(nb)});']
    for i, body in enumerate(robot.bodies):
        if body['turn']:
            angle = (f'{float(body["turn"])!r} * q[{int(body["driver"])}] + '
                     f'{float(body["offset"])!r}')
            lines += [f'  trig[{i}] = Math.cos({angle});',
                      f'  trig[{lanes(nb) + i}] = Math.sin({angle});']
    for key, shape in of.outputs.items():
        count = 1
        for word in shape:
            count *= size[word]
        lines.append(f'  const out_{key} = new Float64Array({count});')
    code = ast.parse('\n'.join(trace(quantity, robot, {}).lines))
    lines += [f'  {statement}' for node in code.body for statement in _statements(node, columns)]
    outputs = [f'out_{key}' for key in of.outputs]
    result = outputs[0] if len(outputs) == 1 else (
        '{' + ', '.join(f'{key}: out_{key}' for key in of.outputs) + '}')
    return '\n'.join([*lines, f'  return {result};', '}'])


def _statements(node: ast.stmt, columns: Mapping[str, int]) -> list[str]:
    if isinstance(node, ast.For):
        assert isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Call)
        i, end = node.target.id, _expression(node.iter.args[0], columns)
        inner = [line for one in node.body for line in _statements(one, columns)]
        return [f'for (let {i} = 0; {i} < {end}; {i}++) {{', *inner, '}']
    assert isinstance(node, ast.Assign)
    target = _expression(node.targets[0], columns)
    word = 'const ' if isinstance(node.targets[0], ast.Name) else ''
    return [f'{word}{target} = {_expression(node.value, columns)};']


def _expression(node: Any, columns: Mapping[str, int]) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.UnaryOp):
        return f'(-{_expression(node.operand, columns)})'
    if isinstance(node, ast.BinOp):
        return (f'({_expression(node.left, columns)} {OPERATORS[type(node.op)]} '
                f'{_expression(node.right, columns)})')
    assert isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
    index = node.slice
    if isinstance(index, ast.Tuple):
        i, j = (_expression(one, columns) for one in index.elts)
        return f'{node.value.id}[{i} * {columns[node.value.id]} + {j}]'
    return f'{node.value.id}[{_expression(index, columns)}]'

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Quantities of one robot as C99, with a test of their values, for programs without Python.

The functions need cos and sin of libm, allocate nothing and keep no state.
"""

from collections.abc import Sequence
from math import prod
import re
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .api import Dynamics
from .entry_points import TABLE
from .source_text import Dialect, distinct, Kernel
from ..model.pose import initial_position, MAX_LIMIT
from ..model.robot import RobotModel
from ..text import printable

DOUBLE = Dialect('const double', 'int', {})
FLOAT = Dialect('const float', 'int', {'cos': 'cosf', 'sin': 'sinf'},
                lambda value: f'{np.float32(value)}f')
# What the functions write
QUANTITY_MEANINGS = {
    'inverse_dynamics': 'efforts of a motion, M(q) qdd + C(q, qd) qd + g(q) [N·m | N]',
    'gravity': 'efforts that hold the robot at rest, g(q) [N·m | N]',
    'bias': 'efforts without acceleration, C(q, qd) qd + g(q) [N·m | N]',
    'mass_matrix': 'M(q), with rotor inertia, symmetric [kg·m² | kg·m | kg]',
    'coriolis_matrix': 'C(q, qd) of the Christoffel symbols',
    'forward_dynamics': 'accelerations under efforts tau [rad/s² | m/s²]',
    'kinetic_energy': 'kinetic energy, with that of the rotors [J]',
    'potential_energy': 'potential energy of the moving bodies [J]',
    'center_of_mass': 'center of mass of the moving bodies [m]',
    'pose': 'homogeneous transform (4, 4) from the frame to the base',
    'jacobian': 'J: velocity of the origin [m/s], then angular velocity [rad/s], are J qd',
    'jacobian_dot': 'time derivative of the Jacobian',
    'inverse_dynamics_derivatives': 'derivatives of inverse_dynamics by q, qd and qdd',
    'forward_dynamics_derivatives': 'derivatives of forward_dynamics by q, qd and tau'}
# Of results relative to the largest of their kind, and of those that need the inverse of M
TEST_TOLERANCES = {'double': (1e-12, 1e-9), 'float': (1e-4, 1e-2)}
STATE_ARGUMENTS = 'q', 'qd', 'qdd', 'tau'
TEST_STATES = 4
LINE_WIDTH = 99
NON_BREAKING_SPACE = '\xa0'       # a space at which lines are not broken

HEADER = """\
/*
{about}
 */
#ifndef {constant}_H
#define {constant}_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {{
#endif

#define {constant}_NV {nv}

{declarations}

#ifdef __cplusplus
}}
#endif

#endif
"""

SOURCE = """\
/*
{about}
 */
#include "{name}.h"

#include <math.h>

{functions}

#ifdef ROBODYN_TEST
/* Compares all functions with values computed by robodyn_ros; exit status 0 if they agree. */
#include <stdio.h>

{states}

{expected}

static int differs(const char *name, const {number} *found, const {number} *expected, int count,
                   double tolerance)
{{
  double scale = 1.0, error = 0.0;
  int bad = 0;
  for (int i = 0; i < count; i++) {{
    scale = fmax(scale, fabs((double)expected[i]));
  }}
  for (int i = 0; i < count; i++) {{
    const double distance = fabs((double)found[i] - (double)expected[i]);
    error = fmax(error, distance);
    bad |= !(distance <= tolerance * scale);    /* also if it is not a number */
  }}
  printf("%-40s %s, error %.1e of %.1e\\n", name, bad ? "DIFFERS" : "agrees", error, scale);
  return bad;
}}

int main(void)
{{
  int bad = 0;
{checks}
  return bad != 0;
}}
#endif
"""

BATCH = """\
void {name}_batch({parameters})
{{
  for (size_t k = 0; k < count; k++) {{
    {name}({arguments});
  }}
}}"""


class CFile(NamedTuple):
    """Text of a C file and of its header."""

    source: str
    header: str


def c_file(model: RobotModel, kernels: Sequence[Kernel], name: str, about: Sequence[str], *,
           dialect: Dialect = DOUBLE) -> CFile:
    """
    Return C99 functions of one state, ``NAME_gravity(q, out_tau)``, and of many, with ``_batch``.

    :param kernels: of quantities in QUANTITY_MEANINGS, in the dialect DOUBLE or FLOAT.
    :param name: prefix of the functions, and name of the files.
    :param about: sentences for a comment, of printable characters.
    """
    number = dialect.constant.removeprefix('const ')
    kernels = distinct(kernels)
    comment = '\n'.join(line for text in about for line in wrap(
        _comment(text), LINE_WIDTH, initial_indent=' * ', subsequent_indent=' * ',
        break_long_words=False, break_on_hyphens=False))
    header = HEADER.format(
        about=comment, constant=name.upper(), nv=model.nv,
        declarations='\n\n'.join(_declaration(model.nv, kernel, name, number)
                                 for kernel in kernels))
    states, expected, checks = _test(model, kernels, name, dialect)
    return CFile(SOURCE.format(
        about=comment, name=name, number=number,
        functions='\n\n'.join(_definition(model.nv, kernel, name, number) for kernel in kernels),
        states=states, expected=expected, checks=checks), header)


def _comment(text: str) -> str:
    """Return a text that cannot end a comment."""
    return text.replace('*/', '* /').replace('/*', '/ *')


def _wrapped(line: str) -> list[str]:
    """Return a line as lines of up to LINE_WIDTH characters."""
    indent = ' ' * (len(line) - len(line.lstrip(' ')) + 4)
    return [part.replace(NON_BREAKING_SPACE, ' ') for part in wrap(
        line, LINE_WIDTH, subsequent_indent=indent, break_long_words=False,
        break_on_hyphens=False)]


def _parameters(nv: int, kernel: Kernel, number: str, many: bool = False) -> str:
    inputs = [(f'const {number}', key, nv) for key in kernel.inputs]
    outputs = [(number, key, count) for key, count in kernel.outputs.items()]
    parameters = [f'{kind} *{key}' if many else f'{kind} {key}[{count}]'
                  for kind, key, count in (*inputs, *outputs)]
    return ', '.join(text.replace(' ', NON_BREAKING_SPACE)
                     for text in (*(['size_t count'] if many else []), *parameters))


def _declaration(nv: int, kernel: Kernel, prefix: str, number: str) -> str:
    name = f'{prefix}_{kernel.name}'
    frame = f'Frame {printable(kernel.frame)}: ' if kernel.frame else ''
    return '\n'.join([
        f'/* {_comment(frame + QUANTITY_MEANINGS[kernel.quantity])} */',
        *_wrapped(f'void {name}({_parameters(nv, kernel, number)});'),
        *_wrapped(f'void {name}_batch({_parameters(nv, kernel, number, many=True)});')])


def _definition(nv: int, kernel: Kernel, prefix: str, number: str) -> str:
    name, code = f'{prefix}_{kernel.name}', ' '.join(kernel.statements)
    unused = [f'(void){key};' for key in kernel.inputs if not re.search(rf'\b{key}\[', code)]
    sizes = dict.fromkeys(kernel.inputs, nv) | kernel.outputs
    batch = BATCH.format(
        name=name, parameters=_parameters(nv, kernel, number, many=True),
        arguments=', '.join(f'{key} + {count} * k'.replace(' ', NON_BREAKING_SPACE)
                            for key, count in sizes.items()))
    lines = [f'void {name}({_parameters(nv, kernel, number)})', '{',
             *(f'  {statement}' for statement in (*unused, *kernel.statements)), '}', '',
             *batch.splitlines()]
    return '\n'.join(part for line in lines for part in _wrapped(line) or [''])


def _test(model: RobotModel, kernels: Sequence[Kernel], prefix: str, dialect: Dialect
          ) -> tuple[str, str, str]:
    """Return definitions of states, of the expected results, and statements that compare."""
    number = dialect.constant.removeprefix('const ')
    dtype = np.float32 if dialect is FLOAT else np.float64
    states = {key: array.astype(dtype).astype(float) for key, array in _states(model).items()}
    batch, expected = Dynamics(model).batch, list[str]()
    checks = list[str]()
    for kernel in kernels:
        name, of = f'{prefix}_{kernel.name}', f'expected_{len(checks)}'
        found: Any = getattr(batch, kernel.quantity)(
            *(states[key] for key in kernel.inputs), *([kernel.frame] if kernel.frame else []))
        arrays = dict(zip(kernel.outputs, found if isinstance(found, tuple) else (found,),
                          strict=True))
        expected += [_array(f'{of}_{key}', array, dialect) for key, array in arrays.items()]
        arguments = ', '.join([*(f'test_{key}' for key in kernel.inputs), *kernel.outputs])
        tolerance = TEST_TOLERANCES[number][TABLE[kernel.quantity].inverts_mass_matrix]
        checks += ['  {', *(f'    {number} {key}[{array.size}];'
                            for key, array in arrays.items()),
                   f'    {name}_batch({TEST_STATES}, {arguments});',
                   *(f'    bad += differs("{name}", {key}, {of}_{key}, {array.size}, '
                     f'{tolerance!r});' for key, array in arrays.items()), '  }']
    used = {key for kernel in kernels for key in kernel.inputs}
    return ('\n'.join(_array(f'test_{key}', states[key], dialect)
                      for key in STATE_ARGUMENTS if key in used), '\n'.join(expected),
            '\n'.join(part for line in checks for part in _wrapped(line)))


def _states(model: RobotModel) -> dict[str, ndarray]:
    """Return inputs (TEST_STATES, nv) of the test, positions within their limits."""
    rng, pose = np.random.default_rng(1), initial_position(model)
    shape = TEST_STATES, model.nv
    lower = np.maximum(model.position_lower, pose - MAX_LIMIT)
    upper = np.minimum(model.position_upper, pose + MAX_LIMIT)
    return {key: rng.uniform(lower, upper, shape) if key == 'q' else rng.uniform(-2.0, 2.0, shape)
            for key in STATE_ARGUMENTS}


def _array(name: str, values: ndarray, dialect: Dialect) -> str:
    numbers = ', '.join(map(dialect.literal, values.ravel().tolist()))
    return '\n'.join(_wrapped(f'static {dialect.constant} {name}[{prod(values.shape)}] = '
                              f'{{{numbers}}};'))

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Quantities of one robot as JavaScript, for pages that compute them."""

from collections.abc import Sequence

from .source_text import Dialect, distinct, Kernel, kernel
from ..model.robot import RobotModel

JAVASCRIPT = Dialect('const', 'let', {'cos': 'Math.cos', 'sin': 'Math.sin'})


def javascript(model: RobotModel, quantity: str, name: str = '', frame: str = '') -> str:
    """
    Return a JavaScript function of a quantity, e.g. ``gravity``.

    Its arguments are those of the kernel, arrays of nv numbers in the order of the joints; it
    returns its output, a matrix by rows, or, of several outputs, an object of them by name.

    :param quantity, frame: as of :func:`~.source_text.kernel`, with the same errors.
    :param name: of the function, that of the quantity if ''.
    """
    return _function(kernel(model, quantity, JAVASCRIPT, frame), name or quantity)


def javascript_file(kernels: Sequence[Kernel], name: str, about: Sequence[str]) -> str:
    """
    Return a script of functions, ``NAME_gravity(q)``, for pages and for ``require``.

    :param kernels: in the dialect JAVASCRIPT.
    :param about: lines of a comment.
    """
    kernels = distinct(kernels)
    names = [f'{name}_{one.name}' for one in kernels]
    functions = [_function(one, of) for one, of in zip(kernels, names, strict=True)]
    return '\n\n'.join(['\n'.join(f'// {line}' for line in about), *functions,
                        "if (typeof module !== 'undefined') {\n"
                        f'  module.exports = {{{", ".join(names)}}};\n}}\n'])


def _function(kernel: Kernel, name: str) -> str:
    arrays = [f'const {key} = new Float64Array({count});'
              for key, count in kernel.outputs.items()]
    first, *others = kernel.outputs
    result = first if not others else (
        '{' + ', '.join(f'{key.removeprefix("out_")}: {key}' for key in kernel.outputs) + '}')
    lines = *arrays, *kernel.statements, f'return {result};'
    return '\n'.join([f'function {name}({", ".join(kernel.inputs)}) {{',
                      *(f'  {line}' for line in lines), '}'])

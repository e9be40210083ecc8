# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of :mod:`benchmarks.generated_c` as a section of docs/benchmarks.md."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy import ndarray

from .results import HEADS, QUANTITIES

NOTE = ('Plain recursion: Newton-Euler equations written in CasADi. Kernels use LLVM and relaxed '
        'math (contraction, no signed zeros).\n')


def result(times: Mapping[tuple[str, str], ndarray]) -> dict[str, dict[str, float]]:
    """
    Return, by quantity, median times [ns] and ratios.

    :param times: (rounds,) [ns] by quantity and 'loop', 'cpp', 'generated' or, of some, 'plain'.
    """
    return {name: {
        **{way: float(np.median(times[name, way])) for way in ('loop', 'cpp', 'generated')},
        'faster': float(np.median(times[name, 'generated'] / times[name, 'loop'])),
        'gain': float(np.median(times[name, 'cpp'] / times[name, 'generated'])),
        **({'plain': float(np.median(times[name, 'plain'])),
            'beyond_plain': float(np.median(times[name, 'plain'] / times[name, 'loop']))}
           if (name, 'plain') in times else {})}
        for name in QUANTITIES if (name, 'loop') in times}


def table(found: Mapping[str, Any], form: str = '{faster:.1f}') -> str:
    """
    Return a table of Markdown.

    :param form: of a cell: ``faster`` is the speed of the jitted loop relative to the generated
        code, ``gain`` that of the generated code relative to Pinocchio itself. Rows follow of
        code from a plain Newton-Euler recursion, where it was measured.
    """
    robots = found['robots']
    heads = ' | '.join(f'{HEADS.get(name, name)} ({robot["joints"]})'
                       for name, robot in robots.items())
    rows = [f'| {QUANTITIES[name]}{words} | '
            + ' | '.join(cell.format(**robot['rows'][name]) if key in robot['rows'].get(name, ())
                         else '' for robot in robots.values()) + ' |'
            for words, cell, key in (('', form, 'faster'),
                                     (', plain recursion', '{beyond_plain:.1f}', 'beyond_plain'))
            for name in QUANTITIES
            if any(key in robot['rows'].get(name, ()) for robot in robots.values())]
    return '\n'.join([f'| | {heads} |', '|---|' + '---|' * len(robots), *rows]) + '\n'


def code(found: Mapping[str, Any]) -> str:
    """Return how the code was made."""
    machine = found['machine']
    return (f'C code that CasADi {machine["casadi"]} generates from Pinocchio '
            f'{machine["pinocchio"]}, compiled with `{machine["flags"]}`')


def markdown(found: Mapping[str, Any]) -> str:
    """Return the section."""
    machine = found['machine']
    return (f'{code(found)} by {machine["compiler"]}. Medians of {found["rounds"]} rounds on one '
            f'core of {machine["cpu"]}, processor time, load average {machine["load"]:.1f} at the '
            'start. Speed of the jitted loop relative to the generated code, in parentheses that '
            'of the generated code relative to Pinocchio in C++:\n\n'
            f'{table(found, "{faster:.1f} ({gain:.1f})")}')

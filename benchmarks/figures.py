# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Tables of figures in README.md and other pages, from the results in docs/benchmarks/.

A page marks where a table belongs with ``<!-- figures: NAME -->`` and ``<!-- end of figures -->``.
What is between the marks is written anew by `python -m benchmarks.pages`.
"""

from collections.abc import Callable, Mapping
import re
from typing import Any, NamedTuple

from . import generated_c_results, loop_results, results

MARKED = re.compile(r'(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)', re.DOTALL)
README_ROWS = (('inverse_dynamics', 'loop'), ('forward_dynamics', 'loop'),
               ('inverse_dynamics', 'batch'), ('inverse_dynamics', 'generic_loop'))
LOOP_COLUMNS = 'native', 'inline', 'python'     # peers of :mod:`.loop_peers`


def readme_dynamics(found: Mapping[str, Any]) -> str:
    """Return what the README says of :mod:`benchmarks.dynamics`."""
    return (f'Speed relative to {_pinocchio(found)}; above 1 is faster. `make bench` measures it '
            f'again:\n\n{results.table(found, README_ROWS, beside=False)}')


def readme_generated(found: Mapping[str, Any]) -> str:
    """Return what the README says of :mod:`benchmarks.generated_c`."""
    return (f'Relative to {generated_c_results.code(found)}, the speed of the jitted loop is:\n\n'
            f'{generated_c_results.table(found)}')


def _pinocchio(found: Mapping[str, Any]) -> str:
    """Return the name and version of what others are measured by, and how it was compiled."""
    machine = found['machine']
    version = '.'.join(machine['pinocchio'].split('.')[:2])
    flags = ' '.join(word for word in machine['compiler'].split()
                     if word.startswith(('-O', '-m')))
    return f'Pinocchio {version} in C++, compiled with `{flags}`'


def loop_beside_naive(found: Mapping[str, Any]) -> str:
    """Return what docs/realtime.md says of :mod:`benchmarks.loop`."""
    machine = found['machine']
    peers = {key: found['peers'][key] for key in LOOP_COLUMNS if key in found['peers']}
    beside = loop_results.BESIDE_NAIVE
    lines = [f'Relative to the tutorial node on {machine["cpu"]} with {machine["cpus"]} CPUs '
             f'(medians of {found["rounds"]} rounds):', '',
             '| | ' + ' | '.join(f'`{key}`' for key in peers) + ' |',
             '|---|' + '---|' * len(peers)]
    for figure, name in loop_results.NAMES.items():
        lines.append(f'| {name} | ' + ' | '.join(
            f'{row[beside][figure]["ratio"]:.2f}' for row in peers.values()) + ' |')
    for rate in loop_results.RATES:
        lines.append(f'| states answered at {rate // 1000} kHz | ' + ' | '.join(
            f'{100 * row["answered"][str(rate)]:.2f} %' for row in peers.values()) + ' |')
    hogged = found['wake_ups'].get('native_hog')
    if hogged and hogged['beside']:
        lines += ['', 'While another thread holds the interpreter lock, the p99 of the wake-up '
                  f'error is 1/{1 / hogged["beside"]["ratio"]:.0f} of that of an rclpy timer.']
    return '\n'.join(lines) + '\n'


class Block(NamedTuple):
    """File of results, without its extension, and what they say in a page."""

    source: str
    text: Callable[[Mapping[str, Any]], str]


BLOCKS = {'readme_dynamics': Block('dynamics', readme_dynamics),
          'readme_generated': Block('generated_c', readme_generated),
          'loop_beside_naive': Block('loop', loop_beside_naive)}


def filled(page: str, found: Mapping[str, Mapping[str, Any]]) -> str:
    """
    Return the text of a page with its tables written anew.

    :param found: results by the name of their file; tables whose results are missing stay.
    :raises KeyError: a mark names no block.
    """
    def anew(place: re.Match[str]) -> str:
        block = BLOCKS[place[2]]
        return (f'{place[1]}{block.text(found[block.source])}{place[3]}'
                if block.source in found else place[0])
    return MARKED.sub(anew, page)

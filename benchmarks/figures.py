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

from . import generated_c_results, results

MARKED = re.compile(r'(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)', re.DOTALL)
README_ROWS = (('inverse_dynamics', 'loop'), ('forward_dynamics', 'loop'),
               ('inverse_dynamics', 'batch'), ('inverse_dynamics', 'generic_loop'))


def readme_dynamics(found: Mapping[str, Any]) -> str:
    """Return what the README says of :mod:`benchmarks.dynamics`."""
    return (f'Speed relative to {_pinocchio(found)}; above 1 is faster. `make bench` measures it '
            f'again:\n\n{results.table(found, README_ROWS)}')


def readme_generated(found: Mapping[str, Any]) -> str:
    """Return what the README says of :mod:`benchmarks.generated_c`."""
    return (f'Relative to {generated_c_results.code(found)}, the speed of the jitted loop is:\n\n'
            f'{generated_c_results.table(found)}\n{generated_c_results.NOTE}')


def _pinocchio(found: Mapping[str, Any]) -> str:
    """Return the name and version of what others are measured by, and how it was compiled."""
    machine = found['machine']
    version = '.'.join(machine['pinocchio'].split('.')[:2])
    flags = ' '.join(word for word in machine['compiler'].split()
                     if word.startswith(('-O', '-m')))
    return f'Pinocchio {version} in C++, compiled with `{flags}`'


class Block(NamedTuple):
    """File of results, without its extension, and what they say in a page."""

    source: str
    text: Callable[[Mapping[str, Any]], str]


BLOCKS = {'readme_dynamics': Block('dynamics', readme_dynamics),
          'readme_generated': Block('generated_c', readme_generated)}


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

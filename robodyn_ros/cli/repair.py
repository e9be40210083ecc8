# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A URDF with physically consistent inertias, for `robodyn inspect --repair`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

from .options import table as empty_table
from ..errors import check_new, UrdfError, writing
from ..model.resources import robot_path

if TYPE_CHECKING:
    from ..identification.repair import Change


def repair(robot: str, target: Path, force: bool, out: Console) -> None:
    """
    Write a URDF with the nearest physically consistent inertias; print what was changed.

    :raises RobodynError: a file cannot be read or written, or an inertia differs too much.
    """
    from ..identification.repair import links_not_judged, repaired_urdf
    from ..model.urdf_source import expanded, is_xacro

    if not force:
        check_new([target], '--repair', 'choose another --repair, or --force to replace it')
    source = robot_path(robot)
    text = expanded(source).encode() if is_xacro(source) else _content(source)
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
    out.print(table(changes))
    out.print(f'Masses and centres of mass are as they were. Written: {target}', soft_wrap=True)


def table(changes: tuple[Change, ...]) -> Table:
    """Return the excess of each link, and by how much its principal moments have changed."""
    result = empty_table('Inertias that no rigid body has, and the nearest consistent ones',
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
    return f'{100 * value:{"+" if signed else ""}.2g} %' if np.isfinite(value) else '-'


def _content(source: Path) -> bytes:
    try:
        return source.read_bytes()
    except OSError as error:
        raise UrdfError(f'{source} cannot be read ({error.strerror})', name=str(source),
                        remedy='pass the path of a readable file') from error

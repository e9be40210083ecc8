# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `repair`: a URDF with physically consistent inertias."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TYPE_CHECKING

import numpy as np
from rich.table import Table

from .options import command, console, Force, MODEL, output, Robot
from .options import table as empty_table
from ..errors import check_new, UrdfError, writing
from ..model.resources import robot_path

if TYPE_CHECKING:
    from ..identification.repair import Change


@command(MODEL, 'my_arm.urdf -o repaired.urdf')
def repair(robot: Robot, output: Annotated[Path | None, output(
               'The URDF to write; default: ROBOT_repaired.urdf beside ROBOT.')] = None,
           force: Force = False) -> None:
    """Write a URDF with the nearest physically consistent inertias; show what was changed."""
    from ..identification.repair import links_not_judged, repaired_urdf
    from ..model.urdf_source import expanded, is_xacro

    out, target = console(), output or _beside(Path(robot).expanduser())
    if not force:
        check_new([target], '--output', 'choose another --output, or --force to replace it')
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
    with writing(target, '--output', 'choose another --output'):
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


def _beside(path: Path) -> Path:
    name = path.name.removesuffix('.xacro').removesuffix('.urdf')
    return path.with_name(f'{name}_repaired.urdf')

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Option `--suggest` of `robodyn verify`: settings that break fewer worlds, and their run."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
import yaml

from .verification_tables import plain_table
from .verify import run
from ..verification.criteria import CRITERIA
from ..verification.sensitivity import suggestion
from ..verification.trial import Case


def suggest(case: Case, found: Mapping[str, Any], jobs: int, out: Console) -> dict[str, Any]:
    """
    Print what to change after a run, with the same worlds under the settings that are suggested.

    :param found: figures of the run.
    :return: the suggestion and the figures of its run, for JSON.
    """
    broken = found['broken_armed']
    if not found['bad']:
        out.print('no criterion is broken: nothing to suggest')
        return {}
    if broken:
        out.print(f'searching for settings that break fewer worlds (now {len(broken)}) ...')
    best = suggestion(case, broken)
    if not best.changes:
        out.print('No change of gains, friction_compensation, velocity_scale, effort_limit, '
                  'state_timeout or loop_delay helps. Compare payload, gravity, friction and '
                  'motor signs of the parameter file with the robot.', style='yellow',
                  soft_wrap=True)
        return {}
    second, _ = run(best.case, found['worlds'], jobs, None, out, again='', page=None)
    out.print(_compared(found, second))
    out.print('suggested parameters, accepted by the controller:')
    for name, value in best.changes.items():
        out.print(f'  {name}: {yaml.safe_dump(value, default_flow_style=True).splitlines()[0]}',
                  soft_wrap=True)
    return {'changes': best.changes, 'tried': best.tried, 'broken': best.broken, 'run': second}


def _compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> Any:
    table = plain_table(f'Broken criteria in {before["worlds"]} worlds')
    table.add_column('criterion', ratio=1)
    for heading in ('before', 'after'):
        table.add_column(heading, justify='right', no_wrap=True)
    for one in CRITERIA:
        counts = [found['criteria'][one.name]['broken'] for found in (before, after)]
        if any(counts):
            table.add_row(one.sentence, *map(str, counts))
    table.add_row('any', str(before['bad']), str(after['bad']))
    return table


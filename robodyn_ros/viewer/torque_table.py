# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Table of gravity torques with bars, as HTML."""

from html import escape
from math import inf, isnan

from numpy import ndarray

from ..model.robot import RobotModel

ZERO_EFFORT = 1e-9    # [N·m | N]: smaller efforts are shown as zero
HIGH_LOAD_SHARE = 0.5    # of the effort limit
GREEN, AMBER, RED = '#2a9d5c', '#e07b1a', '#c8283c'


def torque_table(model: RobotModel, gravity: ndarray, share: ndarray) -> str:
    """
    Return a table: joint, effort that holds it, limit, and a bar of the share.

    :param gravity: (nv,) [N·m | N].
    :param share: (nv,) of the effort limits, NaN without a limit.
    """
    rows = ''.join(_row(model, i, float(gravity[i]), float(share[i])) for i in range(model.nv))
    return ('<table style="width:100%;font-size:0.8em;border-spacing:0 3px;padding:0 0.8em">'
            f'{rows}</table>')


def _row(model: RobotModel, i: int, effort: float, share: float) -> str:
    unit, limit = 'N' if model.slides[i] else 'N·m', float(model.effort_limit[i])
    effort = effort if abs(effort) > ZERO_EFFORT else 0.0
    color = RED if share > 1.0 else AMBER if share > HIGH_LOAD_SHARE else GREEN
    width = 0.0 if isnan(share) else min(100.0 * share, 100.0)
    said = 'no limit' if limit == inf else f'of {limit:.4g} {unit}'
    percent = '' if isnan(share) else 'TOO HEAVY' if share > 1.0 else f'{share:.0%}'
    return (f'<tr><td>{escape(model.joint_names[i])}</td>'
            f'<td style="text-align:right;white-space:nowrap">{effort:.2f}</td>'
            f'<td style="color:gray;white-space:nowrap">{said}</td>'
            '<td style="width:28%"><div style="background:rgba(128,128,128,0.25);height:0.8em">'
            f'<div style="background:{color};height:0.8em;width:{width:.1f}%"></div></div></td>'
            f'<td style="text-align:right">{percent}</td></tr>')

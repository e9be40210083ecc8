# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Units, and quantities of a pose to be drawn: poses of bodies, gravity torques."""

from html import escape
from math import inf, isnan
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.spatial.transform import Rotation

from ..dynamics import Dynamics
from ..errors import InertiaError
from ..model.robot import RobotModel

ZERO_EFFORT = 1e-9    # [N·m | N]: smaller efforts are shown as zero
HIGH_LOAD_SHARE = 0.5    # of the effort limit
GREEN, AMBER, RED = '#2a9d5c', '#e07b1a', '#c8283c'


def units(model: RobotModel, prefix: str = '') -> tuple[str, str]:
    """
    Return the units of positions and of efforts; of both kinds where a robot has both joints.

    :param prefix: of the unit of positions, e.g. 'm' for thousandths.
    """
    rotary, sliding = f'{prefix}rad', f'{prefix}m'
    if model.slides.all():
        return sliding, 'N'
    return (f'{rotary} | {sliding}', 'N·m | N') if model.slides.any() else (rotary, 'N·m')


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


DEFAULT_RANGE = np.pi, 1.0    # [rad, m] to either side, of sliders of joints without limits
MIN_RANGE = 1e-3    # [rad, m] of a slider of a joint with equal limits


class Drawn(NamedTuple):
    """
    Drawing of a pose, in the base frame.

    :param frames: (4, 4) pose of each frame of the model by name.
    :param gravity: (nv,) [N·m | N] efforts that hold the arm at rest.
    :param share: (nv,) of the effort limits; infinite where the limit is zero, NaN where there is
        none.
    :param com: (3,) [m] center of mass of the moving bodies; None where none has mass.
    """

    frames: dict[str, ndarray]
    gravity: ndarray
    share: ndarray
    com: ndarray | None


def drawn(dynamics: Dynamics, model: RobotModel, q: ndarray) -> Drawn:
    """
    Return what is drawn of a pose.

    :param q: (nv,) [rad | m].
    """
    gravity = dynamics.gravity(q)
    try:
        com = dynamics.center_of_mass(q)
    except InertiaError:
        com = None
    return Drawn({name: dynamics.pose(q, name) for name in model.frame_names}, gravity,
                 shares(gravity, model.effort_limit), com)


def shares(effort: ndarray, limit: ndarray) -> ndarray:
    """Return |effort| / limit (nv,): NaN without a limit, infinite above a limit of zero."""
    with np.errstate(divide='ignore', invalid='ignore'):
        share = np.where(effort == 0.0, 0.0, np.abs(effort) / limit)
    return np.where(np.isinf(limit), np.nan, share)


def slider_range(model: RobotModel, i: int, start: float) -> tuple[float, float]:
    """
    Return lowest and highest position of the slider of joint i [rad | m], finite and different.

    They are the position limits; without, the range includes ``start``.
    """
    wide = DEFAULT_RANGE[int(model.slides[i])]
    lower, upper = float(model.position_lower[i]), float(model.position_upper[i])
    if np.isinf(lower):
        lower = min(start, -wide) if np.isinf(upper) else min(start, upper - 2 * wide)
    if np.isinf(upper):
        upper = max(start, lower + 2 * wide)
    return lower, max(upper, lower + MIN_RANGE)


def ellipsoid(mass: float, inertia: ndarray) -> tuple[ndarray, ndarray]:
    """
    Return the homogeneous ellipsoid of this mass and inertia.

    Its moments are m/5 (b² + c²), ...; moments that violate the triangle inequality, which no
    body has, give the semi-axis zero.

    :param mass: [kg], positive.
    :param inertia: (3, 3) [kg·m²] about the center of mass.
    :return: semi-axes (3,) [m] and the rotation (3, 3) of their directions.
    """
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0.0:
        axes = axes * [1.0, 1.0, -1.0]
    squares = 2.5 * (moments.sum() - 2.0 * moments) / mass
    return np.sqrt(np.maximum(squares, 0.0)), axes


def quaternion(rotation: ndarray) -> ndarray:
    """Return w, x, y, z (..., 4) of rotation matrices, (3, 3) or (N, 3, 3)."""
    return Rotation.from_matrix(rotation).as_quat()[..., [3, 0, 1, 2]]


def homogeneous(rotation: ndarray, origin: ndarray) -> ndarray:
    """Return the pose (4, 4) of a rotation matrix (3, 3) and an origin (3,)."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation, origin
    return T


def along(direction: ndarray) -> ndarray:
    """Return the quaternion (4,), w first, that turns z into a direction (3,), not zero."""
    x, y, z = direction
    across = np.hypot(x, y)
    # About x where z is turned round; Rotation.align_vectors is not exact near that
    axis = np.array([-y, x, 0.0]) / across if across > 0.0 else np.array([1.0, 0.0, 0.0])
    return Rotation.from_rotvec(np.arctan2(across, z) * axis).as_quat()[[3, 0, 1, 2]]

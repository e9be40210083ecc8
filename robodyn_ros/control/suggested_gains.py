# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Initial gains: critically damped at 10 rad/s in one pose, stable in all."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..dynamics import Dynamics
from ..model.robot import RobotModel
from .friction import viscous
from .gain_stability import highest, rounded_down
from .integral_stability import OBSERVER, REFERENCE, highest_integral
from .settings import TWICE, Settings, judged

KP, KD = 100.0, 20.0        # 1/s², 1/s: 10 rad/s, critically damped
BANDWIDTH = 50.0            # 1/s, of the disturbance observer
# Shares of the damping, of which the highest is taken that leaves the observer half of BANDWIDTH:
# it damps the joints as well
DAMPING = 1.0, 0.9, 0.8, 0.7


class SuggestedGains(NamedTuple):
    """Gains of all control laws, one per joint; the fields are named after the parameters."""

    stiffness: ndarray          # (nv,) [N·m/rad | N/m]
    damping: ndarray            # (nv,) [N·m·s/rad | N·s/m]
    acceleration_kp: ndarray    # (nv,) [1/s²]
    acceleration_kd: ndarray    # (nv,) [1/s]
    observer_bandwidth: ndarray     # (nv,) [1/s]


def suggest(model: RobotModel, pose: ndarray, settings: Settings) -> SuggestedGains:
    """
    Return gains that the controller accepts, with three significant digits.

    Stiffness and damping are KP and KD times the diagonal of M(q). They are lower where the arm
    has so little inertia in some other pose that they would be unstable there; stiffness is then
    as much lower as damping is. The bandwidth of the observer is BANDWIDTH, or as much of it as
    these gains leave room for; where that is next to nothing, damping is a little lower.

    :param pose: q (nv,) [rad | m].
    :param settings: with the ``rate`` and the ``loop_delay`` for which the gains shall be stable.
    """
    inertia, ones = Dynamics(model).mass_matrix(pose).diagonal(), np.ones(model.nv)
    stiffness, damping = settings.stable(model, rounded_down(KP * inertia),
                                         rounded_down(KD * inertia))
    # Less damping at the same stiffness would let the joint oscillate
    stiffness = np.minimum(stiffness, rounded_down(KP / KD * damping))
    for share in DAMPING:
        less = damping if share == 1.0 else rounded_down(share * damping)
        bandwidth = stable_observer(model, stiffness, less, BANDWIDTH * ones, settings)
        if bandwidth.min() >= 0.5 * BANDWIDTH:
            damping = less
            break
    else:
        bandwidth = stable_observer(model, stiffness, damping, BANDWIDTH * ones, settings)
    kp, kd = highest(np.eye(model.nv), KP * ones, KD * ones, 1.0 / settings.rate,
                     settings.loop_delay, margin=TWICE)
    return SuggestedGains(stiffness, damping, kp, kd, bandwidth)


def stable_observer(model: RobotModel, stiffness: ndarray, damping: ndarray, bandwidth: ndarray,
                    settings: Settings) -> ndarray:
    """Return the bandwidth of the observer (nv,), lowered to what the controller accepts."""
    return highest_integral(judged(model), (stiffness, damping), bandwidth, 1.0 / settings.rate,
                            settings.loop_delay, viscous(model), action=OBSERVER)

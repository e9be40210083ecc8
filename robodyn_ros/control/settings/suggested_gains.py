# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Initial gains: critically damped at 10 rad/s in one pose, stiffer against friction; stable."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import replace
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .friction import static_friction, viscous
from .gain_stability import rounded_down
from .motion_limits import most_resting_error, scarcity
from .settings import checked_masses, CHECKED_POSES, LIMIT_RATE, Settings
from .task_stability import highest_integral, OBSERVER, REFERENCE
from ..laws.law import Judged
from ..laws.registry import BUILT_IN
from ...dynamics import Dynamics
from ...model.robot import RobotModel, roomy_position, spread, with_payload

SUGGESTED_KP, SUGGESTED_KD = 100.0, 20.0        # 1/s², 1/s: 10 rad/s, critically damped
FRICTION_SHARE = 0.8    # of the resting error that friction alone may cause
# Friction that gains are raised against, at most, in effort limits: with more, a joint five times
# as far from its target would saturate its drive
MAX_FRICTION = 0.2
OBSERVER_BANDWIDTH = 50.0    # 1/s
ADAPTIVE_BANDWIDTH = SUGGESTED_KP / SUGGESTED_KD    # 1/s
MIN_PAYLOAD, MAX_PAYLOAD = 0.01, 20.0     # kg, of the payload of the adaptive law
DEFAULT_SETTINGS = Settings()    # rate and delay that are assumed
PAYLOAD_SHARE = 0.5    # of the load that the joints can hold in every pose with a reserve
# Shares of the damping. The observer damps the joints as well: the highest share is taken that
# leaves it half of OBSERVER_BANDWIDTH
DAMPING_SHARES = 1.0, 0.9, 0.8, 0.7
#: Rules by which the gains of all laws are judged, each once.
RULES = tuple(dict.fromkeys(rule for law in BUILT_IN for rule in law.judged))


def _suggested_gains() -> Any:
    names = dict.fromkeys(name for rule in RULES for name in (
        rule.position, rule.velocity, rule.observer, rule.reference) if name)
    return namedtuple('SuggestedGains', [*names, 'adaptation_mass', 'armature'])


#: Gains of all control laws (nv,), named after the parameters: those that the rules of the laws
#: judge, but for integral gains; the mass that adaptive may learn; the rotor inertia of the model,
#: or the assumed one.
SuggestedGains = _suggested_gains()


def suggest_gains(model: RobotModel, pose: ArrayLike | None = None,
                  settings: Settings = DEFAULT_SETTINGS) -> Any:
    """
    Return gains (nv,) that the controller accepts, with three significant digits.

    Stiffness and damping are SUGGESTED_KP and SUGGESTED_KD times the diagonal of M(q). They are
    higher, critically damped, where the friction of the model would keep a joint further than
    RESTING_ERROR from its target or let it creep there, and lower where another pose with less
    inertia would be unstable; stiffness is lowered as much as damping. Joints without rotor
    inertia whose velocity limits would leave them little effort get an assumed one
    (:class:`.Scarcity`), for which the gains are. The bandwidth of the observer is
    OBSERVER_BANDWIDTH, or less if these gains require it; where little would remain, damping is
    slightly lower.

    The gains are a start for all control laws, each by the role that ``Law.judged`` gives it::

        gains = suggest_gains(model)._asdict()
        settings = Settings(mode='computed_torque', **gains)

    :param pose: q (nv,) [rad | m] at which all joints respond alike; None: zero, or the middle of
        position limits to which zero is near, with at least the mean inertia over the workspace.
    :param settings: with the ``rate`` and the ``loop_delay`` for which the gains are stable, and
        with ``armature`` if none is to be assumed: 0 for a plant without rotors, as in Gazebo.
    :raises ArgumentError: the pose is not (nv,) finite numbers.
    :raises InertiaError: the model has no inertias.
    """
    model = (settings.with_rotors(model) if settings.armature
             else with_assumed_rotors(model, settings.limit_rate))
    masses, ones = checked_masses(model), np.ones(model.nv)
    inertia = Dynamics(model).mass_matrix(roomy_position(model) if pose is None
                                          else pose).diagonal()
    if pose is None:        # where an arm is upright, its base turns next to nothing
        inertia = np.maximum(inertia, masses.mean(axis=0).diagonal())
    friction = np.minimum(static_friction(model), np.where(
        model.effort_limit > 0.0, MAX_FRICTION * model.effort_limit, np.inf))
    error = FRICTION_SHARE * most_resting_error(model)
    # With viscous friction b a joint approaches its target at about K / b
    slow = SUGGESTED_KP / SUGGESTED_KD * viscous(model) / inertia
    wanted = np.maximum.reduce([SUGGESTED_KP * ones, friction / error / inertia, slow])
    stiffness, damping = settings.stable(model, rounded_down(wanted * inertia),
                                         rounded_down(2.0 * np.sqrt(wanted) * inertia))
    # Less damping at the same stiffness would let the joint oscillate
    stiffness = np.minimum(stiffness, rounded_down(0.5 * np.sqrt(wanted) * damping))
    for share in DAMPING_SHARES:
        less = damping if share == 1.0 else rounded_down(share * damping)
        bandwidth = stable_observer(model, stiffness, less, OBSERVER_BANDWIDTH * ones, settings)
        if bandwidth.min() >= 0.5 * OBSERVER_BANDWIDTH:
            damping = less
            break
    else:
        bandwidth = stable_observer(model, stiffness, damping, OBSERVER_BANDWIDTH * ones, settings)
    accelerations = (np.abs(np.linalg.inv(masses)) @ friction).max(axis=0)
    wanted = np.maximum.reduce([SUGGESTED_KP * ones, accelerations / error, slow])
    kp, kd = settings.stable_accelerations(model, rounded_down(wanted),
                                           rounded_down(2.0 * np.sqrt(wanted)))
    kp = np.minimum(kp, rounded_down(0.5 * np.sqrt(wanted) * kd))
    found = {'adaptation_mass': rounded_down(heaviest_payload(model) * ones),
             'armature': model.armature}
    for rule in RULES:
        found |= {**rule.named((stiffness, damping), (kp, kd)), rule.observer: bandwidth}
        if rule.reference:
            found[rule.reference] = stable_reference(model, rule, damping, settings)
    return SuggestedGains(*map(found.__getitem__, SuggestedGains._fields))


def with_assumed_rotors(model: RobotModel, limit_rate: float = LIMIT_RATE) -> RobotModel:
    """
    Return the model with a rotor inertia where the velocity limits leave little effort without.

    It is assumed to be that with which the full effort takes MIN_ROTOR_TIME to the velocity limit,
    which few drives undercut: with too much, a joint would exceed its velocity limit. Joints that
    have a rotor inertia keep it.

    :param limit_rate: [1/s] of the settings.
    """
    found = scarcity(model, checked_masses(model), model.effort_limit, model.velocity_limit,
                     limit_rate)
    assumed = found.scarce & (model.armature == 0.0)
    return replace(model, armature=np.where(assumed, rounded_down(found.armature), model.armature)
                   ) if assumed.any() else model


def stable_observer(model: RobotModel, stiffness: ndarray, damping: ndarray, bandwidth: ndarray,
                    settings: Settings) -> ndarray:
    """Return the bandwidth of the observer (nv,), lowered until the controller accepts it."""
    return highest_integral(checked_masses(model), (stiffness, damping), bandwidth,
                            1.0 / settings.rate, settings.loop_delay, viscous(model),
                            action=OBSERVER)


def stable_reference(model: RobotModel, rule: Judged, damping: ndarray,
                     settings: Settings) -> ndarray:
    """Return the bandwidth of a reference velocity (nv,) that the controller accepts."""
    rate = next(f.metadata['empty'] for law in BUILT_IN for f in law.declared
                if f.name == rule.adaptation) or 0.0
    return highest_integral(checked_masses(model), (rate * damping, damping),
                            ADAPTIVE_BANDWIDTH * np.ones(model.nv), 1.0 / settings.rate,
                            settings.loop_delay, viscous(model), action=REFERENCE)


def heaviest_payload(model: RobotModel) -> float:
    """
    Return the mass [kg] at the tip whose weight takes at most PAYLOAD_SHARE of the spare effort.

    The tip is the origin of the last frame of the model. Poses at which the weight of the arm
    itself takes half of an effort limit or more do not count.
    """
    tip = next((frame for frame in reversed(model.frame_names) if model.frame(frame).body >= 0),
               model.link_names[-1])
    dynamics, loaded = Dynamics(model), Dynamics(with_payload(model, tip, 1.0))
    most = MAX_PAYLOAD
    for q in spread(model, CHECKED_POSES):
        gravity = dynamics.gravity(q)
        spare = model.effort_limit - abs(gravity)
        weight = abs(loaded.gravity(q) - gravity)
        if np.isfinite(spare).all() and (spare > 0.5 * model.effort_limit).all():
            most = min(most, PAYLOAD_SHARE * float((spare / np.maximum(weight, 1e-9)).min()))
    return max(most, MIN_PAYLOAD)

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of all control laws that follow a reference, in lockstep with MuJoCo."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from math import nan
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .closed_loop import simulate, Simulated
from .control.laws import registry
from .control.references import sine_motion
from .control.references.trajectory import Waypoints
from .control.settings.friction import MAX_MEASURED_SHARE
from .control.settings.settings import GAINS, Settings
from .control.settings.suggested_gains import suggest_gains, SuggestedGains, with_assumed_rotors
from .dynamics import Dynamics
from .errors import ArmingError
from .model.robot import RobotModel, units

NOTHING: Mapping[str, Settings | None] = MappingProxyType({})
SEED = 0
MASS_ERROR = 0.2    # of each body of the perturbed model
MISSING_FRICTION = 0.02    # Coulomb friction, in effort limits, absent from the perturbed model
EFFORT_DELAY = 0.002    # [s], with the perturbed model
# After the motion and of the run at rest [s], or as long as a shorter motion
REST_TIME = 2.0
STEADY_STATE_WINDOW = 0.5    # [s] at the end
MIN_SHOWN_ERROR = 1e-3    # [mrad | mm], of the logarithmic axis


class Scene(NamedTuple):
    """An arm, and what its controller knows of it."""

    name: str
    known: RobotModel
    plant: RobotModel
    delay: float            # s


class Figures(NamedTuple):
    """
    Result of one law in one scene; errors over all joints [rad | m].

    Figures of a law that ended in a fault, or whose arm was not armed, are NaN.

    :param rms, peak: of the motion.
    :param steady: mean absolute error at its end, when it rests.
    :param rest: RMS error while the reference rests from the beginning.
    :param roughness: RMS of the second difference of efforts in a cycle, in effort limits.
    :param fault: how the law failed, e.g. ``faulted: STALE_STATE at 0.20 s`` or ``not armed``, ''
        where it did not; ``reason`` in words.
    :param time, error: (N,) [s] and (N,) RMS over joints, of the motion, up to a fault.
    """

    scene: str
    law: str
    rms: float
    peak: float
    steady: float
    rest: float
    roughness: float
    fault: str
    reason: str
    time: ndarray
    error: ndarray


def scenes(model: RobotModel) -> tuple[Scene, Scene]:
    """
    Return the model as it is, and a false one.

    The perturbed model has masses and inertias off by up to MASS_ERROR, uniformly distributed,
    and no friction. The arm has the larger of its Coulomb friction and MISSING_FRICTION, and
    efforts are delayed by EFFORT_DELAY. Both have the rotor inertia that suggested gains assume.
    """
    model = with_assumed_rotors(model)
    factor = np.random.default_rng(SEED).uniform(1.0 - MASS_ERROR, 1.0 + MASS_ERROR,
                                                 len(model.mass))
    none, coulomb = np.zeros(model.nv), np.maximum(MISSING_FRICTION * model.effort_limit,
                                                   model.coulomb_friction)
    rough = replace(model, coulomb_friction=coulomb, static_friction=coulomb,
                    backward_friction=np.array([model.viscous_friction, coulomb, coulomb]))
    known = replace(model, mass=factor * model.mass,
                    inertia=factor[:, None, None] * model.inertia, viscous_friction=none,
                    coulomb_friction=none, static_friction=none,
                    backward_friction=np.zeros((3, model.nv)))
    return (Scene('exact model', model, model, 0.0), Scene('perturbed model', known, rough,
                                                          EFFORT_DELAY))


def settings_of(law: str, model: RobotModel, pose: ndarray) -> Settings:
    """
    Return the settings that a law is compared with.

    Gains are those of :func:`~robodyn_ros.suggest_gains`, which are of equal stiffness for all
    laws, those of a user too where ``Law.judged`` names them; others have their defaults.
    """
    gains = _suggested(model, tuple(pose.tolist()))._asdict()
    own = {name: gains[of] for rule in registry.find(law).judged for name, of in rule.named(
        ('stiffness', 'damping'), ('acceleration_kp', 'acceleration_kd')).items()
           if name not in GAINS}
    return Settings(mode=law, friction_compensation=compensated_share(law, model), gains=own,
                    **{name: gain for name, gain in gains.items() if name in GAINS})


@lru_cache(maxsize=4)       # of the scenes; it takes seconds
def _suggested(model: RobotModel, pose: tuple[float, ...]) -> Any:
    return suggest_gains(model, np.array(pose), Settings())


def compensated_share(law: str, model: RobotModel) -> float | tuple[()]:
    """
    Return the share of a known friction that is compensated: all of it, or as much as is allowed.

    A law in which the arm may be guided compensates it at the measured velocity then.
    """
    if not (model.coulomb_friction.any() or model.viscous_friction.any()):
        return ()
    return MAX_MEASURED_SHARE if registry.find(law).guided else 1.0


def compare(model: RobotModel, pose: ndarray, shortest: float,
            candidates: Mapping[str, Settings | None] = NOTHING) -> Iterator[Figures]:
    """
    Yield the figures of laws that follow a reference, in each scene.

    :param pose: (nv,) [rad | m] at which the motion begins and ends.
    :param shortest: duration of the motion [s]; it takes longer where limits ask for it.
    :param candidates: settings by name, or None: those of :func:`settings_of` for the law of this
        mode; by default all laws of this package.
    :raises RobodynError: the arm cannot be driven, or gains of a law are missing.
    """
    sine_motion.check_limits(model)
    asked = sine_motion.plan(Dynamics(model), pose, shortest)
    for scene in scenes(model):
        for name, settings in (candidates or dict.fromkeys(registry.FOLLOWING)).items():
            yield drive(scene, name, pose, asked, min(REST_TIME, shortest), settings)


def drive(scene: Scene, law: str, pose: ndarray, asked: Waypoints, rest: float,
          given: Settings | None = None) -> Figures:
    """
    Return the figures of one law: a motion followed by ``rest`` [s], and a run at rest.

    :param given: settings of this name, None: those of :func:`settings_of` for the law.
    """
    settings = given or settings_of(law, scene.known, pose)
    if given is None and (lacking := set(registry.find(law).required).difference(
            SuggestedGains._fields, dict(settings.gains))):
        return not_armed(scene, law, f'nothing suggests {", ".join(sorted(lacking))}: declare a '
                         'default of the gain, or what it does in Law.judged')

    def run(duration: float, waypoints: Waypoints | None) -> Simulated:
        return simulate(scene.known, settings, pose, duration, waypoints, plant=scene.plant,
                        delay=scene.delay)
    try:
        rested = run(rest, None)
    except ArmingError as error:
        return not_armed(scene, law, str(error))
    if rested.fault:
        return _failed(scene, law, f'faulted: {rested.code} at rest, after '
                       f'{rested.fault_time:.2f} s', rested.fault)
    return evaluated(scene, law, asked, run(float(asked.times[-1]) + rest, asked),
                     rested.position - pose)


def not_armed(scene: Scene, law: str, reason: str) -> Figures:
    """Return the figures of a law with which the controller refuses to arm."""
    return _failed(scene, law, 'not armed', reason)


def _failed(scene: Scene, law: str, fault: str, reason: str) -> Figures:
    return Figures(scene.name, law, *5 * (nan,), fault, reason, np.zeros(0), np.zeros(0))


def evaluated(scene: Scene, law: str, asked: Waypoints, moved: Simulated, rested: ndarray
              ) -> Figures:
    """
    Return the figures of one law.

    :param moved: from the start of the motion on; ``rested`` (N, nv) errors at rest.
    """
    end = float(asked.times[-1])
    reference = sine_motion.reference(scene.known, asked)(np.minimum(moved.time, end))
    error, moving = moved.position - reference, moved.time <= end
    overall = np.sqrt((error**2).mean(1))
    if moved.fault:
        before = moved.time <= moved.fault_time
        return _failed(scene, law, f'faulted: {moved.code} at {moved.fault_time:.2f} s',
                       moved.fault)._replace(time=moved.time[before], error=overall[before])
    last = moved.time > moved.time[-1] - STEADY_STATE_WINDOW
    rough = np.diff(moved.effort[moving], 2, axis=0) / scene.plant.effort_limit
    return Figures(scene.name, law, _rms(error[moving]), float(np.abs(error[moving]).max()),
                   float(np.abs(error[last]).mean()), _rms(rested), _rms(rough), '', '',
                   moved.time, overall)


def _rms(values: ndarray) -> float:
    return float(np.sqrt((values**2).mean()))


def draw(model: RobotModel, found: list[Figures], path: Path) -> None:
    """Write a PNG: the error of each law against time, one panel a scene."""
    from matplotlib.figure import Figure

    unit, _ = units(model, 'm')
    names = list(dict.fromkeys(figures.scene for figures in found))
    figure = Figure(figsize=(12, 3.6 * len(names)), layout='constrained', dpi=110)
    axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for ax, name in zip(axes, names):
        shown = [one for one in found if one.scene == name]
        # Those below are wider: of laws that do the same all are seen
        for figures, width in zip(shown, np.linspace(3.0, 1.0, len(shown))):
            ax.semilogy(figures.time, np.maximum(1e3 * figures.error, MIN_SHOWN_ERROR), lw=width,
                        label=f'{figures.law}: ' + (figures.fault or (
                            f'RMS {1e3 * figures.rms:.3g} {unit}')))
        ax.set_title(name, loc='left')
        ax.set_ylabel(f'error, RMS of all joints [{unit}]')
        ax.grid(which='both', alpha=0.25)
        ax.legend(fontsize=8, loc='center left', bbox_to_anchor=(1.0, 0.5))
    axes[-1].set_xlabel('time [s]')
    figure.suptitle(f'{model.name}: one trajectory, gains of equal stiffness'.replace('$', r'\$'))
    figure.savefig(path)

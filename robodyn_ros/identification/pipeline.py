# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From a recording to a model and what it is worth: every step, and every choice stated."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial import KDTree

from ..errors import ArgumentError, IdentificationError
from ..model.robot import RobotModel
from .estimation.delay_and_tilt import Mounting, find_mounting
from .estimation.estimate import Estimate
from .estimation.friction_refit import with_smooth_friction
from .estimation.least_squares import least_squares
from .estimation.physical_consistency import consistent
from .estimation.presliding_search import find_presliding
from .estimation.regression import Choice, regression
from .estimation.stribeck import friction_speeds
from .motion import Motion
from .preparation.options import Options
from .preparation.prepare import prepare
from .recordings.recording import Recording
from .validation import Validation, of_estimate, of_model

A_PERIOD = 10       # samples in a period of the cutoff are kept: between them is nothing new
SURE = 3.0          # standard errors from which on an armature is there
STATES, NEAR = 2000, 0.05     # that are compared; of the spread, are the same
UNSURE = 30.0       # % standard error of a parameter of which to warn
TRIES = 4           # of mounting, presliding and armature, of which each moves the others
SHIPPED, PLAIN = 'URDF as it is', 'ordinary least squares'
SMOOTH = 'without presliding'   # the estimate, with friction as the controller has it


@dataclass(frozen=True)
class Wishes:
    """
    What a person asks for; None is the rule, which looks at the fitted part alone.

    :param choice: what is sought besides the inertial parameters; of ``armature`` and
        ``presliding`` those below decide, and ``decimate`` 1 stands for A_PERIOD samples in a
        period of the cutoff.
    :param armature: None: where it shows, significantly positive, at some joint.
    :param method: of the model that is delivered, 'consistent' or 'weighted'.
    :param split: share of the samples, from the first, that is fitted; the rest is predicted.
    :param speeds: fit those of the friction curve.
    :param delay: of the efforts [s]; None: found. ``tilt``: look for one of the base.
    :param presliding: ways over which friction turns round after a reversal [rad], at most two;
        None: found.
    :param options: of the preparation.
    """

    choice: Choice = field(default_factory=Choice)
    armature: bool | None = None
    method: str = 'consistent'
    split: float = 0.7
    speeds: bool = False
    delay: float | None = None
    tilt: bool = True
    presliding: tuple[float, ...] | None = None
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        if not 0.1 <= self.split <= 0.9:
            raise ArgumentError(f'the split is {self.split!r}', name='split', value=self.split,
                                remedy='give a share from 0.1 to 0.9: the rest is not fitted, '
                                       'but predicted')
        if self.method not in ('consistent', 'weighted'):
            raise ArgumentError(f'no method {self.method!r}', name='method', value=self.method,
                                remedy='choose consistent or weighted')


@dataclass(frozen=True, eq=False)
class Identification:
    """
    All that came of a recording.

    :param shipped: the robot as its URDF has it; ``fitted`` and ``unseen``: the parts of the
        motion.
    :param estimate: the model that is delivered; ``controlled``: with friction as controllers
        have it, without presliding; ``others`` by name, for comparison.
    :param validations: on the unseen part, by name: URDF, others, the estimate as the last.
    :param notes: what was understood and chosen; ``warnings``: what to look at.
    """

    shipped: RobotModel
    fitted: Motion
    unseen: Motion
    mounting: Mounting
    estimate: Estimate
    controlled: Estimate
    others: dict[str, Estimate]
    validations: dict[str, Validation]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def validation(self) -> Validation:
        """Of the estimate."""
        return self.validations[self.estimate.method]


def run(recording: Recording, model: RobotModel, wishes: Wishes) -> Identification:
    """
    Return parameters, and how well they predict what was not fitted.

    :raises RecordingError: as :func:`~.preparation.prepare.prepare` does.
    :raises IdentificationError: efforts are currents, or the motion does not tell enough.
    """
    if recording.effort_unit == 'A':
        raise IdentificationError(
            'the efforts are currents', name='effort', value='A',
            remedy='give what makes N·m of them, from a data sheet or from drive_gains(): '
                   '--units effort=0.12')
    motion, notes = prepare(recording, model, wishes.options)
    fitted, unseen = motion.split(wishes.split)
    notes.append(f'fitted: the first {wishes.split:.0%}, {len(fitted)} samples; the other '
                 f'{len(unseen)} are predicted')
    choice = wishes.choice
    if choice.decimate == 1 and np.isfinite(motion.cutoff):
        choice = replace(choice, decimate=max(1, int(motion.rate / (A_PERIOD * motion.cutoff))))
        notes.append(f'one sample in {choice.decimate} is an equation: {A_PERIOD} or more in a '
                     f'period of the cutoff')
    plain = least_squares(regression(model, fitted, replace(choice, armature=True)), 'ordinary')
    validations = {SHIPPED: of_model(model, unseen), PLAIN: of_estimate(plain, unseen)}
    choice, mounting, found = _settled(model, fitted, choice, wishes)
    notes += [*found, *mounting.notes]
    placed, fit, test = mounting.model(model), mounting.motion(fitted), mounting.motion(unseen)
    if wishes.speeds:
        speeds = friction_speeds(placed, fit, choice)
        placed = speeds.model
        notes.append(f'speeds of friction fitted; left as they were: '
                     f'{", ".join(speeds.untold) or "none"}')
    choice, found = _armature(placed, fit, choice, wishes.armature)
    notes += found
    given = regression(placed, fit, choice)
    weighted = least_squares(given, 'weighted')
    others = {PLAIN: plain}
    estimate = weighted
    if wishes.method == 'consistent':
        others['weighted'] = weighted
        estimate = consistent(given, None, weighted.base)
    controlled = estimate
    if choice.presliding:
        controlled = with_smooth_friction(estimate, fit)
        validations[SMOOTH] = of_estimate(controlled, test)
    validations |= {each.method: of_estimate(each, test) for each in dict.fromkeys(
        (weighted, estimate))}
    result = Identification(model, fit, test, mounting, estimate, controlled, others, validations,
                            tuple(notes), ())
    return replace(result, warnings=tuple(_warnings(result)))


def _settled(model: RobotModel, motion: Motion, choice: Choice, wishes: Wishes
             ) -> tuple[Choice, Mounting, list[str]]:
    """
    Return the mounting, the choice with which it was found, and why there is presliding or none.

    Late efforts, friction that turns late and rotors are taken for one another, so they are found
    in turn, each beside what is believed of the others, until none changes. The mounting comes
    first: friction turns late where all efforts are late.
    """
    notes = _no_presliding(choice, wishes.presliding)
    choice = replace(choice, presliding=wishes.presliding or ())
    for _ in range(TRIES):
        before, mounting = choice, _mounting(model, motion, choice, wishes)
        placed, moved = mounting.model(model), mounting.motion(motion)
        if wishes.presliding is None and not _no_presliding(choice, None):
            found = find_presliding(placed, moved, choice)
            choice, notes = replace(choice, presliding=found.ways), list(found.notes)
        choice = _armature(placed, moved, choice, wishes.armature)[0]
        if choice == before:
            break
    return choice, mounting, notes


def _no_presliding(choice: Choice, asked: tuple[float, ...] | None) -> list[str]:
    """Return why presliding is not looked for; nothing where it is."""
    if asked is not None:
        ways = ' and '.join(f'{1e3 * way:.4g} mrad' for way in asked)
        return [f'presliding: {ways or "none"}, as asked']
    if not choice.coulomb or choice.moving is not None:
        return ['presliding: not looked for, ' + ('reversals are left out' if choice.coulomb else
                                                  'there is no dry friction')]
    return []


def _mounting(model: RobotModel, motion: Motion, choice: Choice, wishes: Wishes) -> Mounting:
    found = find_mounting(model, motion, choice, wishes.delay is None, wishes.tilt)
    if wishes.delay is None:
        return found
    note = f'efforts are taken {1e3 * wishes.delay:.4g} ms after the positions, as asked'
    return replace(found, delay=wishes.delay, notes=(note, *found.notes))


def _armature(model: RobotModel, motion: Motion, choice: Choice, asked: bool | None
              ) -> tuple[Choice, list[str]]:
    """Return the choice with or without armature, and why."""
    if asked is not None:
        return replace(choice, armature=asked), ['armature: ' + ('sought' if asked else
                                                                 'as in the URDF') + ', as asked']
    with_it = replace(choice, armature=True)
    found = least_squares(regression(model, motion, with_it), 'weighted')
    each = [(value, error) for name, value, error in zip(
        found.base.base_names, found.values, found.standard_errors)
        if name.startswith('armature ')]
    there = sum(value > SURE * error for value, error in each)
    if there or not each:
        return with_it, [f'armature: sought, for it is significantly positive at {there} of '
                         f'{len(each)} joints where it shows' if each else
                         'armature: sought; it does not show apart from the inertia of the links']
    negative = sum(value < -SURE * error for value, error in each)
    return replace(choice, armature=False), [
        'armature: as in the URDF; at no joint is it significantly positive' + (
            f', at {negative} of {len(each)} it would be negative, which no rotor is: either the '
            f'torque sensors are behind the gears, or something else lacks in the model'
            if negative else '')]


def repeats(fitted: Motion, unseen: Motion) -> bool:
    """Return whether most states of a motion were nearly those of another before."""
    one, other = (np.hstack([m.position, m.velocity])[::max(1, len(m) // STATES)]
                  for m in (fitted, unseen))
    size = one.std(0)
    size[size == 0] = 1.0
    away = KDTree(one / size).query(other / size)[0] / np.sqrt(one.shape[1])
    return bool(np.median(away) < NEAR)


def _warnings(result: Identification) -> list[str]:
    estimate, valid = result.estimate, result.validation
    found = [note for note in result.notes if note.startswith('doubt')]
    shipped = result.validations[SHIPPED]
    for j, name in enumerate(valid.joint_names):
        if valid.rms[j] > shipped.rms[j]:
            found.append(f'{name}: the URDF as it is predicts the unseen part better '
                         f'({shipped.rms[j]:.3g} against {valid.rms[j]:.3g})')
        elif valid.relative[j] > 0.3:
            found.append(f'{name}: {100 * valid.relative[j]:.0f} % of its effort stay '
                         f'unexplained: little motion, or something the model does not have')
    if repeats(result.fitted, result.unseen):
        found.append('the part that was not fitted goes through the states of the fitted part '
                     'again, as periods of one motion do: it tests against noise, not against '
                     'other motion; robodyn validate does, on another recording')
    weak = [name for name, relative in zip(estimate.base.base_names,
                                           estimate.relative_deviations) if relative > UNSURE]
    if weak:
        found.append(f'{len(weak)} of {estimate.base.rank} base parameters have a standard error '
                     f'above {UNSURE:.0f} %: a motion of `robodyn excite` tells more')
    if not estimate.is_consistent:
        found.append('some bodies cannot exist; no URDF is written: choose the method consistent')
    return found

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of raw samples that need no dynamics: numbers, rate, limits, efforts, velocities."""

from collections.abc import Iterator

import numpy as np
from numpy import ndarray

from .data_issue import DataIssue, in_units, Severity
from .samples import sample_issues
from ..recordings.recording import Recording
from ...errors import Argument, RecordingError, Remedy
from ...model.robot import RobotModel

MAX_NOT_FINITE = 0.01            # share of the samples
MIN_SLIDE, MIN_TURN = 1e-3, 0.01     # [m], [rad] of a moving joint
RATE_RANGE = (5.0, 50e3)    # [Hz] of joint states
MAX_OVERRUN = 0.2    # of the range of a joint, by which limits may be exceeded
WRONG_UNIT_FACTOR = 3.0          # times a limit: no calibration is so far off
SATURATED_RUN = 5                # equal extreme samples in a row
MIN_LEVELS = 12                  # values of a measured effort
MIN_CORRELATION = 0.9            # of a velocity and the derivative of the position
MAX_FACTOR = 1.25                # between both


def recording_issues(recording: Recording, model: RobotModel) -> Iterator[DataIssue]:
    """
    Yield issues of raw samples of the model's joints, in its order.

    :raises RecordingError: there are no efforts, or fewer than ten samples of finite numbers.
    """
    effort = recording.effort
    if effort is None:
        raise RecordingError(f'{recording.source} has no efforts', name='effort',
                             remedy=('record joint torques or motor currents, without which '
                                     'neither masses nor friction can be identified; or name '
                                     'their columns: ', Argument('columns', {'effort': 'tau{i}'})))
    signals = {'position': recording.position, 'effort': effort}
    for quantity, values in signals.items():
        yield from _not_finite(quantity, values, recording)
    good = np.isfinite(np.hstack([*signals.values(), recording.time[:, None]])).all(1)
    if good.sum() < 10:
        raise RecordingError(f'{recording.source} has {good.sum()} samples in which everything '
                             f'is a number', name='time', value=int(good.sum()),
                             remedy='record on, for tens of seconds')
    yield from _rate(recording.time[good])
    position, effort = recording.position[good], effort[good]
    yield from _limits(position, model)
    yield from _still(position, model)
    yield from sample_issues(recording.time[good], position, model)
    for j, name in enumerate(model.joint_names):
        yield from _effort(name, effort[:, j])


def velocity_issues(derived: ndarray, measured: ndarray, model: RobotModel) -> Iterator[DataIssue]:
    """
    Yield joints whose measured velocity is not the derivative of their position.

    :param derived: (N, nv) derivative of the position [rad/s | m/s], filtered as ``measured``.
    :param measured: (N, nv) recorded velocity [rad/s | m/s].
    """
    factors = {}
    for j, name in enumerate(model.joint_names):
        x, y = derived[:, j] - derived[:, j].mean(), measured[:, j] - measured[:, j].mean()
        moves = np.sqrt(x @ x / len(x))
        if moves < 1e-3 or not y.any():
            continue
        alike = float(x @ y / np.sqrt((x @ x) * (y @ y)))
        factors[name] = float(x @ y / (x @ x)), alike
    wrong = {name: (factor, alike) for name, (factor, alike) in factors.items()
             if abs(alike) < MIN_CORRELATION or not 1 / MAX_FACTOR < factor < MAX_FACTOR}
    for name, (factor, alike) in wrong.items():
        if abs(alike) < MIN_CORRELATION:
            yield DataIssue(
                'velocity', name, f'the velocity of {name} is not the derivative of its '
                f'position (correlation {alike:.2f})',
                'check the order of the columns', alike)
        else:
            same = [other for other, (size, _) in wrong.items() if 0.8 < size / factor < 1.25]
            yield DataIssue(
                'velocity', name, f'the velocity of {name} is {factor:.4g} times the '
                f'derivative of its position',
                _velocity_remedy(factor, same, list(factors)), factor)


def _velocity_remedy(factor: float, names: list[str], of: list[str]) -> Remedy:
    size = abs(factor)
    sign = '-' if factor < 0 else ''
    if 1 / MAX_FACTOR < size < MAX_FACTOR:
        return 'turn its sign: ', in_units('velocity', '-rad/s', names, of)
    if 45 < size < 70:
        return 'it is in degrees: ', in_units('velocity', f'{sign}deg/s', names, of)
    if 1 / 70 < size < 1 / 45:
        return 'the position is in degrees: ', in_units('position', 'deg', names, of)
    if 800 < size < 1250:
        return ('the position is in thousandths, or the time in ms: ',
                Argument('units', {'time': 'ms'}))
    return 'give its factor to SI: ', Argument('units', {'velocity': float(f'{1 / factor:.4g}')})


def _not_finite(quantity: str, values: ndarray, recording: Recording) -> Iterator[DataIssue]:
    bad = ~np.isfinite(values)
    for j in np.flatnonzero(bad.any(0)):
        share = float(bad[:, j].mean())
        name = recording.joint_names[j]
        yield DataIssue(
            'not finite', name,
            f'{bad[:, j].sum()} samples of the {quantity} of {name} are NaN or infinite '
            f'({100 * share:.2g} %)',
            'find out why the driver sends them' if share >= MAX_NOT_FINITE
            else 'they are treated as gaps', share, Severity.of(share >= MAX_NOT_FINITE))


def _rate(time: ndarray) -> Iterator[DataIssue]:
    steps = np.diff(time)
    rising = steps[steps > 0]
    if not len(rising):
        return          # timing.py says so
    rate = float(1 / np.median(rising))
    if not RATE_RANGE[0] <= rate <= RATE_RANGE[1]:
        # The first unit with which the rate is one at which joints are recorded
        unit = next((unit for unit, of in (('ms', 1e3), ('us', 1e6), ('ns', 1e9))
                     if RATE_RANGE[0] <= rate * of <= RATE_RANGE[1]), 's')
        yield DataIssue(
            'rate', 'time', f'{rate:.3g} samples a second over {np.ptp(time):.4g} s',
            ('give the unit of time (', Argument('units', {'time': unit}),
             ') or the rate'), rate)


def _limits(position: ndarray, model: RobotModel) -> Iterator[DataIssue]:
    low, high = position.min(0), position.max(0)
    outside: dict[str, tuple[int, bool]] = {}       # its number, and whether it is but the unit
    for j, name in enumerate(model.joint_names):
        lower, upper = float(model.position_lower[j]), float(model.position_upper[j])
        if not (np.isfinite(upper - lower) and upper > lower):
            continue        # none, or nobody wrote them
        slack = MAX_OVERRUN * (upper - lower)
        if lower - slack <= low[j] and high[j] <= upper + slack:
            continue
        scale = 1e-3 if model.slides[j] else np.pi / 180
        fits = lower - slack <= scale * low[j] and scale * high[j] <= upper + slack
        # What is but shifted or turned would be within in degrees as well
        far = max(-low[j], high[j]) > WRONG_UNIT_FACTOR * max(abs(lower), abs(upper))
        outside[name] = j, bool(fits and far)
    for name, (j, of_unit) in outside.items():
        remedy: Remedy = 'check the unit and the sign of the position, and the order of the joints'
        if of_unit:
            slides = model.slides[j]
            word, unit = ('millimetres', 'mm') if slides else ('degrees', 'deg')
            alike = [other for k, other in enumerate(model.joint_names)
                     if model.slides[k] == slides]
            those = [other for other in alike if outside.get(other, (0, False))[1]]
            remedy = (f'in {word} it would be within: ',
                      in_units('position', unit, those, alike))
        yield DataIssue(
            'limits', name, f'{name} goes from {low[j]:.4g} to {high[j]:.4g}, its limits '
            f'are {model.position_lower[j]:.4g} and {model.position_upper[j]:.4g}',
            remedy, float(max(-low[j], high[j])), Severity.of(of_unit))


def _still(position: ndarray, model: RobotModel) -> Iterator[DataIssue]:
    extent, still = motion_extent(position), still_joints(position, model)
    for j in np.flatnonzero(still):
        name = model.joint_names[j]
        yield DataIssue(
            'still', name, f'{name} moves by {extent[j]:.2g} only: its friction and rotor inertia '
            'are not identified, and stay those of the URDF', 'let it move', float(extent[j]),
            Severity.of(bool(still.all())))


def motion_extent(position: ndarray) -> ndarray:
    """Return the extent (nv,) of a motion (N, nv) [rad | m], without a few wild samples."""
    low, high = np.percentile(position, [0.1, 99.9], axis=0)
    return np.asarray(high - low)


def still_joints(position: ndarray, model: RobotModel) -> ndarray:
    """Return which joints (nv,) of a motion (N, nv) [rad | m] move too little to be told."""
    return motion_extent(position) < np.where(model.slides, MIN_SLIDE, MIN_TURN)


def _effort(name: str, effort: ndarray) -> Iterator[DataIssue]:
    low, high = effort.min(), effort.max()
    if low == high:
        yield DataIssue(
            'constant', name, f'the effort of {name} is {low:.4g} throughout',
            'the driver does not measure it: record what does', float(low))
        return
    levels = np.unique(effort)
    if len(levels) < MIN_LEVELS:
        yield DataIssue(
            'quantised', name, f'the effort of {name} takes {len(levels)} values only',
            'record it with more digits', float(len(levels)), Severity.of(len(levels) < 4))
        return
    at_end = (effort == low) | (effort == high)
    edges = np.flatnonzero(np.diff(np.r_[False, at_end, False].astype(int)))
    runs = edges[1::2] - edges[::2]
    share = float(runs[runs >= SATURATED_RUN].sum() / len(effort))
    if share > 0.002:
        yield DataIssue(
            'saturated', name,
            f'the effort of {name} stays at {low:.4g} or {high:.4g}, its extremes, in '
            f'{100 * share:.2g} % of the samples',
            'move more gently, or with less load', share, Severity.of(share > 0.05))

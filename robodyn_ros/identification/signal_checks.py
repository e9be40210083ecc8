# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of raw samples that need no dynamics: stamps, positions, velocities, efforts."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from math import isnan

import numpy as np
from numpy import ndarray
from scipy.ndimage import median_filter

from .options import DataIssue, in_units
from .recordings.recording import Recording, usual_period
from ..errors import Argument, RecordingError, Remedy
from ..model.robot import RobotModel

MAX_SPEED_FACTOR = 3.0    # times the velocity limit
UNUSUAL_STEP = 10.0       # times the 99.5 % quantile of the steps of a joint
FROZEN_TIME = 0.1         # [s]; shorter, a sample was late or duplicated
STEPS_BEFORE = 5          # a freeze, from which the speed is computed
FULL_SPEED = 0.3          # of the RMS speed, from which no joint stops at once
MANY_FREEZES = 20         # from which on they are the way of recording
MAX_COARSE_STAMPS = 0.05  # share of samples that moved under the same stamp
TURN_TOLERANCE = 0.2      # [rad] between a jump and a full turn
MAX_NOT_FINITE = 0.01            # share of the samples
MIN_SLIDE, MIN_TURN = 1e-3, 0.01     # [m], [rad] of a moving joint
RATE_RANGE = (5.0, 50e3)    # [Hz] of joint states
MAX_OVERRUN = 0.2    # of the range of a joint, by which limits may be exceeded
WRONG_UNIT_FACTOR = 3.0          # times a limit: no calibration is so far off
SATURATED_RUN = 5                # equal extreme samples in a row
MIN_LEVELS = 12                  # values of a measured effort
MIN_CORRELATION = 0.9            # of a velocity and the derivative of the position
NEARLY_AT_REST = 0.03            # of the RMS velocity of the fastest joint: noise is as large
MAX_FACTOR = 1.25                # between both
SPIKE, FROZEN, LIMITS = 'effort spike', 'frozen effort', 'limits'       # kinds of issue
MAX_SPIKE_SAMPLES = 3
# A spike is farther from the median of its neighbours than MIN_SPIKE_FACTOR times this quantile of
# the distances [%], and than MIN_SPIKE_SHARE of the range of the efforts of the joint
SPIKE_QUANTILE, MIN_SPIKE_FACTOR, MIN_SPIKE_SHARE = 98.0, 25.0, 0.25
MAX_FALSE_SHARE = 0.01  # of the samples, which may be left out


def _coarse_stamps(passed: ndarray, steps: ndarray) -> Iterator[DataIssue]:
    """Yield stamps that stay the same while the joints move."""
    coarse = (passed == 0) & (steps != 0).any(1)
    share = float(np.mean(coarse))
    if share > MAX_COARSE_STAMPS:
        yield DataIssue(
            'stamps', 'time', f'{coarse.sum()} samples ({100 * share:.2g} %) have the '
            f'stamp of the one before, though the joints moved between them',
            ('the stamps have too few digits or stood still: write more of them, or give '
             'the sample rate (', Argument('rate', 500.0), ')'), share)


def _jumps(time: ndarray, passed: ndarray, steps: ndarray, period: float,
           model: RobotModel) -> Iterator[DataIssue]:
    """Yield joints that move further from one sample to the next than they can."""
    usual = np.percentile(np.abs(steps), 99.5, axis=0)
    limit = np.where(np.isfinite(model.velocity_limit) & (model.velocity_limit > 0),
                     MAX_SPEED_FACTOR * model.velocity_limit, 0.0)
    # A gap in the stamps explains a step of the position; a clock that was set back does not
    elapsed = np.maximum(passed, period)[:, None]
    unusual = UNUSUAL_STEP * usual * elapsed / period
    jumps = (np.abs(steps) > limit * elapsed) & (np.abs(steps) > unusual)
    together = jumps.sum(1) > model.nv / 2
    for j in np.flatnonzero(jumps.any(0)):
        at = int(np.flatnonzero(jumps[:, j])[0])
        name, size = model.joint_names[j], float(steps[at, j])
        if abs(abs(size) - 2 * np.pi) < TURN_TOLERANCE and not model.slides[j]:
            remedy = 'it was wrapped to a turn: unwrap it, as numpy.unwrap does'
        elif together[at] and model.nv > 1:
            remedy = 'samples were lost there: record stamps, or cut the file in two'
        else:
            remedy = 'leave these samples out of the file, or leave their cells empty'
        more = int(jumps[:, j].sum()) - 1
        yield DataIssue(
            'jump', name, f'{name} jumps by {size:.3g} at sample {at + 1}, '
            f'{time[at] - time[0]:.6g} s after the first'
            + (f', and {more} times more' if more else ''), remedy, size)


def _stood(time: ndarray, steps: ndarray, j: int, name: str, most: int) -> Iterator[DataIssue]:
    """
    Yield an encoder that freezes while its joint moves at full speed.

    A joint that comes to rest decelerates first, and so do rounded positions.

    :param most: equal samples in a row that are normal.
    """
    moves = np.abs(steps[:, j])
    usual = float(np.sqrt(np.mean(moves**2)))
    starts, ends = _runs(moves == 0)
    if not len(starts) or usual == 0:
        return
    # Positions that are held between slower updates stand again and again
    held = 4 * int(np.median(ends - starts)) if len(starts) > MANY_FREEZES else 0
    least = max(most, STEPS_BEFORE, held)
    for start, end in zip(starts.tolist(), ends.tolist()):
        before = steps[max(0, start - STEPS_BEFORE):start, j]
        if end - start >= least and len(before) == STEPS_BEFORE \
                and abs(before.mean()) > FULL_SPEED * usual:
            yield DataIssue(
                'stuck', name, f'the position of {name} stands at the same number for '
                f'{end - start + 1} samples, from {time[start] - time[0]:.6g} to '
                f'{time[end] - time[0]:.6g} s after the first, and was in full motion '
                f'just before', 'the encoder or its driver stood still: leave this '
                'stretch out of the file', float(time[end] - time[start]))
            return


def _runs(flags: ndarray) -> tuple[ndarray, ndarray]:
    """Return where runs of true flags (N,) begin, and the indices behind their ends."""
    edges = np.flatnonzero(np.diff(flags.astype(int), prepend=0, append=0))
    return edges[::2], edges[1::2]


def recording_issues(recording: Recording, model: RobotModel) -> Iterator[DataIssue]:
    """
    Yield issues of raw samples of the model's joints, in its order.

    :raises RecordingError: there are no efforts, or fewer than ten samples of finite numbers.
    """
    signals = {'position': recording.position, 'effort': recording.efforts}
    lost = [issue for quantity, values in signals.items()
            for issue in _not_finite(quantity, values, recording)]
    yield from lost
    good = np.isfinite(np.hstack([*signals.values(), recording.time[:, None]])).all(1)
    if good.sum() < 10:
        raise RecordingError(
            f'{recording.source} has {good.sum()} samples in which everything is a number'
            + ''.join(f'; {issue.message}' for issue in lost[:1]),
            name=lost[0].joint if lost else 'time', value=int(good.sum()),
            remedy='record what measures it, or lock the joint in the model' if lost
            else 'record on, for tens of seconds')
    time, position = recording.time[good], recording.position[good]
    passed, steps, period = np.diff(time), np.diff(position, axis=0), usual_period(time)
    if isnan(period):
        return          # see motion.stretches
    yield from _rate(1 / period, float(np.ptp(time)))
    yield from _limits(position, model)
    yield from _still(position, model)
    yield from _coarse_stamps(passed, steps)
    for j, name in enumerate(model.joint_names):
        yield from _stood(time, steps, j, name, round(FROZEN_TIME / period))
    yield from _jumps(time, passed, steps, period, model)
    for name, effort in zip(model.joint_names, recording.efforts[good].T):
        yield from _effort(name, effort)


def velocity_issues(derived: ndarray, measured: ndarray, model: RobotModel) -> Iterator[DataIssue]:
    """
    Yield joints whose measured velocity is not the derivative of their position.

    :param derived: (N, nv) derivative of the position [rad/s | m/s], filtered as ``measured``.
    :param measured: (N, nv) recorded velocity [rad/s | m/s].
    """
    factors = {}
    fastest = float(derived.std(0).max())
    for j, name in enumerate(model.joint_names):
        x, y = derived[:, j] - derived[:, j].mean(), measured[:, j] - measured[:, j].mean()
        moves = np.sqrt(x @ x / len(x))
        if moves < max(1e-3, NEARLY_AT_REST * fastest) or not y.any():
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
            f'({100 * share:.3g} %)',
            'find out why the driver sends them' if share >= MAX_NOT_FINITE
            else 'they are treated as gaps', share, share >= MAX_NOT_FINITE)


def _rate(rate: float, duration: float) -> Iterator[DataIssue]:
    if not RATE_RANGE[0] <= rate <= RATE_RANGE[1]:
        # The first unit with which the rate is one at which joints are recorded
        unit = next((unit for unit, of in (('ms', 1e3), ('us', 1e6), ('ns', 1e9))
                     if RATE_RANGE[0] <= rate * of <= RATE_RANGE[1]), 's')
        yield DataIssue(
            'rate', 'time', f'{rate:.3g} samples a second over {duration:.4g} s',
            ('state the unit of time (', Argument('units', {'time': unit}),
             ') or the rate'), rate)


def _limits(position: ndarray, model: RobotModel) -> Iterator[DataIssue]:
    low, high = position.min(0), position.max(0)
    outside: dict[str, tuple[int, bool]] = {}       # its number, and whether it is but the unit
    for j, name in enumerate(model.joint_names):
        lower, upper = float(model.position_lower[j]), float(model.position_upper[j])
        if not (np.isfinite(upper - lower) and upper > lower):
            continue        # none, or never written
        slack = MAX_OVERRUN * (upper - lower)
        if lower - slack <= low[j] and high[j] <= upper + slack:
            continue
        scale = 1e-3 if model.slides[j] else np.pi / 180
        fits = lower - slack <= scale * low[j] and scale * high[j] <= upper + slack
        # Positions that are only shifted or reversed would be within the limits in degrees, too
        far = max(-low[j], high[j]) > WRONG_UNIT_FACTOR * max(abs(lower), abs(upper))
        outside[name] = j, bool(fits and far)
    for name, (j, of_unit) in outside.items():
        remedy: Remedy = ('it is not this arm that was recorded, its URDF has wrong limits, or '
                          'the positions have another unit, sign, zero or order')
        if of_unit:
            slides = model.slides[j]
            word, unit = ('millimetres', 'mm') if slides else ('degrees', 'deg')
            alike = [other for k, other in enumerate(model.joint_names)
                     if model.slides[k] == slides]
            those = [other for other in alike if outside.get(other, (0, False))[1]]
            remedy = (f'in {word} it would be within: ',
                      in_units('position', unit, those, alike))
        yield DataIssue(
            LIMITS, name, f'{name} goes from {low[j]:.4g} to {high[j]:.4g}, its limits '
            f'are {model.position_lower[j]:.4g} and {model.position_upper[j]:.4g}',
            remedy, float(max(-low[j], high[j])), of_unit)


def _still(position: ndarray, model: RobotModel) -> Iterator[DataIssue]:
    extent, still = motion_extent(position), still_joints(position, model)
    for j in np.flatnonzero(still):
        name = model.joint_names[j]
        yield DataIssue(
            'still', name, f'{name} moves by {extent[j]:.2g} only: its friction and rotor inertia '
            'are not identified', 'let it move', float(extent[j]),
            bool(still.all()))


def motion_extent(position: ndarray) -> ndarray:
    """Return the extent (nv,) of a motion (N, nv) [rad | m], without a few wild samples."""
    low, high = np.percentile(position, [0.1, 99.9], axis=0)
    return np.asarray(high - low)


def still_joints(position: ndarray, model: RobotModel) -> ndarray:
    """Return which joints (nv,) of a motion (N, nv) [rad | m] move too little."""
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
            'record it with more digits', float(len(levels)), len(levels) < 4)
        return
    starts, ends = _runs((effort == low) | (effort == high))
    runs = ends - starts
    share = float(runs[runs >= SATURATED_RUN].sum() / len(effort))
    if share > 0.002:
        yield DataIssue(
            'saturated', name,
            f'the effort of {name} stays at {low:.4g} or {high:.4g}, its extremes, in '
            f'{100 * share:.2g} % of the samples',
            'move more gently, or with less load', share, share > 0.05)


def without_false_efforts(recording: Recording, accept: Collection[str]) -> Recording:
    """Return the recording with NaN in place of efforts of a kind that is not accepted."""
    spikes, frozen = _false_efforts(recording)
    false = np.zeros_like(spikes)
    if SPIKE not in accept:
        false |= spikes
    if FROZEN not in accept:
        false |= frozen[:, None]
    if not false.any():
        return recording
    return replace(recording, effort=np.where(false, np.nan, recording.efforts))


def false_effort_issues(recording: Recording) -> Iterator[DataIssue]:
    """Yield joints whose efforts have spikes, and stretches in which all efforts stand still."""
    spikes, frozen = _false_efforts(recording)
    effort, time = recording.efforts, recording.time - np.nanmin(recording.time)
    for j in np.flatnonzero(spikes.any(0)):
        name, at, share = (recording.joint_names[j], int(spikes[:, j].argmax()),
                           float(spikes[:, j].mean()))
        yield DataIssue(
            SPIKE, name, f'{spikes[:, j].sum()} samples of the effort of {name} are far from '
            f'those around them: {effort[at, j]:.4g} at {time[at]:.6g} s after the first',
            *_consequence(share))
    if frozen.any():
        at, share = int(frozen.argmax()), float(frozen.mean())
        yield DataIssue(
            FROZEN, 'effort', f'all efforts stand still while the arm moves in {frozen.sum()} '
            f'samples, first at {time[at]:.6g} s after the first', *_consequence(share))


def _consequence(share: float) -> tuple[str, float, bool]:
    """Return remedy, value and weight of an issue of this share of the samples."""
    fatal = share >= MAX_FALSE_SHARE
    return ('find out why the driver sends them, and leave these samples out of the file' if fatal
            else 'they are treated as gaps'), share, fatal


def _false_efforts(recording: Recording) -> tuple[ndarray, ndarray]:
    """Return spikes (N, nv), and samples (N,) whose efforts are repeated."""
    effort = recording.efforts
    good = np.flatnonzero(np.isfinite(np.column_stack([
        effort, recording.position, recording.time])).all(1))
    spikes, frozen = np.zeros(effort.shape, bool), np.zeros(len(effort), bool)
    if len(good) > 2 * MAX_SPIKE_SAMPLES:
        spikes[good] = _spikes(effort[good])
        frozen[good] = _frozen(recording.time[good], recording.position[good], effort[good])
    return spikes, frozen


def _spikes(effort: ndarray) -> ndarray:
    """Return which efforts (N, nv) are far from the median of their neighbours."""
    away = np.abs(effort - median_filter(effort, (2 * MAX_SPIKE_SAMPLES + 1, 1), mode='nearest'))
    low, high = np.percentile(effort, [0.5, 99.5], axis=0)
    usual = np.percentile(away, SPIKE_QUANTILE, axis=0)
    return np.asarray((away > MIN_SPIKE_FACTOR * usual) & (away > MIN_SPIKE_SHARE * (high - low)))


def _frozen(time: ndarray, position: ndarray, effort: ndarray) -> ndarray:
    """Return which samples (N,) repeat all efforts of the one before in full motion."""
    frozen = np.zeros(len(time), bool)
    period, steps = usual_period(time), np.abs(np.diff(position, axis=0))
    if isnan(period) or any(len(np.unique(e)) < MIN_LEVELS for e in effort.T):
        return frozen           # see motion.stretches and _effort
    least = max(STEPS_BEFORE, round(FROZEN_TIME / period))
    usual = np.sqrt(np.mean(steps**2, axis=0))
    for start, end in zip(*map(np.ndarray.tolist, _runs((np.diff(effort, axis=0) == 0).all(1)))):
        moved = (steps[start:end].mean(0) > FULL_SPEED * usual) & (usual > 0)
        if end - start >= least and moved.any():
            frozen[start + 1:end + 1] = True
    return frozen

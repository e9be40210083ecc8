# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Prepared motion: equidistant samples in SI units, filtered."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import inf, isnan
from typing import Any, cast, NamedTuple, TypeVar

import numpy as np
from numpy import ndarray
from scipy.interpolate import CubicSpline

from .filtering import choose_cutoff, Cutoff, derivatives, FILTER_ORDER, LowPass
from .options import PreparationOptions
from .recordings.recording import Recording, usual_period
from ..errors import IdentificationError, RecordingError

T = TypeVar('T')
MOTION_ARRAYS = 'time', 'position', 'velocity', 'acceleration', 'effort'


@dataclass(frozen=True, eq=False)
class Motion:
    """
    Joint motion sampled at equal intervals within each segment.

    :param joint_names: nv names, in the order of the columns.
    :param time: (N,) [s], rising by 1 / ``rate`` within a segment.
    :param position: (N, nv) [rad | m]; ``velocity`` and ``acceleration`` are its derivatives.
    :param effort: (N, nv) at the joints [N·m | N], or motor currents [A].
    :param rate: sample rate [Hz].
    :param segments: (begin, end) of samples that follow each other without a gap; operations on
        neighbouring samples must not cross their borders.
    :param cutoff: [Hz] of the low-pass that positions and efforts have passed, infinite for none.
        What is computed from the positions, such as the steps of Coulomb friction, has to pass it
        before it is compared with the efforts.
    :param effort_unit: of rotary joints: 'N·m', or 'A' where efforts are currents.
    """

    joint_names: tuple[str, ...]
    time: ndarray
    position: ndarray
    velocity: ndarray
    acceleration: ndarray
    effort: ndarray
    rate: float
    segments: tuple[tuple[int, int], ...]
    cutoff: float = inf
    effort_unit: str = 'N·m'
    _kept: dict[tuple[Any, ...], Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.time)

    def part(self, begin: int, end: int) -> 'Motion':
        """Return samples ``begin`` to ``end``, without the latter."""
        inside = [(max(a, begin), min(b, end)) for a, b in self.segments]
        return self.samples(slice(begin, end), [
            (a - begin, b - begin) for a, b in inside if a < b])

    def samples(self, index: ndarray | slice, segments: Iterable[tuple[int, int]]) -> 'Motion':
        """Return the samples of these indices, which make these segments."""
        return replace(self, segments=tuple(segments), **{
            name: getattr(self, name)[index] for name in MOTION_ARRAYS})

    def once(self, key: tuple[Any, ...], compute: Callable[[], T]) -> T:
        """Return what depends on this motion and a key alone; it is kept as long as the motion."""
        if key not in self._kept:
            self._kept[key] = compute()
        return cast(T, self._kept[key])

    def later(self, delay: float) -> 'Motion':
        """
        Return the motion with efforts that were measured ``delay`` [s] after the positions.

        They are interpolated by a cubic spline; samples at the ends of segments without efforts
        are left out.

        :raises IdentificationError: the delay is not finite, or no sample is left.
        """
        kept, ends, efforts = [], [0], []
        for a, b in self.segments:
            time = self.time[a:b]
            inside = (time + delay >= time[0]) & (time + delay <= time[-1])
            if b - a < 4 or not inside.any():
                continue
            efforts.append(CubicSpline(time, self.effort[a:b])(time[inside] + delay))
            kept.append(a + np.flatnonzero(inside))
            ends.append(ends[-1] + int(inside.sum()))
        if not kept:
            raise IdentificationError(
                f'no sample has efforts {delay:g} s after the position', name='delay', value=delay,
                remedy='use a delay that is shorter than the segments of the motion')
        return replace(self.samples(np.concatenate(kept), zip(ends, ends[1:])),
                       effort=np.concatenate(efforts))

    def split(self, share: float) -> tuple['Motion', 'Motion']:
        """Return the first ``share`` of the samples, and the others."""
        at = round(share * len(self))
        return self.part(0, at), self.part(at, len(self))


DUPLICATE_INTERVAL = 0.05    # periods, up to which two stamps are of one sample
GRID_TOLERANCE = 0.02     # of a period between stamps and a grid
ROUNDING_TOLERANCE = 0.1  # of a period between equal intervals of rounded stamps
DROPPED_INTERVAL = 1.5    # periods: a longer interval lacks a sample
MAX_BRIDGED_GAP = 10.0    # periods
MIN_SEGMENT = 32    # samples besides transients
MIN_DURATION = 1.0  # [s]
MAX_NOTES = 8    # on borders of segments


@dataclass(frozen=True)
class Stretches:
    """
    Segments of a recording.

    :param pieces: indices of samples whose stamps rise without a gap.
    :param time: (N,) [s] with steps of the clock removed.
    :param rate: sample rate where no sample is missing [Hz].
    :param notes: findings, one line each.
    """

    pieces: tuple[ndarray, ...]
    time: ndarray
    rate: float
    notes: tuple[str, ...]


def stretches(time: ndarray, position: ndarray, gap: float | None = None) -> Stretches:
    """
    Return segments without gaps and steps of the clock.

    :param time: (N,) stamps [s].
    :param position: (N, nv) [rad | m]; samples that are not finite are missing.
    :param gap: longest bridged interval without samples [s]; None: MAX_BRIDGED_GAP periods.
    :raises RecordingError: the stamps never rise.
    """
    usable = np.flatnonzero(np.isfinite(time) & np.isfinite(position).all(1))
    notes = []
    if len(usable) < len(time):
        notes.append(f'{len(time) - len(usable)} samples with a number that is not finite are '
                     f'treated as missing')
    period = usual_period(time[usable])
    if isnan(period):
        raise RecordingError('the stamps never rise', name='time', value=time[:5].tolist(),
                             remedy='say which column is the time, or give the rate')
    alike = np.abs(np.diff(time[usable])) <= DUPLICATE_INTERVAL * period
    if alike.any():
        usable = usable[np.r_[True, ~alike]]
        notes.append(f'{np.sum(alike)} samples with the stamp of the one before are left out')
        period = usual_period(time[usable])
    steps = np.diff(time[usable])
    regular = steps[(steps > 0) & (steps < DROPPED_INTERVAL * period)]
    # The mean if stamps are only rounded; with jitter the usual interval
    even = np.ptp(np.percentile(regular, [1, 99])) < ROUNDING_TOLERANCE * period
    rate = float(f'{1 / (np.mean(regular) if even else period):.6g}')
    limit = MAX_BRIDGED_GAP * period if gap is None else gap
    back, ahead = steps < 0, steps > limit
    notes += _described(time[usable], regular, period, limit)
    shift = np.zeros(len(usable))
    shift[1:] = np.cumsum(np.where(back, period - steps, 0.0))
    moved = np.array(time, float)
    moved[usable] += shift
    pieces = tuple(np.split(usable, np.flatnonzero(back | ahead) + 1))
    return Stretches(pieces, moved, rate, tuple(notes))


def resampled(time: ndarray, values: ndarray, rate: float) -> tuple[ndarray, ndarray]:
    """
    Return equidistant times [s], and the values (n, ...) at them by a cubic spline.

    Values at rising stamps (n,) [s] that are equidistant already stay as they are.
    """
    even = time[0] + np.arange(len(time)) / rate
    if np.abs(time - even).max() <= GRID_TOLERANCE / rate:
        return even, values
    at = time[0] + np.arange(int((time[-1] - time[0]) * rate * (1 + 1e-12)) + 1) / rate
    return at, CubicSpline(time, values, axis=0)(at)


def _described(time: ndarray, regular: ndarray, period: float, limit: float) -> list[str]:
    notes, steps = [], np.diff(time)
    spread = np.percentile(regular, [1, 99])
    notes.append(f'period {1e3 * period:.6g} ms; 98 % of intervals without a lost sample within '
                 f'{1e3 * spread[0]:.4g} to {1e3 * spread[1]:.4g} ms')
    short = (steps >= DROPPED_INTERVAL * period) & (steps <= limit)
    if short.any():
        lost = np.sum(np.round(steps[short] / period) - 1)
        notes.append(f'{lost:.0f} samples lost in {np.sum(short)} places, none longer than '
                     f'{1e3 * steps[short].max():.4g} ms: bridged')
    for k in np.flatnonzero((steps < 0) | (steps > limit)).tolist():
        at = f'at {time[k] - time[0]:.6g} s after the first stamp'
        if steps[k] < 0:
            notes.append(f'the clock was set back by {-steps[k]:.6g} s {at}: a new segment')
        else:
            notes.append(f'a gap of {steps[k]:.6g} s {at}, {steps[k] / period - 1:.0f} samples: '
                         f'a new segment')
    return notes if len(notes) <= MAX_NOTES else [
        *notes[:MAX_NOTES], f'and {len(notes) - MAX_NOTES} more borders of this kind']


class Prepared(NamedTuple):
    """
    A prepared recording.

    :param motion: filtered, on an equidistant grid.
    :param measured_velocity: (N, nv) the recorded one, filtered as the positions, or None.
    :param notes: choices that were made, one line each.
    """

    motion: Motion
    measured_velocity: ndarray | None
    notes: tuple[str, ...]


def prepare(recording: Recording, options: PreparationOptions) -> Prepared:
    """
    Return the motion that a recording holds, filtered and differentiated.

    Gaps and steps of the clock separate segments, and no operation crosses their borders. Each
    segment is resampled to an equidistant grid by a cubic spline; position and effort pass the
    same filter, so that a model linear in its parameters still holds between them; derivatives
    are those of a quintic spline. Filter transients are cut off.

    :param recording: of the joints of the model, in its order, with efforts.
    :raises RecordingError: the stamps never rise, or too little is left.
    """
    signals = _signals(recording)
    found, rate, cutoff = _choices(recording, signals, options)
    low_pass = LowPass(cutoff.frequency, rate)
    cut = low_pass.settling
    parts = [_segment(found.time[piece], {key: a[piece] for key, a in signals.items()}, rate,
                      low_pass, cut)
             for piece in found.pieces
             if np.ptp(found.time[piece]) * rate > 2 * cut + MIN_SEGMENT]
    motion = _joined(parts, recording, rate, cutoff.frequency)
    measured = np.vstack([part['velocity'] for part in parts]) if 'velocity' in signals else None
    notes = (*found.notes, *_filter_notes(rate, cutoff, options),
             *_kept(found, parts, cut, rate),
             'velocity and acceleration: derivatives of the filtered position',
             f'motion: {len(motion)} samples at {motion.rate:.6g} Hz in {len(motion.segments)} '
             'segments')
    return Prepared(motion, measured, notes)


def _filter_notes(rate: float, cutoff: Cutoff, options: PreparationOptions) -> list[str]:
    notes = [f'resampled at {rate:.6g} Hz' + (
        ', the rate of the recording' if options.rate is None else ', as given')]
    if not np.isfinite(cutoff.frequency):
        return [*notes, 'no filter, as asked']
    return [*notes, f'cutoff {cutoff.frequency:.3g} Hz: {cutoff.why}',
            f'low-pass filter: Butterworth of order {FILTER_ORDER}, forwards and backwards, over '
            'positions and efforts alike']


def _signals(recording: Recording) -> dict[str, ndarray]:
    """Return what is to be filtered; a sample of which something is not finite is NaN in all."""
    signals = {'position': recording.position, 'effort': recording.efforts}
    velocity = recording.velocity
    if velocity is not None and np.isfinite(velocity).all() and velocity.any():
        signals['velocity'] = velocity
    bad = ~np.all([np.isfinite(a).all(1) for a in signals.values()], axis=0)
    return {key: np.where(bad[:, None], np.nan, a) for key, a in signals.items()}


def _choices(recording: Recording, signals: dict[str, ndarray],
             options: PreparationOptions) -> tuple[Stretches, float, Cutoff]:
    """Return the segments, the rate and the cutoff, which limits the gaps that are bridged."""
    found = stretches(recording.time, signals['position'])
    rate = found.rate if options.rate is None else options.rate
    if options.cutoff is None:
        pieces = [resampled(found.time[piece], signals['position'][piece], rate)[1]
                  for piece in found.pieces if np.ptp(found.time[piece]) * rate > 2 * MIN_SEGMENT]
        if not pieces:
            raise _too_short(found, rate)
        cutoff = choose_cutoff(pieces, rate)
    else:
        cutoff = Cutoff(options.cutoff, options.why)
        if np.isfinite(options.cutoff) and options.cutoff >= rate / 2:
            raise RecordingError(f'a cutoff of {options.cutoff:g} Hz is not below half the rate',
                                 name='cutoff', value=options.cutoff,
                                 remedy=f'use less than {rate / 2:g} Hz, or infinity for none')
    periods = np.clip(0.25 / cutoff.frequency * found.rate, DROPPED_INTERVAL + 1, MAX_BRIDGED_GAP)
    limit = periods / found.rate
    found = stretches(recording.time, signals['position'], float(limit))
    return found, rate, cutoff


def _segment(time: ndarray, signals: dict[str, ndarray], rate: float, low_pass: LowPass,
             cut: int) -> dict[str, ndarray]:
    """Return one segment on its grid: filtered, with derivatives, without transients."""
    out = {}
    for key, signal in signals.items():
        out['time'], even = resampled(time, signal, rate)
        out[key] = low_pass(even)
    out['derived'], out['derived twice'] = derivatives(out['position'], rate)
    return {key: a[cut:len(a) - cut] for key, a in out.items()}


def _joined(parts: list[dict[str, ndarray]], recording: Recording, rate: float,
            cutoff: float) -> Motion:
    count = sum(len(part['time']) for part in parts)
    if count < MIN_DURATION * rate:
        raise RecordingError(
            f'{count / rate:.3g} s of {recording.source} can be used', name='time',
            value=count / rate,
            remedy=f'use at least {MIN_DURATION:g} s without a gap or a step of the clock, and '
                   'tens of seconds for a good result; a higher cutoff cuts less away at borders, '
                   'a lower one bridges longer gaps')
    ends = np.cumsum([0, *(len(part['time']) for part in parts)]).tolist()

    def whole(key: str) -> ndarray:
        return np.concatenate([part[key] for part in parts])

    return Motion(recording.joint_names, whole('time'), whole('position'), whole('derived'),
                  whole('derived twice'), whole('effort'), rate, tuple(zip(ends, ends[1:])),
                  cutoff, recording.effort_unit)


def _too_short(found: Stretches, rate: float) -> RecordingError:
    longest = max(np.ptp(found.time[piece]) for piece in found.pieces)
    return RecordingError(
        f'the longest stretch without a gap or a step of the clock lasts {longest:.3g} s',
        name='time', value=float(longest),
        remedy=f'record on, for tens of seconds; at {rate:.4g} Hz less than '
               f'{2 * MIN_SEGMENT / rate:.3g} s cannot be filtered')


def _kept(found: Stretches, parts: list[dict[str, ndarray]], cut: int, rate: float) -> list[str]:
    notes = [f'{cut / rate:.3g} s of filter transients cut off at both ends of every segment'
             ] if cut else []
    if dropped := len(found.pieces) - len(parts):
        notes.append(f'{dropped} of {len(found.pieces)} segments are too short to be used')
    return notes

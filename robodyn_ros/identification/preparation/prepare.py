# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Signal processing of a recording: resampling, filtering, differentiation, segments."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.interpolate import CubicSpline

from .clock import own_clock
from .filtering import choose_cutoff, Cutoff, derivatives, LowPass
from .options import PreparationOptions
from .timing import BRIDGED, DROPPED, grid, Stretches, stretches
from ..motion import Motion
from ..recordings.recording import Recording
from ...errors import RecordingError

MIN_SEGMENT = 32    # samples besides transients
MIN_DURATION = 1.0  # [s]


class Prepared(NamedTuple):
    """
    A prepared recording.

    :param motion: filtered, on an equidistant grid, before :func:`thinned`.
    :param derived_velocity: (N, nv) derivative of the filtered position [rad/s | m/s].
    :param measured_velocity: (N, nv) the recorded one, filtered alike; None where there is none.
    :param notes: choices that were made, one line each.
    """

    motion: Motion
    derived_velocity: ndarray
    measured_velocity: ndarray | None
    notes: tuple[str, ...]


def prepare(recording: Recording, options: PreparationOptions) -> Prepared:
    """
    Return the motion that a recording holds, filtered and differentiated.

    Stamps are corrected (:func:`~.clock.own_clock`); gaps and steps of the clock separate
    segments, and no operation crosses their borders. Each segment is resampled to an equidistant
    grid by a cubic spline; position and effort pass the same filter, so that a model linear in its
    parameters still holds between them; derivatives are those of a quintic spline. Filter
    transients are cut off.

    :param recording: of the joints of the model, in its order, with efforts.
    :raises RecordingError: the stamps never rise, a measured velocity is asked for and missing, or
        too little is left.
    """
    recording, counted = own_clock(recording)
    signals = _signals(recording, options.velocity == 'measured')
    found, rate, cutoff = _choices(recording, signals, options)
    low_pass = LowPass(cutoff.frequency, options.order, rate)
    cut = low_pass.settling if options.settling is None else round(options.settling * rate)
    parts = [_segment(found.time[piece], {key: a[piece] for key, a in signals.items()}, rate,
                      low_pass, cut)
             for piece in found.pieces
             if np.ptp(found.time[piece]) * rate > max(2 * cut, low_pass.settling) + MIN_SEGMENT]
    motion = _joined(parts, recording, rate, cutoff.frequency, options)
    measured = np.vstack([part['velocity'] for part in parts]) if 'velocity' in signals else None
    notes = (*counted, *found.notes, *_filter_notes(rate, cutoff, options),
             *_kept(found, parts, cut, rate),
             'velocity: measured, filtered; acceleration: its derivative'
             if options.velocity == 'measured' else
             'velocity and acceleration: derivatives of the filtered position')
    return Prepared(motion, np.vstack([part['derived'] for part in parts]), measured, notes)


def _filter_notes(rate: float, cutoff: Cutoff, options: PreparationOptions) -> list[str]:
    notes = [f'resampled at {rate:.6g} Hz' + (
        ', the rate of the recording' if options.rate is None else ', as asked')]
    if not np.isfinite(cutoff.frequency):
        return [*notes, 'no filter, as asked']
    return [*notes, f'cutoff {cutoff.frequency:.3g} Hz: {cutoff.why}',
            f'low-pass filter: Butterworth of order {options.order}, forwards and backwards, over '
            'positions and efforts alike']


def _signals(recording: Recording, measured: bool) -> dict[str, ndarray]:
    """Return what is to be filtered; a sample of which something is not finite is NaN in all."""
    assert recording.effort is not None     # that there is none is never accepted
    signals = {'position': recording.position, 'effort': recording.effort}
    velocity = recording.velocity
    if velocity is not None and (measured or np.isfinite(velocity).all() and velocity.any()):
        signals['velocity'] = velocity
    elif measured:
        raise RecordingError('no velocity was recorded', name='velocity',
                             remedy="take the derivative of the position: velocity='position'")
    bad = ~np.all([np.isfinite(a).all(1) for a in signals.values()], axis=0)
    return {key: np.where(bad[:, None], np.nan, a) for key, a in signals.items()}


def _choices(recording: Recording, signals: dict[str, ndarray],
             options: PreparationOptions) -> tuple[Stretches, float, Cutoff]:
    """Return where to cut, the rate and the cutoff: the last decides what gaps can be bridged."""
    found = stretches(recording.time, signals['position'], options.gap)
    rate = found.rate if options.rate is None else options.rate
    if options.cutoff is None:
        pieces = [_resampled(found.time[piece], signals['position'][piece], rate)[1]
                  for piece in found.pieces if np.ptp(found.time[piece]) * rate > 2 * MIN_SEGMENT]
        if not pieces:
            raise _too_short(found, rate)
        cutoff = choose_cutoff(pieces, rate)
    else:
        cutoff = Cutoff(options.cutoff, 'as asked')
        if np.isfinite(options.cutoff) and options.cutoff >= rate / 2:
            raise RecordingError(f'a cutoff of {options.cutoff:g} Hz is not below half the rate',
                                 name='cutoff', value=options.cutoff,
                                 remedy=f'give less than {rate / 2:g} Hz, or infinity for none')
    if options.gap is None:
        limit = np.clip(0.25 / cutoff.frequency * found.rate, DROPPED + 1, BRIDGED) / found.rate
        found = stretches(recording.time, signals['position'], float(limit))
    return found, rate, cutoff


def _resampled(time: ndarray, values: ndarray, rate: float) -> tuple[ndarray, ndarray]:
    at = grid(time, rate)
    if at is None:
        return time[0] + np.arange(len(time)) / rate, values
    return at, CubicSpline(time, values, axis=0)(at)


def _segment(time: ndarray, signals: dict[str, ndarray], rate: float, low_pass: LowPass,
             cut: int) -> dict[str, ndarray]:
    """Return one segment on its grid: filtered, with derivatives, without transients."""
    out = {}
    for key, signal in signals.items():
        out['time'], even = _resampled(time, signal, rate)
        out[key] = low_pass(even)
    out['derived'], out['derived twice'] = derivatives(out['position'], rate)
    if 'velocity' in out:
        out['measured derived'] = derivatives(out['velocity'], rate)[0]
    return {key: a[cut:len(a) - cut] for key, a in out.items()}


def _joined(parts: list[dict[str, ndarray]], recording: Recording, rate: float,
            cutoff: float, options: PreparationOptions) -> Motion:
    count = sum(len(part['time']) for part in parts)
    if count < MIN_DURATION * rate:
        raise RecordingError(
            f'{count / rate:.3g} s of {recording.source} can be used', name='time',
            value=count / rate,
            remedy=f'give at least {MIN_DURATION:g} s without a gap or a step of the clock, and '
                   f'tens of seconds for a good result; a higher cutoff cuts less away at borders')
    measured = options.velocity == 'measured'
    velocity, acceleration = (('velocity', 'measured derived') if measured
                              else ('derived', 'derived twice'))
    ends = np.cumsum([0, *(len(part['time']) for part in parts)]).tolist()

    def whole(key: str) -> ndarray:
        return np.concatenate([part[key] for part in parts])

    return Motion(recording.joint_names, whole('time'), whole('position'), whole(velocity),
                  whole(acceleration), whole('effort'), rate, tuple(zip(ends, ends[1:])), cutoff,
                  options.order, recording.effort_unit)


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


def thinned(motion: Motion, options: PreparationOptions) -> tuple[Motion, list[str]]:
    """
    Return the motion without samples at rest, one in ``options.every`` of the others, and notes.

    Samples on either side of what is left out belong to different segments.

    :raises RecordingError: all samples are at rest.
    """
    notes: list[str] = []
    keep = np.ones(len(motion), bool)
    if options.rest is not None:
        keep = (np.abs(motion.velocity) > options.rest).any(1)
        notes.append(f'{np.sum(~keep)} samples at rest left out: no joint faster than '
                     f'{options.rest:g}')
    if options.every > 1:
        notes.append(f'one in {options.every} samples kept')
    chosen, ends = [], [0]
    for begin, end in motion.segments:
        inside = begin + np.flatnonzero(keep[begin:end])
        for run in np.split(inside, np.flatnonzero(np.diff(inside) > 1) + 1):
            if len(run):
                chosen.append(run[::options.every])
                ends.append(ends[-1] + len(chosen[-1]))
    if not chosen:
        raise RecordingError('nothing is left: no joint moves faster than is called rest',
                             name='rest', value=options.rest, remedy='give less, or None')
    index = np.concatenate(chosen)
    motion = replace(motion, rate=motion.rate / options.every, segments=tuple(zip(ends, ends[1:])),
                     **{name: getattr(motion, name)[index] for name in (
                         'time', 'position', 'velocity', 'acceleration', 'effort')})
    notes.append(f'motion: {len(motion)} samples at {motion.rate:.6g} Hz in '
                 f'{len(motion.segments)} segments')
    return motion, notes

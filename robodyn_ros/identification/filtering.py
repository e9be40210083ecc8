# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Zero-phase low-pass filter of all signals, and the rule for its cutoff."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from scipy.interpolate import make_interp_spline
from scipy.signal import butter, sosfiltfilt, welch, zpk2sos
from scipy.sparse import csr_matrix

POWER_SHARE = 0.999     # of the velocities, below their bandwidth
BANDWIDTH_FACTOR = 8.0  # times the bandwidth, at most
MAX_CUTOFF = 0.2        # of the sampling rate
FILTER_ORDER = 4    # forward and backward runs together have twice as many poles
MAX_TRANSIENT = 0.01    # share that is left where a transient is cut off
TAIL_FACTOR = 4    # times the transient: 1e-8 of it is left
SMOOTHING_BAND = 1.2    # a spectrum is averaged from f / SMOOTHING_BAND to f SMOOTHING_BAND


@dataclass(frozen=True)
class Cutoff:
    """
    Cutoff of the low-pass filter.

    :param frequency: [Hz], where the filter, which runs twice, passes one half.
    :param why: reason, for the notes.
    """

    frequency: float
    why: str


def choose_cutoff(pieces: Sequence[ndarray], rate: float) -> Cutoff:
    """
    Return the frequency up to which motion rather than noise dominates the accelerations.

    The spectrum of the positions (Welch 1967, Hann windows) times (2πf)⁴ is that of the
    accelerations. It falls where motion dominates and rises where noise does; the cutoff is at the
    minimum between them, at most BANDWIDTH_FACTOR times the frequency below which POWER_SHARE of
    the velocities' power lies, and at most MAX_CUTOFF of the rate. The joint with the highest
    value decides; a joint at rest has noise only and is ignored.

    :param pieces: positions (n, nv), equidistant, each without a gap.
    :param rate: [Hz].
    """
    longest = max(len(piece) for piece in pieces)
    window = min(longest, max(64, round(8 * rate)))
    used = [piece for piece in pieces if len(piece) >= window]
    power: ndarray | float = 0.0
    for piece in used:
        f, p = welch(piece, rate, nperseg=window, detrend='linear', axis=0)
        power = power + len(piece) * p
    power = np.asarray(power)[1:]
    omega = 2 * np.pi * f[1:]
    most = MAX_CUTOFF * rate
    found = [_of_joint(f[1:], of_joint * omega**2, most) for of_joint in power.T]
    return max(filter(None, found), key=lambda cutoff: cutoff.frequency, default=Cutoff(
        most, f'{MAX_CUTOFF:g} of the rate, because nothing moves'))


def _of_joint(f: ndarray, velocity: ndarray, most: float) -> Cutoff | None:
    """
    Return the cutoff of one joint, None if it is at rest.

    :param velocity: spectrum of its velocity at ``f``.
    """
    count = max(2, int(np.log(most / f[1]) / np.log(SMOOTHING_BAND) * 4))
    at = np.geomspace(f[1], most, count)
    wide = np.maximum((SMOOTHING_BAND - 1) * at, 2 * f[0])
    power = velocity * f**2
    acceleration = np.array([np.mean(power[np.abs(f - a) <= w])
                             for a, w in zip(at, wide)])
    # Below the motion's own lines there is no valley: half of its power is where they are
    floor = 10 * np.median((velocity / f**2)[f > f[-1] / 2])
    energy = np.cumsum(np.where(velocity / f**2 > floor, velocity, 0.0)[f <= most])
    if not energy[-1] > 0.0:            # the positions are white noise, or constant
        return None
    centre = f[np.searchsorted(energy, 0.5 * energy[-1])]
    peak = int(np.argmax(np.where(at <= 4 * centre, acceleration, 0.0)))
    knee = float(at[peak + int(np.argmin(acceleration[peak:]))])
    below = np.cumsum(velocity[f <= knee])
    if not len(below) or not below[-1] > 0:
        return None
    motion = float(f[np.searchsorted(below, POWER_SHARE * below[-1])])
    if BANDWIDTH_FACTOR * motion < knee:
        return Cutoff(BANDWIDTH_FACTOR * motion,
                      f'{BANDWIDTH_FACTOR:g} times the {motion:.3g} Hz below which '
                      f'{100 * POWER_SHARE:g} % of the power of the velocities lies')
    if knee < most:
        return Cutoff(knee, 'above it noise dominates the accelerations')
    return Cutoff(most, f'{MAX_CUTOFF:g} of the rate')


class LowPass:
    """
    Zero-phase Butterworth filter: forwards and backwards.

    :param cutoff: [Hz]; infinite for no filter.
    :param rate: [Hz] of the signals.
    """

    def __init__(self, cutoff: float, rate: float):
        self.settling = 0       #: samples after which a transient is gone
        self._sections: ndarray | None = None
        if np.isfinite(cutoff):
            z, p, k = butter(FILTER_ORDER, cutoff, fs=rate, output='zpk')
            self._sections = zpk2sos(z, p, k)
            self.settling = int(np.ceil(np.log(MAX_TRANSIENT) / np.log(np.abs(p).max())))

    def of_kept(self, signal: ndarray, step: int, every: int = 1) -> ndarray:
        """
        Return some samples of a filtered signal from every ``step``-th sample (n, ...) alone.

        The signal has to be smooth: with negligible power above half the rate of the samples. The
        response of the filter to an impulse is sampled as the signal is.

        :param every: one in so many of the n is returned, from the first.
        """
        reach = TAIL_FACTOR * -(-self.settling // step)
        impulse = np.zeros(2 * reach * step + 1)
        impulse[reach * step] = step
        response = sosfiltfilt(self._sections, impulse, padtype=None)[::step]
        mirrored = min(round(self.settling / step), len(signal) - 1)
        longer = np.concatenate([
            2 * signal[:1] - signal[mirrored:0:-1], signal,
            2 * signal[-1:] - signal[-2:-mirrored - 2:-1]])
        centres = mirrored + np.arange(0, len(signal), every)
        taps = np.clip(centres[:, None] + np.arange(-reach, reach + 1), 0, len(longer) - 1)
        rows = csr_matrix((np.tile(response, len(centres)), taps.ravel(),
                           np.arange(len(centres) + 1) * len(response)),
                          (len(centres), len(longer)))
        return np.asarray(rows @ longer.reshape(len(longer), -1)).reshape(-1, *signal.shape[1:])

    def __call__(self, signal: ndarray) -> ndarray:
        """
        Return a filtered signal (n, ...), extended at its ends by its point reflection.

        The first and last ``settling`` samples lack the influence of samples beyond the ends.
        """
        if self._sections is None:
            return signal
        return sosfiltfilt(self._sections, signal, axis=0,
                           padlen=min(self.settling, len(signal) - 1))


def derivatives(signal: ndarray, rate: float) -> tuple[ndarray, ndarray]:
    """
    Return the first and second derivatives of a signal (n, nv) sampled at ``rate`` [Hz].

    They are those of the interpolating quintic spline: symmetric in time, and in the interior of
    fourth order in the period, where central differences are of second order.
    """
    spline = make_interp_spline(np.arange(len(signal)) / rate, signal, k=5, axis=0)
    times = np.arange(len(signal)) / rate
    return spline.derivative(1)(times), spline.derivative(2)(times)

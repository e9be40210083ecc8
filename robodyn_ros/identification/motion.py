# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Prepared motion: equidistant samples in SI units, filtered."""

from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy import ndarray
from scipy.interpolate import CubicSpline

from ..errors import IdentificationError


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

    def __len__(self) -> int:
        return len(self.time)

    def part(self, begin: int, end: int) -> 'Motion':
        """Return samples ``begin`` to ``end``, without the latter."""
        inside = [(max(a, begin), min(b, end)) for a, b in self.segments]
        arrays = {name: getattr(self, name)[begin:end] for name in (
            'time', 'position', 'velocity', 'acceleration', 'effort')}
        return replace(self, **arrays, segments=tuple(
            (a - begin, b - begin) for a, b in inside if a < b))

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
                remedy='give a delay that is shorter than the segments of the motion')
        index = np.concatenate(kept)
        arrays = {name: getattr(self, name)[index] for name in (
            'time', 'position', 'velocity', 'acceleration')}
        return replace(self, **arrays, segments=tuple(zip(ends, ends[1:])),
                       effort=np.concatenate(efforts))

    def split(self, share: float) -> tuple['Motion', 'Motion']:
        """Return the first ``share`` of the samples, and the others."""
        at = round(share * len(self))
        return self.part(0, at), self.part(at, len(self))

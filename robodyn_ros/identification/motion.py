# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Prepared motion: equidistant samples in SI units, filtered."""

from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy import ndarray
from scipy.interpolate import CubicSpline


@dataclass(frozen=True)
class Motion:
    """
    What the joints did, sampled at equal intervals within each segment.

    :param joint_names: nv names, in the order of the columns.
    :param time: (N,) s, rising by 1 / ``rate`` within a segment.
    :param position: (N, nv) rad or m; ``velocity`` and ``acceleration`` are its derivatives.
    :param effort: (N, nv) N·m or N at the joints; or, where only currents are known, A.
    :param rate: samples a second [Hz].
    :param segments: stretches of samples (begin, end) that follow each other without a gap;
        nothing that looks at neighbours may look across their borders.
    :param cutoff: of the low-pass that positions and efforts have passed [Hz], infinite for none;
        ``order``: of this Butterworth filter, which ran forwards and backwards. What is computed
        from the positions without it, such as the steps of Coulomb friction, has to pass it
        before it can be compared with the efforts.
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
    order: int = 4
    effort_unit: str = 'N·m'

    def __len__(self) -> int:
        return len(self.time)

    def part(self, begin: int, end: int) -> 'Motion':
        """Return samples ``begin`` to ``end``, the latter left out."""
        inside = [(max(a, begin), min(b, end)) for a, b in self.segments]
        arrays = {name: getattr(self, name)[begin:end] for name in (
            'time', 'position', 'velocity', 'acceleration', 'effort')}
        return replace(self, **arrays, segments=tuple(
            (a - begin, b - begin) for a, b in inside if a < b))

    def later(self, delay: float) -> 'Motion':
        """
        Return the motion with efforts that were measured ``delay`` [s] after the positions.

        Between samples they are those of a cubic spline; samples for which there are none, at the
        ends of segments, are left out.
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
        index = np.concatenate(kept or [np.zeros(0, int)])
        arrays = {name: getattr(self, name)[index] for name in (
            'time', 'position', 'velocity', 'acceleration')}
        return replace(self, **arrays, segments=tuple(zip(ends, ends[1:])),
                       effort=np.concatenate(efforts or [self.effort[:0]]))

    def split(self, share: float) -> tuple['Motion', 'Motion']:
        """Return the first ``share`` of the samples, and the others."""
        at = round(share * len(self))
        return self.part(0, at), self.part(at, len(self))

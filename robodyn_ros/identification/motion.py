# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A recorded motion as every part of the identification takes it: equidistant, SI, filtered."""

from dataclasses import dataclass, replace

from numpy import ndarray


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
    """

    joint_names: tuple[str, ...]
    time: ndarray
    position: ndarray
    velocity: ndarray
    acceleration: ndarray
    effort: ndarray
    rate: float
    segments: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.time)

    def part(self, begin: int, end: int) -> 'Motion':
        """Return samples ``begin`` to ``end``, the latter left out."""
        inside = [(max(a, begin), min(b, end)) for a, b in self.segments]
        arrays = {name: getattr(self, name)[begin:end] for name in (
            'time', 'position', 'velocity', 'acceleration', 'effort')}
        return replace(self, **arrays, segments=tuple(
            (a - begin, b - begin) for a, b in inside if a < b))

    def split(self, share: float) -> tuple['Motion', 'Motion']:
        """Return the first ``share`` of the samples, and the others."""
        at = round(share * len(self))
        return self.part(0, at), self.part(at, len(self))

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Finite Fourier series of joint positions that begin and end at rest."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy.linalg import null_space

from ...errors import IdentificationError


@dataclass(frozen=True)
class Fourier:
    """
    Periodic motions of a joint, of which position, velocity and acceleration are linear.

    q̇ = Σ a_k cos kωt + b_k sin kωt with k = 1 ... ``harmonics`` and ω = 2π / ``period``: Swevers
    et al. 1997, eq. 10. At t = 0, and so at every multiple of the period, velocity and
    acceleration are zero where Σ a_k = 0 and Σ k b_k = 0, and the constant of q makes it the pose
    there. The ``size`` coefficients that remain are coordinates in an orthonormal basis of those
    (a, b), hence in rad/s or m/s.

    By Bernstein's inequality no |q̈| exceeds ``harmonics`` ω times the largest |q̇|.

    :param harmonics: at least 2: one wave alone cannot begin at rest.
    :param period: [s].
    :raises IdentificationError: if there are fewer harmonics, or no such period.
    """

    harmonics: int
    period: float

    def __post_init__(self):
        if self.harmonics < 2:
            raise IdentificationError(
                f'{self.harmonics} harmonics', name='harmonics', value=self.harmonics,
                remedy='give at least 2: a single wave does not begin at rest')
        if not 0.0 < self.period < np.inf:
            raise IdentificationError(f'a period of {self.period:g} s', name='period',
                                      value=self.period, remedy='give a time above 0')

    @property
    def size(self) -> int:
        """Return the number of coefficients of a joint that are free."""
        return 2 * self.harmonics - 2

    @property
    def highest_frequency(self) -> float:
        """Angular frequency of the last harmonic [rad/s]."""
        return 2.0 * np.pi * self.harmonics / self.period

    def grid(self, per_wave: int) -> ndarray:
        """
        Return equidistant times of one period, ``per_wave`` for each wave of the last harmonic.

        On them no |q - q(0)|, |q̇| or |q̈| looks smaller than it is by more than the factor
        cos(π / ``per_wave``) (Ehlich and Zeller 1964).
        """
        return self.period * np.arange(per_wave * self.harmonics) / (per_wave * self.harmonics)

    def basis(self, times: ArrayLike) -> tuple[ndarray, ndarray, ndarray]:
        """Return the matrices (T, size) that make q - q(0), q̇ and q̈ of coefficients (size,)."""
        k = np.arange(1, self.harmonics + 1)
        rate = 2.0 * np.pi / self.period * k
        angle = rate * np.asarray(times, float)[:, None]
        cos, sin, space = np.cos(angle), np.sin(angle), self._space()
        return (np.hstack([sin / rate, (1.0 - cos) / rate]) @ space,
                np.hstack([cos, sin]) @ space,
                np.hstack([-rate * sin, rate * cos]) @ space)

    def motion(self, times: ArrayLike, coefficients: ndarray, pose: ndarray
               ) -> tuple[ndarray, ndarray, ndarray]:
        """Return q, q̇, q̈ (T, nv) of coefficients (nv, size) around a start at ``pose`` (nv,)."""
        shift, velocity, acceleration = (b @ coefficients.T for b in self.basis(times))
        return pose + shift, velocity, acceleration

    def _space(self) -> ndarray:
        n = self.harmonics
        k = np.arange(1.0, n + 1.0)
        return null_space(np.array([[*np.ones(n), *np.zeros(n)], [*np.zeros(n), *k]]))

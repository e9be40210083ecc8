# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Planar arm of two point masses: masses and lengths by a nonlinear fit."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from scipy import optimize

from .compressed import triangle
from ..motion import Motion
from ...errors import IdentificationError

GUESSES = 8            # starts of the search, besides the linear one
MAX_LOGARITHM = 20.0   # of masses and lengths
RANK_TOLERANCE = 1e-9  # of the largest singular value
NAMES = ('m1', 'm2', 'l1', 'l2', 'g')
UNITS = ('kg', 'kg', 'm', 'm', 'm/s²')


@dataclass(frozen=True, eq=False)
class TwoLink:
    """
    Masses [kg] at the ends of links of lengths [m], in a vertical plane.

    :param values: (4,) m1, m2, l1, l2; ``standard_errors`` (4,) for white noise of one σ.
    :param sigma: [N·m] standard deviation of the residual efforts.
    :param rank: of the derivatives with respect to m1, m2, l1, l2 and g, which is 4.
    :param unseen: (5,) relative change of m1, m2, l1, l2, g that changes no effort.
    :param unseen_text: the same in words.
    """

    values: ndarray
    standard_errors: ndarray
    sigma: float
    rank: int
    unseen: ndarray
    unseen_text: str


def terms(motion: Motion) -> ndarray:
    """
    Return the matrix (2 N, 5) that five coefficients multiply to give the efforts.

    Craig 2005, section 6.7, with q₁ from the horizontal and q₂ from the first link: m2 l2², m2 l1
    l2, (m1 + m2) l1², m2 l2 g and (m1 + m2) l1 g.
    """
    (q1, q2), (v1, v2), (a1, a2) = motion.position.T, motion.velocity.T, motion.acceleration.T
    c1, c2, s2, c12 = np.cos(q1), np.cos(q2), np.sin(q2), np.cos(q1 + q2)
    nothing = np.zeros_like(q1)
    first = [a1 + a2, c2 * (2 * a1 + a2) - s2 * (v2**2 + 2 * v1 * v2), a1, c12, c1]
    second = [a1 + a2, c2 * a1 + s2 * v1**2, nothing, c12, nothing]
    return np.stack([np.column_stack(first), np.column_stack(second)], axis=1).reshape(-1, 5)


def coefficients(x: ndarray) -> ndarray:
    """Return the five coefficients of :func:`terms` for (m1, m2, l1, l2, g)."""
    m1, m2, l1, l2, g = x
    return np.array([m2 * l2**2, m2 * l1 * l2, (m1 + m2) * l1**2, m2 * l2 * g,
                     (m1 + m2) * l1 * g])


def derivatives(x: ndarray) -> ndarray:
    """Return (5, 5), the derivatives of both by the logarithms of (m1, m2, l1, l2, g)."""
    m1, m2, l1, l2, g = x
    m = m1 + m2
    return np.array([[0, m2 * l2**2, 0, 2 * m2 * l2**2, 0],
                     [0, m2 * l1 * l2, m2 * l1 * l2, m2 * l1 * l2, 0],
                     [m1 * l1**2, m2 * l1**2, 2 * m * l1**2, 0, 0],
                     [0, m2 * l2 * g, 0, m2 * l2 * g, m2 * l2 * g],
                     [m1 * l1 * g, m2 * l1 * g, m * l1 * g, 0, m * l1 * g]])


def two_link(motion: Motion, g: float = 9.81) -> TwoLink:
    """
    Estimate masses and lengths of a planar arm of two point masses, for known gravity.

    A Levenberg-Marquardt search in logarithms, so that all values are positive, on the triangular
    factor of the QR decomposition of the five :func:`terms`. Their coefficients b obey b2 b5 = b3
    b4, so that only four of (m1, m2, l1, l2, g) are determined: lengths and g may grow by one
    factor while masses fall by its square.

    :param motion: of two joints, efforts in N·m, without friction.
    :param g: [m/s²].
    :raises IdentificationError: it does not have two joints, g is not positive, or the motion does
        not determine the four values.
    """
    if len(motion.joint_names) != 2:
        raise IdentificationError(f'{len(motion.joint_names)} joints', name='motion',
                                  value=motion.joint_names, remedy='give a motion of two joints')
    if not 0.0 < g < np.inf:
        raise IdentificationError(f'g is {g!r}', name='g', value=g, remedy='give the magnitude of '
                                  'gravity in the plane of the arm, in m/s²')
    Y, tau = terms(motion), motion.effort.ravel()
    if len(tau) < 5:
        raise IdentificationError(f'{len(tau)} equations', name='motion', value=len(tau),
                                  remedy='record a longer motion')
    R = triangle(np.column_stack([Y, tau]))

    def whole(logarithms: ndarray) -> ndarray:
        return np.append(np.exp(np.clip(logarithms, -MAX_LOGARITHM, MAX_LOGARITHM)), g)

    def errors(logarithms: ndarray) -> ndarray:
        return R[:, :5] @ coefficients(whole(logarithms)) - R[:, 5]

    def jacobian(logarithms: ndarray) -> ndarray:
        return R[:, :5] @ derivatives(whole(logarithms))[:, :4]

    starts = _starts(np.linalg.lstsq(Y, tau, rcond=None)[0], g)
    found = min((optimize.least_squares(errors, start, jac=jacobian, method='lm', xtol=1e-15,
                                        ftol=1e-15, gtol=1e-15) for start in starts),
                key=lambda result: result.cost)
    x = whole(found.x)
    J = jacobian(found.x)
    singular, V = np.linalg.svd(J)[1:]
    if not singular[-1] > RANK_TOLERANCE * singular[0]:
        involved = [NAMES[i] for i in np.flatnonzero(abs(V[-1]) > 0.1 * abs(V[-1]).max())]
        raise IdentificationError(
            f'this motion does not tell {", ".join(involved)} apart', name=involved[0],
            value=x[:4].tolist(), remedy='move both joints, fast and in several poses')
    sigma = float(np.sqrt(2 * found.cost / max(len(tau) - 4, 1)))
    deviation = sigma * np.sqrt(np.diag(np.linalg.inv(J.T @ J))) * x[:4]
    of_five = R[:, :5] @ derivatives(x)
    singular, V = np.linalg.svd(of_five / np.linalg.norm(of_five))[1:]
    unseen = V[-1] / V[-1][4]
    text = ', '.join(f'{name} by {power:+.3g} %' for name, power in zip(NAMES, unseen))
    return TwoLink(x[:4], deviation, sigma,
                   int((singular > RANK_TOLERANCE * singular[0]).sum()), unseen,
                   f'efforts stay the same where {text} change together')


def _starts(b: ndarray, g: float) -> list[ndarray]:
    """Return logarithms to start from: by the coefficients b (5,) where they are positive."""
    rng = np.random.default_rng(2)
    starts = list(rng.uniform(np.log(0.1), np.log(10.0), (GUESSES, 4)))
    l1, l2 = (g * b[i] / b[j] if b[j] != 0 else 0.0 for i, j in ((2, 4), (0, 3)))
    if l1 > 0 and l2 > 0:
        m2 = b[3] / (g * l2)
        m1 = b[4] / (g * l1) - m2
        if m1 > 0 and m2 > 0:
            starts.insert(0, np.log([m1, m2, l1, l2]))
    return starts

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Physically consistent estimate: least squares under linear matrix inequalities."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy import ndarray
from scipy.linalg import block_diag
from scipy.sparse import csc_matrix, diags

from .estimate import Estimate, trusted
from .least_squares import least_squares
from .regression import LOAD_TERM, Regression, triangle
from ...dynamics import Batch
from ...errors import IdentificationError
from ...extras import pip_install_extra
from ...model.friction_file import RANGES
from ...model.rigid_body import inertial_parameters, pseudo_inertia, UNITS
from ...model.robot import RobotModel, spread

MIN_BODY_SHARE = 1e-3    # that is left of a body of the model
PRIOR_WEIGHTS = tuple(10.0**k for k in range(-1, 6))  # of the prior, that are tried
AVERAGED_POSES = 20    # for the inertia at a joint
LOAD_SCALE = 0.1                                # of load-dependent friction
MAX_START_TIME = 1.0    # [s] from rest to the velocity limit, of a rotor with full effort
MIN_RELATIVE_ERROR = 1e-5                       # of the efforts, for simulations without noise
STEP_FRACTIONS = 0.99, 0.9                       # of the solver; shorter steps where it stalls
SOLVED_STATUS = ('Solved', 'AlmostSolved')              # the result is checked in any case


def consistent(given: Regression, weight: float, plain: Estimate | None = None) -> Estimate:
    """
    Estimate all parameters under physical consistency, as near to the model as data allow.

    Minimizes Σ (error/σ)² + weight · Σ d(P, P₀) subject to P ⪰ MIN_BODY_SHARE · P₀ for the
    pseudo-inertia P of every body, friction ≥ 0 and armature ≥ 0 (Wensing, Kim and Slotine 2018;
    Traversaro et al. 2016), with σ of :func:`~.least_squares.least_squares`. The prior
    d = |P₀^-½ (P - P₀) P₀^-½|² (Frobenius) is twice the second-order term of the entropic
    divergence of Lee, Wensing and Park 2020: it also is independent of frame and unit and measures
    relative changes of mass, but is quadratic, so that a small conic program results. Friction and
    armature are drawn to the model in units of their own scale, just enough to be unique. The
    motion need not determine every base parameter: the others stay near the model.

    :param weight: of the prior, in units of squared errors of one σ (a tenth of the samples needs
        a tenth of the weight).
    :param plain: weighted least squares of this regression; None: computed here.
    :raises IdentificationError: clarabel is not installed, the solver finds no solution, or
        there are too few samples.
    """
    if not 0.0 < weight < np.inf:
        raise IdentificationError(f'the weight of the prior is {weight!r}', name='weight',
                                  value=weight, remedy='use a positive number, or None to let '
                                                       'the data choose')
    plain = plain or least_squares(given, 'weighted', full_rank=False)
    sigma = divisors(given, plain.sigma)
    parameters = solve(given.compressed.whole(sigma), Prior.of(given), weight)
    idle = (given.joint >= 0) & ~given.matrix.any(axis=(0, 1))
    parameters[idle] = given.prior[idle]        # exactly, not to the solver's tolerance
    remains = np.std(given.target - given.matrix @ parameters, axis=0, where=given.counted)
    return replace(plain, method='consistent', parameters=parameters, sigma=remains,
                   values=plain.base.values(parameters), weight=float(weight))


def divisors(given: Regression, sigma: ndarray) -> ndarray:
    """
    Return the divisors of the errors (nv,), bounded below for simulations without noise.

    :param sigma: (nv,) of the residuals.
    """
    effort = np.sqrt((given.effort**2).mean(0))
    return np.maximum(sigma, MIN_RELATIVE_ERROR * effort.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Prior:
    """
    Prior of the parameters.

    :param model: for the names of links.
    :param mean: (P,) nominal values: physically consistent bodies, friction, armature.
    :param root: (k, P) such that |root @ (φ - mean)|² is the distance from the mean.
    :param bodies: (nb, 4, 4, 10) P₀^-½ P P₀^-½ of the parameters of each body.
    :param positive: indices of the parameters that cannot be negative.
    :param loads: indices of the shares of gravity by which friction grows, which have a limit.
    """

    model: RobotModel
    mean: ndarray
    root: ndarray
    bodies: ndarray
    positive: ndarray
    loads: ndarray

    @classmethod
    def of(cls, given: Regression) -> 'Prior':
        """Return the prior of a regression's model."""
        model, nb = given.model, given.model.nb
        P = trusted(given.prior[:10 * nb])
        mean = np.concatenate([inertial_parameters(P), given.prior[10 * nb:]])
        inverse = np.linalg.inv(np.linalg.cholesky(P))
        bodies = np.einsum('bij,kjl,bml->bimk', inverse, UNITS, inverse)
        root = np.zeros((16 * nb + given.size - 10 * nb, given.size))
        for b in range(nb):
            root[16 * b:16 * (b + 1), 10 * b:10 * (b + 1)] = bodies[b].reshape(16, 10)
        rest = np.arange(10 * nb, given.size)
        kinds = [given.names[i].split()[0] for i in rest]
        effort = np.maximum(given.effort.std(0), np.finfo(float).tiny)
        scale = np.where(np.array(kinds) == 'armature', armature_scale(given)[given.joint[rest]],
                         effort[given.joint[rest]])
        scale[np.array(kinds) == LOAD_TERM] = LOAD_SCALE
        root[16 * nb:, 10 * nb:] = np.diag(1.0 / scale)
        positive = rest[[kind != 'offset' for kind in kinds]]
        return cls(model, mean, root, bodies, positive,
                   rest[[kind == LOAD_TERM for kind in kinds]])


def armature_scale(given: Regression) -> ndarray:
    """
    Return the size (nv,) that the armature of each joint may have [kg·m² | kg].

    It is the greater one of the inertia of the links at the joint and that permitted by the
    measured efforts: behind a high gear ratio the rotor of a wrist has hundreds of times the
    inertia of its links. The effort limit has to accelerate it: a joint that hardly moves leaves
    room for any inertia.
    """
    model = given.model
    with np.errstate(divide='ignore', invalid='ignore'):
        bound = np.nan_to_num(model.effort_limit * MAX_START_TIME / model.velocity_limit,
                              nan=np.inf, posinf=np.inf)
    scale = Batch(model).mass_matrix(spread(model, AVERAGED_POSES)).diagonal(0, 1, 2).mean(0)
    for i in np.flatnonzero([name.startswith('armature ') for name in given.names]):
        j = given.joint[i]
        acceleration = np.sqrt(np.mean(given.matrix[:, j, i]**2))
        if acceleration > 0.0:
            room = given.effort[:, j].std() / acceleration
            scale[j] = max(scale[j], min(room, bound[j]))
    return scale


def solve(R: ndarray, prior: Prior, weight: float) -> ndarray:
    """
    Return the parameters (P,) that are best for R of :meth:`~.regression.Compressed.whole`.

    :raises IdentificationError: clarabel is missing, or finds nothing.
    """
    size = len(prior.mean)
    root = np.sqrt(weight) * prior.root
    both = triangle(np.vstack([R, np.column_stack([root, root @ prior.mean])]))
    # Numbers of about 1: columns of one length, and errors as shares of those of the best fit
    scale = np.linalg.norm(both[:, :size], axis=0)
    least = max(abs(both[size, size]), 1.0)
    lmi = [(units / scale[10 * b:10 * (b + 1)]).reshape(16, 10)
           for b, units in enumerate(prior.bodies)]
    z = conic_least_squares(both[:size, :size] / (scale * least), both[:size, size] / least,
                            prior.positive, lmi, prior.loads,
                            RANGES['load_friction'][1] * scale[prior.loads])
    found = z / scale
    found[prior.positive] = np.maximum(found[prior.positive], 0.0)
    found[prior.loads] = np.minimum(found[prior.loads], RANGES['load_friction'][1])
    smallest = np.linalg.eigvalsh(np.einsum('bijk,bk->bij', prior.bodies, found[
        :10 * len(prior.bodies)].reshape(-1, 10))).min(axis=1)
    inertial = pseudo_inertia(found[:10 * len(prior.bodies)])
    for link, low, real in zip(prior.model.link_names, smallest,
                               np.linalg.eigvalsh(inertial).min(axis=1)):
        if low < MIN_BODY_SHARE / 2 or real <= 0.0:
            raise _unsolved(f'link {link!r} has a pseudo-inertia with the eigenvalue {real:.2g}')
    return found


def conic_least_squares(A: ndarray, b: ndarray, positive: ndarray, lmi: Sequence[ndarray],
                        limited: ndarray, limits: ndarray) -> ndarray:
    """
    Return z (n,) with the least error A z - b, some of z ≥ 0 and all P_k(z) ⪰ MIN_BODY_SHARE.

    As a cone program in the variables z and the errors e = A z - b: min ½ eᵀe.

    :param positive: indices of z.
    :param limited: indices of z with an upper limit; ``limits``: these.
    :param lmi: maps (16, 10) of ten entries of z each, in their order, to P_k (4, 4) by rows.
    :raises IdentificationError: clarabel is missing, or finds nothing.
    """
    clarabel = require_clarabel()
    # The minimum is the same; errors in units of tiny noise are beyond clarabel's tolerances
    size = max(1.0, float(np.abs(b).max(initial=0.0)) / 1e4)
    A, b = A / size, b / size
    m, n = A.shape
    upper = [(i, j) for j in range(4) for i in range(j + 1)]    # by columns, as clarabel has it
    root = np.array([1.0 if i == j else np.sqrt(2.0) for i, j in upper])
    rows = [4 * i + j for i, j in upper]
    bodies = [-root[:, None] * body[rows] for body in lmi]
    signed = len(positive) + len(limited)
    constraints = np.zeros((m + signed + 10 * len(bodies), n + m))
    constraints[:m, :n], constraints[:m, n:] = A, -np.eye(m)
    constraints[m + np.arange(len(positive)), positive] = -1.0
    constraints[m + len(positive) + np.arange(len(limited)), limited] = 1.0
    blocks = block_diag(*bodies)
    constraints[m + signed:, :blocks.shape[1]] = blocks
    sparse = csc_matrix(constraints)
    right = np.concatenate([b, np.zeros(len(positive)), limits, np.tile(
        -MIN_BODY_SHARE * np.array([float(i == j) for i, j in upper]), len(lmi))])
    cones = [clarabel.ZeroConeT(m), clarabel.NonnegativeConeT(signed),
             *(clarabel.PSDTriangleConeT(4) for _ in lmi)]
    quadratic = diags(np.concatenate([np.zeros(n), np.ones(m)]), format='csc')
    failure = ''
    for step in STEP_FRACTIONS:
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_step_fraction = False, step
        found = clarabel.DefaultSolver(quadratic, np.zeros(n + m), sparse, right, cones,
                                       settings).solve()
        if str(found.status) in SOLVED_STATUS:
            return np.array(found.x)[:n]
        failure = str(found.status)
    raise _unsolved(failure)


def require_clarabel() -> Any:
    """
    Return the module clarabel.

    :raises IdentificationError: it is not installed.
    """
    try:
        import clarabel
    except ImportError as why:
        raise IdentificationError(
            f'consistent parameters need {why.name}, which is not installed', name=str(why.name),
            remedy=f'run `{pip_install_extra("identify")}`') from None
    return clarabel


def _unsolved(why: str) -> IdentificationError:
    return IdentificationError(
        f'the solver found no consistent parameters: {why}', name='consistent', value=why,
        remedy='raise the weight of the prior, or look for wrong samples')

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Validation of masses and inertias: a positive definite mass matrix, and plausible bodies.

The mass matrix is evaluated at a few fixed poses.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy import ndarray

from .rigid_body import ZERO_INERTIA
from .robot import RobotModel
from .unit_checks import mass_matrix, sample_poses, unit_doubts
from ..errors import ArgumentError, InertiaError

TRIANGLE_TOLERANCE = 1e-3    # relative to the largest moment: plates written with few digits
MAX_WARNED_EXCESS = 0.02    # over the triangle inequality; more is an error
MASSLESS_CHOICES = ('refuse', 'warn')
MASSLESS_ROUNDING = 1e-12    # inertia of a joint, relative to the largest possible one
MIN_INERTIA = 1e-30    # [kg·m² | kg], against underflow
MIN_EIGENVALUE = 1e-10    # of M with its diagonal scaled to 1


def validated(model: RobotModel, massless: str = 'refuse') -> RobotModel:
    """
    Return the model with warnings about its bodies, units and friction added.

    :param massless: whether to 'refuse' joints without inertia or to 'warn' of them; then
        M(q) has no inverse, see :meth:`~.robot.RobotModel.require_inertia`.
    :raises InertiaError: M(q), armature included, is not positive definite; the message names the
        joints that could move without force, and all links without mass and inertia.
    :raises ArgumentError: ``massless`` is neither of the two.
    """
    warnings, implausible = list(model.warnings), []
    for name, mass, inertia in zip(model.link_names, model.mass, model.inertia, strict=True):
        a, b, c = np.linalg.eigvalsh(inertia)
        if c - a - b > TRIANGLE_TOLERANCE * c + ZERO_INERTIA:
            excess = inertia_excess(inertia)
            if excess > MAX_WARNED_EXCESS:
                implausible.append(name)
            warnings.append(f'link {name!r}: no rigid body has the principal moments {a:.4g}, '
                            f'{b:.4g}, {c:.4g}: the largest exceeds the sum of the others by '
                            f'{_percent(excess)}')
        if mass == 0:
            warnings.append(f'link {name!r} has no mass' + (' but inertia' if c > 0 else ''))
    warnings += [doubt.text for doubt in unit_doubts(model)]
    dry, limit = np.maximum(model.coulomb_friction, model.static_friction), model.effort_limit
    for i in np.flatnonzero((limit > 0.0) & (dry >= limit)):
        unit = 'N' if model.slides[i] else 'N·m'
        warnings.append(f'joint {model.joint_names[i]!r} probably never moves: its dry friction '
                        f'of {dry[i]:.3g} {unit} is not below its effort limit of {limit[i]:.3g} '
                        f'{unit}; correct the friction or the limit of the URDF')
    unresisted = _unresisted_joints(model, massless)
    if unresisted:
        warnings.append(f'URDF has no inertia for {_listed("joint", unresisted)}: forward '
                        'dynamics and everything else that needs the inverse mass matrix are '
                        'refused')
    return replace(model, warnings=tuple(dict.fromkeys(warnings)),
                   implausible_links=tuple(implausible), massless_joints=unresisted)


def inertia_excess(inertia: ndarray) -> float:
    """
    Return the relative excess of the largest principal moment over the sum of the others.

    It is at most 0 for a rigid body, and infinite if the other moments are zero.

    :param inertia: (3, 3) [kg·m²] about the center of mass.
    """
    a, b, c = np.linalg.eigvalsh(inertia)
    return float((c - a - b) / (a + b)) if a + b > 0 else np.inf if c > 0 else 0.0


def check_inertias(model: RobotModel, accepted: Collection[str] = ()) -> None:
    """
    Raise an error for bodies that exceed the triangle inequality by ``MAX_WARNED_EXCESS``.

    :param accepted: names of bodies that are not checked; '*' for all.
    :raises InertiaError: the message names all such bodies, and the excess.
    """
    refused = [] if '*' in accepted else [
        name for name in model.implausible_links if name not in accepted]
    if not refused:
        return
    excess = {name: _percent(inertia_excess(inertia))
              for name, inertia in zip(model.link_names, model.inertia)}
    raise InertiaError(
        f'no rigid body has the inertia of link{"s" * (len(refused) > 1)} '
        + ', '.join(f'{name} ({excess[name]})' for name in refused)
        + ': excess of the largest principal moment over the sum of the others',
        name=refused[0], value=tuple(refused), remedy='run `robodyn inspect FILE --repair NEW`, '
        'which writes the nearest physically consistent inertias, or accept them: '
        "accepted_links: ['*'], on the command line --accept-inertia")


def _percent(excess: float) -> str:
    return f'{100 * excess:.3g} %' if np.isfinite(excess) else 'all of it'


def _listed(kind: str, names: Sequence[str]) -> str:
    return f'{kind}{"s" * (len(names) > 1)} {", ".join(map(repr, names))}'


def _unresisted_joints(model: RobotModel, massless: str) -> tuple[str, ...]:
    """Return the joints without inertia, or raise an error for the first such pose."""
    if massless not in MASSLESS_CHOICES:
        raise ArgumentError(f'massless is {massless!r}', name='massless', value=massless,
                            remedy=f'choose one of {", ".join(MASSLESS_CHOICES)}')
    found: set[int] = set()
    for q in sample_poses(model):
        alone, together, m = _unresisted(model, q)
        if massless == 'refuse' and alone.size + together.size:
            raise _refusal(model, alone, together, m)
        found |= {*alone.tolist(), *together.tolist()}
    return tuple(model.joint_names[i] for i in sorted(found))


def _unresisted(model: RobotModel, q: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Return joints without own inertia, joints that cancel each other, and M (nv, nv)."""
    m, most = mass_matrix(model, q)
    has_inertia = ((np.diag(m) > np.maximum(MASSLESS_ROUNDING * most,
                                            MIN_INERTIA)) | (model.armature > MIN_INERTIA))
    m = m + np.diag(model.armature)
    rest, together = np.flatnonzero(has_inertia), np.zeros(0, int)
    if rest.size:
        scale = np.sqrt(np.diag(m)[rest])
        values, vectors = np.linalg.eigh(m[np.ix_(rest, rest)] / np.outer(scale, scale))
        if not values[0] > MIN_EIGENVALUE:
            together = rest[abs(vectors[:, 0]) > 0.1 * abs(vectors[:, 0]).max()]
    return np.flatnonzero(~has_inertia), together, m


def _refusal(model: RobotModel, alone: ndarray, together: ndarray, m: ndarray) -> InertiaError:
    """Return the error that names the joints that move without force, and massless links."""
    # If several joints cancel, the lightest body they move is probably the one without inertia
    weight = np.bincount(model.driver, model.mass + np.trace(model.inertia, axis1=1, axis2=2))
    worst = alone[-1] if alone.size else together[np.argmin(weight[together])]
    joint, link = model.joint_names[worst], model.link_names[model.leaders[worst]]
    if alone.size:
        resists = _listed('joint', [model.joint_names[i] for i in alone])
    else:
        others = [repr(model.joint_names[i]) for i in together if i != worst]
        resists = f'joint {joint!r} together with {" and ".join(others)}'
    empty = [name for name, mass, inertia in zip(model.link_names, model.mass, model.inertia)
             if mass == 0 and not inertia.any()]
    return InertiaError(
        f'URDF has no inertia for {resists}: the mass matrix is not positive definite'
        + (f'; {_listed("link", empty)} with the links fixed to them have no mass and inertia'
           if empty else ''), name=joint, value=m,
        remedy=f'give link {link!r}, or what it carries, mass and inertia about the axis of '
               f"{joint!r} (or the joint an armature in <robodyn>), or in Python load it with "
               "massless='warn' for kinematics, gravity and inverse dynamics alone")

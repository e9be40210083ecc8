# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Repair of a URDF: nearest physically consistent inertias."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .urdf_update import decoded, encoding_of, UrdfText
from ..errors import InertiaError
from ..model.rigid_body import can_exist, is_consistent, nearest_consistent, UPPER_TRIANGLE
from ..model.urdf_xml import MOMENTS, read
from ..model.validate import inertia_excess

WRITTEN_DIGITS = 8
# Change over |I| that replaces an inertia instead of repairing it: violations of the triangle
# inequality need at most 0.58, only negative moments need more
MAX_INERTIA_CHANGE = 0.6
SAME_NUMBER_TOLERANCE = 1e-9    # of the largest moment: closer numbers stay as they are written


class Change(NamedTuple):
    """
    What was changed of a link.

    :param excess: share by which the largest principal moment exceeded the sum of the others.
    :param before: (3,) [kg·m²] principal moments, in ascending order; ``after``: repaired.
    """

    link: str
    excess: float
    before: ndarray
    after: ndarray

    @property
    def shares(self) -> ndarray:
        """(3,) by what share each principal moment has changed; infinite where it was zero."""
        with np.errstate(divide='ignore', invalid='ignore'):
            return np.nan_to_num((self.after - self.before) / abs(self.before), nan=0.0,
                                 posinf=np.inf)


def repaired_urdf(text: bytes) -> tuple[bytes, tuple[Change, ...]]:
    """
    Return a URDF in which every inertia is physically consistent, and the changes.

    Masses, centres of mass and principal axes stay, and so does gravity; the moments become the
    nearest that have positive second moments of mass, see
    :func:`~robodyn_ros.model.rigid_body.nearest_consistent`: the pseudo-inertia of the link is
    then positive definite. Links without mass or without inertia stay
    as they are: what they have cannot be known.

    :param text: content of a file of URDF.
    :raises UrdfError: it is not one of a URDF.
    :raises InertiaError: a mass is negative; no link has mass and inertia; or an inertia has
        little in common with the nearest consistent one, as after an error of a sign.
    """
    encoding = encoding_of(text)
    robot, *_ = read(content := decoded(text, encoding))
    editor, changes, found = UrdfText(content), [], False
    for link in robot.links:
        if link.inertial is None:
            continue
        mass, inertia = link.inertial.mass, np.array(link.inertial.inertia.to_matrix(), float)
        if mass < 0:
            raise InertiaError(f'link {link.name!r}: mass is {mass}', name=link.name, value=mass,
                               remedy='give it a mass that is not negative')
        found |= mass > 0 or bool(inertia.any())
        if mass == 0 or not inertia.any() or is_consistent(inertia):
            continue
        new = _rounded(nearest_consistent(inertia), inertia)
        if np.linalg.norm(new - inertia) > MAX_INERTIA_CHANGE * np.linalg.norm(inertia):
            raise _beyond_repair(link.name, inertia, new)
        editor.change_inertial(link.name, mass, new[UPPER_TRIANGLE].tolist())
        changes.append(Change(link.name, inertia_excess(inertia), np.linalg.eigvalsh(inertia),
                              np.linalg.eigvalsh(new)))
    if not found:
        raise InertiaError(f'no link of {robot.name!r} has mass and inertia', name=robot.name,
                           remedy='give them those of the CAD model or the data sheet')
    return editor.text().encode(encoding) if changes else text, tuple(changes)


def _beyond_repair(link: str, inertia: ndarray, new: ndarray) -> InertiaError:
    """Return the error of an inertia that a repair would replace."""
    def words(moments: ndarray) -> str:
        return ', '.join(f'{moment:.3g}' for moment in np.linalg.eigvalsh(moments))

    check, signs = 'change', _wrong_signs(inertia)
    if not signs:
        check, signs = 'check', [name for name, moment in zip(
            ('ixx', 'iyy', 'izz'), inertia.diagonal()) if moment < 0.0] or list(MOMENTS)
    return InertiaError(
        f'link {link!r}: inertia has the principal moments {words(inertia)} kg·m², and the '
        f'nearest consistent ones, {words(new)}, would be those of another body', name=link,
        value=inertia,
        remedy=f'{check} the sign of {" and ".join(signs)}, and make sure that the '
        'inertia is about the center of mass, in kg·m²')


def _wrong_signs(inertia: ndarray) -> list[str]:
    """Return the fewest moments of which other signs make the inertia that of a body."""
    for count in range(1, len(MOMENTS)):
        for names in combinations(MOMENTS, count):
            changed = inertia.copy()
            for name in names:
                i, j = 'xyz'.index(name[1]), 'xyz'.index(name[2])
                changed[i, j] = changed[j, i] = -inertia[i, j]
            if can_exist(changed):
                return list(names)
    return []


def links_not_judged(text: bytes) -> list[str]:
    """Return the links without mass or without inertia."""
    robot, *_ = read(decoded(text, encoding_of(text)))
    return [link.name for link in robot.links if link.inertial is None or not link.inertial.mass
            or not np.any(link.inertial.inertia.to_matrix())]


def _rounded(new: ndarray, old: ndarray) -> ndarray:
    """Return an inertia of few digits; entries that are the old ones but for rounding stay."""
    few = np.array([float(f'{value:.{WRITTEN_DIGITS}g}') for value in new.flat]).reshape(3, 3)
    return np.where(abs(new - old) <= SAME_NUMBER_TOLERANCE * abs(old).max(), old, few)

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Repair of a URDF: nearest physically consistent inertias."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .urdf_inertial_editor import InertialText
from .urdf_update import decoded, encoding_of, UPPER
from ..errors import InertiaError
from ..model.consistency import is_consistent, nearest_consistent
from ..model.urdf_xml import read
from ..model.validate import inertia_excess

DIGITS = 8          # of the numbers that are written
SAME = 1e-9         # of the largest moment: a number that differs by less stays as it is written


class Change(NamedTuple):
    """
    What was changed of a link.

    :param excess: share by which the largest principal moment exceeded the sum of the others.
    :param before: (3,) [kg·m²] principal moments, in ascending order; ``after`` likewise.
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
    Return a URDF in which every inertia is one of a rigid body, and what was changed for that.

    Masses, centres of mass and principal axes stay, and so does gravity; the moments become the
    nearest that have positive second moments of mass, see
    :func:`~robodyn_ros.model.consistency.nearest_consistent`: the pseudo-inertia of the link is
    then positive definite. Nothing else of the text changes. Links without mass or without inertia
    stay as they are: what they have cannot be known.

    :param text: content of a file of URDF.
    :raises UrdfError: it is not one of a URDF.
    :raises InertiaError: a mass is negative.
    """
    encoding = encoding_of(text)
    whole = decoded(text, encoding)
    content = whole.lstrip('\ufeff \t\r\n')         # as the loader does
    robot, *_ = read(content)
    written, changes = InertialText(content.encode()), []
    for k, link in enumerate(robot.links):
        if link.inertial is None:
            continue
        mass, inertia = link.inertial.mass, np.array(link.inertial.inertia.to_matrix(), float)
        if mass < 0:
            raise InertiaError(f'link {link.name!r}: mass is {mass}', name=link.name, value=mass,
                               remedy='give it a mass that is not negative')
        if mass == 0 or not inertia.any() or is_consistent(inertia):
            continue
        new = _rounded(nearest_consistent(inertia), inertia)
        written.change(k, mass, new[UPPER].tolist())
        changes.append(Change(link.name, inertia_excess(inertia), np.linalg.eigvalsh(inertia),
                              np.linalg.eigvalsh(new)))
    result = whole[:len(whole) - len(content)] + written.changed().decode()
    return result.encode(encoding), tuple(changes)


def _rounded(new: ndarray, old: ndarray) -> ndarray:
    """Return an inertia of few digits; entries that are the old ones but for rounding stay."""
    few = np.array([float(f'{value:.{DIGITS}g}') for value in new.flat]).reshape(3, 3)
    return np.where(abs(new - old) <= SAME * abs(old).max(), old, few)

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Selection of the parameters that are estimated besides the inertial ones."""

from dataclasses import dataclass

import numpy as np

from ...errors import IdentificationError


@dataclass(frozen=True)
class ParameterSelection:
    """
    Parameters that are estimated besides the inertial ones; the others are those of the model.

    :param viscous: viscous friction.
    :param coulomb: Coulomb friction, with the smooth sign of :mod:`~robodyn_ros.dynamics.friction`
        and ``friction_velocity`` of the model.
    :param static: static friction apart from Coulomb friction, with ``stribeck_velocity`` of the
        model. Without it both are equal, as in a URDF.
    :param directions: separate friction for each direction of motion.
    :param offset: constant offsets of the effort sensors; without it they are zero.
    :param armature: inertia of the rotors.
    :param moving: speed [rad/s | m/s] below which samples of a joint are left out, and those
        before and after that the low-passes mix with them (at the ends of segments too, where the
        neighbours are unknown). A joint that sticks at a reversal bears any effort up to its
        static friction, which no function of the velocity describes. Rows of other joints are
        used. None: all samples are used.
    :param presliding: distance [rad] after a reversal over which dry friction of rotary joints
        changes its sign (:mod:`~robodyn_ros.dynamics.friction`), in place of that of the model.
        None: as in the model.
    :param load: inertial parameters (10 nb,) of an earlier estimate, with whose gravity Coulomb
        and static friction grow; how much is estimated. Empty: not estimated.
    :param coupling: index of a joint, and ratio: viscous and Coulomb friction on its velocity plus
        the ratio times that of the next joint, which acts on both.
    :param still: indices of joints that hardly move: their friction and armature are those of the
        model, their efforts count.
    :param unexplained: indices of joints whose efforts no parameters explain: they determine an
        offset and nothing else.
    :param decimate: use one in so many samples. Motions are filtered, so neighbours carry much the
        same information; a tenth of the samples needs a tenth of the time and memory.
    :raises IdentificationError: a value is outside its range, or static friction is selected
        without Coulomb friction.
    """

    viscous: bool = True
    coulomb: bool = True
    static: bool = False
    directions: bool = False
    offset: bool = True
    armature: bool = True
    moving: float | None = None
    presliding: float | None = None
    load: tuple[float, ...] = ()
    coupling: tuple[tuple[int, float], ...] = ()
    still: tuple[int, ...] = ()
    unexplained: tuple[int, ...] = ()
    decimate: int = 1

    def __post_init__(self):
        if self.decimate < 1:
            raise IdentificationError(f'decimate is {self.decimate!r}', name='decimate',
                                      value=self.decimate, remedy='give 1, or more to leave '
                                      'samples out')
        if self.moving is not None and not self.moving > 0.0:
            raise IdentificationError(f'moving is {self.moving!r}', name='moving',
                                      value=self.moving, remedy='give a speed above 0, or None '
                                      'to count all samples')
        if self.presliding is not None and not 0.0 <= self.presliding < np.inf:
            raise IdentificationError(f'presliding is {self.presliding!r}', name='presliding',
                                      value=self.presliding, remedy='give a distance, or 0 for '
                                      'the smooth sign of the velocity')
        if self.load and not self.coulomb:
            raise IdentificationError('friction cannot grow with the load without Coulomb '
                                      'friction', name='load', value=True,
                                      remedy='choose both, or neither')
        if self.static and not self.coulomb:
            raise IdentificationError('static friction cannot be found without Coulomb friction',
                                      name='static', value=True, remedy='choose both, or neither')


USUAL_PARAMETERS = ParameterSelection()
# Besides the inertial parameters nothing is to be found: friction and armature are the model's
INERTIAL_ONLY = ParameterSelection(viscous=False, coulomb=False, offset=False, armature=False)

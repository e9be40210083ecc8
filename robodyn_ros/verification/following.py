# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How the joints of a world have followed their reference, and what kept them from it."""

from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .plant_step import START
from ..control.controller.controller import Controller
from ..control.controller.status import withholding
from ..control.settings.friction import static_friction

if TYPE_CHECKING:
    from .world import World

SATURATED = 0.999       # of the effort limit of a drive


class Errors:
    """
    Distances of the joints from their reference, at the end of a world and before.

    :param resting_error: (nv,) [rad | m] accepted at rest; ``share``: accepted besides while the
        reference moves, of the motion of a joint.
    """

    def __init__(self, world: 'World', controller: Controller, resting_error: ndarray,
                 share: float):
        self._world, self._controller, self._seen = world, controller, world.data.observed
        self._vectors = controller.inputs.vectors
        self._rest = abs(world.plant.q - self._vectors.target)
        self._resting_error = resting_error
        motion = np.maximum(self._seen.upper - self._seen.lower, 0.0)
        self._accepted = resting_error + share * motion

    @property
    def resting(self) -> float:
        """Largest distance from the target at the end, of what is accepted."""
        return float((self._rest / self._resting_error).max())

    @property
    def tracking(self) -> float:
        """Largest distance from the reference, of what is accepted."""
        return float((self._seen.error / self._accepted).max())

    def violations(self) -> dict[str, str]:
        """Return a sentence for each criterion that is broken, with joint, time and cause."""
        found, model = {}, self._world.arm.model
        for kind, what, errors, accepted in (
                ('resting', 'its target at rest', self._rest, self._resting_error),
                ('tracking', 'its reference', self._seen.error, self._accepted)):
            i = int((errors / accepted).argmax())
            if errors[i] > accepted[i]:
                at_rest = kind == 'resting'
                time = self._world.time if at_rest else float(self._seen.time[i])
                found[kind] = (f'{model.joint_names[i]} is {errors[i]:.2g} '
                               f'{"m" if model.slides[i] else "rad"} from {what} at '
                               f'{time - START:.2f} s (accepted: {accepted[i]:.2g}): '
                               + self._cause(i, at_rest=at_rest))
        return found

    def _cause(self, i: int, *, at_rest: bool) -> str:
        """Return what keeps a joint from its reference: limits, the drive, or a disturbance."""
        seen, v, drives = self._seen, self._vectors, self._world.plant.drives
        unit = 'N' if self._world.arm.model.slides[i] else 'N·m'
        withheld, requested = ((v.withheld[i], v.requested[i]) if at_rest else
                               (seen.withheld[i], seen.requested[i]))
        if sentence := withholding(self._controller, i, withheld, requested):
            return sentence
        dynamics, effort = self._world.plant.dynamics, requested - withheld
        most, gain = (np.broadcast_to(one, v.q.shape)[i]
                      for one in (drives.saturation, drives.gain))
        if abs(effort) > SATURATED * most:
            return f'the drive gives {most:.3g} of the {abs(effort):.3g} {unit} commanded'
        gravity = dynamics.gravity(self._world.plant.q)[i] - v.tau_gravity[i]
        name, size = max((('friction', static_friction(dynamics.model)[i]),
                          ('an error of gravity', abs(gravity)),
                          ('an error of the drive', abs((gain - 1.0) * effort))),
                         key=lambda one: one[1])
        if not at_rest:
            return f'the largest disturbance is {name}, {size:.3g} {unit}'
        return f'{name}, {size:.3g} {unit}, against {abs(v.published[i]):.3g} of the law'

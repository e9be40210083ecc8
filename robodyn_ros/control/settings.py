# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How the controller shall behave, in a person's words, and the records the cycle reads."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from ..errors import ParameterError
from ..model.robot import RobotModel
from .records import JOINT, MODES, SETTINGS

# Gains that a mode cannot do without
NEEDED = {'pd': ('stiffness', 'damping'), 'joint_impedance': ('stiffness', 'damping'),
          'computed_torque': ('acceleration_kp', 'acceleration_kd')}


@dataclass(frozen=True)
class Settings:
    """
    What a person decides. Lists hold one value a joint, or a single one for all of them.

    Gains have no default: a mode that needs them is refused without. Empty ``effort_limit`` means
    the URDF's, empty ``effort_rate_limit`` the full effort limit within 0.1 s.
    """

    mode: str = 'gravity_compensation'
    rate: float = 1000.0                    # Hz
    stiffness: Sequence[float] = ()         # N·m/rad | N/m
    damping: Sequence[float] = ()           # N·m·s/rad | N·s/m
    acceleration_kp: Sequence[float] = ()   # 1/s²
    acceleration_kd: Sequence[float] = ()   # 1/s
    effort_limit: Sequence[float] = ()      # N·m | N
    effort_rate_limit: Sequence[float] = ()  # N·m/s | N/s
    damping_rate: float = 10.0              # 1/s: safe damping is this times M_ii where it arms
    state_timeout: float = 0.05             # s
    arming_samples: int = 20
    arming_velocity: float = 0.05           # rad/s | m/s
    arming_effort: float = 0.1              # of the effort limit
    rest_velocity: float = 0.02             # rad/s | m/s
    stop_timeout: float = 2.0               # s
    stop_with: str = 'zero'                 # zero | gravity
    fault_hold_time: float = 0.5            # s
    fault_ramp_time: float = 0.5            # s
    fault_action: str = 'ramp'              # ramp | hold

    def per_joint(self, model: RobotModel, name: str) -> ndarray:
        """Value of a list for each joint; :class:`ParameterError` where its length is wrong."""
        values = np.asarray(getattr(self, name), float)
        if values.size == 1:
            return np.full(model.nv, values.item())
        if values.shape != (model.nv,):
            raise ParameterError(
                f'parameter {name} has {values.size} values', name=name, value=values.tolist(),
                remedy=f'give one, or {model.nv}: for {", ".join(model.joint_names)}')
        return values

    def settings_record(self) -> ndarray:
        """(1,) ``SETTINGS``."""
        out = np.zeros(1, SETTINGS)
        for name in ('state_timeout', 'arming_samples', 'arming_velocity', 'arming_effort',
                     'rest_velocity', 'stop_timeout', 'fault_hold_time', 'fault_ramp_time'):
            out[name] = getattr(self, name)
        out['mode'] = MODES.index(self.mode)
        out['period'] = 1.0 / self.rate
        out['stop_with_gravity'] = self.stop_with == 'gravity'
        out['fault_keeps_holding'] = self.fault_action == 'hold'
        return out

    def joint_records(self, model: RobotModel, inertia: ndarray) -> ndarray:
        """
        (nv,) ``JOINT``.

        :param inertia: (nv,) [kg·m² | kg] diagonal of M at the pose to be held.
        :raises ParameterError: a gain the mode needs is missing, a limit is zero, a length wrong.
        """
        out = np.zeros(model.nv, JOINT)
        for name in ('stiffness', 'damping', 'acceleration_kp', 'acceleration_kd'):
            if len(getattr(self, name)):
                out[name] = self.per_joint(model, name)
            elif name in NEEDED.get(self.mode, ()):
                raise ParameterError(f'mode {self.mode} needs gains, and {name} is not set',
                                     name=name, remedy=f'set parameter {name}: one value a joint')
        limit = (self.per_joint(model, 'effort_limit') if len(self.effort_limit)
                 else model.effort_limit)
        if not (limit > 0.0).all():
            joint = model.joint_names[int(np.argmin(limit > 0.0))]
            raise ParameterError(f'joint {joint} has effort limit 0 and could not be driven',
                                 name=joint, value=0.0,
                                 remedy='correct the URDF or set parameter effort_limit')
        if not np.isfinite(limit).all():
            joint = model.joint_names[int(np.argmin(np.isfinite(limit)))]
            raise ParameterError(f'joint {joint} has no effort limit', name=joint,
                                 remedy='give it a <limit> in the URDF or set parameter '
                                        'effort_limit')
        above = (limit > model.effort_limit) & (model.effort_limit > 0.0)
        if above.any():
            joint = model.joint_names[int(above.argmax())]
            raise ParameterError(f'effort_limit of {joint} is above that of the URDF', name=joint,
                                 remedy='give at most the limit of the URDF')
        out['effort_limit'] = limit
        out['effort_rate'] = (self.per_joint(model, 'effort_rate_limit')
                              if len(self.effort_rate_limit) else 10.0 * limit)
        if not (out['effort_rate'] > 0.0).all():
            raise ParameterError('with effort_rate_limit 0 the arm could be neither lifted nor '
                                 'damped', name='effort_rate_limit', value=0.0,
                                 remedy='give a number above 0 for each joint')
        out['safe_damping'] = self.damping_rate * inertia
        out['position_lower'], out['position_upper'] = model.position_lower, model.position_upper
        return out

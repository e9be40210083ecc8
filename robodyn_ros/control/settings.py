# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How the controller shall behave, in a person's words, and the records the cycle reads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy import ndarray

from ..dynamics import Dynamics
from ..errors import ParameterError
from ..model.payload import with_payload
from ..model.pose import spread
from ..model.robot import RobotModel
from .friction import CURVE, check_compensation, viscous, with_friction
from .limits import APPROACH_SHARE, DELAY_SHARE
from .records import JOINT, MISSING_VELOCITY, MODES, SETTINGS
from .stability import check, highest

# Of limits.keep_inside [1/s]: as fast as is calm with efforts that act up to 5 ms late, and slow
# enough for the acceleration to follow. Chosen with test/control/test_limits.py.
LIMIT_RATE, APPROACH_RATE = 80.0, 7.0
# A slow loop leaves less of them: LIMIT_RATE is at most this share of the controller's `rate`
RATE_SHARE = 0.2

# Of the range of a joint: how far beyond its limits it may be before it is a fault
POSITION_MARGIN = 0.03
# Loop delays, besides one period, that states may be late and rare by
LATE = 2.0
# Default tolerances of rotating and sliding joints [rad, m], see plausibility.py, motion_checks.py
CONSISTENT, FOLLOWED = (0.02, 0.005), (0.5, 0.1)

JUDGED_POSES = 32
# Margin of gains that are the same at all poses, the 6 dB of textbooks; others meet the worst one
TWICE = 2.0

FRICTION = (*CURVE, 'friction_offset', 'friction_compensation')
GAINS = ('stiffness', 'damping', 'acceleration_kp', 'acceleration_kd')
# Gains that a mode cannot do without
NEEDED = {'pd': ('stiffness', 'damping'), 'joint_impedance': ('stiffness', 'damping'),
          'computed_torque': ('acceleration_kp', 'acceleration_kd')}


@dataclass(frozen=True)
class Settings:
    """
    What a person decides. Lists hold one value a joint, or a single one for all of them.

    Tolerances of 0 are none: the check is off.

    Gains have no default: a mode that needs them is refused without. Empty friction is the
    model's, empty ``friction_compensation`` and ``friction_offset`` are none. Empty
    ``effort_limit`` and ``velocity_limit`` mean the URDF's, empty ``effort_rate_limit`` the full
    effort limit within 0.1 s.
    """

    mode: str = 'gravity_compensation'
    rate: float = 1000.0                    # Hz
    stiffness: Sequence[float] = ()         # N·m/rad | N/m
    damping: Sequence[float] = ()           # N·m·s/rad | N·s/m
    acceleration_kp: Sequence[float] = ()   # 1/s²
    acceleration_kd: Sequence[float] = ()   # 1/s
    effort_limit: Sequence[float] = ()      # N·m | N
    effort_rate_limit: Sequence[float] = ()  # N·m/s | N/s
    velocity_limit: Sequence[float] = ()    # rad/s | m/s
    loop_delay: float = 0.002               # s, from a state's measurement to the effort's effect
    saturation_timeout: float = 2.0         # s
    velocity_scale: float = 1.0             # of the velocity limits
    position_margin: Sequence[float] = ()   # rad | m
    consistency_tolerance: Sequence[float] = ()     # rad | m
    following_error: Sequence[float] = ()   # rad | m
    blocked_effort: float = 0.3             # of the effort limit
    power_limit: float = 0.0                # W
    missed_limit: int = 100                 # periods
    armature: Sequence[float] = ()          # kg·m² | kg, rotors' inertia seen at the joints
    viscous_friction: Sequence[float] = ()  # N·m·s/rad | N·s/m
    coulomb_friction: Sequence[float] = ()  # N·m | N
    static_friction: Sequence[float] = ()   # N·m | N
    backward_viscous_friction: Sequence[float] = ()     # in the negative direction
    backward_coulomb_friction: Sequence[float] = ()
    backward_static_friction: Sequence[float] = ()
    friction_velocity: Sequence[float] = ()  # rad/s | m/s, see RobotModel
    stribeck_velocity: Sequence[float] = ()  # rad/s | m/s
    friction_offset: Sequence[float] = ()   # N·m | N
    friction_compensation: Sequence[float] = ()  # share
    robot_compensates_gravity: bool = False
    payload_frame: str = ''                 # link that holds it
    payload_mass: float = 0.0               # kg
    payload_com: Sequence[float] = (0.0, 0.0, 0.0)  # m, in the frame
    missing_velocity: str = 'fault'         # fault | estimate | gravity_only
    velocity_bandwidth: float = 30.0        # Hz, of the estimate
    damping_rate: float = 10.0              # 1/s: safe damping is this times M(q)
    state_timeout: float = 0.05             # s
    late_limit: float = 0.0                 # s; 0: see LATE
    arming_samples: int = 20
    arming_velocity: float = 0.05           # rad/s | m/s
    arming_effort: float = 0.1              # of the effort limit
    rest_velocity: float = 0.02             # rad/s | m/s
    stop_timeout: float = 2.0               # s
    stop_with: str = 'zero'                 # zero | gravity
    fault_hold_time: float = 0.5            # s
    fault_ramp_time: float = 0.5            # s
    fault_action: str = 'ramp'              # ramp | hold
    stall_action: str = 'silence'           # silence | zero

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

    def check_gains(self, model: RobotModel, joints: ndarray) -> None:
        """
        Refuse gains that would be unstable somewhere in the workspace, whatever the mode.

        :param joints: (nv,) ``JOINT``.
        :raises ParameterError: see :func:`~.stability.check`.
        """
        period, names = 1.0 / self.rate, model.joint_names
        check(names, judged(model), joints['stiffness'], joints['damping'], period,
              self.loop_delay, viscous(model))
        check(names, np.eye(model.nv), joints['acceleration_kp'], joints['acceleration_kd'],
              period, self.loop_delay, parameters=('acceleration_kp', 'acceleration_kd'),
              margin=TWICE)
        check(('all joints',), np.eye(1), [0.0], [self.damping_rate], period, self.loop_delay,
              parameters=('', 'damping_rate'))

    def stable(self, model: RobotModel, stiffness: ndarray,
               damping: ndarray) -> tuple[ndarray, ndarray]:
        """Return stiffness and damping (nv,), lowered to what :meth:`check_gains` accepts."""
        return highest(judged(model), stiffness, damping, 1.0 / self.rate, self.loop_delay,
                       viscous(model))

    @property
    def limit_rate(self) -> float:
        """LIMIT_RATE [1/s], or what a slow loop leaves of it."""
        return min(LIMIT_RATE, RATE_SHARE * self.rate, DELAY_SHARE / max(self.loop_delay, 1e-9))

    @property
    def law(self) -> tuple:
        """What decides the effort of the law: where it differs, another law is in force."""
        return (self.mode, self._lists(*GAINS, *FRICTION), self._payload, self.velocity_scale)

    @property
    def stability(self) -> tuple:
        """What decides whether the gains are stable on a model: see :meth:`check_gains`."""
        return (self._lists(*GAINS), self.loading, self.rate, self.loop_delay,
                self.damping_rate)

    @property
    def loading(self) -> tuple:
        """What decides which model :meth:`loaded` returns."""
        return self._lists(*CURVE, 'armature'), self._payload

    @property
    def _payload(self) -> tuple:
        return self.payload_frame, self.payload_mass, tuple(self.payload_com)

    def _lists(self, *names: str) -> tuple:
        return tuple(tuple(getattr(self, name)) for name in names)

    def loaded(self, model: RobotModel) -> RobotModel:
        """Return the model with its friction, its rotors and its payload."""
        model = self._rubbed(model)
        if len(self.armature):
            model = replace(model, armature=self.per_joint(model, 'armature'))
        if self.payload_mass and not self.payload_frame:
            raise ParameterError('nothing holds the payload', name='payload_frame', value='',
                                 remedy='set payload_frame to the link that does')
        return with_payload(model, self.payload_frame, self.payload_mass,
                            self.payload_com) if self.payload_mass else model

    def _rubbed(self, model: RobotModel) -> RobotModel:
        return with_friction(model, {name: self.per_joint(model, name) for name in CURVE
                                     if len(getattr(self, name))})

    def settings_record(self) -> ndarray:
        """(1,) ``SETTINGS``."""
        out = np.zeros(1, SETTINGS)
        for name in ('state_timeout', 'arming_samples', 'arming_velocity', 'arming_effort',
                     'rest_velocity', 'damping_rate', 'stop_timeout', 'fault_hold_time',
                     'fault_ramp_time', 'missed_limit', 'robot_compensates_gravity',
                     'loop_delay'):
            out[name] = getattr(self, name)
        out['mode'] = MODES.index(self.mode)
        out['period'] = 1.0 / self.rate
        out['limit_rate'] = rate = self.limit_rate
        out['approach_rate'] = min(APPROACH_RATE, APPROACH_SHARE * rate)
        out['strain_limit'] = self.saturation_timeout
        out['late_limit'] = self.late_limit or LATE * self.loop_delay + 1.0 / self.rate
        for name in ('blocked_effort', 'power_limit'):
            out[name] = getattr(self, name) or np.inf
        out['missing_velocity'] = MISSING_VELOCITY.index(self.missing_velocity)
        out['velocity_bandwidth'] = 2.0 * np.pi * self.velocity_bandwidth
        out['compensates_friction'] = any(self.friction_compensation)
        out['stop_with_gravity'] = self.stop_with == 'gravity'
        out['zero_after_stall'] = self.stall_action == 'zero'
        out['fault_keeps_holding'] = self.fault_action == 'hold'
        return out

    def joint_records(self, model: RobotModel) -> ndarray:
        """
        (nv,) ``JOINT``.

        :raises ParameterError: a gain the mode needs is missing, a limit is zero, a length wrong,
            friction or its share are not what they could be.
        """
        out = np.zeros(model.nv, JOINT)
        for name in GAINS:
            if len(getattr(self, name)):
                out[name] = self.per_joint(model, name)
            elif name in NEEDED.get(self.mode, ()):
                raise ParameterError(f'mode {self.mode} needs gains, and {name} is not set',
                                     name=name, remedy=f'set parameter {name}: one value a joint')
        out['effort_limit'] = limit = self._limit(model, 'effort_limit', model.effort_limit)
        out['velocity_limit'] = self._limit(model, 'velocity_limit', model.velocity_limit)
        if not np.isfinite(limit).all():
            joint = model.joint_names[int(np.argmin(np.isfinite(limit)))]
            raise ParameterError(f'joint {joint} has no effort limit', name=joint,
                                 remedy='give it a <limit> in the URDF or set parameter '
                                        'effort_limit')
        out['effort_rate'] = (self.per_joint(model, 'effort_rate_limit')
                              if len(self.effort_rate_limit) else 10.0 * limit)
        if not (out['effort_rate'] > 0.0).all():
            raise ParameterError('with effort_rate_limit 0 the arm could be neither lifted nor '
                                 'damped', name='effort_rate_limit', value=0.0,
                                 remedy='give a number above 0 for each joint')
        for field, name in (('friction_share', 'friction_compensation'),
                            ('friction_offset', 'friction_offset')):
            if len(getattr(self, name)):
                out[field] = self.per_joint(model, name)
        check_compensation(self._rubbed(model), out['friction_share'], out['friction_offset'],
                           limit, self.mode == 'gravity_compensation')
        out['velocity_limit'] *= self.velocity_scale
        out['position_lower'], out['position_upper'] = model.position_lower, model.position_upper
        rotates = np.array(model.joint_types) != 'prismatic'
        out['periodic'] = model.periodic
        out['position_margin'] = self._tolerance(
            model, 'position_margin', POSITION_MARGIN * (model.position_upper
                                                         - model.position_lower))
        followed = FOLLOWED if self.mode == 'computed_torque' else (0.0, 0.0)
        for name, rad, metres in (('consistency_tolerance', *CONSISTENT),
                                  ('following_error', *followed)):
            out[name] = self._tolerance(model, name, np.where(rotates, rad, metres))
        return out

    def _tolerance(self, model: RobotModel, name: str, default: ndarray) -> ndarray:
        """What is given, infinite where that is 0, or the default (nv,) where nothing is."""
        given = self.per_joint(model, name) if len(getattr(self, name)) else default
        return np.where(given > 0.0, given, np.inf)

    def _limit(self, model: RobotModel, name: str, urdf: ndarray) -> ndarray:
        """Limits of the URDF, or stricter ones; where the URDF has 0, whatever is given."""
        limit = self.per_joint(model, name) if len(getattr(self, name)) else urdf
        if not (limit > 0.0).all():
            joint = model.joint_names[int(np.argmin(limit > 0.0))]
            raise ParameterError(
                f'joint {joint} has {name.replace("_", " ")} 0 and could not be driven',
                name=joint, value=0.0, remedy=f'correct the URDF or set parameter {name}')
        above = (limit > urdf) & (urdf > 0.0)
        if above.any():
            joint = model.joint_names[int(above.argmax())]
            raise ParameterError(f'{name} of {joint} is above that of the URDF', name=joint,
                                 remedy='give at most the limit of the URDF')
        return limit


def judged(model: RobotModel) -> ndarray:
    """Mass matrices (P, nv, nv) at the poses at which gains must be stable."""
    dynamics = Dynamics(model)
    return np.array([dynamics.mass_matrix(q) for q in spread(model, JUDGED_POSES)])

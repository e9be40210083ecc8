# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How the controller shall behave, in a person's words, and the records the cycle reads."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy import ndarray

from ..dynamics import Dynamics
from ..errors import ParameterError
from ..model.payload import with_payload
from ..model.pose import spread
from ..model.robot import RobotModel
from .dtypes import JOINT, MISSING_VELOCITY, MODES, SETTINGS
from .friction import CURVE, check_compensation, viscous, with_friction
from .gain_stability import check, highest
from .limits import APPROACH_SHARE, DELAY_SHARE
from .setting_fields import checked, choice, number, numbers

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

PerJoint = Sequence[float] | float

FRICTION = (*CURVE, 'friction_offset', 'friction_compensation')
GAINS = ('stiffness', 'damping', 'acceleration_kp', 'acceleration_kd')
# Gains that a mode cannot do without
NEEDED = {'pd': ('stiffness', 'damping'), 'joint_impedance': ('stiffness', 'damping'),
          'computed_torque': ('acceleration_kp', 'acceleration_kd')}


@dataclass(frozen=True)
class Settings:
    """
    What a person decides. Lists hold one value a joint; a number stands for all joints.

    Tolerances of 0 are none: the check is off.

    Gains have no default: a mode that needs them is refused without. Empty friction is the
    model's, empty ``friction_compensation`` and ``friction_offset`` are none. Empty
    ``effort_limit`` and ``velocity_limit`` mean the URDF's, empty ``effort_rate_limit`` the full
    effort limit within 0.1 s.

    :raises ParameterError: a value of the wrong kind, not finite or outside its range; the error
        names the field and the range. Lengths are checked with the model, by the controller.
    """

    mode: str = choice(*MODES)
    rate: float = number(1000.0, 'Hz', 1.0, 10000.0)
    stiffness: PerJoint = numbers('N·m/rad or N/m', 0.0, 1e6)
    damping: PerJoint = numbers('N·m·s/rad or N·s/m', 0.0, 1e5)
    acceleration_kp: PerJoint = numbers('1/s²', 0.0, 1e5)
    acceleration_kd: PerJoint = numbers('1/s', 0.0, 1e4)
    effort_limit: PerJoint = numbers('N·m or N', 0.0, 1e6)
    effort_rate_limit: PerJoint = numbers('N·m/s or N/s', 0.0, 1e8)
    velocity_limit: PerJoint = numbers('rad/s or m/s', 0.0, 1e3)
    #: from a state's measurement to the effort's effect
    loop_delay: float = number(0.002, 's', 0.0, 0.1)
    saturation_timeout: float = number(2.0, 's', 0.01, 3600.0)
    velocity_scale: float = number(1.0, '', 0.01, 1.0)  # of the velocity limits
    position_margin: PerJoint = numbers('rad or m', 0.0, 1e3)
    consistency_tolerance: PerJoint = numbers('rad or m', 0.0, 1e3)
    following_error: PerJoint = numbers('rad or m', 0.0, 1e3)
    blocked_effort: float = number(0.3, '', 0.0, 1.0)  # of the effort limit
    power_limit: float = number(0.0, 'W', 0.0, 1e6)
    missed_limit: int = number(100, '', 1, 1000000)  # periods
    #: rotors' inertia seen at the joints
    armature: PerJoint = numbers('kg·m² or kg', 0.0, 1e3)
    viscous_friction: PerJoint = numbers('N·m·s/rad or N·s/m', 0.0, 1e5)
    coulomb_friction: PerJoint = numbers('N·m or N', 0.0, 1e6)
    static_friction: PerJoint = numbers('N·m or N', 0.0, 1e6)
    #: in the negative direction; Coulomb and static likewise
    backward_viscous_friction: PerJoint = numbers('N·m·s/rad or N·s/m', 0.0, 1e5)
    backward_coulomb_friction: PerJoint = numbers('N·m or N', 0.0, 1e6)
    backward_static_friction: PerJoint = numbers('N·m or N', 0.0, 1e6)
    #: see :class:`RobotModel`; ``stribeck_velocity`` likewise
    friction_velocity: PerJoint = numbers('rad/s or m/s', 1e-6, 1e3)
    stribeck_velocity: PerJoint = numbers('rad/s or m/s', 1e-6, 1e3)
    friction_offset: PerJoint = numbers('N·m or N', -1e6, 1e6)
    friction_compensation: PerJoint = numbers('', 0.0, 1.0)  # share
    robot_compensates_gravity: bool = False
    payload_frame: str = ''  # link that holds it
    payload_mass: float = number(0.0, 'kg', 0.0, 1000.0)
    #: (3,) in the frame
    payload_com: Sequence[float] = numbers('m', -10.0, 10.0, (0.0, 0.0, 0.0))
    missing_velocity: str = choice(*MISSING_VELOCITY)
    velocity_bandwidth: float = number(30.0, 'Hz', 0.1, 1000.0)  # of the estimate
    damping_rate: float = number(10.0, '1/s', 0.0, 100.0)  # safe damping is this times M(q)
    state_timeout: float = number(0.05, 's', 0.001, 1.0)
    late_limit: float = number(0.0, 's', 0.0, 1e3)  # 0: see LATE
    arming_samples: int = number(20, '', 1, 10000)
    arming_velocity: float = number(0.05, 'rad/s or m/s', 0.0, 10.0)
    arming_effort: float = number(0.1, '', 0.0, 10.0)  # of the effort limit
    rest_velocity: float = number(0.02, 'rad/s or m/s', 0.0, 1.0)
    stop_timeout: float = number(2.0, 's', 0.0, 30.0)
    stop_with: str = choice('zero', 'gravity')
    fault_hold_time: float = number(0.5, 's', 0.0, 60.0)
    fault_ramp_time: float = number(0.5, 's', 0.01, 60.0)
    fault_action: str = choice('ramp', 'hold')
    stall_action: str = choice('silence', 'zero')

    def __post_init__(self):
        for declared in fields(self):
            object.__setattr__(self, declared.name,
                               checked(declared, getattr(self, declared.name)))

    def _given(self, name: str) -> tuple[float, ...]:
        """Numbers of a list, empty where nothing is given."""
        return getattr(self, name)

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
        :raises ParameterError: see :func:`~.gain_stability.check`.
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
        return self.payload_frame, self.payload_mass, self.payload_com

    def _lists(self, *names: str) -> tuple:
        return tuple(self._given(name) for name in names)

    def loaded(self, model: RobotModel) -> RobotModel:
        """Return the model with its friction, its rotors and its payload."""
        model = self._rubbed(model)
        if self._given('armature'):
            model = replace(model, armature=self.per_joint(model, 'armature'))
        if self.payload_mass and not self.payload_frame:
            raise ParameterError('nothing holds the payload', name='payload_frame', value='',
                                 remedy='set payload_frame to the link that does')
        return with_payload(model, self.payload_frame, self.payload_mass,
                            self.payload_com) if self.payload_mass else model

    def _rubbed(self, model: RobotModel) -> RobotModel:
        return with_friction(model, {name: self.per_joint(model, name) for name in CURVE
                                     if self._given(name)})

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
        out['compensates_friction'] = any(self._given('friction_compensation'))
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
            if self._given(name):
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
                              if self._given('effort_rate_limit') else 10.0 * limit)
        if not (out['effort_rate'] > 0.0).all():
            raise ParameterError('with effort_rate_limit 0 the arm could be neither lifted nor '
                                 'damped', name='effort_rate_limit', value=0.0,
                                 remedy='give a number above 0 for each joint')
        for field, name in (('friction_share', 'friction_compensation'),
                            ('friction_offset', 'friction_offset')):
            if self._given(name):
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
        given = self.per_joint(model, name) if self._given(name) else default
        return np.where(given > 0.0, given, np.inf)

    def _limit(self, model: RobotModel, name: str, urdf: ndarray) -> ndarray:
        """Limits of the URDF, or stricter ones; where the URDF has 0, whatever is given."""
        limit = self.per_joint(model, name) if self._given(name) else urdf
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

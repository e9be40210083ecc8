# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of a controller, and their conversion to the records that the cycle reads."""

from collections.abc import Sequence
from dataclasses import dataclass, Field, field, fields, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import numpy as np
from numpy import ndarray

from .friction import check_compensation, CURVE_PARAMETERS, viscous, with_friction
from .gain_stability import check, check_rate, GAIN_MARGIN, highest, highest_damping, rounded_down
from .motion_limits import evaluated, known_limits, Scarcity, scarcity
from .parameters import ControlParameters
from .task_stability import (
    ACCELERATION_MARGIN, check_adaptation, check_integral, check_task, check_walls, OBSERVER)
from ..declare import checked, JOINT_RECORD, record_value, recorded, SETTINGS_RECORD, TASK_RECORD
from ..inputs.partner import check_coupling
from ..inputs.task import TASK
from ..laws import registry
from ..laws.law import Law, PARTNER, POSE, TRAJECTORY
from ..steps.acceleration_limits import APPROACH_SHARE, DELAY_SHARE, VELOCITY_SHARE
from ..steps.cycle_data import JOINT, SETTINGS
from ..steps.motor_test import effort_in_force, TESTED_RATE
from ...errors import ParameterError
from ...model.robot import RobotModel, spread, with_payload

# Of limits.enforce_joint_limits [1/s]: they cause no oscillation with efforts that act up to 5 ms
# late, and the acceleration can follow; see test/control/test_limits.py
LIMIT_RATE, APPROACH_RATE = 80.0, 7.0
# Largest limit rate of a slow loop, relative to the `rate` of the controller
LIMIT_RATE_SHARE = 0.2

# s in which references reach the velocity limit without an acceleration limit
VELOCITY_TIME = 0.25
# Effort limits, bound of the efforts by which references accelerate an arm
REFERENCE_EFFORT_SHARE = 0.4
# Default late_limit: loop delays, plus one period
DEFAULT_LATE_DELAYS = 2.0

# Of a payload [m]: the efforts of an arm at rest do not reveal a wrong inertia, which makes the
# damping unstable if it is too large
MAX_GYRATION_RADIUS = 1.0
CHECKED_POSES = 32

FRICTION_PARAMETERS = (*CURVE_PARAMETERS, 'friction_offset', 'friction_compensation')
#: Gains of the laws of this package.
GAINS = tuple(f.name for f in fields(registry.LawGains) if 'empty' in f.metadata)


@dataclass(frozen=True)
class Settings(ControlParameters):
    """
    Settings of a controller: the parameters of :mod:`.parameters`, checked.

    Lists hold one value a joint; a number stands for all joints. Gains have no default: a mode
    that needs them is refused without. Empty lists of friction and limits mean those of the model,
    empty ``friction_compensation`` and ``friction_offset`` none.

    :param mode: name of a law, ``package.module:NAME``, or a :class:`~.laws.law.Law`.
    :param gains: gains of a custom law, by name; they are kept as pairs.
    :raises ParameterError: a value of the wrong kind, not finite or outside its range; the error
        names the field and the range. Lengths are checked with the model, by the controller.
    """

    gains: Any = field(default=(), metadata={'record': ''})

    def __post_init__(self):
        if isinstance(self.mode, Law):
            object.__setattr__(self, 'mode', registry.mode_of(self.mode))
        for declared in fields(self):
            if declared.name != 'gains':
                object.__setattr__(self, declared.name,
                                   checked(declared, getattr(self, declared.name)))
        object.__setattr__(self, 'gains', _own_gains(self.law_in_force, self.gains))

    def __repr__(self) -> str:
        """Return what differs from the defaults."""
        usual = vars(type(self)())
        changed = ', '.join(f'{name}={value!r}' for name, value in vars(self).items()
                            if value != usual[name])
        return f'Settings({changed})'

    @property
    def law_in_force(self) -> Law:
        """Return the law of the mode."""
        return registry.find(self.mode)

    def _given(self, name: str) -> tuple[float, ...]:
        """Numbers of a list, empty where nothing is given."""
        return dict(self.gains)[name] if name in dict(self.gains) else getattr(self, name, ())

    def _implied(self, model: RobotModel, name: str) -> Any:
        """Return what an empty list stands for, () for nothing."""
        for f in fields(self):
            if f.name == name:
                if implied := f.metadata.get('implied'):
                    return implied(model, self).tolist()
                return (0.0,) if f.metadata['record'] == JOINT_RECORD else ()
        return ()

    def per_joint(self, model: RobotModel, name: str) -> ndarray:
        """
        Return a list (nv,), or what it implies where it is empty.

        :raises ParameterError: its length is wrong, or it is empty and implies nothing.
        """
        values = np.asarray(self._given(name) or self._implied(model, name), float)
        if values.size == 1:
            return np.full(model.nv, values.item())
        if values.shape != (model.nv,):
            raise ParameterError(
                f'parameter {name} has {values.size} values', name=name, value=values.tolist(),
                remedy=f'specify one, or {model.nv}: for {", ".join(model.joint_names)}')
        return values

    def gain_rows(self, model: RobotModel) -> ndarray:
        """
        Return the gains (G, nv) of the law in force, in the order of their declaration.

        :raises ParameterError: a gain that the law needs is missing, or a length is wrong.
        """
        law = self.law_in_force
        for name in law.required:
            if not self._given(name):
                raise ParameterError(f'mode {self.mode} needs gains, and {name} is not set',
                                     name=name, remedy=f'set parameter {name}: one value a joint')
        rows = [self._gain(model, declared) for declared in law.declared]
        return np.array(rows, float).reshape(len(rows), model.nv)

    def _gain(self, model: RobotModel, declared: 'Field[Any]') -> ndarray:
        """Return a gain (nv,); where it is not set its default, 0 without."""
        if self._given(declared.name):
            return self.per_joint(model, declared.name)
        return np.full(model.nv, declared.metadata['empty'] or 0.0)

    def gain_of(self, model: RobotModel, name: str) -> ndarray:
        """Return a gain (nv,) of the law in force."""
        return self._gain(model, {f.name: f for f in self.law_in_force.declared}[name])

    def check_gains(self, model: RobotModel) -> None:
        """
        Refuse gains of any mode that would be unstable somewhere in the workspace.

        The bandwidth of a disturbance observer, the adaptation of a law and the effort rate limit
        in modes that follow trajectories are checked in their own mode only: they may tolerate
        less delay than the other gains, which other modes use too.

        :raises ParameterError: see :func:`~.gain_stability.check`.
        """
        period, names = 1.0 / self.rate, model.joint_names
        masses, friction = checked_masses(model), viscous(model)
        declared = {f.name: f for law in (*registry.BUILT_IN, self.law_in_force)
                    for f in law.declared}
        for rule in {pair: None for law in (*registry.BUILT_IN, self.law_in_force)
                     for pair in law.judged}:
            K, D, integral, observer = (
                self._gain(model, declared[name]) if name else np.zeros(model.nv)
                for name in (rule.position, rule.velocity, rule.integral, rule.observer))
            M, B, margin = (
                (np.eye(model.nv), 0.0, ACCELERATION_MARGIN) if rule.accelerations
                else (masses, friction, GAIN_MARGIN))
            loop = period, self.loop_delay, B
            check(names, M, K, D, *loop, (rule.position, rule.velocity), margin)
            check_integral(names, M, (K, D), integral, *loop, margin, parameter=rule.integral)
            if rule in self.law_in_force.judged:
                if self.law_in_force.follows:
                    check_rate(names, D, *self._rate_terms(model, masses, rule.accelerations),
                               parameter=rule.velocity)
                check_integral(names, M, (K, D), observer, *loop, margin,
                               parameter=rule.observer, action=OBSERVER)
                if rule.reference:
                    bandwidth, rate = (self._gain(model, declared[name])
                                       for name in (rule.reference, rule.adaptation))
                    check_adaptation(names, M, D, bandwidth, rate, *loop, margin,
                                     parameters=(rule.reference, rule.adaptation))
        if self.law_in_force.reference == POSE and self.task_frame:     # else refused for that
            check_task(model, self, spread(model, CHECKED_POSES))
        if self.law_in_force.guided and self.task_frame and self.bounds:
            check_walls(model, self, spread(model, CHECKED_POSES))
        if self.law_in_force.reference == PARTNER:
            check_coupling(names, *(self.gain_of(model, name) for name in (
                'stiffness', 'damping', 'coupling_delay')))
        check(('all joints',), np.eye(1), [0.0], [self.damping_rate], period, self.loop_delay,
              parameters=('', 'damping_rate'))

    def stable(self, model: RobotModel, stiffness: ndarray,
               damping: ndarray) -> tuple[ndarray, ndarray]:
        """Return stiffness and damping, lowered until :meth:`check_gains` accepts them."""
        masses = checked_masses(model)
        return highest(masses, stiffness, self._followed(model, masses, damping, False),
                       1.0 / self.rate, self.loop_delay, viscous(model))

    def stable_accelerations(self, model: RobotModel, kp: ndarray,
                             kd: ndarray) -> tuple[ndarray, ndarray]:
        """Return gains on accelerations, lowered until :meth:`check_gains` accepts."""
        damping = self._followed(model, checked_masses(model), kd, True)
        return highest(np.eye(model.nv), kp, damping, 1.0 / self.rate, self.loop_delay,
                       margin=ACCELERATION_MARGIN)

    def _followed(self, model: RobotModel, masses: ndarray, damping: ndarray,
                  accelerations: bool) -> ndarray:
        """Return damping (nv,), lowered until the effort rate limit can follow it."""
        most = highest_damping(*self._rate_terms(model, masses, accelerations))
        return np.where(damping > most, rounded_down(most), damping)

    def _rate_terms(self, model: RobotModel, masses: ndarray,
                    accelerations: bool) -> tuple[ndarray, ndarray, ndarray]:
        """Return inertia, acceleration and effort rate (nv,) for :func:`.check_rate`."""
        inertia = masses.diagonal(0, 1, 2).mean(0)
        velocity, effort, rate = (self.per_joint(model, name) for name in (
            'velocity_limit', 'effort_limit', 'effort_rate_limit'))
        most = np.minimum(self.acceleration(model, VELOCITY_SHARE * velocity),
                          REFERENCE_EFFORT_SHARE * effort / inertia)
        return inertia if accelerations else np.ones(model.nv), most, rate

    def acceleration(self, model: RobotModel, velocity_limit: ndarray) -> ndarray:
        """Return ``acceleration_limit`` (nv,), or one that velocity limits (nv,) imply."""
        return (self.per_joint(model, 'acceleration_limit') if self._given('acceleration_limit')
                else velocity_limit / VELOCITY_TIME)

    @property
    def limit_rate(self) -> float:
        """LIMIT_RATE [1/s], or less for a slow loop."""
        return min(LIMIT_RATE, LIMIT_RATE_SHARE * self.rate,
                   DELAY_SHARE / max(self.loop_delay, 1e-9))

    @property
    def tested_effort(self) -> float:
        """Return the effort of the motor test in force [effort limits]."""
        return effort_in_force(self.motor_test_effort, self.rate < TESTED_RATE)

    @property
    def law(self) -> tuple:
        """Return the settings that decide the effort: if they differ, the law has changed."""
        return (self.basis, self._lists(*GAINS, *FRICTION_PARAMETERS), self.gains, self.task)

    @property
    def basis(self) -> tuple:
        """
        Return the settings that a reference was planned for; if they differ, the reference ends.

        They are the law, the frame it controls, the velocity limits, and the bounds of the motion.
        """
        return self.mode, self.task[1:2], self.velocity_scale, self.bounds

    @property
    def bounds(self) -> tuple:
        """Return the settings that bound the motion in space, () for none."""
        given = (self.contact_region, self.tool_speed_limit, self.workspace_lower,
                 self.workspace_upper, self.workspace_planes, self.self_collision_distance)
        return (self.task_frame, self.workspace_stiffness, self.self_collision_allowed,
                *given) if given != ('none', 0.0, (), (), (), 0.0) else ()

    @property
    def stability(self) -> tuple:
        """Return the settings that :meth:`check_gains` depends on."""
        return (self._lists(*GAINS), self.gains, self.law_in_force.judged, self.loading,
                self.rate, self.loop_delay, self.damping_rate, self.task,
                self.law_in_force.follows and self._lists(
                    'effort_limit', 'effort_rate_limit', 'velocity_limit', 'acceleration_limit'),
                self.bounds if self.law_in_force.guided else ())

    @property
    def task(self) -> tuple:
        """Frame and settings of a law that follows a pose; () of another law."""
        return (self.law_in_force.name, self.task_frame, *(
            getattr(self, f.name) for f in recorded(self, TASK_RECORD))) if (
                self.law_in_force.reference == POSE) else ()

    @property
    def loading(self) -> tuple:
        """Return the settings that :meth:`loaded` depends on."""
        return self._lists(*CURVE_PARAMETERS, 'armature'), self.payload

    def payload_body(self, model: RobotModel) -> int:
        """
        Return the index of the body that holds ``payload_frame``, or of the last joint.

        :raises UnknownNameError: the model has no such frame.
        :raises ParameterError: the frame belongs to the base.
        """
        if not self.payload_frame:
            return int(model.leaders[-1])
        if (body := model.frame(self.payload_frame).body) < 0:
            raise ParameterError('payload_frame belongs to the base, which does not move',
                                 name='payload_frame', value=self.payload_frame,
                                 remedy='name the link that holds the payload')
        return body

    @property
    def payload(self) -> tuple:
        """Frame, mass [kg], center of mass [m] and moments [kg·m²] of the payload; () for none."""
        return (self.payload_frame, self.payload_mass, self.payload_com,
                self.payload_inertia) if self.payload_mass else ()

    def _lists(self, *names: str) -> tuple:
        return tuple(self._given(name) for name in names)

    def loaded(self, model: RobotModel) -> RobotModel:
        """Return the model with its friction, its rotors and its payload."""
        model = self.with_rotors(self._with_friction(model))
        return self._with_payload(model) if self.payload_mass else model

    def with_rotors(self, model: RobotModel) -> RobotModel:
        """Return the model with the rotor inertia of ``armature``, if that is given."""
        if not self._given('armature'):
            return model
        return replace(model, armature=self.per_joint(model, 'armature'))

    def scarcity(self, model: RobotModel) -> Scarcity:
        """
        Return the efforts that the acceleration bounds leave to each joint at full speed.

        :param model: as :meth:`loaded` returns it.
        :raises ParameterError: a limit has the wrong length.
        """
        return scarcity(model, checked_masses(model), self.per_joint(model, 'effort_limit'),
                        self.per_joint(model, 'velocity_limit'), self.limit_rate)

    def _with_payload(self, model: RobotModel) -> RobotModel:
        if not self.payload_frame:
            raise ParameterError('nothing holds the payload', name='payload_frame', value='',
                                 remedy='set payload_frame to the link that does')
        inertia = symmetric(self.payload_inertia)
        if np.linalg.eigvalsh(inertia).max() > self.payload_mass * MAX_GYRATION_RADIUS**2:
            raise ParameterError(
                'the inertia of the payload is that of a body wider than '
                f'{MAX_GYRATION_RADIUS:g} m',
                name='payload_inertia', value=self.payload_inertia,
                remedy='state it in kg·m², about the center of mass')
        return with_payload(model, self.payload_frame, self.payload_mass, self.payload_com,
                            inertia)

    def _with_friction(self, model: RobotModel) -> RobotModel:
        return with_friction(model, {name: self.per_joint(model, name) for name in CURVE_PARAMETERS
                                     if self._given(name)})

    def settings_record(self) -> ndarray:
        """Return the (1,) record ``SETTINGS``; its counters are the controller's."""
        out = np.zeros(1, SETTINGS)
        for f in recorded(self, SETTINGS_RECORD):
            out[f.name] = record_value(f, getattr(self, f.name))
        out['motor_test_effort'] = self.tested_effort
        out['period'] = 1.0 / self.rate
        out['velocity_bandwidth'] *= 2.0 * np.pi            # rad/s
        out['late_limit'] = (self.late_limit
                             or DEFAULT_LATE_DELAYS * self.loop_delay + 1.0 / self.rate)
        out['limit_rate'] = rate = self.limit_rate
        out['approach_rate'] = min(APPROACH_RATE, APPROACH_SHARE * rate)
        out['mode'] = registry.number(self.mode)
        out['follows'] = self.law_in_force.follows
        out['follows_pose'] = self.law_in_force.reference == POSE
        out['guided'] = self.law_in_force.guided
        out['bounded'] = bool(self.bounds) and self.law_in_force.reference in (TRAJECTORY, POSE)
        out['couples'] = self.law_in_force.reference == PARTNER
        out['compensates_friction'] = any(self._given('friction_compensation'))
        out['rests_at_position'] = bool(self._given('rest_position'))
        return out

    def task_record(self) -> ndarray:
        """Return the (1,) record ``TASK``."""
        out = np.zeros(1, TASK)
        for f in recorded(self, TASK_RECORD):
            out[f.name] = record_value(f, getattr(self, f.name))
        return out

    def joint_records(self, model: RobotModel) -> ndarray:
        """
        Return the (nv,) records ``JOINT`` for a model, in its joint order.

        :raises ParameterError: a limit is zero, a length is wrong, or friction or its share is
            implausible.
        """
        out = np.zeros(model.nv, JOINT)
        for f in recorded(self, JOINT_RECORD):
            out[f.name] = record_value(f, self.per_joint(model, f.name))
        self._check_limits(model, out)
        check_compensation(self._with_friction(model), out['friction_compensation'],
                           out['friction_offset'], out['effort_limit'],
                           not self.law_in_force.follows or self.law_in_force.guided)
        out['position_lower'], out['position_upper'] = model.position_lower, model.position_upper
        out['periodic'] = model.periodic
        out['velocity_limit'] *= self.velocity_scale
        return out

    def _check_limits(self, model: RobotModel, joints: ndarray) -> None:
        """
        Raise :class:`ParameterError` where a limit could not be kept.

        Such a limit is 0, unknown or above that of the URDF; ``state_timeout`` must exceed a
        period.
        """
        for name in ('effort_limit', 'velocity_limit'):
            limit, urdf, words = joints[name], getattr(model, name), name.replace('_', ' ')
            if not (known := known_limits(limit, name)).all():
                i = int(np.argmin(known))
                joint = model.joint_names[i]
                raise ParameterError(
                    f'joint {joint} has {words} 0 and could not be driven' if limit[i] == 0.0 else
                    f'joint {joint} has no {words}' + ('' if np.isinf(limit[i]) else
                                                       f': {limit[i]:g} is that of no drive'),
                    name=joint, value=float(limit[i]),
                    remedy=f'give it a <limit> in the URDF or set parameter {name}')
            above = (limit > urdf) & (urdf > 0.0)
            if above.any():
                joint = model.joint_names[int(above.argmax())]
                raise ParameterError(f'{name} of {joint} is above that of the URDF', name=joint,
                                     remedy='use at most the limit of the URDF')
        if not (joints['effort_rate_limit'] > 0.0).all():
            raise ParameterError('with effort_rate_limit 0 the arm could be neither lifted nor '
                                 'damped', name='effort_rate_limit', value=0.0,
                                 remedy='use a number above 0 for each joint')
        outside = ((joints['rest_position'] < model.position_lower)
                   | (joints['rest_position'] > model.position_upper))
        if self._given('rest_position') and outside.any():
            joint = model.joint_names[int(outside.argmax())]
            raise ParameterError(f'rest_position of {joint} is outside its position limits',
                                 name=joint, remedy='use positions within those of the URDF')
        if self.state_timeout <= 1.0 / self.rate:
            raise ParameterError(f'state_timeout is {self.state_timeout:g} s, and a period of the '
                                 f'loop {1.0 / self.rate:g} s', name='state_timeout',
                                 value=self.state_timeout,
                                 remedy='use several periods, or raise the rate')


def _own_gains(law: Law, given: Any) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """
    Return the gains of a custom law as pairs, checked.

    :param given: mapping or pairs.
    :raises ParameterError: the law has no such gain, or a value is refused.
    """
    try:
        values = dict(given)
    except (TypeError, ValueError) as error:
        raise ParameterError(f'gains = {given!r} are refused', name='gains', value=given,
                             remedy='pass a mapping of names to numbers') from error
    own = {f.name: f for f in law.declared if f.name not in GAINS}
    taken = own.keys() & {f.name for f in fields(Settings)}
    if taken:
        raise ParameterError(f'law {law.name} calls a gain {min(taken)}, as a parameter is called',
                             name=min(taken), remedy='give the gain another name')
    for name in values.keys() - own.keys():
        close = get_close_matches(str(name), own, n=1)
        raise ParameterError(
            f'law {law.name} has no gain {name} of its own', name=str(name),
            remedy=f'did you mean {close[0]}?' if close else
            f'its own gains are {", ".join(own) or "none"}')
    return tuple((name, checked(own[name], value)) for name, value in sorted(values.items()))


def symmetric(moments: Sequence[float]) -> ndarray:
    """Return ixx, ixy, ixz, iyy, iyz, izz as a matrix (3, 3)."""
    xx, xy, xz, yy, yz, zz = moments
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@lru_cache(4)
def checked_masses(model: RobotModel) -> ndarray:
    """Return mass matrices (P, nv, nv) at the poses at which gains must be stable."""
    masses = evaluated('mass_matrix', model, spread(model, CHECKED_POSES), (model.nv, model.nv))
    masses.setflags(write=False)
    return masses

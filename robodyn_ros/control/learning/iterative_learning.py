# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Iterative learning control: efforts that remove the repeated error of a repeated motion.

Model-based learning with a zero-phase low-pass Q (Bristow, Tharayil and Alleyne, A survey of
iterative learning control, IEEE Control Systems 26(3), 2006, equation 7 and "plant inversion";
Norrlöf and Gunnarsson, Time and frequency domain convergence properties in iterative learning
control, International Journal of Control 75(14), 2002). From the error e = q_r - q of repeat k

    u_{k+1}(t) = Q (u_k(t) + γ (M(q_r) ë + D ė + K e)(t + delay))

where D and K are the gains of the feedback (times M(q_r) for gains of accelerations): the effort
of the feedback due to the error, and the effort missing for the acceleration of the error.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.interpolate import PPoly
from scipy.signal import butter, sosfiltfilt

from ..references.reference_planning import interpolate
from ..references.trajectory import joint_order, MAX_WAYPOINTS, Waypoints
from ..settings.settings import Settings
from ...dynamics import Dynamics
from ...errors import ParameterError, TrajectoryError
from ...model.robot import RobotModel

WAYPOINT_INTERVAL = 0.01    # s, of waypoints with efforts
ERROR_OVERSAMPLING = 5    # samples of the error per waypoint, before filtering
REST_TIME = 0.5    # s before and after the motion, in which the efforts rise and fall
CUTOFF_FREQUENCY = 10.0    # Hz of Q; at higher frequencies the model is not trusted
FILTER_ORDER = 2    # of the Butterworth filter, which is applied forward and backward
LEARNING_GAIN = 1.0     # masses 20 % wrong leave a quarter of the error
# A repeat this many times worse than the best one was disturbed, or its efforts are wrong: the
# best ones are restored and the gain is halved; after MAX_WORSE_REPEATS of them learning ends
WORSE_RATIO, MAX_WORSE_REPEATS = 1.5, 3
MAX_STATE_GAP = 0.05    # s
MAX_LIMITED_SHARE = 0.01    # of the cycles, in which the limits may act


@dataclass(frozen=True)
class Repeat:
    """
    Recorded states of one repeat.

    :param time: (N,) [s] since the start of the waypoints, increasing.
    :param position: (N, nv) [rad | m] in the joint order of the model.
    :param limited: share of the cycles in which the limits withheld effort.
    :param fault: reason of a fault, empty without one.
    """

    time: ndarray
    position: ndarray
    limited: float = 0.0
    fault: str = ''


class Outcome(NamedTuple):
    """
    Result of one repeat.

    :param rms: root mean square error during the motion, of all joints [rad | m].
    :param joints: (nv,) the same of each joint; NaN where the states are incomplete.
    :param learned: whether the next efforts take it into account.
    :param message: why not, empty if they do.
    """

    rms: float
    joints: ndarray
    learned: bool
    message: str


class IterativeLearning:
    """
    Efforts along one trajectory, improved after each repeat of it.

    Before and after the trajectory the arm rests for REST_TIME, while the efforts rise from zero
    and fall again: :attr:`waypoints` are those to follow next.

    :param model, settings: those of the controller; ``settings.feedforward_limit`` bounds the
        efforts.
    :param motion: the trajectory, whose first waypoint is at time 0, from rest to rest.
    :param cutoff: of the low-pass filter Q [Hz].
    :param gain: γ in (0, 1], the share of the error that a repeat removes.
    :raises TrajectoryError: the trajectory is refused, or too long.
    :raises ParameterError: the law has no gains whose effect is declared, or no effort is allowed.
    """

    def __init__(self, model: RobotModel, settings: Settings, motion: Waypoints, *,
                 cutoff: float = CUTOFF_FREQUENCY, gain: float = LEARNING_GAIN):
        if not 0.0 < cutoff < 0.4 / WAYPOINT_INTERVAL:
            raise ParameterError(f'cutoff = {cutoff} is refused', name='cutoff', value=cutoff,
                                 remedy=f'give a number in (0, {0.4 / WAYPOINT_INTERVAL:g}) Hz')
        if not 0.0 < gain <= 1.0:
            raise ParameterError(f'gain = {gain} is refused', name='gain', value=gain,
                                 remedy='give a number in (0, 1]')
        if settings.feedforward_limit == 0.0:
            raise ParameterError('no efforts of trajectories are allowed',
                                 name='feedforward_limit', value=0.0,
                                 remedy='set feedforward_limit above 0')
        self.model, self.settings, self.motion = model, settings, motion
        self._cutoff, self._gain = cutoff, gain
        _check_rest(model, motion)
        reference, self._duration = _polynomials(model, motion), float(motion.times[-1])
        end = self._duration + 2.0 * REST_TIME
        self.times = WAYPOINT_INTERVAL * np.arange(round(end / WAYPOINT_INTERVAL) + 1)
        self.times[-1] = end
        if len(self.times) > MAX_WAYPOINTS:
            longest = (MAX_WAYPOINTS - 1) * WAYPOINT_INTERVAL - 2.0 * REST_TIME
            raise TrajectoryError(f'a motion of {self._duration:.1f} s cannot be learned',
                                  name='points', value=self._duration,
                                  remedy=f'give one of at most {longest:g} s')
        inside = np.clip(self.times - REST_TIME, 0.0, self._duration)
        x, xd, xdd = (reference(inside, k) for k in range(3))
        resting = (self.times <= REST_TIME) | (self.times >= REST_TIME + self._duration)
        xd[resting] = xdd[resting] = 0.0
        self._reference = Waypoints(model.joint_names, self.times, x, xd, xdd)
        # Errors are sampled more finely; the reference is that of the waypoints
        self._fine = np.linspace(0.0, end, ERROR_OVERSAMPLING * (len(self.times) - 1) + 1)
        self._wanted = _polynomials(model, self._reference)(self._fine)
        loaded = settings.loaded(model)
        self._inertia = Dynamics(loaded).batch.mass_matrix(x)
        self._stiffness, self._damping = _feedback(model, settings, self._inertia)
        self._most = settings.feedforward_limit * settings.joint_records(model)['effort_limit']
        self._window = _window(self.times, self._duration)
        #: (W, nv) [N·m | N] efforts of the next repeat at ``times``.
        self.efforts = np.zeros_like(x)
        #: Those of the best repeat, and its error [rad | m]; infinite before the first one.
        self.best_efforts, self.best_rms = self.efforts, np.inf
        #: Root mean square errors of all repeats [rad | m]; NaN for those that were not measured.
        self.history: list[float] = []
        #: Why learning has ended, empty while it goes on.
        self.ended = ''
        self._worse = 0

    @property
    def waypoints(self) -> Waypoints:
        """Waypoints of the next repeat, with efforts."""
        return replace(self._reference, efforts=self.efforts.copy())

    def restore(self, efforts: ndarray) -> None:
        """
        Begin with efforts (W, nv) [N·m | N] that were learned before.

        :raises TrajectoryError: they are not efforts of this motion, or beyond the limit.
        """
        efforts = np.asarray(efforts, float)
        if efforts.shape != self.efforts.shape or not (np.abs(efforts) <= self._most).all():
            raise TrajectoryError('the efforts do not fit this motion and its effort limits',
                                  name='efforts', remedy=f'give {self.efforts.shape} finite '
                                  'numbers within feedforward_limit, or learn again')
        self.efforts = self.best_efforts = efforts.copy()
        self.best_rms, self.ended, self._worse = np.inf, '', 0

    def learn(self, repeat: Repeat) -> Outcome:
        """
        Compute the efforts of the next repeat from the error of the last one.

        Nothing is learned from a repeat with a fault, missing states, or efforts withheld by the
        limits, nor from one that is much worse than the best: then the best efforts are restored.
        """
        error, trouble = self._error(repeat)
        during = (self._fine >= REST_TIME) & (self._fine <= REST_TIME + self._duration)
        joints = np.sqrt(np.mean(error[during]**2, axis=0))
        rms = float(np.sqrt(np.mean(joints**2)))
        self.history.append(rms)
        if repeat.fault:
            self._restore_best()
            return self._outcome(rms, joints, f'a fault ended it ({repeat.fault})')
        if trouble:
            return self._outcome(rms, joints, trouble)
        if repeat.limited > MAX_LIMITED_SHARE:
            return self._outcome(rms, joints, f'the limits acted in {100.0 * repeat.limited:.1f} '
                                 '% of the cycles: the motion is too fast')
        if rms > WORSE_RATIO * self.best_rms:
            said = f'it is {rms / self.best_rms:.1f} times worse than the best one'
            self._restore_best()
            return self._outcome(rms, joints, f'{said}, whose efforts are restored')
        if rms < self.best_rms:
            self.best_efforts, self.best_rms = self.efforts, rms
        if self.ended:
            return self._outcome(rms, joints, self.ended)
        self.efforts = self._next(error)
        return Outcome(rms, joints, True, '')

    def _restore_best(self) -> None:
        self.efforts = self.best_efforts
        self._worse += 1
        self._gain *= 0.5
        if self._worse >= MAX_WORSE_REPEATS:
            self.ended = f'learning has ended: {self._worse} repeats were worse or faults'

    def _outcome(self, rms: float, joints: ndarray, why: str) -> Outcome:
        message = f'{why}; {self.ended}' if self.ended and why != self.ended else why
        return Outcome(rms, joints, False, message)

    def _error(self, repeat: Repeat) -> tuple[ndarray, str]:
        """Return the error (F, nv) at the fine samples, and why it cannot be used, or ''."""
        time, position = np.asarray(repeat.time, float), np.asarray(repeat.position, float)
        unknown = np.full_like(self._wanted, np.nan)
        if position.shape != (len(time), self.model.nv) or len(time) < 2:
            return unknown, f'its positions have shape {position.shape}'
        if not (np.isfinite(time).all() and np.isfinite(position).all()):
            return unknown, 'its states are not finite'
        if (np.diff(time) <= 0.0).any():
            return unknown, 'its times do not increase'
        inside = time[(time > 0.0) & (time < self.times[-1])]
        gaps = np.diff(inside, prepend=max(time[0], 0.0), append=min(time[-1], self.times[-1]))
        gap = max(gaps.max(), time[0], self.times[-1] - time[-1])
        if gap > MAX_STATE_GAP:
            return unknown, f'states are missing for {gap:.3f} s'
        measured = np.stack([np.interp(self._fine, time, q) for q in position.T], axis=1)
        error = self._wanted - measured
        turns = np.where(self.model.periodic, 2.0 * np.pi, np.inf)
        with np.errstate(invalid='ignore'):
            whole = np.where(np.isfinite(turns), turns * np.round(error[0] / turns), 0.0)
        return error - whole, ''

    def _next(self, error: ndarray) -> ndarray:
        """Return the efforts (W, nv) after a repeat with this error (F, nv)."""
        step = self._fine[1] - self._fine[0]
        e = _low_pass(error, self._cutoff, step)
        ed = np.gradient(e, step, axis=0)
        edd = np.gradient(ed, step, axis=0)
        at = np.minimum(self.times + self.settings.loop_delay, self.times[-1])
        e, ed, edd = (np.stack([np.interp(at, self._fine, row) for row in a.T], axis=1)
                      for a in (e, ed, edd))
        missing = sum(np.einsum('wij,wj->wi', A, a) for A, a in (
            (self._inertia, edd), (self._damping, ed), (self._stiffness, e)))
        learned = _low_pass(self.efforts + self._gain * missing, self._cutoff, WAYPOINT_INTERVAL)
        return np.clip(self._window[:, None] * learned, -self._most, self._most)


def _check_rest(model: RobotModel, motion: Waypoints) -> None:
    """Refuse a trajectory that does not begin at rest, at time 0."""
    joint_order(model.joint_names, motion.joint_names)
    if len(motion.times) < 2 or motion.times[0] != 0.0:
        raise TrajectoryError('the motion does not begin at time 0', name='time_from_start',
                              remedy='give two waypoints or more, the first at time 0')
    if motion.velocities is not None and np.any(np.asarray(motion.velocities)[0]):
        raise TrajectoryError('the motion does not begin at rest', name='velocities',
                              remedy='give velocity 0 at the first waypoint')


def _polynomials(model: RobotModel, motion: Waypoints) -> PPoly:
    """Return the polynomials (nv,) that a controller makes of waypoints, by time [s]."""
    order = joint_order(model.joint_names, motion.joint_names)
    start = np.asarray(motion.positions, float)[0, order]
    points = interpolate(model, replace(motion, efforts=None), start, np.zeros(model.nv), 0.0, 1)
    return PPoly(points.coefficients.transpose(1, 0, 2)[::-1], points.times)


def _feedback(model: RobotModel, settings: Settings, inertia: ndarray) -> tuple[ndarray, ndarray]:
    """Return the matrices (W, nv, nv) by which position and velocity errors become efforts."""
    law = settings.law_in_force
    if not law.judged:
        raise ParameterError(f'the gains of {law.name} are not declared as those of errors',
                             name='mode', value=settings.mode, remedy='choose another mode, or '
                             'declare `judged` in your law')
    gains = dict(zip((f.name for f in law.declared), settings.gain_rows(model), strict=True))
    stiffness, damping = np.zeros_like(inertia), np.zeros_like(inertia)
    for pair in law.judged:
        factor = inertia if pair.accelerations else np.eye(model.nv)
        stiffness += factor * gains.get(pair.position, np.zeros(model.nv))
        damping += factor * gains.get(pair.velocity, np.zeros(model.nv))
    return stiffness, damping + np.diag(settings.loaded(model).viscous_friction)


def _low_pass(a: ndarray, cutoff: float, step: float) -> ndarray:
    """Return samples (N, nv), low-pass filtered at ``cutoff`` [Hz] without phase shift."""
    sos = butter(FILTER_ORDER, 2.0 * cutoff * step, output='sos')
    return sosfiltfilt(sos, a, axis=0, padlen=min(len(a) - 1, round(1.0 / (cutoff * step))))


def _window(times: ndarray, duration: float) -> ndarray:
    """Return a factor (W,) that rises from 0 to 1 before the motion and falls after it."""
    rest = np.clip(np.minimum(times, duration + 2.0 * REST_TIME - times) / REST_TIME, 0.0, 1.0)
    return 0.5 - 0.5 * np.cos(np.pi * rest)

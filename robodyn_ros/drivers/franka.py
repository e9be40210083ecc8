# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Driver of a Franka Research 3 by its own library, pylibfranka (extra ``franka``).

The robot adds gravity and friction compensation to the efforts itself, answers each of them with
a state within a millisecond, and ends a motion with a reflex where 20 of them are missing
(franka::control_types.h, franka::active_control.h). While pylibfranka waits it holds the GIL, so
the thread of the control loop reads, computes and writes.
"""

import threading
from time import monotonic
from typing import Any

import numpy as np
from numpy import ndarray

from ..driver import DriverFacts, DriverLost, Fault, INLINE, Reading
from ..errors import ParameterError, require_modules
from ..model.robot import RobotModel

RATE = 1000.0   # [Hz]
MAX_EFFORT = (87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0)    # [N·m] franka_description, fr3
# [kg·m²] of MuJoCo Menagerie, franka_fr3; franka_description has none
ARMATURE = (0.195, 0.195, 0.195, 0.195, 0.074, 0.074, 0.074)
MAX_STEP = 0.99     # [N·m] in a cycle; franka::kMaxTorqueRate is 1000 N·m/s
SILENCE = 0.012     # [s] without efforts that ends a motion, before the robot does at 0.02
WATCH_PERIOD = 0.004    # [s] of the thread that does so
REPORT_TIME = 1.0   # [s] for which the end of a motion is a fault


class Franka:
    """
    A Franka Research 3, whose motion begins with the first efforts and ends with the last.

    :param model: the robot with seven joints, base to flange; fingers are locked.
    :param address: of the robot, on its FCI.
    :param recover: end the reflex in which a robot stands (automatic error recovery); without it,
        arming is refused until a person has ended it.
    :raises ParameterError: the model has another number of joints.
    """

    reading = INLINE
    facts = DriverFacts(compensates_gravity=True, brakes=True, effort_limit=MAX_EFFORT,
                        armature=ARMATURE, max_rate=RATE, obeys=True)

    def __init__(self, model: RobotModel, address: str, recover: bool = False):
        if model.nv != len(MAX_EFFORT):
            raise ParameterError(f'a Franka has {len(MAX_EFFORT)} joints, and the model '
                                 f'{model.nv}', name='locked_joints', value=model.nv,
                                 remedy='lock the joints of the hand')
        require_modules('franka', ['pylibfranka'], ParameterError)
        import pylibfranka

        self._franka = pylibfranka
        # The scheduling is that of the control loop, which reports it
        self._robot: Any = pylibfranka.Robot(address, pylibfranka.RealtimeConfig.kIgnore)
        if recover:
            self._robot.automatic_error_recovery()
        self._control: Any = None           # pylibfranka.ActiveControlBase during a motion
        self._state = self._robot.read_once()
        self._tau, self._written = np.zeros(model.nv), 0.0
        self._report, self._reported, self._lost = '', 0.0, ''
        self._lock, self._over = threading.Lock(), threading.Event()
        threading.Thread(target=self._watch, name='franka', daemon=True).start()

    def enable(self) -> None:
        """Begin a motion."""
        with self._lock:
            if self._control is None:
                self._tau = np.zeros(len(self._tau))
                self._control = self._robot.start_torque_control()
                self._state, _ = self._control.readOnce()
            self._written, self._report = monotonic(), ''

    def read(self) -> Reading:
        """
        Wait for the next state of the robot, at most a millisecond.

        :raises DriverLost: the connection is gone.
        """
        with self._lock:
            self._check_connection()
            self._end_in_silence()
            try:
                try:
                    self._state = (self._robot.read_once() if self._control is None
                                   else self._control.readOnce()[0])
                except self._franka.ControlException as error:
                    self._control = None
                    self._tell(str(error))
                    self._state = self._robot.read_once()
            except self._franka.NetworkException as error:
                self._lost, self._control = str(error), None
                raise DriverLost(self._lost) from error
            state = self._state
            return Reading(state.q, state.dq, state.tau_J, faults=self._faults())

    def write(self, tau: ndarray) -> None:
        """
        Answer the last state with efforts, within the rate that the robot takes.

        :raises DriverLost: the connection is gone.
        """
        with self._lock:
            self._check_connection()
            if self._control is None:
                self._tell(self._report or f'no efforts came for {SILENCE:g} s')
                return
            self._send(tau)
            self._written = monotonic()

    def diagnostics(self) -> dict:
        """Return the mode of the robot, and the share of efforts that it got in time."""
        return {'mode': self._state.robot_mode.name,
                'control command success rate': self._state.control_command_success_rate}

    def close(self) -> None:
        """End the motion, and the connection."""
        self._over.set()
        with self._lock:
            self._end()
            self._robot = None

    def _check_connection(self) -> None:
        if self._lost:
            raise DriverLost(self._lost)

    def _send(self, tau: ndarray, finished: bool = False) -> None:
        self._tau = np.clip(tau, self._tau - MAX_STEP, self._tau + MAX_STEP)
        command = self._franka.Torques(self._tau.tolist())
        command.motion_finished = finished
        self._control.writeOnce(command)

    def _end(self) -> None:
        """Bring the efforts to zero, and finish the motion."""
        if self._control is None:
            return
        try:
            zero = np.zeros(len(self._tau))
            while np.abs(self._tau).max() > MAX_STEP:
                self._control.readOnce()
                self._send(zero)
            self._control.readOnce()
            self._send(zero, finished=True)
        except (self._franka.ControlException, self._franka.NetworkException) as error:
            self._tell(str(error))
        self._control = None

    def _end_in_silence(self) -> None:
        if self._control is not None and monotonic() - self._written > SILENCE:
            self._end()

    def _watch(self) -> None:
        """End the motion where the thread of the control loop has ended."""
        while not self._over.wait(WATCH_PERIOD):
            if self._lock.acquire(blocking=False):      # nobody reads or writes
                try:
                    self._end_in_silence()
                finally:
                    self._lock.release()

    def _tell(self, text: str) -> None:
        self._report, self._reported = text, monotonic()

    def _faults(self) -> list[Fault]:
        state, told = self._state, []
        if state.current_errors:
            told.append(str(state.current_errors))
        if self._report and monotonic() - self._reported < REPORT_TIME:
            told.append(self._report)
        if state.robot_mode not in (self._franka.RobotMode.Idle, self._franka.RobotMode.Move):
            told.append(f'the robot is in mode {state.robot_mode.name}')
        return [Fault('', text) for text in told]

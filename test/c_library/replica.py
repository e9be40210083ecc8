# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Calls of a C library in Python, made to a :class:`~robodyn_ros.Controller`, for comparison.

Each step is recorded with the call before it, in the format of ``replay_host.c``, which repeats
them in C. References are those of ``Controller.follow`` and ``follow_pose``; those of a stream,
which only the C library has, are planned by its compiled functions.
"""

import ctypes
import re

import numpy as np
from robodyn_ros import Controller, Waypoints
from robodyn_ros.c_library.compile_requests import compiled_request
from robodyn_ros.compiler.tuple_reference import TupleMemory
from robodyn_ros.control.inputs.pose_tracking import Points, PosePoints
from robodyn_ros.control.references.compile_planner import compile_planner, REQUEST
from robodyn_ros.control.references.joint_requests import stream_joints
from robodyn_ros.control.references.pose_requests import stream_pose
from robodyn_ros.control.references.request import ERRORS, request, SHORT_SEGMENTS
from robodyn_ros.control.steps import guard
from robodyn_ros.errors import ParameterError, TrajectoryError

# Calls of a record
(NOTHING, ARM, DISARM, STOP, EMERGENCY_STOP, RELEASE, STREAM_JOINTS, STREAM_POSE, TRAJECTORY,
 TARGET, POSE, SETTINGS) = range(12)
# Words of the errors of a controller, and those of the library
REFUSALS = {'the controller is': 'NOT_RUNNING', 'follows no|have just been': 'NOT_FOLLOWED',
            ' is (nan|-?inf)|length': 'NOT_FINITE',
            '^velocity of|target velocity': 'TOO_FAST', 'outside|within reach': 'OUTSIDE',
            'waypoint .* is at': 'WRONG_TIMES', 'at the end': 'MOVING_END',
            'tolerance': 'JUMP',
            'no motion|cannot join': 'UNREACHABLE', 'has no limits': 'NO_LIMITS'}
_call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double)


class Replica:
    """
    Controller with the requests of a C library.

    :ivar controller: a :class:`.Controller`; its ``state`` is to be set before a step.
    :ivar error: of the last request, as in ``robodyn_controller.h``.
    """

    def __init__(self, exported):
        self._exported = exported
        first = next(iter(exported.settings.values()))
        self.controller = Controller(exported.model, first)
        self._advance = self.controller.step        # whatever a simulation puts in its place
        if exported.options.emergency_stop:
            self.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
        compile_planner()
        self._stream = request(exported.model.nv, exported.model.nb, len(exported.versions),
                               SHORT_SEGMENTS)._replace(**{
            name: getattr(exported.step, name) for name in ('limits', 'pose_limits', 'reach')})
        self._memory = TupleMemory(REQUEST)
        self._memory.write(self._stream)
        self._functions = {f: _call(compiled_request(f).address)
                           for f in (stream_joints, stream_pose)}
        self.error, self.settings = 'OK', 0
        self._calls = []
        self._planned = None

    def call(self, kind, *data):
        """Make a call before the next step, see the kinds in this module."""
        numbers = np.concatenate([np.zeros(0), *(np.ravel(np.asarray(a, float)) for a in data)])
        self._calls = [(kind, numbers)]
        c = self.controller
        self._planned = None
        if kind in (ARM, DISARM, STOP):
            (c.arm, c.disarm, c.stop)[kind - ARM]()
        elif kind in (EMERGENCY_STOP, RELEASE):
            c.cycle_input['stop_reason'] = guard.EMERGENCY_STOP if kind == EMERGENCY_STOP else 0
        else:
            self._planned = lambda now: self._request(kind, numbers, now)

    def step(self, now):
        """Step the controller; return whether it publishes, and the record of the step."""
        c, before = self.controller, self.controller.state.tobytes()
        kind, numbers = self._calls.pop() if self._calls else (NOTHING, np.zeros(0))
        self.error = 'OK'
        if self._planned:
            self._planned(now)
            self._planned = None
        publish = self._advance(now)
        head = np.array([now, kind, len(numbers), ERRORS.index(self.error), publish, c.phase,
                         c.memory['joint'][0]], float)
        return publish, (head.tobytes() + c.reason_code.encode().ljust(32, b'\0')
                         + numbers.tobytes() + before + c.tau.tobytes())

    def _request(self, kind, numbers, now):
        c, names = self.controller, self.controller.model.joint_names
        if kind == SETTINGS:
            self._use(int(numbers[0]))
        elif kind == STREAM_JOINTS:
            self._stream.asked[:] = numbers.reshape(3, -1)
            self._begin(stream_joints, now)
        elif kind == STREAM_POSE:
            self._stream.pose[:] = numbers
            self._begin(stream_pose, now)
        elif kind == TARGET:
            self._follow(c.follow, Waypoints(names, np.zeros(1), numbers[None]), now)
        elif kind == POSE:
            self._follow(c.follow_pose, numbers[:3], numbers[3:], now)
        elif len(numbers) == 0:
            self._follow(c.follow, Waypoints((), np.zeros(0), np.zeros((0, 0))), now)
        else:
            count, kinds = int(numbers[0]), int(numbers[1])
            rows = numbers[2 + count:].reshape(kinds, count, -1)
            self._follow(c.follow, Waypoints(names, numbers[2:2 + count], *rows), now)

    def _follow(self, follow, *given):
        try:
            follow(*given)
        except TrajectoryError as error:
            self.error = next(name for words, name in REFUSALS.items()
                              if re.search(words, str(error)))

    def _use(self, settings):
        try:
            self.controller.use([*self._exported.settings.values()][settings])
        except ParameterError:
            self.error = 'WRONG_PAYLOAD'
            return
        self.settings = settings
        self._stream.settings[0] = settings

    def _begin(self, function, now):
        c = self.controller
        self.error = ERRORS[self._functions[function](c.write_inputs(), self._memory.address, now)]
        if self.error != 'OK':
            return
        if function == stream_pose:
            p, n = self._stream.poses, SHORT_SEGMENTS
            c.pose.points = PosePoints(p.header.copy(), p.times[:n + 1].copy(),
                                  p.coefficients[:n].copy(), p.bases[:n].copy(), p.command.copy())
        else:
            c.trajectory.points = Points(*(a.copy() for a in self._stream.points))

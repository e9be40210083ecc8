# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The controller of a C library in Python: the same calls, for comparison.

Each step is recorded with the call before it, in the format of ``test/c_library/replay_host.c``,
which repeats them in C.
"""

from collections.abc import Callable
import ctypes
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .compile_requests import compiled_request, FUNCTIONS, REQUEST
from .exported import Exported
from .joint_requests import begin_path, begin_stop, begin_target, prepare_path, stream_joints
from .pose_requests import begin_pose, stream_pose
from .request import ERRORS, MAX_WAYPOINTS, Request, request, SHORT_SEGMENTS
from ..compiler.tuple_reference import TupleMemory
from ..control.controller.controller import Controller
from ..control.inputs.points import Points
from ..control.inputs.pose_tracking import PosePoints
from ..control.steps import guard
from ..errors import ParameterError

# Calls of a record
(NOTHING, ARM, DISARM, STOP, EMERGENCY_STOP, RELEASE, STREAM_JOINTS, STREAM_POSE, TRAJECTORY,
 TARGET, POSE, SETTINGS) = range(12)
_call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double)


class Replica:
    """
    Controller with the requests of a C library.

    :ivar controller: a :class:`.Controller`; its ``state`` is to be set before a step.
    :ivar error: of the last request, as in ``robodyn_controller.h``.
    """

    def __init__(self, exported: Exported):
        self._exported = exported
        first = next(iter(exported.settings.values()))
        self.controller = Controller(exported.model, first)
        self._advance = self.controller.step        # whatever a simulation puts in its place
        if exported.options.emergency_stop:
            self.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
        nv, nb = exported.model.nv, exported.model.nb
        kept = {name: getattr(exported.step, name) for name in (
            'limits', 'pose_limits', 'reach', 'frames', 'payload_limits')}
        count = len(exported.versions)
        self._step = request(nv, nb, count, SHORT_SEGMENTS)._replace(**kept)
        self._post = request(nv, nb, count, MAX_WAYPOINTS)._replace(**kept)
        self._memories = {id(r): TupleMemory(REQUEST) for r in (self._step, self._post)}
        for r in (self._step, self._post):
            self._memories[id(r)].write(r)
        self._functions = {f: _call(compiled_request(f).address) for f in FUNCTIONS}
        self.error, self.settings = 'OK', 0
        self._calls: list[tuple[int, ndarray]] = []
        self._planned: Callable[[float], None] | None = None

    def call(self, kind: int, *data: ArrayLike) -> None:
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

    def step(self, now: float) -> tuple[bool, bytes]:
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

    def _request(self, kind: int, numbers: ndarray, now: float) -> None:
        if kind == SETTINGS:
            self._use(int(numbers[0]))
        elif kind == STREAM_JOINTS:
            self._step.asked[:] = numbers.reshape(3, -1)
            self._begin(stream_joints, self._step, now)
        elif kind == STREAM_POSE:
            self._step.pose[:] = numbers
            self._begin(stream_pose, self._step, now)
        elif kind == TARGET:
            self._post.asked[0] = numbers
            self._begin(begin_target, self._post, now)
        elif kind == POSE:
            self._post.pose[:] = 0.0
            self._post.pose[:7] = numbers
            self._begin(begin_pose, self._post, now)
        elif len(numbers) == 0:
            self._begin(begin_stop, self._post, now)
        else:
            self._trajectory(numbers, now)

    def _use(self, settings: int) -> None:
        try:
            self.controller.use([*self._exported.settings.values()][settings])
        except ParameterError:
            self.error = 'WRONG_PAYLOAD'
            return
        self.settings = settings
        for r in (self._step, self._post):
            r.settings[0] = settings

    def _trajectory(self, numbers: ndarray, now: float) -> None:
        r, nv = self._post, self.controller.model.nv
        count, kinds = int(numbers[0]), int(numbers[1])
        r.times[:count] = numbers[2:2 + count]
        r.waypoints[:count, :kinds] = numbers[2 + count:].reshape(kinds, count, nv).transpose(
            1, 0, 2)
        r.counts[:] = count, kinds == 3
        self.error = self._run(prepare_path, r, now)
        if self.error == 'OK':
            self._begin(begin_path, r, now)

    def _run(self, function: Any, r: Request, now: float) -> str:
        return ERRORS[self._functions[function](
            self.controller.write_inputs(), self._memories[id(r)].address, now)]

    def _begin(self, function: Any, r: Request, now: float) -> None:
        self.error = self._run(function, r, now)
        if self.error != 'OK':
            return
        c, segments = self.controller, int(r.result[2])
        if function in (stream_pose, begin_pose):
            p = r.poses
            c._poses = PosePoints(p.header.copy(), p.times[:segments + 1].copy(),
                                  p.coefficients[:segments].copy(), p.bases[:segments].copy(),
                                  p.command.copy())
        else:
            q = r.points
            c._points = Points(q.header.copy(), q.times[:segments + 1].copy(),
                               q.coefficients[:segments].copy(), q.efforts[:segments].copy())

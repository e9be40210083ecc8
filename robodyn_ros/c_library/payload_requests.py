# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Requested payloads, see :mod:`~robodyn_ros.control.references.request`."""

from math import isfinite

from ..control.references.request import (
    DISTANCE, GRAVITY_CHANGE, MASS, NOT_EXPORTED, NOT_FINITE, OK, Request, WRONG_PAYLOAD)
from ..control.steps import guard
from ..control.steps.cycle_data import Cycle
from ..control.steps.robot_dynamics import gravity


def load_payload(c: Cycle, r: Request, now: float) -> int:
    """Write the bodies of the settings with a point mass ``r.payload`` to ``r.bodies``."""
    mass, frame, b = r.payload[0], r.frames[r.settings[0]], c.settings.payload_body
    x, y, z = r.payload[1], r.payload[2], r.payload[3]
    R, o = frame.rotation, frame.origin
    if not (isfinite(mass) and isfinite(x) and isfinite(y) and isfinite(z)):
        return NOT_FINITE
    if not (0.0 <= mass <= r.payload_limits[MASS]
            and x * x + y * y + z * z <= r.payload_limits[DISTANCE]**2):
        return NOT_EXPORTED
    for i in range(r.bodies.shape[0]):
        r.bodies[i] = c.robot.bodies[i]
    p = (R[0] * x + R[1] * y + R[2] * z + o[0], R[3] * x + R[4] * y + R[5] * z + o[1],
         R[6] * x + R[7] * y + R[8] * z + o[2])
    body = r.bodies[b]
    body.mass += mass
    for i in range(3):
        body.first[i] += mass * p[i]
        body.second[i] += mass * p[i] * p[i]
    body.second[3] += mass * p[0] * p[1]
    body.second[4] += mass * p[0] * p[2]
    body.second[5] += mass * p[1] * p[2]
    return OK


def check_payload(c: Cycle, r: Request, now: float) -> int:
    """
    Refuse dynamics with which an arm that is driven could not be armed, as ``Controller.use``.

    :param c: with the new dynamics and settings.
    """
    s, m, v, tau = c.settings, c.controller, c.vectors, r.state[0]
    r.result[0] = r.result[1] = -1
    if m.publishing == 0:
        armed = m.arming == 1 or c.cycle_input.request == guard.ARM
        return WRONG_PAYLOAD if armed else OK
    gravity(c.robot, v.q, c.workspace, tau)
    for i in range(v.q.shape[0]):
        known = v.measured[i] if isfinite(v.measured[i]) else v.gravity[i]
        allowed = 0.0 if m.phase == guard.FAULT else (
            min(s.arming_effort, GRAVITY_CHANGE) * c.joints[i].effort_limit)
        if not abs(tau[i] - known) <= allowed:
            r.result[0] = i
            return WRONG_PAYLOAD
    return OK

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Link of a coupled arm to its partner: when the coupling begins, and when it is lost."""

import numpy as np
from numpy import record

from . import guard
from ..inputs.partner import COUPLED, WAITING

#: Fields of the controller state.
STATE = [
    ('coupled', np.int64),          # 1: coupled to a partner, see partner_link.py
]


def supervise(s: record, m: record, header: record, now: float) -> int:
    """
    Begin the coupling of a RUNNING arm when its partner is ready; return why it is lost.

    The follower begins when the leader is ready, the leader when the follower has begun, which has
    then set its deviation from the leader off. From then on the partner must not be older than
    ``coupling_timeout``, nor leave the coupling: then both arms float.

    :param header: record ``HEADER`` of the partner.
    """
    if s.couples == 0:
        m.coupled = 0
        return guard.NO_REASON
    age = now - header.time
    ready = header.status >= (WAITING if header.follows == 1 else COUPLED)
    if ready and -s.coupling_timeout <= age <= s.coupling_timeout:
        m.coupled = 1
    elif m.coupled == 1:
        return guard.PARTNER_LOST
    return guard.NO_REASON

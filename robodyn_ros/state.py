# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint state records, shared by the decoders that write them and the control cycle."""

import numpy as np

#: Record of one joint. ``position`` [rad | m], ``velocity`` [rad/s | m/s] and ``effort`` [N·m | N]
#: are those of the newest sample; velocity and effort are NaN where the message carries none.
#: ``received`` is the time of receipt [s] on the clock of the control cycle, ``sequence`` the
#: number that its publisher counts messages by, ``other`` the time [s] of the newest sample that
#: must have come from another publisher, and ``stamp`` the time in the header [s] on the clock of
#: the publisher, NaN where it is zero. All fields are NaN before the first sample.
STATE = np.dtype([
    ('position', float),
    ('velocity', float),
    ('effort', float),
    ('received', float),
    ('sequence', float),
    ('other', float),
    ('stamp', float),
])


def no_state(n: int) -> np.ndarray:
    """Return (n,) records ``STATE`` of joints without any sample yet: all NaN."""
    return np.full(n * len(STATE.names or ()), np.nan).view(STATE)

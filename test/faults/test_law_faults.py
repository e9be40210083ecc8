# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of a control law of one's own, which passes every trial and fails when it drives."""

import os

import numpy as np
import own_laws
import pytest
from faults.arm import TELEPORTED
from faults.efforts import goes_limp
from faults.rows import row

from robodyn_ros.control.laws import call

near = pytest.approx


@row('control law writes no effort', 'EFFORT_NOT_FINITE', where=call.call_law,
     find='_[:] = np.nan', instead='pass')
@pytest.mark.fresh          # a server of nodes has another path of modules
def test_a_law_that_writes_no_effort(running, remote, monkeypatch):
    """Its last effort is not published for ever: the fault is latched in the same cycle."""
    path = os.path.dirname(own_laws.__file__)
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        [path, *filter(None, [os.environ.get('PYTHONPATH')])]))
    # In plain Python, beside other tests, a cycle may take longer than what conftest.EXACT allows
    arm = running(mode='own_laws:SILENT_LATE', position_margin=[0.0], state_timeout=0.5,
                  **TELEPORTED)
    assert arm.tick() == near(arm.gravity)
    arm.position = np.array([own_laws.BEYOND + 5e-4, arm.position[1]])
    g = arm.gravity
    assert arm.tick() == near(g)
    goes_limp(arm, arm.tick, g, first=1)
    arm.faulted('EFFORT_NOT_FINITE')

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Efforts of an :class:`~faults.arm.Arm`: after a fault, and while it moves."""

from collections.abc import Callable

from faults.arm import Arm, PERIOD, RAMP
import numpy as np
import pytest

near = pytest.approx
# Of the efforts of conftest.EXACT, from the cycle of the fault to the last message, which is zero
SHARES = np.concatenate([np.ones(20), RAMP])


def goes_limp(arm: Arm, step: Callable[[], np.ndarray], held: np.ndarray, first: int = 0) -> None:
    """Check what follows a fault: ``held`` (2,) for a bounded time, a ramp to zero, nothing."""
    for share in SHARES[first:]:
        efforts = step()
        assert efforts == near(share * held, abs=1e-9), f'{efforts}, not {share * held}'
    assert efforts.tolist() == [0.0, 0.0]
    arm.nothing()


def moving(arm: Arm, count: int, **fields) -> np.ndarray:
    """Efforts of so many ticks of an arm that moves as its velocity says (count, 2)."""
    efforts = []
    for _ in range(count):
        arm.position += PERIOD * arm.velocity
        efforts.append(arm.tick(**fields))
    return np.array(efforts)

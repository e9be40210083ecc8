# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorder of joint states in a thread of its own."""

import threading
import time
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..model.robot import RobotModel
from ..nodes.middleware.executor_subscription import ExecutorSubscription
from ..nodes.middleware.raw_subscription import SerializedSubscription
from ..wire.joint_state import ACCEPTED, JointStateDecoder

POLL_PERIOD = 0.02    # [s]


class Recording(NamedTuple):
    """Joint states in arrays, in the model's joint order."""

    time: ndarray           # (N,) [s] header stamps: wall clock, or simulation time
    position: ndarray       # (N, nv) [rad | m]
    velocity: ndarray       # (N, nv) [rad/s | m/s]
    effort: ndarray         # (N, nv) [N·m | N] of the motors, or of the brakes where they hold

    def between(self, begin: float, end: float) -> 'Recording':
        """Return the part with begin <= time <= end [s]."""
        inside = (self.time >= begin) & (self.time <= end)
        return Recording(*(column[inside] for column in self))


class Recorder:
    """
    Recorder of a topic as bytes, which are decoded on demand.

    :param states: of sensor_msgs/JointState, with a queue for the messages between two polls.
    :param simulated: whether their stamps are simulation time instead of the wall clock.
    """

    def __init__(self, states: SerializedSubscription | ExecutorSubscription, model: RobotModel, *,
                 simulated: bool = False):
        self._states, self._simulated = states, simulated
        self._decoder = JointStateDecoder(model.joint_names)
        self._messages: list[bytes] = []
        self._since = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='recorder', daemon=True)
        self._thread.start()

    def clear(self, since: float | None = None) -> None:
        """
        Forget all states up to now, waiting ones too; on simulation time, those received.

        :param since: time of the first state that counts, on the clock of the stamps [s]; None:
            now.
        """
        if since is None:
            now = self.latest().time[-1:] if self._simulated else np.array([time.time()])
            since = float(now[0]) if len(now) else self._since
        self._messages, self._since = [], since

    def recording(self) -> Recording:
        """Return the states since the last :meth:`clear`."""
        return self._decoded(self._messages[:]).between(self._since, np.inf)

    def latest(self) -> Recording:
        """Return the newest state, None where there is none yet."""
        return self._decoded(self._messages[-1:])

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            new = self._states.drain()
            self._messages.extend(new)      # the list may have been replaced meanwhile
            time.sleep(POLL_PERIOD)

    def _decoded(self, messages: list[bytes]) -> Recording:
        rows = np.empty((len(messages), 3, len(self._decoder.joint_names)))
        stamps, n = np.empty(len(messages)), 0
        for message in messages:
            if self._decoder.decode(message, 0.0) == ACCEPTED:
                state = self._decoder.state
                rows[n] = state['position'], state['velocity'], state['effort']
                stamps[n] = self._decoder.stamp
                n += 1
        return Recording(stamps[:n], rows[:n, 0], rows[:n, 1], rows[:n, 2])

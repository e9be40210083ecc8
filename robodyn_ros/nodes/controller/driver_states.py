# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""States and efforts of a driver in the process of the node, in place of the topics."""

from collections.abc import Sequence
from queue import SimpleQueue
import threading

import numpy as np
from rclpy.publisher import Publisher

from ..middleware.raw_subscription import RCLError, Sample, SampleQueue
from ...driver import DriverReader
from ...wire.joint_state import JointStateEncoder

QUEUE_DEPTH = 10    # readings and messages, as of a topic


class DriverStates(SampleQueue):
    """
    Readings of a driver as messages of joint states; see :class:`.SerializedSubscription`.

    What it reads and writes is also published, by a thread that the loop does not wait for.

    :param joint_names: of the arm, in the order of the driver's arrays.
    :param reader: of the driver.
    :param states, commands: publishers of joint states and efforts.
    """

    most = QUEUE_DEPTH

    def __init__(self, reader: DriverReader, joint_names: Sequence[str], states: Publisher,
                 commands: Publisher):
        self._n = len(joint_names)
        self._unknown = np.full(self._n, np.nan)
        self._encoder = JointStateEncoder(joint_names)
        self._shown: SimpleQueue[tuple[Publisher, bytes] | None] = SimpleQueue()
        self._states, self._commands = states, commands
        self._publisher = threading.Thread(target=self._publish, name='driver_topics', daemon=True)
        self._publisher.start()
        self._reader = reader

    def drain(self) -> list[bytes]:
        """Drop the readings that wait; the drives are switched on before the next efforts."""
        self._reader.begin()
        return []

    def take(self) -> Sample | None:
        """Take the oldest reading, None if there is none; skip invalid ones."""
        for _ in range(QUEUE_DEPTH):   # bounded: new ones may arrive as fast
            if (taken := self._reader.take()) is None:
                break
            try:
                position, velocity, effort, *_ = taken.reading
                message = self._encoder.encode(taken.time_ns, position, velocity,
                                               self._unknown if effort is None else effort)
            except Exception as error:          # wrong shapes, no numbers at all
                self._reader.refuse(error)
                continue
            self._show(self._states, message)
            return Sample(message, float(taken.number), taken.time_ns, taken.age)
        return None

    def wait(self, timeout_ns: int) -> bool:
        """Block until a reading waits (True), the time is over [ns] or :meth:`wake` is called."""
        return self._reader.wait(timeout_ns)

    def wake(self) -> None:
        """End the wait under way, or the next one."""
        self._reader.wake()

    def write(self, message: bytes) -> None:
        """Write the efforts of a serialized command by the driver."""
        self._reader.write(np.frombuffer(message, '<f8', self._n, len(message) - 8 * self._n))
        self._show(self._commands, message)

    def publisher_count(self) -> int:
        """Return the number of sources of the states: one."""
        return 1

    def destroy(self) -> None:
        """Close the driver, while no thread waits for it."""
        self._reader.close()
        self._shown.put(None)
        self._publisher.join()

    def _show(self, publisher: Publisher, message: bytes) -> None:
        if self._shown.qsize() < 2 * QUEUE_DEPTH:     # a slow reader must not block the loop
            self._shown.put((publisher, message))

    def _publish(self) -> None:
        while shown := self._shown.get():
            publisher, message = shown
            try:
                publisher.publish(message)
            except RCLError:                    # the context is gone
                return

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recording of joint states from a topic into a file, for identification."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
import threading
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from ..middleware.client_session import Session, session
from ..middleware.raw_subscription import open_subscription, Sample
from ...errors import RosError
from ...identification.recordings.recording import check_target, Recording, write

# Best effort matches all publishers and makes no driver wait or resend; losses are counted. The
# depth bridges a stall of a second.
RECORDING = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
POLL_PERIOD = 0.02    # [s]
PROGRESS_PERIOD = 0.5    # [s]
STATES = 'sensor_msgs/msg/JointState'


class Recorder:
    """
    Recorder of every message of a topic until :meth:`stop`, with a thread of its own.

    Messages are deserialized in :meth:`update` by the calling thread, so that the recorder's
    thread keeps up.
    """

    def __init__(self, node: Node, topic: str):
        self.topic = node.resolve_topic_name(topic)
        self._samples: list[Sample] = []
        self._messages: list[tuple[int, int, Any]] = []     # stamp and publication [ns], message
        self._numbers: dict[tuple[str, ...], float] = {}
        #: Number of messages that were published and not received, and of joints received.
        self.lost, self.joints = 0, 0
        self._states = open_subscription(node, JointState, topic, RECORDING)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name='record', daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        """Return how many messages have been received."""
        return len(self._messages) + len(self._samples)

    def _run(self) -> None:
        while not self._over.wait(POLL_PERIOD):
            self._samples += self._states.drain_numbered()

    def update(self) -> None:
        """Deserialize the messages received since the last call."""
        new = self._samples[:]
        for message, number, published, _ in new:
            state = deserialize_message(message, JointState)
            # The middleware counts for each publisher, and does not tell which it was: those of
            # one robot publish different joints. One that begins anew has lost nothing.
            names = tuple(state.name)
            self.lost += max(0, int(number - self._numbers.get(names, number)) - 1) \
                if number == number else 0
            self._numbers[names] = number
            stamp = state.header.stamp
            self._messages.append((stamp.sec * 10**9 + stamp.nanosec, published, state))
        del self._samples[:len(new)]
        self.joints = len({name for names in self._numbers for name in names})

    def stop(self) -> None:
        """Receive what is waiting, and end the thread."""
        self._over.set()
        self._thread.join()
        self._samples += self._states.drain_numbered()
        self._states.destroy()
        self.update()

    @property
    def began(self) -> int:
        """Time [ns] of the first message, from which :meth:`recording` counts."""
        stamped = any(stamp for stamp, _, _ in self._messages)
        return self._messages[0][0 if stamped else 1]

    def recording(self) -> Recording:
        """
        Return the messages as a recording, see :meth:`~.Recording.from_messages`.

        Times are those of the headers, since the first one, or times of publication if all headers
        have the time zero.

        :raises RecordingError: no message can be used.
        """
        stamped = any(stamp for stamp, _, _ in self._messages)
        times = [stamp if stamped else published for stamp, published, _ in self._messages]
        return Recording.from_messages(
            ((1e-9 * (at - times[0]), m.name, m.position, m.velocity, m.effort)
             for at, (_, _, m) in zip(times, self._messages)), self.topic)


@contextmanager
def recording(here: Session, topic: str, within: float) -> Iterator[Recorder]:
    """
    Yield a recorder that receives messages; stop it afterwards.

    :param within: longest time to wait for the first message [s].
    :raises RosError: nothing is received.
    """
    recorder = Recorder(here.node, topic)
    try:
        if not here.until(lambda: len(recorder), within):
            raise silent(here.node, recorder.topic)
        yield recorder
    finally:
        recorder.stop()


def silent(node: Node, topic: str) -> RosError:
    """Return the error that nothing is received on a topic, with the topics of joint states."""
    others = sorted(name for name, types in node.get_topic_names_and_types()
                    if STATES in types and name != topic)
    return RosError(f'nothing has come on {topic}', name=topic, value=others,
                    remedy=f'choose another topic: {", ".join(others)}' if others else
                    f'see that joint states are published ({STATES}), and in this ROS_DOMAIN_ID')


def record(path: Path, topic: str, *, seconds: float | None, wait: float, force: bool,
           began: Callable[[str], None], tell: Callable[[str], None]) -> tuple[Recording, int]:
    """
    Record a topic until SIGINT, or for ``seconds`` since the first message, and write the file.

    :param wait: longest time to wait for the first message [s].
    :param began: called with the topic when the first message has come; ``tell``: called with
        lines on the progress.
    :returns: the recording, and the number of messages lost.
    :raises RosError: nothing is received.
    :raises RecordingError: the messages cannot be used, or the file cannot be written.
    """
    check_target(path, force)
    with session('robodyn_record') as here:
        tell(f'waiting for {topic}')
        with recording(here, topic, wait) as recorder:
            began(recorder.topic)
            first = before = time.monotonic()
            count = 0
            while not here.over.is_set():
                left = PROGRESS_PERIOD if seconds is None else first + seconds - time.monotonic()
                if left <= 0:
                    break
                here.over.wait(min(left, PROGRESS_PERIOD))
                recorder.update()
                now, total = time.monotonic(), len(recorder)
                tell(f'{total} messages in {now - first:.1f} s, {recorder.joints} joints, '
                     f'{(total - count) / (now - before):.1f} Hz, {recorder.lost} lost')
                before, count = now, total
    found = recorder.recording()
    write(path, found)
    return found, recorder.lost

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Transport of states and efforts: selects the fastest available data path."""

from collections.abc import Sequence
from contextlib import suppress
from queue import SimpleQueue
import threading
import time
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ..middleware import qos
from ..middleware.raw_subscription import (
    ExecutorSubscription, RCLError, Sample, SampleQueue, SerializedSubscription, SimulationClock)
from ...control.controller.controller import Controller
from ...control.cycle.compile_ahead import plain, PLAIN_VARIABLE
from ...driver import DriverReader
from ...errors import DataPathError, RobodynError
from ...realtime.loop_settings import EXECUTOR, FALLBACK_ORDER, LoopSettings, NATIVE, PYTHON
from ...realtime.statistics import Tally
from ...wire.codecs import JointStateDecoder, JointStateEncoder

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
        self._reader, self.wait, self.wake = reader, reader.wait, reader.wake

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

    def write(self, message: bytes) -> None:
        """Write the efforts of a serialized command by the driver."""
        self._reader.write(np.frombuffer(message, '<f8', self._n, len(message) - 8 * self._n))
        self._show(self._commands, message)

    @property
    def resting(self) -> bool:          # type: ignore[override]
        """Whether drives may still have to damp the arm once no efforts are written."""
        return self._reader.resting

    def idle(self) -> None:
        """Have the drives damp an arm without brakes, in a cycle without efforts."""
        self._reader.idle()

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


if TYPE_CHECKING:
    from ...realtime.native.loop import NativeLoop

TRIAL_TOPIC = '~/data_path_trial'
DISCOVERY_TIMEOUT = 5.0    # [s] of the publisher and the subscription of the trial

# Exceptions that mean a data path is unavailable
UNAVAILABLE = (AttributeError, ImportError, OSError, RCLError, RobodynError, TypeError)


class DataPath(NamedTuple):
    """A data path: its state subscription, and the native loop if there is one."""

    name: str               # with the reasons of a fallback
    states: SerializedSubscription | ExecutorSubscription | DriverStates
    native: 'NativeLoop | None' = None


def open_transport(settings: LoopSettings, node: Node, controller: Controller,
                   decoder: JointStateDecoder, tally: Tally, commands: Publisher,
                   clock: SimulationClock | None, topic: str = 'joint_states') -> DataPath:
    """
    Open the topic of states on the requested data path, or on the first available fallback.

    Each fallback is logged.
    """
    why: list[str] = []
    first = 0 if settings.data_path == 'auto' else FALLBACK_ORDER.index(settings.data_path)
    for path, fallback in zip(FALLBACK_ORDER[first:], (*FALLBACK_ORDER[first + 1:], None)):
        name = f'{path} ({"; ".join(why)})' if why else path
        try:
            if path == EXECUTOR:
                return DataPath(name, ExecutorSubscription(node, JointState, topic, qos.STATES_IN))
            states = SerializedSubscription(node, JointState, topic, qos.STATES_IN)
            if path == PYTHON:
                return DataPath(name, states)
            try:
                return DataPath(name, states, _native(settings, node, controller, decoder, tally,
                                                      states, commands, clock))
            except UNAVAILABLE:
                states.destroy()
                raise
        except UNAVAILABLE as error:
            if fallback is None:
                raise
            why.append(f'not {path}: {error}')
            node.get_logger().warning(f'data path {path!r} unavailable ({error}); falling back '
                                      f'to {fallback!r}')
    raise AssertionError('the last data path returns or raises')


def _native(settings: LoopSettings, node: Node, controller: Controller, decoder: JointStateDecoder,
            tally: Tally, states: SerializedSubscription, commands: Publisher,
            clock: SimulationClock | None) -> 'NativeLoop':
    from ...realtime.native.loop import NativeLoop  # the controller works without it

    if plain():
        raise DataPathError(f'{PLAIN_VARIABLE} requests a control cycle in plain Python',
                            name='data_path', remedy=f'unset {PLAIN_VARIABLE}')
    _try_native(node)
    tick = clock.subscription if clock else None
    assert not isinstance(tick, ExecutorSubscription)   # used without `states` only
    return NativeLoop(settings, controller, decoder, tally, states.most, states.handle,
                      commands.handle, tick.handle if tick else None)


def compile_loop_ahead(settings: LoopSettings) -> None:
    """
    Compile or load the loop that :func:`open_transport` tries first, and its trial.

    On a new machine, a second process compiles the cycle meanwhile. Failures are ignored here:
    they recur in :func:`open_transport`, which logs them.
    """
    if settings.data_path in ('auto', NATIVE) and not plain():
        with suppress(*UNAVAILABLE):
            from ...realtime.native.loop import compiled_loop
            from ...realtime.native.probe import compiled_trial

            compiled_loop(settings.trigger)
            compiled_trial()


def _try_native(node: Node) -> None:
    """Send trial messages; raise an error unless they arrive unchanged."""
    from ...realtime.native.probe import probe

    heard = SerializedSubscription(node, Float64MultiArray, TRIAL_TOPIC, 10)
    ours = node.create_publisher(Float64MultiArray, TRIAL_TOPIC, 10)
    try:
        end = time.monotonic() + DISCOVERY_TIMEOUT
        while not (heard.publisher_count() and ours.get_subscription_count()) and (
                time.monotonic() < end):
            time.sleep(0.001)
        probe(heard.handle, ours.handle, ours.publish, heard.drain_numbered)
    finally:
        heard.destroy()
        node.destroy_publisher(ours)

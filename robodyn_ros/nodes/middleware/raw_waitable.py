# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscription for large messages that does not block the node's other threads."""

from collections.abc import Callable, Mapping
import ctypes
from functools import cache
import time
from typing import Any

import numpy as np
from numpy import ndarray
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.waitable import NumberOfEntities, Waitable

from .raw_subscription import _rclpy, LeftAlone, never_called
from ...errors import DataPathError
from ...wire.cdr import no_bytes, rcutils, release, SerializedBytes, TAKE_FAILED

# int64 of an rmw_message_info_t, at most; it begins with source_timestamp, received_timestamp [ns]
MESSAGE_INFO = 32


@cache
def rcl() -> ctypes.CDLL:
    """
    Return librcl as loaded by rclpy; ctypes calls it without the GIL.

    :raises DataPathError: it, a function or a private name of rclpy is missing.
    """
    rcutils()
    try:
        library = ctypes.CDLL('librcl.so')
        library.rcl_take_serialized_message.argtypes = (
            ctypes.c_void_p, ctypes.POINTER(SerializedBytes), ctypes.c_void_p, ctypes.c_void_p)
        for kind, name in (('Subscription', 'pointer'), ('WaitSet', 'is_ready'),
                           ('WaitSet', 'add_subscription')):
            getattr(getattr(_rclpy, kind), name)
    except (AttributeError, OSError) as error:
        raise DataPathError(f'librcl cannot be called: {error}', name='data_path',
                            remedy='rclpy takes messages by itself') from error
    return library


def subscribe(node: Node, type: Any, topic: str, qos: QoSProfile | int,  # noqa: A002
              most: int, callback: Callable[[ndarray, int], None]
              ) -> 'LargeMessages | CopiedMessages':
    """
    Subscribe: call back, in the executor, with the first bytes of each message and its size.

    :param most: maximum number of bytes passed to the callback.
    :param callback: gets an array of bytes and the size of the whole message.
    """
    try:
        rcl()
    except DataPathError as error:
        node.get_logger().warning(f'{error}; a message of a megabyte stops the other threads of '
                                  'Python for 2 ms', once=True)
        return CopiedMessages(node, type, topic, qos, most, callback)
    return LargeMessages(node, type, topic, qos, most, callback)


class CopiedMessages:
    """Fallback of :func:`subscribe` by rclpy's own subscription."""

    def __init__(self, node: Node, type: Any, topic: str,  # noqa: A002
                 qos: QoSProfile | int, most: int, callback: Callable[[ndarray, int], None]):
        self.transit = self.waited = 0.0

        # The annotations of Jazzy lack the second argument
        def take(message: bytes, info: Mapping[str, Any]) -> None:
            now, received = time.time_ns(), info['received_timestamp']
            if published := info['source_timestamp']:
                self.transit = 1e-9 * (now - published)
            self.waited = 1e-9 * (now - received) if received else 0.0
            callback(np.frombuffer(message, np.uint8, min(len(message), most)), len(message))
        called: Any = take
        node.create_subscription(type, topic, called, qos, raw=True)


class LargeMessages(Waitable):
    """
    Waitable that calls back, in the executor, with the first bytes of each message and its size.

    rclpy's own subscription copies a message three times while it holds the GIL, 2 ms a megabyte:
    a control thread would stall. Parameters are those of :func:`subscribe`.
    """

    def __init__(self, node: Node, type: Any, topic: str,  # noqa: A002
                 qos: QoSProfile | int, most: int, callback: Callable[[ndarray, int], None]):
        super().__init__(node.default_callback_group)
        self._node, self._most, self._callback = node, most, callback
        self._subscription = node.create_subscription(
            type, topic, never_called, qos, callback_group=LeftAlone(), raw=True)
        self._index = 0
        self._info = (ctypes.c_int64 * MESSAGE_INFO)()
        #: Receipt minus publication of the last message, each on the clock of its host [s].
        self.transit = 0.0
        #: Time between its receipt and the executor's turn [s].
        self.waited = 0.0
        node.add_waitable(self)

    def take_data(self) -> tuple[ndarray, int] | None:
        """Take one message, None if there is none."""
        taken = no_bytes()
        try:
            with self._subscription.handle:
                code = rcl().rcl_take_serialized_message(
                    self._subscription.handle.pointer, taken, self._info, None)
            if code != 0:
                rcutils().rcutils_reset_error()
                if code != TAKE_FAILED:
                    self._node.get_logger().warning(
                        f'a message on {self._subscription.topic_name} is lost: rcl error {code}')
                return None
            now, (published, received) = time.time_ns(), self._info[:2]
            self.transit = 1e-9 * (now - published) if published else self.transit
            self.waited = 1e-9 * (now - received) if received else 0.0
            data = np.empty(min(taken.length, self._most), np.uint8)
            ctypes.memmove(data.ctypes.data, taken.buffer, len(data))
            return data, taken.length
        except InvalidHandle:
            return None                     # the node or its context is gone
        finally:
            release(taken)

    async def execute(self, taken_data: tuple[ndarray, int] | None) -> None:
        """Call back."""
        if taken_data is not None:
            self._callback(*taken_data)

    # Waitable interface

    def __enter__(self) -> None:
        self._subscription.handle.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self._subscription.handle.__exit__(*exception)

    def get_num_entities(self) -> NumberOfEntities:
        """One subscription."""
        return NumberOfEntities(num_subs=1)

    def add_to_wait_set(self, wait_set: Any) -> None:
        """Wait for the subscription."""
        self._index = wait_set.add_subscription(self._subscription.handle)

    def is_ready(self, wait_set: Any) -> bool:
        """Whether a message waits."""
        return wait_set.is_ready('subscription', self._index)

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A subscription that takes messages of any size without stopping the node's other threads."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.waitable import NumberOfEntities, Waitable

from .serialized import LeftAlone, never_called

TAKE_FAILED = 401           # rcl/types.h: there is no message


class _Allocator(ctypes.Structure):
    """rcutils/allocator.h."""

    _fields_ = [(name, ctypes.c_void_p) for name in (
        'allocate', 'deallocate', 'reallocate', 'zero_allocate', 'state')]


class _Bytes(ctypes.Structure):
    """rcutils/types/uint8_array.h, which is also rcl_serialized_message_t."""

    _fields_ = [('buffer', ctypes.c_void_p), ('length', ctypes.c_size_t),
                ('capacity', ctypes.c_size_t), ('allocator', _Allocator)]


# The libraries that rclpy has loaded; ctypes calls them without the interpreter's lock.
_rcl, _rcutils = ctypes.CDLL('librcl.so'), ctypes.CDLL('librcutils.so')
_rcl.rcl_take_serialized_message.argtypes = (
    ctypes.c_void_p, ctypes.POINTER(_Bytes), ctypes.c_void_p, ctypes.c_void_p)
_rcutils.rcutils_get_default_allocator.restype = _Allocator
_rcutils.rcutils_uint8_array_fini.argtypes = (ctypes.POINTER(_Bytes),)


class LargeMessages(Waitable):
    """
    Calls back, in the executor, with the first bytes of each message of a topic, and its size.

    rclpy's own subscription copies a message three times with the interpreter locked, 2 ms a
    megabyte, in which no other Python thread runs: a control thread would stand still.

    :param most: bytes that are handed out; of a larger message only so many.
    :param callback: gets an array of bytes and the size of the whole message.
    """

    def __init__(self, node: Node, type: Any, topic: str, qos: QoSProfile | int, most: int,
                 callback: Callable[[ndarray, int], None]):
        super().__init__(node.default_callback_group)
        self._node, self._most, self._callback = node, most, callback
        self._subscription = node.create_subscription(
            type, topic, never_called, qos, callback_group=LeftAlone(), raw=True)
        self._index = 0
        node.add_waitable(self)

    def take_data(self) -> tuple[ndarray, int] | None:
        """Take one message, None if there is none."""
        taken = _Bytes(allocator=_rcutils.rcutils_get_default_allocator())
        try:
            with self._subscription.handle:
                code = _rcl.rcl_take_serialized_message(
                    self._subscription.handle.pointer, taken, None, None)
            if code != 0:
                _rcutils.rcutils_reset_error()
                if code != TAKE_FAILED:
                    self._node.get_logger().warning(
                        f'a message on {self._subscription.topic_name} is lost: rcl error {code}')
                return None
            data = np.empty(min(taken.length, self._most), np.uint8)
            ctypes.memmove(data.ctypes.data, taken.buffer, len(data))
            return data, taken.length
        except InvalidHandle:
            return None                     # the node or its context is gone
        finally:
            _rcutils.rcutils_uint8_array_fini(taken)

    async def execute(self, taken_data: tuple[ndarray, int] | None) -> None:
        """Call back."""
        if taken_data is not None:
            self._callback(*taken_data)

    # What the executor asks

    def __enter__(self) -> None:
        self._subscription.handle.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self._subscription.handle.__exit__(*exception)

    def get_num_entities(self) -> NumberOfEntities:
        """One subscription."""
        return NumberOfEntities(num_subs=1)

    def add_to_wait_set(self, wait_set: _rclpy.WaitSet) -> None:
        """Wait for the subscription."""
        self._index = wait_set.add_subscription(self._subscription.handle)

    def is_ready(self, wait_set: _rclpy.WaitSet) -> bool:
        """Whether a message waits."""
        return wait_set.is_ready('subscription', self._index)

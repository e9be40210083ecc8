# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A serialized message as librcl takes and gives it: bytes that it may move and let grow."""

import ctypes

TAKE_FAILED = 401           # rcl/types.h: there is no message


class Allocator(ctypes.Structure):
    """rcutils/allocator.h."""

    _fields_ = [(name, ctypes.c_void_p) for name in (
        'allocate', 'deallocate', 'reallocate', 'zero_allocate', 'state')]


class SerializedBytes(ctypes.Structure):
    """rcutils/types/uint8_array.h, which is also rcl_serialized_message_t."""

    _fields_ = [('buffer', ctypes.c_void_p), ('length', ctypes.c_size_t),
                ('capacity', ctypes.c_size_t), ('allocator', Allocator)]


# The library that rclpy has loaded; ctypes calls it without the interpreter's lock.
rcutils = ctypes.CDLL('librcutils.so')
rcutils.rcutils_get_default_allocator.restype = Allocator
rcutils.rcutils_uint8_array_fini.argtypes = (ctypes.POINTER(SerializedBytes),)


def no_bytes() -> SerializedBytes:
    """Return a message of no bytes, to be given back by :func:`release`."""
    return SerializedBytes(allocator=rcutils.rcutils_get_default_allocator())


def release(message: SerializedBytes) -> None:
    """Give back what librcl has allocated for a message."""
    rcutils.rcutils_uint8_array_fini(message)

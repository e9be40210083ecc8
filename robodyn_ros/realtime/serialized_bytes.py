# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A serialized message as librcl takes and gives it: bytes that it may move and let grow."""

import ctypes
from functools import cache

from ..errors import DataPathError

PROBE_BYTES = 8
TAKE_FAILED = 401           # rcl/types.h: there is no message


class Allocator(ctypes.Structure):
    """rcutils/allocator.h."""

    _fields_ = [(name, ctypes.c_void_p) for name in (
        'allocate', 'deallocate', 'reallocate', 'zero_allocate', 'state')]


class SerializedBytes(ctypes.Structure):
    """rcutils/types/uint8_array.h, which is also rcl_serialized_message_t."""

    _fields_ = [('buffer', ctypes.c_void_p), ('length', ctypes.c_size_t),
                ('capacity', ctypes.c_size_t), ('allocator', Allocator)]


@cache
def rcutils() -> ctypes.CDLL:
    """
    Return librcutils, which rclpy has loaded; ctypes calls it without the interpreter's lock.

    :raises DataPathError: it is missing, or its messages are not laid out as here.
    """
    try:
        library = ctypes.CDLL('librcutils.so')
        library.rcutils_get_default_allocator.restype = Allocator
        library.rcutils_uint8_array_fini.argtypes = (ctypes.POINTER(SerializedBytes),)
        library.rcutils_uint8_array_resize.argtypes = (
            ctypes.POINTER(SerializedBytes), ctypes.c_size_t)
        library.rcutils_reset_error.restype = None
    except (AttributeError, OSError) as error:
        raise _unavailable(f'librcutils.so: {error}') from error
    tried = SerializedBytes(allocator=library.rcutils_get_default_allocator())
    if (library.rcutils_uint8_array_resize(tried, PROBE_BYTES) != 0 or not tried.buffer
            or (tried.length, tried.capacity) != (0, PROBE_BYTES)):
        raise _unavailable('librcutils.so lays messages out in an unknown way')
    library.rcutils_uint8_array_fini(tried)
    return library


def _unavailable(problem: str) -> DataPathError:
    return DataPathError(problem, name='data_path', remedy='rclpy takes messages by itself')


def no_bytes() -> SerializedBytes:
    """Return a message of no bytes, to be given back by :func:`release`."""
    return SerializedBytes(allocator=rcutils().rcutils_get_default_allocator())


def release(message: SerializedBytes) -> None:
    """Free the memory that librcl allocated for a message."""
    rcutils().rcutils_uint8_array_fini(message)

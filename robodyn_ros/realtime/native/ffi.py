# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Functions of librcl and libc for compiled code."""

import ctypes
from typing import Any

import llvmlite.binding
from numba import types
import numpy as np

from ...errors import DataPathError

SYMBOLS = {
    'librcl.so': ('rcl_take_serialized_message', 'rcl_publish_serialized_message',
                  'rcl_publisher_get_subscription_count',
                  'rcl_subscription_set_on_new_message_callback'),
    'librcutils.so': ('rcutils_reset_error', 'rcutils_get_default_allocator'),
    None: ('clock_gettime', 'clock_nanosleep', 'sem_clockwait', 'sem_post',
           'sem_trywait'),
}
OK = 0                                          # rcl/types.h
REALTIME, MONOTONIC, ABSOLUTE, EINTR = map(np.int32, (0, 1, 1, 4))      # linux/time.h, errno.h
NS_PER_S = 1_000_000_000

word, i32 = types.int64, types.int32


def _external(name: str, *kinds: Any, result: Any = i32) -> Any:
    """Return a C function as compiled code calls it; the linker finds it by its name."""
    return types.ExternalFunction(name, result(*kinds))


rcl_take = _external('rcl_take_serialized_message', word, word, word, word)
rcl_publish = _external('rcl_publish_serialized_message', word, word, word)
rcl_count = _external('rcl_publisher_get_subscription_count', word, word)
rcl_forget_error = _external('rcutils_reset_error', result=types.void)
clock_gettime = _external('clock_gettime', i32, word)
clock_nanosleep = _external('clock_nanosleep', i32, i32, word, word)
sem_clockwait = _external('sem_clockwait', word, i32, word)
sem_trywait = _external('sem_trywait', word)
sem_post = _external('sem_post', word)


def check_symbols() -> None:
    """
    Load the libraries whose functions the loop calls.

    Without a function the linker would end the process.

    :raises DataPathError: a library or a function is missing.
    """
    for library, names in SYMBOLS.items():
        try:
            loaded = ctypes.CDLL(library)
        except OSError as error:
            raise unavailable(f'{library} cannot be loaded ({error})') from error
        for name in names:
            if not hasattr(loaded, name):
                raise unavailable(f'{library or "libc"} has no {name}')
        if library:
            llvmlite.binding.load_library_permanently(library)


def unavailable(problem: str) -> DataPathError:
    """Return the error that the native data path cannot be used."""
    return DataPathError(problem, name='data_path', remedy='the python data path does the same')

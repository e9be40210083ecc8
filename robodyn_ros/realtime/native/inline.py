# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The compiled loop of the trigger ``inline``: two threads run one controller by turns.

One is the loop's own, in :func:`inline`; the other is the middleware's, which calls
:func:`answer_inline` with each message that it has received. The semaphore ``turn`` is posted
while neither of them is at work.
"""

from typing import Any

from numba import carray
from numpy import ndarray

from .ffi import sem_post, sem_trywait, sem_wait, store_tuple
from .io import HANDLES, LoopIO
from ..loop import answer, overdue_at
from ..loop_io import CALLED, wait_until
from ...dynamics.numba_types import pointer


def inline(io: LoopIO, inputs: Any, tau: ndarray) -> int:
    """
    Wait for what no message starts; return CALLED or the operation that failed.

    The arguments are stored where the callback of the middleware finds them.
    """
    store_tuple(io.handles[0].frame, (io, inputs, tau))
    w, h = io.loop_state[0], io.handles[0]
    while True:
        sem_post(h.turn)
        if w.waited == 0:
            wait_until(io, overdue_at(io, inputs))
        while sem_wait(h.turn) != 0:    # a signal
            pass
        w.waited = w.called
        if w.failed != 0:
            return w.failed
        if w.called == 1:
            return CALLED
        answer(io, inputs, tau, False)


def handles_at(address: int) -> Any:
    """Return the record at an address, the only memory valid without the turn."""
    return carray(pointer(address), (1,), HANDLES)[0]     # type: ignore[call-arg]


def take_turn(h: Any) -> bool:
    """Take the turn without waiting, or leave the message to the thread of the loop."""
    if sem_trywait(h.turn) == 0:
        return True
    sem_post(h.semaphore)
    return False


def answer_inline(io: LoopIO, inputs: Any, tau: ndarray) -> None:
    """Answer a message in the thread that has brought it, which has the turn; pass the turn on."""
    w, h = io.loop_state[0], io.handles[0]
    if w.called == 0 and w.failed == 0:
        answer(io, inputs, tau, True)
    if w.called == 1 or w.failed != 0:
        sem_post(h.semaphore)
    sem_post(h.turn)

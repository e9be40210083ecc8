# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
One end of a cable between two network namespaces, with faults that need no kernel module.

``python cable.py NAME FD FILE`` makes the TAP interface NAME of its namespace and passes frames to
and from the socket FD, whose other end does the same. What it sends suffers what FILE says, e.g.
``{"delay": 0.02, "jitter": 0.01, "loss": 0.2, "duplicate": 0.05}``: a jitter reorders frames.
"""

from contextlib import suppress
import fcntl
import heapq
from itertools import count
import json
import os
from pathlib import Path
import random
import select
import socket
import struct
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000     # linux/if_tun.h
LOOK = 0.02             # s between two looks at the file
FRAME = 65536


def tap(name):
    """Return a new TAP interface of this namespace."""
    descriptor = os.open('/dev/net/tun', os.O_RDWR)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack('16sH22x', name.encode(), IFF_TAP | IFF_NO_PI))
    return descriptor


def run(name, other, file):
    """Pass frames on until the other end is gone."""
    interface, waiting, number, faults, chance = tap(name), [], count(), {}, random.Random(1)
    print('up', flush=True)
    looked = 0.0
    while True:
        now = time.monotonic()
        if now - looked > LOOK:
            looked = now
            with suppress(OSError, ValueError):
                faults = json.loads(file.read_text())
        pause = min(LOOK, waiting[0][0] - now) if waiting else LOOK
        ready, _, _ = select.select([interface, other], [], [], max(0.0, pause))
        if interface in ready:
            frame = os.read(interface, FRAME)
            for _ in range(1 + (chance.random() < faults.get('duplicate', 0.0))):
                if chance.random() >= faults.get('loss', 0.0):
                    due = (time.monotonic() + faults.get('delay', 0.0)
                           + chance.uniform(-1.0, 1.0) * faults.get('jitter', 0.0))
                    heapq.heappush(waiting, (due, next(number), frame))
        if other in ready:
            if not (frame := other.recv(FRAME)):
                return
            with suppress(OSError):
                os.write(interface, frame)
        while waiting and waiting[0][0] <= time.monotonic():
            with suppress(BlockingIOError):
                other.send(heapq.heappop(waiting)[2])


if __name__ == '__main__':
    run(sys.argv[1], socket.socket(fileno=int(sys.argv[2])), Path(sys.argv[3]))

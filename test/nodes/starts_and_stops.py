# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Ten starts and stops in a row of each way through the loop, in a process of its own.

Prints the files of shared memory that are the process's own (its ports are shared), and how many
threads came to stay.
"""

import os
from pathlib import Path
import re
import time

from nodes.closed_loop import Rig, WAYS
import rclpy
from rclpy.context import Context

TIMES, DEADLINE = 10, 60.0        # s, for threads to end


def threads():
    return len(os.listdir('/proc/self/task'))


def start_and_stop(rig):
    """Until it has run; the arm is asked to rise, and the stop comes in the middle of it."""
    cycles = rig.controller.memory['cycles']
    rig.loop.start()
    rig.controller.arm()
    rig.until(lambda: cycles[0] > 2)
    rig.loop.stop()


def main():
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node('starts_and_stops', context=context)
    for path, trigger in WAYS:
        rig = Rig(node, trigger, path, where=f'{path}_{trigger}/')
        start_and_stop(rig)
        before = threads()
        for _ in range(TIMES):
            start_and_stop(rig)
        end = time.monotonic() + DEADLINE
        while threads() > before and time.monotonic() < end:
            time.sleep(0.01)
        print(f'{path} {trigger}: {max(0, threads() - before)} threads more', flush=True)
    maps = Path('/proc/self/maps').read_text()
    files = set(re.findall(r'/dev/shm/fast(?:dds|rtps)_[0-9a-f]{16}', maps))    # Fast DDS 3, 2
    print('\n'.join(sorted(files)), flush=True)
    node.destroy_node()
    context.shutdown()


if __name__ == '__main__':
    main()

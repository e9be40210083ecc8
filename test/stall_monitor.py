# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Whether the machine stalled during a test.

Nodes run in real time: where a virtual machine is stopped for a while, or other work takes the
CPUs, periods are missed and states are late, and a test of them proves nothing. A process beside
the tests, which only sleeps, tells when that was. Run as a program, this file is that process.
"""

from pathlib import Path
import subprocess
import sys
import tempfile
import time

PERIOD = 0.005          # s
STALL = 0.03            # s that a sleep ends too late; state_timeout is 0.05 s


def watch(path):
    """Sleep, and write down when (time.monotonic()) and by how much it was too long."""
    with open(path, 'w', buffering=1) as out:
        before = time.monotonic()
        while True:
            time.sleep(PERIOD)
            now = time.monotonic()
            if now - before - PERIOD > STALL:
                out.write(f'{now} {now - before - PERIOD}\n')
            before = now


class Watch:
    """The process that sleeps, until it is closed."""

    def __init__(self) -> None:
        from processes import die_with_parent  # not there for the program, which runs isolated

        self._stalls = tempfile.NamedTemporaryFile('r')
        self.process = subprocess.Popen([sys.executable, '-I', __file__, self._stalls.name],
                                        start_new_session=True, preexec_fn=die_with_parent)

    def longest(self, since: float) -> float:
        """Return the longest stall [s] after ``since`` (time.monotonic()), 0 if there is none."""
        lines = Path(self._stalls.name).read_text().splitlines()
        stalls = [tuple(map(float, line.split())) for line in lines if line.count(' ') == 1]
        return max((late for when, late in stalls if when >= since), default=0.0)

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self._stalls.close()


if __name__ == '__main__':
    watch(sys.argv[1])

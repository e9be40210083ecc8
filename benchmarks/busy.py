# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A process that computes for a SHARE of each of RATE periods a second, and sleeps in between."""

import sys
import time


def main() -> None:
    """Run until a signal ends it."""
    share, rate = map(float, sys.argv[1:])
    due = time.monotonic()
    while True:
        end = time.process_time() + share / rate
        while time.process_time() < end:
            pass
        due = max(due + 1.0 / rate, time.monotonic())
        time.sleep(due - time.monotonic())


if __name__ == '__main__':
    main()

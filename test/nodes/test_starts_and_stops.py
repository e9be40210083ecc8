# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Resources of a loop that has been started and stopped thirty times."""

from pathlib import Path
import re
import sys

from nodes.closed_loop import WAYS

ROOM = Path(__file__).parents[1]


def test_nothing_is_left_of_thirty_starts(start):
    """No thread, no file in /dev/shm, no crash."""
    process = start([sys.executable, '-m', 'nodes.starts_and_stops'], cwd=ROOM)
    assert process.wait(300.0) == 0, process.text
    assert re.findall(r'^(\w+) (\w+): 0 threads more$', process.text, re.MULTILINE) == WAYS
    files = re.findall(r'^/dev/shm/\S+$', process.text, re.MULTILINE)
    assert files and not [name for name in files if Path(name).exists()]

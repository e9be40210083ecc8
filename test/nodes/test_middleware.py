# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Advice on shared-memory ports that a process killed while it made them has left."""

import os
import subprocess
import sys
import time

import pytest
from robodyn_ros.nodes.middleware.middleware import unfinished_ports


@pytest.mark.parametrize('content', [b'', bytes(400), b'\1\0\0\0' + bytes(396)],
                         ids=['empty', 'uninitialized', 'initializing'])
def test_unfinished_ports_are_found_and_left_alone(tmp_path, content):
    """Whatever a killed process had written; not ports that work or are new, nor other files."""
    contents = {'fastdds_port7411': content, 'fastrtps_port7413': content,
                'fastdds_port7412': b'\2\0\0\0' + bytes(396), 'fastdds_port7411_el': b'',
                'sem.fastdds_port7411_mutex': bytes(32), 'fastdds_00ff00ff00ff00ff': b''}
    for name, text in contents.items():
        (tmp_path / name).write_bytes(text)
        os.utime(tmp_path / name, (0.0, time.time() - 10.0))
    (tmp_path / 'fastdds_port7415').write_bytes(content)
    unfinished = [tmp_path / 'fastdds_port7411', tmp_path / 'fastrtps_port7413']
    assert unfinished_ports(tmp_path) == unfinished
    assert {name: (tmp_path / name).read_bytes() for name in contents} == contents


# A shared memory of its own, with an unfinished port of a participant that does not exist
OWN_MEMORY = """
mount -t tmpfs tmpfs /dev/shm && touch -d '10 seconds ago' /dev/shm/fastdds_port7599 &&
"$@" && ls /dev/shm
"""
CONTEXT = 'from robodyn_ros.nodes import middleware; middleware.start()'


def test_a_process_says_what_to_do():
    """And removes nothing, since it cannot know whose the port is."""
    namespace = ['unshare', '--map-root-user', '--mount', 'sh', '-c', OWN_MEMORY, 'sh']
    if subprocess.run([*namespace, 'true'], capture_output=True).returncode:
        pytest.skip('no shared memory of its own can be mounted (unshare --map-root-user --mount)')
    result = subprocess.run([*namespace, sys.executable, '-c', CONTEXT], text=True, check=True,
                            capture_output=True)
    assert '/dev/shm/fastdds_port7599 is unfinished' in result.stderr
    assert '`fastdds shm clean`' in result.stderr and 'fastdds_port7599' in result.stdout

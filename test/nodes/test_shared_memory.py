# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Shared-memory ports that a process killed while it opened them has left."""

import os
from threading import Timer
import time

from processes import node
import pytest
from robodyn_ros.nodes.shared_memory import FOLDER, remove_unfinished_ports

# Names of Fast DDS: RTPS 2.5, 9.6.1.1, for the first participants of a domain
FIRST, GAIN = 7411, 250


@pytest.mark.parametrize('content', [b'', bytes(400), b'\1' + bytes(400)],
                         ids=['empty', 'uninitialised', 'initialising'])
def test_unfinished_ports_go_and_others_stay(tmp_path, content, capsys):
    """Whatever a killed process had written; not ports that work, nor other files."""
    unfinished, new = tmp_path / 'fastdds_port7411', tmp_path / 'fastrtps_port7413'
    for path in (unfinished, new):
        path.write_bytes(content)
    os.utime(unfinished, (0.0, time.time() - 10.0))
    others = {'fastdds_port7412': b'\2' + bytes(400), 'fastdds_port7411_el': b'',
              'sem.fastdds_port7411_mutex': bytes(32), 'fastdds_00ff00ff00ff00ff': b''}
    for name, text in others.items():
        (tmp_path / name).write_bytes(text)
    assert remove_unfinished_ports(tmp_path) == [unfinished, new]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == others
    assert str(unfinished) in capsys.readouterr().err
    assert remove_unfinished_ports(tmp_path) == []


def test_a_port_that_is_being_initialised_stays(tmp_path):
    """It is waited for."""
    port = tmp_path / 'fastdds_port7411'
    port.write_bytes(b'')
    os.utime(port, (0.0, time.time() + 0.5))
    timer = Timer(0.2, port.write_bytes, [b'\2' + bytes(400)])
    timer.start()
    assert remove_unfinished_ports(tmp_path) == []
    timer.join()
    assert port.exists()


def test_a_node_starts_in_spite_of_them(start):
    """Without the removal it would hang; a node of another test may be the one that removes."""
    domain = int(os.environ['ROS_DOMAIN_ID'])
    ports = [FOLDER / f'fastdds_port{FIRST + GAIN * domain + 2 * k}' for k in range(10)]
    made = [port for port in ports if not port.exists()]
    for port in made:
        port.touch()
    simulator = start(node('simulator'), '--ros-args', '-p', 'urdf:=two_link')
    simulator.wait_for_line('simulator ready', 30.0)
    assert made and not [port for port in made if port.exists() and not port.stat().st_size]

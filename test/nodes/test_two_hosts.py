# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot's host and an operator's in network namespaces; a link that turns bad, and drops."""

import subprocess
import sys

from nodes import two_hosts
import pytest

NAMESPACE = ['unshare', '--map-root-user', '--net']
TAP = [*NAMESPACE, 'ip', 'tuntap', 'add', 'dev', 'trial', 'mode', 'tap']
SEEN = ['discovered', 'running, with the heartbeat of the operator', 'the reference crosses',
        'the telemetry crosses', 'the reference crosses a bad link',
        'the telemetry crosses a bad link', 'a dropped link stops the arm', 'the link is back',
        'the reset crosses']


def test_references_telemetry_and_stops_cross_the_network(start, tmp_path):
    """
    With 20 ms, 20 % lost, 5 % twice and out of order nothing but time is lost; no link is a stop.

    Takes 15 s: two nodes and an operator in network namespaces, and the timeouts of the link.
    """
    if subprocess.run(TAP, capture_output=True).returncode:
        pytest.skip('no network namespace with a TAP interface can be made here '
                    f'({" ".join(TAP)})')
    process = start([*NAMESPACE, sys.executable, two_hosts.__file__, str(tmp_path / 'nodes.txt')])
    assert process.wait() == 0, process.text
    assert [line for line in process.text.splitlines() if line in SEEN] == SEEN

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn demo --arm`: what a person does with an arm on a bus, on simulated time."""

from cli.commands import done, refused
import pytest
from robodyn_ros.testing import mit_motors

pytestmark = pytest.mark.slow
STEPS = ('motors on the bus', 'differ from registers', 'off g(q) by', 'drift', 'pushed', 'follows',
         'is lowered', 'on at the end')


def test_all_steps_pass(tmp_path, monkeypatch):
    pytest.importorskip('matplotlib')
    monkeypatch.setattr(mit_motors, 'STEP', 1e-3)       # as exact as its springs need
    shown = done('demo', '--arm', 'yam', '-o', tmp_path).output
    assert shown.count('passed') == len(STEPS) and 'FAILED' not in shown
    assert all(step in shown for step in STEPS)
    assert (tmp_path / 'yam_bus.png').stat().st_size > 10_000
    assert 'YAM on a bus' in (tmp_path / 'yam_bus.html').read_text()


def test_an_arm_of_other_joints(tmp_path):
    pytest.importorskip('matplotlib')
    assert 'openarm_right_joint1' in refused('demo', '--arm', 'openarm_right', '-o', tmp_path)

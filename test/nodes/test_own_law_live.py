# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A law of one's own in the node: on each data path, its gains as parameters, and refusals."""

import os

from nodes.bring_up import bring_up, CONTROLLER, parameters
import numpy as np
import own_laws
from processes import node
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.realtime.loop_settings import EXECUTOR, NATIVE
from trajectories import trajectory_bytes


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Let nodes find the laws of the tests."""
    path = os.path.dirname(own_laws.__file__)
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        [path, *filter(None, [os.environ.get('PYTHONPATH')])]))


def test_refused_when_configured(start, remote):
    process = start(node('controller'), *CONTROLLER, *parameters(urdf='two_link'))
    for given, why in (
            ({'mode': 'own_laws:ALLOCATING'}, 'it allocates memory'),
            ({'mode': 'own_laws:ENDLESS'}, 'it has not returned'),
            ({'mode': 'own_laws:SPRING'}, 'needs gains, and spring is not set'),
            ({'mode': 'gravity_compensation', 'poses': ['low=1.0']}, 'pose low has 1 elements'),
            ({'poses': ['low=1.0,0.0'], 'external_wrench_frame': 'gripper'},
             'two_link has no frame gripper: .*tool0')):
        assert remote.set('controller', **given) == '', why
        assert not remote.change('configure') and remote.state() == 'unconfigured', why
        remote.until_line(process, why)
    assert process.interrupt() == 0


def test_it_drives_the_arm(pair, remote):
    """On two data paths, with gains that are given at the start, or set."""
    _, process = pair({'joint_damping': 1.0, 'real_time_factor': 2.0}, {
        'mode': 'own_laws:SPRING', 'spring': [100.0, 50.0], 'damper': [20.0, 5.0]})
    publisher = remote.trajectories()
    for path in (NATIVE, EXECUTOR):
        assert remote.set('controller', data_path=path, spring=[100.0, 50.0]) == ''
        process.forget()
        drives(remote, process, path, publisher)
        assert remote.change('deactivate') and remote.change('cleanup')
        assert remote.trigger('simulator/reset')[0]     # or it would wait for commands
    assert process.interrupt() == 0


def drives(remote, process, path, publisher):
    """Follow a trajectory; change gains, which are checked like any other parameters."""
    bring_up(remote)
    assert f'own_laws:SPRING, 250 Hz, trigger state, data path {path}' in process.text
    publisher.publish(trajectory_bytes(['joint1', 'joint2'], [1.0], [[0.6, 0.2]]))
    process.wait_for_line('following a trajectory')
    remote.until(lambda: abs(remote.position() - [0.6, 0.2]).max() < 0.01, 'the goal')
    assert remote.set('controller', spring=[120.0, 60.0]) == ''
    assert 'damper = [-1.0] is refused' in remote.set('controller', damper=[-1.0])
    assert 'damper 500 (joint1) would be unstable' in remote.set('controller', damper=[500.0, 5.0])
    for unknown in 'own_laws:FLOAT', 'not_imported:LAW':
        assert 'was not loaded' in remote.set('controller', mode=unknown)
    assert remote.set('controller', mode='gravity_compensation') == ''
    assert remote.set('controller', mode='own_laws:SPRING') == ''
    remote.diagnostics = {}
    remote.until(lambda: remote.diagnostics.get('mode') == 'own_laws:SPRING', 'diagnostics')
    assert remote.diagnostics['phase'] == 'RUNNING'
    dynamics = Dynamics(load_urdf('two_link'))
    remote.forget()
    remote.until(lambda: remote.state_count > 100 and remote.command_count, 'states')
    assert np.array(remote.newest_command()) == pytest.approx(
        dynamics.gravity(remote.position()), abs=2.0)

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated arm, driven by `robodyn status`, `goto`, `stop`, `reset`, `get` and `set` alone."""

import json
from pathlib import Path
import sys

import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.cli.controller import _pose, get, goto, reset, set_, status, stop
from robodyn_ros.errors import (
    ArgumentError, ParameterError, RosError, TrajectoryError, UnknownNameError, UrdfError)
from robodyn_ros.nodes.controller import robot

COMMAND = [sys.executable, '-m', 'robodyn_ros.cli']


SIMULATED = {}
CONTROLLED = {'mode': 'joint_impedance', 'poses': ['low=-0.4,0.2'], 'urdf': 'two_link',
              'fault_action': 'hold'}       # it has no brakes


@pytest.fixture(scope='module')
def arm(shared):
    """Return the controller of an armed arm, which each test leaves armed."""
    reset()
    return shared.controller


def shown(capsys, *names):
    """Return the values of parameters, or of the diagnostics, as JSON has them."""
    capsys.readouterr()
    get(list(names), as_json=True) if names else status(as_json=True)
    return json.loads(capsys.readouterr().out)


def test_an_arm_is_started_moved_stopped_and_started_again(arm, start, remote, capsys):
    """Ctrl-C in a motion stops the arm on the way."""
    stop()
    with pytest.raises(RosError, match='not running: not active'):
        goto('low')
    with pytest.raises(RosError, match='does not deactivate'):
        stop()
    assert remote.trigger('simulator/reset')[0]     # or it would wait for commands
    capsys.readouterr()
    reset()
    assert 'activated' in capsys.readouterr().out
    found = shown(capsys)
    assert found['values']['phase'] == 'RUNNING'
    publishers, subscribers = found['topics']['/joint_states']
    assert publishers == ['/simulator'] and '/controller' in subscribers
    assert found['topics']['/commands'][0] == ['/controller']
    goto('low', duration=1.5, sim_time=True)
    motions = arm.text.count('following a trajectory of')
    remote.until(lambda: np.abs(remote.position() - [-0.4, 0.2]).max() < 5e-3, 'the pose')
    slow = start([*COMMAND, 'goto'], '--sim-time', '--duration', 40, '--', '0.6,0.2')
    remote.until(lambda: arm.text.count('following a trajectory of') > motions, 'the second one')
    remote.until(lambda: remote.position()[0] > -0.39, 'the motion')
    assert slow.interrupt() == 130
    remote.pass_time(1.0)
    rests = remote.position()
    remote.pass_time(0.5)
    assert np.abs(remote.position() - rests).max() < 1e-3 and -0.39 < rests[0] < 0.5


def test_a_fault_of_a_motion_ends_the_command_and_is_reset(arm, capsys):
    """The error has the reason; the controller is armed again on request."""
    set_(['following_error=1e-6'])
    with pytest.raises(RosError, match='does not follow its reference'):
        goto('0.1,0.6', duration=1.0, sim_time=True)
    set_(['following_error=0.5'])
    capsys.readouterr()
    reset()
    assert 'armed' in capsys.readouterr().out
    assert shown(capsys)['values']['phase'] == 'RUNNING'


def test_parameters_are_shown_and_set_and_refused(arm, capsys):
    """All or none, by the name, the unit and the reason of the controller."""
    set_(['stiffness=300,90', 'damping=35,7'])
    assert 'accepted: stiffness = 300, 90' in capsys.readouterr().out
    assert shown(capsys, 'stiffness', 'mode') == {'stiffness': [300.0, 90.0],
                                                  'mode': 'joint_impedance'}
    with pytest.raises(ParameterError, match='pose far of joint joint1 is 9'):
        set_(['poses=["far=9.0,0.0"]'])
    set_(['poses=["near=0.2,0.0","low=-0.4,0.2"]'])
    assert shown(capsys, 'poses') == {'poses': ['near=0.2,0.0', 'low=-0.4,0.2']}
    set_(['collision_threshold=[]'])
    assert shown(capsys, 'collision_threshold') == {'collision_threshold': []}
    with pytest.raises(UnknownNameError, match="did you mean 'stiffness'"):
        get(['stifness'])
    with pytest.raises(ParameterError, match='use at most'):
        set_(['damping=1e4', 'stiffness=1'])
    assert shown(capsys, 'stiffness') == {'stiffness': [300.0, 90.0]}
    get()
    text = capsys.readouterr().out
    assert 'poses' in text and 'N·m/rad' in text and 'lock_memory' not in text
    for words, error, said in ((['stifness=1'], UnknownNameError, "did you mean 'stiffness'"),
                               (['stiffness'], ArgumentError, 'write stiffness=VALUE'),
                               (['poses=[near=0,1]'], ParameterError, 'a list of texts'),
                               (['rate=500'], ParameterError, 'rate')):
        with pytest.raises(error, match=said):
            set_(words)


def test_a_pose_that_is_not_one_is_refused(arm):
    """Of another number of joints, of no name, or outside the limits: nothing moves."""
    for pose, error, said in (('1', ArgumentError, 'joint1, joint2'),
                              ('lwo', UnknownNameError, "did you mean 'low'"),
                              ('0.1,x', ArgumentError, 'numbers with commas'),
                              ('9.0,0.0', TrajectoryError, 'joint1')):
        with pytest.raises(error, match=said):
            goto(pose, sim_time=True)


def test_a_robot_that_is_not_known_here_is_told_to_be_that_of_the_controller(arm, monkeypatch):
    """On another computer, or in a terminal without its workspace."""
    monkeypatch.setattr(robot, 'robot_path', lambda name: Path('elsewhere/arm.urdf'))
    with pytest.raises(UrdfError, match="urdf of /controller, .* 'elsewhere/arm.urdf' cannot be"):
        goto('low', sim_time=True)


def test_a_controller_without_named_poses():
    with pytest.raises(ArgumentError, match='`poses` is empty: write numbers with commas'):
        _pose('home', [], load_urdf('two_link'))


def test_nobody_there_is_said():
    """A controller that does not run, or in another domain."""
    with pytest.raises(RosError, match='does not answer'):
        stop(node='nobody', wait=0.3)
    with pytest.raises(RosError, match='no diagnostics of nobody'):
        status(node='nobody', wait=0.3)
    with pytest.raises(RosError, match='does not answer'):
        set_(['mode=pd'], node='nobody', wait=0.3)

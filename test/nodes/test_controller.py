# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller node against the simulator node: real processes, real topics."""

from copy import deepcopy

from builtin_interfaces.msg import Duration
from nodes.bring_up import bring_up, POSE
import numpy as np
import pytest
from robodyn_ros.realtime.loop_settings import NATIVE, PYTHON
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


def goal(*positions, seconds=1.0, names=('joint1', 'joint2')):
    """Return a trajectory to one pose."""
    whole = int(seconds)
    return JointTrajectory(joint_names=list(names), points=[JointTrajectoryPoint(
        positions=list(positions),
        time_from_start=Duration(sec=whole, nanosec=round(1e9 * (seconds - whole))))])


@pytest.mark.fresh          # the nodes as users start them
def test_holds_an_arm_up_and_ends_with_zero(pair, remote, gravity):
    """At a fixed rate: nothing before activation, g(q) after it, zero as the last message."""
    sim, controller = pair(*2 * [{'rate': 1000.0}], real_time=True)
    assert remote.change('configure')
    remote.listen(0.5)
    assert remote.commands == [] and remote.state() == 'inactive'
    assert remote.change('activate')
    remote.until(lambda: remote.command_count > 1500, 'commands')
    assert abs(np.array(remote.commands) - gravity).max() < 0.02
    assert abs(remote.positions() - POSE).max() < 1e-3
    remote.until(lambda: remote.diagnostics.get('phase') == 'RUNNING', 'diagnostics')
    assert remote.diagnostics['refused samples'] == '0'
    assert remote.diagnostics['data path'] == 'native'
    assert remote.change('deactivate') and remote.state() == 'inactive'
    remote.until(lambda: remote.newest_command() == [0.0, 0.0], 'the last message')
    sim.wait_for_line('brakes engaged: no command')
    assert controller.interrupt() == 0 and sim.interrupt() == 0


def lockstep(pair, remote, publisher, path):
    """Efforts of a motion in lockstep; None where we did not hear all of it."""
    sim, controller = pair(controller={'mode': 'computed_torque', 'data_path': path})
    bring_up(remote)
    remote.until(publisher.get_subscription_count, 'the controller')
    remote.forget()
    remote.until(remote.newest_state, 'states')
    motion = goal(0.6, 0.2)
    motion.header.stamp = deepcopy(remote.newest_state().header.stamp)
    motion.header.stamp.sec += 2        # accepted before it starts, whatever happens
    publisher.publish(motion)
    controller.wait_for_line('following')
    remote.until(lambda: abs(np.array(remote.newest_state().position) - [0.6, 0.2]).max() < 1e-4,
                 'the goal')
    complete = remote.complete()
    assert controller.interrupt() == 0 and sim.interrupt() == 0
    assert 'commands for one state' not in sim.text and 'lockstep ends' not in sim.text
    answered = np.array(remote.commands)
    started = int(np.argmax(abs(answered - answered[0]).max(axis=1) > 1e-3))
    stamps = [m.header.stamp.sec * 1e9 + m.header.stamp.nanosec for m in remote.states]
    if not complete:
        return None
    assert set(np.diff(stamps[:started + 225])) == {4e6}
    return answered[started:started + 225]


def test_lockstep_is_exact(pair, remote):
    """Each state gets one command; a motion gives the same efforts on every data path."""
    publisher = remote.node.create_publisher(JointTrajectory, '/controller/joint_trajectory', 1)
    runs = []
    for path in (NATIVE, PYTHON):
        for _ in range(4):
            run = lockstep(pair, remote, publisher, path)
            if run is not None:
                runs.append(run)
                break
    assert len(runs) == 2, 'this machine is too slow to hear what the two say'
    assert runs[0] == pytest.approx(runs[1], abs=1e-9)

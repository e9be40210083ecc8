# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The control thread, on real topics: what wakes it, what ends it, what it leaves behind."""

import time

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.control import guard
from robodyn_ros.control.controller import Controller
from robodyn_ros.control.settings import Settings
from robodyn_ros.model.library import robot_path
from robodyn_ros.nodes.control_loop import ControlLoop
from robodyn_ros.nodes.serialized import SerializedSubscription
from robodyn_ros.wire.effort import EffortDecoder
from robodyn_ros.wire.joint_state import JointStateDecoder, JointStateEncoder

POSE = np.array([0.3, 0.5])
DEADLINE = 60.0             # s; reached only by a test that fails


class Rig:
    """A loop whose states the test publishes, and whose efforts it keeps."""

    def __init__(self, node, trigger):
        self.model = load_urdf(robot_path('two_link'))
        decoder = JointStateDecoder(self.model.joint_names)
        self.controller = Controller(self.model, Settings(state_timeout=0.5, missed_limit=5000),
                                     decoder.state)
        self.gravity = Dynamics(self.model).gravity(POSE)
        self.publisher = node.create_publisher(JointState, 'joint_states', 10)
        self.published: list[list[float]] = []
        self.broken = False
        states = SerializedSubscription(node, JointState, 'joint_states', 10)
        self.loop = ControlLoop(self.controller, decoder, states, self._keep, lambda: 1,
                                trigger=trigger, ros_time=None)

    def _keep(self, message):
        if self.broken:
            self.broken = False
            raise OSError('the middleware is out of order')
        tau = np.zeros(2)
        EffortDecoder(2).decode(message, tau)
        self.published.append(tau.tolist())

    def until(self, condition, names=('joint1', 'joint2')):
        """Publish states of these joints until the condition holds."""
        state = JointStateEncoder(names).encode(0, POSE, [0.0, 0.0], self.gravity)
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end
            self.publisher.publish(state)
            time.sleep(0.002)

    def run(self):
        """Start the loop and drive the arm."""
        self.loop.start()
        self.controller.arm()
        self.until(lambda: self.controller.phase == guard.RUNNING and len(self.published) > 5)


@pytest.mark.parametrize('trigger', ['timer', 'state'])
def test_states_of_other_joints_do_not_hide_silence(node, trigger):
    """However fast a gripper publishes, an arm that has fallen silent is stale."""
    rig = Rig(node, trigger)
    rig.run()
    rig.until(lambda: rig.controller.phase == guard.FAULT, names=('finger1', 'finger2'))
    assert rig.controller.reason == 'state is stale (joint1)'
    rig.loop.stop()


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
@pytest.mark.parametrize('trigger', ['timer', 'state'])
def test_an_exception_is_not_the_last_word(node, trigger):
    """A thread that fails leaves zero behind, not its last effort, and is known to have failed."""
    rig = Rig(node, trigger)
    rig.run()
    assert rig.loop.running
    rig.broken = True
    rig.until(lambda: not rig.loop.running)
    assert rig.published[-1] == [0.0, 0.0] and not rig.controller.driving
    rig.loop.stop()


def test_each_start_begins_anew(node):
    """What a run left behind, however it ended, drives nothing in the next one."""
    rig = Rig(node, 'timer')
    rig.run()
    rig.loop.stop()                 # without a stopping phase, as when it did not come to its end
    assert rig.published[-1] == [0.0, 0.0]
    heard, rig.published = len(rig.published), []
    rig.loop.start()
    rig.until(lambda: rig.controller.memory['cycles'][0] > 200)
    assert heard and rig.published == [] and rig.controller.phase == guard.INACTIVE
    rig.run()
    rig.loop.stop()

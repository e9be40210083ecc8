# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A control loop on real topics, of which a test is the arm."""

import time

import numpy as np
from processes import until
import pytest
from rclpy.qos import QoSProfile
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.model.resources import robot_path
from robodyn_ros.nodes.controller import transport
from robodyn_ros.nodes.controller.control_loop import ControlLoop
from robodyn_ros.nodes.middleware.raw_subscription import SerializedSubscription, SimulationClock
from robodyn_ros.realtime.loop_settings import FALLBACK_ORDER, LoopSettings, TRIGGERS
from robodyn_ros.realtime.statistics import Tally
from robodyn_ros.wire.codecs import EffortDecoder, JointStateDecoder, JointStateEncoder
from robodyn_ros.wire.decoders import ACCEPTED
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

POSE = np.array([0.3, 0.5])
TIMEOUT = 1.0       # s, state_timeout, the most: a busy machine must not look like a dead robot

each_trigger = pytest.mark.parametrize('trigger', TRIGGERS)
WAYS = [(path, trigger) for path in FALLBACK_ORDER for trigger in TRIGGERS]
each_way = pytest.mark.parametrize(('path', 'trigger'), WAYS)


class Rig:
    """
    A loop whose states the test publishes, and whose efforts it keeps.

    :param path: data path, which must be available.
    :param lockstep: time is that of the states.
    :param where: beginning of the names of its topics.
    """

    def __init__(self, node, trigger, path='python', lockstep=False, where='', **settings):
        self.model = load_urdf(robot_path('two_link'))
        decoder = JointStateDecoder(self.model.joint_names)
        given = {'state_timeout': TIMEOUT, 'missed_limit': 5000, 'late_limit': 1.0, **settings}
        self.controller = Controller(self.model, Settings(**given), decoder.state)
        self.gravity = Dynamics(self.model).gravity(POSE)
        self.publisher = node.create_publisher(JointState, f'{where}joint_states', 10)
        self._heard = SerializedSubscription(node, Float64MultiArray, f'{where}commands',
                                             QoSProfile(depth=1000))
        self._commands = node.create_publisher(Float64MultiArray, f'{where}commands', 1000)
        EffortDecoder(2).decode(b'', np.zeros(2))   # compiled now: a loop would stall meanwhile
        self._published: list[list[float]] = []
        self._broken = False
        #: How long each publish takes longer, where Python does it [s].
        self.slow = 0.0
        clock = SimulationClock(node) if lockstep else None
        tally = Tally(decoder.state['sequence'])
        loop = LoopSettings(trigger=trigger, data_path=path, rate=self.controller.settings.rate)
        way = transport.open_transport(loop, node, self.controller, decoder, tally,
                                       self._commands, clock, f'{where}joint_states')
        assert way.name == path
        self.native = way.native
        until(lambda: self._commands.get_subscription_count() and way.states.publisher_count())
        self.loop = ControlLoop(
            loop, self.controller, decoder, tally, way, self._publish,
            self._commands.get_subscription_count, clock.now if clock else None)

    def _publish(self, message):
        if self._broken:
            self._broken = False
            raise OSError('the middleware is out of order')
        time.sleep(self.slow)
        self._commands.publish(message)

    def break_it(self):
        """Have the next effort fail to be published."""
        self._broken = self.native is None
        if self.native is not None:
            self.native._memory.io.handles['commands'] = 0         # which librcl refuses

    @property
    def published(self):
        """Efforts heard so far, oldest first."""
        tau = np.zeros(2)
        for message in self._heard.drain():
            assert EffortDecoder(2).decode(message, tau) == ACCEPTED
            self._published.append(tau.tolist())
        return self._published

    def until(self, condition, names=('joint1', 'joint2')):
        """Publish states of these joints until the condition holds."""
        state = JointStateEncoder(names).encode(0, POSE, [0.0, 0.0], self.gravity)
        until(condition, lambda: self.publisher.publish(state) or time.sleep(0.002))

    def run(self):
        """Start the loop and drive the arm."""
        self.loop.start()
        self.controller.arm()
        self.until(lambda: self.controller.phase == guard.RUNNING and len(self.published) > 5)

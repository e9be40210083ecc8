# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
An arm that stands still, in a process of its own: joint states out, efforts in, without the GIL.

`python -m benchmarks.plant [NAMESPACE ROBOT RATE]` is told on its standard input what to publish
(see :class:`Remote`) and publishes at RATE, 1 kHz if not said, meanwhile. One joint of the state
moves by less than a thousandth of a radian, another amount in each of STATES states in a row, so
that the gravity efforts tell which state they were computed from.
"""

from collections.abc import Mapping
from contextlib import ExitStack
import json
from pathlib import Path
from queue import Empty, SimpleQueue
import struct
import subprocess
import sys
import threading
from typing import NamedTuple

import numpy as np
from numpy import ndarray
import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robodyn_ros import Dynamics, load_urdf, RobotModel
from robodyn_ros.model.resources import robot_path
from robodyn_ros.nodes.middleware import qos
from robodyn_ros.nodes.middleware.raw_subscription import LeftAlone, never_called
from robodyn_ros.realtime.periodic_timer import sharpen_timers
from robodyn_ros.realtime.scheduling import middleware_threads, Outcome, scheduled, Scheduling
from robodyn_ros.realtime.system_checks import REALTIME_PRIORITY
from robodyn_ros.wire.codecs import JointStateEncoder
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from .native import Ear, Voice

ROOT = Path(__file__).resolve().parents[1]
NAMESPACE = '/bench'
STATES = 4096       # that can be told apart
RANGE = 1e-3        # rad over all of them
SAME = 1e-9         # N·m: efforts computed from a state
REST, RESTING = 1000.0, 20      # Hz, states: what is published while nothing else is asked for
TAIL = 0.05         # s that states go on after those that count, for late answers
KEPT = 1 << 19      # states, efforts
GRAVITY, POSITIONS = 'gravity', 'positions'     # of a state, as answers to it
# What no burst of efforts overflows before it is taken
HEARD = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)


class Arm(NamedTuple):
    """
    A robot that stands still.

    :param moved: joint whose own gravity effort it changes, such as the shoulder.
    :param locked: positions of joints that are locked [rad | m].
    """

    pose: tuple[float, ...]
    moved: int
    locked: Mapping[str, float] = {}


ROBOT = 'panda'
ARMS = {'two_link': Arm((0.4, 0.9), 0),
        'arm6': Arm((0.0, -0.5, 0.8, 0.0, 0.5, 0.0), 1),
        ROBOT: Arm((0.0, -0.7853981634, 0.0, -2.3561944902, 0.0, 1.5707963268, 0.7853981634), 1,
                   {'panda_finger_joint1': 0.02, 'panda_finger_joint2': 0.02})}


def robot(name: str = ROBOT) -> RobotModel:
    """Return one of ARMS."""
    return load_urdf(robot_path(name), locked=ARMS[name].locked)


def positions(name: str = ROBOT) -> ndarray:
    """Return positions of the states in turn (STATES, nv) [rad]."""
    q = np.tile(ARMS[name].pose, (STATES, 1))
    q[:, ARMS[name].moved] += np.linspace(0.0, RANGE, STATES)
    return q


class Trips(NamedTuple):
    """What became of N states."""

    trips: ndarray      # (N,) s from publishing to the first efforts computed from it; NaN: none
    surplus: int        # efforts that were computed from a state once more
    foreign: int        # efforts that were computed from none of the states


def match(published: ndarray, first: int, count: int, received: ndarray, efforts: ndarray,
          right: ndarray, moved: int = ARMS[ROBOT].moved) -> Trips:
    """
    Find out which efforts answer which state.

    :param published: times (M,) [ns] of the states from ``first`` on, of which ``count`` count.
    :param received, efforts: times (K,) [ns] and (K, nv) [N·m].
    :param right: (STATES, nv) what has to be answered to state k % STATES; ``moved``: the column
        that tells the states apart.
    """
    column = right[:, moved]
    order = np.argsort(column)
    place = np.clip(np.searchsorted(column[order], efforts[:, moved]), 1, STATES - 1)
    below = efforts[:, moved] - column[order[place - 1]] < column[order[place]] - efforts[:, moved]
    code = order[place - below]
    ours = (np.abs(efforts - right[code]) < SAME).all(axis=1)
    latest = first + np.searchsorted(published, received) - 1   # published before it was received
    state = (latest - (latest - code) % STATES) - first
    counted = np.flatnonzero(ours & (state >= 0) & (state < count))
    answered, once = np.unique(state[counted], return_index=True)
    trips = np.full(count, np.nan)
    trips[answered] = (received[counted[once]] - published[answered]) * 1e-9
    return Trips(trips, len(counted) - len(answered), int((~ours).sum()))


class Job(NamedTuple):
    """What is published, once."""

    rate: float             # Hz
    states: int
    answer: str             # what has to come back: GRAVITY or POSITIONS


class Done(NamedTuple):
    """What came of a job."""

    missed: int             # points of the grid at which no state was published: too late
    heard: int              # efforts
    strange: int            # messages that are too short to be efforts
    found: Trips


class Plant:
    """The process itself: one thread publishes, the middleware's takes down what comes."""

    def __init__(self, namespace: str = NAMESPACE, name: str = ROBOT, rest: float = REST):
        rclpy.init(args=[])
        self._rest = rest
        self._node = rclpy.create_node('plant', namespace=namespace,
                                       start_parameter_services=False)   # it never spins
        model, q, self._moved = robot(name), positions(name), ARMS[name].moved
        self._right = {GRAVITY: Dynamics(model).batch.gravity(q), POSITIONS: q}
        message = np.frombuffer(bytearray(JointStateEncoder(model.joint_names).encode(
            0, q[0], np.zeros(model.nv), self._right[GRAVITY][0])), np.uint8)
        at = message.tobytes().index(struct.pack('<d', q[0, self._moved]))
        self._states = self._node.create_publisher(JointState, 'joint_states', qos.STATES_OUT)
        self._efforts = self._node.create_subscription(
            Float64MultiArray, 'commands', never_called, HEARD, raw=True,
            callback_group=LeftAlone())
        self._voice = Voice(self._states.handle, message, message[at:at + 8].view('<f8'),
                            q[:, self._moved].copy(), KEPT)
        self._ear = Ear(self._efforts.handle, model.nv, KEPT)
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._done: SimpleQueue[Done] = SimpleQueue()
        self._over = threading.Event()
        self._scheduling = Outcome()

    def run(self) -> None:
        """Do what each line of the standard input says, until that ends; answer with a line."""
        thread = threading.Thread(target=self._speak, name='plant')
        self._ear.open()
        thread.start()
        try:
            for line in sys.stdin:
                self._jobs.put(Job(*json.loads(line)))
                done = self._done.get()
                print(json.dumps([*done[:3], done.found.trips.tolist(), *done.found[1:],
                                  str(self._scheduling)]), flush=True)
        finally:
            self._over.set()
            thread.join()
            self._ear.close()
            self._node.destroy_node()
            rclpy.shutdown()

    def _speak(self) -> None:
        wanted = Scheduling(priority=REALTIME_PRIORITY)
        with scheduled(wanted) as self._scheduling, ExitStack() as others:
            sharpen_timers()
            for brings in middleware_threads():
                others.enter_context(scheduled(wanted, brings))
            while not self._over.is_set():
                try:
                    job = self._jobs.get_nowait()
                except Empty:
                    self._voice.speak(RESTING, self._rest)
                else:
                    self._publish(job)

    def _publish(self, job: Job) -> None:
        first, before, strange = self._voice.count, self._ear.count, self._ear.strange
        tail = round(TAIL * job.rate)
        missed = self._voice.speak(job.states, job.rate)
        self._voice.speak(tail, job.rate)
        heard = self._ear.heard(before)
        self._done.put(Done(missed, len(heard.times), self._ear.strange - strange, match(
            self._voice.times(first, job.states + tail), first, job.states, heard.times,
            heard.efforts, self._right[job.answer], self._moved)))


class Remote:
    """
    The plant as its parent sees it; end it by leaving the context.

    :param env: environment of the process; ``namespace``, ``name``: of the topics, and of the arm.
    :param rest: rate of the states between two jobs [Hz].
    """

    def __init__(self, env: Mapping[str, str], namespace: str = NAMESPACE, name: str = ROBOT,
                 rest: float = REST):
        self.scheduling = ''
        self.answer = GRAVITY       # what counts as an answer from now on
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'benchmarks.plant', namespace, name, str(rest)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(env), cwd=ROOT)
        self.pid = self._process.pid

    def __enter__(self) -> 'Remote':
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def publish(self, rate: float, seconds: float) -> Done:
        """Publish states for so long; return what came of it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(Job(rate, max(1, round(rate * seconds)), self.answer)),
              file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f'the plant has ended with exit code {self._process.wait()}')
        missed, heard, strange, trips, surplus, foreign, self.scheduling = json.loads(line)
        return Done(missed, heard, strange, Trips(np.array(trips, float), surplus, foreign))


if __name__ == '__main__':
    Plant(*sys.argv[1:3], *map(float, sys.argv[3:])).run()

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All data paths behave the same; an unavailable one falls back to the next."""

import random
import sys
import threading
import time

from forked import FORKED
from nodes.bring_up import CONTROLLER
from nodes.closed_loop import each_trigger, each_way, POSE, Rig
import numpy as np
from processes import until
import pytest
from robodyn_ros.control.cycle import compile_ahead
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.errors import TrajectoryError
from robodyn_ros.nodes.controller import transport
from robodyn_ros.realtime.loop_settings import EXECUTOR, LoopSettings, NATIVE, PYTHON
from robodyn_ros.realtime.native import probe
from robodyn_ros.wire.codecs import JointStateEncoder
from sensor_msgs.msg import JointState

DEADLINE = 60.0             # s; reached only by a test that fails
MODES = {
    'pd': {'stiffness': [40.0], 'damping': [6.0]},
    'joint_impedance': {'stiffness': [30.0], 'damping': [5.0]},
    'computed_torque': {'acceleration_kp': [100.0], 'acceleration_kd': [20.0]},
    'gravity_compensation': {},
}

WITHOUT_FILE = FORKED + """
import sys
sys.modules['robodyn_ros.realtime.native.loop'] = None
from robodyn_ros.nodes.controller import main
sys.exit(main())
"""


def recording(gravity):
    """Messages of an arm that trembles, among them such as no arm sends, and orders of joints."""
    chance, noise = random.Random(7), np.random.default_rng(7)
    stamp = 10**9
    for k in range(700):
        stamp += 10**6
        names = ['joint1', 'joint2'] if k % 3 else ['wheel', 'joint2', 'joint1']
        values = noise.normal(scale=[[1e-3], [1e-2], [1e-2]], size=(3, 2))
        values += [POSE, [0.0, 0.0], gravity]
        numbers = values if k % 3 else np.column_stack([[7.0] * 3, values[:, ::-1]])
        message = bytearray(JointStateEncoder(names, 'base' * (k % 2)).encode(stamp, *numbers))
        if k > 100 and chance.random() < 0.1:
            for _ in range(3):
                message[chance.randrange(len(message))] = chance.choice([0, 1, 127, 128, 255])
            message = message[:chance.randrange(len(message) + 1)]
        yield bytes(message)


def replay(node, path):
    """Play the recording to a loop, one message at a time; its efforts and its counts."""
    rig = Rig(node, 'state', path, lockstep=True, where=f'{path}/', state_timeout=1.0)
    samples, memory = rig.loop.tally.counts['samples'], rig.controller.memory
    rig.loop.start()
    rig.controller.arm()
    end = time.monotonic() + DEADLINE
    for k, message in enumerate(recording(rig.gravity)):
        if k % 150 == 120:
            mode = list(MODES)[k // 150 % len(MODES)]
            rig.controller.use(Settings(mode=mode, state_timeout=1.0, **MODES[mode]))
        if k == 200:
            now = rig.loop.now()
            rig.controller.follow(Waypoints(rig.model.joint_names, np.array([0.1, 0.3]),
                                            np.array([POSE + 0.02, POSE])), now + 1e-3)
        accepted, cycles = samples[0, 0], memory['cycles'][0]
        rig.publisher.publish(message)
        while samples.sum() <= k or memory['cycles'][0] - cycles < samples[0, 0] - accepted:
            assert time.monotonic() < end
            time.sleep(1e-4)
        rig.published               # noqa: B018  taken before there are too many
    phase = rig.controller.phase
    rig.loop.stop()
    until(lambda: rig.published[-1] == [0.0, 0.0])
    return np.array(rig.published), samples.copy(), phase


def test_a_recording_gives_the_same_efforts_on_each_path(node):
    """Every bit of them, through rising, four laws, a trajectory and hostile bytes."""
    efforts, samples, phase = replay(node, PYTHON)
    assert phase == guard.RUNNING and len(efforts) > 600
    assert (samples[0, [0, 1]] > [600, 5]).all()
    for path in (NATIVE, EXECUTOR):
        others, other_samples, other_phase = replay(node, path)
        assert others.tobytes() == efforts.tobytes()
        assert (other_samples == samples).all() and other_phase == phase


@each_trigger
def test_what_changes_while_it_runs_is_seen_whole(node, trigger):
    """Laws, gains, payloads and references, replaced as fast as Python can, with the GIL busy."""
    # This arm stays where it is, whatever drives it
    patience = {'state_timeout': 1.0, 'late_limit': 1.0, 'missed_limit': 1_000_000,
                'consistency_tolerance': [0.0]}
    rig = Rig(node, trigger, 'native', arming_velocity=0.1, **patience)
    rig.run()
    over, used, followed, trouble = threading.Event(), [], [], []

    def follow(points):
        try:
            rig.controller.follow(
                Waypoints(rig.model.joint_names, 0.1 * np.arange(1, points + 1),
                          np.full((points, 2), POSE)), rig.loop.now() + 0.2)
            followed.append(points)
        except TrajectoryError as error:
            if error.name not in ('mode', 'reference'):     # the law is about to come into force
                raise

    def change():
        try:
            while not over.is_set():
                mode = list(MODES)[len(used) % 3]       # those that follow references
                rig.controller.use(Settings(
                    mode=mode, payload_frame='link2', payload_mass=0.1 * (len(used) % 4),
                    **patience, **MODES[mode]))
                used.append(mode)
                time.sleep(0.001 * (len(used) % 3))     # or no cycle would see it before the next
                if rig.controller.memory['mode'][0] != 0:
                    follow(2 + len(used) % 7)
        except Exception as error:
            trouble.append(error)

    def hog():
        while not over.is_set():
            sum(range(2000))
    threads = [threading.Thread(target=f) for f in (change, hog)]
    cycles = rig.controller.memory['cycles'][0]
    for thread in threads:
        thread.start()
    # However slow the machine is
    rig.until(lambda: trouble or (len(used) > 60 and followed
                                  and rig.controller.memory['cycles'][0] > cycles + 400))
    over.set()
    for thread in threads:
        thread.join()
    assert followed and not trouble, rig.controller.reason
    laws = int(rig.controller.inputs.settings['law'][0])
    assert laws == len(used)
    rig.until(lambda: rig.controller.memory['law'][0] == laws)
    assert rig.loop.running and rig.controller.phase == guard.RUNNING
    efforts = np.array(rig.published)
    assert np.isfinite(efforts).all() and (abs(efforts) <= rig.model.effort_limit).all()
    rig.loop.stop()


@each_way
def test_a_second_publisher_is_noticed(node, trigger, path):
    """Numbers of messages come through on each path: two that count are two publishers."""
    rig = Rig(node, trigger, path)
    rig.run()
    first, second = rig.publisher, node.create_publisher(JointState, 'joint_states', 10)
    end = time.monotonic() + DEADLINE
    while rig.controller.phase != guard.FAULT:
        assert time.monotonic() < end
        rig.publisher = second if rig.publisher is first else first
        begin = rig.loop.tally.accepted
        rig.until(lambda: rig.loop.tally.accepted > begin + 3)      # noqa: B023  called at once
    assert rig.controller.reason_code == 'TWO_STATE_PUBLISHERS'
    rig.loop.stop()


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
@each_trigger
def test_ros_may_go_under_a_running_loop(node, trigger):
    """It ends, and takes nothing with it."""
    rig = Rig(node, trigger, 'native')
    rig.run()
    node.context.try_shutdown()
    until(lambda: not rig.loop.running)
    rig.loop.stop()


def test_counts_and_times_what_it_does(node):
    """Samples, missed periods and figures of time come back from compiled code."""
    rig = Rig(node, 'timer', 'native')
    rig.run()
    tally, cycles = rig.loop.tally, rig.controller.memory['cycles'][0]
    timing = tally.newest()
    assert 0 < len(timing) <= cycles + 1
    for column in ('wake_up', 'cycle', 'age'):
        assert (timing[column][np.isfinite(timing[column])] > 0.0).all()
    answers = timing['answer'][np.isfinite(timing['answer'])]
    assert 0 < len(answers) <= tally.accepted and ((answers > 0.0) & (answers < 10.0)).all()
    rig.publisher.publish(b'\0\1\0\0nothing')
    rig.until(lambda: tally.refused)
    assert list(tally.refused.values()) == [1] and tally.accepted > 5
    assert rig.controller.cycle_input['listeners'][0] == 1
    rig.loop.stop()


@pytest.mark.skipif(compile_ahead.plain(), reason='nothing is compiled')
def test_what_the_first_start_needs_is_compiled_ahead():
    """While the second process compiles the cycle; or the first start would take longer."""
    probe.compiled_trial.cache_clear()
    transport.compile_loop_ahead(LoopSettings())
    assert probe.compiled_trial.cache_info().currsize == 1


def test_without_the_file_the_controller_works(start, remote):
    """Its absence is one log line, and the next data path is used."""
    controller = start([sys.executable, '-c', WITHOUT_FILE], *CONTROLLER, '-p', 'urdf:=two_link',
                       '-p', 'data_path:=native')
    assert remote.change('configure')
    remote.until_line(controller, r'configured: .* data path python \(not native: ')
    assert controller.text.count("data path 'native' unavailable") == 1
    assert controller.interrupt() == 0

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A fault of the real node leaves a recording; `robodyn replay` computes what went wrong again."""

from pathlib import Path
import re
import sys

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from nodes.bring_up import bring_up
import pytest
from rclpy.serialization import deserialize_message
from rclpy.time import Time
from robodyn_ros.flight_recorder.file import read
from robodyn_ros.nodes.controller.flight_recorder import FlightRecorder
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectories import trajectory_bytes

mcap_reader = pytest.importorskip('mcap.reader', reason='needs pip install mcap')

WRITTEN = r'flight recording of (\d+) cycles: robodyn replay (\S+)'


def dies(sim, controller, remote):
    """End the simulator, and let time go on without states until the controller faults."""
    now = remote.now
    clock = remote.node.create_publisher(Clock, '/clock', 1)
    sim.interrupt()         # killed, it might hold a lock of the middleware for a second

    def stale():
        nonlocal now
        now += 0.02
        clock.publish(Clock(clock=Time(seconds=now).to_msg()))
        return 'FAULT STALE_STATE: state is stale' in controller.text
    remote.until(stale, 'a fault', poll=0.002)


@pytest.mark.parametrize('path', ['native', 'python'])
def test_a_dead_robot_is_recorded_and_replayed(pair, remote, start, tmp_path, path):
    folder = tmp_path / 'flights'
    folder.mkdir()
    old = [folder / f'flight_controller_20200101T0000{k:02}_000000_STALE_STATE.mcap'
           for k in range(22)]
    for file in (*old, folder / 'flight_other_20200101T000000_000000_STALE_STATE.mcap'):
        file.touch()
    sim, controller = pair({'real_time_factor': 3.0}, {
        'data_path': path, 'flight_folder': folder, 'flight_recorder': 5.0,
        'mode': 'computed_torque'})
    bring_up(remote)
    # At rest: in motion it may be refused, as the measured efforts are not those of gravity
    assert remote.set('controller', payload_frame='link2', payload_mass=0.1) == ''
    remote.trajectories().publish(trajectory_bytes(['joint1', 'joint2'], [0.5], [[0.6, 0.2]]))
    controller.wait_for_line('following')
    remote.pass_time(1.0)
    dies(sim, controller, remote)
    remote.until_line(controller, WRITTEN)
    count, file = re.search(WRITTEN, controller.text).groups()
    assert Path(file).parent == folder and file.endswith('_STALE_STATE.mcap')
    remote.until(lambda: sorted(folder.glob('flight_controller_*')) == [*old[3:], Path(file)],
                 'the oldest to be deleted')     # after the line
    assert len([*folder.iterdir()]) == 21

    replay = start([sys.executable, '-m', 'robodyn_ros.cli'], 'replay', file)
    assert replay.wait() == 0, replay.text
    assert f'recomputed: all {count} cycles agree bit by bit' in replay.text
    assert re.search(r'RUNNING → FAULT, STALE_STATE: state is stale \(joint1\)', replay.text)
    assert f'data path {path}' in replay.text
    assert Path(file).with_suffix('.png').stat().st_size > 10_000

    found = read(Path(file))
    assert len(found.snapshot.versions) == 2 and len(found.snapshot.points) == 2
    with open(file, 'rb') as stream:
        messages = [(channel.topic, message.data) for _, channel, message in
                    mcap_reader.make_reader(stream).iter_messages()]
    states = [deserialize_message(data, JointState) for topic, data in messages
              if topic == '/flight/joint_states']
    efforts = [list(deserialize_message(data, Float64MultiArray).data) for topic, data in messages
               if topic == '/flight/commands']
    assert states[-1].name == ['joint1', 'joint2']
    assert list(states[-1].position) == found.snapshot.state['position'][-1].tolist()
    decisions = [deserialize_message(data, DiagnosticArray).status[0] for topic, data in messages
                 if topic == '/flight/guard']
    fault = next(d for d in decisions if d.level == DiagnosticStatus.ERROR)
    told = {pair.key: pair.value for pair in fault.values}
    assert (told['phase'], told['reason'], told['joint']) == ('FAULT', 'STALE_STATE', 'joint1')
    assert fault.message == 'state is stale' and told['published'] == '1'
    heard = remote.commands             # of which a busy machine may lose some
    assert sum(effort in heard for effort in efforts[-100:]) > 50
    assert controller.interrupt() == 0


def test_the_controller_goes_on_where_nothing_can_be_written(pair, remote):
    """A reset, refused or not, is a reason to write at once; a fault is written once."""
    sim, controller = pair(controller={'flight_folder': '/dev/null/x', 'arming_timeout': 0.5})
    bring_up(remote)
    dies(sim, controller, remote)
    assert not remote.trigger('/controller/reset')[0]
    controller.wait_for_line('no flight recording of the fault: .*/dev/null')
    assert remote.change('deactivate') and remote.state() == 'inactive'
    assert controller.interrupt() == 0
    assert controller.text.count('no flight recording') == 1


def test_without_the_library_it_is_off_and_says_so(node, monkeypatch, capfd):
    recorder = FlightRecorder(node)
    assert recorder.cycles(0.0, 1000.0, 2) == 0 and capfd.readouterr().err == ''
    assert recorder.cycles(5.0, 1000.0, 2) == 5000 and capfd.readouterr().err == ''
    assert recorder.cycles(60.0, 10_000.0, 7) == 600_000
    assert '64 MiB' in capfd.readouterr().err
    monkeypatch.setitem(sys.modules, 'mcap', None)
    assert recorder.cycles(5.0, 1000.0, 2) == 0
    assert 'pip install mcap' in capfd.readouterr().err

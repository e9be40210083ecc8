# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Two hosts on one machine: network namespaces, joined by a cable with faults (`cable.py`).

``unshare --map-root-user --net python two_hosts.py`` makes both, starts an arm with its controller
on the one, and plays the operator of the other, who prints what happens, a line each.
"""

import json
import os
from pathlib import Path
import re
import socket
import subprocess
import sys
import time

# This folder is in the path of the program
import bring_up
from bring_up import parameters, POSE

ROBOT, OPERATOR = '10.77.0.1', '10.77.0.2'
DEADLINE = 120.0                # s
TARGET = [0.5, 0.3]
# The loop is on one host; the heartbeat crosses
CONTROLLER = [*bring_up.CONTROLLER, *bring_up.IN_STEP, *parameters(
    urdf='two_link', mode='joint_impedance', damping=[40.0, 8.0], autostart=True,
    heartbeat_timeout=1.5)]
# It goes on after a fault, without commands
SIMULATOR = [*bring_up.SIMULATOR, *bring_up.LOCKSTEP, *parameters(lockstep_timeout=2.0)]
# What a bad wireless link does, in both directions
FAULTS = {'delay': 0.02, 'jitter': 0.01, 'loss': 0.2, 'duplicate': 0.05}


def cable(other, faults):
    """Join this namespace and that of a process; return both ends of the cable."""
    ends, processes = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET), []
    for inside, name, address, end in (
            ([], 'robot', ROBOT, ends[0]),
            (['nsenter', f'--net=/proc/{other}/ns/net'], 'operator', OPERATOR, ends[1])):
        process = subprocess.Popen(
            [*inside, sys.executable, str(Path(__file__).with_name('cable.py')), name,
             str(end.fileno()), str(faults)], pass_fds=[end.fileno()], stdout=subprocess.PIPE)
        processes.append(process)
        assert process.stdout.readline() == b'up\n'
        end.close()
        for words in (['link', 'set', 'lo', 'up'], ['link', 'set', 'lo', 'multicast', 'on'],
                      ['address', 'add', f'{address}/24', 'dev', name],
                      ['link', 'set', name, 'up'],
                      ['route', 'add', '224.0.0.0/4', 'dev', name]):
            subprocess.run([*inside, 'ip', *words], check=True)
    return processes


def node(name, arguments, log):
    return subprocess.Popen([sys.executable, '-m', f'robodyn_ros.nodes.{name}', *arguments],
                            stdout=log, stderr=log)


def main():
    """Run on the robot's host."""
    env = {**os.environ, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET', 'PYTHONUNBUFFERED': '1'}
    os.environ.update(env)
    holder = subprocess.Popen(['unshare', '--net', 'sleep', 'infinity'])
    log, faults = Path(sys.argv[1]), Path(sys.argv[1]).with_suffix('.faults')
    ends = []
    try:
        while os.readlink(f'/proc/{holder.pid}/ns/net') == os.readlink('/proc/self/ns/net'):
            time.sleep(0.01)
        ends = cable(holder.pid, faults)
        with log.open('wb') as file:
            nodes = [node('simulator', SIMULATOR, file), node('controller', CONTROLLER, file)]
            try:
                # Fast DDS takes processes of one machine for those of one host: no shared memory
                subprocess.run(
                    ['nsenter', f'--net=/proc/{holder.pid}/ns/net', sys.executable, __file__,
                     str(log), str(faults)], check=True,
                    env={**env, 'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4'})
            finally:
                for process in reversed(nodes):
                    process.terminate()
                    process.wait()
    finally:
        for process in (*ends, holder):
            process.kill()
            process.wait()


class Link:
    """The cable, with the same faults at both ends."""

    def __init__(self, file):
        self._file = file

    def faults(self, **faults):
        self._file.write_text(json.dumps(faults))


def operate(log, link):
    """Play the operator."""
    import rclpy
    from robodyn_ros.nodes.middleware import qos
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Bool
    from std_srvs.srv import Trigger
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
    rclpy.init()
    operator = rclpy.create_node('operator')
    pose, errors, beats = {}, [], [True]
    operator.create_subscription(
        JointState, '/joint_states', lambda m: pose.update(zip(m.name, m.position)), qos.STATES_IN)
    operator.create_subscription(JointState, '/controller/tracking_error', errors.append, 10)
    heartbeat = operator.create_publisher(Bool, '/controller/heartbeat', 10)
    operator.create_timer(0.05, lambda: beats[0] and heartbeat.publish(Bool(data=True)))
    sender = operator.create_publisher(JointTrajectory, '/controller/joint_trajectory', 10)
    reset = operator.create_client(Trigger, '/controller/reset')

    def until(condition, what):
        end = time.monotonic() + DEADLINE
        while not condition():
            if time.monotonic() > end:
                raise SystemExit(f'not within {DEADLINE:g} s: {what}\n{log.read_text()}')
            rclpy.spin_once(operator, timeout_sec=0.05)
        print(what, flush=True)

    def move(target):
        point = JointTrajectoryPoint(positions=target, velocities=[0.0, 0.0])
        point.time_from_start.nanosec = 300_000_000
        sender.publish(JointTrajectory(joint_names=['joint1', 'joint2'], points=[point]))

    def there(target):
        return pose and max(abs(pose[f'joint{i + 1}'] - target[i]) for i in range(2)) < 0.02

    def phase(text):
        return lambda: re.search(text, log.read_text())
    until(lambda: sender.get_subscription_count() and reset.service_is_ready(), 'discovered')
    until(phase('RUNNING'), 'running, with the heartbeat of the operator')
    move(TARGET)
    until(lambda: there(TARGET), 'the reference crosses')
    errors.clear()
    until(lambda: errors, 'the telemetry crosses')
    link.faults(**FAULTS)
    move(POSE)
    until(lambda: there(POSE), 'the reference crosses a bad link')
    errors.clear()
    until(lambda: len(errors) > 5, 'the telemetry crosses a bad link')
    if 'FAULT' in log.read_text():
        raise SystemExit(f'a fault in a bad link\n{log.read_text()}')
    link.faults(loss=1.0)
    until(phase('FAULT HEARTBEAT_LOST'), 'a dropped link stops the arm')
    link.faults()
    until(lambda: heartbeat.get_subscription_count(), 'the link is back')
    ended = time.monotonic() + DEADLINE
    while time.monotonic() < ended:         # the heartbeat has to be heard again first
        answer = reset.call_async(Trigger.Request())
        again = time.monotonic() + 5.0
        while not answer.done() and time.monotonic() < again:
            rclpy.spin_once(operator, timeout_sec=0.05)
        if answer.done() and answer.result().success:
            break
    until(lambda: len(re.findall('RUNNING', log.read_text())) >= 2, 'the reset crosses')


if __name__ == '__main__':
    if len(sys.argv) == 2:
        main()
    else:
        operate(Path(sys.argv[1]), Link(Path(sys.argv[2])))

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Time of a control cycle under each control law, guard included: `python -m benchmarks.task_laws`.

Each law holds the Panda in its own controller, with the kernels compiled for it; joint_impedance
and cartesian_impedance besides with the guard against self-collision (`self_collision_distance`),
and under a reference that moves, without which the former computes no distance. The controllers
take turns of CYCLES cycles, so that all meet the same disturbances of the machine; the table has
the fastest and the median turn, and the ratio of the medians to joint_impedance.
"""

import argparse
from time import perf_counter

import numba
import numpy as np
from robodyn_ros import Controller, Dynamics, load_urdf, Settings
from robodyn_ros.compiler.tuple_reference import TupleMemory
from robodyn_ros.control.cycle.compile import compiled, CYCLE_INPUTS
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.steps import guard
from robodyn_ros.model.resources import robot_path

LAWS = ('gravity_compensation', 'joint_impedance', 'computed_torque', 'cartesian_impedance',
        'operational_space')
# Far enough and so slow that it moves as long as the benchmark lasts
AWAY, LASTS = 0.01, 1e4     # rad, s
APART = {'self_collision_distance': 0.02, 'self_collision_allowed': 'panda_link5 panda_hand'}
POSE = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])
PERIOD, CYCLES = 1e-3, 4000
RISE = 1.0              # s


@numba.njit
def cycles(step, address, state, now, tau, count):
    """Call the compiled cycle without Python between the calls."""
    for _ in range(count):
        now += PERIOD
        for i in range(tau.shape[0]):
            state[i].received = now
        step(address, now, tau)
    return now


class Held:
    """A controller whose arm stays where it is."""

    def __init__(self, mode: str, moves: bool = False, **settings):
        model = load_urdf(robot_path('panda'), locked={'panda_finger_joint1': 0.02,
                                                       'panda_finger_joint2': 0.02})
        self.controller = Controller(model, Settings(
            mode=mode, task_frame='panda_hand_tcp', stiffness=[50.0], damping=[1.0],
            acceleration_kp=[100.0], acceleration_kd=[20.0], state_timeout=1.0, **settings))
        state = self.controller.state
        state['position'], state['velocity'] = POSE, 0.0
        state['effort'] = Dynamics(model).gravity(POSE)
        self.now = 0.0
        self.controller.arm()
        while self.now < RISE:
            self.turn(1)
        if self.controller.phase != guard.RUNNING:
            raise RuntimeError(f'{mode}: {self.controller.arming_refusal}')
        if moves:
            self.controller.follow(Waypoints(model.joint_names, np.array([LASTS]),
                                             (POSE + AWAY)[None]), self.now)

    def turn(self, count: int) -> float:
        """Return the mean time of so many cycles [s]."""
        c, inputs = self.controller, TupleMemory(CYCLE_INPUTS)
        inputs.write(c.inputs)
        begin = perf_counter()
        self.now = cycles(compiled().step, inputs.address, c.state, self.now, c.tau, count)
        return (perf_counter() - begin) / count


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--turns', type=int, default=60)
    turns = parser.parse_args().turns
    held = {mode: Held(mode) for mode in LAWS} | {
        'joint_impedance, moving': Held('joint_impedance', True),
        'the same, self-collision': Held('joint_impedance', True, **APART),
        'cartesian_impedance, self-collision': Held('cartesian_impedance', **APART)}
    times = {mode: [] for mode in held}
    for _ in range(turns):
        for mode, one in held.items():
            times[mode].append(one.turn(CYCLES))
    for mode, one in held.items():
        if one.controller.phase != guard.RUNNING:
            raise RuntimeError(f'{mode}: {one.controller.reason}')
    base = np.median(times['joint_impedance'])
    print(f'{"law":36} fastest [µs]  median [µs]  ratio')
    for mode, measured in times.items():
        print(f'{mode:36} {1e6 * min(measured):12.2f} {1e6 * np.median(measured):12.2f} '
              f'{np.median(measured) / base:6.2f}')


if __name__ == '__main__':
    main()

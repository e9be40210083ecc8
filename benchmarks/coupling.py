# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Leader and follower in MuJoCo: `python -m benchmarks.coupling [LEADER | LEADER:FOLLOWER ...]`.

A hand moves the leader until the follower has touched a wall, and presses on, through links
that are late by 0, 5 and 10 ms in each direction. Of equal arms it pushes the tip of the leader.
Of arms of different kinematics it holds the joints of the leader: no force on its tip has the
efforts of one on the tip of the other arm, and both would slide away. Printed are, for each pair
and delay, the error of the felt force (efforts of the hand on the joints of the leader, less those
of the wall on the joints of the follower, in those of the leader, over those of the hand), and the
least energy that a joint of the coupling has had, also under random pushes of both arms with
varying delays. Then the link is cut: the time until both float, and how far they drift in ten
seconds.
"""

import sys
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from robodyn_ros import Dynamics, RobotModel, Settings
from robodyn_ros.catalog.robots import CatalogRobot, load_robot
from robodyn_ros.closed_loop import ClosedLoop, CoupledLoops
from robodyn_ros.control.controller.partner_and_policy import joint_map
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.control.steps import guard
from robodyn_ros.simulation.plant import Obstacle

DELAYS = 0.0, 0.005, 0.01       # s
SHARE = 0.05                    # of the effort limits, that the hand uses
AWAY, STIFFNESS = 0.02, 5e3     # m, N/m: the wall
DOWN = np.array([0.0, 0.0, -1.0])           # where the hand moves
SPEED = 0.04                                # m/s, of the tip of a follower whose leader is held
PRESSED, PUSHED, CUT = 4.0, 3.0, 10.0       # s


class Pair(NamedTuple):
    """A leader, a follower, and the follower's joints in those of the leader."""

    leader: str
    follower: str
    joints: str = ''
    offset: tuple[float, ...] = ()


PAIRS = (Pair('two_link', 'two_link'), Pair('panda', 'panda'), Pair('ur5', 'ur5'),
         Pair('ur5', 'panda', 'shoulder_pan_joint,shoulder_lift_joint,,elbow_joint,wrist_1_joint,'
              'wrist_2_joint,wrist_3_joint'))


def tip(model: RobotModel) -> str:
    """Return the last frame that moves."""
    return next(f for f in reversed(model.frame_names) if model.frame(f).body >= 0)


def arms(pair: Pair, delay: float) -> CoupledLoops:
    """Return both arms, coupled and aligned, at the initial poses of their configurations."""
    robots: list[CatalogRobot] = [load_robot(name, {}, []) for name in pair[:2]]
    loops = []
    for role, robot in zip(('leader', 'follower'), robots):
        gains = suggest_gains(robot.model, robot.pose, Settings())
        own = {}
        if role == 'follower' and pair.joints:
            names = pair.joints.split(',')
            there = robots[0].model.joint_names
            own = {'coupling_joints': pair.joints, 'coupling_offset': [
                robot.pose[i] - robots[0].pose[there.index(name)] if name else 0.0
                for i, name in enumerate(names)]}
        settings = Settings(mode='leader_follower', coupling_role=role, stiffness=gains.stiffness,
                            damping=gains.damping, **own)
        loops.append(ClosedLoop(robot.model, settings, robot.pose))
    coupled = CoupledLoops(*loops, delay=delay)
    coupled.start()
    return coupled


def energy(coupled: CoupledLoops) -> ndarray:
    """Return the energies (K,) of the coupled joints [J]."""
    leader, follower = (loop.controller for loop in coupled.loops)
    joints = joint_map(follower.model, follower.settings)
    there = [leader.model.joint_names.index(name) for name in joints.names]
    return leader.coupling_energy[there] + follower.coupling_energy[joints.joints]


class Grip:
    """
    Hand that holds the joints of the leader, by springs as stiff as those of its controller.

    It moves them such that the tip of the follower goes toward the wall, until that is pressed.
    """

    def __init__(self, leader: ClosedLoop, motion: ndarray):
        """:param motion: (nv,) of the joints of the leader, for 1 m of the tip."""
        gains = leader.controller.settings
        self.leader, self.motion = leader, motion
        self.stiffness, self.damping = (gains.per_joint(leader.controller.model, name)
                                        for name in ('stiffness', 'damping'))
        self.target = leader.row()[0]
        self.effort = np.zeros(len(motion))     # [N·m | N]
        step = leader.plant.step
        leader.plant.step = lambda tau: step(   # type: ignore[method-assign]
            tau + self.effort)

    def move(self, speed: float) -> None:
        """Move on for a period, by the speed of the tip [m/s]."""
        self.target += speed * self.leader.period * self.motion
        state = self.leader.plant.state()
        self.effort = (self.stiffness * (self.target - state.position)
                       - self.damping * state.velocity)


def pressed(coupled: CoupledLoops) -> tuple[float, float, set[str]]:
    """Return the error of the felt force, the least energy [J], and faults."""
    leader, follower = coupled.loops
    a, b = (Dynamics(loop.controller.model) for loop in coupled.loops)
    frames = tip(a.model), tip(b.model)
    here, there = (d.pose(loop.row()[0], f) for d, loop, f in zip((a, b), coupled.loops, frames))
    joints = joint_map(b.model, follower.controller.settings)
    index = [a.model.joint_names.index(name) for name in joints.names]
    J = b.jacobian(follower.row()[0], frames[1], reference='aligned')[:3]
    grip, frame, arm = None, frames[0], a
    if joints.names != tuple(b.model.joint_names):
        motion = np.zeros(a.model.nv)
        motion[index] = np.linalg.pinv(J[:, joints.joints]) @ DOWN / joints.scale
        grip, frame, arm = Grip(leader, motion), frames[1], b
    lever = abs(arm.jacobian(coupled.loops[arm is b].row()[0], frame, reference='aligned'
                             )[:3].T @ DOWN)
    force = SHARE * float((arm.model.effort_limit / np.maximum(lever, 1e-3)).min())
    wall = Obstacle(frames[1], np.zeros(3), there[:3, 3] + AWAY * DOWN, -DOWN,
                    stiffness=STIFFNESS)
    follower.plant.obstacles.append(wall)
    if grip is None:
        leader.plant.push(frames[0], force * DOWN, PRESSED)
    least, walls, hands = np.inf, [], []
    for _ in range(round(PRESSED / leader.period)):
        if grip is not None:
            grip.move(SPEED if wall.force < force else 0.0)
        coupled.tick()
        least = min(least, energy(coupled).min())
        walls.append(wall.force)
        hands.append(grip.effort if grip is not None else np.zeros(0))
    felt = float(np.mean(walls[-500:]))
    hand = np.mean(hands[-500:], axis=0) if grip is not None else a.jacobian(
        leader.row()[0], frames[0], reference='aligned')[:3].T @ (force * DOWN)
    met = b.jacobian(follower.row()[0], frames[1], reference='aligned')[:3].T @ (felt * DOWN)
    error = hand[index] - joints.scale * met[joints.joints]
    return float(np.linalg.norm(error) / np.linalg.norm(hand[index])), least, reasons(coupled)


def pushed(coupled: CoupledLoops) -> tuple[float, set[str]]:
    """Return the least energy [J] under random pushes and varying delays, and faults."""
    random, least = np.random.default_rng(0), np.inf
    for k in range(round(PUSHED / coupled.loops[0].period)):
        if k % 100 == 0:
            coupled.delay = random.uniform(0.0, DELAYS[-1])
            loop = coupled.loops[int(random.integers(2))]
            limit = SHARE * float(loop.controller.model.effort_limit.max())
            loop.plant.push(tip(loop.controller.model), random.uniform(-limit, limit, 3), 0.1)
        coupled.tick()
        least = min(least, energy(coupled).min())
    return least, reasons(coupled)


def cut(coupled: CoupledLoops) -> tuple[float, float, set[str]]:
    """Return the time until both float [s], how far they drift in CUT [rad | m], and reasons."""
    coupled.connected, begin, floats = False, coupled.loops[0].now, np.nan
    poses = None
    while coupled.loops[0].now < begin + CUT:
        coupled.tick()
        if np.isnan(floats) and all(loop.controller.phase == guard.FAULT
                                    for loop in coupled.loops):
            floats = coupled.loops[0].now - begin
        if poses is None and coupled.loops[0].now > begin + 1.0:
            poses = [loop.row()[0] for loop in coupled.loops]
    drift = max(abs(loop.row()[0] - pose).max() for loop, pose in zip(coupled.loops, poses or []))
    return floats, float(drift), reasons(coupled)


def reasons(coupled: CoupledLoops) -> set[str]:
    """Return the reason codes of both controllers."""
    return {loop.controller.reason_code for loop in coupled.loops} - {'NO_REASON'}


def main() -> None:
    """Print the table of all pairs, or of those that are asked for."""
    asked = sys.argv[1:] or [pair.leader for pair in PAIRS]
    for pair in (p for p in PAIRS if {p.leader, f'{p.leader}:{p.follower}'} & {*asked}):
        for delay in DELAYS:
            error, least, why = pressed(arms(pair, delay))
            print(f'{pair.leader:>8} -> {pair.follower:8} {1e3 * delay:4.0f} ms  felt force '
                  f'{100 * error:5.1f} %  least energy {1e3 * least:8.3f} mJ  {why or ""}',
                  flush=True)
        least, why = pushed(arms(pair, 0.0))
        print(f'{"":20} 0..10 ms  random pushes      least energy {1e3 * least:8.3f} mJ  '
              f'{why or ""}', flush=True)
        floats, drift, why = cut(arms(pair, 0.0))
        print(f'{"":20} link cut: both float after {1e3 * floats:.0f} ms, drift {1e3 * drift:.2f} '
              f'mrad or mm in {CUT:g} s  {why}', flush=True)


if __name__ == '__main__':
    main()

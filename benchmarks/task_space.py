# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Task-space laws on the simulated Panda, in figures: `python -m benchmarks.task_space`.

Each row of the table is what one experiment in MuJoCo has measured, and what it should be:

- a static force deflects the tool by F/K, in the axes of the base and of the tool, and by K⁻¹ F
  where a full matrix couples forces with rotations;
- motion in the null space, an elbow that swings, does not move the tool;
- straight through the singular, stretched pose, held there and back, no effort of the law changes
  faster than the rate limit;
- a target that takes a joint to its limit: the limit is kept, and the tool yields;
- whoever pushes gets no more energy out of the arm than he gives, at a constant stiffness and at
  one that is switched against him, of axes or a full matrix;
- a target that jumps by a metre is approached within the velocity limit of the reference.

`python -m benchmarks.task_laws` has the time of a cycle.
"""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from robodyn_ros import Dynamics, load_urdf, Settings
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.control.laws import spring
from robodyn_ros.control.steps import guard
from robodyn_ros.model.resources import robot_path
from scipy.spatial.transform import Rotation

FRAME = 'panda_link7'
POSE = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])
STRETCHED = np.array([0.0, 0.3, 0.0, -0.9, 0.0, 1.2, 0.7])
SHOULDER = np.array([0.0, 0.0, 0.333])      # m
PANDA = load_urdf(robot_path('panda'), locked={'panda_finger_joint1': 0.02,
                                               'panda_finger_joint2': 0.02})
DYNAMICS = Dynamics(PANDA)
LAWS = 'cartesian_impedance', 'operational_space'
K = np.array([500.0] * 3 + [30.0] * 3)      # N/m, N·m/rad: the default
# The same stiffness in axes of its own, and an axis of rotation coupled with a force [N]
TURN = np.kron(np.eye(2), Rotation.from_euler('xyz', [0.5, -0.3, 0.8]).as_matrix())
FULL = TURN @ np.diag([500.0, 250.0, 350.0, 30.0, 15.0, 20.0]) @ TURN.T
FULL[0, 4] = FULL[4, 0] = 15.0
PLENTY = 100.0          # J, as good as no tank


class Row(NamedTuple):
    """One result."""

    law: str
    what: str
    measured: str
    required: str
    holds: bool


class Arm(ClosedLoop):
    """The Panda, RUNNING from the beginning."""

    def __init__(self, mode: str, q: ndarray = POSE, **settings):
        super().__init__(PANDA, Settings(mode=mode, task_frame=FRAME, **settings), q)
        self.start()
        self.residual: list[ndarray] = []
        self.run(0.3)           # the law is in force from the next cycle on

    def tick(self) -> None:
        """One period; efforts beside gravity are kept."""
        super().tick()
        if hasattr(self, 'residual'):
            self.residual.append(self.controller._v.tau_residual.copy())

    def run(self, seconds: float) -> None:
        """So many seconds."""
        for _ in range(round(seconds / self.period)):
            self.tick()

    @property
    def q(self) -> ndarray:
        """Position (7,) [rad]."""
        return self.row()[0]

    @property
    def pose(self) -> ndarray:
        """Pose of the frame (4, 4)."""
        return DYNAMICS.pose(self.q, FRAME)

    @property
    def running(self) -> bool:
        """Whether there was no fault."""
        return self.controller.phase == guard.RUNNING

    def go(self, position: ndarray, rotation: ndarray | None = None) -> None:
        """Send a target; without a rotation, that stays."""
        turned = Rotation.from_matrix(self.pose[:3, :3] if rotation is None else rotation)
        self.controller.follow_pose(position, turned.as_quat(), self.now + 0.01)

    def largest_step(self) -> float:
        """Largest change of an effort of the law in a period, in rate limits."""
        limit = 10.0 * self.period * PANDA.effort_limit
        return float((abs(np.diff(self.residual, axis=0)) / limit).max())


def static(seed: int = 1) -> Row:
    """Three forces in each kind of axes: the largest distance from F/K."""
    rng, worst = np.random.default_rng(seed), 0.0
    for axes in 'base', 'tool':
        stiffness = np.array([800.0, 400.0, 600.0])
        for _ in range(3):
            arm = Arm(LAWS[0], task_axes=axes, task_stiffness=(*stiffness, 30.0, 30.0, 30.0))
            before, force = arm.pose, rng.uniform(5.0, 15.0, 3) * rng.choice([-1.0, 1.0], 3)
            arm.plant.push(FRAME, force, 9.0)
            arm.run(3.0)
            turn = before[:3, :3] if axes == 'tool' else np.eye(3)
            moved, expected = turn.T @ (arm.pose - before)[:3, 3], turn.T @ force / stiffness
            worst = max(worst, float(np.linalg.norm(moved - expected)
                                     / np.linalg.norm(expected)))
    return Row(LAWS[0], 'static x = F/K, largest error', f'{worst:.2%}', '< 2 %', worst < 0.02)


def static_full(seed: int = 1) -> Row:
    """Three forces on a full stiffness: the largest distance from K⁻¹ F, in position and angle."""
    rng, worst = np.random.default_rng(seed), 0.0
    for _ in range(3):
        arm = Arm(LAWS[0], task_stiffness=FULL.ravel())
        before, force = arm.pose, rng.uniform(3.0, 8.0, 3) * rng.choice([-1.0, 1.0], 3)
        arm.plant.push(FRAME, force, 9.0)
        arm.run(3.0)
        expected = np.linalg.solve(FULL, [*force, 0.0, 0.0, 0.0])
        away = error(arm, before)
        worst = max(worst, *(float(np.linalg.norm((-away - expected)[part])
                                   / np.linalg.norm(expected[part]))
                             for part in (slice(3), slice(3, 6))))
    return Row(LAWS[0], 'static x = K⁻¹ F of a full K, largest error', f'{worst:.2%}', '< 2 %',
               worst < 0.02)


def null_space(law: str) -> Row:
    """Simulate an elbow that starts at 0.6 rad/s."""
    arm = Arm(law)
    before = arm.pose
    _, _, rows = np.linalg.svd(DYNAMICS.jacobian(arm.q, FRAME, 'aligned'))
    arm.plant.reset(arm.q, 0.6 * rows[-1] / abs(rows[-1]).max())
    far = moved = 0.0
    for _ in range(2000):
        arm.tick()
        far = max(far, abs(arm.q - POSE).max())
        moved = max(moved, float(np.linalg.norm((arm.pose - before)[:3, 3])))
    return Row(law, f'null-space motion of {1e3 * far:.0f} mrad moves the tool',
               f'{1e3 * moved:.2f} mm', '< 1 mm', moved < 1e-3 and arm.running)


def singularity(law: str) -> Iterator[Row]:
    """Straight out beyond the reach, held there, and back."""
    arm = Arm(law, STRETCHED, task_velocity_limit=(0.6, 1.0))
    home = arm.pose
    way = home[:3, 3] - SHOULDER
    arm.go(SHOULDER + 0.878 * way / np.linalg.norm(way))
    arm.run(2.0)
    least = np.linalg.svd(DYNAMICS.jacobian(arm.q, FRAME, 'aligned'))[1][-1]
    arm.go(home[:3, 3], home[:3, :3])
    arm.run(4.0)
    back = float(np.linalg.norm((arm.pose - home)[:3, 3]))
    yield Row(law, f'singularity (σ = {least:.3f}): step of an effort, in rate limits',
              f'{arm.largest_step():.2f}', '<= 1', arm.running and arm.largest_step() < 1 + 1e-9)
    yield Row(law, 'and out again: off after 4 s', f'{1e3 * back:.1f} mm', '< 20 mm', back < 0.02)


def joint_limits(law: str) -> Row:
    """Simulate a target that takes joint 4 to its limit."""
    arm = Arm(law, task_error_limit=(0.3, 1.0))
    goal = np.array([0.25, 0.0, 0.35])
    arm.go(goal)
    over = -np.inf
    for _ in range(4000):
        arm.tick()
        over = max(over, (PANDA.position_lower - arm.q).max(),
                   (arm.q - PANDA.position_upper).max())
    yields = float(np.linalg.norm(arm.pose[:3, 3] - goal))
    return Row(law, f'a joint at its limit, the tool yields {1e3 * yields:.0f} mm: beyond it by',
               f'{1e3 * max(over, 0.0):.1f} mrad', '< 20 mrad', arm.running and over < 0.02)


def jump(law: str) -> Row:
    """Simulate a target half a metre to the side and more."""
    arm = Arm(law)
    home = arm.pose
    goal = home[:3, 3] * [0.3, 1.0, 1.0] + [0.0, 0.5, -0.2]
    arm.go(goal, (Rotation.from_rotvec([0.0, 0.0, 1.5])
                  * Rotation.from_matrix(home[:3, :3])).as_matrix())
    fastest, before = 0.0, home[:3, 3]
    for _ in range(4000):
        arm.tick()
        here = arm.pose[:3, 3]
        fastest = max(fastest, abs(here - before).max() / arm.period)
        before = here
    far = np.linalg.norm(goal - home[:3, 3])
    return Row(law, f'a target that jumps by {far:.2f} m: fastest axis of the tool',
               f'{fastest:.3f} m/s', '< 0.3', arm.running and fastest < 0.3
               and arm.largest_step() < 1 + 1e-9)


def passivity(vary: bool, capacity: float, seconds: float, K: ndarray, seed: int = 5) -> Row:
    """
    Simulate a hand that pushes at random, on a stiffness constant or switched against it.

    The most energy that it has got out beyond what it gave and the tank held at the beginning.

    :param K: (6, 6) the stiffness, the greatest one where it varies.
    """
    arm, rng = Arm(LAWS[0], nullspace_kp=[0.0], nullspace_kd=[2.0], tank_energy=capacity,
                   task_damping_ratio=0.5 if vary else 1.0, task_stiffness=K.ravel()
                   ), np.random.default_rng(seed)
    home, given, least, force = arm.pose, 0.0, 0.0, np.zeros(3)
    for k in range(round(seconds / arm.period)):
        if k % 100 == 0:
            force = rng.uniform(-15.0, 15.0, 3) if k < 1000 or not vary else np.zeros(3)
            arm.plant.push(FRAME, force, 1.0)
        before = arm.pose[:3, 3]
        if vary and k % 5 == 0:
            q, qd, _ = arm.row()
            away = before - home[:3, 3]
            velocity = DYNAMICS.jacobian(q, FRAME, 'aligned')[:3] @ qd
            asked = K.copy()                # back stiff, out soft
            if K is FULL:
                asked *= 1.0 if away @ K[:3, :3] @ velocity < 0.0 else 0.1
            else:
                asked[range(3), range(3)] *= np.where(away * velocity < 0.0, 1.0, 0.1)
            arm.controller.follow_stiffness(asked, arm.now)
        arm.tick()
        given += float(force @ (arm.pose[:3, 3] - before))
        least = min(least, given - stored(arm, home))
        if not arm.running:
            break
    allowed = capacity if vary else 0.0
    name = 'full ' * (K is FULL) + (
        f'K(t) switched against the hand, tank of {capacity:g} J' if vary
        else 'K, constant') + ': energy out of nothing'
    out = max(0.0, -least - (0.0 if capacity == PLENTY else allowed))
    return Row(LAWS[0], name, f'{out:.3f} J' + ('' if arm.running else ', FAULT'),
               '-' if capacity == PLENTY else '< 0.05 J',
               capacity == PLENTY or (out < 0.05 and arm.running))


def stored(arm: Arm, pose: ndarray) -> float:
    """Return kinetic energy and that of the spring in force [J] toward ``pose`` (4, 4)."""
    q, qd, _ = arm.row()
    e, memory = error(arm, pose), arm.controller._law_memory.ravel()
    in_force, s = memory[:36].reshape(6, 6), arm.controller.settings.task_record().view(
        np.recarray)[0]
    size = 6 if spring.couples(in_force) else 3
    return 0.5 * float(qd @ DYNAMICS.mass_matrix(q) @ qd) + sum(
        spring.energy(spring.quadratic(in_force, e, first, first + size),
                      spring.greatest(s, first, first + size)) for first in range(0, 6, size))


def error(arm: Arm, pose: ndarray) -> ndarray:
    """Return position and rotation vector (6,) [m, rad] from the frame to ``pose`` (4, 4)."""
    T = arm.pose
    return np.concatenate([pose[:3, 3] - T[:3, 3], Rotation.from_matrix(
        pose[:3, :3] @ T[:3, :3].T).as_rotvec()])


def rows(seconds: float) -> Iterator[Row]:
    """Yield all results."""
    yield static()
    yield static_full()
    for law in LAWS:
        yield null_space(law)
        yield from singularity(law)
        yield joint_limits(law)
        yield jump(law)
    for stiffness in np.diag(K), FULL:
        yield passivity(False, 1.0, seconds, stiffness)
        for capacity in 0.0, 1.0, PLENTY:
            yield passivity(True, capacity, seconds, stiffness)


def main() -> None:
    """Print the table; exit with an error where a requirement does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=6.0, help='of each run of the passivity')
    given, failed = parser.parse_args(), 0
    print(f'{"law":20} {"experiment":74} {"measured":>15}  required')
    for row in rows(given.seconds):
        failed += not row.holds
        print(f'{row.law:20} {row.what:74} {row.measured:>15}  {row.required}'
              f'{"" if row.holds else "  MISSED"}', flush=True)
    raise SystemExit(bool(failed))


if __name__ == '__main__':
    main()

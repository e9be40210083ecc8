# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control of a frame in task space: the Panda in MuJoCo under cartesian_impedance and the like."""

from dataclasses import replace

from control.task_bench import Bench, DYNAMICS, FRAME, PANDA, PERIOD, POSE
from flight_recorder.flights import replayed
import numpy as np
import pytest
from robodyn_ros import Settings
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.control.references.request import LIMIT_ROUNDING
from robodyn_ros.control.steps import guard
from robodyn_ros.errors import ParameterError, TrajectoryError
from robodyn_ros.simulation.plant import Obstacle
from scipy.spatial.transform import Rotation

pytestmark = pytest.mark.slow

near = pytest.approx
BOTH = pytest.mark.parametrize('mode', ['cartesian_impedance', 'operational_space'])
STRETCHED = np.array([0.0, 0.3, 0.0, -0.9, 0.0, 1.2, 0.7])


def turned_stiffness(stiffness=(800.0, 300.0, 500.0, 30.0, 30.0, 30.0)):
    """Return a stiffness (6, 6) whose axes are none of the base, and are coupled to the angles."""
    R = Rotation.from_euler('xyz', [0.5, -0.3, 0.8]).as_matrix()
    K = np.kron(np.eye(2), R) @ np.diag(stiffness) @ np.kron(np.eye(2), R).T
    K[0, 4] = K[4, 0] = 20.0
    return K


def test_a_force_deflects_the_spring_of_a_full_stiffness():
    """K⁻¹ F, across the force and about axes, too."""
    K = turned_stiffness()
    bench = Bench(task_stiffness=K.ravel(), nullspace_kp=[0.0])
    before, force = bench.pose, np.array([10.0, -6.0, 8.0])
    bench.plant.push(FRAME, force, 9.0)
    bench.run(2.5)
    moved = np.concatenate([(bench.pose - before)[:3, 3], Rotation.from_matrix(
        bench.pose[:3, :3] @ before[:3, :3].T).as_rotvec()])
    expected = np.linalg.solve(K, [*force, 0.0, 0.0, 0.0])
    assert abs(expected[4]) > 0.005 and moved == near(expected, rel=0.02, abs=3e-4)


def test_a_stiffness_frees_an_axis_and_is_followed_between_cycles():
    bench = Bench(task_stiffness=(0.0, 500.0, 500.0, 30.0, 30.0, 30.0))
    before = bench.pose
    bench.plant.push(FRAME, [3.0, 0.0, 0.0], 0.3)
    bench.run(0.5)
    moved = (bench.pose - before)[:3, 3]
    assert moved[0] > 0.03 and abs(moved[1:]).max() < 0.01
    # A stiffness, a pose and a wrench that come before a cycle has seen the one before.
    bench = Bench(nullspace_kp=[0.0])
    K, task = np.array([400.0] * 3 + [20.0] * 3), bench.controller.inputs.task
    bench.controller.follow_stiffness(K, bench.now)
    bench.go(bench.pose[:3, 3] + [0.0, 0.02, 0.0])
    bench.controller.follow_wrench([0.0, 0.0, -2.0, 0.0, 0.0, 0.0], bench.now)
    bench.tick()
    assert task.stiffness.diagonal() == near(K) and task.wrench[2] == -2.0
    before = task.target[1, 3]
    bench.run(0.3)
    assert task.target[1, 3] > before + 0.01


@BOTH
def test_a_wrench_acts_in_an_axis_that_is_left_out(mode):
    """Hybrid control: 5 N on a surface below the tool, whose other axes are held."""
    bench = Bench(mode=mode, task_selection=(1.0, 1.0, 0.0, 1.0, 1.0, 1.0), nullspace_kp=[0.0],
                  nullspace_kd=[5.0])
    before = bench.pose
    floor = Obstacle(FRAME, np.zeros(3), before[:3, 3] - [0.0, 0.0, 2e-3], [0.0, 0.0, 1.0], 5e3)
    bench.plant.obstacles.append(floor)
    for _ in range(30):
        bench.controller.follow_wrench([0.0, 0.0, -5.0, 0.0, 0.0, 0.0], bench.now)
        bench.run(0.05)
    assert floor.force == near(5.0, rel=0.05) and bench.phase == 'RUNNING'
    assert abs((bench.pose - before)[:2, 3]).max() < 1e-3
    bench.plant.remove_obstacles()
    bench.run(0.4)
    assert not bench.controller.inputs.task.wrench.any()


def test_wrenches_end_in_time_in_any_axes():
    # Who sends wrenches may have ended: ``wrench_timeout`` is on the clock of the loop.
    bench = Bench(tool_speed_limit=0.1)
    bench.go(bench.pose[:3, 3] + [0.0, 0.1, 0.0])
    bench.run(1.0)
    assert bench.controller.memory['lag'][0] > 0.3
    bench.controller.follow_wrench([0.0, 0.0, -5.0, 0.0, 0.0, 0.0], bench.now)
    bench.run(0.1)
    assert bench.controller.inputs.task.wrench[2] == -5.0
    bench.run(0.25)
    assert not bench.controller.inputs.task.wrench.any()
    # Jᵀ F, whatever the axes of the stiffness are.
    bench = Bench(nullspace_kp=[0.0])
    wrench = 0.3 * np.array([3.0, -2.0, 1.0, 0.2, 0.1, -0.3])     # within a cycle's rate limit
    bench.controller.follow_wrench(wrench, bench.now, tool_axes=True)
    bench.tick()
    J = DYNAMICS.jacobian(bench.q, FRAME, 'body')
    # At rest, so that there is nothing else
    assert bench.controller._v.tau_law - bench.controller._v.gravity == near(J.T @ wrench,
                                                                             abs=0.05)


def test_the_damping_begins_anew():
    """After another law has been in force, whatever that one has left in the memory."""
    forces = []
    for between in (False, True):
        bench = Bench(nullspace_kp=[0.0], nullspace_kd=[0.0])
        s = bench.controller.settings
        if between:
            bench.controller.use(replace(s, mode='operational_space'))
            bench.run(0.01)
            bench.controller.inputs.law.memory[:] = 0.3
            bench.controller.use(s)
        bench.plant.reset(bench.q, 0.01 * np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0]))
        bench.tick()
        forces.append(bench.controller._v.tau_law - bench.controller._v.gravity)
    assert abs(forces[0]).max() > 0.3
    assert forces[1] == near(forces[0], abs=0.02)


@BOTH
def test_motions_of_the_null_space_and_through_a_singularity(mode):
    # An elbow that swings at 0.6 rad/s comes back to its posture; the tool stays within 1 mm.
    bench = Bench(mode=mode)
    before = bench.pose
    _, _, rows = np.linalg.svd(DYNAMICS.jacobian(bench.q, FRAME, 'aligned'))
    bench.plant.reset(bench.q, 0.6 * rows[-1] / abs(rows[-1]).max())
    far = moved = 0.0
    for _ in range(150):
        bench.run(0.01)
        far = max(far, abs(bench.q - POSE).max())
        moved = max(moved, np.linalg.norm((bench.pose - before)[:3, 3]))
    assert bench.phase == 'RUNNING' and far > 0.015 and moved < 1e-3
    assert abs(bench.q - POSE).max() < 2e-3
    # Stretched until the target is out of reach, held there, and back: no step of an effort.
    bench = Bench(STRETCHED, mode=mode, task_velocity_limit=(0.6, 1.0))
    home = bench.pose
    shoulder = np.array([0.0, 0.0, 0.333])
    way = home[:3, 3] - shoulder
    bench.go(shoulder + 0.878 * way / np.linalg.norm(way))
    bench.run(1.5)
    assert bench.phase == 'RUNNING', bench.controller.reason
    reached = np.linalg.svd(DYNAMICS.jacobian(bench.q, FRAME, 'aligned'))[1][-1]
    bench.go(home[:3, 3], Rotation.from_matrix(home[:3, :3]))
    bench.run(2.5)
    assert reached < 0.05 and bench.phase == 'RUNNING', bench.controller.reason
    assert abs(bench.pose - home).max() < 0.02      # damped, it comes back slowly
    assert bench.largest_step() <= 1.0 + 1e-9


def test_passivity_and_limits_of_the_reference():
    # At constant K, who pushes never gets more energy than he has given, whatever the forces.
    bench, random = Bench(nullspace_kp=[0.0]), np.random.default_rng(5)
    target, given, K = bench.pose, 0.0, np.array([500.0] * 3 + [30.0] * 3)

    def stored():
        state, T = bench.plant.state(), bench.pose
        e = np.concatenate([(target - T)[:3, 3], Rotation.from_matrix(
            target[:3, :3] @ T[:3, :3].T).as_rotvec()])
        return 0.5 * (state.velocity @ DYNAMICS.mass_matrix(state.position) @ state.velocity
                      + e @ (K * e))
    begin, least = stored(), 0.0
    for k in range(300):
        if k % 20 == 0:
            force = random.uniform(-15.0, 15.0, 3)
            bench.plant.push(FRAME, force, 1.0)
        before = bench.pose[:3, 3]
        bench.run(0.005)                # in which the force stays
        given += force @ (bench.pose[:3, 3] - before)
        least = min(least, given - (stored() - begin))
    assert bench.phase == 'RUNNING' and given > 1.0
    assert least > -0.02 * given
    # Targets and twists at random, from any motion: continuous, within velocity and more.
    bench, random = Bench(), np.random.default_rng(2)
    home, c = bench.pose, bench.controller
    rows = []
    for k in range(1500):
        if k % 70 == 0:
            if random.uniform() < 0.5:
                bench.go(home[:3, 3] + random.uniform(-0.1, 0.1, 3), Rotation.from_rotvec(
                    random.uniform(-0.5, 0.5, 3)) * Rotation.from_matrix(home[:3, :3]))
            else:
                c.follow_twist(random.uniform(-0.2, 0.2, 6), bench.now + 0.01)
        bench.tick()
        task = c.inputs.task
        rows.append([*task.target[:3, 3], *task.velocity, *task.acceleration])
    rows = np.array(rows)
    velocity, acceleration = rows[:, 3:9], rows[:, 9:]
    assert np.diff(rows[:, :3], axis=0) == near(PERIOD * velocity[1:, :3], abs=2e-6)
    assert abs(velocity[:, :3]).max() <= 0.25 + LIMIT_ROUNDING
    assert np.linalg.norm(velocity[:, 3:], axis=1).max() <= 3**0.5 + LIMIT_ROUNDING
    assert abs(acceleration[:, :3]).max() <= 1.5 + LIMIT_ROUNDING and bench.phase == 'RUNNING'


def test_a_change_of_the_mode_begins_where_the_arm_is():
    """From a deflected joint spring: the present pose becomes the reference, without a step."""
    bench = Bench(mode='joint_impedance')
    bench.plant.push(FRAME, [15.0, 10.0, 0.0], 0.5)
    bench.run(0.5)
    s = bench.controller.settings
    for mode in ('cartesian_impedance', 'operational_space', 'cartesian_impedance'):
        bench.controller.use(replace(s, mode=mode))
        bench.run(0.001)
        assert bench.controller.inputs.task.target[:3] == near(bench.pose[:3], abs=2e-3)
        bench.run(0.3)
    # Of what is added to g(q); the efforts continue from those published at the pose before
    assert bench.largest_step() <= 1.03 and bench.phase == 'RUNNING'


@pytest.fixture(scope='module')
def held():
    return Bench()


def test_laws_without_a_pose_and_before_they_have_run():
    with pytest.raises(TrajectoryError, match='joint_impedance follows no pose'):
        Bench(mode='joint_impedance').go(np.ones(3))
    # The controller has just become RUNNING: the motion begins where the arm is.
    loop = ClosedLoop(PANDA, Settings(mode='cartesian_impedance', task_frame=FRAME), POSE)
    loop.start()
    T = DYNAMICS.pose(POSE, FRAME)
    loop.controller.follow_pose(T[:3, 3] + [0.0, 0.0, 0.05],
                                Rotation.from_matrix(T[:3, :3]).as_quat(), loop.now)
    for _ in range(1500):
        loop.tick()
        assert loop.controller.phase == guard.RUNNING
    moved = DYNAMICS.pose(loop.row()[0], FRAME)[:3, 3] - T[:3, 3]
    assert moved == pytest.approx([0.0, 0.0, 0.05], abs=5e-3)


@pytest.mark.parametrize(('settings', 'why'), [
    ({'task_frame': ''}, 'task_frame is not set'), ({'task_frame': 'nowhere'}, 'not a link of'),
    ({'task_frame': 'panda_link0'}, 'does not move'),
    ({'task_stiffness': [3e4] * 6}, 'task_stiffness would be unstable'),
    ({'task_damping_design': 'given', 'task_damping': [1e2] * 6}, 'task_damping lower by'),
    ({'task_stiffness': (50.0 * turned_stiffness()).ravel()}, 'multiply all its elements by 0'),
    ({'task_stiffness': [500.0] * 7}, 'has 7 numbers: .*, or 36, all elements by rows'),
    ({'task_stiffness': [-1.0] * 6}, r'not positive semi-definite: negative along \(1, 0, 0, 0'),
    ({'task_damping': np.eye(6).ravel() + np.eye(6, k=1).ravel()}, '1 in row 1, column 2, and 0'),
    ({'task_stiffness': (np.eye(6) + 1.5 * np.ones((6, 6)) - 1.5 * np.eye(6)).ravel()},
     'not positive semi-definite'),
    ({'mode': 'operational_space', 'task_kp': [9e4] * 6}, 'task_kp would be unstable')])
def test_settings_that_are_refused(held, settings, why):
    with pytest.raises(ParameterError, match=why):
        held.controller.check(replace(held.controller.settings, **settings))


def test_references_are_recorded_and_replayed():
    bench = Bench(recorded=300)
    for k in range(6):
        bench.controller.follow_wrench([0.0, 0.0, 2.0 * k, 0.0, 0.0, 0.0], bench.now,
                                       tool_axes=True)
        bench.controller.follow_stiffness([500.0 - 40.0 * k] * 3 + [30.0] * 3, bench.now)
        bench.go(bench.pose[:3, 3] + [0.0, 0.02 * (-1)**k, 0.01])
        bench.run(0.05)
    _, flown = replayed(bench.controller, 290)
    assert len(flown.snapshot.poses) >= 6

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Time scaling: references are slowed down as the bounds demand, on the path that was planned."""

from dataclasses import replace
from types import SimpleNamespace

from benchmarks.contact_speed import reflected_mass
from control.one_cycle import bounded
from control.rig import follow, Rig, risen, TWO_LINK
from control.task_bench import Bench, DYNAMICS, FRAME, PANDA, POSE
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf, Settings
from robodyn_ros.compiler import second_process
from robodyn_ros.control.controller.trajectory_goal import Status, TrajectoryGoal
from robodyn_ros.control.cycle.compile import (
    EFFORT_BOUNDS, part_address, PARTS, plain, REFERENCE_BOUNDS)
from robodyn_ros.control.cycle.compile_ahead import PLAIN_VARIABLE
from robodyn_ros.control.inputs.pose_tracking import sample
from robodyn_ros.control.inputs.task import Bounds, REGIONS, TASK, Task
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.motion_limits import default_tolerances
from robodyn_ros.control.steps import guard, time_scaling
from robodyn_ros.control.steps.cycle_data import Vectors
from robodyn_ros.control.steps.time_scaling import (
    brake, BRAKE_RATE_SHARE, contact_share, permitted_speed)
from robodyn_ros.dynamics.model_data import no_frame
from robodyn_ros.model.resources import robot_path

near = pytest.approx
# With shapes that may collide
SOLID = load_urdf(robot_path('two_link').read_text().replace('visual>', 'collision>'))
TOP = DYNAMICS.pose(POSE, FRAME)[2, 3] + 0.05       # m, of a workspace of the Panda
START, GOAL = np.array([0.3, 0.5]), np.array([1.0, 1.2])


def tool(rig, q=None) -> np.ndarray:
    return rig.dynamics.pose(rig.q if q is None else q, 'tool0')[:3, 3]


def speed(rig) -> float:
    J = rig.dynamics.jacobian(rig.q, 'tool0', reference='aligned')[:3]
    return float(np.linalg.norm(J @ rig.qd))


def moving(goal=GOAL, seconds=0.8, **given):
    rig = risen(q=START, mode='computed_torque', **given)
    follow(rig, goal, seconds, later=0.002)
    return rig


@pytest.mark.slow
def test_the_tool_keeps_its_speed_limit_on_the_same_path():
    """Slower, and nowhere else than planned; without need it is as fast as before."""
    rig, limit, targets = moving(tool_speed_limit=0.4), 0.4, []
    planned = rig.controller.trajectory.points
    for _ in range(2600):
        rig.tick()
        assert speed(rig) <= 1.02 * limit       # the reference at most 0.95
        v, m = rig.controller._v, rig.controller.memory
        targets.append(v.target.copy())
        q, qd = sample(planned, rig.controller.reference_time)
        assert v.target == near(q, abs=1e-12)
        assert v.target_qd == near((1.0 - m['slowing'][0]) * qd, abs=1e-9)
    assert rig.q == near(GOAL, abs=1e-3) and rig.controller.memory['lag'][0] > 0.5
    velocity = np.diff(targets, axis=0) / rig.period
    assert abs(np.diff(velocity, axis=0)).max() < 0.06      # of joints [rad/s] in a period
    assert rig.controller.memory['slowing'][0] == 0.0


def test_references_replace_each_other_while_they_are_slow():
    """The new one continues the old one, whatever has been lost of its time."""
    rig, last = moving(tool_speed_limit=0.3), None
    for k in range(1200):
        rig.tick()
        if k in (300, 500):
            assert rig.controller.memory['slowing'][0] > 0.2
            follow(rig, START if k == 500 else GOAL + 0.2, 0.8, later=0.01)
        target = rig.controller._v.target.copy()
        assert last is None or abs(target - last).max() < 2.5e-3
        last = target
    assert rig.phase == 'RUNNING'


@pytest.mark.parametrize('environment', ['0', '1'], ids=['compiled', 'then plain'])
def test_a_limit_that_is_set_later_holds_for_the_next_motion(environment, monkeypatch):
    """Its code, which the cycle calls at an address, is loaded before the cycle calls it."""
    rig, limit, fastest = moving(START, task_frame='tool0'), 0.3, 0.0
    rig.tick()
    code = rig.controller.compiled.addresses
    bounds = [REFERENCE_BOUNDS, EFFORT_BOUNDS]
    code[bounds] = 0                                # as in a process without bounds before
    monkeypatch.setenv(PLAIN_VARIABLE, environment)       # what is compiled stays compiled
    rig.controller.use(replace(rig.controller.settings, tool_speed_limit=limit))
    rig.tick()
    assert code[bounds].all() or rig.controller.compiled.step is None
    follow(rig, GOAL, 0.8, later=0.002)
    for _ in range(800):
        rig.tick()
        fastest = max(fastest, speed(rig))
    assert 0.9 * limit < fastest <= 1.05 * limit and rig.controller.memory['slowing'][0] > 0.2
    assert moving(START).phase == 'RUNNING'         # another controller of this process


@pytest.mark.skipif(plain(), reason='nothing is compiled')
def test_optional_parts_are_loaded_before_the_arm_is_driven(monkeypatch):
    """Without a second process that compiles them, no loop waits for them later."""
    monkeypatch.setattr(second_process, '_processes', {})
    monkeypatch.setattr(second_process.os, 'cpu_count', lambda: 1)
    part_address.cache_clear()
    Rig(TWO_LINK, START)
    assert part_address.cache_info().currsize == len(PARTS)


def held_and_back(rig, goal, watch):
    """Return why a motion is held, its goal aborted, and the way back is free."""
    controller, results = rig.controller, []
    planned = controller.prepare(Waypoints(rig.model.joint_names, [0.8], [goal]), rig.time + 0.002)
    goal = TrajectoryGoal(controller, planned, default_tolerances(rig.model, controller.settings))
    begin = rig.q.copy()
    for _ in range(360):
        rig.run(0.005)
        watch()
        results.append(goal.step())
    why, result = controller.held_by, next(r for r in results if r is not None)
    assert controller.memory['holds'][0] == 1 and abs(rig.qd).max() < 1e-3
    assert result.status is Status.ABORTED
    follow(rig, begin, 0.6, later=0.002)
    rig.run(1.5)
    assert rig.q == near(begin, abs=1e-3) and controller.held_by == ''
    assert rig.phase == 'RUNNING'
    return why, result.text


@pytest.mark.slow
def test_a_motion_out_of_the_workspace_ends_at_its_boundary():
    top = Dynamics(TWO_LINK).pose(START, 'tool0')[2, 3] + 0.1
    rig = risen(q=START, mode='computed_torque', workspace_planes=[0.0, 0.0, 2.0, 2.0 * top])
    heights = []
    why, text = held_and_back(rig, GOAL, lambda: heights.append(tool(rig)[2]))
    assert top - 0.01 < max(heights) < top
    assert why == 'the tool is at the boundary of its workspace'
    assert 'boundary of its workspace' in text


@pytest.mark.slow
def test_a_pose_out_of_the_workspace_ends_at_its_boundary():
    bench = Bench(workspace_upper=[9.0, 9.0, TOP])
    bench.go(bench.pose[:3, 3] + [0.0, 0.0, 0.2])
    for _ in range(1500):
        bench.tick()
        assert bench.controller.memory['pose_position'][0, 2] < TOP
    assert bench.phase == 'RUNNING'
    assert bench.controller.held_by and TOP - 0.01 < bench.pose[2, 3] < TOP


def test_a_pose_is_slowed_down_too():
    """On its way to a pose that it is free to reach, at the permitted speed."""
    rig = risen(q=START, model=SOLID, mode='cartesian_impedance', task_selection=(1.0, 0.0) * 3,
                tool_speed_limit=0.04)
    rig.controller.follow_pose(tool(rig) + [-0.1, 0.0, 0.0], (0.0, 0.0, 0.0, 1.0), rig.time)
    fastest, before = 0.0, None
    for _ in range(250):
        rig.tick()
        here = rig.controller.memory['pose_position'][0].copy()
        moved = 0.0 if before is None else np.linalg.norm(here - before)
        fastest, before = max(fastest, moved / rig.period), here
    assert 0.036 < fastest <= 0.04 and rig.phase == 'RUNNING'
    assert rig.controller.memory['slowed_by'][0] == guard.TOOL_SPEED


def test_permitted_speed_is_that_of_two_masses_and_a_spring():
    """Whose equation of motion is integrated: the force reaches the limit, and no more."""
    for name, region in REGIONS.items():
        for mass in (0.5, 5.0, 50.0):
            v = permitted_speed(*region, 1.0 / mass)
            x, arm, body, peak = 0.0, v, 0.0, 0.0       # compression, speeds
            h = 2e-3 / np.sqrt(region.stiffness * (1.0 / mass + 1.0 / region.mass))
            while x >= 0.0:
                force = region.stiffness * x
                peak = max(peak, force)
                arm, body = arm - h * force / mass, body + h * force / region.mass
                x += h * (arm - body)
            assert peak == near(region.force, rel=1e-2), name


@pytest.mark.slow
@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_the_mass_of_a_contact_is_the_reflected_one(seed):
    """1/(uᵀ J M⁻¹ Jᵀ u) at each point, and the strictest counts."""
    random = np.random.default_rng(seed)
    q = random.uniform(PANDA.position_lower, PANDA.position_upper)
    rate = random.uniform(-1.0, 1.0, PANDA.nv) * PANDA.velocity_limit
    share, reason = time_scaling.joint_share(*bounded(PANDA, contact_region='chest'), q, rate)
    shares = []
    for frame in PANDA.frame_names:
        v = DYNAMICS.jacobian(q, frame, reference='aligned')[:3] @ rate
        if np.linalg.norm(v) > 1e-3:
            mobility = 1.0 / reflected_mass(PANDA, q, frame, v)
            shares.append(permitted_speed(*REGIONS['chest'], mobility) / np.linalg.norm(v))
    assert share == near(time_scaling.CONTACT_SPEED_SHARE * min(shares), rel=1e-2)
    assert reason == guard.CONTACT_SPEED


@pytest.mark.slow
def test_the_arm_itself_keeps_the_speed_of_a_contact():
    """A soft law overshoots its reference: without the brake, by 40 % of the permitted speed."""
    rig = risen(q=START, mode='joint_impedance', stiffness=[40.0, 10.0], damping=[4.0, 1.0],
                following_error=[0.0], contact_region='lower_legs')
    follow(rig, [2.3, 0.2], 1.0, later=0.002)
    fastest = 0.0
    for _ in range(400):
        rig.run(0.004)
        v = rig.dynamics.jacobian(rig.q, 'tool0', reference='aligned')[:3] @ rig.qd
        if np.linalg.norm(v) > 0.2:
            mobility = 1.0 / reflected_mass(TWO_LINK, rig.q, 'tool0', v)
            fastest = max(fastest, np.linalg.norm(v) / permitted_speed(
                *REGIONS['lower_legs'], mobility))
    assert rig.phase == 'RUNNING' and 0.85 < fastest < 1.0


# An arm that folds, its tool on the way down and inward
FOLDING, FOLDING_RATE = np.array([0.3, 2.4]), np.array([-0.4, 1.2])
LOOSE = {'tool_speed_limit': 5.0, 'workspace_lower': [-9.0, -9.0, -2.0],
         'contact_region': 'hands', 'self_collision_distance': 0.02}


def shares(given):
    """Share that an arm which folds may have of its speed, and of that of its pose; reasons."""
    (bounds, robot, work), dynamics = bounded(SOLID, task_frame='tool0', **given), Dynamics(SOLID)
    task = Task.of(np.zeros(1, TASK), no_frame(), 2)
    task.target[:] = dynamics.pose(FOLDING, 'tool0')
    task.jacobian[:] = dynamics.jacobian(FOLDING, 'tool0')
    task.velocity[:] = task.jacobian @ FOLDING_RATE
    c = SimpleNamespace(workspace=work, task=task, bounds=bounds)
    return (time_scaling.joint_share(bounds, robot, work, FOLDING, FOLDING_RATE),
            time_scaling.pose_share(c, robot, FOLDING))


@pytest.mark.parametrize('reason, changed', [
    (guard.TOOL_SPEED, {'tool_speed_limit': 0.3}),
    (guard.TOOL_OUTSIDE, {'workspace_lower': [-9.0, -9.0, 0.27]}),
    (guard.SELF_COLLISION, {}), (guard.CONTACT_SPEED, {'self_collision_distance': 0.0})])
def test_the_strictest_bound_counts(reason, changed):
    """Of those that are each given alone; a pose is bounded as the joints that follow it."""
    given = {**LOOSE, **changed}
    alone = [{name: given[name]} for name in given]
    least, strictest = min(shares(one)[0] for one in alone)
    assert strictest == reason and shares(given)[0] == (near(least), reason)
    for one in *alone, given:
        (of_joints, bound), of_pose = shares(one)
        assert of_pose == (near(of_joints, rel=5e-3), bound)


@pytest.mark.parametrize('speed', [0.0, 1.0, 5.0])
@pytest.mark.parametrize('bound', [{'contact_region': 'hands'}, {'tool_speed_limit': 0.1}])
def test_a_brake_is_damping_in_proportion_to_the_excess_of_speed(bound, speed):
    """Nothing at rest, below the permitted speed, and without a body region."""
    rate, v, record = speed * FOLDING_RATE, Vectors.zeros(2), Settings().settings_record()
    v.q[:], v.qd[:] = FOLDING, rate
    v.momentum[:] = Dynamics(SOLID).mass_matrix(FOLDING) @ rate
    bounds, robot, work = bounded(SOLID, task_frame='tool0', **bound)
    share, reason = time_scaling.joint_share(bounds, robot, work, FOLDING, rate)
    excess = max(0.0, 1.0 - share) if reason == guard.CONTACT_SPEED else 0.0
    assert (excess > 0.0) == (speed > 1.0 and 'contact_region' in bound)
    tau = np.zeros(2)
    brake(SimpleNamespace(settings=record.view(np.recarray)[0], vectors=v, workspace=work,
                          bounds=bounds), robot, tau)
    assert tau == near(-BRAKE_RATE_SHARE * record['limit_rate'] * excess * v.momentum)


def test_nothing_is_bounded_at_rest():
    bounds, robot, work = bounded(TWO_LINK, contact_region='hands')
    assert time_scaling.joint_share(bounds, robot, work, START, np.zeros(2))[0] == np.inf
    assert contact_share(robot, work, bounds.points[0], bounds.region, np.zeros(2),
                         *bounds.vector) == np.inf
    assert time_scaling.joint_share(Bounds.none(2), robot, work, START, np.ones(2)) == (
        np.inf, guard.NO_REASON)
    # The clock of references is that of the controller, bit by bit.
    rig = moving()
    rig.run(1.0)
    m = rig.controller.memory
    assert m['lag'][0] == 0.0 and m['slowing'][0] == 0.0
    assert not rig.controller.records.record['bounded'][0]


@pytest.mark.parametrize('outward, distance, share', [
    (1.0, 0.1, 0.5), (1.0, -0.1, 0.0), (-1.0, 0.1, np.inf), (-1.0, -0.1, np.inf),
    (0.0, -0.1, np.inf)])
def test_only_motions_outward_are_slowed(outward, distance, share):
    bounds = Bounds.none(2)._replace(planes=np.array([[1.0, 0.0, 0.0, distance]]))
    assert time_scaling.tool_share(bounds, (0.0, 0.0, 0.0), (outward, 1.0, 0.0))[0] == near(share)

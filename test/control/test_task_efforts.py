# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Efforts of the task-space laws in one cycle, against their equations in matrices of NumPy."""

from ctypes import c_void_p, CFUNCTYPE
from dataclasses import replace

from control.one_cycle import arm_of, gains_of, memory_of, readable
from control.rig import PANDA, risen, TWO_LINK
from flight_recorder.flights import about, replayed, same_bits
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf, Settings
from robodyn_ros.control.inputs.task import Task
from robodyn_ros.control.laws import registry
from robodyn_ros.control.laws.operational_space import (
    MAX_SINGULARITY_DAMPING, MAX_TASK_EFFORT, SINGULAR_PIVOT)
from robodyn_ros.control.laws.spring import SPENT
from robodyn_ros.control.laws.task_space import PROJECTOR_DAMPING
from robodyn_ros.dynamics.model_data import frame_record, parameters
from robodyn_ros.dynamics.specialize import kernel_address
from robodyn_ros.flight_recorder.arrays import described
from robots import random_tree

near = pytest.approx
FRAME = 'panda_link7'
DYNAMICS, N = Dynamics(PANDA), PANDA.nv
POSE = np.array([0.2, -0.5, 0.1, -2.0, 0.3, 1.5, 0.7])
STRETCHED = np.array([0.2, 0.0, 0.1, -0.02, 0.0, 0.02, 0.7])
QD = np.array([0.3, -0.2, 0.1, 0.2, -0.3, 0.1, 0.2])
POSTURE = POSE + 0.1 * np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0])
KP, KD = 25.0, 10.0         # of the posture
WRENCH = np.array([3.0, -2.0, 1.0, 0.2, 0.1, -0.3])
STIFFNESS = np.array([800.0, 400.0, 600.0, 30.0, 20.0, 30.0])
COUPLED = np.diag(STIFFNESS)
COUPLED[0, 4] = COUPLED[4, 0] = 40.0
FULL_DAMPING = np.diag([10.0, 20.0, 30.0, 1.0, 2.0, 3.0])
FULL_DAMPING[0, 1] = FULL_DAMPING[1, 0] = -9.0


class State:
    """A law in plain Python, at a pose, with a reference at a distance from it."""

    def __init__(self, mode, *, q=POSE, distance=(0.02, -0.01, 0.03), wrench=WRENCH,
                 reference_velocity=(0.1, 0.0, -0.1, 0.2, 0.0, 0.1), **settings):
        self.law, self.q = registry.find(mode), q
        self.settings = Settings(mode=mode, task_frame=FRAME, **settings)
        task = readable(Task.of(self.settings.task_record(),
                                frame_record(PANDA, parameters(PANDA), FRAME), N))
        task.pose[:] = task.target[:] = DYNAMICS.pose(q, FRAME)
        task.target[:3, 3] += distance
        task.jacobian[:] = DYNAMICS.jacobian(q, FRAME, 'aligned')
        task.velocity[:], task.acceleration[:] = reference_velocity, 0.5
        task.wrench[:] = wrench
        task.stiffness[:] = task.settings[0].task_stiffness.reshape(6, 6)
        self.task, self.g, self.tau = task, DYNAMICS.gravity(q), np.zeros(N)
        self.arm = arm_of(PANDA, q=q, qd=QD, q_reference=POSTURE, gravity=self.g, task=task)
        self.arm.workspace.M[:] = DYNAMICS.mass_matrix(q)
        self.gains = gains_of(self.law, N, nullspace_kp=KP, nullspace_kd=KD)
        self.memory = memory_of(self.law, N)

    def efforts(self):
        self.law.efforts(self.arm, self.gains, self.memory, self.tau)
        return self.tau

    def errors(self, shortest=np.inf):
        """J, Jᵀ of the wrench, error, velocity error and J̇ q̇, in the axes of the gains."""
        task, J = self.task, DYNAMICS.jacobian(self.q, FRAME, 'aligned')
        h = 1e-5
        rate = (DYNAMICS.jacobian(self.q + h * QD, FRAME, 'aligned')
                - DYNAMICS.jacobian(self.q - h * QD, FRAME, 'aligned')) @ QD / (2.0 * h)
        e = np.append((task.target - task.pose)[:3, 3], np.zeros(3))
        e *= min(1.0, shortest / np.linalg.norm(e))
        turn = np.kron(np.eye(2), task.pose[:3, :3].T) if (
            self.settings.task_axes == 'tool') else np.eye(6)
        keep = np.diag(self.settings.task_selection)
        wrench = J.T @ task.wrench
        return (keep @ turn @ J, wrench, keep @ turn @ e, keep @ turn @ (task.velocity - J @ QD),
                keep @ turn @ (task.acceleration - rate))

    def posture(self, J):
        """Efforts that hold the posture, projected."""
        M, kind = DYNAMICS.mass_matrix(self.q), self.settings.nullspace_projector
        asked = M @ (KP * (POSTURE - self.q) - KD * QD)
        if kind == 'none':
            return asked
        A, seen = (J @ J.T, asked) if kind == 'kinematic' else (
            J @ np.linalg.solve(M, J.T), np.linalg.solve(M, asked))
        A = A + np.diag(PROJECTOR_DAMPING * A.diagonal() + (A.diagonal() == 0.0))
        return asked - J.T @ np.linalg.solve(A, J @ seen)


def impedance(state, damping):
    """τ = Jᵀ (K e + D (v_d - v)) + Jᵀ F + g + posture."""
    J, wrench, e, v, _ = state.errors()
    spring = state.task.stiffness @ e
    if state.settings.task_axes == 'tool':      # the lever of the error turns with the frame
        spring[3:] += np.cross(e[:3], spring[:3])
    else:
        assert not e[3:].any()
    return J.T @ (spring + damping(J, state) @ v) + wrench + state.g + state.posture(J)


def of_modes(J, state):
    """D = 2 ζ L (Lᵀ A L)^-½ Lᵀ, with ζ = 1."""
    L = np.linalg.cholesky(state.task.stiffness)
    size, U = np.linalg.eigh(L.T @ J @ np.linalg.solve(DYNAMICS.mass_matrix(state.q), J.T) @ L)
    return 2.0 * L @ U @ np.diag(size**-0.5) @ U.T @ L.T


@pytest.mark.parametrize('settings', [
    {}, {'wrench': np.zeros(6)}, {'task_axes': 'tool'}, {'nullspace_projector': 'kinematic'},
    {'nullspace_projector': 'none'}], ids=str)
def test_impedance(settings):
    state = State('cartesian_impedance', task_stiffness=STIFFNESS, **settings)
    assert state.efforts() == near(impedance(state, of_modes), rel=0.02, abs=0.05)


@pytest.mark.parametrize('settings', [
    {}, {'task_axes': 'tool'}, {'task_selection': (1.0, 1.0, 0.0, 1.0, 1.0, 1.0)},
    {'task_stiffness': COUPLED.ravel()}], ids=str)
def test_damping_that_is_given(settings):
    state = State('cartesian_impedance', **{
        'task_damping_design': 'given', 'task_damping': FULL_DAMPING.ravel(),
        'task_stiffness': STIFFNESS, **settings})
    assert state.efforts() == near(impedance(state, lambda J, state: FULL_DAMPING), abs=1e-6)


def test_damping_of_designs():
    state = State('cartesian_impedance', task_stiffness=STIFFNESS, task_damping_ratio=0.4,
                  task_damping_design='unit_inertia')
    assert state.efforts() == near(impedance(
        state, lambda J, state: np.diag(0.8 * np.sqrt(STIFFNESS))), abs=1e-6)
    state = State('cartesian_impedance', task_stiffness=[0.0] * 6)
    assert state.efforts() == near(impedance(state, lambda J, state: np.zeros((6, 6))), abs=1e-9)


@pytest.mark.parametrize('moves', [False, True])
def test_the_tank_is_filled_while_the_reference_rests(moves):
    """While it moves, what moves it does part of the damper's work."""
    state = State('cartesian_impedance', reference_velocity=0.1 * moves)
    state.efforts()
    state.memory.account[SPENT] = 0.5
    state.efforts()
    assert (state.memory.account[SPENT] < 0.5) == (not moves)


@pytest.mark.parametrize('settings', [
    {}, {'task_axes': 'tool'}, {'task_selection': (1.0, 1.0, 0.0, 1.0, 1.0, 1.0)},
    {'distance': (0.5, -0.4, 0.3), 'task_kp': [10.0] * 6}, {'task_kp': [1e4] * 6},
    {'q': STRETCHED, 'task_kp': [10.0] * 6}], ids=str)
def test_operational_space(settings):
    """τ = Jᵀ M_x (a_d + k_d (v_d - v) + k_p e - J̇ q̇) + Jᵀ F + C q̇ + g + posture, bounded."""
    state = State('operational_space', **settings)
    s = state.settings.task_record()[0]
    J, wrench, e, v, known = state.errors(shortest=0.1)
    A = J @ np.linalg.solve(DYNAMICS.mass_matrix(state.q), J.T)
    free = A.diagonal() == 0.0
    diagonal = np.where(free, 0.0, A.diagonal())
    damping = float(s['task_singularity_damping'])
    pivots = np.linalg.cholesky(A + np.diag(damping * diagonal + free)).diagonal()**2
    least = (pivots / (diagonal + free)).min()
    if least < SINGULAR_PIVOT:
        damping += MAX_SINGULARITY_DAMPING * (1.0 - least / SINGULAR_PIVOT)**2
    force = np.linalg.solve(A + np.diag(damping * diagonal + free),
                            known + s['task_kd'] * v + s['task_kp'] * e)
    task = J.T @ force
    task *= min(1.0, (MAX_TASK_EFFORT * PANDA.effort_limit / abs(task)).min())
    bias = DYNAMICS.inverse_dynamics(state.q, QD, np.zeros(N))
    assert state.efforts() == near(bias + wrench + task + state.posture(J), rel=1e-4, abs=1e-3)
    assert (least < SINGULAR_PIVOT) == ('q' in settings)


BOTH = pytest.mark.parametrize('mode', ['cartesian_impedance', 'operational_space'])


def swung(specialize, mode, frame='tool0', recorded=0):
    """Return a rig whose arm swings, and is braked by the law."""
    rig = risen(specialize=specialize, recorded=recorded, mode=mode, task_frame=frame)
    rig.qd[:] = 1.0, -0.8
    rig.run(0.1)
    return rig


def test_pose_and_jacobian_are_those_of_the_frame():
    """Of any joints, with any base axes, on a branch of a tree."""
    model = load_urdf(random_tree(5, 6))
    dynamics, data = Dynamics(model), parameters(model)
    name = max(model.frames, key=lambda name: model.frame(name).body)
    address = kernel_address('pose_and_jacobian', data, {'frame': frame_record(model, data, name)})
    call = CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)(address)
    for q in np.random.default_rng(6).uniform(-2.0, 2.0, (10, model.nv)):
        T, J = np.full((4, 4), np.nan), np.full((6, model.nv), np.nan)
        call(q.ctypes.data, T.ctypes.data, J.ctypes.data)
        assert near(dynamics.pose(q, name), abs=1e-12) == T
        assert near(dynamics.jacobian(q, name, 'aligned'), abs=1e-12) == J


@BOTH
def test_the_law_gives_the_same_efforts_with_it(mode):
    """In motion too, where the acceleration that it asks for depends on how joints are placed."""
    with_kernel, without = swung(True, mode, recorded=400), swung(False, mode)
    assert with_kernel.controller.records.task.kernel[0] != 0
    assert without.controller.records.task.kernel[0] == 0
    assert np.array(with_kernel.published[-90:]) == near(np.array(without.published[-90:]),
                                                         rel=1e-6, abs=1e-6)
    assert abs(with_kernel.qd).max() > 0.01
    # Replayed, also from a file, which says that the frame had its kernel
    taken, _ = replayed(with_kernel.controller, 200)
    assert described(TWO_LINK, taken, about(with_kernel.controller))['frame_kernel'] == [True]
    assert same_bits(TWO_LINK, taken) > 200


def test_it_serves_its_own_frame_alone():
    """Another frame has another pose; a law that follows none has no frame; then it comes back."""
    rig = swung(True, 'cartesian_impedance')
    c = rig.controller
    first, tool = c.settings, c.records.task.pose[:3, 3].copy()
    for change, kernel in (({'task_frame': 'link2'}, False), ({'mode': 'joint_impedance'}, False),
                           ({}, True)):
        c.use(replace(first, **change))
        rig.run(0.01)
        assert rig.phase == 'RUNNING' and bool(c.records.task.kernel[0]) == kernel
        if change.get('mode') is None:
            frame = change.get('task_frame', 'tool0')
            assert c.records.task.pose == near(Dynamics(TWO_LINK).pose(c._v.q, frame), abs=1e-9)
    assert np.linalg.norm(tool) > 0.1

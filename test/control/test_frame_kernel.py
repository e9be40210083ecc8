# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The kernel of pose and Jacobian of the controlled frame: the generic one's numbers."""

from ctypes import c_void_p, CFUNCTYPE
from dataclasses import replace

from flight_recorder.flights import about, MODEL, recording_rig, replayed
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.dynamics.model_data import frame_record, parameters
from robodyn_ros.dynamics.specialize import kernel_address
from robodyn_ros.flight_recorder.arrays import described
from robodyn_ros.flight_recorder.replay import Replay
from robots import random_tree

near = pytest.approx
BOTH = pytest.mark.parametrize('mode', ['cartesian_impedance', 'operational_space'])


def swung(specialize, mode, frame='tool0', recorded=0):
    """Return a rig whose arm swings, and is braked by the law."""
    rig = recording_rig(recorded, specialize, mode=mode, task_frame=frame)
    rig.rise()
    rig.qd[:] = 1.0, -0.8
    rig.run(0.1)
    return rig


def test_pose_and_jacobian_are_those_of_the_frame():
    """Of any joints, with any base axes, on a branch of a tree."""
    model = load_urdf(random_tree(5, 6))
    dynamics, data = Dynamics(model), parameters(model)
    name = max(model.frames, key=lambda name: model.frame(name).body)
    address = kernel_address('pose_and_jacobian', data,
                             {'frame': frame_record(model, data, name)})
    call = CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)(address)
    for q in np.random.default_rng(6).uniform(-2.0, 2.0, (10, model.nv)):
        T, J = np.full((4, 4), np.nan), np.full((6, model.nv), np.nan)
        call(q.ctypes.data, T.ctypes.data, J.ctypes.data)
        assert near(dynamics.pose(q, name), abs=1e-12) == T
        assert near(dynamics.jacobian(q, name, 'aligned'), abs=1e-12) == J


@BOTH
def test_the_law_gives_the_same_efforts_with_it(mode):
    """In motion too, where the acceleration that it asks for depends on how joints are placed."""
    with_kernel, without = swung(True, mode), swung(False, mode)
    assert with_kernel.controller._records.task.kernel[0] != 0
    assert without.controller._records.task.kernel[0] == 0
    assert np.array(with_kernel.published[-90:]) == near(np.array(without.published[-90:]),
                                                         rel=1e-6, abs=1e-6)
    assert abs(with_kernel.qd).max() > 0.01


def test_it_serves_its_own_frame_alone():
    """Another frame has another pose; a law that follows none has no frame; then it comes back."""
    rig = swung(True, 'cartesian_impedance')
    c = rig.controller
    first, tool = c.settings, c._records.task.pose[:3, 3].copy()
    for change, kernel in (({'task_frame': 'link2'}, False), ({'mode': 'joint_impedance'}, False),
                           ({}, True)):
        c.use(replace(first, **change))
        rig.run(0.01)
        assert rig.phase == 'RUNNING' and bool(c._records.task.kernel[0]) == kernel
        if change.get('mode') is None:
            frame = change.get('task_frame', 'tool0')
            assert c._records.task.pose == near(Dynamics(MODEL).pose(c._v.q, frame), abs=1e-9)
    assert np.linalg.norm(tool) > 0.1


@BOTH
def test_a_flight_with_it_is_replayed_bit_by_bit(mode):
    """Also from a file, which says that the frame had its kernel."""
    controller = swung(True, mode, recorded=400).controller
    taken, _ = replayed(controller, 200)
    assert described(MODEL, taken, about(controller))['frame_kernel'] == [True]
    agreement = Replay(MODEL, taken).compare()
    assert agreement.same == agreement.cycles > 200

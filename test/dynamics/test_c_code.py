# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""C and JavaScript of the dynamics agree with Python."""

import ctypes
import json
import re
import shutil
import subprocess

from c_compiler import compile_c, needs_compiler
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.dynamics.c_code import c_file, DOUBLE, FLOAT, QUANTITY_MEANINGS
from robodyn_ros.dynamics.source_text import (
    JAVASCRIPT, javascript, javascript_file, kernel, kernels)
from robodyn_ros.errors import ArgumentError, InertiaError, UnknownNameError
from robodyn_ros.model.resources import robot_names, robot_path
from robots import GRIPPER

SHORT = [name for name in QUANTITY_MEANINGS if not name.endswith('derivatives')]


def of_frames(model, quantities, frames=(), dialect=DOUBLE):
    return [one for quantity in quantities for one in kernels(model, quantity, dialect, frames)]


def written(folder, model, quantities, frames=(), dialect=DOUBLE, about=()):
    """Write arm.c and arm.h into a folder."""
    found = of_frames(model, quantities, frames, dialect)
    file = c_file(model, found, 'arm', about, dialect=dialect)
    (folder / 'arm.c').write_text(file.source)
    (folder / 'arm.h').write_text(file.header)
    return file


def test_of(folder):
    """Return status and output of the test in arm.c."""
    compile_c(folder, '-DROBODYN_TEST', 'arm.c', '-o', 'test', '-lm')
    done = subprocess.run([folder / 'test'], text=True, capture_output=True, timeout=60)
    return done.returncode, done.stdout


test_of.__test__ = False


@needs_compiler
@pytest.mark.parametrize('dialect', [DOUBLE, FLOAT], ids=['double', 'float'])
@pytest.mark.parametrize(('robot', 'quantities'), [
    ('rp', QUANTITY_MEANINGS), (GRIPPER, SHORT[:6])], ids=['rp', 'gripper'])
def test_its_own_test_passes(robot, quantities, dialect, tmp_path):
    """The gripper has mimic joints, whose angles are multiples of another one's."""
    model = load_urdf(robot)
    written(tmp_path, model, quantities, [model.frame_names[-1]], dialect)
    status, output = test_of(tmp_path)
    assert status == 0 and output.count('agrees') >= len(quantities), output


@needs_compiler
def test_its_own_test_notices_another_robot(tmp_path):
    source = written(tmp_path, load_urdf('two_link'), ['bias', 'gravity']).source
    assert source.count('x3 * (x1 * 9.81') == 2
    (tmp_path / 'arm.c').write_text(source.replace('x3 * (x1 * 9.81', 'x3 * (x1 * 9.82', 1))
    status, output = test_of(tmp_path)
    assert status == 1 and output.count('DIFFERS') == 1, output
    (tmp_path / 'arm.c').write_text(
        source.replace('out_tau[0] = ', 'out_tau[0] = 0.0 / 0.0 + ', 1))
    assert test_of(tmp_path)[0] == 1


@needs_compiler
def test_a_program_calls_it(tmp_path):
    """Of one state and of many, from a library that needs libm and libc only."""
    model, rng = load_urdf('arm6'), np.random.default_rng(3)
    written(tmp_path, model, ['inverse_dynamics', 'forward_dynamics'])
    compile_c(tmp_path, '-shared', '-fPIC', 'arm.c', '-o', 'arm.so', '-lm')
    library, dynamics = ctypes.CDLL(tmp_path / 'arm.so'), Dynamics(model)
    q, qd, qdd = rng.uniform(-3.0, 3.0, (3, 50, model.nv))
    tau, found = np.full((2, 50, model.nv), np.nan)

    def call(name, *arrays):
        getattr(library, name)(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
    for k in range(50):
        call('arm_inverse_dynamics', q[k], qd[k], qdd[k], tau[k])
        assert np.abs(tau[k] - dynamics.inverse_dynamics(q[k], qd[k], qdd[k])).max() < 1e-12 * (
            1.0 + np.abs(tau[k]).max())
    library.arm_forward_dynamics_batch(ctypes.c_size_t(50), *(
        ctypes.c_void_p(array.ctypes.data) for array in (q, qd, tau, found)))
    assert np.abs(found - qdd).max() < 1e-9


@needs_compiler
def test_names_of_the_urdf_stay_in_comments(tmp_path):
    urdf = load_urdf('two_link').to_urdf().replace('tool0', 'x*/ int y; /*&quot;')
    file = written(tmp_path, load_urdf(urdf), ['pose'], ['x*/ int y; /*"'],
                   about=['Joints: */ int z; /*.'])
    assert 'void arm_pose_x___int_y_____(const double q[2], double out_T[16]);' in file.header
    assert test_of(tmp_path)[0] == 0
    frames = 'tool0', 'tool.0', 'tool_0', 'tool0_batch', 'dot_tool0', 'tool0_out_T'
    text = load_urdf('two_link').to_urdf()
    for k, frame in enumerate(frames[1:]):
        text = text.replace('</robot>', f'<link name="{frame}"/><joint name="j{k}" type="fixed">'
                            f'<parent link="tool0"/><child link="{frame}"/></joint></robot>')
    model, quantities = load_urdf(text), ('pose', 'jacobian_dot', 'jacobian')
    file = written(tmp_path, model, quantities, frames)
    assert 'void arm_pose_tool_0_2(' in file.header and test_of(tmp_path)[0] == 0
    script = javascript_file(of_frames(model, quantities, frames, JAVASCRIPT), 'arm', [])
    names = re.findall(r'^function (\w+)', script, re.MULTILINE)
    assert len(names) == len({*names}) == 3 * len(frames)


def test_what_cannot_be_exported_is_refused_by_name():
    two_link = load_urdf('two_link')
    with pytest.raises(UnknownNameError, match="did you mean 'tool0'"):
        kernels(two_link, 'pose', DOUBLE, ['tol0'])
    light = load_urdf('<robot name="r"><link name="a"/><link name="b"/><joint name="j" '
                      'type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
                      '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>',
                      massless='warn')
    with pytest.raises(InertiaError, match='forward_dynamics needs the inverse'):
        kernels(light, 'forward_dynamics', DOUBLE)


@pytest.mark.skipif('talos_reduced' not in robot_names(), reason='needs pip install '
                    'example-robot-data')
def test_what_takes_too_many_operations_is_refused_by_name():
    with pytest.raises(ArgumentError, match='coriolis_matrix of talos takes .* operations'):
        kernels(load_urdf('talos_reduced'), 'coriolis_matrix', DOUBLE)


NODE = shutil.which('node')


@pytest.mark.skipif(NODE is None, reason='needs node, which runs JavaScript')
@pytest.mark.parametrize('robot', ['rp', 'arm6'])
def test_javascript_agrees_with_python(robot):
    model = load_urdf(robot_path(robot))
    dynamics, rng = Dynamics(model), np.random.default_rng(7)
    states = rng.uniform(-3.0, 3.0, (20, 3, model.nv))
    functions = '\n'.join(javascript(kernel(model, quantity, JAVASCRIPT), quantity)
                          for quantity in ('gravity', 'inverse_dynamics', 'mass_matrix'))
    found = json.loads(subprocess.run(
        [NODE, '-e', f'{functions}\nconst states = {json.dumps(states.tolist())};\n'
         'console.log(JSON.stringify(states.map(([q, qd, qdd]) => [gravity(q), '
         'inverse_dynamics(q, qd, qdd), mass_matrix(q)].map(x => Array.from(x)))));'],
        capture_output=True, text=True, check=True, timeout=60).stdout)
    for (q, qd, qdd), values in zip(states, found, strict=True):
        expected = (dynamics.gravity(q), dynamics.inverse_dynamics(q, qd, qdd),
                    dynamics.mass_matrix(q).ravel())
        for value, right in zip(values, expected, strict=True):
            assert np.abs(np.array(value) - right).max() <= 1e-12 * max(1.0, np.abs(right).max())

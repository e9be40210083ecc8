# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn new-law`, `new-driver`: what they write works as it is; nothing is overwritten."""

import re
import sys

from cli.commands import done
import pytest


@pytest.mark.parametrize(('files', 'env'), [
    ('test_my_spring.py test_my_arm.py test_full_arm.py', {}),
    ('test_my_spring.py::test_it_holds_the_arm', {'ROBODYN_PLAIN': '1'})],
    ids=['compiled', 'in plain Python'])
def test_their_tests_pass(start, tmp_path, files, env):
    pytest.importorskip('mujoco')
    result = done('new-law', 'my_spring', '--output', tmp_path)
    assert 'mode my_spring:MY_SPRING' in result.output
    result = done('new-driver', 'my_arm', '--output', tmp_path)
    assert 'parameter driver my_arm:MyArm' in result.output
    done('new-driver', 'full_arm', '--output', tmp_path)
    (full := tmp_path / 'full_arm.py').write_text(re.sub(
        r'^( +)# (def |    |[a-z_]+=)', r'\1\2', full.read_text(), flags=re.MULTILINE))
    process = start([sys.executable, '-m', 'pytest', '-v', *files.split()], cwd=tmp_path, env=env)
    assert process.wait() == 0, process.text
    assert all(f'{name.partition(":")[0]}::' in process.text for name in files.split())


def test_a_file_is_replaced_only_on_request(tmp_path):
    (path := tmp_path / 'test_spring.py').write_text('mine')
    done('new-law', 'spring', '--output', tmp_path, '--force')
    assert 'mine' not in path.read_text()

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A change that needs code which the machine is still compiling: refused, and nobody waits."""

import os
import shutil
import signal
import subprocess
import sys

from benchmarks.start_up import compilers
from faults.rows import row
from nodes.bring_up import CONTROLLER
from processes import node
import pytest
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from robodyn_ros.compiler import cache_directory
from robodyn_ros.control.controller.settings_in_force import SettingsInForce
from robodyn_ros.control.cycle import compile_ahead
from robodyn_ros.control.cycle.compile import compiled, load_all_parts

MODE = 'joint_impedance'
COMPILE = ('from robodyn_ros.control.cycle.compile_laws import compiled_law; '
           'from robodyn_ros.control.laws.registry import find; '
           f'compiled_law(find({MODE!r}))')


@pytest.fixture
def cache(tmp_path):
    """Return a folder with all that this machine has compiled, except one law."""
    compiled(), load_all_parts()
    return shutil.copytree(cache_directory.cache_directory(), tmp_path / 'cache',
                           copy_function=os.link,
                           ignore=shutil.ignore_patterns(f'law_{MODE}_*', '*.part'))


@row('live change needs code that is being compiled', where=SettingsInForce.prepare,
     find='check_compiled(_)', instead='None')
@pytest.mark.skipif(compile_ahead.plain(), reason='nothing is compiled')
def test_live_change_needs_code_that_is_being_compiled(start, remote, cache):
    """
    Refused at once, with the node serving others, until it is compiled or compiling has failed.

    Takes over 5 s, in which a law is compiled.
    """
    def ask():
        return remote.call(SetParametersAtomically, '/controller/set_parameters_atomically',
                           SetParametersAtomically.Request(parameters=[
                               Parameter('mode', value=MODE).to_parameter_msg()])).result
    env = {'ROBODYN_CACHE_DIR': str(cache)}
    start(node('controller'), *CONTROLLER, '-p', 'urdf:=two_link', '-p', 'data_path:=python',
          env=env, fresh=True)
    assert remote.change('configure')
    (compiler,) = compilers(str(cache))
    os.kill(compiler, signal.SIGSTOP)           # as long as it takes
    for _ in range(2):
        refused = ask()
        assert not refused.successful
        assert f'mode {MODE} is being compiled in the background' in refused.reason
        assert 'try again' in refused.reason
        assert remote.state() == 'inactive'
    assert remote.set('controller', stiffness=[380.0, 95.0]) == ''      # needs no code
    assert [*compilers(str(cache))] == [compiler], 'one process compiles'
    os.kill(compiler, signal.SIGKILL)
    remote.until(lambda: 'could not be compiled' in ask().reason, 'the failure')
    assert 'robodyn check-machine --compile' in ask().reason
    subprocess.run([sys.executable, '-c', COMPILE], env={**os.environ, **env}, check=True)
    assert ask().successful

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller and simulator as processes, and the fixtures for tests of other packages."""

from contextlib import contextmanager
import re
import textwrap
import time

from nodes.bring_up import POSE
import numpy as np
import pytest
from robodyn_ros import testing
from robodyn_ros.errors import RosError
from robodyn_ros.testing import simulated_arm, START_TIMEOUT


def test_holds_an_arm_up_and_ends_with_zero(pair, remote, gravity):
    """At a fixed rate: nothing before activation, g(q) after it, zero as the last message."""
    sim, controller = pair(*2 * [{'rate': 1000.0}], real_time=True)
    assert remote.change('configure')
    remote.listen(0.5)
    assert remote.commands == [] and remote.state() == 'inactive'
    assert remote.change('activate')
    remote.until(lambda: remote.command_count > 500, 'commands')
    assert abs(np.array(remote.commands) - gravity).max() < 0.02
    assert abs(remote.positions() - POSE).max() < 1e-3
    remote.until(lambda: remote.diagnostics.get('phase') == 'RUNNING', 'diagnostics')
    assert remote.diagnostics['refused samples'] == '0'
    assert remote.diagnostics['data path'] == 'native'
    assert remote.change('deactivate') and remote.state() == 'inactive'
    remote.until(lambda: remote.newest_command() == [0.0, 0.0], 'the last message')
    sim.wait_for_line('brakes engaged: no command')
    assert controller.interrupt() == 0 and sim.interrupt() == 0


@contextmanager
def longer(robot, controller):
    """Run the arm of the example after its end: reset, pause, exit codes."""
    # While it is waited for, it takes little of a processor
    with simulated_arm(robot, simulator={'real_time_factor': 2.0, 'rate': 500.0},
                       controller={**controller, 'rate': 500.0}) as arm:
        yield arm
        end = time.monotonic() + START_TIMEOUT
        with pytest.raises(RosError, match='not RUNNING: the last report is FAULT'):
            arm.wait_for('RUNNING', START_TIMEOUT)
        assert time.monotonic() < end       # it was not waited for to no purpose
        begun = arm.log().count('lockstep begins')
        assert arm.reset() == 'armed'
        arm.wait_for('RUNNING')
        arm.move([0.4, 0.3], duration=0.3)
        assert arm.position() == pytest.approx([0.4, 0.3], abs=0.05)
        assert arm.log().count('lockstep begins') > begun
        with arm.paused():
            arm.wait_for('RUNNING')         # the report of a later second: a pause is no fault
        arm.wait_for('RUNNING')
        motions = []
        for _ in range(2):
            arm.start(mode='joint_impedance')
            arm.push('link2', [0.0, 0.0, 20.0])
            begin = arm.time
            arm.watch(0.1)
            assert arm.time == begin            # paused
            states = arm.run(0.2)
            assert states.time - begin == pytest.approx(np.arange(0.002, 0.201, 0.002))
            motions.append(states)
        assert np.ptp(motions[0].position, axis=0).min() > 1e-3
        for first, second in zip(motions[0][1:], motions[1][1:]):
            assert second == pytest.approx(first, rel=0.0, abs=1e-12)
        for refused, named in (
                (lambda: arm.set_parameters('simulator', pause_at=-1.0), 'pause_at'),
                (lambda: arm.push('wing', [0.0, 0.0, 1.0]), 'wing'),
                (lambda: arm.change_state('configure'), 'configure')):
            with pytest.raises(RosError, match=named):
                refused()
        arm.deactivate()
        assert arm.stop() == {'controller': 0, 'simulator': 0}


def test_the_example_of_the_documentation(forked_children):
    """It runs as it stands; takes longer than 5 s, for it starts two nodes and moves an arm."""
    text = textwrap.dedent(re.search(r'(    def test_.*)', testing.__doc__, re.DOTALL)[1])
    names = {'simulated_arm': longer}
    exec(text, names)
    names['test_my_law_holds_the_arm']()


def test_a_process_that_ends_is_told_with_its_output(forked_children):
    """A wrong parameter is in the error, not only in a log that nobody keeps."""
    with simulated_arm(simulator={'urdf': 'no_such_robot'}) as arm:
        with pytest.raises(RosError, match='no_such_robot'):
            arm.wait_for('RUNNING')
        with pytest.raises(RosError, match='no phase'):
            arm.wait_for('WALKING')
        assert arm.stop()['simulator'] == 1


def test_a_refused_autostart_is_not_waited_for(forked_children):
    """Nor does it keep a controller that is configured later from RUNNING."""
    with simulated_arm(controller={'friction_compensation': [1.0]}) as arm:
        begin = time.monotonic()
        with pytest.raises(RosError, match='not RUNNING'):
            arm.wait_for('RUNNING', START_TIMEOUT)
        assert 'use a share in [0, 0.8]' in arm.log()
        assert time.monotonic() < begin + START_TIMEOUT
        arm.set_parameters('controller', friction_compensation=[0.5])
        arm.change_state('configure')
        arm.activate()

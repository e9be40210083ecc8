# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of a driver in the process of the controller: as those of topics."""

import os
from pathlib import Path

from faults.rows import row
from nodes.bring_up import CONTROLLER
import numpy as np
from processes import node
import pytest
from robodyn_ros import driver, Dynamics, load_urdf
from robodyn_ros.driver import DriverReader
from robodyn_ros.errors import ParameterError
from robodyn_ros.nodes.controller.parameters import driver_options

near = pytest.approx
STARTS = 120.0          # s, an interpreter of its own on a busy machine


@pytest.fixture
def driven(start, tmp_path, monkeypatch):
    """Start a controller with the driver: the process, and what tells the driver how to be."""
    file = tmp_path / 'behaviour'
    file.write_text('')
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        [str(Path(__file__).parents[1]), *filter(None, [os.environ.get('PYTHONPATH')])]))
    controller = start(
        node('controller'), *CONTROLLER, '-p', 'urdf:=two_link', '-p', 'rate:=200.0', '-p',
        'driver:=faults.faulty_driver:FaultyArm', '-p', f'driver_options:=[file={file}]', '-p',
        'trigger:=state', '-p', 'stiffness:=[50.0, 10.0]', '-p', 'damping:=[10.0, 2.0]', '-p',
        'acceleration_kp:=[100.0]', '-p', 'acceleration_kd:=[20.0]', '-p',
        'state_timeout:=0.5', '-p', 'fault_hold_time:=0.05', '-p', 'autostart:=true', '-p',
        'arming_timeout:=20.0')
    controller.wait_for_line('RUNNING', deadline=STARTS)
    return controller, file.write_text


@row('a driver raises, stands still or returns unusable states', 'STALE_STATE',
     where=DriverReader._run, find="self._report('read', error)", instead='self._over.set()')
def test_driver_that_gives_no_states(driven, remote):
    """Fault efforts, that end with zero; the reason is logged; it is read again after that."""
    controller, behave = driven
    gravity = Dynamics(load_urdf('two_link')).gravity([0.3, 0.5])
    remote.until(lambda: remote.command_count > 20 and remote.state_count > 20, 'what others see',
                 deadline=STARTS)
    assert np.array(remote.newest_command()) == near(gravity, abs=0.5)
    for wrong, told in (('raise', r'read\(\) of the driver raised OSError: the cable is out'),
                        ('stall', ''),
                        ('nan', 'joint states are refused: a number is NaN or infinite'),
                        ('length', r'read\(\) .* raised ArgumentError: position has shape \(3,\)'),
                        ('nothing', r'read\(\) of the driver raised ValueError')):
        remote.forget()
        behave(wrong)
        remote.until(lambda: remote.diagnostics.get('phase') == 'FAULT', f'a fault: {wrong}',
                     deadline=STARTS)
        assert 'state is stale (joint1)' in remote.diagnostics['message'], wrong
        remote.until(lambda: remote.newest_command() == [0.0, 0.0], 'the last effort')
        if told:
            controller.wait_for_line(told)
        behave('')
        remote.until(lambda: remote.trigger('/controller/reset')[0], 'armed again')
        remote.until(lambda: remote.diagnostics.get('phase') == 'RUNNING', 'running')
    assert controller.interrupt() == 0


@row('a driver does not take efforts', where=DriverReader.write, find='raise', instead='pass')
def test_driver_that_does_not_take_efforts(driven):
    """The control loop ends, zeros are tried, and the node deactivates itself."""
    controller, behave = driven
    behave('write')
    controller.wait_for_line(r'write\(\) of the driver raised OSError: the bus is off')
    controller.wait_for_line('the control thread failed; zero was its last message')
    assert controller.interrupt() == 0


@pytest.mark.parametrize(('name', 'options', 'why'), [
    ('nowhere.at_all:Arm', [], r"'nowhere.at_all:Arm' is refused: .* \(ModuleNotFoundError"),
    ('builtins:Arm', [], 'builtins has no Arm'),
    ('builtins:str', [], 'it lacks read, write or close'),
    ('builtins', [], 'it names no class'),
    ('robodyn_ros.simulation.driver:SimulatedArm', ['rates=3'], 'unexpected keyword argument'),
    ('robodyn_ros.simulation.driver:SimulatedArm', ['rate 3'], 'write name=value')])
def test_drivers_that_cannot_be_used(name, options, why):
    with pytest.raises(ParameterError, match=why):
        driver.make(name, load_urdf('two_link'), driver_options({'driver_options': options}))


def test_a_driver_is_refused_on_simulation_time(start):
    controller = start(node('controller'), *CONTROLLER, '-p', 'urdf:=two_link', '-p',
                       'use_sim_time:=true', '-p', 'driver:=a:B', '-p', 'autostart:=true')
    controller.wait_for_line('a driver is read in real time', deadline=STARTS)
    assert controller.interrupt() == 0

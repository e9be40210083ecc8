# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn driver ...` on simulated motors; the arms of this package."""

from contextlib import contextmanager
from dataclasses import replace
import json
from types import SimpleNamespace
from zipfile import ZipFile

from cli.commands import done, refused, robodyn
import numpy as np
import pytest
from robodyn_ros.cli import view
from robodyn_ros.drivers import bring_up, frames, holding, mit_can
from robodyn_ros.drivers.arm import arm_names, load_arm, with_friction
from robodyn_ros.errors import ParameterError
from robodyn_ros.flight_recorder.reading_log import ReadingLog
from robodyn_ros.testing import mit_motors
from robodyn_ros.testing.desk_arm import Bench, desk_arm, POSES
from robodyn_ros.testing.mit_motors import LockstepBus, MotorBus
import typer

near = pytest.approx
pytestmark = pytest.mark.slow


@pytest.fixture
def arm(monkeypatch):
    """Return a YAM on the bus that the commands open, carried by a person when they ask."""
    monkeypatch.setattr(mit_motors, 'STEP', 1e-3)       # as exact as its springs need
    monkeypatch.setattr(holding, 'LOWERING_SPEED', 1.0)     # which is the subject of test_hold
    held, poses = Bench(load_arm('yam')), iter(POSES)
    monkeypatch.setattr(frames, 'open_bus', lambda bus: held.bus)
    monkeypatch.setattr(mit_can, 'MitCan', held.make)
    monkeypatch.setattr(typer, 'prompt', lambda text, **_: (
        held.carry(next(poses)) if 'Pose' in text else held.support()))
    return held


@pytest.fixture
def urdf(tmp_path):
    """Return the path of its URDF."""
    (path := tmp_path / 'desk.urdf').write_text(desk_arm().to_urdf())
    return path


@pytest.mark.parametrize('name', arm_names())
def test_arms_of_this_package(name):
    """Each is complete, unconfirmed, and tells where its URDF is; none is a package:// path."""
    arm = load_arm(name)
    assert arm.unconfirmed and not arm.brakes and arm.timeout == 0.05 and arm.gripper
    assert arm.urdf['from'].startswith('https://github.com/')
    assert len(arm.motors) == (7 if 'openarm' in name else 6)
    for motor in arm.motors:
        assert motor.limit <= max(motor.expected[2])
        assert motor.velocity_limit <= max(motor.expected[1])
        assert motor.stiffness >= 10 and 0.5 <= motor.damping <= (10 if name == 'b601_rs' else 5)
        assert (motor.armature is None) == (name == 'b601_rs')
    assert name in done('driver', 'list').stdout


def test_friction_of_the_file_is_in_the_order_of_the_model():
    model = with_friction(load_arm('yam'), desk_arm())
    assert model.coulomb_friction.tolist() == [0.3, 0.3, 0.3, 0.06, 0.06, 0.06]
    for wrong in ([0.3], 0.3, ['a'] * 6, {}):
        with pytest.raises(ParameterError, match='friction of YAM cannot be used'):
            with_friction(replace(load_arm('yam'), urdf={'coulomb_friction': wrong}), desk_arm())


def test_scan_lists_motors_and_enables_none(arm):
    arm.plant.motors[4].status = 0xC
    arm.plant.motors[2].silent = True
    sent, send = [], arm.bus.send
    arm.bus.send = lambda identifier, data: (sent.append(identifier), send(identifier, data))
    found = json.loads(done('driver', 'scan', 'yam', '--json').stdout)
    assert [motor['id'] for motor in found['motors']] == [1, 2, 4, 5, 6, 7]
    assert [motor['reply'] for motor in found['motors'][:2]] == [0x11, 0x12]
    assert found['motors'][0]['types'] == ['DM4340'] and found['load'] == 0.0
    assert set(sent) == {0x7FF}         # questions alone
    shown = done('driver', 'scan', 'can0').stdout
    assert 'rotor too hot' in shown and '0x06' in shown and '0x03' not in shown


def test_scan_notes_what_is_said_without_a_question(arm):
    for _ in range(40):
        arm.plant.send(0x123, bytes(8), of_motor=True)
    found = json.loads(done('driver', 'scan', 'yam', '--json').stdout)
    assert found['others'] == {'0x123': 40} and found['load'] == near(40 * 135e-6 / 0.5)


def test_an_empty_bus(arm):
    for motor in arm.plant.motors:
        motor.silent = True
    assert robodyn('driver', 'scan', 'can0', '--last', '4').exit_code == 1
    assert refused('driver', 'scan', 'can0', '--family', 'moteus') == (
        'robodyn: moteus is not a family of motors: use damiao or robstride')


def test_robstrides_are_scanned_without_switching_them_off(monkeypatch):
    plant = MotorBus(load_arm('b601_rs'))
    bus = LockstepBus(plant)
    for motor in plant.motors:
        motor.on = True
    found = bring_up.scan(bus, range(1, 9), bring_up.RobStride, clock=bus.clock)
    assert [motor.id for motor in found.motors] == [1, 2, 3, 4, 5, 6, 7]
    assert found.motors[0].registers['limit_torque'] == 36.0 and all(m.on for m in plant.motors)


def test_check_names_what_differs(arm):
    assert 'WRONG' not in done('driver', 'check', 'yam').stdout
    arm.plant.motors[1].registers[23] = 56.0        # TMAX
    arm.plant.motors[4].registers[7] = 0x35         # MST_ID
    arm.plant.motors[5].silent = True
    result = robodyn('driver', 'check', 'yam', '--json')
    wrong = [(row['joint'], row['what'], row['file'], row['motor'])
             for row in json.loads(result.stdout) if row['right'] is False]
    assert result.exit_code == 1 and wrong == [
        ('joint2', 'TMAX of DM4340', '28', '56'), ('joint5', 'reply', '0x15', '0x35'),
        ('joint5', 'state', 'off', 'tells no state'), ('joint6', 'id', '0x06', 'no answer')]


def test_watch_shows_the_joints_with_motors_off(arm, urdf):
    arm.support()
    shown = done('driver', 'watch', 'yam', urdf, '--no-page', '--seconds', '0.5').stdout
    assert 'YAM is unconfirmed' in shown and 'joint6' in shown and f'{arm.plant.q[1]:.3f}' in shown
    assert not any(motor.on for motor in arm.plant.motors)


def test_watch_draws_the_robot(arm, urdf, monkeypatch):
    """The page gets the positions as they are read."""
    pytest.importorskip('viser')
    shown = []

    @contextmanager
    def page(*_, live):
        yield SimpleNamespace(show=shown.append)
    monkeypatch.setattr(view, '_page', page)
    arm.support()
    done('driver', 'watch', 'yam', urdf, '--seconds', '0.3')
    assert len(shown) == 3 and shown[-1] == near(arm.plant.q, abs=1e-3)


def test_hold_prints_the_table_and_the_mistake(arm, urdf):
    arm.plant.motors[1].scale = 2.0
    result = robodyn('driver', 'hold', 'yam', urdf, '--poses', '2')
    assert result.exit_code == 1
    assert 'efforts of joint2 are measured 0.5 times as large as they are' in result.stdout
    row = next(line.split() for line in result.stdout.splitlines() if 'joint2' in line)
    assert float(row[-1]) == near(0.5, abs=0.01)


def test_a_report_is_one_file(arm, urdf, tmp_path):
    file = tmp_path / 'yam.zip'
    done('driver', 'report', 'yam', urdf, '-o', file, '--seconds', '1.0', '--poses', '2')
    with ZipFile(file) as archive:
        about = json.loads(archive.read('report.json'))
        log = ReadingLog(arm.model, archive.extract('readings.mcap', tmp_path))
        assert b'desk_arm' in archive.read('robot.urdf')
    readings = [log.read() for _ in range(100)]
    assert readings[-1].position == near(arm.plant.q, abs=1e-3)
    assert np.isnan(readings[-1].effort).all()
    assert about['hold']['findings'][0]['kind'] == 'agrees' and about['arm'] == 'YAM'
    assert {row['joint'] for row in about['check']} >= {'joint1', 'gripper'}
    assert 'exists' in refused('driver', 'report', 'yam', urdf, '-o', file)

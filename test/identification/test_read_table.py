# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

from excited import recorded, robot
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import RecordingError, UnknownNameError
from robodyn_ros.identification.recordings.read import read
from scipy.io import savemat

pytestmark = pytest.mark.slow

NAMES = robot('two_link').joint_names
HEADERS = {
    'short': 't,q1,q2,dq1,dq2,tau1,tau2',
    'spelled': 'time,q1,q2,q1_dot,q2_dot,torque_1,torque_2',
    'from zero': 'time [s],q[0],q[1],qd[0],qd[1],tau_J[0],tau_J[1]',
    'named': 'timestamp,pos_joint1,pos_joint2,vel_joint1,vel_joint2,effort_joint1,effort_joint2',
    'named before': 'time,joint1_position,joint2_position,joint1_velocity,joint2_velocity,'
                    'joint1_torque,joint2_torque',
    'message': '__time,/joint_states/position[0],/joint_states/position[1],'
               '/joint_states/velocity[0],/joint_states/velocity[1],/joint_states/effort[0],'
               '/joint_states/effort[1]',
    'plotted': '__time,/joint_states/joint1/position,/joint_states/joint2/position,'
               '/joint_states/joint1/velocity,/joint_states/joint2/velocity,'
               '/joint_states/joint1/effort,/joint_states/joint2/effort',
    'logged': 'timestamp,actual_q_0,actual_q_1,actual_qd_0,actual_qd_1,actual_torque_0,'
              'actual_torque_1'}


def table(r=None):
    r = r or recorded('two_link')
    return np.c_[r.time, r.position, r.velocity, r.effort]


def write(path, header, rows, separator=',', text=lambda x: f'{x:.9g}'):
    lines = [separator.join(header.split(','))] if header else []
    lines += [separator.join(map(text, row)) for row in rows]
    path.write_text('\n'.join(lines) + '\n')
    return path


def compare(r, expected=None):
    expected = expected or recorded('two_link')
    assert r.joint_names == expected.joint_names
    for name in ('time', 'position', 'velocity', 'effort'):
        np.testing.assert_allclose(getattr(r, name), getattr(expected, name), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize('header', HEADERS.values(), ids=HEADERS)
def test_usual_headers(tmp_path, header):
    r = read(write(tmp_path / 'a.csv', header, table()), robot('two_link'))
    compare(r)
    assert '3000 samples of 2 joints over 11.996 s at 250 Hz' in r.notes[-1]


@pytest.mark.parametrize('separator', [',', ';', '\t', '|', ' '])
@pytest.mark.parametrize('comma', [False, True])
def test_any_separator(tmp_path, separator, comma):
    if comma and separator == ',':
        separator = ';'

    def text(x):
        return f'{x:.9g}'.replace('.', ',' if comma else '.')

    path = write(tmp_path / 'a.txt', HEADERS['short'], table(), separator, text)
    compare(read(path, robot('two_link')))


def test_no_header(tmp_path):
    path = write(tmp_path / 'a.csv', '', table())
    compare(read(path, robot('two_link')))
    r = read(path, robot('two_link'), columns={'time': 0, 'position': [2, 1],
                                               'effort': range(5, 7)})
    np.testing.assert_allclose(r.position, recorded('two_link').position[:, ::-1], atol=1e-7)
    assert r.velocity is None
    short = write(tmp_path / 'b.csv', '', table()[:, :5])
    with pytest.raises(RecordingError, match='no header and 5 columns'):
        read(short, robot('two_link'))


def test_header_in_a_comment(tmp_path):
    path = write(tmp_path / 'a.csv', '', table(), ' ')
    path.write_text('# a log\n# ' + HEADERS['short'].replace(',', ' ') + '\n' + path.read_text())
    compare(read(path, robot('two_link')))


def test_a_pattern_says_what_is_what(tmp_path):
    header = 'n,a_joint1,a_joint2,b1,b2,c0,c1'
    path = write(tmp_path / 'a.csv', header, table())
    r = read(path, robot('two_link'), columns={
        'time': 'n', 'position': 'a_{name}', 'velocity': 'b{i}', 'effort': 'c{i0}'})
    compare(r)
    assert any('c0 → joint1, c1 → joint2' in note for note in r.notes)
    with pytest.raises(UnknownNameError, match="did you mean 'a_joint1'"):
        read(path, robot('two_link'), columns={'position': 'a_{name}1'})
    with pytest.raises(RecordingError, match='no pattern'):
        read(path, robot('two_link'), columns={'position': 'a_{joint}'})


def test_what_was_wanted_is_not_what_was_measured(tmp_path):
    header = HEADERS['short'] + ',q_d1,q_d2,tau_cmd1,tau_cmd2,tau_ext1,tau_ext2'
    compare(read(write(tmp_path / 'a.csv', header, np.c_[table(), table()[:, 1:]]),
                 robot('two_link')))


def test_two_columns_that_would_do_are_asked_about(tmp_path):
    header = 't,left_q1,left_q2,right_q1,right_q2,tau1,tau2'
    path = write(tmp_path / 'a.csv', header, table())
    with pytest.raises(RecordingError, match='left_q1.*right_q1') as refused:
        read(path, robot('two_link'))
    assert 'columns=' in refused.value.remedy
    r = read(path, robot('two_link'), columns={'position': 'left_q{i}'})
    np.testing.assert_allclose(r.position, recorded('two_link').position, atol=1e-7)


def test_units_given_and_in_headers(tmp_path):
    rows = table() * [1e3, *np.rad2deg([1] * 4), 1e3, 1e3]
    path = write(tmp_path / 'a.csv', HEADERS['short'], rows)
    compare(read(path, robot('two_link'), units={
        'time': 'ms', 'position': 'deg', 'velocity': 'deg/s', 'effort': 'mN·m'}))
    path = write(tmp_path / 'b.csv', 'time_ms,q1 [deg],q2 [deg],dq1 [deg/s],dq2 [deg/s],'
                                     'tau1 (mNm),tau2 (mNm)', rows)
    compare(read(path, robot('two_link')))


def test_units_joint_by_joint(tmp_path):
    rows = table() * [1, 1, 1, 1, 1, -1, 0.5]
    path = write(tmp_path / 'a.csv', HEADERS['short'], rows)
    compare(read(path, robot('two_link'),
                 units={'effort': {'joint1': '-N·m', 'joint2': 2.0}}))
    with pytest.raises(RecordingError, match='no unit .gon.'):
        read(path, robot('two_link'), units={'position': 'gon'})


def test_degrees_are_not_of_sliding_joints(tmp_path):
    model = robot('rp')
    r = recorded('rp')
    rows = table(r) * [1, 180 / np.pi, 1e3, 180 / np.pi, 1e3, 1, 1]
    path = write(tmp_path / 'a.csv', HEADERS['short'], rows)
    got = read(path, model, units={'position': 'deg mm', 'velocity': 'deg/s mm/s'})
    compare(got, r)
    got = read(path, model, units={'position': 'deg'})
    np.testing.assert_allclose(got.position[:, 1], 1e3 * r.position[:, 1], rtol=1e-6)


def test_currents(tmp_path):
    header = HEADERS['short'].replace('tau1', 'current1').replace('tau2', 'current2')
    assert read(write(tmp_path / 'a.csv', header, table()), robot('two_link')).effort_unit == 'A'


def test_stamps_that_count_from_1970(tmp_path):
    rows = table()
    nanoseconds = 1_700_000_000_123_456_789 + np.round(rows[:, 0] * 1e9).astype(int)
    lines = [HEADERS['short']] + [
        f'{n},' + ','.join(f'{x:.9g}' for x in row[1:]) for n, row in zip(nanoseconds, rows)]
    (tmp_path / 'a.csv').write_text('\n'.join(lines))
    r = read(tmp_path / 'a.csv', robot('two_link'))
    np.testing.assert_allclose(r.time, recorded('two_link').time, atol=1e-6)
    assert any('time in ns, for it counts from 1970' in note for note in r.notes)


def test_a_rate_stands_for_the_time(tmp_path):
    path = write(tmp_path / 'a.csv', HEADERS['short'][2:], table()[:, 1:])
    with pytest.raises(RecordingError, match='no column of time'):
        read(path, robot('two_link'))
    compare(read(path, robot('two_link'), rate=250.0))


def test_lines_of_other_topics_and_a_torn_last_line(tmp_path):
    rows = [','.join(f'{x:.9g}' for x in row) for row in table()]
    lines = [HEADERS['short'] + ',temperature']
    for row in rows:
        lines += [row + ',', row.split(',')[0] + ',,,,,,,36.6']
    (tmp_path / 'a.csv').write_text('\n'.join(lines) + '\n0.1,0.')
    r = read(tmp_path / 'a.csv', robot('two_link'))
    compare(r)
    assert any('3000 lines left out' in note for note in r.notes)


def test_a_joint_that_the_table_lacks(tmp_path):
    path = write(tmp_path / 'a.csv', 't,q1,dq1,tau1', table()[:, [0, 1, 3, 5]])
    with pytest.raises(RecordingError, match='no joint joint2'):
        read(path, robot('two_link'))


@pytest.mark.parametrize('names', [('position', 'velocity', 'torque'), ('q', 'dq', 'tau')])
def test_npz(tmp_path, names):
    r = recorded('two_link')
    np.savez(tmp_path / 'a.npz', time=r.time, **dict(zip(names, (
        r.position, r.velocity, r.effort))))
    compare(read(tmp_path / 'a.npz', robot('two_link')))


def test_npz_with_names_map_and_transposed(tmp_path):
    r = recorded('two_link')
    np.savez(tmp_path / 'a.npz', stamps=r.time, x=r.position[:, ::-1].T, y=r.effort[:, ::-1],
             joint_names=['joint2', 'joint1'])
    got = read(tmp_path / 'a.npz', robot('two_link'),
               columns={'time': 'stamps', 'position': 'x', 'effort': 'y'})
    np.testing.assert_array_equal(got.position, r.position)
    np.testing.assert_array_equal(got.effort, r.effort)
    assert any('transposed' in note for note in got.notes)


@pytest.mark.parametrize('name, content', [
    ('a.csv', b''), ('a.csv', b'hello\n'), ('a.csv', b'\xff\xfe\x00'), ('a.npz', b'no zip'),
    ('a.csv', b'x,y\n1,2\n3,4\n')])
def test_what_is_no_recording(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RecordingError):
        read(tmp_path / name, robot('two_link'))


def test_no_such_file(tmp_path):
    with pytest.raises(RecordingError, match='no file'):
        read(tmp_path / 'a.csv', robot('two_link'))


def test_column_numbers_are_those_of_the_file(tmp_path):
    """Though the first column, the index of pandas, has no name, and the last is empty."""
    lines = [f',{HEADERS["short"]},'] + [
        f'{k},' + ','.join(f'{x:.9g}' for x in row) + ',' for k, row in enumerate(table())]
    (tmp_path / 'a.csv').write_text('\n'.join(lines))
    compare(read(tmp_path / 'a.csv', robot('two_link')))
    r = read(tmp_path / 'a.csv', robot('two_link'), columns={
        'time': 1, 'position': '2-3', 'velocity': '4-5', 'effort': '6-7'})
    compare(r)
    assert 'columns not used: column 0' in r.notes


def test_a_column_of_texts_does_not_make_a_header_of_the_first_line(tmp_path):
    rows = [','.join(f'{x:.9g}' for x in row) + ',moving' for row in table()]
    (tmp_path / 'a.csv').write_text('\n'.join(['# ' + HEADERS['short'] + ',phase', *rows]))
    compare(read(tmp_path / 'a.csv', robot('two_link')))
    (tmp_path / 'b.csv').write_text('\n'.join(rows))
    compare(read(tmp_path / 'b.csv', robot('two_link'), columns={
        'time': 0, 'position': '1-2', 'velocity': '3-4', 'effort': '5-6'}))


def test_lines_out_of_order(tmp_path):
    rows = table()
    rows[[20, 21]] = rows[[21, 20]]
    r = read(write(tmp_path / 'a.csv', HEADERS['short'], rows), robot('two_link'))
    compare(r)
    assert any('1 lines were out of order' in note for note in r.notes)


@pytest.mark.parametrize(('unit', 'least'), [('rad', -np.pi), ('rad', 0.0), ('deg', 0.0)])
def test_a_joint_without_limits_turns_on(tmp_path, unit, least):
    """Encoders count a turn; lost cells and a joint with limits change nothing of it."""
    urdf = robot('two_link').to_urdf().replace('"revolute"', '"continuous"', 1)
    model, r = load_urdf(urdf), recorded('two_link')
    turning = r.position.copy()
    turning[:, 0] = 3.0 * np.sin(np.arange(len(r)) / 200) + 0.005 * np.arange(len(r))
    rows = np.c_[r.time, turning, r.effort]
    rows[:, 1] = (rows[:, 1] - least) % (2 * np.pi) + least
    rows[300, 1] = np.nan
    rows[:, 1:3] *= np.rad2deg(1.0) if unit == 'deg' else 1.0
    got = read(write(tmp_path / 'a.csv', 't,q1,q2,tau1,tau2', rows), model,
               units={'position': unit})
    moved = got.position - turning
    assert np.nanmax(np.ptp(moved[np.isfinite(moved).all(1)], axis=0)) < 1e-6
    assert any(note.startswith('joint1: ') for note in got.notes)
    limited = read(tmp_path / 'a.csv', robot('two_link'), units={'position': unit})
    assert np.nanmax(np.abs(np.diff(limited.position[:, 0]))) > 6.0


@pytest.mark.parametrize('names', [('q', 'dq', 'tau'), ('position', 'velocity', 'effort')])
def test_arrays_whose_samples_are_in_columns_need_no_time(tmp_path, names):
    r = recorded('two_link')
    arrays = dict(zip(names, (r.position.T, r.velocity.T, r.effort.T)))
    np.savez(tmp_path / 'a.npz', limits=np.ones((2, 2)), **arrays)
    savemat(tmp_path / 'a.mat', arrays)
    for file in ('a.npz', 'a.mat'):
        got = read(tmp_path / file, robot('two_link'), rate=250.0)
        np.testing.assert_allclose(got.position, r.position)
        np.testing.assert_allclose(got.effort, r.effort)
        with pytest.raises(RecordingError, match='no column of time'):
            read(tmp_path / file, robot('two_link'))


def test_arrays_of_two_lengths_are_named(tmp_path):
    r = recorded('two_link')
    np.savez(tmp_path / 'a.npz', time=r.time, q=r.position, dq=r.velocity, tau=r.effort[::2])
    with pytest.raises(RecordingError, match=r'3000 samples, and tau of the shape \(1500, 2\)'):
        read(tmp_path / 'a.npz', robot('two_link'))


def test_wrapped_angles_within_the_limits_are_unwrapped(tmp_path):
    r = recorded('two_link')
    model = replace(robot('two_link'), position_lower=np.full(2, -2 * np.pi),
                    position_upper=np.full(2, 2 * np.pi))
    position = r.position + [3.0, 0.0]
    wrapped = (position + np.pi) % (2 * np.pi) - np.pi
    assert abs(np.diff(wrapped, axis=0)).max() > 6.0
    file = write(tmp_path / 'a.csv', HEADERS['short'],
                 np.c_[r.time, wrapped, r.velocity, r.effort])
    got = read(file, model)
    moved = got.position - position
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-6)
    narrow = replace(model, position_lower=np.full(2, -3.2), position_upper=np.full(2, 3.2))
    assert abs(np.diff(read(file, narrow).position, axis=0)).max() > 6.0

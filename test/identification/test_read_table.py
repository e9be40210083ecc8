# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings in tables and arrays, of any program."""

from dataclasses import replace
import io

from motions import compare, noted, recorded, robot
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import RecordingError, UnknownNameError
from robodyn_ros.identification.recordings.read import read
from scipy.io import savemat

pytestmark = pytest.mark.slow

R = recorded('two_link', duration=2.0)
SHORT = 't,q1,q2,dq1,dq2,tau1,tau2'
HEADERS = {
    'short': SHORT,
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
    'plotted in short': '__time,/joint_states/joint1/pos,/joint_states/joint2/pos,'
                        '/joint_states/joint1/vel,/joint_states/joint2/vel,'
                        '/joint_states/joint1/eff,/joint_states/joint2/eff',
    'logged': 'timestamp,actual_q_0,actual_q_1,actual_qd_0,actual_qd_1,actual_torque_0,'
              'actual_torque_1',
    'camel': 'Time,jointPosition1,jointPosition2,jointVelocity1,jointVelocity2,jointTorque1,'
             'jointTorque2',
    'KUKA': 'Time[s],MeasuredJointPosition_A1,MeasuredJointPosition_A2,'
            'MeasuredJointVelocity_A1,MeasuredJointVelocity_A2,MeasuredTorque_A1,'
            'MeasuredTorque_A2',
    'FRI': 'times,msrJntPos1,msrJntPos2,msrJntVel1,msrJntVel2,msrTrq1,msrTrq2',
    'axes': 't,AXIS_ACT_A1,AXIS_ACT_A2,VEL_AXIS_ACT_A1,VEL_AXIS_ACT_A2,TORQUE_AXIS_ACT_A1,'
            'TORQUE_AXIS_ACT_A2',
    'other names': 't,a_j1_pos,a_j2_pos,a_j1_vel,a_j2_vel,a_j1_eff,a_j2_eff',
    'names alone': 't,JOINT1,joint2,JOINT1_VEL,joint2 vel,JOINT1_TRQ,joint2 trq',
    # Beside what was measured, what was wanted
    'wanted': SHORT + ',q_d1,q_d2,tau_cmd1,tau_cmd2,tau_ext1,tau_ext2',
    'parts of the effort': 't,q1,q2,dq1,dq2,tau_meas1,tau_meas2,tau_con1,tau_con2,tau_fric1,'
                           'tau_fric2,tau_ff1,tau_ff2,tau_fb1,tau_fb2,tau_grav1,tau_grav2,'
                           'tau_model1,tau_model2'}
DEGREES = np.array([1.0, *[180 / np.pi] * 4, 1.0, 1.0])
UNITS = {
    'words': 'Time (seconds),q1 (degrees),q2 (degrees),dq1 (degrees/s),dq2 (deg/sec),tau1 (N-m),'
             'tau2 (N-m)',
    'of other signs': 'Time [s],q1 [\u00ba],q2 [\u00ba],dq1 [\u00ba/s],dq2 [\u00ba/s],tau1,tau2',
    'under a line': 't/s,q1/°,q2/°,dq1/°/s,dq2/°/s,tau1/Nm,tau2/Nm',
    'at the end': 'time_s,q1_deg,q2_deg,dq1_deg_s,dq2_deg_s,tau1_Nm,tau2_Nm',
    'in the middle': 'time_s,q_deg_1,q_deg_2,dq_deg_s_1,dq_deg_s_2,tau_Nm_1,tau_Nm_2',
    'below': SHORT + '\n[s],[deg],[deg],[deg/s],[deg/s],[Nm],[Nm]'}


def table(r=None):
    r = r or R
    return np.c_[r.time, r.position, r.velocity, r.effort]


def lines(rows, separator=',', text=lambda x: f'{x:.9g}'):
    return [separator.join(map(text, row)) for row in rows]


@pytest.fixture
def got(tmp_path):
    """Return what reads a file of lines, of a text or of bytes."""
    def got(content, name='a.csv', model=None, **how):
        if not isinstance(content, (str, bytes)):
            content = '\n'.join(content) + '\n'
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(path, model or robot('two_link'), **how)
    return got


@pytest.fixture
def refusal(got):
    """Return what tells why a file is refused, and the remedy."""
    def refusal(content, error=RecordingError, **how):
        with pytest.raises(error) as refused:
            got(content, **how)
        return f'{refused.value} {refused.value.remedy}'
    return refusal


@pytest.mark.parametrize('header', HEADERS.values(), ids=HEADERS)
def test_headers(got, header):
    rows = np.c_[table(), table()[:, 1:], table()[:, 1:], table()[:, 1:]][
        :, :header.count(',') + 1]
    r = got([header, *lines(rows)])
    compare(r, R)
    assert '500 samples of 2 joints over 1.996 s at 250 Hz' in r.notes[-1]


@pytest.mark.parametrize('header', UNITS.values(), ids=UNITS)
def test_units_in_headers(got, header):
    compare(got([header, *lines(table() * DEGREES)]), R)


@pytest.mark.parametrize('encoding', ['latin-1', 'utf-16'])
def test_encodings(got, encoding):
    text = '\n'.join([UNITS['under a line'], *lines(table() * DEGREES)])
    compare(got(text.encode(encoding)), R)


@pytest.mark.parametrize(('separator', 'comma'), [
    (',', False), *((separator, comma) for separator in ';\t| ' for comma in (False, True))])
def test_any_separator(got, separator, comma):
    rows = lines(table(), separator, lambda x: f'{x:.9g}'.replace('.', ',' if comma else '.'))
    compare(got([SHORT.replace(',', separator), *rows], 'a.txt'), R)


def test_the_order_of_columns_decides_nothing(got, refusal):
    """What is measured may follow others of equal rank; a tie of the best ones is refused."""
    last = table()[:, [0, 1, 2, 3, 4, 5, 5, 6, 6, 5, 6]]
    last[:, 5:9] = 0.0
    header = 't,q1,q2,dq1,dq2,tau_x1,tau_y1,tau_x2,tau_y2'
    compare(got([header + ',tau1,tau2', *lines(last)]), R)
    said = refusal([header, *lines(last[:, :9])])
    assert "'tau_x1' and 'tau_y1' could both be the effort" in said and 'columns=' in said
    # A quantity that is named is not guessed
    named = table()[:, [0, 1, 2, 3, 4, 5, 5, 6, 6]]
    compare(got([header, *lines(named)], columns={'effort': 'tau_x{i}'}), R)


def test_no_header(got, refusal):
    r = got(lines(table()))
    compare(r, R)
    r = got(lines(table()), columns={'time': 0, 'position': [2, 1], 'effort': range(5, 7)})
    np.testing.assert_allclose(r.position, R.position[:, ::-1], atol=1e-7)
    assert r.velocity is None
    assert 'no header and 5 columns' in refusal(lines(table()[:, :5]))
    bare = lines(np.c_[table()[:, :1], table()])
    assert "columns={'time': 0, 'position': '1-2', 'effort': '3-4'}" in refusal(bare)
    compare(got(bare, columns={'time': '1', 'position': '2-3', 'velocity': '4,5',
                               'effort': '6-7'}), R)


def test_what_stands_around_the_numbers(got):
    rows = lines(table())
    named = ['"' + f'{k}",' + row for k, row in enumerate(rows)]
    comma = ['"' + '","'.join(f'{x:.9g}'.replace('.', ',') for x in row) + '"'
             for row in table()]
    for text in (['sep=,', 'Recorded by a program', SHORT, *rows, 'end'],
                 ['# a log', '# ' + SHORT, *rows], [SHORT, *(row + ',' for row in rows)],
                 [row + ',' for row in rows], [SHORT, *named], [SHORT, *comma]):
        compare(got(text), R)
    missing = got([SHORT, '0.1,' + ','.join(['NA'] * 6), *rows])
    compare(missing, R)
    assert '1 lines left out: no values of the joints' in missing.notes


def test_lines_of_other_topics_a_torn_last_line_and_disorder(got):
    text = [SHORT + ',temperature']
    for row in lines(table()):
        text += [row + ',', row.split(',')[0] + ',,,,,,,36.6']
    r = got('\n'.join([*text, '0.1,0.']))
    compare(r, R)
    assert noted(r, '500 lines left out')
    rows = lines(table())
    rows[20], rows[21] = rows[21], rows[20]
    r = got([SHORT, *rows])
    compare(r, R)
    assert noted(r, '1 lines were out of order')


def test_column_numbers_are_those_of_the_file(got):
    """Though the first column, the index of pandas, has no name, and the last is empty."""
    text = [f',{SHORT},', *(f'{k},{row},' for k, row in enumerate(lines(table())))]
    compare(got(text), R)
    r = got(text, columns={'time': 1, 'position': '2-3', 'velocity': '4-5', 'effort': '6-7'})
    compare(r, R)
    assert 'columns not used: column 0' in r.notes


def test_a_column_of_texts_does_not_make_a_header_of_the_first_line(got):
    rows = [row + ',moving' for row in lines(table())]
    compare(got(['# ' + SHORT + ',phase', *rows]), R)
    compare(got(rows, columns={'time': 0, 'position': '1-2', 'velocity': '3-4',
                               'effort': '5-6'}), R)


def test_patterns_and_lists_say_what_is_what(got, refusal):
    text = ['n,a_joint1,a_joint2,b1,b2,c0,c1', *lines(table())]
    r = got(text, columns={'time': 'n', 'position': 'a_{name}', 'velocity': 'b{i}',
                           'effort': 'c{i0}'})
    compare(r, R)
    assert noted(r, 'c0 → joint1, c1 → joint2')
    compare(got(text, columns={'time': 'n', 'position': 'a_joint1,a_joint2',
                               'velocity': 'b1, 4', 'effort': '5-6'}), R)
    assert "did you mean 'a_joint1'" in refusal(text, UnknownNameError,
                                                columns={'position': 'a_{name}1'})
    assert "no column 'x'" in refusal(text, UnknownNameError,
                                      columns={'time': 'n', 'position': 'a_joint1,x'})
    assert 'not a column pattern' in refusal(text, columns={'position': 'a_{joint}'})


def test_units_are_given_for_all_joints_or_for_one(got, refusal):
    rows = table() * [1e3, *np.rad2deg([1] * 4), 1e3, 1e3]
    compare(got([SHORT, *lines(rows)], units={
        'time': 'ms', 'position': 'deg', 'velocity': 'deg/s', 'effort': 'mN·m'}), R)
    compare(got(['time_ms,q1 [deg],q2 [deg],dq1 [deg/s],dq2 [deg/s],tau1 (mNm),tau2 (mNm)',
                 *lines(rows)]), R)
    rows = table() * [1, 1, 1, 1, 1, -1, 0.5]
    compare(got([SHORT, *lines(rows)], units={'effort': {'joint1': '-N·m', 'joint2': 2.0}}), R)
    percent = SHORT.replace('tau1', 'tau1 [%]')
    assert "column 'tau1 [%]' is in a unit that depends on the drive" in refusal(
        [percent, *lines(table())])
    compare(got([percent, *lines(rows)], units={'effort': {'joint1': -1.0, 'joint2': 2.0}}), R)
    assert "no unit 'gon'" in refusal([SHORT, *lines(rows)], units={'position': 'gon'})


def test_each_column_has_its_own_unit(got):
    rows = np.c_[table() * [1, 180 / np.pi, 1e3, 1, 1, 1, 1e3], table()[:, 5:]]
    text = ['t,q1 [deg],q2 [mrad],dq1,dq2,tau1 [Nm],tau2 [mNm],current1,current2', *lines(rows)]
    r = got(text)
    compare(r, R)
    assert 'columns not used: current1, current2' in r.notes
    r = got(text, units={'effort': {'joint1': '-N·m'}})
    np.testing.assert_allclose(r.effort, R.effort * [-1, 1], rtol=1e-6)
    for r in (got(text, columns={'effort': 'current{i}'}),
              got([SHORT.replace('tau', 'current'), *lines(table())])):
        assert r.effort_unit == 'A'


def test_degrees_are_not_of_sliding_joints(got):
    r = recorded('rp')
    text = [SHORT, *lines(table(r) * [1, 180 / np.pi, 1e3, 180 / np.pi, 1e3, 1, 1])]
    compare(got(text, model=robot('rp'), units={'position': 'deg mm', 'velocity': 'deg/s mm/s'}),
            r)
    found = got(text, model=robot('rp'), units={'position': 'deg'})
    np.testing.assert_allclose(found.position[:, 1], 1e3 * r.position[:, 1], rtol=1e-6)


def test_stamps_that_count_from_1970_and_a_rate_in_place_of_stamps(got, refusal):
    rows = table()
    nanoseconds = 1_700_000_000_123_456_789 + np.round(rows[:, 0] * 1e9).astype(int)
    r = got([SHORT, *(f'{n},{row}' for n, row in zip(nanoseconds, lines(rows[:, 1:])))])
    np.testing.assert_allclose(r.time, R.time, atol=1e-6)
    assert noted(r, 'time in ns, for it counts from 1970')
    bare = [SHORT[2:], *lines(rows[:, 1:])]
    assert 'no column of time' in refusal(bare)
    compare(got(bare, rate=250.0), R)
    r = got([SHORT, *lines(rows)], rate=500.0)
    assert r.time[-1] == pytest.approx(R.time[-1] / 2) and noted(r, 't is not used')


ROW = '0.1,0.2,0.3,0.4,0.5,0.6,0.7'
REFUSED = (
    ([SHORT, '2026-05-04 10:11:0' + ROW[3:]], 'a.csv',
     ('column t', "'2026-05-04 10:11:0'", 'rate=')),
    ([SHORT, '0' + ROW[3:].replace('.', 'D')], 'a.csv',
     ('no number in the columns of the positions', 'D')),
    (['t;q;tau', '0.1;[0.1, 0.2];[1.0, 2.0]', '0.2;[0.1, 0.2];[1.0, 2.0]'], 'a.csv',
     ('a number a cell',)),
    (['t,q1,dq1,tau1', '0.1,0.2,0.3,0.4'], 'a.csv', ('no joint joint2',)),
    ('1.0\n2.0\n3.0\n', 'a.txt', ('side by side',)),
    *((b'PK\x03\x04\x00', f'a{suffix}', (said,)) for suffix, said in (
        ('.xlsx', 'CSV'), ('.json', 'CSV'), ('.npy', 'savez'), ('.bag', 'ROS 1'),
        ('.dat', 'not text'))),
    (b'MATLAB 7.3 MAT-file'.ljust(116) + bytes(8) + b'\x00\x02IM' + bytes(400), 'a.mat',
     ("'-v7'",)), (b'no matrix at all', 'a.mat', ('cannot be read',)), (b'no zip', 'a.npz', ()),
    *((text, 'a.csv', ()) for text in (
        b'', 'hello\n', b'\xff\xfe\x00', 'x,y\n1,2\n3,4\n', 'x,y\na,b\nc,d', f'{SHORT}\n',
        f'{SHORT}\n{SHORT}', f'{SHORT}\n0.1,0.2', '\n\n1,2\n',
        SHORT.replace('q', 'q1') + '\n' + '1,2,3,4,5,6,7\n' * 3, '"\n"\n"', ';;;\n;;;', '#\n#')))


@pytest.mark.parametrize(('content', 'name', 'said'), REFUSED)
def test_what_is_no_recording_is_refused(refusal, content, name, said):
    message = refusal(content, name=name)
    assert all(words in message for words in said), message


@pytest.mark.parametrize(('at', 'byte'), [(176, 8), (177, 16), (132, 255)])
def test_a_matlab_file_with_a_damaged_element_is_refused(refusal, at, byte):
    """Unknown types and sizes beyond the file, of which ``loadmat`` dies."""
    file = io.BytesIO()
    savemat(file, {'time': np.arange(40.0), 'position': np.ones((40, 2))})
    content = bytearray(file.getvalue())
    content[at] = byte
    assert 'an element of type' in refusal(bytes(content), name='a.mat')


def test_no_such_file(tmp_path):
    with pytest.raises(RecordingError, match='no file'):
        read(tmp_path / 'a.csv', robot('two_link'))


@pytest.mark.parametrize(('unit', 'least'), [('rad', -np.pi), ('rad', 0.0), ('deg', 0.0)])
def test_a_joint_without_limits_turns_on(got, unit, least):
    """Encoders count a turn; lost cells and a joint with limits change nothing of it."""
    urdf = robot('two_link').to_urdf().replace('"revolute"', '"continuous"', 1)
    r, turning = recorded('two_link'), recorded('two_link').position.copy()
    turning[:, 0] = 3.0 * np.sin(np.arange(len(r)) / 200) + 0.005 * np.arange(len(r))
    rows = np.c_[r.time, turning, r.effort]
    rows[:, 1] = (rows[:, 1] - least) % (2 * np.pi) + least
    rows[300, 1] = np.nan
    rows[:, 1:3] *= np.rad2deg(1.0) if unit == 'deg' else 1.0
    text = ['t,q1,q2,tau1,tau2', *lines(rows)]
    found = got(text, model=load_urdf(urdf), units={'position': unit})
    moved = found.position - turning
    assert np.nanmax(np.ptp(moved[np.isfinite(moved).all(1)], axis=0)) < 1e-6
    assert any(note.startswith('joint1: ') for note in found.notes)
    limited = got(text, units={'position': unit})
    assert np.nanmax(np.abs(np.diff(limited.position[:, 0]))) > 6.0


def test_wrapped_angles_within_the_limits_are_unwrapped(got):
    r = recorded('two_link')

    def within(limit):
        return replace(robot('two_link'), position_lower=np.full(2, -limit),
                       position_upper=np.full(2, limit))
    position = r.position + [3.0, 0.0]
    wrapped = (position + np.pi) % (2 * np.pi) - np.pi
    assert abs(np.diff(wrapped, axis=0)).max() > 6.0
    text = [SHORT, *lines(np.c_[r.time, wrapped, r.velocity, r.effort])]
    moved = got(text, model=within(2 * np.pi)).position - position
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-6)
    assert abs(np.diff(got(text, model=within(3.2)).position, axis=0)).max() > 6.0


@pytest.mark.parametrize('names', [('position', 'velocity', 'torque'), ('q', 'dq', 'tau'),
                                   ('position', 'velocity', 'effort')])
def test_arrays(tmp_path, names):
    """With the time, or with samples in columns and a rate."""
    path = tmp_path / 'a.npz'
    arrays = dict(zip(names, (R.position, R.velocity, R.effort)))
    np.savez(path, time=R.time, **arrays)
    compare(read(path, robot('two_link')), R)
    arrays = {name: array.T for name, array in arrays.items()}
    np.savez(path, limits=np.ones((2, 2)), **arrays)
    savemat(tmp_path / 'a.mat', arrays)
    for file in (path, tmp_path / 'a.mat'):
        compare(read(file, robot('two_link'), rate=250.0), R)
        with pytest.raises(RecordingError, match='no column of time'):
            read(file, robot('two_link'))


def test_arrays_with_names_of_joints_of_two_lengths_and_of_matlab(tmp_path):
    path = tmp_path / 'a.npz'
    np.savez(path, stamps=R.time, x=R.position[:, ::-1].T, y=R.effort[:, ::-1],
             joint_names=['joint2', 'joint1'])
    found = read(path, robot('two_link'), columns={'time': 'stamps', 'position': 'x',
                                                   'effort': 'y'})
    np.testing.assert_array_equal(found.position, R.position)
    np.testing.assert_array_equal(found.effort, R.effort)
    assert noted(found, 'transposed')
    np.savez(path, time=R.time, q=R.position[:, ::-1], joint_names=['arm_j2', 'arm_j1'])
    found = read(path, robot('two_link'))
    np.testing.assert_array_equal(found.position, R.position)
    assert noted(found, 'arm_j1 → joint1, arm_j2 → joint2')
    np.savez(path, time=R.time, q=R.position, dq=R.velocity, tau=R.effort[::2])
    with pytest.raises(RecordingError, match=r'500 samples, and tau of the shape \(250, 2\)'):
        read(path, robot('two_link'))
    savemat(tmp_path / 'a.mat', {'t': R.time, 'q': R.position, 'qd': R.velocity.T,
                                 'tau': R.effort, 'Ts': 0.004, 'robot': 'two_link'})
    compare(read(tmp_path / 'a.mat', robot('two_link')), R)
    savemat(tmp_path / 'a.mat', {'log': {'t': R.time, 'q': R.position, 'qd': R.velocity,
                                         'tau': R.effort, 'robot': 'two_link'}, 'Ts': 0.004})
    compare(read(tmp_path / 'a.mat', robot('two_link')), R)

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables as programs of others write them: read right, or refused with what to do."""

from excited import recorded, robot
import numpy as np
import pytest
from robodyn_ros.errors import RecordingError, UnknownNameError
from robodyn_ros.identification.recordings.read import read
from scipy.io import savemat

pytestmark = pytest.mark.slow

SHORT = 't,q1,q2,dq1,dq2,tau1,tau2'
DEGREES = np.array([1.0, *[180 / np.pi] * 4, 1.0, 1.0])
HEADERS = {
    'camel': 'Time,jointPosition1,jointPosition2,jointVelocity1,jointVelocity2,jointTorque1,'
             'jointTorque2',
    'KUKA': 'Time[s],MeasuredJointPosition_A1,MeasuredJointPosition_A2,'
            'MeasuredJointVelocity_A1,MeasuredJointVelocity_A2,MeasuredTorque_A1,'
            'MeasuredTorque_A2',
    'FRI': 'times,msrJntPos1,msrJntPos2,msrJntVel1,msrJntVel2,msrTrq1,msrTrq2',
    'axes': 't,AXIS_ACT_A1,AXIS_ACT_A2,VEL_AXIS_ACT_A1,VEL_AXIS_ACT_A2,TORQUE_AXIS_ACT_A1,'
            'TORQUE_AXIS_ACT_A2',
    'plotted': '__time,/joint_states/joint1/pos,/joint_states/joint2/pos,'
               '/joint_states/joint1/vel,/joint_states/joint2/vel,/joint_states/joint1/eff,'
               '/joint_states/joint2/eff',
    'other names': 't,a_j1_pos,a_j2_pos,a_j1_vel,a_j2_vel,a_j1_eff,a_j2_eff',
    'names alone': 't,JOINT1,joint2,JOINT1_VEL,joint2 vel,JOINT1_TRQ,joint2 trq'}
UNITS = {
    'words': 'Time (seconds),q1 (degrees),q2 (degrees),dq1 (degrees/s),dq2 (deg/sec),tau1 (N-m),'
             'tau2 (N-m)',
    'under a line': 't/s,q1/°,q2/°,dq1/°/s,dq2/°/s,tau1/Nm,tau2/Nm',
    'at the end': 'time_s,q1_deg,q2_deg,dq1_deg_s,dq2_deg_s,tau1_Nm,tau2_Nm',
    'in the middle': 'time_s,q_deg_1,q_deg_2,dq_deg_s_1,dq_deg_s_2,tau_Nm_1,tau_Nm_2',
    'below': SHORT + '\n[s],[deg],[deg],[deg/s],[deg/s],[Nm],[Nm]'}


def table():
    r = recorded('two_link')
    return np.c_[r.time, r.position, r.velocity, r.effort]


def lines(rows, separator=','):
    return [separator.join(f'{x:.9g}' for x in row) for row in rows]


def got(path, content, **how):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path, robot('two_link'), **how)


def compare(r):
    for name in ('time', 'position', 'velocity', 'effort'):
        np.testing.assert_allclose(getattr(r, name), getattr(recorded('two_link'), name),
                                   rtol=1e-7, atol=1e-7)
    assert r.effort_unit == 'N·m'


def refusal(path, content, **how):
    with pytest.raises(RecordingError) as refused:
        got(path, content, **how)
    return str(refused.value)


@pytest.mark.parametrize('header', HEADERS.values(), ids=HEADERS)
def test_headers_of_other_programs(tmp_path, header):
    compare(got(tmp_path / 'a.csv', '\n'.join([header, *lines(table())])))


@pytest.mark.parametrize('header', UNITS.values(), ids=UNITS)
@pytest.mark.parametrize('encoding', ['utf-8', 'latin-1', 'utf-16'])
def test_units_as_headers_write_them(tmp_path, header, encoding):
    text = '\n'.join([header, *lines(table() * DEGREES)])
    compare(got(tmp_path / 'a.csv', text.encode(encoding)))


def test_each_column_has_its_own_unit(tmp_path):
    header = 't,q1 [deg],q2 [rad],dq1,dq2,tau1 [Nm],tau2 [mNm],current1,current2'
    rows = np.c_[table() * [1, 180 / np.pi, 1, 1, 1, 1, 1e3], table()[:, 5:]]
    text = '\n'.join([header, *lines(rows)])
    r = got(tmp_path / 'a.csv', text)
    compare(r)
    assert 'columns not used: current1, current2' in r.notes
    r = got(tmp_path / 'a.csv', text, units={'effort': {'joint1': '-N·m'}})
    np.testing.assert_allclose(r.effort, recorded('two_link').effort * [-1, 1], rtol=1e-6)
    r = got(tmp_path / 'a.csv', text, columns={'effort': 'current{i}'})
    assert r.effort_unit == 'A'


def test_what_stands_around_the_numbers(tmp_path):
    rows, header = lines(table()), SHORT
    named = ['"' + f'{k}",' + row for k, row in enumerate(rows)]
    comma = ['"' + '","'.join(f'{x:.9g}'.replace('.', ',') for x in row) + '"'
             for row in table()]
    for text in (['sep=,', 'Recorded by a program', header, *rows, 'end'],
                 [header, *(row + ',' for row in rows)], [row + ',' for row in rows],
                 [header, *named], [header, *comma]):
        compare(got(tmp_path / 'a.csv', '\n'.join(text)))
    missing = got(tmp_path / 'a.csv', '\n'.join([header, '0.1,' + ','.join(['NA'] * 6), *rows]))
    compare(missing)
    assert '1 lines left out: no values of the joints' in missing.notes


def test_a_list_says_which_columns(tmp_path):
    bare = '\n'.join(lines(np.c_[table()[:, :1], table()]))
    said = refusal(tmp_path / 'a.csv', bare)
    assert "columns={'time': 0, 'position': '1-2', 'effort': '3-4'}" in said
    compare(got(tmp_path / 'a.csv', bare, columns={
        'time': '1', 'position': '2-3', 'velocity': '4,5', 'effort': '6-7'}))
    headed = '\n'.join(['n,a,b,c,d,e,f', *lines(table())])
    compare(got(tmp_path / 'a.csv', headed, columns={
        'time': 'n', 'position': 'a,b', 'velocity': 'c, 4', 'effort': '5-6'}))
    with pytest.raises(UnknownNameError, match="no column 'x'"):
        got(tmp_path / 'a.csv', headed, columns={'time': 'n', 'position': 'a,x'})


def test_what_is_no_number_is_told(tmp_path):
    clock = [f'2026-05-04 10:11:{row}' for row in lines(table())]
    said = refusal(tmp_path / 'a.csv', '\n'.join([SHORT, *clock]))
    assert 'column t' in said and "'2026-05-04 10:11:0'" in said and 'rate=' in said
    fortran = [row.replace('.', 'D') for row in lines(table())]
    said = refusal(tmp_path / 'a.csv', '\n'.join([SHORT, *fortran]))
    assert 'no number in the columns of the positions' in said and 'D' in said
    lists = ['0.1;[0.1, 0.2];[1.0, 2.0]', '0.2;[0.1, 0.2];[1.0, 2.0]']
    assert 'a number a cell' in refusal(tmp_path / 'a.csv', '\n'.join(['t;q;tau', *lists]))
    assert 'side by side' in refusal(tmp_path / 'a.txt', '1.0\n2.0\n3.0\n')


def test_a_rate_beside_a_column_of_time(tmp_path):
    r = got(tmp_path / 'a.csv', '\n'.join([SHORT, *lines(table())]), rate=500.0)
    assert r.time[-1] == pytest.approx(recorded('two_link').time[-1] / 2)
    assert any('t is not used' in note for note in r.notes)


@pytest.mark.parametrize('suffix, says', [('.xlsx', 'CSV'), ('.json', 'CSV'), ('.npy', 'savez'),
                                          ('.bag', 'ROS 1'), ('.dat', 'not text')])
def test_other_kinds_of_files(tmp_path, suffix, says):
    assert says in refusal(tmp_path / f'a{suffix}', b'PK\x03\x04\x00')


def test_matlab(tmp_path):
    r = recorded('two_link')
    arrays = {'t': r.time, 'q': r.position, 'qd': r.velocity.T, 'tau': r.effort, 'Ts': 0.004,
              'robot': 'two_link'}
    savemat(tmp_path / 'a.mat', arrays)
    compare(read(tmp_path / 'a.mat', robot('two_link')))
    newer = b'MATLAB 7.3 MAT-file'.ljust(116) + bytes(8) + b'\x00\x02IM' + bytes(400)
    assert "'-v7'" in refusal(tmp_path / 'a.mat', newer)
    assert 'no table' in refusal(tmp_path / 'a.mat', b'no matrix at all')


@pytest.mark.parametrize('text', [
    'x,y\na,b\nc,d', f'{SHORT}\n', f'{SHORT}\n{SHORT}', f'{SHORT}\n0.1,0.2', '\n\n1,2\n',
    SHORT.replace('q', 'q1') + '\n' + '1,2,3,4,5,6,7\n' * 3, '"\n"\n"', ';;;\n;;;', '#\n#'])
def test_little_is_refused_plainly(tmp_path, text):
    assert refusal(tmp_path / 'a.csv', text)

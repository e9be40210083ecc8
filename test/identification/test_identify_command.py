# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From a recording to a corrected URDF, as a person types it; the same model on another one."""

import importlib.util
from io import StringIO
import json
import shutil
import sys

from cli.commands import done, robodyn
from motions import nominal, OFFSET, real, write_csv
import numpy as np
import pytest
from rich.console import Console
from robodyn_ros import load_urdf, Settings
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli.excite import recorded
from robodyn_ros.cli.identify import _text, robot_options, with_meshes
from robodyn_ros.cli.recording_options import read_options, reading_words
from robodyn_ros.errors import RecordingError, RobodynError, UnknownNameError
from robodyn_ros.identification.result_files import write_friction
from robodyn_ros.model import resources
from robodyn_ros.model.friction_file import RANGES, read_friction
from robodyn_ros.model.robot import with_payload
from robodyn_ros.nodes.middleware.parameter_files import values_in
from viewer.browser import check_report
import yaml

pytestmark = pytest.mark.slow
VALIDATE = 'identify', '--validate'


def command(monkeypatch, *words):
    """Run the same with sys.argv as a shell sets it."""
    monkeypatch.setattr(sys, 'argv', ['robodyn', *map(str, words)])
    return robodyn(*words)


@pytest.fixture
def no_scene(monkeypatch):
    """Leave the moving robot out of reports, which takes a process of its own."""
    monkeypatch.setitem(sys.modules, 'viser', None)


@pytest.fixture(scope='module')
def identified(tmp_path_factory):
    folder = tmp_path_factory.mktemp('identified')
    recording = write_csv(folder / 'fit.csv', real(), 1, 16.0)
    words = ['identify', recording, '--robot', 'two_link', '--output', folder / 'out',
             '--verbose']
    with pytest.MonkeyPatch.context() as patch:
        result = command(patch, *words)
    assert result.exit_code == 0, result.output
    return folder, result.output


def test_it_says_and_writes_what_it_found(identified):
    folder, output = identified
    for text in ('position in rad', 'cutoff', 'fitted: the first 70%', 'armature:',
                 'base parameters', 'consistent', 'URDF as it is', 'corrected.urdf'):
        assert text in output, text
    assert 'delay' in output or 'later than positions' in output
    given = yaml.safe_load((folder / 'out/parameters.yaml').read_text())
    assert given['joints'] == ['joint1', 'joint2']
    relative = {name: np.mean(of['relative_rms']) for name, of in given['validation'].items()}
    assert relative['consistent'] < 0.05 < relative['URDF as it is']
    assert all({'name', 'value', 'standard_error', 'combination'} <= set(row)
               for row in given['base_parameters'])
    text = (folder / 'out/report.html').read_text()
    assert 'identify' in text and '--robot two_link' in text
    moving = 'The motion that was predicted' in text and 'srcdoc=' in text
    assert moving == (importlib.util.find_spec('viser') is not None)


def test_the_report_fits_a_telephone(identified, browser):
    folder, _ = identified
    text = (folder / 'out/report.html').read_text()
    assert 'The exported model predicts' in text and f'<td>{folder / "fit.csv"}</td>' in text
    check_report(browser, folder / 'out/report.html', 4)


def test_the_urdf_is_that_of_the_robot(identified):
    folder, _ = identified
    found = load_urdf(folder / 'out/corrected.urdf')
    truth = real()
    # What efforts tell: of the tip its first moment and inertia; of all, gravity at the first axis
    assert found.joint_names == truth.joint_names
    moments = [m.inertial_parameters.reshape(2, 10) for m in (found, truth)]
    np.testing.assert_allclose(moments[0][1, [1, 9]], moments[1][1, [1, 9]], rtol=0.03)
    torque = [m[0, 1] + 0.5 * m[1, 0] for m in moments]
    assert torque[0] == pytest.approx(torque[1], rel=0.01)
    assert nominal().inertial_parameters[1] != pytest.approx(torque[1], rel=0.05)


def test_friction_goes_to_the_controller(identified):
    folder, _ = identified
    given = yaml.safe_load((folder / 'out/friction.yaml').read_text())
    values = given['/**/controller']['ros__parameters']
    np.testing.assert_allclose(values['viscous_friction'], real().viscous_friction, atol=0.1)
    np.testing.assert_allclose(values['coulomb_friction'], real().coulomb_friction, atol=0.1)
    np.testing.assert_allclose(values['friction_offset'], OFFSET, atol=0.1)
    assert values['coulomb_friction'] == values['static_friction']
    assert 'friction_compensation' not in values
    urdf = load_urdf(folder / 'out/corrected.urdf')
    both = load_urdf('two_link', friction=folder / 'out/friction.yaml')
    for name in ('viscous_friction', 'coulomb_friction', 'static_friction', 'armature'):
        np.testing.assert_allclose(getattr(urdf, name), getattr(both, name), rtol=1e-5)
    for read in READERS.values():
        read(folder / 'out/friction.yaml', urdf)


READERS = {
    'validate': lambda file, model: read_friction(file, model),
    'verify, node': lambda file, model: Settings(**{name: values for name, values in values_in(
        file, '/controller').items() if name in RANGES}),
    'load_urdf': lambda file, model: load_urdf('two_link', friction=file)}


@pytest.mark.parametrize('name', RANGES)
def test_a_number_is_in_the_range_of_all_that_read_it_or_of_none(tmp_path, name):
    """A file of friction: identification, simulator and controller have one table."""
    model, path = nominal(), tmp_path / 'friction.yaml'
    for read in READERS.values():
        for value in RANGES[name]:
            write_friction(path, {name: [value, value]}, model.joint_names)
            read(path, model)
        write_friction(path, {name: [value, 1.01 * value]}, model.joint_names)
        with pytest.raises(RobodynError, match=name):
            read(path, model)


def test_a_version_that_is_not_found_ends_nothing(monkeypatch):
    """In an overlaid installation package.xml may be missing, which a report is not worth."""
    def missing(*parts):
        raise UnknownNameError('file', 'package.xml', ())
    monkeypatch.setattr(resources, 'share_path', missing)
    assert resources.package_version() == 'unknown'


def test_it_predicts_another_recording_with_the_filter_of_the_identification(identified):
    folder, output = identified
    cutoff = yaml.safe_load((folder / 'out/parameters.yaml').read_text())['cutoff']
    assert f'cutoff {cutoff:.3g} Hz: ' in output
    other = write_csv(folder / 'other.csv', real(), 2, 12.0)
    mean = []
    for words in (['two_link'], [folder / 'out/corrected.urdf', '--friction',
                                 folder / 'out/friction.yaml']):
        said = done(*VALIDATE, other, '--robot', *words).output
        mean.append(float(said.split('mean relative RMS')[1].split()[0]))
    assert mean[1] < 3.0 < 0.2 * mean[0] and f'cutoff {cutoff:.3g} Hz: as asked' in said
    assert 'cutoff 7 Hz: as asked' in done(*VALIDATE, other, '--robot', *words, '--cutoff',
                                           '7').output
    found = json.loads(done(*VALIDATE, other, '--robot', *words, '--json').stdout)
    assert 100.0 * found['mean_relative'] == pytest.approx(mean[1], abs=0.006)
    assert found['joints'] == ['joint1', 'joint2'] and len(found['rms']) == 2


@pytest.mark.parametrize('text', [
    None, '/**/controller: {ros__parameters: {coulomb_friction: [1.0]}}', ''])
def test_files_that_cannot_be_read_are_named(identified, tmp_path, text):
    """No friction, that of other joints, or numbers beside it that are none."""
    folder, _ = identified
    file = named = tmp_path / 'friction.yaml'
    if text:
        file.write_text(text)
    elif text == '':
        shutil.copy(folder / 'out/friction.yaml', file)
        (named := tmp_path / 'parameters.yaml').write_text('cutoff: 5.0')
    result = robodyn(*VALIDATE, folder / 'fit.csv', '--robot', 'two_link', '--friction', file)
    assert result.exit_code == 1 and str(named) in result.output


def test_numbers_of_another_identification_are_refused(identified, tmp_path):
    """As `calibrate float` leaves them, which writes the other two files of a folder."""
    folder, _ = identified
    for name in ('friction.yaml', 'parameters.yaml'):
        shutil.copy(folder / 'out' / name, tmp_path / name)
    file = tmp_path / 'friction.yaml'
    words = (*VALIDATE, folder / 'fit.csv', '--robot', 'two_link', '--friction', file)
    assert robodyn(*words).exit_code == 0
    given = yaml.safe_load(file.read_text())
    given['/**/controller']['ros__parameters']['friction_compensation'] = [0.8, 0.8]
    file.write_text(yaml.safe_dump(given))
    assert robodyn(*words).exit_code == 0
    given['/**/controller']['ros__parameters']['coulomb_friction'] = [0.5, 0.5]
    file.write_text(yaml.safe_dump(given))
    result = robodyn(*words)
    assert result.exit_code == 1
    assert 'not of this friction.yaml: coulomb_friction differ' in ' '.join(result.output.split())


def test_torque_constants_are_found_with_a_load_or_one_of_them(tmp_path):
    """Of currents that are efforts in N·m: 1 N·m/A each."""
    empty = write_csv(tmp_path / 'empty.csv', real(), 1, 8.0)
    held = write_csv(tmp_path / 'held.csv', with_payload(real(), 'link2', 1.5, (0.4, 0.0, 0.0)), 3,
                     8.0)
    words = ['identify', empty, '--robot', 'two_link', '--units', 'effort=A', '--drive-gains']
    load = ['--loaded', held, '--frame', 'link2', '--mass', 1.5, '--com', '0.4,0,0']
    found = json.loads(robodyn(*words, *load, '--json').stdout)
    assert found['joints'] == ['joint1', 'joint2'] and not found['relative']
    assert found['gains'] == pytest.approx([1.0, 1.0], rel=0.05)
    output = robodyn(*words, '--known', 'joint1=2').output
    assert 'robodyn identify ... --units effort.joint1=2 --units effort.joint2=' in output
    for wrong, said in ((load[:2], 'belong together'), (['--payload'], 'not clear what'),
                        (['--validate', held], 'not clear what'),
                        (['--known', 'joint1='], 'write a joint and its gain'),
                        (['--units', 'effort=N·m'], 'are no currents')):
        result = robodyn(*words, *wrong)
        assert result.exit_code == 1 and said in ' '.join(result.output.split()), result.output


def test_it_weighs_what_is_in_the_hand(identified):
    folder, _ = identified
    loaded = with_payload(real(), 'link2', 0.35, (0.4, 0.0, 0.0))
    recording = write_csv(folder / 'loaded.csv', loaded, 3, 12.0)
    result = robodyn('identify', recording, '--robot', folder / 'out/corrected.urdf', '--friction',
                     folder / 'out/friction.yaml', '--payload', '--frame', 'link2')
    assert result.exit_code == 0, result.output
    lines = dict(line.split(': ', 1) for line in result.output.splitlines()
                 if line.startswith('payload_'))
    assert lines['payload_frame'] == 'link2'
    assert float(lines['payload_mass']) == pytest.approx(0.35, abs=0.05)
    assert yaml.safe_load(lines['payload_com'])[0] == pytest.approx(0.4, abs=0.05)
    assert 'com z' in result.output
    assert not any(word in result.output for word in ('reverse its sign', 'spring', 'lacks'))


@pytest.mark.parametrize(('words', 'says'), [
    (['--split', '1.0'], 'split'),
    (['--delay', 'soon'], 'write seconds'), (['--units', 'effort'], 'write a quantity'),
    (['--units', 'effort=A'], 'currents'), (['--columns', 'position=none{i}'], 'no'),
    (['--robot', 'arm6'], '(--root ..., --tip ...)'),
    (['--payload', '--frame', 'link2', '--units', 'effort=A'], 'currents'),
    (['--payload', '--frame', 'base_link'], 'base'), (['--payload', '--frame', 'hand'], 'hand')])
def test_what_makes_no_sense_is_refused_in_one_line(identified, words, says):
    folder, _ = identified
    result = robodyn('identify', folder / 'fit.csv', '--robot', 'two_link', *words)
    assert result.exit_code == 1
    assert result.output.strip().splitlines()[-1].startswith('robodyn:') and says in result.output


def test_what_was_read_is_told_before_what_is_refused(identified, tmp_path):
    folder, _ = identified
    table = np.loadtxt(folder / 'fit.csv', delimiter=',', skiprows=1)
    table[:, 3] *= -1
    np.savetxt(tmp_path / 'bare.txt', np.column_stack([np.arange(len(table)), table]))
    words = [*VALIDATE, tmp_path / 'bare.txt', '--robot', 'two_link']
    result = robodyn(*words)
    assert '--columns time=0 --columns position=1-2 --columns effort=3-4' in result.output
    words += ['--columns', 'time=1', '--columns', 'position=2-3', '--columns', 'effort=4-5']
    result = robodyn(*words)
    assert result.exit_code == 1
    read, refused = result.output.split('robodyn:')
    assert '4 → joint1, 5 → joint2' in read and 'columns not used: 0' in read
    assert '--units effort.joint1=-N·m' in refused
    turned = robodyn(*words, '--units', 'effort.joint1=-N·m')
    assert turned.exit_code == 0 and turned.output.count('4 → joint1') == 1
    backwards = robodyn(*words, '--units', 'effort.joint1=-N·m', '--joints', 'joint2,joint1')
    assert backwards.exit_code == 1 and '--joints joint2,joint1' in backwards.output
    table[:, 0] = np.floor(50.0 * table[:, 0]) / 50.0
    np.savetxt(tmp_path / 'bare.txt', np.column_stack([np.arange(len(table)), table]))
    coarse = robodyn(*words, '--friction', folder / 'out/friction.yaml')
    assert coarse.exit_code == 1 and '--rate' in coarse.output


def test_options_are_obeyed_and_the_next_command_has_them(tmp_path, monkeypatch, no_scene):
    """
    Those of the robot, and the delay.

    The motion is too slow to tell the armature, which is no reason to refuse a model without it.
    """
    recording = write_csv(tmp_path / 'fit.csv', real(), 1, 12.0)
    result = command(monkeypatch, 'identify', recording, '--robot', 'two_link', '--gravity',
                     '0,0,-9.8', '--delay', '0.002', '--no-armature', '--output', tmp_path / 'out')
    assert result.exit_code == 0, result.output
    line = ' '.join(result.output.split())
    assert '--gravity 0,0,-9.8' in line[line.index('robodyn identify --validate RECORDING'):]
    assert '--gravity 0,0,-9.8 --at 0.4,0.9' in line[line.index('robodyn excite'):]
    again = robodyn(*VALIDATE, recording, '--robot', tmp_path / 'out/corrected.urdf',
                    '--friction', tmp_path / 'out/friction.yaml', '--gravity', '0,0,-9.8')
    assert '- delay of the efforts 2 ms, cut-off as identified' in again.output
    # The summary; the rest is in the report
    assert len(result.output.splitlines()) <= 25 and 'position in rad' not in result.output
    assert 'mean relative RMS' in line and 'with the original URDF' in line
    for word in ('viscous', 'Coulomb', 'corrected.urdf', 'report.html', '--verbose'):
        assert word in line
    given = yaml.safe_load((tmp_path / 'out/friction.yaml').read_text())
    assert given['/**/controller']['ros__parameters']['gravity'] == [0.0, 0.0, -9.8]
    numbers = yaml.safe_load((tmp_path / 'out/parameters.yaml').read_text())
    assert not any('armature' in each['name'] for each in numbers['parameters'])


def test_a_urdf_in_another_encoding_is_read_as_by_inspect(tmp_path):
    """The text is written as UTF-8, without the declaration of another encoding."""
    (path := tmp_path / 'arm.urdf').write_bytes(
        '<?xml version="1.0" encoding="ISO-8859-1"?><robot name="größe"/>'.encode('latin-1'))
    assert _text(path) == '<?xml version="1.0"?><robot name="größe"/>'


def test_the_next_motion_is_of_the_urdf_whose_meshes_are_found(tmp_path):
    urdf, mesh = tmp_path / 'arm.urdf', tmp_path / 'meshes/link.stl'
    urdf.write_text('<robot name="arm"><link name="a"><collision><geometry>'
                    '<mesh filename="meshes/link.stl"/></geometry></collision></link></robot>')
    mesh.parent.mkdir()
    mesh.write_bytes(b'')
    corrected = tmp_path / 'identified/corrected.urdf'
    corrected.parent.mkdir()
    corrected.write_text(urdf.read_text())
    assert with_meshes(corrected, urdf) == urdf
    corrected.write_text('<robot name="arm"><link name="a"/></robot>')
    assert with_meshes(corrected, urdf) == corrected


def test_locked_joints_of_a_known_robot_are_named():
    """Its configuration locks them, and a URDF that is written has no configuration."""
    one = load_robot('two_link', {'joint2': 0.5}, [])
    assert robot_options(one, '', '', '0,0,-9.8') == ['--locked', 'joint2=0.5', '--gravity',
                                                      '0,0,-9.8']
    panda = load_robot('panda', {}, [])
    words = robot_options(panda, '', '', '')
    assert [word.partition('=')[0] for word in words[1::2]] == [
        'panda_finger_joint1', 'panda_finger_joint2']
    again = load_robot(str(panda.path), {
        word.partition('=')[0]: float(word.partition('=')[2]) for word in words[1::2]}, [])
    assert again.model.joint_names == panda.model.joint_names


def test_the_next_motion_is_proposed_with_options_that_read_this_recording(tmp_path):
    """Columns that no header tells: without the options the recording is refused."""
    path = write_csv(tmp_path / 'fit.csv', real(), 1, 4.0)
    path.write_text('a,b,c,d,e\n' + path.read_text().partition('\n')[2])
    words = reading_words(['time=0', 'position=1-2', 'effort=3-4'], [], None, '', '')
    assert words == ['--columns', 'time=0', '--columns', 'position=1-2', '--columns', 'effort=3-4']
    assert reading_words([], ['effort=-1'], 500.0, '/joints', 'a,b') == [
        '--units', 'effort=-1', '--rate', '500', '--states', '/joints', '--joints', 'a,b']
    two_link, out = load_robot('two_link', {}, []), Console(file=StringIO())
    motion, = recorded([path], two_link, read_options(words[1::2], [], None, '', ''), out)
    assert motion.joint_names == two_link.model.joint_names and len(motion) > 500
    for columns, missing in (({}, 'positions'), ({'time': 0, 'position': '1-2'}, 'efforts')):
        with pytest.raises(RecordingError, match=f'has no {missing}'):
            recorded([path], two_link, {'columns': columns}, out)


def test_what_predicts_nothing_is_not_written(tmp_path, monkeypatch, no_scene):
    """Efforts of another motion: an error, no file; with --force they are written."""
    path = write_csv(tmp_path / 'fit.csv', real(), 1, 6.0)
    table = np.genfromtxt(path, delimiter=',', names=True)
    columns = np.array(table.tolist())
    rng = np.random.default_rng(0)
    columns[:, -2:] = np.cumsum(rng.normal(size=(len(columns), 2)), axis=0)
    np.savetxt(path, columns, delimiter=',', header=','.join(table.dtype.names), comments='')
    accepted = 'effort sign', 'effort unit', 'gravity', 'mounting', 'order', 'direction'
    words = ['identify', path, '--robot', 'two_link', '--output', tmp_path / 'out', '--presliding',
             'none', '--delay', '0', *(f'--accept={kind}' for kind in accepted)]
    result = command(monkeypatch, *words)
    assert result.exit_code == 1 and not (tmp_path / 'out').exists()
    assert 'nothing is written' in result.output and '--force' in result.output
    assert 'position in rad' in result.output       # how it was read
    result = command(monkeypatch, *words, '--force')
    assert result.exit_code == 3, result.output
    assert result.output.startswith('! unidentified, without friction: joint1, joint2\n')
    assert (tmp_path / 'out/friction.yaml').exists()


def test_a_load_that_outweighs_the_model(tmp_path, monkeypatch):
    """The model without it is not asked whether the efforts of the wrist are right."""
    model = nominal()
    loaded = with_payload(model, model.link_names[-1], 30.0, (-0.9, 0.0, 0.0))
    path = write_csv(tmp_path / 'loaded.csv', loaded, 1, 12.0, np.zeros(2))
    words = [path, '--robot', 'two_link']
    assert 'effort' in command(monkeypatch, 'identify', *words, '--output', tmp_path).output
    result = command(monkeypatch, 'identify', *words, '--payload', '--frame', model.link_names[-1])
    assert result.exit_code == 0, result.output
    assert 'payload_mass: 30.' in result.output or 'payload_mass: 29.9' in result.output

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/safety.md says what the code does: rows, reason codes, phases, parameters, numbers."""

from collections import defaultdict
from pathlib import Path
import re
import runpy

from faults.rows import with_rows
import pytest
from robodyn_ros.control.settings import settings
from robodyn_ros.control.steps import guard
from robodyn_ros.control.steps.acceleration_limits import VELOCITY_SHARE
from robodyn_ros.nodes.controller import parameters as controller_parameters
from robodyn_ros.nodes.simulator import parameters as simulator_parameters

ROOT = Path(__file__).parents[2]
PAGE = ROOT / 'docs' / 'safety.md'
TEXT = PAGE.read_text()
OTHERS = {'joint_states', 'robot_description', 'commands',              # topics
          'forward_command_controller', 'enforce_command_limits'}       # of ros2_control
DECLARED = [*controller_parameters.TABLE, *simulator_parameters.TABLE]
PARAMETERS = {p.name for p in DECLARED} | {'use_sim_time'}
ITEM = r'^- \[(.*?)\]\(\.\./(test/faults/.*?)\): (?:.*?\.)(?: \((`.*)\))?$'

# On node, plugin and C library: rows, and the test of each, in the file that the cell links
SECTION = TEXT.partition('### Node, plugin and C library\n')[2].partition('\n#')[0]
PARITY = {
    'another robot': (
        'test_autostart', 'test_another_robot_with_the_same_joints_is_refused',
        'test_the_library_tells_what_was_exported'),
    'not armed': (
        'test_autostart_is_refused', 'test_the_first_reason_of_a_refused_arming_is_reported',
        'test_stops_of_others'),
    '`stop_with: zero`': (
        'test_nobody_would_hold_the_arm', 'test_a_stop_that_would_drop_the_arm_is_refused',
        'test_a_stop_ends_with_no_efforts'),
    'efforts not written': (
        'test_efforts_that_are_not_taken_for_some_time_are_a_fault',
        'test_commands_that_are_not_taken_end_the_controller', 'test_stops_of_others'),
    'payload, settings': (
        'test_payload', 'test_a_payload_declared_before_activation_is_carried_from_then_on',
        'test_a_payload_changes_gravity_within_its_bounds'),
    'fault recorded': (
        'test_a_dead_robot_is_recorded_and_replayed', 'test_each_fault_is_reported_and_recorded',
        'test_a_recording_of_the_program_is_recomputed_bit_for_bit')}


def quoted(text: str) -> set[str]:
    return set(re.findall('`([^`]+)`', text))


def test_rows():
    """Each row is that of tests in its file, with their reason codes, and no row is made up."""
    tests = defaultdict(list)
    for test in with_rows():
        tests[test.row.fault].append(test)
    rows = {fault: (file, quoted(named)) for fault, file, named in re.findall(ITEM, TEXT, re.M)}
    links = TEXT.replace(SECTION, '').count('](../test/faults/test_')
    assert len(rows) == links - TEXT.count('[mutation test]')
    assert rows.keys() == tests.keys(), 'rows of docs/safety.md, and those of tests'
    for fault, (file, named) in rows.items():
        files = {Path(test.__code__.co_filename).name for test in tests[fault]}
        assert files == {Path(file).name}, f'the tests of the row {fault!r}'
        codes = {code for test in tests[fault] for code in test.row.codes}
        assert {name for name in named if name.isupper()} == codes, f'codes of the row {fault!r}'
        unknown = named - set(guard.CODES) - PARAMETERS
        assert not unknown, f'the row {fault!r} names {unknown}'


def test_node_plugin_and_c_library_are_compared_by_tests():
    rows = {row[0]: row[1:] for line in re.findall(r'^\| (.+) \|$', SECTION, re.M)
            if len(row := line.split(' | ')) == 4}
    assert rows.keys() == PARITY.keys()
    for row, cells in rows.items():
        for cell, test in zip(cells, PARITY[row], strict=True):
            file = PAGE.parent / re.fullmatch(r'\[.+\]\((.+/test_\w+\.py)\)', cell)[1]
            assert f'\ndef {test}(' in file.read_text(), f'{row}: {cell}'


def test_reason_codes_are_explained():
    explained = re.findall(r'^- `([A-Z_]+)`: .', TEXT, re.MULTILINE)
    assert sorted(explained) == sorted(set(guard.CODES) - {'NO_REASON'})


def test_the_state_machine_needs_each_explanation():
    faults = runpy.run_path(str(ROOT / 'docs' / 'state_machine.py'))['faults']
    assert 'PUSHED' in faults(TEXT) and 'ZERO_STATE' not in faults(TEXT)
    for code in ('PUSHED', 'ZERO_STATE'):
        with pytest.raises(ValueError, match=f'does not explain {code}: '):
            faults(TEXT.replace(f'- `{code}`: ', f'- {code}: '))
    with pytest.raises(ValueError, match=r'guard\.py does not have STEPPED: '):
        faults(TEXT.replace('- `PUSHED`: ', '- `STEPPED`: a.\n- `PUSHED`: '))


def test_phases_are_drawn_and_explained():
    assert set(re.findall(r'^- ([A-Z]{3,}): .', TEXT, re.MULTILINE)) == set(guard.PHASES)
    drawing = re.search('```mermaid\n(.*?)```', TEXT, re.DOTALL)[1]
    assert set(re.findall('[A-Z]{3,}', drawing)) == set(guard.PHASES)


@pytest.mark.slow
def test_the_state_machine_is_that_of_the_code():
    """Each event in each phase, by the compiled controller: two seconds."""
    script = runpy.run_path(str(ROOT / 'docs' / 'state_machine.py'))
    assert script['section'](TEXT) == script['tables'](TEXT), 'run `python docs/state_machine.py`'


def test_parameters_exist():
    """Words that look like a parameter are one, or a choice of one."""
    known = PARAMETERS | {choice for p in DECLARED for choice in p.choices} | OTHERS
    words = {re.sub(': .*', '', word) for word in quoted(TEXT)}
    unknown = {word for word in words if re.fullmatch('[a-z]+(_[a-z]+)*', word)} - known
    assert not unknown - {test.__name__ for test in with_rows()}


def test_numbers_are_those_of_the_code():
    assert f'{settings.LIMIT_RATE:g}/s (`LIMIT_RATE`)' in TEXT
    assert f'{settings.APPROACH_RATE:g}/s (q_max - q)) (`APPROACH_RATE`)' in TEXT
    assert f'min({VELOCITY_SHARE:g} q̇_max' in TEXT and f'{100 * VELOCITY_SHARE:g} % of the' in TEXT
    assert f'{settings.CHECKED_POSES} poses' in TEXT


def test_links_lead_somewhere():
    links = re.findall(r'\]\((?!https?:)([^)#]*)(#[^)]*)?\)', TEXT)
    headings = {'#' + re.sub('[^a-z ]', '', line.lower()).strip().replace(' ', '-')
                for line in re.findall('^#+ (.*)', TEXT, re.MULTILINE)}
    assert links
    for path, anchor in links:
        assert (PAGE.parent / path).exists() if path else anchor in headings, path + anchor

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Random worlds: what is drawn, what comes of it, what is estimated, and planted mistakes."""

from dataclasses import replace
from io import StringIO
import json
from pathlib import Path
import re

from cli.commands import config_options, done
import numpy as np
import planted
from planted import short
import pytest
from rich.console import Console
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.catalog.robots import read_configuration
from robodyn_ros.cli import verify as command
from robodyn_ros.cli.app import app
from robodyn_ros.control.settings.suggested_gains import with_assumed_rotors
from robodyn_ros.control.steps.guard import CODES
from robodyn_ros.errors import ArgumentError, RobodynError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.rigid_body import Inertial, of_body
from robodyn_ros.verification import catalogue, criteria, sensitivity, worlds
from robodyn_ros.verification.arm import arm_of, motion_range
from robodyn_ros.verification.plant import Drives, MEASURE, Plant, RECEIVE
from robodyn_ros.verification.plant_step import START, TICK
from robodyn_ros.verification.results import fingerprint, Results
from robodyn_ros.verification.sensing import Channel, Conditions
from robodyn_ros.verification.sensitivity import boundary, of_pair, pairs, Suggestion, suggestion
from robodyn_ros.verification.trial import Outcome, play_all, Player
from robodyn_ros.verification.worlds import draw, nominal_model, QUANTITIES, true_model
from robots import ARM
from typer.testing import CliRunner
from viewer.browser import check_report

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('few_poses')]
FOUND = {               # planted mistakes and the world that shows each of them first
    'payload of 2 kg declared, none there': '',
    'second motor wired in reverse': 'fault ',
    'friction declared twice as high as it is, fully compensated': 'friction: ',
    'the same, compensated by 0.8 in an arm that floats': 'passive: ',
    'arm on a wall, gravity of a floor declared': 'not armed',
    'robot_compensates_gravity true, the robot does not': 'GRAVITY_CONTRADICTED',
    'robot_compensates_gravity false, the robot does': 'GRAVITY_CONTRADICTED',
    'state_timeout of 1 s': 'reaction',
    'encoder of the first joint off by a right angle': 'not armed',
    'gear ratio of the second joint half of the true one': 'FOLLOWING_ERROR',
    'rotor inertia of 1 and 0.2 kg·m² left out': 'FOLLOWING_ERROR',
    'velocity limits four times the true ones': 'velocity: joint',
    'joint stops 0.3 rad within the position limits': 'stops: ',
    'states at 100 Hz, 1 kHz declared': 'STATE_LATE',
    'cycle at 500 Hz, 1 kHz declared': 'PERIODS_MISSED',
    'center of a tool of 2 kg twice as far': 'not armed',
    'second drive at half its effort': 'FOLLOWING_ERROR',
    '12 bits, velocity by differences': 'STATE_INCONSISTENT',
    'elastic joints of 10 Hz': 'EFFORT_OSCILLATES',
    'play of 10 mrad behind the encoders': 'EFFORT_OSCILLATES'}


def test_an_outcome_follows_from_seed_and_index(tmp_path):
    """Whatever was played before, in which process, and stored or not."""
    case = short(planted.sound(), 0.5)
    player = Player(case, specialize=False)
    one_way = [player.play(k) for k in range(4)]
    other_way = [player.play(k) for k in (3, 1, 0, 2)]
    assert sorted(other_way, key=lambda one: one.index) == one_way
    results = Results(tmp_path / 'results.sqlite', case)
    results.add(one_way[2])
    results._database.execute('PRAGMA max_page_count = 1')
    with pytest.raises(ArgumentError, match='full'):
        results.add(replace(one_way[1], refusal=100_000 * 'x'))
    results.close()
    resumed = Results(tmp_path / 'results.sqlite', case)
    for one in play_all(case, sorted({0, 1, 2, 3} - resumed.known()), 2, specialize=False):
        resumed.add(one)
    assert [one.plain() for one in resumed.outcomes(4)] == [one.plain() for one in one_way]
    resumed.close()
    with pytest.raises(ArgumentError, match='another seed: choose [^:]*$'):
        Results(tmp_path / 'results.sqlite', replace(case, seed=1))


def test_the_sound_robot_breaks_nothing():
    assert planted.first_bad(short(planted.sound(), 2.0), 8, specialize=False) is None


@pytest.mark.parametrize('compensates', [True, False])
def test_zero_efforts_of_an_arm_that_needs_none_are_no_end(compensates):
    """A hand moves it: its velocity is judged, and no effort comes after a last one."""
    case = planted.sound(mode='gravity_compensation', robot_compensates_gravity=compensates)
    gravity = case.worlds.truth.gravity if compensates else (0.0, 0.0, 0.0)
    case = short(
        replace(case, model=replace(case.model, gravity_vector=np.array(gravity))),
        modes=('gravity_compensation',), fault_share=0.0,
        truth=replace(case.worlds.truth, compensates_gravity=compensates, gravity=gravity))
    player = Player(case, specialize=False)
    played = [player.play(k) for k in range(3)]
    assert {one.world['motion'] for one in played} >= {'hand'}
    for one in played:
        assert not one.bad, criteria.problem(one)
        assert one.world['motion'] == 'still' or one.figures['velocity'] > 0.01


@pytest.mark.parametrize('name', FOUND)
def test_planted_mistakes_are_found(name):
    found = planted.first_bad(planted.MISTAKES[name](planted.sound()), 16, specialize=False)
    assert found is not None and FOUND[name] in criteria.problem(found)


@pytest.mark.parametrize(('changes', 'truth', 'cause'), [
    ({}, {'coulomb_friction': (2.0, 6.0)}, 'friction'),
    ({'robot_compensates_gravity': True}, {'coulomb_friction': (4.0, 1.0)}, 'friction'),
    ({}, {'payload_mass': 0.3}, 'an error of gravity'),
    ({}, {'compensates_gravity': True}, 'an error of gravity'),
    ({}, {'motor_gain': (0.8, 0.8)}, 'an error of the drive'),
    ({}, {'effort_limit': (80.0, 0.6)}, 'the drive gives 0.6 of the'),
    ({'velocity_scale': 0.01}, {}, ''),
    ({'velocity_scale': 0.01, 'velocity_limit': [6.0, 8.0]}, {}, '')])
def test_a_joint_that_does_not_reach_its_target_is_named_with_the_cause(changes, truth, cause):
    """In every mode that follows a reference; a motion that is slow enough is no failure."""
    case = planted.sound(goal_tolerance=[0.01, 0.01], coulomb_friction=[0.0], **changes)
    case = short(case, fault_share=0.0, modes=('joint_impedance',), truth=replace(
        case.worlds.truth, measures_effort=False, **truth))
    player = Player(case, specialize=False)
    played = [one.violations for one in map(player.play, range(6))]
    assert not any('exception' in one for one in played)
    found = [one['resting'] for one in played if 'resting' in one]
    assert bool(found) == bool(cause)
    assert all(cause in one and 'joint' in one and ' rad from its target at rest at ' in one
               for one in found)


def test_an_injection_excuses_only_the_faults_of_its_rows_in_the_documentation():
    text = (Path(__file__).parents[2] / 'docs/safety.md').read_text()
    rows = {name: tuple(code for code in re.findall('`([A-Z_]+)`', says) if code in CODES)
            for name, says in re.findall(r'^- \[(.+?)\]\(\.\./test.+?\): (.*)$', text, re.M)}
    for row, (codes, injections) in catalogue.EXCUSES.items():
        assert rows[row] == codes and set(injections) <= catalogue.CATALOGUE.keys()
    for promise in ('one sample q + 2π', 'one sample q + 0.3', 'one sample 5 x velocity limit',
                    'one sample velocity limit', 'NaN reference', 'time stamps are zero'):
        assert not catalogue.excused(promise)
    world = {'injection': 'one sample q + 0.3', 'mode': 'pd'}
    fault = Outcome(0, world, fault='STATE_INCONSISTENT', reason='position jumps', fault_time=0.1)
    assert fault.bad and 'STATE_INCONSISTENT latches' in criteria.verdict([fault])
    # One that nothing was injected before tells more
    plain = replace(fault, index=1, world={'injection': '', 'mode': 'pd'}, reason='arm is gone')
    assert '2 of 2 worlds: arm is gone (world 1)' in criteria.verdict([fault, plain])
    assert not replace(fault, world={**world, 'injection': 'q + 2π for good'}).bad
    assert replace(fault, world={**world, 'injection': 'states stop'}).bad


@pytest.mark.parametrize(('limits', 'expected'), [
    ((-1.0, 2.0), (-1.0, 2.0)), ((-170.0, 170.0), (-np.pi, np.pi)), ((-np.inf, np.inf), (
        -np.pi, np.pi)), ((10.0, 170.0), (10.0, 10.0 + 2.0 * np.pi)), ((-170.0, -10.0), (
            -10.0 - 2.0 * np.pi, -10.0)), ((4.0, 5.0), (4.0, 5.0))])
def test_positions_of_limits_beyond_a_turn_are_within_one(limits, expected):
    """Such as limits in degrees."""
    lower, upper = (np.full(2, limit) for limit in limits)
    model = replace(load_urdf('two_link'), position_lower=lower, position_upper=upper)
    np.testing.assert_allclose(motion_range(model), np.transpose([expected, expected]))


def test_limits_are_named_or_the_verdict():
    # And not those of three turns, or of a joint without limits.
    model = load_urdf('two_link')
    for limit, refused in ((170.0, True), (3.0 * np.pi, False), (1e6, False)):
        other = replace(planted.sound(), model=replace(
            model, position_upper=np.array([model.position_upper[0], limit])))
        if refused:
            with pytest.raises(RobodynError, match='joint2 .* 170 rad, 27.1 turns: probably deg'):
                Player(other, specialize=False)
        else:
            Player(other, specialize=False)
    # Placeholders of a URDF: the poses of the worlds are those that the limits hold.
    case = short(planted.sound(), 0.5)
    weak = replace(case.settings, effort_limit=[14.0, 14.0])
    case = replace(case, settings=weak, worlds=replace(
        worlds.default_worlds(case.model, weak), seconds=0.5))
    outcomes = [Player(case, specialize=False).play(k) for k in range(2)]
    assert all('joint1 in ' in one.violations['holding'] for one in outcomes)
    assert criteria.verdict(outcomes).startswith(
        'not safe to power: effort limits do not hold the arm in 2 of 2 worlds: ')


def test_armings_that_are_refused_or_not():
    # Faults begin after it: the same world without one is refused for the same reason.
    mistake = planted.MISTAKES['payload of 2 kg there, none declared']
    case = short(mistake(planted.sound()), 0.5)
    faulty = replace(case.worlds, fault_share=1.0)
    player, refused = Player(case, specialize=False), 0
    for index in range(20):
        drawn = draw(faulty, 2, 0, index)
        refusal = player.play_drawn(drawn).refusal
        assert refusal == player.play_drawn(replace(drawn, injection='')).refusal
        refused += bool(refusal)
    assert refused
    # The same worlds with efforts refuse some; a sound arm is played without them, too.
    for plant in (mistake, lambda case: case):
        case = plant(planted.sound())
        truth = replace(case.worlds.truth, measures_effort=False)
        player = Player(short(case, 0.5, truth=truth), specialize=False)
        assert not any(player.play(index).refusal for index in range(6))


def test_readings_repeated_at_rest_are_excused_under_any_law():
    """What drifts unseen for want of friction is no motion that the guard could know of."""
    case = short(planted.sound(coulomb_friction=[0.0]), 2.0, fault_share=1.0, faults=(
        'last reading of a joint repeated', 'last reading repeated',
        'last reading repeated for 150 ms'))
    one = Player(case, specialize=False).play(1)
    assert not one.bad and one.figures['velocity'] > 1.25


def test_custom_laws(tmp_path, monkeypatch):
    # Whose gains are none of its own.
    case = short(planted.sound(mode='singular_law:SINGULAR', gains={'spring': [115.0, 16.0]}), 0.5)
    player = Player(case, specialize=False)
    assert set(player.modes) == {'singular_law:SINGULAR', 'joint_impedance', 'computed_torque'}
    assert not any('exception' in player.play(index).violations for index in range(3))
    # Its results are not resumed.
    monkeypatch.syspath_prepend(tmp_path)
    source = Path(planted.__file__).with_name('singular_law.py').read_text()
    case, found = planted.sound(), []
    for name, text in (('law_a', source), ('law_b', source), ('law_c', source + '# changed')):
        (tmp_path / f'{name}.py').write_text(text)
        found.append(fingerprint(short(case, modes=(f'{name}:SINGULAR',)))['laws'])
    assert found[0] == found[1] != found[2]


def test_what_is_drawn():
    # Even with errors of half their size, and gravity keeps its magnitude.
    model = load_urdf('panda')
    case = planted.sound()
    wild = replace(worlds.default_worlds(model, replace(
        case.settings, stiffness=[], damping=[], coulomb_friction=[], friction_velocity=[],
        goal_tolerance=[])),
        ranges={**case.worlds.ranges, 'inertia_error': (0.5, 0.5), 'tilt': (0.3, 0.3)})
    for index in range(16):
        found = true_model(model, wild.truth, draw(wild, model.nv, 7, index))
        for body in zip(found.mass, found.com, found.inertia):
            assert np.linalg.eigvalsh(of_body(Inertial(*body))).min() > -1e-9
        assert np.linalg.norm(found.gravity_vector) == pytest.approx(9.81)
        assert found.gravity_vector[2] == pytest.approx(-9.81 * np.cos(0.3))
    first, second = (draw(wild, model.nv, 7, index) for index in (0, 1))
    assert first.values != second.values and draw(wild, model.nv, 7, 0) == first
    # Rotors are uncertain while they are those that were assumed.
    assumed = with_assumed_rotors(model).armature
    known = np.where(np.arange(model.nv) == 2, 0.3, assumed)
    truth = replace(wild.truth, armature=tuple(known))
    factor = first.values['assumed_armature']
    assert factor != 1.0 and (assumed > 0.0).sum() > 3
    np.testing.assert_array_equal(true_model(model, truth, first).armature,
                                  np.where(known == 0.3, 1.0, factor) * known)
    identified = replace(model, armature=assumed)
    np.testing.assert_array_equal(true_model(identified, truth, first).armature, known)
    drawn = [draw(case.worlds, 2, 0, index) for index in range(256)]
    for quantity in QUANTITIES:
        low, high = case.worlds.ranges[quantity.name]
        values = np.array([one.values[quantity.name] for one in drawn])
        assert (values >= low).all() and (values <= high).all()
        assert values.mean() == pytest.approx((low + high) / 2, abs=0.02 * (high - low) + 1e-12)
    assert np.mean([bool(one.injection) for one in drawn]) == pytest.approx(0.25, abs=0.02)
    model = load_urdf('two_link')
    truth = replace(case.worlds.truth, encoder_offset=(0.3, -0.1))
    found, q = nominal_model(model, truth), np.array([0.4, 0.7])
    np.testing.assert_allclose(Dynamics(found).pose(q, 'tool0'),
                               Dynamics(model).pose(q - [0.3, -0.1], 'tool0'), atol=1e-12)
    assert found.position_upper[0] == model.position_upper[0] + 0.3


def test_drives_lag_and_ripple():
    # Against closed forms, on the elbow of the textbook arm without gravity.
    model = replace(load_urdf('two_link'), gravity_vector=np.zeros(3))
    arm = arm_of('two_link', model)
    lagging = Plant(arm, np.zeros(2), drives=Drives(lag=0.02))
    plain = Plant(arm, np.zeros(2))
    strong = Plant(arm, np.zeros(2), drives=Drives(saturation=np.array([1.0, 1.0])))
    small = Plant(arm, np.zeros(2), drives=Drives(dead_zone=np.array([3.0, 3.0])))
    reverse = Plant(arm, np.zeros(2), drives=Drives(gain=-1.0))
    for _ in range(50):
        for plant in (lagging, plain, strong, small, reverse):
            plant.command(np.array([0.0, 2.0]))
            plant.advance()
    time = 50 * TICK
    expected = 1.0 - 0.02 / time * (1.0 - np.exp(-time / 0.02))      # impulse of a lagging drive
    assert lagging.qd[1] / plain.qd[1] == pytest.approx(expected, rel=0.02)
    assert strong.qd[1] / plain.qd[1] == pytest.approx(0.5, rel=0.02)
    assert not small.qd.any()
    np.testing.assert_allclose(reverse.qd, -plain.qd, rtol=1e-2)
    # Its work over a period is zero: the elbow, thrown, is as fast after each one.
    plant = Plant(arm, np.zeros(2), drives=Drives(
        ripple=np.array([0.0, 2.0]), ripple_period=np.array([1.0, 0.2]), ripple_phase=0.5 * np.pi))
    plant.command(np.zeros(2))
    plant.qd[:], speeds = [0.0, 2.0], []
    for _ in range(90):
        plant.advance()
        speeds.append(plant.qd[1])
    assert max(speeds) > 2.1 > 1.9 > min(speeds)


def test_stops_take_energy_and_readings_are_differences():
    # The elbow hits its stop, rebounds more slowly, and leaves it.
    model = replace(load_urdf('two_link'), gravity_vector=np.zeros(3))
    start = np.array([0.0, model.position_upper[1] - 0.05])
    plant = Plant(arm_of('two_link', model), start, drives=Drives(stop_distance=0.0))
    plant.command(np.zeros(2))
    plant.qd[:] = 0.0, 1.0
    before = plant.dynamics.kinetic_energy(plant.q, plant.qd)
    deepest = 0.0
    for _ in range(90):
        plant.advance()
        deepest = max(deepest, plant.q[1] - model.position_upper[1])
    assert 0.0 < deepest < 0.01 and plant.q[1] < model.position_upper[1]
    after = plant.dynamics.kinetic_energy(plant.q, plant.qd)
    assert plant.qd[1] < 0.0 and 0.0 < after < 0.8 * before
    # And those of an elastic joint are of its motor, or of the joint itself.
    model = load_urdf('two_link')
    for motor in (True, False):
        plant = Plant(arm_of('two_link', model), np.array([0.3, 0.5]), silence=1e9, drives=Drives(
            stiffness=np.array([0.0, 100.0]), rotor=np.array([0.0, 0.05])))
        channel = Channel(Conditions(rate=500.0, differences=True, stamp_error=0.02,
                                     motor_encoders=motor), plant.data, np.random.default_rng(0))
        plant.command(np.zeros(2))
        seen = []
        for _ in range(40):
            channel.ticks()
            plant.run(0, 1, MEASURE, RECEIVE)
            if (sample := channel.measured()) is not None:
                seen.append((sample.position.copy(), sample.velocity.copy()))
                assert sample.stamp == pytest.approx(START + plant.data.numbers['ticks'][0] * TICK
                                                     + 0.02)
                truth = plant.data.plant.motor_q if motor else plant.q
                np.testing.assert_array_equal(sample.position[1], truth[1])
            plant.advance()
        assert len(seen) == 20 and not seen[0][1].any()
        for (before, _), (after, velocity) in zip(seen, seen[1:]):
            np.testing.assert_allclose(velocity, (after - before) / 0.002)
        assert abs(plant.data.plant.motor_q[1] - plant.q[1]) > 1e-4
    channel = Channel(Conditions(stamped=False), plant.data, np.random.default_rng(0))
    plant.data.numbers['ticks'] = 0
    channel.ticks()
    plant.run(0, 1, MEASURE, RECEIVE)
    assert channel.measured().stamp == 0.0


def test_estimates_are_those_of_clopper_and_pearson():
    world = {'injection': '', 'values': {}, 'mode': 'computed_torque'}
    outcomes = [Outcome(k, world, figures={'velocity': 0.1}) for k in range(100)]
    found = {e.criterion.name: e for e in criteria.estimates(outcomes)}
    assert found['effort'].broken == 0 and found['effort'].low == 0.0
    assert found['effort'].high == pytest.approx(1.0 - 0.025**0.01)
    assert found['tracking'].worlds == 0
    outcomes[3] = replace(outcomes[3], violations={'velocity': '1.3 of the limit at 3 ms'})
    outcomes[4] = replace(outcomes[4], fault='STALE_STATE', fault_time=0.1)
    found = {e.criterion.name: e for e in criteria.estimates(outcomes)}
    assert found['velocity'].broken == found['no fault'].broken == 1
    assert [one.index for one in criteria.worst(outcomes, 2)] == [3, 4]


def test_the_report_fits_a_telephone_and_two_sheets(browser, tmp_path):
    """Of many worlds, in which everything is broken in turn."""
    random, case = np.random.default_rng(0), planted.sound()
    case = replace(case, model=replace(case.model, warnings=('gravity is probably wrong',)))
    outcomes = [Outcome(k, {
        'injection': 'states stop' if k % 4 == 0 else '', 'mode': 'computed_torque',
        'motion': 'tour', 'values': {q.name: float(random.uniform()) for q in QUANTITIES}},
        figures={name: float(random.uniform(0.5, 1.1)) for name in criteria.FIGURES})
        for k in range(200)]
    for k in range(12):
        outcomes[4 * k] = replace(outcomes[4 * k], violations={
            'velocity': 'joint2 1.33 of the limit at 180 ms, RUNNING'})
    verdict = criteria.verdict(outcomes)
    assert verdict.startswith(
        'not safe to power: a joint exceeds its velocity limit in 12 of 200 worlds: joint2 1.33 '
        'of the limit at 180 ms, RUNNING (world ') and verdict.endswith(', injected: states stop)')
    found = criteria.influences(outcomes)
    criteria.report_of(case, verdict, outcomes, criteria.tables(case, outcomes, found, []),
                       criteria.worst(outcomes), found, 'robodyn verify two_link').write(
        tmp_path / 'risks.html')
    check_report(browser, tmp_path / 'risks.html', 2)
    assert 'URDF: gravity is probably wrong' in (tmp_path / 'risks.html').read_text()


def test_what_drives_a_figure_is_found():
    """Also where both ends of a range do."""
    random = np.random.default_rng(0)
    drawn = random.uniform(size=(200, len(QUANTITIES)))
    names = [q.name for q in QUANTITIES]
    outcomes = [Outcome(k, {'injection': '', 'values': dict(zip(names, row))},
                        figures={'velocity': row[names.index('delay')]**2,
                                 'tracking': float(random.uniform()),
                                 'settling': (row[names.index('payload_error')] - 0.5)**2})
                for k, row in enumerate(drawn.tolist())]
    delay, payload = sorted(criteria.influences(outcomes), key=lambda one: one.quantity)
    assert delay[:2] == ('velocity', 'delay') and not delay.either_way
    assert payload[:2] == ('settling', 'payload_error') and payload.either_way
    assert delay.correlation == pytest.approx(1.0)
    assert payload.correlation == pytest.approx(1.0, abs=0.01)


def test_the_boundary_of_a_payload_that_nobody_declares():
    """Arming accepts a tenth of the effort limit: 8 N·m of the shoulder, two links of 1 m."""
    case = short(planted.sound(), 0.5)
    found = boundary(Player(case, specialize=False), 'unknown_payload', 3)
    assert 0.3 < found.held < found.broken < 1.1 * found.held
    assert 'not armed' in found.how or 'fault' in found.how


def test_what_a_broken_world_turns_on(tmp_path):
    """A payload that nobody declares, between worlds that hold and worlds that break."""
    case = planted.sound()
    case = short(case, 0.5, fault_share=0.0, ranges={
        **case.worlds.ranges, 'unknown_payload': (0.0, 4.0)})
    player = Player(case, specialize=False)
    outcomes = [player.play(k) for k in range(16)]
    found = [*pairs(outcomes, case.worlds)]
    assert [pair.broken for pair in found] == [one.index for one in outcomes if one.bad]
    assert not any(outcomes[pair.held].bad for pair in found)
    turns = [of_pair(player, pair) for pair in found[:4]]
    payloads = [one for _, points in turns for one in points if one.quantity == 'unknown_payload']
    assert payloads and all(0.3 < one.held < one.broken < one.held + 0.3 for one in payloads)
    pair, points = turns[0]
    results = Results(tmp_path / 'results.sqlite', case)
    assert results.turning_points(pair) is None
    results.add_turning_points(pair, points)
    assert results.turning_points(pair) == points
    results.close()


def test_a_worlds_file_is_read_as_it_was_written(tmp_path):
    case = planted.sound()
    path = tmp_path / 'worlds.yaml'
    path.write_text(worlds.text(case.worlds, 'Worlds.'))
    assert worlds.read(path, case.model, case.settings) == case.worlds
    fast = replace(case.settings, rate=2000.0)          # ticks are 1 ms
    path.write_text(worlds.text(worlds.default_worlds(case.model, fast), 'Worlds.'))
    assert worlds.read(path, case.model, fast).truth.state_rate == 1000.0
    path.write_text('distributions: {tilt: 1e-1}\nseconds: 2')      # text in YAML 1.1
    found = worlds.read(path, case.model, case.settings)
    assert found.ranges['tilt'] == (0.1, 0.1) and found.seconds == 2.0


@pytest.mark.parametrize(('text', 'message'), [
    ('a: [', 'cannot be read'),
    ('[]', 'the file is not a mapping'),
    ('', 'the file is empty'),
    ('distribution: {}', "unknown entry 'distribution': did you mean distributions"),
    ('distributions: {delai: 0.1}', "unknown entry 'delai': did you mean delay"),
    ('distributions: {delay: [0.2, 0.1]}', 'lower end first'),
    ('distributions: {delay: [0.1]}', 'use 2 numbers'),
    ('distributions: {delay: [0.0, 3.0]}', r'in \[0, 0\.2\]'),
    ('distributions: {delay: true}', 'finite number'),
    ('distributions: {delay: [.nan, 1.0]}', 'finite number'),
    ('truth: {motor_gain: [1.0]}', 'use 2 numbers'),
    ('truth: {motor_gain: [1.0, 0.0]}', 'motor_gain 0'),
    ('truth: {gravity: [0.0, 0.0, -1e9]}', r'in \[-100, 100\]'),
    ('distributions: []', 'distributions is not a mapping'),
    ('truth: {compensates_gravity: 1}', 'True or False'),
    ('truth: {effort_limit: [-1.0, 2.0]}', r'in \[1e-06, '),
    ('truth: {armature: [-1.0, 2.0]}', r'in \[0, '),
    ('truth: {payload_frame: link7}', 'link7'),
    ('truth: {joint_stiffness: [1.0, 0.0]}', 'enter the armature of joint1'),
    ('truth: {backlash: [0.0, 0.1]}', 'enter the joint_stiffness of joint2'),
    ('truth: {locked_positions: x}', 'finite number'),
    ('truth: {urdf: 3}', 'urdf'),
    ('modes: [computed_torqe]', 'did you mean computed_torque'),
    ('modes: ["no.such:LAW"]', 'no.such'),
    ('modes: []', 'no modes'),
    ('faults: [state stop]', 'did you mean states stop'),
    ('fault_share: 2.0', r'in \[0, 1\]'),
    ('seconds: soon', 'finite number')])
def test_bad_worlds_files_are_refused(tmp_path, text, message):
    case = planted.sound()
    path = tmp_path / 'worlds.yaml'
    path.write_text(text)
    with pytest.raises(RobodynError, match=message):
        worlds.read(path, case.model, case.settings)


MOTION = """joint_names: [joint1, joint2]
points:
- {{positions: [0.0, 0.5], velocities: [0.0, 0.0], accelerations: [0.0, 0.0],
   time_from_start: {{sec: 0, nanosec: 0}}}}
- {{positions: [0.3, {end}], velocities: [0.0, 0.0], accelerations: [0.0, 0.0],
   time_from_start: {{sec: 1, nanosec: 0}}}}
"""


def test_the_command(tmp_path, monkeypatch):
    """A motion of the user's is followed, the run resumes, and one world is played again."""
    monkeypatch.chdir(tmp_path)
    Path('motion.yaml').write_text(MOTION.format(end=0.8))
    Path('worlds.yaml').write_text('{seconds: 1.0, fault_share: 0.0, resting_error: [.02, .02]}')
    words = ['verify', 'two_link', '--motion', 'motion.yaml', '--worlds', 'worlds.yaml',
             '--jobs', '1']
    run = CliRunner().invoke(app, [*words, '--runs', '3', '--json', '--report', 'risks.html'])
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    assert found['worlds'] == 3 and found['bad'] == 0
    assert found['criteria']['arming']['interval'] == [0.0, pytest.approx(1 - 0.025**(1 / 3))]
    assert 'Largest values in a world' in Path('risks.html').read_text()
    assert 0.0 < found['figures']['tracking'][2] < 1.0 and not found['figures_with_fault']
    monkeypatch.setattr(command, 'INTERVAL', 0.0)
    again = CliRunner().invoke(app, [*words, '--runs', '4'])
    assert again.exit_code == 0 and 'has 3 of 4 worlds already' in again.output
    assert '4 of 4 worlds, 0 bad' in again.output
    assert max(map(len, again.output.splitlines()[:20])) <= 80
    alone = CliRunner().invoke(app, [*words, '--world', '2'])
    assert alone.exit_code == 0 and 'no criterion is broken' in alone.output
    alone = CliRunner().invoke(app, [*words, '--world', '2', '--json'])
    assert json.loads(alone.stdout)['world']['motion'] == 'tour'
    Path('motion.yaml').write_text(MOTION.format(end=3.5))
    outside = CliRunner().invoke(app, [*words, '--runs', '3'])
    assert outside.exit_code == 1 and 'position of joint2 would be' in outside.output


def test_a_motion_is_followed_from_where_the_motors_were_tested(tmp_path, monkeypatch):
    """The test moves the arm by more than this controller lets a motion begin away."""
    monkeypatch.chdir(tmp_path)
    Path('motion.yaml').write_text(MOTION.format(end=0.8))
    Path('worlds.yaml').write_text('{seconds: 1.0, fault_share: 0.0, resting_error: [.02, .02]}')
    values = read_configuration('two_link')['controller']
    words = config_options(tmp_path, {'tested': values | {
        'motor_test_effort': 0.1, 'trajectory_start_tolerance': 0.01}})
    done('verify', 'two_link', *words, '--motion', 'motion.yaml', '--worlds', 'worlds.yaml',
         '--jobs', '1', '--runs', '3')


def test_another_robot_moves_than_that_of_the_parameter_file(tmp_path, monkeypatch):
    """Another URDF, or the same one with other locked joints."""
    monkeypatch.chdir(tmp_path)
    text = robot_path('two_link').read_text()
    Path('other.urdf').write_text(text.replace('<mass value="1"/>', '<mass value="5"/>'))
    assert Path('other.urdf').read_text() != text
    Path('wrong.urdf').write_text(text.replace('joint2', 'elbow'))
    Path('locked.yaml').write_text('/**/controller: {ros__parameters: {locked_joints: [joint2], '
                                   'locked_positions: [0.0]}}')
    Path('upper.yaml').write_text('/**/controller: {ros__parameters: {root: link1, '
                                  'gravity: [0.0, 0.0, -9.81]}}')
    for config, truth, message in (
            ('upper.yaml', 'urdf: wrong.urdf', 'use a URDF with the joints joint2'),
            ('', 'urdf: other.urdf', 'not safe to power'),
            ('', 'urdf: wrong.urdf', 'use a URDF with the joints joint1, joint2'),
            ('', 'locked_positions: [0.1]', 'of 0 locked joints'),
            ('locked.yaml', 'locked_positions: [3.0]', 'not safe to power')):
        Path('worlds.yaml').write_text(f'{{truth: {{{truth}}}, seconds: 0.5, fault_share: 0.0}}')
        run = CliRunner().invoke(app, ['verify', 'two_link', '--worlds', 'worlds.yaml', '--runs',
                                       '3', '--jobs', '1', *(['--config', config] if config
                                                             else [])])
        assert run.exit_code == 1 and message in run.output, run.output


def config(text):
    return {'c.yaml': f'/**: {{ros__parameters: {{{text}}}}}'}, ['--config', 'c.yaml']


@pytest.mark.parametrize(('files', 'words', 'messages'), [
    (*config('mode: 3'), ['parameter mode = 3 is refused']),
    (*config('acceleration_kp: x'), ['finite number']),
    (*config('trigger: never'), ['choose one of timer']),
    (*config('mode: joint_impedance, dampng: [1e-2]'),
     ['did you mean damping', 'stiffness is not set']),
    ({'m.yaml': MOTION.format(end=3.0).replace('sec: 1, nanosec: 0', 'sec: 0, nanosec: 200000000')
      }, ['--motion', 'm.yaml'], ['velocity of joint2 would be']),
    ({'m.yaml': MOTION.format(end=0.8), 'floating.yaml': 'modes: [gravity_compensation]'},
     ['--motion', 'm.yaml', '--worlds', 'floating.yaml'], ['no mode of the worlds follows']),
    ({}, ['--report', '.'], ['cannot be written']),
    ({}, ['--output', '.'], ['cannot be used']),
    ({}, ['--world', '1', '--report', 'risks.html'],
     ['no effect with --boundary and --world']),
    ({}, ['--boundary', 'delay', '--suggest'], ['no effect with --boundary and --world'])])
def test_what_cannot_be_had_is_refused_before_a_world(tmp_path, monkeypatch, files, words,
                                                      messages):
    """And no file is left behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, 'play_all', None)
    for name, text in files.items():
        Path(name).write_text(text)
    run = CliRunner().invoke(app, ['verify', 'two_link', *words])
    assert run.exit_code == 1 and all(message in run.output for message in messages)
    assert not Path('risks.html').exists() and not Path('build').exists()


@pytest.mark.parametrize('words', ['verify', 'simulate'])
def test_inertias_that_the_node_refuses(tmp_path, monkeypatch, words):
    """Worlds would be green, of an arm that the node does not start with."""
    monkeypatch.chdir(tmp_path)
    Path('arm.urdf').write_text(ARM.replace('izz="0.01"', 'izz="0.05"'))
    Path('arm.yaml').write_text(
        '/**/controller: {ros__parameters: {robot_compensates_gravity: false}}')
    run = CliRunner().invoke(app, [words, 'arm.urdf', '--config', 'arm.yaml'])
    assert run.exit_code == 1 and 'no rigid body has the inertia of link' in run.output


def test_an_unknown_robot_is_refused():
    unknown = CliRunner().invoke(app, ['verify', 'two_lnk'])
    assert unknown.exit_code == 1 and 'two_link' in unknown.output


def test_the_arm_may_touch_a_table():
    """Its efforts stay within their limits and every fault is named."""
    case = short(planted.sound())
    contact = replace(case.worlds, fault_share=1.0, faults=('tool meets a table',))
    player = Player(replace(case, worlds=contact), specialize=False)
    touched = False
    for index in range(4):
        drawn = draw(contact, 2, 0, index)
        one, free = player.play_drawn(drawn), player.play_drawn(replace(drawn, injection=''))
        assert not one.violations
        touched |= one.figures['velocity'] != free.figures['velocity']
    assert touched


def test_less_friction_compensation_is_suggested_for_an_arm_that_accelerates():
    """And nothing that the controller would refuse, or that relaxes a check."""
    mistake = planted.MISTAKES['the same, compensated by 0.8 in an arm that floats']
    case = short(mistake(planted.sound()))
    best = suggestion(case, [1, 5])
    assert best.changes.keys() == {'friction_compensation'} and best.broken == 0
    assert 0.1 < best.changes['friction_compensation'][0] < 0.7
    player = Player(best.case, specialize=False)
    assert not any(player.play(index).bad for index in (1, 5))
    assert suggestion(case, []).changes == {}


def test_a_suggestion_is_judged_on_worlds_that_it_has_not_seen(tmp_path, monkeypatch):
    """One that breaks more of them, or as many, is not printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sensitivity, 'NEW_WORLDS', (12, 12))
    mistake = planted.MISTAKES['the same, compensated by 0.8 in an arm that floats']
    wrong, right = short(mistake(planted.sound())), short(planted.sound(
        mode='gravity_compensation'))
    right = replace(right, worlds=wrong.worlds)
    found = sensitivity.comparison(wrong, right, 8, 1)
    assert found.better and [one.index for one in found.before] == list(range(8, 20))
    assert sum(one.bad for one in found.before) > 4 and not any(one.bad for one in found.after)
    assert not sensitivity.comparison(right, right, 8, 1).better
    out, text = Console(file=(written := StringIO()), width=200), 'friction_compensation'
    broken = replace(found.before[0], index=0, violations={'passive': 'x'})
    for case, other, good in ((right, wrong, False), (wrong, right, True)):
        monkeypatch.setattr(sensitivity, 'suggestion', lambda *_, other=other: Suggestion(
            other, {text: [0.5]}, 24, 0))
        assert bool(command.suggest(case, [broken], 1, out)) is good
        assert (f'  {text}: [0.5]' in written.getvalue()) is good
    assert 'Nothing is suggested' in written.getvalue()

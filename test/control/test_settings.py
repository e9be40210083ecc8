# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings and suggested gains: records or errors, rotors of real drives, targets reached."""

from dataclasses import dataclass, fields, replace
import re

from control.disturbed import run
from control.rig import BENT, follow, PANDA, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf, Settings, simulate
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.declare import (
    by_joint_type, JOINT_RECORD, listed, number, numbers, PerJoint, record_dtype)
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings import gain_stability, settings as settings_module
from robodyn_ros.control.settings.motion_limits import (
    holding_warning, resting_error_warning, resting_errors, SCARCE_EFFORT)
from robodyn_ros.control.settings.parameters import ControlParameters
from robodyn_ros.control.settings.suggested_gains import (
    suggest_gains, SUGGESTED_KD, SUGGESTED_KP, with_assumed_rotors)
from robodyn_ros.control.steps.cycle_data import JOINT
from robodyn_ros.errors import ArgumentError, ParameterError
from robodyn_ros.model.robot import roomy_position, with_payload
from robots import PANDA_LOCKED, REAL, WIDE
from thorough import seeds


@pytest.fixture(scope='module')
def few_poses():
    """Judge gains at all poses, which is what these tests are about."""


def test_records():
    """One value stands for all joints; limits come from the URDF."""
    settings = Settings(mode='pd', stiffness=[5.0], damping=[1.0, 2.0])
    joints = settings.joint_records(TWO_LINK)
    assert settings.gain_rows(TWO_LINK).tolist() == [[5.0, 5.0], [1.0, 2.0]]
    assert (joints['effort_limit'] == TWO_LINK.effort_limit).all()
    assert joints['effort_rate_limit'] == pytest.approx(10.0 * TWO_LINK.effort_limit)
    assert (joints['velocity_limit'] == TWO_LINK.velocity_limit).all()


@pytest.mark.parametrize(('name', 'settings'), [
    ('stiffness', Settings(mode='pd', damping=[1.0])),
    ('damping', Settings(mode='joint_impedance', stiffness=[1.0])),
    ('acceleration_kp', Settings(mode='computed_torque')),
    ('stiffness', Settings(stiffness=[1.0, 2.0, 3.0])),
    ('joint2', Settings(effort_limit=[1.0, 0.0])),
    ('joint1', Settings(effort_limit=[1e6, 1.0])),
    ('effort_rate_limit', Settings(effort_rate_limit=[10.0, 0.0])),
    ('state_timeout', Settings(rate=200.0, state_timeout=0.004)),
])
def test_refused(name, settings):
    """A gain that the mode needs, a length or a limit that is wrong is named."""
    with pytest.raises(ParameterError) as refusal:
        settings.gain_rows(TWO_LINK)
        settings.joint_records(TWO_LINK)
        settings.check_gains(TWO_LINK)
    assert refusal.value.name == name


@pytest.mark.parametrize(('name', 'limit', 'cause'), [
    ('effort_limit', np.inf, 'has no effort limit'), ('effort_limit', 0.0, 'has effort limit 0'),
    ('velocity_limit', np.inf, 'has no velocity limit'),
    ('velocity_limit', 1e4, 'has no velocity limit: 10000 is that of no drive')])
def test_a_urdf_without_a_limit(name, limit, cause):
    """A joint is not driven until the parameter says how strong and fast it is."""
    model = replace(TWO_LINK, **{name: np.array([9.0, limit])})
    with pytest.raises(ParameterError, match=f'joint2 {cause}'):
        Settings().joint_records(model)
    given = Settings(**{name: [8.0, 7.0]}).joint_records(model)[name]
    assert given.tolist() == [8.0, 7.0]


@pytest.mark.parametrize(('given', 'remedy'), [
    ({'mode': 'gravity_comp'}, 'did you mean gravity_compensation.*pd, joint_impedance, computed'),
    ({'mode': 3}, 'choose one of gravity_compensation'),
    *(({'rate': bad}, r'finite number in \[1, 10000\] Hz') for bad in (-5, 10**400, '1', True)),
    ({'state_timeout': -1}, r'\[0.001, 1\] s'),
    ({'loop_delay': np.nan}, r'\[0, 0.1\] s'),
    ({'power_limit': np.inf}, r'\[0, 1e\+06\] W'),
    ({'missed_limit': 2.5}, 'an integer in'),
    ({'acceleration_kp': np.nan}, 'every element must be a finite number in .* 1/s²'),
    *(({'stiffness': bad}, 'every element.*N·m/rad') for bad in (
        [1.0, np.inf], [[1.0, 2.0]], [1.0, [2.0]], 'high')),
    ({'damping': -1.0}, 'every element.*N·m·s/rad'),
    ({'friction_compensation': 1.2}, r'\[0, 1\]'),
    ({'payload_com': 0.1}, 'use 3 numbers'),
    ({'payload_frame': None}, 'use a text'),
    ({'robot_compensates_gravity': 1}, 'True or False'),
    ({'fault_action': 'holds'}, 'did you mean hold'),
], ids=str)
def test_what_a_setting_cannot_be(given, remedy):
    """The error names the setting, and its range or choices."""
    with pytest.raises(ParameterError, match=remedy) as refusal:
        Settings(**given)
    assert refusal.value.name == next(iter(given)) in str(refusal.value)


@pytest.mark.parametrize('gain', [100, 100.0, np.float64(100.0), np.array([100.0]), [100, 100]])
def test_a_number_stands_for_all_joints(gain):
    """A controller takes gains as numbers, lists and arrays."""
    settings = Settings(mode='computed_torque', acceleration_kp=gain, acceleration_kd=20)
    assert settings.gain_rows(TWO_LINK)[0].tolist() == [100.0, 100.0]
    controller = Controller(TWO_LINK, settings, specialize=False)
    with pytest.raises(ParameterError, match='acceleration_kp has 3 values.*joint1, joint2'):
        controller.use(Settings(mode='computed_torque', acceleration_kp=[1, 2, 3],
                                acceleration_kd=20))
    assert controller.settings is settings


def test_the_node_has_the_same_ranges():
    """What the node's table says of a setting is what the library checks."""
    parameters = pytest.importorskip('robodyn_ros.nodes.controller.parameters')
    table = {p.name: p for p in parameters.TABLE}
    for f in fields(ControlParameters):
        said = table[f.name]
        assert said.choices == f.metadata.get('choices', ()), f.name
        if 'lower' in f.metadata:
            assert (said.lower, said.upper) == (f.metadata['lower'], f.metadata['upper']), f.name
            assert said.unit == f.metadata['unit'], f.name


def test_a_parameter_is_listed_after_the_one_that_it_names():
    @dataclass
    class First:
        a: float = number(0.0, '', 0.0, 1.0, '')
        b: float = number(0.0, '', 0.0, 1.0, '')

    @dataclass
    class Both(First):
        c: float = number(0.0, '', 0.0, 1.0, '', after='a')
        d: float = number(0.0, '', 0.0, 1.0, '')

    assert [f.name for f in listed(Both)] == ['a', 'c', 'd', 'b']


ACCELERATION = 0.97 * 8.0 / 0.25            # of the velocity limits


def test_what_effort_rates_allow():
    # Gain, joint, the highest that is accepted, and the effort rate that it would need.
    given = Settings(mode='joint_impedance', stiffness=[400.0, 60.0], damping=[40.0, 6.0])
    with pytest.raises(ParameterError) as refused:
        given.check_gains(TWO_LINK)
    assert refused.value.name == 'damping' and refused.value.value == 40.0
    assert ('damping 40 (joint1)' in str(refused.value)
            and 'use at most damping 25.7 (joint1), or effort_rate_limit 1250 (joint1)'
            in str(refused.value))
    for change in ({'damping': [25.7, 6.0]}, {'effort_rate_limit': [1250.0, 300.0]},
                   {'acceleration_limit': [20.0]}, {'mode': 'gravity_compensation'}):
        replace(given, **change).check_gains(TWO_LINK)
    # Without a velocity limit, the efforts bound what a reference can be.
    rate, acceleration = np.array([800.0, 300.0]), np.array([np.inf, 2.0])
    most = gain_stability.highest_damping(np.ones(2), acceleration, rate)
    assert most.tolist() == [np.inf, 150.0]
    free = replace(TWO_LINK, velocity_limit=np.full(2, 1e3))
    Settings(mode='joint_impedance', stiffness=[150.0, 50.0],
             damping=[20.0, 4.0]).check_gains(free)
    # What is accepted by default follows them, what is refused turns them into a fault.
    accepted, refused = (100.0, 20.0), (3600.0, 120.0)
    for kp, kd in (accepted, refused):
        given = Settings(mode='computed_torque', acceleration_kp=[kp], acceleration_kd=[kd])
        if kd == accepted[1]:
            given.check_gains(TWO_LINK)
        else:
            with pytest.raises(ParameterError, match='acceleration_kd 120'):
                given.check_gains(TWO_LINK)
    assert fault(TWO_LINK, *accepted) == 'NO_REASON'
    assert fault(TWO_LINK, *refused) in ('FOLLOWING_ERROR', 'EFFORT_OSCILLATES', 'EFFORT_LIMITED')


def fault(model, kp, kd):
    """Return the reason of the fault in motions with acceleration steps of 24 rad/s², if any."""
    rig = risen(model=model, mode='computed_torque', acceleration_kp=[kp], acceleration_kd=[kd],
                loop_delay=0.002, acceleration_limit=[2.0])
    for goal in ([1.3, -0.3], [-0.5, 0.7], [0.8, 0.0]):
        if rig.phase == 'FAULT':
            break
        there = abs(np.array(goal) - rig.controller._v.target).max()
        seconds = np.sqrt(6.0 * there / 24.0)
        follow(rig, goal, seconds, at_rest=True)
        rig.run(seconds + 0.2)
    return rig.controller.reason_code


def test_the_base_of_an_upright_arm_is_not_soft():
    """Where the other links are on its axis, the mean over the workspace counts."""
    model = load_urdf('kinova')
    masses = settings_module.checked_masses(with_assumed_rotors(model))
    everywhere = masses.mean(axis=0).diagonal()
    upright = suggest_gains(model, roomy_position(model))
    gains = suggest_gains(model)
    assert upright.stiffness[0] < 0.6 * SUGGESTED_KP * everywhere[0]
    np.testing.assert_allclose(gains.stiffness[0], SUGGESTED_KP * everywhere[0], rtol=0.01)


def test_scarce_efforts_and_stiffness():
    # Stretched upwards, the Panda's joints 1 and 3 turn about one line: bent, they move little
    model = load_urdf(REAL['panda'], locked=PANDA_LOCKED)
    pose = np.array([0.0, 0.0, 0.0, -1.57, 0.0, 1.87, 0.0])
    gains = suggest_gains(model, pose, Settings(armature=[0.0]))
    lowered = gains.damping / (SUGGESTED_KD * Dynamics(model).mass_matrix(pose).diagonal())
    assert lowered[2] < 0.5
    ratio = gains.stiffness / gains.damping
    np.testing.assert_allclose(ratio, ratio[0], rtol=0.02)
    # The disturbance observer has its room: it adds damping
    assert SUGGESTED_KP / SUGGESTED_KD <= ratio.max() <= 1.45 * SUGGESTED_KP / SUGGESTED_KD
    assert gains.observer_bandwidth.min() >= 25.0
    found = Settings().scarcity(PANDA)
    assert found.scarce[6] and not found.scarce[1]
    assert (found.available[found.scarce] < SCARCE_EFFORT * PANDA.effort_limit[found.scarce]).all()
    only = np.arange(7) == 6
    sentence = found.sentence(found.scarce & only)
    assert 'of 12 (panda_joint7)' in sentence and 'set armature' in sentence
    assert '0.023 (panda_joint7)' in sentence and 'panda_joint1' not in sentence
    slow = Settings(velocity_limit=[0.3], effort_limit=[8.0]).scarcity(PANDA)
    assert (slow.armature == found.armature).all()          # that of the same drive
    given = Settings(velocity_limit=PANDA.velocity_limit).scarcity(
        replace(PANDA, velocity_limit=np.full(7, 1e4)))         # of no drive
    assert (given.armature == found.armature).all() and given.scarce[6]
    assert not Settings().scarcity(with_rotors(PANDA, 1.0)).scarce.any()
    assert not Settings(armature=found.armature.tolist()).scarcity(
        Settings(armature=found.armature.tolist()).loaded(PANDA)).scarce.any()


def with_rotors(model, times):
    """Return a model with a multiple of the smallest plausible rotor inertia."""
    return replace(model, armature=times * Settings().scarcity(model).armature)


@pytest.mark.parametrize('known, fault', [(False, 'FOLLOWING_ERROR'), (True, '')])
def test_the_remedy(known, fault):
    """An arm with rotors and friction: its wrist stays behind without `armature`, and why."""
    real = replace(with_rotors(PANDA, 3.0), coulomb_friction=0.05 * PANDA.effort_limit)
    least = with_rotors(PANDA, 1.0)
    given = Settings(armature=least.armature.tolist() if known else [0.0])
    settings = Settings(mode='computed_torque', **suggest_gains(PANDA, BENT, given)._asdict())
    goal = BENT + [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.2]
    motion = Waypoints(PANDA.joint_names, [1.2], [goal], [np.zeros(7)])
    seen = simulate(PANDA, settings, BENT, 1.3, motion, plant=real)
    assert seen.code == fault, seen.fault
    assert known or 'set armature for a real drive, at least about 0.023 (panda_joint7)' in (
        seen.fault)


def test_limits_hold_with_real_rotors():
    """The smallest plausible rotor inertia is assumed, and the true one is that or more."""
    known, real = with_rotors(PANDA, 1.0), Dynamics(with_rotors(PANDA, 4.0))
    for seed in range(seeds(1, 200)):
        worst = run(known, real, seed)
        assert not worst.violations(), f'seed {seed}: {worst}'


def test_an_empty_list_of_a_new_parameter_needs_no_other_line(monkeypatch):
    """A temporary check of the joints: unlimited, as 0 is, or as its declaration implies."""
    @dataclass(frozen=True)
    class More(Settings):
        strain_limit: PerJoint = numbers('', 0.0, 1.0, 'Limit.', record=JOINT_RECORD,
                                         unlimited=True)
        implied_limit: PerJoint = numbers('', 0.0, 1.0, 'Limit.', record=JOINT_RECORD,
                                          unlimited=True, implied=by_joint_type(0.5, 0.1))
        strain_share: PerJoint = numbers('', 0.0, 1.0, 'Share.', record=JOINT_RECORD)

    fields = [*record_dtype(More, JOINT_RECORD), *(
        (name, JOINT[name]) for name in ('position_lower', 'position_upper', 'periodic'))]
    monkeypatch.setattr(settings_module, 'JOINT', np.dtype(fields))

    def record(**given):
        joints = More(**given).joint_records(TWO_LINK)
        return [joints[name].tolist() for name in ('strain_limit', 'implied_limit',
                                                   'strain_share')]
    assert record() == [2 * [np.inf], [0.5, 0.5], [0.0, 0.0]]
    assert record(strain_limit=0.0, implied_limit=[0.0, 0.2]) == [
        2 * [np.inf], [np.inf, 0.2], [0.0, 0.0]]
    assert record(strain_limit=[0.3, 0.0], strain_share=0.5)[::2] == [[0.3, np.inf], [0.5, 0.5]]


@pytest.fixture(scope='module')
def z1():
    """Return an arm of a vendor, its suggested gains, and a pose amid its limits."""
    return vendor('z1')


def vendor(name):
    model = load_urdf(WIDE[name])
    return model, suggest_gains(model), 0.5 * (model.position_lower + model.position_upper).clip(
        -2.0, 2.0)


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'mode'), [('z1', 'computed_torque'),
                                            ('xarm7', 'joint_impedance')])
def test_an_arm_with_friction_and_without_rotors_reaches_its_target(name, mode):
    """Coulomb friction of 1 or 2 N·m, wrists of 1e-3 kg·m², no rotor inertia in the URDF."""
    model, gains, start = vendor(name)
    light = Dynamics(model).mass_matrix(np.zeros(model.nv)).diagonal() < 0.05
    assert ((gains.armature > 0.0) | ~light).all()
    goal = start + 0.5 * np.where(model.position_upper - start > 0.6, 1.0, -1.0)
    run = simulate(model, Settings(mode=mode, **gains._asdict()), start, 3.0, Waypoints(
        model.joint_names, [1.5], [goal], np.zeros((1, model.nv))))
    assert run.fault == run.warning == ''
    assert abs(run.position[-1] - goal).max() < 0.01
    with pytest.raises(ArgumentError, match=rf'\({model.nv},\)'):
        suggest_gains(model, [0.3])


@pytest.mark.slow
def test_limits_and_friction_that_do_not_suffice_are_named(z1):
    model, gains, _ = z1
    weak = Settings(mode='joint_impedance', stiffness=[5.0], damping=[1.0])
    assert resting_errors(model, weak)[1] == pytest.approx(2.0 / 5.0)
    assert 'joint2 may rest 0.4 rad away (friction 2)' in resting_error_warning(model, weak)
    firm = replace(weak, stiffness=[250.0])                 # 8 mrad: reported below that alone
    assert 'joint2 may rest' not in resting_error_warning(model, firm)
    assert 'joint2 may rest 0.008 rad away' in resting_error_warning(
        model, replace(firm, goal_tolerance=[0.005]))
    for cured in (replace(weak, friction_compensation=[1.0]),
                  Settings(mode='gravity_compensation')):
        assert resting_errors(model, cured).max() == 0.0
    assert 'may rest' not in resting_error_warning(model, Settings(
        mode='joint_impedance', **gains._asdict()))
    for given in (0.0, 0.01):
        assert (suggest_gains(model, settings=Settings(armature=[given])).armature == given).all()
    model = TWO_LINK
    assert holding_warning(model, model.effort_limit) == ''
    weak = np.array([10.0, model.effort_limit[1]])
    poses = np.random.default_rng(0).uniform(model.position_lower, model.position_upper, (999, 2))
    gravity = abs(Dynamics(model).batch.gravity(poses)[:, 0])
    found = holding_warning(model, weak)
    assert 'joint1 in ' in found and 'joint2' not in found
    share, largest = re.search(r'joint1 in (\d+) % \(10 of up to ([\d.]+) N·m', found).groups()
    assert int(share) == pytest.approx(100.0 * (gravity > 10.0).mean(), abs=8.0)
    assert float(largest) == pytest.approx(gravity.max(), rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize('limits, cause', [
    ({'acceleration_kp': [10.0], 'acceleration_kd': [10.0]},
     'the gains are too low for a friction of 1 N'),
    ({'effort_limit': [30.0, 60.0, 30.0, 30.0, 30.0, 0.5, 30.0], 'effort_rate_limit': [600.0]},
     'limits withhold')])
def test_an_arm_that_rests_away_from_its_target_says_why(z1, limits, cause):
    model, gains, start = z1
    settings = Settings(mode='computed_torque', following_error=[0.0],
                        **{**gains._asdict(), **limits})
    aside = Waypoints(model.joint_names, [0.2], [start + 0.02], np.zeros((1, model.nv)))
    run = simulate(model, settings, start, 0.35, aside)
    assert not run.fault and 'joint6 rests 0.02 rad from its target: ' in run.warning
    assert cause in run.warning
    assert simulate(model, settings, start, 0.1).warning == ''


def test_a_load_is_not_called_friction():
    """The friction that the URDF declares is ten times too little to hold the arm there."""
    settings = Settings(mode='joint_impedance', stiffness=[50.0], damping=[20.0, 4.0],
                        coulomb_friction=[0.1])
    loaded = with_payload(TWO_LINK, 'link2', 0.1, (1.0, 0.0, 0.0))
    run = simulate(TWO_LINK, settings, [0.3, 0.5], 3.0, plant=loaded)
    assert 'from its target: friction that the model lacks, a payload or an obs' in run.warning


def test_an_arm_that_sags_under_pd_is_told_so():
    settings = Settings(mode='pd', stiffness=[200.0, 100.0], damping=[20.0, 4.0],
                        following_error=[0.0])
    assert 'pd compensates no gravity' in simulate(TWO_LINK, settings, [0.3, 0.5], 2.0).warning

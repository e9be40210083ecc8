# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Data checks: deliberate errors are named, correct data pass."""

from dataclasses import replace
import re

from motions import recorded, robot
import numpy as np
import pytest
from robodyn_ros.cli.options import as_option
from robodyn_ros.dynamics.api import Batch
from robodyn_ros.errors import RecordingError
from robodyn_ros.identification.options import by_kind, PreparationOptions
from robodyn_ros.identification.recorded_motion import checked_motion
from scipy.signal import butter, sosfiltfilt

pytestmark = pytest.mark.slow

EVERYTHING = PreparationOptions(accept=(
    'effort sign', 'effort unit', 'gravity', 'order', 'direction', 'position unit'))
DEGREES, TURNS = 180 / np.pi, 0.5 / np.pi


def refusal(r, model, **options):
    with pytest.raises(RecordingError) as refused:
        checked_motion(r, model, PreparationOptions(**options))
    return refused.value


def issues(r, model, **options):
    return [issue.render()
            for issue in checked_motion(r, model, PreparationOptions(**options)).issues]


def scaled(r, joint=slice(None), **factors):
    """Return the recording with numbers, of one joint or of all, times factors."""
    changed = {name: np.array(getattr(r, name)) for name in factors}
    for name, factor in factors.items():
        changed[name][..., joint] *= factor
    return replace(r, **changed)


def ordered(r, order, *which):
    return replace(r, **{name: getattr(r, name)[:, order] for name in which})


def with_efforts(r, samples, values, joints=slice(None)):
    effort = r.effort.copy()
    effort[samples, joints] = values
    return replace(r, effort=effort)


def clipped(r):
    limit = np.percentile(np.abs(r.effort), 85, axis=0)
    return replace(r, effort=np.clip(r.effort, -limit, limit))


@pytest.fixture
def model():
    return robot('panda')


@pytest.fixture
def r():
    return recorded('panda')


# What is changed in a recording, the joint or quantity that the error names, words of message or
# remedy, where JOINT is that joint, and between which numbers its value is
WRONG = {
    'degrees': (lambda r, m: scaled(r, position=DEGREES, velocity=DEGREES), None,
                "units={'position': 'deg'}"),
    'positions in degrees': (lambda r, m: scaled(r, position=DEGREES), None,
                             "{'position': 'deg'}"),
    'velocities in degrees': (lambda r, m: scaled(r, velocity=DEGREES), None, "'deg/s'"),
    'radians that were called degrees': (
        lambda r, m: scaled(r, position=1 / DEGREES, velocity=1 / DEGREES), 'position', "'rad'"),
    'one position in degrees': (
        lambda r, m: scaled(r, 1, position=DEGREES), 1, "units={'position': {'JOINT': 'deg'}}"),
    'one velocity in degrees': (
        lambda r, m: scaled(r, 1, velocity=DEGREES), 1, "units={'velocity': {'JOINT': 'deg/s'}}"),
    'revolutions': (lambda r, m: scaled(r, position=TURNS, velocity=TURNS), None, "'rev'"),
    'sign of a velocity': (lambda r, m: scaled(r, -1, velocity=-1), -1, '-rad/s'),
    'velocities of other joints': (
        lambda r, m: ordered(r, np.r_[1, 0, 2:m.nv], 'velocity'), 0, ''),
    'sign of the first effort': (
        lambda r, m: scaled(r, 0, effort=-1), 0, "{'JOINT': '-N·m'}", -np.inf, 0),
    'sign of the last effort': (
        lambda r, m: scaled(r, -1, effort=-1), -1, "{'JOINT': '-N·m'}", -np.inf, 0),
    'sign of all efforts': (lambda r, m: scaled(r, effort=-1), None, 'effort sign'),
    'sign of a position': (
        lambda r, m: scaled(r, 1, position=-1, velocity=-1), 1, "'-rad'"),
    'efforts in millinewton metres': (
        lambda r, m: scaled(r, effort=1e3), None, 'mN·m', 0.9e3, 1.1e3),
    'efforts in amperes': (lambda r, m: scaled(r, effort=0.02), None, "'A'", 0.018, 0.022),
    'one effort in another unit': (lambda r, m: scaled(r, -1, effort=1e3), -1, ''),
    'one effort in millinewton metres': (
        lambda r, m: scaled(r, 1, effort=1e3), 1, "units={'effort': {'JOINT': 'mN·m'}}"),
    'efforts without gravity': (
        lambda r, m: replace(r, effort=r.effort - Batch(m).gravity(r.position)), None,
        'compensates gravity itself', -0.1, 0.1),
    'efforts that are not measured': (
        lambda r, m: with_efforts(r, slice(None), 0.0, -1), -1, 'throughout'),
    'efforts at their limit': (lambda r, m: clipped(r), None, 'extremes', 0.05, np.inf),
    'spikes': (lambda r, m: with_efforts(
        r, slice(5, None, 60), 20.0 * abs(r.effort[:, -1]).max(), -1), None,
        'far from those around them'),
    'numbers that are none': (
        lambda r, m: with_efforts(r, slice(None, None, 50), np.inf, 0), 0, '', 0.0199, 0.0201),
    'efforts of a joint that are no numbers': (
        lambda r, m: with_efforts(r, slice(None), np.nan, 1), 1, 'lock the joint'),
    'no motion': (lambda r, m: replace(r, position=np.tile(r.position[:1], (len(r), 1)),
                                       velocity=None), None, 'moves by 0 only'),
    'milliseconds': (lambda r, m: replace(r, time=1e3 * r.time), 'time', "'ms'"),
    'microseconds': (lambda r, m: replace(r, time=1e6 * r.time), 'time', "{'time': 'us'}"),
    'nanoseconds': (lambda r, m: replace(r, time=1e9 * r.time), 'time', "{'time': 'ns'}"),
    'stamps of few digits': (
        lambda r, m: replace(r, time=np.floor(100 * r.time) / 100), None, '60 %', 'rate='),
}


@pytest.mark.parametrize('wrong', WRONG)
def test_what_is_wrong_is_named_with_the_remedy(r, model, wrong):
    change, who, *rest = WRONG[wrong]
    error = refusal(change(r, model), model)
    who = model.joint_names[who] if isinstance(who, int) else who
    assert who in (None, error.name)
    said, limits = f'{error} {error.remedy}', [x for x in rest if not isinstance(x, str)]
    assert all(words.replace('JOINT', str(who)) in said for words in rest
               if isinstance(words, str)), said
    assert not limits or limits[0] < error.value < limits[1]


def test_currents_may_be_of_any_size(r, model):
    for factor in (1e3, 0.02):
        assert issues(replace(scaled(r, effort=factor), effort_unit='A'), model) == []


@pytest.mark.parametrize('name', ['two_link', 'panda', 'rp', 'ur5', 'kinova'])
def test_what_is_right_passes(name):
    assert issues(recorded(name), robot(name)) == []


@pytest.mark.parametrize(('samples', 'size'), [(slice(400, 401), 20.0), (slice(2600, 2603), 1e5)])
def test_spikes_of_efforts_are_gaps(model, r, samples, size):
    """In the fitted part or the other one; a few false samples do not change the motion."""
    value = size * abs(r.effort[:, 0]).max()
    spiked = with_efforts(r, samples, value, 0)
    found, *_ = checked_motion(spiked, model).issues
    assert found.kind == 'effort spike' and found.joint == model.joint_names[0]
    assert not found.fatal and 'treated as gaps' in found.render()
    motion, right = (checked_motion(each, model, PreparationOptions(cutoff=10.0)).motion
                     for each in (spiked, with_efforts(r, samples, np.nan)))
    assert np.array_equal(motion.effort, right.effort)
    kept = checked_motion(spiked, model, PreparationOptions(cutoff=10.0, accept=(
        *EVERYTHING.accept, 'effort spike'))).motion
    assert abs(kept.effort - right.effort)[:, 0].max() > abs(right.effort[:, 0]).max()


def test_efforts_that_a_driver_repeats(model, r):
    """For 0.12 s in motion: a gap; for a second: an error, until it is cut out of the file."""
    speed = abs(r.velocity[800:1100] / r.velocity.std(0)).min(1)
    at = 800 + int(speed.argmax())
    found = checked_motion(with_efforts(r, slice(at, at + 30), r.effort[at]), model).issues
    assert [(issue.kind, issue.fatal) for issue in found] == [('frozen effort', False)]
    error = refusal(with_efforts(r, slice(at, at + 250), r.effort[at]), model)
    assert 'all efforts stand still while the arm moves' in str(error)
    assert "--accept 'frozen effort'" in error.render(as_option)


def test_masses_and_small_motions_are_no_reason(r, model):
    # The URDF need not be right: that is what identification is for.
    rng = np.random.default_rng(7)
    factor = rng.uniform(0.5, 2.0, model.nb)
    wrong = replace(model, mass=model.mass * factor,
                    inertia=model.inertia * factor[:, None, None],
                    com=model.com * rng.uniform(0.7, 1.3, model.com.shape))
    assert issues(r, wrong) == []
    # No limit is overrun where there is none: only the efforts tell.
    free = replace(model, position_lower=np.full(model.nv, -np.inf),
                   position_upper=np.full(model.nv, np.inf))
    error = refusal(scaled(r, position=DEGREES, velocity=DEGREES), free)
    assert error.name == 'position' and "'deg'" in error.remedy


def test_a_sign_that_friction_alone_tells(r, model):
    """A joint that bears next to nothing: efforts that push the way it goes are no friction."""
    effort = r.effort.copy()
    effort[:, -1] = 0.3 * np.tanh(r.velocity[:, -1] / 0.05) + 0.01 * r.effort[:, -1]
    light = replace(model, mass=np.r_[model.mass[:-1], 1e-3 * model.mass[-1]],
                    inertia=np.concatenate([model.inertia[:-1], 1e-3 * model.inertia[-1:]]),
                    armature=np.r_[model.armature[:-1], 0.0])
    assert not any('effort sign' in note for note in issues(replace(r, effort=effort), light))
    effort[:, -1] *= -1
    error = refusal(replace(r, effort=effort), light)
    assert error.name == model.joint_names[-1] and 'friction' in str(error)


def test_an_arm_that_cannot_have_been_there_is_not_that_of_the_urdf(r, model):
    upper = model.position_upper.copy()
    upper[1] = 0.5 * (model.position_lower[1] + r.position[:, 1].max())
    other = replace(model, position_upper=upper)
    error = refusal(r, other)
    assert error.name == model.joint_names[1] and 'its limits are' in str(error)
    assert 'not this arm' in error.remedy and "accept=('limits',)" in error.remedy
    assert [line.partition(':')[0] for line in issues(r, other, accept=('limits',))] == ['limits']


@pytest.mark.parametrize('what', ['efforts', 'positions', 'columns'])
@pytest.mark.parametrize('how', ['swapped', 'rolled'])
def test_columns_in_another_order(r, model, what, how):
    order = {'swapped': np.r_[1, 0, 2:model.nv], 'rolled': np.roll(np.arange(model.nv), 1)}[how]
    which = {'efforts': ['effort'], 'positions': ['position', 'velocity'],
             'columns': ['position', 'velocity', 'effort']}[what]
    error = refusal(ordered(r, order, *which), model)
    assert f'{what} of joints are interchanged' in str(error)
    if what == 'columns':
        names = tuple(model.joint_names[j] for j in order)
        assert f'joint_names={names}' in error.remedy


def test_one_joint_on_a_spring_is_only_a_warning(r, model):
    effort = (r.effort - Batch(model).gravity(r.position))[:, 2]
    assert any('gravity' in note and model.joint_names[2] in note
               for note in issues(with_efforts(r, slice(None), effort, 2), model))


def test_warnings_of_recordings_and_models(r, model):
    position = r.position.copy()
    position[:, 0] = position[0, 0] + 1e-4 * np.sin(r.time)
    found = issues(replace(r, position=position, velocity=None), model)
    assert any('still' in note and model.joint_names[0] in note for note in found)
    step = np.ptp(r.effort, axis=0) / 6
    assert any('quantised' in note for note in issues(
        replace(r, effort=np.round(r.effort / step) * step), model))
    fine = np.ptp(r.effort, axis=0) / 100
    assert issues(replace(r, effort=np.round(r.effort / fine) * fine), model) == []
    assert any('not finite' in note for note in issues(with_efforts(r, 1000, np.nan, 0), model))
    noise = np.random.default_rng(5).normal(size=r.effort.shape)
    assert any('unexplained' in note for note in issues(
        replace(r, effort=noise), model, accept=EVERYTHING.accept))
    # Or a URDF without rotors, which is no reason to stop.
    found = issues(replace(r, time=3 * r.time, velocity=None), model)
    assert any(note.startswith('time: ') and 'factor of about 3' in note for note in found)
    twice = np.repeat(np.arange(len(r)), 2)
    again = replace(r, **{name: getattr(r, name)[twice] for name in (
        'time', 'position', 'velocity', 'effort')})
    assert issues(again, model) == []


def test_gravity_counts_and_accepted_errors():
    # On its side an arm of parallel joints bears no weight.
    model = robot('two_link')
    flat = replace(model, gravity_vector=np.zeros(3))
    r = recorded('two_link')
    assert issues(replace(r, effort=r.effort - Batch(model).gravity(r.position)), flat) == []
    r, model = recorded('arm6'), robot('arm6')
    keep = np.r_[:1000, 1200:len(r)]
    lost = replace(r, time=r.time[:len(keep)], position=r.position[keep], velocity=None,
                   effort=r.effort[keep])
    assert 'samples were lost there' in refusal(lost, model).remedy
    assert issues(replace(lost, time=r.time[keep]), model) == []


def test_an_encoder_that_stands_while_its_joint_moves(r, model):
    position = r.position.copy()
    fastest = 100 + int(np.abs(r.velocity[100:-100, -1]).argmax())
    position[fastest:fastest + 50, -1] = position[fastest, -1]
    error = refusal(replace(r, position=position, velocity=None), model)
    assert error.name == model.joint_names[-1] and 'stands at the same number' in str(error)
    assert error.value == pytest.approx(49 * 0.004, abs=0.001)
    late = r.position.copy()
    late[fastest:fastest + 5] = late[fastest]
    assert issues(replace(r, position=late, velocity=None), model) == []


def test_a_joint_that_stops_and_waits_is_no_encoder_that_stands():
    """Rounded positions, as drivers send them, are the same while a joint rests."""
    model = robot('two_link')
    time = np.arange(5000) / 250
    phase = np.clip(np.abs(time % 8 - 4) - 1, 0, 2) / 2          # rests at both ends
    s = phase**3 * (10 - 15 * phase + 6 * phase**2)
    q = np.round(np.column_stack([1.5 * s - 0.7, 1.0 - 1.2 * s]), 4)
    v = np.gradient(q, time, axis=0)
    effort = Batch(model, threads=1).gravity(q) + 0.5 * np.tanh(v / 0.05)
    effort += 0.01 * np.random.default_rng(0).normal(size=q.shape)
    r = replace(recorded('two_link'), time=time, position=q, velocity=None, effort=effort)
    assert not any(kind in note for note in issues(r, model, accept=EVERYTHING.accept)
                   for kind in ('stuck', 'jump'))


@pytest.mark.parametrize(('size', 'says'), [(1.0, 'leave these samples out'),
                                            (2 * np.pi, 'unwrap')])
def test_a_jump(r, model, size, says):
    position = r.position.copy()
    position[700:, 0] += size
    free = replace(model, position_upper=np.full(model.nv, np.inf))
    error = refusal(replace(r, position=position, velocity=None), free)
    assert error.name == model.joint_names[0] and says in error.remedy
    assert error.value == pytest.approx(size, abs=0.1)


def test_a_last_link_whose_inertia_nobody_knew(r, model):
    """A small joint that bears only what a URDF guessed tells no sign."""
    mass, com, inertia = model.mass.copy(), model.com.copy(), model.inertia.copy()
    mass[-1], com[-1, :2], inertia[-1] = 0.2, 0.0, 0.05 * np.eye(3)
    guessed = replace(model, mass=mass, com=com, inertia=inertia)
    acceleration = np.gradient(r.velocity, r.time, axis=0)
    needed = Batch(guessed, threads=1).inverse_dynamics(r.position, r.velocity, acceleration)
    effort = r.effort.copy()
    size = needed[:, -1].std()
    effort[:, -1] = -1.5 * needed[:, -1] + size * np.sin(2 * np.pi * 0.7 * r.time)
    assert not any('effort sign' in note
                   for note in issues(replace(r, effort=effort), guessed))


def test_issues_are_data_and_those_of_a_kind_share_a_line():
    model, r = robot('arm6'), recorded('arm6')
    position = r.position.copy()
    position[:, :5] = position[0, :5] + 1e-4 * np.sin(r.time)[:, None]
    found = [issue for issue in checked_motion(replace(r, position=position, velocity=None), model,
                                               EVERYTHING).issues if issue.kind == 'still']
    assert [issue.joint for issue in found] == list(model.joint_names[:5])
    assert not any(issue.fatal for issue in found)
    line, = by_kind(found)
    assert line.joint == model.joint_names[0] and line.remedy == found[0].remedy
    assert line.message.endswith(f'also {", ".join(model.joint_names[3:5])}')


def test_an_error_that_is_accepted_is_kept_as_an_issue(r, model):
    turned = scaled(r, effort=-1)
    assert refusal(turned, model).render(as_option).endswith("--accept 'effort sign'")
    kinds = {issue.kind: issue.fatal for issue in checked_motion(
        turned, model, PreparationOptions(accept=('effort sign',))).issues}
    assert kinds['effort sign']


@pytest.mark.parametrize('gravity', [(0.0, 9.81, 0.0), (6.937, 0.0, -6.937)])
def test_a_base_that_is_mounted_another_way(model, gravity):
    """Its gravity is found, though the masses of the model are wrong; with it all is right."""
    real = replace(model, gravity_vector=np.array(gravity))
    r = recorded('panda', model=real)
    believed = replace(model, mass=model.mass * 1.2)
    error = refusal(r, believed)
    assert error.name == 'gravity'
    found = [float(x) for x in re.search(r'gravity=\((.*?)\)', str(error))[1].split(',')]
    cosine = np.dot(found, gravity) / np.linalg.norm(found) / 9.81
    assert cosine > np.cos(np.radians(5.0))
    assert issues(r, replace(believed, gravity_vector=np.array(found))) == []


@pytest.mark.parametrize('factor', [3.0, 0.2])
def test_efforts_of_another_size_are_warned_of(factor):
    found = issues(scaled(recorded('arm6'), effort=factor), robot('arm6'))
    assert len(found) == 1 and found[0].startswith('effort scale: the efforts are ')
    assert float(found[0].split()[5]) == pytest.approx(factor, rel=0.1)


def test_rotors_that_the_model_lacks_interchange_nothing():
    """Rotors of many times the inertia of the links decide the efforts of a fast motion."""
    r, model = recorded('arm6'), robot('arm6')
    acceleration = np.gradient(np.gradient(r.position, r.time, axis=0), r.time, axis=0)
    smooth = sosfiltfilt(butter(4, 5.0, fs=250.0, output='sos'), acceleration, axis=0)
    rotors = 20.0 * r.effort.std(0) / smooth.std(0)
    found = issues(replace(r, effort=r.effort + rotors * smooth), model, accept=(
        'order', 'direction', 'gravity', 'effort sign', 'effort unit', 'mounting'))
    assert not any(line.startswith(('order', 'direction')) for line in found)

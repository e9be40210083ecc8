# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Laws with a memory, and changes of gains, friction and mode under way."""

from dataclasses import replace
import re
from threading import current_thread, main_thread, Thread
from typing import Annotated, NamedTuple

from control.rig import Blockable, follow, GAINS, POSE, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros.control.controller import followed_references, settings_in_force
from robodyn_ros.control.laws import registry
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.errors import ParameterError, TrajectoryError
from thorough import seeds

END, REST = np.array([0.9, -0.1]), np.zeros((1, 2))
CHANGES = {
    'joint_impedance': [{'stiffness': [200.0, 50.0], 'damping': [20.0, 5.0]},
                        {'viscous_friction': [0.3], 'friction_compensation': [0.5]}],
    'computed_torque': [{'acceleration_kp': [225.0], 'acceleration_kd': [30.0]},
                        {'coulomb_friction': [0.5], 'friction_compensation': [0.5]}],
    'pd': [{'stiffness': [300.0, 80.0]}], 'disturbance_observer': [{'observer_bandwidth': [15.0]}],
    'adaptive': [{'adaptive_bandwidth': [5.0]}]}


@pytest.fixture(scope='module')
def few_poses():
    """Judge gains at all poses, which is what these tests are about."""


def moving(mode, **settings):
    """Return an arm in the middle of a motion of one second."""
    rig = risen(mode=mode, **settings)
    follow(rig, END, 1.0, at_rest=True)
    rig.run(0.5)
    return rig


@pytest.mark.parametrize(('mode', 'change'), [
    (mode, change) for mode, changes in CHANGES.items() for change in changes])
def test_the_reference_goes_on(mode, change):
    """Exactly as without the change; efforts change at their rate, and nothing is a fault."""
    rig, same = moving(mode), moving(mode)
    c = rig.controller
    new = replace(c.settings, **change)
    assert c.reference_ended_by(new) == ''
    c.use(new)
    most = c.settings.joint_records(TWO_LINK)['effort_rate_limit'] * rig.period
    for _ in range(550):
        before = rig.published[-1] - rig.dynamics.gravity(rig.q)
        q = rig.q.copy()
        rig.tick()
        same.tick()
        step = rig.published[-1] - rig.dynamics.gravity(q) - before
        assert (abs(step) <= most + 0.02).all()         # and what g(q) changes by
        assert (c._v.target == same.controller._v.target).all()
    assert rig.phase == 'RUNNING', c.reason
    assert c._v.target == pytest.approx(END, abs=1e-12)
    assert c.memory['saturation_time'][0] < 0.05


@pytest.mark.parametrize(('change', 'what'), [
    ({'mode': 'computed_torque'}, 'mode'), ({'velocity_scale': 0.5}, 'velocity_scale'),
    ({'tool_speed_limit': 0.3, 'task_frame': 'tool0'}, 'bounds of the motion')])
def test_what_a_reference_depends_on_ends_it(change, what):
    """The present pose is held, and that is said."""
    rig = moving('joint_impedance')
    c = rig.controller
    new = replace(c.settings, **change)
    assert c.reference_ended_by(new) == (
        f'the reference under way ends: {what} changed; the present pose is held')
    c.use(new)
    here = rig.q.copy()
    rig.tick()
    assert c._v.target == pytest.approx(here, abs=1e-12)
    assert c.reference_ended_by(replace(new, mode='pd')) == ''


def test_references_that_go_on_or_are_planned_again():
    # The reference of a law that follows a pose is likewise kept, and another frame ends it.
    rig = risen(mode='cartesian_impedance', twist_timeout=0.5)
    c = rig.controller
    c.follow_twist([0.05, 0.0, 0.0, 0.0, 0.0, 0.0], rig.time)
    rig.run(0.1)
    before = c.memory['pose_position'][0].copy()
    softer = replace(c.settings, task_stiffness=tuple(0.5 * np.array(c.settings.task_stiffness)))
    assert c.reference_ended_by(softer) == ''
    c.use(softer)
    rig.run(0.1)
    assert c.memory['pose_following'][0] == 1
    assert c.memory['pose_position'][0][0] - before[0] > 3e-3
    assert 'task_frame' in c.reference_ended_by(replace(softer, task_frame='link2'))
    # New gains make the present pose the reference while a trajectory is being planned.
    rig = moving('joint_impedance')
    rig.run(0.6)
    c = rig.controller
    planned = c.prepare(Waypoints(TWO_LINK.joint_names, [1.0], [POSE], REST), rig.time + 0.01)
    rig.q = rig.q + [0.01, -0.01]
    c.use(replace(c.settings, stiffness=[300.0, 80.0]))
    rig.tick()
    with pytest.raises(TrajectoryError, match='has changed while it was planned'):
        c.commit(planned)


def test_threads_that_change_the_settings_wait_for_each_other(monkeypatch):
    """All are new laws: with one number for two, the cycle would miss the second change."""
    c, threads = risen(mode='joint_impedance').controller, []
    first, joint_map = int(c.records.record['law'][0]), settings_in_force.joint_map

    def interrupted(*arguments):
        """Two threads change them, too: while they are prepared, and are prepared again."""
        if current_thread() is main_thread() and len(threads) < 2:
            settings = replace(c.settings, damping=[30.0, 8.0 + len(threads)])
            threads.append(Thread(target=c.use, args=(settings,)))
            threads[-1].start()
            threads[-1].join([10.0, 0.2][len(threads) - 1])     # the second one must wait
        return joint_map(*arguments)
    monkeypatch.setattr(settings_in_force, 'joint_map', interrupted)
    c.use(replace(c.settings, damping=[20.0, 5.0]))
    for thread in threads:
        thread.join()
    assert c.records.record['law'][0] == first + 3 and len(threads) == 2


def test_a_thread_that_is_late_does_not_replace_the_reference_of_another(monkeypatch):
    """Both continue the same one: the second is planned again, from that of the first."""
    rig, threads = moving('computed_torque'), []
    c, splice = rig.controller, followed_references.splice

    def late(*arguments):
        if not threads:
            threads.append(Thread(target=follow, args=(rig, END, 0.5)))
            threads[0].start()
            threads[0].join(0.1)
        return splice(*arguments)
    monkeypatch.setattr(followed_references, 'splice', late)
    before = c.trajectory.serial
    follow(rig, POSE, 0.5, later=0.01)
    threads[0].join()
    assert c.trajectory.serial == before + 2


@pytest.mark.parametrize('seed', range(seeds(1, 10)))
def test_gains_that_change_all_the_time(seed):
    """As from a page with sliders: the motion goes on, without a fault of the guard."""
    rig, rng = moving('computed_torque'), np.random.default_rng(seed)
    c = rig.controller
    for k in range(60):
        if k % 20 == 0:
            c.follow(Waypoints(TWO_LINK.joint_names, [0.4], [rng.uniform(-0.5, 0.5, 2)], REST),
                     rig.time + 0.01)
        bandwidth = rng.uniform(5.0, 15.0)
        c.use(replace(c.settings, acceleration_kp=[bandwidth**2], acceleration_kd=[2 * bandwidth],
                      coulomb_friction=rng.uniform(0.0, 0.3, 2).tolist(),
                      friction_compensation=[0.5]))
        rig.run(0.02)
    assert rig.phase == 'RUNNING', c.reason
    assert abs(c._v.target - rig.q).max() < 0.05


def soft(distance):
    """Return a soft arm that a hand has brought away from its reference, which is under way."""
    rig = risen(mode='joint_impedance', stiffness=[1.0], damping=[1.0])
    follow(rig, POSE + 1e-3, 9.0, at_rest=True)
    rig.external = np.array([0.0, 2.0])
    while abs(rig.q - POSE).max() < distance:
        rig.tick()
    assert rig.phase == 'RUNNING', rig.controller.reason
    return rig


def test_references_end_with_their_law():
    # Of a law that takes over from one without a following error, far from its reference.
    rig = soft(0.7)
    rig.controller.use(replace(rig.controller.settings, mode='computed_torque'))
    rig.run(0.1)
    assert rig.phase == 'RUNNING', rig.controller.reason
    # It is dropped.
    rig = soft(0.4)
    c, asked = rig.controller, Waypoints(TWO_LINK.joint_names, [1.0], [END], REST)
    c.follow(asked, rig.time)
    c.use(replace(c.settings, mode='computed_torque'))
    here = rig.q.copy()
    rig.tick()
    assert c._v.target == pytest.approx(here, abs=1e-12)
    c.follow(asked, rig.time)
    rig.external[:] = 0.0
    rig.run(1.5)
    assert rig.q == pytest.approx(END, abs=1e-3) and rig.phase == 'RUNNING'


@pytest.mark.parametrize('stiffness', [4.0, 20.0])
def test_stiffer_gains_do_not_throw_an_arm_that_a_hand_holds_aside(stiffness):
    """Where the effort would step by a fifth of its limit, the present pose is the reference."""
    rig = risen(mode='joint_impedance', stiffness=[10.0], damping=[3.0])
    c = rig.controller
    c.follow(Waypoints(TWO_LINK.joint_names, [9.0], [POSE + 0.1], REST), rig.time)
    rig.external = np.array([2.8, 0.0])
    rig.run(1.5)
    here = rig.q.copy()
    assert abs(here - c._v.target).max() > 0.25
    c.use(replace(c.settings, stiffness=[stiffness * 10.0], damping=[9.0]))
    fastest = 0.0
    for _ in range(500):
        rig.tick()
        fastest = max(fastest, (abs(rig.qd) / TWO_LINK.velocity_limit).max())
    assert fastest < 0.1 and rig.phase == 'RUNNING'
    assert ('does not follow' in c.held_by) == (stiffness == 20.0)


LOAD = np.array([4.0, -1.5])
INTEGRAL = {'mode': 'computed_torque', 'acceleration_ki': [300.0]}
OBSERVER = {'mode': 'disturbance_observer', 'observer_bandwidth': [25.0],
            'observer_deadband': [0.0]}
STUCK = {'consistency_tolerance': [0.0]}    # a blocked arm whose encoders show no noise
LEARNING = pytest.mark.parametrize('law', [INTEGRAL, OBSERVER],
                                   ids=['computed_torque', 'disturbance_observer'])


class LoadedRig(Blockable):
    """An arm with a load, ``external`` [N·m], that its controller does not know."""

    def learned(self) -> np.ndarray:
        """Return the first row of the memory of the law: its integral, or its estimate."""
        return self.controller._law_memory[0]


@pytest.mark.slow
@LEARNING
def test_no_error_under_an_unknown_load(law):
    sag = {}
    for name, settings in {'with': law, 'without': {**GAINS, 'mode': law['mode'],
                                                    'observer_bandwidth': [0.0]}}.items():
        rig = risen(LoadedRig, **settings)
        assert abs(rig.learned()).max() < 1e-6
        rig.external = LOAD
        rig.run(6.0 if name == 'with' else 2.0)
        assert rig.phase == 'RUNNING', rig.controller.reason
        sag[name] = abs(rig.q - POSE).max()
    assert sag['with'] < 2e-5 and sag['without'] > 5e-3


def test_the_observer_estimates_the_load():
    rig = risen(LoadedRig, **OBSERVER)
    rig.external = LOAD
    rig.run(2.0)
    assert rig.learned() == pytest.approx(LOAD, abs=1e-3)
    rig.external = np.zeros(2)
    rig.run(2.0)
    assert rig.learned() == pytest.approx([0.0, 0.0], abs=1e-3)


def test_the_estimate_is_bounded():
    """An arm held by more than its motors can give: the estimate ends at the effort limit."""
    limit = np.array([40.0, 10.0])
    rig = risen(LoadedRig, **OBSERVER, **STUCK, effort_limit=limit, blocked_effort=0.0,
                saturation_timeout=60.0, acceleration_limit=[5.0])
    rig.blocked = 0, 1
    follow(rig, [1.2, 1.2], 2.0)
    rig.run(3.0)
    assert (abs(rig.learned()) <= limit).all()


@LEARNING
def test_nothing_winds_up_while_saturated(law):
    """Three seconds against a block, far from the reference; then little overshoot."""
    rig = risen(LoadedRig, **law, **STUCK, effort_limit=[40.0, 10.0], blocked_effort=0.0,
                following_error=0.0, saturation_timeout=60.0, acceleration_limit=[5.0])
    rig.blocked = 0, 1
    follow(rig, [0.9, 0.5], 0.6)
    rig.run(1.0)
    assert abs(rig.controller._v.withheld[0]) > 0.1
    before = rig.learned().copy()
    rig.run(2.0)
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert rig.learned()[0] == pytest.approx(before[0], abs=1e-3)
    rig.blocked = ()
    highest = 0.0
    for _ in range(3000):
        rig.tick()
        highest = max(highest, rig.q[0])
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert highest < 0.9 + 0.2
    assert rig.q == pytest.approx([0.9, 0.5], abs=5e-3)


ADAPTIVE = {'mode': 'adaptive', 'damping': [1.0, 0.1], 'damping_rate': 1.0,
            'adaptive_bandwidth': 0.0, 'adaptation_mass': 1.0}


@pytest.mark.parametrize(('name', 'law'), [
    ('acceleration_ki', {**INTEGRAL, 'acceleration_ki': [1e5, 2e5]}),
    ('observer_bandwidth', {**OBSERVER, 'observer_bandwidth': [900.0, 1000.0]}),
    ('adaptive_bandwidth', {**ADAPTIVE, 'adaptive_bandwidth': 500.0}),
    ('adaptation_rate', {**ADAPTIVE, 'adaptation_rate': 20.0, 'loop_delay': 0.1})])
def test_too_much_is_refused_with_what_is_accepted(name, law):
    own = {f.name: GAINS[f.name] for f in registry.find(law['mode']).declared if f.name in GAINS}
    settings = Settings(**{**own, 'acceleration_limit': GAINS['acceleration_limit'], **law})
    if settings.mode == 'adaptive':     # in its own mode only
        replace(settings, mode='joint_impedance').check_gains(TWO_LINK)
    with pytest.raises(ParameterError) as error:
        settings.check_gains(TWO_LINK)
    assert error.value.name == name
    accepted = [float(x) for x in re.findall(r'([^ ]+) \(joint\d\)', error.value.remedy)]
    replace(settings, **{name: accepted}).check_gains(TWO_LINK)
    with pytest.raises(ParameterError):
        replace(settings, **{name: 1.1 * np.array(accepted)}).check_gains(TWO_LINK)


@pytest.mark.parametrize('mode', registry.FOLLOWING)
@LEARNING
def test_mode_changes_are_bumpless(law, mode):
    """A law begins with an empty memory, whatever one learned before, and takes over slowly."""
    rig = risen(LoadedRig, **law)
    rig.external = LOAD
    rig.run(1.0)
    for settings in ({**law, 'mode': mode}, law):
        old = rig.controller.settings.mode
        rig.controller.use(replace(rig.controller.settings, **settings))
        before = rig.published[-1]
        limit = rig.controller.records.joints['effort_rate_limit'] * rig.period
        rig.tick()
        assert (abs(rig.published[-1] - before) <= limit + 1e-9).all()
        if old != settings['mode']:
            assert abs(rig.learned()).max() < 0.1
        rig.run(0.3)


@pytest.mark.parametrize('stated, shape', [
    (16, (16,)), (np.int64(3), (3,)), ((6, 6), (6, 6)), ('16', None), ((2, 3, 4), None),
    (0, None), ((6, -1), None)])
def test_a_memory_states_a_length_or_two(stated, shape):
    class Kept(NamedTuple):
        x: Annotated[np.ndarray, stated]
        y: np.ndarray

    if shape is None:
        with pytest.raises(ParameterError, match=r'Kept\.x states.*Annotated'):
            registry.memory_shapes(Kept)
    else:
        assert registry.memory_shapes(Kept) == (shape, ())

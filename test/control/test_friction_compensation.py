# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction that is compensated: whose, how much of it, what it is good for, what it cannot do."""

from dataclasses import replace
from types import SimpleNamespace

from control.disturbed import run
from control.rig import follow, GAINS, Rig, risen, TWO_LINK
from hypothesis import example, given, settings, strategies as st
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.control.laws.registry import FOLLOWING, MODES
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings import settings as settings_module
from robodyn_ros.control.settings.friction import CURVE_PARAMETERS, MAX_MEASURED_SHARE
from robodyn_ros.control.settings.gain_stability import (
    GAIN_MARGIN, RADIUS_TOLERANCE, spectral_radius)
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps.cycle_data import Vectors
from robodyn_ros.control.steps.friction_compensation import (
    begin_path, friction_compensation, PLAY_SHARE)
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.simulation.plant import Plant
from thorough import seeds

POSE, GOAL = np.array([0.3, 0.5]), np.array([1.0, -0.4])
VISCOUS, COULOMB, SHARE = np.array([0.8, 0.3]), np.array([2.0, 0.8]), [0.8]
RUSTY = robot_path('two_link').read_text()
for viscous_, coulomb_ in zip(VISCOUS, COULOMB):
    RUSTY = RUSTY.replace('<dynamics damping="0" friction="0"/>',
                          f'<dynamics damping="{viscous_}" friction="{coulomb_}"/>', 1)
IDENTIFIED = {'viscous_friction': VISCOUS, 'coulomb_friction': COULOMB}


class Real(Rig):
    """The rig with MuJoCo's physics instead of ours, which know dry friction that sticks."""

    substeps, urdf = 0, RUSTY

    def __init__(self, model, q, **how):
        super().__init__(model, q, **how)
        self.plant = Plant(self.urdf, model=load_urdf(self.urdf), substeps=4)
        self.plant.reset(q)

    def tick(self, **how):
        published = super().tick(**how)
        self.plant.step(self.tau + self.external)
        state = self.plant.state()
        self.q, self.qd = state.position.copy(), state.velocity.copy()
        return published


def real(**how) -> Real:
    return risen(Real, **{**IDENTIFIED, **how})


def worst_error(**how) -> float:
    """Largest distance from a trajectory there and back, of any joint [rad]."""
    rig, rest = real(**how), np.zeros((2, 2))
    rig.controller.follow(Waypoints(TWO_LINK.joint_names, [1.0, 2.0], [GOAL, POSE], rest, rest),
                          rig.time)
    errors = []
    for _ in range(2000):
        rig.tick()
        errors.append(abs(rig.q - rig.controller._v.target).max())
    assert rig.phase == 'RUNNING'
    return max(errors)


@pytest.mark.slow
def test_a_motion_is_followed():
    """Computed torque with dry friction in the physics: known, a fifth wrong, ignored."""
    ignored, known, doubted = (
        worst_error(mode='computed_torque', friction_compensation=[share],
                    viscous_friction=right * VISCOUS, coulomb_friction=right * COULOMB)
        for share, right in ((0.0, 1.0), (1.0, 1.0), (1.0, 0.8)))
    assert ignored > 30.0 * known
    assert ignored > 3.0 * doubted


@pytest.mark.slow
def test_it_never_runs_away():
    """Left alone it stays, thrown it loses energy, though a part of its friction is not there."""
    rig = real(friction_compensation=[MAX_MEASURED_SHARE], viscous_friction=VISCOUS / 0.85,
               coulomb_friction=COULOMB / 0.85)
    rig.run(0.3)
    assert abs(rig.q - POSE).max() < 1e-6 and abs(rig.qd).max() < 1e-6
    rig.plant.reset(POSE, [0.7, -1.5])
    energy = []
    for _ in range(3000):
        rig.tick()
        energy.append(rig.dynamics.kinetic_energy(rig.q, rig.qd))
    assert (np.diff(energy[3:]) < 1e-4).all()       # the first efforts know no motion yet
    assert energy[-1] < 1e-6 < 0.1 < energy[0]
    assert rig.phase == 'RUNNING'


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(0, 4), st.floats(0.0, 0.99))
def test_delay_makes_no_share_unstable(seed, nv, periods, share):
    """Of friction that is there the share may be felt late; of friction that is not, it drives."""
    random = np.random.default_rng(seed)
    half, B = random.normal(size=(nv, nv)), 10.0**random.uniform(-2.0, 3.0, nv)
    M = half @ half.T + 0.05 * np.eye(nv)
    late = {'period': 1e-3, 'delay': periods * 1e-3, 'stiffness': np.zeros(nv)}
    assert spectral_radius(M, damping=-share * B, viscous=B, **late) <= 1.0 + RADIUS_TOLERANCE
    assert spectral_radius(M, damping=-MAX_MEASURED_SHARE * B,
                           viscous=1.001 * B / GAIN_MARGIN, **late) <= (
        1.0 + RADIUS_TOLERANCE)
    assert spectral_radius(M, damping=-MAX_MEASURED_SHARE * B,
                           viscous=0.9 * B / GAIN_MARGIN, **late) > 1.0


def followed(model, **how) -> np.ndarray:
    """Efforts (N, 2) of a rig that floats or follows, and stops."""
    rig = risen(model=model, **how)
    rig.qd[:] = 0.1, -0.2
    if how['mode'] in FOLLOWING:
        follow(rig, [0.4, 0.4], 0.3)
    rig.run(0.2)
    rig.controller.stop()
    rig.run(0.1)
    return np.array(rig.published)


@pytest.mark.parametrize('mode', MODES)
def test_nothing_is_compensated_unasked(mode):
    """Friction that is only known changes no bit of the efforts; a share of it does."""
    plain_, known, shared = (followed(TWO_LINK, mode=mode, **how) for how in (
        {}, IDENTIFIED, {**IDENTIFIED, 'friction_compensation': SHARE}))
    assert np.array_equal(plain_, known)
    assert abs(shared[:len(plain_)] - plain_[:len(shared)]).max() > 0.1


def law(rig, q, qd) -> np.ndarray:
    """Return what comes on top of gravity in a cycle of this state, rate not limited."""
    rig.q[:], rig.qd[:] = q, qd
    rig.sense()
    rig.time += rig.period
    assert rig.controller.step(rig.time)
    return rig.controller.tau - rig.dynamics.gravity(np.array(q))


FREE = {'effort_rate_limit': [1e7], 'consistency_tolerance': [0.0],
        'friction_compensation': [0.8, 0.5], **IDENTIFIED, 'friction_offset': [0.3, -0.1],
        'backward_coulomb_friction': [1.0, 0.4]}


def test_whose_velocity():
    """Floating the measured one, while it is measured; else the reference's; stopping none."""
    share, offset = np.array([0.8, 0.5]), np.array([0.3, -0.1])
    rig = risen(missing_velocity='gravity_only', velocity_bandwidth=1.0, **FREE)
    backward = -0.6 * VISCOUS - [1.0, 0.4]
    for qd, friction in ((0.6, 0.6 * VISCOUS + COULOMB), (-0.6, backward), (0.0, 0.0)):
        assert law(rig, POSE, [qd, qd]) == pytest.approx(share * (friction + offset), abs=1e-9)
    assert law(rig, POSE, [np.nan, 0.1]) == pytest.approx([0.0, 0.0], abs=1e-12)
    rig.controller.stop()
    drag = -10.0 * rig.dynamics.mass_matrix(POSE) @ [0.1, 0.1]
    assert law(rig, POSE, [0.1, 0.1]) == pytest.approx(drag, abs=1e-9)

    rig = risen(mode='joint_impedance', **FREE)
    damping = -0.2 * np.array(GAINS['damping'])
    assert law(rig, POSE, [0.2, 0.2]) == pytest.approx(damping + share * offset, abs=1e-6)


@pytest.mark.parametrize('change', [
    {'friction_compensation': [0.5]}, {'coulomb_friction': [0.1]}, {'friction_offset': [0.1]}])
def test_a_change_holds_the_present_pose(change):
    """As that of a gain does; the same settings again change nothing."""
    rig = risen(mode='pd', **IDENTIFIED)
    rig.run(0.1)
    sagged = rig.q.copy()
    assert abs(sagged - POSE).max() > 0.01
    for settings_, held in (({}, POSE), (change, sagged)):
        rig.controller.use(replace(rig.controller.settings, **settings_))
        law(rig, sagged, [0.0, 0.0])
        assert rig.controller._v.target == pytest.approx(held, abs=1e-3)


NUMBER = st.floats(0.0, 1e4)


# Accelerates an arm without friction while it rises
FORWARD = {**{name: [0.0, 0.0] for name in CURVE_PARAMETERS[:6]}, 'viscous_friction': [0.0, 149.0]}


@pytest.mark.slow
@settings(max_examples=seeds(25, 400))
@example(FORWARD, [1.0, 1.0], 0.5, [0.0, 0.0], [-1.0, 0.0])
@given(st.fixed_dictionaries({name: st.lists(NUMBER, min_size=2, max_size=2)
                              for name in CURVE_PARAMETERS[:6]}),
       st.lists(st.floats(1e-6, 1e3), min_size=2, max_size=2), st.floats(0.0, MAX_MEASURED_SHARE),
       st.lists(st.floats(-80.0, 80.0), min_size=2, max_size=2),
       st.lists(st.floats(-9.0, 9.0), min_size=2, max_size=2))
def test_efforts_are_finite_whatever_friction_is(curve, velocity, share, qd, offset):
    """Settings are refused, or every effort is a number within its limit and nothing faults."""
    arm = TWO_LINK
    try:
        rig = Rig(arm, POSE, **curve, friction_velocity=velocity, stribeck_velocity=velocity[::-1],
                  friction_compensation=[share], friction_offset=offset, effort_rate_limit=[1e7],
                  consistency_tolerance=[0.0])
    except ParameterError as error:
        assert error.name in ('friction_compensation', 'friction_offset')
        return
    rig.controller.arm()
    for _ in range(200):        # friction that the arm does not have, compensated, would move it
        rig.tick()
        rig.q[:], rig.qd[:] = POSE, 0.0
    assert rig.phase == 'RUNNING', rig.controller.arming_refusal
    for speed in (qd, np.zeros(2), np.full(2, 5e-324), -np.array(qd)):
        law(rig, POSE, speed)
        assert (abs(rig.controller.tau) <= arm.effort_limit).all()      # NaN is not
    # No effort makes an arm change its velocity from cycle to cycle as it does here
    assert rig.controller.reason_code in ('NO_REASON', 'WRONG_DIRECTION')


@pytest.mark.slow
def test_limits_hold_without_the_friction(monkeypatch):
    """As much as drives can overcome is compensated, and the physics of this world has none."""
    monkeypatch.setattr(settings_module, 'CHECKED_POSES', 2)
    dynamics = Dynamics(TWO_LINK)
    runs = [run(TWO_LINK, dynamics, seed, coulomb_friction=0.4 * TWO_LINK.effort_limit,
                friction_compensation=[0.8]) for seed in range(seeds(3, 200))]
    assert max(worst.position for worst in runs) <= 0.02
    assert max(worst.velocity for worst in runs) <= 1.10
    assert max(worst.effort for worst in runs) <= 1.0


def test_what_is_not_given():
    """It is the model's, or like what it is a part of, as in the element <robodyn>."""
    model = replace(TWO_LINK, viscous_friction=np.array([7.0, 8.0]),
                    backward_friction=np.array([[5.0, 6.0], [3.0, 4.0], [3.5, 4.5]]))
    assert Settings().loaded(model) is model
    loaded = Settings(coulomb_friction=[2.0], friction_velocity=[0.3, 0.4]).loaded(model)
    assert loaded.viscous_friction.tolist() == [7.0, 8.0]
    assert loaded.static_friction.tolist() == [2.0, 2.0]
    assert loaded.backward_friction.tolist() == [[5.0, 6.0], [2.0, 2.0], [2.0, 2.0]]
    assert loaded.friction_velocity.tolist() == [0.3, 0.4]
    assert (loaded.stribeck_velocity == model.stribeck_velocity).all()
    loaded = Settings(viscous_friction=[1.0], static_friction=[9.0],
                      backward_coulomb_friction=[0.5]).loaded(model)
    assert loaded.backward_friction.tolist() == [[1.0, 1.0], [0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(('name', 'settings', 'remedy'), [
    ('friction_compensation', {'friction_compensation': [0.5, 1.01], 'mode': 'pd'}, r'\[0, 1\]'),
    ('friction_compensation', {'friction_compensation': [-0.1]}, r'\[0, 1\]'),
    ('friction_compensation', {'friction_compensation': [np.nan]}, r'\[0, 1\]'),
    ('friction_compensation', {'friction_compensation': [0.81]}, r'\[0, 0.8\]: above, an arm'),
    ('friction_compensation', {'friction_compensation': [0.8], 'coulomb_friction': [500.0]},
     'wrong unit'),
    ('friction_compensation', {'friction_compensation': [0.8], 'friction_offset': [-500.0]},
     'wrong unit'),
    ('friction_offset', {'friction_compensation': [0.8], 'coulomb_friction': [1.0],
                         'friction_offset': [1.1]}, 'as much as the friction'),
    ('viscous_friction', {'viscous_friction': [1.0, -1.0]}, r'\[0, 100000\]'),
    ('backward_static_friction', {'backward_static_friction': [np.inf]}, 'finite'),
    ('stribeck_velocity', {'stribeck_velocity': [0.0]}, r'\[1e-06, 1000\]'),
    ('friction_offset', {'friction_offset': [1.0, 2.0, 3.0]}, 'for joint1, joint2'),
])
def test_refused(name, settings, remedy):
    """What is no friction, and what would drive the arm."""
    with pytest.raises(ParameterError, match=remedy) as refusal:
        Settings(**{**GAINS, **settings}).joint_records(TWO_LINK)
    assert refusal.value.name == name


def test_gains_are_judged_with_the_friction_of_both_directions():
    """Stiffness that its own damping cannot bear is borne by friction, if it is on both ways."""
    def check(**how):
        wanted = Settings(stiffness=[20.0], damping=[0.0], **how)
        wanted.check_gains(wanted.loaded(TWO_LINK))
    check(viscous_friction=[1.0])
    for how in ({}, {'viscous_friction': [1.0], 'backward_viscous_friction': [0.0]}):
        with pytest.raises(ParameterError, match='unstable'):
            check(**how)


def test_kernels_of_the_robot_stay():
    """Compiled dynamics know no friction: another one leaves them in force, a payload does not."""
    rig = Rig(TWO_LINK, POSE)
    own = rig.controller._in_force._own = rig.controller.records[0]._replace(
        addresses=np.array([1, 2, 3, 4]))
    for how, addresses in ((IDENTIFIED, own.addresses), (
            {'payload_frame': 'tool0', 'payload_mass': 1.0}, np.zeros(4))):
        rig.controller.use(replace(rig.controller.settings, **how))
        assert rig.controller.records[0].addresses.tolist() == addresses.tolist()
    rig.controller.use(Settings(**{**GAINS, **IDENTIFIED}))
    friction = rig.controller.records[0].friction
    assert friction[[0, 1, 2, 3, 4, 5]].tolist() == np.tile([VISCOUS, COULOMB, COULOMB], (2, 1)
                                                            ).tolist()


@pytest.mark.slow
def test_presliding_follows_the_reference_and_leaves_no_limit_cycle():
    """An arm with elastic contacts comes to rest, and stays there: nothing measured feeds back."""
    class Elastic(Real):
        urdf = replace(TWO_LINK, coulomb_friction=COULOMB, static_friction=COULOMB,
                       backward_friction=np.array([np.zeros(2), COULOMB, COULOMB]),
                       presliding_distance=np.full(2, 0.002)).to_urdf()

    errors, rest = {}, np.zeros((1, 2))
    for share in (0.0, 0.9):
        rig = risen(Elastic, mode='computed_torque', coulomb_friction=COULOMB,
                    presliding_distance=[0.002], friction_compensation=[share])
        rig.controller.follow(Waypoints(TWO_LINK.joint_names, [0.5], [GOAL], rest, rest), rig.time)
        rig.run(1.0)
        errors[share], before, swing = abs(rig.q - GOAL).max(), rig.q.copy(), []
        for _ in range(200):
            rig.tick()
            swing.append(rig.q)
        assert np.ptp(swing, axis=0).max() < 1e-4 and abs(rig.q - before).max() < 1e-3
    assert errors[0.9] < 0.5 * errors[0.0]


def parameters_of(distance):
    """Friction of one joint: 1 N·m of dry friction, a tenth of the load, and a distance."""
    return np.array([[0.0], [1.0], [1.0], [0.0], [1.0], [1.0], [0.01], [0.1], [distance],
                     [0.1], [0.0], [0.0], [0.0]])


def compensated(v, distance, velocity, follows):
    """Return the compensation of friction under a load of 2 N·m, a share of 0.8."""
    joints, tau = SimpleNamespace(friction_compensation=0.8, friction_offset=0.0), np.zeros(1)
    v.gravity[:] = -2.0
    friction_compensation(parameters_of(distance), [joints], np.array([velocity]), follows, 1e-3,
                          v, tau)
    return tau[0]


def test_friction_without_presliding_ends_with_the_motion():
    """A measured velocity compensates nothing at rest; along a reference, the contact stays."""
    for distance, velocity, follows, expected in (
            (0.0, 0.5, False, 1.2), (0.0, 0.0, False, 0.0),
            (0.002, 0.5, True, 1.2), (0.002, 0.0, True, 1.2)):
        if velocity:
            v = Vectors.zeros(1)
        for _ in range(100):
            effort = compensated(v, distance, velocity, follows)
        assert effort == pytest.approx(0.8 * expected, rel=1e-3)
    v.friction_compensation.presliding[:] = np.nan
    compensated(v, 0.002, 0.1, True)
    assert v.friction_compensation.presliding[0] == 0.0


def test_measured_presliding_grows_with_the_motion_of_a_push():
    """Noise within the play moves nothing; a creep of a few distances compensates all of it."""
    v, distance = Vectors.zeros(1), 1e-3
    for k in range(50):
        v.filtered[:] = 0.9 * PLAY_SHARE * distance * (-1)**k
        assert compensated(v, distance, 0.0, False) == 0.0
    efforts = []
    for q in np.linspace(PLAY_SHARE * distance, 6.0 * distance, 100):
        v.filtered[:] = q
        efforts.append(compensated(v, distance, 0.0, False))
    assert (np.diff(efforts) > 0.0).all() and efforts[-1] == pytest.approx(0.8 * 1.2, rel=0.01)
    # As far back as the play is wide, the contact keeps what it bears
    v.filtered[:] -= 2.0 * PLAY_SHARE * distance
    assert compensated(v, distance, 0.0, False) == pytest.approx(efforts[-1])
    v.filtered[:] += 1.0        # a law that begins elsewhere has not come from here
    begin_path(v)
    assert compensated(v, distance, 0.0, False) == pytest.approx(efforts[-1])

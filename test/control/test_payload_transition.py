# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Payload transition: exact interpolation of the dynamics, and efforts that continue."""

from dataclasses import replace

from control.rig import follow, GAINS, POSE, Rig, risen, TWO_LINK
from flight_recorder.flights import same_bits
import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.errors import ParameterError, RobodynError
from robodyn_ros.model.robot import with_payload

ROD = (0.002, 0.0, 0.0, 0.03, 0.0, 0.03)
LOAD = {'payload_frame': 'tool0', 'payload_mass': 1.5, 'payload_com': (0.02, 0.05, 0.1),
        'payload_inertia': ROD}
LOADED = Dynamics(with_payload(TWO_LINK, 'tool0', LOAD['payload_mass'], LOAD['payload_com'],
                               np.diag([0.002, 0.03, 0.03])))
EMPTY, FULL = Dynamics(TWO_LINK).gravity(POSE), LOADED.gravity(POSE)


def change(rig, **settings):
    rig.controller.use(replace(rig.controller.settings, **settings))


def still(**settings):
    """Return a rig that feels the load, and does not move."""
    return risen(mode='gravity_compensation', **settings)


def felt(rig, effort, cycles=1):
    """Efforts of cycles in which the arm stands still and feels these efforts (K, nv)."""
    efforts = []
    for _ in range(cycles):
        rig.sense()
        rig.state['position'], rig.state['velocity'], rig.state['effort'] = POSE, 0.0, effort
        rig.controller.step(rig.time)
        rig.time += rig.period
        efforts.append(rig.controller.tau.copy())
    return np.array(efforts)


def test_a_transition_goes_back_from_where_it_is():
    rig = still(payload_transition=0.1)
    felt(rig, FULL, 3)
    change(rig, **LOAD)
    felt(rig, FULL, 49)
    half = felt(rig, EMPTY)[0]          # it has been put down
    bodies = rig.controller.inputs.payload.bodies
    assert bodies['mass'].sum() == pytest.approx(TWO_LINK.mass.sum() + 0.75)
    change(rig, payload_mass=0.0)
    back = felt(rig, EMPTY, 100)
    assert back[0] == pytest.approx(half - (half - EMPTY) / 100, abs=1e-9)
    assert back[-1] == pytest.approx(EMPTY, abs=1e-9)
    assert rig.controller.memory['payload_time'][0] == 0.0
    assert abs(np.diff([half, *back], axis=0)).max() < 0.02 * abs(FULL - EMPTY).max()


@pytest.mark.parametrize('seconds', [0.001, 0.0035])
def test_no_effort_exceeds_the_rate_limit(seconds):
    """However short the transition is, and for any law, at rest and in motion."""
    step = np.array([0.3, 0.1])
    for mode in ('joint_impedance', 'computed_torque', 'pd'):
        rig = risen(mode=mode, payload_transition=seconds,
                    effort_rate_limit=tuple(step / Rig.period), acceleration_limit=[5.0],
                    velocity_scale=1.0)
        follow(rig, [0.6, 0.2], 1.0, later=0.01)
        rig.run(0.3)
        before, rig.dynamics = rig.dynamics, LOADED
        rig.tau = rig.tau + LOADED.gravity(rig.q) - before.gravity(rig.q)
        rig.sense()
        assert rig.controller.step(rig.time)
        rig.tau, q = rig.controller.tau.copy(), rig.q.copy()
        change(rig, **LOAD)
        assert rig.controller.memory['following'][0]
        last = rig.tau
        for _ in range(400):
            rig.tick()
            moved = abs(before.gravity(rig.q) - before.gravity(q))
            assert (abs(rig.tau - last) <= 1.2 * (step + moved) + 1e-9).all()
            last, q = rig.tau, rig.q.copy()
        assert rig.phase == 'RUNNING' and rig.controller.memory['following'][0]


def test_payloads_at_rest_and_while_time_jumps():
    rig = Rig(TWO_LINK, POSE, mode='gravity_compensation', payload_transition=60.0)
    change(rig, **LOAD)
    felt(rig, FULL)
    assert rig.controller._v.gravity == pytest.approx(FULL)
    rig = still(payload_transition=0.1)
    felt(rig, FULL, 3)
    change(rig, **LOAD)
    once = felt(rig, FULL)[0]
    rig.time -= rig.period
    assert felt(rig, FULL)[0] == pytest.approx(once)
    rig.controller.cycle_input['simulated_time'] = 1
    for jump in (30.0, -70.0):
        rig.time += jump
        before = rig.controller.tau.copy()
        assert abs(felt(rig, FULL)[0] - before).max() <= 0.011 * abs(FULL - EMPTY).max()
    rig = Rig(TWO_LINK, POSE, mode='gravity_compensation', payload_transition=0.01,
              robot_compensates_gravity=True)
    rig.controller.arm()
    felt(rig, EMPTY, 100)
    assert rig.phase == 'RUNNING' and felt(rig, FULL, 3) == pytest.approx(0.0)
    change(rig, **LOAD)
    assert felt(rig, FULL, 20) == pytest.approx(0.0, abs=1e-9)
    assert rig.controller._v.gravity == pytest.approx(FULL)


@pytest.mark.slow
def test_a_transition_is_replayed_bit_by_bit():
    rig = risen(recorded=600, mode='computed_torque', payload_transition=0.1)
    rig.run(0.02)
    for mass in (0.1, 0.25, 0.05):
        change(rig, payload_frame='link2', payload_mass=mass, payload_inertia=ROD)
        rig.run(0.06)
    change(rig, payload_mass=0.0)
    rig.run(0.15)
    snapshot = rig.controller.history.take()
    assert len(snapshot.versions) >= 5
    same_bits(rig.model, snapshot)


def test_kernels_of_the_robot_are_back_after_a_transition():
    """Specialized code knows one payload: the generic one fits exactly before and after it."""
    rig = risen(specialize=True, mode='joint_impedance', payload_transition=0.02)
    for mass in (0.1, 0.0):
        change(rig, payload_frame='link2', payload_mass=mass)
        assert bool(rig.controller.inputs.robot.addresses[0]) == (mass == 0.0)
        efforts = np.array([rig.tau, *rig.run(0.04)])
        assert abs(np.diff(efforts, axis=0)).max() < 0.1
        assert rig.controller.memory['payload_time'][0] == 0.0
        held = Dynamics(with_payload(TWO_LINK, 'link2', mass)).gravity(rig.q)
        assert rig.controller._v.gravity == pytest.approx(held, abs=0.01)


@pytest.mark.parametrize('inertia', [(1.0, 0, 0, 1.0, 0, 3.0), (-1e-3, 0, 0, 1, 0, 1),
                                     (0.1, 0.5, 0, 0.1, 0, 0.1), (1.0,) * 5,
                                     (np.nan, 0, 0, 0, 0, 0)])
def test_an_inertia_that_no_body_has_is_refused(inertia):
    with pytest.raises(RobodynError):
        Controller(TWO_LINK, Settings(**{**GAINS, **LOAD, 'payload_inertia': inertia}),
                   specialize=False)


def test_an_inertia_without_mass_is_none():
    settings = Settings(**GAINS, payload_inertia=ROD, payload_frame='nowhere')
    assert settings.loaded(TWO_LINK).mass == pytest.approx(TWO_LINK.mass)
    with pytest.raises(ParameterError):
        replace(settings, payload_transition=-1.0)


def test_friction_of_the_settings_stays_in_force_in_a_transition():
    """That of the URDF could be more, and the compensation of it would drive the arm."""
    rig = still(payload_transition=1.0, coulomb_friction=[1.0, 0.5],
                friction_velocity=[0.01], friction_compensation=[0.5])
    assert not TWO_LINK.coulomb_friction.any()
    seen = []
    for mass in (0.0, 1.5):
        change(rig, **LOAD | {'payload_mass': mass})
        for _ in range(5):
            rig.sense()
            rig.state['position'], rig.state['velocity'], rig.state['effort'] = POSE, 0.1, FULL
            rig.controller.step(rig.time)
            rig.time += rig.period
            seen.append(rig.controller._v.friction.copy())
    assert rig.controller.inputs.payload.friction.any(), 'no transition'
    assert np.array(seen) == pytest.approx(np.tile([1.0, 0.5], (10, 1)), rel=1e-3)


def test_payloads_and_settings_that_are_judged():
    # Between a judgement and the settings in force the arm could be armed with others.
    rig = Rig(TWO_LINK, POSE, mode='gravity_compensation')
    rig.controller.arm()
    with pytest.raises(ParameterError, match='just being armed'):
        change(rig, **LOAD)
    rig.controller.disarm()
    rig.tick()
    change(rig, **LOAD)
    # The efforts measured by then could refuse what is stored as a parameter already.
    rig = still()
    felt(rig, FULL, 3)
    settings = replace(rig.controller.settings, **LOAD)
    judged = rig.controller.prepare_settings(settings)
    felt(rig, EMPTY, 3)
    with pytest.raises(ParameterError, match='gravity torque'):
        rig.controller.check(settings)
    rig.controller.put_in_force(judged)
    assert rig.controller.settings == settings

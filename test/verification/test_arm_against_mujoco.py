# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The arm of a world moves as MuJoCo's does, sticks, and keeps its energy."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.control.settings.friction import with_friction
from robodyn_ros.simulation.plant import Plant as MujocoPlant
from robodyn_ros.verification.arm import arm_of
from robodyn_ros.verification.plant import Drives, Plant
from robodyn_ros.verification.plant_step import TICK

TICKS = 500


@pytest.mark.parametrize('robot', ['two_link', 'panda', 'ur5'])
@pytest.mark.parametrize('friction', ['none', 'slipping', 'holding'])
def test_an_arm_moves_as_in_mujoco(robot, friction):
    """Within 2 µrad and 0.1 % of the velocity after half a second or held to 1 µrad."""
    locked = {'panda_finger_joint1': 0.0, 'panda_finger_joint2': 0.0} if robot == 'panda' else {}
    model = load_urdf(robot, locked=locked)
    arm = arm_of(robot, model)
    n, limit, q = model.nv, model.effort_limit, 0.5 * (arm.lower + arm.upper)
    inertia = np.diag(arm.dynamics.mass_matrix(q))
    push = 0.02 * inertia / inertia.max() * limit
    dry = {'none': 0.0, 'slipping': 0.5, 'holding': 1.1}[friction] * push
    model = with_friction(model, {'viscous_friction': 0.01 * limit * (friction != 'none'),
                                  'coulomb_friction': dry})
    arm = arm_of(robot, model)
    ours, theirs = Plant(arm, q), MujocoPlant(model.to_urdf(), model=model)
    theirs.reset(q)
    wave, top = np.linspace(3.0, 9.0, n), 0.0
    for k in range(TICKS):
        tau = arm.dynamics.gravity(ours.q) + push * np.sin(wave * k * TICK)
        ours.command(tau)
        ours.advance()
        theirs.step(tau)
        top = max(top, abs(ours.qd).max())
        state = theirs.state()
        assert abs(ours.q - state.position).max() < 2e-6
        assert abs(ours.qd - state.velocity).max() < 1e-3 * max(top, 0.1)
    moved = abs(ours.q - q).max()
    assert moved < 1e-6 if friction == 'holding' else top > 0.05


def test_an_arm_sticks_slips_and_keeps_its_energy():
    # Pulled slowly by a spring, with static above Coulomb friction; without, it follows.
    shares, peaks = [], []
    for static in (1.0, 1.6):
        model = with_friction(load_urdf('two_link', gravity=(0.0, 0.0, 0.0)), {
            'coulomb_friction': np.array([2.0, 1.0]),
            'static_friction': static * np.array([2.0, 1.0]),
            'stribeck_velocity': np.full(2, 0.05)})
        plant, seen = Plant(arm_of('two_link', model), np.array([0.3, 0.5])), []
        for k in range(4000):
            pull = 20.0 * (0.5 + 0.1 * k * TICK - plant.q[1]) - 0.5 * plant.qd[1]
            plant.command(np.array([0.0, pull]))
            plant.advance()
            seen.append(plant.qd[1])
        late = abs(np.array(seen[1000:]))
        shares.append((late < 1e-9).mean())
        peaks.append(late.max())
    assert shares[0] == 0.0 and peaks[0] < 0.15
    assert shares[1] > 0.2 and peaks[1] > 0.3
    # In 200 s, within 0.02 J of the 23 J between its lowest and its highest pose.
    model = load_urdf('two_link')
    free = replace(model, position_lower=np.full(2, -np.inf), position_upper=np.full(2, np.inf))
    plant = Plant(arm_of('two_link', free), np.array([0.5, 0.5]), silence=1e9)
    plant.command(np.zeros(2))

    def energy():
        return (plant.dynamics.kinetic_energy(plant.q, plant.qd)
                + plant.dynamics.potential_energy(plant.q))
    before = energy()
    for _ in range(20):
        plant.advance(10_000)
        assert energy() == pytest.approx(before, abs=0.02)


def test_a_motor_behind_a_transmission_swings_as_calculated():
    """One joint on its own: ω² = K (1/B + 1/M), and play delays the effort."""
    model = replace(load_urdf('two_link', gravity=(0.0, 0.0, 0.0)))
    arm, start = arm_of('two_link', model), np.array([0.0, 0.5])
    K, B = 200.0, 0.05
    elastic = Drives(stiffness=np.array([0.0, K]), rotor=np.array([0.0, B]))
    plant = Plant(arm, start, drives=elastic)
    light = 1.0 / np.linalg.inv(plant.dynamics.mass_matrix(start))[1, 1]
    plant.command(np.zeros(2))
    plant.data.plant.motor_q[1] += 1e-3
    gaps = []
    for _ in range(400):
        plant.command(np.zeros(2))
        plant.advance()
        gaps.append(plant.data.plant.motor_q[1] - plant.q[1])
    spectrum = abs(np.fft.rfft(np.hanning(400) * gaps, 8000))
    omega = 2.0 * np.pi * np.fft.rfftfreq(8000, TICK)[spectrum.argmax()]
    assert omega == pytest.approx(np.sqrt(K * (1.0 / B + 1.0 / light)), rel=0.02)
    loose = Plant(arm, start, drives=replace(elastic, play=np.array([0.0, 0.02])))
    for plant in (loose, stiff := Plant(arm, start, drives=elastic)):
        for _ in range(15):
            plant.command(np.array([0.0, 1.0]))
            plant.advance()
    assert abs(loose.qd[1]) < 1e-9 < 1e-3 < abs(stiff.qd[1])


def test_a_soft_base_rocks_under_the_arm():
    """It sags by the moment of gravity over its stiffness, and swings when the arm pushes."""
    model = load_urdf('two_link')
    arm, q = arm_of('two_link', model), np.array([0.4, 0.9])
    plant = Plant(arm, q, drives=Drives(base_stiffness=2e3, base_inertia=2.0))
    x = plant.data.motion
    moment = abs(arm.dynamics.gravity(q)[0])        # about the first joint, which is in the base
    assert abs(x.q[:2]).max() == pytest.approx(moment / 2e3, rel=0.1)
    np.testing.assert_array_equal(plant.q, q)
    for _ in range(100):
        plant.command(arm.dynamics.gravity(q) + [5.0, 0.0])
        plant.advance()
    assert abs(x.qd[:2]).max() > 1e-3 and abs(plant.qd).max() > 0.05

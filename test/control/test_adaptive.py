# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Adaptive computed torque: its terms, the bounds of its estimate, and a payload in MuJoCo."""

from dataclasses import replace
from functools import cache

from control.one_cycle import arm_of, gains_of, memory_of, readable
from control.rig import BENT, FINGERS, follow, POSE, risen, Told
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf, Settings, Waypoints
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.control.laws import adaptive, registry
from robodyn_ros.control.learning import learned_payload
from robodyn_ros.control.references import sine_motion as motion
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.control.steps import guard
from robodyn_ros.dynamics.coriolis import velocities
from robodyn_ros.dynamics.model_data import parameters
from robodyn_ros.dynamics.pseudo_inertia import (
    inertial_wrench, of_body, point_velocities, power_matrix)
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.robot import with_payload
from thorough import seeds

pytest.importorskip('mujoco')
# Locked joints, pose, frame that holds the payload, and its center in it
SCENES = {'two_link': ({}, POSE, 'link2', (0.4, 0.0, 0.0)),
          'panda': (FINGERS, BENT, 'panda_hand', (0.0, 0.0, 0.1)),
          'ur5': ({}, [0.0, -1.2, 1.6, -1.9, -1.57, 0.0], 'tool0', (0.0, 0.0, 0.1))}
MASS = 2.0          # kg, of the payload
ROBOTS = pytest.mark.parametrize('name', ['two_link', 'panda'])


@cache
def robot(name):
    return load_urdf(robot_path(name), locked=SCENES[name][0])


class Law:
    """The law in plain Python, in any state, with what it keeps."""

    def __init__(self, model, **gains):
        self.gains = gains_of(adaptive.LAW, model.nv, **{
            'damping': 10.0, 'adaptive_bandwidth': 5.0, 'adaptation_rate': 10.0,
            'adaptation_deadband': 0.0, 'adaptation_mass': 3.0, 'adaptation_reach': 1.0, **gains})
        self.memory, self.arm = memory_of(adaptive.LAW, model.nv), arm_of(model)
        self.tau = np.zeros(model.nv)

    def step(self, **state):
        self.arm = self.arm._replace(time=self.arm.time + self.arm.dt, **state)
        adaptive.adaptive(self.arm, self.gains, self.memory, self.tau)

    @property
    def estimate(self):
        G = self.memory.factor.reshape(4, 4)
        return G @ G.T

    @property
    def nominal(self):
        return self.memory.nominal.reshape(4, 4).copy()

    def excess(self):
        return adaptive.excess(self.estimate, self.nominal, 3.0, 1.0)


def states(model, count=20):
    """Random q, q̇, s and a."""
    random = np.random.default_rng(0)
    return random.uniform(-2.0, 2.0, (count, 4, model.nv))


@ROBOTS
def test_efforts_and_power_are_those_of_the_model(name):
    # M a + C(q, q̇) v + g, with the Coriolis matrix of the Christoffel symbols.
    model = robot(name)
    dynamics, law = Dynamics(model), Law(model, damping=0.0, adaptive_bandwidth=0.0)
    for q, qd, s, a in states(model):
        law.step(q=q, qd=qd, q_reference=q, qd_reference=qd + s, qdd_reference=a)
        wanted = (dynamics.mass_matrix(q) @ a + dynamics.coriolis_matrix(q, qd) @ (qd + s)
                  + dynamics.gravity(q))
        np.testing.assert_allclose(law.tau, wanted, atol=1e-10)
    # tr(L P) = sᵀ Y(q, q̇, v, a) π of the last body, Y by another polarisation.
    model = robot(name)
    dynamics, law, n = Dynamics(model), Law(model), model.nv
    for q, qd, s, a in states(model):
        def regressor(x, qdd, q=q):
            return dynamics.regressor(q, x, qdd)[:, -10:]
        rest, zero = regressor(np.zeros(n), np.zeros(n)), np.zeros(n)
        v = qd + s
        Y = regressor(zero, a) + 0.5 * (regressor(v + qd, zero) - regressor(v, zero)
                                        - regressor(qd, zero) + rest)
        law.memory.error[:], law.memory.acceleration[:] = s, a
        arm = law.arm._replace(q=q, qd=qd)
        H = adaptive.motion(arm, law.memory, law.tau)
        velocities(arm.robot.bodies, arm.robot.base, arm.workspace.joints, s, arm.workspace.bodies)
        L = np.array(power_matrix(point_velocities(arm.workspace.bodies[-2]), H))
        np.testing.assert_array_equal(L, L.T)
        m, inertia, c = model.mass[-1], model.inertia[-1], model.com[-1]
        about = inertia + m * (c @ c * np.eye(3) - np.outer(c, c))
        pi = np.array([m, *m * c, about[0, 0], about[0, 1], about[1, 1], about[0, 2],
                       about[1, 2], about[2, 2]])
        P = np.array(of_body(arm.robot.bodies[-1]))
        assert np.trace(L @ P) == pytest.approx(s @ Y @ pi, abs=1e-9)
        force, _ = inertial_wrench(H, P)
        np.testing.assert_allclose(force, np.array(H) @ P[:, 3])


@pytest.mark.slow
def test_the_estimate_is_a_body_within_its_bounds():
    """Positive definite in every cycle, whatever errors and references it is given."""
    model, random = robot('two_link'), np.random.default_rng(0)
    law = Law(model, adaptation_rate=20.0)
    farthest = 0.0
    for k in range(120):
        if k % 30 == 0:
            q, qd, qd_r, qdd_r, error = random.normal(size=(5, model.nv)) * 10.0**(k // 30 - 1)
        law.step(q=q, qd=qd, q_reference=q + error, qd_reference=qd_r, qdd_reference=qdd_r)
        assert np.linalg.eigvalsh(law.estimate).min() > 0.0
        assert law.excess() <= 1.0 + 1e-9
        farthest = max(farthest, law.excess())
    assert farthest > 0.3


def test_how_much_is_learned():
    # At rest, in a late cycle, with effort withheld, no rate, in the dead band, out of bounds.
    model, x = robot('two_link'), np.array([0.2, 0.1])
    zero, moving = np.zeros(2), {'q': POSE, 'qd': np.zeros(2), 'q_reference': POSE + x,
                                 'qd_reference': x, 'qdd_reference': x}
    for gains, state, learns in (
            ({}, {}, True), ({'adaptation_rate': 0.0}, {}, False),
            ({'adaptation_deadband': 2.0}, {}, False), ({}, {'withheld': x}, False),
            ({'adaptation_mass': 1e-9, 'adaptation_reach': 1e-3}, {}, False),
            ({}, {'qd_reference': zero, 'qdd_reference': zero}, False),
            ({}, {'time': 1.0}, False)):
        law = Law(model, **gains)
        law.step(**moving)
        before = law.memory.factor.copy()
        np.testing.assert_allclose(law.estimate, law.nominal, atol=1e-15)
        law.arm = law.arm._replace(time=law.arm.time + state.pop('time', 0.0))
        law.step(**{**moving, **state})
        assert (law.memory.factor != before).any() == learns, (gains, state)
    # Each changes G by MAX_FACTOR_STEP of itself, however large the errors are.
    law, x = Law(robot('two_link'), damping=1e6, adaptation_rate=20.0), np.array([0.2, 0.1])
    state = {'q': POSE, 'q_reference': POSE + x, 'qd_reference': x}
    law.step(**state)
    before = law.memory.factor.reshape(4, 4).copy()
    law.step(**state)
    change = np.linalg.solve(before, law.memory.factor.reshape(4, 4) - before)
    assert np.linalg.norm(change) == pytest.approx(adaptive.MAX_FACTOR_STEP)
    # By the share of the transition that a cycle is, and all of it with the last one.
    model, x = robot('two_link'), np.array([0.2, 0.1])
    law, state = Law(model), {'q': POSE, 'q_reference': POSE + x, 'qd_reference': x}
    for _ in range(20):
        law.step(**state)
    learned = law.estimate - law.nominal
    assert abs(learned).max() > 1e-6
    other = readable(parameters(with_payload(model, 'link2', 0.3, (0.4, 0.0, 0.0),
                                             0.01 * np.eye(3))))
    for robot_data, left in ((other, 9.0), (readable(parameters(model)), 0.0)):
        law.step(**state, robot=robot_data, payload_time=left * law.arm.dt)
        learned = left / (left + 1.0) * learned
        np.testing.assert_allclose(law.estimate, law.nominal + learned, atol=1e-12)


def settings_of(name, **more):
    model, pose = robot(name), np.array(SCENES[name][1])
    gains = suggest_gains(model, pose, Settings())._asdict()
    return Settings(**{'mode': 'adaptive', 'arming_effort': 5.0, 'following_error': 0.0, **gains,
                       **more})


class Run(ClosedLoop):
    """An arm in MuJoCo that carries a payload and repeats a motion of 3 s."""

    def __init__(self, name, known, **more):
        _, pose, frame, com = SCENES[name]
        self.model, pose = robot(name), np.array(pose)
        self.carrying = with_payload(self.model, frame, MASS, com, MASS * 0.03**2 * np.eye(3))
        settings = settings_of(name, **more)
        super().__init__(self.carrying if known else self.model, settings, pose,
                         plant=settings.with_rotors(self.carrying), delay=0.001)
        asked = motion.plan(Dynamics(self.model), pose, 3.0)
        self.asked = Waypoints(asked.joint_names, asked.times[1:], asked.positions[1:],
                               asked.velocities[1:], asked.accelerations[1:])
        self.memory = registry.memory_fields(adaptive.LAW, self.controller._law_memory)
        self.errors, self.factors = [], []
        self.start()
        self.errors.clear()

    def tick(self):
        super().tick()
        assert self.controller.phase != guard.FAULT, self.controller.reason
        self.errors.append(self.controller._v.target - self.row()[0])
        if self.memory.factor.any():
            self.factors.append(self.memory.factor.reshape(4, 4).copy())

    @property
    def lowest(self):
        """Lowest eigenvalue of the estimate in any cycle."""
        G = np.array(self.factors)
        return np.linalg.eigvalsh(G @ np.swapaxes(G, 1, 2)).min()

    def repeat(self, times):
        """Return the RMS errors of repeated motions [rad]."""
        out = []
        for _ in range(times):
            self.errors.clear()
            self.controller.follow(self.asked, self.now + self.period)
            for _ in range(round(1000 * self.asked.times[-1])):
                self.tick()
            out.append(float(np.sqrt((np.array(self.errors)**2).mean())))
        return out


# Laws and models are those of each robot above; the longest chain has most to learn from a motion
@pytest.mark.slow
@pytest.mark.parametrize('name', [*SCENES] if seeds(0, 1) else ['panda'])
def test_an_unknown_payload_is_learned(name):
    """Within 20 s, 90 % of what 2 kg cost; a body in every cycle, found, and kept at rest."""
    known = Run(name, True, adaptation_rate=0.0).repeat(1)[-1]
    false = Run(name, False, adaptation_rate=0.0).repeat(1)[-1]
    run = Run(name, False)
    errors = run.repeat(6)
    assert false > 50.0 * known
    assert errors[-1] - known < 0.1 * (false - known)
    assert run.lowest > 0.0
    found = learned_payload(run.controller)
    assert found.mass == pytest.approx(MASS, rel=0.05)
    # Equal efforts at other poses
    carried = with_payload(run.model, found.link, found.mass, found.com, found.inertia)
    assert np.linalg.eigvalsh(found.inertia).min() > 0.0
    for q in np.random.default_rng(0).normal(SCENES[name][1], 0.2, (10, run.model.nv)):
        off, cost = (abs(Dynamics(m).gravity(q) - Dynamics(run.carrying).gravity(q)).max()
                     for m in (carried, run.model))
        assert off < 0.1 * cost
    before = run.memory.factor.copy()
    for _ in range(200):
        run.tick()
    np.testing.assert_array_equal(run.memory.factor, before)


@pytest.mark.slow
def test_no_drift_without_excitation():
    """Half a minute at rest and of a slow motion, with a true model and noise: less than 1 %."""
    rig, random = risen(Told, mode='adaptive'), np.random.default_rng(0)
    rig.lie = lambda q, qd: (q, qd + random.normal(0.0, 1e-3, 2))
    memory = registry.memory_fields(adaptive.LAW, rig.controller._law_memory)
    rig.substeps = 1
    for k in range(30):
        if k >= 15:
            follow(rig, POSE + [0.02 * (-1)**k, 0.0], 0.9)
        rig.run(1.0)
    assert rig.phase == 'RUNNING', rig.controller.reason
    P0 = memory.nominal.reshape(4, 4)
    G = memory.factor.reshape(4, 4)
    assert abs(G @ G.T - P0).max() < 0.01 * abs(P0).max()


@pytest.mark.slow
@pytest.mark.parametrize('transition, repeats, share', [(0.0, 2, 0.75), (0.5, 4, 0.9)])
def test_a_payload_that_is_stated_replaces_what_was_learned_of_it(transition, repeats, share):
    """Efforts do not step; on the way the arm does not sag, nor is the payload held up twice."""
    run = Run('two_link', False, payload_frame='link2', payload_transition=transition)
    run.repeat(repeats)
    assert learned_payload(run.controller).mass > share * MASS
    for _ in range(300):
        run.tick()
    settings = replace(run.controller.settings, payload_mass=MASS,
                       payload_com=SCENES['two_link'][3])
    efforts = [run.controller.tau.copy()]
    limit = run.controller.records.joints['effort_rate_limit'] * 1e-3
    run.controller.use(settings)
    run.errors.clear()
    for _ in range(700):
        run.tick()
        efforts.append(run.controller.tau.copy())
    gravity = Dynamics(settings.loaded(run.model)).gravity(run.controller._v.q)
    assert (abs(np.diff(efforts, axis=0)) <= limit + 0.01 * abs(gravity)).all()
    assert abs(efforts - efforts[0]).max() < 0.1 * abs(efforts[0]).max()
    assert np.ptp(run.errors, axis=0).max() < 2e-3
    with pytest.raises(ParameterError, match='more than its model'):
        learned_payload(run.controller)
    with pytest.raises(ParameterError, match='nothing is learned'):
        learned_payload(risen(mode='joint_impedance').controller)
    assert run.repeat(1)[-1] < 0.01


@pytest.mark.slow
def test_efforts_do_not_step_where_it_is_forgotten():
    """Without a velocity, gravity alone is in force, and what was learned is gone: gradually."""
    run = Run('two_link', False, missing_velocity='gravity_only')
    run.repeat(2)
    assert learned_payload(run.controller).mass > 1.5
    limit = run.controller.records.joints['effort_rate_limit'] * 1e-3
    state, nothing = run._arm.state, np.full(2, np.nan)
    for k in range(70):
        run._arm.state = state if k >= 20 else lambda: state()._replace(velocity=nothing)
        before = run.controller._v.published + run.controller._v.tau_gravity
        gravity = run.controller._v.gravity.copy()
        run.tick()
        more = abs(run.controller._v.gravity - gravity)
        assert (abs(run.controller.tau - before) <= limit + more + 1e-9).all()
        assert k >= 20 or not run.memory.factor.any()
    assert run.memory.factor.any()


@pytest.mark.slow
def test_the_payload_is_held_by_its_frame():
    model = robot('panda')
    assert settings_of('panda').payload_body(model) == model.nv - 1
    asked = settings_of('panda', payload_frame='panda_link5')
    assert asked.payload_body(model) == 4
    with pytest.raises(ParameterError, match='base'):
        replace(asked, payload_frame='panda_link0').payload_body(model)

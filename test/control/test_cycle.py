# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The control cycle in closed loop with exact dynamics."""

from dataclasses import replace
import subprocess
import sys

from control.rig import follow, GAINS, POSE, Rig, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Controller, Dynamics, Settings
from robodyn_ros.control.controller import settings_in_force
from robodyn_ros.control.cycle import compile
from robodyn_ros.control.cycle.compile import part_address, PARTS, PLAIN, plain
from robodyn_ros.control.laws.registry import FOLLOWING
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.errors import TrajectoryError

# Settings for which the cycle needs an optional part, by the field that says so
NEEDING = {'follows_pose': {'mode': 'cartesian_impedance', 'task_selection': (0.0, 1.0) * 3},
           'compensates_friction': {'friction_compensation': (0.5,)},
           'bounded': {'mode': 'joint_impedance', 'tool_speed_limit': 0.3}}


# A controller of which the background has not compiled anything yet; its arm is held by somebody
FIRST_PAYLOAD = """
from dataclasses import replace
from robodyn_ros import Controller, load_urdf, Settings
from robodyn_ros.control.controller import settings_in_force
from robodyn_ros.control.steps import guard, robot_dynamics

settings_in_force.load_all_parts = lambda: None
controller = Controller(load_urdf('two_link'), Settings())
state = controller.state


def run(cycles):
    for _ in range(cycles):
        now = state['received'][0] + 0.001
        state['received'], state['position'], state['velocity'] = now, [0.3, 0.5], 0.0
        controller.step(now)
    loaded = robot_dynamics.load_generic.cache_info().currsize
    print(guard.PHASES[controller.phase], loaded, *controller.tau.round(3))


state['received'] = 0.0
controller.arm()
run(1000)
controller.use(replace(controller.settings, payload_frame='tool0', payload_mass=0.1))
run(1000)
"""


def test_bumpless_start():
    """The first effort is the measured one, and gravity is reached at the effort rate."""
    rig = Rig(TWO_LINK, POSE, effort_rate_limit=[50.0], arming_effort=10.0, damping_rate=0.0)
    g = rig.dynamics.gravity(POSE)
    rig.tau = 0.5 * g
    rig.controller.arm()
    rig.run(0.019)
    assert rig.published == []
    rig.tick()                  # with arming_samples, which are 20
    assert len(rig.published) == 1
    rig.run(0.5)
    rises = np.abs(np.diff([0.5 * g, *rig.published], axis=0))
    assert rises[:100].max() <= 50.0 * rig.period + 1e-3      # gravity itself moves a little
    assert rig.phase == 'RUNNING'


@pytest.mark.parametrize('mode', FOLLOWING)
def test_holds_and_follows(mode):
    """Every law holds its reference and follows a trajectory; those that know gravity arrive."""
    rig = risen(mode=mode)
    goal = np.array([0.9, -0.2])
    follow(rig, goal, 1.5)
    rig.run(3.0)
    error = abs(rig.q - goal).max()
    sag = abs(rig.dynamics.gravity(rig.q) / GAINS['stiffness']).max() if mode == 'pd' else 0.0
    assert error == pytest.approx(sag, rel=0.02, abs=1e-4)


def test_trajectories_are_exact_and_sooner_ones_first():
    # With the exact model the tracking error stays at what sampling at 1 kHz leaves.
    rig = risen(mode='computed_torque')
    names, times = TWO_LINK.joint_names, np.array([1.0, 2.0])
    rest = np.zeros((2, 2))
    rig.controller.follow(Waypoints(names, times, [[1.0, -0.5], POSE], rest, rest), rig.time)
    worst = 0.0
    for _ in range(2000):
        rig.tick()
        worst = max(worst, abs(rig.q - rig.controller._v.target).max())
    assert worst < 6e-3       # one period of motion at 2 rad/s, twice: sampled late and held
    assert abs(rig.q - POSE).max() < 1e-3
    # It takes the other one's place and begins at its own beginning.
    rig = risen(mode='computed_torque')
    names = TWO_LINK.joint_names
    rig.controller.follow(Waypoints(names, [1.0], [[1.0, 0.0]]), rig.time + 5.0)
    rig.run(0.01)
    rig.controller.follow(Waypoints(names, [1.0], [[0.0, 0.0]]), rig.time + 0.01)
    rig.tick()
    assert rig.controller._v.target == pytest.approx(POSE, abs=1e-9)
    rig.run(1.5)
    assert abs(rig.q).max() < 1e-3


def test_odd_inputs():
    # No arm rises beside it, and it does once the timeout has passed.
    rig = Rig(TWO_LINK, POSE, mode='joint_impedance')
    rig.time = 100.0
    rig.tick()
    rig.state['other'], rig.time = rig.time, 0.0
    rig.controller.arm()
    rig.tick()
    assert 'two publishers send' in rig.controller.arming_refusal
    rig.run(0.2)
    rig.rise()
    # Efforts are finite, whatever is left where the cycle writes them.
    rig = Rig(TWO_LINK, POSE, mode='joint_impedance')
    rig.controller.tau[:] = np.nan, np.inf
    rig.tick()
    assert not rig.controller.tau.any()
    rig.rise()


@pytest.mark.parametrize(('mode', 'names', 'start', 'word'), [
    ('', TWO_LINK.joint_names, 0.0, 'INACTIVE'),
    ('gravity_compensation', TWO_LINK.joint_names, 0.0, 'gravity_compensation'),
    ('pd', ['joint1', 'elbow'], 0.0, 'elbow'),
    ('computed_torque', TWO_LINK.joint_names, -0.1, 'after its start')])
def test_references_that_cannot_be_followed(mode, names, start, word):
    """Wherever it could not be followed, or would begin in the middle of its motion."""
    rig = risen(mode=mode) if mode else Rig(TWO_LINK, POSE)
    with pytest.raises(TrajectoryError, match=word):
        rig.controller.follow(Waypoints(names, [1.0], [[1.0, 0.0]]), rig.time + start)


@pytest.mark.slow
@pytest.mark.parametrize('mode', ['computed_torque', 'disturbance_observer', 'adaptive'])
def test_plain_python_gives_the_same(mode):
    """The cycle is one plain function: Python and machine code agree to rounding."""
    compiled, slow = (Rig(TWO_LINK, POSE, mode=mode, friction_compensation=[0.8],
                          viscous_friction=[0.8, 0.3], coulomb_friction=[2.0, 0.8],
                          static_friction=[2.5, 1.0], friction_offset=[0.1, -0.2])
                      for _ in range(2))
    slow.controller.compiled = PLAIN
    for rig in (compiled, slow):
        rig.rise()
        follow(rig, [0.4, 0.4], 0.3)
        rig.run(0.1)
        rig.controller.stop()
        rig.run(0.05)
    assert np.array(slow.published) == pytest.approx(np.array(compiled.published), abs=1e-9)


@pytest.mark.skipif(plain(), reason='nothing is compiled')
@pytest.mark.parametrize('part', PARTS, ids=lambda part: part.name)
def test_a_part_that_settings_need_is_loaded_before_the_cycle_calls_it(part):
    """Its address is 0 until then, as in a process whose settings have not needed it."""
    rig = risen(viscous_friction=[1.0])
    code = rig.controller.compiled.addresses
    code[part.place] = 0
    rig.run(0.01)
    assert code[part.place] == 0
    rig.controller.use(replace(rig.controller.settings, **NEEDING[part.setting]))
    rig.run(0.05)
    assert code[part.place] == part_address(part)
    assert rig.phase == 'RUNNING'


@pytest.mark.skipif(plain(), reason='nothing is compiled')
@pytest.mark.parametrize('need', NEEDING)
@pytest.mark.parametrize('how', ['use', 'check'])
def test_settings_are_accepted_once_what_they_need_is_loaded(need, how, monkeypatch):
    """Or the thread of the loop would compile it, while the arm gets no efforts."""
    rig = Rig(TWO_LINK, POSE, viscous_friction=[1.0])
    nothing = np.zeros_like(rig.controller.compiled.addresses)
    rig.controller.compiled = rig.controller.compiled._replace(addresses=nothing)
    loaded = []
    monkeypatch.setattr(compile, 'part_address', lambda part: loaded.append(part) or 1)
    getattr(rig.controller, how)(replace(rig.controller.settings, **NEEDING[need]))
    assert {part.setting for part in loaded} == {need}


@pytest.mark.skipif(plain(), reason='nothing is compiled')
@pytest.mark.parametrize('specialized', [True, False])
@pytest.mark.parametrize('change', [{'payload_mass': 0.5, 'payload_frame': 'tool0'},
                                    {'armature': (0.1, 0.1)}])
@pytest.mark.parametrize('how', ['use', 'check'])
def test_the_dynamics_of_any_robot_are_loaded_before_a_cycle_may_need_them(
        specialized, change, how, monkeypatch):
    """A robot with its kernels never needs them; with another payload or rotor it does."""
    loaded = []
    monkeypatch.setattr(compile, 'load_generic_dynamics', lambda: loaded.append(True))
    started = Controller(TWO_LINK, Settings(**GAINS), specialize=specialized)
    inputs = started.inputs
    assert compile.needs_generic_dynamics(inputs.settings, inputs.robot) is not specialized
    loaded.clear()
    changed = replace(started.settings, **change)
    getattr(started, how)(changed)
    assert loaded
    if how == 'use' and 'payload_mass' in change:      # what is in force moves there and back
        loaded.clear()
        started.use(replace(changed, payload_mass=0.0))
        assert loaded


@pytest.mark.slow
@pytest.mark.skipif(plain(), reason='nothing is compiled')
def test_an_arm_is_driven_without_the_dynamics_of_any_robot_until_its_payload_changes():
    """In a process of its own, which would end with a call of what is not loaded."""
    done = subprocess.run([sys.executable, '-c', FIRST_PAYLOAD], capture_output=True, text=True,
                          timeout=100)
    phase, loaded, *before, then, loaded_then, a, b = done.stdout.split()
    assert (phase, loaded, then, loaded_then) == ('RUNNING', '0', 'RUNNING', '1'), done.stderr
    heavier = replace(Settings(**GAINS), payload_frame='tool0', payload_mass=0.1).loaded(TWO_LINK)
    for told, model in ((before, TWO_LINK), ((a, b), heavier)):
        assert [*map(float, told)] == pytest.approx(Dynamics(model).gravity(POSE), abs=1e-3)


@pytest.mark.skipif(plain(), reason='nothing is compiled')
def test_settings_of_the_start_are_checked_before_anything_is_compiled_for_them(monkeypatch):
    """A refusal does not come after seconds of compiling."""
    loaded = []
    monkeypatch.setattr(settings_in_force, 'load_parts', lambda *needing: loaded.append(needing))

    def checked():
        assert not loaded
        raise TrajectoryError('refused', name='position', remedy='none')
    settings = Settings(**{**GAINS, **NEEDING['follows_pose']})
    with pytest.raises(TrajectoryError):
        Controller(TWO_LINK, settings, checked=checked)
    Controller(TWO_LINK, settings, specialize=False)
    assert len(loaded) == 1

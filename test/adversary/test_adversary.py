# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The adversary itself: it plays in-process, replays by seed, and sees what it has to see."""

from dataclasses import replace

from adversary import arms, quiet
from adversary.composition import composition, path_of, Players
from adversary.table import row, scenes, shown, Subjects
import numpy as np
import pytest
from robodyn_ros.verification.catalogue import CATALOGUE
from robodyn_ros.verification.injection import Scene
from robodyn_ros.verification.sensing import Conditions
from robodyn_ros.verification.trial import Judge, Planned, play
from robodyn_ros.verification.world import Library, World

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('few_poses')]

FEWER = 8               # compositions


@pytest.fixture(scope='module')
def two_link():
    """Return the controller of the textbook arm, on dynamics that need no compiling."""
    return Subjects(specialize=False)(Scene(), arms.settings('two_link', 'gravity_compensation'))


def run(subject, name, scene, duration=None, seconds=0.5, seed=1):
    """Inject one fault."""
    settings = arms.settings('two_link', scene.mode, share=scene.share)
    world = World(arms.arm('two_link'), settings, Conditions(delay=0.001), scene.motion,
                  scene.trigger, seed)
    return play(subject, world, [Planned(CATALOGUE[name], 0.0, duration or scene.duration, 0)],
                seconds)


def test_the_catalogue_is_complete():
    assert len(CATALOGUE) >= 47
    assert len(scenes([], ('library', 'native', 'python'))) > len(CATALOGUE)
    assert all(what.scenes for what in CATALOGUE.values())


def test_what_is_injected_is_seen(two_link):
    result = run(two_link, 'nothing', Scene())
    assert result.armed and not result.violations
    assert result.figures.velocity < 0.5 and np.isnan(result.figures.fault)
    # Fault, zero and their times, as the guard has them.
    figures = run(two_link, 'states stop', Scene()).figures
    assert figures.reason == 'STALE_STATE' and figures.fault == pytest.approx(50.0, abs=2.0)
    assert figures.zero >= figures.fault


def test_compositions_follow_from_their_seeds():
    players = Players(specialize=False)
    seeds = [seed for seed in range(200) if composition(seed).robot == 'two_link'
             and path_of(seed) == 'library'][:FEWER]
    for seed in seeds:
        result = players.play(composition(seed))
        assert result.armed and 'exception' not in result.violations, result
    assert players.play(composition(seeds[0])) == players.play(composition(seeds[0]))


def test_a_controller_without_limits_is_caught():
    """One that believes in no position limits, and velocities of 1000 rad/s."""
    model = arms.arm('two_link').model
    unlimited = np.full(2, np.inf)
    known = replace(model, position_lower=-unlimited, position_upper=unlimited,
                    velocity_limit=np.full(2, 1e3))
    scene = Scene(mode='computed_torque', motion='trajectory', share=0.15)
    subject = Library(known, arms.settings('two_link', scene.mode, share=0.1), specialize=False)
    caught = sum('velocity' in run(subject, name, scene, seconds=1.0, seed=seed).violations
                 for name in ('3 kg unknown', 'motor reversed') for seed in range(3))
    assert caught >= 3


def test_the_judge_sees_steps_and_what_comes_after_zero(two_link):
    settings = arms.settings('two_link', 'gravity_compensation')
    world = World(arms.arm('two_link'), settings, Conditions(), 'still', 'state', 1)
    world.subject = two_link
    two_link.begin(world)
    two_link.controller.memory['phase'] = 2
    judge = Judge(world, 0.0)
    world.finish([np.array([1.0, 1.0])])
    assert not judge.violations
    world.finish([np.array([9.0, 1.0])])
    assert judge.violations['step'].startswith('joint1 8.00 N·m, ')
    assert judge.violations['step'].endswith(', RUNNING')
    two_link.controller.memory['phase'], two_link.controller.memory['reason'] = 4, 2
    world.finish([np.zeros(2)])
    world.finish([np.array([0.0, 0.1])])
    assert 'after zero' in judge.violations
    world.finish([np.array([np.nan, 0.0])])
    world.finish([np.array([1e3, 0.0])])
    assert {'not finite', 'effort'} <= set(judge.violations)


def test_the_table_is_shown(two_link):
    scene = Scene()
    rows = [row(CATALOGUE[name], scene, run(two_link, name, scene))
            for name in ('one sample q + 2π', 'NaN velocity')]
    assert shown(rows).row_count == 2


def test_healthy_motion_is_quiet(monkeypatch):
    monkeypatch.setattr(quiet, 'STRETCH', 2.0)
    hours = quiet.Hours(specialize=False)
    stretches = [hours.stretch(3 * k) for k in range(len(quiet.KINDS))]      # two_link, all states
    assert [s.reason for s in stretches] == [''] * len(stretches)
    assert quiet.shown(stretches).row_count == 3 * len(stretches)

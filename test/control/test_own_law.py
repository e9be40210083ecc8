# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A law of one's own: loaded, checked before it drives, guarded when it does."""

from dataclasses import dataclass
import os
import threading

from control.rig import risen, TWO_LINK
from flight_recorder.flights import same_bits
import numpy as np
import own_laws
import pytest
from robodyn_ros import Controller, gain, Law, Settings
from robodyn_ros.control.cycle import trial
from robodyn_ros.control.cycle.call import no_law, NUMBER
from robodyn_ros.control.cycle.compile_ahead import plain
from robodyn_ros.control.laws import registry
from robodyn_ros.errors import ParameterError

SPRING = {'mode': 'own_laws:SPRING', 'gains': {'spring': [40.0, 10.0]}}


def refusal(**settings):
    with pytest.raises(ParameterError) as error:
        Controller(TWO_LINK, Settings(**settings), specialize=False)
    return error.value


def test_it_drives_the_arm_with_its_gains():
    rig = risen(**SPRING)
    g = rig.controller.tau.copy()
    rig.q = rig.q + [0.001, 0.002]
    rig.tick()
    k = rig.controller.inputs.vectors
    expected = k.gravity - np.array([40.0, 10.0]) * [0.001, 0.002]
    assert k.tau_law == pytest.approx(expected) and abs(rig.controller.tau - g).max() < 0.2


def test_a_law_itself_is_a_mode():
    settings = Settings(mode=own_laws.SPRING, gains={'spring': 3})
    assert settings.mode == 'own_laws:SPRING' and settings.gains == (('spring', (3.0,)),)
    assert settings.gain_rows(TWO_LINK).tolist() == [[3.0, 3.0], [1.0, 1.0]]
    hidden = Law('hidden', own_laws.float_efforts, '', '')
    assert Settings(mode=hidden).mode == ':hidden'


def test_its_memory_begins_at_zero_and_is_recorded():
    """Other gains leave it alone, another mode and back does not."""
    rig = risen(recorded=2000, **SPRING)
    rig.run(0.05)
    memory = rig.controller.inputs.law.memory
    assert 50.0 <= memory[0].min() == memory[0].max() <= 250.0
    before = memory[0, 0]
    rig.controller.use(Settings(**{**SPRING, 'gains': {'spring': 30.0}}))
    rig.tick()
    assert memory[0, 0] == before + 1.0
    rig.controller.use(Settings(mode='gravity_compensation'))
    rig.tick()
    rig.controller.use(Settings(**SPRING))
    rig.tick()
    assert memory[0, 0] == 1.0
    assert same_bits(TWO_LINK, rig.controller.history.take()) > 50


def test_it_may_use_the_dynamics():
    """C q̇ + g accelerates no joint; friction is that of the settings."""
    rig = risen(mode='own_laws:WITH_DYNAMICS', viscous_friction=[1.0, 0.5])
    rig.qd = np.array([0.3, -0.2])
    rig.tick()
    v, (acceleration, friction) = rig.controller._v, rig.controller.inputs.law.memory[:2]
    assert acceleration == pytest.approx(np.zeros(2), abs=1e-9)
    assert friction == pytest.approx([1.0, 0.5] * v.qd) and friction[0] > 0.1
    assert v.tau_law == pytest.approx(friction + rig.dynamics.inverse_dynamics(
        v.q, v.qd, np.zeros(2)))


COMPILED = pytest.mark.skipif(plain(), reason='nothing is compiled')


@pytest.mark.parametrize(('name', 'why'), [
    pytest.param('ALLOCATING', 'it allocates memory', marks=COMPILED),
    ('NOT_A_NUMBER', 'its effort of joint1 is not finite at q = '),
    pytest.param('SLOW', 'and a period is 1e+03 µs', marks=COMPILED),
    ('OUT_OF_BOUNDS', 'it fails: IndexError: index 2 is out of bounds'),
    ('FAILING_ONCE', 'it fails: an error that it does not raise in plain Python'),
    pytest.param('NOT_COMPILING', "it does not compile: Unknown attribute 'speed'",
                 marks=COMPILED),
    ('ONE_JOINT', 'its effort of joint2 is not finite'),
    pytest.param('THREE', 'its function takes 3 arguments', marks=COMPILED),
    pytest.param('WRITING_MODEL', 'it does not compile: >>> setitem(readonly array',
                 marks=COMPILED),
])
@pytest.mark.filterwarnings('ignore::pytest.PytestUnraisableExceptionWarning',
                            'ignore::pytest.PytestUnhandledThreadExceptionWarning')
def test_refused_before_it_drives(monkeypatch, name, why):
    monkeypatch.setattr('robodyn_ros.control.cycle.trial.TRIAL_TIMEOUT', 0.5)
    monkeypatch.setattr('robodyn_ros.control.cycle.trial.TIMED_CALLS', 5)
    error = refusal(mode=f'own_laws:{name}')
    assert why in str(error) and error.name == 'mode' and error.remedy


def elements(joints):
    """Return an assignable expression for each array, or field of one, that a law may read."""
    arm = trial._arms(TWO_LINK, joints, 1e-3)[0]
    parts = {'gains.spring': np.zeros(2)} | {
        f'arm.{name}': part for name, part in arm._asdict().items()} | {
        f'arm.{name}.{field}': array for name, part in arm._asdict().items()
        if isinstance(part, tuple) for field, array in part._asdict().items()
        if field not in trial.WRITABLE.get(name, ())}
    return [element for name, part in parts.items() if isinstance(part, np.ndarray) and part.size
            for element in ([f'{name}[0].{field}' for field in part.dtype.names]
                            if part.dtype.names else [f'{name}.flat[0]'])]


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
def test_one_that_writes_to_anything_it_is_given_is_refused():
    """Gains, bounds and task included: what it writes there would stay after the trial."""
    joints = Controller(TWO_LINK, Settings(), specialize=False).inputs.joints
    given = elements(joints)
    assert {'arm.bounds.speed.flat[0]', 'arm.bounds.planes.flat[0]', 'arm.task.stiffness.flat[0]',
            'arm.task.settings[0].task_kp', 'arm.policy.gain.flat[0]'} < {*given}
    for element in given:
        space = {}
        exec('def efforts(arm, gains, memory, tau):\n    tau[:] = arm.gravity\n'
             f'    {element} = 7', space)
        law = Law('writing', space['efforts'], '', '', gains=own_laws.Gains)
        of_law = no_law(2)._replace(gains=np.full((2, 2), 50.0))
        of_law.code[NUMBER] = registry.number(registry.mode_of(law))
        with pytest.raises(ParameterError) as error:
            trial.check(law, of_law, TWO_LINK, joints, 1e-3)
        assert ('is read-only' in str(error.value)
                or 'it writes to ' + element.split('[')[0].removesuffix('.flat').replace(
                    'gains.spring', 'gains') in str(error.value)), element
        assert (of_law.gains == 50.0).all()


def test_one_that_uses_an_argument_as_memory_is_refused():
    error = refusal(mode='own_laws:WRITING_POSITION', gains={'spring': 40.0})
    assert 'it writes to arm.q:' in str(error) and '`e = arm.q` is not a copy' in error.remedy


def test_one_that_does_not_return_is_refused_and_steps_back(monkeypatch):
    """A compiled one is in test_own_law_live.py: it goes on until its process ends."""
    monkeypatch.setattr(trial, 'TRIAL_TIMEOUT', 0.05)
    end = threading.Event()
    with pytest.raises(ParameterError, match='it has not returned within 0.05 s'):
        trial._within_patience(own_laws.ENDLESS, end.wait)
    on = next(t for t in threading.enumerate() if t.name == 'trial of law endless')
    try:
        assert os.sched_getscheduler(on.native_id) == os.SCHED_IDLE
    finally:
        end.set()


@pytest.mark.parametrize(('mode', 'why'), [
    ('own_laws:SPRNG', 'own_laws has no Law of the name SPRNG'),
    ('own_laws:NOT_A_LAW', 'no Law of the name NOT_A_LAW'),
    ('no_such_module:LAW', 'no_such_module cannot be imported (ModuleNotFoundError'),
    ('ending:LAW', 'ending cannot be imported (SystemExit: 3)'),
    ('own_laws:', 'it names no law'), (':SPRING', 'it names no law'),
    ('joint_impedence', 'did you mean joint_impedance'),
])
def test_a_mode_that_names_no_law(mode, why, tmp_path, monkeypatch):
    (tmp_path / 'ending.py').write_text('raise SystemExit(3)\n')
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ParameterError) as error:
        Settings(mode=mode)
    assert why in str(error.value)
    with pytest.raises(ParameterError, match='was not loaded' if ':' in mode else 'choose one of'):
        registry.find(mode, load=False)


@dataclass(frozen=True)
class Taken:
    rate: object = gain('', 0.0, 1.0, 'Taken.')


@pytest.mark.parametrize(('gains', 'word'), [
    ({'sprng': 1.0}, 'did you mean spring'), ({'spring': -1.0}, 'spring = -1.0 is refused'),
    ({'spring': [np.nan, 1.0]}, 'spring'), ({'stiffness': 1.0}, 'no gain stiffness of its own'),
    (3.0, 'pass a mapping'), ((1.0,), 'pass a mapping'), ('spring', 'pass a mapping'),
    ({}, 'spring is not set'), ({'spring': [1.0, 2.0, 3.0]}, 'spring has 3 values')])
def test_gains_that_are_refused(gains, word):
    with pytest.raises(ParameterError, match=word):
        Controller(TWO_LINK, Settings(mode='own_laws:SPRING', gains=gains), specialize=False)


@pytest.mark.parametrize(('declared', 'word'), [
    ({'reference': 'path'}, "law own: reference 'path' is unknown: choose one"),
    ({'gains': Taken}, 'calls a gain rate, as a parameter is')])
def test_declarations_that_are_refused(declared, word):
    with pytest.raises(ParameterError, match=word):
        Settings(mode=Law('own', own_laws.float_efforts, '', '', **declared))


def test_a_law_that_was_not_loaded_is_no_mode_of_a_running_controller():
    """Compiling takes seconds, which no arm waits for."""
    rig = risen()
    with pytest.raises(ParameterError, match='was not loaded when the controller was configured'):
        rig.controller.use(Settings(mode='own_laws:FLOAT'))
    assert rig.tick() is not None and rig.phase == 'RUNNING'


@pytest.mark.skipif(plain(), reason='it raises its error')
@pytest.mark.filterwarnings('ignore::pytest.PytestUnraisableExceptionWarning')
def test_one_that_fails_later_is_a_fault():
    """Gravity compensation for a bounded time; latched."""
    rig = risen(q=[own_laws.BEYOND - 1e-4, 0.5], mode='own_laws:FAILING_LATE')
    rig.qd = np.array([0.05, 0.0])
    steps = [rig.controller.tau.copy()]
    for _ in range(20):
        rig.tick()
        steps.append(rig.controller.tau.copy())
    assert abs(np.diff(steps, axis=0)).max() < 1.0
    assert rig.phase == 'FAULT' and rig.controller.reason_code == 'EFFORT_NOT_FINITE'


def test_a_law_of_no_file():
    """As in a notebook: its functions and numbers are compiled as they are, each time."""
    text = """
from robodyn_ros import Law
def helper(arm, i):
    return SHARE * arm.gravity[i]
def efforts(arm, gains, memory, tau):
    for i in range(tau.shape[0]):
        tau[i] = helper(arm, i)
LAW = Law('share', efforts, '', '', reference='none')
"""
    for share in 1.0, 0.97:
        space = {'SHARE': share}
        exec(text, space)
        rig = risen(mode=space['LAW'])
        v = rig.controller.inputs.vectors
        assert v.tau_law == pytest.approx(share * v.gravity)

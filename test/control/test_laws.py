# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control laws with a memory: what they learn, and that it neither winds up nor jumps."""

from dataclasses import replace
import re
from typing import Annotated, NamedTuple

from control.rig import Blockable, follow, GAINS, POSE, Rig, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros.control.laws import registry
from robodyn_ros.errors import ParameterError

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


@pytest.mark.parametrize('law', [
    {**INTEGRAL, 'acceleration_ki': [1e5, 2e5]},
    {**OBSERVER, 'observer_bandwidth': [900.0, 1000.0]}], ids=['integral', 'observer'])
def test_too_much_is_refused_with_what_is_accepted(law):
    name = list(law)[1]
    rig = Rig(TWO_LINK, POSE)
    settings = replace(rig.controller.settings, **law)
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

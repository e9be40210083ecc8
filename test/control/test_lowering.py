# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arms without brakes in MuJoCo: what happens when their efforts end."""

import numpy as np
import pytest
from robodyn_ros import Controller, load_urdf, Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.simulation.plant import Plant

RATE = 500.0        # Hz
POSES = {'two_link': [1.9, 0.5], 'panda': [0.3, 0.9, 0.2, -1.2, 0.5, 1.5, 0.7, 0.02]}


def speeds(name, reason, seconds, **settings):
    """Return the controller, and the fastest joint [rad/s] from a stop to some time after it."""
    model = load_urdf(name)
    controller = Controller(model, Settings(rate=RATE, **settings), specialize=False)
    plant = Plant(model.to_urdf(), model=model, timestep=0.25 / RATE, substeps=4)
    plant.reset(POSES[name])
    controller.arm()
    fastest, stopped, released = 0.0, np.inf, False
    for k in range(1, int(60.0 * RATE)):
        now, state = k / RATE, plant.state()
        controller.state['position'], controller.state['velocity'] = state.position, state.velocity
        controller.state['received'], controller.state['sequence'] = now, k
        controller.step(now)
        if not released and controller.phase != guard.RUNNING:
            continue                    # something holds the arm until it carries itself
        released = True
        if controller.phase == guard.RUNNING:
            controller.cycle_input['stop_reason'] = reason
            if reason == guard.NO_REASON:
                controller.stop()
        fastest = max(fastest, np.abs(state.velocity).max())
        if not controller.driving and stopped == np.inf:
            stopped = now
        if now > stopped + seconds:
            break
        plant.step(controller.tau if controller.driving else np.zeros(model.nv))
    return controller, fastest


@pytest.mark.parametrize('name', POSES)
@pytest.mark.parametrize('reason', [guard.NO_REASON, guard.EMERGENCY_STOP])
def test_an_arm_without_brakes_comes_down_slowly(name, reason):
    controller, fastest = speeds(name, reason, 2.0, lower_to_rest=True)
    assert not controller.driving and fastest < 0.5
    assert controller.memory['reason'][0] == reason


def test_it_would_fall():
    assert speeds('two_link', guard.NO_REASON, 0.5)[1] > 2.0

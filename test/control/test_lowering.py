# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arms without brakes in MuJoCo: what happens when their efforts end."""

from control.rig import TURNING
import numpy as np
import pytest
from robodyn_ros import Controller, load_urdf, Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.errors import ParameterError
from robodyn_ros.simulation.plant import Plant
from spring_arm import PlayedDrives, SpringArm

RATE = 500.0        # Hz
POSES = {'two_link': [1.9, 0.5], 'panda': [0.3, 0.9, 0.2, -1.2, 0.5, 1.5, 0.7, 0.02],
         'xarm7': [0.1] * 7}
UPRIGHT = [np.pi / 2 + 1e-3, 0.0]


def speeds(name, reason, seconds, pose=None, **settings):
    """Return the controller, and the fastest joint [rad/s] from a stop to some time after it."""
    model = load_urdf(name)
    controller = Controller(model, Settings(rate=RATE, **settings), specialize=False)
    plant = Plant(model.to_urdf(), model=model, timestep=0.25 / RATE, substeps=4)
    plant.reset(pose or POSES[name])
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


@pytest.mark.parametrize(('name', 'pose', 'reason'), [
    ('two_link', None, guard.NO_REASON), ('two_link', None, guard.EMERGENCY_STOP),
    ('two_link', UPRIGHT, guard.NO_REASON), ('panda', None, guard.NO_REASON),
    ('panda', None, guard.EMERGENCY_STOP), ('xarm7', None, guard.NO_REASON)])
def test_an_arm_without_brakes_comes_down_slowly(name, pose, reason):
    """xarm7 comes to rest at a position limit, beyond which is its stop."""
    controller, fastest = speeds(name, reason, 2.0, pose, lower_to_rest=True)
    assert not controller.driving and fastest < 0.5
    assert controller.memory['reason'][0] == reason


def test_it_would_fall():
    assert speeds('two_link', guard.NO_REASON, 0.5)[1] > 2.0


def test_it_is_taken_to_its_rest_position():
    """A stop does that, and a fault does not."""
    hanging = (-np.pi / 2, 0.3)
    for reason, rests in (guard.NO_REASON, True), (guard.EMERGENCY_STOP, False):
        controller, fastest = speeds('two_link', reason, 0.1, [-0.9, -0.3], lower_to_rest=True,
                                     rest_position=hanging)
        assert fastest < 0.5 and controller.memory['approach'][0] == -1.0
        assert (np.abs(controller.vectors.target - hanging).max() < 1e-9) == rests


def test_a_continuous_joint_rests_a_turn_further():
    """It goes there the shortest way, also after turns that its encoder has counted."""
    turned = np.array([2.0 * np.pi, 0.0])
    controller, _ = speeds(TURNING.to_urdf(), guard.NO_REASON, 0.1, list(turned + [-0.9, -0.3]),
                           lower_to_rest=True, rest_position=(-np.pi / 2, 0.3))
    assert controller.vectors.target == pytest.approx(turned + [-np.pi / 2, 0.3])


def test_a_rest_position_that_cannot_be():
    with pytest.raises(ParameterError, match='rest_position of joint1 is outside'):
        Settings(rest_position=(9.0, 0.0)).joint_records(load_urdf('two_link'))


def test_drives_damp_it_and_hold_it_again():
    """A second request to stop shortens nothing; the drives are switched on anew."""
    arm = PlayedDrives('two_link', POSES['two_link'], arming_effort=10.0)     # lying: no effort
    enabled = []
    arm.reader._enable = lambda: (enabled.append(arm.time), SpringArm.enable(arm.driver))
    controller, stops = arm.controller, []

    def over():
        if controller.memory['descent'][0] > len(stops):        # each second
            stops.append(controller.stop())
        return not (controller.driving or controller.asked or controller.drives_damp
                    and arm.reader.resting)
    assert arm.arm() < 0.1
    controller.stop()
    assert arm.until(over, 60.0) < 0.5 and len(stops) > 5 and controller.reason == 'none'
    assert arm.arm() < 0.5 and len(enabled) == 2 and arm.told == []

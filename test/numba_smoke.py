# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
What has to work with each version of Numba: kernels, a controller, an own law, a node.

Run as a program it takes an empty cache, and prints the version at the end. The results are
compared with those of plain Python, of the textbook or of another path through the package.
"""

from importlib.util import find_spec
import os
import sys
import tempfile

import numba
import numpy as np

GAINS = {'stiffness': [40.0], 'damping': [6.0]}


def kernels():
    """Compare generic, specialised and batch kernels."""
    from robodyn_ros import Dynamics, load_urdf

    model = load_urdf('two_link')
    rng = np.random.default_rng(1)
    q, v, a = rng.uniform(-1.0, 1.0, (3, 9, model.nv))
    generic, special = Dynamics(model), Dynamics(model, specialize=True)
    tau = np.array([generic.inverse_dynamics(*each) for each in zip(q, v, a)])
    np.testing.assert_allclose(
        [special.inverse_dynamics(*each) for each in zip(q, v, a)], tau, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(special.batch.inverse_dynamics(q, v, a), tau, rtol=1e-9, atol=1e-12)
    again = [generic.mass_matrix(x) @ z + generic.bias(x, y) for x, y, z in zip(q, v, a)]
    np.testing.assert_allclose(again, tau, rtol=1e-9, atol=1e-9)


def run(**settings):
    """Return the efforts of a controller that rises at a pose, and whether it runs."""
    from robodyn_ros import Controller, Dynamics, load_urdf, Settings
    from robodyn_ros.control.steps import guard
    from robodyn_ros.state import no_state

    model = load_urdf('two_link')
    q, state, efforts = np.array([0.3, 0.5]), no_state(model.nv), []
    controller = Controller(model, Settings(**settings), state)
    controller.arm()
    gravity = Dynamics(model).gravity(q)
    for k in range(400):
        state['position'], state['velocity'], state['effort'] = q, 0.0, gravity
        state['received'] = k * 1e-3
        if controller.step(k * 1e-3):
            efforts.append(controller.tau.copy())
    assert guard.PHASES[controller.phase] == 'RUNNING', controller.arming_refusal
    return gravity, np.array(efforts)


def controller():
    """Compensate gravity at rest, with each of two laws."""
    for settings in {}, {'mode': 'joint_impedance', **GAINS}:
        gravity, efforts = run(**settings)
        np.testing.assert_allclose(efforts[-1], gravity, atol=1e-6)


def own_law():
    """Compile a law of one's own, at rest at its reference."""
    from own_laws import SPRING

    gravity, efforts = run(mode=SPRING, gains={'spring': [40.0], 'damper': [6.0]})
    np.testing.assert_allclose(efforts[-1], gravity, atol=1e-6)


def node():
    """Configure a controller node with the native data path."""
    import rclpy
    from rclpy.lifecycle import TransitionCallbackReturn
    from robodyn_ros.nodes.controller.__main__ import make_controller
    from robodyn_ros.nodes.middleware import middleware

    middleware.start(args=['--ros-args', '-p', 'urdf:=two_link',
                           '-p', 'robot_compensates_gravity:=false'])
    made = make_controller()
    try:
        assert made.trigger_configure() == TransitionCallbackReturn.SUCCESS, made.trouble
        assert made.loop.data_path == 'native', made.loop.data_path
        made.trigger_cleanup()
    finally:
        made.destroy_node()
        rclpy.shutdown()


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ['ROBODYN_CACHE_DIR'] = folder
        kernels()
        controller()
        own_law()
        if find_spec('rclpy'):
            node()
    print(f'passed with Numba {numba.__version__}, NumPy {np.__version__}, '
          f'Python {sys.version.split()[0]}', flush=True)


if __name__ == '__main__':
    main()

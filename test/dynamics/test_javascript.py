# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""JavaScript of the dynamics agrees with Python, run by node and by a browser."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.dynamics.javascript import javascript
from robodyn_ros.model.resources import robot_path
from viewer.browser import browsing, needs_browser

NODE = shutil.which('node')
QUANTITIES = 'gravity', 'inverse_dynamics', 'mass_matrix'


def agrees(robot, run):
    """Assert that the functions agree; ``run`` returns the value of a JavaScript expression."""
    model = load_urdf(robot_path(robot))
    dynamics, rng = Dynamics(model), np.random.default_rng(7)
    states = rng.uniform(-3.0, 3.0, (20, 3, model.nv))
    functions = '\n'.join(javascript(model, quantity) for quantity in QUANTITIES)
    found = json.loads(run(
        f'(() => {{ {functions}\nconst states = {json.dumps(states.tolist())};\n'
        'return JSON.stringify(states.map(([q, qd, qdd]) => [gravity(q), '
        'inverse_dynamics(q, qd, qdd), mass_matrix(q)].map(x => Array.from(x)))); })()'))
    for (q, qd, qdd), values in zip(states, found, strict=True):
        expected = (dynamics.gravity(q), dynamics.inverse_dynamics(q, qd, qdd),
                    dynamics.mass_matrix(q).ravel())
        for value, right in zip(values, expected, strict=True):
            assert np.abs(np.array(value) - right).max() <= 1e-12 * max(1.0, np.abs(right).max())


@pytest.mark.skipif(NODE is None, reason='needs node, which runs JavaScript')
@pytest.mark.parametrize('robot', ['two_link', 'rp', 'arm6'])
def test_javascript_agrees_with_python(robot):
    agrees(robot, lambda expression: subprocess.run(
        [NODE, '-e', f'console.log({expression})'], capture_output=True, text=True, check=True,
        timeout=60).stdout)


@needs_browser
def test_javascript_agrees_with_python_in_a_browser():
    pytest.importorskip('websockets', reason='needs pip install websockets')
    with browsing() as browser, browser.tab('about:blank') as tab:
        agrees('arm6', tab.run)

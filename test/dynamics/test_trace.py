# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The straight-line code of a robot, run as the Python that it is: the numbers of the kernels."""

import numpy as np
import pytest
from robodyn_ros.dynamics.compile import generic
from robodyn_ros.dynamics.model_data import dimensions, frame_record, parameters, workspace
from robodyn_ros.dynamics.signatures import QUANTITIES
from robodyn_ros.dynamics.trace import lanes, regrouped, trace

pytestmark = pytest.mark.slow

ROBOTS = ['panda', 'ur5', 'rp', 'tree3', 'tree11', 'gripper', 'panda_fingers']
TRACED = [name for name in QUANTITIES if name != 'friction']
SLOW = 20_000       # operations: Python takes too long to parse so many


def options_of(case, quantity):
    model = case.model
    options = {'frame': frame_record(model, parameters(model), model.link_names[-1]),
               'reference': 1, 'axes': np.array([0, 1]), 'damping': 0.01}
    return {key: options[key] for key in QUANTITIES[quantity].options}


def outputs_of(case, quantity):
    size = {**dimensions(case.model.nb, case.model.nv), 'k': 2}
    return {f'out_{key}': np.full([size[word] for word in shape], np.nan)
            for key, shape in QUANTITIES[quantity].outputs.items()}


def run(code, robot, inputs, outputs):
    """Execute the lines with the sines and cosines that they expect."""
    bodies, room = robot.bodies, lanes(len(robot.bodies))
    angle = bodies['turn'] * inputs['q'][bodies['driver']] + bodies['offset']
    trig = np.zeros(2 * room)
    trig[:len(bodies)], trig[room:room + len(bodies)] = np.cos(angle), np.sin(angle)
    exec('\n'.join(code.lines), {}, {**inputs, **outputs, 'trig': trig})


@pytest.mark.parametrize('quantity', TRACED)
@pytest.mark.parametrize('name', ROBOTS)
def test_it_computes_what_the_generic_kernel_does(robot, close, name, quantity):
    case = robot(name)
    own, options = parameters(case.model), options_of(case, quantity)
    code = trace(quantity, own, options)
    if code.operations > SLOW:
        pytest.skip(f'{code.operations} operations')
    spec, ours, theirs = QUANTITIES[quantity], *(outputs_of(case, quantity) for _ in range(2))
    inputs = dict(zip(spec.inputs, next(case.states())))
    run(code, own, inputs, ours)
    work = workspace(case.model)
    loads = (work.unloaded, own.base) if spec.takes_external_wrench else ()
    generic(quantity)(own, *options.values(), *inputs.values(), *loads, work, *theirs.values())
    for key, mine in ours.items():
        scale = max(1.0, np.abs(theirs[key]).max())
        close(mine / scale, theirs[key] / scale, 1e-11 if 'forward' in quantity else 1e-12)


def test_it_is_short(robot):
    # A Panda's inverse dynamics are some 1900 operations when nothing folds
    assert trace('inverse_dynamics', parameters(robot('panda').model), {}).operations < 700
    assert trace('gravity', parameters(robot('ur5').model), {}).operations < 30


def test_what_a_joint_cannot_feel_moves_to_its_parent(robot):
    bodies = parameters(robot('panda').model).bodies
    moved = regrouped(bodies)
    assert not moved['mass'][moved['turn'] > 0].any()
    assert not moved['first'][:, 2].any() and not moved['second'][:, 2].any()
    assert (bodies['mass'] > 0).all()           # the original is left alone
    slides = regrouped(parameters(robot('tree3').model).bodies)
    assert not slides['second'][slides['slide'] > 0].any()


def test_the_same_robot_gives_the_same_text(robot):
    own = parameters(robot('tree3').model)
    assert trace('bias', own, {}) == trace('bias', own, {})

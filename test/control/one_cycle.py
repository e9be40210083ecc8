# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What laws and steps in plain Python read and keep, without a control cycle around them."""

import numpy as np
from robodyn_ros.control.cycle.call import VECTORS
from robodyn_ros.control.inputs.partner import Partner, Policy
from robodyn_ros.control.inputs.task import Bounds, TASK, Task
from robodyn_ros.control.laws import registry
from robodyn_ros.control.laws.law import Arm
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.settings.task_and_bounds import bounds_of
from robodyn_ros.control.steps.cycle_data import JOINT
from robodyn_ros.dynamics.model_data import no_frame, parameters, workspace


def readable(arrays):
    """Return a named tuple whose records are read as compiled code reads them."""
    return arrays._replace(**{name: array.view(np.recarray)
                              for name, array in arrays._asdict().items() if array.dtype.names})


def bounded(model, **given):
    """Return bounds, robot and workspace, as the cycle reads them, with settings."""
    robot = parameters(model)
    return tuple(map(readable, (bounds_of(Settings(**given), model, robot), robot,
                                workspace(model))))


def arm_of(model, **fields):
    """Return an arm at rest at q = 0, without partner and bounds, but for ``fields``."""
    n, joints = model.nv, np.zeros(model.nv, JOINT)
    joints['effort_limit'] = model.effort_limit
    return Arm(**{
        'time': 0.0, 'dt': 1e-3, **{name: np.zeros(n) for name in VECTORS},
        'policy': readable(Policy.none(n)), 'partner': readable(Partner.none(n)), 'coupled': 0,
        'task': readable(Task.of(np.zeros(1, TASK), no_frame(), n)),
        'bounds': readable(Bounds.none(n)), 'guided': 0, 'payload_body': int(model.leaders[-1]),
        'payload_time': 0.0, 'joints': joints.view(np.recarray),
        'robot': readable(parameters(model)), 'workspace': readable(workspace(model)), **fields})


def gains_of(law, nv, **values):
    kind = registry.gains_class(law)
    return kind(*(np.full(nv, values[name]) for name in kind._fields))


def memory_of(law, nv):
    return registry.memory_fields(law, np.zeros((registry.memory_rows(law, nv), nv)))

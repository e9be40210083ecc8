# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What laws and steps in plain Python read and keep, without a control cycle around them."""

from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest
from robodyn_ros.control.cycle.call import VECTORS
from robodyn_ros.control.cycle.plain_cycle import Records
from robodyn_ros.control.cycle.trial import _readable as readable
from robodyn_ros.control.inputs.partner import Partner, Policy
from robodyn_ros.control.inputs.task import Bounds, TASK, Task
from robodyn_ros.control.laws import registry
from robodyn_ros.control.laws.law import Arm
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.settings.task_and_bounds import bounds_of
from robodyn_ros.control.steps.cycle_data import (
    CONTROLLER_STATE, CYCLE_INPUT, Declared, JOINT, SETTINGS, Vectors)
from robodyn_ros.dynamics.model_data import no_frame, parameters, workspace
from robodyn_ros.state import no_state


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


class OneCycle(SimpleNamespace):
    """
    The data of a cycle of ``nv`` joints, without dynamics; a short name for each field.

    Its first letter tells where it is: ``j_effort_limit`` of the joints, see PLACES.
    """

    def __init__(self, given, nv):
        self.records = {'j': np.zeros(nv, JOINT), 's': np.zeros(1, SETTINGS), 'x': no_state(nv),
                        'm': np.zeros(1, CONTROLLER_STATE), 'i': np.zeros(1, CYCLE_INPUT)}
        joints, settings, state, controller, cycle_input = map(Records, self.records.values())
        super().__init__(
            records=self.records, joints=joints, settings=settings[0], state=state,
            controller=controller[0], cycle_input=cycle_input[0], vectors=Vectors.zeros(nv),
            workspace=SimpleNamespace(M=np.eye(nv)))
        for name, value in {**USUAL, **given}.items():
            self.at(name)[...] = value

    def at(self, name):
        """Return the values of a field."""
        place, field = name.split('_', 1)
        if place in self.records:
            return self.records[place][field]
        return getattr(PLACES[place](self.vectors), field)


PLACES = {'v': lambda v: v, 'p': lambda v: v.plausibility, 'k': lambda v: v.motion_checks,
          'l': lambda v: v.limits, 'f': lambda v: v.frozen_readings, 't': lambda v: v.motor_test,
          'o': lambda v: v.momentum_observer, 'n': lambda v: v.velocity_estimator}
USUAL = {**{f'{f.metadata["record"][0]}_{f.name}': np.inf for f in fields(Declared)
            if f.metadata.get('unlimited')},
         'j_effort_limit': 10.0, 'j_effort_rate_limit': 100.0, 'j_velocity_limit': 2.0,
         'j_position_lower': -3.0, 'j_position_upper': 3.0, 'j_position_margin': 0.125,
         'j_consistency_tolerance': 0.02, 's_period': 1e-3, 's_state_timeout': 0.05,
         's_loop_delay': 0.004, 's_rest_velocity': 0.02, 's_fault_hold_time': 0.5,
         's_fault_ramp_time': 0.5, 's_damping_rate': 10.0, 's_late_limit': 0.01,
         's_limit_rate': 80.0, 's_approach_rate': 7.0, 's_arming_effort': 0.1,
         's_blocked_effort': 0.3, 'v_speed_limit': 2.0, 'v_measured': np.nan, 'm_publishing': 1,
         'i_listeners': 1}


def played(function, given, returned, expected, nv=2):
    """Call a function of a cycle with what is given; compare what it returns and writes."""
    c = OneCycle(given, nv)
    compared(function(c), returned, 'returned')
    for name, value in expected.items():
        compared(c.at(name), np.broadcast_to(value, c.at(name).shape), name)


def compared(found, expected, name):
    """Compare numbers, None being like NaN."""
    assert np.asarray(found, float) == pytest.approx(
        np.asarray(expected, float), rel=1e-9, abs=1e-12, nan_ok=True), name

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An arm that is moved, changed and brought to a fault while the flight recorder runs."""

from dataclasses import replace
import json

from control.rig import follow, risen
import numpy as np
from robodyn_ros.compiler.code_cache import machine
from robodyn_ros.control.cycle.compile import compiled
from robodyn_ros.flight_recorder.arrays import About, described, packed, unpacked
from robodyn_ros.flight_recorder.replay import Replay


def about(controller, **changed):
    """Where a recording comes from, as a node would say it."""
    return replace(About('controller', controller.reason_code, controller.reason,
                         '2026-01-01T00:00:00Z', 'native', 'timer', 'steady', 1.7e9, '0.1.0',
                         compiled().code, machine()), **changed)


def replayed(controller, cycles):
    """
    Return what was recorded, and what is read from its file: replayed, no bit of it differs.

    :param cycles: least number of cycles that are compared.
    """
    taken = controller.history.take()
    text = json.dumps(described(controller.model, taken, about(controller)),
                      default=lambda value: np.asarray(value).tolist())
    flown = unpacked(packed(text, taken))
    assert same_bits(flown.model, flown.snapshot) > cycles
    return taken, flown


def same_bits(model, snapshot):
    """Compute recorded cycles again, of which no bit differs; return their number."""
    agreement = Replay(model, snapshot).compare()
    assert agreement.same == agreement.cycles, agreement
    return agreement.cycles


def go(rig, goal, seconds=0.4):
    """Ask for a motion."""
    follow(rig, goal, seconds, later=0.01)


def eventful(recorded):
    """Return a rig that rose, took up a payload, changed its law, had a fault, and stopped."""
    rig = risen(recorded=recorded, mode='joint_impedance')
    go(rig, [0.5, 0.3])
    rig.run(0.1)
    rig.controller.use(replace(rig.controller.settings, payload_frame='link2', payload_mass=0.2))
    rig.run(0.1)
    rig.controller.use(replace(rig.controller.settings, mode='computed_torque',
                               coulomb_friction=[0.3, 0.2], friction_compensation=[0.5]))
    rig.tick()
    go(rig, [0.4, 0.2])
    rig.run(0.1)
    rig.run(0.1, sense=False)
    assert rig.phase == 'FAULT'
    rig.qd[:] = 0.0
    rig.braked = True
    rig.tau = 0.9 * rig.dynamics.gravity(rig.q)
    rig.controller.use(replace(rig.controller.settings, payload_mass=0.0, arming_effort=1.0,
                               effort_rate_limit=[100.0], acceleration_limit=[2.0]))
    rig.rise()
    rig.qd[:] = 0.3, -0.2
    rig.controller.stop()
    rig.run(0.3)
    assert rig.phase == 'INACTIVE'
    return rig

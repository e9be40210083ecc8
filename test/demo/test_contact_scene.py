# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The contact scene of an arm that the guard stops at the post, its steps replaced."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from robodyn_ros.demo.contact_scene import ContactScene
from robodyn_ros.demo.results import Results, Trace, WITH, WITHOUT


class Stopped(ContactScene):
    """Nothing but the contacts with the post: their faults, and the force a second later."""

    def __init__(self, code, force):
        self.code, self.force, self.logged = code, force, []
        self.results, self.fault_expected, self.step = Results(), False, nullcontext
        self.arm = SimpleNamespace(log=lambda: ''.join(self.logged), report={},
                                   deactivate=self.arm_rests, folder='')

    def arm_rests(self):
        self.arm.report = {}

    def configure(self):
        """Replace a step, as the following ones."""

    push = lead = quiet = configure

    def post(self, name, code=''):
        code = code or self.code
        self.logged.append(f'FAULT {code}: ...' if code else '')
        self.arm.report = {'phase': 'FAULT', 'reason code': code, 'reason': ''} if code else {}
        self.look()
        self.results.traces[name] = Trace(np.ones(1), np.array([self.force[name]]), np.zeros(1))

    def collide(self, limits):
        self.post(WITH, 'COLLISION')


@pytest.mark.parametrize(('code', 'without', 'late', 'passed'), [
    ('', 20.0, 0.0, [True, True]),
    ('', 0.0, 0.0, [False, True]),                      # no contact, no comparison
    ('WRONG_DIRECTION', 0.0, 0.0, [None, True, True]),
    ('VELOCITY_ABOVE_LIMIT', 5.0, 3.0, [None, False, True]),
    ('STATE_LATE', 5.0, 0.0, [True, False])])           # which no post causes
def test_a_guard_that_stops_the_arm_at_the_post_ends_no_scene(code, without, late, passed):
    scene = Stopped(code, {WITHOUT: without, WITH: late})
    scene.run()
    assert [check.passed for check in scene.results.checks] == passed

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The control thread, on real topics: what wakes it, what ends it, what it leaves behind."""

import pytest
from nodes.rig import Rig, each_way

from robodyn_ros.control import guard


@each_way
def test_states_of_other_joints_do_not_hide_silence(node, trigger, path):
    """However fast a gripper publishes, an arm that has fallen silent is stale."""
    rig = Rig(node, trigger, path)
    rig.run()
    rig.until(lambda: rig.controller.phase == guard.FAULT, names=('finger1', 'finger2'))
    assert rig.controller.reason == 'state is stale (joint1)'
    rig.loop.stop()


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
@each_way
def test_an_exception_is_not_the_last_word(node, trigger, path):
    """A thread that fails leaves zero behind, not its last effort, and is known to have failed."""
    rig = Rig(node, trigger, path)
    rig.run()
    assert rig.loop.running
    rig.break_it()
    rig.until(lambda: not rig.loop.running)
    assert rig.published[-1] == [0.0, 0.0] and not rig.controller.driving
    rig.loop.stop()


@each_way
def test_each_start_begins_anew(node, trigger, path):
    """What a run left behind, however it ended, drives nothing in the next one."""
    rig = Rig(node, trigger, path)
    rig.run()
    rig.loop.stop()                 # without a stopping phase, as when it did not come to its end
    assert rig.published[-1] == [0.0, 0.0]
    heard = len(rig.published)
    rig.published.clear()
    rig.loop.start()
    rig.until(lambda: rig.controller.memory['cycles'][0] > 200)
    assert heard and rig.published == [] and rig.controller.phase == guard.INACTIVE
    rig.run()
    rig.loop.stop()

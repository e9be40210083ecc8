# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`drive`: a controller and a driver without ROS."""

import signal
import sys
import threading
import time

from driven_arm import Arm, driven_arm, fault_is_over, POSE
import numpy as np
import pytest
from robodyn_ros import drive, load_urdf, Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.driver import DriverFacts, DriverLost, DriverReader, Reading, READS_PER_PERIOD
from robodyn_ros.driver_loop import _accept, with_facts
from robodyn_ros.errors import ParameterError


class LatestArm(Arm):
    """Its ``read`` returns the latest state at once, as `get_state()` of many SDKs does."""

    def __init__(self, model):
        super().__init__(model)
        self.reads, self._latest = 0, super().read()
        threading.Thread(target=self._go, daemon=True).start()

    def _go(self):
        while not self.closed:
            self._latest = super().read()

    def read(self):
        self.reads += 1
        return self._latest


@pytest.fixture
def driven():
    return driven_arm()


def running_for(controller, cycles):
    """Return what is true once the controller has run for so many cycles."""
    seen = []

    def over():
        if controller.phase == guard.RUNNING:
            seen.append(controller.tau.copy())
        return len(seen) >= cycles or controller.phase == guard.FAULT
    return over


def test_it_holds_the_arm_and_ends_at_rest(driven):
    """Drives are enabled first, and other threads soon give the interpreter to the loop."""
    arm, controller = driven
    told, enabled, before, seen = [], [], sys.getswitchinterval(), []
    arm.enable = lambda: enabled.append(len(arm.efforts))
    over = running_for(controller, 40)
    drive(controller, arm, lambda: seen.append(sys.getswitchinterval()) or over(), told.append)
    assert controller.phase == guard.INACTIVE and controller.reason == 'none' and told == []
    assert np.abs(arm.read().position - POSE).max() < 0.05
    assert arm.closed and arm.efforts[-1].tolist() == [0.0, 0.0] and enabled == [0]
    # Python's 5 ms are five cycles of a fast arm
    assert max(seen) == pytest.approx(1e-4) and sys.getswitchinterval() == before


@pytest.mark.parametrize(('reading', 'most'), [
    ('latest', 1), ('waits', READS_PER_PERIOD), ('inline', READS_PER_PERIOD)])
def test_an_arm_that_does_not_wait_is_not_read_all_the_time(reading, most):
    (arm, controller), told = driven_arm(LatestArm), []
    arm.reading, begun = reading, time.monotonic()
    drive(controller, arm, running_for(controller, 40), told.append)
    assert controller.phase == guard.INACTIVE and controller.reason == 'none' and told == []
    assert np.abs(arm._latest.position - POSE).max() < 0.05
    assert arm.reads <= most * 200.0 * (time.monotonic() - begun) + 2


def test_an_arm_is_read_and_written_by_the_thread_of_the_loop(driven):
    arm, controller = driven
    arm.reading, threads = 'inline', set()
    arm.enable = lambda: threads.add(threading.get_ident())
    read, write = arm.read, arm.write
    arm.read = lambda: (threads.add(threading.get_ident()), read())[1]
    arm.write = lambda tau: (threads.add(threading.get_ident()), write(tau))[1]
    drive(controller, arm, running_for(controller, 40))
    assert controller.reason == 'none' and threads == {threading.get_ident()}


def test_an_arm_that_is_read_no_more_is_a_fault(driven):
    arm, controller = driven
    told = []

    def over():
        if controller.phase == guard.RUNNING:
            arm.broken = 'read'
        return fault_is_over(controller)
    drive(controller, arm, over, told.append)
    assert 'state is stale' in controller.reason
    assert told[0] == 'read() of the driver raised OSError: unplugged'
    assert arm.closed and arm.efforts[-1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize('lost', ['lost', 'read lost'])
def test_a_lost_arm_ends_it(driven, lost):
    """Where it is only read no more, after the efforts of the fault."""
    arm, controller = driven
    def over():
        arm.broken = lost if controller.phase in (guard.RUNNING, guard.FAULT) else ''
        return False
    with pytest.raises(DriverLost, match='unplugged'):
        drive(controller, arm, over, [].append)
    assert arm.closed and arm.efforts[-1].tolist() == [0.0, 0.0]
    assert (controller.phase == guard.FAULT) == (lost == 'read lost')


@pytest.mark.parametrize(('age', 'why', 'refusal'), [
    (-1.0, 'an age of -1 s', 'joint1'), ([0.0, np.nan], 'an age', 'joint1'),
    ([0.0] * 3, 'broadcast', 'joint1'), ([0.0, np.inf], '', 'no joint state yet (joint2)')])
def test_ages_that_are_none_and_of_a_joint_that_was_never_measured(driven, age, why, refusal):
    arm, controller = driven
    read, told = arm.read, []
    arm.read = lambda: Reading(*read()[:3], age=age)
    end = time.monotonic() + 0.2
    drive(controller, arm, lambda: time.monotonic() > end, told.append)
    assert why in ''.join(told) and refusal in controller.arming_refusal
    assert np.isnan(controller.state['received']).all() == bool(why)


def test_a_reading_that_has_waited_for_the_loop_is_as_old_as_it_is(driven):
    """Where the loop stalls while the bus is silent, it would be taken for a new one."""
    arm, controller = driven
    reader = DriverReader(arm, controller, 1, print, print)
    assert reader.wait(10**10)
    taken, then = reader.take(), time.monotonic()
    time.sleep(0.01)
    assert _accept(controller, taken, 1, reader)
    assert (controller.state['received'] <= then).all()
    reader.close()


def test_facts_of_a_driver_replace_what_the_urdf_says():
    model, settings = load_urdf('two_link'), Settings()
    facts = DriverFacts(True, False, [9.0, 8.0], [7.0, 6.0], [0.1, 0.2], 1000.0)
    corrected, agreed = with_facts(facts, model, settings)
    assert agreed.robot_compensates_gravity and agreed.lower_to_rest
    assert corrected.effort_limit.tolist() == [9.0, 8.0]
    assert corrected.velocity_limit.tolist() == [7.0, 6.0]
    assert corrected.armature.tolist() == [0.1, 0.2]
    assert with_facts(DriverFacts(obeys=True), model, settings)[1].motor_test_effort == 0.0


@pytest.mark.parametrize(('rate', 'given', 'by_rate', 'by_driver'), [
    (499.0, -1.0, 0.1, 0.1), (500.0, -1.0, 0.0, 0.1), (100.0, 0.0, 0.0, 0.0),
    (1000.0, 0.2, 0.2, 0.2)])
def test_motors_are_tested_by_default(rate, given, by_rate, by_driver):
    """Those of a slow loop, and of a driver that does not know them; what is given counts."""
    settings = Settings(rate=rate, motor_test_effort=given)
    assert settings.settings_record()['motor_test_effort'] == settings.tested_effort == by_rate
    driven = with_facts(DriverFacts(), load_urdf('two_link'), settings)[1]
    assert driven.tested_effort == by_driver


@pytest.mark.parametrize(('facts', 'settings', 'given', 'name'), [
    (DriverFacts(compensates_gravity=False), Settings(robot_compensates_gravity=True), (),
     'robot_compensates_gravity'),
    (DriverFacts(compensates_gravity=True), Settings(), ('robot_compensates_gravity',),
     'robot_compensates_gravity'),
    (DriverFacts(brakes=False), Settings(), ('lower_to_rest',), 'lower_to_rest'),
    (DriverFacts(effort_limit=[9.0, 9.0]), Settings(effort_limit=(10.0, 9.0)), (), 'effort_limit'),
    (DriverFacts(velocity_limit=[1.0, 1.0]), Settings(velocity_limit=(2.0,)), (),
     'velocity_limit'),
    (DriverFacts(armature=[0.1, 0.1]), Settings(armature=(0.1, 0.2)), (), 'armature'),
    (DriverFacts(max_rate=500.0), Settings(rate=1000.0), (), 'rate'),
    (DriverFacts(effort_limit=[9.0]), Settings(), (), 'effort_limit'),
    (DriverFacts(armature='none'), Settings(), (), 'armature')])
def test_settings_that_contradict_a_driver(facts, settings, given, name):
    with pytest.raises(ParameterError, match=name) as refused:
        with_facts(facts, load_urdf('two_link'), settings, given)
    assert refused.value.name == name


def test_a_controller_that_does_not_know_the_facts_is_refused(driven):
    arm, controller = driven
    arm.facts = DriverFacts(effort_limit=0.5 * controller.model.effort_limit)
    with pytest.raises(ParameterError, match='effort_limit'):
        drive(controller, arm, lambda: True)
    assert arm.closed and not arm.efforts


def test_an_interrupt_stops_the_arm_before_it_ends_the_loop(driven):
    arm, controller = driven
    phases = []

    def over():
        phases.append(controller.phase)
        if phases.count(guard.RUNNING) in (3, 5):
            signal.raise_signal(signal.SIGINT)      # twice: it changes nothing
        return False
    with pytest.raises(KeyboardInterrupt):
        drive(controller, arm, over)
    assert controller.phase == guard.INACTIVE and controller.reason == 'none' and arm.closed

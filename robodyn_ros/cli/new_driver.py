# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Skeleton of a custom driver, and of its test."""

from pathlib import Path
from string import Template
from typing import Annotated

import typer

from .new_law import test_command, write_module
from .options import command, console, DEVELOP, Force, output

DRIVER = Template('''\
"""
Driver: the arm $name, read and written in the process of the controller.

    PYTHONPATH=. ros2 run robodyn_ros controller --ros-args -p driver:=$name:$constant \\
        -p "driver_options:=[address=192.168.0.2]" -p trigger:=state -p urdf:=...
    drive(Controller(model, settings), $constant(model), over)      # without ROS
"""

import time

import numpy as np
from numpy import ndarray

from robodyn_ros.driver import DriverFacts, Fault, Reading, WAITS


class $constant:
    """
    Driver of the arm by its SDK or bus: replace the stand-in below.

    Arrays are in the order of model.joint_names, in rad, m, N·m and N: convert units, signs and
    order here. The guard detects errors only once the arm is armed.

    :param model: the robot; model.joint_names, model.effort_limit, ...
    :param address, rate: examples of options, which users set by driver_options.
    """

    # WAITS: read() waits for a state. LATEST: it returns the newest one at once. INLINE: the
    # thread of the loop reads, computes and writes, for an SDK that holds the GIL
    reading = WAITS

    def __init__(self, model, address: str = '', rate: float = 1000.0):
        # Connect, or raise an exception with the reason. What the arm says of itself replaces the
        # URDF: effort_limit, velocity_limit, armature (nv,), compensates_gravity, brakes.
        self.facts = DriverFacts()
        self._period, self._next = 1.0 / rate, time.monotonic()
        self._position, self._effort = np.zeros(model.nv), np.zeros(model.nv)

    def read(self) -> Reading | None:
        """
        Wait for the next state of the arm; return None if none comes within, say, 10 ms.

        A dedicated thread calls this in a loop. An exception is logged. The state becomes stale
        after an exception, and while this waits.
        """
        self._next += self._period
        time.sleep(max(0.0, self._next - time.monotonic()))
        # Velocity NaN: not measured. Effort None: not measured, NaN: the drive is off; else that
        # of the motor on the joint. age: s since each joint was measured. Raise DriverLost where
        # the connection is gone for good.
        faults: list[Fault] = []        # such as Fault('joint4', 'rotor too hot')
        return Reading(self._position.copy(), np.zeros(len(self._position)), self._effort.copy(),
                       age=0.0, faults=faults)

    def write(self, tau: ndarray) -> None:
        """
        Send efforts, without waiting for an answer; the control thread calls this.

        The drives must stop by themselves without efforts: nothing else helps if this process
        dies.
        """
        self._effort = tau.copy()

    def enable(self) -> None:
        """Switch the drives on, before the first efforts; may be left out."""

    def diagnostics(self) -> dict:
        """Return temperatures, bus errors and the like, for /diagnostics; may be left out."""
        return {}

    def close(self) -> None:
        """End the connection."""
''')

TEST = Template('''\
"""The driver $name gives states of the right shape, and takes efforts."""

import numpy as np
from $name import $constant

from robodyn_ros import load_urdf
from robodyn_ros.driver import Driver


def test_it_reads_and_writes():
    arm = load_urdf('two_link')
    driver = $constant(arm)
    assert isinstance(driver, Driver)
    reading = driver.read()
    assert np.shape(reading.position) == np.shape(reading.velocity) == (arm.nv,)
    driver.write(np.ones(arm.nv))
    driver.close()
''')


@command(DEVELOP, 'my_arm')
def new_driver(name: Annotated[str, typer.Argument(
                   metavar='NAME', help='Name of the driver and of its module, such as my_arm.')],
               folder: Annotated[Path, output('Folder to write to.', 'FOLDER')] = Path('.'),
               force: Force = False) -> None:
    """Write a commented template of a driver, and its test."""
    constant = ''.join(word.capitalize() for word in name.split('_'))
    driver, test = write_module(name, folder, {'': DRIVER, 'test_': TEST}, constant, force)
    console().print(f'{driver}: the driver, parameter driver {name}:{constant}\n{test}: its test\n'
                    f'run the test: {test_command(test)}')

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `new`: commented templates of a control law and of a driver, and their tests."""

from enum import Enum
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from .options import command, console, DEVELOP, Force, output, write_texts
from ..errors import ArgumentError, check_new

LAW = Template('''\
"""
Control law: a spring and a damper about the reference, with gravity compensation.

    PYTHONPATH=. ros2 run robodyn_ros controller --ros-args -p mode:=$name:$constant \\
        -p spring:=[100.0] -p urdf:=...
    Settings(mode='$name:$constant', gains={'spring': 100.0})       # without ROS
"""

from dataclasses import dataclass
from typing import Any

from numpy import ndarray

from robodyn_ros import Law, gain
from robodyn_ros.control.laws.law import Judged


@dataclass(frozen=True)
class Gains:
    """Gains, one number a joint; each is a ROS parameter of this name."""

    spring: Any = gain('N·m/rad or N/m', 0.0, 1e4, 'Stiffness of the spring.')
    damper: Any = gain('N·m·s/rad or N·s/m', 0.0, 1e3, 'Damping.', default=1.0)


def efforts(arm: Any, gains: Any, memory: Any, tau: ndarray) -> None:
    """
    Write the efforts tau (nv,) [N·m | N], with g(q).

    Numba compiles this: loop over the joints, allocate nothing. robodyn_ros.control.laws.law.Arm
    documents the fields of arm; robodyn_ros.control.laws.dynamics has its inverse dynamics. Write
    the state of the law to memory: see robodyn_ros/control/laws/computed_torque.py.
    """
    for i in range(tau.shape[0]):
        tau[i] = (arm.gravity[i] + gains.spring[i] * (arm.q_reference[i] - arm.q[i])
                  + gains.damper[i] * (arm.qd_reference[i] - arm.qd[i]))


$constant = Law(
    '$name', efforts, equation='τ = g(q) + K (q_r - q) + D (q̇_r - q̇)',
    source='book or paper, and equation', gains=Gains,
    judged=(Judged('spring', 'damper'),))       # gains whose stability the controller checks
''')

LAW_TEST = Template('''\
"""The law $name holds an arm, as compiled code and in plain Python (ROBODYN_PLAIN=1)."""

import numpy as np
from $name import $constant

from robodyn_ros import Settings, load_urdf, simulate
from robodyn_ros.verification.brief import verify

ARM = load_urdf('two_link')
SETTINGS = Settings(mode=$constant, gains={'spring': 50.0, 'damper': [10.0, 2.0]},
                    goal_tolerance=[0.1, 0.1])      # rad: the spring is soft


def test_it_holds_the_arm():
    pose = [0.3, 0.5]
    run = simulate(ARM, SETTINGS, pose, duration=1.0)
    assert run.fault == ''
    assert np.abs(run.position - pose).max() < 1e-3


def test_random_worlds_break_nothing():
    # Other masses, friction, delays, noise, and faults; `robodyn verify` runs more of them
    assert verify(ARM, SETTINGS, worlds=5, seconds=1.0) == []
''')


DRIVER = Template('''\
"""
Driver: the arm $name, read and written in the process of the controller.

    PYTHONPATH=. robodyn inspect my_arm.urdf --driver $name:$constant       # what it states
    PYTHONPATH=. ros2 run robodyn_ros controller --ros-args -p driver:=$name:$constant \\
        -p "driver_options:=[address=192.168.0.2]" -p trigger:=state -p urdf:=my_arm.urdf
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
    # thread of the loop reads, computes and writes, for an SDK that holds the GIL, or a bus whose
    # drives answer commands
    reading = WAITS

    def __init__(self, model, address: str = '', rate: float = 1000.0):
        # Connect, or raise an exception with the reason; enable nothing
        self._period, self._next = 1.0 / rate, time.monotonic()
        self._position, self._effort = np.zeros(model.nv), np.zeros(model.nv)
        # What is known of the arm replaces the URDF; a parameter that contradicts it is refused
        self.facts = DriverFacts(
            # compensates_gravity=False,    # does the robot add g(q) to the efforts?
            # brakes=False,                 # False: nothing holds the arm, which is lowered
            # effort_limit=[27.0, 27.0],    # of the drives, one a joint [N·m | N]
            # velocity_limit=[3.0, 3.0],    # [rad/s | m/s]
            # armature=[0.05, 0.05],        # rotor inertia times gear ratio squared [kg·m² | kg]
            # max_rate=rate,                # at which the arm takes efforts [Hz]
            # obeys=True,                   # no motor test: each motor is known to move its joint
        )

    def read(self) -> Reading | None:
        """
        Wait for the next state of the arm; return None if none comes within, say, 10 ms.

        An exception is logged. The state becomes stale after an exception, and while this waits.
        Raise robodyn_ros.driver.DriverLost where the connection is gone for good.
        """
        self._next += self._period
        time.sleep(max(0.0, self._next - time.monotonic()))
        faults: list[Fault] = []        # such as Fault('joint4', 'rotor too hot')
        return Reading(
            self._position.copy(),
            np.zeros(len(self._position)),      # velocity; NaN: not measured
            self._effort.copy(),                # of the motor on the joint; NaN: its drive is off
            age=0.0,                            # s since each joint was measured, (nv,) or all
            faults=faults)

    def write(self, tau: ndarray) -> None:
        """
        Send efforts, without waiting for an answer; the control thread calls this.

        The drives must stop by themselves without efforts: nothing else helps if this process
        dies.
        """
        self._effort = tau.copy()

    # Members that may be left out: uncomment those that the drives have

    # def enable(self) -> None:
    #     """Switch the drives on, before the first efforts; hold the pose where they can."""

    # def fade(self, share: float) -> None:
    #     """Leave this share of the drives' own spring, with the next write; from 1 to 0."""

    # def rest(self, dt: float) -> bool:
    #     """Damp in the drives, with the next write, as the arm comes down; return if it rests."""
    #     return True

    # def diagnostics(self) -> dict:
    #     """Return temperatures, bus errors and the like, for /diagnostics, once a second."""
    #     return {'temperature of joint1 [°C]': 41}

    def close(self) -> None:
        """End the connection."""
''')

DRIVER_TEST = Template('''\
"""The driver $name gives states of the right shape, and takes efforts."""

import numpy as np
from $name import $constant

from robodyn_ros import load_urdf, Settings
from robodyn_ros.driver import ages_of, Driver, READING
from robodyn_ros.driver_loop import with_facts


def test_it_reads_and_writes():
    arm = load_urdf('two_link')
    driver = $constant(arm)
    assert isinstance(driver, Driver) and driver.reading in READING
    with_facts(driver.facts, arm, Settings())       # raises an error where they are none
    reading = driver.read()
    assert np.shape(reading.position) == np.shape(reading.velocity) == (arm.nv,)
    assert (ages_of(reading) < 0.1).all()
    driver.write(np.ones(arm.nv))
    driver.close()
''')


class Kind(str, Enum):
    """What there are templates of."""

    LAW = 'law'
    DRIVER = 'driver'


@command(DEVELOP, 'law my_spring')
def new(kind: Annotated[Kind, typer.Argument(help='What to write.')],
        name: Annotated[str, typer.Argument(
            metavar='NAME', help='Its name, and that of its module, such as my_spring.')],
        folder: Annotated[Path, output('Folder to write to.', 'FOLDER')] = Path('.'),
        force: Force = False) -> None:
    """Write a commented template of a control law or of a driver, and its test."""
    if kind == Kind.LAW:
        templates, constant, parameter = (LAW, LAW_TEST), name.upper(), 'mode'
    else:
        constant = ''.join(word.capitalize() for word in name.split('_'))
        templates, parameter = (DRIVER, DRIVER_TEST), 'driver'
    if not name.isidentifier() or iskeyword(name) or name != name.lower():
        raise ArgumentError(f'{name!r} is not a module name', name='NAME', value=name,
                            remedy='use lower-case letters, digits and underscores: my_spring')
    texts = {folder / f'{prefix}{name}.py': text.substitute(name=name, constant=constant)
             for prefix, text in zip(('', 'test_'), templates)}
    if not force:
        check_new(texts, 'NAME', 'choose another name, or replace with --force')
    write_texts(texts, '--output', 'choose another --output')
    module, test = texts
    install = '' if find_spec('pytest') else 'pip install pytest && '
    console().print(f'{module}: the {kind.value}, parameter {parameter} {name}:{constant}\n'
                    f'{test}: its test\nrun the test: {install}python -m pytest {test}')

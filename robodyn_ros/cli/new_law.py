# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Skeleton of a custom control law, and of its test."""

from collections.abc import Mapping
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from string import Template
from typing import Annotated

from rich.console import Console
import typer

from .options import command, console, DEVELOP, Force, output
from ..errors import ArgumentError, check_new, writing

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

TEST = Template('''\
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


@command(DEVELOP, 'my_spring')
def new_law(name: Annotated[str, typer.Argument(
                metavar='NAME', help='Name of the law and of its module, such as my_spring.')],
            folder: Annotated[Path, output('Folder to write to.', 'FOLDER')] = Path('.'),
            force: Force = False
            ) -> None:
    """Write a commented template of a control law, and its test."""
    run(name, folder, console(), force)


def run(name: str, folder: Path, out: Console, force: bool = False) -> None:
    """
    Write NAME.py and test_NAME.py into a folder.

    :raises ArgumentError: the name is no module name, or a file exists or cannot be written.
    """
    law, test = write_module(name, folder, {'': LAW, 'test_': TEST}, name.upper(), force)
    out.print(f'{law}: the law, mode {name}:{name.upper()}\n{test}: its test\n'
              f'run the test: {test_command(test)}')


def test_command(test: Path) -> str:
    """Return the command that runs a test, with the installation of pytest if it is missing."""
    install = '' if find_spec('pytest') else 'pip install pytest && '
    return f'{install}python -m pytest {test}'


def write_module(name: str, folder: Path, templates: Mapping[str, Template], constant: str,
                 force: bool) -> list[Path]:
    """
    Write the module ``name`` and others that begin with a prefix; return the paths.

    :param templates: text with $name and $constant, by the prefix of its file.
    :raises ArgumentError: the name is no module name, or a file exists or cannot be written.
    """
    if not name.isidentifier() or iskeyword(name) or name != name.lower():
        raise ArgumentError(f'{name!r} is no name of a Python module', name='NAME', value=name,
                            remedy='use lower-case letters, digits and underscores: my_spring')
    texts = {folder / f'{prefix}{name}.py': text for prefix, text in templates.items()}
    if not force:
        check_new(texts, 'NAME', 'choose another name, or replace with --force')
    with writing(folder, '--output', 'give another --output'):
        folder.mkdir(parents=True, exist_ok=True)
        for path, template in texts.items():
            path.write_text(template.substitute(name=name, constant=constant))
    return [*texts]

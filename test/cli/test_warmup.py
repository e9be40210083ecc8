# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn warmup`, as a process."""

import io
import sys

from rich.console import Console
from robodyn_ros import load_urdf
from robodyn_ros.cli import warmup
from robodyn_ros.model.resources import robot_path

WARMUP = [sys.executable, '-m', 'robodyn_ros.cli', 'warmup']


def rows(text):
    return {line.split()[0]: line for line in text.splitlines() if line.strip()}


def test_it_compiles_what_is_new_and_loads_what_is_not(start, tmp_path):
    """
    Takes over 5 s: dynamics of a robot that nobody has compiled before.

    Who is asked again is a worker of the command, for these three alone.
    """
    names = ['gravity', 'mass_matrix', 'inverse_dynamics']
    text = robot_path('two_link').read_text()
    assert 'mass value="2"' in text or 'mass value="2.0"' in text
    urdf = tmp_path / 'arm.urdf'
    mass = f'2.{hash(str(tmp_path)) % 10**9}'
    urdf.write_text(text.replace('mass value="2.0"', f'mass value="{mass}"')
                    .replace('mass value="2"', f'mass value="{mass}"'))
    process = start(WARMUP, urdf)
    assert process.wait() == 0, process.text
    first, ticks = rows(process.text), []
    again, seconds = warmup.start(load_urdf(urdf), names, ticks.append)
    out = Console(file=io.StringIO(), width=100)
    out.print(warmup.table(load_urdf(urdf), names, again, again, (seconds, seconds)))
    second = rows(out.file.getvalue())
    assert ticks == names
    for name in names:
        assert 'before' not in first[name] and ' s ' in first[name] and ' ms' in first[name]
        assert 'before' in second[name]


def test_a_robot_that_is_none_is_told_in_one_line(start):
    process = start(WARMUP, 'two_lnik')
    assert process.wait() == 1
    assert process.text.count('\n') == 1 and 'two_link' in process.text

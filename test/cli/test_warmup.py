# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn warmup`, as a process."""

import subprocess
import sys

from robodyn_ros.model.resources import robot_path


def warmup(*arguments):
    done = subprocess.run([sys.executable, '-m', 'robodyn_ros.cli', 'warmup', *arguments],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}


def test_it_compiles_what_is_new_and_loads_what_is_not(tmp_path):
    # Another mass each time: nobody has compiled for this robot before
    text = robot_path('two_link').read_text()
    assert 'mass value="2"' in text or 'mass value="2.0"' in text
    urdf = tmp_path / 'arm.urdf'
    mass = f'2.{hash(str(tmp_path)) % 10**9}'
    urdf.write_text(text.replace('mass value="2.0"', f'mass value="{mass}"')
                    .replace('mass value="2"', f'mass value="{mass}"'))
    first, second = warmup(str(urdf)), warmup(str(urdf))
    for name in ('gravity', 'mass_matrix', 'inverse_dynamics'):
        assert 'before' not in first[name] and ' ms' in first[name]
        assert 'before' in second[name]


def test_a_robot_that_is_none_is_told_in_one_line():
    done = subprocess.run([sys.executable, '-m', 'robodyn_ros.cli', 'warmup', 'two_lnik'],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr.count('\n') == 1 and 'two_link' in done.stderr

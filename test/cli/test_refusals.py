# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands that are refused: one line on stderr with the object and a remedy, and no file."""

import shlex

from cli.commands import refused
import pytest

CLEAR = 'it is not clear what to write', 'give one of --c, --js and --config'


@pytest.mark.parametrize(('line', 'parts'), {
    'inspect no_such_robot': ("no robot 'no_such_robot'", 'did you mean ur5_robot'),
    'inspect two_link --at 0': ('initial position', 'give one for each of joint1, joint2'),
    'inspect two_link --at 0,99': ('joint2 is 99', 'choose one in its limits'),
    "inspect two_link --at '1;2'": ("--at '1;2'", 'write numbers with commas'),
    'inspect two_link --locked joint9=0': ("'joint9'", "did you mean 'joint2'"),
    **{f'inspect two_link --locked {word}': (f'--locked {word!r}', 'write a joint and its')
       for word in ('a', 'a=', 'a=b', 'a=1=2')},
    'derive arm6': ("'arm6' has 6 joints", '--force'),
    'derive no_such_robot': ("no robot 'no_such_robot'", 'did you mean'),
    'derive craig_2r --locked joint1=0': ("'craig_2r' has DH rows", 'leave out --locked'),
    'derive no_such.yaml': ('no_such.yaml', 'give the path'),
    'export two_link': CLEAR,
    'export two_link --c --js': CLEAR,
    'export two_link --js --float': ('--float', '--js', 'leave it out'),
    'export two_link --c -o my-arm.c': ('my-arm.c', 'no name of an exported file'),
    'export two_link --c -o arm.js': ('arm.js', 'no name of an exported file'),
    'export two_link --c -o nowhere/arm.c': ('nowhere/arm.c', 'give another --output'),
    'export two_link --c --frame tol0': ("no frame 'tol0'", "did you mean 'tool0'?"),
    'export two_link --c --quantity poise': ("no quantity 'poise'", "did you mean 'pose'?"),
    'export two_link --c --quantity pose': ('pose needs a frame', 'give --frame'),
    'export two_link --c --quantity gravity': ('two_link.h exists', 'another --output', '--force'),
    'export two_link --js --aarch64': ('--payload and --aarch64', 'give --config'),
    **{f"new-law '{name}'": (f'{name!r} is no name of a Python module', 'use lower-case letters')
       for name in ('two words', 'class', '1st', 'Upper', '../x')},
    'new-law spring': ('test_spring.py exists', '--force'),
    'loop-report timing.npz': ('timing.npz cannot be read', 'timing_file'),
    'replay flight.mcap': ('flight.mcap cannot be read',
                           'give a file, all of it, that a flight recorder'),
    'compare-laws two_link --picture laws.abc': ('laws.abc cannot be written', '--picture'),
    'warmup two_lnik': ("no robot 'two_lnik'", 'did you mean two_link?'),
    'view two_link --allow-control --no-browser': ('--allow-control', 'add --live'),
}.items(), ids=lambda value: value if isinstance(value, str) else '')
def test_the_error_names_the_object_and_a_remedy(line, parts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (mine := tmp_path / 'two_link.h').write_text('mine')
    (tmp_path / 'test_spring.py').write_text('mine')
    error = refused(*shlex.split(line))
    assert all(part in error for part in parts), error
    assert sorted(path.name for path in tmp_path.iterdir()) == ['test_spring.py', 'two_link.h']
    assert mine.read_text() == (tmp_path / 'test_spring.py').read_text() == 'mine'

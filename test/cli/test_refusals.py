# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands that are refused name the object and a remedy, and the remedy ends the error."""

import re
import shlex

from cli.commands import done, refused
import pytest
from robodyn_ros.model.resources import robot_path
from robots import ARM

TWO_LINK = robot_path('two_link').read_text()
FILES = {
    'odd.urdf': ARM.replace('izz="0.01"', 'izz="0.05"'),
    'free.urdf': ARM.replace('type="revolute"', 'type="continuous"'),
    'scaled.urdf': re.sub('<inertia .*?/>', '<inertia ixx="30000" ixy="0" ixz="0" iyy="30000" '
                          'iyz="0" izz="4000"/>', TWO_LINK, count=1),
    'macro.urdf': TWO_LINK.replace('name="base_link"', 'name="${prefix}base_link"'),
    'macro.xacro': TWO_LINK.replace('<robot ', '<robot xmlns:xacro="http://wiki.ros.org/xacro" '),
    **dict.fromkeys(('mine.urdf', 'mine.yaml', 'mine.js', 'mine.py', 'test_mine.py',
                     'two_link.h'), 'mine')}
EXCITE = '--starts 1 --harmonics 2 --period 3 --shapes none'
CLEAR = 'it is not clear what to write'


@pytest.mark.parametrize(('line', 'parts', 'then'), [
    # What the message names, the remedy last, and a command that follows the remedy, if one is run
    ('inspect no_such_robot', ["no robot 'no_such_robot'", 'did you mean ur5_robot'], ''),
    ('inspect two_lnik', ["no robot 'two_lnik'", 'two_link'], 'inspect two_link'),
    ('inspect two_link --at 0', ['initial position', 'pass one for each of joint1, joint2'], ''),
    ('inspect two_link --at 0,99', ['joint2 is 99', 'choose one in its limits'], ''),
    ("inspect two_link --at '1;2'", ["--at '1;2'", 'write numbers with commas'],
     'inspect two_link --at 1,2'),
    ('inspect two_link --locked joint9=0', ["'joint9'", 'did you mean', 'joint2'],
     'inspect two_link --locked joint2=0'),
    ('inspect two_link --locked joint2', ["--locked 'joint2'", 'write a joint and its'],
     'inspect two_link --locked joint2=0.02'),
    *((f'inspect two_link --locked {word}', [f'--locked {word!r}', 'write a joint and its'], '')
      for word in ('a=', 'a=b', 'a=1=2')),
    ('inspect mine.yaml', ['name the robot'], 'inspect two_link'),
    ('inspect macro.urdf', ['.xacro'], 'inspect macro.xacro'),
    ('inspect odd.urdf --repair mine.urdf', ['--force'],
     'inspect odd.urdf --repair mine.urdf --force'),
    ('inspect odd.urdf --repair new.urdf --json', ['no other option', 'leave the others out'],
     'inspect odd.urdf --repair new.urdf'),
    ('init two_link -o mine.yaml', ['--force'], 'init two_link -o mine.yaml --force'),
    ('init two_link -o mine.yaml', ['--output'], 'init two_link --output new.yaml'),
    ('init scaled.urdf', ['--accept-inertia'], 'init scaled.urdf --accept-inertia'),
    ('derive arm6', ["'arm6' has 6 joints", '--force', '--locked'],
     'derive arm6 --locked joint_3=0,joint_4=0,joint_5=0,joint_6=0'),
    ('derive no_such_robot', ["no robot 'no_such_robot'", 'did you mean'], ''),
    ('derive craig_2r --locked joint1=0', ["'craig_2r' has DH rows", 'leave out --locked'],
     'derive craig_2r'),
    ('derive no_such.yaml', ['no_such.yaml', 'pass the path'], ''),
    ('export two_link', [CLEAR, 'use one of --c, --js and --config'],
     'export two_link --js --quantity gravity'),
    ('export two_link --c --js', [CLEAR, 'use one of --c, --js and --config'], ''),
    ('export two_link --js --float --quantity gravity', ['--float', '--js', 'leave it out'],
     'export two_link --js --quantity gravity'),
    ('export two_link --c -o my-arm.c', ['my-arm.c', 'not a name for an exported file'], ''),
    ('export two_link --js --quantity gravity -o my-arm.js', ['my-arm.js', 'my_arm.js'],
     'export two_link --js --quantity gravity -o my_arm.js'),
    ('export two_link --c -o arm.js', ['arm.js', 'not a name for an exported file'], ''),
    ('export two_link --c -o nowhere/arm.c', ['nowhere/arm.c', 'choose another --output'], ''),
    ('export two_link --c --frame tol0', ["no frame 'tol0'", "did you mean 'tool0'?"], ''),
    ('export two_link --js --quantity pose', ['pose needs a frame', '--frame'],
     'export two_link --js --quantity pose --frame tool0'),
    ('export two_link --js --quantity poise --frame tool0',
     ["no quantity 'poise'", 'did you mean', 'pose'],
     'export two_link --js --quantity pose --frame tool0'),
    ('export two_link --c --quantity gravity', ['two_link.h exists', 'another --output',
                                                '--force'], ''),
    ('export two_link --js --quantity gravity -o mine.js', ['mine.js exists', '--force'],
     'export two_link --js --quantity gravity -o mine.js --force'),
    ('export two_link --js --aarch64', ['--payload and --aarch64', 'add --config'], ''),
    *((f"new law '{name}'", [f'{name!r} is not a module name', 'use lower-case letters',
                             'my_spring'], 'new law my_spring' * (name == 'two words'))
      for name in ('two words', 'class', '1st', 'Upper', '../x')),
    ('new law mine', ['test_mine.py exists', '--force'], 'new law mine --force'),
    ('new driver mine', ['--force'], 'new driver mine --force'),
    ('check-machine --timing timing.npz', ['timing.npz cannot be read', 'timing_file'], ''),
    ('check-machine --all', ['those of --compile', 'add --compile ROBOT'], ''),
    ('check-machine --compile two_lnik', ["no robot 'two_lnik'", 'did you mean two_link?'], ''),
    ('simulate two_link --at 0,0 --motion a.yaml', ['--at has no effect with --motion',
                                                    'leave it out'], ''),
    ('replay flight.mcap', ['flight.mcap cannot be read',
                            'pass a file, all of it, that a flight recorder'], ''),
    ('compare-laws two_link --picture laws.abc', ['laws.abc cannot be written', '--picture'], ''),
    ('identify a.csv --robot two_link --mass 2', ['--mass', '--drive-gains', 'leave them out'],
     ''),
    ('view two_link --allow-control --no-browser', ['--allow-control', 'add --live'], ''),
    (f'excite two_link {EXCITE} -o mine.yaml', ['--force'],
     f'excite two_link {EXCITE} -o mine.yaml --force'),
    (f'excite free.urdf {EXCITE}', ['--range shoulder=-3.1:3.1'],
     f'excite free.urdf {EXCITE} --range shoulder=-3.1:3.1'),
    ('verify two_link --worlds none.yaml', ['--write-worlds'],
     'verify two_link --write-worlds none.yaml'),
    ('verify two_link --write-worlds mine.yaml', ['another name'],
     'verify two_link --write-worlds new.yaml'),
], ids=lambda value: value if isinstance(value, str) else '')
def test_the_error_names_the_object_and_a_remedy_that_ends_it(line, parts, then, tmp_path,
                                                              monkeypatch):
    """
    A remedy that is an option or a value is part of the message, and of what is run then.

    Packages that messages name are looked for in packaging/test_remedies.py.
    """
    for module in ('rclpy',) * line.startswith('init') + ('xacro',) * ('xacro' in then):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    error = refused(*shlex.split(line))
    assert all(part in error for part in parts), error
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == FILES
    if then:
        assert ' ' in parts[-1] or parts[-1] in then
        done(*shlex.split(then))

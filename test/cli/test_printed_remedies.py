# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Remedies that errors print: what the message says is done, and the command ends well."""

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
    **dict.fromkeys(('mine.urdf', 'mine.yaml', 'mine.js', 'mine.py', 'test_mine.py'), 'mine')}
EXCITE = '--starts 1 --harmonics 2 --period 3 --shapes none'


@pytest.mark.parametrize(('line', 'remedy', 'then'), [
    ('inspect two_lnik', 'two_link', 'inspect two_link'),
    ('inspect two_link --locked joint9=0', 'joint2', 'inspect two_link --locked joint2=0'),
    ("inspect two_link --at '1;2'", 'with commas', 'inspect two_link --at 1,2'),
    ('inspect two_link --locked joint2', 'joint=0.02', 'inspect two_link --locked joint2=0.02'),
    ('inspect macro.urdf', '.xacro', 'inspect macro.xacro'),
    ('repair odd.urdf -o mine.urdf', '--force', 'repair odd.urdf -o mine.urdf --force'),
    ('init two_link -o mine.yaml', '--force', 'init two_link -o mine.yaml --force'),
    ('init two_link -o mine.yaml', '--output', 'init two_link --output new.yaml'),
    ('init scaled.urdf', '--accept-inertia', 'init scaled.urdf --accept-inertia'),
    ('derive arm6', '--locked', 'derive arm6 --locked joint_3=0,joint_4=0,joint_5=0,joint_6=0'),
    ('derive craig_2r --locked joint1=0', 'leave out', 'derive craig_2r'),
    ('export two_link', '--js', 'export two_link --js --quantity gravity'),
    ('export two_link --js --quantity gravity -o my-arm.js', 'my_arm.js',
     'export two_link --js --quantity gravity -o my_arm.js'),
    ('export two_link --js --quantity pose', '--frame', 'export two_link --js --quantity pose '
     '--frame tool0'),
    ('export two_link --js --quantity poise --frame tool0', 'pose', 'export two_link --js '
     '--quantity pose --frame tool0'),
    ('export two_link --js --float --quantity gravity', 'leave it out', 'export two_link --js '
     '--quantity gravity'),
    ('export two_link --js --quantity gravity -o mine.js', '--force', 'export two_link --js '
     '--quantity gravity -o mine.js --force'),
    ("new-law 'My Law'", 'my_spring', 'new-law my_spring'),
    ('new-law mine', '--force', 'new-law mine --force'),
    ('new-driver mine', '--force', 'new-driver mine --force'),
    (f'excite two_link {EXCITE} -o mine.yaml', '--force', f'excite two_link {EXCITE} -o mine.yaml '
     '--force'),
    (f'excite free.urdf {EXCITE}', '--range shoulder=-3.1:3.1', f'excite free.urdf {EXCITE} '
     '--range shoulder=-3.1:3.1'),
    ('verify two_link --worlds none.yaml', '--write-worlds', 'verify two_link --write-worlds '
     'none.yaml'),
    ('verify two_link --write-worlds mine.yaml', 'another name', 'verify two_link --write-worlds '
     'new.yaml'),
], ids=lambda value: value)
def test_the_remedy_of_an_error_ends_it(line, remedy, then, tmp_path, monkeypatch):
    """
    A remedy that is an option or a value is part of the message, and of what is run then.

    Packages that messages name are looked for in packaging/test_remedies.py.
    """
    pytest.importorskip('rclpy' if line.startswith('init') else 'xacro')
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert remedy in refused(*shlex.split(line))
    assert ' ' in remedy or remedy in then or remedy == 'joint=0.02'
    done(*shlex.split(then))

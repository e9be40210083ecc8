# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Files with which a repository verifies its parameter file in continuous integration."""

from pathlib import Path
from string import Template

from ..errors import check_new, writing

WORKFLOW = Path('.github', 'workflows', 'verify.yml')
TEST = Template('''\
"""The parameter file passes `robodyn verify $robot --config $config --brief`."""

from pathlib import Path
import subprocess
import sys


def test_random_worlds_break_no_criterion():
    run = subprocess.run([sys.executable, '-m', 'robodyn_ros.cli', 'verify', '$robot', '--config',
                          '$config', '--brief'], capture_output=True, text=True,
                         cwd=Path(__file__).parent)
    assert run.returncode == 0, run.stdout + run.stderr
''')
ACTIONS = Template("""\
# Verify the parameter file in random simulated worlds at each push.
name: verify
on: [push, pull_request]
jobs:
  verify:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: '3.12'
      # Repository variable ROBODYN_ROS: a Git URL (git+https://...), or the path of a wheel
      - run: pip install $$ROBODYN_ROS
        env:
          ROBODYN_ROS: $${{ vars.ROBODYN_ROS }}
      - run: pip install plotly
      - run: robodyn verify $robot --config $config --brief --report build/risks.html
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: risks
          path: build
""")


def write(robot: str, config: Path, force: bool) -> list[Path]:
    """
    Write a test and a workflow beside a parameter file; return their paths.

    :param robot: name or path of the robot, as `verify` takes it.
    :raises ArgumentError: one of them exists, or cannot be written.
    """
    folder, name = config.parent, config.stem
    values = {'robot': robot, 'config': config.name}
    texts = {folder / f'test_{name}.py': TEST, folder / WORKFLOW: ACTIONS}
    if not force:
        check_new(texts, '--ci', 'replace with --force, or leave out --ci')
    with writing(folder, '--ci', 'give another --output'):
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.substitute(values), encoding='utf-8')
    return [*texts]

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Files with which a repository verifies its parameter file in continuous integration."""

from pathlib import Path
from string import Template

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


def texts(robot: str, config: Path) -> dict[Path, str]:
    """
    Return a test and a workflow beside a parameter file, by path.

    :param robot: name or path of the robot, as `verify` takes it.
    """
    return {config.parent / path: text.substitute(robot=robot, config=config.name)
            for path, text in ((f'test_{config.stem}.py', TEST), (WORKFLOW, ACTIONS))}

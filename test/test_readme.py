# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands and results in the README."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


def test_library_example(monkeypatch):
    """The Python of the README runs as it stands, and the numbers in its comments are true."""
    pytest.importorskip('mujoco')
    monkeypatch.chdir(ROOT)
    text = (ROOT / 'README.md').read_text()
    code = '\n'.join(re.findall(r'```python\n(.*?)```', text, re.DOTALL))
    names: dict = {}
    exec(code, names)
    said = re.search(r'dyn\.gravity\((\[.*?\])\)\s+# \[(.*?)\]', code)
    assert said
    q, numbers = eval(said[1]), np.array(said[2].split(), float)
    assert names['dyn'].gravity(q) == pytest.approx(numbers, abs=1e-7)
    still = names['arm6'].gravity(names['arm'].qpos)
    assert names['run'].fault == '' and abs(names['run'].position - [0.3, 0.5]).max() < 1e-6
    assert len(still) == 6 and names['efforts'] == pytest.approx(still, abs=1e-7)


def test_files_and_links():
    """Every file that the README links to or describes is there."""
    text = (ROOT / 'README.md').read_text()
    links = re.findall(r'\]\((?!https?:)([^)#]+)\)', text)
    folders = re.findall(r'^\| (`[^|]*/`.*?) \|', text, re.MULTILINE)
    named = [path for row in folders for path in re.findall(r'`([^`]+)`', row)]
    assert links and named
    for path in links + named:
        assert (ROOT / path).exists(), path

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn warmup`, whose workers are processes."""

import io

from cli.commands import changed, done
import pytest
from rich.console import Console
from robodyn_ros import load_urdf
from robodyn_ros.cli import warmup

pytestmark = [pytest.mark.process, pytest.mark.slow]


def rows(text):
    return {line.split()[0]: line for line in text.splitlines() if line.strip()}


def test_it_compiles_what_is_new_and_loads_what_is_not(tmp_path, monkeypatch):
    """Dynamics of one joint that nobody has compiled; its two workers, and the tables of both."""
    results, start = [], warmup.start
    monkeypatch.setattr(warmup, 'start', lambda *words: (
        results.append(start(*words)) or results[-1]))
    names = ['gravity', 'mass_matrix', 'inverse_dynamics']
    urdf = changed(tmp_path, ('mass value="2', f'mass value="2.{hash(str(tmp_path)) % 10**9}'))
    first = rows(done('warmup', urdf, '--locked', 'joint2=0').output)
    _, (cached, seconds) = results
    assert [*cached] == warmup.names(False)
    out = Console(file=io.StringIO(), width=100)
    out.print(warmup.table(load_urdf(urdf, locked={'joint2': 0.0}), names, cached, cached,
                           (seconds, seconds)))
    second = rows(out.file.getvalue())
    for name in names:
        assert 'before' not in first[name] and ' s ' in first[name] and ' ms' in first[name]
        assert 'before' in second[name]

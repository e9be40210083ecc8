# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A short run of `make fuzz ARGS=files`: damaged files are read, or refused by their names."""

from fuzz import files
from fuzz.judge import FAILED
import pytest
from thorough import seeds


@pytest.mark.parametrize('kind', files.KINDS, ids=lambda kind: kind.name)
def test_damaged_files_are_read_or_refused(kind):
    verdicts = [files.judge(kind.name, 1, index) for index in range(-1, seeds(12, 300))]
    assert [v.complaint for v in verdicts if v.outcome == FAILED] == []
    assert verdicts[0].outcome == 'valid'
    assert any(v.outcome != 'valid' for v in verdicts)

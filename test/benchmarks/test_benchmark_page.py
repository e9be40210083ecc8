# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks.md says what the results beside it say."""

import json

import pytest

from benchmarks import pages


def test_the_page_is_that_of_the_committed_results():
    assert pages.PAGE.read_text() == pages.page(), 'run python -m benchmarks.pages'
    files = {file.stem for file in pages.FOLDER.glob('*.json')}
    assert files and files <= set(pages.SECTIONS)


def test_figures_of_the_page_are_those_of_the_file(tmp_path):
    found = json.loads((pages.FOLDER / 'live_view.json').read_text())
    found['rows'][0]['missed'] = 98765
    (tmp_path / 'live_view.json').write_text(json.dumps(found))
    assert '98765 of' in pages.page(tmp_path) and '98765' not in pages.PAGE.read_text()
    with pytest.raises(KeyError):
        pages.live_view({'rows': []})

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`make docs`: the pages as a site, where mkdocs is installed."""

from pathlib import Path
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem for path in (ROOT / 'docs').glob('*.md')} | {'index', 'contributing'}


def test_every_page_is_in_the_site_and_no_link_is_broken(tmp_path):
    pytest.importorskip('material', reason='needs pip install mkdocs-material')
    done = subprocess.run([sys.executable, '-m', 'mkdocs', 'build', '--strict', '--site-dir',
                           str(tmp_path / 'site')], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert {page.stem for page in (tmp_path / 'site').glob('*.html')} >= PAGES
    pages = {path: path.read_text() for path in (tmp_path / 'site').rglob('*.html')}
    assert {'control', 'dynamics', 'model'} <= {path.stem for path in pages
                                                if path.parent.name == 'api'}
    for path, text in pages.items():
        assert not re.search(':(class|func|meth|mod|data|attr):', text), path
        assert not re.search(r'<(script|link)[^>]+(src|href)="https?:', text), path
    model = pages[tmp_path / 'site/api/model.html']
    assert '&lt;robodyn&gt;' in model and '<robodyn>' not in model
    assert 'href="#robodyn_ros.model.resources.robot_names"' in model
    drawn = 'class="mermaid"' in pages[tmp_path / 'site/architecture.html']
    assert drawn == (tmp_path / 'site/javascripts/mermaid.min.js').exists()


def test_every_page_is_in_the_navigation():
    text = (ROOT / 'mkdocs.yml').read_text().partition('\nnav:')[2]
    assert not [page for page in PAGES if f'{page}.md' not in text]

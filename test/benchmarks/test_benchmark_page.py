# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures in README.md and docs/ are those of the results in docs/benchmarks/."""

import json
import shutil

from benchmarks import figures, generated_c_results, many_arms_results, pages
import numpy as np
import pytest

pytestmark = pytest.mark.slow


def many_arms(*answered):
    """Return results of a run with so many arms, of which so many states were answered."""
    def row(arms, share):
        return {'robot': 'panda', 'joints': 7, 'arms': arms, 'rate': 1000.0, 'answered': share,
                'in time': share,
                'p50': 100.0, 'p99': 300.0, 'controllers': 0.1 * arms, 'plants': 0.05 * arms,
                'steal': 0.0, 'memory': 200.0, 'faults': 0}
    rows = [row(arms + 1, share) for arms, share in enumerate(answered)]
    return {'machine': {'cpu': 'Z80', 'cpus': 2, 'load': 0.0}, 'seconds': 1.0, 'fifo': False,
            'series': {'arms': rows, 'rates': rows[:1], 'joints': rows[:1]}}


@pytest.fixture
def root(tmp_path):
    """Return a copy of the documentation."""
    shutil.copytree(pages.ROOT / 'docs', tmp_path / 'docs')
    shutil.copy(pages.ROOT / 'README.md', tmp_path)
    return tmp_path


def test_the_pages_say_what_the_committed_results_say():
    """Each table and each figure of the pages is written anew from the results."""
    for file, text in pages.pages().items():
        assert file.read_text() == text, f'{file.name}: run python -m benchmarks.pages'
    files = {file.stem for file in (pages.ROOT / 'docs' / 'benchmarks').glob('*.json')}
    assert files and files <= set(pages.SECTIONS)


def test_every_table_has_its_place():
    texts = [file.read_text() for file in pages.pages()]
    marks = [mark for text in texts for mark in figures.MARKED.findall(text)]
    assert sorted(name for _, name, _ in marks) == sorted(figures.BLOCKS)
    assert sum(text.count('<!-- figures:') for text in texts) == len(marks)
    assert {block.source for block in figures.BLOCKS.values()} <= set(pages.SECTIONS)
    with pytest.raises(KeyError, match='no_such'):
        figures.filled('<!-- figures: no_such -->\n<!-- end of figures -->', {})


def test_ratios_of_generated_code_are_medians_over_rounds():
    """Not of medians."""
    ours = np.array([1.0, 2.0, 100.0])
    rows = generated_c_results.result({('gravity', 'loop'): ours, ('gravity', 'cpp'): 20.5 * ours,
                                       ('gravity', 'generated'): np.array([3.0, 10.0, 200.0])})
    assert rows == {'gravity': {'loop': 2.0, 'cpp': 41.0, 'generated': 10.0, 'faster': 3.0,
                                'gain': pytest.approx(20.5 / 3.0)}}
    plain = generated_c_results.result({
        ('gravity', 'loop'): ours, ('gravity', 'cpp'): ours, ('gravity', 'generated'): ours,
        ('gravity', 'plain'): 1.9 * ours})
    assert plain['gravity']['beyond_plain'] == pytest.approx(1.9)
    found = {'robots': {'ur5': {'joints': 6, 'rows': plain}}}
    assert '| gravity, plain recursion | 1.9 |' in generated_c_results.table(found)


def test_results_that_are_published_are_in_the_pages(root, tmp_path):
    """With their picture, without what they were computed from; what was aimed at is not said."""
    found = json.loads((root / 'docs/benchmarks/loop.json').read_text())
    found['raw'] = {'peers': 'much'}
    found['peers']['native']['p99.9'] = 98765.4
    (tmp_path / 'loop.json').write_text(json.dumps(found))
    (tmp_path / 'loop.png').write_bytes(b'picture of loop')
    pages.publish(tmp_path / 'loop.json', root)
    page = (root / 'docs/benchmarks.md').read_text()
    assert '98765' in page and '≤' not in page
    assert 'much' not in (root / 'docs/benchmarks/loop.json').read_text()
    assert b'picture of loop' in [path.read_bytes() for path in (root / 'docs').rglob('*.png')]


def test_figures_of_many_arms_say_what_gives_out():
    text = many_arms_results.verdict(many_arms(1.0, 0.9995, 0.97))
    assert 'With 2 arms at 1 kHz, 99.950% of the states are answered. With 3, 97.000%' in text
    assert 'latency gives out first' in text
    found = many_arms(1.0, 0.9)
    found['series']['arms'][1] |= {'controllers': 1.5, 'plants': 0.45}
    assert 'processor time gives out first' in many_arms_results.verdict(found)
    assert 'More were not tried' in many_arms_results.verdict(many_arms(1.0))
    assert 'Of the states of one arm, less than 99.9%' in many_arms_results.verdict(many_arms(0.5))

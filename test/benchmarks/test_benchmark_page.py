# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures in README.md and docs/ are those of the results in docs/benchmarks/."""

import json
import shutil

from benchmarks import (
    figures,
    generated_c_results,
    loop_results,
    many_arms_results,
    pages,
    results,
)
from benchmarks.loop_peers import PEERS, WAKE_UPS
import numpy as np
import pytest
from robodyn_ros.cli.options import plain

pytestmark = pytest.mark.slow

COMPILER = 'g++ (Debian 12.2.0-14) 12.2.0'
RATES = {str(rate): {'p50': 100.0, 'p99': 200.0, 'p99.9': 300.0, 'max': 400.0, 'cpu': 0.1,
                     'answered': 1.0, 'states': 4000} for rate in loop_results.RATES}


def dynamics(ratio):
    """Return results of a run in which everything was so many times as fast as others."""
    ours = np.full(5, 100.0)
    times = {(quantity, way): ours for quantity in results.QUANTITIES for way in results.WAYS}
    times |= {(quantity, peer): ratio * ours for quantity in results.QUANTITIES
              for peer in ('cpp', 'binding')}
    return {'machine': {'cpu': 'Z80', 'load': 0.1, 'python': '3', 'numba': '0', 'mujoco': '3',
                        'pinocchio': '4.1.0', 'compiler': f'{COMPILER} -std=c++17 -O3 -w'},
            'rounds': 5, 'robots': {'panda': {'joints': 7, 'rows': results.rows(times, 7)}}}


def loop(share):
    """Return results of a run in which our controllers took this share of the naive node."""
    def one(scale):
        return [{rate: {**found, **{key: scale * found[key] for key in ('p50', 'p99', 'cpu')}}
                 for rate, found in RATES.items()}]
    ours = 'native', 'inline', 'python'
    trips = {key: one(share if key in ours else 1.0) for key in PEERS}
    trips['native'][0]['10000'] |= {'answered': 0.5, 'max': np.inf}
    late = {key: [{**RATES['1000'], 'p99': 1.0 if 'native' in key else 50.0}] for key in WAKE_UPS}
    found = {'machine': {'cpu': 'Z80', 'cpus': 1, 'load': 0.0, 'steal': 0.0, 'idle states': 'none',
                         'wake-up [µs], before and after': [{'same CPU': 1.0}], 'echo': 'C++'},
             'rounds': 1, 'faults': {}, 'peers': loop_results.summary(trips),
             'wake_ups': loop_results.wake_up_summary(late), 'raw': {'peers': 'much'}}
    found['expected'] = loop_results.expectations(found['peers'], found['wake_ups'])
    return plain(found)


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


def publish(root, name, found):
    (root / f'{name}.json').write_text(json.dumps(found))
    (root / f'{name}.png').write_bytes(b'picture of ' + name.encode())
    pages.publish(root / f'{name}.json', root)


def test_the_pages_say_what_the_committed_results_say():
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


def test_figures_of_the_dynamics_are_those_of_the_file(root):
    publish(root, 'dynamics', dynamics(43.21))
    readme = (root / 'README.md').read_text()
    assert '| inverse dynamics in a jitted loop | 43.2 |' in readme
    assert 'Pinocchio 4.1 in C++, compiled with `-O3`; above 1 is faster' in readme
    assert f'C++ by {COMPILER}.' in (root / 'docs/benchmarks.md').read_text()
    assert (root / 'docs/benchmark.png').read_bytes() == b'picture of dynamics'
    publish(root, 'dynamics', dynamics(0.5))
    for file in 'README.md', 'docs/benchmarks.md':
        text = (root / file).read_text()
        assert '43.2' not in text and '| 0.5 |' in text
    assert (root / 'README.md').read_text().count('## ') == readme.count('## ')


def test_figures_of_generated_code_are_those_of_the_file(root):
    """Ratios are medians over rounds, not of medians."""
    ours = np.array([1.0, 2.0, 100.0])
    rows = generated_c_results.result({('gravity', 'loop'): ours, ('gravity', 'cpp'): 20.5 * ours,
                                       ('gravity', 'generated'): np.array([3.0, 10.0, 200.0])})
    assert rows == {'gravity': {'loop': 2.0, 'cpp': 41.0, 'generated': 10.0, 'faster': 3.0,
                                'gain': pytest.approx(20.5 / 3.0)}}
    publish(root, 'generated_c', {
        'machine': {'cpu': 'Z80', 'load': 0.1, 'pinocchio': '4.1.0', 'casadi': '3.8.2',
                    'compiler': 'gcc 12', 'flags': '-O3'},
        'rounds': 3, 'robots': {'panda': {'joints': 7, 'rows': rows}}})
    readme, page = ((root / file).read_text() for file in ('README.md', 'docs/benchmarks.md'))
    assert 'CasADi 3.8.2 generates from Pinocchio 4.1.0' in readme
    assert '| gravity | 3.0 |' in readme and '| gravity | 3.0 (6.8) |' in page and 'gcc 12' in page


def test_figures_of_the_loop_are_those_of_the_file(root):
    publish(root, 'loop', loop(0.123))
    page = (root / 'docs/benchmarks.md').read_text()
    assert '| robodyn_ros, native | 12 | 25 | 300 | 400 | 1.2% |' in page
    assert 'naive' not in page and '≤' not in page      # what was aimed at is not for readers
    assert 'much' not in (root / 'docs/benchmarks/loop.json').read_text()


def test_figures_of_many_arms_say_what_gives_out(root):
    publish(root, 'many_arms', many_arms(1.0, 0.9995, 0.97))
    text = (root / 'docs/benchmarks.md').read_text()
    assert 'With 2 arms at 1 kHz, 99.950% of the states are answered. With 3, 97.000%' in text
    assert 'latency gives out first' in text and '(many_arms.png)' in text
    found = many_arms(1.0, 0.9)
    found['series']['arms'][1] |= {'controllers': 1.5, 'plants': 0.45}
    assert 'processor time gives out first' in many_arms_results.verdict(found)
    assert 'More were not tried' in many_arms_results.verdict(many_arms(1.0))
    assert 'Of the states of one arm, less than 99.9%' in many_arms_results.verdict(many_arms(0.5))


def test_figures_of_the_live_page_are_those_of_the_file(root):
    found = json.loads((root / 'docs/benchmarks/live_view.json').read_text())
    kind = found['rows'][0]['kind']
    others = sum(row['missed'] for row in found['rows'][1:] if row['kind'] == kind)
    found['rows'][0]['missed'] = 98765 - others
    publish(root, 'live_view', found)
    assert '98765 of' in (root / 'docs/benchmarks.md').read_text()
    assert '98765' not in (pages.ROOT / 'docs/benchmarks.md').read_text()

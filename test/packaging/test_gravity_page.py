# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/library.md on the site: sliders, and the gravity torques that the page computes."""

import json
from pathlib import Path
import re
import runpy

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from viewer.browser import browsing, needs_browser, wait_for

pytestmark = pytest.mark.slow

DOCS = Path(__file__).resolve().parents[2] / 'docs'
MOVE = """(() => {{ const inputs = document.querySelectorAll('#gravity-{robot} input');
  [...inputs].forEach((one, i) => {{ one.value = {q}[i]; }});
  inputs[0].dispatchEvent(new Event('input', {{bubbles: true}})); }})()"""
SHOWN = """[...document.querySelectorAll('#gravity-{robot} tbody tr')].map(row =>
  [Number(row.querySelector('input').value), row.cells[3].textContent])"""


@needs_browser
def test_a_browser_computes_the_torques_of_the_page(tmp_path):
    """What the sliders show is to four decimals that of Python, what is computed to 1e-12."""
    pytest.importorskip('websockets', reason='needs pip install websockets')
    hooks = runpy.run_path(str(DOCS / 'site_hooks.py'))
    robots = hooks['GRAVITY'].search((DOCS / 'library.md').read_text())[1]
    page = tmp_path / 'gravity.html'
    page.write_text(f'<!DOCTYPE html><meta charset="utf-8">{hooks["gravity_page"](robots)}')
    with browsing() as browser, browser.tab(page.as_uri()) as tab:
        for robot in robots.split():
            wait_for(lambda name=robot: tab.run(SHOWN.format(robot=name)))
            model, rng = load_urdf(robot), np.random.default_rng(2)
            dynamics = Dynamics(model)
            for _ in range(5):
                wanted = rng.uniform(np.maximum(model.position_lower, -3.0),
                                     np.minimum(model.position_upper, 3.0))
                tab.run(MOVE.format(robot=robot, q=json.dumps(wanted.tolist())))
                rows = tab.run(SHOWN.format(robot=robot))
                q = np.array([value for value, _ in rows])
                assert q == pytest.approx(wanted, abs=1e-9)
                right = dynamics.gravity(q)
                shown = [float(re.sub(' N·m$', '', text)) for _, text in rows]
                assert shown == pytest.approx(right, abs=6e-5)
                found = tab.run(f'Array.from(gravity_{robot}({json.dumps(q.tolist())}))')
                assert np.abs(found - right).max() <= 1e-12 * max(1.0, np.abs(right).max())

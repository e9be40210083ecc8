# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/bring_up.md: its parameters exist, and have allowed values; launch files are all listed."""

from pathlib import Path
import re

import pytest
from robodyn_ros import testing
from robodyn_ros.nodes.controller.parameters import TABLE
from robodyn_ros.nodes.simulator import parameters as simulator_parameters
import yaml

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / 'docs' / 'bring_up.md').read_text()
BLOCKS = re.findall(r'```yaml\n# (\S+):? .*?\n(.*?)```', TEXT, re.DOTALL)


@pytest.mark.parametrize('block', dict(BLOCKS).values(), ids=dict(BLOCKS))
def test_parameters_are_those_of_the_node(block):
    known = {p.name: p for p in TABLE}
    for section, values in yaml.safe_load(block).items():
        assert section.startswith('/**')
        if section != '/**/controller':
            continue
        for key, value in values['ros__parameters'].items():
            known[key].check(value)


def test_the_lockstep_recipe_is_for_both_nodes():
    """docs/faq.md: its parameters exist, and have allowed values."""
    page = (ROOT / 'docs' / 'faq.md').read_text()
    sections = yaml.safe_load(re.search(r'# lockstep.yaml\n(.*?)```', page, re.DOTALL)[1])
    for node, table in (('simulator', simulator_parameters.TABLE), ('controller', TABLE)):
        values = sections[f'/**/{node}']['ros__parameters']
        for parameter in table:
            parameter.check(values.pop(parameter.name, parameter.default))
        assert values in ({}, {'use_sim_time': True})


def test_every_block_and_every_launch_file_is_there():
    assert len(BLOCKS) == TEXT.count('```yaml') == 5
    for file in (ROOT / 'launch').glob('*.launch.py'):
        assert f'`{file.name}`' in TEXT


def test_the_example_is_that_of_the_module():
    def code(text):
        return re.sub(r'\s+', ' ', text)
    example = code(re.search(r'(def test_.*)```', TEXT, re.DOTALL)[1])
    assert example in code(testing.__doc__ + ' ')

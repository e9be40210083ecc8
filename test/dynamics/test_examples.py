# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Examples in the docstrings of the public interface."""

import doctest
from importlib import import_module

import pytest

MODULES = ['dynamics.api', 'dynamics.queries', 'dynamics.frame_queries', 'dynamics.kernels',
           'closed_loop', 'control.controller.controller_batch', 'model.robot', 'model.urdf',
           'model.dh', 'model.dh_file', 'model.resources']


@pytest.mark.parametrize('name', MODULES)
def test_the_examples_run(name):
    failed, tried = doctest.testmod(import_module(f'robodyn_ros.{name}'))
    assert tried and not failed

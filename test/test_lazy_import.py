# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of a package that are loaded when they are asked for, and why they cannot be."""

import importlib

import pytest
from robodyn_ros.lazy_import import from_modules


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Return the ``__getattr__`` of a package with a good module and a broken one."""
    package = tmp_path / 'lazy_package'
    package.mkdir()
    (package / '__init__.py').write_text('')
    (package / 'good.py').write_text('VALUE = 1\n')
    (package / 'broken.py').write_text('import math\nVALUE = math.no_such_function\n')
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    return from_modules('lazy_package', {'VALUE': '.good', 'BROKEN': '.broken'})


def test_a_name_is_loaded(load):
    assert load('VALUE') == 1
    with pytest.raises(AttributeError, match="module 'lazy_package' has no attribute 'OTHER'"):
        load('OTHER')


def test_the_cause_of_a_broken_module_is_shown(load):
    """An AttributeError would become "cannot import name"."""
    with pytest.raises(ImportError, match=r'lazy_package\.BROKEN cannot be loaded.*no_such_func'):
        load('BROKEN')

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Size of random campaigns: a sample by default, all of it with ROBODYN_THOROUGH=1."""

import os


def seeds(few: int, many: int) -> int:
    """Return ``many`` if the environment asks for thorough tests, else ``few``."""
    return many if os.environ.get('ROBODYN_THOROUGH', '0') != '0' else few

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Entry point of `python -m robodyn_ros.cli`, where `robodyn` is not on the path."""

import sys

from . import main

if __name__ == '__main__':
    sys.exit(main())

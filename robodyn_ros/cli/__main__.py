# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`python -m robodyn_ros.cli`, where the `robodyn` command is not on the path."""

import sys

from . import main

if __name__ == '__main__':
    sys.exit(main())

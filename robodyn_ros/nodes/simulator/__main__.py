# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``python -m robodyn_ros.nodes.simulator``."""

from .node import main

raise SystemExit(main())

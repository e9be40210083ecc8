# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Our controller as it is, beside a thread of the same process that always computes."""

import sys
import threading

from robodyn_ros.nodes.controller import __main__

from .tutorial import hog

if __name__ == '__main__':
    threading.Thread(target=hog, daemon=True).start()
    sys.exit(__main__.main())

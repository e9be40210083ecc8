# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How fast the dynamics are, beside others on the same machine in the same minute."""

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control: laws, references, limits and the guard, in one pure cycle."""

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the parameters of a robot really are, from its recorded motion."""

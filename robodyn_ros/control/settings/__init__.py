# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of the controller: checks, stability of gains, conversion to records."""

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Export of a controller as a C library: its code and the memory that it works on."""

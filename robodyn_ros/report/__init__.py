# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Report of a run as one HTML file: tables, plots that can be zoomed, the moving robot."""

REQUIRED_MODULES = ('plotly',)

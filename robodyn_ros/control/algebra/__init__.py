# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Small mathematics without robots: rotations, six-vectors, Cholesky, splines, residuals."""

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All injections by name."""

from . import consistent_lies, plant_faults, request_faults, sensor_faults
from .injection import CATALOGUE

__all__ = ['CATALOGUE', 'consistent_lies', 'plant_faults', 'request_faults', 'sensor_faults']

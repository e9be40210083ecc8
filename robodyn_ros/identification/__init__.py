# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Identification of the dynamic parameters of a robot from its recorded motion."""

from typing import TYPE_CHECKING

from ..extras import from_modules

if TYPE_CHECKING:
    from .estimation.base_parameters import base_parameters, BaseParameters
    from .estimation.drive import drive_gains, DriveGains
    from .estimation.estimate import Estimate
    from .estimation.model_selection import friction_speeds, FrictionSpeeds, identify
    from .estimation.payload import find_payload, Payload
    from .estimation.search import find_mounting, Mounting
    from .motion import Motion
    from .options import ParameterSelection
    from .result import Validation

__all__ = ['BaseParameters', 'DriveGains', 'Estimate', 'FrictionSpeeds', 'Motion', 'Mounting',
           'ParameterSelection', 'Payload', 'Validation', 'base_parameters', 'drive_gains',
           'find_mounting', 'find_payload', 'friction_speeds', 'identify']

_MODULES = {'BaseParameters': '.estimation.base_parameters', 'DriveGains': '.estimation.drive',
            'Estimate': '.estimation.estimate', 'FrictionSpeeds': '.estimation.model_selection',
            'Motion': '.motion', 'Mounting': '.estimation.search',
            'ParameterSelection': '.options',
            'Payload': '.estimation.payload', 'Validation': '.result',
            'base_parameters': '.estimation.base_parameters', 'drive_gains': '.estimation.drive',
            'find_mounting': '.estimation.search', 'find_payload': '.estimation.payload',
            'friction_speeds': '.estimation.model_selection',
            'identify': '.estimation.model_selection'}

# SciPy takes long to import, and simulators only read files of an identification
__getattr__ = from_modules(__name__, _MODULES)

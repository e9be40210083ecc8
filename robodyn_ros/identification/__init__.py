# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Identification of the dynamic parameters of a robot from its recorded motion."""

from .estimation.base_parameters import base_parameters, BaseParameters
from .estimation.delay_and_tilt import find_mounting, Mounting
from .estimation.drive import drive_gains, DriveGains
from .estimation.estimate import Estimate
from .estimation.identify import identify
from .estimation.parameter_selection import ParameterSelection
from .estimation.payload import find_payload, Payload
from .estimation.stribeck import friction_speeds, FrictionSpeeds
from .motion import Motion
from .validation import Validation

__all__ = ['BaseParameters', 'DriveGains', 'Estimate', 'FrictionSpeeds', 'Motion', 'Mounting',
           'ParameterSelection', 'Payload', 'Validation', 'base_parameters', 'drive_gains',
           'find_mounting', 'find_payload', 'friction_speeds', 'identify']

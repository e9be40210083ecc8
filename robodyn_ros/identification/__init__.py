# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the parameters of a robot really are, from its recorded motion."""

from .estimation.base_parameters import BaseParameters, base_parameters
from .estimation.delay_and_tilt import Mounting, find_mounting
from .estimation.drive import DriveGains, drive_gains
from .estimation.estimate import Estimate
from .estimation.identify import identify
from .estimation.payload import Payload, find_payload
from .estimation.regression import Choice
from .estimation.stribeck import FrictionSpeeds, friction_speeds
from .estimation.two_link import TwoLink, two_link
from .motion import Motion
from .validation import Validation

__all__ = ['BaseParameters', 'Choice', 'DriveGains', 'Estimate', 'FrictionSpeeds', 'Motion',
           'Mounting', 'Payload', 'TwoLink', 'Validation', 'base_parameters', 'drive_gains',
           'find_mounting', 'find_payload', 'friction_speeds', 'identify', 'two_link']

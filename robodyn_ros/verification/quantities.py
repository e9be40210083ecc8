# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Uncertain quantities of worlds, and the sources of their default ranges."""

from collections.abc import Callable
from typing import NamedTuple

from ..control.settings.settings import Settings

OWN = 'own choice'
DECLARED = 'loop_delay of the parameter file, divided among delay, jitter and drive_lag'


class Quantity(NamedTuple):
    """
    An uncertain quantity, uniform between two numbers.

    :param least, most: that both are within.
    :param source: of the default range; OWN where there is none.
    """

    name: str
    unit: str
    default: Callable[[Settings], tuple[float, float]]
    least: float
    most: float
    meaning: str
    source: str = OWN


def _fixed(low: float, high: float) -> Callable[[Settings], tuple[float, float]]:
    return lambda settings: (low, high)


def _delay(share: float) -> Callable[[Settings], tuple[float, float]]:
    """Return a range up to a share of ``loop_delay``; all of them together are within it."""
    return lambda settings: (0.0, round(share * settings.loop_delay, 6))


QUANTITIES = (
    Quantity('inertia_error', '', _fixed(0.0, 0.03), 0.0, 0.5,
             'Relative error of mass, size and center of mass of each body: a random affine map '
             'of its points, which keeps it physically consistent.',
             'own choice; CAD models leave out cables and tolerances: Bethge et al., '
             'FloBaRoID, 2017'),
    Quantity('payload_error', '', _fixed(-0.03, 0.03), -1.0, 10.0,
             'Relative error of the mass of the payload.'),
    Quantity('unknown_payload', 'kg', _fixed(0.0, 0.0), 0.0, 1000.0,
             'Undeclared mass at payload_frame. Raise the upper end to the heaviest part that may '
             'be attached by mistake.'),
    Quantity('friction_scale', '', _fixed(0.5, 1.5), 0.0, 10.0,
             'Factor of viscous and Coulomb friction, which change with temperature, load and '
             'wear.',
             'own choice; measured: Bittencourt, Gunnarsson, ASME J. Dynamic Systems 134(5), '
             '2012; Simoni et al., Robotica, 2017, doi 10.1017/S0263574717000509'),
    Quantity('friction_extra', 'effort limits', _fixed(0.0, 0.005), 0.0, 1.0,
             'Additional Coulomb friction of each joint.'),
    Quantity('stribeck', '', _fixed(0.0, 0.3), 0.0, 5.0,
             'Excess of static over Coulomb friction, relative to the latter.'),
    Quantity('delay', 's', _delay(0.5), 0.0, 0.2,
             'Time from the measurement of a state to the effect of its effort, in steps of 1 ms. '
             'The upper ends of delay, jitter and drive_lag should add up to the loop_delay of '
             'the parameter file.',
             DECLARED),
    Quantity('jitter', 's', _delay(0.25), 0.0, 0.2, 'Largest additional delay of single states.',
             DECLARED),
    Quantity('drive_lag', 's', _delay(0.25), 0.0, 0.2,
             'Time constant of the drives: 1/(2π · bandwidth in Hz).',
             DECLARED),
    Quantity('state_loss', '', _fixed(0.0, 0.02), 0.0, 1.0, 'Share of the states that are lost.'),
    Quantity('position_noise', 'rad or m', _fixed(0.0, 1e-4), 0.0, 0.1, 'Standard deviation.'),
    Quantity('velocity_noise', 'rad/s or m/s', _fixed(0.0, 1e-2), 0.0, 10.0,
             'Standard deviation.'),
    Quantity('resolution', 'rad or m', _fixed(0.0, 1e-4), 0.0, 0.1,
             'Step of the encoders; 16 bits per turn are 1e-4 rad.'),
    Quantity('drive_gain', '', _fixed(0.97, 1.03), 0.0, 10.0,
             'Effort of the drives per commanded effort.',
             'own choice; how to measure it: Gautier, Briot, IROS 2011'),
    Quantity('dead_zone', 'effort limits', _fixed(0.0, 0.002), 0.0, 1.0,
             'Largest commanded effort to which the drives do not respond.'),
    Quantity('tilt', 'rad', _fixed(0.0, 0.005), 0.0, 3.2,
             'Angle between the true and the assumed vertical, about a random horizontal axis.'),
    Quantity('stop_distance', 'rad or m', _fixed(0.02, 0.1), -1.0, 10.0,
             'Distance from the position limits out to the joint stops.'))
BY_NAME = {quantity.name: quantity for quantity in QUANTITIES}

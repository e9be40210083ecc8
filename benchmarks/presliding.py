# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
One joint with an elastic contact, and its sensor: `python -m benchmarks.presliding`.

A joint of 0.5 kg·m² with 5 N·m of dry friction and a presliding distance of 1 mrad is floated with
a friction compensation of 0.8 and 2 ms of delay. Printed are, for noise and resolution of its
position, with its own distance and with the one that `robodyn calibrate-float` has compensated:
the slowly rising effort that moves the joint by five presliding distances, over its friction; how
far it is a minute after a small kick, and how much it still moves.
"""

from numba import njit
import numpy as np
from numpy import ndarray
from robodyn_ros.cli.calibrate_float import MIN_DISTANCE
from robodyn_ros.control.steps.cycle_data import Vectors
from robodyn_ros.control.steps.friction_compensation import advance_path
from robodyn_ros.dynamics.friction import advance_presliding

DISTANCE, FRICTION, INERTIA = 1e-3, 5.0, 0.5        # rad, N·m, kg·m²
SHARE, DELAY, BANDWIDTH = 0.8, 2, 60.0 * np.pi      # periods, rad/s
PERIOD, SUBSTEPS, RISE, AWAY = 1e-3, 4, 0.1, 5.0    # s, friction per second, distances
KICK = 0.02                                         # rad/s
#: Resolution and noise of the position, in presliding distances.
SENSORS = ((0.0, 0.01), (0.0, 0.025), (0.0, 0.05), (0.0, 0.1), (0.0, 0.2), (0.05, 0.0), (0.1, 0.0),
           (0.2, 0.0), (0.5, 0.0), (1.0, 0.0))

_path, _presliding = njit(advance_path), njit(advance_presliding)


@njit
def floated(seen: ndarray, real: ndarray, v: Vectors, resolution: float, noise: ndarray,
            rise: float, kick: float) -> ndarray:
    """
    Return positions (N,) [rad] of the joint.

    :param seen, real: (13, 1) parameters of friction, compensated and of the joint.
    :param v: vectors of one joint, zero.
    :param noise: (N,) of the position; ``resolution`` of the encoder [rad].
    :param rise: of an effort on the joint [N·m/s]; ``kick``: its first velocity [rad/s].
    """
    q, qd = 0.0, kick
    z, moved, out = np.zeros(1), np.zeros(1), np.zeros(len(noise))
    effort = np.zeros(len(noise) + DELAY)
    share = 1.0 - np.exp(-BANDWIDTH * PERIOD)
    for k in range(len(noise)):
        sensed = q + noise[k]
        if resolution > 0.0:
            sensed = resolution * np.round(sensed / resolution)
        v.filtered[0] += share * (sensed - v.filtered[0])
        _path(seen, v, moved)
        z = v.friction_compensation.presliding
        _presliding(seen, moved, z)
        effort[k + DELAY] = SHARE * FRICTION * z[0] + rise * k * PERIOD
        for _ in range(SUBSTEPS):
            moved[0] = qd * PERIOD / SUBSTEPS
            _presliding(real, moved, z)
            qd += (effort[k] - FRICTION * z[0]) / INERTIA * PERIOD / SUBSTEPS
            q += qd * PERIOD / SUBSTEPS
        out[k] = q
    return out


def parameters(distance: float) -> ndarray:
    """Return parameters of friction (13, 1) with a presliding distance [rad]."""
    rows = np.zeros((13, 1))
    rows[8] = distance
    return rows


def measured(sensor: tuple[float, float], distance: float, seconds: float, rise: float,
             kick: float = 0.0) -> ndarray:
    """Return how far the joint has gone (N,), in presliding distances, as ``sensor`` is."""
    noise = sensor[1] * DISTANCE * np.random.default_rng(0).normal(size=round(seconds / PERIOD))
    return np.abs(floated(parameters(distance * DISTANCE), parameters(DISTANCE), Vectors.zeros(1),
                          sensor[0] * DISTANCE, noise, rise, kick)) / DISTANCE


def main() -> None:
    """Print the table."""
    for sensor in SENSORS:
        least = MIN_DISTANCE * np.hypot(sensor[0] / np.sqrt(12.0), sensor[1])
        for distance in sorted({1.0, max(1.0, least)}):
            pushed = measured(sensor, distance, 13.0, RISE * FRICTION)
            rested = measured(sensor, distance, 60.0, 0.0, KICK)
            print(f'resolution {sensor[0]:5.3g} d, noise {sensor[1]:5.3g} d, compensated over '
                  f'{distance:5.3g} d: break-away {RISE * PERIOD * np.argmax(pushed > AWAY):4.0%}'
                  f', after a kick {rested[-1]:7.3f} d away, {np.ptp(rested[-1000:]):.3f} d in '
                  'the last second', flush=True)


if __name__ == '__main__':
    main()

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Kinetic and potential energy, and the center of mass."""

from numpy import ndarray

from .coriolis import velocities
from .record_types import Vector3
from .spatial import add, cross, dot, inertia_times, origin, put, scale, to_parent, vec


def kinetic_energy(bodies: ndarray, base: ndarray, joints: ndarray, qd: ndarray, work: ndarray,
                   out: ndarray) -> None:
    """
    Write the kinetic energy ∫ u²/2 dm of all bodies and the energy of the rotors at the joints.

    Siciliano et al. 2009, eqs. 7.13 and 7.19, about the origin of each body instead of its center
    of mass.

    :param bodies: (nb,) records of :data:`~.model_data.BODY`.
    :param base: (3, 3), the first row its angular velocity, in its axes.
    :param joints: (nb,) records of :data:`~.model_data.JOINT`, placed at q.
    :param qd: (nv,) [rad/s | m/s].
    :param work: (nb + 1,) records of :data:`~.model_data.WORK`.
    :param out: (1,) out [J].
    """
    velocities(bodies, base, joints, qd, work)
    twice = 0.0
    for i in range(len(bodies)):
        body, w, v = bodies[i], vec(work[i].w), vec(work[i].v)
        twice += (body.mass * dot(v, v) + 2.0 * dot(v, cross(w, vec(body.first)))
                  + dot(w, inertia_times(body.second, w))
                  + body.armature * qd[body.driver] * qd[body.driver])
    out[0] = 0.5 * twice


def potential_energy(bodies: ndarray, base: ndarray, joints: ndarray, work: ndarray, out: ndarray
                     ) -> None:
    """
    Write the potential energy of the moving bodies in the field of gravity.

    It is zero where their center of mass is level with the origin of the base (Siciliano et al.
    2009, eq. 7.36).

    :param base: (3, 3), the last row minus gravity, in the axes of the base.
    :param out: (1,) out [J]; other parameters as in :func:`kinetic_energy`.
    """
    mass, first = total_mass_moment(bodies, joints, work)
    out[0] = dot(vec(base[2]), first)


def center_of_mass(bodies: ndarray, joints: ndarray, work: ndarray, out: ndarray) -> None:
    """Write the common center of mass (3,) [m] of the moving bodies, in the base frame."""
    mass, first = total_mass_moment(bodies, joints, work)
    put(out, scale(1.0 / mass, first))


def total_mass_moment(bodies: ndarray, joints: ndarray, work: ndarray) -> tuple[float, Vector3]:
    """Return mass [kg] and first moment [kg·m] of all bodies, in the frame of the base."""
    mass, first = 0.0, (0.0, 0.0, 0.0)
    for i in range(len(bodies)):
        work[i].mass = bodies[i].mass
        put(work[i].first, vec(bodies[i].first))
    for i in range(len(bodies) - 1, -1, -1):
        body, joint, m = bodies[i], joints[i], work[i].mass
        moment = add(to_parent(body, joint, vec(work[i].first)), scale(m, origin(body, joint)))
        if body.parent < len(bodies):
            work[body.parent].mass += m
            put(work[body.parent].first, add(vec(work[body.parent].first), moment))
        else:
            mass, first = mass + m, add(first, moment)
    return mass, first

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Pose, Jacobian and its time derivative of a frame; center of mass and energies.

Rows of a Jacobian are the linear velocity (3) of a point and the angular velocity (3). The
reference selects point and axes: BODY, the origin and the axes of the frame; ALIGNED, the origin
of the frame and the axes of the base; WORLD, the point of the extended body that coincides with
the origin of the base, and its axes (Lynch and Park 2017, sections 3.3 and 5.1: body and space
Jacobian).
"""

from numpy import ndarray

from .coriolis import velocities
from .model_data import BodyRecord, FrameRecord, JointRecord, Vector3
from .spatial import add, cross, dot, inertia_times, origin, put, scale, to_parent, vec, ZERO

BODY, ALIGNED, WORLD = 0, 1, 2
REFERENCES = {'body': BODY, 'aligned': ALIGNED, 'world': WORLD}


def pose(bodies: ndarray, joints: ndarray, frame: FrameRecord, T: ndarray) -> None:
    """
    Write the pose of a frame in the frame of the base.

    :param bodies: (nb,) records of :data:`~.model_data.BODY`.
    :param joints: (nb,) records of :data:`~.model_data.JOINT`, placed at q.
    :param frame: a record of :data:`~.model_data.FRAME`.
    :param T: (4, 4) out, homogeneous: rotation, origin [m], and 0 0 0 1.
    """
    x, y, z, p = axes_of(frame)
    i = frame.body
    while i < len(bodies):
        x, y, z, p = frame_to_parent(bodies[i], joints[i], x, y, z, p)
        i = bodies[i].parent
    put_pose(T, x, y, z, p)


def put_pose(T: ndarray, x: Vector3, y: Vector3, z: Vector3, p: Vector3) -> None:
    """Write the pose (4, 4) of axes and origin."""
    for k in range(3):
        T[k, 0], T[k, 1], T[k, 2], T[k, 3], T[3, k] = x[k], y[k], z[k], p[k], 0.0
    T[3, 3] = 1.0


def jacobian(bodies: ndarray, joints: ndarray, frame: FrameRecord, reference: int, J: ndarray
             ) -> None:
    """
    Write the Jacobian of a frame: velocity = J q̇ (Siciliano et al. 2009, eq. 3.30).

    :param bodies, joints, frame: as in :func:`pose`.
    :param reference: BODY, ALIGNED or WORLD.
    :param J: (6, nv) out [m/rad | 1] above, [1 | rad/m] below.
    """
    x, y, z, p = own_jacobian(bodies, joints, frame, J)
    if reference != BODY:
        for k in range(J.shape[1]):
            linear, angular = rotated_column(J, k, x, y, z)
            if reference == WORLD:
                linear = add(linear, cross(p, angular))
            put_column(J, k, linear, angular)


def pose_and_jacobian(bodies: ndarray, joints: ndarray, frame: FrameRecord, T: ndarray, J: ndarray
                      ) -> None:
    """Write pose and Jacobian of a frame, as :func:`pose` and :func:`jacobian`, ALIGNED, do."""
    x, y, z, p = own_jacobian(bodies, joints, frame, J)
    put_pose(T, x, y, z, p)
    for k in range(J.shape[1]):
        linear, angular = rotated_column(J, k, x, y, z)
        put_column(J, k, linear, angular)


def own_jacobian(bodies: ndarray, joints: ndarray, frame: FrameRecord, J: ndarray
                 ) -> tuple[Vector3, Vector3, Vector3, Vector3]:
    """Write the Jacobian of a frame in its own axes; return these and its origin in the base."""
    x, y, z, p = axes_of(frame)
    set_zero(J)
    i = frame.body
    while i < len(bodies):
        linear, angular = column(bodies[i], x, y, z, p)
        add_column(J, bodies[i].driver, linear, angular)
        x, y, z, p = frame_to_parent(bodies[i], joints[i], x, y, z, p)
        i = bodies[i].parent
    return x, y, z, p


def jacobian_rate(bodies: ndarray, joints: ndarray, frame: FrameRecord, reference: int,
                  qd: ndarray, J: ndarray, Jd: ndarray) -> None:
    """
    Write the Jacobian and its time derivative J̇ at the velocity q̇.

    In the axes of the frame, the motion vector s of a joint that carries it changes at s × V, with
    V the velocity of the frame relative to the body of that joint (Featherstone 2008, eq. 2.45).

    :param bodies, joints, frame, reference: as in :func:`jacobian`.
    :param qd: (nv,) [rad/s | m/s].
    :param J: (6, nv) out.
    :param Jd: (6, nv) out [1/s times those of J].
    """
    x, y, z, p = axes_of(frame)
    set_zero(J)
    set_zero(Jd)
    v, w = ZERO, ZERO
    i = frame.body
    while i < len(bodies):
        linear, angular = column(bodies[i], x, y, z, p)
        rate = qd[bodies[i].driver]
        add_column(J, bodies[i].driver, linear, angular)
        add_column(Jd, bodies[i].driver, add(cross(linear, w), cross(angular, v)),
                   cross(angular, w))
        v, w = add(v, scale(rate, linear)), add(w, scale(rate, angular))
        x, y, z, p = frame_to_parent(bodies[i], joints[i], x, y, z, p)
        i = bodies[i].parent
    if reference != BODY:
        velocity = rotate(v, x, y, z)
        for k in range(J.shape[1]):
            linear, angular = column_of(J, k)
            linear_rate, angular_rate = column_of(Jd, k)
            linear_rate = rotate(add(linear_rate, cross(w, linear)), x, y, z)
            angular_rate = rotate(add(angular_rate, cross(w, angular)), x, y, z)
            linear, angular = rotate(linear, x, y, z), rotate(angular, x, y, z)
            if reference == WORLD:
                linear = add(linear, cross(p, angular))
                linear_rate = add(linear_rate, add(cross(velocity, angular),
                                                   cross(p, angular_rate)))
            put_column(J, k, linear, angular)
            put_column(Jd, k, linear_rate, angular_rate)


def velocity_product(bodies: ndarray, joints: ndarray, frame: FrameRecord, qd: ndarray
                     ) -> tuple[Vector3, Vector3]:
    """
    Return J̇ q̇, linear and angular: the acceleration of a frame whose joints do not accelerate.

    With J of :func:`jacobian`, ALIGNED, and the rates of its columns of :func:`jacobian_rate`.
    """
    x, y, z, p = axes_of(frame)
    v, w, a, b = ZERO, ZERO, ZERO, ZERO
    i = frame.body
    while i < len(bodies):
        linear, angular = column(bodies[i], x, y, z, p)
        rate = qd[bodies[i].driver]
        linear, angular = scale(rate, linear), scale(rate, angular)
        a = add(a, add(cross(linear, w), cross(angular, v)))
        b = add(b, cross(angular, w))
        v, w = add(v, linear), add(w, angular)
        x, y, z, p = frame_to_parent(bodies[i], joints[i], x, y, z, p)
        i = bodies[i].parent
    return rotate(add(a, cross(w, v)), x, y, z), rotate(b, x, y, z)


def axes_of(frame: FrameRecord) -> tuple[Vector3, Vector3, Vector3, Vector3]:
    """Return the axes x, y, z and the origin of a frame in the frame of its body."""
    R = frame.rotation
    return (R[0], R[3], R[6]), (R[1], R[4], R[7]), (R[2], R[5], R[8]), vec(frame.origin)


def frame_to_parent(body: BodyRecord, joint: JointRecord, x: Vector3, y: Vector3, z: Vector3,
                    p: Vector3) -> tuple[Vector3, Vector3, Vector3, Vector3]:
    """Return axes and origin of a frame in the parent frame, given in that of the body."""
    return (to_parent(body, joint, x), to_parent(body, joint, y), to_parent(body, joint, z),
            add(to_parent(body, joint, p), origin(body, joint)))


def column(body: BodyRecord, x: Vector3, y: Vector3, z: Vector3, p: Vector3
           ) -> tuple[Vector3, Vector3]:
    """Return linear and angular velocity of a frame at unit rate of a joint, in its own axes."""
    s, across = (x[2], y[2], z[2]), (-p[1], p[0], 0.0)
    return (add(scale(body.turn, (dot(x, across), dot(y, across), dot(z, across))),
                scale(body.slide, s)), scale(body.turn, s))


def rotate(a: Vector3, x: Vector3, y: Vector3, z: Vector3) -> Vector3:
    """Return the vector with components ``a`` along the axes x, y, z."""
    return add(add(scale(a[0], x), scale(a[1], y)), scale(a[2], z))


def rotated_column(J: ndarray, k: int, x: Vector3, y: Vector3, z: Vector3
                   ) -> tuple[Vector3, Vector3]:
    """Return column k, linear and angular, with components ``J`` along the axes x, y, z."""
    linear, angular = column_of(J, k)
    return rotate(linear, x, y, z), rotate(angular, x, y, z)


def set_zero(J: ndarray) -> None:
    """Set a Jacobian to zero."""
    for i in range(6):
        for k in range(J.shape[1]):
            J[i, k] = 0.0


def column_of(J: ndarray, k: int) -> tuple[Vector3, Vector3]:
    """Return column k, linear and angular."""
    return (J[0, k], J[1, k], J[2, k]), (J[3, k], J[4, k], J[5, k])


def put_column(J: ndarray, k: int, linear: Vector3, angular: Vector3) -> None:
    """Write column k."""
    J[0, k], J[1, k], J[2, k] = linear[0], linear[1], linear[2]
    J[3, k], J[4, k], J[5, k] = angular[0], angular[1], angular[2]


def add_column(J: ndarray, k: int, linear: Vector3, angular: Vector3) -> None:
    """Add to column k, since one joint may drive several bodies."""
    put_column(J, k, add(column_of(J, k)[0], linear), add(column_of(J, k)[1], angular))


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

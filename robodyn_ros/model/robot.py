# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robot model: a validated kinematic tree that can be written back to URDF."""

from .robot_data import Frame, RobotData
from .to_urdf import to_urdf

__all__ = ['Frame', 'RobotModel']


class RobotModel(RobotData):
    """
    Fixed-base tree of ``nb`` moving bodies with ``nv`` degrees of freedom.

    Links that are fixed to each other are lumped into one body. Above each body is one joint, and
    a parent comes before its children. The frame of a body is that of the link below its joint; at
    joint position zero it coincides with the joint frame. Most joints are independent; a mimic
    joint adds a body, but no degree of freedom. Arrays are float64 and read-only, (nv,) ones in
    the order of ``joint_names``, (nb,) ones in the order of ``link_names``; without mimic joints
    the two orders agree. Models come from :func:`~robodyn_ros.load_urdf`,
    :func:`~robodyn_ros.load_dh` and :func:`~robodyn_ros.from_dh`.

    :param name: of the robot.
    :param base_link: link whose frame is the base frame.
    :param joint_names: (nv,) independent joints.
    :param link_names: (nb,) links below the joints.
    :param body_joint_names: (nb,) all moving joints, mimic joints included.
    :param body_joint_types: (nb,) 'revolute', 'continuous' or 'prismatic'.
    :param driver: (nb,) index into ``joint_names``: the position of the joint above body i is
        ``ratio[i] * q[driver[i]] + shift[i]``.
    :param ratio: (nb,) 1 for an independent joint.
    :param shift: (nb,) [rad | m] 0 for an independent joint.
    :param parent: (nb,) index of the body that carries the joint, -1 for the base.
    :param joint_rotation: (nb, 3, 3) rotation of the joint frame in the frame of the parent body.
    :param joint_origin: (nb, 3) [m] origin of the joint frame in the frame of the parent body.
    :param joint_axis: (nb, 3) unit axis of rotation or translation, in the joint frame.
    :param mass: (nb,) [kg].
    :param com: (nb, 3) [m] center of mass in the body frame.
    :param inertia: (nb, 3, 3) [kg·m²] about the center of mass, axes of the body frame.
    :param position_lower: (nv,) [rad | m] lower limit, -inf where there is none.
    :param position_upper: (nv,) [rad | m] upper limit, inf where there is none.
    :param velocity_limit: (nv,) [rad/s | m/s], inf where there is none.
    :param effort_limit: (nv,) [N·m | N], inf where there is none.
    :param viscous_friction: (nv,) [N·m·s/rad | N·s/m] for positive velocity.
    :param coulomb_friction: (nv,) [N·m | N] for positive velocity.
    :param static_friction: (nv,) [N·m | N] for positive velocity.
    :param backward_friction: (3, nv) viscous, Coulomb and static friction for negative velocity.
    :param friction_velocity: (nv,) [rad/s | m/s] width of the sign change of friction at rest.
    :param stribeck_velocity: (nv,) [rad/s | m/s] scale of the decrease from static to Coulomb
        friction.
    :param presliding_distance: (nv,) [rad | m] of motion after a reversal, over which 63 % of the
        change of sign of dry friction are done; 0: it depends on the velocity alone.
    :param load_friction: (nv,) increase of Coulomb and static friction, as a share of the
        magnitude of the effort of gravity.
    :param coupled_friction: (3, nv) of a motor that turns with a joint and the next one: ratio of
        the next one's motion, 0 for none, viscous and Coulomb friction.
    :param armature: (nv,) [kg·m² | kg] rotor inertia reflected to the joint: that of a geared
        motor times the square of the gear ratio.
    :param gravity_vector: (3,) [m/s²] in the base frame.
    :param frames: :class:`Frame` of every link of the source, by name.
    :param warnings: sentences about accepted oddities of the source.
    :param implausible_links: moving bodies whose inertia violates the triangle inequality by more
        than 2 %.
    :param massless_joints: joints that no inertia resists, of a model loaded with
        ``massless='warn'``: M(q) is singular.
    :param shapes: collision shapes of the links, each in the frame of its link.
    :param shape_problems: sentences about collision shapes that cannot be read, such as meshes
        whose files are missing.

    >>> from robodyn_ros import load_urdf
    >>> model = load_urdf('two_link')
    >>> model.nv, model.joint_names
    (2, ('joint1', 'joint2'))
    """

    def to_urdf(self) -> str:
        """
        Return the model as URDF text; :func:`~robodyn_ros.load_urdf` of it gives the same model.

        It has no shapes. Fixed and locked joints stay lumped. What URDF cannot express (armature,
        friction beyond two numbers, absent limits, gravity) is in the element <robodyn>, which
        other readers of URDF ignore; they find 1e9 in place of an absent limit.

        :raises UrdfError: a number is not finite, or XML cannot hold a name.
        """
        return to_urdf(self)

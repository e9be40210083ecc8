# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From URDF to :class:`RobotModel`: the tree is checked, walked, and what is fixed lumped."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy import ndarray
from urdf_parser_py.urdf import URDF, Joint

from ..errors import Argument, Placeholder, RobodynError, UnknownNameError, UrdfError
from .array_checks import finite
from .kinematic_tree import chain, check_tree, joints_below, look_alikes
from .mimic import SLACK, Relation, carried_along, relation
from .resources import is_robot_name, robot_path
from .rigid_body import Inertial, joined
from .robot import Frame, RobotModel
from .urdf_elements import JointData, inertial, joint_data, joint_placement
from .urdf_extension import Extension, extension
from .urdf_xml import MAX_NAME, read
from .validate import validated

GRAVITY = (0.0, 0.0, -9.81)     # [m/s²] of a robot that stands upright
MAX_JOINTS = 200        # moving ones: twice those of the largest real robot we know of


def load_urdf(path_or_xml: str | bytes | Path, root: str | None = None, tip: str | None = None,
              locked: Mapping[str, float] = {}, gravity: Sequence[float] | None = None,
              massless: str = 'refuse') -> RobotModel:
    """
    Load a tree of revolute, continuous, prismatic and fixed joints from URDF.

    Joints come depth first, in the order of the document. What is fixed to a moving link is
    lumped into it, what is fixed to the base into the base. URDF has one number for friction: it
    is taken as Coulomb and as static friction, unless the element <robodyn> knows better, see
    :mod:`~robodyn_ros.model.urdf_extension`.

    A joint that mimics another moves with it, over a chain of them too: it is no degree of
    freedom, and its limits and friction are felt by the joint that drives it
    (:func:`~robodyn_ros.model.mimic.carried_along`). Where that one is fixed or locked it is
    fixed as well.

    :param path_or_xml: path of a file, XML text, or the name of a robot: ``'panda'``, any of
        example-robot-data and robot_descriptions where these are installed
        (:func:`~robodyn_ros.model.resources.robot_names`). A .xacro file is expanded by the
        package `xacro`, with its default arguments.
    :param root: link that becomes the base; only what is below it is loaded.
    :param tip: link at the end of the only chain that moves: other branches of the base are left
        out, except for what is fixed to it; joints that hang from the chain have to be locked.
    :param locked: positions [rad | m] of joints that are taken as fixed there.
    :param gravity: (3,) [m/s²] in the base frame; None: that of <robodyn>, in the frame of the
        root of the document and seen from ``root``, else (0, 0, -9.81).
    :param massless: 'refuse' joints that no inertia resists, or 'warn' of them: kinematics,
        gravity and inverse dynamics need none; what needs M⁻¹ is refused.
    :raises UrdfError: if the text is no URDF, or not of a robot as above.
    :raises InertiaError: if masses and inertias are none a robot can have, see
        :func:`~robodyn_ros.model.validate.validated`.
    :raises UnknownNameError: if there is no such ``root``, ``tip`` or joint to lock.
    :raises ArgumentError: if ``gravity`` or a locked position cannot be used.
    """
    given = None if gravity is None else finite('gravity', gravity, (3,),
                                                '[m/s²] in the base frame')
    if is_robot_name(path_or_xml):
        path_or_xml = robot_path(str(path_or_xml))
    robot, elements, warnings = read(path_or_xml)
    source_root = check_tree(robot)
    extra = extension(elements, {joint.name: joint.type for joint in robot.joints})
    links = [link.name for link in robot.links]
    for name in filter(None, (root, tip)):
        if name not in links:
            raise UnknownNameError('link', name, links)
    for name in locked:
        if name not in (names := [j.name for j in robot.joints if j.type != 'fixed']):
            raise UnknownNameError('joint that can be locked', name, names)
    walk = _Walk(robot, extra, locked, warnings + look_alikes(robot))
    walk.run(root or source_root, tip)
    return validated(walk.model(
        _gravity(robot, extra, root or source_root) if given is None else given), massless)


def _gravity(robot: URDF, extra: Extension, base: str) -> ndarray:
    """Return gravity (3,) [m/s²] in the frame of link ``base``, as far as the text knows it."""
    if extra.gravity is None:
        return np.array(GRAVITY)
    above, rotation, link = {joint.child: joint for joint in robot.joints}, np.eye(3), base
    while link in above:
        if (joint := above[link]).type != 'fixed':
            raise UrdfError(f'joint {joint.name!r} turns the root {base!r} against the gravity '
                            'given in <robodyn>', name=joint.name, remedy='give gravity=(x, y, z) '
                            f'in the frame of {base!r}')
        rotation = joint_placement(joint, extra.joint(joint.name))[0] @ rotation
        link = joint.parent
    return rotation.T @ extra.gravity


class _Walk:
    """The model as it grows while the tree is walked from the base."""

    def __init__(self, robot: URDF, extra: Extension, locked: Mapping[str, float],
                 warnings: list[str]):
        self.robot, self.extra, self.locked, self.warnings = robot, extra, locked, warnings
        self.links = {link.name: link for link in robot.links}
        self.below = joints_below(robot)
        self.by_name = {joint.name: joint for joint in robot.joints}
        self.frames: dict[str, Frame] = {}
        self.joints: list[Joint] = []
        self.relations: list[Relation] = []             # of the joints to those that drive them
        self.data: list[JointData] = []
        self.placements: list[Frame] = []               # of the joints, in the parent body
        self.parts: list[list[Inertial]] = []           # what each body is lumped of

    def run(self, base: str, tip: str | None) -> None:
        """Visit every link below ``base``, or what moves or rests along the chain to ``tip``."""
        path = chain(self.robot, base, tip) if tip else None
        self.base = base
        todo = self._enter(base, Frame(-1, np.eye(3), np.zeros(3)))
        while todo:
            joint, at = todo.pop()
            rotation, origin = joint_placement(joint, self.extra.joint(joint.name))
            here = Frame(at.body, at.rotation @ rotation, at.origin + at.rotation @ origin)
            if joint.type != 'fixed':
                beside = path is not None and joint.name not in path
                if beside and at.body < 0 and joint.name not in self.locked:
                    continue            # another arm on the same base: it cannot be felt
                law = relation(joint, self.by_name, self.extra, self.locked)
                if law.driver is None:
                    here = self._rest(joint, law.shift, here)
                elif beside:
                    raise UrdfError(
                        f'joint {joint.name!r} moves, but is not between the base and tip {tip!r}',
                        name=joint.name, remedy=('lock it: ', Argument(
                            'locked', {joint.name: Placeholder('position')})))
                else:
                    here = self._move(joint, law, here)
            todo += self._enter(joint.child, here)
        if not self.joints:
            raise UrdfError(f'robot {self.robot.name!r}: no joint moves below link {base!r}',
                            name=self.robot.name,
                            remedy='leave one unlocked, or choose another root or tip')
        loaded = {joint.name for joint in self.joints}
        for joint, law in zip(self.joints, self.relations):
            if law.driver not in loaded:
                raise UrdfError(f'joint {joint.name!r} mimics {law.driver!r}, which is not loaded',
                                name=joint.name, remedy='choose root and tip so that both are in '
                                f'between, or lock {law.driver!r} or {joint.name!r}')
        self._miss(loaded)

    def _miss(self, loaded: set[str]) -> None:
        """Warn of joints that are left out, although one that is loaded moves them."""
        for joint in self.robot.joints:
            if joint.mimic is None or joint.child in self.frames:
                continue
            try:
                law = relation(joint, self.by_name, self.extra, self.locked)
            except RobodynError:        # what is left out may be faulty
                continue
            if law.driver in loaded:
                self.warnings.append(f'joint {joint.name!r} mimics {law.driver!r}, but is left '
                                     'out: nothing of it is felt there')

    def _enter(self, name: str, frame: Frame) -> list[tuple[Joint, Frame]]:
        """Take in a link; return the joints on it with its frame, the first one last."""
        self.frames[name] = frame
        part = inertial(self.links[name], moving=frame.body >= 0)
        if part and frame.body >= 0:
            self.parts[frame.body].append(part.placed(frame.rotation, frame.origin))
        return [(joint, frame) for joint in reversed(self.below[name])]

    def _rest(self, joint: Joint, q: float, here: Frame) -> Frame:
        """Return the frame of the child of a joint that could move, but stays at ``q``."""
        data = joint_data(joint, self.extra.joint(joint.name), [])
        if joint.name not in self.locked and not data.lower - SLACK <= q <= data.upper + SLACK:
            self.warnings.append(f'joint {joint.name!r} is fixed at {q:.6g} by what it mimics, '
                                 f'outside of its limits [{data.lower:g}, {data.upper:g}]')
        rotation, origin = data.motion(joint.type, q)
        return Frame(here.body, here.rotation @ rotation, here.origin + here.rotation @ origin)

    def _move(self, joint: Joint, law: Relation, here: Frame) -> Frame:
        """Take in a joint that moves; return the frame of its child, which is a new body's."""
        if len(self.joints) == MAX_JOINTS:
            raise UrdfError(f'more than {MAX_JOINTS} joints move', name=joint.name,
                            remedy='load a part, with root, tip or locked')
        self.data.append(joint_data(joint, self.extra.joint(joint.name), self.warnings,
                                    driven=law.driver == joint.name))
        self.joints.append(joint)
        self.relations.append(law)
        self.placements.append(here)
        self.parts.append([])
        return Frame(len(self.parts) - 1, np.eye(3), np.zeros(3))

    def model(self, gravity: ndarray) -> RobotModel:
        """Return what was gathered, as arrays."""
        bodies = [joined(parts) for parts in self.parts]
        moving = list(zip(self.joints, self.relations, self.data))
        own = {joint.name: data for joint, law, data in moving if law.driver == joint.name}
        names = tuple(own)
        driven = [carried_along(name, own[name], [
            (joint.name, law, data) for joint, law, data in moving
            if law.driver == name != joint.name]) for name in names]
        links = tuple(self._body_name(i) for i in range(len(bodies)))

        def column(name: str) -> ndarray:
            return np.array([getattr(data, name) for data in driven], float)

        return RobotModel(
            name=self.robot.name, base_link=self.base, joint_names=names, link_names=links,
            body_joint_names=tuple(joint.name for joint in self.joints),
            body_joint_types=tuple(data.kind for data in self.data),
            driver=np.array([names.index(law.driver) for law in self.relations]),
            ratio=np.array([law.ratio for law in self.relations]),
            shift=np.array([law.shift for law in self.relations]),
            parent=np.array([at.body for at in self.placements]),
            joint_rotation=np.array([at.rotation for at in self.placements]),
            joint_origin=np.array([at.origin for at in self.placements]),
            joint_axis=np.array([data.axis for data in self.data]),
            mass=np.array([body.mass for body in bodies], float),
            com=np.array([body.com for body in bodies]),
            inertia=np.array([body.inertia for body in bodies]),
            position_lower=column('lower'), position_upper=column('upper'),
            velocity_limit=column('velocity'), effort_limit=column('effort'),
            viscous_friction=column('damping'), coulomb_friction=column('friction'),
            static_friction=column('static_friction'),
            backward_friction=column('backward_friction').T.copy(),
            friction_velocity=column('friction_velocity'),
            stribeck_velocity=column('stribeck_velocity'), armature=column('armature'),
            gravity_vector=gravity, frames=self.frames,
            warnings=tuple(dict.fromkeys(self.extra.warnings + self.warnings)))

    def _body_name(self, i: int) -> str:
        """Return the name of body i; where that is another link's, the joint's own is no frame."""
        joint = self.joints[i]
        name = self.extra.joint(joint.name).body
        if name is None:
            return joint.child
        if name == joint.child or name not in self.frames or self.frames[name].body != i:
            raise UrdfError(f'joint {joint.name!r}: <robodyn> calls its body {name[:MAX_NAME]!r}, '
                            f'which is no link fixed to {joint.child!r}', name=joint.name,
                            value=name, remedy='remove the attribute body')
        del self.frames[joint.child]
        return name

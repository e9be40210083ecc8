# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Distances between links, and to the ground, along a motion, by MuJoCo."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ...errors import IdentificationError, UrdfError
from ...model.robot import RobotModel
from ...model.shapes import Shape, shape
from ...model.urdf_xml import root_element
from ...simulation.loading import mujoco

GEOMETRY_KINDS = ('collision', 'visual')
MESH_SUFFIXES = ('.stl', '.obj', '.msh')    # that MuJoCo reads
UNCHECKED_REMEDY = 'or go without a check for collisions (--shapes none, no --ground)'


def shapes(urdf: Path, kind: str = 'collision', packages: Sequence[Path] = ()) -> list[Shape]:
    """
    Return the shapes of all links of a URDF file; an empty list where it has none.

    :param kind: one of :data:`GEOMETRY_KINDS`.
    :param packages: as in :func:`~robodyn_ros.model.shapes.shape`.
    :raises IdentificationError: a shape cannot be read, or the file of a mesh is missing or in a
        format that MuJoCo does not read; the error names the link.
    """
    root, _ = root_element(urdf)
    try:
        found = [shape(link.get('name', ''), element, urdf, packages)
                 for link in root.iterfind('link') for element in link.iterfind(kind)]
    except UrdfError as error:
        raise IdentificationError(str(error).removesuffix(f': {error.remedy}'), name=error.name,
                                  remedy=f'{error.remedy}; {UNCHECKED_REMEDY}') from error
    for one in found:
        if one.mesh is not None and one.mesh.suffix.lower() not in MESH_SUFFIXES:
            raise IdentificationError(
                f'link {one.link!r} has the mesh {str(one.mesh)!r}', name=one.link,
                remedy=f'MuJoCo reads {", ".join(MESH_SUFFIXES)} only; {UNCHECKED_REMEDY}')
    return found


GROUND_NAME, GROUND_SIZE = 'the ground', 100.0       # m to each side
DEPTH_UNIT = 0.05    # [m] of violations
PENALTY_MARGIN = 0.005    # [m] beyond the clearance, where the penalty begins
GEOM_TYPES = {
    'box': mujoco.mjtGeom.mjGEOM_BOX, 'sphere': mujoco.mjtGeom.mjGEOM_SPHERE,
    'cylinder': mujoco.mjtGeom.mjGEOM_CYLINDER, 'capsule': mujoco.mjtGeom.mjGEOM_CAPSULE,
    'mesh': mujoco.mjtGeom.mjGEOM_MESH}


class Touch(NamedTuple):
    """Two bodies that are too close, and their distance [m], negative for penetration."""

    first: str
    second: str
    distance: float


class Collisions:
    """
    Collision checker of a robot; meshes are represented by their convex hulls.

    Bodies connected by a joint are not compared, nor are those that are too close at ``pose``
    already, where the robot has to begin; ``excluded`` names these. Shapes of fixed links belong
    to the body that carries them.

    :param shapes: of links of the model; ``left_out`` names the links of other shapes.
    :param pose: (nv,) [rad | m].
    :param clearance: minimum distance [m].
    :param ground: height [m] of a plane above the origin of the base, against gravity; None: no
        ground.
    :raises IdentificationError: MuJoCo refuses a shape, a moving body touches the ground at
        ``pose``, or the direction of the ground is unknown since there is no gravity.
    """

    def __init__(self, model: RobotModel, shapes: Sequence[Shape], pose: ndarray,
                 clearance: float, ground: float | None = None):
        self._model, self._clearance = model, clearance
        self.left_out = tuple(sorted({s.link for s in shapes} - model.frames.keys()))
        self.excluded: tuple[tuple[str, str], ...] = ()
        self._mj = self._compile(shapes, ground, set())
        self._data = mujoco.MjData(self._mj)
        # MuJoCo's names are our numbers, its order is its own: here are ours of its joints
        self._joints = np.array([int(self._mj.joint(k).name) for k in range(self._mj.njnt)])
        self._jacobians = np.zeros((2, 3, self._mj.nv))
        # (nb, nv): velocities of its joints from those that move on their own
        self._carried = np.zeros((model.nb, model.nv))
        self._carried[np.arange(model.nb), model.driver[self._joints]] = model.ratio[self._joints]
        close = self.touches(pose[None])
        for touch in close:
            if touch.first == GROUND_NAME:
                raise IdentificationError(
                    f'{touch.second} is {touch.distance:.4g} m from the ground at the start',
                    name=touch.second, value=touch.distance,
                    remedy='start at another pose, or correct the height of the ground')
        self.excluded = tuple(sorted({touch[:2] for touch in close}))
        if self.excluded:
            self._mj = self._compile(shapes, ground, {
                (self._number(a), self._number(b)) for a, b in self.excluded})
            self._data = mujoco.MjData(self._mj)

    def touches(self, q: ndarray) -> list[Touch]:
        """Return the pairs that are too close at any of the poses (N, nv), at their minimum."""
        nearest: dict[tuple[str, str], float] = {}
        for pose in q:
            distances, at = self._close(pose, 0.0)
            for distance, geoms in zip(distances, self._data.contact.geom[at]):
                pair = self._names(geoms)
                nearest[pair] = min(float(distance), nearest.get(pair, np.inf))
        return [Touch(*pair, distance) for pair, distance in sorted(nearest.items())]

    def close(self, q: ndarray) -> ndarray:
        """Return at which of the poses (N, nv) any pair is too close, (N,) of bool."""
        return np.array([len(self._close(pose, 0.0)[0]) > 0 for pose in q], bool)

    def penalty(self, q: ndarray) -> tuple[float, ndarray]:
        """
        Return the sum of pseudo-Huber losses of distances that are too small, and its gradient.

        √(1 + d²) - 1 with d = (clearance + PENALTY_MARGIN - distance) / DEPTH_UNIT is quadratic,
        but linear deep inside, where the direction out is uncertain.

        :param q: (N, nv) [rad | m]; the gradient has the same shape.
        """
        total, slope = 0.0, np.zeros_like(q)
        for pose, out in zip(q, slope):
            distances, at = self._close(pose, PENALTY_MARGIN)
            if not len(at):
                continue
            mujoco.mj_comPos(self._mj, self._data)
            contact, turn = self._data.contact, np.zeros(self._mj.nv)
            depth = (self._clearance + PENALTY_MARGIN - distances) / DEPTH_UNIT
            loss = np.sqrt(1.0 + depth**2)
            total += float(np.sum(loss - 1.0))
            for distance, pull, geoms, middle, normal in zip(
                    distances, depth / loss / DEPTH_UNIT, contact.geom[at], contact.pos[at],
                    contact.frame[at, :3]):
                # The distance grows as the second body moves along the normal, and the first not
                for jacobian, geom, side in zip(self._jacobians, geoms, (-0.5, 0.5)):
                    mujoco.mj_jac(self._mj, self._data, jacobian, None,
                                  middle + side * distance * normal, self._mj.geom_bodyid[geom])
                turn -= pull * (normal @ (self._jacobians[1] - self._jacobians[0]))
            out += turn @ self._carried
        return total, slope

    def _close(self, pose: ndarray, spare: float) -> tuple[ndarray, ndarray]:
        """
        Return the distances below the clearance plus something to spare, and where they are.

        One of each pair of shapes, the least: how many points MuJoCo finds is apt to jump.
        """
        self._place(pose)
        distances = self._data.contact.dist
        at = np.flatnonzero(distances < self._clearance + spare)
        if len(at) > 1:
            at = at[np.argsort(distances[at])]
            at = at[np.unique(self._data.contact.geom[at], axis=0, return_index=True)[1]]
        return distances[at], at

    def _place(self, pose: ndarray) -> None:
        model, data = self._model, self._data
        data.qpos[:] = (model.ratio * pose[model.driver] + model.shift)[self._joints]
        mujoco.mj_kinematics(self._mj, data)
        mujoco.mj_collision(self._mj, data)

    def _names(self, geoms: ndarray) -> tuple[str, str]:
        bodies = sorted(int(self._mj.geom_bodyid[geom]) for geom in geoms)
        names = (*self._model.link_names, self._model.base_link)        # -1 is the base
        first, second = (names[int(self._mj.body(k).name)] if k else GROUND_NAME for k in bodies)
        return first, second

    def _number(self, link: str) -> int:
        names = self._model.link_names
        return names.index(link) if link in names else -1

    def _compile(self, shapes: Sequence[Shape], ground: float | None,
                 excluded: Collection[tuple[int, int]]) -> mujoco.MjModel:
        """Return MuJoCo's model: joints and shapes, without those pairs of bodies."""
        model, spec = self._model, mujoco.MjSpec()
        # What its parent filter lets pass depends on whether the parent moves
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
        spec.option.gravity = np.zeros(3)
        bodies = {-1: spec.worldbody.add_body(name='-1')}
        for i in range(model.nb):
            parent = int(model.parent[i])
            body = bodies[i] = (spec.worldbody if parent < 0 else bodies[parent]).add_body(
                name=str(i), pos=model.joint_origin[i], quat=_quaternion(model.joint_rotation[i]),
                mass=1.0, inertia=np.ones(3), explicitinertial=True)
            slides = model.body_slides[i]
            body.add_joint(name=str(i), axis=model.joint_axis[i],
                           limited=mujoco.mjtLimited.mjLIMITED_FALSE,
                           type=mujoco.mjtJoint.mjJNT_SLIDE if slides
                           else mujoco.mjtJoint.mjJNT_HINGE)
            spec.add_exclude(bodyname1=str(max(parent, -1)), bodyname2=str(i))
        for first, second in excluded:
            spec.add_exclude(bodyname1=str(first), bodyname2=str(second))
        assets: dict[str, bytes] = {}
        for body in shapes:
            if body.link in model.frames:
                self._add(spec, bodies, body, assets)
        if ground is not None:
            length = np.linalg.norm(model.gravity_vector)
            if length == 0.0:
                raise IdentificationError('a ground without gravity', name='ground', value=ground,
                                          remedy='load the robot with gravity, or leave it out')
            up = -model.gravity_vector / length
            turn = np.zeros(4)
            mujoco.mju_quatZ2Vec(turn, up)
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, pos=ground * up, quat=turn,
                                    size=[GROUND_SIZE, GROUND_SIZE, 1.0])
        spec.assets = assets
        try:
            return spec.compile()
        except ValueError as error:
            raise IdentificationError(
                f'MuJoCo refuses the shapes ({" ".join(str(error).split())})', name=model.name,
                remedy='correct what the message names, or go without a check for collisions'
                ) from error

    def _add(self, spec: mujoco.MjSpec, bodies: dict[int, mujoco.MjsBody], shape: Shape,
             assets: dict[str, bytes]) -> None:
        frame, size = self._model.frame(shape.link), shape.size
        how: dict[str, object] = {}
        if shape.mesh is not None:
            name = f'{len(assets)}{shape.mesh.suffix.lower()}'
            assets[name] = shape.mesh.read_bytes()
            spec.add_mesh(name=name, file=name, scale=size,
                          inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
            how['meshname'] = name
        else:
            how['size'] = [*size, 0.0, 0.0][:3]
        bodies[frame.body].add_geom(
            type=GEOM_TYPES[shape.kind], margin=self._clearance + PENALTY_MARGIN,
            pos=frame.origin + frame.rotation @ shape.origin,
            quat=_quaternion(frame.rotation @ shape.rotation), **how)


def _quaternion(rotation: ndarray) -> ndarray:
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, rotation.ravel())
    return quaternion

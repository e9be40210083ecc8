# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Identified friction and armature in the URDF that they belong to.

Viscous and Coulomb friction are written to <dynamics>, which every reader of URDF knows, and the
rest to <robodyn> (:mod:`~robodyn_ros.model.urdf_extension`). Friction of a model acts on the joint
that drives a mimic joint: the mimic joint itself is left without any.
"""

from dataclasses import replace

from lxml import etree
import numpy as np

from .urdf_editor import UrdfText
from ..errors import IdentificationError
from ..model.robot import RobotModel
from ..model.to_urdf import friction_extension
from ..model.urdf_elements import joint_data, JointData
from ..model.urdf_extension import Extension, extension, written
from ..model.urdf_xml import read

# Fields of a model, and of what the text says of a joint; of the last two, a column a joint
ELEMENT_NAMES = {
    'viscous_friction': 'damping', 'coulomb_friction': 'friction', **{name: name for name in (
        'static_friction', 'friction_velocity', 'stribeck_velocity', 'presliding_distance',
        'load_friction', 'armature', 'backward_friction', 'coupled_friction')}}
UNKNOWN_FRICTION = {'static_friction': None, 'backward': (None, None, None), 'armature': 0.0}
NUMBER_ROUNDING = 1e-14


def urdf_with_friction(text: str, model: RobotModel, found: RobotModel) -> str:
    """
    Return the text of a URDF with the friction and armature of a model, and nothing else changed.

    :param text: that ``model`` was loaded from.
    :param found: with the joints of ``model``, and other friction. Joints where it is equal stay.
    :raises IdentificationError: what was written would not be read as what was asked.
    """
    changed = [v for v in range(model.nv) if not _equal(_of_model(model, v), _of_model(found, v))]
    if not changed:
        return text
    content = text.lstrip('\ufeff \t\r\n')          # as the loader does
    robot, elements, *_ = read(content)
    said = extension(elements, {joint.name: joint.type for joint in robot.joints})
    before = etree.tostring(written(said))
    editor = UrdfText(content.encode())
    assert len(editor.joints) == len(robot.joints)
    places = {joint.name: place for place, joint in enumerate(robot.joints)}
    for name, v in zip(model.body_joint_names, model.driver):
        if v not in changed:
            continue
        drives = name == model.joint_names[v]
        editor.change_friction(places[name], *(
            (found.viscous_friction[v], found.coulomb_friction[v]) if drives else (0.0, 0.0)))
        said.joints[name] = replace(said.joint(name), **(
            friction_extension(found, v) if drives else UNKNOWN_FRICTION))
    if etree.tostring(written(said)) != before:
        editor.change_extension(_pretty(said))
    result = editor.changed().decode()
    _check(result, model, found, changed)
    return text[:len(text) - len(content)] + result


def _pretty(said: Extension) -> bytes:
    """Return the element <robodyn>, a line for each of its children."""
    element = written(said)
    etree.indent(element, '  ', level=1)
    return etree.tostring(element, encoding='utf-8')


def _check(text: str, model: RobotModel, found: RobotModel, changed: list[int]) -> None:
    """Raise :class:`IdentificationError` where the text is not read as what was asked."""
    robot, elements, *_ = read(text)
    said = extension(elements, {joint.name: joint.type for joint in robot.joints})
    joints = {joint.name: joint for joint in robot.joints}
    for v in changed:
        name = model.joint_names[v]
        read_again = joint_data(joints[name], said.joint(name), [])
        if not _equal(_of_text(read_again), _of_model(found, v)):
            raise IdentificationError(
                f'friction of joint {name!r} cannot be written so that it is read again',
                name=name, value=_of_model(found, v).tolist(),
                remedy='use the parameters of friction.yaml instead')


def _of_model(model: RobotModel, v: int) -> np.ndarray:
    return np.hstack([getattr(model, name)[..., v] for name in ELEMENT_NAMES])


def _of_text(data: JointData) -> np.ndarray:
    return np.hstack([getattr(data, name) for name in ELEMENT_NAMES.values()])


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    return bool((np.abs(one - other) <= NUMBER_ROUNDING * np.abs(other)).all())

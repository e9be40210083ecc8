# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The robots that tests run on: our own, real ones, and seeded random trees."""

from collections.abc import Iterator
from dataclasses import fields

from lxml import etree
import numpy as np
from robodyn_ros import RobotModel
from robodyn_ros.model.resources import EXAMPLE_ROBOTS, OWN_ROBOTS, robot_path
from thorough import seeds

OWN = {name: robot_path(name) for name in OWN_ROBOTS}
REAL = {name: robot_path(name) for name in EXAMPLE_ROBOTS}
# Panda's second finger mimics the first; locked, they may be apart by different amounts.
PANDA_LOCKED = {'panda_finger_joint1': 0.03, 'panda_finger_joint2': 0.01}
# The fingertips of alex mimic joints that its file does not have.
ALEX_LOCKED = {f'{side}_{finger}_q2': 0.1 for side in ('Left', 'Right')
               for finger in ('index', 'middle', 'ring', 'pinky')}
LOCKED = {'panda': PANDA_LOCKED, 'alex': ALEX_LOCKED}

# More of example-robot-data: what the arithmetic is judged on, `dynamics/test_pinocchio.py`.
WIDE = {name: REAL['panda'].parents[2] / path for name, path in {
    # Arms, one of them with fingers that slide
    'panda_fingers': 'panda_description/urdf/panda.urdf',
    'ur10': 'ur_description/urdf/ur10_robot.urdf',
    'xarm7': 'xarm_description/urdf/xarm7.urdf',
    'z1': 'z1_description/urdf/z1.urdf',
    'so101': 'so_arm_description/urdf/so101.urdf',
    # On wheels: torsos that slide, two arms, hands of many joints
    'tiago': 'tiago_description/robots/tiago.urdf',
    'tiago_dual': 'tiago_description/robots/tiago_dual.urdf',
    'tiago_pro': 'tiago_pro_description/robots/tiago_pro.urdf',
    'pr2': 'pr2_description/urdf/pr2.urdf',
    'baxter': 'baxter_description/urdf/baxter.urdf',
    # Legs and hands
    'anymal_kinova': 'anymal_b_simple_description/robots/anymal-kinova.urdf',
    'b1_z1': 'b1_description/urdf/b1-z1.urdf',
    'hyq': 'hyq_description/robots/hyq_no_sensors.urdf',
    'solo12': 'solo_description/robots/solo12.urdf',
    'allegro': 'allegro_hand_description/urdf/allegro_left_hand.urdf',
    # Humanoids
    'alex': 'alex_description/urdf/alex_psyonic_hands.urdf',
    'centauro': 'centauro_description/urdf/centauro.urdf',
    'g1': 'g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf',
    'human': 'human_description/robots/human.urdf',
    'icub': 'icub_description/robots/icub_reduced.urdf',
    'romeo': 'romeo_description/urdf/romeo_small.urdf',
    'simple_humanoid': 'simple_humanoid_description/urdf/simple_humanoid.urdf',
    'talos': 'talos_data/robots/talos_full_v2.urdf',
    'talos_reduced': 'talos_data/robots/talos_reduced.urdf'}.items()}
# Seed and number of joints, of which there is every one from 1 to 30, twice.
TREES = {f'tree{seed}': (seed, (2 + seed // 2) % 30 + 1) for seed in range(seeds(60, 100))}
# The same of trees in which about a third of the joints mimic others.
MIMIC_TREES = {f'mimic{seed}': (seed, 3 + seed) for seed in range(20)}

# A plain arm to make faults in: what is wrong in a test is what the test wrote.
ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.005"/></inertial></link>
  <link name="tool"><inertial><origin xyz="0.1 0 0"/><mass value="0.5"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.5"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="40" velocity="3"/><dynamics damping="0.5" friction="0.2"/>
  </joint>
  <joint name="slide" type="prismatic"><parent link="upper"/><child link="fore"/>
    <origin xyz="0 0 0.4" rpy="0 0 0.3"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.3" effort="90" velocity="1"/></joint>
  <joint name="mount" type="fixed"><parent link="fore"/><child link="tool"/>
    <origin xyz="0 0 0.2" rpy="0.1 0.2 0.3"/></joint>
</robot>
"""

# A hand on a wrist: the right finger follows the left one, and the pad on it the right finger.
GRIPPER = """<robot name="gripper">
  <link name="base"/>
  <link name="hand"><inertial><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <link name="right_finger"><inertial><mass value="0.2"/>
    <inertia ixx="0.002" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.002"/></inertial></link>
  <link name="left_finger"><inertial><mass value="0.3"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="wrist" type="revolute"><parent link="base"/><child link="hand"/>
    <origin xyz="0 0 0.5"/><axis xyz="1 0 0"/>
    <limit lower="-2" upper="2" effort="10" velocity="3"/>
    <dynamics damping="0.1"/></joint>
  <joint name="right" type="prismatic"><parent link="hand"/><child link="right_finger"/>
    <origin xyz="0 0 0.1"/><axis xyz="0 1 0"/>
    <limit lower="-0.01" upper="0.005" effort="7" velocity="1"/>
    <dynamics damping="8" friction="2"/>
    <mimic joint="left" multiplier="-0.5" offset="0.01"/></joint>
  <joint name="left" type="prismatic"><parent link="hand"/><child link="left_finger"/>
    <origin xyz="0 0.04 0.1"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.05" effort="30" velocity="9"/>
    <dynamics damping="4" friction="1"/></joint>
  <link name="right_pad"><inertial><origin xyz="0 0 0.02"/><mass value="0.1"/>
    <inertia ixx="0.0001" ixy="0" ixz="0" iyy="0.0001" iyz="0" izz="0.0001"/></inertial></link>
  <joint name="right_tip" type="revolute"><parent link="right_finger"/><child link="right_pad"/>
    <origin xyz="0 0 0.05"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="0.15" effort="1" velocity="2"/>
    <dynamics damping="0.01" friction="0.03"/>
    <mimic joint="right" multiplier="20" offset="0.1"/></joint>
</robot>
"""
# The same with all that URDF has no words for.
EXTENDED = ARM.replace('</robot>', """<robodyn>
  <gravity xyz="0 -9.8 0.1"/>
  <joint name="shoulder" rotor_inertia="1e-4" gear_ratio="100" static_friction="0.3"
         friction_velocity="0.02" stribeck_velocity="0.2" unlimited="lower effort">
    <backward damping="0.4" friction="0.6" static_friction="0.7"/>
  </joint>
  <joint name="slide" armature="2.5"/>
  <warning>the tool is estimated</warning>
</robodyn></robot>""")


def _numbers(values) -> str:
    return ' '.join(repr(float(v)) for v in values)


def _origin(rng) -> str:
    xyz, rpy = rng.uniform(-0.4, 0.4, 3), rng.uniform(-np.pi, np.pi, 3)
    return f'<origin xyz="{_numbers(xyz)}" rpy="{_numbers(rpy)}"/>'


def _link(rng, name: str) -> str:
    """Return a link with the mass, centre and inertia of some real body, its frame turned."""
    mass = rng.uniform(0.2, 5.0)
    x2, y2, z2 = mass * rng.uniform(0.02, 0.2, 3)**2        # second moments: any are a body's
    c, s = np.cos(a := rng.uniform(0, 6)), np.sin(a)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ [[1, 0, 0], [0, c, -s], [0, s, c]]
    i = turn @ np.diag([y2 + z2, x2 + z2, x2 + y2]) @ turn.T
    entries = ' '.join(f'i{"xyz"[j]}{"xyz"[k]}="{float(i[j, k])!r}"'
                       for j, k in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    return (f'<link name="{name}"><inertial>{_origin(rng)}<mass value="{mass!r}"/>'
            f'<inertia {entries}/></inertial></link>')


def _joint(rng, name: str, kind: str, parent: str, child: str) -> str:
    lines = f'<parent link="{parent}"/><child link="{child}"/>{_origin(rng)}'
    if kind != 'fixed':
        axis = rng.normal(size=3)
        bounds = '' if kind == 'continuous' else f'lower="{-rng.uniform(1, 2)!r}" upper="1.5" '
        lines += (f'<axis xyz="{_numbers(axis / np.linalg.norm(axis))}"/>'
                  f'<limit {bounds}effort="100" velocity="3"/>'
                  f'<dynamics damping="{rng.uniform(0, 2)!r}" friction="{rng.uniform(0, 2)!r}"/>')
    return f'<joint name="{name}" type="{kind}">{lines}</joint>'


def random_tree(seed: int, nv: int) -> str:
    """
    URDF text of a random branched tree of ``nv`` moving joints, the same for the same arguments.

    At least 30 % of the joints are prismatic; axes and frames are skew; massive links are fixed to
    the base and to moving links, and carry joints themselves.
    """
    rng = np.random.default_rng(seed)
    slides = -(-3 * nv // 10)
    kinds = ['prismatic'] * slides + [str(k) for k in rng.choice(
        ['revolute', 'continuous', 'prismatic'], nv - slides, p=[0.6, 0.2, 0.2])]
    rng.shuffle(kinds)
    text, links = [_link(rng, 'base')], ['base']
    for n, kind in enumerate(kinds):
        # Half of the joints lengthen the latest branch, the others start one anywhere.
        parent = links[-1] if rng.random() < 0.5 else str(rng.choice(links))
        if rng.random() < 0.4:
            text += [_link(rng, f'fixed_{n:02}'),
                     _joint(rng, f'fix_{n:02}', 'fixed', parent, f'fixed_{n:02}')]
            parent = f'fixed_{n:02}'
            links.append(parent)
        text += [_link(rng, f'link_{n:02}'),
                 _joint(rng, f'joint_{n:02}', kind, parent, f'link_{n:02}')]
        links.append(f'link_{n:02}')
    text += [_link(rng, 'tool'), _joint(rng, 'tool_fix', 'fixed', links[-1], 'tool')]
    return f'<robot name="tree_{seed}">\n' + '\n'.join(text) + '\n</robot>\n'


def random_mimic_tree(seed: int, nb: int) -> str:
    """
    URDF text of a random tree of ``nb`` joints, a third of which mimic others, in chains too.

    The second one always does. Leaders stand before and after their followers in the document, on
    the same branch and on others.
    """
    rng = np.random.default_rng([seed, nb])
    root = etree.fromstring(random_tree(seed, nb))
    joints = [joint for joint in root.iterfind('joint') if joint.get('type') != 'fixed']
    order = rng.permutation(nb)
    for k in range(1, nb):
        if k == 1 or rng.random() < 0.3:
            etree.SubElement(joints[order[k]], 'mimic', {
                'joint': joints[order[rng.integers(k)]].get('name'),
                'multiplier': repr(float(rng.uniform(0.5, 1.5) * rng.choice([-1, 1]))),
                'offset': repr(float(rng.uniform(-0.2, 0.2)))})
    return etree.tostring(root, encoding='unicode')


def differences(one: RobotModel, other: RobotModel) -> Iterator[str]:
    """Tell in which fields two models differ, be it by the last bit or in the order of frames."""
    for name in (field.name for field in fields(RobotModel)
                 if field.name not in ('shapes', 'shape_problems')):    # of places in files
        a, b = getattr(one, name), getattr(other, name)
        if name == 'frames':
            same = [*a] == [*b] and all(
                a[key].body == b[key].body and np.array_equal(a[key].rotation, b[key].rotation)
                and np.array_equal(a[key].origin, b[key].origin) for key in a)
        elif isinstance(a, np.ndarray):
            same = a.dtype == b.dtype and np.array_equal(a, b)
        else:
            same = a == b
        if not same:
            yield f'{name}: {a!r} and {b!r}'

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Draw docs/panda.webp, the moving picture of the README.

A Panda follows a trajectory under computed torque in MuJoCo, which also draws it; the bars are
the commanded efforts, relative to the limits. `MUJOCO_GL=egl` or `osmesa` draws without a screen:

    MUJOCO_GL=osmesa python docs/moving_picture.py
"""

from pathlib import Path

import mujoco
import numpy as np
from PIL import Image, ImageDraw
from robodyn_ros import Dynamics, RobotModel, Settings, simulate, Waypoints
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.model.shapes import Shape
from robodyn_ros.viewer.quantities import quaternion
from robodyn_ros.viewer.robot_nodes import link_shapes, solid

FILE = Path(__file__).with_name('panda.webp')
WIDTH, HEIGHT, RATE, QUALITY = 640, 360, 15, 60
SCENE = """
<mujoco><visual><headlight ambient="0.45 0.45 0.45" diffuse="0.5 0.5 0.5"/>
<global offwidth="{width}" offheight="{height}" fovy="38"/></visual>
<asset><texture name="sky" type="skybox" builtin="gradient" rgb1="0.93 0.95 0.98"
rgb2="0.78 0.83 0.9" width="64" height="64"/>
<texture name="floor" type="2d" builtin="checker" rgb1="0.86 0.88 0.9" rgb2="0.8 0.83 0.86"
width="300" height="300"/><material name="floor" texture="floor" texrepeat="8 8"/>{meshes}</asset>
<worldbody><light pos="1 -1 3" dir="-0.3 0.3 -1"/>
<geom type="plane" size="3 3 0.1" material="floor"/>{bodies}</worldbody></mujoco>"""


def scene(shapes: list[Shape]) -> mujoco.MjModel:
    """Return a scene in which each shape is a body that is put where it belongs."""
    meshes, bodies, assets = '', '', {}
    for k, one in enumerate(shapes):
        assets[f'{k}.stl'] = solid(one).export(file_type='stl')
        meshes += f'<mesh name="m{k}" file="{k}.stl"/>'
        color = '0.95 0.95 0.96 1' if k % 2 else '0.3 0.36 0.42 1'
        bodies += (f'<body name="b{k}" mocap="true"><geom type="mesh" mesh="m{k}" '
                   f'rgba="{color}" contype="0" conaffinity="0"/></body>')
    return mujoco.MjModel.from_xml_string(SCENE.format(
        width=WIDTH, height=HEIGHT, meshes=meshes, bodies=bodies), assets)


def motion(model: RobotModel, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and efforts (N, nv) of a motion that ends where it begins."""
    turn = np.array([0.7, 0.35, 0.3, 0.5, 0.5, 0.4, 0.8])[:model.nv]
    path = Waypoints(model.joint_names, np.array([0.0, 1.3, 2.6, 3.9]),
                     np.array([pose, pose + turn, pose - turn, pose]),
                     np.zeros((4, model.nv)), np.zeros((4, model.nv)))
    run = simulate(model, Settings(**{**suggest_gains(model, pose, Settings())._asdict(),
                                      'mode': 'computed_torque'}), pose, 3.9, path)
    assert not run.fault, run.fault
    at = np.arange(0.0, run.time[-1], 1 / RATE)
    rows = np.searchsorted(run.time, at)
    return run.position[rows], run.effort[rows]


def main() -> None:
    """Simulate, draw, and write the file."""
    robot = load_robot('panda', {}, [])
    model, dynamics = robot.model, Dynamics(robot.model)
    shapes, _ = link_shapes(robot.path, model)
    drawn = scene(shapes)
    data, camera = mujoco.MjData(drawn), mujoco.MjvCamera()
    camera.lookat[:], camera.distance = (0.15, 0.0, 0.42), 1.9
    camera.azimuth, camera.elevation = 140, -14
    pictures = []
    with mujoco.Renderer(drawn, HEIGHT, WIDTH) as renderer:
        for q, effort in zip(*motion(model, robot.pose)):
            for k, one in enumerate(shapes):
                T = dynamics.pose(q, one.link)
                data.mocap_pos[k] = T[:3, 3] + T[:3, :3] @ one.origin
                data.mocap_quat[k] = quaternion(T[:3, :3] @ one.rotation)
            mujoco.mj_forward(drawn, data)
            renderer.update_scene(data, camera)
            pictures.append(bars(Image.fromarray(renderer.render()), model, effort))
    pictures[0].save(FILE, save_all=True, append_images=pictures[1:], duration=1000 // RATE,
                     loop=0, quality=QUALITY, method=6)
    print(f'{FILE}: {len(pictures)} pictures, {FILE.stat().st_size / 1e6:.2f} MB')


def bars(picture: Image.Image, model: RobotModel, effort: np.ndarray) -> Image.Image:
    """Draw efforts (nv,) [N·m] beside the arm."""
    pen, left, middle, half = ImageDraw.Draw(picture), 468, 560, 62
    pen.text((left, 22), 'effort / limit', fill='#30363d')
    for i, share in enumerate(effort / model.effort_limit):
        y = 42 + 18 * i
        pen.rectangle((middle - half, y, middle + half, y + 10), fill='#d3d9e0')
        end = middle + half * float(np.clip(share, -1.0, 1.0))
        pen.rectangle((min(middle, end), y, max(middle, end), y + 10), fill='#1f6fb4')
        pen.text((left, y), f'{i + 1}', fill='#30363d')
    return picture


if __name__ == '__main__':
    main()

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `demo`."""

from pathlib import Path
from typing import Annotated

import typer

from .options import AcceptInertia, At, chosen_robot, command, console, Locked, output, Robot, RUN
from ..errors import DemoError, ParameterError, require_modules


@command(RUN, 'two_link --brief')
def demo(robot: Robot = 'panda', locked: Locked = [], at: At = '',  # noqa: B006
         brief: Annotated[bool, typer.Option(
             '--brief', help='Shorter motions at half the rate, all checks.'
             )] = False,
         scene: Annotated[str, typer.Option(
             help='motion: free fall, gravity, a push, a trajectory. contact: a push, guiding by '
             'hand, a collision with a post.')] = 'motion',
         accept_inertia: AcceptInertia = False,
         arm: Annotated[str, typer.Option(
             '--arm', metavar='ARM', help='Arm of `robodyn driver list` with six joints: its '
             'motors are simulated on a CAN bus, without ROS; no other option but --output '
             'matters.')] = '',
         view: Annotated[bool, typer.Option(
             '--view', help='Show it in the browser.')] = False,
         output: Annotated[Path, output(
             'Folder for report, picture, parameter files and logs of the nodes; former ones are '
             'replaced.', 'FOLDER')] = Path('build/demo')) -> None:
    """Simulate a robot over ROS 2: a scene of motions, or one of contacts."""
    from ..demo import REQUIRED_MODULES
    from ..viewer import REQUIRED_MODULES as VIEWER

    if arm:
        from ..report import REQUIRED_MODULES as REPORT
        require_modules('the demo', ['matplotlib', *REPORT], DemoError)
        from ..demo.bus_scene import run as run_arm
        raise typer.Exit(run_arm(arm, output, console()))
    require_modules('the demo', REQUIRED_MODULES, DemoError)
    if view:
        require_modules('demo --view', VIEWER, DemoError)
    from ..demo.run import run, SCENES
    if scene not in SCENES:
        raise ParameterError(f'--scene is {scene!r}', name='--scene', value=scene,
                             remedy=f'choose one of {", ".join(SCENES)}')
    chosen = chosen_robot(robot, locked, at=at, roomy=True,
                          accepted_links=['*'] if accept_inertia else None)
    raise typer.Exit(run(chosen, output, console(), brief=brief, scene=scene, view=view))

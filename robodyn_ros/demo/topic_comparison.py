# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Comparison of control laws through the real nodes and topics, in lockstep.

The simulator waits for the command that answers each of its states: a busy machine makes the
comparison slow, and does not change what is compared.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import nan
import os
from pathlib import Path
import sys
import tempfile
from typing import Any

import numpy as np
from numpy import ndarray

from . import motion
from .conductor import conducting, Conductor, Diagnosis
from .law_comparison import (
    evaluated,
    failed_at_rest,
    Figures,
    not_armed,
    REST_TIME,
    Scene,
    scenes,
    settings_of,
)
from .run import compile_all, environment, NODES, PATIENCE
from ..catalog.robots import write_parameters
from ..closed_loop import Simulated
from ..control.laws import registry
from ..control.references.trajectory import Waypoints
from ..control.settings.settings import GAINS
from ..control.steps import guard
from ..dynamics import Dynamics
from ..errors import DemoError
from ..model.robot import RobotModel
from ..nodes.clients.processes import ending_once, running

START_DELAY = 2.0    # [s] from sending a trajectory to its start
MAX_WALL_TIME = 600.0    # [s] of one controller
RUNNING, FAULT = guard.PHASES[guard.RUNNING], guard.PHASES[guard.FAULT]
# In lockstep, a busy machine only slows the clock down. Long timeouts keep a controller that waits
# for a processor from being taken for a lost one.
LOCKSTEP: dict[str, dict[str, Any]] = {
    'simulator': {'lockstep': True, 'lockstep_settle': 0.05, 'lockstep_timeout': 30.0,
                  'publish_clock': True, 'command_timeout': 5.0},
    'controller': {'trigger': 'state', 'use_sim_time': True, 'flight_recorder': 0.0,
                   'specialize': False, 'robot_compensates_gravity': False,
                   'accepted_links': ['*']}}


def compare_topics(model: RobotModel, pose: ndarray, shortest: float) -> Iterator[Figures]:
    """
    Yield the same figures as :func:`.law_comparison.compare`, of the running nodes.

    :param pose: (nv,) [rad | m] at which the motion begins and ends.
    :param shortest: duration of the motion [s]; it takes longer where limits ask for it.
    :raises RobodynError: as for ``compare``; or a node refuses a request.
    """
    motion.check_limits(model)
    asked = motion.plan(Dynamics(model), pose, shortest)
    for scene in scenes(model):
        with nodes(scene, pose) as conductor:
            for law in registry.FOLLOWING:
                yield drive(conductor, scene, law, pose, asked, min(REST_TIME, shortest))


@contextmanager
def nodes(scene: Scene, pose: ndarray) -> Iterator[Conductor]:
    """Start the simulator of a scene and its controller, which is configured."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = {'simulator': {'initial_position': pose.tolist(), 'command_delay': scene.delay},
               'controller': gains_of(registry.FOLLOWING[0], scene, pose)}
        for node, robot in (('simulator', scene.plant), ('controller', scene.known)):
            (folder / f'{node}.urdf').write_text(robot.to_urdf())
            own[node] |= {'urdf': str(folder / f'{node}.urdf'), **PATIENCE[node],
                          **LOCKSTEP[node]}
        write_parameters(folder / 'parameters.yaml', own)
        env = environment(folder)
        os.environ.update(env)
        # Else it would be part of `configure`, for which a busy machine takes too long
        compile_all(None, folder, env, lambda: None, trigger=LOCKSTEP['controller']['trigger'])
        commands = {node: [sys.executable, '-m', f'robodyn_ros.nodes.{node}', '--ros-args',
                           '--params-file', str(folder / 'parameters.yaml')] for node in NODES}
        with ending_once(), running(commands, folder, env) as children, \
                conducting(scene.known, children, lambda: None) as conductor:
            conductor.change_state('configure')
            yield conductor


def gains_of(law: str, scene: Scene, pose: ndarray) -> dict[str, Any]:
    """Return mode, gains and friction compensation of a law as parameters of the controller."""
    settings = settings_of(law, scene.known, pose)
    values = {name: [*map(float, np.ravel(getattr(settings, name)))]
              for name in (*GAINS, 'friction_compensation') if np.size(getattr(settings, name))}
    return {'mode': law, **values}


def drive(conductor: Conductor, scene: Scene, law: str, pose: ndarray, asked: Waypoints,
          rest: float) -> Figures:
    """Return the figures of one law: a time at rest, then a motion, and ``rest`` [s] after it."""
    recorder = conductor.recorder
    conductor.trigger('simulator/reset')
    conductor.diagnoses.clear()
    conductor.set_parameters('controller', gains_of(law, scene, pose))
    try:
        conductor.change_state('activate')
    except DemoError as error:
        return not_armed(scene, law, str(error))
    conductor.wait_until(lambda: conductor.next_diagnosis().phase in (RUNNING, FAULT),
                         MAX_WALL_TIME,
                         'rising', 'controller')
    begin = now(conductor)
    recorder.clear(begin)
    if failed := wait(conductor, begin + rest):
        conductor.change_state('deactivate')
        return failed_at_rest(scene, law, failed.code, failed.time - begin, failed.reason)
    rested = recorder.recording().position - pose
    start = now(conductor) + START_DELAY
    recorder.clear(start)
    conductor.send(asked, start)
    if now(conductor) >= start:
        raise DemoError('the trajectory came after its start', name='controller',
                        remedy='try again when less is going on')
    end = start + float(asked.times[-1]) + rest
    failed = wait(conductor, end)
    states = recorder.recording().between(start - 1e-6, end + 1e-6)
    conductor.change_state('deactivate')
    if failed and failed.time < start:
        return failed_at_rest(scene, law, failed.code, failed.time - begin, failed.reason)
    fault_time = failed.time - start if failed else nan
    time = states.time - start
    moved = Simulated(
        time, states.position, states.velocity, states.effort, failed.reason if failed else '',
        failed.code if failed else '', fault_time, np.full_like(states.position, nan),
        np.where(time < fault_time, RUNNING, FAULT) if failed else np.full(len(time), RUNNING),
        scene.known)
    return evaluated(scene, law, asked, moved, rested)


def now(conductor: Conductor) -> float:
    """Return the time stamp of the newest state [s]."""
    conductor.wait_until(lambda: len(conductor.recorder.latest().time) > 0, MAX_WALL_TIME,
                         'a joint state', 'simulator')
    return float(conductor.recorder.latest().time[-1])


def wait(conductor: Conductor, until: float) -> Diagnosis | None:
    """Wait until the simulation has reached a time [s]; return the report of a fault before."""
    if not conductor.happens(lambda: fault(conductor) is not None or now(conductor) >= until,
                             MAX_WALL_TIME):
        raise DemoError(f'the simulation has not reached {until:.3f} s', name='simulator',
                        remedy='try again when less is going on')
    while fault(conductor) is None and conductor.diagnoses[-1].time < until:
        conductor.next_diagnosis()      # an earlier report may precede a fault
    return fault(conductor)


def fault(conductor: Conductor) -> Diagnosis | None:
    """Return the first report of a fault of the present law."""
    return next((one for one in conductor.diagnoses if one.phase == FAULT), None)

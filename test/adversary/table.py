# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every injection of the catalogue in the situations that show it, as a table and as JSON."""

from collections.abc import Iterator
from dataclasses import asdict
import json
from pathlib import Path
from typing import Any

from rich.table import Table
from robodyn_ros.control.steps import guard
from robodyn_ros.verification.catalogue import CATALOGUE
from robodyn_ros.verification.injection import Injection, Scene
from robodyn_ros.verification.sensing import Conditions
from robodyn_ros.verification.trial import Figures, Planned, play, Run
from robodyn_ros.verification.world import Library, World

from . import arms

Row = dict[str, Any]
FAST = Conditions(delay=0.001)


def scenes(words: list[str], paths: tuple[str, ...]) -> list[tuple[Injection, Scene]]:
    """Return the rows of the table whose names contain one of the words; all if there is none."""
    return [(what, scene) for what in CATALOGUE.values() for scene in what.scenes
            if scene.path in paths and (not words or any(w in what.name for w in words))]


def rows(wanted: list[tuple[Injection, Scene]], subjects: Any) -> Iterator[Row]:
    """Play rows; ``subjects(scene, settings)`` gives the controller of each."""
    for what, scene in wanted:
        settings = arms.settings(scene.robot, scene.mode, share=scene.share,
                                 loop_delay=scene.loop_delay, rate=scene.rate,
                                 collision_threshold=threshold(scene))
        world = World(arms.arm(scene.robot), settings, FAST, scene.motion, scene.trigger, 1)
        try:
            run = play(subjects(scene, settings), world,
                       [Planned(what, 0.0, scene.duration, 0)], scene.seconds)
        except Exception as error:      # a row that cannot be played must not cost the others
            run = Run(False, Figures(reason='not played'), {'exception': repr(error)})
        yield row(what, scene, run)


def threshold(scene: Scene) -> list[float]:
    """Return the collision thresholds of a scene [N·m | N]; none: no collision is detected."""
    share = scene.collision_threshold
    return (share * arms.arm(scene.robot).model.effort_limit).tolist() if share else []


def row(what: Injection, scene: Scene, run: Run) -> Row:
    """Return one row as JSON knows it."""
    figures = {k: None if v != v else v for k, v in asdict(run.figures).items()}
    figures['phase'] = guard.PHASES[run.figures.phase] if run.armed else 'not armed'
    return {'injection': what.name, 'scene': title(scene), **figures, 'violations': run.violations}


def title(scene: Scene) -> str:
    """Short name of a situation."""
    mode = {'gravity_compensation': 'floats', 'joint_impedance': 'impedance',
            'computed_torque': 'computed'}[scene.mode]
    where = '' if scene.path == 'library' else f' {scene.path}'
    trigger = '' if scene.trigger == 'state' else f' {scene.trigger}'
    detecting = ' collisions' if scene.collision_threshold else ''
    return (f'{scene.robot} {mode}{where}{trigger}{" at rest" * (scene.motion == "still")}'
            f'{detecting}')


class Subjects:
    """Controllers of the library, one a robot, whose dynamics may be specialized; and nodes."""

    def __init__(self, *, specialize: bool = True) -> None:
        self._specialize, self._known = specialize, dict[str, Library]()
        self._nodes: Any = None

    def __call__(self, scene: Any, settings: Any) -> Any:
        """Return the controller of a scene, or of a composition."""
        if scene.path == 'library':
            if scene.robot not in self._known:
                self._known[scene.robot] = Library(arms.arm(scene.robot).model, settings,
                                                   specialize=self._specialize)
            return self._known[scene.robot]
        from .controller_nodes import Nodes  # which needs rclpy

        self._nodes = self._nodes or Nodes()
        return self._nodes.node(scene, settings)

    def close(self) -> None:
        """End the nodes."""
        if self._nodes is not None:
            self._nodes.close()


def shown(rows_: list[Row]) -> Table:
    table = Table(title='step and v are shares of the limits', title_justify='left', box=None,
                  pad_edge=False)
    table.add_column('injection', overflow='fold')
    for name in ('step', 'v', 'rad', 'fault ms', 'zero ms'):
        table.add_column(name, justify='right', no_wrap=True)
    table.add_column('end', overflow='fold')
    for r in rows_:
        numbers = ('-' if r[name] is None else format(r[name], form) for name, form in (
            ('step', '.2f'), ('velocity', '.2f'), ('travel', '.2f'), ('fault', '.0f'),
            ('zero', '.0f')))
        end = r['reason'] if r['phase'] == 'FAULT' or r['reason'] == 'ENDED' else r['phase']
        table.add_row(f'{r["injection"]}\n  [dim]{r["scene"]}[/dim]', *numbers, end,
                      style='red' if r['violations'] else None)
    return table


def write(rows_: list[Row], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows_, indent=1, ensure_ascii=False) + '\n')

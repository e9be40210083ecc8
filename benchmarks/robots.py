# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.robots FOLDER`: every URDF under a folder, beside Pinocchio."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
import re
from typing import Annotated, NamedTuple

from lxml import etree
import numpy as np
from numpy import ndarray
import pinocchio as pin
from rich.console import Console
from robodyn_ros import Dynamics, load_urdf, RobotModel
from robodyn_ros.errors import RobodynError
from robodyn_ros.model.robot import spread
import typer

POSES = 3           # of each robot that are compared
TOLERANCE = 1e-10   # of the largest entry of a quantity, over all poses
WIDTH = 120         # of lines in a file
VARYING = re.compile(r"'[^']*'|[-+]?\d[\d.]*(e[-+]?\d+)?")      # names and numbers of a reason


class Verdict(NamedTuple):
    """
    What came of one file.

    :param joints: degrees of freedom; 0: it was refused.
    :param massless: joints that no inertia resists.
    :param refused: why we refuse it; ``theirs``: why Pinocchio does; '': loaded.
    :param blanks: compared without blanks around attributes: Pinocchio's parser drops an inertial
        in which a number ends with a line break, and says so on stderr alone.
    :param difference: from Pinocchio, relative to the largest entry; NaN: nothing was compared.
    """

    path: Path
    joints: int = 0
    massless: int = 0
    refused: str = ''
    theirs: str = ''
    blanks: bool = False
    difference: float = np.nan

    @property
    def disagrees(self) -> bool:
        """Whether something else was computed than Pinocchio computes."""
        return self.difference > TOLERANCE

    @property
    def settled(self) -> bool:
        """Whether it is loaded, or refused by Pinocchio too."""
        return not self.refused or bool(self.theirs)


def main(folder: Annotated[Path, typer.Argument(
             metavar='FOLDER', exists=True, file_okay=False, help='Where URDF files are, at any '
             'depth.')],
         verbose: Annotated[bool, typer.Option(
             '--verbose', '-v', help='Show a line for each file that is loaded, too.')] = False,
         ) -> None:
    """Load every URDF of a folder; fail where M, g or τ is not that of Pinocchio."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, emoji=False, width=WIDTH)
    verdicts = []
    for path in sorted(folder.rglob('*.urdf')):
        verdicts.append(verdict := judge(path))
        if verbose or verdict.disagrees or verdict.blanks or verdict.refused:
            console.print(f'{path.relative_to(folder)}: {line(verdict)}', soft_wrap=True)
    if not verdicts:
        raise typer.BadParameter(f'there is no .urdf file in {folder}', param_hint='FOLDER')
    for sentence in summary(verdicts):
        console.print(sentence, soft_wrap=True)
    raise typer.Exit(any(verdict.disagrees for verdict in verdicts))


def judge(path: Path) -> Verdict:
    """Load a file, and compare with Pinocchio where both do."""
    verdict = Verdict(path)
    reference = None
    try:
        reference = pin.buildModelFromUrdf(str(path))
    except Exception as error:      # of several types, over versions
        verdict = verdict._replace(theirs=' '.join(str(error).split()) or type(error).__name__)
    try:
        model = load_urdf(path, massless='warn')
    except RobodynError as error:
        return verdict._replace(refused=str(error))
    verdict = verdict._replace(joints=model.nv, massless=len(model.massless_joints))
    if reference is None:
        return verdict
    verdict = verdict._replace(difference=difference(model, reference))
    if verdict.disagrees and (clean := _without_blanks(path)) is not None:
        return verdict._replace(blanks=True, difference=difference(
            model, pin.buildModelFromXML(clean)))
    return verdict


def _without_blanks(path: Path) -> str | None:
    """Return the text with no blank around attributes, None where there are none anyhow."""
    root, found = etree.parse(path).getroot(), False
    for element in root.iter(etree.Element):
        for name, value in element.attrib.items():
            if value != value.strip():
                element.set(name, value.strip())
                found = True
    return etree.tostring(root, encoding='unicode') if found else None


def difference(model: RobotModel, reference: pin.Model) -> float:
    """Return the largest difference of M(q), g(q) and τ(q, q̇, q̈) over poses, relative."""
    missing = {*model.body_joint_names} ^ {*reference.names[1:]}
    if missing:
        return np.inf
    dynamics, data = Dynamics(model), reference.createData()
    reference.gravity.linear = model.gravity_vector
    P, shift = _projection(model, reference)
    rng = np.random.default_rng(0)
    worst, largest = np.zeros(3), np.full(3, np.finfo(float).tiny)
    for q in spread(model, POSES):
        v, a = rng.uniform(-1, 1, (2, model.nv))
        at = pin.integrate(reference, pin.neutral(reference), P @ q + shift)
        M = pin.crba(reference, data, at)
        theirs = (P.T @ (np.triu(M) + np.triu(M, 1).T) @ P + np.diag(model.armature),
                  P.T @ pin.computeGeneralizedGravity(reference, data, at),
                  P.T @ pin.rnea(reference, data, at, P @ v, P @ a) + model.armature * a)
        ours = dynamics.mass_matrix(q), dynamics.gravity(q), dynamics.inverse_dynamics(q, v, a)
        worst = np.maximum(worst, [abs(x - y).max() for x, y in zip(ours, theirs)])
        largest = np.maximum(largest, [abs(y).max() for y in theirs])
    return float((worst / largest).max())


def _projection(model: RobotModel, reference: pin.Model) -> tuple[ndarray, ndarray]:
    """
    Return P (nv of Pinocchio, nv) and an offset: the position of its joints is P q + offset.

    There, joints that mimic others move on their own.
    """
    P, shift = np.zeros((reference.nv, model.nv)), np.zeros(reference.nv)
    for name, driver, ratio, offset in zip(model.body_joint_names, model.driver, model.ratio,
                                           model.shift):
        row = reference.joints[reference.getJointId(name)].idx_v
        P[row, driver], shift[row] = ratio, offset
    return P, shift


def line(verdict: Verdict) -> str:
    """Return what is to say of one file."""
    if verdict.refused:
        return f'refused{" (by Pinocchio, too)" if verdict.theirs else ""}: {verdict.refused}'
    massless = f', {verdict.massless} of them without inertia' if verdict.massless else ''
    return (f'{verdict.joints} joints{massless}, '
            + (f'refused by Pinocchio: {verdict.theirs}' if verdict.theirs else
               f'{"DIFFERS" if verdict.disagrees else "agrees"} to {verdict.difference:.1e}'
               f'{", without blanks that Pinocchio does not read" if verdict.blanks else ""}'))


def summary(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Return the figures over all files, and the reasons why we alone refuse some."""
    verdicts = list(verdicts)
    loaded = [v for v in verdicts if not v.refused]
    compared = [v.difference for v in loaded if not np.isnan(v.difference)]
    refused = [v for v in verdicts if v.refused]
    alone = [v for v in refused if not v.theirs]
    massless = sum(v.massless > 0 for v in loaded)
    yield (f'{len(verdicts)} files: {len(loaded)} loaded ({massless} of them with joints that no '
           f'inertia resists), {len(refused)} refused '
           f'({len(refused) - len(alone)} of them by Pinocchio, too)')
    yield (f'loaded, or refused by Pinocchio too: {sum(v.settled for v in verdicts)} of '
           f'{len(verdicts)} ({sum(v.settled for v in verdicts) / len(verdicts):.1%})')
    if compared:
        yield (f'compared with Pinocchio: {len(compared)}, largest difference '
               f'{max(compared):.1e}, {sum(x > TOLERANCE for x in compared)} above {TOLERANCE:g}')
    reasons = Counter(VARYING.sub('_', v.refused.partition(': ')[2] or v.refused) for v in alone)
    for reason, count in reasons.most_common():
        yield f'refused by us alone, {count} times: {reason}'


if __name__ == '__main__':
    typer.run(main)

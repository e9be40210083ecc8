# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Declaration of a control law: function, gains, memory, reference and stability rules."""

from collections.abc import Callable
from dataclasses import dataclass, Field, fields
from typing import Any, NamedTuple

from numpy import ndarray

from ..inputs.partner import Partner, Policy
from ..inputs.task import Bounds, Task
from ...dynamics.model_data import ModelData, Workspace
from ...errors import ParameterError

#: Kinds of reference that a law follows.
REFERENCES = 'none', 'trajectory', 'policy', 'pose', 'partner'
NO_REFERENCE, TRAJECTORY, POLICY, POSE, PARTNER = REFERENCES
#: Fraction of the effort limit that the limits may withhold of an effort that is not limited.
WITHHELD_TOLERANCE = 1e-9


class Arm(NamedTuple):
    """
    State and reference of the arm, as a law reads them; a law writes to none of the arrays.

    One of a user that does so in its trial is refused; later, anything written to the vectors and
    to ``joints`` is lost with the cycle.

    Arrays are (nv,) in the model's joint order, positions in rad | m, efforts in N·m | N.
    """

    time: float             # s, of the cycle
    dt: float               # s, duration of the cycle
    q: ndarray              # position and velocity
    qd: ndarray
    q_reference: ndarray    # reference position, velocity, acceleration
    qd_reference: ndarray
    qdd_reference: ndarray
    gravity: ndarray        # g(q)
    measured: ndarray       # measured effort, NaN where the state carries none
    applied: ndarray        # effort applied by the last cycle, with g(q) where the robot adds it
    withheld: ndarray       # effort that the limits have withheld in the last cycle
    policy: Policy          # newest policy of a planner, see :class:`.Policy`
    partner: Partner        # of a coupled arm, see :mod:`..partner`
    coupled: int            # 1: it is there, and the arm is coupled to it
    task: Task              # frame and its reference pose, of a law that follows a POSE
    bounds: Bounds          # of the motion in space
    guided: int             # 1: a hand guides the arm, and the reference is the present pose
    payload_body: int       # index of the body that holds payload_frame, or of the last joint
    payload_time: float     # s, until the payload that is set is in force; 0: it is
    joints: ndarray         # (nv,) JOINT, limits: effort_limit, velocity_limit, ...
    robot: ModelData        # parameters and workspace of :mod:`.dynamics`; workspace.M is M(q)
    workspace: Workspace


class Judged(NamedTuple):
    """
    Gains that are judged by the eigenvalues of the delayed loop, see :mod:`..gain_stability`.

    Names of the gains that act on the position, on the velocity, and on the integral of the
    position error ('' for none).
    """

    position: str
    velocity: str
    integral: str = ''
    #: Whether they act on accelerations, which M(q) turns into efforts.
    accelerations: bool = False
    #: Name of the bandwidth K_o [1/s] of a disturbance observer, which acts as integral action.
    observer: str = ''
    #: Names of the bandwidth Λ [1/s] of a reference velocity v, and of the rate α [1/s] of
    #: integral action on s = v - q̇: τ = D s + α D ∫ s dt + M(q) v̇.
    reference: str = ''
    adaptation: str = ''

    def named(self, efforts: tuple[Any, Any], accelerations: tuple[Any, Any]) -> dict[str, Any]:
        """Return by name, of two pairs of gains on position and velocity, those that it judges."""
        pair = accelerations if self.accelerations else efforts
        return {name: gain for name, gain in zip(self[:2], pair) if name}


@dataclass(frozen=True)
class Law:
    """
    Control law.

    ``efforts(arm, gains, memory, tau)`` writes the efforts (nv,) [N·m | N] with g(q), as if the
    robot compensated no gravity. It is compiled by Numba and called in every control cycle: it
    must not allocate memory, and its only state is ``memory``.

    :param name: as in the parameter ``mode`` and in messages.
    :param efforts: the function; ``arm`` is an :class:`Arm`, ``gains`` and ``memory`` are named
        tuples of (nv,) arrays, with the fields of the two parameters below.
    :param equation: for the docs, with ``source``: book or paper, and equation.
    :param gains: dataclass whose fields are declared by :func:`..declare.gain`; None: none.
    :param memory: NamedTuple class of the state of the law, (nv,) floats each, or as its type
        states, ``Annotated[ndarray, 16]`` or ``Annotated[ndarray, (6, 6)]``; zero when the law
        begins. None: nothing.
    :param reference: ``'trajectory'``, ``'policy'`` for a law that evaluates ``arm.policy``,
        ``'pose'`` for one that evaluates ``arm.task``, ``'partner'`` for one that evaluates
        ``arm.partner``, or ``'none'``.
    :param guided: whether hands guide the arm while ``~/guiding`` allows it: then the present pose
        is its reference, friction is compensated at the measured velocity, and nothing is a
        collision.
    :param exact: whether a distance from the reference is a fault unless ``following_error`` is
        set, as for laws without a stiffness of the user's choice.
    :param judged: gains whose stability is checked with the delay of the loop.
    """

    name: str
    efforts: Callable[[Arm, Any, Any, ndarray], None]
    equation: str
    source: str
    gains: type | None = None
    memory: type | None = None
    reference: str = TRAJECTORY
    exact: bool = False
    guided: bool = False
    judged: tuple[Judged, ...] = ()

    def __post_init__(self) -> None:
        # The plain function of one that a user has decorated for Numba
        object.__setattr__(self, 'efforts', getattr(self.efforts, 'py_func', self.efforts))
        if self.reference not in REFERENCES:
            raise ParameterError(f'law {self.name}: reference {self.reference!r} is unknown',
                                 name=self.name, value=self.reference,
                                 remedy=f'choose one of {", ".join(REFERENCES)}')

    @property
    def declared(self) -> 'tuple[Field[Any], ...]':
        """Return the declarations of the gains."""
        return () if self.gains is None else fields(self.gains)

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the gains that have no default."""
        return tuple(f.name for f in self.declared if f.metadata['empty'] is None)

    @property
    def follows(self) -> bool:
        """Whether the law follows a trajectory."""
        return self.reference == TRAJECTORY

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Sentences that explain the state of a controller: faults, refusals, and remedies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..settings.friction import static_friction
from ..settings.link_pairs import nearest_links
from ..settings.unreached_targets import most_resting_error
from ..steps import guard

if TYPE_CHECKING:
    from .controller import Controller

# Share of their difference within which a measured effort equals -g(q): its sign is wrong
REVERSED_EFFORT_TOLERANCE = 0.3
# Number of trajectories that form a stream if each is shorter than STREAM_HORIZON [s] and replaces
# the one before
STREAM_LENGTH, STREAM_HORIZON = 2, 0.5
STREAM_FAULTS = ('EFFORT_LIMITED', 'EFFORT_OSCILLATES', 'FOLLOWING_ERROR')
# Faults of a joint that may have been given too little effort
WEAK_FAULTS = ('EFFORT_LIMITED', 'FOLLOWING_ERROR', 'JOINT_BLOCKED')
STREAM_HINT = ('every trajectory ends at rest, and those of this stream are short: send single '
               f'waypoints, or trajectories for the next {STREAM_HORIZON:g} s or more')


RESTING_VELOCITY = 0.01    # [rad/s | m/s]
WITHHELD_SHARE = 0.01    # of the effort limit: smaller parts that limits withhold are no cause

ZERO_STATE_HINT = (': has the driver read its encoders? If the arm is at zero, set '
                   'accept_zero_state or publish its efforts')


def held_by(c: Controller) -> str:
    """Sentence that explains why the last motion ended early, '' if it did not."""
    code = int(c.memory['held_by'][0])
    if code == guard.NO_REASON:
        return ''
    which = (nearest_links(c.model, c.settings, c.records.bounds)
             if code == guard.SELF_COLLISION else '')
    return guard.REASONS[guard.CODES[code]] + which


def reason(c: Controller) -> str:
    """Sentence that explains the fault, with the joint concerned and a hint, if any."""
    hint = ''
    if c.reason_code in ('PERIODS_MISSED', 'LOOP_STALLED'):
        hint = c.pace.sentence(1.0 / c.settings.rate)
    elif c.reason_code in STREAM_FAULTS and c.trajectory.streamed >= STREAM_LENGTH:
        hint = STREAM_HINT
    elif c.reason_code in WEAK_FAULTS:
        joints = np.arange(c.model.nv) == c.memory['joint'][0]
        hint = c.scarcity.sentence(c.scarcity.scarce & joints)
    return _sentence(c, 'reason', 'joint') + (hint and f'; {hint}')


def arming_refusal(c: Controller) -> str:
    """Sentence that explains why arming was refused."""
    if c.asked:
        return ('no control cycle has run: the clock is not advancing, or no joint states '
                'arrive')
    if c.memory['arming_refusal'][0] == guard.NO_REASON:
        return (f'{c.memory["good_samples"][0]} good samples in a row, of '
                f'{c.settings.arming_samples}')
    sentence = _sentence(c, 'arming_refusal', 'arming_refusal_joint')
    code = guard.CODES[int(c.memory['arming_refusal'][0])]
    if code == 'EFFORT_MISMATCH':
        return sentence + _mismatch(c)
    if code == 'POSITION_OUTSIDE':
        return f'{sentence}; it is at {c.vectors.q[c.memory["arming_refusal_joint"][0]]:.6g}'
    return sentence + (ZERO_STATE_HINT if code == 'ZERO_STATE' else '')


def _mismatch(c: Controller) -> str:
    """Return measured and expected effort of the joint that prevents arming, and a hint."""
    i = int(c.memory['arming_refusal_joint'][0])
    measured, expected = float(c.vectors.measured[i]), float(c.vectors.gravity[i])
    text = f': {measured:.4g} is measured, {expected:.4g} N·m or N is expected'
    if abs(measured + expected) < REVERSED_EFFORT_TOLERANCE * abs(measured - expected):
        text += '; is the sign of its effort, or of its axis in the URDF, reversed?'
    return text


def off_target(c: Controller) -> str:
    """Sentence that explains which joint rests away from its target; '' if none does."""
    v, model = c.vectors, c.model
    if (c.phase != guard.RUNNING or not c.settings.law_in_force.follows
            or c.memory['guided'][0] or v.target_qd.any()
            or (np.abs(v.qd) > RESTING_VELOCITY).any()):
        return ''
    errors = np.abs(v.target - v.q) / most_resting_error(model)
    i = int(errors.argmax())
    if not errors[i] > 1.0:
        return ''
    cause = withholding(c, i, v.withheld[i], v.requested[i])
    if not cause:
        friction = static_friction(c.settings.loaded(model))[i]
        cause = (f'the gains are too low for a friction of {friction:.3g} N·m or N, see '
                 'friction_compensation' if friction else
                 'friction that the model lacks, a payload or an obstacle holds it')
    return (f'{model.joint_names[i]} rests {abs(v.target[i] - v.q[i]):.2g} '
            f'{"m" if model.slides[i] else "rad"} from its target: {cause}')


def withholding(c: Controller, i: int, withheld: float, requested: float) -> str:
    """Return which limits withhold an effort of the law from a joint [N·m | N]; or ''."""
    if abs(withheld) <= WITHHELD_SHARE * c.records.joints['effort_limit'][i]:
        return ''
    cause = (f'limits withhold {abs(withheld):.3g} of the {abs(requested):.3g} N·m or N that '
             'the law asks for')
    if c.scarcity.scarce[i]:
        cause += f'; {c.scarcity.sentence(np.arange(c.model.nv) == i)}'
    return cause


def _sentence(c: Controller, reason: str, joint: str) -> str:
    i = int(c.memory[joint][0])
    code = guard.CODES[int(c.memory[reason][0])]
    text = guard.REASONS[code]
    if code in ('COLLISION', 'PUSHED'):
        side = 'positive' if c.memory['contact_side'][0] > 0 else 'negative'
        return f'{text} ({c.model.joint_names[i]}, in the {side} direction)'
    if code == 'OTHER_JOINT_MOVES':
        other = c.model.joint_names[c.memory['other_joint'][0]]
        return (f'{text} ({c.model.joint_names[i]} moves {other}); are their motors or '
                'drives swapped, or is the order of the commands another one?')
    if code == 'JOINT_BLOCKED' and i < 0:
        return ('no joint moves in the test of the motors: are the brakes engaged, or the '
                'commands not passed on to the drives while the arm is RISING? '
                'motor_test_effort: 0.0 arms without the test')
    if code == 'DRIVE_FAULT':
        return f'{text} ({c.drive_fault})'
    text = f'{text} ({c.model.joint_names[i]})' if i >= 0 else text
    return text + (_limits(c, i) if code == 'POSITION_OUTSIDE' else '')


def _limits(c: Controller, i: int) -> str:
    """Return the limits and the margin of a joint that is outside, and the remedy."""
    j, unit = c.records.joints[i], 'm' if c.model.slides[i] else 'rad'
    return (f': {j["position_lower"]:.6g} to {j["position_upper"]:.6g} {unit}, and '
            f'position_margin {j["position_margin"]:.4g}; '
            'move the joint inside by hand, or raise position_margin')

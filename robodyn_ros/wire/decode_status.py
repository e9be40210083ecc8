# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Status codes of decoders: accepted, or the reason why a message is rejected."""

ACCEPTED = 0
MALFORMED = 1
LENGTHS = 2
DUPLICATE = 3
NON_FINITE = 4
FOREIGN = 5

REASONS: dict[int, str] = {
    ACCEPTED: 'accepted',
    MALFORMED: 'the bytes are cut off or not plain little-endian CDR',
    LENGTHS: 'the arrays do not have the number of elements they must have',
    DUPLICATE: 'a joint of the robot is named twice',
    NON_FINITE: 'a number is NaN or infinite where it must not be',
    FOREIGN: 'no joint of the robot is in it',
}

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Writing of pictures to the file of --picture."""

from pathlib import Path
from typing import Any

from ..errors import ArgumentError


def save(figure: Any, picture: Path) -> None:
    """
    Write a figure of Matplotlib.

    :raises ArgumentError: the file cannot be written.
    """
    try:
        figure.savefig(picture, dpi=130)
    except (OSError, ValueError) as error:
        raise ArgumentError(f'{picture} cannot be written ({error})', name='--picture',
                            value=str(picture),
                            remedy='give --picture another path that ends in .png') from error

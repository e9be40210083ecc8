# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Self-contained HTML report of an identification."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
import platform

import numpy as np

from .result import Identification, TERMS
from ..errors import IdentificationError
from ..extras import pip_install_extra

TEMPLATE = 'report.html.jinja'
LIBRARIES = ('robodyn_ros', 'numpy', 'scipy', 'numba', 'clarabel', 'matplotlib')
# What each picture shows
CAPTIONS = {
    'prediction': 'Efforts of the part that was not fitted: measured, predicted by the estimate, '
                  'and predicted by the URDF as it was.',
    'errors': 'What the estimate leaves of them.',
    'parameters': 'Base parameters, each over its size: found, with one standard error, and as '
                  'the URDF has them (beyond 3.2 at the edge).',
    'motion': 'The motion; dashed is what was not fitted.'}


def report(found: Identification, pictures: Mapping[str, bytes], source: str,
           commands: Sequence[str]) -> str:
    """
    Return the report as HTML, pictures within.

    :param pictures: PNG by name, see :mod:`~.pictures`.
    :param source: of the recording; ``commands`` are those that repeat it.
    :raises IdentificationError: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise IdentificationError(
            'the report needs jinja2, which is not installed', name='jinja2',
            remedy=f'run `{pip_install_extra("identify")}`') from None
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True,
                              lstrip_blocks=True)
    environment.filters |= {'short': lambda value: f'{value:.4g}',
                            'percent': lambda value: f'{100 * value:.2f}'}
    text = files(__package__).joinpath('templates', TEMPLATE).read_text(encoding='utf-8')
    estimate = found.estimate
    base = [{'name': name, 'text': words, 'value': value, 'error': error, 'relative': relative,
             'before': before, 'unit': estimate.units[index]}
            for name, words, value, error, relative, before, index in zip(
                estimate.base.base_names, estimate.base.texts, estimate.values,
                estimate.standard_errors, estimate.relative_deviations,
                estimate.base.values(estimate.prior), estimate.base.independent)]
    joints = [(name, estimate.sigma[j], estimate.independent[j])
              for j, name in enumerate(found.nominal.joint_names)]
    return environment.from_string(text).render(
        found=found, estimate=estimate, valid=found.validation, base=base, joints=joints,
        source=source, commands=commands, terms_heading=TERMS, mean=np.mean, versions=versions(),
        unseen_names=estimate.base.unseen,
        full=list(zip(estimate.names, estimate.units, estimate.prior, estimate.parameters)),
        pictures=[(CAPTIONS[name], b64encode(data).decode()) for name, data in pictures.items()])


def versions() -> list[tuple[str, str]]:
    """Return what made it: names and versions."""
    found = [('Python', platform.python_version())]
    for name in LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, 'not installed'))
    return found

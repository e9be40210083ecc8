# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of an identification as PNG: efforts, errors, parameters and motion."""

from io import BytesIO

from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np
from numpy import ndarray

from .motion import Motion
from .result import Identification, NOMINAL

MOST = 1500         # points of a curve
WIDTH, ROW = 10.0, 1.7      # [in]
LETTER = 0.062              # [in] of the names of parameters
LABEL = -0.065              # of the widths of rows, where the labels of their axes are
MEASURED, PREDICTED, BEFORE = '#222222', '#d1495b', '#9fb4c7'


def draw_all(found: Identification) -> dict[str, bytes]:
    """Return the pictures by name."""
    return {'prediction': _prediction(found), 'errors': _errors(found),
            'parameters': _parameters(found), 'motion': _motion(found)}


def _rows(count: int, height: float = ROW) -> tuple[Figure, list[Axes]]:
    figure = _figure(height * count + 0.9)
    axes = list(figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0])
    for row in axes:
        row.grid(alpha=0.25)
        row.yaxis.set_label_coords(LABEL, 0.5)
    return figure, axes


def _figure(height: float, left: float = 0.09, gap: float = 0.18) -> Figure:
    """Return a figure of fixed margins; computed ones, of titles too, take twice the time."""
    figure = Figure(figsize=(WIDTH, height))
    figure.subplots_adjust(left=left, right=0.985, bottom=0.45 / height, top=1.0 - 0.45 / height,
                           hspace=gap, wspace=3.0 * left)
    return figure


def _png(figure: Figure) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format='png', dpi=100, metadata={'Software': None},
                   pil_kwargs={'compress_level': 3})
    return buffer.getvalue()


def _thin(motion: Motion, values: ndarray) -> tuple[ndarray, ndarray]:
    """Return times and values with a break between segments."""
    step = -(-len(motion) // MOST)
    times: list[ndarray] = []
    curves: list[ndarray] = []
    for a, b in motion.segments:
        times += [motion.time[a:b:step], np.array([np.nan])]
        curves += [values[a:b:step], np.full((1, values.shape[1]), np.nan)]
    return np.concatenate(times), np.concatenate(curves)


def _unit(found: Identification, joint: int) -> str:
    return 'N' if found.nominal.slides[joint] else 'N·m'


def _word(name: str) -> str:
    return name.replace('$', r'\$')       # no formula


def _prediction(found: Identification) -> bytes:
    """Return measured and predicted efforts of each joint on the test part."""
    valid, nominal = found.validation, found.validations[NOMINAL]
    figure, rows = _rows(len(valid.joint_names))
    time, measured = _thin(valid.motion, valid.motion.effort)
    _, predicted = _thin(valid.motion, valid.predicted)
    before_time, before = _thin(nominal.motion, nominal.predicted)
    for j, (axes, name) in enumerate(zip(rows, valid.joint_names)):
        axes.plot(before_time, before[:, j], color=BEFORE, lw=1.2, label=NOMINAL)
        axes.plot(time, measured[:, j], color=MEASURED, lw=1.4, label='measured')
        axes.plot(time, predicted[:, j], color=PREDICTED, lw=1.1, ls='--', label='predicted')
        axes.set_ylabel(f'{_word(name)}\n[{_unit(found, j)}]', fontsize=8)
        axes.set_title(
            f'relative RMS {100 * valid.relative[j]:.2f} % (as it was: '
            f'{100 * nominal.relative[j]:.1f} %)', fontsize=8, loc='right', pad=2, y=1.0)
    rows[-1].set_xlabel('time [s]')
    figure.legend(*rows[0].get_legend_handles_labels(), loc='upper center', ncols=3)
    return _png(figure)


def _errors(found: Identification) -> bytes:
    """Return measured less predicted efforts on the test part."""
    valid = found.validation
    figure, rows = _rows(len(valid.joint_names), 1.2)
    time, error = _thin(valid.motion, valid.error)
    for j, (axes, name) in enumerate(zip(rows, valid.joint_names)):
        axes.axhspan(-found.estimate.sigma[j], found.estimate.sigma[j], color=BEFORE, alpha=0.4)
        axes.plot(time, error[:, j], color=PREDICTED, lw=1.0)
        axes.set_ylabel(f'{_word(name)}\n[{_unit(found, j)}]', fontsize=8)
    rows[0].set_title('measured less predicted; the band is ± one standard deviation of what '
                      'remains of the fitted part', fontsize=9, y=1.0)
    rows[-1].set_xlabel('time [s]')
    return _png(figure)


def _parameters(found: Identification) -> bytes:
    """Return base parameters with error bars and those of the URDF, each over its size."""
    estimate = found.estimate
    names, values = estimate.base.base_names, estimate.values
    before = estimate.base.values(estimate.prior)
    errors = np.where(np.isfinite(estimate.standard_errors), estimate.standard_errors, 0.0)
    size = np.maximum(np.abs(values), errors)
    size = np.where(size > 0, size, 1.0)
    columns = 2 if len(names) > 30 else 1
    rows = -(-len(names) // columns)
    figure = _figure(0.19 * rows + 1.2, left=0.02 + LETTER / WIDTH * max(map(len, names)))
    for k, axes in enumerate(np.atleast_1d(figure.subplots(1, columns))):
        part = slice(k * rows, (k + 1) * rows)
        at = np.arange(len(names[part]))
        axes.errorbar(values[part] / size[part], at, xerr=(errors / size)[part],
                      fmt='o', ms=3, color=PREDICTED, lw=1, capsize=2, label='found, ± 1 s.e.')
        axes.plot(np.clip(before[part] / size[part], -3.2, 3.2), at, '|', ms=8, mew=2,
                  color=MEASURED, label='URDF')
        axes.set(yticks=at, xlim=(-3.3, 3.3), xlabel='over the size of what was found')
        axes.set_yticklabels([_word(name) for name in names[part]], fontsize=7)
        axes.invert_yaxis()
        axes.grid(alpha=0.25)
    figure.legend(*axes.get_legend_handles_labels(), loc='upper center', ncols=2)
    return _png(figure)


def _motion(found: Identification) -> bytes:
    """Return positions and velocities of the training and test parts."""
    figure, rows = _rows(2, 2.6)
    slides = found.nominal.slides
    unit = 'm' if slides.all() else 'rad | m' if slides.any() else 'rad'
    for axes, quantity, label in zip(rows, ('position', 'velocity'), (unit, f'({unit})/s')):
        for motion, style in ((found.train, '-'), (found.test, '--')):
            axes.set_prop_cycle(None)
            time, values = _thin(motion, getattr(motion, quantity))
            for j, name in enumerate(motion.joint_names):
                axes.plot(time, values[:, j], lw=1, ls=style,
                          label=_word(name) if style == '-' else '_')
        axes.axvline(found.test.time[0], color=MEASURED, lw=0.8)
        axes.set_ylabel(f'{quantity} [{label}]')
    rows[-1].set_xlabel('time [s]; dashed: not fitted')
    figure.legend(*rows[0].get_legend_handles_labels(), loc='upper center', ncols=7, fontsize=8)
    return _png(figure)

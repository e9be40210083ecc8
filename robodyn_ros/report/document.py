# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Self-contained HTML document of tables, plots and pictures, light and dark."""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
import html
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
import json
from pathlib import Path
import platform
import re
import shlex
import sys
from typing import Any

import numpy as np
from numpy import ndarray
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from .run_figure import COLORS, envelope, finite
from ..errors import writing
from ..model.resources import package_version

LIBRARIES = ('numpy', 'scipy', 'numba', 'clarabel', 'mujoco', 'rclpy')
TEXT_WIDTH = 110    # columns outside of tables
MAX_UNBROKEN = 24    # characters of a cell that is not wrapped
REMEDY = 'choose a file for --report'
ROW, MARGIN = 1.1, 8.0      # rem of a row of names in a plot, and of what is above and below
FEW_COUNTS = 8    # below which each count has a tick
NUMBER = re.compile(r'(none|nan|([<>≤≥] )?[-+±]?[\d.,]+(e[-+]?\d+)?( ?(%|[a-zµ]{1,4}))?)?',
                    re.IGNORECASE)


def check_writable(path: Path) -> None:
    """
    Raise before a long computation what :meth:`Report.write` would raise after it.

    :raises ArgumentError: the file cannot be written.
    """
    there = path.exists()
    with writing(path, '--report', REMEDY):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open('ab').close()
    if not there:
        path.unlink()


class Report:
    """
    Report, to which sections are added in their order; :meth:`write` writes the file.

    :param title: heading; ``subtitle``: a sentence below it.
    """

    def __init__(self, title: str, subtitle: str = ''):
        self._title, self._subtitle = title, subtitle
        self._body: list[str] = []
        self._figures: list[dict[str, Any]] = []

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._body.append(f'<p>{html.escape(text)}</p>')

    def warning(self, text: str) -> None:
        """Add a paragraph that catches the eye."""
        self._body.append(f'<p class="warning">{html.escape(text)}</p>')

    def lines(self, title: str, lines: Iterable[str]) -> None:
        """Add a list of sentences."""
        items = ''.join(f'<li>{html.escape(line)}</li>' for line in lines)
        self._body.append(_title(title) + f'<ul>{items}</ul>')

    def table(self, title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Add a table; cells that begin with FAILED are red, columns of numbers to the right."""
        rows = [list(row) for row in rows]
        numeric = [all(_is_number(cell) for cell in column) for column in zip(*rows)]
        head = ''.join(map(_heading, headings, numeric or [False] * len(headings)))
        body = ''.join(f'<tr>{"".join(map(_cell, row, numeric))}</tr>' for row in rows)
        self._body.append(_title(title) + '<div class="wide"><table>'
                          + (f'<thead><tr>{head}</tr></thead>' if any(headings) else '')
                          + f'<tbody>{body}</tbody></table></div>')

    def rich(self, title: str, renderable: RenderableType) -> None:
        """Add what a terminal shows: tables as tables, a sentence as one, other text as it is."""
        if isinstance(renderable, Group):
            self._body.append(_title(title))
            for part in renderable.renderables:
                self.rich('', part)
        elif isinstance(renderable, (str, Text)) and '\n' not in str(renderable).strip():
            tag = 'h3' if isinstance(renderable, Text) and renderable.style == 'bold' else 'p'
            self._body.append(_title(title) + f'<{tag}>{html.escape(str(renderable))}</{tag}>')
        elif isinstance(renderable, Table):
            columns = [[_plain(cell) for cell in column.cells] for column in renderable.columns]
            self.table(title or _plain(renderable.title or ''),
                       [_plain(column.header) for column in renderable.columns],
                       list(zip(*columns)))
        else:
            self._body.append(_title(title) + f'<pre>{html.escape(_plain(renderable))}</pre>')

    def plot(self, title: str, x: ndarray, series: Mapping[str, ndarray], x_label: str,
             y_label: str, *, dashed: Mapping[str, ndarray] | None = None,
             logarithmic: bool = False) -> None:
        """
        Add curves over one axis.

        :param x: (N,); ``series``: (N,) by name, NaN where there is nothing.
        :param dashed: (N,) by name of a series, in its color, e.g. its reference.
        """
        traces = []
        for k, (name, y) in enumerate(series.items()):
            color = COLORS[k % len(COLORS)]
            for values, dash in ((y, 'solid'), ((dashed or {}).get(name), 'dash')):
                if values is not None:
                    at = envelope(values)
                    traces.append({
                        'x': finite(x[at]), 'y': finite(values[at]), 'name': name, 'mode': 'lines',
                        'legendgroup': name, 'showlegend': dash == 'solid',
                        'line': {'color': color, 'width': 1.4, 'dash': dash}})
        self._figure(title, traces, x_label, y_label, logarithmic)

    def histogram(self, title: str, values: ndarray, x_label: str, bins: int = 120, *,
                  limit: float | None = None, logarithmic: bool = True) -> None:
        """Add a histogram of values (N,), with a vertical line at a limit."""
        counts, edges = np.histogram(values[np.isfinite(values)], bins)
        trace = {'x': finite((edges[1:] + edges[:-1]) / 2), 'y': counts.tolist(), 'type': 'bar',
                 'marker': {'color': COLORS[0]}}
        self._figure(title, [trace], x_label, 'count', logarithmic)
        layout = self._figures[-1]['layout']
        if not logarithmic:
            layout['yaxis'] |= {'rangemode': 'tozero', 'tickformat': ',d',
                                'dtick': None if counts.max() > FEW_COUNTS else 1}
        if limit is not None:
            layout['shapes'] = [{'type': 'line', 'x0': limit, 'x1': limit, 'yref': 'paper',
                                 'y0': 0, 'y1': 1, 'line': {'color': COLORS[1], 'dash': 'dash'}}]
            layout['annotations'] = [{'x': limit, 'y': 1, 'yref': 'paper', 'text': 'limit',
                                      'showarrow': False, 'yanchor': 'bottom'}]

    def intervals(self, title: str, names: Sequence[str], values: Mapping[str, ndarray],
                  errors: ndarray, x_label: str) -> None:
        """
        Add a row of marks for each of N names.

        :param values: (N,) by name of a series; the first one has error bars ± ``errors`` (N,).
        """
        traces: list[dict[str, Any]] = [
            {'x': finite(x), 'y': list(names), 'name': name, 'mode': 'markers',
             'marker': {'color': color, 'symbol': symbol}}
            for (name, x), color, symbol in zip(
                values.items(), COLORS, ('circle', 'line-ns-open', 'diamond-open'))]
        traces[0]['error_x'] = {'array': finite(errors), 'thickness': 1.2}
        self._figure(title, traces, x_label, '', False, rows=len(names))

    def picture(self, title: str, png: bytes) -> None:
        """Add a picture."""
        self._body.append(f'<h2>{html.escape(title)}</h2><img alt="{html.escape(title)}" '
                          f'src="data:image/png;base64,{b64encode(png).decode()}">')

    def page(self, title: str, text: str) -> None:
        """Add a whole HTML page in a frame, as that of a scene."""
        self._body.append(f'<h2>{html.escape(title)}</h2><iframe loading="lazy" '
                          f'srcdoc="{html.escape(text)}"></iframe>')

    def parameters(self, title: str, values: Mapping[str, Any]) -> None:
        """Add a table of parameters, folded; of a tuple each element has its column."""
        rows = ''.join(
            f'<tr><td>{html.escape(name)}</td>'
            f'{"".join(_cell(str(one)) for one in _elements(value))}</tr>'
            for name, value in values.items())
        self._body.append(f'<details><summary>{html.escape(title)}</summary>'
                          f'<table>{rows}</table></details>')

    def write(self, path: Path) -> None:
        """
        Write the file.

        :raises ArgumentError: it cannot be written.
        """
        text = self.html()
        with writing(path, '--report', REMEDY):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding='utf-8')

    def html(self) -> str:
        """Return the document."""
        from plotly.offline import get_plotlyjs  # the script, 5 MB; nothing of Python's plotly

        template = files(__package__).joinpath('templates', 'report.html').read_text('utf-8')
        self.parameters('Versions', versions())
        # From the end to the beginning: what is put in may hold the marks of what comes before
        for mark, text in (('PLOTLY', get_plotlyjs() if self._figures else ''),
                           ('FIGURES', json.dumps(self._figures).replace('<', '\\u003c')),
                           ('BODY', '\n'.join(self._body)),
                           ('SUBTITLE', html.escape(self._subtitle)),
                           ('TITLE2', html.escape(self._title)),
                           ('TITLE', html.escape(self._title))):
            before, _, after = template.partition(f'@@{mark}@@')
            template = before + text + after
        return template

    def _figure(self, title: str, traces: list[dict[str, Any]], x_label: str, y_label: str,
                logarithmic: bool, rows: int = 0) -> None:
        """Add a figure whose y axis has numbers, or so many ``rows`` of names from the top on."""
        height = f' style="height: {ROW * rows + MARGIN}rem"' if rows else ''
        self._body.append(f'<h2>{html.escape(title)}</h2>'
                          f'<div class="plot" id="plot{len(self._figures)}"{height}></div>')
        kind = ({'type': 'category', 'autorange': 'reversed'} if rows else
                {'type': 'log', 'exponentformat': 'power'} if logarithmic else {})
        self._figures.append({'data': traces, 'layout': {
            'xaxis': {'title': {'text': x_label}},
            'yaxis': {'title': {'text': y_label}, **kind}}})


def versions() -> dict[str, str]:
    """Return what made a report: the command, and versions."""
    found = {'command': shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
             'robodyn_ros': package_version(), 'Python': platform.python_version(),
             'machine': f'{platform.system()} {platform.release()}, {platform.machine()}'}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _plain(renderable: RenderableType) -> str:
    """Return what a terminal without colors would show; of text, without breaking lines."""
    if isinstance(renderable, str):
        return renderable.strip('\n')
    console = Console(width=TEXT_WIDTH, color_system=None, force_terminal=False, highlight=False,
                      markup=False, emoji=False, file=None)
    with console.capture() as captured:
        console.print(renderable)
    return '\n'.join(line.rstrip() for line in captured.get().strip('\n').splitlines())


def _elements(value: Any) -> Sequence[Any]:
    """Return the elements of a tuple; of anything else, itself as the only one."""
    return value if isinstance(value, tuple) else (value,)


def _title(text: str) -> str:
    return f'<h2>{html.escape(text)}</h2>' if text else ''


def _is_number(text: str) -> bool:
    """Return whether a cell of a table is a number, perhaps with a unit, or empty."""
    return NUMBER.fullmatch(text.strip()) is not None


def _heading(text: str, numeric: bool) -> str:
    return f'<th{" class=number" * numeric}>{html.escape(text)}</th>'


def _cell(text: str, numeric: bool = False) -> str:
    kind = ('bad' if text.startswith('FAILED') else 'number' if numeric
            else 'short' if len(text) <= MAX_UNBROKEN else '')
    return f'<td{f" class={kind}" if kind else ""}>{html.escape(text)}</td>'

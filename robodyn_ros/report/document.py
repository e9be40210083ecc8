# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Self-contained HTML document of tables, plots and pictures, light and dark."""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from hashlib import sha256
import html
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
import json
from pathlib import Path
import platform
import re
import shlex
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from .run_figure import COLORS, envelope, FAULT_COLOR, finite
from ..errors import writing
from ..model.resources import package_version

LIBRARIES = ('numpy', 'scipy', 'numba', 'clarabel', 'mujoco', 'rclpy')
TEXT_WIDTH = 110    # columns outside of tables
MAX_UNBROKEN = 24    # characters of a cell that is not wrapped
MARK_COLOR = '#7f8c99'
MAX_COLUMNS = 4    # of a table whose rows stay rows in a narrow window
SMALL_POINTS = 1000    # of a curve in a small plot
MAX_LIMIT_DISTANCE = 3.0    # ranges of the curves: a limit farther away is not drawn
MIN_LABELED_SHARE = 0.12    # of the time axis: the name of a shorter band is left to the legend
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


class Band(NamedTuple):
    """Span of an x axis with a name, e.g. a phase."""

    begin: float
    end: float
    name: str
    color: str


def hashed(paths: Iterable[Path | None]) -> list[tuple[str, str]]:
    """Return path and hash of each file that there is, in folders too."""
    return [(str(file), f'sha256 {sha256(file.read_bytes()).hexdigest()[:16]}')
            for path in paths if path is not None
            for file in ([path] if path.is_file() else sorted(path.rglob('*'))) if file.is_file()]


class Report:
    """
    Report, to which sections are added in their order; :meth:`write` writes the file.

    :param title: heading; ``verdict``: the sentence below it, in red if ``bad``.
    :param subtitle: what was done.
    :param files: path and hash of each file that the report depends on, as :func:`hashed`
        returns them.
    """

    def __init__(self, title: str, subtitle: str = '', *, verdict: str = '', bad: bool = False,
                 files: Iterable[tuple[str, str]] = ()):
        self._title, self._figures = title, list[dict[str, Any]]()
        self._versions = versions()
        self._body = [f'<p class="verdict{" bad" * bad}">{html.escape(verdict)}</p>'] if (
            verdict) else []
        self._body += [f'<p class="subtitle">{html.escape(subtitle)}</p>'] if subtitle else []
        self.table('', ('', ''), [*((name, self._versions.pop(name)) for name in (
            'command', 'robodyn_ros', 'date')), *files])

    def heading(self, text: str) -> None:
        """Add a heading, e.g. that of small plots."""
        self._body.append(_title(text))

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._body.append(f'<p>{html.escape(text)}</p>')

    def warning(self, text: str) -> None:
        """Add a paragraph that catches the eye."""
        self._body.append(f'<p class="warning">{html.escape(text)}</p>')

    def lines(self, title: str, lines: Iterable[str]) -> None:
        """Add a list of sentences, folded."""
        items = ''.join(f'<li>{html.escape(line)}</li>' for line in lines)
        self._body.append(f'<details><summary>{html.escape(title)}</summary><ul>{items}</ul>'
                          '</details>')

    def table(self, title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Add a table; cells that begin with FAILED are red, columns of numbers to the right."""
        rows = [list(row) for row in rows]
        numeric = [all(_is_number(cell) for cell in column) for column in zip(*rows)]
        head = ''.join(map(_heading, headings, numeric or [False] * len(headings)))
        body = ''.join(f'<tr>{"".join(map(_cell, row, numeric, headings))}</tr>' for row in rows)
        kind = 'many' if len(headings) > MAX_COLUMNS else '' if any(headings) else 'head'
        self._body.append(_title(title) + f'<div class="wide"><table class="{kind}">'
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

    def legend(self, names: Mapping[str, str]) -> None:
        """Add names, each behind a mark in its color."""
        self._body.append('<p class="legend">' + ' '.join(
            f'<span><i style="background:{color}"></i>{html.escape(name)}</span>'
            for name, color in names.items()) + '</p>')

    def plot(self, title: str, x: ndarray, series: Mapping[str, ndarray], x_label: str,
             y_label: str, *, dashed: Mapping[str, ndarray] | None = None,
             other: Mapping[str, tuple[ndarray, ndarray]] | None = None,
             limits: Sequence[float] = (), bands: Sequence[Band] = (),
             marks: Mapping[float, str] | None = None, logarithmic: bool = False,
             small: bool = False) -> None:
        """
        Add curves over one axis.

        :param x: (N,); ``series``: (N,) by name, NaN where there is nothing.
        :param dashed: (N,) by name of a series, in its color, e.g. its reference.
        :param other: x and y of another run by name of a series, thin.
        :param limits: drawn as horizontal lines, unless they are far from the curves.
        :param marks: names of vertical lines by their x.
        :param small: several in a row, without a legend.
        """
        traces, most = [], (SMALL_POINTS,) if small else ()
        for k, (name, y) in enumerate(series.items()):
            for dash, (at_x, values) in {
                    'solid': (x, y), 'dash': (x, (dashed or {}).get(name)),
                    'dot': (other or {}).get(name, (x, None))}.items():
                if values is not None:
                    at = envelope(values, *most)
                    traces.append({
                        'x': finite(at_x[at]), 'y': finite(values[at]), 'name': name,
                        'mode': 'lines', 'legendgroup': name, 'showlegend': dash == 'solid',
                        'line': {'color': COLORS[k % len(COLORS)], 'dash': dash,
                                 'width': 1.0 if dash == 'dot' else 1.4}})
        known = np.concatenate([y[np.isfinite(y)] for y in series.values()] or [np.zeros(0)])
        low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
        far = MAX_LIMIT_DISTANCE * (high - low)
        width = (float(np.nanmax(x)) - float(np.nanmin(x))) if np.isfinite(x).any() else 0.0
        self._figure(title, traces, x_label, y_label, logarithmic, small=small, shapes=[
            *({'type': 'rect', 'x0': b.begin, 'x1': b.end, 'yref': 'paper', 'y0': 0, 'y1': 1,
               'fillcolor': b.color, 'opacity': 0.16, 'line': {'width': 0}, 'layer': 'below',
               **({'label': {'text': b.name, 'textposition': 'top left'}} if not small and (
                   b.end - b.begin > MIN_LABELED_SHARE * width) else {})} for b in bands),
            *(_line('y', limit) for limit in limits if low - far <= limit <= high + far),
            *(_line('x', at, name * (not small), MARK_COLOR)
              for at, name in (marks or {}).items())])

    def histogram(self, title: str, values: Mapping[str, ndarray], x_label: str, bins: int = 120,
                  *, limit: float | None = None, logarithmic: bool = True, small: bool = False
                  ) -> None:
        """Add histograms of values (N,) by name over each other, with a line at a limit."""
        known = {name: x[np.isfinite(x)] for name, x in values.items()}
        edges = np.histogram_bin_edges(np.concatenate(list(known.values())), bins)
        counts = {name: np.histogram(x, edges)[0] for name, x in known.items()}
        self._figure(title, [
            {'x': finite((edges[1:] + edges[:-1]) / 2), 'y': found.tolist(), 'type': 'bar',
             'name': name, 'opacity': 0.75, 'marker': {'color': color}}
            for (name, found), color in zip(counts.items(), COLORS)], x_label, 'count',
            logarithmic, small=small, shapes=[] if limit is None else [
                _line('x', limit, 'limit' * (not small))])
        layout = self._figures[-1]['layout']
        layout |= {'barmode': 'overlay', 'bargap': 0.0}
        if not logarithmic:
            few = max(found.max() for found in counts.values()) <= FEW_COUNTS
            layout['yaxis'] |= {'rangemode': 'tozero', 'tickformat': ',d',
                                'dtick': 1 if few else None}

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
        self._body.append(f'<details><summary>{html.escape(title)}</summary><div class="wide">'
                          f'<table>{rows}</table></div></details>')

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
        self.parameters('Versions', self._versions)
        # From the end to the beginning: what is put in may hold the marks of what comes before
        for mark, text in (('PLOTLY', get_plotlyjs() if self._figures else ''),
                           ('FIGURES', json.dumps(self._figures).replace('<', '\\u003c')),
                           ('BODY', '\n'.join(self._body)),
                           ('TITLE2', html.escape(self._title)),
                           ('TITLE', html.escape(self._title))):
            before, _, after = template.partition(f'@@{mark}@@')
            template = before + text + after
        return template

    def _figure(self, title: str, traces: list[dict[str, Any]], x_label: str, y_label: str,
                logarithmic: bool, rows: int = 0, *, small: bool = False,
                shapes: Sequence[Mapping[str, Any]] = ()) -> None:
        """Add a figure whose y axis has numbers, or so many ``rows`` of names from the top on."""
        height = f' style="height: {ROW * rows + MARGIN}rem"' if rows else ''
        plot = f'<div class="plot" id="plot{len(self._figures)}"{height}></div>'
        self._body.append(f'<figure><figcaption>{html.escape(title)}</figcaption>{plot}</figure>'
                          if small else _title(title) + plot)
        kind = ({'type': 'category', 'autorange': 'reversed'} if rows else
                {'type': 'log', 'exponentformat': 'power'} if logarithmic else {})
        self._figures.append({'data': traces, 'layout': {
            'xaxis': {'title': {'text': x_label}}, 'shapes': list(shapes),
            **({'showlegend': False} if small else {}),
            'yaxis': {'title': {'text': y_label}, **kind}}})


def _line(axis: str, at: float, name: str = '', color: str = FAULT_COLOR) -> dict[str, Any]:
    """Return a line across a figure, at a value of an axis."""
    across = 'x' if axis == 'y' else 'y'
    return {'type': 'line', f'{axis}0': at, f'{axis}1': at, f'{across}ref': 'paper',
            f'{across}0': 0, f'{across}1': 1, 'line': {'color': color, 'width': 1.2,
                                                       'dash': 'dash'},
            **({'label': {'text': name, 'textposition': 'end', 'textangle': 0}} if name else {})}


def versions() -> dict[str, str]:
    """Return what made a report: the command, and versions."""
    program = Path(sys.argv[0]).name.replace('__main__.py', 'robodyn')
    found = {'command': shlex.join([program, *sys.argv[1:]]),
             'robodyn_ros': package_version(), 'date': f'{datetime.now(timezone.utc):%F %R} UTC',
             'Python': platform.python_version(),
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


def _cell(text: str, numeric: bool = False, heading: str = '') -> str:
    kind = ('bad' if text.startswith('FAILED') else 'number' if numeric
            else 'short' if len(text) <= MAX_UNBROKEN else '')
    of = f' data-of="{html.escape(heading)}"' if heading else ''
    return f'<td{f" class={kind}" if kind else ""}{of}>{html.escape(text)}</td>'

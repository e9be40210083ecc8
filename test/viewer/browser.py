# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, driven over its debugging protocol."""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import io
import json
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile
from time import monotonic, sleep
from typing import Any
import urllib.request

import numpy as np

PROGRAMS = 'chromium', 'chromium-browser', 'google-chrome'
PROGRAM = next(filter(None, map(shutil.which, PROGRAMS)), None)
SIZE = 900, 500         # pixels of the window: small, since it is drawn in software


def wait_for(get: Callable[[], Any], patience: float = 150.0) -> Any:
    """Return what ``get`` returns, once it is true and raises nothing."""
    end = monotonic() + patience
    while True:
        try:
            if value := get():
                return value
        except (OSError, StopIteration, IndexError, KeyError, AssertionError):
            if monotonic() > end:
                raise
        if monotonic() > end:
            raise AssertionError(f'not true within {patience:g} s: {get}')
        sleep(0.1)


class Tab:
    def __init__(self, socket: Any):
        self._socket, self._number = socket, 0

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self._number += 1
        self._socket.send(json.dumps({'id': self._number, 'method': method, 'params': parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=150))
            if answer.get('id') == self._number:
                assert 'error' not in answer, answer
                return answer['result']

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression."""
        result = self.call('Runtime.evaluate', expression=script, awaitPromise=True,
                           returnByValue=True)
        assert 'exceptionDetails' not in result, result
        return result['result'].get('value')

    def text(self) -> str:
        return self.run('document.body.innerText')

    def draw_rarely(self) -> None:
        """Draw one picture a second: a scene that is drawn in software takes a processor."""
        self.run("""(() => { let next = 1, asked = new Map(); window.drawn = 0;
            requestAnimationFrame = then => (asked.set(next, then), next++);
            cancelAnimationFrame = number => asked.delete(number);
            setInterval(() => { const now = asked; asked = new Map();
                now.forEach(then => then(performance.now())); drawn += 1; }, 1000); })()""")

    def wait_for_pictures(self) -> None:
        """Wait until a page that draws rarely has drawn two pictures."""
        drawn = self.run('drawn')
        wait_for(lambda: self.run('drawn') > drawn + 1)

    def click(self, label: str, done: Callable[[], Any] = lambda: True) -> None:
        """
        Click the button, checkbox or line of this text, once nothing covers it.

        :param done: whether the page has heard it.
        """
        wait_for(lambda: self.run(
            '(() => { const e = [...document.querySelectorAll('
            '"button, label, [role=option], p, div")].findLast('
            f'e => e.innerText && e.innerText.trim() === {json.dumps(label)} '
            '&& e.getBoundingClientRect().height > 0); if (!e) return false; '
            'e.scrollIntoView({block: "center", behavior: "instant"}); '
            'const r = e.getBoundingClientRect(); const there = document.elementFromPoint('
            'r.x + r.width / 2, r.y + r.height / 2); if (!e.contains(there)) return false; '
            'there.click(); return true; })()'))
        wait_for(done)

    def has_input(self, value: str) -> bool:
        """Return whether an input that is to be seen has this value."""
        return self.run(f'{self._inputs(value)}.length > 0')

    def type_into(self, value: str, text: str) -> None:
        """Replace the value of the first input that has this one."""
        wait_for(lambda: self.has_input(value))
        self.run(f'{self._inputs(value)}[0].select()')
        self.call('Input.insertText', text=text)

    @staticmethod
    def _inputs(value: str) -> str:
        return ('[...document.querySelectorAll("input")].filter(e => e.value === '
                f'{json.dumps(value)} && e.getBoundingClientRect().height > 0)')

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Send one event of the mouse, its left button down unless it is released."""
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left',
                  buttons=0 if kind == 'mouseReleased' else 1, clickCount=1)

    def drag(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the button at a point of a page that draws rarely, hold it and move to another."""
        self.call('Input.dispatchMouseEvent', type='mouseMoved', x=begin[0], y=begin[1])
        self.wait_for_pictures()        # between which the page looks under the mouse
        self.mouse('mousePressed', *begin)
        for part in np.linspace(0.1, 1.0, 10):
            self.mouse('mouseMoved', *(np.array(begin) + part * (np.array(end) - begin)))
            sleep(0.05)
        self.wait_for_pictures()

    def resize(self, width: int, height: int) -> None:
        """Set the size of the window [pixels]."""
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def picture(self) -> np.ndarray:
        """Return the pixels (height, width, 3) that are to be seen."""
        from PIL import Image

        data = base64.b64decode(self.call('Page.captureScreenshot')['data'])
        return np.asarray(Image.open(io.BytesIO(data)).convert('RGB'))


WIDTHS = 1300, 390      # pixels of a screen and of a telephone
# Boxes of a page, and texts of its plots, that begin or end outside of the window
CUT = """[...document.querySelectorAll('h1, p, table, summary, .plot text')].filter(one => {
  const box = one.getBoundingClientRect();
  return box.width && (box.left < -1 || box.right > innerWidth + 1);
}).map(one => one.textContent)"""
NOTHING_CUT = f'document.documentElement.scrollWidth <= innerWidth && {CUT}.length === 0'


def check_report(browser: 'Browser', path: Path, sheets: int) -> None:
    """
    Check that nothing of a report is cut, and that it is printed on so many sheets.

    Its moving robot, drawn in software, would take more time than all else: its frame stays empty.
    """
    still = path.with_stem(f'{path.stem}_still')
    still.write_text(re.sub('srcdoc="[^"]*"', 'srcdoc=""', path.read_text()))
    with browser.tab(still.as_uri()) as tab:
        wait_for(lambda: tab.run('document.querySelector(".main-svg") !== null'))
        for width in WIDTHS:
            tab.resize(width, 900)
            try:
                wait_for(lambda: tab.run(NOTHING_CUT), 10.0)
            except AssertionError as error:
                raise AssertionError(f'cut at {width} pixels: {tab.run(CUT)}') from error
        printed = tab.call('Page.printToPDF', preferCSSPageSize=True, printBackground=True)
        found = re.findall(rb'/Type */Page\b', base64.b64decode(printed['data']))
        assert 0 < len(found) <= sheets


class Browser:
    """A browser; ``port`` is that of its debugging protocol."""

    def __init__(self, port: str):
        self._address = f'http://127.0.0.1:{port}/json'

    @contextmanager
    def tab(self, address: str) -> Iterator[Tab]:
        """Yield a new tab, which is closed afterwards."""
        from websockets.sync.client import connect

        one = json.load(urllib.request.urlopen(urllib.request.Request(
            f'{self._address}/new?{address}', method='PUT')))
        with connect(one['webSocketDebuggerUrl'], max_size=None) as socket:
            yield Tab(socket)
        urllib.request.urlopen(f'{self._address}/close/{one["id"]}')


@contextmanager
def browsing() -> Iterator[Browser]:
    """Yield a browser, which draws in software."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, subprocess.Popen(
            [PROGRAM, '--headless=new', '--no-sandbox', '--use-angle=swiftshader',
             '--enable-unsafe-swiftshader', '--disable-gpu-rasterization', '--in-process-gpu',
             '--disable-dev-shm-usage', '--remote-debugging-port=0',
             f'--window-size={SIZE[0]},{SIZE[1]}', f'--user-data-dir={folder}', 'about:blank'],
            stdout=sys.stderr, stderr=subprocess.DEVNULL) as process:
        try:
            yield Browser(wait_for(lambda: (Path(folder) / 'DevToolsActivePort').read_text(
                ).split()[0]))
        finally:
            process.terminate()

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, driven over its debugging protocol."""

import base64
import io
import json
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

PROGRAM = shutil.which('chromium') or shutil.which('google-chrome')
needs_browser = pytest.mark.skipif(PROGRAM is None, reason='needs chromium')
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
    """A tab of the browser."""

    def __init__(self, socket: Any):
        self._socket, self._number = socket, 0

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self._number += 1
        self._socket.send(json.dumps({'id': self._number, 'method': method,
                                      'params': parameters}))
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
        """Return the text that is to be seen."""
        return self.run('document.body.innerText')

    def click(self, label: str) -> None:
        """Click the button, checkbox or line of this text."""
        def find() -> list[float]:
            return self.run(
                '(() => { const all = [...document.querySelectorAll('
                '"button, label, [role=option], p, div")].filter('
                f'e => e.innerText && e.innerText.trim() === {json.dumps(label)} '
                '&& e.getBoundingClientRect().height > 0); if (!all.length) return null; '
                'const e = all[all.length - 1]; e.scrollIntoView({block: "center"}); '
                'const r = e.getBoundingClientRect(); '
                'return [r.x + r.width / 2, r.y + r.height / 2]; })()')
        self.press(*wait_for(find, 20.0))

    def type_into(self, value: str, text: str) -> None:
        """Replace the value of the first input that has this one."""
        def find() -> list[float]:
            return self.run(
                '(() => { const e = [...document.querySelectorAll("input")].find('
                f'e => e.value === {json.dumps(value)} && e.getBoundingClientRect().height > 0); '
                'if (!e) return null; e.scrollIntoView({block: "center"}); '
                'const r = e.getBoundingClientRect(); '
                'return [r.x + r.width / 2, r.y + r.height / 2]; })()')
        self.press(*wait_for(find, 20.0))
        self.run('document.activeElement.select()')
        self.call('Input.insertText', text=text)

    def press(self, x: float, y: float) -> None:
        """Click at a point [pixels]."""
        for kind in 'mousePressed', 'mouseReleased':
            self.mouse(kind, x, y)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Send one event of the mouse, its left button down unless it is released."""
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left',
                  buttons=0 if kind == 'mouseReleased' else 1, clickCount=1)

    def drag(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the button at a point and move to another; the button stays down."""
        self.call('Input.dispatchMouseEvent', type='mouseMoved', x=begin[0], y=begin[1])
        sleep(0.3)                      # the page looks under the mouse between two pictures
        self.mouse('mousePressed', *begin)
        for part in np.linspace(0.1, 1.0, 10):
            self.mouse('mouseMoved', *(np.array(begin) + part * (np.array(end) - begin)))
            sleep(0.05)

    def picture(self) -> np.ndarray:
        """Return the pixels (height, width, 3) that are to be seen."""
        from PIL import Image

        data = base64.b64decode(self.call('Page.captureScreenshot')['data'])
        return np.asarray(Image.open(io.BytesIO(data)).convert('RGB'))


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
             '--enable-unsafe-swiftshader', '--disable-dev-shm-usage', '--remote-debugging-port=0',
             f'--window-size={SIZE[0]},{SIZE[1]}', f'--user-data-dir={folder}', 'about:blank'],
            stdout=sys.stderr, stderr=subprocess.DEVNULL) as process:
        try:
            yield Browser(wait_for(lambda: (Path(folder) / 'DevToolsActivePort').read_text(
                ).split()[0]))
        finally:
            process.terminate()

# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Hooks of mkdocs: external and generated pages, and links to sources.

README and CONTRIBUTING become pages, the law reference is generated from the declarations of the
laws, and docs/library.md computes gravity torques. The pages are written for readers of the
repository, where links lead to sources outside of docs/; the site has no sources and shows the
names of the files instead.
"""

import json
from pathlib import Path
import re
import subprocess
from typing import Any, TYPE_CHECKING

from robodyn_ros import load_urdf
from robodyn_ros.control.laws.registry import BUILT_IN
from robodyn_ros.dynamics.source_text import JAVASCRIPT, javascript, kernel

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
PAGES = {'README.md': 'index.md', 'CONTRIBUTING.md': 'contributing.md'}
GRAVITY = re.compile(r'<!-- gravity: ([\w ]+) -->')
SLIDERS = """
<div class="gravity" id="gravity-{robot}"></div>
<script>
{function}
{{
  const joints = {joints}, place = document.getElementById('gravity-{robot}');
  const head = ['{robot}', '', 'position', 'effort'].map(text => `<th>${{text}}</th>`).join('');
  place.innerHTML = `<table><thead><tr>${{head}}</tr></thead><tbody>` +
    joints.map(([name, low, high, start]) => `<tr><td>${{name}}</td><td><input type="range" ` +
      `min="${{low}}" max="${{high}}" step="any" value="${{start}}"></td><td></td><td></td></tr>`
    ).join('') + '</tbody></table>';
  const rows = [...place.querySelectorAll('tbody tr')];
  const update = () => {{
    const q = rows.map(row => Number(row.querySelector('input').value)), tau = gravity_{robot}(q);
    rows.forEach((row, i) => {{
      row.cells[2].textContent = q[i].toFixed(3) + joints[i][4];
      row.cells[3].textContent = tau[i].toFixed(4) + joints[i][5];
    }});
  }};
  place.addEventListener('input', update);
  update();
}}
</script>
"""
HOST = re.compile(r'(?:https?://|ssh://git@|git@)([\w.-]+)[:/]([\w./-]+?)(?:\.git)?/?\s*')
LINK = re.compile(r'(?<!!)\[([^\]]+)\]\(([^)\s]+)\)')


def on_config(config: Any) -> Any:
    """Link to the repository that this one was cloned from."""
    done = subprocess.run(['git', 'remote', 'get-url', 'origin'], cwd=ROOT, text=True,
                          capture_output=True)
    if found := HOST.fullmatch(done.stdout):
        config['repo_url'] = f'https://{found[1]}/{found[2]}'
        config['repo_name'] = found[2]
    return config


def on_files(files: 'Files', config: Any) -> 'Files':
    """Add the pages at the root of the repository, with links as from docs/."""
    from mkdocs.structure.files import File

    for source, page in PAGES.items():
        text = re.sub(r'\]\((?!https?:|#)([^)]+)\)', lambda link: f'](../{link[1]})',
                      (ROOT / source).read_text())
        files.append(File.generated(config, page, content=text.replace('](../docs/', '](')))
    files.append(File.generated(config, 'law_reference.md', content=law_reference()))
    return files


def law_reference() -> str:
    """Return a page with equation, source and gains of each law, from its declaration."""
    parts = ['# Law reference\n\nGenerated from the declarations in `control/laws/`; '
             '[laws.md](laws.md) explains and compares the laws.\n']
    for law in BUILT_IN:
        parts.append(f'## {law.name}\n\n{law.equation}\n\nSource: {law.source}. '
                     f'Reference: {law.reference}.\n\n'
                     + f'![{law.name} compared with another law](laws/{law.name}.svg)\n'
                     * Path(__file__).with_name('laws').joinpath(f'{law.name}.svg').exists())
        if law.declared:
            parts.append('| gain | unit | range | meaning |\n|---|---|---|---|\n' + '\n'.join(
                f'| `{field.name}` | {field.metadata.get("unit", "")} | '
                f'[{field.metadata["lower"]:g}, {field.metadata["upper"]:g}] | '
                f'{field.metadata["doc"]} |' for field in law.declared) + '\n')
    return '\n'.join(parts)


def gravity_page(robots: str) -> str:
    """Return sliders for the joints of robots, with the gravity torques that they cause."""
    text = ''
    for robot in robots.split():
        model = load_urdf(robot)
        joints = [[name, float(max(low, -3.1416)), float(min(high, 3.1416)),
                   float(min(max(0.3, low), high)), *((' m', ' N') if slides else
                                                      (' rad', ' N·m'))]
                  for name, low, high, slides in zip(
                      model.joint_names, model.position_lower, model.position_upper,
                      model.slides)]
        text += SLIDERS.format(robot=robot, joints=json.dumps(joints), function=javascript(
            kernel(model, 'gravity', JAVASCRIPT), f'gravity_{robot}'))
    return text


def on_page_markdown(markdown: str, page: Any, config: Any, files: 'Files') -> str:
    """Replace links to existing files outside of docs/ by the text of the link."""
    markdown = GRAVITY.sub(lambda found: gravity_page(found[1]), markdown)
    return LINK.sub(_site_link, markdown)


def _site_link(link: re.Match[str]) -> str:
    text, target = link.groups()
    path, hash_mark, anchor = target.partition('#')
    if text == path and (DOCS / path).suffix == '.md' and (DOCS / path).exists():
        text = re.search('^# (.*)$', (DOCS / path).read_text(), re.MULTILINE)[1]
    if not path.startswith('../'):
        return f'[{text}]({target})'
    if (name := path.removeprefix('../')) in PAGES:
        return f'[{text}]({PAGES[name]}{hash_mark}{anchor})'
    return text if (ROOT / name).exists() else link[0]

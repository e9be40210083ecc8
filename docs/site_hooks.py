# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Hooks of mkdocs: README and CONTRIBUTING as pages of the site, links to sources as their paths.

The pages are written for a reader of the repository, where links lead to sources beside docs/;
the site has no sources, and shows the names of the files instead.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = {'README.md': 'index.md', 'CONTRIBUTING.md': 'contributing.md'}
LINK = re.compile(r'(?<!!)\[([^\]]+)\]\(([^)\s]+)\)')


def on_files(files: Files, config: Any) -> Files:
    """Add the pages at the root of the repository, with links as from docs/."""
    for source, page in PAGES.items():
        text = re.sub(r'\]\((?!https?:|#)([^)]+)\)', lambda link: f'](../{link[1]})',
                      (ROOT / source).read_text())
        files.append(File.generated(config, page, content=text.replace('](../docs/', '](')))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Replace links to files beside docs/ by the text of the link, if they are there."""
    return LINK.sub(_site_link, markdown)


def _site_link(link: re.Match[str]) -> str:
    text, target = link.groups()
    path, hash_mark, anchor = target.partition('#')
    if not path.startswith('../'):
        return link[0]
    if (name := path.removeprefix('../')) in PAGES:
        return f'[{text}]({PAGES[name]}{hash_mark}{anchor})'
    return text if (ROOT / name).exists() else link[0]

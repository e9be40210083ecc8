# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Hooks of mkdocs for what the site takes from npm: Mermaid draws diagrams, KaTeX typesets formulas.

The packages are downloaded once into build/, since the site loads nothing from elsewhere. Where
npm is missing, diagrams and formulas stay text. Formulas are written in Unicode, for readers of
the repository; :func:`typeset` finds them on the pages in :data:`PAGES`.
"""

import html as escaping
from pathlib import Path
import re
import shutil
import subprocess
import tarfile
from typing import Any, TYPE_CHECKING
import unicodedata

from pymdownx.superfences import fence_code_format

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[1]
# Files of each package that the site needs
PACKAGES = {'mermaid@11': r'dist/mermaid\.min\.js',
            'katex@0.16': r'dist/(katex\.min\.(js|css)|fonts/[\w-]+\.woff2)',
            'iframe-worker@1': r'shim/index\.js'}
PAGES = 'theory.md', 'laws.md', 'law_reference.md'
RENDER = """<script>addEventListener('DOMContentLoaded', () =>
  document.querySelectorAll('[data-tex]').forEach(one =>
    katex.render(one.dataset.tex, one, {throwOnError: false, strict: false})));</script>"""
# The theme lets the search of pages from the disk load this
SHIM = 'https://unpkg.com/iframe-worker/shim'
NOT_TEXT = re.compile(r'(<(code|pre|h\d|script|a)\b.*?</\2>|<[^>]*>)', re.DOTALL)
WORD = r'[A-Za-z]{3,}|of|is|in|to|by|as|at|an|or|if|no|be|it|on|so|do|its'
FUNCTIONS = 'tr|exp|tanh|sgn|sin|cos|det|armature|offset|posture'
# What only formulas have, besides an index after an underscore
MATHEMATICAL = re.compile(r'[α-ωΑ-ΩΔ∂∫Σ√½¼⁻¹²ᵀᵢⱼₖ₀-₉ėẋẍṡâĉĝ\u0307\u0308\u0302×=<>≤≥]|\b\w_\w|'
                          r'^[A-Za-z]\(')
UNIT = re.compile(r'[(\[]?(N·m|kg·m²|rad|kg)([/·]\w²?)?[)\].,;:]*')
TEX = {'½': r'\tfrac12 ', '¼': r'\tfrac14 ', 'Σ': r'\sum ', '∫': r'\int ', '·': r'\cdot ',
       '×': r'\times ', '∂': r'\partial ', 'ᵀ': r'^{\mathsf T}', '√': r'\surd ', '%': r'\%',
       '{': r'\{', '}': r'\}', '&': r'\&', '#': r'\#'}


def package(name: str) -> Path | None:
    """Return the folder of a package from npm, None where it cannot be had."""
    folder = ROOT / 'build' / 'npm' / name.partition('@')[0]
    if not folder.exists() and (npm := shutil.which('npm')):
        folder.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([npm, 'pack', '--silent', name], cwd=folder.parent, text=True,
                              capture_output=True)
        if done.returncode == 0:
            archive = folder.parent / done.stdout.strip()
            with tarfile.open(archive) as files:
                files.extractall(folder, filter='data')
            archive.unlink()
    return folder / 'package' if folder.exists() else None


def on_config(config: Any) -> Any:
    """Load the scripts that can be had, and let Mermaid draw."""
    if package('mermaid@11') is not None:
        config['extra_javascript'].append('npm/mermaid/dist/mermaid.min.js')
        config['mdx_configs']['pymdownx.superfences'] = {'custom_fences': [
            {'name': 'mermaid', 'class': 'mermaid', 'format': fence_code_format}]}
    if package('katex@0.16') is not None:
        config['extra_javascript'].append('npm/katex/dist/katex.min.js')
        config['extra_css'].append('npm/katex/dist/katex.min.css')
    return config


def on_files(files: 'Files', config: Any) -> 'Files':
    """Add the files of the packages."""
    from mkdocs.structure.files import File

    for name, wanted in PACKAGES.items():
        if (folder := package(name)) is not None:
            for path in sorted(folder.rglob('*')):
                file = path.relative_to(folder).as_posix()
                if re.fullmatch(wanted, file):
                    files.append(File.generated(config, f'npm/{name.partition("@")[0]}/{file}',
                                                abs_src_path=str(path)))
    return files


def on_page_content(html: str, page: Any, config: Any, files: 'Files') -> str:
    """Typeset the formulas of a page."""
    if page.file.src_uri not in PAGES or package('katex@0.16') is None:
        return html
    parts = NOT_TEXT.split(html)        # text, tag or element, name of the element, text, ...
    for k in range(0, len(parts), 3):
        parts[k] = escaping.escape(typeset(escaping.unescape(parts[k])), quote=False).replace(
            '\0', '<').replace('\1', '>')
    return ''.join(part for k, part in enumerate(parts) if k % 3 < 2) + RENDER


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Load no script from elsewhere."""
    return output.replace(SHIM, '../' * page.url.count('/') + 'npm/iframe-worker/shim/index.js')


def typeset(text: str) -> str:
    r"""Return text whose formulas are in spans with TeX, with \0 and \1 for < and > of tags."""
    out, run = '', list[str]()

    def end() -> str:
        before, after = '', ''
        while run and (run[0].isspace() or run[0] in ('', *'aA-,.')) and run[2:3] != ['=']:
            before += run.pop(0)
        while run and (run[-1].isspace() or run[-1] in ('', *'aA-')):
            after = run.pop() + after
        formula = ''.join(run)
        run.clear()
        if not any(MATHEMATICAL.search(one) for one in formula.split()) or UNIT.fullmatch(formula):
            return before + formula + after
        closing = re.search(r'[,.;:]*$', formula)[0]        # type: ignore[index]
        formula = formula.removesuffix(closing)
        if formula.count('(') > formula.count(')') and formula.startswith('('):
            before, formula = before + '(', formula[1:]
        if formula.count(')') > formula.count('(') and formula.endswith(')'):
            formula, closing = formula[:-1], ')' + closing
        return (f'{before}\0span data-tex="{tex(formula)}"\1{formula}'
                f'\0/span\1{closing}{after}')
    for token in re.split(r'(\s+)', text):
        words = re.findall(rf'(?<!_)\b(?:{WORD})\b', re.sub(rf'\b(?:{FUNCTIONS})\b', '', token))
        if words or UNIT.fullmatch(token):
            out += end() + token
            continue
        run.append(token)
        if token[-1:] in (*';:.,',) and balanced(''.join(run)) and (
                token[-1] != ',' or not MATHEMATICAL.search(token)):
            out += end()
    return out + end()


def balanced(text: str) -> bool:
    """Return whether every bracket that is opened is closed."""
    return all(text.count(left) <= text.count(right) for left, right in ('()', '[]'))


def tex(formula: str) -> str:
    """Return a formula for KaTeX, which knows accents, indices and powers of Unicode."""
    formula = ''.join(TEX.get(sign, sign) for sign in unicodedata.normalize('NFD', formula))
    formula = re.sub(r'_([A-Za-z]{2,})', r'_{\\text{\1}}', formula).replace(
        r']\times ', r']_{\times} ')     # the matrix of a cross product
    return re.sub(rf'(?<!\\)\b({FUNCTIONS})\b', r'\\operatorname{\1}', formula)

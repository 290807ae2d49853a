"""A hook of mkdocs: notebooks become pages, with their outputs as they are stored.

Every `name.ipynb` gives a page `name.md`, and links to the notebook lead to its page. The notebook itself is
part of the site, too, so that it can be downloaded.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

_LINK = re.compile(r"\]\(([^)\s]+)\.ipynb(#[^)]*)?\)")


def on_config(config: MkDocsConfig) -> None:
    """Let entries of the navigation that name a notebook mean its page."""
    config.nav = _renamed(cast(Any, config.nav))


def _renamed(entry: Any) -> Any:
    match entry:
        case str() if entry.endswith(".ipynb"):
            return entry.removesuffix(".ipynb") + ".md"
        case list():
            return [_renamed(item) for item in cast(list[Any], entry)]
        case dict():
            return {key: _renamed(item) for key, item in cast(dict[Any, Any], entry).items()}
        case _:
            return entry


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every notebook."""
    from mkdocs.structure.files import File

    for file in list(files):
        if file.src_uri.endswith(".ipynb") and file.abs_src_path is not None:
            notebook = json.loads(Path(file.abs_src_path).read_text())
            page = file.src_uri.removesuffix(".ipynb") + ".md"
            content = as_markdown(notebook, Path(file.src_uri).name)
            files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Let links to notebooks lead to their pages."""
    return _LINK.sub(r"](\1.md\2)", markdown)


def as_markdown(notebook: dict[str, Any], name: str) -> str:
    """A notebook as a page: text as it is, code and outputs below each other."""
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = _text(cell["source"])
        if cell["cell_type"] == "code":
            parts.append(_fenced(source, "python"))
            parts += [_output(output) for output in cell["outputs"]]
        elif cell["cell_type"] == "markdown":
            parts.append(source)
    parts.append(f'<p><a href="../{escape(name)}" download>Download this notebook</a></p>')
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any]) -> str:
    """What a cell printed or showed: HTML as it is, text as text."""
    if output["output_type"] == "stream":
        return _fenced(_text(output["text"]), "text")
    if output["output_type"] == "error":
        return _fenced(f"{output['ename']}: {output['evalue']}", "text")
    data = output["data"]
    if "text/html" in data:
        html = _text(data["text/html"])
        return '<div class="md-typeset__table">' + re.sub(r"\n\s*\n", "\n", html).strip() + "</div>"
    return _fenced(_text(data.get("text/plain", "")), "text")


def _fenced(text: str, language: str) -> str:
    """A block of text in which nothing is marked up, whatever it contains."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)

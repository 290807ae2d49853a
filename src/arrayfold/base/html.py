"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_CELL = 'style="text-align: left; vertical-align: top"'


def html_table(titles: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """A table of texts, and notes below it; text between back quotes is code. Everything is escaped.

    >>> html_table(["a"], [["`x < 1`"]], ["one & two"])[-82:]
    '<code>x &lt; 1</code></td></tr></tbody></table><p><small>one &amp; two</small></p>'
    """
    head = "".join(f"<th {_CELL}>{_marked(title)}</th>" for title in titles)
    lines = ("".join(f"<td {_CELL}>{_marked(cell)}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    below = "<br>".join(_marked(note) for note in notes)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    return table + (f"<p><small>{below}</small></p>" if below else "")


def _marked(text: str) -> str:
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{escape(part)}</code>" if k % 2 else escape(part) for k, part in enumerate(parts))

"""Tables without lines for the terminal, and paragraphs in their place where a table is too wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

_GAP = 2
_INDENT = 2


class PlainTable:
    """Rows below a line of titles; columns with nothing in them are left out.

    Where rows are wider than the terminal, each is a paragraph: its first cell, and below it the others with
    their titles.
    """

    def __init__(self, *titles: str, right: Sequence[str] = (), heading: str = "") -> None:
        """Make a table without rows.

        right    columns of numbers
        heading  a line above the table
        """
        self._titles = titles
        self._right = frozenset(right)
        self._heading = heading
        self._rows: list[tuple[Text, ...]] = []

    def add_row(self, *cells: str | Text) -> None:
        """Add a row, a cell for each title."""
        assert len(cells) == len(self._titles)
        self._rows.append(tuple(cell if isinstance(cell, Text) else Text(cell) for cell in cells))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, as rich asks for them."""
        if self._heading:
            yield Text(self._heading, style="italic")
        if not self._rows:
            return
        shown = [k for k in range(len(self._titles)) if any(row[k] for row in self._rows)]
        widths = {k: max(len(self._titles[k]), *(row[k].cell_len for row in self._rows)) for k in shown}
        if sum(widths.values()) + _GAP * (len(shown) - 1) <= options.max_width:
            titles = tuple(Text(title, style="bold") for title in self._titles)
            for row in (titles, *self._rows):
                yield self._line(row, widths)
            return
        for row in self._rows:
            yield from self._paragraph(row, shown, console, options.max_width)

    def _line(self, row: Sequence[Text], widths: dict[int, int]) -> Text:
        cells: list[Text] = []
        for k, width in widths.items():
            cell = row[k].copy()
            cell.align("right" if self._titles[k] in self._right else "left", width)
            cells.append(cell)
        line = Text(" " * _GAP).join(cells)
        line.rstrip()
        return line

    def _paragraph(
        self, row: Sequence[Text], shown: list[int], console: Console, width: int
    ) -> Iterator[Text]:
        """As many cells on a line as fit; what is longer than a line goes on, indented further."""
        head, *rest = shown
        if row[head]:
            yield Text(row[head].plain, style="bold")
        line = Text()
        for k in rest:
            if not row[k]:
                continue
            item = Text.assemble((f"{self._titles[k]}: ", "bold"), row[k])
            if line and line.cell_len + _GAP + item.cell_len > width - _INDENT:
                yield from _wrapped(line, console, width)
                line = Text()
            line = Text.assemble(line, " " * _GAP, item) if line else item
        if line:
            yield from _wrapped(line, console, width)


def _wrapped(line: Text, console: Console, width: int) -> Iterator[Text]:
    parts = line.wrap(console, max(width - 2 * _INDENT, 20)) if line.cell_len > width - _INDENT else [line]
    for number, part in enumerate(parts):
        part.rstrip()
        yield Text(" " * (2 * _INDENT if number else _INDENT)) + part

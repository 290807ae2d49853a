"""The text of Python kernels: where nodes of its tree stand, and C text that remembers its Python."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from arrayfold.base.errors import InputError, SourcePosition


@dataclass(frozen=True)
class PythonText:
    """A Python file, or the part of it that holds one function.

    lines       its lines
    first_line  the number of the first of them in the file
    """

    file: str
    lines: tuple[str, ...]
    first_line: int = 1

    @staticmethod
    def of(file: str, text: str, first_line: int = 1) -> PythonText:
        """The text split into lines as Python does."""
        return PythonText(file, tuple(text.splitlines()), first_line)

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; its line numbers are those of the file. Indented text is taken as it stands."""
        is_indented = self.lines and self.lines[0][:1] in (" ", "\t")
        text = "\n".join([*(["if True:"] if is_indented else []), *self.lines]) + "\n"
        offset = self.first_line - 1 - bool(is_indented)
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            line, column = max(1, (error.lineno or 1) - bool(is_indented)), max(1, error.offset or 1)
            shown = self.lines[line - 1] if line <= len(self.lines) else ""
            place = SourcePosition(self.file, line + self.first_line - 1, min(column, len(shown) + 1), shown)
            raise InputError(f"this is not Python: {error.msg}", place) from None
        except ValueError as error:
            raise InputError(f"{self.file}: this is not Python: {error}") from None
        return ast.increment_lineno(tree, offset)

    def place(self, node: ast.AST) -> SourcePosition:
        """Where a node begins."""
        line, column = getattr(node, "lineno", self.first_line), getattr(node, "col_offset", 0)
        shown = self.lines[line - self.first_line] if line - self.first_line < len(self.lines) else ""
        before = shown.encode()[:column].decode("utf-8", "replace")
        return SourcePosition(self.file, line, len(before) + 1, shown)

    def error(self, message: str, node: ast.AST, hint: str | None = None) -> InputError:
        """An error that points at a node."""
        return InputError(message, self.place(node), hint)

    def source(self, node: ast.AST, limit: int = 40) -> str:
        """A node as Python, cut off where it is long."""
        text = " ".join(ast.unparse(node).split())
        return text if len(text) <= limit else f"{text[: limit - 3]}..."


@dataclass(frozen=True)
class Code:
    """C text in parts; a part that begins with a node of the Python tree names it."""

    parts: tuple[tuple[str, ast.AST | None], ...] = ()

    @staticmethod
    def of(*parts: str | Code, at: ast.AST | None = None) -> Code:
        """Texts and pieces of code one after another, beginning with a node."""
        found: list[tuple[str, ast.AST | None]] = [("", at)] if at is not None else []
        for part in parts:
            found += [(part, None)] if isinstance(part, str) else part.parts
        return Code(tuple(found))

    @staticmethod
    def joined(separator: str, codes: Iterable[Code]) -> Code:
        """Pieces of code with a text between them."""
        found: list[str | Code] = []
        for code in codes:
            found += [separator, code] if found else [code]
        return Code.of(*found)

    def __str__(self) -> str:
        return "".join(text for text, _ in self.parts)


class CodeMap:
    """A whole C text, and which node of which Python text stands behind each byte of it."""

    def __init__(self, codes: Sequence[tuple[Code, PythonText]]) -> None:
        self._starts: list[int] = []
        self._nodes: list[tuple[PythonText, ast.AST]] = []
        chunks: list[bytes] = []
        length = 0
        for code, text in codes:
            for part, node in code.parts:
                if node is not None:
                    self._starts.append(length)
                    self._nodes.append((text, node))
                chunks.append(part.encode())
                length += len(chunks[-1])
        self.data = b"".join(chunks)

    def place(self, offset: int) -> SourcePosition | None:
        """The Python behind a byte of the C text: the last node that begins there or before."""
        index = bisect.bisect_right(self._starts, offset) - 1
        if index < 0:
            return None
        text, node = self._nodes[index]
        return text.place(node)

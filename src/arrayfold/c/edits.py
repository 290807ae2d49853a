"""Changes to the text of a file, each at its place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.lexer import blank, subscripts_after
from arrayfold.c.source import CSource, CText
from arrayfold.c.tree import CStatement, Expression, Variable, array_access, children, walk

# A level of lines that are generated; in a file it becomes what that file has for a level.
INDENT = "\t"


@dataclass(frozen=True)
class Edit:
    """Replace the text between two offsets; an empty range inserts."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit], start: int = 0, end: int | None = None) -> str:
    """The text between two offsets with its edits applied.

    Of edits that replace the same text the first one counts: a macro may have evaluated its argument twice.

    >>> apply_edits("a + b", [Edit(4, 5, "(c)"), Edit(0, 1, "x"), Edit(4, 5, "(d)")])
    'x + (c)'
    >>> apply_edits("ab", [Edit(1, 1, "1"), Edit(1, 1, "2"), Edit(1, 1, "2")])
    'a12b'
    """
    end = len(text) if end is None else end
    inside: dict[tuple[int, int, str], Edit] = {}
    for edit in edits:
        if start <= edit.start and edit.end <= end:
            inside.setdefault((edit.start, edit.end, edit.text if edit.start == edit.end else ""), edit)
    pieces: list[str] = []
    for edit in sorted(inside.values(), key=lambda edit: (edit.start, edit.end)):
        assert start <= edit.start, f"two edits at {edit.start}"
        pieces += [text[start : edit.start], edit.text]
        start = edit.end
    return "".join([*pieces, text[start:end]])


def indented(lines: Iterable[str]) -> list[str]:
    """Lines one level further to the right, but for those of the preprocessor."""
    return [line if line.startswith("#") else INDENT + line for line in lines]


def region_lines(source: CSource, lines: Iterable[str]) -> str:
    """Lines with the indentation of the region and of the file, and the file's line ends."""
    text = source.text.text
    start = source.region.statements[0].span.start if source.region.statements else source.region.start
    line = text[text.rfind("\n", 0, start) + 1 : start]
    indent = line if not line.strip() else "  "
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _level_of(text)

    def placed(line: str) -> str:
        if line.startswith("#") or not line:
            return line
        inner = line.lstrip(INDENT)
        return indent + unit * (len(line) - len(inner)) + inner

    return "".join(placed(line) + newline for line in lines)


def _level_of(text: str) -> str:
    """How the lines of a text are indented from one level to the next: a tab, or so many spaces.

    >>> _level_of("{\\n    a;\\n    {\\n        b;\\n    }\\n}"), _level_of("{\\n\\ta;\\n}"), _level_of("x")
    ('    ', '\\t', '  ')
    """
    found: Counter[str] = Counter()
    outer, was_open = "", False
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        if indent.startswith(outer) and 0 < len(indent) - len(outer) <= 8 and was_open:
            found[indent[len(outer) :]] += 1
        outer, was_open = indent, line.rstrip().endswith(("{", ")"))
    ((level, _),) = found.most_common(1) or [("  ", 0)]
    return level


class NotInText(Exception):
    """An element or variable that must change stands in a macro and has no text of its own."""


@dataclass(frozen=True, eq=False)
class Rewriter:
    """Finds the edits that exchange variables and elements of arrays inside a node.

    variable  the new text of a variable, or None to leave it
    element   the new text of an element given the texts of its subscripts and its tree, or None
    other     the new text of an element that is no chain of subscripts on a variable, or None
    """

    text: CText
    variable: Callable[[Variable], str | None]
    element: Callable[[Variable, Sequence[str], c.Reference | c.Subscript], str | None]
    other: Callable[[Expression], str | None] = lambda _: None
    found: list[Edit] = field(default_factory=list[Edit])

    def visit(self, node: Expression | CStatement) -> None:
        """Collect the edits inside a node."""
        if isinstance(node, c.Reference | c.Subscript):
            access = array_access(node)
            if access is not None:
                self._access(node, *access)
                return
        if isinstance(node, c.Unary | c.Subscript):
            new = self.other(node)
            if new is not None:
                if not node.span.is_text:
                    raise NotInText(self.text.file)
                self.found.append(Edit(node.span.start, node.span.end, new))
                return
        for child in children(node):
            self.visit(child)

    def _access(
        self, node: c.Reference | c.Subscript, variable: Variable, subscripts: Sequence[Expression]
    ) -> None:
        before = len(self.found)
        for subscript in subscripts:
            self.visit(subscript)
        if self.element(variable, [""] * len(subscripts), node) is None and (
            subscripts or self.variable(variable) is None
        ):
            return
        if variable.holder is not None:
            self._field(node, variable, subscripts, before)
            return
        reference = next(one for one in walk(node) if isinstance(one, c.Reference))
        start = reference.span.start
        spans = subscripts_after(self.text.plain, start, variable.name, len(subscripts))
        if not reference.span.is_text or spans is None:
            raise NotInText(variable.name)
        inner = self.found[before:]
        texts = [" ".join(blank(apply_edits(self.text.text, inner, *span)).split()) for span in spans]
        if subscripts or self.element(variable, [], node) is not None:
            new = self.element(variable, texts, node)
        else:
            new = self.variable(variable)
            if new is not None and not new.isidentifier():
                new = f"({new})"
        assert new is not None
        del self.found[before:]
        self.found.append(Edit(start, spans[-1][1] + 1 if spans else start + len(variable.name), new))

    def _field(
        self,
        node: c.Reference | c.Subscript,
        variable: Variable,
        subscripts: Sequence[Expression],
        before: int,
    ) -> None:
        """Exchange a field of a structure as a whole; what is inside of it was found after so many edits."""
        spans = [one.span for one in subscripts]
        if not all(one.is_text for one in (node.span, *spans)):
            raise NotInText(variable.name)
        inner = self.found[before:]
        edited = (apply_edits(self.text.text, inner, one.start, one.end) for one in spans)
        texts = [" ".join(blank(one).split()) for one in edited]
        new = self.element(variable, texts, node) if subscripts else self.variable(variable)
        assert new is not None
        del self.found[before:]
        self.found.append(Edit(node.span.start, node.span.end, new))


def removal(text: CText, declaration: c.Declare, doomed: Sequence[Variable], end: int) -> list[Edit]:
    """The edits that take variables out of a declaration, or the whole declaration if none is left.

    end  just after the declaration's semicolon
    """
    declared = declaration.variables
    for variable in doomed:
        name = re.compile(re.escape(variable.name) + r"\b")
        if not name.match(text.plain, variable.at):
            raise InputError(
                f"the declaration of {variable.name} comes out of a macro and cannot be rewritten",
                text.place(variable.span.start),
                "Declare it directly.",
            )
    if len(doomed) == len(declared):
        return [whole_line(text.text, declaration.span.start, end)]
    edits: list[Edit] = []
    for position, variable in enumerate(declared):
        if variable not in doomed:
            continue
        if any(earlier not in doomed for earlier in declared[:position]):
            edits.append(Edit(text.plain.rindex(",", 0, variable.at), variable.span.end, ""))
        else:
            comma = text.plain.index(",", variable.span.end) + 1
            blanks = len(text.text[comma:]) - len(text.text[comma:].lstrip(" \t"))
            edits.append(Edit(_declarator_start(text.plain, variable.at), comma + blanks, ""))
    return edits


def _declarator_start(plain: str, name_at: int) -> int:
    """Where the declarator begins: at its name, or at parentheses and stars in front of it."""
    before = plain[:name_at].rstrip()
    qualifier = re.search(r"\*\s*(const|volatile|restrict|__restrict(__)?)\Z", before)
    if qualifier is not None:
        return _declarator_start(plain, qualifier.start())
    return _declarator_start(plain, len(before) - 1) if before.endswith(("(", "*")) else name_at


def whole_line(text: str, start: int, end: int) -> Edit:
    """The range, and its line with it if nothing else stands there."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    if not text[line_start:start].strip() and not text[end:line_end].strip():
        return Edit(line_start, min(line_end + 1, len(text)), "")
    return Edit(start, end, "")

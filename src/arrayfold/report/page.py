"""The report page: one HTML file with everything in it, which needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.choices import Style
from arrayfold.base.deadline import answer_in_time
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, IslFailure
from arrayfold.base.input_file import read_input
from arrayfold.c.source import Copy
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold_as
from arrayfold.fold.check import Checked, check
from arrayfold.fold.compare import ComparedArray, compare
from arrayfold.fold.options import FoldOptions, Progress
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.judge.verify import Counterexample
from arrayfold.program.model import Problem, Program
from arrayfold.report.page_parts import (
    Pictures,
    array_section,
    checked_section,
    code_section,
    element,
    kept_section,
    summary_section,
)
from arrayfold.report.snapshots import no_scenes, scenes

_SHARE_FOR_METHODS = 0.5
_SHARE_FOR_FOLD = 0.7
_SHARE_FOR_PICTURES = 0.5
_LONGEST_TEXT = 100


@dataclass(frozen=True, eq=False)
class Page:
    """All that a page tells of one problem.

    compared  array -> what every method makes of it
    checked   mappings that somebody brought, with the verdict on each
    budget    what pictures and code may cost
    """

    file: str
    text: str
    result: FoldResult
    analysis: Analysis
    compared: Mapping[str, ComparedArray]
    checked: Sequence[Checked]
    budget: Budget

    def to_html(self) -> str:
        """The page."""
        subjects: list[dict[str, Any]] = []
        sections = [checked_section(item, self._subject(item, subjects)) for item in self.checked]
        sections += [
            array_section(array, self._subject(array, subjects), self.compared.get(array.name))
            for array in self.result.arrays
        ]
        main = [
            summary_section(self.result, self.checked),
            *sections,
            kept_section(self.result),
            code_section(self.text, self.result, _codes(self.result, self.budget)),
        ]
        return _document(
            self._title(),
            "\n".join(filter(None, main)),
            {"subjects": subjects, "statements": _statements(self.result.problem)},
        )

    def _title(self) -> str:
        program = self.result.problem
        has_regions = isinstance(program, Program) and program.source is not None
        return f"{Path(self.file).name}{f': {program.name}' if has_regions else ''}"

    def _subject(self, item: Checked | FoldedArray, subjects: list[dict[str, Any]]) -> Pictures:
        """Adds the pictures of an array to those of the page; says where they are and what they show."""
        params = item.params
        if isinstance(item, Checked) and isinstance(item.verdict, Counterexample):
            params = item.verdict.params
        part = self.budget.part(_SHARE_FOR_PICTURES)
        what = f"the pictures of {item.conflicts.name}"

        def draw(_: object) -> dict[str, Any]:
            with part.limit(what):
                return scenes(item.conflicts, item.mapping, self.analysis.liveness, item.lower_bound, params)

        try:
            found = answer_in_time(draw, part, what)
        except (BudgetExceeded, IslFailure):
            found = no_scenes()
        is_one = self.analysis.liveness is None or self.analysis.liveness.order.is_total
        subjects.append({**found, "isSequential": is_one})
        has_steps = any(scene["steps"] is not None for scene in found["scenes"])
        return Pictures(len(subjects) - 1, bool(found["scenes"]), has_steps, is_one)


def make_page(
    file: str,
    problem: Problem,
    options: FoldOptions | None = None,
    *,
    mapping: str | None = None,
    budget: Budget | float | None = None,
    progress: Progress = lambda _: None,
) -> Page:
    """Fold a problem, compare all methods, check a mapping if one is given, and tell it all.

    file     where the problem comes from; its text is shown
    mapping  MAP as `check` takes it; then only the arrays it speaks of are shown
    """
    limit, options = as_budget(budget), options or FoldOptions()
    part = limit.part(_SHARE_FOR_FOLD)
    checked: list[Checked] = []
    if mapping is not None:
        checked = check(problem, mapping, options, part, progress=progress)
        named = tuple(dict.fromkeys(item.conflicts.name for item in checked))
        options = replace(options, arrays=options.arrays or named)
    analysis = Analysis.in_time(problem, part)
    result = fold_as(problem, options, part, progress)
    compared: dict[str, ComparedArray] = {}
    rest = limit.part(_SHARE_FOR_METHODS)
    for array in result.arrays:
        try:
            asked = replace(options, arrays=(array.name,))
            (found,) = compare(problem, asked, rest, analysis=analysis, progress=progress)
        except ArrayfoldError:
            break
        compared[array.name] = found
    text = read_input(Path(file)).decode("utf-8", "replace")
    return Page(file, text, result, analysis, compared, checked, limit)


def _codes(result: FoldResult, budget: Budget) -> dict[str, str]:
    """Style -> the folded C, where there is C to fold."""
    program = result.problem
    if not isinstance(program, Program) or program.source is None:
        return {}
    codes: dict[str, str] = {}
    for style in ("readable", "fast"):
        try:
            codes[style] = answer_in_time(partial(_code, result, style, budget), budget, "the code")
        except ArrayfoldError:
            continue
    return codes


def _code(result: FoldResult, style: Style, budget: Budget, _: object) -> str:
    with budget.limit("the code"):
        return result.to_c(style=style)


def _statements(problem: Problem) -> dict[str, str]:
    """Statement -> the line of the file where it begins."""
    source = problem.source if isinstance(problem, Program) else None
    if source is None:
        return {}
    found: dict[str, str] = {}
    for name, statement in source.statements.items():
        if not isinstance(statement.node, Copy):
            place = source.text.place(statement.node.span.start)
            text = " ".join(place.line_text.split())
            short = text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
            found[name] = f"line {place.line}: {short}"
    return found


def _document(title: str, main: str, data: Mapping[str, Any]) -> str:
    """The whole file. What the page may run and how it may look is pinned by hashes, so nothing else can."""
    assets = files("arrayfold.report") / "assets"
    style, script = (f"\n{(assets / name).read_text('utf-8')}" for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    )
    # `<` must not end the element early, and the other two are no line breaks in JSON but in scripts.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace("&", "\\u0026")
    head = [
        '<!doctype html>\n<html lang="en">\n<head>',
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f'<meta name="generator" content="arrayfold {version("arrayfold")}">',
        element("title", f"{title} — arrayfold"),
        f"<style>{style}</style>",
    ]
    body = [
        "</head>\n<body>",
        '<a class="skip" href="#main">Skip to the report</a>',
        f"<header>{element('h1', title)}</header>",
        f'<main id="main">\n{main}\n</main>',
        element("footer", f"Made by arrayfold {version('arrayfold')}. The page holds all it shows."),
        f'<script type="application/json" id="arrayfold-data">{text}</script>',
        f"<script>{script}</script>",
        "</body>\n</html>\n",
    ]
    return "\n".join([*head, *body])


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"

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
from arrayfold.base.errors import ArrayfoldError
from arrayfold.base.input_file import read_input
from arrayfold.c.source import Copy
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold_as
from arrayfold.fold.check import Checked, check
from arrayfold.fold.compare import ComparedArray, compare
from arrayfold.fold.options import FoldOptions, Progress
from arrayfold.fold.result import FoldResult
from arrayfold.judge.verify import Counterexample
from arrayfold.program.model import Problem, Program
from arrayfold.report.code_view import listing
from arrayfold.report.markup import Markup, element, join
from arrayfold.report.page_data import Subject, views
from arrayfold.report.page_parts import (
    array_section,
    checked_section,
    code_section,
    kept_section,
    summary_section,
    workbench_section,
)
from arrayfold.report.snapshots import element_bytes

_SHARE_FOR_METHODS = 0.5
_SHARE_FOR_FOLD = 0.7
_SHARE_FOR_PICTURES = 0.5
_SCRIPTS = ("basics", "scene", "grid", "stage", "differences", "timeline", "workbench", "story", "main")


@dataclass(frozen=True, eq=False)
class RegionPage:
    """All that a page tells of one problem.

    compared  array -> what every method makes of it
    checked   mappings that somebody brought, with the verdict on each
    """

    result: FoldResult
    analysis: Analysis
    compared: Mapping[str, ComparedArray]
    checked: Sequence[Checked]

    @property
    def name(self) -> str:
        """What a region is called; a problem file has no name."""
        program = self.result.problem
        return program.name if isinstance(program, Program) and program.source is not None else ""


@dataclass(frozen=True, eq=False)
class Page:
    """All that a page tells of the problems of a file.

    budget  what pictures and code may cost
    """

    file: str
    text: str
    regions: Sequence[RegionPage]
    budget: Budget

    @property
    def checked(self) -> list[Checked]:
        """The mappings that somebody brought, with the verdict on each."""
        return [item for region in self.regions for item in region.checked]

    def to_html(self) -> str:
        """The page."""
        drawn = [self._region(number, region) for number, region in enumerate(self.regions)]
        main = "\n".join(markup for markup, _ in drawn)
        return _document(self._title(), main, {"regions": [data for _, data in drawn]})

    def _title(self) -> str:
        names = [region.name for region in self.regions]
        only = names[0] if len(names) == 1 else ""
        return f"{Path(self.file).name}{f': {only}' if only else ''}"

    def _region(self, number: int, region: RegionPage) -> tuple[Markup, dict[str, Any]]:
        """The section of a region, and what its pictures show."""
        result, checked = region.result, region.checked
        subjects = _subjects(region)
        params: Mapping[str, int] = {}
        for one in (*checked, *result.arrays):
            params = one.params
        for item in checked:
            if isinstance(item.verdict, Counterexample):
                params = item.verdict.params
        part = self.budget.part(_SHARE_FOR_PICTURES)
        data = views(subjects, region.analysis.liveness, params, part)
        lines = _statements(result.problem)
        program = result.problem
        names = () if lines or not isinstance(program, Program) else [one.name for one in program.statements]
        is_drawn = bool(data["views"])
        numbers = range(len(subjects)) if is_drawn else [None] * len(subjects)
        mine, found = [*numbers][: len(checked)], [*numbers][len(checked) :]
        parts = [
            element("h2", region.name) if len(self.regions) > 1 else None,
            summary_section(result, checked, number),
            workbench_section(listing(self.text, self.file, names), is_drawn, data["isSequential"]),
            *(
                checked_section(item, number, k, subject)
                for k, (item, subject) in enumerate(zip(checked, mine, strict=True))
            ),
            *(
                array_section(array, region.compared.get(array.name), number, subject)
                for array, subject in zip(result.arrays, found, strict=True)
            ),
            kept_section(result),
            code_section(self.text, self.file, result, _codes(result, self.budget)),
        ]
        section = element(
            "section",
            join(filter(None, parts)),
            class_="region",
            data_region=str(number),
            aria_label="Region",
        )
        return section, {**data, "statements": lines}


def make_page(
    file: str,
    problems: Problem | Sequence[Problem],
    options: FoldOptions | None = None,
    *,
    mapping: str | None = None,
    budget: Budget | float | None = None,
    progress: Progress = lambda _: None,
) -> Page:
    """Fold the problems of a file, compare all methods, check a mapping if one is given, and tell it all.

    file     where the problems come from; its text is shown
    mapping  MAP as `check` takes it; then only the arrays it speaks of are shown
    """
    limit, options = as_budget(budget), options or FoldOptions()
    several = problems if isinstance(problems, Sequence) else [problems]
    regions: list[RegionPage] = []
    for number, problem in enumerate(several):
        part = limit if number == len(several) - 1 else limit.first_part(1 / (len(several) - number))
        regions.append(_region_page(problem, options, mapping, part, progress))
    text = read_input(Path(file)).decode("utf-8", "replace")
    return Page(file, text, regions, limit)


def _region_page(
    problem: Problem, options: FoldOptions, mapping: str | None, limit: Budget, progress: Progress
) -> RegionPage:
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
    return RegionPage(result, analysis, compared, checked)


def _subjects(region: RegionPage) -> list[Subject]:
    """What is drawn: mappings that somebody brought, then the arrays that were folded."""
    program = region.result.problem
    given = [
        Subject(
            f"{item.conflicts.name}, your mapping",
            item.conflicts,
            item.mapping,
            item.lower_bound,
            element_bytes(program, item.conflicts.name),
            is_given=True,
        )
        for item in region.checked
    ]
    return given + [
        Subject(
            array.name, array.conflicts, array.mapping, array.lower_bound, element_bytes(program, array.name)
        )
        for array in region.result.arrays
    ]


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


def _statements(problem: Problem) -> dict[str, tuple[int, int]]:
    """Statement -> its first and last line in the file."""
    source = problem.source if isinstance(problem, Program) else None
    if source is None:
        return {}
    found: dict[str, tuple[int, int]] = {}
    for name, statement in source.statements.items():
        if not isinstance(statement.node, Copy):
            span = statement.node.span
            first, last = (
                source.text.place(place).line for place in (span.start, max(span.start, span.end - 1))
            )
            found[name] = (first, max(first, last))
    return found


def _document(title: str, main: str, data: Mapping[str, Any]) -> str:
    """The whole file. What the page may run and how it may look is pinned by hashes, so nothing else can."""
    assets = files("arrayfold.report") / "assets" / "page"
    style = f"\n{(assets / 'page.css').read_text('utf-8')}"
    pieces = "\n".join((assets / f"{name}.js").read_text("utf-8") for name in _SCRIPTS)
    script = f'\n"use strict";\n(() => {{\n{pieces}}})();\n'
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

"""Sections of the report page as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fix_parameters
from arrayfold.exact.parameter_values import comfortable_parameters
from arrayfold.fold.check import Checked
from arrayfold.fold.compare import ComparedArray
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.judge.verify import Counterexample, Proof
from arrayfold.mapping.modular import TableMapping
from arrayfold.methods import citation_of
from arrayfold.report.code_view import side_by_side
from arrayfold.report.markup import Markup, badge, element, folded_away, join, table
from arrayfold.report.words import (
    bound_sentence,
    foundation,
    narrative,
    proved_words,
    readable_pairs,
    readable_set,
    what_is_shown,
)

_EXAMPLE_SIZE = 1024
_BADGES = {"invalid": "bad", "undecided": "warn", "loose": "warn", "valid": "good", "minimal": "good"}


# ---------------------------------------------------------------- at a glance


def summary_section(result: FoldResult, checked: Sequence[Checked], region: int) -> Markup:
    """One row an array, each leading to its section."""
    lines = [
        element(
            "li",
            element("a", item.conflicts.name, href=f"#mapping-{region}-{number}"),
            ": ",
            element("code", str(item.mapping)),
            f" is {_verdict_words(item)}. ",
            badge(item.summary, _BADGES[item.summary]),
        )
        for number, item in enumerate(checked)
    ]
    lines += [
        element(
            "li",
            element("a", array.name, href=f"#array-{region}-{array.name}"),
            f": {array.remark}. ",
            _fold_badge(array),
        )
        for array in result.arrays
    ]
    if not lines:
        return element("p", result.why_nothing)
    assumed = [element("p", f"Assumed: {one}.", class_="soft") for one in result.assumptions]
    return join([element("ul", *lines, class_="summary"), *assumed])


def _verdict_words(item: Checked) -> str:
    if isinstance(item.verdict, Counterexample):
        return "wrong"
    return "proved" if item.is_valid else "neither proved nor refuted"


def _fold_badge(array: FoldedArray) -> Markup:
    return badge(", ".join(filter(None, ("proved", array.gap.words))), "good")


def _glance(array: FoldedArray) -> Markup:
    """Cells before and after, and a bar; sizes that nobody gave are a thousand or so."""
    context = array.conflicts.context
    if context.is_disjoint(fix_parameters(array.params)):
        context = array.conflicts.whole_context
    params = comfortable_parameters(context, array.params, _EXAMPLE_SIZE)
    if isinstance(array.mapping, TableMapping):
        params = dict(array.mapping.params)
    bound = array.lower_bound
    entries = [("cells before", array.original_size), ("cells after", array.size)]
    if bound.formula is not None:
        shown = "" if bound.when is None else " (sizes below)"
        entries.append((f"no mapping has fewer than{shown}", bound.formula))
    parts = [element("div", element("dt", name), element("dd", _separated(size))) for name, size in entries]
    was, now = array.original_size_at(params), array.conflicts.size_at(array.size, params)
    where = ", ".join(f"{name} = {value:,}" for name, value in params.items())
    sentence = f"{f'At {where}: ' if where else ''}{now:,} instead of {was:,} cells"
    if now and was > now:
        sentence += (
            f", {was / now:,.1f} times fewer" if was < 100 * now else f", {was / now:,.0f} times fewer"
        )
    least = array.gap.bound_here
    if least is not None and bound.formula is None:
        sentence += f"; no mapping has fewer than {least:,}"
    return join([element("dl", *parts, class_="glance"), element("p", f"{sentence}."), _bar(was, now)])


def _separated(size: Formula) -> str:
    return f"{int(size.as_number()):,}" if size.is_constant else str(size)


def _bar(was: int, now: int) -> Markup:
    share = 100 * now / max(was, now, 1)
    rects = (
        element("rect", width="100", height="14", class_="was"),
        element("rect", width=f"{share:.2f}", height="14", class_="now"),
    )
    label = f"{share:.1f} % of the cells are left"
    return element(
        "svg",
        *rects,
        class_="bar",
        viewBox="0 0 100 14",
        preserveAspectRatio="none",
        role="img",
        aria_label=label,
    )


# ---------------------------------------------------------------- arrays


def array_section(
    array: FoldedArray, compared: ComparedArray | None, region: int, subject: int | None
) -> Markup:
    """All about one folded array. `subject` is its number among those that are drawn."""
    notes = [f"{note}." for note in array.notes]
    notes += [f"For {case.when}: {case.mapping}, {case.size} cells." for case in array.cases]
    parts = [
        element("h3", array.name, " ", _fold_badge(array), id=f"array-{region}-{array.name}"),
        element("p", element("code", str(array.mapping)), f", found by {array.method}."),
        _glance(array),
        *(element("p", note, class_="soft") for note in notes),
        folded_away("Why it is right, and how far it is from the minimum", *_proof(array.proof, array)),
        *_differences(array.conflicts, subject),
        *_methods(compared),
    ]
    return element("section", join(parts), class_="array", aria_label=f"Array {array.name}")


def checked_section(item: Checked, region: int, number: int, subject: int | None) -> Markup:
    """The verdict on a mapping that somebody brought; a counterexample is played out."""
    name = item.conflicts.name
    parts = [
        element(
            "h3",
            f"A mapping of {name} ",
            badge(item.summary, _BADGES[item.summary]),
            id=f"mapping-{region}-{number}",
        ),
        element("p", element("code", str(item.mapping))),
    ]
    if isinstance(item.verdict, Counterexample):
        parts.append(_counterexample(item, item.verdict))
    elif isinstance(item.verdict, Proof):
        parts.append(element("p", "" if item.gap is None else bound_sentence(item.gap)))
    else:
        parts.append(element("p", f"{item.verdict}."))
    if item.smaller is not None and item.smaller.mapping is not None:
        better = item.smaller.mapping
        parts.append(
            element("p", f"Smaller: {better.size} cells with ", element("code", str(better)), ", proved too.")
        )
    elif item.shrunk is not None:
        parts.append(
            element("p", "Looser than needed: ", element("code", str(item.shrunk)), " is valid as well.")
        )
    parts += _differences(item.conflicts, subject)
    return element("section", join(parts), class_="array", aria_label=f"A mapping of {name}")


def _counterexample(item: Checked, verdict: Counterexample) -> Markup:
    where = ", ".join(f"{name} = {value}" for name, value in verdict.params.items())
    address = f"[{', '.join(map(str, verdict.address))}]"
    events = [
        element("li", event.text, data_address=address, data_holds=event.holds, data_does=event.does)
        for event in narrative(item)
    ]
    parts = [
        element("h4", f"What goes wrong{f' at {where}' if where else ''}"),
        element("p", f"{verdict}.", class_="bad"),
        element("ol", *events, class_="story"),
    ]
    return element("div", join(parts), class_="panel counterexample")


def workbench_section(text: Markup, is_drawn: bool, is_sequential: bool) -> Markup:
    """The source beside the pictures of the arrays; the script of the page draws them."""
    if not is_drawn:
        return join(
            [
                element("p", "There is nothing small enough to draw.", class_="soft"),
                folded_away("The input", text),
            ]
        )
    parts = [
        element("div", class_="toolbar"),
        element("div", class_="timeline"),
        element(
            "div", element("div", text, class_="source"), element("div", class_="stage"), class_="columns"
        ),
    ]
    if not is_sequential:
        words = (
            "The program is parallel; what is played is one of its executions. Conflicts are those of all."
        )
        parts.append(element("p", words, class_="soft"))
    return element("div", join(parts), class_="panel workbench")


def _differences(conflicts: Conflicts, subject: int | None) -> list[Markup]:
    texts = [element("p", "Differences: ", element("code", readable_set(conflicts, conflicts.differences)))]
    pairs = readable_pairs(conflicts)
    if pairs is not None:
        texts.insert(0, element("p", "Conflicts: ", element("code", pairs)))
    sets = folded_away("The sets for all sizes, in isl's notation", *texts)
    if subject is None:
        return [sets]
    pictures = [
        element("div", class_="differences", data_subject=str(subject)),
        _legend(
            ("conflict", "difference of two conflicting cells"),
            ("same", "between cells of one address; the arrows span them"),
            ("reuse", "shortest vector that never is a difference, whatever the size"),
        ),
    ]
    return [folded_away("Differences of conflicting cells, and the lattice of the mapping", *pictures), sets]


def _legend(*entries: tuple[str, str]) -> Markup:
    def sample(kind: str) -> Markup:
        if kind == "reuse":
            shape = element("path", d="M1 8h14", class_=kind)
        else:
            shape = element("circle", cx="8", cy="8", r="5", class_=kind)
        return element("svg", shape, viewBox="0 0 16 16", aria_hidden="true")

    return element("ul", *(element("li", sample(kind), text) for kind, text in entries), class_="legend")


# ---------------------------------------------------------------- methods and proof


def _methods(compared: ComparedArray | None) -> list[Markup]:
    if compared is None:
        return []
    rows: list[list[str]] = []
    for one in compared.candidates:
        time = f"{one.seconds * 1000:,.0f} ms"
        citation = citation_of(one.method)
        name = f"{one.method} ({citation})" if citation else one.method
        if one.mapping is None:
            rows.append([name, one.reason, "none", "", time])
            continue
        gap = compared.gap(one)
        assert gap is not None
        verdict = proved_words(gap, one.mapping)
        rows.append([name, element("code", str(one.mapping)), str(gap.size), verdict, time])
    titles = ("method", "mapping, or why there is none", "cells", "verdict", "time")
    return [folded_away("All methods", table(titles, rows, tight=("cells", "time")))]


def _proof(proof: Proof, array: FoldedArray) -> list[Markup]:
    steps = [element("li", f"{step[:1].upper()}{step[1:]}.") for step in proof.steps]
    return [
        element("p", what_is_shown(array.mapping)),
        element("p", f"Shown {proof.argument}:"),
        element("ol", *steps, class_="proof"),
        element("p", foundation(proof)),
        element("p", "It holds for all of ", element("code", str(proof.context)), ".")
        if proof.context.dim(isl.dim_type.param)
        else element("p", "There are no sizes that could vary."),
        element("h4", "How far from the minimum"),
        element("p", bound_sentence(array.gap)),
    ]


# ---------------------------------------------------------------- the rest


def kept_section(result: FoldResult) -> Markup | None:
    """The arrays that stay as they are."""
    if not result.kept:
        return None
    rows = [[name, reason] for name, reason in result.kept.items()]
    return join([element("h3", "Arrays that stay"), table(("array", "because"), rows)])


def code_section(text: str, file: str, result: FoldResult, codes: Mapping[str, str]) -> Markup | None:
    """The code before and after, side by side, where there is code."""
    names = [array.name for array in result.arrays]
    parts: list[Markup] = []
    for style, code in codes.items():
        sides = side_by_side(text, code, file, names)
        if sides is None:
            continue
        titled = [
            element("div", element("h4", title), side)
            for title, side in zip(("before", "after"), sides, strict=True)
        ]
        readable = style == "readable"
        title = "With the mapping in subscripts" if readable else "As fold writes it, for speed"
        parts.append(folded_away(title, element("div", *titled, class_="sides"), is_open=readable))
    if not codes:
        return None
    if not parts:
        parts = [element("p", "No array shrinks, so the code stays as it is.")]
    return join([element("h3", "The code, before and after"), *parts])

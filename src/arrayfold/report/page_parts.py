"""Sections of the report page as HTML. All text goes through `element`, which escapes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

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
from arrayfold.report.code_view import changed_part, marked_code
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


@dataclass(frozen=True)
class Pictures:
    """The pictures of a section: their number in the data of the page, and what there is to show."""

    number: int
    exist: bool
    have_steps: bool
    is_sequential: bool


class Markup(str):
    """HTML that is safe as it stands."""

    __slots__ = ()


def element(tag: str, *content: str, **attributes: str) -> Markup:
    """An element; text in it is escaped, markup is not. `class_` stands for class.

    >>> element("p", "a < b ", element("code", "x"), class_="soft")
    '<p class="soft">a &lt; b <code>x</code></p>'
    """
    names = {name: name.rstrip("_").replace("_", "-") for name in attributes}
    inside = "".join(f' {names[name]}="{escape(value)}"' for name, value in attributes.items())
    text = "".join(part if isinstance(part, Markup) else escape(part) for part in content)
    return Markup(f"<{tag}{inside}>{text}</{tag}>")


def _join(parts: Iterable[str]) -> Markup:
    return Markup("\n".join(part if isinstance(part, Markup) else escape(part) for part in parts))


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]], tight: Sequence[str] = ()) -> Markup:
    def cells(tag: str, row: Sequence[str]) -> list[Markup]:
        kinds = ("tight" if title in tight else "" for title in titles)
        return [
            element(tag, text, class_=kind) if kind else element(tag, text)
            for text, kind in zip(row, kinds, strict=True)
        ]

    head = element("thead", element("tr", *cells("th", titles)))
    body = element("tbody", *(element("tr", *cells("td", row)) for row in rows))
    return element("div", element("table", head, body), class_="table")


def _badge(text: str, kind: str) -> Markup:
    return element("span", text, class_=f"badge {kind}")


# ---------------------------------------------------------------- at a glance


def summary_section(result: FoldResult, checked: Sequence[Checked]) -> Markup:
    """One line an array, each leading to its section."""
    lines = [
        element(
            "li",
            element("a", item.conflicts.name, href=f"#mapping-{number}"),
            ": ",
            element("code", str(item.mapping)),
            f" is {_verdict_words(item)}. ",
            _badge(item.summary, _BADGES[item.summary]),
        )
        for number, item in enumerate(checked)
    ]
    lines += [
        element(
            "li",
            element("a", array.name, href=f"#array-{array.name}"),
            f": {array.remark}. ",
            _fold_badge(array),
        )
        for array in result.arrays
    ]
    if not lines:
        return element("p", result.why_nothing)
    assumed = [element("p", f"Assumed: {one}.", class_="soft") for one in result.assumptions]
    return _join([element("ul", *lines), *assumed])


def _verdict_words(item: Checked) -> str:
    if isinstance(item.verdict, Counterexample):
        return "wrong"
    return "proved" if item.is_valid else "neither proved nor refuted"


def _fold_badge(array: FoldedArray) -> Markup:
    return _badge(", ".join(filter(None, ("proved", array.gap.words))), "good")


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
    return _join([element("dl", *parts, class_="glance"), element("p", f"{sentence}."), _bar(was, now)])


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


def array_section(array: FoldedArray, pictures: Pictures, compared: ComparedArray | None) -> Markup:
    """All about one folded array."""
    notes = [f"{note}." for note in array.notes]
    notes += [f"For {case.when}: {case.mapping}, {case.size} cells." for case in array.cases]
    parts = [
        element("h2", array.name, " ", _fold_badge(array), id=f"array-{array.name}"),
        element("p", element("code", str(array.mapping)), f", found by {array.method}."),
        _glance(array),
        *(element("p", note, class_="soft") for note in notes),
        *_pictures(array.conflicts, pictures),
        *_methods(compared),
        *_proof(array.proof, array),
    ]
    return element(
        "section", _join(parts), data_subject=str(pictures.number), aria_label=f"Array {array.name}"
    )


def checked_section(item: Checked, pictures: Pictures) -> Markup:
    """The verdict on a mapping that somebody brought; a counterexample is played out."""
    name = item.conflicts.name
    parts = [
        element(
            "h2",
            f"A mapping of {name} ",
            _badge(item.summary, _BADGES[item.summary]),
            id=f"mapping-{pictures.number}",
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
    parts += _pictures(item.conflicts, pictures)
    return element(
        "section", _join(parts), data_subject=str(pictures.number), aria_label=f"A mapping of {name}"
    )


def _counterexample(item: Checked, verdict: Counterexample) -> Markup:
    where = ", ".join(f"{name} = {value}" for name, value in verdict.params.items())
    address = f"[{', '.join(map(str, verdict.address))}]"
    events = [
        element("li", event.text, data_address=address, data_holds=event.holds, data_does=event.does)
        for event in narrative(item)
    ]
    parts = [
        element("h3", f"What goes wrong{f' at {where}' if where else ''}"),
        element("p", f"{verdict}.", class_="bad"),
        element("ol", *events, class_="story"),
    ]
    return element("div", _join(parts), class_="panel counterexample")


def _pictures(conflicts: Conflicts, pictures: Pictures) -> list[Markup]:
    if not pictures.exist:
        return [element("p", "There is nothing small enough to draw.", class_="soft")]
    parts = [
        element("h3", "Who shares, who conflicts"),
        element("div", class_="controls sizes"),
        element("p", class_="counted"),
        element("div", class_="space"),
        _legend(
            ("chosen", "the cell"),
            ("partner", "conflicts with it: needed at the same time"),
            ("shared", "has its address"),
        ),
        element("h3", "Differences of conflicting cells, and the lattice of the mapping"),
        element("div", class_="differences"),
        _legend(
            ("conflict", "difference of two conflicting cells"),
            ("same", "between cells of one address; the arrows span them"),
            ("reuse", "shortest vector that never is a difference, whatever the size"),
        ),
        element("h3", "The sweep"),
    ]
    if pictures.have_steps:
        if not pictures.is_sequential:
            parts.append(
                element(
                    "p", "The program is parallel; this is one of its executions. Conflicts above are of all."
                )
            )
        parts.append(element("div", class_="sweep"))
    else:
        parts.append(
            element(
                "p", "The input gives conflicts and no program, so there is no order to show.", class_="soft"
            )
        )
    texts = [element("p", "Differences: ", element("code", readable_set(conflicts, conflicts.differences)))]
    pairs = readable_pairs(conflicts)
    if pairs is not None:
        texts.insert(0, element("p", "Conflicts: ", element("code", pairs)))
    parts.append(element("details", element("summary", "The sets for all sizes, in isl's notation"), *texts))
    return parts


def _legend(*entries: tuple[str, str]) -> Markup:
    def sample(kind: str) -> Markup:
        if kind in ("chosen", "partner", "shared"):
            shape = element(
                "rect", x="2", y="2", width="12", height="12", rx="3", fill="none", class_=f"cell {kind}"
            )
        elif kind == "reuse":
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
    return [element("h3", "All methods"), _table(titles, rows, tight=("cells", "time"))]


def _proof(proof: Proof, array: FoldedArray) -> list[Markup]:
    steps = [element("li", f"{step[:1].upper()}{step[1:]}.") for step in proof.steps]
    return [
        element("h3", "Why it is right"),
        element("p", what_is_shown(array.mapping)),
        element("p", f"Shown {proof.argument}:"),
        element("ol", *steps, class_="proof"),
        element("p", foundation(proof)),
        element("p", "It holds for all of ", element("code", str(proof.context)), ".")
        if proof.context.dim(isl.dim_type.param)
        else element("p", "There are no sizes that could vary."),
        element("h3", "How far from the minimum"),
        element("p", bound_sentence(array.gap)),
    ]


# ---------------------------------------------------------------- the rest


def kept_section(result: FoldResult) -> Markup | None:
    """The arrays that stay as they are."""
    if not result.kept:
        return None
    rows = [[name, reason] for name, reason in result.kept.items()]
    return element("section", element("h2", "Arrays that stay"), _table(("array", "because"), rows))


def code_section(text: str, result: FoldResult, codes: Mapping[str, str]) -> Markup:
    """The code before and after; of a problem file its text."""
    names = [array.name for array in result.arrays]
    if not codes:
        return element("section", element("h2", "The input"), element("pre", text))
    parts: list[Markup] = [element("h2", "The code, before and after")]
    for style, code in codes.items():
        before, after = changed_part(text, code)
        if not after:
            continue
        sides = [
            element(
                "div", element("h3", title), element("pre", Markup(marked_code(part, names)), tabindex="0")
            )
            for title, part in (("before", before), ("after", after))
        ]
        title = "With the mapping in subscripts" if style == "readable" else "As fold writes it, for speed"
        body = element("div", *sides, class_="sides")
        opened = {"open": ""} if style == "readable" else {}
        parts.append(element("details", element("summary", title), body, **opened))
    if len(parts) == 1:
        parts += [element("p", "No array shrinks, so the code stays as it is."), element("pre", text)]
    return element("section", _join(parts))

"""An order as people write it: an isl relation from instances to times."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.base.source_text import SourceText
from arrayfold.exact.isl import coalesced, maps_of, parameter_names, tuple_name
from arrayfold.exact.isl_text import read_isl
from arrayfold.program.model import Program

OPTION = "--schedule"


def schedule_source(program: Program, text: str, option: str = OPTION) -> SourceText:
    """The text as a whole isl relation: braces and parameters added, places as the user typed them."""
    if "{" in text and text.lstrip().startswith("["):
        return SourceText.of(text, option)
    prefix = f"[{', '.join(program.parameters)}] -> " if program.parameters else ""
    before, after = (prefix, "") if "{" in text else (prefix + "{ ", " }")
    offsets = [*[0] * len(before), *range(len(text) + 1), *[len(text)] * len(after)]
    return SourceText(before + text + after, option, text, offsets)


def read_schedule(program: Program, source: SourceText) -> isl.UnionMap:
    """The order that a text gives, { S[i] -> [t] }: one time for every instance, all of one length."""
    given = read_isl(isl.UnionMap, source)
    for name in parameter_names(given):
        if name not in program.parameters:
            raise source.error(f"there is no parameter {name!r}", source.find(rf"\b{name}\b"))
    domains = {statement.name: statement.domain for statement in program.statements}
    times = _times_by_statement(given.align_params(program.context.get_space()), source, domains)
    depths = {name: part.dim(isl.dim_type.out) for name, part in times.items()}
    schedule = isl.UnionMap.empty(program.context.get_space())
    for name, everywhere in domains.items():
        domain = everywhere.intersect_params(program.context)
        if domain.is_empty():
            continue
        _check_complete(source, name, domain, times.get(name))
        if depths[name] != max(depths.values()):
            longest = max(depths, key=lambda other: depths[other])
            message = f"times differ in length: {depths[name]} for {name}, {depths[longest]} for {longest}"
            raise _error_at(source, name, message, "Pad the shorter ones with zeros.")
        schedule = schedule.union(isl.UnionMap.from_map(times[name]))
    return coalesced(schedule)


def _times_by_statement(
    given: isl.UnionMap, source: SourceText, domains: Mapping[str, isl.Set]
) -> dict[str, isl.Map]:
    """statement -> { S[i] -> [t] }, clipped to its domain, after names and ranks were checked."""
    times: dict[str, isl.Map] = {}
    for part in maps_of(given):
        name = tuple_name(part.domain())
        if name is None or name not in domains:
            close = difflib.get_close_matches(name or "", list(domains), 1)
            known = f"Did you mean {close[0]!r}?" if close else f"The statements are: {', '.join(domains)}."
            raise _error_at(source, name, f"there is no statement {name or '(unnamed)'}", known)
        rank, found = domains[name].dim(isl.dim_type.set), part.dim(isl.dim_type.in_)
        if found != rank:
            iterators = "1 iterator" if rank == 1 else f"{rank} iterators"
            raise _error_at(source, name, f"statement {name} has {iterators}, not {found}")
        if name in times:
            raise _error_at(source, name, f"the times of {name} differ in length")
        times[name] = part.reset_tuple_id(isl.dim_type.out).intersect_domain(domains[name])
        if not times[name].is_single_valued():
            hint = "A name that is neither an iterator nor a parameter takes every value."
            raise _error_at(source, name, f"some instance of {name} has more than one time", hint)
    return times


def _check_complete(source: SourceText, name: str, domain: isl.Set, times: isl.Map | None) -> None:
    if times is None:
        raise source.error(f"the order does not say when {name} runs", source.find(r"\{"))
    missing = domain.subtract(times.domain())
    if not missing.is_empty():
        message = f"the order does not say when {name} runs, for example {missing.sample_point()}"
        raise _error_at(source, name, message)


def _error_at(source: SourceText, name: str | None, message: str, hint: str | None = None) -> InputError:
    """An error that points at the first use of a statement."""
    return source.error(message, source.find(rf"\b{re.escape(name)}\s*\[" if name else r"\{"), hint)

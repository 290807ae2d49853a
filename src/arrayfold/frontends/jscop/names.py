"""Names for the values of LLVM's text: flang numbers them, and Polly does not tell numbers.

An array of Fortran is called as in its source where the metadata of its accesses say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, count

_QUOTED_OR_NUMBER = re.compile(r'"[^"]*"|%(\d+)\b')
_FUNCTION = re.compile(r"^define [^\n]*\{\n.*?^\}", re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r"^\s*%(\d+) = getelementptr [^%@\n]*ptr %(\d+),")
_ACCESS = re.compile(r"^\s*(?:%(\d+) = load ([^,]+)|store [^,]+), ptr %(\d+),.*!tbaa !(\d+)")
_LENGTH = re.compile(
    r"^(\s*)(%[-\w$.]+) (= (?:tail )?call [^@\n]*?(i32|i64) @llvm\.smax\.i\d+\(i\d+ %[-\w$.]+, i\d+ 0\).*)$",
    re.MULTILINE,
)
_FREED = re.compile(
    r"^(\s*(?P<test>%[-\w$.]+) = icmp) eq ptr (?P<memory>%[-\w$.]+), null\n"
    r"(?P<branch>\s*br i1 (?P=test), label %(?P<end>[-\w$.]+), label %(?P<free>[-\w$.]+)[^\n]*\n\n"
    r"(?P=free):[^\n]*\n\s*(?:tail )?call void @free\(ptr (?:nonnull )?(?P=memory)\)[^\n]*\n"
    r"\s*br label %(?P=end)\n)",
    re.MULTILINE,
)


def with_names(text: str) -> str | None:
    """The text of a module in which values and blocks have names; None if types have numbers, too.

    The length of a dimension, which cannot be negative, becomes a value of which nothing else is known:
    Polly takes no maximum for the length of a dimension. Memory is freed without asking whether there is any,
    which Polly would do before the loops.
    """
    if re.search(r"^%\d+ = type", text, re.MULTILINE):
        return None
    entities = dict(_entities(text))
    named = _FUNCTION.sub(lambda function: _named(function[0], entities), text)
    opaque = r'\1\2.length \3\n\1\2 = call \4 asm "", "=r,0"(\4 \2.length) nounwind memory(none)'
    return _FREED.sub(_freed, _LENGTH.sub(opaque, named))


def _freed(found: re.Match[str]) -> str:
    """The same as what is freed if there is any, without the question: the test is false."""
    test, memory = found["test"], found["memory"]
    whole = found.string
    function = whole[whole.rfind("\ndefine ", 0, found.start()) : whole.find("\n}", found.end())]
    if len(re.findall(rf"{re.escape(test)}(?![-\w$.])", function)) != 2:
        return found[0]
    return f"{found[1]} ne ptr {memory}, {memory}\n{found['branch']}"


def _entities(text: str) -> Iterator[tuple[str, str]]:
    """The tags of accesses, and the variables of Fortran that they are of."""
    types = dict(re.findall(r'^!(\d+) = !\{!"[^"\n]*/_Q[^"\n]*E(\w+)", ', text, re.MULTILINE))
    for tag, kind in re.findall(r"^!(\d+) = !\{!\d+, !(\d+), i64 0\}", text, re.MULTILINE):
        if kind in types:
            yield tag, types[kind]


def _named(function: str, entities: Mapping[str, str]) -> str:
    """A function in which nothing has a number."""
    head, _, body = function.partition("\n")
    numbers = [int(number) for number in _numbers(head)]
    if not re.match(r'\s*(?:[-\w$.]+|"[^"]*"):', body):
        body = f"{max(numbers, default=-1) + 1}:\n{body}"
    taken = set(re.findall(r"%([-\w$.]+)", function)) | set(re.findall(r"^([-\w$.]+):", body, re.MULTILINE))
    prefix = "v"
    while any(re.fullmatch(rf"{prefix}\d+(?:\..*)?", name) for name in taken):
        prefix += "v"
    names = _variables(body, entities, taken)

    def name(found: re.Match[str]) -> str:
        return found[0] if found[1] is None else f"%{names.get(found[1], prefix + found[1])}"

    renamed = _QUOTED_OR_NUMBER.sub(name, f"{head}\n{body}")
    return re.sub(r"^(\d+):", rf"{prefix}\1:", renamed, flags=re.MULTILINE)


def _numbers(text: str) -> list[str]:
    return [found[1] for found in _QUOTED_OR_NUMBER.finditer(text) if found[1] is not None]


def _variables(body: str, entities: Mapping[str, str], taken: set[str]) -> dict[str, str]:
    """The numbers of arrays, and of scalars that are loaded, and the variables that they are."""
    bases: dict[str, str] = {}
    for line in body.splitlines():
        address = _ADDRESS.match(line)
        if address is not None:
            bases[address[1]] = bases.get(address[2], address[2])
    found: dict[str, str] = {}
    for line in body.splitlines():
        access = _ACCESS.match(line)
        if access is None or access[4] not in entities:
            continue
        value, kind, pointer, tag = access.groups()
        is_scalar = kind in ("i32", "i64") and pointer not in bases
        key, variable = value if is_scalar else bases.get(pointer, pointer), entities[tag]
        if key in found or (is_scalar and variable in taken):
            continue
        others = (f"{variable}_{k}" for k in count(2))
        found[key] = next(name for name in chain((variable,), others) if name not in taken)
        taken.add(found[key])
    return found

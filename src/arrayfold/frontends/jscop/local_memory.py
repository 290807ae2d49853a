"""Which arrays of a SCoP are memory of its own, as the text of LLVM's code shows.

An array is local if its function allocates it, or is the only one that knows it, its address goes nowhere
else, and all loads and stores of it are in the SCoP and are accesses that the SCoP has. What is not
understood is not local.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_WORD = r'(?:[-\w$.]+|"[^"]*")'
_NAME = f"[%@]{_WORD}"
_STATIC = re.compile(rf"^(@{_WORD}) = internal (?:(?:local_)?unnamed_addr )?global \[", re.MULTILINE)
_LABEL = re.compile(r'^([-\w$.]+|"[^"]*"):')
_ALLOCATED = re.compile(
    rf"^({_NAME}) = (?:alloca |(?:tail |notail )?call [^@]*@(?:malloc|calloc|aligned_alloc|_Zn[aw]m)\()"
)
_POINTER = r", ptr (?:{0}|getelementptr [\w ]*\([^()%]*ptr {0}, [^()%]*\))(?:,|$)"
_DEFINED = re.compile(rf"^({_NAME}) = ")


@dataclass(frozen=True)
class LlvmFunction:
    """A function of LLVM's text: instructions by the block that they are in.

    names    of all values and globals in it, its arguments, too
    statics  arrays of the module that nothing else mentions
    """

    name: str
    names: frozenset[str]
    statics: frozenset[str]
    blocks: Mapping[str, Sequence[str]]

    def instructions(self) -> Iterator[tuple[str, str]]:
        """Each instruction with its block."""
        for block, lines in self.blocks.items():
            for line in lines:
                yield block, line

    def region(self, entry: str, end: str) -> frozenset[str]:
        """The blocks that are reached from one block without going through another."""
        seen: set[str] = set()
        waiting = [entry]
        while waiting:
            block = waiting.pop()
            if block == end or block in seen or block not in self.blocks:
                continue
            seen.add(block)
            waiting += [
                label[1:] for line in self.blocks[block] for label in re.findall(rf"label ({_NAME})", line)
            ]
        return frozenset(seen)


def functions_of(text: str) -> dict[str, LlvmFunction]:
    """The functions in a module of LLVM, as text."""
    found: dict[str, LlvmFunction] = {}
    mentions = Counter(re.findall(_NAME, text))
    statics = set(_STATIC.findall(text))
    for body in re.finditer(r"^define [^\n]*@([-\w$.]+|\"[^\"\n]*\")\([^\n]*\{\n(.*?)^\}", text, re.M | re.S):
        blocks: dict[str, list[str]] = {"": []}
        block = ""
        for line in body[2].splitlines():
            label = _LABEL.match(line)
            if label is not None:
                block = label[1]
                blocks[block] = []
            elif line.strip():
                blocks[block].append(line.strip())
        name, names = body[1].strip('"'), Counter(re.findall(_NAME, body[0]))
        own = frozenset(one for one in statics & names.keys() if mentions[one] == names[one] + 1)
        found[name] = LlvmFunction(name, frozenset(names), own, blocks)
    return found


def local_arrays(function: LlvmFunction, region: str, accesses: Mapping[str, int]) -> list[str]:
    """The arrays of a SCoP that are memory of its own.

    region    the name of the SCoP, `%entry---%end`
    accesses  how many accesses the SCoP has of each of its arrays
    """
    entry, _, end = region.partition("---")
    inside = function.region(entry.removeprefix("%"), end.removeprefix("%"))
    addresses = Counter(map(_array, function.names))
    made = (_ALLOCATED.match(line) for _, line in function.instructions())
    found: list[str] = []
    for address in (*(one[1] for one in made if one is not None), *sorted(function.statics)):
        array = _array(address)
        uses = _uses(function, address, inside)
        if array in accesses and uses == accesses[array] and addresses[array] == 1:
            found.append(array)
    return found


def _array(name: str) -> str:
    """What Polly calls the array that begins at an address."""
    return "MemRef_" + re.sub(r"\W", "_", name[1:].strip('"'))


def _uses(function: LlvmFunction, address: str, inside: frozenset[str]) -> int | None:
    """How many loads and stores there are of what begins at an address; None if it may be used otherwise."""
    derived = {address}
    size = 0
    while size < len(derived):
        size = len(derived)
        for _, line in function.instructions():
            made = _DEFINED.match(line)
            if made is not None and " = getelementptr " in line and _mentions(line, derived - {made[1]}):
                derived.add(made[1])
    count = 0
    for block, line in function.instructions():
        made = _DEFINED.match(line)
        mentioned = _mentions(line, derived - ({made[1]} if made else set()))
        if not mentioned:
            continue
        if re.search(r"\b(?:volatile|atomic)\b", line):
            return None
        (pointer, *more) = mentioned
        is_memory = re.search(_POINTER.format(re.escape(pointer)), line) is not None
        if not more and is_memory and (" = load " in line or line.startswith("store ")):
            if block not in inside:
                return None
            count += 1
        elif not (_is_harmless(line, is_inside=block in inside) and not more):
            return None
    return count


def _is_harmless(line: str, *, is_inside: bool) -> bool:
    """Whether an instruction is no use of the memory.

    Where the SCoP frees memory, or asks whether there is any, Polly runs its loops only if there is none.
    """
    is_compared = re.search(r"= icmp (?:eq|ne) ptr [^,]+, null$", line.partition(", !")[0]) is not None
    is_end = is_compared or re.search(r"@(?:free|_Zd[al]Pv\w*)\(", line) is not None
    is_marker = line.startswith("#dbg_") or "@llvm.lifetime." in line
    return " = getelementptr " in line or is_marker or (is_end and not is_inside)


def _mentions(line: str, names: set[str]) -> list[str]:
    return [name for name in re.findall(_NAME, line) if name in names]

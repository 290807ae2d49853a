"""A random C file as a tree of lines, so that parts of it can be left out, and the sizes to run it at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Block:
    """A head that opens a brace, what stands inside, and the brace that closes it."""

    head: str
    body: tuple[Node, ...]


Node = str | Block


@dataclass(frozen=True)
class Parameter:
    """What a function is called with.

    kind     "size", "scalar", "array", or "structure" and "pointer" for sizes in a structure
    extents  C expressions, of an array; names of the sizes in a structure
    spelling how the file declares it
    """

    kind: str
    type: str
    name: str
    spelling: str
    extents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Function:
    """A function that the file offers; `results` are further arrays of the file that it leaves values in."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...]
    body: tuple[Node, ...]

    def lines(self) -> list[str]:
        words = ", ".join(parameter.spelling for parameter in self.parameters) or "void"
        return [f"{self.returns} {self.name}({words})", "{", *_indented(self.body), "}"]


@dataclass(frozen=True)
class CProgram:
    """A C file, the header beside it, and the values of its sizes to run it at.

    head      what stands before the functions
    header    the text of `around.h`, which the head includes if there is one
    globals   (type, name) of arrays and variables at file scope whose values are compared
    names     what else has external linkage
    points    values of the sizes, in the order of `sizes`
    seed      what it was drawn from
    suffix    how the file's name ends, which says the language
    """

    head: tuple[str, ...]
    functions: tuple[Function, ...]
    sizes: tuple[str, ...]
    points: tuple[tuple[int, ...], ...]
    header: str = ""
    globals: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()
    temporaries: tuple[str, ...] = ()
    seed: int = 0
    suffix: str = ".c"

    @property
    def text(self) -> str:
        lines = list(self.head)
        for function in self.functions:
            lines += ["", *function.lines()]
        return "\n".join(lines) + "\n"

    @property
    def is_cplusplus(self) -> bool:
        return self.suffix != ".c"

    @property
    def has_threads(self) -> bool:
        return "#pragma omp" in self.text


def _indented(nodes: tuple[Node, ...], depth: int = 1) -> Iterator[str]:
    for node in nodes:
        text = node if isinstance(node, str) else node.head
        yield text if text.startswith("#") else "    " * depth + text
        if isinstance(node, Block):
            yield from _indented(node.body, depth + 1)
            yield "    " * depth + "}"


def without_parts(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """The nodes with one of them left out, or one block replaced by what is inside; larger parts first."""
    for k, node in enumerate(nodes):
        yield (*nodes[:k], *nodes[k + 1 :])
        if isinstance(node, Block):
            yield (*nodes[:k], *node.body, *nodes[k + 1 :])
    for k, node in enumerate(nodes):
        if isinstance(node, Block):
            for body in without_parts(node.body):
                yield (*nodes[:k], replace(node, body=body), *nodes[k + 1 :])


def with_lines_changed(nodes: tuple[Node, ...], change: dict[str, str]) -> tuple[Node, ...]:
    """The nodes with some lines exchanged."""
    return tuple(
        change.get(node, node)
        if isinstance(node, str)
        else Block(change.get(node.head, node.head), with_lines_changed(node.body, change))
        for node in nodes
    )


def all_lines(nodes: tuple[Node, ...]) -> Iterator[str]:
    """The lines of nodes, without the closing braces."""
    for node in nodes:
        if isinstance(node, str):
            yield node
        else:
            yield node.head
            yield from all_lines(node.body)

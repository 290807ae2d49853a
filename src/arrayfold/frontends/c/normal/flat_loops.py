"""Loops over all elements of a flat array, `for (i = 0; i < w*h; i++)`, as loops over rows and columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.edits import Edit, NotInText
from arrayfold.c.lexer import find_pragmas
from arrayfold.c.source import assigned_in, loop_variable
from arrayfold.c.tree import Expression, Node, Variable, bare, children, named_in, walk
from arrayfold.frontends.c.normal.counting import Count, count_of, limit_of, own_breaks
from arrayfold.frontends.c.normal.scene import RegionScene, Rewriting
from arrayfold.frontends.c.normal.texts import TreeText, end_of

_MOST_FACTORS = 4
# Clauses under which the rows of a flat loop may be the iterations that threads share.
_OPENMP = re.compile(
    r"omp(\s+parallel)?\s+for(\s*,?\s*(schedule|firstprivate|shared|default|num_threads|reduction|if|proc_bind)"
    r"\s*\([^()]*\)|\s*,?\s*nowait)*\s*"
)


def flat_loops(scene: RegionScene) -> Iterator[Rewriting]:
    """Loops from 0 to a product of sizes, each as one loop a factor around the same body."""
    order = _Order(scene)
    for loop in scene.statements():
        if isinstance(loop, c.For) and (loop not in scene.kept or _is_shared_by_threads(scene, loop)):
            try:
                found = _split(scene, loop, order)
            except (NotInText, InputError):
                continue
            if found is not None:
                yield found


def _split(scene: RegionScene, loop: c.For, order: _Order) -> Rewriting | None:
    """One flat loop, row by row; None if it is none."""
    count = count_of(scene, loop)
    if count is None or loop.condition is None or count.place != "header" or count.amount != 1:
        return None
    if not re.fullmatch(r"0[uUlL]*", count.start) or loop_variable(loop) is not count.variable:
        return None
    limit = limit_of(scene, loop.condition, count, loop)
    factors = None if limit is None or limit.operator != "<" else _factors_of(scene, loop.condition, count)
    is_used_behind = not isinstance(loop.start, c.Declare) and _is_used_outside(scene, count.variable)
    if factors is None or is_used_behind or next(own_breaks(loop.body), None) is not None:
        return None
    return _nest(scene, loop, count.variable, order.of(factors))


def _nest(scene: RegionScene, loop: c.For, variable: Variable, factors: Sequence[Expression]) -> Rewriting:
    """The loops, and the body with the variable that counts all elements."""
    texts = TreeText(scene.text)
    kind = variable.type.spelling.replace("const", "").strip()
    names = [scene.fresh(variable.name) for _ in factors]
    headers: list[str] = []
    total = ""
    for name, factor in zip(names, factors, strict=True):
        size = texts.expression(factor)
        size = size if isinstance(bare(factor), c.Reference | c.Number) else f"({size})"
        headers.append(f"for ({kind} {name} = 0; {name} < {size}; {name}++) ")
        total = name if not total else f"{f'({total})' if '+' in total else total} * {size} + {name}"
    start, body = loop.span.start, loop.body.span.start
    end = end_of(scene.text, loop)
    opening = "".join(headers) + f"{{ const {kind} {variable.name} = {total}; "
    return Rewriting(start, end, (Edit(start, body, opening), Edit(end, end, " }")), split=tuple(names))


def _is_used_outside(scene: RegionScene, variable: Variable) -> bool:
    """Whether a variable is used anywhere but in loops that begin by setting it."""
    nodes = list(walk(scene.region.function.body))
    loops = (node for node in nodes if isinstance(node, c.For) and loop_variable(node) is variable)
    inside = {node for loop in loops for node in walk(loop)}
    return any(one is variable for one in named_in(node for node in nodes if node not in inside))


def _is_shared_by_threads(scene: RegionScene, loop: c.For) -> bool:
    """Whether what stands before a loop is nothing but a pragma of OpenMP that may as well be about rows."""
    start = loop.span.start
    behind = [one for one in find_pragmas(scene.text.text) if one.end <= start]
    if not behind or scene.text.plain[behind[-1].end : start].strip():
        return False
    is_second = (
        len(behind) > 1
        and behind[-2].words.startswith("omp")
        and not scene.text.plain[behind[-2].end : behind[-1].start].strip()
    )
    return not is_second and _OPENMP.fullmatch(behind[-1].words) is not None


# ---------------------------------------------------------------- the factors of a bound


def _factors_of(scene: RegionScene, condition: Expression, count: Count) -> list[Expression] | None:
    """The sizes of which the bound of a loop is the product, if at least two of them are no numbers."""
    inner = bare(condition)
    if not isinstance(inner, c.Binary):
        return None
    right = inner.right if count.variable in set(named_in(walk(inner.left))) else inner.left
    factors = list(_factors(scene, right))
    symbols = [one for one in factors if not isinstance(bare(one), c.Number)]
    if not 2 <= len(symbols) <= len(factors) <= _MOST_FACTORS:
        return None
    return factors if all(_is_size(scene, one) for one in factors) else None


def _factors(scene: RegionScene, expression: Expression) -> Iterator[Expression]:
    inner = _without_widening(expression)
    if isinstance(inner, c.Binary) and inner.operator == "*":
        yield from _factors(scene, inner.left)
        yield from _factors(scene, inner.right)
    elif isinstance(inner, c.Reference) and (value := _set_once(scene, inner.variable)) is not None:
        yield from _factors(scene, value)
    else:
        yield inner


def _without_widening(expression: Expression) -> Expression:
    """An expression without casts that keep the value of a size."""
    inner = bare(expression)
    while isinstance(inner, c.Cast) and inner.type.is_integer and inner.type.bits >= inner.operand.type.bits:
        inner = bare(inner.operand)
    return inner


def _set_once(scene: RegionScene, variable: Variable) -> Expression | None:
    """The product that a variable is declared as, if neither it nor a size in that changes afterwards."""
    value = variable.initial
    if value is None or not scene.is_own_integer(variable) or variable.type.bits < 32:
        return None
    product = _without_widening(value)
    if not isinstance(product, c.Binary) or product.operator != "*":
        return None
    changed = set(assigned_in(walk(scene.region.function.body)))
    named = [variable, *named_in(walk(product))]
    stays = all(scene.is_own_integer(one) and one not in changed for one in named)
    return product if stays and not scene.is_hidden(named_in(walk(product))) else None


def _is_size(scene: RegionScene, factor: Expression) -> bool:
    """Whether a factor is made of integers that stay as they are, by sums."""
    changed = set(assigned_in(walk(scene.region.function.body)))
    return all(
        isinstance(node, c.Number)
        or (isinstance(node, c.Binary) and node.operator in "+-")
        or (isinstance(node, c.Reference) and node.variable not in changed and _stays(scene, node.variable))
        or isinstance(node, c.Parentheses | c.Cast)
        for node in walk(factor)
    )


def _stays(scene: RegionScene, variable: Variable) -> bool:
    return scene.is_own_integer(variable) or "const" in variable.type.canonical.split()


# ---------------------------------------------------------------- which factor is the innermost


class _Order:
    """The order of the factors: what more strides of the region's subscripts contain is further in.

    Numbers that are strides, such as the 3 of `rgb[3*i + c]`, are the innermost.
    """

    def __init__(self, scene: RegionScene) -> None:
        nodes = list(scene.region.nodes())
        self._iterators = {loop_variable(node) for node in nodes if isinstance(node, c.For)}
        self._counts: Counter[str] = Counter()
        self._seen: dict[str, int] = {}
        for statement in scene.region.statements:
            for terms in _sums(statement):
                self._count(terms)

    def of(self, factors: Sequence[Expression]) -> list[Expression]:
        """The factors, the outermost first; the same way round in all loops where nothing else is known."""
        return sorted(factors, key=self._depth)

    def _depth(self, factor: Expression) -> tuple[bool, int, int]:
        name = _name(factor)
        seen = self._seen.setdefault(name, len(self._seen))
        return name.isdigit() and bool(self._counts[name]), self._counts[name], seen

    def _count(self, terms: Sequence[Sequence[Node]]) -> None:
        for term in terms:
            fixed = [one for one in term if self._iterators.isdisjoint(named_in(walk(one)))]
            if len(fixed) < len(term):
                self._counts.update(filter(None, map(_name, fixed)))


def _sums(node: Node) -> Iterator[list[tuple[Node, ...]]]:
    """The sums of products in a piece of code that are no parts of others."""
    inside: Sequence[Node] = list(children(node))
    if isinstance(node, c.Binary) and node.operator in "+-*":
        terms = _terms(node)
        yield terms
        inside = [child for term in terms for leaf in term for child in children(leaf)]
    for child in inside:
        yield from _sums(child)


def _terms(node: Node, depth: int = 0) -> list[tuple[Node, ...]]:
    """An expression as a sum of products."""
    inner = _without_widening(node) if isinstance(node, c.Cast | c.Parentheses) else node
    if isinstance(inner, c.Binary) and depth < _MOST_FACTORS * 2:
        left, right = _terms(inner.left, depth + 1), _terms(inner.right, depth + 1)
        if inner.operator in "+-":
            return [*left, *right]
        if inner.operator == "*":
            return [(*one, *other) for one in left for other in right]
    return [(inner,)]


def _name(factor: Node) -> str:
    """What a factor is told by: a variable or a number."""
    match factor if isinstance(factor, c.CStatement) else _without_widening(factor):
        case c.Reference(variable=variable):
            return variable.name
        case c.Number(value=value):
            return str(value)
        case c.Binary(operator="+" | "-", left=left):
            return _name(left)
        case _:
            return ""

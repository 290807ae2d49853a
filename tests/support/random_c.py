"""Random C functions with a region: every access in bounds, every read of a local array after a write.

A function is drawn in two steps. First its skeleton: loops, conditions, and what each statement assigns to.
Then what the statements read: an element of a temporary is read at a point of a statement that surely wrote
it before, under a condition that says that this point exists, unless that is plain from the loops around.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from support.random_c_parts import (
    Array,
    Constraint,
    Features,
    Form,
    If,
    Loop,
    Node,
    RandomC,
    Statement,
    Target,
    variable,
)

SIZES = ("N", "M")


def linear(draw: st.DrawFn, loops: Sequence[Loop], *, simple: bool = False) -> Form:
    """A subscript of the iterators around."""
    if not loops:
        return Form((), draw(st.integers(0, 2)))
    form = variable(draw(st.sampled_from(loops)).name)
    kind = draw(st.integers(0, 11))
    if kind == 0 and not simple:
        form = form.plus(variable(draw(st.sampled_from(loops)).name))
    elif kind == 1 and not simple:
        form = form.plus(variable(draw(st.sampled_from(loops)).name), -1)
    elif kind == 2:
        form = Form((), 0).plus(form, -1)
    elif kind == 3 and not simple:
        form = Form((), 0).plus(form, 2)
    elif kind == 4:
        form = Form((), draw(st.integers(0, 2)))
    return form.plus(draw(st.sampled_from([0, 0, 0, 1, 2, -1])))


def box_of(form: Form, loops: Iterable[Loop]) -> tuple[Form, Form]:
    """Smallest and largest value as forms of the sizes."""
    low = high = Form((), form.constant)
    boxes = {loop.name: loop.box for loop in loops}
    for name, a in form.terms:
        smallest, largest = boxes.get(name, (variable(name), variable(name)))
        low = low.plus(smallest if a > 0 else largest, a)
        high = high.plus(largest if a > 0 else smallest, a)
    return low, high


class Skeleton:
    """Draws loops and what they assign to."""

    def __init__(self, draw: st.DrawFn, features: Features) -> None:
        self.draw = draw
        self.features = features
        names = ["tmp", "u", "v"]
        if draw(st.integers(0, 3)) == 0:
            names = ["c1", "tmp", "tmp_folded"]
        kinds = ["double", "double", "float", "int", "unsigned"]
        self.temporaries = [
            self.array(name, draw(st.sampled_from(kinds))) for name in names[: draw(st.integers(1, 3))]
        ]
        self.inputs = [self.array("in", "double"), self.array("image", draw(st.sampled_from(kinds)))]
        self.outputs = [self.array("out", "double"), self.array("res", draw(st.sampled_from(kinds[:4])))]
        self.statements: list[Statement] = []
        self.iterators: dict[str, str] = {}
        self.used: set[str] = set()
        self.scalars = 0

    def array(self, name: str, kind: str) -> Array:
        rank = self.draw(st.sampled_from([1, 2, 2, 3]))
        return Array(name, kind, rank, [Form((), 1)] * rank)

    def nodes(
        self,
        loops: tuple[Loop, ...],
        known: tuple[Constraint, ...],
        sure: bool,
        most: int,
        scalars: tuple[str, ...] = (),
    ) -> list[Node]:
        found: list[Node] = []
        for _ in range(self.draw(st.integers(1, most))):
            if found and len(self.statements) >= self.features.most_statements:
                break
            kind = self.draw(st.integers(0, 9))
            if len(loops) < 3 and kind < (8 if not loops else 4):
                found.append(self.loop(loops, known, sure, scalars))
            elif kind == 8 and loops:
                found.append(self.condition(loops, known, sure, scalars))
            elif kind == 9 and loops and self.features.inner_scalars:
                self.scalars += 1
                name = f"s{self.scalars}"
                if (
                    self.features.hidden_names
                    and "alpha" not in scalars
                    and self.draw(st.integers(0, 5)) == 0
                ):
                    name = "alpha"
                statement = self.statement("declare", loops, known, sure, scalar=name, scalars=scalars)
                scalars = (*scalars, name)
                found.append(statement)
            else:
                found.append(self.assignment(loops, known, sure, scalars))
        return found

    def loop(
        self, loops: tuple[Loop, ...], known: tuple[Constraint, ...], sure: bool, scalars: tuple[str, ...]
    ) -> Loop:
        draw = self.draw
        name = self.name(loops)
        size = Form(((draw(st.sampled_from(SIZES)), 1),))
        low, high = (
            Form((), draw(st.sampled_from([0, 0, 0, 1, 2]))),
            size.plus(draw(st.sampled_from([-1, -1, -1, -2, 0]))),
        )
        box = (low, high)
        lowers, uppers = [low], [high]
        shape = draw(st.integers(0, 9)) if loops else 0
        if shape in (5, 6, 7):
            outer = draw(st.sampled_from(loops))
            bound = variable(outer.name).plus(draw(st.integers(-1, 2)))
            if shape == 5:
                lowers, box = [bound], (box_of(bound, loops)[0], high)
            elif shape == 6:
                uppers, box = [bound], (low, box_of(bound, loops)[1])
            else:
                uppers.append(bound)
        elif shape == 8:
            lowers.append(variable(draw(st.sampled_from(loops)).name).plus(-1))
        step = draw(st.sampled_from([1, 1, 1, 1, -1, 2, -2, 3]))
        if abs(step) > 1:
            lowers, uppers = (lowers[:1], uppers) if step > 0 else (lowers, uppers[:1])
        is_inside = not self.features.outside_iterators or draw(st.booleans())
        kinds = ["int", "int", "int", *self.features.types]
        if step < 0 or len(lowers) > 1 or lowers[0].terms:
            kinds = [kind for kind in kinds if kind in ("int", "long")]
        kind = draw(st.sampled_from(kinds))
        if not is_inside:
            is_inside = self.iterators.setdefault(name, kind) != kind
        loop = Loop(name, kind, is_inside, tuple(lowers), tuple(uppers), step, box)
        inner = (*known, *loop.constraints())
        loop.body = self.nodes((*loops, loop), inner, sure, self.features.most_nodes, scalars)
        return loop

    def name(self, loops: Sequence[Loop]) -> str:
        names = ["i", "j", "k"]
        if self.draw(st.integers(0, 4)) == 0:
            names = ["c0", "c2", "t"]
        taken = {loop.name for loop in loops}
        return next(n for n in [*names, "i", "j", "k"] if n not in taken)

    def condition(
        self, loops: tuple[Loop, ...], known: tuple[Constraint, ...], sure: bool, scalars: tuple[str, ...]
    ) -> If:
        draw = self.draw
        is_data = self.features.data_conditions and draw(st.booleans())
        place = self.statement("condition", loops, known, sure, scalars=scalars)
        condition: Constraint | None = None
        if not is_data:
            left = variable(draw(st.sampled_from(loops)).name)
            right = Form((), draw(st.integers(0, 3)))
            if draw(st.booleans()):
                right = variable(draw(st.sampled_from([*SIZES, *(loop.name for loop in loops)]))).plus(-1)
            condition = Constraint(left.plus(right, -1))
        holds = (*known, condition) if condition else known
        fails = (*known, Constraint(Form((), -1).plus(condition.form, -1))) if condition else known
        then = self.nodes(loops, holds, sure and not is_data, 2, scalars)
        otherwise = self.nodes(loops, fails, sure and not is_data, 2, scalars) if draw(st.booleans()) else []
        return If(condition, then, otherwise, place)

    def assignment(
        self, loops: tuple[Loop, ...], known: tuple[Constraint, ...], sure: bool, scalars: tuple[str, ...]
    ) -> Statement:
        draw = self.draw
        kind = draw(st.integers(0, 9))
        if kind == 0:
            return self.statement("modify", loops, known, sure, scalars=scalars)
        if kind == 1:
            return self.statement("scalar", loops, known, sure, scalar="sum", scalars=scalars)
        arrays = [draw(st.sampled_from(self.temporaries if kind < 6 else self.outputs))]
        if draw(st.integers(0, 6)) == 0:
            arrays.append(draw(st.sampled_from([*self.temporaries, *self.outputs])))
        targets = tuple(Target(array, self.index(array, loops)) for array in arrays)
        if len(targets) == 2 and arrays[0] is arrays[1]:
            targets = targets[:1]
        return self.statement("assign", loops, known, sure, targets=targets, scalars=scalars)

    def index(self, array: Array, loops: tuple[Loop, ...]) -> tuple[Form, ...]:
        forms = [linear(self.draw, loops) for _ in range(array.rank)]
        if loops and self.draw(st.integers(0, 2)):
            inner = loops[-array.rank :]
            forms[-len(inner) :] = [
                variable(loop.name).plus(self.draw(st.sampled_from([0, 0, 1]))) for loop in inner
            ]
        shifts = array.reach([box_of(form, loops) for form in forms])
        return tuple(form.plus(shift) for form, shift in zip(forms, shifts, strict=True))

    def statement(
        self,
        kind: str,
        loops: tuple[Loop, ...],
        known: tuple[Constraint, ...],
        sure: bool,
        *,
        targets: tuple[Target, ...] = (),
        scalar: str = "",
        scalars: tuple[str, ...] = (),
    ) -> Statement:
        found = Statement(kind, loops, known, len(self.statements), sure, targets, scalar, scalars)
        self.statements.append(found)
        return found


@dataclass(eq=False)
class Access:
    """An element of a temporary that has a value where all of `when` holds."""

    target: Target
    index: tuple[Form, ...]
    when: tuple[Constraint, ...]


class Body:
    """Draws what the statements of a skeleton read, and prints them."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.draw = skeleton.draw
        self.features = skeleton.features
        self.skeleton = skeleton
        self.macros: dict[str, str] = {}
        self.has_macros = self.features.macros and self.draw(st.integers(0, 2)) == 0
        self.is_odd = self.draw(st.integers(0, 3)) == 0

    def one_in(self, count: int) -> bool:
        return self.draw(st.integers(1, count)) == 1

    # ------------------------------------------------ elements

    def point(self, here: Statement, writer: Statement) -> dict[str, Form] | None:
        """An iteration of the writer that comes before a statement, if it exists."""
        common = 0
        while here.loops[: common + 1] == writer.loops[: common + 1] and common < min(
            len(here.loops), len(writer.loops)
        ):
            common += 1
        distance = [self.draw(st.sampled_from([0, 0, 0, 1, 1, 2, -1])) for _ in range(common)]
        first = next((d for d in distance if d), 0)
        if first < 0 or (first == 0 and writer.number >= here.number):
            if common == 0 or writer.number < here.number:
                distance = [0] * common
            else:
                distance = [*[0] * (common - 1), 1]
        if not any(distance) and writer.number >= here.number:
            return None
        values: dict[str, Form] = {}
        for loop, d in zip(writer.loops, distance, strict=False):
            values[loop.name] = variable(loop.name).plus(-d * loop.step)
        own = here.loops[common:]
        for k, loop in enumerate(writer.loops[common:]):
            kind = self.draw(st.integers(0, 5))
            if own and kind < 4:
                chosen = own[min(k, len(own) - 1)] if kind else self.draw(st.sampled_from(own))
                values[loop.name] = variable(chosen.name).plus(self.draw(st.sampled_from([0, 0, 0, 1, -1])))
            elif kind == 4:
                values[loop.name] = loop.uppers[0].put(values)
            else:
                values[loop.name] = loop.lowers[0].put(values)
        return values

    def access(self, here: Statement) -> Access | None:
        """A read of a temporary that is sure to find a value."""
        writers = [
            (statement, target)
            for statement in self.skeleton.statements
            if statement.kind == "assign" and statement.is_sure
            for target in statement.targets
            if target.array in self.skeleton.temporaries
        ]
        if not writers:
            return None
        near = [pair for pair in writers if abs(pair[0].number - here.number) < 4]
        writer, target = self.draw(st.sampled_from(near if near and self.draw(st.booleans()) else writers))
        values = self.point(here, writer)
        if values is None:
            return None
        when: list[Constraint] = []
        for constraint in writer.constraints:
            put = constraint.put(values)
            if put in here.constraints or put in when:
                continue
            if not put.form.terms:
                if put.form.constant < 0 or (put.modulus and put.form.constant % put.modulus):
                    return None
                continue
            when.append(put)
        return Access(target, tuple(form.put(values) for form in target.index), tuple(when))

    def element(self, array: Array, index: Sequence[Form], loops: Sequence[Loop] = ()) -> str:
        texts = [form.text() for form in index]
        if self.has_macros and array in self.skeleton.temporaries and self.one_in(2):
            letters = "abc"[: array.rank]
            if array.rank > 1 and texts[-1] in {loop.name for loop in loops}:
                name = f"{array.name.upper()}_{texts[-1].upper()}"
                inner = "".join(f"[{letter}]" for letter in letters[:-1])
                self.macros[f"{name}({', '.join(letters[:-1])})"] = f"{array.name}{inner}[{texts[-1]}]"
                return f"{name}({', '.join(texts[:-1])})"
            name = f"{array.name.upper()}_AT"
            inner = "".join(f"[{letter}]" for letter in letters)
            self.macros[f"{name}({', '.join(letters)})"] = f"{array.name}{inner}"
            return f"{name}({', '.join(texts)})"
        if self.is_odd and self.one_in(3):
            kind = self.draw(st.integers(0, 4))
            if kind == 0:
                return f"({array.name})" + "".join(f"[{text}]" for text in texts)
            if kind == 1:
                return f"{array.name} /* [x] */ " + " /* ] */ ".join(f"[ {text} ]" for text in texts)
            if kind == 2:
                return array.name + "".join(f"[(long)({text})]" for text in texts)
            if kind == 3 and self.features.line_comments:
                return array.name + "".join(f"[{text} // here\n]" for text in texts)
            return array.name + "\n ".join(f"[({text})]" for text in texts)
        return array.name + "".join(f"[{text}]" for text in texts)

    # ------------------------------------------------ values

    def atom(self, here: Statement) -> str:
        kind = self.draw(st.integers(0, 13))
        skeleton = self.skeleton
        if kind < 7:
            found = self.access(here)
            if found is not None:
                text = self.element(found.target.array, found.index, here.loops)
                if not found.when:
                    return text
                other = self.draw(st.sampled_from(["0.5", "1", self.alpha(here)]))
                return f"({self.all_of(found.when)} ? {text} : {other})"
        if kind < 10:
            array = self.draw(st.sampled_from([*skeleton.inputs, *skeleton.inputs, *skeleton.outputs]))
            return self.element(array, skeleton.index(array, here.loops), here.loops)
        if kind == 10 and here.loops:
            name = self.draw(st.sampled_from(here.loops)).name
            forms = [
                "({0} - 3) % 7",
                "({0} + 1) / 2",
                "({0} > 1)",
                "({0} - 5) % 3u",
                "-{0} % 4",
                "({0} & 3)",
                "({0} - 2) / 2 % 5",
            ]
            return f"({self.draw(st.sampled_from(forms)).format(name)})"
        if kind == 11:
            return self.draw(st.sampled_from([self.alpha(here), "sum", *here.scalars]))
        if kind == 12 and self.has_macros:
            name, value = self.draw(
                st.sampled_from(
                    [
                        ("WEIGHT", "0.25f"),
                        ("THREE", "3u" if self.features.unsigned_constants else "3"),
                        ("HALF", "(1 / 2.0)"),
                        ("MINUS", "-1"),
                    ]
                )
            )
            self.macros[name] = value
            return name
        return self.draw(st.sampled_from(["0.75", "2", "1.5f", self.alpha(here)]))

    def alpha(self, here: Statement) -> str:
        """The parameter, unless this statement declares a variable of the same name."""
        return "alpha" if here.scalar != "alpha" else "0.3"

    def all_of(self, constraints: Sequence[Constraint]) -> str:
        return " && ".join(constraint.text({}) for constraint in constraints)

    def value(self, here: Statement) -> str:
        atoms = [self.atom(here) for _ in range(self.draw(st.integers(1, 3)))]
        kind = self.draw(st.integers(0, 7))
        if len(atoms) == 1:
            return atoms[0] if kind else f"half({atoms[0]})"
        if kind == 0:
            return f"{atoms[0]} > {atoms[1]} ? {atoms[0]} : 0.5 * {atoms[-1]}"
        if kind == 1 and self.has_macros:
            self.macros["MIX(x, y)"] = "(0.5 * (x) - 0.25 * (y))"
            return f"MIX({atoms[0]}, {atoms[1]})"
        weights = ["0.5 * ", " + 0.25 * ", " - 0.125 * "]
        return "".join(weight + atom for weight, atom in zip(weights, atoms, strict=False))

    def converted(self, kind: str, text: str) -> str:
        if kind == "int":
            return f"(int)(4 * ({text})) % 100"
        if kind == "unsigned":
            return f"(unsigned)((int)(4 * ({text})) % 100)"
        return text

    # ------------------------------------------------ statements

    def fill(self, node: Node) -> None:
        """Draw the texts of a node."""
        if isinstance(node, Loop):
            for inner in node.body:
                self.fill(inner)
        elif isinstance(node, If):
            node.text = self.all_of([node.condition]) if node.condition else self.data_condition(node.place)
            for inner in (*node.then, *node.otherwise):
                self.fill(inner)
        else:
            node.text = self.statement(node)

    def data_condition(self, here: Statement) -> str:
        found = self.access(here)
        if found is None or self.one_in(4):
            return f"{self.atom(here)} > 0.4"
        parts = [constraint.text({}) for constraint in found.when]
        return " && ".join([*parts, f"{self.element(found.target.array, found.index, here.loops)} > 0.4"])

    def statement(self, here: Statement) -> str:
        if here.kind == "declare":
            return f"double {here.scalar} = {self.value(here)};"
        if here.kind == "scalar":
            return f"sum {self.draw(st.sampled_from(['+=', '-=', '=']))} 0.25 * ({self.value(here)});"
        if here.kind == "modify":
            found = self.access(here)
            if found is None:
                return f"sum += 0.125 * ({self.value(here)});"
            array = found.target.array
            element = self.element(array, found.index, here.loops)
            operator = self.draw(st.sampled_from(["+=", "-=", "=", "++"]))
            text = f"{element}++;" if operator == "++" else ""
            value = self.converted(array.type, f"0.25 * ({self.value(here)})")
            text = text or f"{element} {operator} {value};"
            conditions = [constraint.text({}) for constraint in found.when]
            if self.features.data_conditions and self.one_in(3):
                conditions.append(self.data_condition(here))
            return f"if ({' && '.join(conditions)})\n  {text}" if conditions else text
        (*others, last) = here.targets
        chain = "".join(f"{self.element(t.array, t.index, here.loops)} = " for t in others)
        operator = "="
        if not others and last.array in self.skeleton.outputs:
            operator = self.draw(st.sampled_from(["=", "=", "+=", "-=", "*="]))
        value = self.value(here) if operator == "=" else f"0.25 * ({self.value(here)})"
        element = self.element(last.array, last.index, here.loops)
        return f"{chain}{element} {operator} {self.converted(last.array.type, value)};"

    # ------------------------------------------------ text

    def lines(self, nodes: Sequence[Node]) -> list[str]:
        found: list[str] = []
        for node in nodes:
            if isinstance(node, Statement):
                found += node.text.split("\n")
            elif isinstance(node, If):
                found += [f"if ({node.text}) {{", *indented(self.lines(node.then))]
                found += ["} else {", *indented(self.lines(node.otherwise))] if node.otherwise else []
                found.append("}")
            else:
                found += self.loop(node)
        return found

    def loop(self, loop: Loop) -> list[str]:
        name = loop.name
        start = self.extreme("MAX", loop.lowers) if loop.step > 0 else self.extreme("MIN", loop.uppers)
        if loop.step < 0:
            test = " && ".join(f"{name} >= {form.text()}" for form in loop.lowers)
        elif len(loop.uppers) > 1 and self.one_in(2):
            test = f"{name} <= {self.extreme('MIN', loop.uppers)}"
        elif self.one_in(2):
            test = " && ".join(f"{name} < {form.plus(1).text()}" for form in loop.uppers)
        else:
            test = " && ".join(f"{name} <= {form.text()}" for form in loop.uppers)
        steps = {1: f"{name}++", -1: f"{name}--"}
        step = steps.get(loop.step, f"{name} {'+' if loop.step > 0 else '-'}= {abs(loop.step)}")
        head = f"for ({loop.type + ' ' if loop.is_inside else ''}{name} = {start}; {test}; {step})"
        body = self.lines(loop.body)
        is_single = len(loop.body) == 1 and not (
            isinstance(loop.body[0], Statement) and loop.body[0].kind == "declare"
        )
        if is_single and self.one_in(2):
            return [head, *indented(body)]
        return [f"{head} {{", *indented(body), "}"]

    def extreme(self, kind: str, forms: Sequence[Form]) -> str:
        if len(forms) == 1:
            return forms[0].text()
        left, right = (form.text() for form in forms)
        relation = "<" if kind == "MIN" else ">"
        if self.one_in(2):
            self.macros[f"{kind}(a, b)"] = f"((a) {relation} (b) ? (a) : (b))"
            return f"{kind}({left}, {right})"
        return f"({left} {relation} {right} ? {left} : {right})"


def indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def draw_function(draw: st.DrawFn, features: Features) -> RandomC:
    """A C file with one function `f` and one region."""
    skeleton = Skeleton(draw, features)
    nodes = skeleton.nodes((), (), True, features.most_nodes)
    body = Body(skeleton)
    for node in nodes:
        body.fill(node)
    region = body.lines(nodes)
    size_type = draw(st.sampled_from(["int", "int", "int", "macro", "enum", *features.types]))
    sizes = {"N": draw(st.integers(3, 6)), "M": draw(st.integers(3, 5))}
    is_fixed = size_type in ("macro", "enum")
    head = ["#include <stddef.h>"] if draw(st.booleans()) or "size_t" in (size_type, *features.types) else []
    if size_type == "macro":
        head += [f"#define {name} {value}" for name, value in sizes.items()]
    if size_type == "enum":
        head.append(f"enum {{ {', '.join(f'{name} = {value}' for name, value in sizes.items())} }};")
    head += [f"#define {name} {value}" for name, value in body.macros.items()]
    head.append("static inline double half(double x) { return 0.5 * x; }")
    parameters = [] if is_fixed else [(size_type, name, "") for name in SIZES]
    parameters += [
        (array.type, array.name, lengths(array)) for array in (*skeleton.inputs, *skeleton.outputs)
    ]
    parameters.append(("double", "alpha", ""))
    inputs = {array.name for array in skeleton.inputs}
    words = [
        f"{'const ' if name in inputs else ''}{kind} {name}{brackets.replace('[', '[restrict ', 1)}"
        for kind, name, brackets in parameters
    ]
    returns = draw(st.sampled_from(["double", "void"]))
    are_read = features.iterators_after and draw(st.integers(0, 5)) == 0
    before = declarations(draw, skeleton, are_read)
    after = [f"sum += {name};" for name in skeleton.iterators if are_read]
    after += ["return sum;"] if returns == "double" else [f"out{'[0]' * skeleton.outputs[0].rank} += sum;"]
    inside = ["#pragma scop", *indented(region), "#pragma endscop"]
    if draw(st.integers(0, 5)) == 0:
        inside = ["  for (int round = 0; round < 2; round++) {", *inside, "  }"]
    lines = [
        *head,
        f"{returns} f({', '.join(words)})",
        "{",
        *indented(before),
        *inside,
        *indented(after),
        "}",
    ]
    text = "\n".join(lines) + "\n"
    if draw(st.integers(0, 7)) == 0:
        text = text.replace("\n", "\r\n")
    return RandomC(text, sizes, is_fixed, tuple(parameters), returns)


def lengths(array: Array) -> str:
    return "".join(f"[{form.text()}]" for form in array.lengths)


def declarations(draw: st.DrawFn, skeleton: Skeleton, are_read: bool) -> list[str]:
    lines = ["double sum = 0;"]
    for name, kind in skeleton.iterators.items():
        lines.append(f"{kind} {name} = 0;" if are_read else f"{kind} {name};")
    for number, array in enumerate(skeleton.temporaries):
        declarator = array.name + lengths(array)
        place = draw(st.integers(0, 4))
        others = [f"x{number}[3]", f"*y{number} = x{number}"]
        if place < 3:
            words = [*others[:place], declarator, *others[place:]]
            if place == 0:
                words = [declarator, *others]
            lines.append(f"{array.type} {', '.join(words)};")
            lines.append(f"y{number}[0] = x{number}[1] = 0;")
        else:
            lines.append(f"{array.type} {declarator};")
    return lines


@st.composite
def functions(draw: st.DrawFn, features: Features | None = None) -> RandomC:
    """C files with one function `f` and one region."""
    return draw_function(draw, features or Features())

"""Random programs: loops, guards, strides, several writes, orders of every kind."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fuzz.affine import Condition, Form, random_context
from fuzz.programs import Access, Arrow, Live, ProgramCase, Some, Statement, Task

PARAMETERS = ("N", "M", "K", "L")
METHODS = (
    *(
        "successive-modulo",
        "successive-modulo",
        "linear",
        "linear",
        "basis",
        "lattice",
        "lattice",
        "combined",
    ),
    *("hyperplane", "projection", "exhaustive", "occupancy", "static", "identity", "auto"),
)


def random_program(choose: random.Random) -> ProgramCase:
    """A program with a method to fold it by."""
    return _Shape(choose).program()


def random_program_of_arrays(choose: random.Random) -> ProgramCase:
    """A program of several arrays that may all be folded."""
    shape = _Shape(choose)
    while len((case := shape.program(several=True)).arrays) < 2:
        pass
    return replace(case, temporary=tuple(sorted(case.arrays)), by_command=False, power_of_two=False)


@dataclass
class _Shape:
    choose: random.Random

    def chance(self, probability: float) -> bool:
        return self.choose.random() < probability

    def program(self, *, several: bool = False) -> ProgramCase:
        choose = self.choose
        is_large = self.chance(0.05)
        order = choose.choice(["schedule"] * 12 + ["relation"] * 4 + ["tasks"] * 3)
        is_plain = order == "schedule" and self.chance(0.65)
        names = PARAMETERS[: choose.choice([0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4])]
        depth = choose.choice([1, 1, 1, 1, 1, 1, 2, 2])
        count = choose.choice([1, 2, 2, 2, 2, 2, 3])
        rank = choose.choice([0, 1, 1, 1, 1, 1, 1, 2, 2])
        if is_plain or is_large:
            depth = choose.choice([1] * 6 + [2] * 8 + [3, 3, 4])
            count = choose.choice([1, 1, 2, 2, 2, 2, 2, 3, 3, 4] if depth < 3 else [1, 1, 2])
            rank = choose.choice([0] + [1] * 8 + [2] * 8 + [3, 4])
        elif depth > 1:
            names = names[:2]
        arrays = {"A": rank}
        if several:
            arrays |= {"B": 1, "C": choose.choice([0, 1, 1, 2])}
        elif self.chance(0.25 if is_plain else 0.1):
            arrays["B"] = choose.choice([1, 1, 2] if is_plain else [1])
        statements: list[Statement] = []
        for _ in range(count):
            statements.append(self.statement(statements, depth, names, arrays))
        if not any(a.key.endswith("write") for s in statements for a in s.accesses):
            first = statements[0]
            access = self.access("write", "A", arrays["A"], first.rank, names)
            statements[0] = replace(first, accesses=(*first.accesses, access))
        used = {a.array: len(a.index) for s in statements for a in s.accesses}
        case = ProgramCase(random_context(choose, names), tuple(statements), order)
        if order == "schedule":
            case = self.with_schedule(case, depth, is_plain=is_plain)
        else:
            case = self.with_relation(case, names) if order == "relation" else self.with_tasks(case, names)
        if not is_plain and self.chance(0.2):
            case = replace(
                case, exclusive=tuple(self.arrows(case.statements, names, choose.choice([1, 1, 2])))
            )
        if not is_plain and self.chance(0.15):
            one = choose.choice(statements)
            guards = [self.guard([f"i{k}" for k in range(one.rank)], names) for _ in range(self.chance(0.4))]
            case = replace(case, optional=(Some(one.name, one.rank, tuple(guards)),))
        live_out = tuple(self.live(n, r, names) for n, r in used.items() if self.chance(0.4))
        live_in = tuple(self.live(n, r, names) for n, r in used.items() if self.chance(0.15))
        case = replace(case, live_out=live_out, live_in=live_in)
        if self.chance(0.8):
            case = replace(case, temporary=tuple(sorted(used)))
        return self.asked(case)

    def asked(self, case: ProgramCase) -> ProgramCase:
        choose = self.choose
        method = choose.choice(METHODS)
        sizes: dict[str, int] = {}
        if method in ("static", "exhaustive") or self.chance(0.3):
            possible = case.context.sizes(20)
            sizes = choose.choice(possible) if possible else {}
        by_command = self.chance(0.03)
        return replace(
            case,
            method=method,
            sizes=sizes,
            power_of_two=self.chance(0.05),
            with_bound=by_command or self.chance(0.2),
            by_command=by_command,
        )

    # ------------------------------------------------------------ statements

    def statement(
        self, earlier: Sequence[Statement], depth: int, names: Sequence[str], arrays: dict[str, int]
    ) -> Statement:
        """A statement with loops of its own or of an earlier one; reads are often what was written."""
        choose = self.choose
        if earlier and self.chance(0.5):
            ranges = choose.choice(list(earlier)).ranges
        else:
            rank = depth if self.chance(0.7) else choose.randint(0, depth)
            ranges = tuple(self.range_of(k, names) for k in range(rank))
        rank = len(ranges)
        guards = tuple(self.guard([f"i{k}" for k in range(rank)], names) for _ in range(self.chance(0.15)))
        writes = choose.choice([1, 1, 1, 1, 1, 1, 2, 0, 0] if earlier else [1, 1, 1, 1, 2])
        reads = choose.choice([0, 1, 1, 1, 1, 2, 2, 3] if earlier else [0, 0, 0, 1, 1, 2])
        accesses: list[Access] = []
        for _ in range(writes):
            array = choose.choice(["A", *arrays])
            key = "may_write" if self.chance(0.12) else "write"
            accesses.append(self.access(key, array, arrays[array], rank, names))
        written = [a for one in earlier for a in one.accesses if a.key.endswith("write") and one.rank <= rank]
        written += accesses
        for _ in range(reads):
            array = choose.choice(["A", *arrays])
            key = "may_read" if self.chance(0.06) else "read"
            if written and self.chance(0.6):
                accesses.append(replace(self.shifted(choose.choice(written)), key=key))
            else:
                accesses.append(self.access(key, array, arrays[array], rank, names))
        return Statement(f"S{len(earlier)}", ranges, guards, tuple(accesses))

    def shifted(self, access: Access) -> Access:
        """The same cells, or those a step before or after."""
        if not access.index or self.chance(0.4):
            return replace(access, guards=())
        k, step = self.choose.randrange(len(access.index)), self.choose.choice([-2, -1, -1, -1, 1])
        index = (*access.index[:k], access.index[k] + step, *access.index[k + 1 :])
        return replace(access, index=index, guards=())

    def range_of(self, k: int, names: Sequence[str]) -> tuple[Form, Form]:
        choose = self.choose
        lows = [Form(0)] * 5 + [Form(1)] * 2 + [Form(-1)]
        highs = [Form(choose.choice([1, 2]))]
        highs += [Form(choose.choice([-1, -1, -1, 0, -2]), ((name, 1),)) for name in names for _ in range(4)]
        if k:
            earlier = f"i{choose.randrange(k)}"
            lows += [Form(choose.choice([0, 0, 1]), ((earlier, 1),))] * 2
            highs += [Form(choose.choice([0, 0, 1]), ((earlier, 1),))] * 2
            highs += [Form(-1, ((name, 1), (earlier, -1))) for name in names[:1]]
        return choose.choice(lows), choose.choice(highs)

    def guard(self, iterators: Sequence[str], names: Sequence[str]) -> Condition:
        choose = self.choose
        known = [*iterators, *names]
        if not known:
            return Condition(Form(0))
        form = Form.name(choose.choice(known))
        kind = choose.random()
        if kind < 0.35:
            modulus = choose.choice([2, 2, 3])
            if iterators and self.chance(0.3):
                form = form + Form.name(choose.choice(list(iterators)))
            return Condition(form, modulus=modulus, residue=choose.randrange(modulus))
        if kind < 0.6 and len(known) > 1:
            form = form - Form.name(choose.choice([one for one in known if one not in form.names()]))
        elif kind < 0.8:
            form = form + choose.choice([-1, -2, -3])
        else:
            form = form * -1 + choose.choice([1, 2, 3])
        return Condition(form, choose.choice([">=", ">=", ">=", "=", "!="]))

    def access(self, key: str, array: str, rank: int, depth: int, names: Sequence[str]) -> Access:
        index = tuple(self.index(k, depth, names) for k in range(rank))
        is_wide = self.chance(0.1)
        spans = tuple(
            self.choose.choice([0, 1, 2]) if is_wide and self.chance(0.7) else 0 for _ in range(rank)
        )
        iterators = [f"i{k}" for k in range(depth)]
        guards = tuple(self.guard(iterators, names) for _ in range(self.chance(0.15)))
        return Access(key, array, index, spans, guards)

    def index(self, k: int, depth: int, names: Sequence[str]) -> Form:
        choose = self.choose
        if depth == 0 or self.chance(0.08):
            ends = [Form(choose.choice([0, 1, 2]))]
            ends += [Form(choose.choice([0, -1]), ((name, 1),)) for name in names]
            return choose.choice(ends)
        iterator = f"i{k}" if k < depth and self.chance(0.75) else f"i{choose.randrange(depth)}"
        form = Form.name(iterator, choose.choice([1] * 9 + [2, -1, 3]))
        form = form + choose.choice([0, 0, 0, 0, -1, -1, 1, -2, 2])
        if self.chance(0.12):
            form = form + Form.name(f"i{choose.randrange(depth)}", choose.choice([1, -1]))
        if names and self.chance(0.06):
            form = form + Form.name(choose.choice(list(names)))
        return form

    def live(self, array: str, rank: int, names: Sequence[str]) -> Live:
        choose = self.choose
        cells = [f"x{k}" for k in range(rank)]
        if rank and self.chance(0.25):
            ends = [(Form(0), choose.choice([Form(1), *(Form(-1, ((n, 1),)) for n in names)])) for _ in cells]
            return Live(array, rank, (), tuple(ends))
        conditions: list[Condition] = []
        if cells and self.chance(0.6):
            form = Form(choose.choice([0, -1, 1]), ((choose.choice(cells), choose.choice([1, -1])),))
            if names and self.chance(0.5):
                form = form + Form.name(choose.choice(list(names)), -1 if form.terms[0][1] > 0 else 1)
            conditions.append(Condition(form))
        return Live(array, rank, tuple(conditions))

    # ------------------------------------------------------------ orders

    def with_schedule(self, case: ProgramCase, depth: int, *, is_plain: bool) -> ProgramCase:
        choose = self.choose
        ties = not is_plain and self.chance(0.2)
        tiled = not is_plain and self.chance(0.2)
        statements: list[Statement] = []
        for number, statement in enumerate(case.statements):
            loops = list(range(statement.rank))
            if self.chance(0.15):
                choose.shuffle(loops)
            times: list[Form] = []
            for level in range(depth):
                if not tiled:
                    times.append(Form(choose.choice([0, 0, number])))
                form = (
                    Form.name(f"i{loops[level]}", choose.choice([1] * 12 + [-1]))
                    if level < len(loops)
                    else Form(0)
                )
                if level and len(loops) > level and self.chance(0.1):
                    form = form + Form.name(f"i{loops[0]}")
                times.append(form)
            if not ties:
                times.append(Form(number))
            statements.append(replace(statement, times=tuple(times)))
        case = replace(case, statements=tuple(statements))
        length = len(statements[0].times)
        if tiled:
            count = choose.randint(1, min(2, length))
            return replace(case, tiles=tuple(choose.choice([1, 2, 2, 3, "any"]) for _ in range(count)))
        parallel: dict[int, str] = {}
        if not is_plain:
            parallel = {d: "doall" for d in range(length) if self.chance(0.5)}
            if self.chance(0.4):
                parallel |= dict.fromkeys(range(choose.randrange(length), length), "forall")
        return replace(case, parallel=tuple(sorted(parallel.items())))

    def with_relation(self, case: ProgramCase, names: Sequence[str]) -> ProgramCase:
        return replace(case, relation=tuple(self.arrows(case.statements, names, self.choose.randint(1, 4))))

    def arrows(self, statements: Sequence[Statement], names: Sequence[str], count: int) -> list[Arrow]:
        """Arrows that mostly go forward: to later statements, or to later iterations of the same one."""
        choose = self.choose
        found: list[Arrow] = []
        for number in range(count):
            a, b = sorted(choose.choices(range(len(statements)), k=2))
            if self.chance(0.4) and number + 1 < len(statements):
                a, b = number, number + 1
            source, target = statements[a], statements[b]
            if a == b and source.rank == 0:
                continue
            shared = min(source.rank, target.rank)
            conditions: list[Condition] = []
            for k in range(shared):
                step = Form(0, ((f"j{k}", 1), (f"i{k}", -1)))
                pick = choose.random()
                if pick < 0.45:
                    conditions.append(Condition(step + -choose.choice([0, 1, 1, 2]), "="))
                elif pick < 0.8:
                    conditions.append(Condition(step + -choose.choice([0, 1, 1])))
            if a == b and source.rank:
                conditions.append(Condition(Form(-1, (("j0", 1), ("i0", -1)))))
            if self.chance(0.1):
                ends = [f"i{k}" for k in range(source.rank)] + [f"j{k}" for k in range(target.rank)]
                conditions.append(self.guard(ends, names))
            found.append(Arrow(source.name, target.name, (source.rank, target.rank), tuple(conditions)))
        return found

    def with_tasks(self, case: ProgramCase, names: Sequence[str]) -> ProgramCase:
        """All statements in loops of a tree, each instance once."""
        groups: list[list[Statement]] = []
        for statement in case.statements:
            if groups and groups[-1][0].rank == statement.rank and self.chance(0.6):
                groups[-1].append(statement)
            else:
                groups.append([statement])
        tree = Task("block", tuple(self.marked(self.loops(group, names)) for group in groups))
        if self.chance(0.2):
            case = replace(case, relation=tuple(self.arrows(case.statements, names, 1)))
        return replace(case, tasks=tree)

    def loops(self, group: Sequence[Statement], names: Sequence[str]) -> Task:
        """A nest of loops around one instance of each statement, bounds wide enough for all instances."""
        rank = group[0].rank
        forms = tuple(Form.name(f"v{k}") for k in range(rank))
        runs = []
        for statement in group:
            shift = self.choose.choice([0, 0, 0, -1, 1]) if rank else 0
            own = (forms[0] + shift, *forms[1:]) if rank else forms
            runs.append(self.marked(Task("run", (), statement.name, own)))
        body = self.marked(Task("block", tuple(runs)))
        wide = sum((Form.name(name) for name in names), Form(6))
        for k in reversed(range(rank)):
            body = Task("loop", (self.marked(body),), f"v{k}", (wide * -1, wide))
            if k:
                body = self.marked(body)
        return body

    def marked(self, task: Task) -> Task:
        kind = self.choose.choice(["", "", "", "async", "finish", "async"])
        return Task(kind, (task,)) if kind else task

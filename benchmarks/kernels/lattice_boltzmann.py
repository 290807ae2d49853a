"""Writes lbm-d3q19.c and lbm-d3q27.c, whose statements differ by the direction only.

python benchmarks/kernels/lattice_boltzmann.py 19 > benchmarks/kernels/lbm-d3q19.c
"""

from __future__ import annotations

import itertools
import sys
import textwrap

Direction = tuple[int, int, int]

_SPEEDS = ("ux", "uy", "uz")
_WORDS = {19: "nineteen directions (no corners)", 27: "twenty-seven directions"}
_WEIGHTS = {
    19: ("1.0 / 3", "1.0 / 18", "1.0 / 36"),
    27: ("8.0 / 27", "2.0 / 27", "1.0 / 54", "1.0 / 216"),
}

_TEXT = """\
/* T steps of a lattice Boltzmann method in space with {words}, pull model, one array a
   direction; the border is fixed. The program of BBC16 Table I, written by lattice_boltzmann.py. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

static inline double relax(double omega, double weight, double rho, double value, double cu, double uu)
{{
    return (1 - omega) * value + omega * weight * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu);
}}

void lbm_d3q{count}(int T, int N, double omega, const double in[restrict {count}][N][N][N],
               double out[restrict {count}][N][N][N])
{{
{arrays}
{scalars}

#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) {{
{begin}
            }}
    for (int t = 1; t <= T; t++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    if (i == 0 || i == N - 1 || j == 0 || j == N - 1 || k == 0 || k == N - 1) {{
{border}
                    }} else {{
{pull}
{moments}
{collide}
                    }}
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) {{
{end}
            }}
#pragma endscop
}}
"""


def name_of(direction: Direction) -> str:
    """North and south, east and west, up and down; o for none of them."""
    letters = zip(direction, ("ns", "ew", "ud"), strict=True)
    return "".join(pair[0] if by > 0 else pair[1] for by, pair in letters if by) or "o"


def directions(count: int) -> list[Direction]:
    """The directions, those along fewer axes first."""
    steps = (0, 1, -1)
    most = 2 if count == 19 else 3
    found = [(a, b, c) for a, b, c in itertools.product(steps, repeat=3) if abs(a) + abs(b) + abs(c) <= most]
    return sorted(found, key=lambda one: (sum(map(abs, one)), [steps.index(by) for by in one]))


def source_of(direction: Direction) -> str:
    """Where a value comes from, as subscripts."""
    return "".join(
        f"[{axis}]" if not by else f"[{axis} {'-' if by > 0 else '+'} 1]"
        for axis, by in zip("ijk", direction, strict=True)
    )


def along(direction: Direction) -> str:
    """The speed along a direction, as C."""
    terms = [(by, speed) for by, speed in zip(direction, _SPEEDS, strict=True) if by]
    signed = [f"{'+' if by > 0 else '-'} {speed}" for by, speed in sorted(terms, key=lambda term: -term[0])]
    text = " ".join(signed).removeprefix("+ ") or "0"
    return f"-{text[2:]}" if text.startswith("- ") else text


def kernel(count: int) -> str:
    """The C file."""
    ways = {name_of(one): one for one in directions(count)}

    def lines(depth: int, found: list[str]) -> str:
        return "\n".join(" " * 4 * depth + line for line in found)

    def wrapped(depth: int, text: str, hanging: int) -> str:
        margin = " " * 4 * depth
        return textwrap.fill(text, 108, initial_indent=margin, subsequent_indent=margin + " " * hanging)

    def speed(axis: int) -> str:
        plus = " + ".join(name for name, way in ways.items() if way[axis] > 0)
        minus = " - ".join(name for name, way in ways.items() if way[axis] < 0)
        return wrapped(6, f"{_SPEEDS[axis]} = ({plus} - {minus}) / rho;", 6)

    moments = [
        wrapped(6, f"rho = {' + '.join(ways)};", 6),
        *(speed(axis) for axis in range(3)),
        lines(6, ["uu = ux * ux + uy * uy + uz * uz;"]),
    ]
    collide = [
        f"f_{name}[t][i][j][k] = relax(omega, {_WEIGHTS[count][sum(map(abs, way))]}, rho, "
        f"{name}, {along(way)}, uu);"
        for name, way in ways.items()
    ]
    # A declarator must not be torn apart at its spaces.
    arrays = ", ".join(f"f_{name}[T~+~1][N][N][N]" for name in ways)
    return _TEXT.format(
        words=_WORDS[count],
        count=count,
        arrays=wrapped(1, f"double {arrays};", 7).replace("~", " "),
        scalars=wrapped(1, f"double {', '.join([*ways, 'rho', *_SPEEDS, 'uu'])};", 7),
        begin=lines(4, [f"f_{name}[0][i][j][k] = in[{m}][i][j][k];" for m, name in enumerate(ways)]),
        border=lines(6, [f"f_{name}[t][i][j][k] = f_{name}[t - 1][i][j][k];" for name in ways]),
        pull=lines(6, [f"{name} = f_{name}[t - 1]{source_of(way)};" for name, way in ways.items()]),
        moments="\n".join(moments),
        collide=lines(6, collide),
        end=lines(4, [f"out[{m}][i][j][k] = f_{name}[T][i][j][k];" for m, name in enumerate(ways)]),
    )


if __name__ == "__main__":
    sys.stdout.write(kernel(int(sys.argv[1])))

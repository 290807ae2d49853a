"""The table and the figure of `folded_code.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.table import Table

from fast_kernels import BY_HAND, MODULO


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The table that goes with the numbers."""
    table = Table(box=None)
    titles = ("program", "sizes", "baseline", "ms", "naive", "successive", "arrayfold", "spread", "by hand")
    more = ("elsewhere", "Halide", "bytes", "lines", "compile s", "loops vectorised", "with modulo")
    for title in (*titles, *more):
        table.add_column(title, justify="left" if title in ("program", "sizes", "baseline") else "right")
    for row in rows:
        ratio, spread, used = row["ratio"], row["spread"], row["bytes"]
        base, milliseconds, sizes = row["baseline"], row["milliseconds"], row["sizes"]
        low, high = spread["arrayfold"]
        table.add_row(
            str(row["program"]) + ("" if row["equal"] else " (outputs differ)"),
            " ".join(f"{name}={value}" for name, value in sizes.items()),
            base,
            f"{milliseconds[base]:.1f}",
            f"{ratio['naive']:.2f}",
            f"{ratio[MODULO]:.2f}" if MODULO in ratio else "",
            f"{ratio['arrayfold']:.2f}",
            f"{low:.2f}-{high:.2f}",
            f"{ratio[BY_HAND]:.2f}" if BY_HAND in ratio else "",
            f"{row['by_hand']:.2f}" if row["by_hand"] else "",
            f"{milliseconds[base] / row['halide_milliseconds']:.2f}" if row["halide_milliseconds"] else "",
            f"{used[base]:,} -> {used['arrayfold']:,}",
            f"{row['lines']['unfolded']} -> {row['lines']['arrayfold']}",
            f"{row['compile_seconds']['unfolded']:.1f} -> {row['compile_seconds']['arrayfold']:.1f}",
            str(row["vectorised_loops"]["arrayfold"]),
            str(row["dividing_loops"]["arrayfold"]),
        )
    return table


def markdown_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table as the documentation shows it."""
    titles = ("program", "sizes", "baseline", "naive", "arrayfold", "spread", "by hand", "elsewhere")
    lines = [[*titles, "temporaries", "lines"]]
    lines.append(["---"] * len(lines[0]))
    for row in rows:
        ratio, used, base = row["ratio"], row["bytes"], row["baseline"]
        low, high = row["spread"]["arrayfold"]
        lines.append(
            [
                row["program"],
                " ".join(f"{name}={value}" for name, value in row["sizes"].items()),
                base,
                f"{ratio['naive']:.2f}",
                f"{ratio['arrayfold']:.2f}",
                f"{low:.2f} to {high:.2f}",
                f"{ratio[BY_HAND]:.2f}" if BY_HAND in ratio else "",
                f"{row['by_hand']:.2f}" if row["by_hand"] else "",
                f"{_in_units(used[base])} to {_in_units(used['arrayfold'])}",
                f"{row['lines']['unfolded']} to {row['lines']['arrayfold']}",
            ]
        )
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _in_units(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def draw(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Bars: ratios of naive and written code to the baseline."""
    mpl: Any = import_module("matplotlib")
    mpl.use("Agg")
    plt: Any = import_module("matplotlib.pyplot")
    labels = [
        f"{row['program']} {' '.join(map(str, row['sizes'].values()))}\nagainst {row['baseline']}"
        for row in rows
    ]
    figure, axes = plt.subplots(figsize=(8, 0.45 * len(rows) + 1.5), layout="constrained")
    for offset, (name, colour) in enumerate((("naive", "#c44"), ("arrayfold", "#28a"))):
        values = [row["ratio"][name] for row in rows]
        axes.barh([k + 0.38 * offset for k in range(len(rows))], values, 0.36, label=name, color=colour)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_yticks([k + 0.19 for k in range(len(rows))], labels)
    axes.invert_yaxis()
    axes.set_xlabel("speed, baseline = 1")
    axes.legend()
    figure.savefig(path)

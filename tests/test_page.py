"""The report page: what its pictures show agrees with enumeration, text is escaped, refusals."""

from __future__ import annotations

import base64
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from arrayfold import Program, fold, read
from arrayfold.base.budget import Budget
from arrayfold.conflicts.execution import execution_at
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.options import FoldOptions
from arrayfold.report.code_view import marked_code
from arrayfold.report.page import make_page
from arrayfold.report.snapshots import scenes
from support.command import run
from support.traces import trace_of

EXAMPLES = Path("examples")
Capture = pytest.CaptureFixture[str]


def scenes_of(name: str, array: str) -> list[dict[str, Any]]:
    problem = read(EXAMPLES / name)
    folded = fold(problem, arrays=[array])[array]
    liveness = Analysis.of(problem).liveness
    return scenes(folded.conflicts, folded.mapping, liveness, folded.lower_bound, {})["scenes"]


def conflicts_in(scene: dict[str, Any]) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The pairs that the bits of a scene stand for."""
    bits = base64.b64decode(scene["conflicts"])
    cells = [tuple(cell) for cell in scene["cells"]]
    width = (len(cells) + 7) // 8
    return {
        (x, y)
        for a, x in enumerate(cells)
        for b, y in enumerate(cells)
        if bits[a * width + b // 8] >> b % 8 & 1
    }


@pytest.mark.parametrize(("name", "array"), [("blur-interleaved.toml", "blurx"), ("jacobi-1d.c", "A")])
def test_scenes_are_those_of_enumeration(name: str, array: str) -> None:
    program = read(EXAMPLES / name)
    assert isinstance(program, Program)
    found = scenes_of(name, array)
    assert len(found) > 3
    for scene in found:
        trace = trace_of(program, scene["params"])
        assert conflicts_in(scene) == trace.conflicts(array)
        touching = [
            (f"{one.name}[{', '.join(map(str, one.iteration))}]", cells)
            for one in trace.instances
            for cells in [
                [sorted({cell for other, cell in side if other == array}) for side in (one.reads, one.writes)]
            ]
            if any(cells)
        ]
        cells = [tuple(cell) for cell in scene["cells"]]
        shown = [
            (instance, [[cells[k] for k in reads], [cells[k] for k in writes]])
            for instance, reads, writes in scene["steps"]
        ]
        assert shown == touching
        assert scene["bound"] == trace.most_live(array)
        assert scene["was"] >= len(cells)


def test_addresses_agree_with_the_mapping_and_the_lattice() -> None:
    problem = read(EXAMPLES / "diamond-tile.toml")
    folded = fold(problem)["A"]
    for scene in scenes_of("diamond-tile.toml", "A"):
        for cell, address in zip(scene["cells"], scene["addresses"], strict=True):
            assert tuple(address) == folded.mapping.address(cell, scene["params"])
        assert len({tuple(address) for address in scene["addresses"]}) <= scene["size"]


def test_an_execution_of_a_relation_obeys_it() -> None:
    program = read(EXAMPLES / "pipeline-blocks-relation.toml")
    assert isinstance(program, Program)
    liveness = Analysis.of(program).liveness
    assert liveness is not None
    assert not liveness.order.is_total
    events = execution_at(liveness, "in", {"M": 4}).events
    written: set[tuple[int, ...]] = set()
    reads = 0
    for event in events:
        assert written >= set(event.reads)
        reads += len(event.reads)
        written |= set(event.writes)
    assert reads > 0


def page(file: Path | str, **options: Any) -> str:
    problem = read(file)
    return make_page(str(file), problem, budget=Budget(60), **options).to_html()


def test_a_page_tells_everything() -> None:
    text = unescape(page(EXAMPLES / "blur-interleaved.c", options=FoldOptions({"N": 1024})))
    for words in (
        "2*N + 1 cells instead of N^2",
        "2,049 instead of 1,048,576 cells, 512 times fewer",
        "successive-modulo",
        "Presburger",
        "that conflict with each other",
        "comes from the caller",
        "blurx<mark>[((long long)N * y + x) % (2LL * N + 1)]</mark>",
    ):
        assert words in text
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text)


def test_a_refuted_mapping_is_told_as_a_story() -> None:
    text = page(EXAMPLES / "blur-interleaved.toml", mapping="blurx[y % 2][x]")
    assert "S[2, 0] writes blurx[2, 0], which has the same address." in text
    assert "T[2, 0] reads blurx[0, 0], but finds the value of blurx[2, 0]." in text
    assert "2*N + 1 cells" in text


def test_parallel_programs_say_may() -> None:
    text = page(EXAMPLES / "jacobi-1d-doall.toml", mapping="A[i, j] -> [(j - i) mod (n + 1)]")
    assert "may come next and write" in text
    assert "The program is parallel" in text


def test_text_from_the_input_is_no_markup(tmp_path: Path) -> None:
    evil = "</script><script>window.hacked = 1</script><img src=x onerror=hack()>"
    source = (EXAMPLES / "blur-interleaved.toml").read_text()
    file = tmp_path / "<img src=x onerror=hack()>.toml"
    file.write_text(f"# {evil}\n{source}")
    text = page(file)
    assert "<img" not in text
    assert text.count("<script") == 2
    data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["subjects"][0]["array"] == "blurx"


def test_marks_leave_comments_and_other_names_alone() -> None:
    text = 'AB[i] = A /* A[0] */ [i][j]; p->A2[1]; "A[2]"; // A[3]'
    assert marked_code(text, ["A"]).count("<mark>") == 1


def test_a_page_is_not_overwritten_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    target = tmp_path / "page.html"
    file = str(EXAMPLES / "blur-interleaved.toml")
    assert run(monkeypatch, "report", file, "-o", str(target)) == 0
    assert target.read_text().startswith("<!doctype html>")
    assert run(monkeypatch, "report", file, "-o", str(target)) == 2
    assert "--force" in capsys.readouterr().err
    wrong = ["--mapping", "blurx[y % 2][x]"]
    assert run(monkeypatch, "report", file, "-o", str(target), "--force", *wrong) == 1
    assert run(monkeypatch, "report", file, "-o", str(tmp_path / "page.pdf")) == 2
    assert "ends in .html" in capsys.readouterr().err
    assert run(monkeypatch, "report", file, "-o", "-") == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")

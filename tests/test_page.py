"""The report page: what its pictures show agrees with enumeration, text is escaped, refusals."""

from __future__ import annotations

import base64
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from arrayfold import Program, fold, read, read_all
from arrayfold.base.budget import Budget
from arrayfold.conflicts.execution import execution_at
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.options import FoldOptions
from arrayfold.report.code_view import listing, side_by_side
from arrayfold.report.page import make_page
from arrayfold.report.page_data import Subject, views
from support.command import run
from support.traces import trace_of

EXAMPLES = Path("examples")
Capture = pytest.CaptureFixture[str]


def views_of(name: str, *arrays: str) -> list[dict[str, Any]]:
    problem = read(EXAMPLES / name)
    folded = [fold(problem, arrays=[array])[array] for array in arrays]
    subjects = [Subject(one.name, one.conflicts, one.mapping, one.lower_bound) for one in folded]
    return views(subjects, Analysis.of(problem).liveness, {}, Budget(60))["views"]


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
    found = views_of(name, array)
    assert len(found) > 3
    for view in found:
        (scene,) = view["scenes"]
        trace = trace_of(program, view["params"])
        assert conflicts_in(scene) == trace.conflicts(array)
        assert shown_steps(view, scene) == touching_steps(trace, array)
        assert scene["bound"] == trace.most_live(array)
        assert scene["was"] >= len(scene["cells"])


def touching_steps(trace: Any, *arrays: str) -> list[Any]:
    """The instances that touch arrays, and of the first one the cells they read and write."""
    found: list[Any] = []
    for one in trace.instances:
        cells = [
            sorted({cell for other, cell in side if other == arrays[0]}) for side in (one.reads, one.writes)
        ]
        if any(other in arrays for side in (one.reads, one.writes) for other, _ in side):
            found.append((f"{one.name}[{', '.join(map(str, one.iteration))}]", cells))
    return found


def shown_steps(view: dict[str, Any], scene: dict[str, Any]) -> list[Any]:
    """The instances of a view, and the cells of an array that each reads and writes."""
    cells = [tuple(cell) for cell in scene["cells"]]
    touched = {moment: (reads, writes) for moment, reads, writes in scene["steps"]}
    return [
        (instance, [[cells[k] for k in side] for side in touched.get(moment, ([], []))])
        for moment, instance in enumerate(view["steps"])
    ]


def test_arrays_that_are_drawn_together_go_through_one_execution() -> None:
    names = ("Ixx", "Ix", "Sxy")
    program = read(EXAMPLES / "harris.c")
    assert isinstance(program, Program)
    view = views_of("harris.c", *names)[0]
    trace = trace_of(program, view["params"])
    for k, name in enumerate(names):
        others = [other for other in names if other != name]
        assert shown_steps(view, view["scenes"][k]) == touching_steps(trace, name, *others)


def test_addresses_agree_with_the_mapping_and_the_lattice() -> None:
    problem = read(EXAMPLES / "diamond-tile.toml")
    folded = fold(problem)["A"]
    for view in views_of("diamond-tile.toml", "A"):
        (scene,) = view["scenes"]
        for cell, address in zip(scene["cells"], scene["addresses"], strict=True):
            assert tuple(address) == folded.mapping.address(cell, view["params"])
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
    plain = re.sub("<[^>]*>", "", text)
    for words in (
        "2*N + 1 cells instead of N^2",
        "2,049 instead of 1,048,576 cells, 512 times fewer",
        "successive-modulo",
        "Presburger",
        "that conflict with each other",
        "comes from the caller",
        "blurx[((long long)N * y + x) % (2LL * N + 1)] = (in[y][x]",
    ):
        assert words in plain
    marked = [re.sub("<[^>]*>", "", part) for part in re.findall("<mark>.*?</mark>", text)]
    assert "[((long long)N * y + x) % (2LL * N + 1)]" in marked
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
    assert json.loads(data[1])["regions"][0]["arrays"][0]["array"] == "blurx"


def test_all_regions_of_a_file_are_on_one_page(tmp_path: Path) -> None:
    file = tmp_path / "two.c"
    blur = (EXAMPLES / "blur-interleaved.c").read_text()
    file.write_text(blur + blur.replace("blur_interleaved", "again").replace("blurx", "other"))
    regions = read_all(file)
    assert len(regions) == 2
    text = make_page(str(file), regions, budget=Budget(60)).to_html()
    data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert data is not None
    found = json.loads(data[1])["regions"]
    assert [region["arrays"][0]["array"] for region in found] == ["blurx", "other"]
    length = len(blur.splitlines())
    lines = [region["statements"] for region in found]
    assert [[line - length for line in one] for one in lines[1].values()] == [*lines[0].values()]


def test_marks_leave_comments_and_other_names_alone() -> None:
    text = 'AB[i] = A /* A[0] */ [i][j]; p->A2[1]; "A[2]"; // A[3]'
    sides = side_by_side("", text, "a.c", ["A"])
    assert sides is not None
    assert sides[1].count("<mark>") == 1
    assert unescape(re.sub("<[^>]*>", "", sides[1])) == text


@pytest.mark.parametrize(
    "file", ["blur.c", "blur.py", "blur.toml", "blur.jscop", "blur.smo.input", "lbm-d2q9.c"]
)
def test_listings_lose_nothing(file: str) -> None:
    text = (EXAMPLES / file).read_text()
    shown = listing(text, file, ["S", "T"])
    assert unescape(re.sub("<[^>]*>", "", shown)) == "\n".join(text.splitlines())
    assert shown.count('class="line"') == len(text.splitlines())


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

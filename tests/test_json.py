"""The JSON of `fold` is what its schema says."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

import arrayfold as af
from support.command import run
from support.json_schema import complaints

SCHEMA = json.loads(Path("docs/fold.schema.json").read_text())
BLUR = "examples/blur-interleaved.toml"

COMMANDS = {
    "sizes": [BLUR, "--param", "N=64"],
    "C": ["examples/blur-interleaved.c", "--param", "N=20", "--run"],
    "nothing": [BLUR, "--live-out", "blurx[0, 0]"],
    "cases": ["examples/jacobi-1d.toml", "--context", "n >= 8"],
    "table": ["examples/blur-interleaved.toml", "--method", "static", "--param", "N=5"],
    "one memory": ["examples/heat-2d.c", "--mode", "reallocate", "--share", "cells", "--param", "N=12"],
    "conflicts": ["examples/blur.smo.input", "--context", "N >= 3"],
}


def folded(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run(monkeypatch, "fold", *arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", COMMANDS)
def test_what_fold_prints_follows_the_schema(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = folded(monkeypatch, capsys, *COMMANDS[name])
    assert list(complaints(data, SCHEMA)) == []
    assert data["version"] == af.__version__
    assert data["file"] == COMMANDS[name][0]
    assert {array["region"] for array in data["arrays"]} <= {region["name"] for region in data["regions"]}


def test_the_schema_refuses_what_is_something_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = folded(monkeypatch, capsys, BLUR)
    for key, value in [("size", 5), ("matrix", ["1"]), ("proved", False), ("surprise", 1)]:
        bad = copy.deepcopy(good)
        bad["arrays"][0][key] = value
        assert len(list(complaints(bad, SCHEMA))) == 1, key
    del good["version"]
    assert list(complaints(good, SCHEMA)) == ["$: version is missing"]


def test_the_text_of_a_mapping_is_read_back(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = folded(monkeypatch, capsys, "examples/two-writes.toml")
    texts = "; ".join(array["mapping"] for array in data["arrays"])
    assert run(monkeypatch, "check", "examples/two-writes.toml", "--mapping", texts) == 0
    (region,) = data["regions"]
    assert region["parameters"] == ["N"]
    assert "N" in region["context"]


def test_notes_of_an_array_are_those_of_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "fold", "examples/harris.c") == 0
    table = capsys.readouterr().out
    data = folded(monkeypatch, capsys, "examples/harris.c")
    notes = [(array["name"], note) for array in data["arrays"] for note in array["notes"]]
    assert notes
    told = {
        (name, note)
        for names, note in re.findall(r"^note: ([\w, ]+): (.*)$", table, re.M)
        for name in names.split(", ")
    }
    said = {(name, note) for name, note in notes if note == "the lower bound was shown for N >= 5"}
    assert told >= set(notes) - said
    # The verdict says it of those that are minimal there.
    assert all(re.search(rf"^{name} .* minimal for N >= 5 ", table, re.M) for name, _ in said)
    assert data["assumptions"][0]["region"] == "harris"

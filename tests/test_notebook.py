"""The notebook of the documentation: its stored outputs are what its cells give (`--update-golden`)."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import json
import linecache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from arrayfold.run.compiler import find_compiler

NOTEBOOK = Path("docs/notebook.ipynb")


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def run_cell(source: str, number: int, space: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of a cell, as Jupyter stores them."""
    name = f"<cell {number}>"
    linecache.cache[name] = (len(source), None, lines(source), name)
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), name, "exec"), space)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), space)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": lines(value._repr_html_()), **data}
        result = {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        outputs.append(result)
    return outputs


@pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
def test_outputs_are_what_the_cells_give(
    update_golden: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    notebook = json.loads(NOTEBOOK.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 4)
    space: dict[str, Any] = {"__name__": "__main__"}
    number = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        number += 1
        outputs = run_cell("".join(cell["source"]), number, space)
        if update_golden:
            cell["execution_count"], cell["outputs"] = number, outputs
        assert cell["execution_count"] == number
        assert cell["outputs"] == outputs, "".join(cell["source"])
    if update_golden:
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    assert number >= 10


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks", "docs/hooks/notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_shows_cells_and_outputs(hook: ModuleType) -> None:
    page = hook.as_markdown(json.loads(NOTEBOOK.read_text()), NOTEBOOK.name)
    assert page.startswith("# A notebook\n")
    assert "```python\n@af.kernel\ndef jacobi(T, start, end):" in page
    assert "<code>A[t, i] -&gt; [" in page
    assert 'href="../notebook.ipynb"' in page


def test_text_cannot_end_its_block(hook: ModuleType) -> None:
    cell = {
        "cell_type": "code",
        "source": ["'''\n", "```\n", "<script>"],
        "outputs": [
            {"output_type": "stream", "name": "stdout", "text": "````\n<b>"},
            {"output_type": "error", "ename": "ValueError", "evalue": "<i>", "traceback": []},
            {"output_type": "execute_result", "data": {"text/plain": ["<u>"]}},
        ],
    }
    page = hook.as_markdown({"cells": [cell]}, "a.ipynb")
    assert page.startswith("````python\n'''\n```\n<script>\n````\n\n`````text\n````\n<b>\n`````\n")
    assert "```text\nValueError: <i>\n```\n\n```text\n<u>\n```" in page


def test_links_lead_to_pages(hook: ModuleType) -> None:
    config = SimpleNamespace(nav=[{"A": "a.md"}, {"B": [{"C": "x/c.ipynb"}, "d.ipynb"]}])
    hook.on_config(config)
    assert config.nav == [{"A": "a.md"}, {"B": [{"C": "x/c.md"}, "d.md"]}]
    assert hook.on_page_markdown("[a](x/notebook.ipynb#b) [c](d.md)") == "[a](x/notebook.md#b) [c](d.md)"

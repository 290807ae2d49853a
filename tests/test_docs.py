"""What README and docs show is what the tool prints today. `--update-golden` rewrites the outputs."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from support.command import run
from support.pages import FENCE, PAGES, block_of, save, scratch, shell

Capture = pytest.CaptureFixture[str]


def without_times(text: str) -> str:
    text = re.sub(r"\d+\.\d+ ms", "1.0 ms", text)
    text = re.sub(r"\d+\.\d+ times as fast;", "1.0 times as fast;", text)
    text = re.sub(r"whole program \d+ -> \d+ bytes", "whole program 2 -> 1 bytes", text)
    text = re.sub(r'"seconds": [\d.e-]+', '"seconds": 0.01', text)
    return "\n".join(re.sub(r" {2,}", "  ", line.rstrip()) for line in text.strip().splitlines())


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_commands_print_what_the_page_shows(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, update_golden: bool, tmp_path: Path
) -> None:
    """The commands of a page run one after the other, in a folder in which they may write files."""

    def printed_by(line: str) -> str:
        if line.startswith("$ arrayfold ") and not re.search(
            r"[|><;]", re.sub(r"'[^']*'|\"[^\"]*\"", "", line)
        ):
            status = run(monkeypatch, *shlex.split(line.removeprefix("$ arrayfold ")))
            output, errors = capsys.readouterr()
        else:
            done = shell(line.removeprefix("$ "), tmp_path)
            status, output, errors = done.returncode, done.stdout, done.stderr
        # Who follows the tutorial from the top to the bottom in a fresh tree meets no failure.
        assert status == 0 or page.name != "tutorial.md", f"{line}\n{output}{errors}"
        return "\n".join(text.rstrip() for text in (output + errors).strip("\n").splitlines())

    def fresh(found: re.Match[str]) -> str:
        block = block_of(page, found)
        save(block, tmp_path)
        if block.language != "console":
            return found[0]
        shown: list[str] = []
        for line in block.text.splitlines():
            if line.startswith("$ "):
                shown += [line, *filter(None, [printed_by(line)])]
        return "```console\n" + "\n".join(shown) + "\n```"

    page = page.resolve()
    scratch(tmp_path)
    monkeypatch.chdir(tmp_path)
    renewed = FENCE.sub(fresh, page.read_text())
    if update_golden:
        page.write_text(renewed)
    assert without_times(page.read_text()) == without_times(renewed)


def test_figures_are_what_the_script_draws() -> None:
    spec = importlib.util.spec_from_file_location("draw", "docs/figures/draw.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, drawing in module.figures().items():
        assert (Path("docs/figures") / name).read_text() == drawing
    modules = [name for name, (column, _) in module.FLOW.items() if column and not name.startswith("(")]
    for name in modules:
        assert (Path("src/arrayfold") / (name if name.endswith("/") else f"{name}.py")).exists(), name


def test_every_method_and_command_has_a_page() -> None:
    from arrayfold.cli import main
    from arrayfold.methods import METHODS

    commands = {command.callback.__name__ for command in main.app.registered_commands if not command.hidden}
    assert {path.stem for path in Path("docs/commands").glob("*.md")} == commands
    assert {path.stem for path in Path("docs/methods").glob("*.md")} == {*METHODS, "auto", "published"}


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"

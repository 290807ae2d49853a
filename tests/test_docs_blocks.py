"""Every block of the documentation is in a language that is run or read here; every page can be found."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import islpy as isl
import pytest
import typer.main
import yaml

import arrayfold as af
from arrayfold.cli import main
from support.pages import PAGES, ROOT, Block, fenced_blocks, indented_lines, save, shell
from test_imports import PACKAGES

BLOCKS = [block for page in PAGES for block in fenced_blocks(page)]
LANGUAGES = {"console", "python", "c", "toml", "yaml", "json", "bash", "fortran", "mlir"}
COMMANDS = typer.main.get_command(main.app)
TARGETS = set(re.findall(r"^([a-z-]+):", Path("Makefile").read_text(), re.MULTILINE))


def in_language(*names: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in names]


def options_of(command: str) -> set[str]:
    """Every option of a command, as the command line knows them."""
    commands: dict[str, Any] = COMMANDS.commands  # pyright: ignore[reportAttributeAccessIssue]
    assert command in commands, f"there is no command {command}"
    return {name for parameter in commands[command].params for name in parameter.opts} | {"-h", "--help"}


def assert_command_exists(line: str) -> None:
    """An `arrayfold` line names a command and options that exist; a `make` line a target."""
    # What may be left out stands in brackets, alternatives behind a bar.
    words = shlex.split(re.sub(r"[\[\]|]|\.\.\.", " ", line.removeprefix("$ ")), comments=True)
    words = words[: words.index("--")] if "--" in words else words
    if words[0] == "make":
        assert set(words[1:]) <= TARGETS, line
    elif words[0] in ("arrayfold", ".venv/bin/arrayfold"):
        used = {word.partition("=")[0] for word in words[2:] if re.match(r"--?[a-z]", word)}
        known = options_of(words[1]) if not words[1].startswith("-") else {*words}
        assert used <= known, f"{line}: {used - known}"


def test_every_block_is_in_a_language_that_is_tested() -> None:
    for block in BLOCKS:
        assert block.language in LANGUAGES, f"{block}: {block.language!r}"


def test_python_is_run_as_doctests_or_at_least_python() -> None:
    for block in in_language("python"):
        if ">>>" not in block.text:
            ast.parse(block.text)


@pytest.mark.parametrize("block", in_language("c"), ids=str)
def test_c_compiles_and_is_read(block: Block, tmp_path: Path) -> None:
    for other in fenced_blocks(block.page):
        save(other, tmp_path)
    file = tmp_path / "block.c"
    file.write_text(block.text)
    folders = ["-I", str(tmp_path / "include")]
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused"]
    command = ["gcc", "-fsyntax-only", "-fopenmp", *folders, *warnings, file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{block}:\n{done.stderr}"
    if "#pragma scop" in block.text:
        assert af.read_all(file, arguments=folders)


@pytest.mark.parametrize("block", in_language("toml"), ids=str)
def test_toml_is_a_problem_file(block: Block, tmp_path: Path) -> None:
    (tmp_path / "block.toml").write_text(block.text)
    assert tomllib.loads(block.text)
    assert af.read(tmp_path / "block.toml").arrays


def test_yaml_and_json_parse() -> None:
    for block in in_language("yaml"):
        assert yaml.safe_load(block.text), block
    for block in in_language("json"):
        assert json.loads(block.text), block


def test_commands_that_are_not_run_exist() -> None:
    for block in in_language("bash"):
        for line in block.text.splitlines():
            assert re.match(
                r"(#|arrayfold |make |export |source |\.venv/bin/arrayfold |pip |pre-commit )"
                r"|(?:clang|flang|mlir-opt)-22 |\w+=|\./\w+$|mv |$",
                line,
            ), f"{block}: {line}"
            if line:
                assert_command_exists(line) if not line.startswith("#") else None
    for page in PAGES:
        for line in indented_lines(page):
            if re.match(r"(\$ )?(make|arrayfold) [a-z]", line):
                assert_command_exists(line)


def test_pragmas_in_indented_blocks_are_read(tmp_path: Path) -> None:
    """The pragma lines that c-files.md lists."""
    pragmas = [line for line in indented_lines(Path("docs/c-files.md")) if line.startswith("#pragma")]
    assert pragmas
    body = "double state[2][N], tmp[N], buffer[N];\n"
    loops = "for (int i = 0; i < N; i++) { tmp[i] = i; buffer[i] = tmp[i]; state[0][i] = buffer[i]; }"
    text = "\n".join([*pragmas, "void f(int N)", "{", body, "#pragma scop", loops, "#pragma endscop", "}\n"])
    (tmp_path / "pragmas.c").write_text(text)
    program = af.read(tmp_path / "pragmas.c")
    assert isinstance(program, af.Program)
    assert program.context.is_subset(isl.Set("[N] -> { : N >= 3 }"))
    assert {"tmp", "buffer"} <= {*(program.temporaries or ()), *program.extra_temporaries}
    assert not program.live_out.is_empty()


# ---------------------------------------------------------------- the site


def nav_pages(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    return [page for item in inner for page in nav_pages(item)]


def test_every_page_is_in_the_navigation_once() -> None:
    site = yaml.safe_load(Path("mkdocs.yml").read_text())
    listed = nav_pages(site["nav"])
    assert len(listed) == len(set(listed))
    pages = {str(path.relative_to("docs")) for path in Path("docs").rglob("*.md")}
    assert {page for page in listed if page.endswith(".md")} == pages


def test_every_public_name_is_in_the_reference() -> None:
    shown = set(re.findall(r"^::: (\S+)$", Path("docs/reference.md").read_text(), re.MULTILINE))
    for name in set(af.__all__) - {"__version__"}:
        item = getattr(af, name)
        assert f"{item.__module__}.{name}" in shown, name


def test_the_page_on_the_data_flow_lists_the_packages_in_order() -> None:
    page = Path("docs/pipeline.md").read_text()
    assert re.findall(r"^\| `(\w+)/` \|", page, re.MULTILINE) == PACKAGES


def test_messages_of_the_faq_exist() -> None:
    """A heading of the FAQ is the beginning of a message; * stands for what the message fills in."""
    headings = re.findall(r"^### `(.*)`$", Path("docs/faq.md").read_text(), re.MULTILINE)
    assert len(headings) >= 20
    sources = "\n".join(path.read_text() for path in sorted((ROOT / "src").rglob("*.py")))
    # Messages that are broken into several literals are put together again.
    sources = re.sub(r'"\s*\n\s*f?"', "", sources)
    expected = "\n".join(path.read_text() for path in sorted((ROOT / "tests/errors").rglob("*.txt")))
    for heading in headings:
        parts = heading.split("*")
        assert max(map(len, parts)) >= 12, f"{heading} says too little to be found"
        filled = "[^\n]{0,200}?".join(map(re.escape, parts))
        assert re.search(filled, sources) or re.search(filled, expected), heading


# ---------------------------------------------------------------- the pre-commit hook


def test_the_hook_passes_and_stops_a_fold_that_is_no_longer_right(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    blocks = fenced_blocks(Path("docs/exit-codes.md"))
    (config,) = (yaml.safe_load(block.text) for block in blocks if block.language == "yaml")
    (hook,) = config["repos"][0]["hooks"]
    make_mapping = next(block.text for block in blocks if "> blur.json" in block.text).splitlines()[0]
    assert shell(make_mapping.removeprefix("$ "), tmp_path).returncode == 0
    assert shell(hook["entry"], tmp_path).returncode == 0
    kernel = tmp_path / "examples" / "blur-interleaved.c"
    assert re.fullmatch(hook["files"], str(kernel.relative_to(tmp_path)))
    kernel.write_text(kernel.read_text().replace("y >= 2", "y >= 3").replace("y - 2", "y - 3"))
    stopped = shell(hook["entry"], tmp_path)
    assert stopped.returncode == 1
    assert "INVALID" in stopped.stdout

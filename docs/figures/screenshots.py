"""Screenshots of report pages for the documentation: python docs/figures/screenshots.py [FOLDER]."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, sync_playwright

import arrayfold as af
from arrayfold.base.budget import Budget
from arrayfold.base.choices import Fuse
from arrayfold.report.page import make_page

ROOT = Path(__file__).resolve().parents[2]


def _hover(number: int) -> Callable[[Page], None]:
    return lambda page: page.locator(".space rect.cell").nth(number).hover()


def _nothing(page: Page) -> None:
    """The page as it opens."""


def _unfolded(number: int) -> Callable[[Page], None]:
    def unfold(page: Page) -> None:
        page.evaluate("document.querySelectorAll('details').forEach((node) => (node.open = true))")
        page.locator(".space rect.cell").nth(number).hover()

    return unfold


def _story(page: Page) -> None:
    for _ in range(2):
        page.get_by_role("button", name="Next").click()


def _slice(page: Page) -> None:
    page.locator(".slices input[data-slice]").first.fill("2")
    page.locator(".space rect.cell").nth(12).hover()


@dataclass(frozen=True)
class Shot:
    """A picture of a page.

    act   what is done before
    part  what is shown of the page, all that fits the window without it
    """

    file: str
    act: Callable[[Page], None] = _nothing
    part: str = ""
    width: int = 1400
    height: int = 1000
    scheme: Literal["light", "dark"] = "light"
    mapping: str | None = None
    fuse: Fuse | None = None


SHOTS = {
    "report-blur": Shot("examples/blur-interleaved.c", _hover(20)),
    "report-blur-narrow": Shot("examples/blur-interleaved.c", _hover(20), width=420, height=1500),
    "report-harris": Shot("examples/harris.c", height=1330, fuse="rows"),
    "report-harris-narrow": Shot("examples/harris.c", width=420, height=1800, fuse="rows"),
    "report-lbm": Shot("examples/lbm-d2q9.toml", _slice, scheme="dark"),
    "report-lbm-narrow": Shot("examples/lbm-d2q9.toml", _slice, width=420, height=1600, scheme="dark"),
    "report-parallel": Shot("examples/jacobi-1d-doall.toml"),
    "report-parallel-narrow": Shot("examples/jacobi-1d-doall.toml", width=420, height=1600),
    "report-diamond": Shot("examples/diamond-tile.toml", _unfolded(40), ".differences svg"),
    "report-refused": Shot(
        "examples/blur-interleaved.toml", _story, ".counterexample", mapping="blurx[y % 2][x]"
    ),
}


def main(folder: Path) -> None:
    """Take all of them."""
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as scratch:
        found = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, shot in SHOTS.items():
            target = Path(scratch) / f"{name}.html"
            problem = af.read(ROOT / shot.file)
            if shot.fuse is not None:
                assert isinstance(problem, af.Program)
                problem = af.reorder(problem, fuse=shot.fuse)
            page_text = make_page(
                str(ROOT / shot.file), problem, mapping=shot.mapping, budget=Budget(120)
            ).to_html()
            target.write_text(page_text)
            page = found.new_page(
                viewport={"width": shot.width, "height": shot.height}, color_scheme=shot.scheme
            )
            page.goto(target.as_uri())
            shot.act(page)
            picture = folder / f"{name}.png"
            if shot.part:
                page.locator(shot.part).first.screenshot(path=picture)
            else:
                page.evaluate("scrollTo(0, 0)")
                page.screenshot(path=picture)
            page.close()
        found.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "figures")

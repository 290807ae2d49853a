"""Screenshots of report pages for the documentation: python docs/figures/screenshots.py [FOLDER]."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import arrayfold as af
from arrayfold.base.budget import Budget
from arrayfold.report.page import make_page

ROOT = Path(__file__).resolve().parents[2]


def _hover(number: int) -> Callable[[Page], None]:
    return lambda page: page.locator(".space rect.cell").nth(number).hover()


def _sweep(step: int) -> Callable[[Page], None]:
    def move(page: Page) -> None:
        page.locator(".sweep input[type=range]").first.fill(str(step))

    return move


def _story(page: Page) -> None:
    for _ in range(2):
        page.get_by_role("button", name="Next").click()


def _slice(page: Page) -> None:
    page.locator(".space input[data-slice]").first.fill("2")
    page.locator(".space rect.cell").nth(12).hover()


# name -> input, mapping to check, what to do, the part to show, light or dark
SHOTS: dict[str, tuple[str, str | None, Callable[[Page], None], str, str]] = {
    "report-blur": ("examples/blur-interleaved.c", None, _hover(20), ".space", "light"),
    "report-jacobi": ("examples/jacobi-1d.c", None, _sweep(40), ".sweep", "light"),
    "report-diamond": ("examples/diamond-tile.toml", None, _hover(40), ".differences", "light"),
    "report-lbm": ("examples/lbm-d2q9.toml", None, _slice, ".space", "dark"),
    "report-parallel": ("examples/jacobi-1d-doall.toml", None, _sweep(30), ".sweep", "dark"),
    "report-refused": (
        "examples/blur-interleaved.toml",
        "blurx[y % 2][x]",
        _story,
        ".counterexample",
        "light",
    ),
}


def main(folder: Path) -> None:
    """Take all of them."""
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as scratch:
        found = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (file, mapping, act, part, scheme) in SHOTS.items():
            target = Path(scratch) / f"{name}.html"
            problem = af.read(ROOT / file)
            page_text = make_page(str(ROOT / file), problem, mapping=mapping, budget=Budget(60)).to_html()
            target.write_text(page_text)
            dark = "dark" if scheme == "dark" else "light"
            page = found.new_page(viewport={"width": 1000, "height": 1200}, color_scheme=dark)
            page.goto(target.as_uri())
            act(page)
            page.locator(part).first.screenshot(path=folder / f"{name}.png")
            page.close()
        found.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "figures")

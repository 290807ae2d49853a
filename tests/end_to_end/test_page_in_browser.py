"""Report pages in a real browser: they render, react, say nothing on the console and fetch nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, expect

from arrayfold import Program, read, reorder
from arrayfold.base.budget import Budget
from arrayfold.report.page import make_page
from support.browser import started_browser
from support.traces import trace_of

pytestmark = pytest.mark.xdist_group("browser")

EXAMPLES = Path("examples")
REFUSED = "blurx[y % 2][x]"
PAGES: dict[str, tuple[str, str | None]] = {
    "blur": ("blur-interleaved.c", None),
    "jacobi-1d": ("jacobi-1d.c", None),
    "diamond": ("diamond-tile.toml", None),
    "lbm-d2q9": ("lbm-d2q9.toml", None),
    "parallel": ("jacobi-1d-doall.toml", None),
    "refused": ("blur-interleaved.toml", REFUSED),
    "harris": ("harris.c", None),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as found:
        yield found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Each page is made once."""
    folder = tmp_path_factory.mktemp("pages")

    def make(name: str) -> Path:
        target = folder / f"{name}.html"
        if not target.exists():
            file, mapping = PAGES[name]
            problem = read(EXAMPLES / file)
            if name == "harris":
                assert isinstance(problem, Program)
                problem = reorder(problem, fuse="rows")
            page = make_page(str(EXAMPLES / file), problem, mapping=mapping, budget=Budget(60))
            target.write_text(page.to_html())
        return target

    return make


@dataclass
class Visit:
    """An open page, and what it complained of or asked the network for."""

    page: Page
    complaints: list[str]

    def text(self, selector: str) -> str:
        return self.page.locator(selector).first.inner_text()

    def set_range(self, selector: str, value: int) -> None:
        self.page.locator(selector).first.evaluate(
            "(node, value) => { node.value = value; node.dispatchEvent(new Event('input')); }", value
        )


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    contexts = []

    def open_page(file: Path, width: int = 1200, **options: str) -> Visit:
        context = browser.new_context(viewport={"width": width, "height": 1000}, **options)  # pyright: ignore
        contexts.append(context)
        page = context.new_page()
        found = Visit(page, [])

        def noticed(message: ConsoleMessage) -> None:
            found.complaints.append(f"{message.type}: {message.text}")

        def asked(route: Route) -> None:
            if not route.request.url.startswith("file:"):
                found.complaints.append(f"asks for {route.request.url}")
            route.continue_()

        page.on("console", noticed)
        page.on("pageerror", lambda error: found.complaints.append(str(error)))
        page.route("**/*", asked)
        page.goto(file.as_uri())
        assert page.locator("html[data-ready=true]").count() == 1
        return found

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", PAGES)
def test_pages_render_without_complaints(
    name: str, visit: Callable[..., Visit], written: Callable[[str], Path]
) -> None:
    seen = visit(written(name))
    page = seen.page
    assert page.locator("h1").inner_text().startswith(PAGES[name][0])
    assert page.locator(".space rect.cell").count() > 5
    assert page.locator(".space rect.cell[fill], .space rect.unborn").count() > 5
    assert page.locator(".timeline path.area").count() > 1
    assert page.locator(".memory rect.cell").count() > 0
    # The line of the statement that runs is lit, whatever language the file is in.
    assert page.locator(".listing .current").count() > 0
    for section in page.locator(".differences").all():
        assert section.locator("circle").count() > 5
    # Everything that can be operated has a name.
    for node in page.locator("button, input").all():
        script = "node => node.labels?.[0]?.textContent || node.textContent || node.ariaLabel"
        assert node.evaluate(script).strip()
    assert seen.complaints == []


@pytest.mark.parametrize("width", [420, 1400])
@pytest.mark.parametrize("name", ["blur", "harris", "lbm-d2q9", "refused"])
def test_nothing_overflows(
    name: str, width: int, visit: Callable[..., Visit], written: Callable[[str], Path]
) -> None:
    page = visit(written(name), width).page
    page.evaluate("document.querySelectorAll('details').forEach((node) => (node.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    # Wide things scroll inside of their boxes; everything else ends where the page ends.
    beyond = page.evaluate(
        """() => [...document.querySelectorAll("body *")].filter((node) =>
          node.getBoundingClientRect().right > window.innerWidth + 1 && !node.closest("pre, .table, .skip")
        ).map((node) => node.outerHTML.slice(0, 80))"""
    )
    assert beyond == []
    columns = page.locator(".columns").first
    source, stage = (columns.locator(part).bounding_box() for part in (".source", ".stage"))
    assert source is not None
    assert stage is not None
    assert (stage["x"] > source["x"]) == (width > 1000)


@pytest.mark.parametrize(("name", "array"), [("blur", "blurx"), ("jacobi-1d", "A")])
def test_what_the_page_counts_is_what_enumeration_counts(
    name: str, array: str, visit: Callable[..., Visit], written: Callable[[str], Path]
) -> None:
    program = read(EXAMPLES / PAGES[name][0])
    assert isinstance(program, Program)
    seen = visit(written(name))
    sliders = seen.page.locator(".sizes input")
    for value in range(int(sliders.first.get_attribute("max") or 0) + 1):
        seen.set_range(".sizes input", value)
        sentence = seen.text(".counted")
        sizes = {key: int(number) for key, number in re.findall(r"(\w+) = (\d+)", sentence)}
        trace = trace_of(program, sizes)
        pairs = len(trace.conflicts(array)) // 2
        assert f"{pairs:,} pair" in sentence
        assert "none of them with one address" in sentence
        assert "every read finds the value it looks for" in sentence
        assert f"at most {trace.most_live(array)} cell" in sentence
        # In two dimensions each cell of the grid lights up exactly those it conflicts with.
        cell = max(trace.moments(array), key=len)
        first = min(cell)
        node = seen.page.locator(".space rect.cell").nth(len([c for c in cells_of(seen.page) if c < first]))
        node.hover()
        lit = seen.page.locator(".space rect.partner").count()
        assert lit == sum(1 for x, _ in trace.conflicts(array) if x == first)
    assert seen.complaints == []


def cells_of(page: Page) -> list[tuple[int, ...]]:
    """The cells of the scene that is shown, read back from what the page says."""
    return [
        tuple(cell)
        for cell in page.evaluate(
            """() => {
              const data = JSON.parse(document.getElementById("arrayfold-data").textContent).regions[0];
              const sizes = document.querySelector(".counted").textContent;
              const view = data.views.find((one) =>
                Object.entries(one.params).every(([name, value]) =>
                  new RegExp(`\\\\b${name} = ${value}\\\\b`).test(sizes)));
              return view.scenes[0].cells;
            }"""
        )
    ]


def test_cells_can_be_walked_with_the_keyboard(
    visit: Callable[..., Visit], written: Callable[[str], Path]
) -> None:
    seen = visit(written("blur"))
    keyboard = seen.page.keyboard
    seen.page.locator(".space svg").focus()
    keyboard.press("ArrowRight")
    assert seen.text(".readout").startswith("blurx[0, 0] has address 0.")
    keyboard.press("ArrowRight")
    keyboard.press("ArrowDown")
    assert seen.text(".readout").startswith("blurx[1, 1] has address 9.")
    assert "none of which conflicts" in seen.text(".readout")
    keyboard.press("Escape")
    assert seen.page.locator(".space rect.chosen").count() == 0


def test_the_program_plays_and_steps(visit: Callable[..., Visit], written: Callable[[str], Path]) -> None:
    seen = visit(written("blur"))
    page = seen.page
    # It begins where most is live.
    assert seen.text(".sentence").endswith("17 cells are live, 17 are allocated.")
    page.get_by_role("button", name="To the start").click()
    assert seen.text(".sentence").startswith("Before the first step. 0 cells are live")
    forward = page.get_by_role("button", name="One step forward")
    forward.click()
    forward.click()
    assert seen.text(".sentence").startswith("Step 2 of 112: S_0[0, 1] writes blurx[0, 1]")
    assert "blurx[y][x] = (in[y][x]" in seen.text(".listing .current")
    assert page.locator(".stage rect.writing").count() == 3  # in the array, in the memory, in the legend
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".sentence")).to_contain_text(re.compile(r"^Step [5-9] of"))
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="To the end").click()
    assert seen.text(".sentence").startswith("Step 112 of 112")
    assert "out[y][x] = " in seen.text(".listing .current")
    assert seen.complaints == []


def test_a_moment_of_the_timeline_is_shown_everywhere(
    visit: Callable[..., Visit], written: Callable[[str], Path]
) -> None:
    seen = visit(written("harris"))
    page = seen.page
    timeline = page.locator(".timeline svg")
    box = timeline.bounding_box()
    assert box is not None
    lane = page.locator(".timeline rect.lane[data-lane='0']").bounding_box()
    assert lane is not None
    page.mouse.click(box["x"] + box["width"] * 0.3, lane["y"] + lane["height"] / 2)
    step, steps = map(int, re.findall(r"Step (\d+) of (\d+)", seen.text(".sentence"))[0])
    assert abs(step / steps - 0.24) < 0.03
    assert page.locator(".tabs button[data-array='0']").get_attribute("aria-pressed") == "true"
    assert "Cells of Ix." in (page.locator(".space svg").get_attribute("aria-label") or "")
    line = seen.text(".listing .current")
    timeline.focus()
    page.keyboard.press("Home")
    assert seen.text(".sentence").startswith("Before the first step")
    page.keyboard.press("ArrowRight")
    assert seen.text(".sentence").startswith("Step 1 of")
    assert timeline.get_attribute("aria-valuenow") == "1"
    page.keyboard.press("End")
    assert seen.text(".sentence").startswith(f"Step {steps} of")
    assert seen.text(".listing .current") != line
    page.locator(".tabs button", has_text="Sxx").click()
    assert "Cells of Sxx." in (page.locator(".space svg").get_attribute("aria-label") or "")
    assert seen.complaints == []


def test_three_dimensions_come_in_slices(visit: Callable[..., Visit], written: Callable[[str], Path]) -> None:
    seen = visit(written("lbm-d2q9"))
    seen.page.get_by_role("button", name="To the start").click()
    seen.set_range(".slices input[data-slice=t]", 0)
    seen.page.locator(".space rect.cell").first.hover()
    assert seen.text(".readout").startswith("A[0, 0, 0] ")
    seen.set_range(".slices input[data-slice=t]", 2)
    seen.page.locator(".space rect.cell").first.hover()
    assert seen.text(".readout").startswith("A[2, 0, 0] ")
    before = seen.page.locator(".differences circle.conflict").count()
    seen.set_range(".differences input[data-slice=t]", 0)
    assert seen.page.locator(".differences circle.conflict").count() != before
    assert seen.complaints == []


def test_a_counterexample_is_played_out(visit: Callable[..., Visit], written: Callable[[str], Path]) -> None:
    seen = visit(written("refused"))
    page = seen.page
    current = ".counterexample li[aria-current=step]"
    assert seen.text(current) == "S[0, 0] writes blurx[0, 0]."
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    assert seen.text(current).endswith("but finds the value of blurx[2, 0].")
    assert page.locator(".counterexample rect.wrong").count() == 1
    assert "3 pairs of them with one address" in seen.text(".counted")
    assert "find the value of another cell" in seen.text(".counted")
    page.get_by_role("button", name="To the start").click()
    page.get_by_role("button", name="Go to the first wrong read").click()
    assert "its address holds the value of blurx[2, 0]" in seen.text(".sentence")
    assert page.locator(".space rect.wrong").count() > 0
    page.locator("summary", has_text="Differences of conflicting cells").first.click()
    assert page.locator(".differences circle.both").count() > 0
    assert seen.complaints == []


def test_dark_and_printed(visit: Callable[..., Visit], written: Callable[[str], Path]) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light, dark = (
        visit(written("blur"), color_scheme=scheme).page.evaluate(background) for scheme in ("light", "dark")
    )
    assert light != dark
    page = visit(written("blur")).page
    assert page.get_by_role("button", name="Play").first.is_visible()
    page.emulate_media(media="print")
    assert not page.get_by_role("button", name="Play").first.is_visible()
    assert page.locator(".space rect.cell").first.is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".differences circle.conflict").first.is_visible()
    assert page.pdf()[:5] == b"%PDF-"


def test_text_from_the_input_cannot_run(visit: Callable[..., Visit], tmp_path: Path) -> None:
    evil = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    source = (EXAMPLES / "blur-interleaved.c").read_text()
    file = tmp_path / "<img src=x onerror=window.hacked=1>.c"
    inside = source.replace("#pragma scop", f"#pragma scop\n    /* {evil} */", 1)
    assert inside != source
    file.write_text(inside)
    target = tmp_path / "page.html"
    target.write_text(make_page(str(file), read(file), budget=Budget(60)).to_html())
    seen = visit(target)
    assert seen.page.evaluate("window.hacked") is None
    assert seen.page.locator("img").count() == 0
    assert seen.page.locator("pre", has_text="window.hacked = 1").count() > 0
    assert seen.complaints == []

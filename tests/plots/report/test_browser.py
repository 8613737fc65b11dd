"""The page in a real browser: silent, alone, inside its width, and readable for everyone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.plots.report.cases import PAGES, repeat

pytestmark = pytest.mark.browser

PHONE, SCREEN = 360, 1280


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a page; whatever it says on the console, asks for beside itself, or pops up fails the test."""
    contexts, said = [], []

    def open_page(path: Path, width: int = PHONE, dark: bool = False) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light")
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: request.url == path.as_uri() or said.append(f"request: {request.url[:200]}"))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


def unfolded(page: Page) -> Page:
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true })")
    return page


def too_wide(page: Page) -> list[str]:
    """What reaches beyond the window, or is cut off by its own box."""
    return page.evaluate(
        """() => [...document.querySelectorAll("body, body *:not(svg *)")]
            .filter(e => getComputedStyle(e).display !== "none" && getComputedStyle(e).clipPath === "none" && e.getClientRects().length)
            .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5 || (e.scrollWidth > e.clientWidth + 1 && e.clientWidth))
            .map(e => `${e.tagName} ${e.className} ${e.textContent.slice(0, 60)}`)"""
    )


BROKEN = r"""() => {
    const found = [];
    const words = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
        const node = words.currentNode;
        if (node.parentElement.closest("svg")) continue;
        for (const pair of node.textContent.matchAll(/[0-9][.,0-9]*\s(%|s|ms|\xb5s|\xd7|points|[kMGT]i?B|TFLOP\/s|Mbit\/s)(?!\w)/g)) {
            const range = document.createRange();
            range.setStart(node, pair.index);
            range.setEnd(node, pair.index + pair[0].length);
            if (new Set([...range.getClientRects()].map(e => Math.round(e.top))).size > 1) found.push(pair[0]);
        }
    }
    return found;
}"""


@pytest.mark.parametrize("case", ["everything", "published", "on a GPU", "partial"])
def test_no_line_ends_between_a_number_and_its_unit(cases, opened, case):
    page = unfolded(opened(cases(case)))
    assert "%" in page.locator("main").inner_text()
    for width in range(320, 420, 10):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(BROKEN) == []


@pytest.mark.parametrize("case", PAGES)
def test_nothing_is_wider_than_a_phone_or_a_screen(cases, opened, case):
    page = unfolded(opened(cases(case)))
    assert too_wide(page) == []
    page.set_viewport_size({"width": SCREEN, "height": 800})
    assert too_wide(page) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, SCREEN])
@pytest.mark.parametrize("case", ["everything", "published", "long words", "bare"])
def test_axe_finds_nothing_in_contrast_headings_names_or_roles(cases, opened, case, width, dark):
    page = unfolded(opened(cases(case), width, dark))
    found = Axe().run(page).response["violations"]
    assert [(entry["id"], [node["html"][:200] for node in entry["nodes"]]) for entry in found] == []


def test_a_repeat_alone_is_a_page(report, opened):
    page = opened(report(last_repeat=repeat()))
    assert page.locator("h2").all_inner_texts() == ["Again, on fresh servers"]
    assert Axe().run(page).response["violations"] == []


def test_hostile_texts_stay_texts(cases, opened):
    page = unfolded(opened(cases("hostile")))
    assert page.locator("script, img, iframe, object, embed, link:not([rel=icon]), body style").count() == 0
    assert page.locator("h1").is_visible()
    assert page.locator("main").inner_text().count("<script>alert(1)</script>") > 20
    assert "{{ 7 * 7 }}" in page.locator(".where").first.inner_text()


@pytest.mark.parametrize(("width", "shown", "hidden"), [(PHONE, ".narrow", ".wide"), (SCREEN, ".wide", ".narrow")])
def test_each_width_has_its_own_charts_with_words_for_a_screen_reader(cases, opened, width, shown, hidden):
    page = opened(cases("everything"), width)
    charts = page.locator("figure").count()
    assert charts == 5
    assert page.locator(f"{shown} svg:visible").count() == charts
    assert page.locator(f"{hidden} svg:visible").count() == 0
    names = ["The two paths", "Where a step's time goes", "The sweep over server settings", "How more GPUs scale", "The learning curve"]
    said = [
        "fused GSPO 0.500 s",
        "fused GSPO, 0.500 s: encode 4.000 ms",
        "micro-batch 1, 8.000 s fused",
        "8 GPUs, same batch: 2.50 times",
        "accuracy from 3.9 % to 58.2 %",
    ]
    for name, words in zip(names, said, strict=True):
        picture = page.get_by_role("img", name=name)
        assert picture.count() == 1
        assert words in picture.locator("desc").text_content()


def test_the_page_is_dark_where_its_reader_is_and_light_on_paper(cases, opened):
    page = opened(cases("everything"), SCREEN, dark=True)
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(15, 20, 25)"
    page.emulate_media(media="print")
    assert page.evaluate(background) == "rgb(255, 255, 255)"


def test_paper_shows_what_a_screen_folds_away(cases, opened):
    page = opened(cases("everything"), SCREEN)
    folded = page.locator("details table").first
    assert not folded.is_visible()
    page.emulate_media(media="print")
    assert folded.bounding_box()["height"] > 100

"""The page of a verdict, as a file and in a real browser."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="the page is made with jinja2")

from compilefix.measuring.interval import Speedup
from compilefix.measuring.verdict_model import Arm, Speedups
from compilefix.reporting import verdict_html
from compilefix.reporting.latency_plot import latency_svg
from compilefix.reporting.verified import Verified

sys.path.insert(0, str(Path(__file__).parent))
import browser
import verdicts

VOID = {"meta", "br", "col", "line", "rect", "circle"}


def full_page() -> str:
    compared = verdicts.verdict(compared=verdicts.arm(0.48), compared_speedup=Speedups(Speedup(0.96, 0.94, 0.98)))
    latency, distribution = verdicts.timed(40.0)
    trained = replace(compared.before, training_latency_ms=latency, training_distribution=distribution)
    good = verdicts.verified(replace(compared, before=trained))
    bad = verdicts.verified(verdicts.wrong(), "<b>bad</b>")
    bad = replace(bad, baseline="old.json", regressions=("slower",))
    return verdict_html.page([good, bad, Verified("gone.py:f", None, error="gone.py: no such file")])


def lightness(colour: str) -> float:
    """The relative luminance of `rgb(r, g, b)`, as the rules for contrast define it."""
    parts = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_page_is_well_formed_and_refers_to_nothing_outside() -> None:
    text = full_page()
    opened: list[str] = []
    problems: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            if tag not in VOID:
                opened.append(tag)
            for name, value in attributes:
                inside = name == "href" and (value or "").startswith("#")
                if name in ("src", "srcset", "action", "data", "href") and not inside:
                    problems.append(f"{tag} {name}={value}")
            if tag in ("script", "link", "iframe", "img", "object"):
                problems.append(tag)

        def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            return

        def handle_endtag(self, tag: str) -> None:
            if not opened or opened.pop() != tag:
                problems.append(f"</{tag}>")

    Reader().feed(text)
    assert (opened, problems) == ([], [])
    assert "url(" not in text
    assert "@import" not in text


def test_text_of_the_program_is_text_in_the_page() -> None:
    text = full_page()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "<b>bad</b>" not in text


def test_without_times_there_is_no_plot_and_without_changes_no_diff() -> None:
    bare = verdicts.verdict(eager=Arm(), before=Arm(error="crashed"), after=Arm(), coverage=(), fixes=())
    text = verdict_html.page([Verified("w", bare)])
    assert "<svg" not in text
    assert '<table class="diff' not in text
    assert "before: crashed" in text


def test_a_plot_of_arms_that_lie_far_apart_is_logarithmic() -> None:
    near = latency_svg("t", [("eager", verdicts.timed(1.0)[1]), ("after", verdicts.timed(2.0)[1])])
    far = latency_svg("t", [("eager", verdicts.timed(1.0)[1]), ("after", verdicts.timed(200.0)[1])])
    assert ("logarithmic" in near, "logarithmic" in far) == (False, True)
    assert latency_svg("t", []) == ""
    same = latency_svg("t", [("after", replace(verdicts.timed(1.0)[1], percentiles_ms=(1.0,) * 101, rounds_ms=(1.0,)))])
    assert "nan" not in same


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Page]:
    program = browser.find()
    if program is None:
        pytest.skip("there is no Chromium here (on Debian: apt install chromium)")
    folder = tmp_path_factory.mktemp("page")
    (folder / "verdict.html").write_text(full_page(), encoding="utf-8")
    with browser.page(program, folder / "profile") as page:
        page.look(1200, dark=False)
        page.open(folder / "verdict.html")
        yield page


def test_a_browser_shows_it_without_requests_scripts_or_complaints(opened: browser.Page) -> None:
    assert [address.rpartition("/")[2] for address in opened.requested()] == ["verdict.html"]
    assert opened.complaints() == []
    assert opened.evaluate("document.scripts.length") == 0
    assert opened.evaluate("document.title") == "compilefix verify: not-proved"
    assert opened.evaluate("document.querySelectorAll('section').length") == 3


def test_the_plots_are_drawn_in_place(opened: browser.Page) -> None:
    box = (
        "(name) => { const r = document.querySelector(`svg .arm-${name} .median`).getBoundingClientRect(); return r.x }"
    )
    after, eager, before = (opened.evaluate(f"({box})('{name}')") for name in ("after", "eager", "before"))
    assert after < eager < before
    outside = """[...document.querySelectorAll('svg.latency')].filter(svg => {
        const frame = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('text, rect, circle, line')].some(part => {
            const r = part.getBoundingClientRect();
            return r.left < frame.left - 1 || r.right > frame.right + 1 || r.top < frame.top - 1
                || r.bottom > frame.bottom + 1;
        })
    }).length"""
    assert opened.evaluate(outside) == 0
    overlapping = """(() => {
        const marks = [...document.querySelector('svg.latency').querySelectorAll('text')].map(
            mark => mark.getBoundingClientRect());
        return marks.some((a, i) => marks.some((b, j) => i < j && a.left < b.right && b.left < a.right
            && a.top < b.bottom && b.top < a.bottom));
    })()"""
    assert opened.evaluate(overlapping) is False


def test_the_diff_stands_side_by_side_with_the_break_on_its_line(opened: browser.Page) -> None:
    row = "document.querySelector('table.diff tr.changed')"
    assert opened.evaluate(f"{row}.children[0].innerText") == "6"
    assert opened.evaluate(f"{row}.querySelector('td.left').innerText").startswith("    if x.sum() > 0:")
    assert opened.evaluate(f"{row}.querySelector('td.left .break').innerText") == (
        "graph break GB0170: Data-dependent branching"
    )
    assert opened.evaluate(f"{row}.querySelector('td.right').innerText") == "    x = torch.where(x.sum() > 0, x * 2, x)"
    sides = f"(() => {{ const c = {row}.children; return [c[1], c[3]].map(e => e.getBoundingClientRect()) }})()"
    left_edge, right_edge = (opened.evaluate(f"{sides}[{side}].x") for side in (0, 1))
    assert left_edge < right_edge
    assert opened.evaluate(f"{sides}[0].y") == opened.evaluate(f"{sides}[1].y")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1200, 400])
def test_it_can_be_read_in_the_light_and_in_the_dark_wide_and_narrow(
    opened: browser.Page, width: int, dark: bool
) -> None:
    opened.look(width, dark)
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    page = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (lightness(page) < 0.1) is dark
    for selector in ("body", ".faint", ".proved", ".not-proved", ".not-run, .unverified", "td.line"):
        style = f"getComputedStyle(document.querySelector('{selector}'))"
        bright, dim = sorted((lightness(opened.evaluate(f"{style}.color")), lightness(page)), reverse=True)
        assert (bright + 0.05) / (dim + 0.05) >= 4.5, selector
    break_mark = "getComputedStyle(document.querySelector('.break'))"
    ink, paper = (lightness(opened.evaluate(f"{break_mark}.{name}")) for name in ("color", "backgroundColor"))
    assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5

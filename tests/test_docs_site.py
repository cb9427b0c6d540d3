"""The documentation site is built as CI builds it, every link in it leads somewhere, and a real browser shows it."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from compilefix.codemods import registry

sys.path.insert(0, str(Path(__file__).parent / "reporting"))
import browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("material") is None,
        reason="the documentation tools are not installed",
    ),
]

ROOT = Path(__file__).parent.parent


class Page(HTMLParser):
    """The links, the anchors and the text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            if value and name in ("id", "name"):
                self.anchors.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_rule_has_its_page(site: Path) -> None:
    for code, rule in registry.load().items():
        page = Page(site / "rules" / code / "index.html")
        assert f"{code} {rule.name}" in page.text
        assert f'href="{code}/"' in (site / "rules" / "index.html").read_text(encoding="utf-8")


def test_links_lead_somewhere(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > len(registry.load())
    missing = []
    for path, page in pages.items():
        for link in page.links:
            if link.startswith(("http:", "https:", "mailto:", "data:", "javascript:")):
                continue
            place, anchor = urldefrag(unquote(link))
            target = (path.parent / place).resolve() if place else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                missing.append(f"{path.relative_to(site)}: {link}")
    assert not missing


def test_the_site_needs_no_network(site: Path) -> None:
    for path in site.rglob("*.html"):
        loaded = [link for link in Page(path).links if link.startswith(("http:", "https:", "//"))]
        assert not [link for link in loaded if link.endswith((".css", ".js")) or "fonts." in link]


def test_a_graph_break_id_leads_to_its_rules(site: Path) -> None:
    page = Page(site / "graph-breaks" / "index.html")
    named = {name.lower() for rule in registry.load().values() for name in rule.gb}
    assert named <= page.anchors


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Page]:
    program = browser.find()
    if program is None:
        pytest.skip("no Chromium is installed")
    with browser.page(program, tmp_path_factory.mktemp("profile")) as page:
        yield page


def _wait_for(page: browser.Page, expression: str) -> object:
    deadline = time.monotonic() + 30
    while not (found := page.evaluate(expression)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


@pytest.mark.parametrize("place", ["/", "/rules/CF101/", "/graph-breaks/"])
def test_a_browser_shows_the_page_without_complaints(served: str, shown: browser.Page, place: str) -> None:
    shown.look(width=1200, dark=False)
    shown.open(served + place)
    assert shown.evaluate("document.querySelector('h1').getBoundingClientRect().height > 0")
    assert shown.evaluate("getComputedStyle(document.querySelector('h1')).fontSize") != "16px"
    assert not shown.complaints()
    assert all(address.startswith((served, "data:")) for address in shown.requested())


def test_the_search_finds_a_rule_by_its_code(served: str, shown: browser.Page) -> None:
    shown.look(width=1200, dark=False)
    shown.open(served + "/")
    shown.evaluate(
        "const box = document.querySelector('input[name=query]');"
        "document.querySelector('#__search').click(); box.focus(); box.value = 'CF201';"
        "box.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})); true"
    )
    links = "[...document.querySelectorAll('.md-search-result__link')].map(link => link.href)"
    assert _wait_for(shown, f"{links}.some(link => link.includes('/rules/CF201/'))"), shown.evaluate(links)
    assert not shown.complaints()


def test_on_a_phone_nothing_is_wider_than_the_page(served: str, shown: browser.Page) -> None:
    shown.look(width=400, dark=True)
    for place in ("/", "/rules/CF101/"):
        shown.open(served + place)
        assert shown.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")

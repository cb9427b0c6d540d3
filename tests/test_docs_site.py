"""The documentation site is built as CI builds it, and every link in it leads somewhere."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from compilefix.codemods import registry

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

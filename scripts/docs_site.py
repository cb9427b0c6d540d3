"""The pages of the documentation site that are made from the code: MkDocs calls `on_files` before it reads the pages.

The start page is the README, each rule has a page from its own file, and the graph-break ids are those of the rules.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from compilefix.codemods import registry
from compilefix.codemods.rule import Rule
from compilefix.reporting.rule_page import page

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parent.parent
# What is not on the site is shown as code instead of a link.
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)]+)\)")
_ON_SITE: Mapping[str, str] = {"CHANGELOG.md": "changes.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    from mkdocs.structure.files import File

    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    return files


def pages() -> Iterator[tuple[str, str]]:
    """Path in the site and Markdown of each generated page."""
    rules = registry.load()
    yield "index.md", _relinked((ROOT / "README.md").read_text(encoding="utf-8"))
    yield "changes.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    yield "rules/index.md", _list(rules)
    for code, rule in rules.items():
        yield f"rules/{code}.md", _relinked_ids(page(rule))
    yield "graph-breaks.md", _graph_breaks(rules)


def _relinked(text: str) -> str:
    """The README's links, which start at the root of the repository, as they are on the site."""

    def target(found: re.Match[str]) -> str:
        label, place = found.groups()
        if place.startswith("docs/"):
            return f"[{label.removeprefix('docs/')}]({place.removeprefix('docs/')})"
        return f"[{label}]({_ON_SITE[place]})" if place in _ON_SITE else f"`{label}`"

    return _LINK.sub(target, text)


def _relinked_ids(text: str) -> str:
    """The graph-break ids at the head of a rule's page lead to the list of them."""
    head = re.compile(r"^- Graph-break ids: (.*)$", re.MULTILINE)
    return head.sub(
        lambda found: (
            "- Graph-break ids: "
            + ", ".join(f"[{name}](../graph-breaks.md#{name.lower()})" for name in found[1].split(", "))
        ),
        text,
    )


def _list(rules: Mapping[str, type[Rule]]) -> str:
    lines = ["# Rules", "", "| code | name | what it finds | effect |", "|---|---|---|---|"]
    for code, rule in rules.items():
        lines.append(f"| [{code}]({code}.md) | {rule.name} | {_cell(rule.summary)} | {rule.effect} |")
    return "\n".join(lines) + "\n"


def _graph_breaks(rules: Mapping[str, type[Rule]]) -> str:
    """A heading for each id, so that links can lead to it."""
    by_id: dict[str, list[type[Rule]]] = defaultdict(list)
    for rule in rules.values():
        for name in rule.gb:
            by_id[name].append(rule)
    lines = [
        "# Graph-break ids",
        "",
        "PyTorch gives each reason for a graph break an id. These are the ids that rules stand for.",
    ]
    for name, known in sorted(by_id.items()):
        lines += ["", f"## {name}", ""]
        lines += [f"- [{rule.code} {rule.name}](rules/{rule.code}.md): {rule.summary}" for rule in known]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

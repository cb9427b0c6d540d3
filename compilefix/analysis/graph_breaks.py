"""PyTorch's graph-break ids: what each stands for, known without importing torch.

The titles in `graph_breaks.json` are those of the torch that `scripts/build_graph_breaks.py` read them from. Where
torch is installed, its own registry is read besides, as a file, for its explanations and for ids that are newer.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

TABLE = Path(__file__).with_name("graph_breaks.json")

Nature = Literal["error", "bug", "fundamental", "difficult", "supportable", "earlier"]

# How PyTorch's own hints begin, which say of what nature a break is.
_HINTS: tuple[tuple[str, Nature], ...] = (
    ("Your code may result in an error when running in eager", "error"),
    ("This is likely to be a Dynamo bug", "bug"),
    ("This graph break is fundamental", "fundamental"),
    ("This graph break may be difficult to debug", "difficult"),
    ("It may be possible to write Dynamo tracing rules", "supportable"),
    ("This graph break may have been caused by an earlier graph break", "earlier"),
)
MEANING: Mapping[Nature, str] = {
    "error": "the code may be wrong: it is likely to fail without torch.compile too",
    "bug": "likely to be a bug in PyTorch",
    "fundamental": "PyTorch is unlikely ever to trace such code",
    "difficult": "hard to trace back to a line of your own",
    "supportable": "PyTorch could learn to trace it",
    "earlier": "may go away with the break before it",
}
"""What the nature of a break means."""

_ASKED = re.compile(r"(?:gb)?(\d{1,4})", re.IGNORECASE)


@dataclass(frozen=True)
class GraphBreak:
    """A graph-break id. `explanation` and `hints` are PyTorch's own words, empty where torch is not installed."""

    id: str
    titles: tuple[str, ...]
    natures: tuple[Nature, ...]
    explanation: str = ""
    hints: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The newest title."""
        return self.titles[0] if self.titles else "without a title"


@dataclass(frozen=True)
class Known:
    """All known ids, and the version of torch that the shipped titles are from.

    `safe_rules` are the rules that have fixes without assumptions.
    """

    torch: str
    breaks: Mapping[str, GraphBreak]
    safe_rules: frozenset[str]

    @property
    def by_title(self) -> Mapping[str, str]:
        """The id of each title."""
        return {title: name for name, known in self.breaks.items() for title in known.titles}


@cache
def shipped() -> Known:
    """The ids in the table of this package."""
    content = json.loads(TABLE.read_text(encoding="utf-8"))
    return Known(
        content["torch"],
        {name: GraphBreak(name, tuple(row["titles"]), tuple(row["natures"])) for name, row in content["ids"].items()},
        frozenset(content["safe_rules"]),
    )


@cache
def known() -> Known:
    """The shipped ids, with what the registry of an installed torch says of them and adds to them."""
    table = shipped()
    return replace(table, breaks=dict(sorted({**table.breaks, **installed()}.items())))


def installed() -> Mapping[str, GraphBreak]:
    """The ids in the registry of the installed torch, none where there is no torch or it has no registry."""
    spec = importlib.util.find_spec("torch")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        try:
            return read_registry(Path(folder) / "_dynamo" / "graph_break_registry.json")
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            continue
    return {}


def read_registry(path: Path) -> Mapping[str, GraphBreak]:
    """The ids in a file `graph_break_registry.json`. Raises OSError, and ValueError and its like for other content."""
    content: Mapping[str, Sequence[Mapping[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return {name: _from_entries(name, entries) for name, entries in content.items()}


def normal_id(text: str) -> str | None:
    """The id that a person means by `GB0170`, `gb170`, `170` or the address of its page; None for anything else."""
    asked = text.strip().rstrip("/").rpartition("/")[2].removesuffix(".html")
    found = _ASKED.fullmatch(asked)
    return f"GB{int(found[1]):04}" if found else None


def _from_entries(name: str, entries: Sequence[Mapping[str, Any]]) -> GraphBreak:
    """One id from its entries, of which the first is the newest.

    The registry is made from PyTorch's source: where a text is computed, it holds the name of a variable instead.
    """
    titles = dict.fromkeys(str(e["Gb_type"]) for e in entries)
    texts = [str(e.get("Explanation", "")) for e in entries]
    # The titles of a few ids are one word, so that only a leading underscore tells a variable.
    known_titles = tuple(title for title in titles if not title.startswith("_")) or tuple(titles)
    hints = tuple(str(hint).strip() for hint in next((e["Hints"] for e in entries if e.get("Hints")), ()))
    joined = " ".join(hints)
    return GraphBreak(
        name,
        known_titles,
        tuple(nature for text, nature in _HINTS if text in joined),
        next((text for text in texts if _is_prose(text)), ""),
        hints,
    )


def _is_prose(text: str) -> bool:
    return " " in text and not any(mark in text for mark in ('" ', ' f"', "+ "))

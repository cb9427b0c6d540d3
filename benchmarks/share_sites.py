"""What is reported in whole packages by some rules, and what is left after the fixes, with the reasons."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from share_fixes import file_of


def sites(packages: Sequence[str], families: Sequence[str], out: Path) -> str:
    """A table for the packages, and for each the reasons why findings are left, as Markdown."""
    lines = [
        "| package | rule | reported | left after safe fixes | left with all assumptions |",
        "|---|---|---|---|---|",
    ]
    reasons: list[str] = []
    for package in packages:
        safe, assumed = (_load(package, level, out) for level in ("safe", "assumed"))
        counted = [_by_rule(found, families) for found in (safe["before"], safe["left"], assumed["left"])]
        for code in sorted({code for counts in counted for code in counts}):
            lines.append(f"| {package} | {code} | {' | '.join(str(counts[code]) for counts in counted)} |")
        left = Counter(
            (f["code"], _general(f["declined"] or "needs a fix that overlaps another one"))
            for f in assumed["left"]
            if f["code"].startswith(tuple(families))
        )
        reasons += ["", f"{package}, what is left and why:", ""]
        reasons += [f"- {count} x {code}: {reason}" for (code, reason), count in left.most_common()]
    return "\n".join([*lines, *reasons])


def _load(package: str, level: str, out: Path) -> Mapping[str, Any]:
    document: Mapping[str, Any] = json.loads(file_of(package, level, out).read_text(encoding="utf-8"))
    return document


def _by_rule(findings: Sequence[Mapping[str, Any]], families: Sequence[str]) -> Counter[str]:
    return Counter(f["code"] for f in findings if f["code"].startswith(tuple(families)))


def _general(reason: str) -> str:
    """A reason without the names of one place."""
    text = re.sub(r"^line \d+: ", "", re.sub(r"`[^`]*`", "`...`", reason))
    return text.partition("; where the shape itself is needed")[0]

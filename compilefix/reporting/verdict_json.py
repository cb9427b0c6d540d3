"""The verdict as a document for machines. Fields may be added in later versions, never renamed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from compilefix.measuring.verdict_model import Verdict
from compilefix.reporting.verified import Verified, overall

VERSION = 1


def document(verdict: Verdict) -> dict[str, Any]:
    """The verdict as plain data: times in the unit that ends each name, null for what was not measured."""
    return {"version": VERSION, **asdict(verdict)}


def of(results: Sequence[Verified]) -> dict[str, Any]:
    """The document of one workload, or of several: then each stands in `workloads`, by name, with its own verdict."""
    if len(results) == 1 and results[0].verdict is not None:
        return _one(results[0])
    return {
        "version": VERSION,
        "verdict": overall(results),
        "workloads": {item.name: _one(item) for item in results},
    }


def text(results: Sequence[Verified]) -> str:
    """The document as JSON, with a line end."""
    return json.dumps(of(results), indent=2, allow_nan=False) + "\n"


def _one(item: Verified) -> dict[str, Any]:
    if item.verdict is None:
        return {"version": VERSION, "verdict": "not-proved", "error": item.error}
    found = document(item.verdict)
    if item.regressions is not None:
        found |= {"baseline": item.baseline, "regressions": list(item.regressions)}
    return found

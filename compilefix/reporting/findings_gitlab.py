"""Findings as a GitLab code quality report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from compilefix.reporting.report import Entry, Report, repository_path
from compilefix.source.files import SourceError

_SEVERITIES: Mapping[str, str] = {
    "break": "major",
    "sync": "major",
    "recompile": "minor",
    "slow": "minor",
    "none": "minor",
}


def document(report: Report) -> str:
    """One entry per finding, and a blocker per file that could not be looked at."""
    issues = [*map(_issue, report.entries), *map(_failure, report.errors)]
    return json.dumps(issues, indent=2) + "\n"


def _issue(entry: Entry) -> dict[str, Any]:
    finding, place = entry.finding, entry.place
    cell = "" if place.cell is None else f"cell {place.cell}, line {place.line}: "
    # Lines of a notebook count within the cell, which this format has no field for.
    lines = {"begin": 1} if place.cell is not None else {"begin": place.line, "end": place.end_line}
    return {
        "description": f"{cell}{finding.code} {finding.message}",
        "check_name": finding.code,
        "fingerprint": entry.fingerprint,
        "severity": "info" if finding.is_quiet else _SEVERITIES[finding.effect],
        "location": {"path": repository_path(finding.path), "lines": lines},
    }


def _failure(error: SourceError) -> dict[str, Any]:
    path = repository_path(error.path)
    return {
        "description": error.message,
        "check_name": "error",
        "fingerprint": hashlib.sha256(f"error\0{path}\0{error.message}".encode(errors="surrogateescape")).hexdigest(),
        "severity": "blocker",
        "location": {"path": path, "lines": {"begin": error.line or 1}},
    }

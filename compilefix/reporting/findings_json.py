"""Findings as JSON, version 1. Fields are added, never renamed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from compilefix.reporting.report import Entry, Report
from compilefix.reporting.summary import RuleCount

VERSION = 1


def document(report: Report, statistics: Sequence[RuleCount] | None = None) -> str:
    """The whole document as text. Lines and columns count from 1; the end column is the first one after the place.

    In a notebook they count within the cell whose number `cell` holds.
    """
    content: dict[str, Any] = {
        "version": VERSION,
        "findings": [_finding(entry) for entry in report.entries],
        "errors": [{"path": error.path, "line": error.line, "message": error.message} for error in report.errors],
        "unused_suppressions": [asdict(unused) for unused in report.unused],
        "in_baseline": report.known,
    }
    if statistics is not None:
        content["statistics"] = [asdict(row) for row in statistics]
    return json.dumps(content, indent=2) + "\n"


def _finding(entry: Entry) -> dict[str, Any]:
    finding, place = entry.finding, entry.place
    fix = finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "path": place.path,
        "cell": place.cell,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "message": finding.message,
        "function": finding.function,
        "reached_by": list(finding.reached_by),
        "gb": list(finding.gb),
        "effect": finding.effect,
        "fix": None
        if fix is None
        else {"applicability": "safe" if fix.safe else "unsafe", "assumptions": list(fix.assumptions)},
        "declined": finding.declined,
        "confirmed": finding.confirmed,
        "apart": finding.apart,
        "minor": finding.minor,
        "conditional": finding.conditional,
        "fingerprint": entry.fingerprint,
    }

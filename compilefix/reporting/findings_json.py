"""Findings as JSON, version 1. Fields are added, never renamed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from compilefix.codemods.finding import Finding
from compilefix.reporting.summary import RuleCount
from compilefix.source.files import SourceError, display_path

VERSION = 1


def document(
    findings: Iterable[Finding], errors: Iterable[SourceError], statistics: Sequence[RuleCount] | None = None
) -> str:
    """The whole document as text. Lines and columns count from 1; the end column is the first one after the place."""
    content: dict[str, Any] = {
        "version": VERSION,
        "findings": [_finding(finding) for finding in findings],
        "errors": [{"path": error.path, "line": error.line, "message": error.message} for error in errors],
    }
    if statistics is not None:
        content["statistics"] = [asdict(row) for row in statistics]
    return json.dumps(content, indent=2)


def _finding(finding: Finding) -> dict[str, Any]:
    fix = finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "path": display_path(finding.path),
        "line": finding.span.line,
        "column": finding.span.column + 1,
        "end_line": finding.span.end_line,
        "end_column": finding.span.end_column + 1,
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
        "fingerprint": finding.fingerprint,
    }

"""Findings as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from compilefix import __version__
from compilefix.codemods import registry
from compilefix.codemods.rule import Rule
from compilefix.reporting.report import Entry, Report, repository_path
from compilefix.reporting.rule_page import page
from compilefix.source.files import SourceError

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"break": "warning", "sync": "warning", "recompile": "warning", "slow": "note", "none": "warning"}


def document(report: Report) -> str:
    """The log with one run. Paths are relative to the root of the repository."""
    rules = [rule for code, rule in registry.load().items() if any(f.code == code for f in report.findings)]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "compilefix", "version": __version__, "rules": [_rule(rule) for rule in rules]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not report.errors,
                "toolExecutionNotifications": [_notification(error) for error in report.errors],
            }
        ],
        "results": [_result(entry, [rule.code for rule in rules]) for entry in report.entries],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: type[Rule]) -> dict[str, Any]:
    text = page(rule)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": _LEVELS[rule.effect]},
        "properties": {"tags": [rule().family, *rule.gb]},
    }


def _result(entry: Entry, codes: Sequence[str]) -> dict[str, Any]:
    finding, place = entry.finding, entry.place
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(finding.path)},
        "logicalLocations": [{"fullyQualifiedName": finding.function, "kind": "function"}],
    }
    message = finding.message
    if place.cell is None:
        location["physicalLocation"]["region"] = region
    else:
        # Regions count lines of the file, which a notebook's cells have none of.
        message = f"cell {place.cell}, line {place.line}: {message}"
    return {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": "note" if finding.is_quiet else _LEVELS[finding.effect],
        "message": {"text": message},
        "locations": [location],
        "partialFingerprints": {"compilefix/v1": entry.fingerprint},
        "properties": {
            "applicability": None if finding.fix is None else "safe" if finding.fix.safe else "unsafe",
            "assumptions": list(finding.fix.assumptions) if finding.fix else [],
            "declined": finding.declined,
            "reachedBy": list(finding.reached_by),
            "apart": finding.apart,
            "minor": finding.minor,
            "conditional": finding.conditional,
        },
    }


def _notification(error: SourceError) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": _artifact(error.path)}
    if error.line is not None:
        location["region"] = {"startLine": error.line}
    return {
        "level": "error",
        "message": {"text": error.message},
        "locations": [{"physicalLocation": location}],
    }


def _artifact(path: str) -> dict[str, str]:
    shown = repository_path(path)
    if Path(shown).is_absolute():
        return {"uri": Path(shown).as_uri()}
    return {"uri": quote(shown, errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}

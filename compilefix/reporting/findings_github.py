"""Findings as GitHub workflow commands, which show as annotations in a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compilefix.codemods.finding import Finding
from compilefix.source.files import SourceError, display_path


def lines(findings: Iterable[Finding], errors: Iterable[SourceError]) -> Iterator[str]:
    """One `::warning` per finding, and one `::error` per file that could not be looked at."""
    for finding in findings:
        properties = {
            "file": display_path(finding.path),
            "line": str(finding.span.line),
            "endLine": str(finding.span.end_line),
            "col": str(finding.span.column + 1),
            "endColumn": str(finding.span.end_column + 1),
            "title": f"{finding.code} ({finding.name})",
        }
        if finding.span.line != finding.span.end_line:
            # GitHub takes columns only for a place on one line.
            del properties["col"], properties["endColumn"]
        yield _command("warning", properties, f"{finding.code} {finding.message}")
    for error in errors:
        properties = {"file": error.path} if error.line is None else {"file": error.path, "line": str(error.line)}
        yield _command("error", properties, error.message)


def _command(kind: str, properties: dict[str, str], message: str) -> str:
    listed = ",".join(f"{key}={_escape(value, ':,')}" for key, value in properties.items())
    return f"::{kind} {listed}::{_escape(message)}"


def _escape(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text

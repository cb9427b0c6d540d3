"""The baseline: the findings that a codebase starts with, so that only new ones are reported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from compilefix.reporting.report import Entry
from compilefix.source.errors import InputError
from compilefix.source.files import display_path, reason

VERSION = 1


def load(path: Path) -> frozenset[str]:
    """The fingerprints in a baseline file. Raises InputError."""
    shown = display_path(path)
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{shown}: cannot be read: {reason(error)} (--write-baseline makes one)") from error
    except ValueError as error:
        raise InputError(f"{shown}: is not a baseline: {error}") from error
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise InputError(f"{shown}: is not a baseline of version {VERSION}; --write-baseline makes one")
    found = content.get("findings")
    if not isinstance(found, list) or not all(
        isinstance(item, dict) and isinstance(item.get("fingerprint"), str) for item in found
    ):
        raise InputError(f"{shown}: is not a baseline: its findings have no fingerprints")
    return frozenset(item["fingerprint"] for item in found)


def write(path: Path, entries: Sequence[Entry]) -> None:
    """Write the baseline of these findings. Raises InputError.

    Only the fingerprints count when it is read. The rest is for the people who see its diff; there are no line numbers,
    so that the file changes only when a finding comes or goes.
    """
    rows = [
        {
            "fingerprint": entry.fingerprint,
            "code": entry.finding.code,
            "path": entry.place.path,
            "function": entry.finding.function,
            "source": entry.finding.source_line.strip(),
        }
        for entry in entries
    ]
    text = json.dumps({"version": VERSION, "findings": rows}, indent=2)
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{display_path(path)}: cannot be written: {reason(error)}") from error

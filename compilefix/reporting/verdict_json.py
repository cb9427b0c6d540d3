"""The verdict as a document for machines. Fields may be added in later versions, never renamed."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from compilefix.measuring.verdict_model import Verdict

VERSION = 1


def document(verdict: Verdict) -> dict[str, Any]:
    """The verdict as plain data: times in the unit that ends each name, null for what was not measured."""
    return {"version": VERSION, **asdict(verdict)}


def write(verdict: Verdict, path: Path) -> None:
    """Writes the document as JSON. Raises OSError when the file cannot be written."""
    path.write_text(json.dumps(document(verdict), indent=2, allow_nan=False) + "\n", encoding="utf-8")

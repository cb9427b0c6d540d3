"""Writes the JSON schemas in docs/schemas. To be run when the configuration's keys or the findings' fields change."""

from __future__ import annotations

import json
from pathlib import Path

from compilefix.reporting.schemas import check_schema, config_schema, trace_schema
from compilefix.reporting.verdict_schema import verify_schema

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"


def main() -> None:
    """Write the schemas."""
    FOLDER.mkdir(exist_ok=True)
    for name, schema in (
        ("config", config_schema()),
        ("check", check_schema()),
        ("trace", trace_schema()),
        ("verify", verify_schema()),
    ):
        (FOLDER / f"{name}.json").write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

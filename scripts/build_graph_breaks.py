"""Write what stands in the tree about PyTorch's graph-break ids.

`compilefix/analysis/graph_breaks.json` holds the ids and their titles, and the rules that have a fix without
assumptions, as their fixtures show it. `docs/graph_breaks.md` says which rule covers which id. With `--ids` the ids are
read anew from the registry of the installed torch, which is not imported.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path

from compilefix.analysis.graph_breaks import TABLE, GraphBreak, installed, shipped
from compilefix.codemods import registry
from compilefix.reporting.break_coverage import table_page

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "graph_breaks.md"


def table(torch: str, breaks: Mapping[str, GraphBreak]) -> str:
    """The table as JSON, an id on each line, so that the diff between two versions can be read."""
    rows = (
        f"{json.dumps(name)}: {json.dumps({'titles': entry.titles, 'natures': entry.natures})}"
        for name, entry in sorted(breaks.items())
    )
    head = f'{{"torch": {json.dumps(torch)}, "safe_rules": {json.dumps(safe_rules())}, "ids": {{\n'
    return head + ",\n".join(rows) + "\n}}\n"


def safe_rules() -> list[str]:
    """The rules for ids of which a fixture shows a fix that rests on no assumption."""
    return [
        code
        for code, rule in registry.load().items()
        if rule.gb
        and any(
            not path.read_text(encoding="utf-8").startswith("# assume:")
            for path in (ROOT / "fixtures" / "rules" / code).glob("*.before.py")
        )
    ]


def page() -> str:
    """The page for the documentation."""
    return table_page(shipped(), registry.load())


def main() -> None:
    """Write the table and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ids", action="store_true", help="read the ids from the installed torch")
    torch, breaks = shipped().torch, shipped().breaks
    if parser.parse_args().ids:
        torch, breaks = importlib.metadata.version("torch").partition("+")[0], installed()
    TABLE.write_text(table(torch, breaks), encoding="utf-8")
    shipped.cache_clear()
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

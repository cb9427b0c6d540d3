"""A pytest plugin that writes the outcome of each test as it ends: a run that is cut short leaves what it knew.

    python -m pytest -p outcomes_plugin --outcomes FILE

One JSON list for each line: the test's id and `passed`, `failed`, `skipped` or `error` (a failure of what stands round
the test).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--outcomes`."""
    parser.addoption("--outcomes", type=Path, required=True)


def pytest_configure(config: pytest.Config) -> None:
    """Begin with an empty file."""
    config.getoption("--outcomes").write_text("", encoding="utf-8")
    config.pluginmanager.register(_Writer(config.getoption("--outcomes")))


class _Writer:
    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test ends with its call, with a skip before it, or with what fails round it."""
        around = report.when != "call"
        if around and report.outcome == "passed":
            return
        outcome = "error" if around and report.outcome == "failed" else report.outcome
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([report.nodeid, outcome]) + "\n")

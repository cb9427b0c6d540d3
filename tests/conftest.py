"""What keeps the tests quick, and changes nothing that they look at."""

from __future__ import annotations

import sys


def pytest_runtest_setup() -> None:
    """After each compilation Dynamo measures how long its guards take, with the caches of the processor emptied.

    Nothing here reads the number, and it costs about as much as the rest of a small compilation. Workers are processes
    of their own, and measure it.
    """
    guards = sys.modules.get("torch._dynamo.guards")
    if hasattr(guards, "profile_guard_manager"):
        guards.profile_guard_manager = _not_measured


def _not_measured(*_: object) -> float:
    return 0.0

"""A break that goes to another place is no gain, and a line that was written anew is no other place."""

from __future__ import annotations

import pytest

from compilefix.measuring.hiding import moved_breaks
from compilefix.measuring.request import BreakSite
from compilefix.measuring.verdict_model import Arm


def arm(*sites: tuple[str, str, str]) -> Arm:
    found = [BreakSite("m.py", 3, 5, gb, "", 1, function, source) for function, gb, source in sites]
    return Arm(break_sites=tuple(found))


BRANCH = ("forward", "GB0170", "if x.sum() > 0:")


@pytest.mark.parametrize(
    "after",
    [
        arm(BRANCH),
        arm(("forward", "GB0170", "y = a if x.sum() > 0 else b")),
        arm(),
    ],
)
def test_the_same_break_in_a_line_written_anew_is_not_new(after: Arm) -> None:
    assert moved_breaks(arm(BRANCH), after) == []


@pytest.mark.parametrize(
    "site",
    [
        ("forward", "GB0124", "if x.sum().item() > 0:"),
        ("helper", "GB0170", "if x.sum() > 0:"),
    ],
)
def test_a_break_of_another_kind_or_in_another_function_is_new(site: tuple[str, str, str]) -> None:
    assert moved_breaks(arm(BRANCH), arm(site)) == [f"m.py:3 ({site[2]})"]


def test_each_break_answers_for_one() -> None:
    assert moved_breaks(arm(BRANCH), arm(BRANCH, BRANCH)) == ["m.py:3 (if x.sum() > 0:)"]
    # What stands as it was is matched first, so that the line that is named is the one that is new.
    other = ("forward", "GB0170", "if y.sum() > 0:")
    assert moved_breaks(arm(BRANCH, BRANCH), arm(other, BRANCH, BRANCH)) == ["m.py:3 (if y.sum() > 0:)"]

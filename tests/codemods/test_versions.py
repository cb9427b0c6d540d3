from __future__ import annotations

import pytest

from compilefix.codemods import registry
from compilefix.codemods.versions import covers
from compilefix.source.config import NEWEST_TORCH, OLDEST_TORCH


@pytest.mark.parametrize(
    ("versions", "target", "expected"),
    [
        (">=2.6", "2.6", True),
        (">=2.6", "2.13", True),
        (">=2.9", "2.10", True),
        (">=2.10", "2.9", False),
        (">=2.6, <2.12", "2.11", True),
        (">=2.6,<2.12", "2.12", False),
        ("==2.11", "2.11", True),
        (">2.11", "2.11", False),
        ("<=2.11", "2.11", True),
        (">=2.6", "3.0", True),
    ],
)
def test_versions_are_compared_by_number(versions: str, target: str, expected: bool) -> None:
    assert covers(versions, target) is expected


@pytest.mark.parametrize("wrong", ["", "2.6", ">=2", "~=2.6", ">=2.6 <2.9"])
def test_what_is_no_list_of_versions_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="in which versions of torch"):
        covers(wrong, "2.6")


def test_every_rule_matters_somewhere_in_what_is_supported() -> None:
    minor = range(int(OLDEST_TORCH.split(".")[1]), int(NEWEST_TORCH.split(".")[1]) + 1)
    for rule in registry.load().values():
        assert any(covers(rule.torch, f"2.{number}") for number in minor), rule.code

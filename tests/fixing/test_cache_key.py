"""What a kept result rests on, besides the files that are checked."""

from __future__ import annotations

from compilefix.fixing import cache


def test_a_changed_rule_is_another_program() -> None:
    names = {name for name, *_ in cache._program()}
    assert {"recurrent_layer.py", "regions.py", "torch_api.json"} <= names

"""What is kept of a value, so that it can be compared later."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from compilefix.measuring.snapshot import freeze  # noqa: E402


@pytest.mark.parametrize(
    "value",
    [
        np.array(None),
        np.array({"a": 1}, dtype=object),
        np.datetime64("2026-01-02"),
        np.timedelta64(3, "s"),
        np.array("a"),
    ],
)
def test_what_no_tensor_can_hold_is_kept_as_its_text(value: Any) -> None:
    assert freeze({"unset": value})["items"]["unset"]["text"] == repr(value)


@pytest.mark.parametrize("value", [np.array(2.5), np.float32(2.5), np.arange(3)])
def test_numbers_of_numpy_are_kept_as_tensors(value: Any) -> None:
    assert freeze(value)["tensor"].tolist() == value.tolist()

"""What two arms did is compared by value, type and place; the differences that people overlook must show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compilefix.measuring.parity import compare  # noqa: E402
from compilefix.measuring.request import ArmResult, Options  # noqa: E402
from compilefix.measuring.snapshot import freeze  # noqa: E402


def arm(folder: Path, name: str, **changes: Any) -> ArmResult:
    text = {"stdout": changes.pop("stdout", ""), "stderr": "", "records": changes.pop("records", [])}
    frozen = {
        key: {name: freeze(value) for name, value in changes.get(key, {}).items()}
        for key in ("gradients", "state", "inputs")
    }
    record = {
        "call": 0,
        "set": 0,
        "compiled": changes.pop("compiled", False),
        "outputs": freeze(changes.get("outputs")),
        **frozen,
        "exception": changes.get("exception"),
        "text": text,
    }
    path = folder / f"{name}.pt"
    torch.save([record], path)
    return ArmResult(observations=path)


def compared(
    folder: Path, left: dict[str, Any], right: dict[str, Any], base: dict[str, Any] | None = None, eager: bool = False
) -> Any:
    baseline = None if base is None else arm(folder, "base", **base)
    return compare(arm(folder, "left", **left), arm(folder, "right", **right), baseline, Options(), eager=eager)


def test_nan_equals_nan_and_differs_from_a_number(tmp_path: Path) -> None:
    nan = torch.tensor([1.0, float("nan")])
    assert compared(tmp_path, {"outputs": nan}, {"outputs": nan.clone()}).outputs == "equal"
    found = compared(tmp_path, {"outputs": nan}, {"outputs": torch.tensor([1.0, 0.0])})
    assert found.outputs == "different"
    assert found.first_difference.place == "call 1, input set 1, output"
    assert "nan in the original, 0.0 in the patched code at [1]; 1 of 2 elements" in found.first_difference.text


def test_infinities_must_agree_in_sign(tmp_path: Path) -> None:
    inf = torch.tensor(float("inf"))
    assert compared(tmp_path, {"outputs": inf}, {"outputs": inf.clone()}).outputs == "equal"
    assert compared(tmp_path, {"outputs": inf}, {"outputs": -inf}).outputs == "different"


def test_rounding_is_close_and_its_size_is_told(tmp_path: Path) -> None:
    found = compared(tmp_path, {"outputs": torch.ones(3)}, {"outputs": torch.ones(3) + 1e-6})
    assert found.outputs == "close"
    assert found.max_abs_error == pytest.approx(1e-6, rel=0.1)
    assert found.first_difference is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (torch.ones(2), torch.ones(2, dtype=torch.float64)),
        (torch.ones(2), torch.ones(2, 1)),
        (torch.ones(1), 1.0),
        (1, 1.0),
        (True, 1),
        ((1, 2), [1, 2]),
        ({"a": 1}, {"b": 1}),
        (torch.ones(2), None),
        (torch.ones(2), torch.ones(2, requires_grad=True)),
    ],
)
def test_types_dtypes_and_shapes_count(tmp_path: Path, left: Any, right: Any) -> None:
    assert compared(tmp_path, {"outputs": left}, {"outputs": right}).outputs == "different"


def test_no_gradient_is_not_a_gradient_of_zeros(tmp_path: Path) -> None:
    found = compared(tmp_path, {"gradients": {"w": None}}, {"gradients": {"w": torch.zeros(2)}})
    assert found.gradients == "different"
    assert "gradient of w" in found.first_difference.place
    assert "None in the original" in found.first_difference.text


def test_state_that_changed_in_one_arm_only_differs(tmp_path: Path) -> None:
    found = compared(tmp_path, {"state": {"steps": 3}}, {})
    assert found.state == "different"
    assert "changed only in the original" in found.first_difference.text


def test_exception_type_and_text_count(tmp_path: Path) -> None:
    error = {"type": "ValueError", "text": "bad input", "phase": "call"}
    assert compared(tmp_path, {"exception": error}, {"exception": dict(error)}).exceptions == "equal"
    for change in ({"type": "RuntimeError"}, {"text": "bad"}):
        assert compared(tmp_path, {"exception": error}, {"exception": {**error, **change}}).exceptions == "different"
    lost = compared(tmp_path, {"exception": error}, {})
    assert (lost.exceptions, lost.outputs) == ("different", "error")


def test_printed_numbers_may_round_but_words_may_not_change(tmp_path: Path) -> None:
    one = {"stdout": "loss 0.123456\n"}
    assert compared(tmp_path, one, {"stdout": "loss 0.123457\n"}).text == "close"
    assert compared(tmp_path, one, {"stdout": "loss 0.125\n"}).text == "different"
    assert compared(tmp_path, one, {"stdout": "Loss 0.123456\n"}).text == "different"
    assert compared(tmp_path, {"stdout": "step 1\n"}, {"stdout": "step 2\n"}).text == "different"


def test_a_log_record_must_keep_its_place_among_the_printed_lines(tmp_path: Path) -> None:
    early, late = [["INFO", "app", "saved", 0]], [["INFO", "app", "saved", 1]]
    assert compared(tmp_path, {"records": early}, {"records": [list(early[0])]}).text == "equal"
    assert compared(tmp_path, {"records": early}, {"records": late}).text == "different"
    assert compared(tmp_path, {"records": early}, {}).text == "different"


def test_the_originals_own_rounding_when_compiled_is_the_yardstick(tmp_path: Path) -> None:
    exact, off = {"outputs": torch.ones(2)}, {"outputs": torch.ones(2) + 1e-3}
    assert compared(tmp_path, exact, off).outputs == "different"
    found = compared(tmp_path, exact, off, base={"outputs": torch.ones(2) - 1e-3})
    assert found.outputs == "close"
    assert "so is the original when compiled" in found.notes[0]
    worse = {"outputs": torch.ones(2) + 1e-1}
    assert compared(tmp_path, exact, worse, base={"outputs": torch.ones(2) - 1e-3}).outputs == "different"


def test_an_arm_without_observations_is_an_error(tmp_path: Path) -> None:
    good = arm(tmp_path, "good", outputs=1)
    assert compare(good, ArmResult(error="crashed"), None, Options()).outputs == "error"
    assert not compare(good, ArmResult(error="crashed"), None, Options()).holds


def _logged(text: str) -> list[list[Any]]:
    return [["model", "INFO", text, 0]]


@pytest.mark.parametrize("compiling", [False, True])
@pytest.mark.parametrize(
    ("eager", "compiled", "status"),
    [
        ("norm 45.2", "norm 45.3", "close"),
        ("norm 45.2", "norm 45.4", "different"),
        ("norm 1.250e+02", "norm 1.251e+02", "close"),
        ("norm 1.250e+02", "norm 1.260e+02", "different"),
        ("step 4", "step 5", "different"),
        ("norm 45.2", "norm nan", "different"),
    ],
)
def test_the_last_printed_digit_of_compiled_code_may_be_off_by_one(
    tmp_path: Path, eager: str, compiled: str, status: str, compiling: bool
) -> None:
    left, right = ({"stdout": f"{text}\n", "records": _logged(text)} for text in (eager, compiled))
    assert compared(tmp_path, left, {**right, "compiled": compiling}).text == status
    assert compared(tmp_path, left, right, eager=True).text == "different"


@pytest.mark.parametrize(
    ("dtype", "compiled", "status"),
    [
        (torch.float16, "norm 105.187", "close"),
        (torch.float16, "norm 106.500", "different"),
        (torch.bfloat16, "norm 106.500", "close"),
        (torch.bfloat16, "norm 112.000", "different"),
        (torch.float32, "norm 105.187", "different"),
    ],
)
def test_numbers_printed_by_compiled_code_are_as_exact_as_its_outputs(
    tmp_path: Path, dtype: torch.dtype, compiled: str, status: str
) -> None:
    outputs = {"hidden": [torch.ones(2, dtype=dtype)]}
    left, right = ({"outputs": outputs, "records": _logged(text)} for text in ("norm 105.125", compiled))
    assert compared(tmp_path, left, right).text == status
    assert compared(tmp_path, left, right, eager=True).text == "different"

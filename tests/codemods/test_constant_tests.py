"""An assert in a branch may be asked always where it holds always."""

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.codemods.execution import rewritten

CODE = """import torch


def run(x: torch.FloatTensor, width=4):
    low = 1.0
    high = 4 * low
    y = x
    if x.sum() > 0:
        assert {test}
        y = x * 2
    return y
"""


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        ("low != high", True),
        ("low < high <= 4", True),
        ("not high < low and -high < 0", True),
        ("7 % 2 == 1", True),
        ("low == high", False),
        ("False, 'never'", False),
        ("1 == 2 or high / 0", False),
        ("width == 4", False),
        ("run", False),
        ("high ** 99999999", False),
        ("'a' * 3", False),
    ],
)
def test_an_assert_that_holds_always_is_asked_always(test: str, holds: bool, tmp_path: Path) -> None:
    found = [f for f in rewritten(tmp_path / "run.py", CODE.format(test=test), None).findings if f.code == "CF101"]
    assert [f.fix is not None for f in found] == [holds]

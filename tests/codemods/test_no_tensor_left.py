"""Behind a test that says that a value is no tensor, nothing of it is read from one."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from compilefix.codemods.assumptions import ASSUMPTIONS  # noqa: E402
from tests.codemods.execution import after, rewritten  # noqa: E402

NO_TENSOR = (
    "return v if isinstance(v, torch.Tensor) else v.item()",
    "return v if torch.is_tensor(v) or isinstance(v, float) else v.item()",
    "if isinstance(v, (torch.Tensor, float)):\n        return v\n    return v.item()",
    "return v.item() if not isinstance(v, torch.Tensor) else v",
    "if not isinstance(v, torch.Tensor):\n        v = v.sum()\n        if v > 3:\n            return v\n    return v",
    "if not isinstance(v, torch.Tensor):\n        return v(3) if callable(v) else v.any()\n    return v",
)


@pytest.mark.parametrize("body", NO_TENSOR)
def test_nothing_is_found(body: str, tmp_path: Path) -> None:
    text = f"import torch\n\n\ndef read(v):\n    {body}\n"
    outcome = rewritten(tmp_path / "sample.py", text, frozenset(ASSUMPTIONS))
    assert after(outcome, text) == text
    assert [finding.code for finding in outcome.findings] == []


def test_what_is_not_asked_for_may_be_one(tmp_path: Path) -> None:
    """A `nn.Parameter` is a tensor, and others are, too."""
    text = "import torch\n\n\ndef read(v):\n    return v if isinstance(v, torch.nn.Parameter) else v.item()\n"
    outcome = rewritten(tmp_path / "sample.py", text, frozenset(ASSUMPTIONS))
    assert [finding.code for finding in outcome.findings] == ["CF201"]

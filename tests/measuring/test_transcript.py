"""What is kept of what a call says."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from compilefix.measuring.transcript import recorded  # noqa: E402

PACKAGES = Path(torch.__file__).parent.parent


@pytest.mark.parametrize(
    ("file", "kept"),
    [
        (PACKAGES / "torch/_inductor/codegen/triton.py", False),
        (PACKAGES / "triton/language/semantic.py", False),
        (PACKAGES / "torchmetrics/metric.py", True),
        (Path("model.py"), True),
    ],
)
def test_a_compilers_warnings_are_not_the_programs_text(file: Path, kept: bool, tmp_path: Path) -> None:
    program = compile("def warn(warnings):\n    warnings.warn('of the condition')", str(file), "exec")
    names: dict[str, object] = {}
    exec(program, names)

    with recorded(tmp_path, lambda function: function) as transcript:
        names["warn"](warnings)  # type: ignore[operator]

    assert [record[:3] for record in transcript.records] == [["warning", "UserWarning", "of the condition"]] * kept

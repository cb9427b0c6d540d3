"""What the rules make is judged by the verifier too: it refuses no safe fix, and every rewrite that a rule refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parent))
from side_by_side import differences  # noqa: E402

ROOT = Path(__file__).resolve().parents[2] / "fixtures" / "rules"
NAIVE = """

_as_written = workload


def workload():
    _, inputs = _as_written()
    torch.manual_seed(0)
    return (naive() if isinstance(naive, type) else naive), inputs
"""


def is_safe(before: Path) -> bool:
    return not before.read_text(encoding="utf-8").startswith("# assume:")


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name.partition('.')[0]}"


SAFE = [path for path in sorted(ROOT.glob("*/*.before.py")) if is_safe(path)]
REFUSED = [path for path in sorted(ROOT.glob("*/*.declined.py")) if "naive" in path.read_text(encoding="utf-8")]
# Each takes seconds: usually one of a rule.
QUICK = {
    name_of(next(path for path in group if path.parent == folder))
    for group in (SAFE, REFUSED)
    for folder in {path.parent for path in group}
}


def some(paths: list[Path]) -> list[object]:
    """All, the quick ones without the mark."""
    return [
        pytest.param(path, id=name_of(path), marks=[] if name_of(path) in QUICK else [pytest.mark.nightly])
        for path in paths
    ]


@pytest.mark.parametrize("before", some(SAFE))
def test_a_safe_fix_is_not_refused(before: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    after = before.with_name(before.name.replace(".before.py", ".after.py"))
    texts = [path.read_text(encoding="utf-8") for path in (before, after)]
    found = differences(*texts, tmp_path, monkeypatch)
    assert len(found) > 10
    assert [str(parity.first_difference) for parity in found if not parity.holds] == []


@pytest.mark.parametrize("declined", some(REFUSED))
def test_a_naive_rewrite_is_caught(declined: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = declined.read_text(encoding="utf-8")
    found = differences(text, text + NAIVE, tmp_path, monkeypatch)
    assert not all(parity.holds for parity in found)

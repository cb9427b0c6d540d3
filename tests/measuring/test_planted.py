"""Wrong rewrites must be caught by the comparison that they break, and named; true ones must pass."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compilefix.measuring.parity import ASPECTS  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
from planted import TRUE, WRONG, Planted  # noqa: E402
from side_by_side import differences  # noqa: E402


@pytest.mark.parametrize("case", [case for case in WRONG if case.eager], ids=lambda case: case.name)
def test_a_wrong_rewrite_is_caught_and_named(case: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        parity.first_difference
        for parity in differences(case.original, case.patched, tmp_path, monkeypatch, "work")
        if not parity.holds
    ]
    assert found, "no comparison shows it"
    told = [str(item) for item in found]
    assert any(item is not None and item.aspect == case.caught for item in found), told
    assert any(case.hint in text for text in told), told


@pytest.mark.parametrize("case", TRUE, ids=lambda case: case.name)
def test_a_true_rewrite_is_not_refused(case: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = differences(case.original, case.patched, tmp_path, monkeypatch, "work")
    assert len(found) > 10
    assert [str(parity.first_difference) for parity in found if not parity.holds] == []


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def verified(case: Planted, folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the document of the whole command on a repository that holds the rewrite."""
    git(folder, "init", "-q")
    (folder / "model.py").write_text(case.original, encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "as written")
    (folder / "model.py").write_text(case.patched, encoding="utf-8")
    words = ["verify", "model.py:work", "--base", "HEAD", "--json", "verdict.json", "-q", *options]
    done = subprocess.run(
        [sys.executable, "-m", "compilefix", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (folder / "verdict.json").exists(), done.stderr
    document: dict[str, Any] = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))
    return done.returncode, document


def assert_judged(case: Planted, code: int, verdict: dict[str, Any]) -> None:
    told = " ".join(verdict["reasons"])
    if case.useless:
        assert (code, verdict["verdict"]) == (1, "not-proved"), told
        assert case.useless in told
        assert {verdict["parity"][aspect] for aspect in ASPECTS} <= {"equal", "close"}
    elif case.caught is None:
        assert (code, verdict["verdict"]) == (0, "proved"), told
    else:
        assert (code, verdict["verdict"]) == (1, "not-proved"), told
        if not case.eager:
            assert case.hint in told


HANDFUL = {
    "the NaN side": "eager",
    "wrong when compiled, on the other side": "eager",
    "breaks behind disable": "eager",
    "where for if": "aot_eager",
}
"""Cases, each with the backend that it is compiled with."""


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in (*WRONG, *TRUE) if case.name in HANDFUL], ids=lambda case: case.name)
def test_the_whole_command_on_a_repository(case: Planted, tmp_path: Path) -> None:
    assert_judged(case, *verified(case, tmp_path, "--repeats", "0", "--backend", HANDFUL[case.name]))


@pytest.mark.nightly
@pytest.mark.parametrize("case", [*WRONG, *TRUE], ids=lambda case: case.name)
def test_the_whole_command_with_its_defaults(case: Planted, tmp_path: Path) -> None:
    assert_judged(case, *verified(case, tmp_path))

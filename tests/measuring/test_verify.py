"""The whole measurement: what is proved, what is not, and why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

torch = pytest.importorskip("torch")

from compilefix.codemods.finding import Finding, Fix, Span  # noqa: E402
from compilefix.fixing.patchset import FileChange, PatchSet  # noqa: E402
from compilefix.measuring.git import GitError, patchset_between  # noqa: E402
from compilefix.measuring.verdict import Options, Verdict, WorkloadError, overlays, verify  # noqa: E402
from compilefix.reporting import verdict_json  # noqa: E402
from compilefix.reporting.verdict_text import show  # noqa: E402

QUICK = Options(device="cpu", backend="eager", repeats=0, calls=2, timeout_s=120.0)

BEFORE = textwrap.dedent(
    """\
    import torch

    def scaled(x):
        if x.sum() > 0:
            y = x * 2
        else:
            y = x - 1
        return y

    def work():
        return scaled, [(torch.ones(3),), (-torch.ones(3),)]
    """
)
RIGHT = BEFORE.replace(
    BEFORE[BEFORE.index("    if") : BEFORE.index("    return y")], "    y = torch.where(x.sum() > 0, x * 2, x - 1)\n"
)
WRONG = RIGHT.replace("x * 2, x - 1", "x * 2, x - 2")


def patched(file: Path, before: str, after: str) -> PatchSet:
    file.write_text(before, encoding="utf-8")
    fix = Finding(
        "CF101", "tensor-if", str(file), Span(4, 4, 7, 17), "", "scaled", (), ("GB0170",), "break", Fix(()), None
    )
    return PatchSet((FileChange(file, file.stem, before, after, (fix,)),))


def verified(file: Path, before: str, after: str, options: Options = QUICK) -> Verdict:
    return verify(patched(file, before, after), f"{file}:work", options, lambda message: None)


def test_a_right_rewrite_is_proved_and_reported(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    found = verified(file, BEFORE, RIGHT)
    assert (found.verdict, found.reasons) == ("proved", ("1 break site before, no break site after",))
    assert [site.line for site in found.before.break_sites] == [4]
    assert found.after.break_sites == ()
    assert (found.before.graphs_per_call, found.after.graphs_per_call) == (2, 1)
    assert set(found.parity.aspects().values()) == {"equal"}
    condition = found.coverage[0]
    assert (condition.line, condition.column, condition.text, condition.side) == (4, 8, "x.sum() > 0", "original")
    assert condition.true > 2
    assert condition.false > 2
    assert {branch.doubt for branch in found.coverage} == {""}
    assert found.variation.tried > 30
    assert found.variation.compiled > 5
    assert found.variation.differ == ()
    assert [fix.verdict for fix in found.fixes] == ["not-measured"]
    assert found.speedup.all() == ()
    assert file.read_text(encoding="utf-8") == BEFORE

    document = json.loads(json.dumps(verdict_json.document(found), allow_nan=False))
    assert document["version"] == 1
    assert document["before"]["break_sites"][0]["line"] == 4
    assert document["speedup"] == {"inference": None, "training": None}
    assert document["environment"]["torch"] == torch.__version__

    out = StringIO()
    show(found, Console(file=out, width=160))
    text = out.getvalue()
    assert "Break sites: 1 before, 0 after" in text
    assert "if x.sum() > 0:" in text
    assert text.splitlines()[-2:] == ["proved", "  1 break site before, no break site after"]
    assert "\x1b" not in text


def test_a_wrong_rewrite_is_caught_with_the_place_and_the_values(tmp_path: Path) -> None:
    found = verified(tmp_path / "model.py", BEFORE, WRONG)
    assert found.verdict == "not-proved"
    assert found.parity.outputs == "different"
    assert found.parity.first_difference is not None
    assert found.parity.first_difference.place == "call 1, input set 2, output"
    assert "-2.0 in the original, -3.0 in the patched code" in found.reasons[0]


def test_a_side_that_the_inputs_never_reach_is_not_verified(tmp_path: Path) -> None:
    wrong = RIGHT.replace("x * 2, x - 1", "x * 3, x - 1")
    one_sided = (text.replace("x.sum() > 0", "(x.sum() - 1e30).abs() < 1") for text in (BEFORE, wrong))
    found = verified(tmp_path / "model.py", *one_sided)
    assert found.verdict == "unverified"
    assert "never true" in found.reasons[0]


def test_a_function_that_is_compiled_from_its_source_is_left_without_probes(tmp_path: Path) -> None:
    scripted = "@torch.jit.script\ndef scaled(x: torch.Tensor):"
    before, after = (text.replace("def scaled(x):", scripted) for text in (BEFORE, RIGHT))
    found = verified(tmp_path / "model.py", before, after)
    assert {branch.kind for branch in found.coverage} == {"scripted"}
    assert found.verdict != "proved"
    assert any("`@torch.jit.script scaled` is compiled from its source" in reason for reason in found.reasons)
    assert set(found.parity.aspects().values()) == {"equal"}


@pytest.mark.slow
def test_inputs_are_varied_to_reach_the_other_side_and_the_difference_is_kept(tmp_path: Path) -> None:
    one_sided = [text.replace(", (-torch.ones(3),)]", "]") for text in (BEFORE, WRONG)]
    file = tmp_path / "model.py"
    changes = patched(file, *one_sided)
    found = verify(changes, f"{file}:work", QUICK, lambda message: None, keep=tmp_path / ".compilefix" / "reproducers")
    assert found.verdict == "not-proved"
    assert found.parity.first_difference is not None
    assert "negated" in found.parity.first_difference.place
    assert "input set 1 negated" in found.variation.differ
    assert 1 <= len(found.variation.reproducers) <= 3
    assert (tmp_path / ".compilefix" / ".gitignore").read_text(encoding="utf-8") == "*\n"

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    again = subprocess.run(
        [sys.executable, found.variation.reproducers[0]], capture_output=True, text=True, check=True, env=environment
    )
    original, _, after = again.stdout.partition("==== patched")
    assert "call 1 returned tensor([-2., -2., -2.])" in original
    assert "call 1 returned tensor([-3., -3., -3.])" in after


@pytest.mark.slow
def test_each_fix_is_judged_alone(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    whole = patched(file, BEFORE, RIGHT)
    (change,), (fix,) = whole.changes, whole.fixes
    useless = BEFORE.replace("y = x * 2", "y = 2 * x")
    alone = []
    for line, after in enumerate((WRONG, RIGHT, useless), start=4):
        one = replace(fix, span=replace(fix.span, line=line))
        alone.append((one, PatchSet((replace(change, after=after, fixes=(one,)),))))
    whole = PatchSet((replace(change, fixes=tuple(one for one, _ in alone)),))
    found = verify(whole, f"{file}:work", replace(QUICK, calls=1), lambda message: None, alone)
    assert [item.verdict for item in found.fixes] == ["different", "proved", "no-gain"]
    assert [item.line for item in found.fixes] == [4, 5, 6]


def test_code_that_compiles_to_no_graph_is_not_proved(tmp_path: Path) -> None:
    looped = "    for _ in range(1):\n        y = x * 2 if x.sum() > 0 else x - 1\n"
    skipped = BEFORE.replace(BEFORE[BEFORE.index("    if") : BEFORE.index("    return y")], looped)
    found = verified(tmp_path / "model.py", BEFORE, skipped)
    assert found.verdict == "not-proved"
    assert any("no compiled graph" in reason for reason in found.reasons)


def test_patched_code_that_crashes_is_a_verdict(tmp_path: Path) -> None:
    crashing = RIGHT.replace("    y = torch", "    import os; os._exit(7)\n    y = torch")
    found = verified(tmp_path / "model.py", BEFORE, crashing)
    assert found.verdict == "not-proved"
    assert found.after.error is not None
    assert "exit status 7" in found.after.error
    assert found.parity.outputs == "error"


@pytest.mark.parametrize(("does", "said"), [("raise ValueError(x)", "raised"), ("return x", "returned")])
def test_a_crash_on_other_inputs_says_what_the_original_did(does: str, said: str, tmp_path: Path) -> None:
    check = "    if x.isnan().any():\n        {}\n    if x.sum() > 0:"
    before = BEFORE.replace("    if x.sum() > 0:", check.format(does))
    crashing = BEFORE.replace("    if x.sum() > 0:", check.format("import os; os._exit(7)"))
    found = verified(tmp_path / "model.py", before, crashing)
    assert any(f"the original {said}, the process of the patched code died" in reason for reason in found.reasons)


def test_an_original_that_does_not_run_leaves_nothing_to_compare_with(tmp_path: Path) -> None:
    broken = BEFORE.replace("return scaled, [", "return scaled, 5 or [")
    with pytest.raises(WorkloadError, match="an input set is a tuple"):
        verified(tmp_path / "model.py", broken, RIGHT)
    with pytest.raises(WorkloadError, match="is no workload"):
        verify(PatchSet(()), "model.py", QUICK, lambda message: None)


def test_without_changes_there_is_nothing_to_prove(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(BEFORE, encoding="utf-8")
    found = verify(PatchSet(()), f"{file}:work", QUICK, lambda message: None)
    assert found.verdict == "not-proved"
    assert found.reasons == ("nothing to change: there is no fix to measure, and the code has 1 break site",)
    assert len(found.before.break_sites) == 1


@pytest.mark.slow
def test_inductor_is_timed_and_only_a_measured_speedup_is_claimed(tmp_path: Path) -> None:
    options = Options(device="cpu", repeats=5, calls=2)
    found = verified(tmp_path / "model.py", BEFORE, RIGHT, options)
    assert found.verdict in ("proved", "not-proved")
    assert found.speedup.inference is not None
    assert found.speedup.inference.low <= found.speedup.inference.ratio <= found.speedup.inference.high
    claimed = any("is faster" in reason for reason in found.reasons)
    assert claimed == (found.speedup.inference.low > 1.0)
    for arm in (found.eager, found.before, found.after):
        assert arm.latency_ms is not None
        assert 0 < arm.latency_ms.p05 <= arm.latency_ms.median <= arm.latency_ms.p95
    assert found.after.first_call_s is not None
    assert found.after.compile_s is not None
    assert found.after.first_call_s >= found.after.latency_ms.median / 1000  # type: ignore[union-attr]


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_on_a_gpu_peak_memory_is_told(tmp_path: Path, mode: str) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    found = verified(tmp_path / "model.py", BEFORE, RIGHT, Options(device="cuda", mode=mode, repeats=5, calls=3))
    assert found.parity.holds
    assert len(found.before.break_sites) == 1
    assert found.after.break_sites == ()
    assert found.after.peak_memory_bytes is not None
    assert found.after.peak_memory_bytes > 0
    assert found.environment["device"] == "cuda"


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_a_revision_is_compared_with_the_working_tree(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    package = tmp_path / "package"
    package.mkdir()
    for name, text in (("__init__.py", ""), ("model.py", BEFORE), ("gone.py", "A = 1\n"), ("same.py", "B = 1\n")):
        (package / name).write_text(text, encoding="utf-8")
    (tmp_path / "notes.txt").write_text("one", encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "start")
    (package / "model.py").write_text(RIGHT, encoding="utf-8")
    (package / "gone.py").unlink()
    (package / "fresh.py").write_text("C = 1\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("two", encoding="utf-8")

    found = patchset_between(tmp_path, "HEAD", [tmp_path])
    sides = {change.module: (change.before, change.after) for change in found}
    assert sides == {
        "package.fresh": (None, "C = 1\n"),
        "package.gone": ("A = 1\n", ""),
        "package.model": (BEFORE, RIGHT),
    }
    before, after = overlays(found)
    assert [path.name for path, _ in before.sources] == ["model.py"]
    assert [module.name for module in before.new_modules] == ["package.gone"]
    assert not after
    assert not patchset_between(tmp_path, "HEAD", [package / "same.py"])
    with pytest.raises(GitError, match="nonsense"):
        patchset_between(tmp_path, "nonsense", [tmp_path])

"""Verdicts as JSON, Markdown and text; of one workload and of several; against a baseline."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from compilefix.measuring.interval import Latency
from compilefix.measuring.request import BreakSite, FrameEvent
from compilefix.measuring.verdict_model import Arm, Parity, Speedups, Verdict
from compilefix.reporting import verdict_baseline, verdict_json, verdict_markdown, verdict_schema, verdict_text
from compilefix.reporting.verified import Verified, exit_code
from compilefix.source.errors import InputError

sys.path.insert(0, str(Path(__file__).parent))
import verdicts


def nothing_to_change(before: Arm | None = None) -> Verdict:
    return verdicts.verdict(
        verdict="not-proved",
        reasons=("nothing to change",),
        before=before or verdicts.arm(0.5),
        after=Arm(error="not run: there is nothing to change"),
        speedup=Speedups(),
        parity=Parity.all("not-run"),
    )


def regressions(old: Verdict, new: Verdict) -> tuple[str, ...]:
    return verdict_baseline.regressions(_read(old), _read(new))


def _read(found: Verdict) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(verdict_json.document(found)))
    return document


def slower(found: Arm, factor: float) -> Arm:
    assert found.latency_ms is not None
    assert found.distribution is not None
    latency, distribution = verdicts.timed(found.latency_ms.median * factor)
    return replace(found, latency_ms=latency, distribution=distribution)


def test_documents_of_one_and_of_several_workloads_follow_the_published_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    checker = jsonschema.Draft7Validator(verdict_schema.verify_schema())
    one = verdicts.verified(verdicts.verdict())
    worse = replace(verdicts.verified(verdicts.wrong(), "b"), baseline="old.json", regressions=("slower",))
    compared = verdicts.verdict(compared=verdicts.arm(0.5), compared_speedup=Speedups())
    for results in (
        [one],
        [worse],
        [one, worse, Verified("c", None, error="no such file")],
        [replace(one, verdict=compared)],
    ):
        document = json.loads(verdict_json.text(results))
        assert [error.message for error in checker.iter_errors(document)] == []
    assert list(document) == list(verdict_json.document(compared))
    assert not checker.is_valid({"version": 1, "verdict": "proved"})
    several = json.loads(verdict_json.text([one, worse]))
    assert (several["verdict"], several["workloads"]["b"]["regressions"]) == ("not-proved", ["slower"])


def test_the_exit_code_is_that_of_the_worst_workload() -> None:
    good = verdicts.verified(verdicts.verdict())
    bad = verdicts.verified(verdicts.wrong())
    failed = Verified("c", None, error="no")
    assert [exit_code(r) for r in ([good], [good, bad], [good, bad, failed])] == [0, 1, 2]
    unchanged = Verified("d", nothing_to_change())
    assert exit_code([unchanged]) == 1
    assert exit_code([replace(unchanged, regressions=())]) == 0
    assert exit_code([replace(unchanged, regressions=("slower",))]) == 1
    assert exit_code([replace(bad, regressions=())]) == 1
    assert exit_code([replace(good, regressions=("slower",))]) == 1


def test_markdown_holds_the_numbers_and_no_name_turns_into_markup() -> None:
    text = verdict_markdown.text([verdicts.verified(verdicts.verdict())])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[2] == (
        "| `model.py:workload` | **proved** | 1 → 0 | 2 → 1 | 2 → 0.5 ms: 4.00x (95% interval 3.90 to 4.10) | - "
        "| close, equal |"
    )
    assert "| before | `model.py:6` | GB0170 | `if x.sum() > 0:` |" in text
    assert "-    if x.sum() > 0:" in text
    assert "````diff\n" not in text
    assert "A \\<fast\\> CPU \\| 2 cores" in text
    assert "<script>" not in text.partition("```diff")[0] + text.rpartition("```")[2]


def test_markdown_of_several_workloads_shows_the_failed_ones_open() -> None:
    results = [
        verdicts.verified(verdicts.verdict(), "good"),
        verdicts.verified(verdicts.wrong(), "bad_<b>"),
        Verified("gone", None, error="gone.py: no such file"),
    ]
    text = verdict_markdown.text(results)
    assert "<details><summary>good</summary>" in text
    assert "<details open><summary>bad_&lt;b&gt;</summary>" in text
    assert "| `gone` | could not run |" in text
    assert text.count("<details") == text.count("</details>") == 3


def test_the_terminal_shows_several_workloads_and_what_became_worse() -> None:
    good = replace(verdicts.verified(verdicts.verdict(), "good"), baseline="old.json", regressions=())
    worse = replace(verdicts.verified(verdicts.verdict(), "worse"), baseline="old.json", regressions=("slow!",))
    out = io.StringIO()
    verdict_text.show_all([good, worse, Verified("gone", None, error="no file")], Console(file=out, width=140))
    text = out.getvalue()
    assert "nothing is worse than in old.json" in text
    assert "worse than in old.json\n  slow!" in text
    summary = text[text.index("Workloads") :].splitlines()
    assert summary[2].split() == ["good", "proved", "1", "->", "0", "4.00x", "(95%", "interval", "3.90", "to", "4.10)"]
    assert "proved, worse than the baseline" in summary[3]
    assert "could not run" in summary[4]


def test_the_same_verdict_again_is_no_regression() -> None:
    for found in (verdicts.verdict(), nothing_to_change(), verdicts.wrong()):
        assert regressions(found, found) == ()


def test_a_new_break_is_one_also_where_lines_moved() -> None:
    old = nothing_to_change(verdicts.arm(0.5, verdicts.SITE))
    moved = replace(verdicts.SITE, line=60)
    assert regressions(old, nothing_to_change(verdicts.arm(0.5, moved))) == ()
    new = replace(verdicts.SITE, line=9, source="y.item()", gb="", reason="Unsupported: more")
    found = regressions(old, nothing_to_change(verdicts.arm(0.5, moved, new)))
    assert found == ("the code: new graph break at model.py:9: y.item() (Unsupported)",)
    twice = replace(moved, line=61)
    assert len(regressions(old, nothing_to_change(verdicts.arm(0.5, moved, twice)))) == 1


def test_code_without_fixes_left_is_held_to_what_the_fixed_code_promised() -> None:
    old = verdicts.verdict()
    assert regressions(old, nothing_to_change(verdicts.arm(0.5))) == ()
    found = regressions(old, nothing_to_change(verdicts.arm(0.5, verdicts.SITE)))
    assert [text.partition(" at ")[0] for text in found] == ["the code: new graph break"]


def test_a_new_break_that_a_fix_would_remove_is_new_all_the_same() -> None:
    fixed = nothing_to_change()
    found = regressions(fixed, verdicts.verdict(before=verdicts.arm(0.5, verdicts.SITE)))
    assert [text.partition(" at ")[0] for text in found] == ["the code as written: new graph break"]


def test_functions_left_to_python_recompiles_and_crashes_are_regressions() -> None:
    event = FrameEvent("model.py", 4, "forward", "why", 2)
    clean = verdicts.arm(0.5)
    found = regressions(
        nothing_to_change(clean), nothing_to_change(replace(clean, skipped_frames=(event,), recompiles=(event,)))
    )
    assert found == (
        "the code: forward (model.py:4) is left to Python now",
        "the code: 2 recompiles, 0 in the baseline",
    )
    dead = Arm(error="the worker was killed by SIGSEGV")
    assert "does not run any more" in regressions(nothing_to_change(clean), nothing_to_change(dead))[0]


def test_a_slowdown_beyond_the_noise_is_one_and_a_busy_machine_is_none() -> None:
    old = nothing_to_change()
    assert regressions(old, nothing_to_change(slower(old.before, 1.08))) == ()
    found = regressions(old, nothing_to_change(slower(old.before, 1.5)))
    assert len(found) == 1
    assert "inference is slower: 0.75 ms, 0.5 ms in the baseline, 1.50 times as long" in found[0]
    busy = replace(nothing_to_change(slower(old.before, 1.5)), eager=slower(old.eager, 1.5))
    assert regressions(old, busy) == ()
    assert regressions(old, nothing_to_change(slower(old.before, 0.5))) == ()


def test_times_of_another_machine_are_not_compared_and_that_is_said() -> None:
    old = nothing_to_change()
    elsewhere = replace(old, environment={**old.environment, "device_name": "other"}, before=slower(old.before, 3))
    assert regressions(old, elsewhere) == ()
    assert "device_name was A <fast> CPU" in verdict_baseline.not_compared(_read(old), _read(elsewhere))
    assert verdict_baseline.not_compared(_read(old), _read(old)) == ""


def test_documents_without_rounds_are_compared_by_their_percentiles() -> None:
    old, new = _read(nothing_to_change()), _read(nothing_to_change(slower(verdicts.arm(0.5), 1.5)))
    for document in (old, new):
        del document["before"]["distribution"]
    assert len(verdict_baseline.regressions(old, new)) == 1
    wide = Latency(0.5, 0.1, 2.0, 100)
    old["before"]["latency_ms"] = {"median": wide.median, "p05": wide.p05, "p95": wide.p95, "n": wide.n}
    assert verdict_baseline.regressions(old, new) == ()


def test_against_a_revision_the_working_tree_counts() -> None:
    base = {"base": "main", **verdicts.ENVIRONMENT}
    old = verdicts.verdict(environment=base)
    assert regressions(old, verdicts.verdict(environment=base)) == ()
    broken = verdicts.verdict(environment=base, after=verdicts.arm(0.5, verdicts.SITE))
    assert [text.partition(" at ")[0] for text in regressions(old, broken)] == ["the code as written: new graph break"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"version": 1}', '{"version": 2, "verdict": "proved"}'])
def test_what_is_no_verdict_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "old.json"
    file.write_text(content)
    with pytest.raises(InputError, match=r"old\.json"):
        verdict_baseline.load(file)
    with pytest.raises(InputError, match="cannot be read"):
        verdict_baseline.load(tmp_path / "none.json")


def test_a_baseline_finds_the_workload_by_name_or_by_what_it_runs(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    one = verdicts.verified(verdicts.verdict(), "small")
    file.write_text(verdict_json.text([one]))
    assert verdict_baseline.load(file).of("small", "model.py:workload") is not None
    assert verdict_baseline.load(file).of("small", "other.py:workload") is None
    file.write_text(verdict_json.text([one, Verified("gone", None, error="no")]))
    known = verdict_baseline.load(file)
    assert known.of("small", "x") is not None
    assert known.of("gone", "gone.py:f") is None


def test_a_break_without_its_source_line_is_known_by_its_number() -> None:
    bare = BreakSite("model.py", 5, 0, "", "why", 1)
    old = nothing_to_change(verdicts.arm(0.5, bare))
    assert regressions(old, nothing_to_change(verdicts.arm(0.5, replace(bare, line=6)))) != ()

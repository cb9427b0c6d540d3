"""The fixtures of all rules: what they become, what they refuse, and that the code still does the same.

`<case>.before.py` becomes `<case>.after.py`; a first line `# assume: a, b` names the assumptions that this needs, and
`# differs: outputs` what those excuse. What breaks the graph in the backward pass alone says `# backend: aot_eager`.
`<case>.declined.py` begins with `# declined: <part of the reason>`; where it
has a `naive`, the rewrite that the rule refuses, that one must differ from the original. Each fixture has a `workload`
that returns a callable and the argument tuples to call it with.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compilefix.codemods import registry  # noqa: E402
from compilefix.codemods.traced_rule import TracedRule  # noqa: E402
from compilefix.fixing.engine import Outcome  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
import execution  # noqa: E402

RULES = registry.load()
ROOT = Path(__file__).resolve().parents[2] / "fixtures" / "rules"
PAIRS = sorted(ROOT.glob("*/*.before.py"))
DECLINED = sorted(ROOT.glob("*/*.declined.py"))
NAIVE = [path for path in DECLINED if "naive" in path.read_text(encoding="utf-8")]


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name.partition('.')[0]}"


def header(text: str, key: str) -> list[str]:
    """The items of a `# key: a, b` line among the comments at the top."""
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if line.startswith(f"# {key}:"):
            return [item.strip() for item in line.partition(":")[2].split(",")]
    return []


def after_path(before: Path) -> Path:
    return before.with_name(before.name.replace(".before.py", ".after.py"))


# All tests of a fixture come after one another, so that the engine's run of it is there for the next one.
EACH_PAIR = pytest.mark.parametrize("before", PAIRS, ids=name_of, scope="module")
EACH_DECLINED = pytest.mark.parametrize("path", DECLINED, ids=name_of)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@functools.lru_cache(maxsize=8)
def outcome_of(path: Path, allowed: frozenset[str] = frozenset()) -> tuple[str, Outcome]:
    text = path.read_text(encoding="utf-8")
    return text, execution.rewritten(path, text, allowed)


@EACH_PAIR
def test_becomes_the_after_file(before: Path) -> None:
    text, outcome = outcome_of(before, frozenset(header(before.read_text(encoding="utf-8"), "assume")))
    assert before.parent.name in {fix.code for fix in outcome.patchset.fixes}
    for finding in outcome.patchset.fixes:
        needed = set(finding.fix.assumptions) if finding.fix is not None else set()
        assert needed <= set(RULES[finding.code].assumptions), "the rule's page names what its fixes need"
    assert execution.after(outcome, text) == after_path(before).read_text(encoding="utf-8")
    changed = [change for change in outcome.patchset if change.before is not None]
    assert len(changed) == 1, "a fixture changes no other file"


@EACH_PAIR
def test_needs_each_assumption_that_it_names(before: Path) -> None:
    wanted = after_path(before).read_text(encoding="utf-8")
    named = frozenset(header(before.read_text(encoding="utf-8"), "assume"))
    for assumption in named:
        text, outcome = outcome_of(before, named - {assumption})
        assert execution.after(outcome, text) != wanted, f"{assumption} is not needed"


@EACH_PAIR
def test_a_second_run_changes_nothing(before: Path) -> None:
    text = after_path(before).read_text(encoding="utf-8")
    outcome = execution.rewritten(before, text, frozenset(header(text, "assume")))
    assert execution.after(outcome, text) == text


@EACH_PAIR
def test_only_the_lines_of_the_edits_change(before: Path) -> None:
    text, outcome = outcome_of(before, frozenset(header(before.read_text(encoding="utf-8"), "assume")))
    result = execution.after(outcome, text)
    touched: set[int] = set()
    for finding in (*outcome.findings, *outcome.patchset.fixes):
        # A later pass may rewrite the statement that an earlier one has rewritten a part of: take the whole finding.
        touched.update(range(finding.span.line, finding.span.end_line + 1))
        for edit in finding.fix.edits if finding.fix is not None else ():
            touched.update(range(edit.target.line, edit.target.end_line + 1))
    old, new = text.splitlines(keepends=True), result.splitlines(keepends=True)
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "insert":
            added = [line.strip() for line in new[new_start:new_end]]
            above = next((i for i in range(start, 0, -1) if old[i - 1].strip()), 0)  # over blank lines
            near = {above, start, start + 1} & touched
            assert near or all(not line or line.startswith(("import ", "from ")) for line in added), added
        elif tag != "equal":
            assert set(range(start + 1, end + 1)) <= touched, old[start:end]


@EACH_PAIR
def test_does_the_same_in_fewer_graphs(before: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = before.read_text(encoding="utf-8")
    excused = frozenset(header(text, "differs"))
    assert excused <= set(execution.PARTS)
    assert bool(excused) <= bool(header(text, "assume")), "a safe fix excuses nothing"
    _, outcome = outcome_of(before, frozenset(header(text, "assume")))
    for change in outcome.patchset:
        if change.before is None:  # the helper that the rewritten code imports
            (tmp_path / f"{change.module}.py").write_text(change.after, encoding="utf-8")
            monkeypatch.syspath_prepend(str(tmp_path))
    old, new = execution.load(before), execution.load(after_path(before))
    expected = execution.observe(old.workload)
    assert execution.differences(expected, execution.observe(new.workload), excused) == []
    backend = next(iter(header(text, "backend")), "eager")
    compiled_new = execution.compiled(new.workload, backend=backend)
    assert execution.differences(expected, compiled_new.observations, excused) == []
    assert compiled_new.graphs > 0, "nothing was compiled"
    # One break in the original is more than none; to compile all of its calls takes most of the time of this test.
    if any(fix.effect == "break" for fix in outcome.patchset.fixes):
        compiled_old = execution.compiled(old.workload, up_to_a_break=not compiled_new.sites, backend=backend)
        assert len(compiled_new.sites) < len(compiled_old.sites)
    elif compiled_new.sites:
        assert compiled_new.sites <= execution.compiled(old.workload).sites


@EACH_DECLINED
def test_says_why_it_declines(path: Path) -> None:
    text, outcome = outcome_of(path)
    assert execution.after(outcome, text) == text
    reason = text.splitlines()[0].partition("# declined: ")[2]
    assert reason, "the first line names the reason"
    own = [finding for finding in outcome.findings if finding.code == path.parent.name]
    said = [finding.declined or "; ".join(finding.fix.reasons if finding.fix else ()) for finding in own]
    assert any(reason in words for words in said), said


@EACH_DECLINED
def test_declined_code_runs(path: Path) -> None:
    seen = execution.observe(execution.load(path).workload)
    unknown = {"NameError", "AttributeError", "ImportError", "UnboundLocalError"}
    assert seen
    assert not any(one.exceptions is not None and one.exceptions[0] in unknown for one in seen)


@pytest.mark.parametrize("path", NAIVE, ids=name_of)
def test_the_refused_rewrite_would_be_wrong(path: Path) -> None:
    module = execution.load(path)
    found = execution.differences(execution.observe(module.workload), execution.observe(_naive(module)))
    assert found, "the naive rewrite does the same: then the rule should make it"


def _naive(module: ModuleType) -> execution.Program:
    def workload() -> tuple[Any, Any]:
        state = torch.get_rng_state()
        _, inputs = module.workload()
        torch.set_rng_state(state)
        return module.naive() if isinstance(module.naive, type) else module.naive, inputs

    return workload


@pytest.mark.parametrize("code", sorted(code for code, rule in RULES.items() if not issubclass(rule, TracedRule)))
def test_every_rule_has_fixtures(code: str) -> None:
    pairs = [path for path in PAIRS if path.parent.name == code]
    assert pairs or any(path.parent.name == code for path in DECLINED)
    source = inspect.getsource(sys.modules[RULES[code].__module__])
    can_fix = "self.fixed(" in source or "self.fixed_at(" in source
    assert pairs or not can_fix, "a rule that fixes shows a fix"


def test_no_fixture_is_left_over() -> None:
    known = {*PAIRS, *(after_path(path) for path in PAIRS), *DECLINED}
    assert [path for path in ROOT.rglob("*.py") if path not in known] == []
    assert {path.parent.name for path in known} <= set(RULES)

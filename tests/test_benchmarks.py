"""What the benchmarks say of numbers; the numbers themselves are for people."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from compilefix.measuring.interval import Speedup

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_runs_agree_when_19_of_20_neighbours_overlap(capsys: pytest.CaptureFixture[str]) -> None:
    agreement = load("agreement")
    usual, other = Speedup(2.0, 1.9, 2.1), Speedup(3.0, 2.9, 3.1)
    assert agreement.report([usual] * 21) == 0
    assert "overlap with the run before: 20 of 20" in capsys.readouterr().out
    assert agreement.report([*[usual] * 20, other]) == 0
    assert agreement.report([*[usual] * 19, other, usual]) == 1
    assert "overlap with the run before: 18 of 20\noverlap of all pairs: 190 of 210" in capsys.readouterr().out
    assert agreement.report([usual]) == 2
    assert agreement.overlap(usual, Speedup(2.2, 2.1, 2.3))
    assert not agreement.overlap(usual, Speedup(2.2, 2.11, 2.3))


def test_each_call_that_differs_is_one_of_a_model_that_assumptions_free() -> None:
    models = json.loads((BENCHMARKS.parent / "docs" / "share.json").read_text(encoding="utf-8"))["models"]
    free = {model["name"]: model["free"] for model in models}
    cases = load("share_differs").CASES
    assert len(cases) > 10
    assert all(free[name]["assumed"] and not free[name]["safe"] for name in cases)


def test_a_shipped_workload_is_compared_with_its_hand_fixed_version() -> None:
    workloads = load("workloads")
    for name in workloads.SHIPPED:
        option, spec = workloads._compare_with(f"{workloads.MODELS / name}.py:workload")
        assert option == "--compare-with"
        assert Path(spec.rpartition(":")[0]).is_file()
    assert workloads._compare_with("benchmarks/public_models.py:bart") == []


def test_tests_of_a_project_that_a_fix_breaks_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(BENCHMARKS))  # as for a script that is started
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text(
        "import torch\n\n\ndef mean(x: torch.Tensor):\n    return x.float().mean().item()\n"
    )
    (tmp_path / "test_package.py").write_text(
        "import torch, package\n\n\ndef test_type():\n    assert isinstance(package.mean(torch.ones(2)), float)\n\n\n"
        "def test_value():\n    assert package.mean(torch.ones(2)) == 1\n\n\ndef test_wrong():\n    assert 0\n"
    )
    assert load("upstream_tests").main([str(tmp_path), "--package", "package", "test_package.py"]) == 1
    out = capsys.readouterr().out
    assert "3 tests ended in both copies" in out
    assert "test_package.py::test_type: passed -> failed" in out
    assert "test_value:" not in out
    assert "test_wrong:" not in out


PACKAGE = """\
import torch


def half(x: torch.FloatTensor) -> torch.Tensor:
    if x.isnan().any():
        raise ValueError("nan")
    return x / x.max().item()


class Twice(torch.nn.Module):
    def forward(self, x: torch.FloatTensor):
        return half(x) * 2
"""
TESTS = """\
import pytest
import torch
from package import Twice, half


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Twice()

    def forward(self, x):
        return self.inner(x)


@pytest.mark.parametrize("model", [Twice, Outer, Twice])
def test_twice(model):
    assert model()(torch.ones(2)).tolist() == [2, 2]


def test_nan():
    with pytest.raises(ValueError, match="nan"):
        half(torch.tensor([float("nan")]))
"""


@pytest.mark.slow
def test_tests_of_a_project_run_compiled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text(PACKAGE)
    (tmp_path / "test_package.py").write_text(TESTS)
    words = [str(tmp_path), "--package", "package", "--compiled", "--parameters", "2", "test_package.py"]
    assert load("upstream_tests").main(words) == 0
    out = capsys.readouterr().out
    assert "3 tests ended in both copies" in out
    assert "3 of the tests that pass as written compile something of the package" in out
    assert "2 gone, 0 left as written, 0 changed, and still breaking, 0 new in changed code, 0 new" in out


def test_break_sites_are_compared_by_what_became_of_their_lines(tmp_path: Path) -> None:
    compared = load("compared_breaks")
    texts = {"before": "a\nb\nc\nd\ne\nf\n", "after": "a\nB1\nB2\nc\nD\ne\nf\nnew\n"}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text(text)
    before = [compared.Site("m.py", line, "") for line in (1, 2, 4, 6)]
    after = [compared.Site("m.py", line, "") for line in (1, 3, 6, 8)]
    found = compared.compare(before, after, (tmp_path / "before", tmp_path / "after"))
    assert [site.line for site in found.as_written] == [1]
    assert [(site.line, [now.line for now in there]) for site, there in found.changed] == [(2, [3])]
    assert [site.line for site in found.gone] == [4, 6]
    assert [site.line for site in found.new_as_written] == [6]
    assert [site.line for site in found.new_in_changed] == [8]


def test_a_difference_is_the_originals_own_only_where_it_differs_as_written_in_the_same_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    tables = load("share_tables")
    written = ["train: text, record 1: a warning", "eval: exceptions, exception: AssertionError"]
    model = tables.Model("package/model", free={"assumed": True}, differs={"written": written})
    model.differs["assumed"] = written[1:]
    assert model.gone("assumed")
    model.differs["assumed"] = ["train: gradients, gradient of x: has a gradient only in the patched code"]
    assert not model.gone("assumed")
    model.differs["assumed"] = [f"{written[1]} (and outputs)"]
    assert not model.gone("assumed")


def test_fixed_code_gets_the_inputs_that_the_code_as_written_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    models = load("share_models")

    def written(x):  # type: ignore[no-untyped-def]
        x[:, None].requires_grad = True  # no leaf, where the input requires a gradient
        return x.sum()

    def fixed(x):  # type: ignore[no-untyped-def]
        return x.sum()

    models.current = ("package/model", "train")
    for function in (written, fixed):
        monkeypatch.setattr(
            models, "builders", lambda function=function: {"package/model": lambda: (function, [(torch.ones(2),)])}
        )
        _, ((given,),) = models.workload()
        assert not given.requires_grad
    models.requiring = None
    _, ((given,),) = models.workload()
    assert given.requires_grad


def test_trying_the_inputs_leaves_a_model_in_a_closure_alone() -> None:
    torch = pytest.importorskip("torch")
    sys.path.insert(0, str(BENCHMARKS))
    try:
        models = load("share_models")
    finally:
        sys.path.remove(str(BENCHMARKS))
    norm = torch.nn.BatchNorm1d(3)
    assert models._runs(lambda x: norm(x), [torch.ones(2, 3)])
    assert norm.num_batches_tracked == 0

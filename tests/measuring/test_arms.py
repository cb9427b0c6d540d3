"""Worker processes: what one arm did comes back, also when it crashed, hung or would not stop printing."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compilefix.measuring.process import run_arm  # noqa: E402
from compilefix.measuring.request import ArmResult, NewModule, Options, Overlay, WorkerRequest  # noqa: E402

Run = Callable[..., ArmResult]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def start(source: str, compiled: bool = False, **settings: Any) -> ArmResult:
        file = tmp_path / "model_under_test.py"
        file.write_text(textwrap.dedent(source), encoding="utf-8")
        overlay = settings.pop("overlay", Overlay())
        boundary = settings.pop("boundary", None)
        options = Options(**{"device": "cpu", "backend": "eager", "repeats": 0, "timeout_s": 60.0, **settings})
        request = WorkerRequest(
            "arm", "observe", compiled, f"{file}:work", options, tmp_path / "arm", overlay, boundary=boundary
        )
        assert WorkerRequest.from_json(request.to_json()) == request
        return run_arm(request, tmp_path / "cache", lambda message: None)

    return start


def records(result: ArmResult) -> list[dict[str, Any]]:
    assert result.error is None, result.error
    assert result.observations is not None
    found: list[dict[str, Any]] = torch.load(result.observations, weights_only=True)
    return found


def test_breaks_are_told_by_unique_source_site(run: Run, tmp_path: Path) -> None:
    found = run(
        """
        import torch

        def inner(x):
            print("inner")
            return x + 1

        def middle(x):
            return inner(x) * 2

        def outer(x):
            y = middle(x)
            if y.sum() > 0:
                y = y - 1
            return y

        def work():
            return outer, [(torch.ones(3),), (-9 * torch.ones(3),)]
        """,
        compiled=True,
    )
    assert found.error is None
    path = str(tmp_path / "model_under_test.py")
    assert [(site.path, site.line, site.function) for site in found.break_sites] == [
        (path, 5, "inner"),
        (path, 13, "outer"),
    ]
    assert [site.source for site in found.break_sites] == ['print("inner")', "if y.sum() > 0:"]
    assert found.graphs_per_call > 1
    registry = Path(torch.__file__).parent / "_dynamo" / "graph_break_registry.json"
    if registry.exists() and '"Data-dependent branching"' in registry.read_text(encoding="utf-8"):
        assert found.break_sites[1].gb == "GB0170"


def test_a_break_in_a_loop_is_seen_with_the_function_that_was_skipped(run: Run) -> None:
    found = run(
        """
        import torch

        def looped(x):
            for _ in range(3):
                x = x + 1
                print("step")
            return x

        def work():
            return looped, (torch.ones(3),)
        """,
        compiled=True,
    )
    assert [site.line for site in found.break_sites] == [7]
    assert [(frame.function, frame.line) for frame in found.skipped_frames] == [("looped", 4)]
    assert found.graphs_per_call == 0


def test_recompiles_are_told_with_their_reason(run: Run) -> None:
    found = run(
        """
        import torch

        def scaled(x, factor):
            return x * (2 if factor == "a" else 3)

        def work():
            return scaled, [(torch.ones(3), "a"), (torch.ones(3), "b")]
        """,
        compiled=True,
    )
    assert [(event.function, event.count) for event in found.recompiles] == [("scaled", 1)]
    assert "factor" in found.recompiles[0].reason
    assert found.graphs_per_call == 1
    assert found.break_sites == ()


def test_everything_that_a_call_does_is_recorded(run: Run) -> None:
    found = records(
        run(
            """
            import logging, sys, warnings
            import torch

            class Model(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.used = torch.nn.Linear(2, 2)
                    self.idle = torch.nn.Linear(2, 2)
                    self.register_buffer("seen", torch.zeros(()))
                    self.steps = 0

                def forward(self, x):
                    print("in", end="\\n")
                    logging.getLogger("app").warning("step %d", self.steps)
                    warnings.warn("old style", DeprecationWarning, stacklevel=2)
                    self.steps += 1
                    self.seen += 1
                    x.mul_(2)
                    if self.steps == 2:
                        raise ValueError("second call")
                    return self.used(x)

            def work():
                torch.manual_seed(0)
                return Model(), (torch.ones(1, 2),)
            """,
            calls=3,
        )
    )
    first, second, third = found
    assert first["outputs"]["kind"] == "tensor"
    assert first["gradients"]["used.weight"]["kind"] == "tensor"
    assert first["gradients"]["idle.weight"] == {"kind": "scalar", "type": "NoneType", "value": None}
    assert first["state"]["steps"]["value"] == 1
    assert float(third["state"]["seen"]["tensor"]) == 3.0
    assert first["inputs"]["args[0]"]["tensor"].tolist() == [[2.0, 2.0]]
    assert first["text"]["stdout"] == "in\n"
    assert first["text"]["records"] == [
        ["WARNING", "app", "step 0", 1],
        ["warning", "DeprecationWarning", "old style", 1],
    ]
    assert second["exception"] == {"type": "ValueError", "text": "second call", "phase": "call"}
    assert third["exception"] is None


def test_what_torch_prints_of_a_graph_that_raised_is_not_taken_for_the_programs_words(run: Run) -> None:
    found = run(
        """
        import sys

        import torch

        def picked(x, index):
            print("the program's own", file=sys.stderr)
            return x.gather(0, index)

        def work():
            return picked, [(torch.ones(3), torch.tensor([7]))]
        """,
        compiled=True,
    )
    call = records(found)[0]
    assert "out of bounds" in call["exception"]["text"]
    assert call["text"]["stderr"] == "the program's own\n"


def test_a_training_step_that_runs_its_own_backward_is_left_to_it(run: Run) -> None:
    found = run(
        """
        import torch
        torch.manual_seed(0)
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        def work():
            return step, (torch.ones(1, 2),)
        """
    )
    assert found.trains == "own"
    assert all(record["exception"] is None for record in records(found))
    assert "model.weight" in records(found)[1]["state"]


def test_an_overlay_is_what_the_arm_sees(run: Run, tmp_path: Path) -> None:
    source = "import torch\ndef double(x): return x * 2\ndef work(): return double, (torch.ones(1),)\n"
    changed = (
        "import torch, extra\ndef double(x): return x * extra.FACTOR\ndef work(): return double, (torch.ones(1),)\n"
    )
    overlay = Overlay(
        ((tmp_path / "model_under_test.py", changed),), (NewModule("extra", tmp_path / "extra.py", "FACTOR = 7\n"),)
    )
    assert float(records(run(source))[0]["outputs"]["tensor"]) == 2.0
    assert float(records(run(source, overlay=overlay))[0]["outputs"]["tensor"]) == 7.0
    assert (tmp_path / "model_under_test.py").read_text(encoding="utf-8") == source


def test_the_boundary_helper_wraps_the_compiled_callable(run: Run, tmp_path: Path) -> None:
    helper = textwrap.dedent(
        """
        def boundary(call):
            def wrapped(*args):
                out = call(*args)
                print("after the graph")
                return out
            return wrapped
        """
    )
    overlay = Overlay((), (NewModule("effects_helper", tmp_path / "effects_helper.py", helper),))
    source = "import torch\ndef double(x): return x * 2\ndef work(): return double, (torch.ones(1),)\n"
    found = run(source, compiled=True, overlay=overlay, boundary="effects_helper")
    assert records(found)[0]["text"]["stdout"] == "after the graph\n"
    assert (found.break_sites, found.graphs_per_call) == ((), 1)


def test_an_eager_arm_stays_eager_where_the_program_compiles_itself(run: Run) -> None:
    found = run(
        """
        import torch

        @torch.compile(backend="eager")
        def compiled(x):
            return x + torch.compiler.is_compiling()

        def work():
            return compiled, (torch.zeros(1),)
        """
    )
    assert float(records(found)[0]["outputs"]["tensor"]) == 0.0


def test_a_workload_that_cannot_be_loaded_is_named_as_such(run: Run) -> None:
    found = run("def work(): return 1\n")
    assert found.error_kind == "workload"
    assert found.error is not None
    assert "must return (callable, inputs)" in found.error


def test_a_workload_that_takes_compile_compiles_what_it_wants(run: Run) -> None:
    source = """
        import torch

        def inner(x):
            return x + torch.compiler.is_compiling()

        def work(compile):
            fast = compile(inner)
            def outer(x):
                y = fast(x)
                print("outside of the graph")
                return y
            return outer, (torch.zeros(1),)
        """
    found = run(source, compiled=True)
    assert (found.break_sites, found.graphs_per_call) == ((), 1)
    assert float(records(found)[0]["outputs"]["tensor"]) == 1.0
    assert float(records(run(source))[0]["outputs"]["tensor"]) == 0.0

"""The shipped models: they run, they really break where the README says, and the hand-fixed twins do not."""

from __future__ import annotations

import ast
import importlib.util
import linecache
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the workloads need torch")
pytest.importorskip("numpy", reason="the workloads need NumPy")

from torch.overrides import TorchFunctionMode  # noqa: E402

from compilefix.codemods.assumptions import ASSUMPTIONS  # noqa: E402

MODELS = Path(__file__).parents[2] / "fixtures" / "models"
BENCHMARKED = Path(__file__).parents[2] / "benchmarks" / "hand_fixed"
ALLOWED_IMPORTS = {"__future__", "dataclasses", "logging", "math", "numpy", "torch"}

# The source lines that break, as Dynamo of torch 2.13 locates them.
BREAKING_LINES = {
    "transformer": {
        "if torch.isinf(x).any() or torch.isnan(x).any():",
        "scale = self.log_scale.detach().exp().item()",
        'logger.info("block %d norm %.1f", self.index, x.norm().item())',
    },
    "cnn_aux": {
        "gain = 0.5 if x.abs().max() > self.limit else 1.0",
        "if logits.abs().max() > self.cap:",
        "max_value = 255.0 if images.max() > 1.0 else 1.0",
        "mean, peak = x.mean().item(), x.max().item()",
        'print(f"epoch {self.epoch}: features mean {mean:.3f} max {peak:.3f}")',
        "x = x.reshape(x.shape[0], int(np.prod(x.shape[1:])))",
    },
    "moe": {
        "if h.abs().max() > self.limit:",
        "temperature = max(self.log_temperature.detach().exp().item(), 1.0)",
        "if load.max() > self.config.load_cap:",
        "excess = load.max().item() * self.config.experts",
        "mixed = mixed / (1.0 + float(mixed.detach().abs().mean()))",
        'logger.info("layer %d balance %.3f", self.index, balance.sum().item())',
    },
    "detection_head": {
        "deltas = self.box(x).reshape(x.shape[0], 4, int(np.prod(x.shape[2:]))).transpose(1, 2)",
        "if torch.isnan(boxes).any():",
        "boxes = boxes.clamp(min=0, max=sizes.max().item())",
        "if scores.max() > 1.0:",
        'logger.info("boxes %d best score %.1f", all_boxes.shape[1], all_scores.max().item())',
    },
    "training_step": {
        "rms = x.detach().pow(2).mean().sqrt().item()",
        "loss = loss * 0.125 if loss > self.config.loss_limit else loss",
        "if batch.abs().max() > self.config.outlier:",
        'logger.info("loss %.3f", loss.item())',
    },
}
NAMES = sorted(BREAKING_LINES)


def load(path: Path, function: str) -> Callable[[str], tuple[Any, list[tuple[Any, ...]]]]:
    """Import ``path`` under a name of its own and return one of its functions."""
    name = f"shipped_{function}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return getattr(module, function)  # type: ignore[no-any-return]


def as_written(name: str, device: str = "cpu") -> tuple[Any, list[tuple[Any, ...]]]:
    return load(MODELS / f"{name}.py", "workload")(device)


def hand_fixed(name: str, device: str = "cpu") -> tuple[Any, list[tuple[Any, ...]]]:
    return load(MODELS / "hand_fixed" / f"{name}.py", "hand_fixed")(device)


def tensors(value: Any) -> list[Any]:
    """All tensors in nested tuples and lists, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for part in value for tensor in tensors(part)]


def run_with_gradients(model: Any, inputs: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
    model.zero_grad(set_to_none=True)
    outputs = tensors(model(*inputs))
    torch.stack([output.float().sum() for output in outputs]).sum().backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    return [output.detach() for output in outputs], gradients


def shapes(inputs: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    return [(tensor.shape, tensor.dtype) for tensor in tensors(inputs)]


class Decisions(TorchFunctionMode):  # type: ignore[misc]
    """Records, per line of one file, which truth values tensors took there."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = str(path)
        self.by_line: dict[int, set[bool]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is torch.Tensor.__bool__:
            frame = sys._getframe(1)
            while frame.f_code.co_filename != self.path and frame.f_back is not None:
                frame = frame.f_back
            self.by_line.setdefault(frame.f_lineno, set()).add(result)
        return result


class GraphCounter:
    """A backend that runs graphs as they are and counts how often one runs."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, graph: Any, example_inputs: Any) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            self.runs += 1
            return graph(*args)

        return run


@pytest.fixture
def dynamo() -> Iterator[Any]:
    """Dynamo without anything left over from other tests, and with nothing left behind."""
    module = pytest.importorskip("torch._dynamo", reason="needs torch.compile")
    module.reset()
    module.utils.counters.clear()
    yield module
    module.reset()
    module.utils.counters.clear()


def graphs_per_call(model: Any, inputs: list[tuple[Any, ...]]) -> list[int]:
    """Graphs run for each input set once everything is compiled."""
    counter = GraphCounter()
    compiled = torch.compile(model, backend=counter)
    runs = []
    with torch.no_grad():
        for one in inputs:
            compiled(*one)
        for one in inputs:
            before = counter.runs
            compiled(*one)
            runs.append(counter.runs - before)
    return runs


def test_every_model_is_covered() -> None:
    assert sorted(path.stem for path in MODELS.glob("*.py")) == NAMES
    assert sorted(path.stem for path in (MODELS / "hand_fixed").glob("*.py")) == NAMES
    readme = (MODELS / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}.py`" in readme for name in NAMES)


@pytest.mark.parametrize("path", sorted(MODELS.rglob("*.py")), ids=lambda path: str(path.relative_to(MODELS)))
def test_is_self_contained(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add((node.module or "").partition(".")[0])
    assert imported <= ALLOWED_IMPORTS


def test_the_assumptions_allowed_here_exist() -> None:
    tomllib = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
    config = tomllib.loads((MODELS / "pyproject.toml").read_text(encoding="utf-8"))
    assumed = config["tool"]["compilefix"]["assume"]
    assert "log-late" in assumed
    assert set(assumed) <= set(ASSUMPTIONS)


@pytest.mark.parametrize("name", NAMES)
def test_inputs_have_one_shape_and_reach_both_sides(name: str) -> None:
    path = MODELS / f"{name}.py"
    model, inputs = as_written(name)
    assert 2 <= len(inputs) <= 3
    assert all(shapes(one) == shapes(inputs[0]) for one in inputs)

    with Decisions(path) as decisions, torch.no_grad():
        for one in inputs:
            model(*one)

    reached = {linecache.getline(str(path), line).strip(): sides for line, sides in decisions.by_line.items()}
    conditions = {line for line in BREAKING_LINES[name] if line.startswith("if ") or " if " in line}
    assert set(reached) == conditions
    assert all(sides == {True, False} for sides in reached.values()), reached


@pytest.mark.parametrize("name", NAMES)
def test_hand_fixed_has_the_same_outputs_and_gradients(name: str) -> None:
    model, inputs = as_written(name)
    twin, twin_inputs = hand_fixed(name)
    state, twin_state = model.state_dict(), twin.state_dict()
    assert list(state) == list(twin_state)
    assert all(torch.equal(state[key], twin_state[key]) for key in state)

    for one, same in zip(inputs, twin_inputs, strict=True):
        torch.testing.assert_close(same, one, rtol=0, atol=0, equal_nan=True)
        outputs, gradients = run_with_gradients(model, one)
        twin_outputs, twin_gradients = run_with_gradients(twin, same)
        assert all(torch.isfinite(output).all() for output in outputs)
        torch.testing.assert_close(twin_outputs, outputs, rtol=1e-5, atol=1e-5)
        assert {key for key, value in gradients.items() if value is None} == {
            key for key, value in twin_gradients.items() if value is None
        }
        for key, gradient in gradients.items():
            if gradient is not None:
                # Relative to the largest entry: a small entry next to large ones carries their rounding.
                scale = max(1.0, float(gradient.abs().max()))
                torch.testing.assert_close(twin_gradients[key] / scale, gradient / scale, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_hand_fixed_is_one_graph(name: str, dynamo: Any) -> None:
    model, inputs = hand_fixed(name)
    assert graphs_per_call(model, inputs) == [1] * len(inputs)
    assert not dynamo.utils.counters["graph_break"]
    assert not dynamo.utils.counters["unimplemented"]


@pytest.mark.parametrize("name", NAMES)
def test_the_benchmarked_hand_fix_keeps_values_and_text_and_is_one_graph(
    name: str, dynamo: Any, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    model, inputs = as_written(name)
    counter = GraphCounter()
    make = load(BENCHMARKED / f"{name}.py", "workload")
    fixed, same_inputs = make("cpu", compile=lambda call: torch.compile(call, backend=counter))  # type: ignore[call-arg]
    caplog.set_level("INFO", logger=f"models.{name}")

    def said() -> tuple[list[str], str]:
        found = [record.getMessage() for record in caplog.records], capsys.readouterr().out
        caplog.clear()
        return found

    for one, other in zip(inputs, same_inputs, strict=True):
        expected, expected_text = tensors(model(*one)), said()
        before = counter.runs
        actual, text = tensors(fixed(*other)), said()
        torch.testing.assert_close(actual, expected, equal_nan=True)
        assert text == expected_text
        assert any(text)
        assert counter.runs == before + 1


@pytest.mark.parametrize("name", NAMES)
def test_breaks_as_written_where_the_table_says(name: str, dynamo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    symbolic_convert = pytest.importorskip("torch._dynamo.symbolic_convert")
    translator = symbolic_convert.InstructionTranslatorBase
    record = getattr(translator, "log_graph_break", None)
    if record is None:
        pytest.skip("this torch has no InstructionTranslatorBase.log_graph_break to locate breaks with")
    path = str(MODELS / f"{name}.py")
    lines = set()

    def recording(self: Any, *args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            own = [frame for frame in getattr(value, "real_stack", None) or () if frame.filename == path]
            if own:
                lines.add(linecache.getline(path, own[-1].lineno).strip())
        return record(self, *args, **kwargs)

    monkeypatch.setattr(translator, "log_graph_break", recording)
    model, inputs = as_written(name)
    runs = graphs_per_call(model, inputs)

    assert min(runs) > 1
    assert lines == BREAKING_LINES[name]


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_hand_fixed_has_the_same_outputs_on_a_gpu(name: str) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    model, inputs = as_written(name, "cuda")
    twin, _ = hand_fixed(name, "cuda")
    for one in inputs:
        with torch.no_grad():
            outputs, twin_outputs = tensors(model(*one)), tensors(twin(*one))
        # float16 has 11 bits, and TF32 convolutions as many.
        torch.testing.assert_close(twin_outputs, outputs, rtol=2e-3, atol=2e-3)

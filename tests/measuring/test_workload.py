from __future__ import annotations

import textwrap
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from compilefix.measuring.request import WorkloadError, split_spec  # noqa: E402
from compilefix.measuring.state import ProgramState, state_keys  # noqa: E402
from compilefix.measuring.workload import InputSet, checkpointed, load, modules_of  # noqa: E402

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.setattr("sys.path", __import__("sys").path[:])

    def make(source: str) -> Path:
        path = tmp_path / f"workload_{uuid.uuid4().hex}.py"
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return path

    return make


@pytest.mark.parametrize("spec", ["", "model.py", ":main", "model.py:", "model.py:a-b", "not a module:main"])
def test_a_spec_of_another_form_is_refused(spec: str) -> None:
    with pytest.raises(WorkloadError, match="is no workload"):
        split_spec(spec)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", "has no function 'work'"),
        ("def work(): return 3", r"must return \(callable, inputs\), not a int"),
        ("def work(): return (3, ())", "not a tuple of 2: .int, tuple."),
        ("def work(): return (print, 3)", "an input set is a tuple of arguments or a dict"),
        ("def work(): return (print, [])", "no input set"),
        ("def work(): raise KeyError('weights')", "raised KeyError: 'weights'"),
        ("def work(:", "SyntaxError"),
        ("import a_module_that_is_not_there", "a_module_that_is_not_there"),
    ],
)
def test_a_wrong_workload_is_named(write: Write, source: str, message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        load(f"{write(source)}:work", torch.device("cpu"))


def test_a_missing_file_and_a_missing_module_are_named() -> None:
    with pytest.raises(WorkloadError, match=r"no file nowhere\.py"):
        load("nowhere.py:work", torch.device("cpu"))
    with pytest.raises(WorkloadError, match="no module 'nowhere_at_all'"):
        load("nowhere_at_all:work", torch.device("cpu"))


def test_inputs_come_as_args_kwargs_or_a_list_and_the_device_is_given(write: Write) -> None:
    path = write(
        """
        def work(device):
            return (lambda *args, **kwargs: str(device)), [(1, 2), {"x": 3}]
        """
    )
    found = load(f"{path}:work", torch.device("cpu"))
    assert found.input_sets == (InputSet((1, 2), {}), InputSet((), {"x": 3}))
    assert found.target() == "cpu"


def test_modules_and_tensors_are_moved_when_the_function_takes_no_device(write: Write) -> None:
    path = write(
        """
        import torch
        def work():
            return torch.nn.Linear(2, 2), {"input": torch.ones(1, 2, requires_grad=True)}
        """
    )
    found = load(f"{path}:work", torch.device("meta"))
    assert found.target.weight.device.type == "meta"
    moved = found.input_sets[0].kwargs["input"]
    assert moved.device.type == "meta"
    assert moved.requires_grad
    assert moved.is_leaf


def test_a_copy_shares_nothing_with_the_original_but_keeps_what_is_shared_inside() -> None:
    base = torch.arange(6.0)
    inputs = InputSet((base, base[2:], [base]), {})
    copy = inputs.copy()
    copy.args[0][3] = 99.0
    assert copy.args[1][1] == 99.0
    assert copy.args[2][0] is copy.args[0]
    assert base[3] == 3.0


def test_modules_are_found_in_closures_methods_and_globals() -> None:
    layer = torch.nn.Linear(1, 1)

    def closed(x: object) -> object:
        return layer(x)

    assert list(modules_of(closed)) == ["layer"]
    assert list(modules_of(layer.forward)) == ["self"]
    assert list(modules_of(torch.nn.Sequential(layer))) == [""]


class Trainer:
    def __init__(self, layer: torch.nn.Module, compiled: bool) -> None:
        self.run = torch.compile(layer) if compiled else layer
        self.model = layer

    def step(self, x: torch.Tensor) -> object:
        return self.run(x)


def test_a_program_has_the_same_names_compiled_and_not() -> None:
    layer = torch.nn.Linear(2, 2)
    plain, compiled = Trainer(layer, compiled=False).step, Trainer(layer, compiled=True).step
    assert modules_of(compiled) == modules_of(plain) == {"self.run": layer}
    names = [[slot.name for slot in ProgramState(target).slots()] for target in (plain, compiled)]
    assert names[0] == names[1]
    assert "self.run.weight" in names[0]


def test_a_checkpoint_has_the_keys_of_compiled_code_where_a_program_holds_nothing_else() -> None:
    layer = torch.nn.Linear(2, 2, bias=False)
    both, alone = Trainer(layer, compiled=True), Trainer(layer, compiled=True)
    alone.model = alone.run
    assert state_keys(checkpointed(both.step)) == ["self.run.weight: (2, 2) torch.float32"]
    assert state_keys(checkpointed(alone.step)) == ["self.run._orig_mod.weight: (2, 2) torch.float32"]

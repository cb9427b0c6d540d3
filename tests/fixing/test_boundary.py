"""The helper module at run time, and how a run adds it to a project."""

from __future__ import annotations

import ast
import contextlib
import copy
import importlib.util
import io
import itertools
import logging
import os
import re
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from compilefix.codemods import registry
from compilefix.codemods.host_effects.print_in_graph import PrintInGraph
from compilefix.fixing.boundary import helper_text
from compilefix.fixing.engine import Outcome, run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile, read
from compilefix.source.writing import write

torch = pytest.importorskip("torch")
testing = pytest.importorskip("torch._dynamo.testing")

_numbers = itertools.count()


@pytest.fixture
def helper(tmp_path: Path) -> Iterator[ModuleType]:
    """The helper module, under a name of its own: Dynamo remembers modules by name."""
    yield from loaded(helper_text(), tmp_path)


@pytest.fixture
def helper_of_a_device(tmp_path: Path) -> Iterator[ModuleType]:
    """The helper, which treats numbers on the CPU as if reading them meant to wait for a device."""
    text = helper_text()
    assert text.count("value.is_cpu or ") == 1
    yield from loaded(text.replace("value.is_cpu or ", ""), tmp_path)


def loaded(text: str, folder: Path) -> Iterator[ModuleType]:
    name = f"boundary_helper_{next(_numbers)}"
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    yield module
    torch._dynamo.reset()
    del sys.modules[name]


class Records(logging.Handler):
    """Prints what a record holds, so that records and prints end up in one stream."""

    def handle(self, record: logging.LogRecord) -> bool:
        print(record.levelname, record.funcName, record.getMessage())
        return True


@pytest.fixture
def logger() -> logging.Logger:
    log = logging.getLogger(f"compilefix.test.{next(_numbers)}")
    log.addHandler(Records())
    log.setLevel(logging.INFO)
    log.propagate = False
    return log


def printed(function: Callable[..., Any], *args: Any) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as stream, contextlib.suppress(ValueError):
        function(*args)
    return stream.getvalue()


def model(helper: ModuleType, logger: logging.Logger) -> tuple[Any, Any]:
    """The same nested module with plain and with deferred effects, and the same weights."""
    emit = helper.emit

    class Plain(torch.nn.Module):
        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index
            self.linear = torch.nn.Linear(3, 3)
            self.inner = Plain(index - 1) if index else None

        def forward(self, x: Any, fail: bool = False) -> Any:
            x = self.linear(x)
            print(f"{self.index} mean {x.mean().item():.4f}", x.shape)
            x = self.inner(x, fail) if self.inner is not None else x
            logger.info("%d after %.3f", self.index, x[0, 0].item())
            x = x * 1.0
            print("before", x.detach())
            x.mul_(2.0)
            if fail and self.index == 1:
                raise ValueError("as asked")
            return x

    class Deferred(Plain):
        def __init__(self, index: int) -> None:
            super().__init__(index)
            self.inner = Deferred(index - 1) if index else None

        def forward(self, x: Any, fail: bool = False) -> Any:
            x = self.linear(x)
            emit(lambda i, m, s: print(f"{i} mean {m.item():.4f}", s), self.index, x.mean(), x.shape)
            x = self.inner(x, fail) if self.inner is not None else x
            emit(lambda i, first, log=logger: log.info("%d after %.3f", i, first.item()), self.index, x[0, 0])
            x = x * 1.0
            emit(lambda x: print("before", x), x.detach())
            x.mul_(2.0)
            if fail and self.index == 1:
                raise ValueError("as asked")
            return x

    plain, deferred = Plain(2), Deferred(2)
    deferred.load_state_dict(plain.state_dict())
    return plain, deferred


SEEN: dict[int, list[tuple[int, float]]] = {}
INPUTS = [torch.full((2, 3), float(n)) for n in range(10)]


def test_the_helper_is_short_enough_to_be_read() -> None:
    """It comes into the user's package: less than 150 lines."""
    assert len(helper_text().splitlines()) < 150


def test_without_a_boundary_it_acts_at_once(helper: ModuleType, logger: logging.Logger) -> None:
    plain, deferred = model(helper, logger)
    for x in INPUTS[:2]:
        assert printed(deferred, x) == printed(plain, x) != ""


def test_numbers_that_are_read_together_are_each_its_own(helper_of_a_device: ModuleType) -> None:
    emit, kept = helper_of_a_device.emit, []

    def program(x: Any) -> Any:
        for index in range(4):
            x = x + 1.0
            emit(lambda i, m: print(i, m.item(), m), index, x.sum())
            emit(lambda i: ValueError(f"far at {i}"), index, raise_if=x.max() > 4.0)
            emit(lambda n, low: print(n.item(), n.dtype, low.item(), low), x.sum().to(torch.int64), x.min().half())
        emit(lambda x, y: kept.extend([x, y]), x[:1, :1], x[0, 0])
        return x

    expected = printed(program, INPUTS[0])
    assert expected.splitlines()[:2] == ["0 6.0 tensor(6.)", "6 torch.int64 1.0 tensor(1., dtype=torch.float16)"]
    counter = testing.CompileCounter()
    compiled = helper_of_a_device.boundary(torch.compile(program, backend=counter))
    for _ in range(3):
        kept.clear()  # a graph is for one length of it
        assert printed(compiled, INPUTS[0]) == expected
    assert counter.frame_count == 1
    for one in kept:
        one.fill_(7.0)
        assert one.item() == 7.0, "what an effect has kept reads its own value again"
    for x in (INPUTS[1], INPUTS[2]):
        with pytest.raises(ValueError, match="far at 3" if x is INPUTS[1] else "far at 2"):
            compiled(x)


def test_one_graph_gives_one_tensor_for_each_kind_of_number(helper_of_a_device: ModuleType) -> None:
    emit, outputs = helper_of_a_device.emit, []

    def counted(graph: Any, _: Any) -> Any:
        (results,) = (node.args[0] for node in graph.graph.nodes if node.op == "output")
        outputs.append(len(results))
        return graph

    def program(x: Any) -> Any:
        for index in range(5):
            emit(lambda i, m, n: print(i, m.item(), n.item()), index, x.sum(), x.max())
            emit(lambda: ValueError("negative"), raise_if=x.min() < 0)
            emit(lambda n: print(n.item()), x.sum().long())
            x = x + 1.0
        return x

    compiled = helper_of_a_device.boundary(torch.compile(program, backend=counted))
    assert printed(compiled, INPUTS[1]) == printed(program, INPUTS[1]) != ""
    assert outputs == [3], "the result, all float32 numbers with the flags of the checks, all int64 numbers"


@pytest.mark.parametrize("count", [1, 31, 32, 70])
def test_a_graph_may_have_more_numbers_than_a_tensor_takes(helper_of_a_device: ModuleType, count: int) -> None:
    emit, outputs = helper_of_a_device.emit, []

    def counted(graph: Any, _: Any) -> Any:
        (results,) = (node.args[0] for node in graph.graph.nodes if node.op == "output")
        outputs.append(len(results))
        return graph

    def program(x: Any) -> Any:
        for index in range(count):
            emit(lambda i, m: print(i, m.item()), index, x.sum() + index)
        emit(
            lambda *given: ValueError(f"{given} at the end"), *[x.max() + n for n in range(count)], raise_if=x.max() < 0
        )
        return x + 1.0

    compiled = helper_of_a_device.boundary(torch.compile(program, backend=counted))
    assert printed(compiled, INPUTS[1]) == printed(program, INPUTS[1]) != ""
    assert outputs == [1 + -(-(2 * count + 1) // 64)], "the result, and tensors of 64 numbers"
    texts = []
    for called in (program, compiled):
        with pytest.raises(ValueError, match="at the end") as raised, contextlib.redirect_stdout(io.StringIO()):
            called(-INPUTS[1])
        texts.append(str(raised.value))
    assert texts[0] == texts[1]


def test_an_inner_boundary_that_is_traced_loses_nothing(helper_of_a_device: ModuleType) -> None:
    """Both calls of the inner function are in one graph, and each of them carries out what it noted."""
    emit, kept = helper_of_a_device.emit, []

    def inner(x: Any) -> Any:
        emit(lambda a, b: kept.append((a, b)), x.sum(), x.size(0))
        return x + 1

    bounded = helper_of_a_device.boundary(inner)

    def outer(x: Any) -> Any:
        return bounded(bounded(x))

    compiled = torch.compile(outer, backend="eager")
    for x in INPUTS[:3]:
        kept.clear()
        compiled(x)
        assert [(float(a), b) for a, b in kept] == [(float(x.sum()), 2), (float((x + 1).sum()), 2)]


def test_one_graph_for_all_calls_and_the_text_of_eager(helper: ModuleType, logger: logging.Logger) -> None:
    plain, deferred = model(helper, logger)
    counter = testing.CompileCounter()
    compiled = helper.boundary(torch.compile(deferred, backend=counter))
    for x in INPUTS:
        assert printed(compiled, x) == printed(plain, x)
    assert counter.frame_count == 1
    assert not torch._dynamo.utils.counters["graph_break"]


def test_sizes_that_change_do_not_add_graphs_of_their_own(helper: ModuleType, logger: logging.Logger) -> None:
    plain, deferred = model(helper, logger)
    counter = testing.CompileCounter()
    compiled = helper.boundary(torch.compile(deferred, backend=counter))
    for rows in (2, 3, 4, 5, 6, 7):
        assert printed(compiled, torch.ones(rows, 3)) == printed(plain, torch.ones(rows, 3))
    assert counter.frame_count == 2, "one for the first size and one for all"


def test_notes_add_no_recompile_where_a_graph_break_is_left(helper: ModuleType) -> None:
    """Neither how much was noted before the break nor the integers in it may decide whether a graph fits."""
    emit = helper.emit

    class Block(torch.nn.Module):
        def __init__(self, noisy: bool) -> None:
            super().__init__()
            self.noisy = noisy

        def forward(self, x: Any) -> Any:
            if self.noisy:
                emit(lambda rows: print("rows", rows), x.size(0))
            x = x + 1
            torch._dynamo.graph_break()
            if self.noisy:
                emit(lambda twice, total: print(twice, total.item()), x.size(0) * 2, x.sum())
            return x * 2

    graphs: dict[bool, int] = {}
    for noisy in (False, True):
        torch._dynamo.reset()
        blocks = torch.nn.Sequential(*[Block(noisy) for _ in range(4)])
        counter = testing.CompileCounter()
        compiled = helper.boundary(torch.compile(blocks, backend=counter))
        for rows in (2, 3, 5, 7, 9, 4):
            x = torch.ones(rows, 3)
            assert printed(compiled, x) == printed(blocks, x)
        graphs[noisy] = counter.frame_count
    assert graphs[True] == graphs[False]


def test_what_was_noted_before_an_exception_is_carried_out(helper: ModuleType, logger: logging.Logger) -> None:
    plain, deferred = model(helper, logger)
    compiled = helper.boundary(torch.compile(deferred, backend="eager"))
    for fail in (False, True, True, False):
        assert printed(compiled, INPUTS[1], fail) == printed(plain, INPUTS[1], fail)
    with pytest.raises(ValueError, match="as asked"), contextlib.redirect_stdout(io.StringIO()):
        compiled(INPUTS[1], True)


def test_order_is_kept_round_a_graph_break(helper: ModuleType) -> None:
    emit = helper.emit

    def broken(x: Any) -> Any:
        emit(lambda v: print("first", v.item()), x.sum())
        torch._dynamo.graph_break()
        emit(lambda v: print("second", v.item()), (x + 1).sum())
        return x

    compiled = helper.boundary(torch.compile(broken, backend="eager"))
    for x in INPUTS[:3]:
        assert printed(compiled, x) == printed(broken, x)


def test_a_container_is_shown_as_it_was(helper: ModuleType) -> None:
    emit = helper.emit

    def grows(x: Any) -> Any:
        items = [1, {"a": x.sum().detach()}]
        emit(lambda i: print(i), items)
        items.append(2)
        items[1]["b"] = 3
        emit(lambda i: print(i), items)
        return x * 2

    compiled = helper.boundary(torch.compile(grows, backend="eager", fullgraph=True))
    assert printed(compiled, INPUTS[2]) == printed(grows, INPUTS[2])


def test_training_gives_the_same_text_and_gradients(helper: ModuleType, logger: logging.Logger) -> None:
    plain, deferred = model(helper, logger)
    counter = testing.CompileCounter()
    compiled = helper.boundary(torch.compile(deferred, backend=counter))

    def step(called: Any, owner: Any, x: Any) -> list[Any]:
        owner.zero_grad()
        called(x).square().sum().backward()
        return [p.grad.clone() for p in owner.parameters()]

    for x in INPUTS[:4]:
        assert printed(step, compiled, deferred, x) == printed(step, plain, plain, x)
        for ours, theirs in zip(deferred.parameters(), plain.parameters(), strict=True):
            assert torch.equal(ours.grad, theirs.grad)
    assert counter.frame_count == 1


@pytest.mark.slow
def test_with_inductor(helper: ModuleType, logger: logging.Logger) -> None:
    plain, deferred = model(helper, logger)
    compiled = helper.boundary(torch.compile(deferred))
    for x in INPUTS[1:4]:
        assert printed(compiled, x) == printed(plain, x)
        with contextlib.redirect_stdout(io.StringIO()):
            compiled(x).sum().backward()
    assert not torch._dynamo.utils.counters["graph_break"]


def test_checks_raise_in_order_and_only_where_they_fail(helper: ModuleType) -> None:
    emit = helper.emit

    def checked(x: Any) -> Any:
        emit(lambda: print("first"))
        emit(lambda: ValueError("negative"), raise_if=(x < 0).any())
        emit(lambda total: print("second", total.item()), x.sum())
        emit(lambda total: TypeError(f"large {total.item()}"), x.sum(), raise_if=x.amax().reshape(1) > 5)
        emit(lambda: print("third"))
        return x * 2

    compiled = helper.boundary(torch.compile(checked, backend="eager", fullgraph=True))
    for values in ([1.0, 2.0], [-1.0, 2.0], [1.0, 7.0], [-1.0, 7.0], [float("nan"), 1.0]):
        seen = []
        for called in (checked, compiled):
            with contextlib.redirect_stdout(io.StringIO()) as stream:
                try:
                    called(torch.tensor(values))
                    seen.append((None, stream.getvalue()))
                except (ValueError, TypeError) as error:
                    seen.append((repr(error), stream.getvalue()))
        assert seen[0] == seen[1]


def test_nothing_is_kept_longer_than_the_call(helper: ModuleType) -> None:
    emit = helper.emit

    class Held:
        pass

    kept: list[weakref.ref[Any]] = []

    def notes(x: Any) -> Any:
        held = Held()
        kept.append(weakref.ref(held))
        emit(lambda held, x: None, held, [x])
        return x

    helper.boundary(notes)(INPUTS[1])
    assert kept[0]() is None
    assert helper._noted.call is None


def test_each_thread_has_its_own_lines(helper: ModuleType) -> None:
    emit, found = helper.emit, SEEN
    found.clear()

    def noisy(x: Any, name: Any) -> Any:
        for turn in range(4):
            x = x + 1
            emit(lambda n, t, v: SEEN[int(n)].append((t, v.item())), name, turn, x.sum())
        return x

    counter = testing.CompileCounter()
    compiled = helper.boundary(torch.compile(noisy, backend=counter))
    found[0] = []
    compiled(INPUTS[0], torch.tensor(0))
    expected = found[0] * 25

    def work(name: int) -> None:
        for _ in range(25):
            compiled(INPUTS[0], torch.tensor(name))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(1, 5)]
    found.update({name: [] for name in range(1, 5)})
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[name] == expected for name in range(1, 5))
    assert counter.frame_count == 1


def test_an_inner_boundary_leaves_the_order_to_the_outer(helper: ModuleType) -> None:
    emit, boundary = helper.emit, helper.boundary
    inner = boundary(
        torch.compile(lambda x: (emit(lambda v: print("inner", v.item()), x.sum()), x * 2)[1], backend="eager")
    )

    def outer(x: Any) -> Any:
        emit(lambda v: print("before", v.item()), x.sum())
        x = inner(x)
        emit(lambda v: print("after", v.item()), x.sum())
        return x

    assert printed(boundary(outer), INPUTS[1]) == "before 6.0\ninner 6.0\nafter 12.0\n" == printed(outer, INPUTS[1])


def test_a_compiled_module_stays_the_module_that_it_is(helper: ModuleType) -> None:
    layer = torch.nn.Linear(2, 2)
    compiled = torch.compile(layer, backend="eager")
    keys = list(compiled.state_dict())
    wrapped = helper.boundary(compiled)
    assert wrapped is compiled
    assert list(wrapped.state_dict()) == keys
    assert wrapped.weight is layer.weight
    assert list(wrapped.parameters()) == list(layer.parameters())
    wrapped.eval()
    assert not layer.training
    assert helper.boundary(wrapped).forward is compiled.forward, "twice is once"
    assert torch.equal(copy.deepcopy(wrapped)(torch.ones(1, 2)), layer(torch.ones(1, 2)))


def test_the_boundary_of_a_module_compiled_in_place(helper: ModuleType, logger: logging.Logger) -> None:
    plain, deferred = model(helper, logger)
    counter = testing.CompileCounter()
    deferred.compile(backend=counter)
    assert helper.boundary(deferred) is deferred
    for x in INPUTS[:3]:
        assert printed(deferred, x) == printed(plain, x)
    assert counter.frame_count == 1


def test_a_module_that_is_not_compiled_is_left_alone(helper: ModuleType, logger: logging.Logger) -> None:
    _, deferred = model(helper, logger)
    before = dict(vars(deferred))
    assert helper.boundary(deferred) is deferred
    assert vars(deferred) == before


def test_as_a_decorator_of_a_method(helper: ModuleType) -> None:
    emit, boundary = helper.emit, helper.boundary

    class Scaler:
        @boundary
        @torch.compile(backend="eager", fullgraph=True)
        def scale(self, x: Any) -> Any:
            """Doubles."""
            emit(lambda v: print(v.item()), x.sum())
            return x * 2

    assert printed(Scaler().scale, INPUTS[1]) == "6.0\n"
    assert Scaler.scale.__doc__ == "Doubles."


def test_an_effect_that_fails_raises_like_the_call_itself(helper: ModuleType) -> None:
    emit, boundary = helper.emit, helper.boundary

    def fails(x: Any) -> Any:
        emit(lambda: print("one"))
        emit(lambda v: print(f"{v:d}"), x.sum())
        emit(lambda: print("never"))
        return x

    compiled = boundary(torch.compile(fails, backend="eager"))
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), pytest.raises(ValueError, match="format code 'd'"):
        compiled(INPUTS[1])
    assert stream.getvalue() == "one\n"
    assert printed(boundary(lambda: emit(lambda: print("again")))) == "again\n"


def project(root: Path, texts: dict[str, str]) -> list[SourceFile]:
    files: list[SourceFile] = []
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in texts:
        file = read(root / name)
        assert isinstance(file, SourceFile)
        files.append(file)
    return files


def fixed(files: list[SourceFile], root: Path, **settings: Any) -> Outcome:
    return run(files, Config(root=root, **settings), rules=[PrintInGraph], allowed=frozenset({"log-late"}))


def changes(outcome: Outcome, root: Path) -> dict[str, str]:
    return {change.path.relative_to(root).as_posix(): change.after for change in outcome.patchset}


LAYER = "import torch\n\n\ndef layer(x: torch.Tensor):\n    print(x.sum().item())\n    return x * 2\n"
CALL = "    emit(lambda x_sum: print(x_sum.item()), x.sum())\n"
PACKAGE = {
    "pkg/__init__.py": "",
    "pkg/sub/__init__.py": "",
    "pkg/sub/layer.py": LAYER,
    "pkg/quiet.py": "import torch\n\n\ndef quiet(x: torch.Tensor):\n    return x * 2\n",
    "pkg/train.py": "import torch\n\nfrom pkg.quiet import quiet\nfrom pkg.sub.layer import layer\n\n"
    "fast = torch.compile(quiet)\nstep = torch.compile(layer, dynamic=False)  # hot\n",
}


def test_helper_import_and_wrapped_call(tmp_path: Path) -> None:
    outcome = fixed(project(tmp_path, PACKAGE), tmp_path)
    assert outcome.patchset.boundary == "pkg._compile_boundary"
    new = changes(outcome, tmp_path)
    assert sorted(new) == ["pkg/_compile_boundary.py", "pkg/sub/layer.py", "pkg/train.py"]
    assert new["pkg/_compile_boundary.py"] == helper_text()
    assert "from pkg._compile_boundary import emit\n" in new["pkg/sub/layer.py"]
    assert CALL in new["pkg/sub/layer.py"]
    assert "from pkg._compile_boundary import boundary\n" in new["pkg/train.py"]
    assert (
        "fast = torch.compile(quiet)\nstep = boundary(torch.compile(layer, dynamic=False))  # hot\n"
        in new["pkg/train.py"]
    )
    created = [change for change in outcome.patchset if change.before is None]
    assert [change.module for change in created] == ["pkg._compile_boundary"]
    assert outcome.findings[0].message == "`print` breaks the graph"


@pytest.mark.parametrize(
    ("head", "place"),
    [
        ("from pkg.quiet import quiet\n", "pkg/_compile_boundary.py"),
        ("from ..quiet import quiet\n", "pkg/_compile_boundary.py"),
        ("import pkg.quiet\n", "pkg/_compile_boundary.py"),
        ("from quiet import quiet\n", "pkg/tools/_compile_boundary.py"),
        ("import pkgs\n", "pkg/tools/_compile_boundary.py"),
    ],
)
def test_a_folder_of_a_package_without_init(head: str, place: str, tmp_path: Path) -> None:
    texts = {"pkg/__init__.py": "", "pkg/quiet.py": PACKAGE["pkg/quiet.py"], "pkg/tools/layer.py": head + LAYER}
    new = changes(fixed(project(tmp_path, texts), tmp_path), tmp_path)
    assert sorted(new) == sorted([place, "pkg/tools/layer.py"])
    module = "pkg._compile_boundary" if place == "pkg/_compile_boundary.py" else "_compile_boundary"
    assert f"from {module} import emit\n" in new["pkg/tools/layer.py"]


@pytest.mark.parametrize(
    ("user", "text", "place"),
    [
        ("test_it.py", "from pkg.tools.layer import layer\n", "pkg"),
        ("pkg/model.py", "from .tools.layer import layer\n", "pkg"),
        ("pkg/sub/model.py", "from ..tools import layer\n", "pkg"),
        ("test_it.py", "from .tools import layer\n", "pkg/tools"),
        ("pkg/tools/main.py", "from layer import layer\n", "pkg/tools"),
    ],
)
def test_a_folder_without_init_that_others_import(user: str, text: str, place: str, tmp_path: Path) -> None:
    """As in esm, whose `layers` import nothing from the package: the helper beside them would not be found."""
    texts = {"pkg/__init__.py": "", "pkg/sub/__init__.py": "", "pkg/tools/layer.py": LAYER, user: text}
    assert f"{place}/_compile_boundary.py" in changes(fixed(project(tmp_path, texts), tmp_path), tmp_path)


@pytest.mark.parametrize(
    ("head", "user", "module"),
    [
        ("from pkg.quiet import quiet\n", "", "pkg"),
        ("", "from pkg.parts.tools.layer import Layer\n", "pkg"),
        ("", "import pkg.parts.tools\n", "pkg"),
        ("", "from tools.layer import Layer\n", "tools"),
        ("from .quiet import quiet\n", "", ""),
    ],
)
def test_a_package_in_such_a_folder(head: str, user: str, module: str, tmp_path: Path) -> None:
    """As in captum, where a folder has no `__init__.py`, and nothing is imported as `tools`.

    Where nobody says what the package is called from outside, it is imported from its own folder.
    """
    texts = {
        "pkg/__init__.py": "",
        "pkg/parts/tools/__init__.py": "",
        "pkg/parts/tools/layer.py": head + LAYER,
        "test_tools.py": user,
    }
    new = changes(fixed(project(tmp_path, texts), tmp_path), tmp_path)
    place = "pkg" if module == "pkg" else "pkg/parts/tools"
    assert sorted(new) == sorted([f"{place}/_compile_boundary.py", "pkg/parts/tools/layer.py"])
    assert f"from {module}._compile_boundary import emit\n" in new["pkg/parts/tools/layer.py"]


NET = """\
import torch
from torch import nn

from layers.attention import layer


class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        print("net")
        return layer(x) + 1
"""
TRAIN = """\
import torch

from models.net import Net

model = torch.compile(Net(), backend="eager")
for _ in range(2):
    model(torch.ones(3))
"""
TOGETHER = {"layers/attention.py": LAYER, "models/net.py": NET}


@pytest.mark.parametrize("inits", [("layers", "models"), ("layers",), ("models",), ()])
@pytest.mark.parametrize("compiling", ["train.py", "exp/train.py"])
def test_packages_that_run_together_share_a_helper(compiling: str, inits: tuple[str, ...], tmp_path: Path) -> None:
    """A line of another helper module would be written while Dynamo traces: the order lost, the break still there."""
    packages = [*inits, "exp"] if inits and "/" in compiling else inits
    texts = {f"{name}/__init__.py": "" for name in packages} | TOGETHER | {compiling: TRAIN}
    new = changes(fixed(project(tmp_path, texts), tmp_path), tmp_path)
    assert new.keys() - texts.keys() == {"layers/_compile_boundary.py"}
    assert "from layers._compile_boundary import emit\n" in new["layers/attention.py"]
    assert "from layers._compile_boundary import emit\n" in new["models/net.py"]
    assert "from layers._compile_boundary import boundary\n" in new[compiling]
    assert 'model = boundary(torch.compile(Net(), backend="eager"))\n' in new[compiling]


def test_the_shared_helper_writes_the_lines_of_all(tmp_path: Path) -> None:
    texts = {"layers/__init__.py": "", "models/__init__.py": "", **TOGETHER, "train.py": TRAIN}
    files = project(tmp_path, texts)
    assert run_train(tmp_path) == ("net\n3.0\n" * 2, True)
    apply(fixed(files, tmp_path), files)
    assert run_train(tmp_path) == ("net\n3.0\n" * 2, False)


def run_train(folder: Path) -> tuple[str, bool]:
    """What the script writes, and whether its graph breaks."""
    environment = {**os.environ, "TORCH_LOGS": "graph_breaks"}
    command = [sys.executable, "-W", "ignore", "train.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout, "Graph break" in done.stderr


@pytest.mark.parametrize(
    ("head", "user"),
    [
        ("from ldm.util import scaled\n", ""),
        ("", "from ldm.models.diffusion.ddim import layer\n"),
        ("", "import ldm.models.diffusion\n"),
    ],
)
def test_a_package_in_folders_without_init(head: str, user: str, tmp_path: Path) -> None:
    """As in latent-diffusion: nothing is imported as `diffusion`, though no folder round it is a package."""
    texts = {"ldm/models/diffusion/__init__.py": "", "ldm/models/diffusion/ddim.py": head + LAYER, "main.py": user}
    new = changes(fixed(project(tmp_path, {**texts, "ldm/util.py": ""}), tmp_path), tmp_path)
    assert sorted(new) == ["ldm/_compile_boundary.py", "ldm/models/diffusion/ddim.py"]
    assert "from ldm._compile_boundary import emit\n" in new["ldm/models/diffusion/ddim.py"]


def test_a_package_that_names_a_folder_beside_its_source_folder(tmp_path: Path) -> None:
    texts = {
        "src/pkg/__init__.py": "",
        "src/pkg/layer.py": "from testing import helpers\n" + LAYER,
        "testing/helpers.py": "",
    }
    assert "src/pkg/_compile_boundary.py" in changes(fixed(project(tmp_path, texts), tmp_path), tmp_path)


def test_a_script_in_a_folder_of_its_own_uses_the_helper_of_its_package(tmp_path: Path) -> None:
    step = "from pkg.layer import layer\n" + LAYER.replace("def layer", "def step").replace("x * 2", "layer(x)")
    script = step + "\n\nif __name__ == '__main__':\n    torch.compile(step)(torch.ones(2))\n"
    texts = {"pkg/__init__.py": "", "pkg/layer.py": LAYER, "scripts/train.py": script}
    new = changes(fixed(project(tmp_path, texts), tmp_path), tmp_path)
    assert sorted(new) == ["pkg/_compile_boundary.py", "pkg/layer.py", "scripts/train.py"]
    assert "from pkg._compile_boundary import boundary, emit\n" in new["scripts/train.py"]


def test_one_file_compiles_code_of_two_helpers(tmp_path: Path) -> None:
    """The call that the other helper is for stays as it is: a name cannot be of both."""
    script = "import torch\nfrom one.layer import layer\nfrom layer import layer as other\n\n"
    script += "first = torch.compile(layer)\nsecond = torch.compile(other)\nthird = torch.compile(layer)\n"
    texts = {"src/one/__init__.py": "", "src/one/layer.py": LAYER, "tools/layer.py": LAYER, "tools/play.py": script}
    after = changes(fixed(project(tmp_path, texts), tmp_path), tmp_path)["tools/play.py"]
    assert "from one._compile_boundary import boundary\n" in after
    assert "first = boundary(torch.compile(layer))\nsecond = torch.compile(other)\n" in after


def test_the_helper_of_an_earlier_run_serves_the_packages_beside_it(tmp_path: Path) -> None:
    """`models` is the package that the other one imports, but the helper stands in the other one."""
    texts = {
        "models/__init__.py": "",
        "exp/__init__.py": "",
        "models/net.py": LAYER,
        "exp/run.py": "import models.net\n" + LAYER,
    }
    files = project(tmp_path, {**texts, "exp/_compile_boundary.py": helper_text()})
    new = changes(fixed(files, tmp_path), tmp_path)
    assert sorted(new) == ["exp/run.py", "models/net.py"]
    assert "from exp._compile_boundary import emit\n" in new["models/net.py"]


def test_a_file_by_itself_uses_the_helper_of_what_it_imports(tmp_path: Path) -> None:
    texts = {"layers/_compile_boundary.py": helper_text(), **TOGETHER}
    files = project(tmp_path, texts)
    new = changes(fixed(files[2:], tmp_path), tmp_path)
    assert list(new) == ["models/net.py"]
    assert "from layers._compile_boundary import emit\n" in new["models/net.py"]


def test_what_is_compiled_elsewhere_by_a_name_that_is_not_known(tmp_path: Path) -> None:
    script = "import torch\nfrom pkg.sub import layer\nfrom elsewhere import build\n\nstep = torch.compile(build())\n"
    texts = {**PACKAGE, "scripts/train.py": script, "other/train.py": script.replace("pkg.sub", "that")}
    new = changes(fixed(project(tmp_path, texts), tmp_path), tmp_path)
    assert "from pkg._compile_boundary import boundary\n" in new["scripts/train.py"]
    assert "step = boundary(torch.compile(build()))\n" in new["scripts/train.py"]
    assert "other/train.py" not in new


MODEL = LAYER.replace("def layer", "def model")
SCRIPT = "import torch\nfrom {source} import model\n\nfast = torch.compile(model, backend='eager', fullgraph=True)\n"
SCRIPT += "fast(torch.ones(2))\nprint('end')\n"


@pytest.mark.parametrize(
    ("texts", "helper"),
    [
        pytest.param({"pkg/__init__.py": "", "pkg/model.py": MODEL}, "pkg", id="package"),
        pytest.param({"nets/model.py": MODEL}, "nets", id="folder"),
        pytest.param(
            {"nets/inner/model.py": MODEL, "nets/zoo.py": "from .inner.model import model\n"}, "nets", id="folders"
        ),
        pytest.param(
            {
                "nets/zoo.py": "from layers.inner import layer\n" + MODEL.replace("x * 2", "layer(x)"),
                "layers/inner.py": LAYER,
                "layers/outer.py": LAYER,
            },
            "layers",
            id="two folders",
        ),
    ],
)
def test_a_script_and_what_it_imports_share_one_helper(texts: dict[str, str], helper: str, tmp_path: Path) -> None:
    source = "nets.zoo" if "nets/zoo.py" in texts else f"{helper}.model"
    files = project(tmp_path, {**texts, "train.py": SCRIPT.format(source=source)})
    outcome = fixed(files, tmp_path)
    name = f"{helper}._compile_boundary"
    assert [change.module for change in outcome.patchset if change.before is None] == [name]
    new = changes(outcome, tmp_path)
    assert f"from {name} import boundary\n" in new["train.py"]
    apply(outcome, files)
    done = subprocess.run([sys.executable, tmp_path / "train.py"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "end"
    assert len(done.stdout.splitlines()) > 1


@pytest.mark.parametrize(
    ("folder", "init", "others"),
    [
        pytest.param("vits", False, {}, id="a module called like its folder"),
        pytest.param("vits", False, {"train.py": "import torch\n"}, id="and a script above"),
        pytest.param("pruned", True, {"vits/other.py": LAYER}, id="a package, and a folder called like the module"),
    ],
)
def test_scripts_that_lie_in_the_folder_of_what_they_import(
    folder: str, init: bool, others: dict[str, str], tmp_path: Path
) -> None:
    """As in icefall: `vits/train.py` imports `vits/vits.py`, and no package, nor a folder of that name elsewhere."""
    texts = {f"{folder}/vits.py": MODEL, f"{folder}/train.py": SCRIPT.format(source="vits"), **others}
    files = project(tmp_path, texts | ({f"{folder}/__init__.py": ""} if init else {}))
    outcome = fixed(files, tmp_path)
    new = changes(outcome, tmp_path)
    assert "from _compile_boundary import emit\n" in new[f"{folder}/vits.py"]
    assert f"{folder}/_compile_boundary.py" in new
    apply(outcome, files)
    done = subprocess.run([sys.executable, tmp_path / folder / "train.py"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "end"
    assert len(done.stdout.splitlines()) > 1


def test_code_of_a_package_whose_name_is_not_known_imports_the_helper_beside_it(tmp_path: Path) -> None:
    text = "from .other import f\n" + LAYER
    files = project(tmp_path, {"pkg/sub/layer.py": text, "pkg/sub/other.py": "def f():\n    return 1\n"})
    outcome = fixed(files, tmp_path)
    new = changes(outcome, tmp_path)
    assert "from ._compile_boundary import emit\n" in new["pkg/sub/layer.py"]
    script = "from pkg.sub.layer import layer, torch\nlayer(torch.ones(2))\n"
    apply(outcome, files)
    (tmp_path / "main.py").write_text(script)
    done = subprocess.run([sys.executable, tmp_path / "main.py"], capture_output=True, text=True, check=True)
    assert done.stdout == "2.0\n"


def test_a_compile_call_that_cannot_import_the_helper_is_left_alone(tmp_path: Path) -> None:
    """What it compiles is not known, and the package is not one that it imports."""
    script = "import torch\nfrom elsewhere import build\n\nfast = torch.compile(build())\n"
    texts = {"pkg/__init__.py": "", "pkg/layer.py": LAYER, "tools/bench.py": script}
    new = changes(fixed(project(tmp_path, texts), tmp_path), tmp_path)
    assert sorted(new) == ["pkg/_compile_boundary.py", "pkg/layer.py"]
    texts["tools/bench.py"] = script.replace("elsewhere", "pkg.layer")
    new = changes(fixed(project(tmp_path, texts), tmp_path), tmp_path)
    assert "from pkg._compile_boundary import boundary\n" in new["tools/bench.py"]


def test_packages_side_by_side_have_a_helper_each(tmp_path: Path) -> None:
    """They may be installed one without the other."""
    texts = {f"{name}/{file}": text for name in ("one", "two") for file, text in (("__init__.py", ""), ("a.py", LAYER))}
    texts["play.py"] = "from two.a import layer as inner\n" + LAYER
    new = changes(fixed(project(tmp_path, texts), tmp_path), tmp_path)
    assert {name for name in new if "_boundary" in name} == {"one/_compile_boundary.py", "two/_compile_boundary.py"}
    assert "from two._compile_boundary import emit\n" in new["play.py"]


@pytest.mark.parametrize(
    ("user", "end", "module"),
    [
        ("from nets.other import f\n", "", "nets._compile_boundary"),
        ("from nets.layer import layer\n", "if __name__ == '__main__':\n    pass\n", "nets._compile_boundary"),
        ("from nets import other, layer\n", "if __name__ == '__main__':\n    pass\n", "nets._compile_boundary"),
        ("from nets.other import f\n", "if __name__ == '__main__':\n    pass\n", "_compile_boundary"),
        ("from elsewhere import f\n", "", "_compile_boundary"),
    ],
)
def test_a_file_alone_is_part_of_the_folder_that_files_round_it_import(
    user: str, end: str, module: str, tmp_path: Path
) -> None:
    """As a commit hook gets it. A script is not, unless it is imported through the folder itself."""
    (tmp_path / "train.py").write_text(user)
    new = changes(fixed(project(tmp_path, {"nets/layer.py": LAYER + end}), tmp_path), tmp_path)
    assert sorted(new) == ["nets/_compile_boundary.py", "nets/layer.py"]
    assert f"from {module} import emit\n" in new["nets/layer.py"]


def apply(outcome: Outcome, files: list[SourceFile]) -> list[SourceFile]:
    sources = {file.path: file for file in files}
    for change in outcome.patchset:
        assert write(sources.get(change.path, change.path), change.after) is None
    found = [read(path) for path in {*sources, *(change.path for change in outcome.patchset)}]
    return [file for file in found if isinstance(file, SourceFile)]


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    files = project(tmp_path, PACKAGE)
    again = apply(fixed(files, tmp_path), files)
    assert len(again) == len(files) + 1
    outcome = fixed(again, tmp_path)
    assert not outcome.patchset
    assert outcome.findings == ()


def test_what_waits_for_the_boundary_is_no_finding(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import logging\nimport torch\nfrom torch import nn\n\n"
        "class M(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.logger = logging.getLogger(__name__)\n\n"
        "    def forward(self, x: torch.Tensor) -> torch.Tensor:\n"
        "        self.logger.info('mean %.3f', x.mean().item())\n"
        "        if torch.isnan(x).any():\n"
        "            raise ValueError('NaN')\n"
        "        return x * 2\n",
        encoding="utf-8",
    )
    (source,) = [file for file in [read(tmp_path / "model.py")] if isinstance(file, SourceFile)]
    every_rule = list(registry.load().values())
    allowed = frozenset({"log-late", "exception-late"})
    outcome = run([source], Config(root=tmp_path), rules=every_rule, allowed=allowed)
    assert outcome.findings
    again = apply(outcome, [source])
    text = (tmp_path / "model.py").read_text(encoding="utf-8")
    assert text.count("emit(") == 2
    # The object is passed on: PyTorch 2.11 cannot tell the type of a logger among the values.
    assert "lambda self, x_mean: self.logger.info(" in text
    assert run(again, Config(root=tmp_path), rules=every_rule, allowed=allowed).findings == ()


@pytest.mark.parametrize(
    ("there", "head"),
    [
        pytest.param(None, "def emit(effect):\n    effect()\n", id="of the file itself"),
        pytest.param("def emit(effect):\n    effect()\n", "from events import emit\n", id="of another file"),
    ],
)
def test_what_another_emit_is_given_is_a_finding(there: str | None, head: str, tmp_path: Path) -> None:
    texts = {
        "model.py": f"import torch\nfrom torch import nn\n{head}\n\n"
        "class M(nn.Module):\n    def forward(self, x: torch.Tensor) -> torch.Tensor:\n"
        "        emit(lambda: x.sum().item())\n        return x\n",
        **({} if there is None else {"events.py": there}),
    }
    outcome = run(project(tmp_path, texts), Config(root=tmp_path), rules=list(registry.load().values()))
    assert "CF201" in {finding.code for finding in outcome.findings}


def test_a_later_fix_uses_the_helper_that_is_there(tmp_path: Path) -> None:
    files = project(tmp_path, PACKAGE)
    apply(fixed(files, tmp_path), files)
    path = tmp_path / "pkg/sub/layer.py"
    path.write_text(
        path.read_text(encoding="utf-8").replace("    return", "    print('new')\n    return"), encoding="utf-8"
    )
    for paths in (["pkg/sub/layer.py"], [*PACKAGE, "pkg/_compile_boundary.py"]):
        found = [file for name in paths if isinstance(file := read(tmp_path / name), SourceFile)]
        outcome = fixed(found, tmp_path)
        assert outcome.patchset.boundary == "pkg._compile_boundary"
        assert list(changes(outcome, tmp_path)) == ["pkg/sub/layer.py"]
        assert changes(outcome, tmp_path)["pkg/sub/layer.py"].count("import emit") == 1


def test_an_older_helper_is_replaced_and_a_stranger_left_alone(tmp_path: Path) -> None:
    old = re.sub(r"HELPER_VERSION = \d+", "HELPER_VERSION = 1", helper_text())
    (tmp_path / "script.py").write_text(LAYER, encoding="utf-8")
    helper = tmp_path / "_compile_boundary.py"
    for text, expected in ((old, "_compile_boundary"), ("mine = 1\n", "_compile_boundary_2")):
        helper.write_text(text, encoding="utf-8")
        file = read(tmp_path / "script.py")
        assert isinstance(file, SourceFile)
        outcome = fixed([file], tmp_path)
        assert outcome.patchset.boundary == expected
        assert changes(outcome, tmp_path)[f"{expected}.py"] == helper_text()
        assert f"from {expected} import emit" in changes(outcome, tmp_path)["script.py"]
        change = next(change for change in outcome.patchset if change.module == expected)
        assert change.before == (old if text == old else None)


@pytest.mark.parametrize(
    ("setting", "place"),
    [("pkg._late", "pkg/_late.py"), ("pkg.tools.late", "pkg/tools/late.py"), ("elsewhere", "elsewhere.py")],
)
def test_the_configured_name(setting: str, place: str, tmp_path: Path) -> None:
    texts = {f"src/{name}": text for name, text in PACKAGE.items()}
    root = tmp_path / "src" if setting == "elsewhere" else tmp_path
    outcome = fixed(project(tmp_path, texts), root, helper_module=setting)
    assert outcome.patchset.boundary == setting
    assert f"src/{place}" in changes(outcome, tmp_path)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@torch.compile\ndef", "@boundary\n@torch.compile\ndef"),
        ("@wrap\n@torch.compile(mode='default')\ndef", "@wrap\n@boundary\n@torch.compile(mode='default')\ndef"),
        (
            "@functools.partial(torch.compile, dynamic=False)\ndef",
            "@boundary\n@functools.partial(torch.compile, dynamic=False)\ndef",
        ),
        ("@helped.boundary\n@torch.compile\ndef", "@helped.boundary\n@torch.compile\ndef"),
    ],
)
def test_decorators(before: str, after: str, tmp_path: Path) -> None:
    text = "import functools\nimport torch\n\n\n" + before + LAYER.partition("def")[2]
    new = changes(fixed(project(tmp_path, {"script.py": text}), tmp_path), tmp_path)["script.py"]
    assert f"\n\n{after} layer" in new
    assert CALL in new
    ast.parse(new)


@pytest.mark.parametrize(
    ("end", "after", "message"),
    [
        ("fast = torch.compile(layer)", "fast = boundary(torch.compile(layer))", ""),
        ("fast = torch.compile(build())", "fast = boundary(torch.compile(build()))", "wrap the compiled callable"),
        ("boundary = 3\nfast = torch.compile(layer)", "fast = compile_boundary.boundary(torch.compile(layer))", ""),
        (
            "é = 'é'; fast = torch.compile(\n    layer,\n)",
            "é = 'é'; fast = boundary(torch.compile(\n    layer,\n))",
            "",
        ),
        ("", "", "wrap the compiled callable"),
    ],
)
def test_compile_calls(end: str, after: str, message: str, tmp_path: Path) -> None:
    outcome = fixed(project(tmp_path, {"script.py": LAYER + "\n\n" + end + "\n"}), tmp_path)
    new = changes(outcome, tmp_path)["script.py"]
    assert new.rstrip().endswith(after)
    assert message in outcome.findings[0].message
    ast.parse(new)


@pytest.mark.parametrize(
    ("end", "after"),
    [
        ("model.compile()\n", "model.compile()\nboundary(model)\n"),
        ("model.compile()", "model.compile()\nboundary(model)"),
        (
            "if True:\n    model.compile(\n        dynamic=False\n    )  # é\nprint()\n",
            "    )  # é\n    boundary(model)\nprint()\n",
        ),
        ("if True:\n    model.compile()\nprint()\n", "    model.compile()\n    boundary(model)\nprint()\n"),
        ("model.compile()\nhelped.boundary(model)\n", "model.compile()\nhelped.boundary(model)\n"),
    ],
)
def test_a_module_compiled_in_place(end: str, after: str, tmp_path: Path) -> None:
    text = (
        "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n"
        "        print(x.sum().item())\n        return x\n\n\nmodel = Model()\n"
    )
    outcome = fixed(project(tmp_path, {"script.py": text + end}), tmp_path)
    new = changes(outcome, tmp_path)["script.py"]
    assert new.endswith(after)
    assert "emit(lambda" in new
    ast.parse(new)


def test_a_method_compile_of_a_class_is_none_of_torch(tmp_path: Path) -> None:
    """As in models that are used like those of Keras: `model.compile("adam", loss)` sets an optimizer."""
    text = (
        "import torch\n\n\nclass Base(torch.nn.Module):\n    def compile(self, optimizer):\n"
        "        self.optimizer = optimizer\n\n\nclass Model(Base):\n    def forward(self, x: torch.Tensor):\n"
        "        print(x.sum().item())\n        return x[x > 0]\n\n\nmodel = Model()\nmodel.compile({})\n"
    )
    for given in ('"adam"', 'optimizer="adam"', ""):
        outcome = fixed(project(tmp_path, {"script.py": text.format(given)}), tmp_path)
        new = changes(outcome, tmp_path)["script.py"]
        assert "boundary(" not in new
        assert "_dynamo" not in new


def test_newlines_stay(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_bytes((LAYER.replace("def", "@torch.compile\ndef")).replace("\n", "\r\n").encode())
    file = read(path)
    assert isinstance(file, SourceFile)
    new = changes(fixed([file], tmp_path), tmp_path)["script.py"]
    assert "@boundary\r\n@torch.compile\r\n" in new
    assert "\n" not in new.replace("\r\n", "")


def test_the_helper_needs_only_torch() -> None:
    nodes = list(ast.walk(ast.parse(helper_text())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert names <= {
        "__future__",
        "collections",
        "collections.abc",
        "functools",
        "threading",
        "torch",
        "types",
        "typing",
        "weakref",
    }
    assert len(helper_text().splitlines()) <= 151


@pytest.mark.parametrize("folder", ["lm-design", "lm-design/utils"])
def test_a_folder_that_cannot_be_imported_from_is_no_package(folder: str, tmp_path: Path) -> None:
    path = tmp_path / folder / "work.py"
    path.parent.mkdir(parents=True)
    for parent in {path.parent, tmp_path / "lm-design"}:
        (parent / "__init__.py").write_text("")
    text = "import torch\n\n\ndef f(x: torch.Tensor):\n    print(x.shape)\n    return x\n"
    file = SourceFile(path, ".".join([*folder.split("/"), "work"]), text)
    after = {change.path: change.after for change in fixed([file], tmp_path).patchset}[path]
    own = "_compile_boundary" if folder == "lm-design" else "utils._compile_boundary"
    assert f"from {own} import emit" in after

"""What counts as compiled: each way into and out of `torch.compile`, as compilefix sees it and as Dynamo does.

A line that ends in `# BREAK` breaks the graph when its function is compiled, and is to be found; one that ends in
`# NOT` is the same code in a function that does not run compiled.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

import pytest

torch = pytest.importorskip("torch")

from compilefix.analysis.regions import leads_from_a_forward  # noqa: E402
from compilefix.codemods import registry  # noqa: E402
from compilefix.codemods.finding import Finding  # noqa: E402
from compilefix.fixing.engine import run  # noqa: E402
from compilefix.measuring.breaks import BreakCollector  # noqa: E402
from compilefix.source.config import Config  # noqa: E402
from compilefix.source.files import SourceFile  # noqa: E402

HEAD = """
import functools
import torch
from torch import nn
"""
DECIDES = "x = x + 1 if x.sum() > 0 else x"
MODEL = f"""
        class Model(nn.Module):
            def forward(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
"""
FUNCTION = f"""
        def root(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
"""

ROOTS = {
    "decorator": f"""
        @torch.compile(backend="eager")
        def root(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def call(): root(torch.ones(2))
        """,
    "decorator of a method": f"""
        class Plain:
            @torch.compile(backend="eager")
            def root(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        def call(): Plain().root(torch.ones(2))
        """,
    "decorator of forward": f"""
        class Model(nn.Module):
            @torch.compile(backend="eager")
            def forward(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        def call(): Model()(torch.ones(2))
        """,
    "partial as decorator": f"""
        @functools.partial(torch.compile, backend="eager")
        def root(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def call(): root(torch.ones(2))
        """,
    "partial under a name": f"""
        compiled = functools.partial(torch.compile, backend="eager")
        @compiled
        def root(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def call(): root(torch.ones(2))
        """,
    "call on a function": FUNCTION
    + """
        def call(): torch.compile(root, backend="eager")(torch.ones(2))
        """,
    "call on another name of a function": FUNCTION
    + """
        Before = root
        def call(): torch.compile(Before, backend="eager")(torch.ones(2))
        """,
    "call on an instance of another name of a class": MODEL
    + """
        Network = Model
        def call(): torch.compile(Network(), backend="eager")(torch.ones(2))
        """,
    "a helper that compiles what it is given": f"""
        def root(x):
            {DECIDES}  # BREAK
            return x
        def measure(program, *arguments, backend="eager"):
            compiled = torch.compile(program, backend=backend)
            return compiled(*arguments)
        def call(): measure(root, torch.ones(2))
        """,
    "a helper that makes and compiles what it is given": f"""
        class Plain:
            def __call__(self, x):
                {DECIDES}  # BREAK
                return x
        Before = Plain
        def measure(factory, backend="eager"):
            def build():
                torch.manual_seed(0)
                return factory() if isinstance(factory, type) else factory
            return torch.compile(build(), backend=backend)(torch.ones(2))
        def call(): measure(factory=Before)
        """,
    "call by keyword": FUNCTION
    + """
        def call(): torch.compile(model=root, backend="eager")(torch.ones(2))
        """,
    "call on an instance": MODEL
    + """
        model = torch.compile(Model(), backend="eager")
        def call(): model(torch.ones(2))
        """,
    "call on a local instance": MODEL
    + """
        def call():
            model = Model()
            model = torch.compile(model, backend="eager")
            model(torch.ones(2))
        """,
    "call on a method": f"""
        class Plain:
            def root(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
            def other(self, x: torch.Tensor):
                {DECIDES}  # NOT
                return x
        def call():
            plain = Plain()
            torch.compile(plain.root, backend="eager")(torch.ones(2))
            plain.other(torch.ones(2))
        """,
    "call on forward": MODEL
    + """
        def call():
            model = Model()
            model.forward = torch.compile(model.forward, backend="eager")
            model(torch.ones(2))
        """,
    "call on an attribute": MODEL
    + """
        class Trainer:
            def __init__(self):
                self.model = Model()
                self.model = torch.compile(self.model, backend="eager")
            def step(self):
                return self.model(torch.ones(2))
        def call(): Trainer().step()
        """,
    "call on a lambda": FUNCTION
    + """
        def call(): torch.compile(lambda x: root(x), backend="eager")(torch.ones(2))
        """,
    "result of a call": FUNCTION
    + """
        def call(): torch.compile(backend="eager")(root)(torch.ones(2))
        """,
    "in place": MODEL
    + """
        def call():
            model = Model()
            model.compile(backend="eager")
            model(torch.ones(2))
        """,
    "in place on an attribute": MODEL
    + """
        class Trainer:
            def __init__(self):
                self.model = Model()
            def step(self):
                self.model.compile(backend="eager")
                return self.model(torch.ones(2))
        def call(): Trainer().step()
        """,
    "imported name": FUNCTION
    + """
        from torch import compile as speed_up
        def call(): speed_up(root, backend="eager")(torch.ones(2))
        """,
    "a function that compiles": FUNCTION
    + """
        def speed_up(function): return torch.compile(function, backend="eager")
        def call(): speed_up(root)(torch.ones(2))
        """,
}

REACH = {
    "function": FUNCTION
    + """
        @torch.compile(backend="eager")
        def start(x): return root(x)
        def call(): start(torch.ones(2))
        """,
    "function of a function": FUNCTION
    + """
        def between(x): return root(x) * 2
        @torch.compile(backend="eager")
        def start(x): return between(x)
        def call(): start(torch.ones(2))
        """,
    "method": f"""
        class Model(nn.Module):
            def forward(self, x): return self.inner(x)
            def inner(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        def call(): torch.compile(Model(), backend="eager")(torch.ones(2))
        """,
    "method that __init__ chose": f"""
        class Model(nn.Module):
            def __init__(self, fast: bool = False):
                super().__init__()
                self.run = self.fast if fast else self.exact
            def forward(self, x): return self.run(x)
            def fast(self, x: torch.Tensor):
                return x * 2
            def exact(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        def call(): torch.compile(Model(), backend="eager")(torch.ones(2))
        """,
    "super": f"""
        class Base(nn.Module):
            def forward(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        class Model(Base):
            def forward(self, x): return super().forward(x)
        def call(): torch.compile(Model(), backend="eager")(torch.ones(2))
        """,
    "submodule": MODEL
    + """
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Model()
            def forward(self, x): return self.inner(x)
        def call(): torch.compile(Outer(), backend="eager")(torch.ones(2))
        """,
    "forward of a submodule": MODEL
    + """
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Model()
            def forward(self, x): return self.inner.forward(x)
        def call(): torch.compile(Outer(), backend="eager")(torch.ones(2))
        """,
    "ModuleList": MODEL
    + """
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.ModuleList([Model() for _ in range(2)])
            def forward(self, x):
                for layer in self.inner:
                    x = layer(x)
                return x
        def call(): torch.compile(Outer(), backend="eager")(torch.ones(2))
        """,
    "ModuleList by index": MODEL
    + """
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.ModuleList([Model()])
            def forward(self, x): return self.inner[0](x)
        def call(): torch.compile(Outer(), backend="eager")(torch.ones(2))
        """,
    "ModuleList that is filled": MODEL
    + """
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.ModuleList()
                for _ in range(2):
                    self.inner.append(Model())
            def forward(self, x):
                for i, layer in enumerate(self.inner):
                    x = layer(x)
                return x
        def call(): torch.compile(Outer(), backend="eager")(torch.ones(2))
        """,
    "Sequential": MODEL
    + """
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Sequential(nn.Identity(), Model())
            def forward(self, x): return self.inner(x)
        def call(): torch.compile(Outer(), backend="eager")(torch.ones(2))
        """,
    "ModuleDict": MODEL
    + """
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.ModuleDict({"a": Model()})
            def forward(self, x): return self.inner["a"](x)
        def call(): torch.compile(Outer(), backend="eager")(torch.ones(2))
        """,
    "ModuleDict that is filled": (
        MODEL
        + """
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.ModuleDict()
                self.inner["a"] = Model()
            def forward(self, x):
                for name, layer in self.inner.items():
                    x = layer(x)
                return x
        def call(): torch.compile(Outer(), backend="eager")(torch.ones(2))
        """
    ),
    "property": f"""
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("w", torch.ones(2))
            @property
            def scale(self):
                x = self.w
                {DECIDES}  # BREAK
                return x
            def forward(self, x): return x * self.scale
        def call(): torch.compile(Model(), backend="eager")(torch.ones(2))
        """,
    "partial of a function": FUNCTION
    + """
        @torch.compile(backend="eager")
        def start(x): return functools.partial(root)(x)
        def call(): start(torch.ones(2))
        """,
    "map": FUNCTION
    + """
        @torch.compile(backend="eager")
        def start(x): return sum(map(root, [x, x]))
        def call(): start(torch.ones(2))
        """,
    "checkpoint": FUNCTION
    + """
        from torch.utils.checkpoint import checkpoint
        @torch.compile(backend="eager")
        def start(x): return checkpoint(root, x, use_reentrant=False)
        def call(): start(torch.ones(2))
        """,
    "a function of which there are several": f"""
        try:
            def root(x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        except ImportError:
            def root(x): return x
        @torch.compile(backend="eager")
        def start(x): return root(x)
        def call(): start(torch.ones(2))
        """,
    "nested function": f"""
        @torch.compile(backend="eager")
        def start(x: torch.Tensor):
            def inner(x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
            return inner(x)
        def call(): start(torch.ones(2))
        """,
    "decorated by the project": f"""
        def logged(function):
            @functools.wraps(function)
            def wrapper(*args): return function(*args)
            return wrapper
        @logged
        def root(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        @torch.compile(backend="eager")
        def start(x): return root(x)
        def call(): start(torch.ones(2))
        """,
    "staticmethod and classmethod": f"""
        class Tools:
            @staticmethod
            def one(x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
            @classmethod
            def two(cls, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        @torch.compile(backend="eager")
        def start(x): return Tools.two(Tools.one(x))
        def call(): start(torch.ones(2))
        """,
    "autograd function": f"""
        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x: torch.Tensor):
                return helper(x)
            @staticmethod
            def backward(ctx, g): return g
        def helper(x: torch.Tensor):
            return x * 2
        def root(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        @torch.compile(backend="eager")
        def start(x): return root(Twice.apply(x))
        def call(): start(torch.ones(2))
        """,
}

LEAVES = {
    "compiler.disable": f"""
        @torch.compiler.disable
        def root(x: torch.Tensor):
            {DECIDES}  # NOT
            return x
        """,
    "compiler.disable with arguments": f"""
        @torch.compiler.disable(recursive=True)
        def root(x: torch.Tensor):
            {DECIDES}  # NOT
            return x
        """,
    "_dynamo.disable": f"""
        @torch._dynamo.disable
        def root(x: torch.Tensor):
            {DECIDES}  # NOT
            return x
        """,
    "what a disabled function calls": f"""
        def deeper(x: torch.Tensor):
            {DECIDES}  # NOT
            return x
        @torch.compiler.disable
        def root(x: torch.Tensor):
            return deeper(x)
        """,
    "allow_in_graph": f"""
        @torch.compiler.allow_in_graph
        def root(x: torch.Tensor):
            return x.clone()
        def aside(x: torch.Tensor):
            {DECIDES}  # NOT
            return x
        """,
    "method that torch.jit has compiled": """
        class Scripted(torch.jit.ScriptModule):
            @torch.jit.script_method
            def forward(self, x: torch.Tensor):
                if bool(x.sum() > 0):  # NOT
                    x = x + 1
                return x
        root = Scripted()
        """,
    "custom op": f"""
        @torch.library.custom_op("regions_test::root", mutates_args=())
        def root(x: torch.Tensor) -> torch.Tensor:
            {DECIDES}  # NOT
            return x.clone()
        @root.register_fake
        def _(x): return torch.empty_like(x)
        """,
    "is_compiling": f"""
        def root(x: torch.Tensor):
            if torch.compiler.is_compiling():
                {DECIDES}  # BREAK
            else:
                {DECIDES}  # NOT
            return x
        """,
    "not is_compiling": f"""
        def root(x: torch.Tensor):
            if not torch.compiler.is_compiling():
                {DECIDES}  # NOT
            return x
        """,
    "is_compiling under other names": f"""
        _asks = getattr(torch.compiler, "is_compiling", None) or getattr(torch._dynamo, "is_compiling", None)
        def asked():
            return bool(_asks()) if _asks is not None else False
        def compiled():
            try:
                return torch.compiler.is_compiling()
            except Exception:
                return False
        def root(x: torch.Tensor):
            compiling = compiled()
            if not compiling:
                {DECIDES}  # NOT
            if not asked() and (x.sum() > 0):  # NOT
                x = x + 1  # NOT
            if compiling or bool((x > 0).any()):  # NOT
                {DECIDES}  # BREAK
            y = 1 if compiled() else int((x > 0).sum())  # NOT
            return x * y
        """,
    "a function that only looks like is_compiling": f"""
        def compiled(flag=False):
            return flag or torch.compiler.is_compiling()
        def sometimes():
            if torch.get_num_threads() > 0:
                return True
            return torch.compiler.is_compiling()
        def root(x: torch.Tensor):
            if compiled():
                {DECIDES}  # BREAK
            if sometimes():
                {DECIDES}  # BREAK
            return x
        """,
    "is_compiling and more": f"""
        def compiled():
            return torch.compiler.is_compiling()
        def tracing(tensor=None):
            found = compiled() or torch.jit.is_tracing()
            if tensor is not None:
                found |= tensor.is_sparse
            return found
        def cleared(tensor):
            found = compiled()
            found &= tensor.is_sparse
            return found
        def given(found, tensor):
            found |= compiled()
            return found and tensor.is_sparse
        def root(x: torch.Tensor):
            if not tracing(x) and (x.sum() > 0):  # NOT
                x = x + 1  # NOT
            if not cleared(x):
                {DECIDES}  # BREAK
            if not given(False, x):
                {DECIDES}  # BREAK
            return x
        """,
    "return when compiling": f"""
        def root(x: torch.Tensor):
            if torch.compiler.is_compiling():
                return x
            {DECIDES}  # NOT
            return x
        """,
    "is_scripting and is_tracing": f"""
        def root(x: torch.Tensor):
            if torch.jit.is_scripting():
                {DECIDES}  # NOT
            if torch.jit.is_tracing() and x.dim() == 1:
                {DECIDES}  # NOT
            if not torch.jit.is_scripting():
                {DECIDES}  # BREAK
            return x
        """,
    "jit.ignore": f"""
        @torch.jit.ignore
        def root(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        """,
    "jit.unused": f"""
        @torch.jit.unused
        def root(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        """,
    "not called": f"""
        def aside(x: torch.Tensor):
            {DECIDES}  # NOT
            return x
        def root(x: torch.Tensor):
            return x * 2
        """,
}
START = """
@torch.compile(backend="eager")
def start(x: torch.Tensor): return root(x)
def call(): start(torch.ones(2))
"""


def program(text: str) -> str:
    return HEAD + dedent(text)


def marked(text: str, mark: str) -> set[int]:
    return {number for number, line in enumerate(text.splitlines(), 1) if line.rstrip().endswith(f"# {mark}")}


def found(paths: Sequence[Path], roots: tuple[str, ...] = ()) -> tuple[Finding, ...]:
    sources = [SourceFile(p, p.stem, p.read_text(encoding="utf-8")) for p in paths]
    config = Config(root=paths[0].parent, roots=roots)
    return run(sources, config, rules=list(registry.load().values()), rewrite=False).findings


def broken(path: Path) -> set[tuple[str, int]]:
    """The files and lines where Dynamo breaks when the program runs."""
    sys.path.insert(0, str(path.parent))
    torch._dynamo.reset()
    try:
        with BreakCollector() as collector:
            importlib.import_module(path.stem).call()
    finally:
        sys.path.remove(str(path.parent))
        torch._dynamo.reset()
    return {(Path(site.path).name, site.line) for site in collector.break_sites}


def agrees(folder: Path, files: dict[str, str], roots: tuple[str, ...] = ()) -> tuple[Finding, ...]:
    """Dynamo breaks where the marks say so, and these lines are found and no other marked one."""
    paths = []
    for name, text in files.items():
        paths.append(folder / f"{name}.py")
        paths[-1].write_text(text, encoding="utf-8")
    expected = {(f"{n}.py", line) for n, text in files.items() for line in marked(text, "BREAK")}
    others = {(f"{n}.py", line) for n, text in files.items() for line in marked(text, "NOT")}
    seen = broken(paths[0])
    assert seen & (expected | others) == expected, "Dynamo breaks elsewhere than the marks say"
    findings = found(paths, roots)
    reported = {(Path(f.path).name, f.span.line) for f in findings}
    assert reported & (expected | others) == expected
    return findings


def unique(tmp_path: Path) -> str:
    """A module name of its own for each test."""
    return "regions_" + "".join(c if c.isalnum() else "_" for c in tmp_path.name)


@pytest.mark.parametrize("name", ROOTS)
def test_roots(name: str, tmp_path: Path) -> None:
    findings = agrees(tmp_path, {unique(tmp_path): program(ROOTS[name])})
    assert all(f.reached_by for f in findings)


@pytest.mark.parametrize("name", REACH)
def test_reach(name: str, tmp_path: Path) -> None:
    findings = agrees(tmp_path, {unique(tmp_path): program(REACH[name])})
    for finding in findings:
        # From what is compiled to the function itself.
        assert "start" in finding.reached_by[0] or "compile" in finding.reached_by[0]
        assert finding.reached_by[-1].endswith(finding.function.rpartition(".")[2])


@pytest.mark.parametrize("name", LEAVES)
def test_what_leaves_the_region(name: str, tmp_path: Path) -> None:
    agrees(tmp_path, {unique(tmp_path): program(LEAVES[name]) + START})


def test_a_root_in_another_file(tmp_path: Path) -> None:
    name = unique(tmp_path)
    helper = f"{name}_helper"
    text = HEAD + f"from {helper} import Model, tool\nmodel = torch.compile(Model(), backend='eager')\n"
    other = program(
        f"""
        class Model(nn.Module):
            def forward(self, x): return tool(x)
        def tool(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def aside(x: torch.Tensor):
            {DECIDES}  # NOT
            return x
        """
    )
    findings = agrees(tmp_path, {name: text + "def call(): model(torch.ones(2))\n", helper: other})
    assert {f.reached_by for f in findings} == {("torch.compile(Model())", "tool")}


def test_without_a_root_forward_and_what_it_calls_count_as_compiled(tmp_path: Path) -> None:
    text = program(
        f"""
        class Model(nn.Module):
            def forward(self, x): return self.inner(x)
            def inner(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
            def __repr__(self):
                x = torch.ones(2)
                {DECIDES}  # NOT
                return str(x)
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    findings = found([path])
    assert {f.span.line for f in findings} == marked(text, "BREAK")
    assert {f.reached_by for f in findings} == {("Model.forward", "Model.inner")}


def test_a_compile_of_its_own_is_not_that_of_torch(tmp_path: Path) -> None:
    text = program(
        f"""
        class Trained(nn.Module):
            def compile(self, optimizer, loss=None):
                self.optimizer = optimizer
            def forward(self, x: torch.Tensor):
                {DECIDES}
                return x
        class Passed(Trained):
            def compile(self, *args, **kwargs):
                super().compile(*args, **kwargs)
        class Same(nn.Module):
            def compile(self, *args, **kwargs):
                super().compile(*args, **kwargs)
            def forward(self, x: torch.Tensor):
                {DECIDES}
                return x
        model = Trained()
        model.compile("adam")
        same = Same()
        same.compile()
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    findings = found([path])
    assert {(f.function, f.reached_by) for f in findings} == {("Same.forward", ("same.compile()",))}
    path.write_text(text.partition("same = ")[0], encoding="utf-8")
    assert {f.reached_by for f in found([path])} == {("Trained.forward",), ("Same.forward",)}


AROUND_THE_MODEL = {
    "a derivative that PyTorch refuses to run": """
        class Twice(torch.autograd.Function):
            def __init__(self, scale):
                self.scale = scale
            def forward(self, x: torch.Tensor):
                DECIDES
                return x * self.scale
            def backward(self, grad):
                return grad * self.scale
        """,
    "a training loop": """
        def step(model, x: torch.Tensor):
            loss = model(x).sum()
            loss.backward()
            DECIDES
        """,
    "what calls a training loop": """
        def train(model, x: torch.Tensor):
            model(x).sum().backward()
        def main(model, x: torch.Tensor):
            DECIDES
            train(model, x)
        """,
    "a loop over a data set": """
        from torch.utils.data import DataLoader
        def evaluate(data, x: torch.Tensor):
            for batch in DataLoader(data):
                x = x + batch
            DECIDES
        """,
    "a data set": """
        class Rows(torch.utils.data.Dataset):
            def __getitem__(self, i):
                x = torch.ones(2) * i
                return self.noised(x)
            def noised(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "what is given a data loader": """
        def evaluate(model, test_loader, x: torch.Tensor):
            for batch in test_loader:
                x = x + model(batch)
            DECIDES
            return x
        """,
    "what makes a data set": """
        class Rows(torch.utils.data.Dataset):
            def __init__(self, x):
                self.x = x
        def rows(x: torch.Tensor):
            DECIDES
            return Rows(x)
        """,
    "a test": """
        import unittest
        class TestModel(unittest.TestCase):
            def check(self, x: torch.Tensor):
                DECIDES
        """,
    "a plot": """
        from matplotlib import pyplot as plt
        def histogram(x: torch.Tensor):
            DECIDES
            plt.hist(x.numpy())
        """,
    "what only a plot calls": """
        from matplotlib import pyplot as plt
        def _scaled(x: torch.Tensor):
            DECIDES
            return x
        def histogram(x: torch.Tensor):
            plt.hist(_scaled(x).numpy())
        """,
    "a method beside one that logs": """
        import wandb
        class Tracker:
            def log(self, x: torch.Tensor):
                wandb.log({"x": x.mean().item()})
            def summary(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "what switches a model to evaluation": """
        def predict(model, x: torch.Tensor):
            model.eval()
            DECIDES
            return model(x)
        """,
    "an exporter": """
        def to_graph(model, x: torch.Tensor):
            DECIDES
            torch.onnx.export(model, x, "model.onnx")
        """,
    "a generator": """
        def chunks(x: torch.Tensor):
            DECIDES
            yield x
        """,
    "a coroutine": """
        async def answer(x: torch.Tensor):
            DECIDES
            return x
        """,
    "a data set by its name": """
        class SoundDataset:
            def cropped(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "what only a data set calls": """
        class SoundDataset:
            def __getitem__(self, i):
                return mixed(torch.ones(2) * i)
        def mixed(x: torch.Tensor):
            DECIDES
            return x
        """,
    "an object that logs": """
        class StdoutLogger:
            def log(self, x: torch.Tensor):
                DECIDES
                print(x)
        """,
    "what a trainer calls after a step": """
        class Search:
            def on_train_batch_end(self, x: torch.Tensor):
                DECIDES
        """,
    "what calls a plot": """
        from matplotlib import pyplot as plt
        def drawn(x):
            plt.hist(x)
        def render(x: torch.Tensor):
            DECIDES
            return drawn(x)
        """,
    "a pipeline": """
        class PictureOfTextPipeline:
            def __call__(self, latents: torch.Tensor):
                return self.prepared(latents)
            def prepared(self, x: torch.Tensor):
                DECIDES
                return self.decoder(x)
        """,
    "a block of a pipeline": """
        from other import ModularPipelineBlocks
        class DenoiseStep(ModularPipelineBlocks):
            def __call__(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "what collates a batch": """
        class RowCollator:
            def __call__(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "what sets a schedule": """
        class Schedule:
            def set_timesteps(self, sigmas: torch.Tensor):
                DECIDES
                self.sigmas = self._spread(sigmas)
            def _spread(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "what is called show": """
        def show(x: torch.Tensor):
            DECIDES
        """,
    "what loads from a loader": """
        class Primer:
            def _load_from_rows(self, x: torch.Tensor):
                DECIDES
        """,
    "what gives a module its parameters": """
        class Adapter(nn.Module):
            def update_layer(self, x: torch.Tensor):
                DECIDES
                self.weight = nn.Parameter(x)
        """,
    "what gives a module its buffers": """
        class Table(nn.Module):
            def extend(self, x: torch.Tensor):
                DECIDES
                self.register_buffer("table", x)
        """,
    "what only a module that is made calls": """
        class Table(nn.Module):
            def __init__(self, x):
                super().__init__()
                self.table = self._sorted(x)
            def _sorted(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "what goes through the parts of a model": """
        def frozen(model, x: torch.Tensor):
            for name, child in model.named_children():
                DECIDES
        """,
    "a layer of another framework": """
        import mxnet as mx
        class Digitize(mx.operator.CustomOp):
            def forward(self, x):
                if (torch.ones(2) * x).sum() > 0:  # NOT
                    print()
        """,
    "a module of MLX": """
        import mlx.nn as nn
        class Scaled(nn.Module):
            def forward(self, x):
                if (torch.ones(2) * x).sum() > 0:  # NOT
                    print()
        """,
    "what trains, by its name": """
        from other import BaseTrainer
        class Distillation(BaseTrainer):
            def mixed(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "an estimator of scikit-learn": """
        from sklearn.base import ClassifierMixin
        class Tabular(ClassifierMixin):
            def logits(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "an estimator with a forward": """
        from sklearn.base import BaseEstimator
        class Net(BaseEstimator):
            def forward(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "what fits something": """
        class Posterior:
            def fit(self, x: torch.Tensor):
                DECIDES
        """,
    "an assertion in camel case": """
        def assertTensorsAlike(x: torch.Tensor):
            DECIDES
        """,
    "what makes numbers of text": """
        def embedded(x: torch.Tensor, prompts, tokens, encoder):
            ids = tokens(prompts, padding=True, return_tensors="pt").input_ids
            DECIDES
            return encoder(ids) + x
        """,
    "what makes text of numbers": """
        def answers(x: torch.Tensor, processor):
            DECIDES
            return processor.batch_decode(x)
        """,
    "what is given a tokenizer": """
        def answers(model, tokenizer, x: torch.Tensor):
            DECIDES
            return tokenizer.decode(model(x))
        """,
    "what is given a path": """
        from pathlib import Path
        def cloned(voice: Path, x: torch.Tensor):
            DECIDES
            return x
        """,
    "what is given a state": """
        def interpolated(state_dict: dict[str, torch.Tensor], x: torch.Tensor):
            DECIDES
            return state_dict["x"] + x
        """,
    "what is given a table": """
        import pandas as pd
        def scores(table: pd.DataFrame, x: torch.Tensor):
            DECIDES
            return x
        """,
    "what works on pictures": """
        import cv2
        def squares(x: torch.Tensor):
            DECIDES
            return cv2.resize(x.numpy(), (2, 2))
        """,
    "a calculator of another package": """
        from ase.calculators.calculator import Calculator
        class Potential(Calculator):
            def calculate(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "what is given the names of classes": """
        def spans(x: torch.Tensor, names: dict[int, str]):
            DECIDES
            return [names[i] for i in range(len(x))]
        """,
    "what makes results for people": """
        class Parser(nn.Module):
            def make_output_human_readable(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "a test of a module in its class": """
        class Layer(nn.Module):
            def forward(self, x):
                return x
            def check_equivariance(self, atol=1e-6):
                x = torch.randn(2)
                for angle in (1, 2):
                    out1, out2 = self(x * angle), self(x) * angle
                    assert torch.allclose(out1, out2, atol=atol)  # NOT
                DECIDES
        """,
    "a test that asks by a comparison": """
        class Layer(nn.Module):
            def forward(self, x):
                return x
            def check(self, atol=1e-6):
                x = torch.randn(2)
                DECIDES
                worst = atol * x
                assert torch.all(self(x) - x < worst)
        """,
    "what asserts": """
        def assert_normalized(x: torch.Tensor):
            DECIDES
        """,
    "what fills parameters": """
        def trunc_normal_(x: torch.Tensor, std=1.0):
            DECIDES
            return x.normal_(0, std)
        """,
    "what makes text of tensors": """
        def to_json(x: torch.Tensor):
            DECIDES
            return {"x": x}
        """,
    "what renames the tensors of a file": """
        def rename_state_dict(x: torch.Tensor):
            DECIDES
            return x
        """,
    "what trains, keeps and loads a model": """
        class Base:
            def __init__(self, net):
                self.optimizer = torch.optim.SGD(net.parameters())
            def save(self, state):
                torch.save(state, "state.pt")
        class Restoration(Base):
            def feed(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "a size of an image": """
        def ratio(img, most):
            w, h = img.size
            if w > torch.rand(1):  # NOT
                w = most
            return w
        """,
    "a configuration with a device": """
        def started(args):
            device = args.device
            if args.epochs > 2 and args:  # NOT
                print("many")  # NOT
            return torch.device(device)
        """,
    "what traces a model": """
        from torch.fx.experimental.proxy_tensor import make_fx
        def graph(f, x: torch.Tensor):
            DECIDES
            return make_fx(f)(x)
        """,
    "a generator of a module that nothing calls": """
        class Basis(nn.Module):
            def forward(self, x):
                return x
            def attributes(self, x: torch.Tensor):
                DECIDES
                yield x
        """,
    "code on arrays": """
        import numpy as np
        def crop(image):
            if np.mean(image.shape[:2]) > np.random.uniform():  # NOT
                image = image[1:]
            return image
        def distance(a, b):
            a = a[np.random.choice(a.shape[0], 4)]
            if (a.sum() - np.diag(a @ b.T).sum()) > 0:  # NOT
                return float(a.mean())  # NOT
            return 0.0
        def scaled(image, lower: int):
            if np.ptp(image[..., 0]) > 0:  # NOT
                image = ranged(image, lower=lower)
            return image
        def ranged(image, lower):
            return image - np.percentile(image, lower)
        """,
    "a module that trains another": """
        class ModelTrainer(nn.Module):
            def __init__(self, net):
                super().__init__()
                self.net, self.optimizer = net, torch.optim.SGD(net.parameters(), 0.1)
            def forward(self, x: torch.Tensor):
                loss = self.net(x).sum()
                self.accelerator.backward(loss)
                self.log(loss)
                self.optimizer.zero_grad()
                DECIDES
                return x
            def log(self, x: torch.Tensor):
                DECIDES
        """,
    "a module that is given pictures": """
        import numpy as np
        class Reader(nn.Module):
            def forward(self, pages: list[np.ndarray], scale: float = 1.0):
                return [self.crop(page) for page in pages]
            def crop(self, page: np.ndarray):
                if page.max() > 3:  # NOT
                    page = page[1:]
                return page
        """,
    "what brings a batch to the device": """
        class Restorer(BaseModel):
            def feed(self, data):
                self.given = data["given"].to(self.device)
                x = self.given * 2
                DECIDES
                self.x = x
        """,
    "what a loop that generates calls between the steps": """
        class Model(nn.Module):
            def forward(self, x):
                return x
            def prepare_inputs_for_generation(self, x: torch.Tensor):
                DECIDES
                return x
        """,
    "what is never run behind an assert": """
        def packed(x: torch.Tensor):
            assert False, "wrong"
            DECIDES
        """,
    "what makes arrays of tensors first": """
        import numpy as np
        def scores(given: torch.Tensor, wanted: torch.Tensor):
            given, wanted = given.detach().cpu().numpy(), wanted.numpy()
            if given.sum() > 3:  # NOT
                given = given * 2
            return np.mean(given == wanted)
        def noisy(image, most):
            if np.random.rand() < most:  # NOT
                image = image.astype(np.float64)
                image += np.random.normal(0, 1, image.shape)
                if image.max() > 3:  # NOT
                    image = image / 2
            return image
        """,
    "what trains a classifier on the host": """
        from sklearn.linear_model import LogisticRegression
        def probed(x: torch.Tensor, y: torch.Tensor):
            DECIDES
            return LogisticRegression().fit(x.numpy(), y.numpy())
        """,
    "a file with a page": """
        import gradio
        def cut(x: torch.Tensor):
            DECIDES
            return x
        """,
    "what makes numbers of a text": """
        def predicted(model, x: torch.Tensor, text: str):
            ids = model.tokenizer(text)
            DECIDES
            return model(x, ids)
        """,
    "what pickles tensors": """
        import pickle
        def _padded(x: torch.Tensor):
            DECIDES
            return x
        def gather(x):
            return pickle.loads(_padded(x).numpy().tobytes())
        """,
    "what is switched off in the code": """
        class Model(nn.Module):
            def forward(self, x):
                if False:
                    DECIDES
                self.dump(x)
                return x
            def dump(self, x: torch.Tensor):
                if True:
                    return
                DECIDES
        """,
    "a calculator that the first call makes": """
        from ase.calculators.calculator import Calculator
        class Energy(Calculator):
            def __init__(self, x: torch.Tensor):
                DECIDES
                self.x = x
        class Model(nn.Module):
            def forward(self, x: torch.Tensor):
                return x * Energy(x).x
        """,
}


@pytest.mark.parametrize("kind", AROUND_THE_MODEL)
def test_code_round_the_model_is_no_root(kind: str, tmp_path: Path) -> None:
    """Nobody compiles it by itself, and what `forward` calls of it runs compiled all the same."""
    text = program(AROUND_THE_MODEL[kind].replace("DECIDES", f"{DECIDES}  # NOT"))
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    other = tmp_path / "other.py"
    other.write_text("", encoding="utf-8")
    assert marked(text, "NOT")
    assert found([path, other]) == ()


def test_a_derivative_that_apply_runs_is_a_root_though_it_is_not_said_to_be_static(tmp_path: Path) -> None:
    text = program(
        AROUND_THE_MODEL["a derivative that PyTorch refuses to run"].replace("DECIDES", f"{DECIDES}  # BREAK")
    )
    lines = text.splitlines(keepends=True)
    begins = next(number for number, line in enumerate(lines) if "__init__" in line)
    path = tmp_path / "library.py"
    path.write_text("".join(lines[:begins] + lines[begins + 2 :]), encoding="utf-8")
    assert {f.span.line for f in found([path])} == marked(path.read_text(encoding="utf-8"), "BREAK")


def test_a_derivative_that_its_file_applies_is_a_root_though_it_has_an_init(tmp_path: Path) -> None:
    """PyTorch 2.13 runs it, without making an object."""
    text = program(
        AROUND_THE_MODEL["a derivative that PyTorch refuses to run"].replace("DECIDES", f"{DECIDES}  # BREAK")
    )
    path = tmp_path / "library.py"
    path.write_text(f"{text}\ntwice = Twice.apply\n", encoding="utf-8")
    assert {f.span.line for f in found([path])} == marked(text, "BREAK")


def test_what_is_brought_to_a_file_is_where_the_graph_ends(tmp_path: Path) -> None:
    text = program(
        f"""
        class Model(nn.Module):
            def forward(self, x):
                self.kept(x.shape[0])
                return x
            def kept(self, n):
                torch.save(self.counted(n), "counts.pt")  # BREAK
            def counted(self, n):
                x = torch.ones(n)
                {DECIDES}  # NOT
                return x
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    other = tmp_path / "other.py"
    other.write_text("", encoding="utf-8")
    assert {f.span.line for f in found([path, other])} == marked(text, "BREAK")


def test_what_looks_like_code_round_the_model_and_is_none(tmp_path: Path) -> None:
    text = program(
        f"""
        import matplotlib
        import numpy as np
        class Blocks(nn.ModuleList):
            def __iter__(self):
                x = torch.rand(len(self))
                for i, block in enumerate(super().__iter__()):
                    if x[i] > self.p:  # BREAK
                        yield block
        class Lazy(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = self._sorted(torch.ones(2))
            def forward(self, x: torch.Tensor):
                return self._sorted(x) * self._grown(x)
            def _sorted(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
            def _grown(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                self.register_buffer("table", x)
                return x
        class Decayed(nn.Module):
            def penalty(self, x: torch.Tensor):
                for name, weight in self.named_parameters():
                    x = x + weight
                {DECIDES}  # BREAK
                return x
        class Schedule:
            def set_apart(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return self._spread(x)
            def step(self, x: torch.Tensor):
                return self._spread(x)
            def _spread(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        class Spline:
            def evaluate(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        class Energy(nn.Module):
            def forward(self, x: torch.Tensor, weights: np.ndarray):
                {DECIDES}  # BREAK
                return x
        class MetaLearner(nn.Module):
            def forward(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return self.adapted(x)
            def adapted(self, x: torch.Tensor):
                grads = torch.autograd.grad(x.sum(), self.parameters())
                {DECIDES}  # BREAK
                return x
        class Adapted(nn.Module):
            def forward(self, x: torch.Tensor):
                self.optimizer.zero_grad()
                {DECIDES}  # BREAK
                return x
        class Held:
            def keep(self, x: torch.Tensor, device):
                self.x = x.to(device)
                {DECIDES}  # BREAK
                return x
            def kept(self, data: torch.Tensor):
                x = data[0].to(self.device)
                {DECIDES}  # BREAK
                return x
        def as_arrays(x: torch.Tensor, y: torch.Tensor):
            z = np.sqrt(x.numpy()).sum()
            {DECIDES}  # BREAK
            return x * y * z
        class Quantized(nn.Module):
            def forward(self, x: torch.Tensor):
                ids = self.tokenizer(x)
                {DECIDES}  # BREAK
                return self.layer(ids) + x
        def places(x: torch.Tensor):
            i = x.argmax(-1).cpu().numpy().astype(int)
            y = torch.relu(x)
            {DECIDES}  # BREAK
            return y[i]
        def either(x):
            if isinstance(x, np.ndarray):
                x = torch.from_numpy(x.astype(np.float32))
            x = x.detach()
            {DECIDES}  # BREAK
            return x
        class Logged(nn.Module):
            def forward(self, x):
                return self.noted(x)
            def noted(self, x: torch.Tensor):
                self.count = len(str(x.shape))
                return self.halved(x)
            def halved(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x / 2
        def weighted(x, k):
            n = x.detach().sum()
            if n > np.sqrt(k):  # BREAK
                x = x / n
            return x
        def cubed(x: torch.Tensor):
            while True:
                {DECIDES}  # BREAK
                if x.shape[0] == 3:
                    return x
        class VideoPredictor(nn.Module):
            def decoded(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        class FlowPipeline(nn.Module):
            def forward(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return self.decoded(x)
            def decoded(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        class Encoder(nn.Module):
            def forward(self, x: torch.Tensor, texts, tokens):
                ids = tokens(texts, return_tensors="pt")
                {DECIDES}  # BREAK
                return self.layer(ids) + x
        class Sampler(nn.Module):
            def sample(self, x: torch.Tensor):
                self.eval()
                {DECIDES}  # BREAK
                return self(x)
            def plot(self, x: torch.Tensor):
                return matplotlib.colors.to_rgb(x)
        def _scaled(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def plot(x: torch.Tensor):
            return _scaled(x)
        def both(x: torch.Tensor):
            return _scaled(x)
        class Accuracy(torchmetrics.Metric):
            def _load(self):
                torch.load("net.pt").eval()
            def update(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        class Posterior:
            def sample(self, x: torch.Tensor):
                self.estimator.eval()
                return self.shifted(x)
            def shifted(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        def is_rotation(r: torch.Tensor):
            assert torch.allclose(r @ r.T, torch.eye(2))
            {DECIDES}  # BREAK
            return r
        def close(first, second):
            assert torch.allclose(first.detach(), second)
            x = first.detach()
            {DECIDES}  # BREAK
            return x
        def normalized(given):
            x = given.detach() / given.abs().sum()
            total = x.abs().sum()
            assert torch.allclose(total, torch.ones_like(total))
            {DECIDES}  # BREAK
            return x
        def attacked(model, x: torch.Tensor):
            x = x.clone().detach().requires_grad_(True)
            model.zero_grad()
            model(x).sum().backward()
            {DECIDES}  # BREAK
            return x + x.grad.sign()
        def fitted(model, x: torch.Tensor, steps):
            delta = torch.zeros_like(x, requires_grad=True)
            optimizer = torch.optim.Adam([delta], lr=0.1)
            for step in range(steps):
                optimizer.zero_grad()
                model(x + delta).sum().backward()
                optimizer.step()
            {DECIDES}  # BREAK
            return x + delta.detach()
        def log_prob(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def load_balancing_loss(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def cholesky_init(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x + 1
        def step(td):
            x = torch.zeros(td.batch_size, device=td.device) + td
            {DECIDES}  # BREAK
            return x
        def gathered(x: torch.Tensor):
            {DECIDES}  # BREAK
            return collate_rows(x)
        def collate_rows(x):
            return x
        class Chain:
            def backward(self, x: torch.Tensor):
                return x + 1
            def smoothed(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return self.backward(x)
        def loss(x: torch.Tensor):
            def pairs():
                yield x
            {DECIDES}  # BREAK
            return x * np.sqrt(2.0)
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    other = tmp_path / "other.py"
    other.write_text("", encoding="utf-8")
    assert {f.span.line for f in found([path, other]) if f.code in ("CF101", "CF102")} == marked(text, "BREAK")


def test_what_works_on_the_host_is_no_root(tmp_path: Path) -> None:
    """No forward leads to what draws, times, prints or leaves with arrays, nor to what is for such code alone.

    What draws, times or leaves with arrays is told last (`LAST`), and leads nowhere.
    """
    text = program(
        f"""
        import random
        import time
        import numpy as np
        from scipy import interpolate
        from tqdm import tqdm
        def mixed(x: torch.Tensor):
            {DECIDES}  # LAST
            return x * np.random.beta(1, 1)
        def flipped(x: torch.Tensor):
            {DECIDES}  # LAST
            return x.flip(0) if random.random() < 0.5 else x
        def timed(x: torch.Tensor):
            start = time.perf_counter()
            {DECIDES}  # LAST
            return x, time.perf_counter() - start
        def denoised(x: torch.Tensor, steps):
            for step in tqdm(range(steps)):
                {DECIDES}  # LAST
            return x
        def solved(x: torch.Tensor, steps, verbose=False):
            bar = tqdm(total=steps) if verbose else None
            if verbose:
                start = time.perf_counter()
            {DECIDES}  # BREAK
            return x
        def contrast_loss(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x[random.randrange(3)]
        def filled(x: torch.Tensor, y: torch.Tensor):
            {DECIDES}  # LAST
            return interpolate.griddata(x, y)
        def pixels(x: torch.Tensor):
            {DECIDES}  # NOT
            return x.detach().cpu().numpy()
        def spread(x: torch.Tensor):
            {DECIDES}  # LAST
            return np.median(to_numpy(x))
        def shown(x: torch.Tensor):
            print("shape", x.shape)
            {DECIDES}  # NOT
        def told(x: torch.Tensor):
            print("shape", x.shape)
            {DECIDES}  # BREAK
            return x
        def scores(x: torch.Tensor, y: torch.Tensor) -> dict[str, float]:
            {DECIDES}  # NOT
            return {{"error": float((x - y).abs().mean())}}
        def decoded(data: bytes, x: torch.Tensor):
            {DECIDES}  # NOT
            return x + len(data)
        def over_all(x: torch.Tensor):
            torch.distributed.all_reduce(x)
            {DECIDES}  # NOT
            return x
        def reduced(x: torch.Tensor):
            torch.distributed.all_reduce(x)
            {DECIDES}  # BREAK
            return x
        def normalized(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x / reduced(x)
        def calls_shown(x: torch.Tensor):
            {DECIDES}  # BREAK
            return shown(x)
        def clipped(x: torch.Tensor, parameters):
            for p in parameters:
                x = x + p.grad.norm()
            {DECIDES}  # LAST
            return x
        def augmented(x: torch.Tensor):
            {DECIDES}  # NOT
            return mixed(x)
        def _half(x: torch.Tensor):
            {DECIDES}  # NOT
            return x / 2
        def _third(x: torch.Tensor):
            {DECIDES}  # NOT
            return x / 3
        def _unused(x: torch.Tensor):
            {DECIDES}  # NOT
            return x
        def _exported(x: torch.Tensor):
            {DECIDES}  # NOT
            return x
        def batched(x: torch.Tensor):
            if torch.jit.is_tracing():
                return _exported(x)
            {DECIDES}  # BREAK
            return x
        def image(x: torch.Tensor):
            return _half(x).cpu().numpy()
        class Mixer:
            def __init__(self, x: torch.Tensor):
                self.table = _third(x)
            def __call__(self, x: torch.Tensor):
                return self.mixed(x)
            def mixed(self, x: torch.Tensor):
                {DECIDES}  # LAST
                return x + np.random.rand()
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    other = tmp_path / "other.py"
    module = "class Net(nn.Module):\n    def forward(self, x):\n        return x\n"
    other.write_text("from torch import nn\n" + module, encoding="utf-8")
    decided = [f for f in found([path, other]) if f.code in ("CF101", "CF102")]
    assert {f.span.line for f in decided} == marked(text, "BREAK") | marked(text, "LAST")
    assert all(f.apart for f in decided)


def test_what_looks_like_work_on_the_host_and_is_none(tmp_path: Path) -> None:
    text = program(
        f"""
        import random
        import numpy as np
        from tqdm import tqdm
        def told(x: torch.Tensor, verbose):
            if verbose:
                print("shape", x.shape)
            {DECIDES}  # BREAK
            return x
        class Dropped(nn.Module):
            def forward(self, x: torch.Tensor):
                if random.random() < 0.5:
                    return x
                {DECIDES}  # BREAK
                return self.drawn(x)
            def drawn(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x * np.random.rand()
        class Descent(torch.optim.Optimizer):
            def moved(self, x: torch.Tensor, p):
                {DECIDES}  # BREAK
                return x - p.grad
        def slope(x: torch.Tensor, f):
            g = torch.func.grad(f)(x)
            x = g * x
            {DECIDES}  # BREAK
            return x
        class Contrastive(nn.Module):
            def forward(self, x: torch.Tensor) -> dict[str, float]:
                return self.summed(x)
            def summed(self, x: torch.Tensor):
                torch.distributed.all_reduce(x)
                {DECIDES}  # BREAK
                return x
        def checked(x: torch.Tensor):
            _assert_small(x)
            return x
        def _assert_small(x: torch.Tensor):
            {DECIDES}  # BREAK
        def _both(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def used(x: torch.Tensor):
            return _both(x)
        def image(x: torch.Tensor):
            return _both(x).cpu().numpy()
        def _chosen(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        CHOICES = {{"chosen": _chosen}}
        def _named_elsewhere(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def also_for_others(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def heat(x: torch.Tensor):
            return np.clip(also_for_others(x).cpu().numpy(), 0, 1)
        class Dispatched(nn.Module):
            def forward(self, x: torch.Tensor, kind):
                return getattr(self, f"_to_{{kind}}")(x)
            def _to_half(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x / 2
        def predicted(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def predict(batches):
            for x in tqdm(batches):
                predicted(x.float())
        def trained(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def train(x: torch.Tensor):
            trained(x).backward()
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    other = tmp_path / "other.py"
    other.write_text("from library import _named_elsewhere, also_for_others\n", encoding="utf-8")
    assert {f.span.line for f in found([path, other]) if f.code in ("CF101", "CF102")} == marked(text, "BREAK")


def test_the_call_of_an_object_on_tensors_is_not_that_of_a_module(tmp_path: Path) -> None:
    text = program(
        f"""
        class Model(nn.Module):
            def __call__(self, x: torch.Tensor):
                {DECIDES}
                return x
        class Rule:
            def __call__(self, x: torch.Tensor):
                {DECIDES}
                return x
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    roots = [f.reached_by[0] for f in found([path]) if f.code == "CF102"]
    assert roots == ["Model.__call__", "Rule.__call__ by itself"]
    assert [leads_from_a_forward(root) for root in roots] == [True, False]


def test_what_goes_over_the_parameters_of_a_model_or_searches_with_it_stands_apart(tmp_path: Path) -> None:
    text = program(
        f"""
        class Average(nn.Module):
            def forward(self, model):
                for name, x in model.named_parameters():
                    {DECIDES}
        class Tied(nn.Module):
            def forward(self, x: torch.Tensor, model):
                for name, y in model.named_parameters():
                    x = x + y
                {DECIDES}
                return x
        class BatchBeamSearch(nn.Module):
            def forward(self, x: torch.Tensor):
                {DECIDES}
                return x
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    roots = {f.reached_by[0] for f in found([path]) if f.code == "CF102"}
    assert roots == {"Average.forward by itself", "BatchBeamSearch.forward by itself", "Tied.forward"}


@pytest.mark.parametrize(
    "name", ["data.mix", "datasets.mix", "dataset.mix", "sound_dataset", "utils.test", "exporter", "unittests.run"]
)
def test_files_beside_the_model_hold_no_roots(name: str) -> None:
    text = program(f"def mixed(x: torch.Tensor):\n    {DECIDES}  # NOT\n    return x\n")
    names = ("pkg.model", f"pkg.{name}")
    files = [SourceFile(Path("/nowhere", f"{n.replace('.', '/')}.py"), n, text) for n in names]
    outcome = run(files, Config(root=Path("/nowhere")), rules=list(registry.load().values()), rewrite=False)
    assert {Path(f.path).name for f in outcome.findings} == {"model.py"}


def test_what_forward_calls_to_compile_something_is_not_traced(tmp_path: Path) -> None:
    text = program(
        f"""
        class Model(nn.Module):
            def forward(self, x: torch.Tensor):
                return self.made()(self.scaled(x))
            def made(self):
                print("compiles")  # NOT
                return torch.export.export(self.inner, (torch.ones(2),)).module()
            def scaled(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    assert {f.span.line for f in found([path])} == marked(text, "BREAK")


def test_a_file_by_itself_may_hold_just_what_somebody_compiles(tmp_path: Path) -> None:
    text = program(
        f"""
        import tempfile
        def save_state(x: torch.Tensor, dataset):
            {DECIDES}  # BREAK
            return x, tempfile.gettempdir()
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    assert {f.span.line for f in found([path]) if f.code == "CF102"} == marked(text, "BREAK")


def test_a_training_loop_says_what_a_loss_is_given(tmp_path: Path) -> None:
    text = program(
        """
        def step(model, data: torch.Tensor):
            loss = limited(model, data)
            loss.backward()
        def limited(model, value):
            return value if value > 0 else model(value)  # BREAK
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    assert {f.span.line for f in found([path])} == marked(text, "BREAK")


SEVERAL = """
if torch.get_num_threads() > 0:
    def root(x):
        x.mul_(2)
        return x
else:
    def root(x): return x * 2

@torch.compile
def start(x: torch.Tensor):
    y = x + 1
    if x.sum() > 0:
        y = root(x)
    return y
"""


def test_what_is_defined_in_several_blocks_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "several.py"
    path.write_text(HEAD + SEVERAL)
    decided = [finding for finding in found([path]) if finding.code == "CF101"]
    assert [finding.fix is not None and "branches-total" in finding.fix.assumptions for finding in decided] == [True]


SEVERAL_METHODS = """
class Model(nn.Module):
    if torch.get_num_threads() > 0:
        def root(self, x):
            x.mul_(2)
            return x
    else:
        def root(self, x): return x * 2
    def forward(self, x: torch.Tensor):
        y = x + 1
        if x.sum() > 0:
            y = self.root(x)
        return y
"""


def test_all_definitions_of_a_method_in_its_class_count(tmp_path: Path) -> None:
    path = tmp_path / "several.py"
    path.write_text(HEAD + SEVERAL_METHODS)
    decided = [finding for finding in found([path]) if finding.code == "CF101"]
    assert [finding.declined for finding in decided] == [
        "a branch is not free of effects: `Model.root`, which `self.root` may run: `x.mul_` writes in place; "
        "select with `torch.where` what both sides compute, or decide outside the compiled code"
    ]


def test_only_what_stays_between_calls_grows_with_them(tmp_path: Path) -> None:
    """An object that is no module may be made anew for each call of the method that counts as compiled."""
    text = program(
        """
        class Collected:
            def __init__(self):
                self.parts = []
            def add(self, x: torch.Tensor):
                self.parts.append(x.abs())
                return x
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = []
            def forward(self, x: torch.Tensor):
                self.parts.append(x.abs())  # GROWS
                return x
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    assert {f.span.line for f in found([path]) if f.code == "CF603"} == marked(text, "GROWS")


@pytest.mark.parametrize("root", ["library.root", "library.Model"])
def test_a_root_in_the_configuration(root: str, tmp_path: Path) -> None:
    text = program(
        f"""
        class Model(nn.Module):
            def forward(self, x: torch.Tensor):
                {DECIDES}  # BREAK Model
                return x
        def root(x: torch.Tensor):
            {DECIDES}  # BREAK root
            return x
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    findings = found([path], (root,))
    assert {f.span.line for f in findings} == marked(text, f"BREAK {root.rpartition('.')[2]}")
    assert all(f.reached_by[0] == f"{root} (configured root)" for f in findings)


@pytest.mark.parametrize("kept", ["", "models"])
def test_packages_that_an_installer_has_put_there_are_libraries(tmp_path: Path, kept: str) -> None:
    """`pip install --target` makes no folder called site-packages; what it knows of a package it puts beside it."""
    text = (
        "import torch\nfrom torch import Tensor, nn\n\n"
        "def fast(x: Tensor):\n    return x + 1\n\nquick = torch.compile(fast)\n\n"
        "class Model(nn.Module):\n    def forward(self, x: Tensor):\n        return x * x.sum().item()\n"
    )
    parts = ["package", *kept.split("/")] if kept else ["package"]
    path = tmp_path.joinpath(*parts, "core.py")
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    files = [SourceFile(path, ".".join([*parts, "core"]), text)]

    def functions() -> set[str]:
        outcome = run(files, Config(tmp_path), rules=list(registry.load().values()), rewrite=False)
        return {finding.function for finding in outcome.findings}

    assert functions() == set()
    (tmp_path / "package-1.0.dist-info").mkdir()
    assert functions() == {"Model.forward"}


HELPER = """
import torch

@torch.compile
def rotated(x: torch.Tensor):
    return x.roll(1)
"""


@pytest.mark.parametrize(
    ("compiling", "looked_at"),
    [
        (HELPER, True),
        # It compiles what the project has, and the rest is run as it is.
        (HELPER + "\n@torch.compile\ndef step(x: torch.Tensor):\n    return Rotated()(x)\n", False),
        (HELPER + "\nquick = torch.compile(rotated)\n", False),
    ],
    ids=["a helper alone", "a function that runs a module", "a call"],
)
def test_a_package_that_only_decorates_helpers_is_a_library(compiling: str, looked_at: bool, tmp_path: Path) -> None:
    module = "from torch import nn\nclass Rotated(nn.Module):\n    def forward(self, x):\n        return x\n"
    model = (
        "import torch\nfrom torch import nn\nclass Model(nn.Module):\n    def forward(self, x: torch.Tensor):\n"
        f"        {DECIDES}\n        return x\n"
    )
    sources = [
        SourceFile(tmp_path / "package" / "__init__.py", "package", ""),
        SourceFile(tmp_path / "package" / "rotate.py", "package.rotate", f"{compiling}\n{module}"),
        SourceFile(tmp_path / "package" / "model.py", "package.model", model),
    ]
    findings = run(sources, Config(root=tmp_path), rules=list(registry.load().values()), rewrite=False).findings
    assert bool(findings) is looked_at


def test_what_the_project_uses_outside_of_graphs_alone_is_told_last(tmp_path: Path) -> None:
    text = program(
        f"""
        import networkx
        from torch.utils import data
        def repaired(x: torch.Tensor):
            {DECIDES}  # LAST
            return flipped(x)
        def flipped(x: torch.Tensor):
            {DECIDES}  # LAST
            return x
        def _turned(x: torch.Tensor):
            {DECIDES}
            return x
        def loaded(x: torch.Tensor):
            {DECIDES}
            return x
        def prepared(x: torch.Tensor):
            {DECIDES}
            return x
        def handed_out(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def scored(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def trained(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def given(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def used_by_nobody(x: torch.Tensor):
            {DECIDES}  # BREAK
            return repaired_too(x)
        def repaired_too(x: torch.Tensor):
            {DECIDES}  # BREAK
            return x
        def generate(domain: str, size: int):
            x = torch.full((size, 3), float(len(domain)))
            return apply(given, handed_out(repaired(_turned(x))))
        def read(path: str):
            return loaded(torch.load(path))
        class Shapes(data.Dataset):
            def __getitem__(self, index):
                return prepared(self.shapes[index])
        def step(batch: dict[str, int], model):
            loss = trained(model(batch))
            loss.backward()
        class Scorer:
            def run(self, batch: dict[str, int]):
                return scored(batch["x"])
        """
    )
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("from pkg.shapes import handed_out\n", encoding="utf-8")
    (package / "shapes.py").write_text(text, encoding="utf-8")
    (package / "other.py").write_text("from pkg.shapes import generate\n", encoding="utf-8")
    files = [package / name for name in ("__init__.py", "shapes.py", "other.py")]
    decided = [f for f in found(files) if f.code in ("CF101", "CF102")]
    assert {f.span.line for f in decided} == marked(text, "BREAK") | marked(text, "LAST")


def test_what_sets_up_converts_or_makes_texts_is_no_root(tmp_path: Path) -> None:
    text = program(
        f"""
        import networkx
        from torch.utils import data
        class Cones(nn.Module):
            def __init__(self, x: torch.Tensor):
                super().__init__()
                self.fill_responses(x)
                self.filled(x)
                self.resized(x)
            def resized(self, x: torch.Tensor):
                {DECIDES}
                return x
            def forward(self, x: torch.Tensor, name):
                return getattr(self, name)(x), self.filled
            def fill_responses(self, x: torch.Tensor):
                {DECIDES}
                self.responses = x
            def filled(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
            def init_places(self, x: torch.Tensor):
                {DECIDES}
                self.places = x
            @classmethod
            def from_matrix(cls, x: torch.Tensor):
                {DECIDES}
                return cls(x)
            def to_networkx(self, x: torch.Tensor):
                {DECIDES}
                return networkx.Graph(x)
            def to_half(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x.half()
        class Turns:
            def prompt(self, text):
                return self.tokenizer(text, return_tensors="pt")
            def check(self, x: torch.Tensor):
                {DECIDES}
                return x
        class Cropped:
            def crop(self, x: torch.Tensor):
                {DECIDES}
                return x
        class Scaled:
            def scale(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        class Scenes(data.Dataset):
            def __getitem__(self, index):
                return Cropped().crop(self.scenes[index])
        def measured(x: torch.Tensor) -> tuple[float, float]:
            {DECIDES}
            return float(x[0]), float(x[1])
        def shown(x: torch.Tensor) -> numpy.ndarray:
            {DECIDES}
            return x.numpy()
        def named(x: torch.Tensor, names) -> list[str]:
            {DECIDES}
            return [names[i] for i in x]
        def counted(x: torch.Tensor) -> dict[str, torch.Tensor]:
            {DECIDES}  # BREAK
            return {{"x": x}}
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    other = tmp_path / "other.py"
    other.write_text("from library import Scaled\n", encoding="utf-8")
    assert {f.span.line for f in found([path, other]) if f.code in ("CF101", "CF102")} == marked(text, "BREAK")


def test_files_of_data_and_tests_hold_no_roots_and_folders_belong_to_their_package(tmp_path: Path) -> None:
    text = program(f"def cropped(x: torch.Tensor):\n    {DECIDES}\n    return x\n")
    data_file = program(
        f"""
        from torch.utils.data import Dataset
        class Sounds(Dataset):
            pass
        def cropped(x: torch.Tensor):
            {DECIDES}
            return x
        """
    )
    (tmp_path / "pkg" / "dataset" / "structure").mkdir(parents=True)
    (tmp_path / "pkg" / "train").mkdir()
    places = {"pkg/__init__.py": "", "pkg/dataset/structure/bonds.py": text, "pkg/train/data.py": data_file}
    places["pkg/train/bonds.py"] = text
    for place, content in places.items():
        (tmp_path / place).write_text(content, encoding="utf-8")
    paths = [tmp_path / place for place in places]
    module = program(
        f"class Net(nn.Module):\n    def forward(self, x: torch.Tensor):\n        {DECIDES}\n        return x\n"
    )
    (tmp_path / "pkg" / "test_nets.py").write_text(module, encoding="utf-8")
    paths.append(tmp_path / "pkg" / "test_nets.py")
    assert {Path(f.path).parent.name for f in found(paths)} == {"train"}
    assert {Path(f.path).name for f in found(paths)} == {"bonds.py"}


def test_a_function_that_a_forward_names_is_reached_from_there(tmp_path: Path) -> None:
    text = program(
        f"""
        def cubic(x: torch.Tensor):
            {DECIDES}
            return x
        def linear(x: torch.Tensor):
            {DECIDES}
            return x
        def alone(x: torch.Tensor):
            {DECIDES}  # ALONE
            return x
        class Spline(nn.Module):
            def forward(self, x: torch.Tensor, straight: bool):
                if straight:
                    spline = linear
                else:
                    spline = cubic
                return spline(x)
        """
    )
    path = tmp_path / "splines.py"
    path.write_text(text, encoding="utf-8")
    told = [f for f in found([path]) if f.code in ("CF101", "CF102")]
    assert {f.function: f.reached_by[0] for f in told} == {
        "cubic": "Spline.forward",
        "linear": "Spline.forward",
        "alone": "alone",
    }
    assert {f.span.line for f in told if f.apart} == marked(text, "ALONE")


def test_a_forward_that_fits_something_stands_apart_and_one_with_arrays_alone_is_no_root(tmp_path: Path) -> None:
    base = program("class Model(nn.Module):\n    pass\n")
    fits = program(
        f"""
        class Explains(nn.Module):
            def fit(self, x: torch.Tensor):
                mask = torch.ones_like(x, requires_grad=True)
                optimizer = torch.optim.Adam([mask])
                return mask
            def forward(self, x: torch.Tensor):
                {DECIDES}
                return self.fit(x)
        class Plain(nn.Module):
            def configure_optimizers(self):
                return torch.optim.Adam(self.parameters())
            def forward(self, x: torch.Tensor):
                {DECIDES}  # BREAK
                return x
        """
    )
    arrays = "import numpy as np\nfrom base import Model\n\n\nclass Walks(Model):\n"
    arrays += "    def forward(self, x):\n        print(x)\n        return np.cumsum(x)\n"
    layers = arrays.replace("np.cumsum(x)", "self.layer(x)").replace("Walks", "Layers")
    for name, content in {"base": base, "fits": fits, "arrays": arrays, "layers": layers}.items():
        (tmp_path / f"{name}.py").write_text(content, encoding="utf-8")
    paths = [tmp_path / f"{name}.py" for name in ("base", "fits", "arrays", "layers")]
    told = [f for f in found(paths) if f.code in ("CF102", "CF301")]
    assert {(f.function, f.apart) for f in told} == {
        ("Explains.forward", True),
        ("Plain.forward", False),
        ("Layers.forward", False),
    }


def test_a_forward_of_a_class_that_is_no_module_stands_apart(tmp_path: Path) -> None:
    text = program(
        f"""
        class Own:
            def forward(self, x: torch.Tensor):
                {DECIDES}  # APART
                return x
        class Net(nn.Module):
            def forward(self, x: torch.Tensor):
                {DECIDES}
                return x
        """
    )
    path = tmp_path / "own.py"
    path.write_text(text, encoding="utf-8")
    told = [f for f in found([path]) if f.code in ("CF101", "CF102")]
    assert len(told) == 2
    assert {f.span.line for f in told if f.apart} == marked(text, "APART")


def test_what_subclasses_put_in_the_place_of_a_method_is_told_with_the_way_to_it(tmp_path: Path) -> None:
    text = program(
        f"""
        class Transform(nn.Module):
            def forward(self, x: torch.Tensor):
                return self.apply_transform(x)
            def apply_transform(self, x: torch.Tensor):
                raise NotImplementedError
        class Shifted(Transform):
            def apply_transform(self, x: torch.Tensor) -> torch.Tensor:
                return self.shifted(x)
            def shifted(self, x: torch.Tensor):
                {DECIDES}
                return x
        """
    )
    path = tmp_path / "transforms.py"
    path.write_text(text, encoding="utf-8")
    [told] = [f for f in found([path]) if f.code in ("CF101", "CF102")]
    assert told.reached_by == ("Transform.forward", "Shifted.apply_transform", "Shifted.shifted")
    assert not told.apart


@pytest.mark.parametrize("marker", ["setup.py", "requirements.txt", ""])
def test_folders_of_data_count_in_a_project_without_packages(tmp_path: Path, marker: str) -> None:
    text = program(f"def cropped(x: torch.Tensor):\n    {DECIDES}\n    return x\n")
    places = ["src/datasets/video/crops.py", "src/models/crops.py", "tests/crops.py"]
    for place in places:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text, encoding="utf-8")
    if marker:
        (tmp_path / marker).write_text("", encoding="utf-8")
    told = {Path(f.path).parent.name for f in found([tmp_path / place for place in places])}
    assert told == ({"models"} if marker else {"video", "models", "tests"})


def test_modules_that_data_sets_alone_use_stand_apart(tmp_path: Path) -> None:
    text = program(
        f"""
        class Flipped(nn.Module):
            def __call__(self, x: torch.Tensor):
                {DECIDES}  # APART
                return x
        class Padded(nn.Module):
            def forward(self, x: torch.Tensor):
                {DECIDES}
                return x
        """
    )
    users = "from steps import {0}\nfrom torch.utils.data import Dataset\nclass Uses{0}({1}):\n"
    users += "    def __init__(self):\n        self.step = {0}()\n"
    places = {"pkg/__init__.py": "", "pkg/data/steps.py": text}
    places["pkg/data/sounds.py"] = users.format("Flipped", "Dataset") + users.format("Padded", "Dataset")
    places["pkg/net.py"] = users.format("Padded", "object")
    (tmp_path / "pkg" / "data").mkdir(parents=True)
    for place, content in places.items():
        (tmp_path / place).write_text(content, encoding="utf-8")
    told = [f for f in found([tmp_path / place for place in places]) if f.code in ("CF101", "CF102")]
    assert len(told) == 2
    assert {f.span.line for f in told if f.apart} == marked(text, "APART")


@pytest.mark.parametrize(
    ("folder", "user", "apart"),
    [("evaluation", "evaluation", True), ("evaluation", "models", False), ("layers", "layers", False)],
)
def test_a_module_that_scores_results_stands_apart(folder: str, user: str, apart: bool, tmp_path: Path) -> None:
    """In a folder for that, and nothing outside of it uses the module."""
    score = tmp_path / folder / "score.py"
    uses = tmp_path / user / "uses.py"
    for path in (score, uses):
        path.parent.mkdir(exist_ok=True)
    score.write_text(program(MODEL), encoding="utf-8")
    uses.write_text(f"from {folder}.score import Model\n\ndef scored(x):\n    return Model()(x)\n", encoding="utf-8")
    sources = [SourceFile(p, f"{p.parent.name}.{p.stem}", p.read_text(encoding="utf-8")) for p in (score, uses)]
    told = run(sources, Config(root=tmp_path), rules=list(registry.load().values()), rewrite=False).findings
    assert [leads_from_a_forward(f.reached_by[0]) for f in told] == [not apart]


@pytest.mark.parametrize(
    ("entry", "apart"),
    [
        ("x {PIL.Image, np.ndarray, or list} -- A PIL image, np.ndarray or torch.Tensor.", True),
        ("x (PIL Image): the picture.", True),
        ("x (PIL Image or Tensor): the picture.", False),
        ("y (PIL Image): another picture.", False),
    ],
)
def test_a_forward_that_takes_pictures_of_pil_stands_apart(entry: str, apart: bool, tmp_path: Path) -> None:
    path = tmp_path / "detector.py"
    start = "def forward(self, x: torch.Tensor):\n"
    text = program(MODEL).replace(start, f'{start}        """Find faces.\n\n        {entry}\n        """\n')
    path.write_text(text, encoding="utf-8")
    assert [leads_from_a_forward(f.reached_by[0]) for f in found([path])] == [not apart]


def test_what_is_exported_or_called_by_a_simulator_stands_apart(tmp_path: Path) -> None:
    net = program(
        f"""
        import onnxruntime
        from torch_sim.models.interface import ModelInterface
        class Net(nn.Module):
            def forward(self, x: torch.Tensor):
                {DECIDES}
                return x
        class Wrapper(ModelInterface):
            def forward(self, x: torch.Tensor):
                {DECIDES}  # APART
                return x
        class Select(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x: torch.Tensor):
                {DECIDES}  # APART
                return x
            @staticmethod
            def symbolic(g, x):
                return g.op("Select", x)
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x: torch.Tensor):
                {DECIDES}
                return x
            @staticmethod
            def backward(ctx, grad):
                return grad
            @staticmethod
            def symbolic(g, x):
                return g.op("Square", x)
        class Spoken(nn.Module):
            def __init__(self, path):
                super().__init__()
                self.session = onnxruntime.InferenceSession(path)
            def forward(self, x: torch.Tensor):
                {DECIDES}  # APART
                return x
        """
    )
    deployed = program(f"class Out(nn.Module):\n    def forward(self, x: torch.Tensor):\n        {DECIDES}  # APART\n")
    (tmp_path / "deploy" / "pkg").mkdir(parents=True)
    for place, text in {"pyproject.toml": "", "net.py": net, "deploy/pkg/__init__.py": ""}.items():
        (tmp_path / place).write_text(text, encoding="utf-8")
    (tmp_path / "deploy" / "pkg" / "out.py").write_text(deployed, encoding="utf-8")
    (tmp_path / "parts_onnx.py").write_text(deployed, encoding="utf-8")
    (tmp_path / "engine_trt.py").write_text(deployed, encoding="utf-8")
    files = [tmp_path / name for name in ("net.py", "deploy/pkg/out.py", "parts_onnx.py", "engine_trt.py")]
    told = [f for f in found(files) if f.code in ("CF101", "CF102")]
    apart = {(Path(f.path).name, f.span.line) for f in told if f.apart}
    lines = {name: marked(deployed, "APART") for name in ("out.py", "parts_onnx.py", "engine_trt.py")} | {
        "net.py": marked(net, "APART")
    }
    assert apart == {(name, line) for name, found_in in lines.items() for line in found_in}
    assert len(told) == len(apart) + 2


def test_what_makes_pictures_or_measures_times_stands_apart(tmp_path: Path) -> None:
    text = program(
        f"""
        from PIL import Image
        class Net(nn.Module):
            def forward(self, x: torch.Tensor, step: int):
                if step % 100 == 0:
                    self.visualize_training(x)
                    self._profile_one_layer(x)
                return self.scaled(x)
            def visualize_training(self, x: torch.Tensor):
                {DECIDES}  # APART
                return boxes_of(x)
            def _profile_one_layer(self, x: torch.Tensor):
                {DECIDES}  # APART
            def scaled(self, x: torch.Tensor):
                {DECIDES}
                return x
        class Shown(nn.Module):
            def forward(self, x: torch.Tensor):
                {DECIDES}  # APART
                return Image.fromarray(x)
        def boxes_of(x: torch.Tensor):
            {DECIDES}  # APART
            return x
        """
    )
    path = tmp_path / "net.py"
    path.write_text(text, encoding="utf-8")
    (tmp_path / "other.py").write_text("import net\n", encoding="utf-8")
    told = [f for f in found([path, tmp_path / "other.py"]) if f.code in ("CF101", "CF102")]
    assert {f.span.line for f in told if f.apart} == marked(text, "APART")
    assert len(told) == 5


def test_a_function_that_a_forward_and_an_exporter_call_is_told_with_the_forward(tmp_path: Path) -> None:
    shared = program(f"def anchors(x: torch.Tensor):\n    {DECIDES}\n    return x\n")
    module = "import torch\nfrom torch import nn\nfrom shared import anchors\nclass {}(nn.Module):\n"
    direct = "    def forward(self, x):\n        return anchors(x)\n"
    later = (
        "    def forward(self, x):\n        return self.inner(x)\n    def inner(self, x):\n        return anchors(x)\n"
    )
    (tmp_path / "onnx").mkdir()
    (tmp_path / "setup.py").write_text("", encoding="utf-8")
    places = {"onnx/a.py": module.format("Out") + direct, "net.py": module.format("Net") + later, "shared.py": shared}
    for place, text in places.items():
        (tmp_path / place).write_text(text, encoding="utf-8")
    [told] = [f for f in found([tmp_path / place for place in places]) if f.code in ("CF101", "CF102")]
    assert told.reached_by[0] == "Net.forward"
    assert not told.apart


def test_what_compiled_code_needs_is_told_last_where_a_test_compiles_it(tmp_path: Path) -> None:
    ops = program("def nse(x: torch.Tensor):\n    n = int(x[-1].item())\n    return torch.zeros(n)\n")
    test = "import torch\nfrom ops import nse\ndef test_nse():\n    torch.compile(nse)(torch.ones(2))\n"
    for name, text in {"ops": ops, "test_nse": test, "train": test.replace("test_nse", "train")}.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    told = [f for f in found([tmp_path / "ops.py", tmp_path / "test_nse.py"]) if f.code == "CF205"]
    assert [(Path(f.path).stem, f.apart) for f in told] == [("test_nse", True)]
    told = [f for f in found([tmp_path / "ops.py", tmp_path / "train.py"]) if f.code == "CF205"]
    assert [(Path(f.path).stem, f.apart) for f in told] == [("train", False)]


@pytest.mark.parametrize(
    ("use", "called"),
    [
        ("self.stft.transform(x)", False),
        ("self.stft(x)", True),
        ("self.stft.forward(x)", True),
        ("self.stft.to(x.device)(x)", True),
        ("run(self.stft, x)", True),
        ("self.stft.transform(x) + Other.stft(x)", True),
    ],
)
def test_a_forward_that_nobody_calls_stands_by_itself(use: str, called: bool, tmp_path: Path) -> None:
    text = program(
        f"""
        class STFT(nn.Module):
            def transform(self, x: torch.Tensor):
                return x + 1
            def forward(self, x: torch.Tensor):
                {DECIDES}
                return x
        class Mel(nn.Module):
            def __init__(self):
                super().__init__()
                self.stft = STFT()
            def spectrogram(self, x: torch.Tensor):
                return {use}
        class Net(nn.Module):
            def forward(self, x: torch.Tensor):
                {DECIDES}
                return x
        """
    )
    path = tmp_path / "library.py"
    path.write_text(text, encoding="utf-8")
    roots = {f.reached_by[0] for f in found([path]) if f.code == "CF102" and f.function == "STFT.forward"}
    assert roots == {"STFT.forward" if called else "STFT.forward by itself"}

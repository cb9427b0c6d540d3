"""What varies from call to call of a compiled callable: what is reported, and what it costs when it runs."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compilefix.codemods import registry  # noqa: E402
from compilefix.codemods.finding import Finding  # noqa: E402
from compilefix.fixing.engine import run  # noqa: E402
from compilefix.source.config import Config  # noqa: E402
from compilefix.source.files import SourceFile  # noqa: E402

F = torch.nn.functional
_CODES = ("CF607", "CF608", "CF609", "CF801", "CF810", "CF811")
_HEAD = """\
import functools
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
from tqdm import tqdm
"""


def found(code: str, path: str = "/nowhere/program.py") -> list[Finding]:
    file = SourceFile(Path(path), "program", _HEAD + textwrap.dedent(code))
    rules = [rule for name, rule in registry.load().items() if name in _CODES]
    return list(run([file], Config(root=Path("/nowhere")), rules=rules, rewrite=False).findings)


def codes(code: str, path: str = "/nowhere/program.py") -> list[str]:
    return [finding.code for finding in found(code, path)]


def runs(function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], **options: Any) -> list[int]:
    """Which of the compiled versions each call runs, by number."""
    versions: list[int] = []
    made = 0

    def backend(module: Any, _: Any) -> Any:
        nonlocal made
        number, made = made, made + 1

        def call(*values: Any) -> Any:
            versions.append(number)
            return module.forward(*values)

        return call

    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend, **options)
    for arguments in calls:
        compiled(*arguments)
    torch._dynamo.reset()
    return versions


_TRAIN = """
def train(model, loader):
    for {target} in {iterated}:
        y = x.float()
        model(y).sum().backward()

def main(data, args):
    model = nn.Linear(3, 1)
    {compiled}
    loader = {loader}
    train({model}, loader)
"""
_COMPILED = "model = torch.compile(model)"


@pytest.mark.parametrize(
    ("loader", "reported"),
    [
        ("DataLoader(data, batch_size=8)", True),
        ("DataLoader(data, args.batch_size, shuffle=True)", True),
        ("DataLoader(data, batch_size=8, drop_last=False)", True),
        ("DataLoader(data, batch_size=8, drop_last=True)", False),
        ("DataLoader(data, batch_size=8, drop_last=args.drop)", False),
        ("DataLoader(data)", False),
        ("DataLoader(data, batch_size=1)", False),
        ("DataLoader(data, batch_size=None)", False),
        ("DataLoader(data, batch_sampler=args.sampler)", False),
        ("DataLoader(data, **args)", False),
        ("make(data)", False),
    ],
)
def test_a_loader_with_a_smaller_last_batch(loader: str, reported: bool) -> None:
    code = _TRAIN.format(target="x, y", iterated="loader", compiled=_COMPILED, loader=loader, model="model")
    assert codes(code) == ["CF607"] * reported


@pytest.mark.parametrize(
    ("compiled", "model", "target", "iterated", "reported"),
    [
        ("if args.compile:\n        model = torch.compile(model)", "model", "x", "loader", True),
        ("model.compile()", "model", "i, x", "enumerate(tqdm(loader))", True),
        ("fast = torch.compile(model, dynamic=False)", "fast", "x", "loader", True),
        ("fast = torch.compile(model, dynamic=True)", "fast", "x", "loader", False),
        ("fast = torch.compile(model)\n    fast(data)", "model", "x", "loader", False),
        ("pass", "model", "x", "loader", False),
        (_COMPILED, "model", "x", "range(3)", False),
        (f"{_COMPILED}\n    torch._dynamo.mark_dynamic(data[0], 0)", "model", "x", "loader", False),
    ],
)
def test_a_loader_for_what_is_compiled(compiled: str, model: str, target: str, iterated: str, reported: bool) -> None:
    code = _TRAIN.format(target=target, iterated=iterated, compiled=compiled, loader="DataLoader(data, 8)", model=model)
    assert codes(code) == ["CF607"] * reported
    assert codes(code, "/nowhere/tests/test_program.py") == []


def test_full_batches_run_in_the_code_for_all_sizes_after_a_smaller_one() -> None:
    batches = [(torch.ones(size, 3),) for size in (8, 8, 3, 8, 8)]
    assert runs(torch.nn.Linear(3, 1), batches) == [0, 0, 1, 1, 1]
    assert runs(torch.nn.Linear(3, 1), batches, dynamic=False) == [0, 0, 1, 0, 0]
    assert runs(torch.nn.Linear(3, 1), batches, dynamic=True) == [0, 0, 0, 0, 0]


_LONGEST = """
def main(model, texts, tokenizer):
    fast = torch.compile(model, {options})
    for text in texts:
        batch = {padded}
        fast(batch)
"""


@pytest.mark.parametrize(
    ("options", "padded", "reported"),
    [
        ("dynamic=False", "tokenizer(text, padding=True)", True),
        ("dynamic=False", "tokenizer(text, padding='longest')", True),
        ("dynamic=False", "nn.utils.rnn.pad_sequence(text)", True),
        ("dynamic=False", "tokenizer(text, padding='max_length')", False),
        ("dynamic=False", "tokenizer(text, padding=True, pad_to_multiple_of=64)", False),
        ("dynamic=False", "F.conv1d(text, text, padding=1)", False),
        ("dynamic=None", "tokenizer(text, padding=True)", False),
    ],
)
def test_padding_to_the_longest_where_sizes_are_fixed(options: str, padded: str, reported: bool) -> None:
    assert codes(_LONGEST.format(options=options, padded=padded)) == ["CF607"] * reported


def test_each_length_is_compiled_where_sizes_are_fixed() -> None:
    lengths = [(torch.ones(2, length),) for length in range(3, 8)]
    assert runs(torch.sin, lengths) == [0, 1, 1, 1, 1]
    assert runs(torch.sin, lengths, dynamic=False) == [0, 1, 2, 3, 4]


_CALLS = 4
_X = torch.ones(2, 4)
_BODIES = [
    ("F.dropout(x, v, training=False)", "i / 10", True),
    ("F.layer_norm(x, (4,), eps=v)", "i / 10 + 0.1", True),
    ("F.cross_entropy(x, x, label_smoothing=v)", "i / 10", True),
    ("F.smooth_l1_loss(x, x + 1, beta=v)", "i / 10 + 0.1", True),
    ("torch.quantile(x, v)", "i / 10", True),
    ("sum([x for _ in range(v)])", "i + 1", True),
    ("{v: x + 1}", "f'step {i}'", True),
    ("x + 1 if v == 'a' else x - 1", "str(i)", True),
    ("x * v", "i / 10 + 0.1", False),
    ("x.clamp(max=v)", "i / 10 + 0.1", False),
    ("F.leaky_relu(x, v)", "i / 10 + 0.1", False),
    ("x * v", "i + 1", False),
    ("x.roll(v, 1)", "i + 1", False),
    ("x + 1", "f'step {i}'", False),
]


@pytest.mark.parametrize(("body", "given", "reported"), _BODIES)
def test_constants_are_reported_where_each_value_is_compiled(body: str, given: str, reported: bool) -> None:
    space: dict[str, Any] = {"torch": torch, "F": F}
    exec(f"def f(x, v):\n    return {body}\n", space)
    values = [eval(given, {"i": i}) for i in range(_CALLS)]
    versions = runs(space["f"], [(_X, value) for value in values])
    assert (len(set(versions)) == _CALLS) is reported
    code = f"""
    @torch.compile
    def f(x, v):
        return {body}

    def main(x, n):
        for i in range(n):
            f(x, {given})
    """
    assert codes(code) == ["CF608"] * reported


@pytest.mark.parametrize(
    ("loop", "reported"),
    [
        ("for i in range(n):\n    step(x, 0.1 * i)", True),
        ("for p in schedule:\n    for x in n:\n        step(x, v=p)", True),
        ("for i in range(n):\n    q = i / n\n    step(x, q)", True),
        ("for i in range(4):\n    step(x, i / 4)", False),
        ("for p in (0.1, 0.2):\n    step(x, p)", False),
        ("for x in n:\n    step(x, 0.1)", False),
        ("step(x, n)", False),
        ("for i in range(n):\n    other(x, i / n)", False),
    ],
)
def test_only_what_changes_in_the_loop(loop: str, reported: bool) -> None:
    code = f"""
    def drop(x, v):
        return F.dropout(x, v)

    step = torch.compile(drop)

    def main(x, n, schedule, other):
    {textwrap.indent(loop, "        ").lstrip()}
    """
    assert codes(textwrap.dedent(code).replace("\nfor", "\n    for").replace("\nstep(x", "\n    step(x")) == (
        ["CF608"] * reported
    )


def test_a_cache_is_not_looked_into() -> None:
    @functools.cache
    def table(length: int) -> Any:
        return torch.arange(length) * 2

    assert runs(lambda x: x + table(x.shape[0]), [(torch.ones(3),)] * 3) == [0, 0, 0]
    assert table.cache_info().currsize == 0


@pytest.mark.parametrize(
    ("decorator", "result", "reported"),
    [
        ("@functools.cache", "torch.arange(n)", True),
        ("@functools.lru_cache(maxsize=8)", "(torch.arange(n), n)", True),
        ("@functools.cache", "2 * n", False),
        ("@functools.cache", "str(n)", False),
        ("@torch.no_grad()", "torch.arange(n)", False),
    ],
)
def test_cached_functions_that_make_tensors(decorator: str, result: str, reported: bool) -> None:
    code = f"""
    {decorator}
    def table(n: int):
        return {result}

    @torch.compile
    def f(x):
        return x, table(x.shape[0])
    """
    assert codes(code) == ["CF609"] * reported


_METHODS = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.width = 2

    def forward(self, x):
        return self.layer(x)

    def predict(self, x):
        return self(x).argmax(-1)

    def encode(self, x):
        return self.layer(x) * 2

    def count(self):
        return self.width


def main(x):
    model = Model()
    {compiled}
    return {call}
"""


@pytest.mark.parametrize(
    ("compiled", "call", "words"),
    [
        ("fast = torch.compile(model)", "fast.predict(x)", "`model.compile()`"),
        ("fast = torch.compile(model)", "fast.encode(x)", "`model.encode = torch.compile(model.encode)`"),
        ("model = torch.compile(model)", "model.predict(x) + model(x)", "`model.compile()`"),
        ("fast = torch.compile(model)", "fast(x), fast.count(), fast.train()", None),
        ("fast = torch.compile(model)", "fast(x), model.predict(x)", None),
        ("model.compile()", "model.predict(x)", None),
        ("model = torch.compile(model.to('cpu').eval())", "model.predict(x)", "`model.compile()`"),
        ("model = load(x).to('cpu')\n    fast = torch.compile(model)", "fast.generate(x)", "`model.compile()`"),
        ("fast = torch.compile(model)", "fast.generate(x)", None),
        ("fast = torch.compile(load(x))", "fast.predict(x)", None),
    ],
)
def test_methods_of_compiled_modules(compiled: str, call: str, words: str | None) -> None:
    said = [f.declined for f in found(_METHODS.format(compiled=compiled, call=call)) if f.code == "CF811"]
    assert len(said) == (words is not None)
    assert all(words is not None and reason is not None and words in reason for reason in said)


def test_a_method_of_a_compiled_module_compiles_nothing() -> None:
    space: dict[str, Any] = {"torch": torch, "nn": torch.nn}
    exec(_METHODS.format(compiled="pass", call="model"), space)
    x = torch.ones(1, 2)

    def graphs(prepare: Callable[[Any, Any], Any]) -> int:
        made = 0

        def backend(module: Any, _: Any) -> Any:
            nonlocal made
            made += 1
            return module.forward

        torch._dynamo.reset()
        prepare(space["Model"](), backend).predict(x)
        return made

    def in_place(model: Any, backend: Any) -> Any:
        model.compile(backend=backend)
        return model

    assert graphs(lambda model, backend: torch.compile(model, backend=backend)) == 0
    assert graphs(in_place) == 1


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        ("fast.parameters()\n    model(x)", True),
        ("fast.train()\n    fast.state_dict()\n    model(x)", True),
        ("fast = model if x is None else fast\n    fast.parameters()\n    model(x)", False),
        ("if x is None:\n        fast = model\n    fast.parameters()\n    model(x)", True),
        ("fast.parameters()\n    return fast", False),
        ("fast.parameters()\n    fast(x)\n    model(x)", False),
        ("fast.parameters()\n    run(fast)\n    model(x)", False),
        ("fast.parameters()", False),
    ],
)
def test_the_original_is_called(body: str, reported: bool) -> None:
    code = f"def main(model, x, run):\n    fast = torch.compile(model)\n    {body}\n"
    assert codes(code) == ["CF801"] * reported


@pytest.mark.parametrize(
    ("reads", "reported"),
    [("self.model(x)", True), ("self.fast_model(x)", False), ("getattr(self, 'fast_model')", False), ("x", False)],
)
def test_an_attribute_that_nothing_names(reads: str, reported: bool) -> None:
    code = f"""
    class Trainer:
        def __init__(self, model):
            self.model = model
            self.fast_model = torch.compile(model)

        def step(self, x):
            return {reads}
    """
    assert codes(code) == ["CF801"] * reported


_BLOCKS = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

    {mark}
    def forward(self, x):
        return {block}


class Model(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = {made}

    def forward(self, x):
        {body}
        return x


def main(x):
    model = Model(8)
    {compiled}
    return model(x)
"""
_LOOP = "for block in self.blocks:\n            x = block(x)"
_WHOLE = "model = torch.compile(model)"


@pytest.mark.parametrize(
    ("made", "block", "mark", "body", "compiled", "reported"),
    [
        ("nn.ModuleList([Block() for _ in range(depth)])", "self.b(self.a(x))", "", _LOOP, _WHOLE, True),
        (
            "nn.ModuleDict({'a': nn.ReLU(), 'b': nn.ModuleList([Block() for _ in range(depth)])})",
            "self.b(self.a(x))",
            "",
            "for block in self.blocks.b:\n            x = block(x)",
            _WHOLE,
            True,
        ),
        ("nn.Sequential(*(Block() for _ in range(4)))", "self.b(self.a(x))", "", "x = self.blocks(x)", _WHOLE, True),
        ("nn.ModuleList([Block() for _ in range(depth)])", "self.b(self.a(x))", "", _LOOP, "model.compile()", True),
        ("nn.ModuleList([Block() for _ in range(3)])", "self.b(self.a(x))", "", _LOOP, _WHOLE, False),
        ("nn.ModuleList([Block() for _ in range(depth)])", "self.a(x)", "", _LOOP, _WHOLE, False),
        ("nn.ModuleList([Block(i) for i in range(depth)])", "self.b(self.a(x))", "", _LOOP, _WHOLE, False),
        ("nn.ModuleList([Block(), Block()])", "self.b(self.a(x))", "", _LOOP, _WHOLE, False),
        (
            "nn.ModuleList([Block() for _ in range(depth)])",
            "self.b(self.a(x))",
            "@torch.compiler.nested_compile_region",
            _LOOP,
            _WHOLE,
            False,
        ),
        ("nn.ModuleList([Block() for _ in range(depth)])", "self.b(self.a(x))", "", _LOOP, "pass", False),
        ("nn.ModuleList([Block() for _ in range(depth)])", "self.b(self.a(x))", "", "x = x + 1", _WHOLE, False),
    ],
)
def test_repeated_blocks(made: str, block: str, mark: str, body: str, compiled: str, reported: bool) -> None:
    code = _BLOCKS.format(made=made, block=block, mark=mark, body=body, compiled=compiled)
    assert codes(code) == ["CF810"] * reported


@pytest.mark.parametrize("region", [False, True])
def test_blocks_that_are_compiled_alone_are_compiled_once(region: bool) -> None:
    space: dict[str, Any] = {"torch": torch, "nn": torch.nn}
    made = "nn.ModuleList([Block() for _ in range(depth)])"
    mark = "@torch.compiler.nested_compile_region" if region else ""
    exec(_BLOCKS.format(made=made, block="self.b(self.a(x))", mark=mark, body=_LOOP, compiled="pass"), space)
    model, x = space["Model"](5), torch.ones(1, 2)
    expected = model(x)
    sizes: list[int] = []

    def backend(module: Any, _: Any) -> Any:
        sizes.append(sum(node.op not in ("placeholder", "output", "get_attr") for node in module.graph.nodes))
        return module.forward

    torch._dynamo.reset()
    if region:
        model.compile(backend=backend)
    else:
        for block in model.blocks:
            block.compile(backend=backend)
    with torch.no_grad():
        assert torch.equal(model(x), expected)
    torch._dynamo.reset()
    assert len(sizes) == 1, "five blocks, one graph"
    # Two layers in the one block, or five calls of the one region with their results taken apart.
    assert sizes[0] == (10 if region else 2)

"""PyTorch 2.13 returns wrong results of a graph that writes values with a gradient and adds to what an object holds."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import torch

from compilefix.codemods import registry
from compilefix.codemods.finding import Finding
from compilefix.fixing import engine
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

MODULE = """
    import torch
    from torch import nn


    class Cache(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", torch.zeros(2, 6, 3))
            self.register_buffer("position", torch.tensor(2))

        {decorator}
        def forward(self, keys: torch.Tensor):
            print("called")
            {write}
            {add}
            return keys * 2
"""


def found(write: str, add: str, decorator: str = "") -> Finding:
    text = textwrap.dedent(MODULE).format(write=write, add=add, decorator=decorator)
    file = SourceFile(Path("cache.py"), "cache", text)
    (finding,) = engine.run([file], Config(root=Path()), rules=list(registry.load().values()), rewrite=False).findings
    return finding


@pytest.mark.parametrize("write", ["self.keys[:, :2] = keys", "self.keys.mul_(0.5).add_(keys.mean())"])
def test_writes_the_method_too(write: str) -> None:
    finding = found(write, "self.position += 2")
    assert finding.fix is not None
    assert "{target}.add_({value})" in [edit.template for edit in finding.fix.edits]


def test_declines_where_there_is_no_such_method() -> None:
    finding = found("self.keys[:, :2] = keys", "self.position //= 2")
    assert finding.fix is None
    assert finding.declined is not None
    assert "write the first as a method" in finding.declined


@pytest.mark.parametrize(
    ("write", "add", "decorator"),
    [
        ("self.keys[:, :2] = keys", "self.position.add_(2)", ""),
        ("self.keys[:, :2] = keys.detach()", "self.position += 2", ""),
        ("self.keys[:, :2] = keys", "self.position += 2", "@torch.no_grad()"),
        ("self.keys = keys", "self.position += 2", ""),
    ],
)
def test_leaves_alone_what_comes_out_right(write: str, add: str, decorator: str) -> None:
    finding = found(write, add, decorator)
    assert finding.fix is not None
    assert "{target}.add_({value})" not in [edit.template for edit in finding.fix.edits]


class Cache(torch.nn.Module):
    def __init__(self, *, method: bool) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(2, 6, 3))
        self.register_buffer("position", torch.tensor(2))
        self.method = method

    def forward(self, keys: torch.Tensor) -> torch.Tensor:
        self.keys[:, :2] = keys
        if self.method:
            self.position.add_(2)
        else:
            self.position += 2
        return keys * 2


def test_what_is_advised_gives_the_results_of_eager() -> None:
    keys = torch.ones(2, 2, 3, requires_grad=True)
    compiled = torch.compile(Cache(method=True), backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(keys), Cache(method=True)(keys))


def test_the_fault_is_still_there() -> None:
    keys = torch.ones(2, 2, 3, requires_grad=True)
    result = torch.compile(Cache(method=False), backend="aot_eager", fullgraph=True)(keys)
    wrong = result.shape != keys.shape
    if not wrong:
        pytest.skip(f"torch {torch.__version__} returns the right result")
    assert result.shape == ()

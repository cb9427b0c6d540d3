from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from compilefix.codemods import registry
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Rule, Scope
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile
from compilefix.source.module import Module

TEXT = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        a = x.sin()
        b = x.cos()
        return a + b
"""


@pytest.mark.parametrize(
    ("code", "made"),
    [("{x}.tan()", ["a = x.tan()", "b = x.cos()"]), ("{x}[mask]", ["a = x.sin()", "b = x.cos()"])],
)
def test_no_fix_reads_a_name_that_is_not_there(code: str, made: list[str], tmp_path: Path) -> None:
    class Sine(Rule):
        code = "CF999"
        name = "sine"
        summary = "a sine"

        def find(self, scope: Scope) -> Iterator[Finding]:
            for node in scope.of(ast.Call):
                if isinstance(node.func, ast.Attribute) and node.func.attr == "sin":
                    yield self.fixed(scope, node, "a sine", Fix((scope.edit(node, code, x=node.func.value),)))

    file = SourceFile(tmp_path / "net.py", "net", TEXT)
    outcome = run([file], Config(root=tmp_path), rules=[Sine])
    assert [f.code for f in outcome.findings] == ["CF999"]
    after = next((change.after for change in outcome.patchset), TEXT)
    assert [line.strip() for line in after.splitlines()[5:7]] == made


NAMED = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        a = x.sin()
        b = x.cos()
        c = a.exp()
        d = b.exp()
        return c + d
"""


@pytest.mark.parametrize("behind", ["", "  # no wave"])
def test_two_fixes_do_not_give_two_things_one_new_name(behind: str, tmp_path: Path) -> None:
    """Each pass of a rule takes a name that is free in the function as it stands; a comment says nothing of that."""

    class Named(Rule):
        code = "CF999"
        name = "named"
        summary = "a function under a name"

        def find(self, scope: Scope) -> Iterator[Finding]:
            for node in scope.of(ast.Assign):
                call = node.value
                if not isinstance(call, ast.Call) or ast.unparse(call.func) not in ("x.sin", "x.cos"):
                    continue
                assert isinstance(node.targets[0], ast.Name)
                name, uses = free_name("wave", scope), scope.names(node.targets[0].id)
                line = scope.edit(node, f"{name} = {{call}}.tan()", call=call.func)
                yield self.fixed(scope, node, "a wave", Fix((line, *(scope.edit(use, name) for use in uses))))

    file = SourceFile(tmp_path / "net.py", "net", re.sub(r"(\(\))$", rf"\1{behind}", NAMED, flags=re.MULTILINE))
    outcome = run([file], Config(root=tmp_path), rules=[Named])
    after = next(change.after for change in outcome.patchset)
    assert [line.partition("#")[0].strip() for line in after.splitlines()[5:9]] == [
        "wave = x.sin.tan()",
        "wave_2 = x.cos.tan()",
        "c = wave.exp()",
        "d = wave_2.exp()",
    ]


def test_a_fix_that_cannot_be_written_is_declined_with_a_reason(tmp_path: Path) -> None:
    class Broken(Rule):
        code = "CF999"
        name = "broken"
        summary = "code that is no Python"

        def find(self, scope: Scope) -> Iterator[Finding]:
            for node in scope.of(ast.Assign):
                new = "while :" if "sin" in ast.unparse(node) else "b = 2 * x"
                yield self.fixed(scope, node, "an assignment", Fix((scope.edit(node, new),)))

    text = "import torch\n\ndef f(x: torch.Tensor):\n    a = x.sin()\n    b = x.cos()\n    return a + b\n"
    outcome = run([SourceFile(tmp_path / "net.py", "net", text)], Config(root=tmp_path), rules=[Broken])
    first, second = outcome.findings
    assert first.fix is None
    assert first.declined is not None
    assert "please report it" in first.declined
    assert second.fix is not None
    assert [change.after for change in outcome.patchset] == [text.replace("x.cos()", "2 * x")]


PICK = """\
import torch


def pick(x: torch.FloatTensor, order: torch.Tensor):
    layers = [x, x * 2, x * 3]
    return torch.stack([layers[i] for i in order.tolist()]), x.new_zeros(order.max())
"""
COMPILED = """\
import torch

from pick import pick


def build():
    return torch.compile(pick)
"""


@pytest.mark.parametrize(("allowed", "changed"), [(frozenset({"capture-scalars"}), set()), (None, {"pick", "build"})])
def test_a_flag_waits_for_the_fixes_in_other_files(
    allowed: frozenset[str] | None, changed: set[str], tmp_path: Path
) -> None:
    """With `layers[i]` as it is the flag makes an error of the graph break (seen on torch 2.13)."""
    texts = {"pick": PICK, "build": COMPILED}
    files = [SourceFile(tmp_path / f"{name}.py", name, text) for name, text in texts.items()]
    outcome = run(files, Config(root=tmp_path), rules=list(registry.load().values()), allowed=allowed)
    assert {change.module for change in outcome.patchset} == changed
    switched = [
        "capture_scalar_outputs = True" in change.after for change in outcome.patchset if change.module != "pick"
    ]
    assert switched == [True] * ("build" in changed)


def test_passes_do_not_keep_modules_each(tmp_path: Path) -> None:
    """With the collector off, as the command line has it, `apply` on monai needed 180 MiB more for each pass."""

    class Renames(Rule):
        code = "CF999"
        name = "renames"
        summary = "a step in each pass"

        def find(self, scope: Scope) -> Iterator[Finding]:
            alive.append(sum(isinstance(thing, Module) for thing in gc.get_objects()))
            for node in scope.of(ast.Assign):
                old = ast.unparse(node.value)
                if old != "x.exp()":
                    new = {"x.sin()": "x.cos()", "x.cos()": "x.tan()"}.get(old, "x.exp()")
                    yield self.fixed(scope, node, "an assignment", Fix((scope.edit(node.value, new),)))

    text = "import torch\n\ndef f(x: torch.Tensor):\n    a = x.sin()\n    return a\n"
    alive: list[int] = []
    gc.collect()
    gc.disable()
    try:
        run([SourceFile(tmp_path / "net.py", "net", text)], Config(root=tmp_path), rules=[Renames])
    finally:
        gc.enable()
    assert len(alive) == 4
    assert max(alive[1:]) <= alive[0] + 1, alive
    assert alive[-1] == alive[2]

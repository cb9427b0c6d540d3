"""What is known of an item of a tuple that is kept in an attribute."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from compilefix.analysis.infer import Inference
from compilefix.analysis.values import Kind, Value
from compilefix.source.files import SourceFile
from compilefix.source.project import Project

HEAD = "import torch\nfrom torch import nn\n\n\nclass Kept(nn.Module):\n"


def returned(body: str) -> Value:
    """The value of what `forward` returns."""
    project = Project([SourceFile(Path("kept.py"), "kept", HEAD + body)])
    (module,) = project.modules.values()
    forward = module.classes["Kept"].methods["forward"]
    (value,) = [node.value for node in forward.of(ast.Return) if node.value is not None]
    return Inference(project).facts(forward).value(value)


def written(first: str, change: str, read: str, own: str = "") -> str:
    return (
        f"    {own or 'x = 1'}\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        f"        self.parts = {first}\n"
        "    def change(self, part):\n"
        f"        {change}\n"
        "    def forward(self, x, i):\n"
        f"        return {read}\n"
    )


@pytest.mark.parametrize("own", ["", "parts = None"])
def test_an_item_is_what_it_was_made_of(own: str) -> None:
    assert returned(written("(torch.ones(2), 3)", "pass", "self.parts[1]", own)).is_(Kind.STATIC)
    swapped = written("(3, torch.ones(2))", "pass", "self.parts[1]", own)
    assert returned(swapped).is_(Kind.TENSOR)


@pytest.mark.parametrize(
    ("first", "change", "read"),
    [
        ("([torch.ones(2)], 3)", "self.parts[0].append(part)", "self.parts[0][-1]"),
        ("([torch.ones(2)], 3)", "self.parts[0][0] = part", "self.parts[0][i]"),
        ("({'a': torch.ones(2)}, 3)", "self.parts[0]['a'] = part", "self.parts[0]['a']"),
        ("(3, ([torch.ones(2)], 3))", "self.parts[1][0].append(part)", "self.parts[1][0][-1]"),
    ],
)
def test_what_a_list_in_it_holds_may_have_changed(first: str, change: str, read: str) -> None:
    value = returned(written(first, change, read))
    assert not value.certain or value.is_unknown
    assert value.dtype is None


def test_what_the_class_has_under_that_name_may_be_read_too() -> None:
    body = written("None", "self.parts = (torch.ones(2), 3)", "self.parts[0]", "parts = (3, 4)")
    body = body.replace("        self.parts = None\n", "")
    assert returned(body).kinds != frozenset({Kind.TENSOR})

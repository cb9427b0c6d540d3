"""What a call of a project function is known to return."""

from __future__ import annotations

import ast
from pathlib import Path

from compilefix.analysis.infer import Inference
from compilefix.source.files import SourceFile
from compilefix.source.index import Project

SOURCE = """
import torch


def parts(x: torch.Tensor):
    out = []
    for i in range(2):
        out.append(x[: i + 1] * 2)
    return out


def pair(x: torch.Tensor):
    return x * 2, x[:1]


def use(x: torch.Tensor):
    items = parts(x)
    first, second = items[0], items[1]
    left, right = pair(x)
    return first, second, left, right
"""


def test_the_items_of_a_returned_list_are_not_taken_for_tensors_of_one_shape() -> None:
    project = Project([SourceFile(Path("m.py"), "m", SOURCE)])
    facts = Inference(project).facts(project.modules["m"].functions["use"])
    values = {
        n.id: facts.value(n) for n in ast.walk(facts.function.node) if isinstance(n, ast.Name) and n in facts.values
    }
    first, second = values["first"], values["second"]
    assert first.is_tensor
    assert second.is_tensor
    assert first.shape_id is None or first.shape_id != second.shape_id
    assert values["left"].shape_id != values["right"].shape_id

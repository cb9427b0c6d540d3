"""What a call of a project function is known to return."""

from __future__ import annotations

import ast
from pathlib import Path

from compilefix.analysis.hints import Hints
from compilefix.analysis.infer import Inference
from compilefix.analysis.values import Kind, tensor
from compilefix.source.files import SourceFile
from compilefix.source.project import Project

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


MADE_IN_A_LOOP = """
import torch


def importance(sizes: list[int]) -> torch.Tensor:
    weights = None
    for i, size in enumerate(sizes):
        row = torch.arange(size)
        weights = weights.unsqueeze(-1) * row if i > 0 else row
    return weights


def found(x: torch.Tensor, wanted: bool) -> torch.Tensor:
    if wanted:
        return x * 2
    return None


def fallen_off(x: torch.Tensor, wanted: bool) -> torch.Tensor:
    if wanted:
        return x * 2


def use(x: torch.Tensor, sizes: list[int], wanted: bool):
    made = importance(sizes)
    perhaps = found(x, wanted)
    ended = fallen_off(x, wanted)
    return made, perhaps, ended
"""


def test_an_annotation_says_that_a_loop_gives_a_tensor_but_not_that_none_is_never_returned() -> None:
    project = Project([SourceFile(Path("m.py"), "m", MADE_IN_A_LOOP)])
    facts = Inference(project).facts(project.modules["m"].functions["use"])
    values = {n.id: facts.value(n) for n in ast.walk(facts.function.node) if isinstance(n, ast.Name)}
    assert values["made"].is_tensor
    assert not values["perhaps"].is_tensor
    assert not values["ended"].is_tensor


def test_a_parameter_that_is_called_a_dictionary_is_no_tensor_because_a_caller_may_pass_one() -> None:
    text = "def loss(y, mask_dict, mask):\n    return y\n"
    project = Project([SourceFile(Path("m.py"), "m", text)])
    function = project.modules["m"].functions["loss"]
    hints = Hints(project)
    hints.add(function, dict.fromkeys(("mask_dict", "mask"), tensor(certain=False)))
    assert set(hints.of(function)) == {"mask"}
    hints.add(function, {"mask_dict": tensor()})
    assert set(hints.of(function)) == {"mask", "mask_dict"}


HANDED_BACK = """
import torch


def as_tuple(given, whole=False):
    if whole and isinstance(given, torch.Tensor):
        return (given,)
    return tuple(given)


def of_sizes(sizes):
    height, width = as_tuple(sizes)
    return height * width


def of_tensor(x: torch.Tensor):
    first, second = as_tuple(x)
    return first * second
"""


def test_what_a_function_hands_back_is_a_tensor_at_times_only_where_it_may_be_given_one() -> None:
    project = Project([SourceFile(Path("m.py"), "m", HANDED_BACK)])
    inference = Inference(project)
    functions = project.modules["m"].functions
    assert Kind.TENSOR not in inference.summary(functions["of_sizes"]).kinds
    assert Kind.TENSOR in inference.summary(functions["of_tensor"]).kinds

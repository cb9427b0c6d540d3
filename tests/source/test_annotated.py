"""Assignments of local names that are said to be tensors."""

from __future__ import annotations

import ast

import pytest

from compilefix.source.annotated import AnnAssign, as_assignments
from compilefix.source.files import syntax_tree
from compilefix.source.tree import by_class, walk

TEXT = """\
total: Tensor = zeros()
class Model:
    scale: Tensor = ones()
    def forward(self, x):
        count: int = 1
        later: Tensor
        self.kept: Tensor = x
        with guard() as held:
            first: torch.Tensor = x
        try:
            pass
        except ValueError:
            second: Tensor = x
        match x:
            case 1:
                third: Tensor = x
        def inner():
            fourth: Tensor = x
        plain = x
"""


def test_a_local_name_that_is_said_to_be_a_tensor_is_assigned() -> None:
    tree = as_assignments(ast.parse(TEXT))
    assigned = [ast.unparse(n.targets[0]) for n in by_class(walk(tree))[ast.Assign] if isinstance(n, ast.Assign)]
    assert assigned == ["first", "second", "third", "fourth", "plain"]
    assert ast.unparse(tree) == ast.unparse(ast.parse(TEXT))


def test_it_is_both_and_each_node_stands_in_it_once() -> None:
    (function,) = as_assignments(ast.parse("def f(x):\n    y: Tensor = x\n")).body
    assert isinstance(function, ast.FunctionDef)
    statement = function.body[0]
    assert isinstance(statement, AnnAssign)
    assert isinstance(statement, ast.Assign)
    assert isinstance(statement, ast.AnnAssign)
    assert statement.targets == [statement.target]
    assert [n.id for n in ast.walk(statement) if isinstance(n, ast.Name)] == ["y", "Tensor", "x"]


@pytest.mark.parametrize("written", ["x: Tensor=y", "x: torch.Tensor   =  y"])
def test_the_spaces_round_an_annotation_do_not_matter(written: str) -> None:
    tree = syntax_tree(f"def f(y):\n    {written}\n    return x\n", "a.py")
    assert isinstance(tree, ast.Module)
    assert any(isinstance(node, AnnAssign) for node in walk(tree))

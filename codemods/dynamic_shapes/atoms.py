"""Expressions over atoms: names whose text is the code that they stand for."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from compilefix.analysis.values import Kind, Value
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template

_CONSTANTS = ("math.pi", "math.e", "math.inf", "math.nan", "numpy.pi", "numpy.inf", "torch.pi", "torch.inf")
_Node = TypeVar("_Node", bound=ast.expr)


def code_of(
    tree: ast.expr,
    atoms: Mapping[str, ast.expr],
    template: Template,
    replaced: Mapping[str, str],
    named: Mapping[int, str] | None = None,
) -> str:
    """The code of a tree over atoms, with placeholders for what the atoms stand for.

    `named`: the names of parts of the tree, by the identity of the part, that have been computed before.
    """
    return ast.unparse(_Filling(atoms, template, replaced, named or {}).fill(tree, None))


def places_of(tree: ast.AST) -> Counter[int]:
    """In how many places of a tree each of its parts stands, by the identity of the part.

    What stands within a part that has several places counts once.
    """
    found: Counter[int] = Counter({id(tree): 1})
    waiting = [tree]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if not found[id(child)]:
                waiting.append(child)
            found[id(child)] += 1
    return found


def size_of(tree: ast.AST, known: dict[int, int]) -> int:
    """How many parts a tree has, each counted in all its places. `known`: those that were counted, by identity."""
    if id(tree) not in known:
        known[id(tree)] = 1 + sum(size_of(child, known) for child in ast.iter_child_nodes(tree))
    return known[id(tree)]


@dataclass(frozen=True)
class _Filling:
    """Puts placeholders, or other names, in the place of names."""

    atoms: Mapping[str, ast.expr]
    template: Template
    replaced: Mapping[str, str]
    named: Mapping[int, str]

    def fill(self, node: ast.AST, parent: ast.AST | None) -> ast.AST:
        if id(node) in self.named:
            return ast.Name(self.named[id(node)], ast.Load())
        if isinstance(node, ast.Name):
            if node.id in self.replaced:
                return ast.Name(self.replaced[node.id], node.ctx)
            if node.id in self.atoms:
                token = self.template.use(self.atoms[node.id])
                return ast.Name(f"({token})" if _bracketed(self.atoms[node.id], node, parent) else token, node.ctx)
            return node
        filled = copy.copy(node)
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                setattr(filled, name, self.fill(value, node))
            elif isinstance(value, list):
                setattr(filled, name, [self.fill(v, node) if isinstance(v, ast.AST) else v for v in value])
        return filled


def _bracketed(atom: ast.expr, leaf: ast.Name, parent: ast.AST | None) -> bool:
    """Whether what an atom stands for needs parentheses in the place of the leaf."""
    if not isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Attribute):
        return False
    around = copy.copy(parent)
    for name, value in ast.iter_fields(parent):
        if value is leaf:
            setattr(around, name, atom)
        elif isinstance(value, list) and leaf in value:
            setattr(around, name, [atom if v is leaf else v for v in value])
    return f"({ast.unparse(atom)})" in ast.unparse(around)


def known_value(node: ast.expr, scope: Scope) -> Value:
    """The value of an atom; a number made of `math.pi` and the like is a float."""
    value = scope.value(node)
    if value.dtype is not None or not value.is_(Kind.STATIC):
        return value
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and scope.value(part).ref in _CONSTANTS:
            continue
        if not isinstance(
            part, ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop | ast.Name | ast.Load
        ):
            return value
        if isinstance(part, ast.Name) and scope.value(part).ref not in ("math", "numpy", "torch", *_CONSTANTS):
            return value
    return replace(value, dtype="float")


def place(new: _Node, old: ast.expr) -> _Node:
    """The new expression, as if it stood where the old one does."""
    # The same line, for the order of statements, and a column of its own, for what the expression makes.
    new.lineno, new.end_lineno = old.lineno, old.end_lineno
    new.col_offset, new.end_col_offset = old.col_offset + 100_000, (old.end_col_offset or 0) + 100_000
    return new

"""Code that a fix writes: text with placeholders for parts of the original, and what was not proved of it."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.finding import Edit

ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
_OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp)
_OF_GRADIENTS = frozenset({"finite-derivative", "gradient-zeros"})
_PLACEHOLDER = re.compile(r"compilefix_(operand|whole)_(\d+)")


def ends_of(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions one of which an expression gives: both sides of a conditional one."""
    if isinstance(node, ast.IfExp):
        yield from ends_of(node.body)
        yield from ends_of(node.orelse)
    else:
        yield node


@dataclass(frozen=True)
class Given:
    """What a branch gives a target: its last expression, and for names in it the steps that led there.

    built: the expression does not stand in the file: it was made of the parts of one that writes in place.
    """

    node: ast.expr
    inlined: tuple[tuple[ast.expr, Given], ...] = ()
    built: bool = False

    @property
    def steps(self) -> tuple[ast.expr, ...]:
        """All expressions that are computed, the last one last."""
        return (*(step for _, inner in self.inlined for step in inner.steps), self.node)

    @property
    def hands_on(self) -> bool:
        """Whether the value is an existing object, and not the result of an operation."""
        return any(isinstance(end, ast.Name | ast.Attribute | ast.Subscript) for end in ends_of(self.node))


@dataclass
class Template:
    """Code under construction: text with placeholders, the nodes that these stand for, and the open obstacles.

    edits: what else must change in the function for the code to be right. named: conditions that have a name already.
    mixes: whether a condition may be made of what is a tensor on one way and a Python bool on another: it may then be
    on another device than the tensors of the function, unless it is made on that of the one called `beside`.
    unrecorded: no gradient is recorded where the code runs.
    """

    parts: dict[str, ast.AST] = field(default_factory=dict)
    obstacles: list[Obstacle] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    named: dict[tuple[ast.expr, ...], str] = field(default_factory=dict)
    mixes: bool = False
    beside: str | None = None
    unrecorded: bool = False
    _stays: tuple[int, int, int] = (0, 0, 0)

    def use(self, node: ast.AST, *, operand: bool = False) -> str:
        """A placeholder for a node; `operand` asks for parentheses where the node is no atom."""
        name = f"p{len(self.parts)}"
        self.parts[name] = node
        return f"({{{name}}})" if operand and not isinstance(node, ATOMS) else f"{{{name}}}"

    def code(self, given: Given, *, operand: bool = False) -> str:
        """The code of a value that a branch gives a target, with the steps that led to it put in."""
        if not given.inlined and not given.built:
            return self.use(given.node, operand=operand)
        text = ast.unparse(self._assembled(given, given.node, operand=False)).replace("{", "{{").replace("}", "}}")
        text = _PLACEHOLDER.sub(lambda m: f"({{p{m[2]}}})" if m[1] == "operand" else f"{{p{m[2]}}}", text)
        return f"({text})" if operand and not isinstance(given.node, ATOMS) else text

    def _assembled(self, given: Given, node: ast.AST, *, operand: bool) -> ast.AST:
        """A copy of a node in which original nodes are placeholders and names are what was inlined for them."""
        for name, inner in given.inlined:
            if name is node:
                return self._assembled(inner, inner.node, operand=operand)
        made = (given.built and node is given.node) or not hasattr(node, "lineno")
        whole = not made and not any(name in ast.walk(node) for name, _ in given.inlined)
        if isinstance(node, ast.expr) and whole and not _is_signed_number(node) and not _is_slice(node):
            self.use(node)
            return ast.Name(f"compilefix_{'operand' if operand else 'whole'}_{len(self.parts) - 1}", ast.Load())
        copied = copy.copy(node)
        for field_name, child in ast.iter_fields(node):
            inside = isinstance(node, _OPERATIONS) or (field_name in ("value", "func") and isinstance(node, ast.expr))
            if isinstance(child, list):
                parts = [self._assembled(given, c, operand=inside) if isinstance(c, ast.AST) else c for c in child]
                setattr(copied, field_name, parts)
            elif isinstance(node, ast.Subscript) and child is node.slice and isinstance(child, ast.Tuple):
                # `i, j` in brackets is no expression by itself.
                elements = [self._assembled(given, c, operand=False) for c in child.elts]
                copied.slice = ast.Tuple(elements, ast.Load())  # type: ignore[attr-defined,arg-type]
            elif isinstance(child, ast.expr):
                loose = not isinstance(node, ast.IfExp) or isinstance(child, ast.IfExp | ast.Lambda | ast.NamedExpr)
                setattr(copied, field_name, self._assembled(given, child, operand=inside and loose))
        return copied

    def used_in(self, code: str) -> dict[str, ast.AST]:
        """The parts that a text names, where the code is several texts."""
        return {name: part for name, part in self.parts.items() if f"{{{name}}}" in code}

    def keep(self) -> None:
        """What was written so far stays when another way to write the rest is tried."""
        self._stays = (len(self.parts), len(self.obstacles), len(self.edits))

    def reset(self) -> None:
        """Begin again: another way to write the code is tried."""
        parts, obstacles, edits = self._stays
        self.parts = dict(list(self.parts.items())[:parts])
        del self.obstacles[obstacles:]
        del self.edits[edits:]

    def refuse(self, obstacles: Iterable[Obstacle]) -> None:
        """Note what stands in the way."""
        self.obstacles.extend(o for o in obstacles if o not in self.obstacles)

    @property
    def broken(self) -> str | None:
        """The condition that no assumption can heal."""
        return next((o.reason for o in self.obstacles if o.assumption is None), None)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What could not be proved."""
        return tuple(dict.fromkeys(o.reason for o in self._open))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the user must vouch for."""
        return tuple(dict.fromkeys(o.assumption for o in self._open if o.assumption is not None))

    @property
    def _open(self) -> list[Obstacle]:
        return [o for o in self.obstacles if not self.unrecorded or o.assumption not in _OF_GRADIENTS]


def _is_slice(node: ast.AST) -> bool:
    """Whether an index is no expression by itself: `1:` and `:, 1:`."""
    return isinstance(node, ast.Slice) or (isinstance(node, ast.Tuple) and any(map(_is_slice, node.elts)))


def _is_signed_number(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)

"""The arms of an `if` chain: what each assigns, in which order, and what a selection must know of the names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Value
from compilefix.codemods.control_flow.branches import Branch, read_branch
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Given, Template
from compilefix.source.tree import names_in


@dataclass(frozen=True)
class Arm:
    """One arm of an `if` chain: its test (None for `else`) and what it assigns."""

    test: ast.expr | None
    branch: Branch

    @property
    def assigns(self) -> dict[str, Given]:
        """The values by name, in order."""
        return self.branch.assigns


@dataclass(frozen=True)
class Link:
    """A link of an `if` chain: the `if` or `elif`, None for `else`, and what is left of its block, and of its test."""

    node: ast.If | None
    body: Sequence[ast.stmt]
    part: ast.expr | None = None

    @property
    def test(self) -> ast.expr | None:
        """What decides; None for `else`."""
        return self.part or (None if self.node is None else self.node.test)


def chain_of(node: ast.If) -> list[ast.If]:
    """An `if` with its `elif`s."""
    chain = [node]
    while (
        len(chain[-1].orelse) == 1
        and isinstance(inner := chain[-1].orelse[0], ast.If)
        and inner.col_offset == node.col_offset
    ):
        chain.append(inner)
    return chain


def links_of(node: ast.If) -> list[Link]:
    """An `if` with its `elif`s and its `else`."""
    chain = chain_of(node)
    return [*(Link(link, link.body) for link in chain), *([Link(None, chain[-1].orelse)] if chain[-1].orelse else [])]


def read_arms(links: Sequence[Link], around: ast.If, scope: Scope, template: Template) -> list[Arm] | None:
    """The arms of a chain; None, with the obstacle noted, where one does more than assign."""
    arms: list[Arm] = []
    for link in links:
        lines = [line for arm in arms for line in arm.branch.unpacked]
        branch = read_branch(link.body, around, scope, template, lines)
        if branch is None:
            return None
        arms.append(Arm(link.test, branch))
    return arms


def assignment_order(arms: Sequence[Arm], template: Template) -> list[str] | None:
    """All assigned names in an order that fits every arm."""
    order: list[str] = []
    for arm in arms:
        position = 0
        for name in arm.assigns:
            if name in order:
                if order.index(name) < position:
                    template.refuse([Obstacle("the branches assign the same names in another order")])
                    return None
                position = order.index(name) + 1
            else:
                order.insert(position, name)
                position += 1
    return order


def hoisted(name: str, arms: Sequence[Arm], scope: Scope, template: Template) -> str:
    """A name that only its own branch reads: it is computed always."""
    owners = [arm for arm in arms if name in arm.assigns]
    others = [arm for arm in arms if name not in arm.assigns]
    if len(owners) > 1:
        template.refuse([Obstacle(f"`{name}` is a temporary of several branches")])
    readers = [step for arm in others for given in arm.assigns.values() for step in given.steps] + [
        arm.test for arm in arms if arm.test is not None
    ]
    if name in names_in(*readers):
        template.refuse([Obstacle(f"another branch reads `{name}`, which one branch overwrites")])
    given = owners[0].assigns[name]
    template.refuse(scope.legality.both_evaluated(given.steps, scope.facts))
    return f"{name} = {template.code(given)}"


def own_names_read(arms: Sequence[Arm]) -> Iterator[Obstacle]:
    """Whether a name that one branch unpacks for itself means something else in another one, or in a test."""
    for arm in arms:
        others = [step for other in arms if other is not arm for g in other.assigns.values() for step in g.steps]
        tests = [other.test for other in arms if other.test is not None]
        for name in arm.branch.own:
            if any(isinstance(n, ast.Name) and n.id == name for e in (*others, *tests) for n in ast.walk(e)):
                yield Obstacle(f"another branch reads `{name}`, which one branch overwrites")


def value_before(name: str, statement: ast.stmt, scope: Scope) -> Value | None:
    """The value of a name, or of an attribute of `self`, before a statement."""
    known = scope.facts.env_before.get(statement, {}).get(name)
    if known is not None or "." not in name or scope.function.cls is None:
        return known
    attribute = name.partition(".")[2]
    value = scope.legality.inference.attribute(scope.function.cls, attribute.removesuffix(".data"))
    # A gradient goes to the parameter, and not to what its `data` was before.
    return replace(value, leaves=frozenset()) if value is not None and attribute.endswith(".data") else value

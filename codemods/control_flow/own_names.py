"""Names of its own for what a branch computes before it returns, where the way on has others of the same name.

if x.sum() > 0:              condition = x.sum() > 0
    y = y * 2                early_y = y * 2
    return y + x             early = early_y + x
return y - 1                 return torch.where(condition, early, y - 1)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from compilefix.codemods.control_flow.exits import Exit, Step
from compilefix.codemods.control_flow.liveness import live_after, read_at_any_time
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Given, Template
from compilefix.source.tree import elements_of, names_in

_OTHER_SCOPES = (ast.Lambda, ast.comprehension, ast.FunctionDef, ast.JoinedStr)


@dataclass(frozen=True)
class OwnNames:
    """The names in branches that return, in the order of the code, that are written otherwise."""

    names: dict[ast.Name, str] = field(default_factory=dict)

    def reads(self, node: ast.AST) -> bool:
        """Whether one of the names stands in a part of the code."""
        return any(n in self.names for n in ast.walk(node) if isinstance(n, ast.Name))

    def line(
        self,
        step: Step,
        template: Template,
        given: Sequence[str] = (),
        instead: Mapping[ast.expr, str] = MappingProxyType({}),
    ) -> str:
        """The code of a statement of a branch; `given` are the names that its branch has given values before.

        instead: the code of some of its parts.
        """
        others = {part: code for part, code in instead.items() if any(part is n for n in ast.walk(step))}
        if not self.reads(step) and not others:
            return template.use(step)
        if isinstance(step, ast.If):
            (assigned,) = _assigns(step)
            (target,) = assigned.targets
            assert isinstance(target, ast.Name)
            own = self.names.get(target, target.id)
            value, test = self.code(assigned.value, template), self.code(step.test, template)
            return f"{own} = {value} if {test} else {own if target.id in given else target.id}"
        targets = [self._target(target) for target in step.targets]
        return " = ".join([*targets, self.code(step.value, template, others)])

    def code(self, value: ast.expr, template: Template, instead: Mapping[ast.expr, str] = MappingProxyType({})) -> str:
        """The code of an expression of a branch, `instead` being that of some of its parts."""
        inside = {n for part in instead for n in ast.walk(part)}
        own = [n for n in ast.walk(value) if isinstance(n, ast.Name) and n in self.names and n not in inside]
        inlined: list[tuple[ast.expr, Given]] = [
            (n, Given(ast.Name(self.names[n], ast.Load()), built=True)) for n in own
        ]
        texts = {f"compilefix_part_{number}_": text for number, text in enumerate(instead.values())}
        inlined += [(p, Given(ast.Name(name, ast.Load()), built=True)) for p, name in zip(instead, texts, strict=True)]
        code = template.code(Given(value, inlined=tuple(inlined)))
        for name, text in texts.items():
            code = code.replace(name, text)
        return code

    def _target(self, target: ast.expr) -> str:
        parts = elements_of(target)
        return ", ".join(self.names.get(part, part.id) for part in parts if isinstance(part, ast.Name))


def own_names(found: Exit, scope: Scope) -> OwnNames | str:
    """The names that the steps of the branches need; the reason where they cannot be given."""
    named: dict[str, ast.If] = {}
    own: dict[ast.Name, str] = {}
    for owner in found.ifs:
        for block in _blocks(owner):
            steps = [step for step in block if step in found.steps]
            given: dict[str, str] = {}
            for name in stored_by(steps):
                first = named.setdefault(name, owner) is owner
                if first and not _read_beside(name, block, owner, scope):
                    continue
                if found.acts or not _may_be_renamed(name, block, owner, scope):
                    return f"a branch gives `{name}` another value before it returns"
                given[name] = free_name(f"early_{name}", scope, [*own.values(), *given.values()])
            own.update(_places(given, block))
    return OwnNames(own)


def _blocks(owner: ast.If) -> Iterator[Sequence[ast.stmt]]:
    for inner in ast.walk(owner):
        if isinstance(inner, ast.If):
            yield inner.body
            yield inner.orelse


def _assigns(step: ast.stmt) -> Sequence[ast.Assign]:
    """The assignments of a step, which a fixed `if` may be around."""
    inside = step.body if isinstance(step, ast.If) else [step]
    return [assign for assign in inside if isinstance(assign, ast.Assign)]


def stored_by(steps: Sequence[ast.stmt]) -> list[str]:
    """The names that the steps of a branch give values."""
    parts = [p for step in steps for a in _assigns(step) for t in a.targets for p in elements_of(t)]
    return list(dict.fromkeys(part.id for part in parts if isinstance(part, ast.Name)))


def _places(given: dict[str, str], block: Sequence[ast.stmt]) -> Iterator[tuple[ast.Name, str]]:
    """Where a branch reads and gives the names: what it reads before it gives one is the value from outside."""
    since: set[str] = set()
    for statement in block:
        names = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id in given]
        yield from ((n, given[n.id]) for n in names if n.id in since or not isinstance(n.ctx, ast.Load))
        since.update(n.id for n in names if not isinstance(n.ctx, ast.Load))


def _read_beside(name: str, block: Sequence[ast.stmt], owner: ast.If, scope: Scope) -> bool:
    """Whether a name that a branch computes for its `return` has another meaning elsewhere."""
    own = [n for s in block for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name]
    outside = any(isinstance(n, ast.Name) and n.id == name and n not in own for n in ast.walk(owner))
    # Given several values one after the other, each is the one that the next statements read.
    first = min((scope.statement(n).lineno for n in own if not isinstance(n.ctx, ast.Load)), default=0)
    before = any(isinstance(n.ctx, ast.Load) and n.lineno <= first for n in own)
    return outside or before or not _in_turn(name, block, scope) or live_after(name, owner, scope)


def _in_turn(name: str, block: Sequence[ast.stmt], scope: Scope) -> bool:
    stores = [
        scope.statement(n)
        for s in block
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    return all(isinstance(s, ast.Assign) and (s in block or scope.parents.get(s) in block) for s in stores)


def _may_be_renamed(name: str, block: Sequence[ast.stmt], owner: ast.If, scope: Scope) -> bool:
    """Whether a branch may have a name of its own: only its own statements know of it, and none of them waits."""
    if read_at_any_time(name, owner, scope) or not _in_turn(name, block, scope):
        return False
    others = [n for s in block for n in ast.walk(s) if isinstance(n, _OTHER_SCOPES)]
    return name not in names_in(*others)
